/* a-red: step 26's b-vector with wgmma, tiles brought by TMA, and all warps do the same.
 *
 * Scores are computed transposed, so that P and dS are operands as they come; only for dq does dS
 * go through shared memory. One thread requests the next tile. dq is added to its sums as in
 * b-vector, four floats per request. */
#pragma once

#include "cuda/wgmma_keys.cuh"

namespace wgmma_red
{

enum { STAGES = 2 };

// In shared memory: tiles without dq, and barriers.
template <int D>
static constexpr int bytes_of_block()
{
    return tiles_at<D, STAGES, 1, false>(0).end + (1 + STAGES) * 8;
}

// Adds c[0] to c[3] to four neighbours in memory, each atomically. to: a multiple of 16 bytes.
// same as step 26
static __device__ __forceinline__ void add_four(float *to, const float *c)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3])
                 : "memory");
#else // before Hopper there is no such instruction
    for (int i = 0; i < 4; i++) {
        atomicAdd(to + i, c[i]);
    }
#endif
}

// Sets up kv_full and, behind it, the barrier `full` of each stage.
static __device__ __forceinline__ void init_barriers(uint32_t kv_full)
{
    if (threadIdx.x == 0) {
        for (int i = 0; i < 1 + STAGES; i++) {
            barrier_init(kv_full + 8 * i, 1);
        }
        barrier_init_fence();
    }
    __syncthreads();
}

// Requests a tile of queries.
template <int D>
static __device__ __forceinline__ void load_tile(const block_tiles &t, const query_source &from,
                                                 uint32_t full, int tile, int stage)
{
    constexpr int ROWS = tile_queries<D>(), TILE = bytes_of_queries<D>();
    barrier_expect(full + 8 * stage, 2 * (TILE + ROWS * 4));
    tma_load(t.q + stage * TILE, from.q_map, full + 8 * stage, 0, tile * ROWS, 0, from.head);
    tma_load(t.dout + stage * TILE, from.dout_map, full + 8 * stage, 0, tile * ROWS, 0, from.head);
    bulk_load(t.lse + stage * ROWS * 4, from.lse2 + tile * ROWS, ROWS * 4, full + 8 * stage);
    bulk_load(t.delta + stage * ROWS * 4, from.minus_delta + tile * ROWS, ROWS * 4,
              full + 8 * stage);
}

// A tile of queries: adds its part to dk and dv of the warp's keys, and to the sums of dq.
template <int D>
static __device__ __forceinline__ void add_tile(float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                tile_fragments<D> &f, const warp_share &w,
                                                uint32_t full, int tile);

// Maps of q, dout [BH][Sq][D] in boxes of a tile's queries, k, v [BH][Sk][D] in boxes of 64 keys;
// lse2, minus_delta [BH][padded]
//     -> dk, dv [BH][Sk][D], maps in boxes of 64; dq is added to sums [BH][padded][D]
// grid (BH, Sk / 128) under a mask, else (Sk / 128, BH)
// cost: five products, 10 D flops, and one exponential per score; 4 D bytes of atomic additions per
// query and block
template <int D>
__global__ void __launch_bounds__(256, 1)
    backward(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
             const __grid_constant__ CUtensorMap v_map,
             const __grid_constant__ CUtensorMap dout_map,
             const __grid_constant__ CUtensorMap dk_map, const __grid_constant__ CUtensorMap dv_map,
             const float *lse2, const float *minus_delta, float *sums, backward_args a)
{
    extern __shared__ __align__(1024) char memory[];
    const block_tiles t = tiles_at<D, STAGES, 1, false>(shared_address(memory));
    const uint32_t kv_full = t.end, full = kv_full + 8; // barriers; full: [STAGES]
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    // Under a mask the first keys have the most queries: the first keys of all heads come first.
    const block_place b =
        place_of<D>(a.causal ? blockIdx.x : blockIdx.y, a.causal ? blockIdx.y : blockIdx.x, a);
    const int64_t row = b.head * padded_rows(a.Sq);
    const query_source from = {&q_map, &dout_map, lse2 + row, minus_delta + row, b.head};
    init_barriers(kv_full);
    if (threadIdx.x == 0) {
        load_block_keys<D>(t, b, &k_map, &v_map, kv_full);
    }

    const warp_share w = share_of_warp<D>(memory, t, b, a, sums);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    fence_registers(dk);
    fence_registers(dv);
    barrier_wait(kv_full, 0);
    for (int tile = b.first - 1; tile < b.last; tile++) {
        if (threadIdx.x == 0 && tile + 1 < b.last) { // nobody reads that stage
            load_tile<D>(t, from, full, tile + 1, (tile + 1 - b.first) % STAGES);
        }
        if (tile >= b.first) { // else only the first tile was requested
            tile_fragments<D> f;
            add_tile<D>(dk, dv, f, w, full, tile);
        }
    }

    store_gradients<D>(t, b, dk, dv, &dk_map, &dv_map, warpgroup);
    if (threadIdx.x % 128 == 0) {
        bulk_wait<0>();
    }
}

template <int D>
static __device__ __forceinline__ void add_tile(float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                tile_fragments<D> &f, const warp_share &w,
                                                uint32_t full, int tile)
{
    constexpr int ROWS = tile_queries<D>(), TILE = bytes_of_queries<D>();
    const int step = tile - w.b.first, stage = step % STAGES;
    const uint64_t q_now = recomputed(w.q_tile + stage * advance(TILE));
    const uint64_t dout_now = recomputed(w.dout_tile + stage * advance(TILE));
    barrier_wait(full + 8 * stage, step / STAGES % 2);
    // snippet: transposed
    start_from<ROWS>(f.dp, w.delta + stage * ROWS);
    fence_registers(f.dp);
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
    store_slopes<ROWS>(w.slopes, f.ds);
    fence_async_proxy();
    __syncthreads(); // dS of all keys is there
    wgmma_fence();
    start_dq<D>(f.dq, recomputed(w.ds_tile), recomputed(w.k_trans));
    wgmma_commit();
    start_pv<D, ROWS>(dv, f.p, dout_now);
    start_pv<D, ROWS>(dk, f.ds, q_now);
    wgmma_commit();
    wgmma_wait<1>(); // for dq
    fence_registers(f.dq);
#pragma unroll
    for (int n = 0; n < 8; n++) {
        add_four(w.sums + (int64_t)tile * ROWS * D + (n * 32 + threadIdx.x % 32) * 4, f.dq[n]);
    }
    wgmma_wait<0>();
    fence_registers(dv);
    fence_registers(dk);
    // end snippet: transposed
    __syncthreads(); // nobody reads these tiles or dS any more
}

} // namespace wgmma_red
