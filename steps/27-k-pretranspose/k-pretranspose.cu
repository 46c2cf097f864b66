/* 27-k-pretranspose: K transposed in memory, so that no tile is transposed on the chip
 *
 * Follows: 25-delta-cache
 * Architecture: 80
 * Profile: kernels=backward|transpose each --case D64-S2048 --case D128-S2048
 *
 * Idea     For q k^T the rows of k are operands as they lie, for dS k its columns. A transposed
 *          copy of k in memory, made by a pass of its own, has these columns as rows: nothing is
 *          transposed on the chip.
 * Predict  It loses. The pass costs 4 bytes per element, and the kernel loads three tiles instead
 *          of two. If only the copy is loaded, the other product has to be transposed.
 *          ldmatrix.trans takes the wavefronts of ldmatrix, so there is nothing to gain.
 * Outcome  It loses: at short S by the pass, and at D = 128 a sixth of the speed or more at any
 *          S, we think because the third tile takes the shared memory of a second block. The copy
 *          alone ties at long S. A transposition by single loads and no ldmatrix.trans costs about
 *          a tenth of the speed or more.
 */
#include "cuda/flash_backward.cuh"
#include "cuda/flash_two_kernels.cuh"
#include "cuda/tiled_attention.cuh"
#include "problems/flash_backward_cases.h"

// k [BH][Sk][D] -> kt [BH][D][padded], with zeros past the last key
// grid (padded / 64, D / 64, BH), 256 threads. cost: 4 bytes per element
template <int D>
__global__ void transpose(const __half *k, __half *kt, int Sk)
{
    __shared__ __half tile[64][66]; // a column lies in 32 banks
    const int64_t padded = padded_rows(Sk);
    const int first_key = blockIdx.x * 64, first_d = blockIdx.y * 64;
    k += blockIdx.z * (int64_t)Sk * D;
    kt += blockIdx.z * padded * D;
    const int column = threadIdx.x % 32 * 2;
    for (int row = threadIdx.x / 32; row < 64; row += 8) {
        __half2 two = __floats2half2_rn(0.0f, 0.0f);
        if (first_key + row < Sk) {
            two = *(const __half2 *)(k + (int64_t)(first_key + row) * D + first_d + column);
        }
        *(__half2 *)&tile[row][column] = two;
    }
    __syncthreads();
    for (int row = threadIdx.x / 32; row < 64; row += 8) {
        const __half2 two = __halves2half2(tile[column][row], tile[column + 1][row]);
        *(__half2 *)(kt + (first_d + row) * padded + first_key + column) = two;
    }
}

// Columns first to first + KEYS of kt [D][padded] -> the tile [D][KEYS] at this address of shared
// memory, swizzled.
template <int D, int KEYS, int THREADS>
static __device__ __forceinline__ void load_columns(uint32_t tile, const __half *kt, int first,
                                                    int Sk)
{
    constexpr int CHUNKS = KEYS / 8; // of 16 bytes, a row
    const int chunk = threadIdx.x % CHUNKS;
#pragma unroll
    for (int i = 0; i < D; i += THREADS / CHUNKS) {
        const int row = i + threadIdx.x / CHUNKS;
        copy_async(tile + (row * KEYS + (chunk ^ row % 8) * 8) * 2,
                   kt + row * padded_rows(Sk) + first + chunk * 8, 16);
    }
}

