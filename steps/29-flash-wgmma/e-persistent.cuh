/* e-persistent: a block for each multiprocessor, which takes work until there is none.
 *
 * What a block has to set up it sets up once, and the first tiles of its next work come while it
 * still finishes the last: the producer runs ahead. Work is handed out by a counter, so that who is
 * early takes more; under a mask the longest rows go first, and the short ones fill the end. Of
 * several heads at a time, whose keys and values stay in the L2 cache meanwhile. EARLY asks for the
 * next piece when one begins, and so takes it away from who ends before. WEIGH turns scores into
 * weights: wgmma_rows.cuh's weigh, or that of rung f. */
#pragma once

#include "cuda/wgmma_ring.cuh"
#include "cuda/wgmma_rows.cuh"

namespace persistent
{

enum { KEYS = 128, STAGES = 2 };

template <int D, int GROUPS>
static constexpr int bytes_of_block()
{
    return bytes_of_memory<D, GROUPS, KEYS, STAGES>() + 8; // and the work
}

// snippet: work
// A piece of work: a head, and GROUPS * 64 of its rows.
typedef struct piece {
    int head, block;
} piece;

// Pieces in the order in which they are handed out: at_once heads together, of these the last rows
// first, which under a mask see most keys.
static __device__ __forceinline__ piece piece_of(int number, int blocks, int heads, int at_once)
{
    const int first = number / (at_once * blocks) * at_once; // of the heads together
    const int place = number - first * blocks;
    const int together = min(at_once, heads - first);
    const piece p = {first + place % together, blocks - 1 - place / together};
    return p;
}
// end snippet: work

// Pieces handed out beside the first of each block, and blocks that have none left. A launch leaves
// zeros for the next.
static __device__ int counters[2];

typedef void weigh_function(float (*s)[4], float *largest, float *sum, float *shrink, float scale);

// The producer: pieces until there is none left, their queries and tiles of keys and values.
template <int D, int GROUPS, bool EARLY>
static __device__ __forceinline__ void
bring_pieces(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
             const CUtensorMap *v_map, piece *handed_out, int heads, int at_once, int Sq, int Sk,
             bool causal);

// A consumer group: its 64 rows of a piece, from block_row on -> o, and lse, that of the head.
// step: counts the tiles of all pieces.
template <int D, int GROUPS, weigh_function WEIGH>
static __device__ __forceinline__ void
attend_piece(const block_memory &m, const CUtensorMap *o_map, float *lse, int group, int head,
             int block_row, int &step, int Sq, int Sk, bool causal, float scale);

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; one launch at a time
// cost: as d-overlap
template <int D, int GROUPS, bool EARLY, weigh_function WEIGH>
__global__ void __launch_bounds__(GROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int heads, int at_once, int Sq, int Sk, bool causal)
{
    extern __shared__ __align__(1024) char memory[];
    const block_memory m = memory_at<D, GROUPS, KEYS, STAGES>(shared_address(memory));
    piece *const handed_out = (piece *)(memory + bytes_of_memory<D, GROUPS, KEYS, STAGES>());
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    init_barriers<GROUPS, STAGES>(m);
    if (group == GROUPS) { // the producer
        give_up_registers<GROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 == 0) {
            bring_pieces<D, GROUPS, EARLY>(m, &q_map, &k_map, &v_map, handed_out, heads, at_once,
                                           Sq, Sk, causal);
        }
        return;
    }

    take_registers<GROUPS == 3 ? 160 : 240>();
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
        const int block_row = __shfl_sync(0xffffffffu, handed_out->block, 0) * GROUPS * 64;
        attend_piece<D, GROUPS, WEIGH>(m, &o_map, lse + (int64_t)head * Sq, group, head, block_row,
                                       step, Sq, Sk, causal, scale);
    }
    if (threadIdx.x % 128 == 0) {
        bulk_wait<0>();
    }
}

template <int D, int GROUPS, bool EARLY>
static __device__ __forceinline__ void
bring_pieces(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
             const CUtensorMap *v_map, piece *handed_out, int heads, int at_once, int Sq, int Sk,
             bool causal)
{
    constexpr int QUERIES = GROUPS * 64, Q_TILE = 64 * D * 2; // bytes
    const int blocks = (Sq + QUERIES - 1) / QUERIES;          // of a head
    int step = 0;
    int number = blockIdx.x;
    for (int turn = 0;; turn++) {
        barrier_wait(m.q_empty, turn % 2 ^ 1); // the first time there is nothing to wait for
        if (number >= blocks * heads) {
            handed_out->head = -1;
            barrier_arrive(m.q_full);
            break;
        }
        const piece mine = piece_of(number, blocks, heads, at_once);
        const int block_row = mine.block * QUERIES;
        *handed_out = mine;
        barrier_expect(m.q_full, GROUPS * Q_TILE);
        for (int i = 0; i < GROUPS; i++) {
            tma_load(m.q_tiles + i * Q_TILE, q_map, m.q_full, 0, block_row + i * 64, 0, mine.head);
        }
        if (EARLY) {
            number = gridDim.x + atomicAdd(&counters[0], 1);
        }
        const int visible = causal ? min(Sk, Sk - Sq + block_row + QUERIES) : Sk;
        bring_keys<D, KEYS, STAGES>(m, k_map, v_map, mine.head, (visible + KEYS - 1) / KEYS, step);
        if (!EARLY) {
            number = gridDim.x + atomicAdd(&counters[0], 1);
        }
    }
    // snippet: last
    if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
        atomicExch(&counters[0], 0);
        atomicExch(&counters[1], 0);
    }
    // end snippet: last
}

