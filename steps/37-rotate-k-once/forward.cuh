/* forward.cuh: step 29's g-work-tiles, whose consumers rotate their queries themselves.
 *
 * Rows come by TMA and are rotated in shared memory, where a request for angles reads whole rows of
 * the tables. Two warpgroups then take their rows as fragments. Three have too few registers, so
 * products read the tile; there are two such tiles, so that the next one comes early. The angles
 * take long: those of the first work tile are there before the kernel in front has ended, those of
 * the next are in flight while the last values of this one are multiplied and stored. Keys come
 * rotated.
 */
#pragma once

#include "attention.cuh"
#include "rotate_fragments.cuh"

namespace rotating
{

using namespace work_tiles;

// Tiles of queries: two if products read queries from shared memory, else one.
template <int WARPGROUPS>
static __host__ __device__ constexpr int stages_of_queries()
{
    return WARPGROUPS == 2 ? 1 : 2;
}

// The next work tile is drawn, and its queries are requested, behind the copies of the tile of keys
// that has this many tiles behind it. So they come early enough, and not in front of copies that a
// consumer waits for.
enum { AHEAD = 1 };

// In shared memory: q [stages][WARPGROUPS][64][D], o [WARPGROUPS][64][D], k and v
// [STAGES][KEYS][D], barriers, and as many work tiles as tiles of q.
template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>();
    return ((Q_STAGES + 1) * WARPGROUPS * 64 + 2 * STAGES * KEYS) * D * 2 +
           (2 * Q_STAGES + 4 * STAGES) * 8 + Q_STAGES * (int)sizeof(work_tile);
}

// The angles of a warp's 16 rows: a lane has four neighbouring pairs of every (256 / D)th row, so
// that each request of the warp reads whole rows.
template <int D>
struct row_angles {
    four_angles by[D / 16];
};

// row: the row of the tables for the warp's first row; none beyond the last is read.
template <int D>
static __device__ __forceinline__ void load_angles(row_angles<D> &a, rope_tables from, int row,
                                                   int last)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
        const int mine = min(row + (i * 32 + lane) / (D / 8), last);
        const int64_t at = (int64_t)mine * (D / 2) + lane % (D / 8) * 4;
        a.by[i] = ::load_angles(from.cosines + at, from.sines + at);
        COUNT("table loads", 8);
    }
}

// snippet: rotate-queries
// Rotates the warp's 16 rows of the tile [64][D] of its warpgroup in place. The tile is TMA boxes,
// swizzled by 128 bytes. `rows` of the 16 exist; rotations of the others are not counted.
template <int D>
static __device__ __forceinline__ void rotate_queries(char *tile, const row_angles<D> &a, int rows)
{
    const int lane = threadIdx.x % 32;
    const int column = lane % (D / 8) * 4;
    uint2 *low[D / 16], *high[D / 16], x[D / 16], y[D / 16];
    (void)rows; // used only where operations are counted
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
        const int row = (i * 32 + lane) / (D / 8); // of the warp
        char *const box = tile + (threadIdx.x / 32 % 4 * 16 + row) * 128;
        // Chunk c of 16 bytes stands at c ^ row % 8. The other half of a row: the second box, or
        // the second half of the only one.
        low[i] = (uint2 *)(box + ((column * 2) ^ row % 8 * 16));
        high[i] = D == 128 ? low[i] + 64 * 16 : (uint2 *)(box + ((column * 2 + 64) ^ row % 8 * 16));
        x[i] = *low[i];
        y[i] = *high[i];
        COUNT("Q rotations", column == 0 && row < rows);
        COUNT("element rotations", row < rows ? 8 : 0);
    }
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
        // solution: rotate -- four pairs by their angles
        rotate_four<false>(&x[i], &y[i], a.by[i]);
        // end solution: rotate
        *low[i] = x[i];
        *high[i] = y[i];
    }
}
// end snippet: rotate-queries

// The rows of this warp are rotated and, where they are HELD, become fragments. Otherwise products
// read the tile, after the warpgroup's next barrier.
template <int D, bool HELD>
static __device__ __forceinline__ void take_queries(uint32_t (&q)[D / 16][4], char *tile,
                                                    const row_angles<D> &a, int rows)
{
    rotate_queries<D>(tile, a, rows);
    if (HELD) {
        __syncwarp();
        load_queries<D>(q, shared_address(tile));
    }
    fence_async_proxy(); // for products of the tile, or for the copy that overwrites it
}

