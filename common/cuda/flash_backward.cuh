/* flash_backward.cuh: arguments of the backward kernels of steps 24 to 37, and the tile products
 * that they use. Fragments, g and t: tensor_cores.cuh. Tiles are swizzled as in step 22: chunk c of
 * 16 bytes of a row stands at c ^ row % 8.
 */
#pragma once

#include "cuda/flash_tiles.cuh"
#include "harness/harness.h"

struct backward_args {
    const __half *q, *k, *v, *o, *dout; // q, o, dout [BH][Sq][D]; k, v [BH][Sk][D]
    const float *lse;                   // [BH][Sq]
    __half *dq, *dk, *dv;               // dq [BH][Sq][D]; dk, dv [BH][Sk][D]
    int Sq, Sk;
    bool causal;
};

/* backward_dq_arguments: for a run that computes dq only. backward_arguments: for a run that
 * computes all three gradients. */
static inline backward_args backward_dq_arguments(const kf_run *run)
{
    backward_args a = {};
    a.q = (const __half *)kf_memory(run, "q", KF_F16);
    a.k = (const __half *)kf_memory(run, "k", KF_F16);
    a.v = (const __half *)kf_memory(run, "v", KF_F16);
    a.o = (const __half *)kf_memory(run, "o", KF_F16);
    a.dout = (const __half *)kf_memory(run, "dout", KF_F16);
    a.lse = kf_f32(run, "lse");
    a.dq = (__half *)kf_memory(run, "dq", KF_F16);
    a.Sq = run->shape.Sq;
    a.Sk = run->shape.Sk;
    a.causal = run->shape.causal;
    return a;
}

static inline backward_args backward_arguments(const kf_run *run)
{
    backward_args a = backward_dq_arguments(run);
    a.dk = (__half *)kf_memory(run, "dk", KF_F16);
    a.dv = (__half *)kf_memory(run, "dv", KF_F16);
    return a;
}

/* Allows this kernel so many bytes of dynamic shared memory per block. Up to 48 KB need no call. */
template <typename kernel>
static void allow_shared(kernel *k, int bytes)
{
    CUDA_CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

// The same arguments, but all pointers begin at this head.
template <int D>
static __device__ __forceinline__ backward_args of_head(backward_args a, int64_t head)
{
    a.q += head * a.Sq * D;
    a.o += head * a.Sq * D;
    a.dout += head * a.Sq * D;
    a.lse += head * a.Sq;
    a.k += head * a.Sk * D;
    a.v += head * a.Sk * D;
    return a;
}

// Values first to first + ROWS - 1 of from [S] -> floats at this address of shared memory, zeros
// past the end. A block needs at least ROWS threads.
template <int ROWS>
static __device__ __forceinline__ void load_values(uint32_t to, const float *from, int first, int S)
{
    const int row = threadIdx.x;
    if (row < ROWS) {
        copy_async_float(to + row * 4, from + first + row, row < S - first ? 4 : 0);
    }
}

// Addresses in shared memory: q and dout [2][ROWS][D], lse and delta [2][ROWS], for two stages of a
// tile of queries.
struct query_stages {
    uint32_t q, dout, lse, delta;
};

// Starts the copies of queries first to first + ROWS - 1 into this stage. delta [Sq]: of the head
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void load_query_stage(query_stages to, int stage, backward_args a,
                                                        const float *delta, int first)
{
    load_tile<D, ROWS, THREADS>(to.q + stage * ROWS * D * 2, a.q, first, a.Sq);
    load_tile<D, ROWS, THREADS>(to.dout + stage * ROWS * D * 2, a.dout, first, a.Sq);
    load_values<ROWS>(to.lse + stage * ROWS * 4, a.lse, first, a.Sq);
    load_values<ROWS>(to.delta + stage * ROWS * 4, delta, first, a.Sq);
}

// The offset of the row that a lane passes to ldmatrix, counted from the first of 16 rows of a tile
// [.][D]. lane_of_a: for operand a, not transposed, or for two operands b, transposed. lane_of_b:
// for two operands b, not transposed.
template <int D>
static __device__ __forceinline__ uint32_t lane_of_a()
{
    const int lane = threadIdx.x % 32;
    return lane % 16 * D * 2 + (lane / 16 ^ lane % 8) * 16;
}

template <int D>
static __device__ __forceinline__ uint32_t lane_of_b()
{
    const int lane = threadIdx.x % 32;
    return (lane / 16 * 8 + lane % 8) * D * 2 + (lane / 8 % 2 ^ lane % 8) * 16;
}

// snippet: products
// c [STRIPS * 16][N] += a b^T, with a [STRIPS * 16][D] and b [N][D] in shared memory: scores, from
// rows of q and k. cost: 2 D flops per element
template <int D, int STRIPS, int N>
static __device__ __forceinline__ void warp_add_scores(float (*c)[N / 8][4], uint32_t a, uint32_t b)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t rows[STRIPS][4];
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            warp_load_matrices(rows[i], a + i * 16 * D * 2 + (lane_of_a<D>() ^ d * 32));
        }
