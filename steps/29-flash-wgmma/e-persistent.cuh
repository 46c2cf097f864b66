/* e-persistent: one block per multiprocessor, which takes work tiles until there are none.
 *
 * A block sets up once, and the first tiles of its next work tile come while it still finishes the
 * last: the producer runs ahead. A counter hands out work tiles, so a block that is early takes
 * more. Under a mask the longest rows go first, and the short ones fill the end. Several heads are
 * in flight at a time, whose keys and values stay in the L2 cache meanwhile. NEXT_EARLY requests
 * the next work tile when one begins, and so takes it away from a block that ends before. SOFTMAX
 * turns scores into probabilities: softmax_step of wgmma_rows.cuh, or that of polynomial.cuh. */
#pragma once

#include "cuda/wgmma_ring.cuh"
#include "cuda/wgmma_rows.cuh"

namespace persistent
{

enum { KEYS = 128, STAGES = 2 };

template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    return bytes_of_memory<D, WARPGROUPS, KEYS, STAGES>() + 8; // and the work tile
}

// snippet: work
// A work tile: a head, and WARPGROUPS * 64 of its rows.
typedef struct work_tile {
    int head, block;
} work_tile;

// The number-th work tile in the order of handing out: at_once heads are taken together, and their
// last rows come first, because under a mask these see most keys.
static __device__ __forceinline__ work_tile work_tile_of(int number, int blocks, int heads,
                                                         int at_once)
{
    const int first_head = number / (at_once * blocks) * at_once; // of the heads taken together
    const int place = number - first_head * blocks;
    const int together = min(at_once, heads - first_head);
    return {first_head + place % together, blocks - 1 - place / together};
}
// end snippet: work

// [0]: work tiles handed out in addition to the first of each block. [1]: blocks that have none
// left. A launch resets both to zero for the next.
static __device__ int counters[2];

typedef void softmax_function(float (*s)[4], float *row_max, float *row_sum, float *correction,
                              float scale);

// The producer: loads the queries of one work tile after the other, and their tiles of keys and
// values.
template <int D, int WARPGROUPS, bool NEXT_EARLY>
static __device__ __forceinline__ void
load_work_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
                const CUtensorMap *v_map, work_tile *handed_out, int heads, int at_once, int Sq,
                int Sk, bool causal);

// A consumer warpgroup: its 64 rows of a work tile, whose rows begin at block_row -> o, and lse,
// that of the head. step: counts the tiles of all work tiles.
template <int D, int WARPGROUPS, softmax_function SOFTMAX>
static __device__ __forceinline__ void
attend_work_tile(const block_memory &m, const CUtensorMap *o_map, float *lse, int warpgroup,
                 int head, int block_row, int &step, int Sq, int Sk, bool causal, float scale);

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; only one launch may run at a time
// cost: as d-overlap
template <int D, int WARPGROUPS, bool NEXT_EARLY, softmax_function SOFTMAX>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int heads, int at_once, int Sq, int Sk, bool causal)
{
    extern __shared__ __align__(1024) char memory[];
    const block_memory m = memory_at<D, WARPGROUPS, KEYS, STAGES>(shared_address(memory));
    work_tile *const handed_out =
        (work_tile *)(memory + bytes_of_memory<D, WARPGROUPS, KEYS, STAGES>());
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // uniform within a warp
    init_barriers<WARPGROUPS, STAGES>(m);
    if (warpgroup == WARPGROUPS) { // the producer
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 == 0) {
            load_work_tiles<D, WARPGROUPS, NEXT_EARLY>(m, &q_map, &k_map, &v_map, handed_out, heads,
                                                       at_once, Sq, Sk, causal);
        }
        return;
    }

    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 240>();
    if (warpgroup == WARPGROUPS - 1) {
        named_arrive(HANDOFF_BARRIER, 256); // passes the first turn to the first warpgroup
    }
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    int step = 0;
    for (int iteration = 0;; iteration++) {
        barrier_wait(m.q_full, iteration % 2);
        const int head = __shfl_sync(0xffffffffu, handed_out->head, 0);
        if (head < 0) {
            break;
        }
        const int block_row = __shfl_sync(0xffffffffu, handed_out->block, 0) * WARPGROUPS * 64;
        attend_work_tile<D, WARPGROUPS, SOFTMAX>(m, &o_map, lse + (int64_t)head * Sq, warpgroup,
                                                 head, block_row, step, Sq, Sk, causal, scale);
    }
    if (threadIdx.x % 128 == 0) {
        bulk_wait<0>();
    }
}

