/* wgmma_keys.cuh: the work of a warpgroup on its 64 keys in FlashAttention's backward pass, step 30
 * and later; and the kernels before and after.
 *
 * A block has 128 keys, two consumer warpgroups, and takes tiles of queries one after the other.
 * Scores are computed transposed, with keys as rows: so P and dS already are operands of the
 * products for dv and dk, and stay in registers. Only for dq does dS go through shared memory.
 * Tiles in shared memory are TMA boxes [rows][64], swizzled by 128 bytes, D / 64 of them one after
 * the other. Fragments: tensor_cores.cuh.
 */
#pragma once

#include "cuda/dependent_launch.cuh"
#include "cuda/flash_backward.cuh"
#include "cuda/wgmma_rows.cuh"

enum { BLOCK_KEYS = 128 };

// Queries per tile: as many as registers allow.
template <int D>
static __host__ __device__ constexpr int tile_queries()
{
    return D == 64 ? 128 : 64;
}

// Bytes of 64 keys, of a tile of queries, and of dS of such a tile.
template <int D>
static __host__ __device__ constexpr int bytes_of_keys()
{
    return 64 * D * 2;
}

template <int D>
static __host__ __device__ constexpr int bytes_of_queries()
{
    return tile_queries<D>() * D * 2;
}

template <int D>
static __host__ __device__ constexpr int bytes_of_slopes()
{
    return tile_queries<D>() * BLOCK_KEYS * 2;
}

// The same descriptor, but the compiler computes derived descriptors where they are used. Otherwise
// it keeps each of them in a register through the loop, and runs out of registers.
static __device__ __forceinline__ uint64_t recomputed(uint64_t descriptor)
{
    asm volatile("" : "+l"(descriptor));
    return descriptor;
}

// snippet: products
// c += a b^T, 64 keys times a tile of queries. a: descriptor of 64 rows of k or v; b: of the tile
// of q or dout. Starts the products. start_qk overwrites c instead of adding.
template <int D>
static __device__ __forceinline__ void start_adding(float (&c)[tile_queries<D>() / 8][4],
                                                    uint64_t a, uint64_t b)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        wgmma<0, 0>(c, a + advance(d / 4 * 64 * 128 + d % 4 * 32),
                    b + advance(d / 4 * tile_queries<D>() * 128 + d % 4 * 32), 1);
    }
}

// dq = dS k, the share of a warpgroup: 64 queries of the tile at D = 64, half of the columns at D =
// 128. ds: descriptor of the tile of dS; k: of all keys of the block. Both begin at that share.
template <int D>
static __device__ __forceinline__ void start_dq(float (&dq)[8][4], uint64_t ds, uint64_t k)
{
#pragma unroll
    for (int n = 0; n < BLOCK_KEYS / 16; n++) {
        wgmma<0, 1>(dq, ds + advance(n / 4 * tile_queries<D>() * 128 + n % 4 * 32),
                    k + advance(n / 4 * bytes_of_keys<D>() + n % 4 * 16 * 128), n > 0);
    }
}
// end snippet: products

// snippet: columns
// Queries are columns here. softmax_columns: scores s -> probabilities 2^(scale s - lse).
// start_from: starts dP at -delta, so that the product leaves dP - delta. lse and minus_delta are
// those of the tile's queries, in shared memory.
template <int ROWS>
static __device__ __forceinline__ void softmax_columns(float (*s)[4], const float *lse, float scale)
{
#pragma unroll
    for (int n = 0; n < ROWS / 8; n++) {
        const float2 two = *(const float2 *)(lse + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            s[n][i] = exp2_approx(s[n][i] * scale - (i % 2 ? two.y : two.x));
        }
    }
}

template <int ROWS>
static __device__ __forceinline__ void start_from(float (*dp)[4], const float *minus_delta)
{
#pragma unroll
    for (int n = 0; n < ROWS / 8; n++) {
        const float2 two = *(const float2 *)(minus_delta + n * 8 + threadIdx.x % 4 * 2);
        dp[n][0] = dp[n][2] = two.x;
        dp[n][1] = dp[n][3] = two.y;
    }
}
// end snippet: columns