// c [STRIPS * 16][D] += p K, with p [STRIPS * 16][N] in fragments and K's rows n to n + N as
// columns of kt [D][KEYS] in shared memory. The operands are rows of kt, read as they lie.
template <int D, int KEYS, int STRIPS, int N>
static __device__ __forceinline__ void
warp_add_transposed_rows(float (*c)[D / 8][4], const uint32_t (*p)[N / 16][4], uint32_t kt, int n)
{
#pragma unroll
    for (int j = 0; j < N / 16; j++) {
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            uint32_t columns[4] = {};
            // solution: transposed -- load the fragment of keys from n + 16 j, dimensions from 16 d
            // hint: A register of this operand has two neighbouring keys of one dimension, and a
            //     row of kt is one dimension. Do the two lie in a row of kt or in a column, and
            //     which function of ldmatrix hands out such neighbours?
            // hint: The next function, warp_add_transposed_scores, reads the same tile the other
            //     way round; the first of the 16 rows is at `kt + d * 16 * KEYS * 2` in both. The
            //     comment of lane_of_a and lane_of_b says which of them goes with which load.
            // hint: The template argument is KEYS, the width of a row of kt. The rows are swizzled,
            //     so the keys from n + 16 j on are reached with `^ (n + j * 16) * 2` behind the
            //     lane's offset, and not with an addition. Compute it in a variable, or write
            //     parentheses around it: + binds more tightly than ^.
            const uint32_t at = lane_of_b<KEYS>() ^ (n + j * 16) * 2;
            warp_load_matrices(columns, kt + d * 16 * KEYS * 2 + at);
            // end solution: transposed
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(c[i][2 * d], p[i][j], columns);
                warp_mma(c[i][2 * d + 1], p[i][j], columns + 2);
            }
        }
    }
}

// c [STRIPS * 16][N] += a K^T, with a [STRIPS * 16][D] and kt as above. These operands are columns
// of kt: ldmatrix has to transpose them.
template <int D, int KEYS, int STRIPS, int N>
static __device__ __forceinline__ void warp_add_transposed_scores(float (*c)[N / 8][4], uint32_t a,
                                                                  uint32_t kt, int n)
{
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        uint32_t rows[STRIPS][4];
#pragma unroll
        for (int i = 0; i < STRIPS; i++) {
            warp_load_matrices(rows[i], a + i * 16 * D * 2 + (lane_of_a<D>() ^ d * 32));
        }
#pragma unroll
        for (int j = 0; j < N / 16; j++) {
            uint32_t columns[4];
            const uint32_t at = lane_of_a<KEYS>() ^ (n + j * 16) * 2;
            warp_load_transposed(columns, kt + d * 16 * KEYS * 2 + at);
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(c[i][2 * j], rows[i], columns);
                warp_mma(c[i][2 * j + 1], rows[i], columns + 2);
            }
        }
    }
}

// q, dout [BH][Sq][D], k, v [BH][Sk][D], lse, delta [BH][Sq],
// kt [BH][D][padded] -> dq [BH][Sq][D]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. cost: three products, 6
// D flops, and one exponential per score
template <int D, int ROWS, int KEYS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    backward_both(backward_args all, const float *delta_of, const __half *kt_of)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : KEYS; // keys at a time, to limit registers
    constexpr int TILE = KEYS * D * 2;           // bytes
    extern __shared__ __align__(16)
        __half tiles[]; // q, dout [ROWS][D], k, v [2][KEYS][D], kt [2][D][KEYS]
    const backward_args a = of_head<D>(all, blockIdx.y);
    const float *delta_rows = delta_of + (int64_t)blockIdx.y * a.Sq;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    const int row = block_row + warp_row + threadIdx.x % 32 / 4; // of this lane, and row + 8
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t dout_tile = q_tile + ROWS * D * 2;
    const uint32_t k_tiles = dout_tile + ROWS * D * 2;
    const uint32_t v_tiles = k_tiles + 2 * TILE;
    const uint32_t kt_tiles = v_tiles + 2 * TILE;
    const __half *kt = kt_of + (int64_t)blockIdx.y * D * padded_rows(a.Sk);
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    const int visible = min(a.Sk, a.causal ? a.Sk - a.Sq + block_row + ROWS : a.Sk);

    load_tile<D, ROWS, THREADS>(q_tile, a.q, block_row, a.Sq);
    load_tile<D, ROWS, THREADS>(dout_tile, a.dout, block_row, a.Sq);
    if (visible > 0) {
        load_tile<D, KEYS, THREADS>(k_tiles, a.k, 0, a.Sk);
        load_tile<D, KEYS, THREADS>(v_tiles, a.v, 0, a.Sk);
        load_columns<D, KEYS, THREADS>(kt_tiles, kt, 0, a.Sk);
    }
    copy_async_commit();
    float lse[STRIPS][2], delta[STRIPS][2]; // of row and row + 8
