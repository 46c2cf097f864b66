/* by_dq: dq's kernel of step 24, which keeps the delta that it computes. */
#pragma once

#include "reference_log.cuh"

namespace by_dq
{

// q, o, dout [BH][Sq][D], k, v [BH][Sk][D], lse [BH][Sq]
//     -> dq [BH][Sq][D], delta [BH][Sq]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. cost: three products, 6
// D flops, and one exponential per score
template <int D, int ROWS, int KEYS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    backward_dq(backward_args all, float *delta_of)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : KEYS;    // keys at a time, to limit registers
    constexpr int TILE = KEYS * D * 2;              // bytes
    extern __shared__ __align__(16) __half tiles[]; // q, dout [ROWS][D], k, v [2][KEYS][D]
    const backward_args a = of_head<D>(all, blockIdx.y);
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    const int row = block_row + warp_row + threadIdx.x % 32 / 4; // of this lane, and row + 8
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t dout_tile = q_tile + ROWS * D * 2;
    const uint32_t k_tiles = dout_tile + ROWS * D * 2;
    const uint32_t v_tiles = k_tiles + 2 * TILE;
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    const int visible = min(a.Sk, a.causal ? a.Sk - a.Sq + block_row + ROWS : a.Sk);

    load_tile<D, ROWS, THREADS>(q_tile, a.q, block_row, a.Sq);
    load_tile<D, ROWS, THREADS>(dout_tile, a.dout, block_row, a.Sq);
    if (visible > 0) {
        load_tile<D, KEYS, THREADS>(k_tiles, a.k, 0, a.Sk);
        load_tile<D, KEYS, THREADS>(v_tiles, a.v, 0, a.Sk);
    }
    copy_async_commit();
    float lse[STRIPS][2], delta[STRIPS][2]; // of row and row + 8
#pragma unroll
    for (int i = 0; i < STRIPS * 2; i++) {
        lse[i / 2][i % 2] = row + i * 8 < a.Sq ? a.lse[row + i * 8] : 0.0f;
        delta[i / 2][i % 2] = recomputed::delta_of_row<D>(a, row + i * 8);
    }
    // solution: keep -- delta of each row, once
    // hint: A lane has delta of STRIPS * 2 rows. Which rows are they, and how many lanes have the
    //     same? The loop above shows the rows, and the comment of delta_of_row in reference_log.cuh
    //     says which lanes.
    // hint: Value i is `delta[i / 2][i % 2]`, of row + i * 8. All four lanes of a quad have it, so
    //     the one with threadIdx.x % 4 == 0 stores it, and only if its row is below a.Sq.
    // hint: delta_of begins at the first head, and a head has a.Sq floats: the place is
    //     `delta_of[(int64_t)blockIdx.y * a.Sq + row + i * 8]`.
#pragma unroll
    for (int i = 0; i < STRIPS * 2; i++) {
        if (threadIdx.x % 4 == 0 && row + i * 8 < a.Sq) {
            delta_of[(int64_t)blockIdx.y * a.Sq + row + i * 8] = delta[i / 2][i % 2];
        }
    }
    // end solution: keep
    float dq[STRIPS][D / 8][4] = {};
    for (int first = 0; first < visible; first += KEYS) {
        const uint32_t stage = first / KEYS % 2 * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (first + KEYS < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + TILE - stage, a.k, first + KEYS, a.Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, a.v, first + KEYS, a.Sk);
        }
        copy_async_commit();

#pragma unroll
        for (int n = 0; n < KEYS; n += PART) {
            const uint32_t k_part = k_tiles + stage + n * D * 2;
            float p[STRIPS][PART / 8][4] = {}; // scores, then probabilities
            float ds[STRIPS][PART / 8][4];     // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_scores<D, STRIPS, PART>(p, q_tile + warp_row * D * 2, k_part);
            minus_by_row<STRIPS, PART>(ds, delta);
            warp_add_scores<D, STRIPS, PART>(ds, dout_tile + warp_row * D * 2,
                                             v_tiles + stage + n * D * 2);
            probabilities_by_row<STRIPS, PART>(p, lse, scale);
            if (first + KEYS > a.Sk || (a.causal && first + KEYS - 1 > a.Sk - a.Sq + block_row)) {
                hide<false, STRIPS, PART>(p, a, block_row + warp_row, first + n);
            }
            multiply<STRIPS, PART>(ds, p);
            pack<STRIPS, PART>(operand, ds);
            warp_add_rows<D, STRIPS, PART>(dq, operand, k_part);
        }
    }
    warp_store_rows<D, STRIPS>(a.dq + (int64_t)blockIdx.y * a.Sq * D, dq, 1.0f / sqrtf((float)D),
                               block_row + warp_row, a.Sq);
}

} // namespace by_dq
