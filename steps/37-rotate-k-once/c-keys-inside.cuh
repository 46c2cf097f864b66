/* c-keys-inside: as b-queries-inside, but keys come unrotated. Three warps of the producer's
 * warpgroup, idle in b, rotate each tile of keys in shared memory before consumers may multiply by
 * it. It saves the pass over k, but each work tile rotates anew all keys that it sees.
 * b-queries-inside.cuh is included before this file. */
#pragma once

#include "cuda/wgmma_forward.cuh"
#include "rotate_fragments.cuh"

namespace fused
{

using namespace rotating;

enum { ROTATING_WARPS = 3 }; // of the producer's four; the first one loads

// As b's, and barriers that say that a tile of k has come.
template <int D, int WARPGROUPS>
static constexpr int bytes_of_block()
{
    return rotating::bytes_of_block<D, WARPGROUPS>() + STAGES * 8;
}

// The producer: as b's, but a work tile is handed out behind all tiles of the one before.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
load_raw_tiles(const block_memory &raw, const CUtensorMap *q_map, const CUtensorMap *k_map,
               const CUtensorMap *v_map, work_tile *handed_out, const attention_shape &s);

// A rotating warp: its rows of each tile of keys that the producer's first thread requests. raw: as
// m, with barriers k_full of tiles that have come; those of m are of tiles that are rotated.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
rotate_key_tiles(char *memory, const block_memory &m, const block_memory &raw,
                 const work_tile *handed_out, rope_tables tables, const attention_shape &s);

// As b's, but angles of the next rows are loaded, and the rows rotated, while the last values are
// multiplied.
template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
attend_work_tiles(char *memory, const block_memory &m, const CUtensorMap *o_map, rope_tables tables,
                  float *lse, const work_tile *handed_out, int warpgroup, const attention_shape &s);

// Maps of q and o [BH][Sq][D] in boxes of 64 rows, k and v [BH][Sk][D] in boxes of KEYS
// -> o, lse [BH][Sq]; neither q nor k is rotated; Sq <= Sk; one launch at a time
// cost: as b's, and a row of k is rotated once per work tile that sees it
template <int D, int WARPGROUPS>
__global__ void __launch_bounds__(WARPGROUPS * 128 + 128, 1)
    flash(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map,
          rope_tables tables, float *lse, int heads, int at_once, int small, int Sq, int Sk,
          bool causal)
{
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>();
    constexpr int BYTES = bytes_of_memory<D, WARPGROUPS, KEYS, STAGES, Q_STAGES>();
    extern __shared__ __align__(1024) char memory[];
    const attention_shape s = {heads, at_once, small, Sq, Sk, causal};
    const block_memory m = memory_at<D, WARPGROUPS, KEYS, STAGES, Q_STAGES>(shared_address(memory));
    block_memory raw = m;
    raw.k_full = m.q_tiles + BYTES;
    work_tile *const handed_out = (work_tile *)(memory + BYTES + STAGES * 8); // [Q_STAGES]
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(raw.k_full + 8 * i, 1);
        }
    }
    init_barriers<WARPGROUPS, STAGES, Q_STAGES>(m, WARPGROUPS + ROTATING_WARPS, ROTATING_WARPS);
    // A programmatic launch lets the next kernel begin as blocks of this one end; that kernel waits
    // here for the last block.
    let_next_begin();
    wait_for_previous();

    if (warpgroup == WARPGROUPS) { // the producer, and rotating warps
        setmaxnreg_dec<WARPGROUPS == 3 ? 32 : 40>();
        const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32 % 4, 0);
        if (warp > 0) {
            rotate_key_tiles<D, WARPGROUPS>(memory, m, raw, handed_out, tables, s);
        } else if (threadIdx.x % 32 == 0) {
            load_raw_tiles<D, WARPGROUPS>(raw, &q_map, &k_map, &v_map, handed_out, s);
        }
        return;
    }
    setmaxnreg_inc<WARPGROUPS == 3 ? 160 : 232>();
    if (warpgroup == WARPGROUPS - 1) {
        named_arrive(HANDOFF_BARRIER, 256); // passes the first turn to the first warpgroup
    }
    fused::attend_work_tiles<D, WARPGROUPS>(memory, m, &o_map, tables, lse, handed_out, warpgroup,
                                            s);
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

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
load_raw_tiles(const block_memory &raw, const CUtensorMap *q_map, const CUtensorMap *k_map,
               const CUtensorMap *v_map, work_tile *handed_out, const attention_shape &s)
{
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>(), QUERIES = WARPGROUPS * 64;
    const int work_tiles = (large_tiles(s.Sq, s.small, QUERIES) + s.small) * s.heads;
    int step = 0, number = blockIdx.x;
    for (int iteration = 0;; iteration++) {
        const int place = iteration % Q_STAGES;
        work_tile mine = {-1, 0, 0};
        // At first there is nothing to wait for.
        barrier_wait(raw.q_empty + 8 * place, iteration / Q_STAGES % 2 ^ 1);
        if (number < work_tiles) {
            mine = work_tile_of(number, s.heads, s.at_once, s.Sq, s.small, QUERIES);
        }
        hand_out<D, WARPGROUPS>(raw, q_map, handed_out, place, mine);
        if (mine.head < 0) {
            break;
        }
        const int block_keys = s.causal ? min(s.Sk, s.Sk - s.Sq + mine.end) : s.Sk;
        load_keys<D, KEYS, STAGES>(raw, k_map, v_map, mine.head, (block_keys + KEYS - 1) / KEYS,
                                   step);
        number = gridDim.x + atomicAdd(&counters[0], 1);
    }
    reset_counters();
}

