/* boxes.cuh: shared by the rungs of step 28: the places of a tile's elements that came as TMA
 * boxes, products with such tiles, and the store of results into one.
 */
#pragma once

#include "cuda/tma.cuh"

// same as step 23
// True if q stays in registers: if the fragments of q, of the scores and of the sums then take at
// most 192 registers.
static __host__ __device__ constexpr bool keeps_query(int D, int KEYS, int strips)
{
    return strips * (D / 4 + KEYS / 2 + D / 2) <= 192;
}

// A tile is D / 64 boxes [ROWS][64] one behind the other, each at a multiple of 1024 bytes. A row
// of a box is 128 bytes, 64 halves, and swizzled. Returns the offset of columns 16 d to 16 d + 15
// from the start of the tile, for a lane whose row and chunk in the first box are at `lane`.
template <int ROWS>
static __device__ __forceinline__ uint32_t columns_of(uint32_t lane, int d)
{
    return d / 4 * ROWS * 128 + (lane ^ d % 4 * 32);
}

// The products of a warp, as in step 23, from tiles of boxes. warp_add_qk_boxes: s [16
// STRIPS][KEYS] += q k^T. q_rows: the warp's first row of q; KEPT: they are in query.
// warp_add_pv_boxes: out [16 STRIPS][D] += p v, where probabilities p are rounded to halves.
// q_lane, k_lane, v_lane: the offsets in the first box of the rows that this lane passes to
// ldmatrix.
template <int D, int ROWS, int KEYS, int STRIPS, bool KEPT>
static __device__ __forceinline__ void
warp_add_qk_boxes(float (*s)[KEYS / 8][4], const uint32_t (&query)[KEPT ? STRIPS : 1][D / 16][4],
                  uint32_t q_rows, uint32_t k_tile, uint32_t q_lane, uint32_t k_lane)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t a[STRIPS][4];
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            if (KEPT) {
                memcpy(a[i], query[KEPT ? i : 0][d], sizeof a[i]);
            } else {
                warp_load_matrices(a[i], q_rows + i * 16 * 128 + columns_of<ROWS>(q_lane, d));
            }
        }
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
            uint32_t b[4]; // two operands: keys 16n to 16n+7 and the next 8
            warp_load_matrices(b, k_tile + n * 16 * 128 + columns_of<KEYS>(k_lane, d));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) { // one load, STRIPS times two products
                warp_mma(s[i][2 * n], a[i], b);
                warp_mma(s[i][2 * n + 1], a[i], b + 2);
            }
        }
    }
}

template <int D, int KEYS, int STRIPS>
static __device__ __forceinline__ void warp_add_pv_boxes(float (*out)[D / 8][4],
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
            warp_load_transposed(b, v_tile + n * 16 * 128 + columns_of<KEYS>(v_lane, d));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(out[i][2 * d], a[i], b);
                warp_mma(out[i][2 * d + 1], a[i], b + 2);
            }
        }
    }
}

// out / row_sum, 16 rows in fp16 -> a tile [ROWS][D] of boxes; and lse as store_rows computes it.
// strip: the offset of these rows in the tile, for this lane as for ldmatrix. row: the first of
// this lane's two rows, row and row + 8.
template <int D, int ROWS>
static __device__ __forceinline__ void
rows_to_tile(uint32_t tile, uint32_t strip, float *lse, float (*out)[4], const float *row_max,
             const float *row_sum, float scale, int row, int Sq)
{
    const float LN2 = 0.6931471805599453f;
    float share[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int i_row = row + half * 8;
        const float total = quad_sum(row_sum[half]);
        share[half] = total > 0.0f ? 1.0f / total : 0.0f;
        if (i_row < Sq && threadIdx.x % 4 == 0) {
            lse[i_row] = total > 0.0f ? row_max[half] * scale * LN2 + logf(total) : -INFINITY;
        }
    }
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t m[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float *two = &out[2 * d + i / 2][i % 2 * 2];
            m[i] = pack_halves(two[0] * share[i % 2], two[1] * share[i % 2]);
        }
        warp_store_matrices(tile + columns_of<ROWS>(strip, d), m);
    }
}
