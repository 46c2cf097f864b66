/* attention.cuh: attention alone, what turning is compared with: step 29's g-pieces and step 30's
 * d-late, where they are explained. */
#pragma once

#include "cuda/pieces.cuh"
#include "cuda/wgmma_keys.cuh"

namespace pieces
{

// same as step 29, g-pieces.cuh
enum { KEYS = 128, STAGES = 2 };

// same as step 29, g-pieces.cuh
// Rows first to end - 1 of a head.
typedef struct piece {
    int head, first, end;
} piece;

// same as step 29, g-pieces.cuh
// In shared memory: q and o [GROUPS][64][D], k and v [STAGES][KEYS][D], barriers, and a piece.
template <int D, int GROUPS>
static constexpr int bytes_of_block()
{
    return (2 * GROUPS * 64 + 2 * STAGES * KEYS) * D * 2 + (2 + 4 * STAGES) * 8 +
           (int)sizeof(piece);
}

// same as step 29, g-pieces.cuh
// Pieces in the order in which they are handed out: all large ones, then the small ones; of both
// at_once heads together, and of these the last rows first, which under a mask see most keys.
static __device__ __forceinline__ piece piece_of(int number, int heads, int at_once, int Sq,
                                                 int small, int large)
{
    int of_head = large_pieces(Sq, small, large), first_row = small * SMALL, rows = large;
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

// same as step 29, g-pieces.cuh
// Pieces handed out beside the first of each block, and blocks that have none left. A launch leaves
// zeros for the next.
static __device__ int counters[2];

// same as step 29, g-pieces.cuh
// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; one launch at a time
// cost: as step 29's d-overlap, without the products of tiles that a group does not see
template <int D, int GROUPS>
__global__ void __launch_bounds__(GROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          float *lse, int heads, int at_once, int small, int Sq, int Sk, bool causal)
{
    constexpr bool HELD = GROUPS == 2; // queries, in registers: three groups have too few
    constexpr int QUERIES = GROUPS * 64, Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    extern __shared__ __align__(1024) char memory[];
    const uint32_t q_tiles = shared_address(memory);
    const uint32_t o_tiles = q_tiles + GROUPS * Q_TILE;
    const uint32_t k_tiles = o_tiles + GROUPS * Q_TILE;
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    const uint32_t q_full = v_tiles + STAGES * TILE; // barriers
    const uint32_t q_empty = q_full + 8;
    const uint32_t k_full = q_empty + 8; // [STAGES], as the three others
    const uint32_t v_full = k_full + STAGES * 8;
    const uint32_t k_empty = v_full + STAGES * 8;
    const uint32_t v_empty = k_empty + STAGES * 8;
    piece *const handed_out = (piece *)(memory + (v_empty + STAGES * 8 - q_tiles));
    const int lane = threadIdx.x % 32;
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const int pieces = (large_pieces(Sq, small, QUERIES) + small) * heads;

    if (threadIdx.x == 0) {
        barrier_init(q_full, 1);
        barrier_init(q_empty, GROUPS);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(k_full + 8 * i, 1);
            barrier_init(v_full + 8 * i, 1);
            barrier_init(k_empty + 8 * i, GROUPS);
            barrier_init(v_empty + 8 * i, GROUPS);
        }
        barrier_init_fence();
    }
    __syncthreads();
    // Launched so, the next kernel begins when blocks of this one end, and waits here for the last.
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();

    if (group == GROUPS) { // the producer
        give_up_registers<GROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 != 0) {
            return;
        }
        int step = 0;
        int number = blockIdx.x;
        for (int turn = 0;; turn++) {
            barrier_wait(q_empty, turn % 2 ^ 1); // the first time there is nothing to wait for
            if (number >= pieces) {
                handed_out->head = -1;
                barrier_arrive(q_full);
                break;
            }
            const piece mine = piece_of(number, heads, at_once, Sq, small, QUERIES);
            *handed_out = mine;
            barrier_expect(q_full, GROUPS * Q_TILE);
            for (int i = 0; i < GROUPS; i++) {
                tma_load(q_tiles + i * Q_TILE, &q_map, q_full, 0, mine.first + i * 64, 0,
                         mine.head);
            }
            const int visible = causal ? min(Sk, Sk - Sq + mine.end) : Sk;
#pragma unroll 1
            for (int tile = (visible + KEYS - 1) / KEYS - 1; tile >= 0; tile--, step++) {
                const int stage = step % STAGES, emptied = step / STAGES % 2 ^ 1;
                barrier_wait(k_empty + 8 * stage, emptied);
                barrier_expect(k_full + 8 * stage, TILE);
                tma_load(k_tiles + stage * TILE, &k_map, k_full + 8 * stage, 0, tile * KEYS, 0,
                         mine.head);
                barrier_wait(v_empty + 8 * stage, emptied);
                barrier_expect(v_full + 8 * stage, TILE);
                tma_load(v_tiles + stage * TILE, &v_map, v_full + 8 * stage, 0, tile * KEYS, 0,
                         mine.head);
            }
            number = gridDim.x + atomicAdd(&counters[0], 1);
        }
        if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
            atomicExch(&counters[0], 0);
            atomicExch(&counters[1], 0);
        }
        return;
    }

    take_registers<GROUPS == 3 ? 160 : 240>();
    const bool leader = threadIdx.x % 128 == 0;                          // speaks for its group
    const int my_turn = 1 + group, next_turn = 1 + (group + 1) % GROUPS; // hardware barriers
    if (group == GROUPS - 1) {
        named_arrive(next_turn, 256);
    }
    const float scale = 1.4426950408889634f / sqrtf((float)D); // to exponents of 2
    const uint64_t q_tile = tile_descriptor(q_tiles + group * Q_TILE, 64 * 128);
    const uint64_t k_tile = tile_descriptor(k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(v_tiles, KEYS * 128);
    const uint32_t o_tile = o_tiles + group * Q_TILE;

    int step = 0;
    for (int turn = 0;; turn++) {
        barrier_wait(q_full, turn % 2);
        const int head = __shfl_sync(0xffffffffu, handed_out->head, 0);
        if (head < 0) {
            break;
        }
        const int first = __shfl_sync(0xffffffffu, handed_out->first, 0) + group * 64;
        const int end = __shfl_sync(0xffffffffu, handed_out->end, 0);
        const int row = first + threadIdx.x / 32 % 4 * 16 + lane / 4; // of this lane, and row + 8
        // Keys that the last row of the piece sees, and that of the group, which may have none.
        const int visible = causal ? min(Sk, Sk - Sq + end) : Sk;
        const int mine = first >= end ? 0 : causal ? min(Sk, Sk - Sq + min(first + 64, end)) : Sk;
        // The first query of the group sees so many, and tiles from `whole` on are not all seen.
        const int seen = causal ? min(Sk, Sk - Sq + first + 1) : Sk;
        const int whole = max(0, seen) / KEYS;
        uint32_t query[D / 16][4];
        if constexpr (HELD) {
            load_queries<D>(query, q_tiles + group * Q_TILE);
            named_sync(4 + group, 128); // all have read q, and what their piece is
            if (leader) {
                barrier_arrive(q_empty);
            }
        }
        float s[KEYS / 8][4];
        uint32_t p[KEYS / 16][4];
        float out[D / 8][4] = {};
        float largest[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
        float sum[2] = {0.0f, 0.0f};               // of the keys of this lane
        float shrink[2];

        int tile = (visible + KEYS - 1) / KEYS - 1; // from the last one down: it may need a mask
#pragma unroll 1
        for (; tile >= 0 && tile * KEYS >= mine; tile--, step++) { // others see these
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(k_full + 8 * stage, filled);
            barrier_wait(v_full + 8 * stage, filled);
            named_sync(my_turn, 256);
            named_arrive(next_turn, 256);
            if (leader) {
                barrier_arrive(k_empty + 8 * stage);
                barrier_arrive(v_empty + 8 * stage);
            }
        }
        if (tile >= 0) {
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(k_full + 8 * stage, filled);
            named_sync(my_turn, 256);
            wgmma_fence();
            start_scores<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * further(TILE));
            wgmma_commit();
            named_arrive(next_turn, 256);
            wgmma_wait<0>();
            hold(s);
            if (leader) {
                barrier_arrive(k_empty + 8 * stage);
            }
            mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            weigh<KEYS>(s, largest, sum, shrink, scale);
            pack_weights<KEYS>(p, s);
            tile--;
        }
#pragma unroll
        for (int edge = 1; edge >= 0; edge--) {
            for (; tile >= (edge ? whole : 0); tile--) {
                const int before = step % STAGES, before_filled = step / STAGES % 2;
                step++;
                const int stage = step % STAGES, filled = step / STAGES % 2;
                barrier_wait(k_full + 8 * stage, filled);
                named_sync(my_turn, 256); // with the group that passes it
                wgmma_fence();
                start_scores<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * further(TILE));
                wgmma_commit();
                barrier_wait(v_full + 8 * before, before_filled);
                hold(out);
                wgmma_fence(); // again: between products there was a wait
                start_values<D, KEYS>(out, p, v_tile + before * further(TILE));
                wgmma_commit();
                named_arrive(next_turn, 256);

                wgmma_wait<1>(); // for the scores
                hold(s);
                if (leader) {
                    barrier_arrive(k_empty + 8 * stage);
                }
                if (edge) {
                    mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
                }
                weigh<KEYS>(s, largest, sum, shrink, scale);
                wgmma_wait<0>(); // for the values
                hold(out);
                if (leader) {
                    barrier_arrive(v_empty + 8 * before);
                }
                pack_weights<KEYS>(p, s);
                rescale<D>(out, shrink);
            }
        }
        if constexpr (!HELD) {
            named_sync(4 + group, 128); // all have read q, and what their piece is
            if (leader) {
                barrier_arrive(q_empty);
            }
        }
        if (mine > 0) { // the values of the last tile
            const int stage = step % STAGES, filled = step / STAGES % 2;
            step++;
            barrier_wait(v_full + 8 * stage, filled);
            hold(out);
            wgmma_fence();
            start_values<D, KEYS>(out, p, v_tile + stage * further(TILE));
            wgmma_commit();
            wgmma_wait<0>();
            hold(out);
            if (leader) {
                barrier_arrive(v_empty + 8 * stage);
            }
        }

        if (first >= end) { // a small piece has no rows for the last group
            continue;
        }
        if (leader) {
            bulk_wait_read<0>(); // the results before these
        }
        named_sync(4 + group, 128);
        rows_to_tile<D>(o_tile, lse + (int64_t)head * Sq, out, largest, sum, scale, row, Sq);
        fence_async_proxy();
        named_sync(4 + group, 128);
        if (leader) {
            tma_store(&o_map, o_tile, 0, first, 0, head);
            bulk_commit();
        }
    }
    if (leader) {
        bulk_wait<0>();
    }
}

} // namespace pieces

