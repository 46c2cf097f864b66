/* wgmma_forward.cuh: attention, step 29's g-work-tiles, where it is explained: what steps 31 and 37
 * compare others with.
 */
#pragma once

#include "cuda/work_tiles.cuh"
#include "cuda/wgmma_ring.cuh"
#include "cuda/wgmma_rows.cuh"

namespace pieces
{

// same as step 29, g-work-tiles.cuh
enum { KEYS = 128, STAGES = 2 };

// same as step 29, g-work-tiles.cuh
// Rows first to end - 1 of a head.
typedef struct piece {
    int head, first, end;
} piece;

// same as step 29, g-work-tiles.cuh
template <int D, int GROUPS>
static constexpr int bytes_of_block()
{
    return bytes_of_memory<D, GROUPS, KEYS, STAGES>() + (int)sizeof(piece);
}

// same as step 29, g-work-tiles.cuh
// Pieces in the order in which they are handed out: all large ones, then the small ones; of both
// at_once heads together, and of these the last rows first, which under a mask see most keys.
static __device__ __forceinline__ piece piece_of(int number, int heads, int at_once, int Sq,
                                                 int small, int large)
{
    int of_head = large_tiles(Sq, small, large), first_row = small * SMALL, rows = large;
    if (number >= of_head * heads) {
        number -= of_head * heads;
        of_head = small;
        first_row = 0;
        rows = SMALL;
    }
    const int first = number / (at_once * of_head) * at_once; // of the heads together
    const int place = number - first * of_head;
    const int together = min(at_once, heads - first);
    const int row = first_row + (of_head - 1 - place / together) * rows;
    const piece p = {first + place % together, row, min(row + rows, Sq)};
    return p;
}

// same as step 29, g-work-tiles.cuh
// Pieces handed out beside the first of each block, and blocks that have none left. A launch leaves
// zeros for the next.
static __device__ int counters[2];

// The producer: pieces until there is none left, their queries and tiles of keys and values.
template <int D, int GROUPS>
static __device__ __forceinline__ void
bring_pieces(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
             const CUtensorMap *v_map, piece *handed_out, int heads, int at_once, int small, int Sq,
             int Sk, bool causal);

// A consumer group: its 64 rows of a piece, from first on, of which those below end exist -> o, and
// lse, that of the head. step: counts the tiles of all pieces.
template <int D, int GROUPS>
static __device__ __forceinline__ void
attend_piece(const block_memory &m, const CUtensorMap *o_map, float *lse, int group, int head,
             int first, int end, int &step, int Sq, int Sk, bool causal, float scale);

// same as step 29, g-work-tiles.cuh
// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; one launch at a time
// cost: as step 29's d-overlap, without the products of tiles that a group does not see
template <int D, int GROUPS>
__global__ void __launch_bounds__(GROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int heads, int at_once, int small, int Sq, int Sk, bool causal)
{
    extern __shared__ __align__(1024) char memory[];
    const block_memory m = memory_at<D, GROUPS, KEYS, STAGES>(shared_address(memory));
    piece *const handed_out = (piece *)(memory + bytes_of_memory<D, GROUPS, KEYS, STAGES>());
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    init_barriers<GROUPS, STAGES>(m);
    // Launched so, the next kernel begins when blocks of this one end, and waits here for the last.
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();

    if (group == GROUPS) { // the producer
        setmaxnreg_dec<GROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 == 0) {
            bring_pieces<D, GROUPS>(m, &q_map, &k_map, &v_map, handed_out, heads, at_once, small,
                                    Sq, Sk, causal);
        }
        return;
    }

    setmaxnreg_inc<GROUPS == 3 ? 160 : 240>();
    if (group == GROUPS - 1) {
        named_arrive(1, 256); // the turn of the first group
    }
    const float scale = 1.4426950408889634f / sqrtf((float)D); // to exponents of 2
    int step = 0;
    for (int turn = 0;; turn++) {
        barrier_wait(m.q_full, turn % 2);
        const int head = __shfl_sync(0xffffffffu, handed_out->head, 0);
        if (head < 0) {
            break;
        }
        const int first = __shfl_sync(0xffffffffu, handed_out->first, 0) + group * 64;
        const int end = __shfl_sync(0xffffffffu, handed_out->end, 0);
        attend_piece<D, GROUPS>(m, &o_map, lse + (int64_t)head * Sq, group, head, first, end, step,
                                Sq, Sk, causal, scale);
    }
    if (threadIdx.x % 128 == 0) {
        bulk_wait<0>();
    }
}