#pragma unroll
    for (int i = 0; i < STRIPS * 2; i++) {
        lse[i / 2][i % 2] = row + i * 8 < a.Sq ? a.lse[row + i * 8] : 0.0f;
        delta[i / 2][i % 2] = row + i * 8 < a.Sq ? delta_rows[row + i * 8] : 0.0f;
    }
    float dq[STRIPS][D / 8][4] = {};
    for (int first = 0; first < visible; first += KEYS) {
        const uint32_t stage = first / KEYS % 2 * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (first + KEYS < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + TILE - stage, a.k, first + KEYS, a.Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, a.v, first + KEYS, a.Sk);
            load_columns<D, KEYS, THREADS>(kt_tiles + TILE - stage, kt, first + KEYS, a.Sk);
        }
        copy_async_commit();

#pragma unroll
        for (int n = 0; n < KEYS; n += PART) {
            const uint32_t k_part = k_tiles + stage + n * D * 2;
            float p[STRIPS][PART / 8][4] = {}; // scores, then probabilities
            float ds[STRIPS][PART / 8][4];     // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_scores<D, STRIPS, PART>(p, q_tile + warp_row * D * 2, k_part);
            minus_by_row<STRIPS, PART>(ds, delta);
            warp_add_scores<D, STRIPS, PART>(ds, dout_tile + warp_row * D * 2,
                                             v_tiles + stage + n * D * 2);
            probabilities_by_row<STRIPS, PART>(p, lse, scale);
            if (first + KEYS > a.Sk || (a.causal && first + KEYS - 1 > a.Sk - a.Sq + block_row)) {
                hide<false, STRIPS, PART>(p, a, block_row + warp_row, first + n);
            }
            multiply<STRIPS, PART>(ds, p);
            pack<STRIPS, PART>(operand, ds);
            warp_add_transposed_rows<D, KEYS, STRIPS, PART>(dq, operand, kt_tiles + stage, n);
        }
    }
    warp_store_rows<D, STRIPS>(a.dq + (int64_t)blockIdx.y * a.Sq * D, dq, 1.0f / sqrtf((float)D),
                               block_row + warp_row, a.Sq);
}

// --- Variants that explain -----------------------------------------------------------------------

// Loads the transposed copy of K and not K itself: no more bytes than before.
// q, dout [BH][Sq][D], k, v [BH][Sk][D], lse, delta [BH][Sq],
// kt [BH][D][padded] -> dq [BH][Sq][D]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. cost: three products, 6
// D flops, and one exponential per score
template <int D, int ROWS, int KEYS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    backward_columns(backward_args all, const float *delta_of, const __half *kt_of)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : KEYS; // keys at a time, to limit registers
    constexpr int TILE = KEYS * D * 2;           // bytes
    extern __shared__ __align__(16)
        __half tiles[]; // q, dout [ROWS][D], kt [2][D][KEYS], v [2][KEYS][D]
    const backward_args a = of_head<D>(all, blockIdx.y);
    const float *delta_rows = delta_of + (int64_t)blockIdx.y * a.Sq;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    const int row = block_row + warp_row + threadIdx.x % 32 / 4; // of this lane, and row + 8
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t dout_tile = q_tile + ROWS * D * 2;
    const uint32_t kt_tiles = dout_tile + ROWS * D * 2;
    const uint32_t v_tiles = kt_tiles + 2 * TILE;
    const __half *kt = kt_of + (int64_t)blockIdx.y * D * padded_rows(a.Sk);
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    const int visible = min(a.Sk, a.causal ? a.Sk - a.Sq + block_row + ROWS : a.Sk);

    load_tile<D, ROWS, THREADS>(q_tile, a.q, block_row, a.Sq);
    load_tile<D, ROWS, THREADS>(dout_tile, a.dout, block_row, a.Sq);
    if (visible > 0) {
        load_columns<D, KEYS, THREADS>(kt_tiles, kt, 0, a.Sk);
        load_tile<D, KEYS, THREADS>(v_tiles, a.v, 0, a.Sk);
    }
    copy_async_commit();
    float lse[STRIPS][2], delta[STRIPS][2]; // of row and row + 8