// Requests the tiles of a work tile's queries. The barrier also announces the work tile, which the
// caller has written to handed_out. Of an empty work tile there is nothing to request.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void ask_for_queries(uint32_t tiles, const CUtensorMap *q_map,
                                                       uint32_t barrier, work_tile mine)
{
    if (mine.head < 0) {
        barrier_arrive(barrier);
        return;
    }
    barrier_expect(barrier, WARPGROUPS * 64 * D * 2);
    for (int i = 0; i < WARPGROUPS; i++) {
        tma_load(tiles + i * 64 * D * 2, q_map, barrier, 0, mine.first + i * 64, 0, mine.head);
    }
}

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; q is not rotated, k is; Sq <= Sk; one launch at a time
// cost: as step 29's d-overlap, without the products of tiles that a warpgroup does not see; a row
// of q is rotated once, with D floats of the tables
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
    const uint32_t k_full = q_empty + Q_STAGES * 8; // [STAGES], as the three others
    const uint32_t v_full = k_full + STAGES * 8;
    const uint32_t k_empty = v_full + STAGES * 8;
    const uint32_t v_empty = k_empty + STAGES * 8;
    work_tile *const handed_out =
        (work_tile *)(memory + (v_empty + STAGES * 8 - q_tiles)); // [Q_STAGES]
    const int lane = threadIdx.x % 32;
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const int work_tiles = (large_tiles(Sq, small, QUERIES) + small) * heads;

    if (threadIdx.x == 0) {
        for (int i = 0; i < Q_STAGES; i++) {
            barrier_init(q_full + 8 * i, 1);
            barrier_init(q_empty + 8 * i, WARPGROUPS);
        }
        for (int i = 0; i < STAGES; i++) {
            barrier_init(k_full + 8 * i, 1);
            barrier_init(v_full + 8 * i, 1);
            barrier_init(k_empty + 8 * i, WARPGROUPS);
            barrier_init(v_empty + 8 * i, WARPGROUPS);
        }
        barrier_init_fence();
    }
    __syncthreads();
    // Launched so, the next kernel begins when blocks of this one end, and waits for the last.
    cudaTriggerProgrammaticLaunchCompletion();

    if (warpgroup == WARPGROUPS) { // the producer
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 != 0) {
            return;
        }
        int step = 0;
        work_tile mine = work_tile_of(blockIdx.x, heads, at_once, Sq, small, QUERIES);
        handed_out[0] = mine;
        ask_for_queries<D, WARPGROUPS>(q_tiles, &q_map, q_full, mine);
        cudaGridDependencySynchronize(); // for keys: queries are nobody's results
        for (int iteration = 0; mine.head >= 0; iteration++) {
            const int visible = causal ? min(Sk, Sk - Sq + mine.end) : Sk;
            const int tiles = (visible + KEYS - 1) / KEYS;
            work_tile next = {-1, 0, 0};
#pragma unroll 1
            for (int tile = tiles - 1; tile >= 0; tile--, step++) {
                const int stage = step % STAGES, emptied = step / STAGES % 2 ^ 1;
                barrier_wait(k_empty + 8 * stage, emptied);
                barrier_expect(k_full + 8 * stage, TILE);
                tma_load(k_tiles + stage * TILE, &k_map, k_full + 8 * stage, 0, tile * KEYS, 0,
                         mine.head);
                barrier_wait(v_empty + 8 * stage, emptied);
                barrier_expect(v_full + 8 * stage, TILE);
                tma_load(v_tiles + stage * TILE, &v_map, v_full + 8 * stage, 0, tile * KEYS, 0,
                         mine.head);
                if (tile == min(AHEAD, tiles - 1)) {
                    const int place = (iteration + 1) % Q_STAGES;
                    const int number = gridDim.x + atomicAdd(&counters[0], 1);
                    // At first there is nothing to wait for.
                    barrier_wait(q_empty + 8 * place, (iteration + 1) / Q_STAGES % 2 ^ 1);
                    if (number < work_tiles) {
                        next = work_tile_of(number, heads, at_once, Sq, small, QUERIES);
                    }
                    handed_out[place] = next;
                    ask_for_queries<D, WARPGROUPS>(q_tiles + place * WARPGROUPS * Q_TILE, &q_map,
                                                   q_full + 8 * place, next);
                }
            }
            mine = next;
        }
        if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
            atomicExch(&counters[0], 0);
            atomicExch(&counters[1], 0);
        }
        return;
    }

    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 240>();
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
    // The block's first work tile follows from its index, and no kernel computes that tile's
    // queries or angles.
    work_tile now = work_tile_of(blockIdx.x, heads, at_once, Sq, small, QUERIES);
    uint32_t query[D / 16][4];
    row_angles<D> rotation;
    load_angles<D>(rotation, tables, Sk - Sq + now.first + warp_row, Sk - 1);
    barrier_wait(q_full, 0);
    take_queries<D, HELD>(query, memory + warpgroup * Q_TILE, rotation,
                          now.end - now.first - warp_row);
    named_sync(4 + warpgroup, 128); // all have read q, or written it back
    if (HELD && leader) {
        barrier_arrive(q_empty);
    }
    cudaGridDependencySynchronize(); // the kernel in front may still read o and lse

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
        // The next work tile. Angles of its rows are loaded while values are multiplied and stored.
        const int place = (iteration + 1) % Q_STAGES;
        barrier_wait(q_full + 8 * place, (iteration + 1) / Q_STAGES % 2);
        now.head = __shfl_sync(0xffffffffu, handed_out[place].head, 0);
        now.first = __shfl_sync(0xffffffffu, handed_out[place].first, 0);
        now.end = __shfl_sync(0xffffffffu, handed_out[place].end, 0);
        row_angles<D> next; // loaded for an empty work tile too: else the old values would be kept
        load_angles<D>(next, tables, Sk - Sq + now.first + warp_row, Sk - 1);
        if (mine > 0) { // the values of the last tile
            const int stage = step % STAGES, filled = step / STAGES % 2;
            step++;
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
        if (first < end) { // a small work tile has no rows for the last warpgroup
            if (leader) {
                bulk_wait_read<0>(); // the results before these
            }
            named_sync(4 + warpgroup, 128);
            rows_to_tile<D>(o_tile, lse + (int64_t)head * Sq, out, row_max, row_sum, scale, row,
                            Sq);
            fence_async_proxy();
            named_sync(4 + warpgroup, 128);
            if (leader) {
                tma_store(&o_map, o_tile, 0, first, 0, head);
                bulk_commit();
            }
        }
        if (now.head >= 0) {
            take_queries<D, HELD>(query, memory + (place * WARPGROUPS + warpgroup) * Q_TILE, next,
                                  now.end - now.first - warp_row);
            named_sync(4 + warpgroup, 128); // all have read q, or written it back
            if (HELD && leader) {
                barrier_arrive(q_empty);
            }
        }
    }
    if (leader) {
        bulk_wait<0>();
    }
}

} // namespace rotating