// Probabilities p and dP - delta -> p and dS as operands of 16 queries each.
template <int ROWS>
static __device__ __forceinline__ void pack_slopes(uint32_t (*p)[4], uint32_t (*ds)[4],
                                                   float (*probability)[4], float (*dp)[4])
{
#pragma unroll
    for (int n = 0; n < ROWS / 8; n++) {
        const float *w = probability[n];
        uint32_t *const to_p = &p[n / 2][n % 2 * 2];
        uint32_t *const to_ds = &ds[n / 2][n % 2 * 2];
        to_p[0] = pack_halves(w[0], w[1]);
        to_p[1] = pack_halves(w[2], w[3]);
        to_ds[0] = pack_halves(w[0] * dp[n][0], w[1] * dp[n][1]);
        to_ds[1] = pack_halves(w[2] * dp[n][2], w[3] * dp[n][3]);
    }
}

// snippet: slopes
// The operand dS^T of this warp's 16 keys -> the tile of dS, whose rows are queries; it is
// transposed on the way. slopes: the start of the tile of these 64 keys.
template <int ROWS>
static __device__ __forceinline__ void store_slopes(uint32_t slopes, const uint32_t (*ds)[4])
{
    const int lane = threadIdx.x % 32;
    const int query = lane / 16 * 8 + lane % 8; // whose row this lane passes to stmatrix
    const int chunk = threadIdx.x / 32 % 4 * 2 + lane / 8 % 2; // of 8 keys
    slopes += query * 128 + (chunk ^ lane % 8) * 16;
#pragma unroll
    for (int n = 0; n < ROWS / 16; n++) {
        warp_store_transposed(slopes + n * 16 * 128, ds[n]);
    }
}
// end snippet: slopes

// snippet: add-rows
// Adds dq, 16 rows and 64 columns of this warp, to sums: 8 tiles of 16 x 8, arranged as in step
// 26's b-vector. They go through 4096 bytes of shared memory of the warp, in which this lane's part
// begins at `staged`; the TMA adds them from there.
static __device__ __forceinline__ void add_rows(float *sums, float4 *staged, float (&dq)[8][4])
{
    const int lane = threadIdx.x % 32;
    if (lane == 0) {
        bulk_wait_read<0>(); // the bytes before them have been read
    }
    __syncwarp();
#pragma unroll
    for (int n = 0; n < 8; n++) {
        staged[n * 32] = make_float4(dq[n][0], dq[n][1], dq[n][2], dq[n][3]);
    }
    fence_async_proxy();
    __syncwarp();
    if (lane == 0) {
        bulk_reduce_add(sums, shared_address(staged), 4096);
        bulk_commit();
    }
}
// end snippet: add-rows

// scale c, the 16 rows of this warp, in fp16 -> the tile [64][D] of its warpgroup.
template <int D>
static __device__ __forceinline__ void store_keys(uint32_t tile, float (&c)[D / 8][4], float scale)
{
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 % 4 * 16 + lane % 16; // that this lane passes to stmatrix
    tile += row * 128 + (lane / 16 ^ lane % 8) * 16;
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t m[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float *two = &c[2 * d + i / 2][i % 2 * 2];
            m[i] = pack_halves(two[0] * scale, two[1] * scale);
        }
        warp_store_matrices(d / 4 * 64 * 128 + (tile ^ d % 4 * 32), m);
    }
}

// --- A block: its tiles in shared memory, its keys and queries, the share of a warp --------------

// Addresses of k and v [128][D], one tile per warpgroup; q and dout [STAGES][queries][D]; dS
// [SLOPES][queries][128]; with DQ also of dq [queries][D] in floats; lse2 and minus_delta
// [STAGES][queries]; and of the end, where barriers begin.
typedef struct block_tiles {
    uint32_t k, v, q, dout, slopes, dq, lse, delta, end;
} block_tiles;

template <int D, int STAGES, int SLOPES, bool DQ>
static __host__ __device__ constexpr block_tiles tiles_at(uint32_t first)
{
    block_tiles t = {};
    t.k = first;
    t.v = t.k + 2 * bytes_of_keys<D>();
    t.q = t.v + 2 * bytes_of_keys<D>();
    t.dout = t.q + STAGES * bytes_of_queries<D>();
    t.slopes = t.dout + STAGES * bytes_of_queries<D>();
    t.dq = t.slopes + SLOPES * bytes_of_slopes<D>();
    t.lse = t.dq + DQ * 2 * bytes_of_queries<D>();
    t.delta = t.lse + STAGES * tile_queries<D>() * 4;
    t.end = t.delta + STAGES * tile_queries<D>() * 4;
    return t;
}

// The keys of a block begin at `key`. Its tiles of queries are first to last - 1: from the tile of
// the first query that sees one of the keys.
typedef struct block_place {
    int head, key, first, last;
} block_place;

