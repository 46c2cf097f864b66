/* exact_half.cuh: correctly rounded sums of fp16 numbers, exact to the last bit.
 *
 * A sum of two fp16 numbers is a multiple of 2^-24 below 2^17, so a double holds it exactly. An
 * addition in fp16 rounds it once. So there is exactly one right result, and the bound is 0.
 */
#pragma once

#include <math.h>
#include <stdint.h>

// snippet: nearest-half
// The fp16 number nearest to x; of two equally near numbers the even one. If |x| is less than
// 2^-14, neighbouring fp16 numbers are 2^-24 apart. From there on their distance is 2^-10 times the
// largest power of two that is not above |x|. A result of 65536 becomes infinite.
static inline double nearest_half(double x)
{
    int exponent;
    frexp(x, &exponent); // |x| is at least 2^(exponent - 1)
    const double step = ldexp(1.0, exponent > -13 ? exponent - 11 : -24);
    const double nearest = nearbyint(x / step) * step;
    return fabs(nearest) < 65536.0 ? nearest : copysign(INFINITY, x);
}
// end snippet: nearest-half

// Pairs whose sums are close to the largest number, 65504: exactly 65504, rounded down to it, and
// half a step above it, which is infinite, with both signs; and large numbers that cancel.
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