// same as step 29, g-work-tiles.cuh
template <int D, int GROUPS>
static __device__ __forceinline__ void
bring_pieces(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
             const CUtensorMap *v_map, piece *handed_out, int heads, int at_once, int small, int Sq,
             int Sk, bool causal)
{
    constexpr int QUERIES = GROUPS * 64, Q_TILE = 64 * D * 2; // bytes
    const int pieces = (large_tiles(Sq, small, QUERIES) + small) * heads;
    int step = 0;
    int number = blockIdx.x;
    for (int turn = 0;; turn++) {
        barrier_wait(m.q_empty, turn % 2 ^ 1); // the first time there is nothing to wait for
        if (number >= pieces) {
            handed_out->head = -1;
            barrier_arrive(m.q_full);
            break;
        }
        const piece mine = piece_of(number, heads, at_once, Sq, small, QUERIES);
        *handed_out = mine;
        barrier_expect(m.q_full, GROUPS * Q_TILE);
        for (int i = 0; i < GROUPS; i++) {
            tma_load(m.q_tiles + i * Q_TILE, q_map, m.q_full, 0, mine.first + i * 64, 0, mine.head);
        }
        const int visible = causal ? min(Sk, Sk - Sq + mine.end) : Sk;
        bring_keys<D, KEYS, STAGES>(m, k_map, v_map, mine.head, (visible + KEYS - 1) / KEYS, step);
        number = gridDim.x + atomicAdd(&counters[0], 1);
    }
    if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
        atomicExch(&counters[0], 0);
        atomicExch(&counters[1], 0);
    }
}

// same as step 29, g-work-tiles.cuh
// A consumer group: tiles, from the last one down, that begin behind the keys that it sees, `mine`.
template <int GROUPS>
static __device__ __forceinline__ void pass_over(const block_memory &m, int group, int mine,
                                                 int &tile, int &step)
{
    const bool leader = threadIdx.x % 128 == 0;
    const int own_handoff = 1 + group, next_turn = 1 + (group + 1) % GROUPS;
#pragma unroll 1
    for (; tile >= 0 && tile * KEYS >= mine; tile--, step++) { // others see these
        const int stage = step % STAGES, filled = step / STAGES % 2;
        barrier_wait(m.k_full + 8 * stage, filled);
        barrier_wait(m.v_full + 8 * stage, filled);
        named_sync(own_handoff, 256);
        named_arrive(next_turn, 256);
        if (leader) {
            barrier_arrive(m.k_empty + 8 * stage);
            barrier_arrive(m.v_empty + 8 * stage);
        }
    }
}

