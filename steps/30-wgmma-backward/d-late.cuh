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

// In shared memory: tiles with two of dS, and barriers.
template <int D>
static constexpr int bytes_of_block()
{
    return tiles_at<D, STAGES, STAGES, true>(0).end + (1 + 5 * STAGES) * 8;
}

// at_once heads together, and of these the first keys first
template <int D>
static __device__ __forceinline__ block_place place_of_block(int heads, int at_once,
                                                             const backward_args &a);

// Addresses of barriers.
typedef struct block_barriers {
    uint32_t kv_full;
    uint32_t q_full, dout_full, q_empty, dout_empty, ds_full; // [STAGES]
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
    m.ds_full = m.dout_empty + STAGES * 8;
    if (threadIdx.x == 0) {
        barrier_init(m.kv_full, 1);
        for (int i = 0; i < STAGES; i++) {
            barrier_init(m.q_full + 8 * i, 1);
            barrier_init(m.dout_full + 8 * i, 1);
            barrier_init(m.q_empty + 8 * i, 8); // one lane of each warp
            barrier_init(m.dout_empty + 8 * i, 8);
            barrier_init(m.ds_full + 8 * i, 8);
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

// The dS before that of the first tile is zeros.
template <int D>
static __device__ __forceinline__ void clear_last_slopes(char *memory, const block_tiles &t);

// All tiles of queries: first those that need a mask.
template <int D>
static __device__ __forceinline__ void add_tiles(float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                 const warp_share &w, const block_barriers &m);

// Adds dq of the last tile.
template <int D>
static __device__ __forceinline__ void add_last_dq(const warp_share &w, const block_barriers &m);

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
    extern __shared__ __align__(1024) char memory[];
    const block_tiles t = tiles_at<D, STAGES, STAGES, true>(shared_address(memory));
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); // the same for the warp
    const block_place b = place_of_block<D>(heads, at_once, a);
    const int64_t row = b.head * padded_rows(a.Sq);
    const query_source from = {&q_map, &dout_map, lse2 + row, minus_delta + row, b.head};
    const block_barriers m = init_barriers(t.end);
    if (warpgroup == 2) { // the producer
        setmaxnreg_dec<24>();
        if (threadIdx.x % 128 == 0) {
            load_block_keys<D>(t, b, &k_map, &v_map, m.kv_full);
            // solution: wait -- wait for the kernel in front before its results are requested
            // hint: This kernel may begin before the kernel in front of it has ended. Which results
            //     of that kernel does load_tiles request?
            // hint: One wait by this thread is enough: the consumers access results of earlier
            //     kernels only after tiles have come that load_tiles requests.
            // hint: dependent_launch.cuh has two functions without arguments: one lets the next
            //     kernel begin, the other waits for the previous one.
            // Consumers need no wait of their own: they touch results of earlier kernels only
            // after tiles have come, which are requested behind this wait.
            wait_for_previous();
            // end solution: wait
            load_tiles<D>(t, from, m, b);
            let_next_begin();
        }
        return;
    }

    setmaxnreg_inc<240>();
    const warp_share w = share_of_warp<D>(memory, t, b, a, sums);
    float dk[D / 8][4] = {};
    float dv[D / 8][4] = {};
    fence_registers(dk);
    fence_registers(dv);
    clear_last_slopes<D>(memory, t);
    barrier_wait(m.kv_full, 0);
    add_tiles<D>(dk, dv, w, m);
    add_last_dq<D>(w, m);

    named_sync(1, 256); // both have read all keys: dk and dv go there
    store_gradients<D>(t, b, dk, dv, &dk_map, &dv_map, warpgroup);
    if (threadIdx.x % 32 == 0) {
        bulk_wait<0>();
    }
}

template <int D>
static __device__ __forceinline__ block_place place_of_block(int heads, int at_once,
                                                             const backward_args &a)
{
    const int blocks = (a.Sk + BLOCK_KEYS - 1) / BLOCK_KEYS; // per head
    const int together = blockIdx.x / (at_once * blocks) * at_once;
    const int place = blockIdx.x - together * blocks;
    const int width = min(at_once, heads - together);
    return place_of<D>(together + place % width, place / width, a);
}

// same as c-producer.cuh
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

// A tile of queries: adds its part to dk and dv of the warp's keys, and that of the previous tile
// to the sums of dq. masked: not every query sees all keys.
template <int D>
static __device__ __forceinline__ void add_tile(float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                tile_fragments<D> &f, const warp_share &w,
                                                const block_barriers &m, int tile, bool masked)
{
    constexpr int ROWS = tile_queries<D>(), TILE = bytes_of_queries<D>();
    constexpr int SLOPES = bytes_of_slopes<D>();
    const int step = tile - w.b.first, stage = step % STAGES, filled = step / STAGES % 2;
    const int before = (step + 1) % STAGES; // of the previous tile
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
    if (masked) {
        hide<true, 1, ROWS>(f.s, w.a, tile * ROWS, w.key);
    }
    wgmma_wait<0>();
    fence_registers(f.dp);
    pack_slopes<ROWS>(f.p, f.ds, f.s[0], f.dp);

    // solution: slopes -- wait until dS may be stored, store it, and let wgmma see it
    // hint: Below, start_dq reads the whole dS of the previous tile, also the other warpgroup's
    //     half. Which barrier says that this half is there? Wait for it in front of the store: then
    //     the buffer of this stage may be overwritten as well.
    // hint: The barrier is `m.ds_full + 8 * before`. Its parity is computed from step - 1 as
    //     `filled` is from step; add 2 * STAGES first, so that at step 0 the result is 1 and the
    //     wait passes at the new barrier.
    // hint: store_slopes<ROWS> stores f.ds at `w.slopes + stage * SLOPES`. Then every thread makes
    //     its stores visible to the async proxy, through which wgmma reads shared memory;
    //     wgmma_fence does not do that.
    // The other warpgroup's half of the last dS is there. So that warpgroup has also read the dS
    // before, whose place this one takes. The first tile does not wait.
    const int last_filled = (step - 1 + 2 * STAGES) / STAGES % 2;
    barrier_wait(m.ds_full + 8 * before, last_filled);
    store_slopes<ROWS>(w.slopes + stage * SLOPES, f.ds);
    fence_async_proxy();
    // end solution: slopes
    wgmma_fence();
    start_dq<D>(f.dq, recomputed(w.ds_tile + before * advance(SLOPES)), recomputed(w.k_trans));
    wgmma_commit();
    start_pv<D, ROWS>(dv, f.p, dout_now);
    start_pv<D, ROWS>(dk, f.ds, q_now);
    wgmma_commit();
    wgmma_wait<1>(); // for dq
    fence_registers(f.dq);
    // solution: told -- tell the other warpgroup that this half of dS is stored
    // hint: Which barrier does the other warpgroup wait for before it reads this half of dS, and
    //     how many arrivals complete its phase? init_barriers has the number.
    // hint: One lane arrives for its warp. Its arrival has to come after the stores of all 32
    //     lanes, so the lanes of the warp meet first.
    // hint: The barrier is that of the dS that was just stored, `m.ds_full + 8 * stage`. The
    //     arrivals at the end of this function, at q_empty and dout_empty, are written in the same
    //     way.
    // This half of dS is there, and the other buffer has been read, for dq is there.
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        barrier_arrive(m.ds_full + 8 * stage);
    }
    // end solution: told
    if (step > 0) {
        add_rows(w.sums + (int64_t)(tile - 1) * ROWS * D, w.dq, f.dq);
    }
    wgmma_wait<0>();
    fence_registers(dv);
    fence_registers(dk);
    if (threadIdx.x % 32 == 0) {
        barrier_arrive(m.q_empty + 8 * stage);
        barrier_arrive(m.dout_empty + 8 * stage);
    }
}

