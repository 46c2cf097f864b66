/* e-apart: as c-heads, but warps do not meet once per tile. A second barrier per stage says that
 * all threads have read the stage, and only warp 0, whose thread 0 refills it, waits for that. */
#pragma once

#include "boxes.cuh"
#include "cuda/flash_rows.cuh"

namespace apart
{

// same as c-heads.cuh
// Rows first to first + ROWS of this head -> the tile [ROWS][D], as D / 64 boxes. One thread calls.
template <int D, int ROWS>
static __device__ __forceinline__ void load_rows(uint32_t tile, const CUtensorMap *from,
                                                 uint32_t barrier, int first, int head)
{
#pragma unroll
    for (int d = 0; d < D; d += 64) {
        tma_load(tile + d * ROWS * 2, from, barrier, d, first, head);
    }
}

// same as c-heads.cuh
// In reverse: the tile -> rows. One thread calls.
template <int D, int ROWS>
static __device__ __forceinline__ void store_tile(const CUtensorMap *to, uint32_t tile, int first,
                                                  int head)
{
#pragma unroll
    for (int d = 0; d < D; d += 64) {
        tma_store(to, tile + d * ROWS * 2, d, first, head);
    }
}

// q [BH][Sq][D], k, v [BH][Sk][D] -> o [BH][Sq][D], lse [BH][Sq]; all but lse as maps
// cost: as a-threads, but one thread requests the copies of the tiles of q, k, v and o
template <int D, int ROWS, int KEYS, int WARPS, int STAGES>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    flash(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
          const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap o, float *lse,
          int Sq, int Sk, bool causal)
{
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr bool KEPT = keeps_query(D, KEYS, STRIPS); // q in registers
    constexpr int TILE = KEYS * D * 2;                  // bytes
    // Tiles that are requested before the loop. With three stages the stage to be refilled was read
    // one tile earlier.
    constexpr int AHEAD = STAGES > 2 ? STAGES - 2 : 1;
    extern __shared__ __align__(1024) __half tiles[]; // q, later o; k and v [STAGES]
    const int lane = threadIdx.x % 32;
    const int head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    // The first of this lane's two rows in its first strip; row + 8 is the other.
    const int row = block_row + warp_row + threadIdx.x % 32 / 4;
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t k_tiles = q_tile + ROWS * D * 2;
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    const uint32_t there = v_tiles + STAGES * TILE; // one barrier per stage, and one for q
    const uint32_t q_there = there + STAGES * 8;    // another one per stage: it may be filled
    const uint32_t free = q_there + 8;
    // The offsets that this lane gives to ldmatrix in a tile's first box: of k, and of q and v.
    const uint32_t k_lane = (lane / 16 * 8 + lane % 8) * 128 + (lane / 8 % 2 ^ lane % 8) * 16;
    const uint32_t qv_lane = lane % 16 * 128 + (lane / 16 ^ lane % 8) * 16;
    const float scale = LOG2E / sqrtf((float)D);                           // to exponents of 2
    const int visible = min(Sk, causal ? Sk - Sq + block_row + ROWS : Sk); // to the last row

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(there + i * 8, 1);
            barrier_init(free + i * 8, WARPS * 32);
        }
        barrier_init(q_there, 1);
        barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(q_there, ROWS * D * 2);
        load_rows<D, ROWS>(q_tile, &q, q_there, block_row, head);
        for (int i = 0; i < AHEAD && i * KEYS < visible; i++) {
            barrier_expect(there + i * 8, 2 * TILE);
            load_rows<D, KEYS>(k_tiles + i * TILE, &k, there + i * 8, i * KEYS, head);
            load_rows<D, KEYS>(v_tiles + i * TILE, &v, there + i * 8, i * KEYS, head);
        }
    }
    barrier_wait(q_there, 0);

    uint32_t query[KEPT ? STRIPS : 1][D / 16][4];
    float out[STRIPS][D / 8][4] = {};
    float row_max[STRIPS][2],
        row_sum[STRIPS][2]; // of row and row + 8; row_sum: of the keys of this lane
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int d = 0; KEPT && d < D / 16; d++) {
            warp_load_matrices(query[KEPT ? i : 0][d],
                               q_tile + (warp_row + i * 16) * 128 + columns_of<ROWS>(qv_lane, d));
        }
        row_max[i][0] = row_max[i][1] = -INFINITY;
        row_sum[i][0] = row_sum[i][1] = 0.0f;
    }
    for (int tile = 0; tile * KEYS < visible; tile++) {
        const int first = tile * KEYS;
        const uint32_t stage = tile % STAGES * TILE;
        if (tile > 0) { // this thread has read the previous tile
            barrier_arrive(free + (tile - 1) % STAGES * 8);
        }
        if (threadIdx.x == 0 && first + AHEAD * KEYS < visible) {
            const int next = (tile + AHEAD) % STAGES;
            // Wait until all threads have read the tile that was there STAGES tiles before. In the
            // first round there was none.
            int parity = 0;
            // solution: parity -- of the phase that ends when they have; it must pass at first
            // hint: A phase of the barrier at `free + next * 8` completes whenever all threads have
            //     read the tile in that stage. The stage is about to be filled again: how often has
            //     it been filled before, and which phase has to be complete?
            // hint: The tile to be loaded is number tile + AHEAD, so this is filling (tile + AHEAD)
            //     / STAGES of its stage, counted from 0. Filling 0 waits for nobody, filling 1 for
            //     phase 0, filling 2 for phase 1.
            // hint: The phases have parity 0, 1, 0 and so on, and at a new barrier a wait for
            //     parity 1 passes. So the parity is 1 for fillings 0, 2, 4, and 0 for fillings 1,
            //     3, 5.
            parity = (tile + AHEAD) / STAGES % 2 ^ 1;
            // end solution: parity
            barrier_wait(free + next * 8, parity);
            barrier_expect(there + next * 8, 2 * TILE);
            load_rows<D, KEYS>(k_tiles + next * TILE, &k, there + next * 8, first + AHEAD * KEYS,
                               head);
            load_rows<D, KEYS>(v_tiles + next * TILE, &v, there + next * 8, first + AHEAD * KEYS,
                               head);
        }
        barrier_wait(there + tile % STAGES * 8, tile / STAGES % 2); // this tile is there

        float s[STRIPS][KEYS / 8][4] = {};
        warp_add_qk_boxes<D, ROWS, KEYS, STRIPS, KEPT>(s, query, q_tile + warp_row * 128,
                                                       k_tiles + stage, qv_lane, k_lane);
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
        warp_add_pv_boxes<D, KEYS, STRIPS>(out, s, v_tiles + stage, qv_lane);
    }
    // A warp reads only its own rows of q, and its rows of o take their place.
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
        rows_to_tile<D, ROWS>(q_tile, (warp_row + i * 16) * 128 + qv_lane, lse + (int64_t)head * Sq,
                              out[i], row_max[i], row_sum[i], scale, row + i * 16, Sq);
    }
    fence_async_proxy(); // TMA sees what this thread has written
    __syncthreads();
    if (threadIdx.x == 0) {
        store_tile<D, ROWS>(&o, q_tile, block_row, head);
        bulk_commit();
        bulk_wait_read<0>(); // shared memory goes with the block
    }
}

} // namespace apart