#pragma unroll
        for (int n = 0; n < N / 16; n++) {
            uint32_t columns[4];
            warp_load_matrices(columns, b + n * 16 * D * 2 + (lane_of_b<D>() ^ d * 32));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(c[i][2 * n], rows[i], columns);
                warp_mma(c[i][2 * n + 1], rows[i], columns + 2);
            }
        }
    }
}

// c [STRIPS * 16][D] += p b, with p [STRIPS * 16][N] in fragments and b [N][D] in shared memory: a
// sum of rows, weighted with probabilities.
template <int D, int STRIPS, int N>
static __device__ __forceinline__ void warp_add_rows(float (*c)[D / 8][4],
                                                     const uint32_t (*p)[N / 16][4], uint32_t b)
{
#pragma unroll
    for (int n = 0; n < N / 16; n++) {
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            uint32_t columns[4];
            warp_load_transposed(columns, b + n * 16 * D * 2 + (lane_of_a<D>() ^ d * 32));
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(c[i][2 * d], p[i][n], columns);
                warp_mma(c[i][2 * d + 1], p[i][n], columns + 2);
            }
        }
    }
}
// end snippet: products

// Rows of the sums of dq, rounded up to whole tiles of any of the kernels.
static __host__ __device__ __forceinline__ int64_t padded_rows(int Sq)
{
    return ((int64_t)Sq + 127) / 128 * 128;
}

// sums [BH][padded][D] in tiles of 16 x 8, in which a lane's four elements lie side by side
//     -> dq [BH][Sq][D], times 1 / sqrt(D). One thread per two elements, blockIdx.y: the head
template <int D>
static __device__ __forceinline__ void convert_tiles(const float *sums, __half *dq, int Sq)
{
    const int64_t head = blockIdx.y;
    const int row = (blockIdx.x * 256 + threadIdx.x) / (D / 2);
    const int column = (blockIdx.x * 256 + threadIdx.x) % (D / 2) * 2;
    if (row >= Sq) {
        return;
    }
    const int tile = row / 16 * (D / 8) + column / 8;
    const int lane = row % 8 * 4 + column % 8 / 2;
    const int64_t at = ((int64_t)tile * 32 + lane) * 4 + row % 16 / 8 * 2;
    const float2 two = *(const float2 *)(sums + head * padded_rows(Sq) * D + at);
    const float scale = 1.0f / sqrtf((float)D);
    *(uint32_t *)(dq + (head * Sq + row) * D + column) = pack_halves(two.x * scale, two.y * scale);
}

// Columns m to m + N - 1 of STRIPS * 16 rows, in fragments -> a tile [.][W] in shared memory.
template <int W, int STRIPS, int N>
static __device__ __forceinline__ void
warp_store_operand(__half *tile, const uint32_t (*operand)[N / 16][4], int m)
{
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int n = 0; n < N / 16; n++) {
            const uint32_t row = lane_of_a<W>() ^ (m + n * 16) * 2;
            warp_store_matrices(shared_address(tile + i * 16 * W) + row, operand[i][n]);
        }
    }
}

// c [STRIPS * 16][WIDTH] += a^T b, of the columns of a from m on and the columns of b from d on; a
// [N][W] and b [N][D] in shared memory.
template <int D, int N, int W, int STRIPS, int WIDTH>
static __device__ __forceinline__ void warp_add_transposed(float (*c)[WIDTH / 8][4], uint32_t a,
                                                           int m, uint32_t b, int d)
{
#pragma unroll
    for (int n = 0; n < N / 16; n++) {
        uint32_t rows[STRIPS][4];
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            const uint32_t at = lane_of_b<W>() ^ (m + i * 16) * 2;
            warp_load_transposed(rows[i], a + n * 16 * W * 2 + at);
        }
#pragma unroll
        for (int j = 0; j < WIDTH / 16; j++) {
            uint32_t columns[4];
            const uint32_t at = lane_of_a<D>() ^ (d + j * 16) * 2;
            warp_load_transposed(columns, b + n * 16 * D * 2 + at);
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(c[i][2 * j], rows[i], columns);
                warp_mma(c[i][2 * j + 1], rows[i], columns + 2);
            }
        }
    }
}

