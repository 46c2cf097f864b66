/* flash_rows.cuh: the rows of a FlashAttention forward kernel on tensor cores, 16 queries per warp:
 * loading the query, the softmax step for a tile of keys, storing the result. Steps 22 and 23
 * differ in how they load tiles, not in this. Fragments, g and t: tensor_cores.cuh.
 */
#pragma once

#include "cuda/count.cuh"
#include "cuda/tensor_cores.cuh"

// q [Sq][D] -> query, the fragments of rows row and row + 8 (row: that of this lane's g). Loaded
// straight from global memory, because they are read once. Rows past the end are zeros.
template <int D>
static __device__ __forceinline__ void load_query(uint32_t (*query)[4], const __half *q, int row,
                                                  int Sq)
{
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < D / 4; i++) {
        const int i_row = row + i % 2 * 8;
        const int column = i / 4 * 16 + i % 4 / 2 * 8 + 2 * t;
        query[i / 4][i % 4] = 0;
        if (i_row < Sq) {
            query[i / 4][i % 4] = *(const uint32_t *)(q + (int64_t)i_row * D + column);
        }
    }
}

// Sets the scores of masked and missing keys to -INFINITY. s: scores of rows row and row + 8, and
// of the tile whose first key is `first`.
template <int KEYS>
static __device__ __forceinline__ void mask_scores(float (*s)[4], int row, int first, int Sq,
                                                   int Sk, bool causal)
{
    const int t = threadIdx.x % 4;
    COUNT("mask tests", KEYS / 2);
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        const int key = first + i / 4 * 8 + 2 * t + i % 2;
        const int i_row = row + i % 4 / 2 * 8;
        if (key >= Sk || (causal && key > Sk - Sq + i_row)) {
            s[i / 4][i % 4] = -INFINITY;
        }
    }
}

// Scores s of a tile -> 2^(scale (s - row_max)). row_max, row_sum and out, from the tiles before,
// are corrected to the new maximum. row_sum is of this lane's keys only.
// cost: a multiplication and an exponential per score, D / 4 multiplications per lane
template <int D, int KEYS>
static __device__ __forceinline__ void online_softmax(float (*s)[4], float (*out)[4],
                                                      float *row_max, float *row_sum, float scale)
{
#pragma unroll
    for (int half = 0; half < 2; half++) { // row, then row + 8
        float now = row_max[half];
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            now = fmaxf(now, fmaxf(s[n][2 * half], s[n][2 * half + 1]));
        }
        now = quad_max(now);
        // A row that has seen no key yet: -INFINITY - -INFINITY would be NaN.
        const float top = now == -INFINITY ? 0.0f : now;
        // Exactly 1 where the maximum does not change. A difference of two products would not be:
        // nvcc makes it an FMA, which rounds only one of them, and that error would scale the sum
        // again in every tile.
        const float correction = exp2_approx((row_max[half] - top) * scale);
        const float base = top * scale;
        row_max[half] = now;
        float of_tile = 0.0f;
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++) {
            s[n][2 * half] = exp2_approx(s[n][2 * half] * scale - base);
            s[n][2 * half + 1] = exp2_approx(s[n][2 * half + 1] * scale - base);
            of_tile += s[n][2 * half] + s[n][2 * half + 1];
        }
        row_sum[half] = row_sum[half] * correction + of_tile;
#pragma unroll
        for (int d = 0; d < D / 8; d++) {
            out[d][2 * half] *= correction;
            out[d][2 * half + 1] *= correction;
        }
    }
}

// out / row_sum -> o [Sq][D], and the logarithm of the sum of exp(score) -> lse [Sq]. A row that
// sees no key has o = 0 and lse = -INFINITY.
template <int D>
static __device__ __forceinline__ void store_rows(__half *o, float *lse, float (*out)[4],
                                                  const float *row_max, const float *row_sum,
                                                  float scale, int row, int Sq)
{
    const float LN2 = 0.6931471805599453f;
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int i_row = row + half * 8;
        const float total = quad_sum(row_sum[half]);
        const float share = total > 0.0f ? 1.0f / total : 0.0f;
        if (i_row >= Sq) {
            continue;
        }
#pragma unroll
        for (int d = 0; d < D / 8; d++) {
            *(uint32_t *)(o + (int64_t)i_row * D + d * 8 + 2 * t) =
                pack_halves(out[d][2 * half] * share, out[d][2 * half + 1] * share);
        }
        if (t == 0) {
            lse[i_row] = total > 0.0f ? row_max[half] * scale * LN2 + logf(total) : -INFINITY;
        }
    }
}
