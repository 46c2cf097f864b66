/* 25-delta-cache: rowsum(dO * O) once, and not in every block
 *
 * Grows from: 24-flash-backward
 * Architecture: 80
 * Profile: kernels=backward each --case D64-S2048 --case D128-S2048
 *
 * Idea     delta is one float per query. dq's kernel has it in a register, and dkv's kernel
 *          computes it again in every block. Keep it instead: from dq's kernel, as the log does, or
 *          from a small kernel in front, as FlashAttention-2 does. Then dkv's kernel no longer
 *          loads o.
 * Predict  dkv's kernel loads a third less, and has one barrier per tile less. Its loads are hidden
 *          by the products, so the gain is small, as the log says: a few per cent of the whole.
 * Outcome  The gain is five per cent at D = 64, nine at D = 128. At D = 128 most of it is
 *          wavefronts: dkv's kernel no longer reads tiles of o and dO for the sums. A separate
 *          kernel for delta costs at least what it saves dq's kernel. At D = 128 two blocks, which
 *          did not fit beside o, gain a little more.
 */
#include "by_dq.cuh"
#include "cuda/flash_backward.cuh"
#include "cuda/tiled_attention.cuh"
#include "cuda/warp_reduce.cuh"
#include "reference_log.cuh"
#include "problems/flash_backward_cases.h"

// snippet: delta
// o, dout [BH][Sq][D] -> delta [BH][Sq] = rowsum(dout * o)
// grid (rows / 8), 256 threads, one warp per row. cost: 4 D + 4 bytes per row
template <int D>
__global__ void backward_delta(const __half *o, const __half *dout, float *delta, int64_t rows)
{
    const int64_t row = (int64_t)blockIdx.x * 8 + threadIdx.x / 32;
    float sum = 0.0f;
    for (int d = threadIdx.x % 32 * 2; d < D && row < rows; d += 64) {
        const float2 x = __half22float2(*(const __half2 *)(dout + row * D + d));
        const float2 y = __half22float2(*(const __half2 *)(o + row * D + d));
        sum += x.x * y.x + x.y * y.y;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0 && row < rows) {
        delta[row] = sum;
    }
}
// end snippet: delta

// q, dout [BH][Sq][D], k, v [BH][Sk][D], lse, delta [BH][Sq] -> dq [BH][Sq][D]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. cost: three products, 6
// D flops, and one exponential per score
template <int D, int ROWS, int KEYS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    backward_dq(backward_args all, const float *delta_of)
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
            warp_add_rows<D, STRIPS, PART>(dq, operand, k_part);
        }
    }
    warp_store_rows<D, STRIPS>(a.dq + (int64_t)blockIdx.y * a.Sq * D, dq, 1.0f / sqrtf((float)D),
                               block_row + warp_row, a.Sq);
}

