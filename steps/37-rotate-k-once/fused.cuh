/* fused.cuh: attention that rotates both its queries and its keys: forward.cuh with work for three
 * idle warps of the producer's warpgroup. They rotate each tile of keys in shared memory, before
 * the consumers may multiply by it. Each work tile rotates anew all keys that it sees. */
#pragma once

#include "attention.cuh"
#include "rotate_fragments.cuh"

namespace fused
{

using namespace work_tiles;
using rotating::load_angles;
using rotating::row_angles;
using rotating::stages_of_queries;
using rotating::take_queries;

enum { ROTATING_WARPS = 3 }; // warps

// As rotating's, and barriers that say that a tile of k has come.
template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    return rotating::bytes_of_block<D, WARPGROUPS>() + STAGES * 8;
}

// A tile of keys [KEYS][D] in TMA boxes, raw -> rotated, in place; key: the first. All rotating
// warps call this, and take four pairs at a time, for they have few registers.
// cost: D floats of the tables per key
template <int D>
static __device__ __forceinline__ void rotate_key_tile(char *tile, rope_tables tables, int key,
                                                       int Sk)
{
    constexpr int FOURS = D / 8; // groups of four pairs per row
#pragma unroll(D / 64)           // as many at a time as registers allow
    for (int i = threadIdx.x % 128 - 32; i < KEYS * FOURS; i += ROTATING_WARPS * 32) {
        const int row = i / FOURS, four = i % FOURS, partner = four + FOURS;
        const int64_t angle = (int64_t)min(key + row, Sk - 1) * (D / 2) + four * 4;
        const float4 c = *(const float4 *)(tables.cosines + angle);
        const float4 s = *(const float4 *)(tables.sines + angle);
        // Two fours make a chunk, and a box has eight chunks of a row.
        uint2 *const rows = (uint2 *)(tile + row * 128) + four % 2;
        uint2 *const low = rows + (four / 2 ^ row % 8) * 2;
        uint2 *const high = rows + partner / 16 * KEYS * 16 + (partner / 2 % 8 ^ row % 8) * 2;
        uint2 x = *low, y = *high;
        rotate_two<false>(&x.x, &y.x, make_float2(c.x, c.y), make_float2(s.x, s.y));
        rotate_two<false>(&x.y, &y.y, make_float2(c.z, c.w), make_float2(s.z, s.w));
        *low = x;
        *high = y;
        COUNT("table loads", 8);
        if (key + row < Sk) {
            COUNT("element rotations", 8);
            COUNT("K rotations", four == 0);
        }
    }
}

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; neither q nor k is rotated; Sq <= Sk; one launch at a time
// cost: as rotating's, and a row of k is rotated once per work tile that sees it
template <int D, int WARPGROUPS>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          rope_tables tables, float *lse, int heads, int at_once, int small, int Sq, int Sk,
          bool causal)
{
    constexpr bool HELD = WARPGROUPS == 2; // queries, in registers: three warpgroups have too few
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>();
    constexpr int QUERIES = WARPGROUPS * 64, Q_TILE = 64 * D * 2, TILE = KEYS * D * 2; // bytes
    extern __shared__ __align__(1024) char memory[];
    const uint32_t q_tiles = shared_address(memory); // [Q_STAGES][WARPGROUPS]
    const uint32_t o_tiles = q_tiles + Q_STAGES * WARPGROUPS * Q_TILE;
    const uint32_t k_tiles = o_tiles + WARPGROUPS * Q_TILE;
    const uint32_t v_tiles = k_tiles + STAGES * TILE;
    const uint32_t q_full = v_tiles + STAGES * TILE; // barriers, [Q_STAGES], as the next
    const uint32_t q_empty = q_full + Q_STAGES * 8;
    const uint32_t k_full = q_empty + Q_STAGES * 8; // [STAGES], as the four others
    const uint32_t v_full = k_full + STAGES * 8;
    const uint32_t k_empty = v_full + STAGES * 8;
    const uint32_t v_empty = k_empty + STAGES * 8;
    const uint32_t k_came = v_empty + STAGES * 8;
    work_tile *const handed_out =
        (work_tile *)(memory + (k_came + STAGES * 8 - q_tiles)); // [Q_STAGES]
    const int lane = threadIdx.x % 32;
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const int work_tiles = (large_tiles(Sq, small, QUERIES) + small) * heads;

    if (threadIdx.x == 0) {
        for (int i = 0; i < Q_STAGES; i++) {
            barrier_init(q_full + 8 * i, 1);
            barrier_init(q_empty + 8 * i, WARPGROUPS + ROTATING_WARPS);
        }
        for (int i = 0; i < STAGES; i++) {
            barrier_init(k_came + 8 * i, 1);
            barrier_init(k_full + 8 * i, ROTATING_WARPS);
            barrier_init(v_full + 8 * i, 1);
            barrier_init(k_empty + 8 * i, WARPGROUPS);
            barrier_init(v_empty + 8 * i, WARPGROUPS);
        }
        barrier_init_fence();
    }
    __syncthreads();
    // Launched so, the next kernel begins when blocks of this one end, and waits here for the last.
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();

    if (warpgroup == WARPGROUPS) { // the producer
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 40>();
        const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32 % 4, 0);
        if (warp > 0) { // rotates the tiles that warp 0 requests
            int step = 0;
            for (int iteration = 0;; iteration++) {
                const int place = iteration % Q_STAGES;
                barrier_wait(q_full + 8 * place, iteration / Q_STAGES % 2);
                const int head = handed_out[place].head;
                const int visible = causal ? min(Sk, Sk - Sq + handed_out[place].end) : Sk;
                __syncwarp();
                if (head < 0) {
                    break;
                }
                if (lane == 0) {
                    barrier_arrive(q_empty + 8 * place);
                }
#pragma unroll 1
                for (int tile = (visible + KEYS - 1) / KEYS - 1; tile >= 0; tile--, step++) {
                    const int stage = step % STAGES;
                    barrier_wait(k_came + 8 * stage, step / STAGES % 2);
                    rotate_key_tile<D>(memory + (k_tiles + stage * TILE - q_tiles), tables,
                                       tile * KEYS, Sk);
                    fence_async_proxy();
                    __syncwarp();
                    if (lane == 0) {
                        barrier_arrive(k_full + 8 * stage);
                    }
                }
            }
            return;
        }
        if (lane != 0) {
            return;
        }
        int step = 0;
        int number = blockIdx.x;
        for (int iteration = 0;; iteration++) {
            const int place = iteration % Q_STAGES;
            // At first there is nothing to wait for.
            barrier_wait(q_empty + 8 * place, iteration / Q_STAGES % 2 ^ 1);
            if (number >= work_tiles) {
                const work_tile none = {-1, 0, 0};
                handed_out[place] = none;
                barrier_arrive(q_full + 8 * place);
                break;
            }
            const work_tile mine = work_tile_of(number, heads, at_once, Sq, small, QUERIES);
            handed_out[place] = mine;
            barrier_expect(q_full + 8 * place, WARPGROUPS * Q_TILE);
            for (int i = 0; i < WARPGROUPS; i++) {
                tma_load(q_tiles + (place * WARPGROUPS + i) * Q_TILE, &q_map, q_full + 8 * place, 0,
                         mine.first + i * 64, 0, mine.head);
            }
            const int visible = causal ? min(Sk, Sk - Sq + mine.end) : Sk;
#pragma unroll 1
            for (int tile = (visible + KEYS - 1) / KEYS - 1; tile >= 0; tile--, step++) {
                const int stage = step % STAGES, emptied = step / STAGES % 2 ^ 1;
                barrier_wait(k_empty + 8 * stage, emptied);
                barrier_expect(k_came + 8 * stage, TILE);
                tma_load(k_tiles + stage * TILE, &k_map, k_came + 8 * stage, 0, tile * KEYS, 0,
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

    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 232>();
    const bool leader = threadIdx.x % 128 == 0; // speaks for its warpgroup
    const int own_handoff = 1 + warpgroup,
              next_handoff = 1 + (warpgroup + 1) % WARPGROUPS; // hardware barriers
    if (warpgroup == WARPGROUPS - 1) {
        named_arrive(next_handoff, 256);
    }
    const float scale = 1.4426950408889634f / sqrtf((float)D); // to exponents of 2
    const uint64_t k_tile = tile_descriptor(k_tiles, KEYS * 128);
    const uint64_t v_tile = tile_descriptor(v_tiles, KEYS * 128);
    const uint32_t o_tile = o_tiles + warpgroup * Q_TILE;

    const int warp_row = warpgroup * 64 + threadIdx.x / 32 % 4 * 16; // in the work tile
    // The block's first work tile follows from its index, so the angles of its rows are loaded
    // while its queries come.
    work_tile now = work_tile_of(blockIdx.x, heads, at_once, Sq, small, QUERIES);
    uint32_t query[D / 16][4];
    row_angles<D> rotation;
    load_angles<D>(rotation, tables, Sk - Sq + now.first + warp_row, Sk - 1);
    barrier_wait(q_full, 0);
    take_queries<D, HELD>(query, memory + warpgroup * Q_TILE, rotation,
                          now.end - now.first - warp_row);
    if (HELD) {
        named_sync(4 + warpgroup, 128); // all have read q
        if (leader) {
            barrier_arrive(q_empty);
        }
    }

    int step = 0;
    for (int iteration = 0; now.head >= 0; iteration++) {
        const int head = now.head, end = now.end, first = now.first + warpgroup * 64;
        const int row = now.first + warp_row + lane / 4; // of this lane, and row + 8
        const uint64_t q_tile = tile_descriptor(
            q_tiles + (iteration % Q_STAGES * WARPGROUPS + warpgroup) * Q_TILE, 64 * 128);
        // Keys that the last row of the work tile sees, and that of the warpgroup, which may have
        // none.
        const int visible = causal ? min(Sk, Sk - Sq + end) : Sk;
        const int mine = first >= end ? 0 : causal ? min(Sk, Sk - Sq + min(first + 64, end)) : Sk;
        // The first query of the warpgroup sees so many, and tiles from `whole` on are not all
        // seen.
        const int seen = causal ? min(Sk, Sk - Sq + first + 1) : Sk;
        const int whole = max(0, seen) / KEYS;
        float s[KEYS / 8][4];
        uint32_t p[KEYS / 16][4];
        float out[D / 8][4] = {};
        float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
        float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane
        float correction[2];

        int tile = (visible + KEYS - 1) / KEYS - 1; // from the last one down: it may need a mask
#pragma unroll 1
        for (; tile >= 0 && tile * KEYS >= mine; tile--, step++) { // others see these
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(k_full + 8 * stage, filled);
            barrier_wait(v_full + 8 * stage, filled);
            named_sync(own_handoff, 256);
            named_arrive(next_handoff, 256);
            if (leader) {
                barrier_arrive(k_empty + 8 * stage);
                barrier_arrive(v_empty + 8 * stage);
            }
        }
        if (tile >= 0) {
            const int stage = step % STAGES, filled = step / STAGES % 2;
            barrier_wait(k_full + 8 * stage, filled);
            named_sync(own_handoff, 256);
            wgmma_fence();
            start_qk<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * advance(TILE));
            wgmma_commit();
            named_arrive(next_handoff, 256);
            wgmma_wait<0>();
            fence_registers(s);
            if (leader) {
                barrier_arrive(k_empty + 8 * stage);
            }
            mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
            softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
            pack_probabilities<KEYS>(p, s);
            tile--;
        }
#pragma unroll
        for (int edge = 1; edge >= 0; edge--) {
            for (; tile >= (edge ? whole : 0); tile--) {
                const int before = step % STAGES, before_filled = step / STAGES % 2;
                step++;
                const int stage = step % STAGES, filled = step / STAGES % 2;
                barrier_wait(k_full + 8 * stage, filled);
                named_sync(own_handoff, 256); // with the warpgroup that passes it
                wgmma_fence();
                start_qk<D, KEYS, HELD>(s, query, q_tile, k_tile + stage * advance(TILE));
                wgmma_commit();
                barrier_wait(v_full + 8 * before, before_filled);
                fence_registers(out);
                wgmma_fence(); // again: between products there was a wait
                start_pv<D, KEYS>(out, p, v_tile + before * advance(TILE));
                wgmma_commit();
                named_arrive(next_handoff, 256);

                wgmma_wait<1>(); // for the scores
                fence_registers(s);
                if (leader) {
                    barrier_arrive(k_empty + 8 * stage);
                }
                if (edge) {
                    mask_scores<KEYS>(s, row, tile * KEYS, Sq, Sk, causal);
                }
                softmax_step<KEYS>(s, row_max, row_sum, correction, scale);
                wgmma_wait<0>(); // for the values
                fence_registers(out);
                if (leader) {
                    barrier_arrive(v_empty + 8 * before);
                }
                pack_probabilities<KEYS>(p, s);
                rescale<D>(out, correction);
            }
        }
        if constexpr (!HELD) {
            named_sync(4 + warpgroup, 128); // all have read q, and what their work tile is
            if (leader) {
                barrier_arrive(q_empty + 8 * (iteration % Q_STAGES));
            }
        }
        const int last = step % STAGES;
        if (mine > 0) { // the values of the last tile
            barrier_wait(v_full + 8 * last, step / STAGES % 2);
            step++;
            fence_registers(out);
            wgmma_fence();
            start_pv<D, KEYS>(out, p, v_tile + last * advance(TILE));
            wgmma_commit();
        }
        // While the values are multiplied: the next queries.
        const int place = (iteration + 1) % Q_STAGES;
        barrier_wait(q_full + 8 * place, (iteration + 1) / Q_STAGES % 2);
        now.head = __shfl_sync(0xffffffffu, handed_out[place].head, 0);
        now.first = __shfl_sync(0xffffffffu, handed_out[place].first, 0);
        now.end = __shfl_sync(0xffffffffu, handed_out[place].end, 0);
        if (now.head >= 0) {
            load_angles<D>(rotation, tables, Sk - Sq + now.first + warp_row, Sk - 1);
            take_queries<D, HELD>(query, memory + (place * WARPGROUPS + warpgroup) * Q_TILE,
                                  rotation, now.end - now.first - warp_row);
            if (HELD) {
                named_sync(4 + warpgroup, 128);
                if (leader) {
                    barrier_arrive(q_empty);
                }
            }
        }
        wgmma_wait<0>(); // for the values
        fence_registers(out);
        if (mine > 0 && leader) {
            barrier_arrive(v_empty + 8 * last);
        }

        if (first >= end) { // a small work tile has no rows for the last warpgroup
            continue;
        }
        if (leader) {
            bulk_wait_read<0>(); // the results before these
        }
        named_sync(4 + warpgroup, 128);
        rows_to_tile<D>(o_tile, lse + (int64_t)head * Sq, out, row_max, row_sum, scale, row, Sq);
        fence_async_proxy();
        named_sync(4 + warpgroup, 128);
        if (leader) {
            tma_store(&o_map, o_tile, 0, first, 0, head);
            bulk_commit();
        }
    }
    if (leader) {
        bulk_wait<0>();
    }
}

} // namespace fused
