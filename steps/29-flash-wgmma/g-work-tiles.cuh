/* g-work-tiles: e-persistent, without work in vain.
 *
 * Work tiles have two sizes if there are three warpgroups: large ones first, and small ones for the
 * end of a launch, cut so that all multiprocessors end at about the same time. A warpgroup skips
 * tiles that only rows of the warpgroups behind it see. With two warpgroups registers suffice to
 * keep queries in them: products read one tile less from shared memory, and the next queries come
 * early. */
#pragma once

#include "cuda/dependent_launch.cuh"
#include "cuda/work_tiles.cuh"
#include "cuda/wgmma_ring.cuh"
#include "cuda/wgmma_rows.cuh"

namespace work_tiles
{

enum { KEYS = 128, STAGES = 2 };

// Rows first to end - 1 of a head.
typedef struct work_tile {
    int head, first, end;
} work_tile;

template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    return bytes_of_memory<D, WARPGROUPS, KEYS, STAGES>() + (int)sizeof(work_tile);
}

// The number-th work tile in the order of handing out: first all large ones, then the small ones.
// In both parts at_once heads are taken together, and their last rows come first, because under a
// mask these see most keys.
static __device__ __forceinline__ work_tile work_tile_of(int number, int heads, int at_once, int Sq,
                                                         int small, int large)
{
    int of_head = large_tiles(Sq, small, large), first_row = small * SMALL, rows = large;
    if (number >= of_head * heads) {
        number -= of_head * heads;
        of_head = small;
        first_row = 0;
        rows = SMALL;
    }
    const int first_head = number / (at_once * of_head) * at_once; // of the heads taken together
    const int place = number - first_head * of_head;
    const int together = min(at_once, heads - first_head);
    const int row = first_row + (of_head - 1 - place / together) * rows;
    return {first_head + place % together, row, min(row + rows, Sq)};
}

// [0]: work tiles handed out in addition to the first of each block. [1]: blocks that have none
// left. A launch resets both to zero for the next.
static __device__ int counters[2];

// A consumer warpgroup's 64 rows of a work tile, from `first` on; rows from `end` on do not exist.
typedef struct warpgroup_rows {
    int warpgroup, head, first, end;
} warpgroup_rows;

// Which keys a query sees.
typedef struct key_mask {
    int Sq, Sk;
    bool causal;
} key_mask;

// The producer: loads the queries of one work tile after the other, and their tiles of keys and
// values.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
load_work_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
                const CUtensorMap *v_map, work_tile *handed_out, int heads, int at_once, int small,
                int Sq, int Sk, bool causal);

// A consumer warpgroup: its rows of a work tile -> o, and lse, that of the head.
// step: counts the tiles of all work tiles.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
attend_work_tile(const block_memory &m, const CUtensorMap *o_map, float *lse,
                 const warpgroup_rows &rows, int &step, const key_mask &mask, float scale);

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; only one launch may run at a time
// cost: as d-overlap, without the products of tiles that a warpgroup does not see
template <int D, int WARPGROUPS>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int heads, int at_once, int small, int Sq, int Sk, bool causal)
{
    extern __shared__ __align__(1024) char memory[];
    const block_memory m = memory_at<D, WARPGROUPS, KEYS, STAGES>(shared_address(memory));
    work_tile *const handed_out =
        (work_tile *)(memory + bytes_of_memory<D, WARPGROUPS, KEYS, STAGES>());
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // uniform within a warp
    init_barriers<WARPGROUPS, STAGES>(m);
    // A programmatic launch lets the next kernel begin as blocks of this one end; that kernel waits
    // here for the last block.
    let_next_begin();
    wait_for_previous();

    if (warpgroup == WARPGROUPS) { // the producer
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 == 0) {
            load_work_tiles<D, WARPGROUPS>(m, &q_map, &k_map, &v_map, handed_out, heads, at_once,
                                           small, Sq, Sk, causal);
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
        const int first = __shfl_sync(0xffffffffu, handed_out->first, 0) + warpgroup * 64;
        const int end = __shfl_sync(0xffffffffu, handed_out->end, 0);
        attend_work_tile<D, WARPGROUPS>(m, &o_map, lse + (int64_t)head * Sq,
                                        {warpgroup, head, first, end}, step, {Sq, Sk, causal},
                                        scale);
    }
    if (threadIdx.x % 128 == 0) {
        bulk_wait<0>();
    }
}

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
load_work_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
                const CUtensorMap *v_map, work_tile *handed_out, int heads, int at_once, int small,
                int Sq, int Sk, bool causal)
{
    constexpr int QUERIES = WARPGROUPS * 64, Q_TILE = 64 * D * 2; // bytes
    const int work_tiles = (large_tiles(Sq, small, QUERIES) + small) * heads;
    int step = 0;
    int number = blockIdx.x;
    for (int iteration = 0;; iteration++) {
        barrier_wait(m.q_empty, iteration % 2 ^ 1); // the first wait returns at once
        if (number >= work_tiles) {
            handed_out->head = -1;
            barrier_arrive(m.q_full);
            break;
        }
        const work_tile next = work_tile_of(number, heads, at_once, Sq, small, QUERIES);
        *handed_out = next;
        barrier_expect(m.q_full, WARPGROUPS * Q_TILE);
        for (int i = 0; i < WARPGROUPS; i++) {
            tma_load(m.q_tiles + i * Q_TILE, q_map, m.q_full, 0, next.first + i * 64, 0, next.head);
        }
        const int block_keys = causal ? min(Sk, Sk - Sq + next.end) : Sk;
        load_keys<D, KEYS, STAGES>(m, k_map, v_map, next.head, (block_keys + KEYS - 1) / KEYS,
                                   step);
        number = gridDim.x + atomicAdd(&counters[0], 1);
    }
    if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
        atomicExch(&counters[0], 0);
        atomicExch(&counters[1], 0);
    }
}

