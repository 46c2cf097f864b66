/* exact_half.cuh: sums of fp16 numbers as they must come out, to the last bit.
 *
 * A sum of two fp16 numbers is a multiple of 2^-24 below 2^17, so a double holds it exactly. An
 * addition in fp16 rounds it once. There is one right result, and the bound is 0.
 */
#pragma once

#include <math.h>

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