// q, dout [BH][Sq][D], k, v [BH][Sk][D], lse, delta [BH][Sq] -> dk, dv [BH][Sk][D]
// grid (Sk / KEYS, BH), WARPS * 32 threads, one warp per 16 STRIPS keys. Everything is transposed:
// rows of a fragment are keys, columns are queries. cost: four products, 8 D flops, and one
// exponential per score
template <int D, int KEYS, int ROWS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS)
    backward_dkv(backward_args all, const float *delta_of)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = KEYS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : ROWS; // queries at a time, to limit registers
    constexpr int TILE = ROWS * D * 2;           // bytes
    // k, v [KEYS][D], q, dout [2][ROWS][D], then floats: lse, delta [2][ROWS]
    extern __shared__ __align__(16) __half tiles[];
    const backward_args a = of_head<D>(all, blockIdx.y);
    const float *delta = delta_of + (int64_t)blockIdx.y * a.Sq;
    const int block_key = blockIdx.x * KEYS; // under a mask the first blocks have the most queries
    const int warp_key = threadIdx.x / 32 * STRIPS * 16;
    const uint32_t k_tile = shared_address(tiles);
    const uint32_t v_tile = k_tile + KEYS * D * 2;
    const uint32_t q_tiles = v_tile + KEYS * D * 2;
    const uint32_t dout_tiles = q_tiles + 2 * TILE;
    const uint32_t lse_tiles = dout_tiles + 2 * TILE;
    const uint32_t delta_tiles = lse_tiles + 2 * ROWS * 4;
    const float *lse_rows = (const float *)(tiles + 2 * KEYS * D + 4 * ROWS * D);
    const float *delta_rows = lse_rows + 2 * ROWS;
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    // The tile of the first query that sees a key of this block.
    const int start = a.causal ? max(0, block_key - (a.Sk - a.Sq)) / ROWS * ROWS : 0;

    load_tile<D, KEYS, THREADS>(k_tile, a.k, block_key, a.Sk);
    load_tile<D, KEYS, THREADS>(v_tile, a.v, block_key, a.Sk);
    if (start < a.Sq) {
        load_tile<D, ROWS, THREADS>(q_tiles, a.q, start, a.Sq);
        load_tile<D, ROWS, THREADS>(dout_tiles, a.dout, start, a.Sq);
        load_values<ROWS>(lse_tiles, a.lse, start, a.Sq);
        load_values<ROWS>(delta_tiles, delta, start, a.Sq);
    }
    copy_async_commit();
    float dk[STRIPS][D / 8][4] = {};
    float dv[STRIPS][D / 8][4] = {};
    for (int first = start; first < a.Sq; first += ROWS) {
        const int stage = (first - start) / ROWS % 2;
        const int next = first + ROWS;
        const uint32_t q_tile = q_tiles + stage * TILE;
        const uint32_t dout_tile = dout_tiles + stage * TILE;
        copy_async_wait<0>();
        __syncthreads(); // this tile is there for all, and nobody reads the one before
        if (next < a.Sq) {
            load_tile<D, ROWS, THREADS>(q_tiles + (1 - stage) * TILE, a.q, next, a.Sq);
            load_tile<D, ROWS, THREADS>(dout_tiles + (1 - stage) * TILE, a.dout, next, a.Sq);
            load_values<ROWS>(lse_tiles + (1 - stage) * ROWS * 4, a.lse, next, a.Sq);
            load_values<ROWS>(delta_tiles + (1 - stage) * ROWS * 4, delta, next, a.Sq);
        }
        copy_async_commit();
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
            warp_add_rows<D, STRIPS, PART>(dv, operand, dout_tile + m * D * 2);
            pack<STRIPS, PART>(operand, ds);
            warp_add_rows<D, STRIPS, PART>(dk, operand, q_tile + m * D * 2);
        }
    }
    warp_store_rows<D, STRIPS>(a.dk + (int64_t)blockIdx.y * a.Sk * D, dk, 1.0f / sqrtf((float)D),
                               block_key + warp_key, a.Sk);
    warp_store_rows<D, STRIPS>(a.dv + (int64_t)blockIdx.y * a.Sk * D, dv, 1.0f,
                               block_key + warp_key, a.Sk);
}

// How both kernels get delta.
enum way { RECOMPUTED, BY_DQ, BY_KERNEL };

template <int D, int ROWS, int KEYS, int WARPS, enum way WAY>
static void launch_dq(const kf_run *run, cudaStream_t stream)
{
    const backward_args a = backward_arguments(run);
    float *delta = kf_f32(run, "delta");
    const dim3 grid((a.Sq + ROWS - 1) / ROWS, run->shape.B * run->shape.H);
    const int bytes = (2 * ROWS + 4 * KEYS) * D * (int)sizeof(__half), threads = WARPS * 32;
    if (WAY == RECOMPUTED) {
        allow_shared(recomputed::backward_dq<D, ROWS, KEYS, WARPS>, bytes);
        recomputed::backward_dq<D, ROWS, KEYS, WARPS><<<grid, threads, bytes, stream>>>(a);
    } else if (WAY == BY_DQ) {
        allow_shared(by_dq::backward_dq<D, ROWS, KEYS, WARPS>, bytes);
        by_dq::backward_dq<D, ROWS, KEYS, WARPS><<<grid, threads, bytes, stream>>>(a, delta);
    } else {
        allow_shared(backward_dq<D, ROWS, KEYS, WARPS>, bytes);
        backward_dq<D, ROWS, KEYS, WARPS><<<grid, threads, bytes, stream>>>(a, delta);
    }
    CUDA_CHECK_LAUNCH();
}