template <int D, int GROUPS, weigh_function WEIGH>
static __device__ __forceinline__ void
attend_piece(const block_memory &m, const CUtensorMap *o_map, float *lse, int group, int head,
             int block_row, int &step, int Sq, int Sk, bool causal, float scale)
{
    constexpr int QUERIES = GROUPS * 64, Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    const int lane = threadIdx.x % 32;
    const bool leader = threadIdx.x % 128 == 0;                          // speaks for its group
    const int my_turn = 1 + group, next_turn = 1 + (group + 1) % GROUPS; // hardware barriers
    const uint64_t q_tile = tile_descriptor(m.q_tiles + group * Q_TILE, 64 * 128);
    const uint64_t k_tile = tile_descriptor(m.k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(m.v_tiles, KEYS * 128);
    const uint32_t o_tile = m.o_tiles + group * Q_TILE;
    const int row = block_row + threadIdx.x / 32 * 16 + lane / 4; // of this lane, and row + 8
    const int visible = causal ? min(Sk, Sk - Sq + block_row + QUERIES) : Sk; // to the last row
    const int tiles = max(0, (visible + KEYS - 1) / KEYS);
    // The first query of the group sees so many, and tiles from `whole` on are not all seen.
    const int seen = causal ? min(Sk, Sk - Sq + block_row + group * 64 + 1) : Sk;
    const int whole = max(0, seen) / KEYS;
    float s[KEYS / 8][4];
    uint32_t p[KEYS / 16][4];
    float out[D / 8][4] = {};
    float largest[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
    float sum[2] = {0.0f, 0.0f};               // of the keys of this lane
    float shrink[2];

    int tile = tiles - 1; // from the last one down: the first may need a mask
    if (tiles > 0) {
        const int stage = step % STAGES, filled = step / STAGES % 2;
        barrier_wait(m.k_full + 8 * stage, filled);
        named_sync(my_turn, 256);
        wgmma_fence();
        start_scores<D, KEYS>(s, q_tile, k_tile + stage * further(TILE));
        wgmma_commit();
        named_arrive(next_turn, 256);
        wgmma_wait<0>();
        hold(s);
        if (leader) {
            barrier_arrive(m.k_empty + 8 * stage);
        }
        mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
        WEIGH(s, largest, sum, shrink, scale);
        pack_weights<KEYS>(p, s);
        tile--;
    }
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile >= (edge ? whole : 0); tile--) {
            const int before = step % STAGES, before_filled = step / STAGES % 2;
            step++;
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(m.k_full + 8 * stage, filled);
            named_sync(my_turn, 256); // with the group that passes it
            wgmma_fence();
            start_scores<D, KEYS>(s, q_tile, k_tile + stage * further(TILE));
            wgmma_commit();
            barrier_wait(m.v_full + 8 * before, before_filled);
            hold(out);
            wgmma_fence(); // again: between products there was a wait
            start_values<D, KEYS>(out, p, v_tile + before * further(TILE));
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
            WEIGH(s, largest, sum, shrink, scale);
            wgmma_wait<0>(); // for the values
            hold(out);
            if (leader) {
                barrier_arrive(m.v_empty + 8 * before);
            }
            pack_weights<KEYS>(p, s);
            rescale<D>(out, shrink);
        }
    }
    named_sync(4 + group, 128); // all have read q, and what their work is
    if (leader) {
        barrier_arrive(m.q_empty);
    }
    if (tiles > 0) { // the values of the last tile
        const int stage = step % STAGES, filled = step / STAGES % 2;
        step++;
        barrier_wait(m.v_full + 8 * stage, filled);
        hold(out);
        wgmma_fence();
        start_values<D, KEYS>(out, p, v_tile + stage * further(TILE));
        wgmma_commit();
        wgmma_wait<0>();
        hold(out);
        if (leader) {
            barrier_arrive(m.v_empty + 8 * stage);
        }
    }

    if (leader) {
        bulk_wait_read<0>(); // the results before these
    }
    named_sync(4 + group, 128);
    rows_to_tile<D>(o_tile, lse, out, largest, sum, scale, row, Sq);
    fence_async_proxy();
    named_sync(4 + group, 128);
    if (leader) {
        tma_store(o_map, o_tile, 0, block_row + group * 64, 0, head);
        bulk_commit();
    }
}

} // namespace persistent