// same as step 29, g-work-tiles.cuh
template <int D, int GROUPS>
static __device__ __forceinline__ void
attend_piece(const block_memory &m, const CUtensorMap *o_map, float *lse, int group, int head,
             int first, int end, int &step, int Sq, int Sk, bool causal, float scale)
{
    constexpr bool HELD = GROUPS == 2; // queries, in registers: three groups have too few
    constexpr int Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    const int lane = threadIdx.x % 32;
    const bool leader = threadIdx.x % 128 == 0;                              // speaks for its group
    const int own_handoff = 1 + group, next_turn = 1 + (group + 1) % GROUPS; // hardware barriers
    const uint64_t q_tile = tile_descriptor(m.q_tiles + group * Q_TILE, 64 * 128);
    const uint64_t k_tile = tile_descriptor(m.k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(m.v_tiles, KEYS * 128);
    const uint32_t o_tile = m.o_tiles + group * Q_TILE;
    const int row = first + threadIdx.x / 32 % 4 * 16 + lane / 4; // of this lane, and row + 8
    // Keys that the last row of the piece sees, and that of the group, which may have none.
    const int visible = causal ? min(Sk, Sk - Sq + end) : Sk;
    const int mine = first >= end ? 0 : causal ? min(Sk, Sk - Sq + min(first + 64, end)) : Sk;
    // The first query of the group sees so many, and tiles from `whole` on are not all seen.
    const int seen = causal ? min(Sk, Sk - Sq + first + 1) : Sk;
    const int whole = max(0, seen) / KEYS;
    uint32_t query[D / 16][4];
    if constexpr (HELD) {
        load_queries<D>(query, m.q_tiles + group * Q_TILE);
        named_sync(4 + group, 128); // all have read q, and what their piece is
        if (leader) {
            barrier_arrive(m.q_empty);
        }
    }
    float s[KEYS / 8][4];
    uint32_t p[KEYS / 16][4];
    float out[D / 8][4] = {};
    float largest[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float sum[2] = {0.0f, 0.0f};               // of the keys of this lane
    float shrink[2];

    int tile = (visible + KEYS - 1) / KEYS - 1; // from the last one down: it may need a mask
    pass_over<GROUPS>(m, group, mine, tile, step);
    if (tile >= 0) {
        const int stage = step % STAGES, filled = step / STAGES % 2;
        barrier_wait(m.k_full + 8 * stage, filled);
        named_sync(own_handoff, 256);
        wgmma_fence();
        start_qk<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * advance(TILE));
        wgmma_commit();
        named_arrive(next_turn, 256);
        wgmma_wait<0>();
        hold(s);
        if (leader) {
            barrier_arrive(m.k_empty + 8 * stage);
        }
        mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
        weigh<KEYS>(s, largest, sum, shrink, scale);
        pack_probabilities<KEYS>(p, s);
        tile--;
    }
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile >= (edge ? whole : 0); tile--) {
            const int before = step % STAGES, before_filled = step / STAGES % 2;
            step++;
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(m.k_full + 8 * stage, filled);
            named_sync(own_handoff, 256); // with the group that passes it
            wgmma_fence();
            start_qk<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * advance(TILE));
            wgmma_commit();
            barrier_wait(m.v_full + 8 * before, before_filled);
            hold(out);
            wgmma_fence(); // again: between products there was a wait
            start_pv<D, KEYS>(out, p, v_tile + before * advance(TILE));
            wgmma_commit();
            named_arrive(next_turn, 256);

            wgmma_wait<1>(); // for the scores
            hold(s);
            if (leader) {
                barrier_arrive(m.k_empty + 8 * stage);
            }
            if (edge) {
                mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            }
            weigh<KEYS>(s, largest, sum, shrink, scale);
            wgmma_wait<0>(); // for the values
            hold(out);
            if (leader) {
                barrier_arrive(m.v_empty + 8 * before);
            }
            pack_probabilities<KEYS>(p, s);
            rescale<D>(out, shrink);
        }
    }
    if constexpr (!HELD) {
        named_sync(4 + group, 128); // all have read q, and what their piece is
        if (leader) {
            barrier_arrive(m.q_empty);
        }
    }
    if (mine > 0) { // the values of the last tile
        const int stage = step % STAGES, filled = step / STAGES % 2;
        step++;
        barrier_wait(m.v_full + 8 * stage, filled);
        hold(out);
        wgmma_fence();
        start_pv<D, KEYS>(out, p, v_tile + stage * advance(TILE));
        wgmma_commit();
        wgmma_wait<0>();
        hold(out);
        if (leader) {
            barrier_arrive(m.v_empty + 8 * stage);
        }
    }

    if (first >= end) { // a small piece has no rows for the last group
        return;
    }
    if (leader) {
        bulk_wait_read<0>(); // the results before these
    }
    named_sync(4 + group, 128);
    rows_to_tile<D>(o_tile, lse, out, largest, sum, scale, row, Sq);
    fence_async_proxy();
    named_sync(4 + group, 128);
    if (leader) {
        tma_store(o_map, o_tile, 0, first, 0, head);
        bulk_commit();
    }
}

} // namespace pieces
