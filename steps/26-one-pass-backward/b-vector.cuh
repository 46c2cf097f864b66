/* b-vector: sums of dq are added to four at a time.
 *
 * The four elements that a lane has of a 16 x 8 tile are not neighbours in a row of dq. But only
 * the kernel that converts the sums reads them. So the sums are stored in the order in which they
 * come, each lane's four side by side, and one red.v4 takes the place of four additions. */
#pragma once

#include "cuda/flash_backward.cuh"

namespace vector
{

// Adds c[0] to c[3] to four neighbours in memory, each atomically. to: a multiple of 16 bytes.
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

// q, dout [BH][Sq][D], k, v [BH][Sk][D], lse, delta [BH][Sq]
//     -> dk, dv [BH][Sk][D]; unscaled dq is added to sums [BH][padded][D], in tiles of 16 x 8
// grid (BH, Sk / KEYS) under a mask, else (Sk / KEYS, BH); WARPS * 32 threads, one warp per 16
// STRIPS keys. cost: five products, 10 D flops, and one exponential per score; 4 D bytes of atomic
// additions per query and block
template <int D, int KEYS, int ROWS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    backward(backward_args all, const float *delta_of, float *sums_of)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = KEYS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : ROWS; // queries at a time, to limit registers
    constexpr int TILE = ROWS * D * 2;           // bytes
    // The warps share the dq of a tile: ACROSS of them side by side, each with 16 STRIPES queries
    // and WIDTH dimensions.
    constexpr int ACROSS = WARPS == 8 ? D / 32 : 2;
    constexpr int STRIPES = ROWS / (WARPS / ACROSS) / 16;
    constexpr int WIDTH = D / ACROSS;
    // k, v [KEYS][D], q, dout [2][ROWS][D], dS^T [KEYS][ROWS]; floats: lse, delta [2][ROWS]
    extern __shared__ __align__(16) __half tiles[];
    // Under a mask the first keys have the most queries: the first keys of all heads come first.
    const int head = all.causal ? blockIdx.x : blockIdx.y;
    const int block_key = (all.causal ? blockIdx.y : blockIdx.x) * KEYS;
    const backward_args a = of_head<D>(all, head);
    const float *delta = delta_of + (int64_t)head * a.Sq;
    float *sums = sums_of + head * padded_rows(a.Sq) * D;
    const int warp = threadIdx.x / 32;
    const int warp_key = warp * STRIPS * 16;
    const int dq_row = warp / ACROSS * STRIPES * 16; // of the warp's share of dq
    const int dq_column = warp % ACROSS * WIDTH;
    const uint32_t k_tile = shared_address(tiles);
    const uint32_t v_tile = k_tile + KEYS * D * 2;
    query_stages queries;
    queries.q = v_tile + KEYS * D * 2;
    queries.dout = queries.q + 2 * TILE;
    const uint32_t ds_tile = queries.dout + 2 * TILE;
    queries.lse = ds_tile + KEYS * ROWS * 2;
    queries.delta = queries.lse + 2 * ROWS * 4;
    __half *ds_rows = tiles + 2 * KEYS * D + 4 * ROWS * D;
    const float *lse_rows = (const float *)(ds_rows + KEYS * ROWS);
    const float *delta_rows = lse_rows + 2 * ROWS;
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    // The tile of the first query that sees a key of this block.
    const int start = a.causal ? max(0, block_key - (a.Sk - a.Sq)) / ROWS * ROWS : 0;

    load_tile<D, KEYS, THREADS>(k_tile, a.k, block_key, a.Sk);
    load_tile<D, KEYS, THREADS>(v_tile, a.v, block_key, a.Sk);
    if (start < a.Sq) {
        load_query_stage<D, ROWS, THREADS>(queries, 0, a, delta, start);
    }
    copy_async_commit();
    float dk[STRIPS][D / 8][4] = {};
    float dv[STRIPS][D / 8][4] = {};
    for (int first = start; first < a.Sq; first += ROWS) {
        const int stage = (first - start) / ROWS % 2;
        const int next = first + ROWS;
        const uint32_t q_tile = queries.q + stage * TILE;
        const uint32_t dout_tile = queries.dout + stage * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < a.Sq) {
            load_query_stage<D, ROWS, THREADS>(queries, 1 - stage, a, delta, next);
        }
        copy_async_commit();
        uint32_t ds_operand[ROWS / PART][STRIPS][PART / 16][4];
#pragma unroll
        for (int m = 0; m < ROWS; m += PART) {
            float p[STRIPS][PART / 8][4] = {}; // scores, then probabilities
            float ds[STRIPS][PART / 8][4];     // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_scores<D, STRIPS, PART>(p, k_tile + warp_key * D * 2, q_tile + m * D * 2);
            minus_by_column<STRIPS, PART>(ds, delta_rows + stage * ROWS + m);
            warp_add_scores<D, STRIPS, PART>(ds, v_tile + warp_key * D * 2, dout_tile + m * D * 2);
            probabilities_by_column<STRIPS, PART>(p, lse_rows + stage * ROWS + m, scale);
            if (block_key + KEYS > a.Sk ||
                (a.causal && block_key + KEYS - 1 > a.Sk - a.Sq + first)) {
                hide<true, STRIPS, PART>(p, a, first + m, block_key + warp_key);
            }
            multiply<STRIPS, PART>(ds, p);
            pack<STRIPS, PART>(operand, p);
            pack<STRIPS, PART>(ds_operand[m / PART], ds);
            warp_store_operand<ROWS, STRIPS, PART>(ds_rows + warp_key * ROWS, ds_operand[m / PART],
                                                   m);
            warp_add_rows<D, STRIPS, PART>(dv, operand, dout_tile + m * D * 2);
        }
        // snippet: one-pass
        __syncthreads(); // dS of all keys is there
        float dq[STRIPES][WIDTH / 8][4] = {};
        warp_add_transposed<D, KEYS, ROWS, STRIPES, WIDTH>(dq, ds_tile, dq_row, k_tile, dq_column);
#pragma unroll
        for (int i = 0; i < STRIPES; i++) {
#pragma unroll
            for (int d = 0; d < WIDTH / 8; d++) {
                const int64_t tile = ((first + dq_row) / 16 + i) * (D / 8) + dq_column / 8 + d;
                add_four(sums + (tile * 32 + threadIdx.x % 32) * 4, dq[i][d]);
            }
        }
        // end snippet: one-pass
#pragma unroll
        for (int m = 0; m < ROWS; m += PART) {
            warp_add_rows<D, STRIPS, PART>(dk, ds_operand[m / PART], q_tile + m * D * 2);
        }
    }
    warp_store_rows<D, STRIPS>(a.dk + (int64_t)head * a.Sk * D, dk, 1.0f / sqrtf((float)D),
                               block_key + warp_key, a.Sk);
    warp_store_rows<D, STRIPS>(a.dv + (int64_t)head * a.Sk * D, dv, 1.0f, block_key + warp_key,
                               a.Sk);
}

// sums [BH][padded][D] in tiles of 16 x 8 -> dq [BH][Sq][D], times 1 / sqrt(D)
// grid (Sq * D / 2 / 256, BH). cost: 6 bytes per element
template <int D>
__global__ void convert(const float *sums, __half *dq, int Sq)
{
    convert_tiles<D>(sums, dq, Sq);
}

} // namespace vector
