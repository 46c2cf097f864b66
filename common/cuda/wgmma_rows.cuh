/* wgmma_rows.cuh: the work of a warpgroup on its 64 queries in FlashAttention's forward pass, step
 * 29 and later. Tiles in shared memory are D / 64 column blocks [rows][64], one after the other,
 * swizzled by 128 bytes. Rows and fragments: flash_rows.cuh, tensor_cores.cuh.
 */
#pragma once

#include "cuda/flash_rows.cuh"
#include "cuda/tma.cuh"
#include "cuda/wgmma.cuh"

// Numbers of named barriers, of each kind one per consumer warpgroup; 0 is __syncthreads. HANDOFF:
// a warpgroup waits until another hands it the tensor cores (256 threads: both). WARPGROUP: its 128
// threads meet.
enum { HANDOFF_BARRIER = 1, WARPGROUP_BARRIER = 4 };

// snippet: products
// s = q k^T. q, k: descriptors of tiles [64][D] and [KEYS][D]. Starts the products.
template <int D, int KEYS>
static __device__ __forceinline__ void start_qk(float (&s)[KEYS / 8][4], uint64_t q, uint64_t k)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        wgmma<0, 0>(s, q + advance(d / 4 * 64 * 128 + d % 4 * 32),
                    k + advance(d / 4 * KEYS * 128 + d % 4 * 32), d > 0);
    }
}

// out += p v. p: fragments of 16 keys each; v: descriptor of a tile [KEYS][D], made with the
// bytes of a column block. Starts the products.
template <int D, int KEYS>
static __device__ __forceinline__ void start_pv(float (&out)[D / 8][4], uint32_t (&p)[KEYS / 16][4],
                                                uint64_t v)
{
#pragma unroll
    for (int n = 0; n < KEYS / 16; n++) {
        wgmma<1>(out, p[n], v + advance(n * 16 * 128), 1);
    }
}
// end snippet: products

// The tile [64][D] of this warpgroup's queries -> fragments of 16 columns each.
template <int D>
static __device__ __forceinline__ void load_queries(uint32_t (&q)[D / 16][4], uint32_t tile)
{
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 % 4 * 16 + lane % 16; // that this lane passes to ldmatrix
    tile += row * 128 + (lane / 16 ^ lane % 8) * 16;
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        warp_load_matrices(q[d], d / 4 * 64 * 128 + (tile ^ d % 4 * 32));
    }
}

// start_qk with q as fragments if it is HELD in registers, else from its tile.
template <int D, int KEYS, bool HELD>
static __device__ __forceinline__ void start_qk(float (&s)[KEYS / 8][4], uint32_t (&q)[D / 16][4],
                                                uint64_t q_tile, uint64_t k)
{
    if constexpr (HELD) {
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            wgmma<0>(s, q[d], k + advance(d / 4 * KEYS * 128 + d % 4 * 32), d > 0);
        }
    } else {
        start_qk<D, KEYS>(s, q_tile, k);
    }
}

// As online_softmax, but out is left alone, because a product may still write it. The caller
// multiplies it by `correction` later.
template <int KEYS>
static __device__ __forceinline__ void softmax_step(float (*s)[4], float *row_max, float *row_sum,
                                                    float *correction, float scale)
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
            s[n][2 * half] = exp2_approx(s[n][2 * half] * scale - base);
            s[n][2 * half + 1] = exp2_approx(s[n][2 * half + 1] * scale - base);
            of_tile += s[n][2 * half] + s[n][2 * half + 1];
        }
        row_sum[half] = row_sum[half] * correction[half] + of_tile;
    }
}

template <int D>
static __device__ __forceinline__ void rescale(float (&out)[D / 8][4], const float *correction)
{
#pragma unroll
    for (int d = 0; d < D / 8; d++) {
        out[d][0] *= correction[0];
        out[d][1] *= correction[0];
        out[d][2] *= correction[1];
        out[d][3] *= correction[1];
    }
}

// s, rounded -> p, fragments of 16 keys each.
template <int KEYS>
static __device__ __forceinline__ void pack_probabilities(uint32_t (&p)[KEYS / 16][4],
                                                          float (*s)[4])
{
#pragma unroll
    for (int n = 0; n < KEYS / 16; n++) {
        p[n][0] = pack_halves(s[2 * n][0], s[2 * n][1]);
        p[n][1] = pack_halves(s[2 * n][2], s[2 * n][3]);
        p[n][2] = pack_halves(s[2 * n + 1][0], s[2 * n + 1][1]);
        p[n][3] = pack_halves(s[2 * n + 1][2], s[2 * n + 1][3]);
    }
}

// out / row_sum, 64 rows in fp16 -> a tile [64][D]; and lse [Sq] as in store_rows. row: that of
// this lane, and row + 8.
template <int D>
static __device__ __forceinline__ void
rows_to_tile(uint32_t tile, float *lse, float (&out)[D / 8][4], const float *row_max,
             const float *row_sum, float scale, int row, int Sq)
{
    const float LN2 = 0.6931471805599453f;
    const int lane = threadIdx.x % 32;
    float share[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int i_row = row + half * 8;
        const float total = quad_sum(row_sum[half]);
        share[half] = total > 0.0f ? 1.0f / total : 0.0f;
        if (i_row < Sq && lane % 4 == 0) {
            lse[i_row] = total > 0.0f ? row_max[half] * scale * LN2 + logf(total) : -INFINITY;
        }
    }
    const int tile_row = threadIdx.x / 32 % 4 * 16 + lane % 16; // that this lane passes to stmatrix
    tile += tile_row * 128 + (lane / 16 ^ lane % 8) * 16;
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t m[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float *two = &out[2 * d + i / 2][i % 2 * 2];
            m[i] = pack_halves(two[0] * share[i % 2], two[1] * share[i % 2]);
        }
        warp_store_matrices(d / 4 * 64 * 128 + (tile ^ d % 4 * 32), m);
    }
}
