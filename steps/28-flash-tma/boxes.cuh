/* boxes.cuh: shared by the rungs of step 28: the places of a tile's elements that came as TMA
 * boxes, and the store of results into such a tile.
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

// snippet: box
// A tile is D / 64 boxes [ROWS][64] one behind the other, each at a multiple of 1024 bytes. A row
// of a box is 128 bytes, 64 halves, and swizzled. Returns the offset of columns 16 d to 16 d + 15
// from the start of the tile, for a lane whose row and chunk in the first box are at `lane`.
template <int ROWS>
static __device__ __forceinline__ uint32_t columns_of(uint32_t lane, int d)
{
    return d / 4 * ROWS * 128 + (lane ^ d % 4 * 32);
}
// end snippet: box

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