// number: of the block in its head
template <int D>
static __device__ __forceinline__ block_place place_of(int head, int number, const backward_args &a)
{
    constexpr int ROWS = tile_queries<D>();
    const int key = number * BLOCK_KEYS;
    const int first = a.causal ? max(0, key - (a.Sk - a.Sq)) / ROWS : 0;
    const block_place b = {head, key, first, (a.Sq + ROWS - 1) / ROWS};
    return b;
}

// Requests the keys and values of a block.
template <int D>
static __device__ __forceinline__ void load_block_keys(const block_tiles &t, const block_place &b,
                                                       const CUtensorMap *k_map,
                                                       const CUtensorMap *v_map, uint32_t kv_full)
{
    constexpr int TILE = bytes_of_keys<D>();
    barrier_expect(kv_full, 4 * TILE);
    for (int i = 0; i < 2; i++) {
        tma_load(t.k + i * TILE, k_map, kv_full, 0, b.key + i * 64, 0, b.head);
        tma_load(t.v + i * TILE, v_map, kv_full, 0, b.key + i * 64, 0, b.head);
    }
}

// Where the tiles of a head's queries come from: maps, and the values of this head.
typedef struct query_source {
    const CUtensorMap *q_map, *dout_map;
    const float *lse2, *minus_delta;
    int head;
} query_source;

// Operands of a warp for every tile of queries: addresses and descriptors are of the first stage.
typedef struct warp_share {
    backward_args a;
    block_place b;
    int key;                    // its first key
    float scale;                // of scores, to exponents of 2
    uint64_t k_rows, v_rows;    // descriptors of the warpgroup's 64 keys and values
    uint64_t q_tile, dout_tile; // descriptors
    uint64_t ds_tile, k_trans;  // descriptors of the operands of the warpgroup's share of dq
    uint32_t slopes;            // address of dS of the warpgroup's keys
    const float *lse, *delta;   // in shared memory
    float4 *dq;                 // in shared memory, this lane's part of the warp's share
    float *sums;                // the warp's share of dq in the first tile: 16 rows, 64 columns
} warp_share;

// Results of a warp for a tile of queries: scores or their probabilities, dP and its share of dq;
// P and dS as operands. Declared in the loop over tiles and not in the function that it calls:
// there ptxas takes 18 registers more (step 30's a-red, D = 64).
template <int D>
struct tile_fragments {
    float s[1][tile_queries<D>() / 8][4], dp[tile_queries<D>() / 8][4], dq[8][4];
    uint32_t p[tile_queries<D>() / 16][4], ds[tile_queries<D>() / 16][4];
};

// memory: begins with t.k
template <int D>
static __device__ __forceinline__ warp_share share_of_warp(char *memory, const block_tiles &t,
                                                           const block_place &b,
                                                           const backward_args &a, float *sums)
{
    constexpr int ROWS = tile_queries<D>(), KEYS_TILE = bytes_of_keys<D>(), BOX = 64 * 128;
    const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), warpgroup = warp / 4;
    warp_share w;
    w.a = a;
    w.b = b;
    w.key = b.key + warp * 16;
    w.scale = LOG2E / sqrtf((float)D);
    w.k_rows = tile_descriptor(t.k + warpgroup * KEYS_TILE, BOX);
    w.v_rows = tile_descriptor(t.v + warpgroup * KEYS_TILE, BOX);
    w.q_tile = tile_descriptor(t.q, ROWS * 128);
    w.dout_tile = tile_descriptor(t.dout, ROWS * 128);
    w.ds_tile = tile_descriptor(t.slopes + (D == 64 ? warpgroup * BOX : 0), 0);
    w.k_trans = tile_descriptor(t.k + (D == 64 ? 0 : warpgroup * BOX), 0);
    w.slopes = t.slopes + warpgroup * ROWS * 128;
    w.lse = (const float *)(memory + (t.lse - t.k));
    w.delta = (const float *)(memory + (t.delta - t.k));
    w.dq = (float4 *)(memory + (t.dq - t.k)) + warp * 256 + threadIdx.x % 32;
    w.sums =
        sums + b.head * padded_rows(a.Sq) * D + (D == 64 ? warp : warp % 4 * 2 + warpgroup) * 1024;
    return w;
}