// snippet: probabilities
// Scores s -> probabilities 2^(scale s - lse log2(e)), which is exp(s / sqrt(D) - lse). by_row:
// queries are the rows of a fragment; lse and delta are those of row and row + 8 of each strip.
// by_column: queries are the columns; lse and delta are those of N neighbours in shared memory.
template <int STRIPS, int N>
static __device__ __forceinline__ void probabilities_by_row(float (*s)[N / 8][4],
                                                            const float (*lse)[2], float scale)
{
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int n = 0; n < N / 8; n++) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                s[i][n][c] = exp2_approx(s[i][n][c] * scale - LOG2E * lse[i][c / 2]);
            }
        }
    }
}
// end snippet: probabilities

template <int STRIPS, int N>
static __device__ __forceinline__ void probabilities_by_column(float (*s)[N / 8][4],
                                                               const float *lse, float scale)
{
#pragma unroll
    for (int n = 0; n < N / 8; n++) {
        const float2 two = *(const float2 *)(lse + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const float base = LOG2E * (c % 2 ? two.y : two.x);
                s[i][n][c] = exp2_approx(s[i][n][c] * scale - base);
            }
        }
    }
}

// Starts dP at -delta, so that the product leaves dP - delta.
template <int STRIPS, int N>
static __device__ __forceinline__ void minus_by_row(float (*dp)[N / 8][4], const float (*delta)[2])
{
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int n = 0; n < N / 8; n++) {
            dp[i][n][0] = dp[i][n][1] = -delta[i][0];
            dp[i][n][2] = dp[i][n][3] = -delta[i][1];
        }
    }
}

template <int STRIPS, int N>
static __device__ __forceinline__ void minus_by_column(float (*dp)[N / 8][4], const float *delta)
{
#pragma unroll
    for (int n = 0; n < N / 8; n++) {
        const float2 two = *(const float2 *)(delta + n * 8 + threadIdx.x % 4 * 2);
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            dp[i][n][0] = dp[i][n][2] = -two.x;
            dp[i][n][1] = dp[i][n][3] = -two.y;
        }
    }
}

// Sets the probabilities of masked and missing keys to 0. query, key: the first of the warp's
// strips. TRANSPOSED: rows of a fragment are keys.
template <bool TRANSPOSED, int STRIPS, int N>
static __device__ __forceinline__ void hide(float (*p)[N / 8][4], backward_args a, int query,
                                            int key)
{
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int n = 0; n < N / 8; n++) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const int row = i * 16 + c / 2 * 8 + threadIdx.x % 32 / 4;
                const int column = n * 8 + threadIdx.x % 4 * 2 + c % 2;
                const int k = key + (TRANSPOSED ? row : column);
                if (k >= a.Sk ||
                    (a.causal && k > a.Sk - a.Sq + query + (TRANSPOSED ? column : row))) {
                    p[i][n][c] = 0.0f;
                }
            }
        }
    }
}

// dS = P (dP - delta), in place of dP - delta.
template <int STRIPS, int N>
static __device__ __forceinline__ void multiply(float (*dp)[N / 8][4], const float (*p)[N / 8][4])
{
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int n = 0; n < N / 8; n++) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                dp[i][n][c] *= p[i][n][c];
            }
        }
    }
}

// Rounds two neighbouring results into one operand: step 22, rung e.
template <int STRIPS, int N>
static __device__ __forceinline__ void pack(uint32_t (*operand)[N / 16][4],
                                            const float (*c)[N / 8][4])
{
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int n = 0; n < N / 8; n++) {
            operand[i][n / 2][n % 2 * 2] = pack_halves(c[i][n][0], c[i][n][1]);
            operand[i][n / 2][n % 2 * 2 + 1] = pack_halves(c[i][n][2], c[i][n][3]);
        }
    }
}

// scale c [STRIPS * 16][D] -> rows of to [S][D] from `first` on, in fp16. Rows past the end are not
// stored.
template <int D, int STRIPS>
static __device__ __forceinline__ void warp_store_rows(__half *to, float (*c)[D / 8][4],
                                                       float scale, int first, int S)
{
    const int g = threadIdx.x % 32 / 4;
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < STRIPS; i++) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = first + i * 16 + half * 8 + g;
            if (row >= S) {
                continue;
            }
#pragma unroll
            for (int d = 0; d < D / 8; d++) {
                *(uint32_t *)(to + (int64_t)row * D + d * 8 + 2 * t) =
                    pack_halves(c[i][d][2 * half] * scale, c[i][d][2 * half + 1] * scale);
            }
        }
    }
}
