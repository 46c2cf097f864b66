/* backward.cuh: step 30's d-late over rotated queries and keys, with dk rotated back before it
 * leaves the registers; and the kernels before and after, which also rotate q and rotate dq
 * back. */
#pragma once

#include "attention.cuh"
#include "rotate_fragments.cuh"

namespace rotating_backward
{

using backward_pass::bytes_of_block;
using backward_pass::STAGES;

// snippet: rotate-back
// Gradients by rotated rows become gradients by the rows before rotation: c has fragments of 8
// columns each.
template <int D>
static __device__ __forceinline__ void rotate_back(float (&c)[D / 8][4], const angles<D> &a)
{
#pragma unroll
    for (int i = 0; i < D / 4; i++) {
        const int half = i / 2 % 2, n = i / 4; // row g or g + 8; columns 8n + 2t and the next
        const float x = c[n][i % 4], y = c[n + D / 16][i % 4];
        const float2 cosines = a.cosines[half][n], sines = a.sines[half][n];
        const float cosine = i % 2 ? cosines.y : cosines.x, sine = i % 2 ? sines.y : sines.x;
        // solution: back -- by minus the angle
        c[n][i % 4] = x * cosine + y * sine;
        c[n + D / 16][i % 4] = y * cosine - x * sine;
        // end solution: back
    }
}
// end snippet: rotate-back

// As step 30's, and q [BH][Sq][D] -> q_rotated, likewise.
// grid (padded D / 2048, BH), 256 threads, D / 8 per row. cost: 12 bytes per element, and D floats
// of the tables per row
template <int D>
__global__ void before(const __half *q, const __half *o, const __half *dout, const float *lse,
                       rope_tables tables, __half *q_rotated, float *lse2, float *minus_delta,
                       float *sums, int Sq, int Sk)
{
    constexpr int LANES = D / 8;
    let_next_begin();
    wait_for_previous();
    const int64_t head = blockIdx.y, padded = padded_rows(Sq);
    const int row = blockIdx.x * (256 / LANES) + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const int64_t at = (head * Sq + row) * D + lane * 8;
    const bool is_low = lane < LANES / 2; // in the first half of a row
    float row_sum = 0.0f;
    uint32_t mine[4] = {};
    float2 c[4] = {}, s[4] = {};
    if (row < Sq) {
        const uint4 a = *(const uint4 *)(o + at);
        const uint4 b = *(const uint4 *)(dout + at);
        const uint4 words = *(const uint4 *)(q + at);
        const int64_t angle = (int64_t)(Sk - Sq + row) * (D / 2) + lane % (LANES / 2) * 8;
        const __half2 *x = (const __half2 *)&a;
        const __half2 *y = (const __half2 *)&b;
        memcpy(mine, &words, sizeof mine);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 x2 = __half22float2(x[i]);
            const float2 y2 = __half22float2(y[i]);
            row_sum += x2.x * y2.x + x2.y * y2.y;
            c[i] = *(const float2 *)(tables.cosines + angle + 2 * i);
            s[i] = *(const float2 *)(tables.sines + angle + 2 * i);
        }
        COUNT("table loads", 16);
        COUNT("element rotations", 8);
        if (lane == 0) {
            COUNT("Q rotations", 1);
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) { // with the lane that has the other half
        const uint32_t partner = __shfl_xor_sync(0xffffffffu, mine[i], LANES / 2);
        uint32_t low = is_low ? mine[i] : partner;
        uint32_t high = is_low ? partner : mine[i];
        rotate_two<false>(&low, &high, c[i], s[i]);
        mine[i] = is_low ? low : high;
    }
    if (row < Sq) {
        *(uint4 *)(q_rotated + at) = make_uint4(mine[0], mine[1], mine[2], mine[3]);
    }
#pragma unroll
    for (int other = LANES / 2; other > 0; other /= 2) {
        row_sum += __shfl_xor_sync(0xffffffffu, row_sum, other);
    }
    if (lane == 0) {
        const float l = row < Sq ? lse[head * Sq + row] : INFINITY;
        lse2[head * padded + row] = l * LOG2E;
        minus_delta[head * padded + row] = -row_sum;
    }
    float4 *const zeros = (float4 *)(sums + (head * padded + row) * D);
    zeros[lane] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    zeros[lane + LANES] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// As step 30's, but dq is rotated back, so a warp has all columns of its 16 rows.
// grid (padded / 128, BH), 256 threads. cost: 6 bytes per element, and D floats of the tables per
// row
template <int D>
__global__ void after(const float *sums, rope_tables tables, __half *dq, int Sq, int Sk)
{
    constexpr int LANES = D / 8;                              // that write a row
    __shared__ __align__(16) uint32_t rows[8][16][D / 2 + 4]; // pairs, 4 against bank conflicts
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int strip = blockIdx.x * 8 + warp; // of 16 rows
    const int row = strip * 16;
    const float scale = 1.0f / sqrtf((float)D);
    angles<D> rotation; // not computed by a kernel: loaded while the kernel in front ends
    load_angles(rotation, tables, Sk - Sq + row + lane / 4, Sk - 1);
    wait_for_previous();
    const float4 *from = (const float4 *)(sums + (head * padded_rows(Sq) + row) * D) + lane;
    float c[D / 8][4];
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        const float4 four = from[n * 32];
        c[n][0] = four.x;
        c[n][1] = four.y;
        c[n][2] = four.z;
        c[n][3] = four.w;
    }
    rotate_back<D>(c, rotation);
    const int rotated = (row + lane / 4 < Sq) + (row + lane / 4 + 8 < Sq);
    (void)rotated; // used only where operations are counted
    if (lane % 4 == 0) {
        COUNT("Q rotations", rotated);
    }
    COUNT("element rotations", D / 4 * rotated);
#pragma unroll
    for (int n = 0; n < D / 8; n++) {
        rows[warp][lane / 4][n * 4 + lane % 4] = pack_halves(c[n][0] * scale, c[n][1] * scale);
        rows[warp][lane / 4 + 8][n * 4 + lane % 4] = pack_halves(c[n][2] * scale, c[n][3] * scale);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 16; i += 32 / LANES) {
        const int mine = i + lane / LANES;
        if (row + mine < Sq) {
            *(uint4 *)(dq + (head * Sq + row + mine) * D + lane % LANES * 8) =
                *(const uint4 *)&rows[warp][mine][lane % LANES * 4];
        }
    }
}

// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys, q
// and k rotated; lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq of the rotated q is added to sums
//     [BH][padded][D]
// grid (Sk / 128 BH); at_once: heads in flight together; under a mask the first keys, which have
// the most queries, come first
// cost: as step 30's; a row of dk is rotated back once, with D floats of the tables
template <int D>
__global__ void __launch_bounds__(384, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map,
             const __grid_constant__ CUtensorMap dout_map,
             const __grid_constant__ CUtensorMap dk_map, const __grid_constant__ CUtensorMap dv_map,
             const float *lse2, const float *minus_delta, float *sums, rope_tables tables,
             int heads, int at_once, backward_args a)
{
    constexpr int ROWS = tile_queries<D>(), KEYS_TILE = bytes_of_keys<D>();
    constexpr int TILE = bytes_of_queries<D>(), SLOPES = bytes_of_slopes<D>();
    extern __shared__ __align__(1024) char memory[];
    const uint32_t k_tiles = shared_address(memory); // [2], one per warpgroup
    const uint32_t v_tiles = k_tiles + 2 * KEYS_TILE;
    const uint32_t q_tiles = v_tiles + 2 * KEYS_TILE; // [STAGES], as all that follow except dq
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
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const int blocks = (a.Sk + BLOCK_KEYS - 1) / BLOCK_KEYS;              // per head
    // at_once heads together, and of these the first keys first
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
            barrier_init(q_empty + 8 * i, 8); // one lane of each warp
            barrier_init(dout_empty + 8 * i, 8);
            barrier_init(ds_full + 8 * i, 8);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (warpgroup == 2) { // the producer
        setmaxnreg_dec<24>();
        if (threadIdx.x % 128 != 0) {
            return;
        }
        barrier_expect(kv_full, 4 * KEYS_TILE);
        for (int i = 0; i < 2; i++) {
            tma_load(k_tiles + i * KEYS_TILE, &k_map, kv_full, 0, block_key + i * 64, 0, head);
            tma_load(v_tiles + i * KEYS_TILE, &v_map, kv_full, 0, block_key + i * 64, 0, head);
        }
        // Consumers need no wait of their own: they touch results of earlier kernels only after
        // tiles have come, which are requested behind this wait.
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

    setmaxnreg_inc<240>();
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    const int warp_key = block_key + warp * 16;
    float *const lse_at = (float *)(memory + (lse_rows - k_tiles));
    float *const delta_at = (float *)(memory + (delta_rows - k_tiles));
    float4 *const dq_at = (float4 *)(memory + (dq_tile - k_tiles)) + warp * 256 + lane;
    // This warp's share of dq: 16 rows, 64 columns.
    float *const sums_at =
        sums + head * padded * D + (D == 64 ? warp : warp % 4 * 2 + warpgroup) * 1024;
    const uint64_t k_rows = tile_descriptor(k_tiles + warpgroup * KEYS_TILE, 64 * 128);
    const uint64_t v_rows = tile_descriptor(v_tiles + warpgroup * KEYS_TILE, 64 * 128);
    const uint64_t q_tile = tile_descriptor(q_tiles, ROWS * 128);
    const uint64_t dout_tile = tile_descriptor(dout_tiles, ROWS * 128);
    const uint64_t ds_tile = tile_descriptor(ds_tiles + (D == 64 ? warpgroup * 64 * 128 : 0), 0);
    const uint64_t k_upright = tile_descriptor(k_tiles + (D == 64 ? 0 : warpgroup * 64 * 128), 0);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    fence_registers(dk);
    fence_registers(dv);

    // The dS before that of the first tile is zeros.
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
            const int before = (step + 1) % STAGES; // of the previous tile
            const uint64_t q_now = recomputed(q_tile + stage * advance(TILE));
            const uint64_t dout_now = recomputed(dout_tile + stage * advance(TILE));
            float s[1][ROWS / 8][4];
            float dp[ROWS / 8][4];
            float dq[8][4];
            uint32_t p[ROWS / 16][4];
            uint32_t ds[ROWS / 16][4];
            barrier_wait(dout_full + 8 * stage, filled);
            start_from<ROWS>(dp, delta_at + stage * ROWS);
            fence_registers(dp);
            barrier_wait(q_full + 8 * stage, filled);
            wgmma_fence();
            start_qk<D, ROWS>(s[0], recomputed(k_rows), q_now);
            wgmma_commit();
            start_adding<D>(dp, recomputed(v_rows), dout_now);
            wgmma_commit();
            wgmma_wait<1>(); // for the scores
            fence_registers(s[0]);
            softmax_columns<ROWS>(s[0], lse_at + stage * ROWS, scale);
            if (edge) {
                hide<true, 1, ROWS>(s, a, tile * ROWS, warp_key);
            }
            wgmma_wait<0>();
            fence_registers(dp);
            pack_slopes<ROWS>(p, ds, s[0], dp);

            // The other warpgroup's half of the last dS is there. So that warpgroup has also read
            // the dS before, whose place this one takes. The first tile does not wait.
            const int last_filled = (step - 1 + 2 * STAGES) / STAGES % 2;
            barrier_wait(ds_full + 8 * before, last_filled);
            store_slopes<ROWS>(ds_tiles + stage * SLOPES + warpgroup * ROWS * 128, ds);
            fence_async_proxy();
            wgmma_fence();
            start_dq<D>(dq, recomputed(ds_tile + before * advance(SLOPES)), recomputed(k_upright));
            wgmma_commit();
            start_pv<D, ROWS>(dv, p, dout_now);
            start_pv<D, ROWS>(dk, ds, q_now);
            wgmma_commit();
            wgmma_wait<1>(); // for dq
            fence_registers(dq);
            // And that the other buffer has been read, for dq is there.
            __syncwarp();
            if (lane == 0) {
                barrier_arrive(ds_full + 8 * stage);
            }
            if (step > 0) {
                add_rows(sums_at + (int64_t)(tile - 1) * ROWS * D, dq_at, dq);
            }
            wgmma_wait<0>();
            fence_registers(dv);
            fence_registers(dk);
            if (lane == 0) {
                barrier_arrive(q_empty + 8 * stage);
                barrier_arrive(dout_empty + 8 * stage);
            }
        }
    }
    // solution: dk-angles -- for dk, on their way while the last dq is made
    angles<D> rotation;
    load_angles(rotation, tables, warp_key + lane / 4, a.Sk - 1);
    // end solution: dk-angles
    if (first < last) { // dq of the last tile
        const int step = last - 1 - first, stage = step % STAGES;
        barrier_wait(ds_full + 8 * stage, step / STAGES % 2);
        float dq[8][4];
        wgmma_fence();
        start_dq<D>(dq, ds_tile + stage * advance(SLOPES), k_upright);
        wgmma_commit();
        wgmma_wait<0>();
        fence_registers(dq);
        add_rows(sums_at + (int64_t)(last - 1) * ROWS * D, dq_at, dq);
    }

    // solution: dk -- dk is that of the rotated keys: rotate it back
    rotate_back<D>(dk, rotation);
    // end solution: dk
    const int rotated = (warp_key + lane / 4 < a.Sk) + (warp_key + lane / 4 + 8 < a.Sk);
    (void)rotated; // used only where operations are counted
    if (lane % 4 == 0) {
        COUNT("K rotations", rotated);
    }
    COUNT("element rotations", D / 4 * rotated);
    named_sync(1, 256); // both have read all keys: dk and dv go there
    store_keys<D>(k_tiles + warpgroup * KEYS_TILE, dk, 1.0f / sqrtf((float)D));
    store_keys<D>(v_tiles + warpgroup * KEYS_TILE, dv, 1.0f);
    fence_async_proxy();
    named_sync(2 + warpgroup, 128);
    if (threadIdx.x % 128 == 0) {
        tma_store(&dk_map, k_tiles + warpgroup * KEYS_TILE, 0, block_key + warpgroup * 64, 0, head);
        tma_store(&dv_map, v_tiles + warpgroup * KEYS_TILE, 0, block_key + warpgroup * 64, 0, head);
        bulk_commit();
    }
    if (lane == 0) {
        bulk_wait<0>();
    }
}

} // namespace rotating_backward