#pragma unroll
    for (int i = 0; i < STRIPS * 2; i++) {
        lse[i / 2][i % 2] = row + i * 8 < a.Sq ? a.lse[row + i * 8] : 0.0f;
        delta[i / 2][i % 2] = row + i * 8 < a.Sq ? delta_rows[row + i * 8] : 0.0f;
    }
    float dq[STRIPS][D / 8][4] = {};
    for (int first = 0; first < visible; first += KEYS) {
        const uint32_t stage = first / KEYS % 2 * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (first + KEYS < visible) {
            load_columns<D, KEYS, THREADS>(kt_tiles + TILE - stage, kt, first + KEYS, a.Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, a.v, first + KEYS, a.Sk);
        }
        copy_async_commit();

#pragma unroll
        for (int n = 0; n < KEYS; n += PART) {
            float p[STRIPS][PART / 8][4] = {}; // scores, then probabilities
            float ds[STRIPS][PART / 8][4];     // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_transposed_scores<D, KEYS, STRIPS, PART>(p, q_tile + warp_row * D * 2,
                                                              kt_tiles + stage, n);
            minus_by_row<STRIPS, PART>(ds, delta);
            warp_add_scores<D, STRIPS, PART>(ds, dout_tile + warp_row * D * 2,
                                             v_tiles + stage + n * D * 2);
            probabilities_by_row<STRIPS, PART>(p, lse, scale);
            if (first + KEYS > a.Sk || (a.causal && first + KEYS - 1 > a.Sk - a.Sq + block_row)) {
                hide<false, STRIPS, PART>(p, a, block_row + warp_row, first + n);
            }
            multiply<STRIPS, PART>(ds, p);
            pack<STRIPS, PART>(operand, ds);
            warp_add_transposed_rows<D, KEYS, STRIPS, PART>(dq, operand, kt_tiles + stage, n);
        }
    }
    warp_store_rows<D, STRIPS>(a.dq + (int64_t)blockIdx.y * a.Sq * D, dq, 1.0f / sqrtf((float)D),
                               block_row + warp_row, a.Sq);
}

// c [STRIPS * 16][D] += p K without ldmatrix: an operand is two halves of one column, which take
// two loads.
template <int D, int STRIPS, int N>
static __device__ __forceinline__ void
warp_add_rows_by_hand(float (*c)[D / 8][4], const uint32_t (*p)[N / 16][4], const __half *k)
{
    const int g = threadIdx.x % 32 / 4;
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int n = 0; n < N / 16; n++) {
#pragma unroll
        for (int d = 0; d < D / 8; d++) {
            uint32_t column[2];
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = n * 16 + half * 8 + 2 * t; // and the next row
                const __half low = k[row * D + (d ^ row % 8) * 8 + g];
                const __half high = k[(row + 1) * D + (d ^ (row + 1) % 8) * 8 + g];
                const __half2 both = __halves2half2(low, high);
                column[half] = *(const uint32_t *)&both;
            }
#pragma unroll
            for (int i = 0; i < STRIPS; i++) {
                warp_mma(c[i][d], p[i][n], column);
            }
        }
    }
}

