/* b-queries-inside: step 29's g-work-tiles, whose consumers rotate their queries themselves. Keys
 * come rotated.
 *
 * Only one block uses a query, so rotating it there costs no pass over q. Rows come by TMA and are
 * rotated in shared memory, where a request for angles reads whole rows of the tables. Two
 * warpgroups then take their rows as fragments. Three have too few registers, so products read the
 * tile; there are two such tiles, so that the next one comes early. The angles take long: those of
 * the first work tile are there before the kernel in front has ended, those of the next are in
 * flight while the last values of this one are multiplied and stored.
 */
#pragma once

#include "cuda/wgmma_forward.cuh"
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

// In shared memory: what block_memory says, and as many work tiles as tiles of q.
template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>();
    return bytes_of_memory<D, WARPGROUPS, KEYS, STAGES, Q_STAGES>() +
           Q_STAGES * (int)sizeof(work_tile);
}

// The arguments of a launch that both roles need.
typedef struct attention_shape {
    int heads, at_once, small, Sq, Sk;
    bool causal;
} attention_shape;

// The block's first work tile, which follows from its index.
template <int WARPGROUPS>
static __device__ __forceinline__ work_tile first_work_tile(const attention_shape &s)
{
    return work_tile_of(blockIdx.x, s.heads, s.at_once, s.Sq, s.small, WARPGROUPS * 64);
}

// The producer hands out a work tile: it requests the tiles of its queries, whose barrier announces
// the work tile as well. Of an empty work tile there is nothing to request.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void hand_out(const block_memory &m, const CUtensorMap *q_map,
                                                work_tile *handed_out, int place, work_tile mine);

// The producer: tiles of keys and values of one work tile after the other, until there is none
// left. mine: the first, which is handed out.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
load_work_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
                const CUtensorMap *v_map, work_tile *handed_out, work_tile mine,
                const attention_shape &s);

// A consumer warpgroup: its rows of one work tile after the other -> o and lse.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
attend_work_tiles(char *memory, const block_memory &m, const CUtensorMap *o_map, rope_tables tables,
                  float *lse, const work_tile *handed_out, int warpgroup, const attention_shape &s);

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
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>();
    extern __shared__ __align__(1024) char memory[];
    const attention_shape s = {heads, at_once, small, Sq, Sk, causal};
    const block_memory m = memory_at<D, WARPGROUPS, KEYS, STAGES, Q_STAGES>(shared_address(memory));
    work_tile *const handed_out = // [Q_STAGES]
        (work_tile *)(memory + bytes_of_memory<D, WARPGROUPS, KEYS, STAGES, Q_STAGES>());
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    init_barriers<WARPGROUPS, STAGES, Q_STAGES>(m);
    // A programmatic launch lets the next kernel begin as blocks of this one end; that kernel waits
    // for the last block itself.
    let_next_begin();

    if (warpgroup == WARPGROUPS) { // the producer
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 24>();
        if (threadIdx.x % 128 == 0) {
            const work_tile first = first_work_tile<WARPGROUPS>(s);
            hand_out<D, WARPGROUPS>(m, &q_map, handed_out, 0, first);
            wait_for_previous(); // for keys: queries are nobody's results
            load_work_tiles<D, WARPGROUPS>(m, &q_map, &k_map, &v_map, handed_out, first, s);
        }
        return;
    }
    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 240>();
    if (warpgroup == WARPGROUPS - 1) {
        named_arrive(HANDOFF_BARRIER, 256); // passes the first turn to the first warpgroup
    }
    attend_work_tiles<D, WARPGROUPS>(memory, m, &o_map, tables, lse, handed_out, warpgroup, s);
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
        // Chunk c of 16 bytes stands at c ^ row % 8. The other half of a row: the second box, 64
        // rows of 16 uint2 further, or the second half of the only box.
        low[i] = (uint2 *)(box + ((column * 2) ^ row % 8 * 16));
        high[i] = D == 128 ? low[i] + 64 * 16 : (uint2 *)(box + ((column * 2 + 64) ^ row % 8 * 16));
        x[i] = *low[i];
        y[i] = *high[i];
        COUNT("Q rotations", column == 0 && row < rows);
        COUNT("element rotations", row < rows ? 8 : 0);
    }
