/* The plural of a noun in a message: "%d byte%s" with n and plural(n). */
#pragma once

static inline const char *plural(long long n)
{
    return n == 1 ? "" : "s";
}
