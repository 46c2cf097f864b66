/* c-ping-pong: the warpgroups take turns at the tensor cores.
 *
 * In b-producer they may all compute their softmax at the same time, and then all want the tensor
 * cores. Here a warpgroup waits for its turn, starts the scores of a tile, and passes the turn on;
 * for the product with the values it needs no turn. So the next warpgroup is at least one start of
 * scores behind. With a recorder as its trace the kernel also records when it does what; with
 * no_recorder those calls are empty. */
#pragma once

#include "recorded.cuh"
#include "cuda/wgmma_ring.cuh"
#include "cuda/wgmma_rows.cuh"

namespace ping_pong
{

enum { KEYS = 128, STAGES = 2, Q_STAGES = 0 };

// same as b-producer.cuh
// Rows of a head, from first on, and how many tiles of keys they see.
typedef struct work_tile {
    int head, first, tiles;
} work_tile;

// The producer: loads the queries, and then tiles of keys and values, from the last one down, each
// as soon as its stage is empty.
template <int D, int WARPGROUPS, typename trace_type>
static __device__ __forceinline__ void
load_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
           const CUtensorMap *v_map, work_tile work, trace_type &trace);

// A consumer warpgroup: its 64 rows of the work tile -> o, and lse, that of the head.
template <int D, int WARPGROUPS, typename trace_type>
static __device__ __forceinline__ void attend(const block_memory &m, const CUtensorMap *o_map,
                                              float *lse, int warpgroup, work_tile work, int Sq,
                                              int Sk, bool causal, float scale, trace_type &trace);

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]
// cost: as a-one-role
template <int D, int WARPGROUPS, typename trace_type>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int Sq, int Sk, bool causal, trace_type trace)
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
            load_tiles<D, WARPGROUPS>(m, &q_map, &k_map, &v_map, work, trace);
        }
        return;
    }

    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 240>();
    if (warpgroup == WARPGROUPS - 1) {
        named_arrive(HANDOFF_BARRIER, 256); // passes the first turn to the first warpgroup
    }
    attend<D, WARPGROUPS>(m, &o_map, lse + (int64_t)head * Sq, warpgroup, work, Sq, Sk, causal,
                          scale, trace);
}

template <int D, int WARPGROUPS, typename trace_type>
static __device__ __forceinline__ void
load_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
           const CUtensorMap *v_map, work_tile work, trace_type &trace)
{
    constexpr int Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    trace.begin(0, recorded());
    barrier_expect(m.q_full, WARPGROUPS * Q_TILE);
    for (int i = 0; i < WARPGROUPS; i++) {
        tma_load(m.q_tiles + i * Q_TILE, q_map, m.q_full, 0, work.first + i * 64, 0, work.head);
    }
#pragma unroll 1
    for (int step = 0; step < work.tiles; step++) {
        const int stage = step % STAGES;
        const int key = (work.tiles - 1 - step) * KEYS; // the first of the tile
        const int emptied = step / STAGES % 2 ^ 1;
        uint32_t from = trace.now();
        barrier_wait(m.k_empty + 8 * stage, emptied);
        from = end_of(trace, WAIT, step, from);
        barrier_expect(m.k_full + 8 * stage, TILE);
        tma_load(m.k_tiles + stage * TILE, k_map, m.k_full + 8 * stage, 0, key, 0, work.head);
        from = end_of(trace, LOAD, step, from);
        barrier_wait(m.v_empty + 8 * stage, emptied);
        from = end_of(trace, WAIT, step, from);
        barrier_expect(m.v_full + 8 * stage, TILE);
        tma_load(m.v_tiles + stage * TILE, v_map, m.v_full + 8 * stage, 0, key, 0, work.head);
        trace.add(LOAD, step, from);
    }
}

template <int D, int WARPGROUPS, typename trace_type>
static __device__ __forceinline__ void attend(const block_memory &m, const CUtensorMap *o_map,
                                              float *lse, int warpgroup, work_tile work, int Sq,
                                              int Sk, bool causal, float scale, trace_type &trace)
{
    constexpr int Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    const int lane = threadIdx.x % 32;
    const int row = work.first + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    // Keys that the warpgroup's first row sees. Tiles from whole_tiles on need the mask.
    const int first_row_keys = causal ? min(Sk, Sk - Sq + work.first + warpgroup * 64 + 1) : Sk;
    const int whole_tiles = max(0, first_row_keys) / KEYS;
    trace.begin(1 + warpgroup, recorded());
    const bool leader = threadIdx.x % 128 == 0; // arrives for its warpgroup
    const int own_handoff = HANDOFF_BARRIER + warpgroup,
              next_handoff = HANDOFF_BARRIER + (warpgroup + 1) % WARPGROUPS;
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
            uint32_t from = trace.now();
            barrier_wait(m.k_full + 8 * stage, filled);
            named_sync(own_handoff, 256); // waits for the turn, which another warpgroup passes
            from = end_of(trace, WAIT, step, from);
            wgmma_fence();
            start_qk<D, KEYS>(s, q_tile, k_tile + stage * advance(TILE));
            wgmma_commit();
            named_arrive(next_handoff, 256);
            wgmma_wait<0>();
            fence_registers(s);
            from = end_of(trace, SCORES, step, from);
            if (leader) {
                barrier_arrive(m.k_empty + 8 * stage);
            }

            if (edge) {
                mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            }
            softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
            pack_probabilities<KEYS>(p, s);
            rescale<D>(out, correction);
            from = end_of(trace, SOFTMAX, step, from);

            barrier_wait(m.v_full + 8 * stage, filled);
            from = end_of(trace, WAIT, step, from);
            fence_registers(out);
            wgmma_fence();
            start_pv<D, KEYS>(out, p, v_tile + stage * advance(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            fence_registers(out);
            trace.add(VALUES, step, from);
            if (leader) {
                barrier_arrive(m.v_empty + 8 * stage);
            }
        }
    }

    const uint32_t o_tile = m.o_tiles + warpgroup * Q_TILE; // in place of its queries
    rows_to_tile<D>(o_tile, lse, out, row_max, row_sum, scale, row, Sq);
    // solution: fence -- TMA is to read what all 128 have written: two lines
    // hint: Two things are missing between the stores of 128 threads and the copy that one of them
    //     starts: the stores have to become visible to the async proxy, and the leader has to wait
    //     until all 128 threads have stored. tma.cuh has a function for each.
    // hint: fence_async_proxy is for the stores of the thread that calls it, so every thread calls
    //     it. The wait is named_sync with 128 threads: other warpgroups may still be computing.
    // hint: wgmma_rows.cuh numbers the named barriers. Those from HANDOFF_BARRIER on pass turns;
    //     from WARPGROUP_BARRIER on each warpgroup has its own, `WARPGROUP_BARRIER + warpgroup`.
    fence_async_proxy();
    named_sync(WARPGROUP_BARRIER + warpgroup, 128);
    // end solution: fence
    if (leader) {
        tma_store(o_map, o_tile, 0, work.first + warpgroup * 64, 0, work.head);
        bulk_commit();
        bulk_wait<0>();
    }
}

} // namespace ping_pong
