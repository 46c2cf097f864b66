/* b-producer: a warpgroup of its own brings the tiles.
 *
 * One thread of this producer requests tiles as soon as a stage is empty. The other warpgroups, the
 * consumers, report each tile that they have read and wait for no other consumer, so one may
 * compute its softmax while another has the tensor cores. The producer gives most of its registers
 * to the consumers. */
#pragma once

#include "cuda/wgmma_rows.cuh"

namespace producer
{

enum { KEYS = 128, STAGES = 2 };

// In shared memory: q [WARPGROUPS][64][D], k and v [STAGES][KEYS][D], barriers.
template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    return (WARPGROUPS * 64 + 2 * STAGES * KEYS) * D * 2 + (1 + 4 * STAGES) * 8;
}

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]
// cost: as a-one-role
template <int D, int WARPGROUPS>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int Sq, int Sk, bool causal)
{
    constexpr int QUERIES = WARPGROUPS * 64, Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    extern __shared__ __align__(1024) char memory[];
    const uint32_t q_tiles = shared_address(memory);
    const uint32_t k_tiles = q_tiles + WARPGROUPS * Q_TILE;
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    const uint32_t q_full = v_tiles + STAGES * TILE; // barriers
    const uint32_t k_full = q_full + 8;              // [STAGES], as the three others
    const uint32_t v_full = k_full + STAGES * 8;
    const uint32_t k_empty = v_full + STAGES * 8;
    const uint32_t v_empty = k_empty + STAGES * 8;
    const int lane = threadIdx.x % 32;
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const int64_t head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * QUERIES; // the longest rows first
    const int row = block_row + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    const float scale = 1.4426950408889634f / sqrtf((float)D);    // to exponents of 2
    const int visible = causal ? min(Sk, Sk - Sq + block_row + QUERIES) : Sk; // to the last row
    const int tiles = max(0, (visible + KEYS - 1) / KEYS);
    // The first query of the warpgroup sees so many, and tiles from `whole` on are not all seen.
    const int seen = causal ? min(Sk, Sk - Sq + block_row + warpgroup * 64 + 1) : Sk;
    const int whole = max(0, seen) / KEYS;

    if (threadIdx.x == 0) {
        barrier_init(q_full, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(k_full + 8 * i, 1);
            barrier_init(v_full + 8 * i, 1);
            barrier_init(k_empty + 8 * i, WARPGROUPS);
            barrier_init(v_empty + 8 * i, WARPGROUPS);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == WARPGROUPS) { // the producer
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 != 0) {
            return;
        }
        barrier_expect(q_full, WARPGROUPS * Q_TILE);
        for (int i = 0; i < WARPGROUPS; i++) {
            tma_load(q_tiles + i * Q_TILE, &q_map, q_full, 0, block_row + i * 64, 0, head);
        }
#pragma unroll 1
        for (int step = 0; step < tiles; step++) {
            const int stage = step % STAGES;
            const int first = (tiles - 1 - step) * KEYS;
            int emptied = 0; // the parity of the phase in which the stage was emptied
            // solution: parity -- the first time nobody has left it yet, and nobody is waited for
            emptied = step / STAGES % 2 ^ 1;
            // end solution: parity
            // snippet: ask
            barrier_wait(k_empty + 8 * stage, emptied);
            barrier_expect(k_full + 8 * stage, TILE);
            tma_load(k_tiles + stage * TILE, &k_map, k_full + 8 * stage, 0, first, 0, head);
            barrier_wait(v_empty + 8 * stage, emptied);
            barrier_expect(v_full + 8 * stage, TILE);
            tma_load(v_tiles + stage * TILE, &v_map, v_full + 8 * stage, 0, first, 0, head);
            // end snippet: ask
        }
        return;
    }

    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 240>();
    const bool leader = threadIdx.x % 128 == 0; // speaks for its warpgroup
    float s[KEYS / 8][4];
    uint32_t p[KEYS / 16][4];
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane
    float correction[2];
    const uint64_t q_tile = tile_descriptor(q_tiles + warpgroup * Q_TILE, 64 * 128);
    const uint64_t k_tile = tile_descriptor(k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(v_tiles, KEYS * 128);

    barrier_wait(q_full, 0);
    int step = 0;
    int tile = tiles - 1; // from the last one down: it may need a mask
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile >= (edge ? whole : 0); tile--, step++) {
            const int stage = step % STAGES, filled = step / STAGES % 2;
            // snippet: leave
            barrier_wait(k_full + 8 * stage, filled);
            wgmma_fence();
            start_qk<D, KEYS>(s, q_tile, k_tile + stage * advance(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            fence_registers(s);
            if (leader) {
                barrier_arrive(k_empty + 8 * stage);
            }
            // end snippet: leave

            if (edge) {
                mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            }
            softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
            pack_probabilities<KEYS>(p, s);
            rescale<D>(out, correction);

            barrier_wait(v_full + 8 * stage, filled);
            fence_registers(out);
            wgmma_fence();
            start_pv<D, KEYS>(out, p, v_tile + stage * advance(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            fence_registers(out);
            if (leader) {
                barrier_arrive(v_empty + 8 * stage);
            }
        }
    }

    const uint32_t o_tile = q_tiles + warpgroup * Q_TILE; // only this warpgroup has read it
    rows_to_tile<D>(o_tile, lse + head * Sq, out, row_max, row_sum, scale, row, Sq);
    fence_async_proxy();
    named_sync(1 + warpgroup, 128);
    if (leader) {
        tma_store(&o_map, o_tile, 0, block_row + warpgroup * 64, 0, head);
        bulk_commit();
        bulk_wait<0>();
    }
}

} // namespace producer
