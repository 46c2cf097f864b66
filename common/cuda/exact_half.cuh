/* exact_half.cuh: sums of fp16 numbers as they must come out, to the last bit.
 *
 * A sum of two fp16 numbers is a multiple of 2^-24 below 2^17, so a double holds it exactly. An
 * addition in fp16 rounds it once. There is one right result, and the bound is 0.
 */
#pragma once

#include <math.h>
#include <stdint.h>

// snippet: nearest-half
// The fp16 number nearest to x, of two equally near ones the even one. The step from one to the
// next is 2^-24 below 2^-14, and above it 2^-10 of the power of two below x. What rounds to 65536
// is infinite there.
static inline double nearest_half(double x)
{
    int exponent;
    frexp(x, &exponent); // |x| is at least 2^(exponent - 1)
    const double step = ldexp(1.0, exponent > -13 ? exponent - 11 : -24);
    const double nearest = nearbyint(x / step) * step;
    return fabs(nearest) < 65536.0 ? nearest : copysign(INFINITY, x);
}
// end snippet: nearest-half

// Pairs whose sums lie about the largest number, 65504: exactly there, rounded down to it, a half
// of the last step above it and so infinite, of either sign; and large numbers that cancel.
static inline void fill_near_largest(float *a, float *b, int64_t n)
{
    static const float left[] = {65504, 65504, 65504, 60000, -65504, -65504, 40000, 65504, 32992};
    static const float right[] = {0, 15.9921875f, 16, 5504, -8, -65504, 25488, -65504, 32992};
    const int64_t pairs = sizeof left / sizeof *left;
    for (int64_t i = 0; i < n; i++) {
        a[i] = left[i % pairs];
        b[i] = right[i % pairs];
    }
}