template <int D, int WARPGROUPS>
static __device__ __forceinline__ void
rotate_key_tiles(char *memory, const block_memory &m, const block_memory &raw,
                 const work_tile *handed_out, rope_tables tables, const attention_shape &s)
{
    constexpr int Q_STAGES = stages_of_queries<WARPGROUPS>(), TILE = KEYS * D * 2; // bytes
    const int lane = threadIdx.x % 32;
    int step = 0;
    for (int iteration = 0;; iteration++) {
        const int place = iteration % Q_STAGES;
        barrier_wait(m.q_full + 8 * place, iteration / Q_STAGES % 2);
        const int head = handed_out[place].head;
        const int block_keys = s.causal ? min(s.Sk, s.Sk - s.Sq + handed_out[place].end) : s.Sk;
        __syncwarp();
        if (head < 0) {
            break;
        }
        if (lane == 0) {
            barrier_arrive(m.q_empty + 8 * place);
        }
#pragma unroll 1
        for (int tile = (block_keys + KEYS - 1) / KEYS - 1; tile >= 0; tile--, step++) {
            const int stage = step % STAGES;
            barrier_wait(raw.k_full + 8 * stage, step / STAGES % 2);
            rotate_key_tile<D>(memory + (m.k_tiles + stage * TILE - m.q_tiles), tables, tile * KEYS,
                               s.Sk);
            fence_async_proxy();
            __syncwarp();
            if (lane == 0) {
                barrier_arrive(m.k_full + 8 * stage);
            }
        }
    }
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
    // Angles of the first work tile are loaded while its queries come.
    work_tile now = first_work_tile<WARPGROUPS>(s);
    uint32_t query[D / 16][4];
    row_angles<D> rotation;
    load_angles<D>(rotation, tables, s.Sk - s.Sq + now.first + warp_row, s.Sk - 1);
    barrier_wait(m.q_full, 0);
    take_queries<D, HELD>(query, memory + warpgroup * Q_TILE, rotation,
                          now.end - now.first - warp_row);
    if (HELD) {
        release_queries(m.q_empty, warpgroup);
    }

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
        if (values_left) {
            start_last_values<D>(m, out, p, step);
        }
        const int place = (iteration + 1) % Q_STAGES;
        barrier_wait(m.q_full + 8 * place, (iteration + 1) / Q_STAGES % 2);
        now = received(handed_out + place);
        if (now.head >= 0) {
            load_angles<D>(rotation, tables, s.Sk - s.Sq + now.first + warp_row, s.Sk - 1);
            take_queries<D, HELD>(query, memory + (place * WARPGROUPS + warpgroup) * Q_TILE,
                                  rotation, now.end - now.first - warp_row);
            if (HELD) {
                release_queries(m.q_empty, warpgroup);
            }
        }
        wgmma_wait<0>();
        fence_registers(out);
        if (values_left) {
            if (leader) {
                barrier_arrive(m.v_empty + 8 * (step % STAGES));
            }
            step++;
        }
        if (r.first < r.end) { // a small work tile has no rows for the last warpgroup
            store_result<D>(m, o_map, lse + (int64_t)r.head * s.Sq, out, row_max, row_sum, r, s.Sq,
                            scale);
        }
    }
    if (leader) {
        bulk_wait<0>();
    }
}

} // namespace fused