// dk and dv of the warpgroup's keys -> memory, through its tiles of k and v, which nobody may read
// any more. The first thread of the warpgroup commits the stores, and has to wait for them.
template <int D>
static __device__ __forceinline__ void store_gradients(const block_tiles &t, const block_place &b,
                                                       float (&dk)[D / 8][4], float (&dv)[D / 8][4],
                                                       const CUtensorMap *dk_map,
                                                       const CUtensorMap *dv_map, int warpgroup)
{
    const uint32_t k_tile = t.k + warpgroup * bytes_of_keys<D>();
    const uint32_t v_tile = t.v + warpgroup * bytes_of_keys<D>();
    store_keys<D>(k_tile, dk, 1.0f / sqrtf((float)D));
    store_keys<D>(v_tile, dv, 1.0f);
    fence_async_proxy();
    named_sync(2 + warpgroup, 128);
    if (threadIdx.x % 128 == 0) {
        tma_store(dk_map, k_tile, 0, b.key + warpgroup * 64, 0, b.head);
        tma_store(dv_map, v_tile, 0, b.key + warpgroup * 64, 0, b.head);
        bulk_commit();
    }
}

// --- The kernels before and after ----------------------------------------------------------------

// o, dout [BH][Sq][D], lse [BH][Sq] -> lse2, in exponents of 2, and minus_delta [BH][padded]; zeros
// -> sums [BH][padded][D]. For rows past the end lse2 is infinite, so that probabilities become 0.
// grid (padded D / 2048, BH), 256 threads, D / 8 per row. cost: 8 bytes per element
template <int D>
__global__ void before(const __half *o, const __half *dout, const float *lse, float *lse2,
                       float *minus_delta, float *sums, int Sq)
{
    constexpr int LANES = D / 8;
    let_next_begin();
    wait_for_previous(); // for a forward pass, where there is one in front
    const int64_t head = blockIdx.y, padded = padded_rows(Sq);
    const int row = blockIdx.x * (256 / LANES) + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (row < Sq) {
        const int64_t at = (head * Sq + row) * D + lane * 8;
        const uint4 a = *(const uint4 *)(o + at);
        const uint4 b = *(const uint4 *)(dout + at);
        const __half2 *x = (const __half2 *)&a;
        const __half2 *y = (const __half2 *)&b;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 x2 = __half22float2(x[i]);
            const float2 y2 = __half22float2(y[i]);
            sum += x2.x * y2.x + x2.y * y2.y;
        }
    }
#pragma unroll
    for (int other = LANES / 2; other > 0; other /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, other);
    }
    if (lane == 0) {
        const float l = row < Sq ? lse[head * Sq + row] : INFINITY;
        lse2[head * padded + row] = l * LOG2E;
        minus_delta[head * padded + row] = -sum;
    }
    float4 *const zeros = (float4 *)(sums + (head * padded + row) * D);
    zeros[lane] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    zeros[lane + LANES] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// sums [BH][padded][D] in tiles of 16 x 8, as step 26's b-vector leaves them -> dq [BH][Sq][D],
// times 1 / sqrt(D). Through shared memory, so that rows are read and written in whole sectors.
// grid (padded / 128 (D / 64), BH), 256 threads, one warp per 16 rows and 64 columns. cost: 6 bytes
// per element
template <int D>
__global__ void after(const float *sums, __half *dq, int Sq)
{
    __shared__ __align__(16) uint32_t rows[8][16][36]; // 32 pairs, and 4 against bank conflicts
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int64_t head = blockIdx.y;
    const int chunk = blockIdx.x * 8 + warp; // of 8 tiles
    const int row = chunk / (D / 64) * 16;
    const int column = chunk % (D / 64) * 64;
    const float scale = 1.0f / sqrtf((float)D);
    wait_for_previous();
    const float4 *from = (const float4 *)(sums + head * padded_rows(Sq) * D) + chunk * 256;
#pragma unroll
    for (int n = 0; n < 8; n++) {
        const float4 c = from[n * 32 + lane];
        rows[warp][lane / 4][n * 4 + lane % 4] = pack_halves(c.x * scale, c.y * scale);
        rows[warp][lane / 4 + 8][n * 4 + lane % 4] = pack_halves(c.z * scale, c.w * scale);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 16; i += 4) {
        const int mine = i + lane / 8;
        if (row + mine < Sq) {
            *(uint4 *)(dq + (head * Sq + row + mine) * D + column + lane % 8 * 8) =
                *(const uint4 *)&rows[warp][mine][lane % 8 * 4];
        }
    }
}