template <int D>
static __device__ __forceinline__ void clear_last_slopes(char *memory, const block_tiles &t)
{
    constexpr int SLOPES = bytes_of_slopes<D>();
    uint4 *const no_slopes = (uint4 *)(memory + (t.slopes + (STAGES - 1) * SLOPES - t.k));
    for (int i = threadIdx.x; i < SLOPES / 16; i += 256) {
        no_slopes[i] = make_uint4(0, 0, 0, 0);
    }
    fence_async_proxy();
    named_sync(1, 256);
}

template <int D>
static __device__ __forceinline__ void add_tiles(float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                 const warp_share &w, const block_barriers &m)
{
    const block_place b = w.b;
    const backward_args a = w.a;
    constexpr int ROWS = tile_queries<D>();
    // The first query that sees all keys.
    const int sees_all = a.causal ? b.key + BLOCK_KEYS - 1 - (a.Sk - a.Sq) : 0;
    const int whole = b.key + BLOCK_KEYS > a.Sk ? b.last : (max(0, sees_all) + ROWS - 1) / ROWS;
    int tile = b.first;
#pragma unroll
    for (int edge = 1; edge >= 0; edge--) {
        for (; tile < (edge ? min(whole, b.last) : b.last); tile++) {
            tile_fragments<D> f;
            add_tile<D>(dk, dv, f, w, m, tile, edge);
        }
    }
}

template <int D>
static __device__ __forceinline__ void add_last_dq(const warp_share &w, const block_barriers &m)
{
    const block_place b = w.b;
    constexpr int ROWS = tile_queries<D>(), SLOPES = bytes_of_slopes<D>();
    if (b.first < b.last) {
        const int step = b.last - 1 - b.first, stage = step % STAGES;
        barrier_wait(m.ds_full + 8 * stage, step / STAGES % 2);
        float dq[8][4];
        wgmma_fence();
        start_dq<D>(dq, w.ds_tile + stage * advance(SLOPES), w.k_trans);
        wgmma_commit();
        wgmma_wait<0>();
        fence_registers(dq);
        add_rows(w.sums + (int64_t)(b.last - 1) * ROWS * D, w.dq, dq);
    }
}

} // namespace wgmma_late