#pragma unroll
    for (int i = 0; i < D / 16; i++) {
        // solution: rotate -- rotate the four pairs by their angles
        // hint: x[i] has four elements of the first half of a row and y[i] has their partners.
        //     Which function of rotate_halves.cuh rotates four pairs by four angles in place?
        // hint: The function takes pointers to x[i] and y[i], and the angles of this row, which
        //     load_angles has left in `a.by[i]`. Its template argument says whether it rotates
        //     back.
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

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void hand_out(const block_memory &m, const CUtensorMap *q_map,
                                                work_tile *handed_out, int place, work_tile mine)
{
    const uint32_t barrier = m.q_full + 8 * place;
    handed_out[place] = mine;
    if (mine.head < 0) {
        barrier_arrive(barrier);
        return;
    }
    barrier_expect(barrier, WARPGROUPS * 64 * D * 2);
    for (int i = 0; i < WARPGROUPS; i++) {
        tma_load(m.q_tiles + (place * WARPGROUPS + i) * 64 * D * 2, q_map, barrier, 0,
                 mine.first + i * 64, 0, mine.head);
    }
}

// A producer that has no work tile left: the last one leaves zeros for the next launch.
static __device__ __forceinline__ void reset_counters()
{
    if (atomicAdd(&counters[1], 1) == (int)gridDim.x - 1) { // the last block
        atomicExch(&counters[0], 0);
        atomicExch(&counters[1], 0);
    }
}

// The producer hands out the next work tile when it has requested key tile AHEAD (tiles go down to
// 0): early enough for the next queries, and not in front of copies that a consumer waits for.
enum { AHEAD = 1 };

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
load_work_tiles(const block_memory &m, const CUtensorMap *q_map, const CUtensorMap *k_map,
                const CUtensorMap *v_map, work_tile *handed_out, work_tile mine,
                const attention_shape &s)
{
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>(), QUERIES = WARPGROUPS * 64;
    const int work_tiles = (large_tiles(s.Sq, s.small, QUERIES) + s.small) * s.heads;
    int step = 0;
    for (int iteration = 0; mine.head >= 0; iteration++) {
        const int block_keys = s.causal ? min(s.Sk, s.Sk - s.Sq + mine.end) : s.Sk;
        const int tiles = (block_keys + KEYS - 1) / KEYS;
        work_tile next = {-1, 0, 0};
#pragma unroll 1
        for (int tile = tiles - 1; tile >= 0; tile--, step++) {
            load_key_tile<D, KEYS, STAGES>(m, k_map, v_map, mine.head, tile, step);
            if (tile == min(AHEAD, tiles - 1)) {
                const int place = (iteration + 1) % Q_STAGES;
                const int number = gridDim.x + atomicAdd(&counters[0], 1);
                // At first there is nothing to wait for.
                barrier_wait(m.q_empty + 8 * place, (iteration + 1) / Q_STAGES % 2 ^ 1);
                if (number < work_tiles) {
                    next = work_tile_of(number, s.heads, s.at_once, s.Sq, s.small, QUERIES);
                }
                hand_out<D, WARPGROUPS>(m, q_map, handed_out, place, next);
            }
        }
        mine = next;
    }
    reset_counters();
}

// A consumer warp: the work tile that was handed out.
static __device__ __forceinline__ work_tile received(const work_tile *handed_out)
{
    work_tile now;
    now.head = __shfl_sync(0xffffffffu, handed_out->head, 0);
    now.first = __shfl_sync(0xffffffffu, handed_out->first, 0);
    now.end = __shfl_sync(0xffffffffu, handed_out->end, 0);
    return now;
}

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
attend_work_tiles(char *memory, const block_memory &m, const CUtensorMap *o_map, rope_tables tables,
                  float *lse, const work_tile *handed_out, int warpgroup, const attention_shape &s)
{
    constexpr bool HELD = WARPGROUPS == 2; // queries, in registers: three warpgroups have too few
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>(), Q_TILE = 64 * D * 2; // bytes
    const bool leader = threadIdx.x % 128 == 0;                      // speaks for its warpgroup
    const float scale = LOG2E / sqrtf((float)D);                     // to exponents of 2
    const int warp_row = warpgroup * 64 + threadIdx.x / 32 % 4 * 16; // in the work tile
    // No kernel computes the first work tile's queries or angles.
    work_tile now = first_work_tile<WARPGROUPS>(s);
    uint32_t query[D / 16][4];
    row_angles<D> rotation;
    load_angles<D>(rotation, tables, s.Sk - s.Sq + now.first + warp_row, s.Sk - 1);
    barrier_wait(m.q_full, 0);
    take_queries<D, HELD>(query, memory + warpgroup * Q_TILE, rotation,
                          now.end - now.first - warp_row);
    named_sync(WARPGROUP_BARRIER + warpgroup, 128); // all have read q, or written it back
    if (HELD && leader) {
        barrier_arrive(m.q_empty);
    }
    wait_for_previous(); // the kernel in front may still read o and lse

    int step = 0;
    for (int iteration = 0; now.head >= 0; iteration++) {
        const uint64_t q_tile = tile_descriptor(
            m.q_tiles + (iteration % Q_STAGES * WARPGROUPS + warpgroup) * Q_TILE, 64 * 128);
        const warpgroup_rows r = {warpgroup, now.head, now.first + warpgroup * 64, now.end};
        float out[D / 8][4] = {};
        uint32_t p[KEYS / 16][4];
        float row_max[2] = {-INFINITY, -INFINITY}; // of row and of row + 8
        float row_sum[2] = {0.0f, 0.0f};           // of the keys of this lane
        const bool values_left = attend_keys<D, WARPGROUPS>(
            m, query, q_tile, out, p, row_max, row_sum, r, step, {s.Sq, s.Sk, s.causal}, scale);
        if constexpr (!HELD) {
            release_queries(m.q_empty + 8 * (iteration % Q_STAGES), warpgroup);
        }
        // The next work tile. Angles of its rows are loaded while values are multiplied and stored.
        const int place = (iteration + 1) % Q_STAGES;
        barrier_wait(m.q_full + 8 * place, (iteration + 1) / Q_STAGES % 2);
        now = received(handed_out + place);
        row_angles<D> next; // loaded for an empty work tile too: else the old values would be kept
        load_angles<D>(next, tables, s.Sk - s.Sq + now.first + warp_row, s.Sk - 1);
        if (values_left) {
            start_last_values<D>(m, out, p, step);
            finish_last_values<D>(m, out, step);
        }
        if (r.first < r.end) { // a small work tile has no rows for the last warpgroup
            store_result<D>(m, o_map, lse + (int64_t)r.head * s.Sq, out, row_max, row_sum, r, s.Sq,
                            scale);
        }
        if (now.head >= 0) {
            take_queries<D, HELD>(query, memory + (place * WARPGROUPS + warpgroup) * Q_TILE, next,
                                  now.end - now.first - warp_row);
            named_sync(WARPGROUP_BARRIER + warpgroup, 128); // all have read q, or written it back
            if (HELD && leader) {
                barrier_arrive(m.q_empty);
            }
        }
    }
    if (leader) {
        bulk_wait<0>();
    }
}

} // namespace rotating