// A consumer warpgroup that sees group_keys keys passes over the tiles behind them, from the last
// one down. It waits for their bytes, which it does not read: otherwise it might run ahead by a
// round of the ring, and arrive a second time at an empty barrier before another warpgroup has
// arrived there once. The producer would then overwrite a tile that is being read.
template <int WARPGROUPS>
static __device__ __forceinline__ void skip_tiles(const block_memory &m, int warpgroup,
                                                  int group_keys, int &tile, int &step)
{
    const bool leader = threadIdx.x % 128 == 0;
    const int own_handoff = HANDOFF_BARRIER + warpgroup,
              next_handoff = HANDOFF_BARRIER + (warpgroup + 1) % WARPGROUPS;
#pragma unroll 1
    for (; tile >= 0 && tile * KEYS >= group_keys; tile--, step++) { // others see these
        const int stage = step % STAGES, filled = step / STAGES % 2;
        barrier_wait(m.k_full + 8 * stage, filled);
        barrier_wait(m.v_full + 8 * stage, filled);
        named_sync(own_handoff, 256);
        named_arrive(next_handoff, 256);
        if (leader) {
            barrier_arrive(m.k_empty + 8 * stage);
            barrier_arrive(m.v_empty + 8 * stage);
        }
    }
}

// The threads of a consumer warpgroup have read q, and what their work tile is.
static __device__ __forceinline__ void release_queries(uint32_t q_empty, int warpgroup)
{
    named_sync(WARPGROUP_BARRIER + warpgroup, 128);
    if (threadIdx.x % 128 == 0) {
        barrier_arrive(q_empty);
    }
}

// Row and row + 8 of this lane.
static __device__ __forceinline__ int row_of_lane(int first)
{
    return first + threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
}

// A consumer warpgroup: the keys that its rows see, tile after tile -> out, row_max and row_sum of
// row and row + 8 (the sum is of this lane's keys), and p, the probabilities of the last tile,
// whose values are still to be added. False if the rows see no key. step: counts the tiles of all
// work tiles.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ bool
attend_keys(const block_memory &m, uint32_t (&query)[D / 16][4], uint64_t q_tile,
            float (&out)[D / 8][4], uint32_t (&p)[KEYS / 16][4], float *row_max, float *row_sum,
            const warpgroup_rows &rows, int &step, const key_mask &mask, float scale)
{
    constexpr bool HELD = WARPGROUPS == 2; // queries in registers; three warpgroups have too few
    constexpr int TILE = KEYS * D * 2;     // bytes
    const int warpgroup = rows.warpgroup, Sq = mask.Sq, Sk = mask.Sk;
    const bool causal = mask.causal;
    const bool leader = threadIdx.x % 128 == 0; // arrives for its warpgroup
    const int own_handoff = HANDOFF_BARRIER + warpgroup,
              next_handoff = HANDOFF_BARRIER + (warpgroup + 1) % WARPGROUPS;
    const uint64_t k_tile = tile_descriptor(m.k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(m.v_tiles, KEYS * 128);
    const int row = row_of_lane(rows.first); // and row + 8
    // Keys that the last row of the work tile sees; that the warpgroup's last row sees, none if it
    // has no rows; that its first row sees. Tiles from whole_tiles on need the mask.
    const int block_keys = causal ? min(Sk, Sk - Sq + rows.end) : Sk;
    const int group_keys = rows.first >= rows.end ? 0
                           : causal ? min(Sk, Sk - Sq + min(rows.first + 64, rows.end))
                                    : Sk;
    const int first_row_keys = causal ? min(Sk, Sk - Sq + rows.first + 1) : Sk;
    const int whole_tiles = max(0, first_row_keys) / KEYS;
    float s[KEYS / 8][4];
    float correction[2];

    int tile = (block_keys + KEYS - 1) / KEYS - 1; // from the last one down: it may need a mask
    skip_tiles<WARPGROUPS>(m, warpgroup, group_keys, tile, step);
    if (tile >= 0) {
        const int stage = step % STAGES, filled = step / STAGES % 2;
        barrier_wait(m.k_full + 8 * stage, filled);
        named_sync(own_handoff, 256);
        wgmma_fence();
        start_qk<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * advance(TILE));
        wgmma_commit();
        named_arrive(next_handoff, 256);
        wgmma_wait<0>();
        fence_registers(s);
        if (leader) {
            barrier_arrive(m.k_empty + 8 * stage);
        }
        mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
        softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
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
            start_qk<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * advance(TILE));
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
            softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
            wgmma_wait<0>(); // for the product with the values
            fence_registers(out);
            if (leader) {
                barrier_arrive(m.v_empty + 8 * before);
            }
            pack_probabilities<KEYS>(p, s);
            rescale<D>(out, correction);
        }
    }
    return group_keys > 0;
}