// q, dout [BH][Sq][D], k, v [BH][Sk][D], lse, delta [BH][Sq] -> dq [BH][Sq][D]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. cost: three products, 6
// D flops, and one exponential per score
template <int D, int ROWS, int KEYS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    backward_by_hand(backward_args all, const float *delta_of)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : KEYS;    // keys at a time, to limit registers
    constexpr int TILE = KEYS * D * 2;              // bytes
    extern __shared__ __align__(16) __half tiles[]; // q, dout [ROWS][D], k, v [2][KEYS][D]
    const backward_args a = of_head<D>(all, blockIdx.y);
    const float *delta_rows = delta_of + (int64_t)blockIdx.y * a.Sq;
    const int block_row = (gridDim.x - 1 - blockIdx.x) * ROWS; // the longest rows first
    const int warp_row = threadIdx.x / 32 * STRIPS * 16;
    const int row = block_row + warp_row + threadIdx.x % 32 / 4; // of this lane, and row + 8
    const uint32_t q_tile = shared_address(tiles);
    const uint32_t dout_tile = q_tile + ROWS * D * 2;
    const uint32_t k_tiles = dout_tile + ROWS * D * 2;
    const uint32_t v_tiles = k_tiles + 2 * TILE;
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    const int visible = min(a.Sk, a.causal ? a.Sk - a.Sq + block_row + ROWS : a.Sk);

    load_tile<D, ROWS, THREADS>(q_tile, a.q, block_row, a.Sq);
    load_tile<D, ROWS, THREADS>(dout_tile, a.dout, block_row, a.Sq);
    if (visible > 0) {
        load_tile<D, KEYS, THREADS>(k_tiles, a.k, 0, a.Sk);
        load_tile<D, KEYS, THREADS>(v_tiles, a.v, 0, a.Sk);
    }
    copy_async_commit();
    float lse[STRIPS][2], delta[STRIPS][2]; // of row and row + 8
#pragma unroll
    for (int i = 0; i < STRIPS * 2; i++) {
        lse[i / 2][i % 2] = row + i * 8 < a.Sq ? a.lse[row + i * 8] : 0.0f;
        delta[i / 2][i % 2] = row + i * 8 < a.Sq ? delta_rows[row + i * 8] : 0.0f;
    }
    float dq[STRIPS][D / 8][4] = {};
    for (int first = 0; first < visible; first += KEYS) {
        const uint32_t stage = first / KEYS % 2 * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (first + KEYS < visible) {
            load_tile<D, KEYS, THREADS>(k_tiles + TILE - stage, a.k, first + KEYS, a.Sk);
            load_tile<D, KEYS, THREADS>(v_tiles + TILE - stage, a.v, first + KEYS, a.Sk);
        }
        copy_async_commit();

#pragma unroll
        for (int n = 0; n < KEYS; n += PART) {
            const uint32_t k_part = k_tiles + stage + n * D * 2;
            float p[STRIPS][PART / 8][4] = {}; // scores, then probabilities
            float ds[STRIPS][PART / 8][4];     // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_scores<D, STRIPS, PART>(p, q_tile + warp_row * D * 2, k_part);
            minus_by_row<STRIPS, PART>(ds, delta);
            warp_add_scores<D, STRIPS, PART>(ds, dout_tile + warp_row * D * 2,
                                             v_tiles + stage + n * D * 2);
            probabilities_by_row<STRIPS, PART>(p, lse, scale);
            if (first + KEYS > a.Sk || (a.causal && first + KEYS - 1 > a.Sk - a.Sq + block_row)) {
                hide<false, STRIPS, PART>(p, a, block_row + warp_row, first + n);
            }
            multiply<STRIPS, PART>(ds, p);
            pack<STRIPS, PART>(operand, ds);
            warp_add_rows_by_hand<D, STRIPS, PART>(dq, operand,
                                                   tiles + (2 * ROWS + n) * D + stage / 2);
        }
    }
    warp_store_rows<D, STRIPS>(a.dq + (int64_t)blockIdx.y * a.Sq * D, dq, 1.0f / sqrtf((float)D),
                               block_row + warp_row, a.Sq);
}

enum way { ROWS, BOTH, COLUMNS, BY_HAND };

