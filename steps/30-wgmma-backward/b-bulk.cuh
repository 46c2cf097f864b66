/* b-bulk: dq goes through shared memory, and the TMA adds it to its sums.
 *
 * A warp's share of dq is 4096 contiguous bytes of the sums: one request takes the place of eight
 * for each lane. Only a warp that writes to the same shared memory again waits for it. */
#pragma once

#include "cuda/wgmma_keys.cuh"

namespace wgmma_bulk
{

enum { STAGES = 2 };

// In shared memory: k and v [128][D], q and dout [STAGES][queries][D], dS [queries][128],
// dq [queries][D] in floats, lse2 and minus_delta [STAGES][queries], barriers.
template <int D>
static constexpr int bytes_of_block()
{
    return 4 * bytes_of_keys<D>() + 2 * STAGES * bytes_of_queries<D>() + bytes_of_slopes<D>() +
           2 * bytes_of_queries<D>() + 2 * STAGES * tile_queries<D>() * 4 + (1 + STAGES) * 8;
}

// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys;
// lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq is added to sums [BH][padded][D]
// grid (BH, Sk / 128) under a mask, else (Sk / 128, BH)
// cost: as a-red
template <int D>
__global__ void __launch_bounds__(256, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map,
             const __grid_constant__ CUtensorMap dout_map,
             const __grid_constant__ CUtensorMap dk_map, const __grid_constant__ CUtensorMap dv_map,
             const float *lse2, const float *minus_delta, float *sums, backward_args a)
{
    constexpr int ROWS = tile_queries<D>(), KEYS_TILE = bytes_of_keys<D>();
    constexpr int TILE = bytes_of_queries<D>(), SLOPES = bytes_of_slopes<D>();
    extern __shared__ __align__(1024) char memory[];
    const uint32_t k_tiles = shared_address(memory); // [2], one per warpgroup
    const uint32_t v_tiles = k_tiles + 2 * KEYS_TILE;
    const uint32_t q_tiles = v_tiles + 2 * KEYS_TILE;    // [STAGES]
    const uint32_t dout_tiles = q_tiles + STAGES * TILE; // [STAGES]
    const uint32_t slopes = dout_tiles + STAGES * TILE;
    const uint32_t dq_tile = slopes + SLOPES;
    const uint32_t lse_rows = dq_tile + 2 * TILE;             // [STAGES]
    const uint32_t delta_rows = lse_rows + STAGES * ROWS * 4; // [STAGES]
    const uint32_t kv_full = delta_rows + STAGES * ROWS * 4;  // barriers
    const uint32_t full = kv_full + 8;                        // [STAGES]
    const int lane = threadIdx.x % 32;
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    // Under a mask the first keys have the most queries: the first keys of all heads come first.
    const int head = a.causal ? blockIdx.x : blockIdx.y;
    const int block_key = (a.causal ? blockIdx.y : blockIdx.x) * BLOCK_KEYS;
    const int64_t padded = padded_rows(a.Sq);
    // Tiles, from the one with the first query that sees a key of this block.
    const int first = a.causal ? max(0, block_key - (a.Sk - a.Sq)) / ROWS : 0;
    const int last = (a.Sq + ROWS - 1) / ROWS;

    if (threadIdx.x == 0) {
        barrier_init(kv_full, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(full + 8 * i, 1);
        }
        barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        barrier_expect(kv_full, 4 * KEYS_TILE);
        for (int i = 0; i < 2; i++) {
            tma_load(k_tiles + i * KEYS_TILE, &k_map, kv_full, 0, block_key + i * 64, 0, head);
            tma_load(v_tiles + i * KEYS_TILE, &v_map, kv_full, 0, block_key + i * 64, 0, head);
        }
    }

    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    const int warp_key = block_key + warp * 16;
    const float *const lse_at = (const float *)(memory + (lse_rows - k_tiles));
    const float *const delta_at = (const float *)(memory + (delta_rows - k_tiles));
    float4 *const dq_at = (float4 *)(memory + (dq_tile - k_tiles)) + warp * 256 + lane;
    // This warp's share of dq: 16 rows, 64 columns.
    float *const sums_at =
        sums + head * padded * D + (D == 64 ? warp : warp % 4 * 2 + warpgroup) * 1024;
    const uint64_t k_rows = tile_descriptor(k_tiles + warpgroup * KEYS_TILE, 64 * 128);
    const uint64_t v_rows = tile_descriptor(v_tiles + warpgroup * KEYS_TILE, 64 * 128);
    const uint64_t q_tile = tile_descriptor(q_tiles, ROWS * 128);
    const uint64_t dout_tile = tile_descriptor(dout_tiles, ROWS * 128);
    const uint64_t ds_tile = tile_descriptor(slopes + (D == 64 ? warpgroup * 64 * 128 : 0), 0);
    const uint64_t k_trans = tile_descriptor(k_tiles + (D == 64 ? 0 : warpgroup * 64 * 128), 0);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    fence_registers(dk);
    fence_registers(dv);

    barrier_wait(kv_full, 0);
    for (int tile = first - 1; tile < last; tile++) {
        const int step = tile - first;
        if (threadIdx.x == 0 && tile + 1 < last) { // nobody reads that stage
            const int next = (step + 1) % STAGES;
            const int64_t row = head * padded + (tile + 1) * ROWS;
            barrier_expect(full + 8 * next, 2 * (TILE + ROWS * 4));
            tma_load(q_tiles + next * TILE, &q_map, full + 8 * next, 0, (tile + 1) * ROWS, 0, head);
            tma_load(dout_tiles + next * TILE, &dout_map, full + 8 * next, 0, (tile + 1) * ROWS, 0,
                     head);
            bulk_load(lse_rows + next * ROWS * 4, lse2 + row, ROWS * 4, full + 8 * next);
            bulk_load(delta_rows + next * ROWS * 4, minus_delta + row, ROWS * 4, full + 8 * next);
        }
        if (step < 0) { // only the first tile was requested
            continue;
        }
        const int stage = step % STAGES;
        const uint64_t q_now = recomputed(q_tile + stage * advance(TILE));
        const uint64_t dout_now = recomputed(dout_tile + stage * advance(TILE));
        float s[1][ROWS / 8][4];
        float dp[ROWS / 8][4];
        float dq[8][4];
        uint32_t p[ROWS / 16][4];
        uint32_t ds[ROWS / 16][4];
        barrier_wait(full + 8 * stage, step / STAGES % 2);
        start_from<ROWS>(dp, delta_at + stage * ROWS);
        fence_registers(dp);
        wgmma_fence();
        start_qk<D, ROWS>(s[0], recomputed(k_rows), q_now);
        wgmma_commit();
        start_adding<D>(dp, recomputed(v_rows), dout_now);
        wgmma_commit();
        wgmma_wait<1>(); // for the scores
        fence_registers(s[0]);
        softmax_columns<ROWS>(s[0], lse_at + stage * ROWS, scale);
        wgmma_wait<0>();
        fence_registers(dp);
        if (block_key + BLOCK_KEYS > a.Sk ||
            (a.causal && block_key + BLOCK_KEYS - 1 > a.Sk - a.Sq + tile * ROWS)) {
            hide<true, 1, ROWS>(s, a, tile * ROWS, warp_key);
        }
        pack_slopes<ROWS>(p, ds, s[0], dp);
        store_slopes<ROWS>(slopes + warpgroup * ROWS * 128, ds);
        fence_async_proxy();
        __syncthreads(); // dS of all keys is there
        wgmma_fence();
        start_dq<D>(dq, recomputed(ds_tile), recomputed(k_trans));
        wgmma_commit();
        start_pv<D, ROWS>(dv, p, dout_now);
        start_pv<D, ROWS>(dk, ds, q_now);
        wgmma_commit();
        wgmma_wait<1>(); // for dq
        fence_registers(dq);
        add_rows(sums_at + (int64_t)tile * ROWS * D, dq_at, dq);
        wgmma_wait<0>();
        fence_registers(dv);
        fence_registers(dk);
        __syncthreads(); // nobody reads these tiles or dS any more
    }

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

} // namespace wgmma_bulk
