/* polynomial.cuh: an experiment (f), the kernel of e-persistent.cuh, but FMA units compute one
 * exponential in eight.
 *
 * A multiprocessor computes 16 exponentials per cycle, and at D = 64 these take as long as the
 * products. So other units take over some of them: 2^x by a polynomial, in nine instructions. The
 * kernel is launched with softmax_step_shared in place of softmax_step. */
#pragma once

#include "cuda/wgmma_rows.cuh"

// 2^x for x <= 0, and a little above; 0 for x <= -127.
//
// x = n + r with n whole and r from -1/2 to 1/2: with 3 * 2^22 added a float has no bits left for a
// fraction, so its last bits are n, and r is exact. 2^r is 1 + r (..), the polynomial of degree 4
// whose largest relative error is the least: 2.9e-6. The rounding of three FMAs and of the
// coefficients adds less than 2e-7. Degree 3 would have 1.0e-4, too much for lse: the relative
// error of a sum of probabilities is at most that of its terms, so lse is off by 3.1e-6, while
// fp32's own rounding of a score of 64 products may be a few times that. o is relatively off by at
// most 6.2e-6, from probabilities and sum together, while fp16 rounds probabilities by 4.9e-4. 2^0
// is exactly 1.
//
// Then n is added to the exponent. At x = -127, where r is 0, that leaves 0. Just above, n is still
// -127 and r > 0, so the result is below 2^-126; r < 0 would change its sign.
static __device__ __forceinline__ float exp2_polynomial(float x)
{
    const float WHOLE = 12582912.0f; // 3 * 2^22
    x = fmaxf(x, -127.0f);
    const float n = x + WHOLE;
    const float r = x - (n - WHOLE);
    float y = fmaf(r, 0.009582853f, 0.055906426f);
    y = fmaf(r, y, 0.24024099f);
    y = fmaf(r, y, 0.69312418f);
    y = fmaf(r, y, 1.0f);
    return __int_as_float(__float_as_int(y) + (__float_as_int(n) << 23));
}

// As softmax_step of wgmma_rows.cuh, but one exponential in SHARE is computed by the polynomial.
template <int KEYS, int SHARE>
static __device__ __forceinline__ void
softmax_step_shared(float (*s)[4], float *row_max, float *row_sum, float *correction, float scale)
{
#pragma unroll
    for (int half = 0; half < 2; half++) { // row, then row + 8
        float now = row_max[half];
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            now = fmaxf(now, fmaxf(s[n][2 * half], s[n][2 * half + 1]));
        }
        now = quad_max(now);
        const float top = now == -INFINITY ? 0.0f : now; // see online_softmax
        correction[half] = exp2_approx((row_max[half] - top) * scale);
        const float base = top * scale;
        row_max[half] = now;
        float of_tile = 0.0f;
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            const float x = s[n][2 * half] * scale - base;
            s[n][2 * half] = n % (SHARE / 2) == 0 ? exp2_polynomial(x) : exp2_approx(x);
            s[n][2 * half + 1] = exp2_approx(s[n][2 * half + 1] * scale - base);
            of_tile += s[n][2 * half] + s[n][2 * half + 1];
        }
        row_sum[half] = row_sum[half] * correction[half] + of_tile;
    }
}
