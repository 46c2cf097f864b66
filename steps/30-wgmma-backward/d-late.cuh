/* d-late: dq of a tile is computed one tile later, and kernels next to each other overlap.
 *
 * In c-producer the two warpgroups meet twice per tile, so that both want the tensor cores at the
 * same time and leave them idle at the same time. Here a warpgroup multiplies by the dS of the
 * previous tile, which the other warpgroup has had a whole tile's time to write: they rarely wait
 * for each other, and drift apart until one multiplies while the other computes its softmax. Tiles
 * that need a mask have a loop of their own. Under a mask the longest work goes first, of several
 * heads at a time. And a kernel begins while the kernel in front of it ends. */
#pragma once

#include "cuda/wgmma_keys.cuh"

namespace wgmma_late
{

enum { STAGES = 2 };

// In shared memory: k and v [128][D], q and dout [STAGES][queries][D], dS [STAGES][queries][128],
// dq [queries][D] in floats, lse2 and minus_delta [STAGES][queries], barriers.
template <int D>
static constexpr int bytes_of_block()
{
    return 4 * bytes_of_keys<D>() + 2 * STAGES * bytes_of_queries<D>() +
           STAGES * bytes_of_slopes<D>() + 2 * bytes_of_queries<D>() +
           2 * STAGES * tile_queries<D>() * 4 + (1 + 5 * STAGES) * 8;
}

// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys;
// lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq is added to sums [BH][padded][D]
// grid (Sk / 128 BH); at_once: heads in flight together; under a mask the first keys, which have
// the most queries, come first
// cost: as c-producer
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
    const uint64_t k_trans = tile_descriptor(k_tiles + (D == 64 ? 0 : warpgroup * 64 * 128), 0);
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

            // solution: slopes -- wait until dS may be stored, store it, and let wgmma see it
            // The other warpgroup's half of the last dS is there. So that warpgroup has also read
            // the dS before, whose place this one takes. The first tile does not wait.
            const int last_filled = (step - 1 + 2 * STAGES) / STAGES % 2;
            barrier_wait(ds_full + 8 * before, last_filled);
            store_slopes<ROWS>(ds_tiles + stage * SLOPES + warpgroup * ROWS * 128, ds);
            fence_async_proxy();
            // end solution: slopes
            // snippet: late
            wgmma_fence();
            start_dq<D>(dq, recomputed(ds_tile + before * advance(SLOPES)), recomputed(k_trans));
            wgmma_commit();
            start_pv<D, ROWS>(dv, p, dout_now);
            start_pv<D, ROWS>(dk, ds, q_now);
            wgmma_commit();
            wgmma_wait<1>(); // for dq
            fence_registers(dq);
            // end snippet: late
            // solution: told -- say that this half of dS is there
            // And that the other buffer has been read, for dq is there.
            __syncwarp();
            if (lane == 0) {
                barrier_arrive(ds_full + 8 * stage);
            }
            // end solution: told
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
    if (first < last) { // dq of the last tile
        const int step = last - 1 - first, stage = step % STAGES;
        barrier_wait(ds_full + 8 * stage, step / STAGES % 2);
        float dq[8][4];
        wgmma_fence();
        start_dq<D>(dq, ds_tile + stage * advance(SLOPES), k_trans);
        wgmma_commit();
        wgmma_wait<0>();
        fence_registers(dq);
        add_rows(sums_at + (int64_t)(last - 1) * ROWS * D, dq_at, dq);
    }

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

} // namespace wgmma_late