// Starts the product with the values of the last tile.
template <int D>
static __device__ __forceinline__ void start_last_values(const block_memory &m,
                                                         float (&out)[D / 8][4],
                                                         uint32_t (&p)[KEYS / 16][4], int step)
{
    constexpr int TILE = KEYS * D * 2; // bytes
    const uint64_t v_tile = tile_descriptor(m.v_tiles, KEYS * 128);
    const int stage = step % STAGES, filled = step / STAGES % 2;
    barrier_wait(m.v_full + 8 * stage, filled);
    fence_registers(out);
    wgmma_fence();
    start_pv<D, KEYS>(out, p, v_tile + stage * advance(TILE));
    wgmma_commit();
}

// Waits for that product.
template <int D>
static __device__ __forceinline__ void finish_last_values(const block_memory &m,
                                                          float (&out)[D / 8][4], int &step)
{
    const int stage = step % STAGES;
    step++;
    wgmma_wait<0>();
    fence_registers(out);
    if (threadIdx.x % 128 == 0) {
        barrier_arrive(m.v_empty + 8 * stage);
    }
}

// The rows, divided by their sums -> o, and lse, that of the head.
template <int D>
static __device__ __forceinline__ void store_result(const block_memory &m, const CUtensorMap *o_map,
                                                    float *lse, float (&out)[D / 8][4],
                                                    const float *row_max, const float *row_sum,
                                                    const warpgroup_rows &rows, int Sq, float scale)
{
    const bool leader = threadIdx.x % 128 == 0;
    const uint32_t o_tile = m.o_tiles + rows.warpgroup * 64 * D * 2;
    if (leader) {
        bulk_wait_read<0>(); // the results before these
    }
    named_sync(WARPGROUP_BARRIER + rows.warpgroup, 128);
    rows_to_tile<D>(o_tile, lse, out, row_max, row_sum, scale, row_of_lane(rows.first), Sq);
    fence_async_proxy();
    named_sync(WARPGROUP_BARRIER + rows.warpgroup, 128);
    if (leader) {
        tma_store(o_map, o_tile, 0, rows.first, 0, rows.head);
        bulk_commit();
    }
}

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
attend_work_tile(const block_memory &m, const CUtensorMap *o_map, float *lse,
                 const warpgroup_rows &rows, int &step, const key_mask &mask, float scale)
{
    constexpr bool HELD = WARPGROUPS == 2; // queries in registers; three warpgroups have too few
    const uint32_t q_rows = m.q_tiles + rows.warpgroup * 64 * D * 2;
    const uint64_t q_tile = tile_descriptor(q_rows, 64 * 128);
    uint32_t query[D / 16][4];
    if constexpr (HELD) {
        load_queries<D>(query, q_rows);
        release_queries(m.q_empty, rows.warpgroup);
    }
    float out[D / 8][4] = {};
    uint32_t p[KEYS / 16][4];
    float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane
    const bool values_left = attend_keys<D, WARPGROUPS>(m, query, q_tile, out, p, row_max, row_sum,
                                                        rows, step, mask, scale);
    if constexpr (!HELD) {
        release_queries(m.q_empty, rows.warpgroup);
    }
    if (values_left) {
        start_last_values<D>(m, out, p, step);
        finish_last_values<D>(m, out, step);
    }
    if (rows.first < rows.end) { // a small work tile has no rows for the last warpgroup
        store_result<D>(m, o_map, lse, out, row_max, row_sum, rows, mask.Sq, scale);
    }
}

} // namespace work_tiles