template <int D, int WARPGROUPS, bool NEXT_EARLY>
static __device__ __forceinline__ void
load_work_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
                const CUtensorMap *v_map, work_tile *handed_out, int heads, int at_once, int Sq,
                int Sk, bool causal)
{
    constexpr int QUERIES = WARPGROUPS * 64, Q_TILE = 64 * D * 2; // bytes
    const int blocks = (Sq + QUERIES - 1) / QUERIES;              // per head
    int step = 0;
    int number = blockIdx.x;
    for (int iteration = 0;; iteration++) {
        barrier_wait(m.q_empty, iteration % 2 ^ 1); // the first wait returns at once
        if (number >= blocks * heads) {
            handed_out->head = -1;
            barrier_arrive(m.q_full);
            break;
        }
        const work_tile next = work_tile_of(number, blocks, heads, at_once);
        const int block_row = next.block * QUERIES;
        *handed_out = next;
        barrier_expect(m.q_full, WARPGROUPS * Q_TILE);
        for (int i = 0; i < WARPGROUPS; i++) {
            tma_load(m.q_tiles + i * Q_TILE, q_map, m.q_full, 0, block_row + i * 64, 0, next.head);
        }
        if (NEXT_EARLY) {
            number = gridDim.x + atomicAdd(&counters[0], 1);
        }
        const int block_keys = causal ? min(Sk, Sk - Sq + block_row + QUERIES) : Sk;
        load_keys<D, KEYS, STAGES>(m, k_map, v_map, next.head, (block_keys + KEYS - 1) / KEYS,
                                   step);
        if (!NEXT_EARLY) {
            number = gridDim.x + atomicAdd(&counters[0], 1);
        }
    }
    if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
        atomicExch(&counters[0], 0);
        atomicExch(&counters[1], 0);
    }
}

template <int D, int WARPGROUPS, softmax_function SOFTMAX>
static __device__ __forceinline__ void
attend_work_tile(const block_memory &m, const CUtensorMap *o_map, float *lse, int warpgroup,
                 int head, int block_row, int &step, int Sq, int Sk, bool causal, float scale)
{
    constexpr int QUERIES = WARPGROUPS * 64, Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    const int lane = threadIdx.x % 32;
    const bool leader = threadIdx.x % 128 == 0; // arrives for its warpgroup
    const int own_handoff = HANDOFF_BARRIER + warpgroup,
              next_handoff = HANDOFF_BARRIER + (warpgroup + 1) % WARPGROUPS;
    const uint64_t q_tile = tile_descriptor(m.q_tiles + warpgroup * Q_TILE, 64 * 128);
    const uint64_t k_tile = tile_descriptor(m.k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(m.v_tiles, KEYS * 128);
    const uint32_t o_tile = m.o_tiles + warpgroup * Q_TILE;
    const int row = block_row + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    const int block_keys = causal ? min(Sk, Sk - Sq + block_row + QUERIES) : Sk; // to the last row
    const int tiles = max(0, (block_keys + KEYS - 1) / KEYS);
    // Keys that the warpgroup's first row sees. Tiles from whole_tiles on need the mask.
    const int first_row_keys = causal ? min(Sk, Sk - Sq + block_row + warpgroup * 64 + 1) : Sk;
    const int whole_tiles = max(0, first_row_keys) / KEYS;
    float s[KEYS / 8][4];
    uint32_t p[KEYS / 16][4];
    float out[D / 8][4] = {};
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane
    float correction[2];

    int tile = tiles - 1; // from the last one down: it may need a mask
    if (tiles > 0) {
        const int stage = step % STAGES, filled = step / STAGES % 2;
        barrier_wait(m.k_full + 8 * stage, filled);
        named_sync(own_handoff, 256);
        wgmma_fence();
        start_qk<D, KEYS>(s, q_tile, k_tile + stage * advance(TILE));
        wgmma_commit();
        named_arrive(next_handoff, 256);
        wgmma_wait<0>();
        fence_registers(s);
        if (leader) {
            barrier_arrive(m.k_empty + 8 * stage);
        }
        mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
        SOFTMAX(s, row_max, row_sum, correction, scale);
        pack_probabilities<KEYS>(p, s);
        tile--;
    }
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile >= (edge ? whole_tiles : 0); tile--) {
            const int before = step % STAGES, before_filled = step / STAGES % 2;
            step++;
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(m.k_full + 8 * stage, filled);
            named_sync(own_handoff, 256); // waits for the turn, which another warpgroup passes
            wgmma_fence();
            start_qk<D, KEYS>(s, q_tile, k_tile + stage * advance(TILE));
            wgmma_commit();
            barrier_wait(m.v_full + 8 * before, before_filled);
            fence_registers(out);
            wgmma_fence(); // again, because fence_registers counts as a write of out
            start_pv<D, KEYS>(out, p, v_tile + before * advance(TILE));
            wgmma_commit();
            named_arrive(next_handoff, 256);

            wgmma_wait<1>(); // for the scores
            fence_registers(s);
            if (leader) {
                barrier_arrive(m.k_empty + 8 * stage);
            }
            if (edge) {
                mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            }
            SOFTMAX(s, row_max, row_sum, correction, scale);
            wgmma_wait<0>(); // for the product with the values
            fence_registers(out);
            if (leader) {
                barrier_arrive(m.v_empty + 8 * before);
            }
            pack_probabilities<KEYS>(p, s);
            rescale<D>(out, correction);
        }
    }
    named_sync(WARPGROUP_BARRIER + warpgroup, 128); // all have read q, and what their work is
    if (leader) {
        barrier_arrive(m.q_empty);
    }
    if (tiles > 0) { // the values of the last tile
        const int stage = step % STAGES, filled = step / STAGES % 2;
        step++;
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

    if (leader) {
        bulk_wait_read<0>(); // the results before these
    }
    named_sync(WARPGROUP_BARRIER + warpgroup, 128);
    rows_to_tile<D>(o_tile, lse, out, row_max, row_sum, scale, row, Sq);
    fence_async_proxy();
    named_sync(WARPGROUP_BARRIER + warpgroup, 128);
    if (leader) {
        tma_store(o_map, o_tile, 0, block_row + warpgroup * 64, 0, head);
        bulk_commit();
    }
}

} // namespace persistent
