/* forward.cuh: step 29's g-pieces, whose producer turns the queries.
 *
 * One warp of the producer's group asks for tiles, three had nothing to do. They turn the queries
 * of the next piece where they lie in shared memory, while those of this one are multiplied. So
 * consumers find turned queries, and their code is that of step 29. Only for the first piece there
 * is nothing to hide behind: there each group of consumers turns its own. Keys come turned.
 */
#pragma once

#include "attention.cuh"
#include "turning.cuh"

namespace turning
{

using namespace pieces;

// Of queries: the tile that is multiplied and the one that is turned. The next piece is drawn when
// so many tiles of keys are still to be asked for, which is time enough to turn its queries.
enum { Q_STAGES = 2, AHEAD = 4 };

// In shared memory: q [Q_STAGES][GROUPS][64][D], o [GROUPS][64][D], k and v [STAGES][KEYS][D],
// barriers, and as many pieces as tiles of q.
template <int D, int GROUPS>
static constexpr int bytes_of_block()
{
    return ((Q_STAGES + 1) * GROUPS * 64 + 2 * STAGES * KEYS) * D * 2 +
           (3 * Q_STAGES + 4 * STAGES) * 8 + Q_STAGES * (int)sizeof(piece);
}

// snippet: turn-tile
// Rows 0 to rows - 1 of tiles [64][D], boxes of TMA swizzled by 128 bytes, are turned where they
// lie, row r by row first + r of the tables. thread: of THREADS that do it together. AT_ONCE: rows
// of a thread whose angles are under way, four pairs of each: as many as it has registers for
template <int D, int THREADS, int AT_ONCE>
static __device__ __forceinline__ void turn_tile(char *tiles, rope_tables from, int first, int rows,
                                                 int thread)
{
    constexpr int FOURS = D / 8, STEP = THREADS / FOURS; // of pairs, a row; rows at a time
    const int column = thread % FOURS * 4;
    const int64_t angle = (int64_t)first * (D / 2) + column;
    const float *const cosines = from.cosines + angle, *const sines = from.sines + angle;
#pragma unroll AT_ONCE
    for (int row = thread / FOURS; row < rows; row += STEP) {
        const float4 c = *(const float4 *)(cosines + row * (D / 2));
        const float4 s = *(const float4 *)(sines + row * (D / 2));
        char *const box = tiles + row / 64 * (64 * D * 2) + row % 64 * 128;
        // Chunk c of 16 bytes stands at c ^ row % 8. The other half of a row: the second box, or
        // the second half of the only one.
        uint2 *const low = (uint2 *)(box + ((column * 2) ^ row % 8 * 16));
        uint2 *const high =
            (uint2 *)(D == 128 ? (char *)low + 64 * 128 : box + ((column * 2 + 64) ^ row % 8 * 16));
        // solution: turn -- four pairs by their angles: low and high, and what pairs with what
        turn_pairs(&low->x, &high->x, make_float2(c.x, c.y), make_float2(s.x, s.y));
        turn_pairs(&low->y, &high->y, make_float2(c.z, c.w), make_float2(s.z, s.w));
        // end solution: turn
        if (column == 0) {
            COUNT("Q rotations", 1);
        }
        COUNT("table loads", 8);
        COUNT("element rotations", 8);
    }
}
// end snippet: turn-tile

// The tiles of a piece's queries; of none only that it is none. In front: handed_out.
template <int D, int GROUPS>
static __device__ __forceinline__ void ask_for_queries(uint32_t tiles, const CUtensorMap *q_map,
                                                       uint32_t barrier, piece mine)
{
    if (mine.head < 0) {
        barrier_arrive(barrier);
        return;
    }
    barrier_expect(barrier, GROUPS * 64 * D * 2);
    for (int i = 0; i < GROUPS; i++) {
        tma_load(tiles + i * 64 * D * 2, q_map, barrier, 0, mine.first + i * 64, 0, mine.head);
    }
}

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; q is not turned, k is; Sq <= Sk; one launch at a time
// cost: as step 29's d-overlap, without the products of tiles that a group does not see; a row of q
// is turned once, with D floats of the tables
template <int D, int GROUPS>
__global__ void __launch_bounds__(GROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          rope_tables tables, float *lse, int heads, int at_once, int small, int Sq, int Sk,
          bool causal)
{
    constexpr bool HELD = GROUPS == 2; // queries, in registers: three groups have too few
    constexpr int QUERIES = GROUPS * 64, Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    extern __shared__ __align__(1024) char memory[];
    const uint32_t q_tiles = shared_address(memory); // [Q_STAGES][GROUPS]
    const uint32_t o_tiles = q_tiles + Q_STAGES * GROUPS * Q_TILE;
    const uint32_t k_tiles = o_tiles + GROUPS * Q_TILE;
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    const uint32_t q_full = v_tiles + STAGES * TILE; // barriers, [Q_STAGES], as the next two
    const uint32_t q_turned = q_full + Q_STAGES * 8;
    const uint32_t q_empty = q_turned + Q_STAGES * 8;
    const uint32_t k_full = q_empty + Q_STAGES * 8; // [STAGES], as the three others
    const uint32_t v_full = k_full + STAGES * 8;
    const uint32_t k_empty = v_full + STAGES * 8;
    const uint32_t v_empty = k_empty + STAGES * 8;
    piece *const handed_out = (piece *)(memory + (v_empty + STAGES * 8 - q_tiles)); // [Q_STAGES]
    const int lane = threadIdx.x % 32;
    const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const int pieces = (large_pieces(Sq, small, QUERIES) + small) * heads;

    if (threadIdx.x == 0) {
        for (int i = 0; i < Q_STAGES; i++) {
            barrier_init(q_full + 8 * i, 1);
            barrier_init(q_turned + 8 * i, 3); // a lane of each warp
            barrier_init(q_empty + 8 * i, GROUPS);
        }
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

    if (group == GROUPS) { // the producer's
        give_up_registers<GROUPS == 3 ? 32 : 40>();
        if (threadIdx.x % 128 >= 32) { // those that turn
            for (int turn = 1;; turn++) {
                const int place = turn % Q_STAGES;
                barrier_wait(q_full + 8 * place, turn / Q_STAGES % 2);
                const piece next = handed_out[place];
                if (next.head >= 0) {
                    turn_tile<D, 96, GROUPS == 2 && D == 128 ? 2 : 1>(
                        memory + place * GROUPS * Q_TILE, tables, Sk - Sq + next.first,
                        min(QUERIES, next.end - next.first), threadIdx.x % 128 - 32);
                    fence_async_proxy(); // for products that read the tile
                }
                __syncwarp();
                if (lane == 0) {
                    barrier_arrive(q_turned + 8 * place);
                }
                if (next.head < 0) {
                    return;
                }
            }
        }
        if (threadIdx.x % 128 != 0) {
            return;
        }
        int step = 0;
        piece mine = piece_of(blockIdx.x, heads, at_once, Sq, small, QUERIES);
        handed_out[0] = mine;
        ask_for_queries<D, GROUPS>(q_tiles, &q_map, q_full, mine);
        for (int turn = 0; mine.head >= 0; turn++) {
            const int visible = causal ? min(Sk, Sk - Sq + mine.end) : Sk;
            const int tiles = (visible + KEYS - 1) / KEYS;
            piece next = {-1, 0, 0};
#pragma unroll 1
            for (int tile = tiles - 1; tile >= 0; tile--, step++) {
                if (tile == min(AHEAD, tiles) - 1) {
                    const int place = (turn + 1) % Q_STAGES;
                    const int number = gridDim.x + atomicAdd(&counters[0], 1);
                    // At first there is nothing to wait for.
                    barrier_wait(q_empty + 8 * place, (turn + 1) / Q_STAGES % 2 ^ 1);
                    if (number < pieces) {
                        next = piece_of(number, heads, at_once, Sq, small, QUERIES);
                    }
                    handed_out[place] = next;
                    ask_for_queries<D, GROUPS>(q_tiles + place * GROUPS * Q_TILE, &q_map,
                                               q_full + 8 * place, next);
                }
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
            mine = next;
        }
        if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
            atomicExch(&counters[0], 0);
            atomicExch(&counters[1], 0);
        }
        return;
    }

    take_registers<GROUPS == 3 ? 160 : 232>();
    const bool leader = threadIdx.x % 128 == 0;                          // speaks for its group
    const int my_turn = 1 + group, next_turn = 1 + (group + 1) % GROUPS; // hardware barriers
    if (group == GROUPS - 1) {
        named_arrive(next_turn, 256);
    }
    const float scale = 1.4426950408889634f / sqrtf((float)D); // to exponents of 2
    const uint64_t k_tile = tile_descriptor(k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(v_tiles, KEYS * 128);
    const uint32_t o_tile = o_tiles + group * Q_TILE;

    int step = 0;
    for (int turn = 0;; turn++) {
        const int place = turn % Q_STAGES;
        const uint32_t q_now = q_tiles + (place * GROUPS + group) * Q_TILE;
        const uint64_t q_tile = tile_descriptor(q_now, 64 * 128);
        if (turn == 0) {
            barrier_wait(q_full, 0);
        } else {
            barrier_wait(q_turned + 8 * place, (turn - 1) / Q_STAGES % 2);
        }
        const int head = __shfl_sync(0xffffffffu, handed_out[place].head, 0);
        if (head < 0) {
            break;
        }
        const int first = __shfl_sync(0xffffffffu, handed_out[place].first, 0) + group * 64;
        const int end = __shfl_sync(0xffffffffu, handed_out[place].end, 0);
        if (turn == 0) {
            turn_tile<D, 128, 4>(memory + group * Q_TILE, tables, Sk - Sq + first,
                                 min(64, end - first), threadIdx.x % 128);
            fence_async_proxy();
            named_sync(4 + group, 128);
        }
        const int row = first + threadIdx.x / 32 % 4 * 16 + lane / 4; // of this lane, and row + 8
        // Keys that the last row of the piece sees, and that of the group, which may have none.
        const int visible = causal ? min(Sk, Sk - Sq + end) : Sk;
        const int mine = first >= end ? 0 : causal ? min(Sk, Sk - Sq + min(first + 64, end)) : Sk;
        // The first query of the group sees so many, and tiles from `whole` on are not all seen.
        const int seen = causal ? min(Sk, Sk - Sq + first + 1) : Sk;
        const int whole = max(0, seen) / KEYS;
        uint32_t query[D / 16][4];
        if constexpr (HELD) {
            load_queries<D>(query, q_now);
            named_sync(4 + group, 128); // all have read q, and what their piece is
            if (leader) {
                barrier_arrive(q_empty + 8 * place);
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
                barrier_arrive(q_empty + 8 * place);
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

} // namespace turning