// Blocks of QUERIES queries, tiles of 64 keys, four warps.
template <int D, int QUERIES, enum way WAY>
static void launch_width(const kf_run *run, cudaStream_t stream)
{
    const int KEYS = 64, WARPS = 4;
    const backward_args a = backward_dq_arguments(run);
    const int heads = run->shape.B * run->shape.H;
    float *delta = kf_f32(run, "delta");
    __half *kt = (__half *)kf_memory(run, "kt", KF_F16);
    const dim3 grid((a.Sq + QUERIES - 1) / QUERIES, heads);
    const dim3 squares((unsigned)(padded_rows(a.Sk) / 64), D / 64, heads);
    const int tiles = WAY == BOTH ? 6 : 4, threads = WARPS * 32;
    const int bytes = (2 * QUERIES + tiles * KEYS) * D * (int)sizeof(__half);
    launch_delta<D>(a, heads, delta, stream);
    if (WAY == BOTH || WAY == COLUMNS) {
        transpose<D><<<squares, 256, 0, stream>>>(a.k, kt, a.Sk);
        CUDA_CHECK_LAUNCH();
    }
    if (WAY == ROWS) {
        allow_shared(backward_dq<D, QUERIES, KEYS, WARPS>, bytes);
        backward_dq<D, QUERIES, KEYS, WARPS><<<grid, threads, bytes, stream>>>(a, delta);
    } else if (WAY == BOTH) {
        allow_shared(backward_both<D, QUERIES, KEYS, WARPS>, bytes);
        backward_both<D, QUERIES, KEYS, WARPS><<<grid, threads, bytes, stream>>>(a, delta, kt);
    } else if (WAY == COLUMNS) {
        allow_shared(backward_columns<D, QUERIES, KEYS, WARPS>, bytes);
        backward_columns<D, QUERIES, KEYS, WARPS><<<grid, threads, bytes, stream>>>(a, delta, kt);
    } else {
        allow_shared(backward_by_hand<D, QUERIES, KEYS, WARPS>, bytes);
        backward_by_hand<D, QUERIES, KEYS, WARPS><<<grid, threads, bytes, stream>>>(a, delta);
    }
    CUDA_CHECK_LAUNCH();
}

template <enum way WAY>
static void launch(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        launch_width<64, 128, WAY>(run, stream);
    } else {
        launch_width<128, 64, WAY>(run, stream);
    }
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t rows[4] = {s.B, s.H, s.Sq, 1};
    const int64_t transposed[4] = {s.B, s.H, s.D, padded_rows(s.Sk)};
    kf_flash_dq_setup(run, tiled::launch_forward);
    kf_scratch(run, "delta", "BHSD", KF_F32, rows);
    kf_scratch(run, "kt", "BHDS", KF_F16, transposed);
}

#define LENGTHS(shape, d) shape(d, 512), shape(d, 2048), shape(d, 8192)

static const kf_case cases[] = {
    LENGTHS(KF_FLASH_SQUARE, 64),  LENGTHS(KF_FLASH_CAUSAL, 64), LENGTHS(KF_FLASH_SQUARE, 128),
    LENGTHS(KF_FLASH_CAUSAL, 128), KF_FLASH_BACKWARD_ODD,
};

static const kf_variant variants[] = {
    {.name = "k-rows",
     .about = "K as it lies in memory; ldmatrix transposes it",
     .launch = launch<ROWS>},
    {.name = "k-both",
     .about = "transposed by a pass of its own, and both are loaded",
     .launch = launch<BOTH>},
    {.name = "k-columns",
     .about = "transposed, and only that is loaded",
     .launch = launch<COLUMNS>},
    {.name = "by-hand",
     .about = "as it lies, and operands put together from single halves",
     .launch = launch<BY_HAND>},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text =
         "In case small-D128 (1 head of 128 queries and keys): wavefronts of ldmatrix in k-rows, "
         "divided by those in k-both (no ldmatrix.trans): which ratio?",
     .figure = "ldmatrix_wavefronts",
     .case_name = "small-D128",
     .variant = "k-rows",
     .over = "k-both"},
    {.text = "At D = 128, S = 8192, without a mask: by-hand (single elements in place of "
             "ldmatrix.trans) is how many times as fast as k-rows?",
     .figure = "ratio",
     .case_name = "D128-S8192",
     .variant = "by-hand"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "27-k-pretranspose",
        .title = "K transposed in memory, so that no tile is transposed on the chip",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_backward_reference,
        .cost = kf_flash_dq_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
