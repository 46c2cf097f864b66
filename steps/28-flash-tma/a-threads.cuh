/* a-threads: tiles by cp.async, as in step 23: each thread computes addresses and copies chunks of
 * 16 bytes. The other rungs are measured against this one. */
#pragma once

#include "boxes.cuh"
#include "cuda/flash_products.cuh"
#include "cuda/flash_rows.cuh"
#include "cuda/flash_tiles.cuh"

namespace threads
{

// same as step 23
template <int D, int KEYS, int STRIPS, bool KEPT>
static __device__ __forceinline__ void
warp_add_qk(float (*s)[KEYS / 8][4], const uint32_t (&query)[KEPT ? STRIPS : 1][D / 16][4],
            uint32_t q_tile, int warp_row, uint32_t k_tile, uint32_t q_lane, uint32_t k_lane)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t a[STRIPS][4];
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            if (KEPT) {
                memcpy(a[i], query[KEPT ? i : 0][d], sizeof a[i]);
            } else {
                warp_load_matrices(a[i], q_tile + (warp_row + i * 16) * D * 2 + (q_lane ^ d * 32));
            }
        }
#pragma unroll
        for (int n = 0; n < KEYS / 16; n++) {
            uint32_t b[4]; // two operands: keys 16n to 16n+7 and the next 8
            warp_load_matrices(b, k_tile + n * 16 * D * 2 + (k_lane ^ d * 32));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) { // one load, STRIPS times two products
                warp_mma(s[i][2 * n], a[i], b);
                warp_mma(s[i][2 * n + 1], a[i], b + 2);
            }
        }
    }
}

// same as step 23
// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. Compiled for 8 warps
// per multiprocessor: with 255 registers per thread no more than 8 fit. cost: 4 D flops per score.
// Per key a warp reads 4 D bytes of shared memory, for all its queries
template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    flash(const __half *q, const __half *k, const __half *v, __half *o, float *lse, int Sq, int Sk,
          bool causal)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr bool KEPT = keeps_query(D, KEYS, STRIPS); // q in registers, and not in shared memory
    constexpr int TILE = KEYS * D * 2;                  // bytes
    constexpr int AHEAD = STAGES > 1 ? STAGES - 1 : 1;  // tiles that are asked for before the loop
    extern __shared__ __align__(16) __half tiles[]; // q [ROWS] unless kept, k and v [STAGES][KEYS]
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    // The first of this lane's two rows in its first strip; row + 8 is the other.
    const int row = block_row + warp_row + threadIdx.x % 32 / 4;
    q += head * Sq * D;
    k += head * Sk * D;
    v += head * Sk * D;
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t k_tiles = q_tile + (KEPT ? 0 : ROWS * D * 2);
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    // The offsets that this lane gives to ldmatrix, as in step 22: of k, and of q and v.
    const uint32_t k_lane = (lane / 16 * 8 + lane % 8) * D * 2 + (lane / 8 % 2 ^ lane % 8) * 16;
    const uint32_t qv_lane = lane % 16 * D * 2 + (lane / 16 ^ lane % 8) * 16;
    const float scale = LOG2E / sqrtf((float)D);                           // to exponents of 2
    const int visible = min(Sk, causal ? Sk - Sq + block_row + ROWS : Sk); // to the last row

    uint32_t query[KEPT ? STRIPS : 1][D / 16][4];
    float out[STRIPS][D / 8][4] = {};
    float row_max[STRIPS][2],
        row_sum[STRIPS][2]; // of row and row + 8; row_sum: of the keys of this lane
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        if (KEPT) {
            load_query<D>(query[KEPT ? i : 0], q, row + i * 16, Sq);
        }
        row_max[i][0] = row_max[i][1] = -INFINITY;
        row_sum[i][0] = row_sum[i][1] = 0.0f;
    }
    if (!KEPT) {
        load_tile<D, ROWS, THREADS>(q_tile, q, block_row, Sq);
    }
    // One cp.async group per tile, even if nothing is left to copy, so that a wait can count
    // groups. With one stage k and v alternate: one is copied while the other is multiplied.
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        const int first = i * KEYS;
        if (first < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + i * TILE, k, first, Sk);
        }
        if (first < visible && STAGES > 1) {
            load_tile<D, KEYS, THREADS>(v_tiles + i * TILE, v, first, Sk);
        }
        copy_async_commit();
    }
    for (int first = 0; first < visible; first += KEYS) {
        const int next = first + AHEAD * KEYS;
        uint32_t stage = 0;
        uint32_t next_stage = 0;
        stage = first / KEYS % STAGES * TILE;
        next_stage = next / KEYS % STAGES * TILE;
        copy_async_wait<AHEAD - 1>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (STAGES == 1) {
            load_tile<D, KEYS, THREADS>(v_tiles, v, first, Sk);
        } else if (next < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + next_stage, k, next, Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + next_stage, v, next, Sk);
        }
        copy_async_commit();

        float s[STRIPS][KEYS / 8][4] = {};
        warp_add_qk<D, KEYS, STRIPS, KEPT>(s, query, q_tile, warp_row, k_tiles + stage, qv_lane,
                                           k_lane);
        if (STAGES == 1) {
            copy_async_wait<0>();
            __syncthreads(); // the tile of v is there for all, and nobody reads that of k
            if (next < visible) {
                load_tile<D, KEYS, THREADS>(k_tiles, k, next, Sk);
            }
            copy_async_commit();
        }

        if (first + KEYS > Sk || (causal && first + KEYS - 1 > Sk - Sq + block_row)) {
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                mask_scores<KEYS>(s[i], row + i * 16, first, Sq, Sk, causal);
            }
        }
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            online_softmax<D, KEYS>(s[i], out[i], row_max[i], row_sum[i], scale);
        }
        warp_add_pv<D, KEYS, STRIPS>(out, s, v_tiles + stage, qv_lane);
    }
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        store_rows<D>(o + head * Sq * D, lse + head * Sq, out[i], row_max[i], row_sum[i], scale,
                      row + i * 16, Sq);
    }
}

} // namespace threads
