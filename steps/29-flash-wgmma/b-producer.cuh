/* b-producer: a warpgroup of its own brings the tiles.
 *
 * One thread of this producer requests tiles as soon as a stage is empty. The other warpgroups, the
 * consumers, report each tile that they have read and wait for no other consumer, so one may
 * compute its softmax while another has the tensor cores. The producer gives most of its registers
 * to the consumers. */
#pragma once

#include "cuda/wgmma_ring.cuh"
#include "cuda/wgmma_rows.cuh"

namespace producer
{

enum { KEYS = 128, STAGES = 2, Q_STAGES = 0 };

// Rows of a head, from first on, and how many tiles of keys they see.
typedef struct work_tile {
    int head, first, tiles;
} work_tile;

template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    return bytes_of_memory<D, WARPGROUPS, KEYS, STAGES, Q_STAGES>();
}

// The producer: loads the queries, and then tiles of keys and values, from the last one down, each
// as soon as its stage is empty.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void load_tiles(const block_memory &m, const CUtensorMap *q_map,
                                                  const CUtensorMap *k_map,
                                                  const CUtensorMap *v_map, work_tile work);

// A consumer warpgroup: its 64 rows of the work tile -> o, and lse, that of the head.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void attend(const block_memory &m, const CUtensorMap *o_map,
                                              float *lse, int warpgroup, work_tile work, int Sq,
                                              int Sk, bool causal, float scale);

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]
// cost: as a-one-role
template <int D, int WARPGROUPS>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int Sq, int Sk, bool causal)
{
    constexpr int QUERIES = WARPGROUPS * 64;
    extern __shared__ __align__(1024) char memory[];
    const block_memory m = memory_at<D, WARPGROUPS, KEYS, STAGES, Q_STAGES>(shared_address(memory));
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // uniform within a warp
    const int head = blockIdx.y;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * QUERIES; // the longest rows first
    const int block_keys = causal ? min(Sk, Sk - Sq + block_row + QUERIES) : Sk;
    const work_tile work = {head, block_row, max(0, (block_keys + KEYS - 1) / KEYS)};
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    init_barriers<WARPGROUPS, STAGES, Q_STAGES>(m);
    if (warpgroup == WARPGROUPS) { // the producer
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 == 0) {
            load_tiles<D, WARPGROUPS>(m, &q_map, &k_map, &v_map, work);
        }
        return;
    }

    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 240>();
    attend<D, WARPGROUPS>(m, &o_map, lse + (int64_t)head * Sq, warpgroup, work, Sq, Sk, causal,
                          scale);
}

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void load_tiles(const block_memory &m, const CUtensorMap *q_map,
                                                  const CUtensorMap *k_map,
                                                  const CUtensorMap *v_map, work_tile work)
{
    constexpr int Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    barrier_expect(m.q_full, WARPGROUPS * Q_TILE);
    for (int i = 0; i < WARPGROUPS; i++) {
        tma_load(m.q_tiles + i * Q_TILE, q_map, m.q_full, 0, work.first + i * 64, 0, work.head);
    }
#pragma unroll 1
    for (int step = 0; step < work.tiles; step++) {
        const int stage = step % STAGES;
        const int key = (work.tiles - 1 - step) * KEYS; // the first of the tile
        int emptied = 0; // the parity of the phase in which the stage was emptied
        // solution: parity -- of the phase to wait for; a stage never filled is not waited for
        // hint: Which phase of a stage's empty barriers does the producer wait for when it fills
        //     the stage for the first time, the second, the third? The comment of barrier_wait in
        //     tma.cuh says which parity a phase has, also the one before the first.
        // hint: A stage comes round again every STAGES steps, so the parity changes when
        //     `step / STAGES` does, and not with every step.
        // hint: In the first round the wait has to pass at a new barrier. A consumer waits for the
        //     same tile with `step / STAGES % 2`; the producer needs the other one of 0 and 1.
        emptied = step / STAGES % 2 ^ 1;
        // end solution: parity
        // snippet: ask
        barrier_wait(m.k_empty + 8 * stage, emptied);
        barrier_expect(m.k_full + 8 * stage, TILE);
        tma_load(m.k_tiles + stage * TILE, k_map, m.k_full + 8 * stage, 0, key, 0, work.head);
        barrier_wait(m.v_empty + 8 * stage, emptied);
        barrier_expect(m.v_full + 8 * stage, TILE);
        tma_load(m.v_tiles + stage * TILE, v_map, m.v_full + 8 * stage, 0, key, 0, work.head);
        // end snippet: ask
    }
}

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void attend(const block_memory &m, const CUtensorMap *o_map,
                                              float *lse, int warpgroup, work_tile work, int Sq,
                                              int Sk, bool causal, float scale)
{
    constexpr int Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    const int lane = threadIdx.x % 32;
    const int row = work.first + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    // Keys that the warpgroup's first row sees. Tiles from whole_tiles on need the mask.
    const int first_row_keys = causal ? min(Sk, Sk - Sq + work.first + warpgroup * 64 + 1) : Sk;
    const int whole_tiles = max(0, first_row_keys) / KEYS;
    const bool leader = threadIdx.x % 128 == 0; // arrives for its warpgroup
    float s[KEYS / 8][4];
    uint32_t p[KEYS / 16][4];
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane
    float correction[2];
    const uint64_t q_tile = tile_descriptor(m.q_tiles + warpgroup * Q_TILE, 64 * 128);
    const uint64_t k_tile = tile_descriptor(m.k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(m.v_tiles, KEYS * 128);

    barrier_wait(m.q_full, 0);
    int step = 0;
    int tile = work.tiles - 1; // from the last one down: it may need a mask
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile >= (edge ? whole_tiles : 0); tile--, step++) {
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(m.k_full + 8 * stage, filled);
            wgmma_fence();
            start_qk<D, KEYS>(s, q_tile, k_tile + stage * advance(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            fence_registers(s);
            if (leader) {
                barrier_arrive(m.k_empty + 8 * stage);
            }

            if (edge) {
                mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            }
            softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
            pack_probabilities<KEYS>(p, s);
            rescale<D>(out, correction);

            barrier_wait(m.v_full + 8 * stage, filled);
            fence_registers(out);
            wgmma_fence();
            start_pv<D, KEYS>(out, p, v_tile + stage * advance(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            fence_registers(out);
            if (leader) {
                barrier_arrive(m.v_empty + 8 * stage);
            }
        }
    }

    const uint32_t o_tile = m.o_tiles + warpgroup * Q_TILE; // in place of its queries
    rows_to_tile<D>(o_tile, lse, out, row_max, row_sum, scale, row, Sq);
    fence_async_proxy();
    named_sync(WARPGROUP_BARRIER + warpgroup, 128);
    if (leader) {
        tma_store(o_map, o_tile, 0, work.first + warpgroup * 64, 0, work.head);
        bulk_commit();
        bulk_wait<0>();
    }
}

} // namespace producer