template <int D, int KEYS, int ROWS, int WARPS, enum way WAY>
static void launch_dkv(const kf_run *run, cudaStream_t stream)
{
    const backward_args a = backward_arguments(run);
    const dim3 grid((a.Sk + KEYS - 1) / KEYS, run->shape.B * run->shape.H);
    const int halves = (2 * KEYS + (WAY == RECOMPUTED ? 6 : 4) * ROWS) * D, threads = WARPS * 32;
    const int bytes = halves * (int)sizeof(__half) + 4 * ROWS * (int)sizeof(float);
    if (WAY == RECOMPUTED) {
        allow_shared(recomputed::backward_dkv<D, KEYS, ROWS, WARPS>, bytes);
        recomputed::backward_dkv<D, KEYS, ROWS, WARPS><<<grid, threads, bytes, stream>>>(a);
    } else {
        const float *delta = kf_f32(run, "delta");
        allow_shared(backward_dkv<D, KEYS, ROWS, WARPS>, bytes);
        backward_dkv<D, KEYS, ROWS, WARPS><<<grid, threads, bytes, stream>>>(a, delta);
    }
    CUDA_CHECK_LAUNCH();
}

template <int D>
static void launch_delta(const kf_run *run, cudaStream_t stream)
{
    const backward_args a = backward_arguments(run);
    const int64_t rows = (int64_t)run->shape.B * run->shape.H * a.Sq;
    backward_delta<D>
        <<<(unsigned)((rows + 7) / 8), 256, 0, stream>>>(a.o, a.dout, kf_f32(run, "delta"), rows);
    CUDA_CHECK_LAUNCH();
}

// The tiles are those that step 24's tuner chose for the log's arrangement at long S.
template <enum way WAY>
static void launch(const kf_run *run, cudaStream_t stream)
{
    if (run->shape.D == 64) {
        if (WAY == BY_KERNEL) {
            launch_delta<64>(run, stream);
        }
        launch_dq<64, 128, 64, 4, WAY>(run, stream);
        launch_dkv<64, 128, 64, 4, WAY>(run, stream);
    } else {
        if (WAY == BY_KERNEL) {
            launch_delta<128>(run, stream);
        }
        launch_dq<128, 128, 32, 4, WAY>(run, stream);
        launch_dkv<128, 128, 64, 8, WAY>(run, stream);
    }
}

// --- Tables --------------------------------------------------------------------------------------

// Without O two blocks of 64 keys fit on a multiprocessor at D = 128.
static void launch_two_blocks(const kf_run *run, cudaStream_t stream)
{
    launch_delta<128>(run, stream);
    launch_dq<128, 128, 32, 4, BY_KERNEL>(run, stream);
    launch_dkv<128, 64, 64, 4, BY_KERNEL>(run, stream);
}

static bool is_wide(const kf_case *c)
{
    return c->shape.D == 128;
}

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t rows[4] = {s.B, s.H, s.Sq, 1};
    kf_flash_backward_setup(run, tiled::launch_forward);
    kf_scratch(run, "delta", "BHSD", KF_F32, rows);
}

#define LENGTHS(shape, d) shape(d, 512), shape(d, 2048), shape(d, 8192)

static const kf_case cases[] = {
    LENGTHS(KF_FLASH_SQUARE, 64),  LENGTHS(KF_FLASH_CAUSAL, 64), LENGTHS(KF_FLASH_SQUARE, 128),
    LENGTHS(KF_FLASH_CAUSAL, 128), KF_FLASH_BACKWARD_ODD,
};

static const kf_variant variants[] = {
    {.name = "reference-log",
     .about = "both kernels compute delta, dkv's again in each block",
     .launch = launch<RECOMPUTED>},
    {.name = "by-dq", .about = "dq's kernel stores delta", .launch = launch<BY_DQ>},
    {.name = "by-kernel",
     .about = "a kernel of its own computes delta",
     .launch = launch<BY_KERNEL>},
    {.name = "two-blocks",
     .about = "by-kernel, with a tile of dkv of which two fit without O",
     .launch = launch_two_blocks,
     .applies = is_wide},
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text = "by-dq (stored-delta variant) is how many times as fast as reference-log (delta-twice "
             "variant), at D = 128, S = 8192, without a mask?",
     .figure = "ratio",
     .case_name = "D128-S8192",
     .variant = "by-dq"},
    {.text = "At D = 64, S = 512, without a mask, which takes the least time: reference-log, by-dq "
             "or by-kernel?",
     .figure = "median_us",
     .case_name = "D64-S512",
     .among = "reference-log by-dq by-kernel"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "25-delta-cache",
        .title = "rowsum(dO * O) once, and not in every block",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_backward_reference,
        .cost = kf_flash_backward_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
