/* c-producer: a warpgroup of its own brings the tiles.
 *
 * It requests tiles as soon as a stage is empty, and gives most of its registers to the consumers.
 * The consumers meet twice per tile: when nobody reads the last dS any more, and when the new one
 * is there. */
#pragma once

#include "cuda/wgmma_keys.cuh"

namespace wgmma_producer
{

enum { STAGES = 2 };

// In shared memory: tiles, and barriers.
template <int D>
static constexpr int bytes_of_block()
{
    return tiles_at<D, STAGES, 1, true>(0).end + (1 + 4 * STAGES) * 8;
}

// Addresses of barriers.
typedef struct block_barriers {
    uint32_t kv_full;
    uint32_t q_full, dout_full, q_empty, dout_empty; // [STAGES]
} block_barriers;

// Sets up barriers from this address on.
static __device__ __forceinline__ block_barriers init_barriers(uint32_t first)
{
    block_barriers m;
    m.kv_full = first;
    m.q_full = m.kv_full + 8;
    m.dout_full = m.q_full + STAGES * 8;
    m.q_empty = m.dout_full + STAGES * 8;
    m.dout_empty = m.q_empty + STAGES * 8;
    if (threadIdx.x == 0) {
        barrier_init(m.kv_full, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(m.q_full + 8 * i, 1);
            barrier_init(m.dout_full + 8 * i, 1);
            barrier_init(m.q_empty + 8 * i, 8); // one lane of each warp
            barrier_init(m.dout_empty + 8 * i, 8);
        }
        barrier_init_fence();
    }
    __syncthreads();
    return m;
}

// The producer: requests tile after tile of queries, each as soon as its stage is empty.
template <int D>
static __device__ __forceinline__ void load_tiles(const block_tiles &t, const query_source &from,
                                                  const block_barriers &m, const block_place &b);

// A tile of queries: adds its part to dk and dv of the warp's keys, and to the sums of dq.
template <int D>
static __device__ __forceinline__ void add_tile(float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                tile_fragments<D> &f, const warp_share &w,
                                                const block_barriers &m, int tile);

// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys;
// lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq is added to sums [BH][padded][D]
// grid (BH, Sk / 128) under a mask, else (Sk / 128, BH)
// cost: as a-red
template <int D>
__global__ void __launch_bounds__(384, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map,
             const __grid_constant__ CUtensorMap dout_map,
             const __grid_constant__ CUtensorMap dk_map, const __grid_constant__ CUtensorMap dv_map,
             const float *lse2, const float *minus_delta, float *sums, backward_args a)
{
    extern __shared__ __align__(1024) char memory[];
    const block_tiles t = tiles_at<D, STAGES, 1, true>(shared_address(memory));
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    // Under a mask the first keys have the most queries: the first keys of all heads come first.
    const block_place b =
        place_of<D>(a.causal ? blockIdx.x : blockIdx.y, a.causal ? blockIdx.y : blockIdx.x, a);
    const int64_t row = b.head * padded_rows(a.Sq);
    const query_source from = {&q_map, &dout_map, lse2 + row, minus_delta + row, b.head};
    const block_barriers m = init_barriers(t.end);
    if (warpgroup == 2) { // the producer
        setmaxnreg_dec<24>();
        if (threadIdx.x % 128 == 0) {
            load_block_keys<D>(t, b, &k_map, &v_map, m.kv_full);
            load_tiles<D>(t, from, m, b);
        }
        return;
    }

    setmaxnreg_inc<240>();
    const warp_share w = share_of_warp<D>(memory, t, b, a, sums);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    fence_registers(dk);
    fence_registers(dv);
    barrier_wait(m.kv_full, 0);
    for (int tile = b.first; tile < b.last; tile++) {
        tile_fragments<D> f;
        add_tile<D>(dk, dv, f, w, m, tile);
    }

    named_sync(1, 256); // both have read all keys: dk and dv go there
    store_gradients<D>(t, b, dk, dv, &dk_map, &dv_map, warpgroup);
    if (threadIdx.x % 32 == 0) {
        bulk_wait<0>();
    }
}

template <int D>
static __device__ __forceinline__ void load_tiles(const block_tiles &t, const query_source &from,
                                                  const block_barriers &m, const block_place &b)
{
    constexpr int ROWS = tile_queries<D>(), TILE = bytes_of_queries<D>();
#pragma unroll 1
    for (int tile = b.first; tile < b.last; tile++) {
        const int step = tile - b.first, stage = step % STAGES;
        const int emptied = step / STAGES % 2 ^ 1; // at first there is nothing to wait for
        const uint32_t q_full = m.q_full + 8 * stage, dout_full = m.dout_full + 8 * stage;
        barrier_wait(m.q_empty + 8 * stage, emptied);
        barrier_expect(q_full, TILE + ROWS * 4);
        tma_load(t.q + stage * TILE, from.q_map, q_full, 0, tile * ROWS, 0, from.head);
        bulk_load(t.lse + stage * ROWS * 4, from.lse2 + tile * ROWS, ROWS * 4, q_full);
        barrier_wait(m.dout_empty + 8 * stage, emptied);
        barrier_expect(dout_full, TILE + ROWS * 4);
        tma_load(t.dout + stage * TILE, from.dout_map, dout_full, 0, tile * ROWS, 0, from.head);
        bulk_load(t.delta + stage * ROWS * 4, from.minus_delta + tile * ROWS, ROWS * 4, dout_full);
    }
}

template <int D>
static __device__ __forceinline__ void add_tile(float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                tile_fragments<D> &f, const warp_share &w,
                                                const block_barriers &m, int tile)
{
    constexpr int ROWS = tile_queries<D>(), TILE = bytes_of_queries<D>();
    const int step = tile - w.b.first, stage = step % STAGES, filled = step / STAGES % 2;
    const uint64_t q_now = recomputed(w.q_tile + stage * advance(TILE));
    const uint64_t dout_now = recomputed(w.dout_tile + stage * advance(TILE));
    barrier_wait(m.dout_full + 8 * stage, filled);
    start_from<ROWS>(f.dp, w.delta + stage * ROWS);
    fence_registers(f.dp);
    barrier_wait(m.q_full + 8 * stage, filled);
    wgmma_fence();
    start_qk<D, ROWS>(f.s[0], recomputed(w.k_rows), q_now);
    wgmma_commit();
    start_adding<D>(f.dp, recomputed(w.v_rows), dout_now);
    wgmma_commit();
    wgmma_wait<1>(); // for the scores
    fence_registers(f.s[0]);
    softmax_columns<ROWS>(f.s[0], w.lse + stage * ROWS, w.scale);
    wgmma_wait<0>();
    fence_registers(f.dp);
    if (w.b.key + BLOCK_KEYS > w.a.Sk ||
        (w.a.causal && w.b.key + BLOCK_KEYS - 1 > w.a.Sk - w.a.Sq + tile * ROWS)) {
        hide<true, 1, ROWS>(f.s, w.a, tile * ROWS, w.key);
    }
    pack_slopes<ROWS>(f.p, f.ds, f.s[0], f.dp);
    named_sync(1, 256); // nobody reads the last dS any more
    store_slopes<ROWS>(w.slopes, f.ds);
    fence_async_proxy();
    named_sync(1, 256); // dS of all keys is there
    wgmma_fence();
    start_dq<D>(f.dq, recomputed(w.ds_tile), recomputed(w.k_trans));
    wgmma_commit();
    start_pv<D, ROWS>(dv, f.p, dout_now);
    start_pv<D, ROWS>(dk, f.ds, q_now);
    wgmma_commit();
    wgmma_wait<1>(); // for dq
    fence_registers(f.dq);
    add_rows(w.sums + (int64_t)tile * ROWS * D, w.dq, f.dq);
    wgmma_wait<0>();
    fence_registers(dv);
    fence_registers(dk);
    if (threadIdx.x % 32 == 0) {
        barrier_arrive(m.q_empty + 8 * stage);
        barrier_arrive(m.dout_empty + 8 * stage);
    }
}

} // namespace wgmma_producer