namespace backward_pass
{

// same as step 30, d-late.cuh
enum { STAGES = 2 };

// same as step 30, d-late.cuh
// In shared memory: k and v [128][D], q and dout [STAGES][queries][D], dS [STAGES][queries][128],
// dq [queries][D] in floats, lse2 and minus_delta [STAGES][queries], barriers.
template <int D>
static constexpr int bytes_of_block()
{
    return 4 * bytes_of_keys<D>() + 2 * STAGES * bytes_of_queries<D>() +
           STAGES * bytes_of_slopes<D>() + 2 * bytes_of_queries<D>() +
           2 * STAGES * tile_queries<D>() * 4 + (1 + 5 * STAGES) * 8;
}

// same as step 30, d-late.cuh
// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys;
// lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq is added to sums [BH][padded][D]
// grid (Sk / 128 BH); at_once: heads that are worked on at a time, under a mask the first keys,
// which have most queries, first
// cost: as step 30's
template <int D>
__global__ void __launch_bounds__(384, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map,
             const __grid_constant__ CUtensorMap dout_map,
             const __grid_constant__ CUtensorMap dk_map, const __grid_constant__ CUtensorMap dv_map,
             const float *lse2, const float *minus_delta, float *sums, int heads, int at_once,
             backward_args a)
{
    constexpr int ROWS = tile_queries<D>(), KEYS_TILE = bytes_of_keys<D>();
    constexpr int TILE = bytes_of_queries<D>(), SLOPES = bytes_of_slopes<D>();
    extern __shared__ __align__(1024) char memory[];
    const uint32_t k_tiles = shared_address(memory); // [2], of a group each
    const uint32_t v_tiles = k_tiles + 2 * KEYS_TILE;
    const uint32_t q_tiles = v_tiles + 2 * KEYS_TILE; // [STAGES], as all that follow but dq
    const uint32_t dout_tiles = q_tiles + STAGES * TILE;
    const uint32_t ds_tiles = dout_tiles + STAGES * TILE;
    const uint32_t dq_tile = ds_tiles + STAGES * SLOPES;
    const uint32_t lse_rows = dq_tile + 2 * TILE;
    const uint32_t delta_rows = lse_rows + STAGES * ROWS * 4;
    const uint32_t kv_full = delta_rows + STAGES * ROWS * 4; // barriers
    const uint32_t q_full = kv_full + 8;
    const uint32_t dout_full = q_full + STAGES * 8;
    const uint32_t q_empty = dout_full + STAGES * 8;
    const uint32_t dout_empty = q_empty + STAGES * 8;
    const uint32_t ds_full = dout_empty + STAGES * 8;
    const int lane = threadIdx.x % 32;
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const int blocks = (a.Sk + BLOCK_KEYS - 1) / BLOCK_KEYS;          // of a head
    // at_once heads together, of these the first keys first
    const int together = blockIdx.x / (at_once * blocks) * at_once;
    const int place = blockIdx.x - together * blocks;
    const int width = min(at_once, heads - together);
    const int head = together + place % width;
    const int block_key = place / width * BLOCK_KEYS;
    const int64_t padded = padded_rows(a.Sq);
    // The first query that sees a key of this block, and the first that sees all.
    const int sees = a.causal ? max(0, block_key - (a.Sk - a.Sq)) : 0;
    const int sees_all = a.causal ? block_key + BLOCK_KEYS - 1 - (a.Sk - a.Sq) : 0;
    const int first = sees / ROWS, last = (a.Sq + ROWS - 1) / ROWS; // tiles
    const int whole = block_key + BLOCK_KEYS > a.Sk ? last : (max(0, sees_all) + ROWS - 1) / ROWS;

    if (threadIdx.x == 0) {
        barrier_init(kv_full, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(q_full + 8 * i, 1);
            barrier_init(dout_full + 8 * i, 1);
            barrier_init(q_empty + 8 * i, 8); // a lane of each warp
            barrier_init(dout_empty + 8 * i, 8);
            barrier_init(ds_full + 8 * i, 8);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (group == 2) { // the producer
        give_up_registers<24>();
        if (threadIdx.x % 128 != 0) {
            return;
        }
        barrier_expect(kv_full, 4 * KEYS_TILE);
        for (int i = 0; i < 2; i++) {
            tma_load(k_tiles + i * KEYS_TILE, &k_map, kv_full, 0, block_key + i * 64, 0, head);
            tma_load(v_tiles + i * KEYS_TILE, &v_map, kv_full, 0, block_key + i * 64, 0, head);
        }
        // The consumers wait with it: they touch what was written before when tiles have come.
        wait_for_previous();
#pragma unroll 1
        for (int tile = first; tile < last; tile++) {
            const int stage = (tile - first) % STAGES;
            const int emptied =
                (tile - first) / STAGES % 2 ^ 1; // at first there is nothing to wait for
            const int64_t row = head * padded + tile * ROWS;
            barrier_wait(q_empty + 8 * stage, emptied);
            barrier_expect(q_full + 8 * stage, TILE + ROWS * 4);
            tma_load(q_tiles + stage * TILE, &q_map, q_full + 8 * stage, 0, tile * ROWS, 0, head);
            bulk_load(lse_rows + stage * ROWS * 4, lse2 + row, ROWS * 4, q_full + 8 * stage);
            barrier_wait(dout_empty + 8 * stage, emptied);
            barrier_expect(dout_full + 8 * stage, TILE + ROWS * 4);
            tma_load(dout_tiles + stage * TILE, &dout_map, dout_full + 8 * stage, 0, tile * ROWS, 0,
                     head);
            bulk_load(delta_rows + stage * ROWS * 4, minus_delta + row, ROWS * 4,
                      dout_full + 8 * stage);
        }
        let_next_begin();
        return;
    }

    take_registers<240>();
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    const int warp_key = block_key + warp * 16;
    float *const lse_at = (float *)(memory + (lse_rows - k_tiles));
    float *const delta_at = (float *)(memory + (delta_rows - k_tiles));
    float4 *const dq_at = (float4 *)(memory + (dq_tile - k_tiles)) + warp * 256 + lane;
    // This warp's share of dq: 16 rows, 64 columns.
    float *const sums_at =
        sums + head * padded * D + (D == 64 ? warp : warp % 4 * 2 + group) * 1024;
    const uint64_t k_rows = tile_descriptor(k_tiles + group * KEYS_TILE, 64 * 128);
    const uint64_t v_rows = tile_descriptor(v_tiles + group * KEYS_TILE, 64 * 128);
    const uint64_t q_tile = tile_descriptor(q_tiles, ROWS * 128);
    const uint64_t dout_tile = tile_descriptor(dout_tiles, ROWS * 128);
    const uint64_t ds_tile = tile_descriptor(ds_tiles + (D == 64 ? group * 64 * 128 : 0), 0);
    const uint64_t k_turned = tile_descriptor(k_tiles + (D == 64 ? 0 : group * 64 * 128), 0);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    hold(dk);
    hold(dv);

    // In front of the first tile there is a dS of zeros.
    uint4 *const no_slopes = (uint4 *)(memory + (ds_tiles + (STAGES - 1) * SLOPES - k_tiles));
    for (int i = threadIdx.x; i < SLOPES / 16; i += 256) {
        no_slopes[i] = make_uint4(0, 0, 0, 0);
    }
    fence_async_proxy();
    named_sync(1, 256);
    barrier_wait(kv_full, 0);
    int tile = first;
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile < (edge ? min(whole, last) : last); tile++) {
            const int step = tile - first, stage = step % STAGES, filled = step / STAGES % 2;
            const int before = (step + 1) % STAGES; // of the tile before
            const uint64_t q_now = recomputed(q_tile + stage * further(TILE));
            const uint64_t dout_now = recomputed(dout_tile + stage * further(TILE));
            float s[1][ROWS / 8][4];
            float dp[ROWS / 8][4];
            float dq[8][4];
            uint32_t p[ROWS / 16][4];
            uint32_t ds[ROWS / 16][4];
            barrier_wait(dout_full + 8 * stage, filled);
            start_from<ROWS>(dp, delta_at + stage * ROWS);
            hold(dp);
            barrier_wait(q_full + 8 * stage, filled);
            wgmma_fence();
            start_scores<D, ROWS>(s[0], recomputed(k_rows), q_now);
            wgmma_commit();
            start_adding<D>(dp, recomputed(v_rows), dout_now);
            wgmma_commit();
            wgmma_wait<1>(); // for the scores
            hold(s[0]);
            weigh_columns<ROWS>(s[0], lse_at + stage * ROWS, scale);
            if (edge) {
                hide<true, 1, ROWS>(s, a, tile * ROWS, warp_key);
            }
            wgmma_wait<0>();
            hold(dp);
            pack_slopes<ROWS>(p, ds, s[0], dp);

            // The other group's half of the last dS is there, and it has read the one before, in
            // whose place this one goes. In front of the first tile nothing is waited for.
            const int last_filled = (step - 1 + 2 * STAGES) / STAGES % 2;
            barrier_wait(ds_full + 8 * before, last_filled);
            store_slopes<ROWS>(ds_tiles + stage * SLOPES + group * ROWS * 128, ds);
            fence_async_proxy();
            wgmma_fence();
            start_dq<D>(dq, recomputed(ds_tile + before * further(SLOPES)), recomputed(k_turned));
            wgmma_commit();
            start_values<D, ROWS>(dv, p, dout_now);
            start_values<D, ROWS>(dk, ds, q_now);
            wgmma_commit();
            wgmma_wait<1>(); // for dq
            hold(dq);
            // And that the other buffer has been read, for dq is there.
            __syncwarp();
            if (lane == 0) {
                barrier_arrive(ds_full + 8 * stage);
            }
            if (step > 0) {
                add_rows(sums_at + (int64_t)(tile - 1) * ROWS * D, dq_at, dq);
            }
            wgmma_wait<0>();
            hold(dv);
            hold(dk);
            if (lane == 0) {
                barrier_arrive(q_empty + 8 * stage);
                barrier_arrive(dout_empty + 8 * stage);
            }
        }
    }
    if (first < last) { // dq of the last tile
        const int step = last - 1 - first, stage = step % STAGES;
        barrier_wait(ds_full + 8 * stage, step / STAGES % 2);
        float dq[8][4];
        wgmma_fence();
        start_dq<D>(dq, ds_tile + stage * further(SLOPES), k_turned);
        wgmma_commit();
        wgmma_wait<0>();
        hold(dq);
        add_rows(sums_at + (int64_t)(last - 1) * ROWS * D, dq_at, dq);
    }

    named_sync(1, 256); // both have read all keys: dk and dv go there
    store_keys<D>(k_tiles + group * KEYS_TILE, dk, 1.0f / sqrtf((float)D));
    store_keys<D>(v_tiles + group * KEYS_TILE, dv, 1.0f);
    fence_async_proxy();
    named_sync(2 + group, 128);
    if (threadIdx.x % 128 == 0) {
        tma_store(&dk_map, k_tiles + group * KEYS_TILE, 0, block_key + group * 64, 0, head);
        tma_store(&dv_map, v_tiles + group * KEYS_TILE, 0, block_key + group * 64, 0, head);
        bulk_commit();
    }
    if (lane == 0) {
        bulk_wait<0>();
    }
}

} // namespace backward_pass
