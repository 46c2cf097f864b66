/* flash_products.cuh: the two products of a warp that has STRIPS strips of 16 queries, as in step
 * 23, for later steps. Each load of k or v serves all strips. Tiles are swizzled as in
 * flash_tiles.cuh. q_lane, k_lane, v_lane: the offsets of the rows that this lane passes to
 * ldmatrix, as in step 22.
 */
#pragma once

#include "cuda/tensor_cores.cuh"

// s [16 STRIPS][KEYS] += q k^T, where the warp's rows of q begin at warp_row
template <int D, int KEYS, int STRIPS>
static __device__ __forceinline__ void warp_add_qk(float (*s)[KEYS / 8][4], uint32_t q_tile,
                                                   int warp_row, uint32_t k_tile, uint32_t q_lane,
                                                   uint32_t k_lane)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t a[STRIPS][4];
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            warp_load_matrices(a[i], q_tile + (warp_row + i * 16) * D * 2 + (q_lane ^ d * 32));
        }
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
            uint32_t b[4]; // two operands: keys 16n to 16n+7 and the next 8
            warp_load_matrices(b, k_tile + n * 16 * D * 2 + (k_lane ^ d * 32));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(s[i][2 * n], a[i], b);
                warp_mma(s[i][2 * n + 1], a[i], b + 2);
            }
        }
    }
}

// same as step 23
// out [16 STRIPS][D] += p v, where probabilities p are rounded to halves
template <int D, int KEYS, int STRIPS>
static __device__ __forceinline__ void warp_add_pv(float (*out)[D / 8][4],
                                                   const float (&p)[STRIPS][KEYS / 8][4],
                                                   uint32_t v_tile, uint32_t v_lane)
{
#pragma unroll
    for (int n = 0; n < KEYS / 16; n++) {
        uint32_t a[STRIPS][4]; // keys 16n to 16n+15
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            a[i][0] = pack_halves(p[i][2 * n][0], p[i][2 * n][1]);
            a[i][1] = pack_halves(p[i][2 * n][2], p[i][2 * n][3]);
            a[i][2] = pack_halves(p[i][2 * n + 1][0], p[i][2 * n + 1][1]);
            a[i][3] = pack_halves(p[i][2 * n + 1][2], p[i][2 * n + 1][3]);
        }
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            uint32_t b[4]; // two operands: dimensions 16d to 16d+7 and the next 8
            warp_load_transposed(b, v_tile + n * 16 * D * 2 + (v_lane ^ d * 32));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(out[i][2 * d], a[i], b);
                warp_mma(out[i][2 * d + 1], a[i], b + 2);
            }
        }
    }
}
