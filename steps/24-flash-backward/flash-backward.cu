/* 24-flash-backward: the gradient, in two kernels and seven products
 *
 * Follows: 23-flash-autotune
 * Architecture: 80
 * Record: --tuned tuned-flash-backward.tsv
 * Profile: kernels=backward each --case D64-S2048 --case D128-S2048 --variant log
 *
 * Idea     From o, lse and the gradient of o follow the gradients of q, k and v. A probability is
 *          one exponential of a score and lse, so no matrix has to be kept. As in the log, one
 *          kernel owns queries and computes dq, the other owns keys and computes dk and dv; both
 *          compute the scores again, and delta.
 * Predict  Seven products where five are needed: 1.4 times the time, before anything else is
 *          counted. dq's kernel has three of them, 43 % of the time. The sums of the gradients
 *          take twice the registers of the forward pass, so the best tiles are smaller.
 * Outcome  Shared memory, we think, limits both kernels. At D = 64 time divides nearly as the
 *          wavefronts do: dkv's kernel takes more than its four sevenths. At D = 128 it takes
 *          still more: beside a tile of O only one block of four warps fits, which we think is
 *          the reason. Smaller tiles win at D = 128 only: there registers end the list of tiles.
 *          Whether five products take less time, step 26 shows.
 */
#include "cuda/flash_backward.cuh"
#include "cuda/refused.cuh"
#include "cuda/tiled_attention.cuh"
#include "problems/flash_backward_cases.h"

// rowsum(dout * o) of one row, in all four lanes of a quad; 0 past the end.
template <int D>
static __device__ __forceinline__ float delta_of_row(backward_args a, int row)
{
    float sum = 0.0f;
#pragma unroll
    for (int d = 2 * (threadIdx.x % 4); d < D && row < a.Sq; d += 8) {
        const float2 dout = __half22float2(*(const __half2 *)(a.dout + (int64_t)row * D + d));
        const float2 o = __half22float2(*(const __half2 *)(a.o + (int64_t)row * D + d));
        sum += dout.x * o.x + dout.y * o.y;
    }
    return quad_sum(sum);
}

// q, o, dout [BH][Sq][D], k, v [BH][Sk][D], lse [BH][Sq] -> dq [BH][Sq][D]
// grid (Sq / ROWS, BH), WARPS * 32 threads, one warp per 16 STRIPS queries. cost: three products, 6
// D flops, and one exponential per score
template <int D, int ROWS, int KEYS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS) backward_dq(backward_args all)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = ROWS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : KEYS;    // keys at a time, to limit registers
    constexpr int TILE = KEYS * D * 2;              // bytes
    extern __shared__ __align__(16) __half tiles[]; // q, dout [ROWS][D], k, v [2][KEYS][D]
    const backward_args a = of_head<D>(all, blockIdx.y);
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
        delta[i / 2][i % 2] = delta_of_row<D>(a, row + i * 8);
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
            float p[STRIPS][PART / 8][4] = {};  // scores, then probabilities
            float ds[STRIPS][PART / 8][4] = {}; // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_scores<D, STRIPS, PART>(p, q_tile + warp_row * D * 2, k_part);
            // solution: gradient -- ds of this part, from p, which holds the scores
            // hint: The listing of dkv on the page has these lines for columns. In dq a row of a
            //     fragment is a query: which helpers of flash_backward.cuh end in _by_row, and
            //     which of dO and V has the rows of the product now?
            // hint: The order is that of dkv. ds starts at -delta, and warp_add_scores adds the
            //     product of dO and V; p becomes probabilities; hide sets those of masked and
            //     missing keys to 0; multiply makes dS of ds and p. delta and lse are arrays of
            //     this lane, so they need no offset.
            // hint: The operands of the product are `dout_tile + warp_row * D * 2` and
            //     `v_tiles + stage + n * D * 2`. The first template argument of hide is false; the
            //     first query is block_row + warp_row and the first key is first + n. In the
            //     condition of dkv block_key becomes first, and first becomes block_row.
            minus_by_row<STRIPS, PART>(ds, delta);
            warp_add_scores<D, STRIPS, PART>(ds, dout_tile + warp_row * D * 2,
                                             v_tiles + stage + n * D * 2);
            probabilities_by_row<STRIPS, PART>(p, lse, scale);
            if (first + KEYS > a.Sk || (a.causal && first + KEYS - 1 > a.Sk - a.Sq + block_row)) {
                hide<false, STRIPS, PART>(p, a, block_row + warp_row, first + n);
            }
            multiply<STRIPS, PART>(ds, p);
            // end solution: gradient
            pack<STRIPS, PART>(operand, ds);
            warp_add_rows<D, STRIPS, PART>(dq, operand, k_part);
        }
    }
    warp_store_rows<D, STRIPS>(a.dq + (int64_t)blockIdx.y * a.Sq * D, dq, 1.0f / sqrtf((float)D),
                               block_row + warp_row, a.Sq);
}

// rowsum(dout * o) of each row of two tiles -> delta [ROWS], in shared memory. SHARE threads
// compute a row.
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void delta_of_tile(float *delta, const __half *dout,
                                                     const __half *o)
{
    constexpr int SHARE = THREADS / ROWS; // threads per row
    const int row = threadIdx.x / SHARE;
    float sum = 0.0f;
#pragma unroll
    for (int chunk = threadIdx.x % SHARE; chunk < D / 8; chunk += SHARE) {
        const int at = row * D + (chunk ^ row % 8) * 8;
        const uint4 four_dout = *(const uint4 *)(dout + at), four_o = *(const uint4 *)(o + at);
        const __half2 *x = (const __half2 *)&four_dout, *y = (const __half2 *)&four_o;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 a = __half22float2(x[i]), b = __half22float2(y[i]);
            sum += a.x * b.x + a.y * b.y;
        }
    }
#pragma unroll
    for (int other = SHARE / 2; other > 0; other /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, other);
    }
    if (threadIdx.x % SHARE == 0) {
        delta[row] = sum;
    }
}

// The same inputs -> dk, dv [BH][Sk][D]
// grid (Sk / KEYS, BH), WARPS * 32 threads, one warp per 16 STRIPS keys. Everything is transposed:
// rows of a fragment are keys, columns are queries. cost: four products, 8 D flops, and one
// exponential per score; 2 D flops per query and block for delta
template <int D, int KEYS, int ROWS, int WARPS>
__global__ void __launch_bounds__(WARPS * 32, 8 / WARPS) backward_dkv(backward_args all)
{
    constexpr int THREADS = WARPS * 32;
    constexpr int STRIPS = KEYS / WARPS / 16;
    constexpr int PART = STRIPS > 1 ? 32 : ROWS; // queries at a time, to limit registers
    constexpr int TILE = ROWS * D * 2;           // bytes
    // k, v [KEYS][D], q, dout, o [2][ROWS][D], then floats: lse [2][ROWS], delta [ROWS]
    extern __shared__ __align__(16) __half tiles[];
    const backward_args a = of_head<D>(all, blockIdx.y);
    const int block_key = blockIdx.x * KEYS; // under a mask the first blocks have the most queries
    const int warp_key = threadIdx.x / 32 * STRIPS * 16;
    const uint32_t k_tile = shared_address(tiles);
    const uint32_t v_tile = k_tile + KEYS * D * 2;
    const uint32_t q_tiles = v_tile + KEYS * D * 2;
    const uint32_t dout_tiles = q_tiles + 2 * TILE;
    const uint32_t o_tiles = dout_tiles + 2 * TILE;
    const uint32_t lse_tiles = o_tiles + 2 * TILE;
    float *lse = (float *)(tiles + 2 * KEYS * D + 6 * ROWS * D);
    float *delta = lse + 2 * ROWS;
    const float scale = LOG2E / sqrtf((float)D); // to exponents of 2
    // The tile of the first query that sees a key of this block.
    const int start = a.causal ? max(0, block_key - (a.Sk - a.Sq)) / ROWS * ROWS : 0;

    load_tile<D, KEYS, THREADS>(k_tile, a.k, block_key, a.Sk);
    load_tile<D, KEYS, THREADS>(v_tile, a.v, block_key, a.Sk);
    if (start < a.Sq) {
        load_tile<D, ROWS, THREADS>(q_tiles, a.q, start, a.Sq);
        load_tile<D, ROWS, THREADS>(dout_tiles, a.dout, start, a.Sq);
        load_tile<D, ROWS, THREADS>(o_tiles, a.o, start, a.Sq);
        load_values<ROWS>(lse_tiles, a.lse, start, a.Sq);
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
            load_tile<D, ROWS, THREADS>(o_tiles + (1 - stage) * TILE, a.o, next, a.Sq);
            load_values<ROWS>(lse_tiles + (1 - stage) * ROWS * 4, a.lse, next, a.Sq);
        }
        copy_async_commit();
        // dout and o of this stage, as offsets in halves from the start of tiles
        delta_of_tile<D, ROWS, THREADS>(delta, tiles + 2 * (KEYS + ROWS) * D + stage * ROWS * D,
                                        tiles + 2 * (KEYS + 2 * ROWS) * D + stage * ROWS * D);
        __syncthreads();
        // snippet: dkv
#pragma unroll
        for (int m = 0; m < ROWS; m += PART) {
            float p[STRIPS][PART / 8][4] = {}; // scores, then probabilities
            float ds[STRIPS][PART / 8][4];     // dP - delta, then dS
            uint32_t operand[STRIPS][PART / 16][4];
            warp_add_scores<D, STRIPS, PART>(p, k_tile + warp_key * D * 2, q_tile + m * D * 2);
            minus_by_column<STRIPS, PART>(ds, delta + m);
            warp_add_scores<D, STRIPS, PART>(ds, v_tile + warp_key * D * 2, dout_tile + m * D * 2);
            probabilities_by_column<STRIPS, PART>(p, lse + stage * ROWS + m, scale);
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
        // end snippet: dkv
    }
    warp_store_rows<D, STRIPS>(a.dk + (int64_t)blockIdx.y * a.Sk * D, dk, 1.0f / sqrtf((float)D),
                               block_key + warp_key, a.Sk);
    warp_store_rows<D, STRIPS>(a.dv + (int64_t)blockIdx.y * a.Sk * D, dv, 1.0f,
                               block_key + warp_key, a.Sk);
}

// Bytes of shared memory per block.
template <int D, int ROWS, int KEYS>
static constexpr int bytes_of_dq()
{
    return (2 * ROWS + 4 * KEYS) * D * (int)sizeof(__half);
}

template <int D, int KEYS, int ROWS>
static constexpr int bytes_of_dkv()
{
    return (2 * KEYS + 6 * ROWS) * D * (int)sizeof(__half) + 3 * ROWS * (int)sizeof(float);
}

template <int D, int ROWS, int KEYS, int WARPS>
static void launch_dq_of(const kf_run *run, cudaStream_t stream)
{
    const int bytes = bytes_of_dq<D, ROWS, KEYS>(), threads = WARPS * 32;
    const dim3 grid((run->shape.Sq + ROWS - 1) / ROWS, run->shape.B * run->shape.H);
    allow_shared(backward_dq<D, ROWS, KEYS, WARPS>, bytes);
    backward_dq<D, ROWS, KEYS, WARPS><<<grid, threads, bytes, stream>>>(backward_arguments(run));
    CUDA_CHECK_LAUNCH();
}

template <int D, int KEYS, int ROWS, int WARPS>
static void launch_dkv_of(const kf_run *run, cudaStream_t stream)
{
    const int bytes = bytes_of_dkv<D, KEYS, ROWS>(), threads = WARPS * 32;
    const dim3 grid((run->shape.Sk + KEYS - 1) / KEYS, run->shape.B * run->shape.H);
    allow_shared(backward_dkv<D, KEYS, ROWS, WARPS>, bytes);
    backward_dkv<D, KEYS, ROWS, WARPS><<<grid, threads, bytes, stream>>>(backward_arguments(run));
    CUDA_CHECK_LAUNCH();
}

template <int ROWS, int KEYS, int WARPS>
static void launch_dq(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_dq_of<64, ROWS, KEYS, WARPS>
                        : launch_dq_of<128, ROWS, KEYS, WARPS>)(run, stream);
}

template <int KEYS, int ROWS, int WARPS>
static void launch_dkv(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? launch_dkv_of<64, KEYS, ROWS, WARPS>
                        : launch_dkv_of<128, KEYS, ROWS, WARPS>)(run, stream);
}

// Tiles of 64 and four warps, as in step 22.
static void launch_log(const kf_run *run, cudaStream_t stream)
{
    launch_dq<64, 64, 4>(run, stream);
    launch_dkv<64, 64, 4>(run, stream);
}

// --- Tables --------------------------------------------------------------------------------------

// A candidate for one of the two kernels runs with the other kernel as it is in `log`.
template <int ROWS, int KEYS, int WARPS>
static void try_dq(const kf_run *run, cudaStream_t stream)
{
    launch_dq<ROWS, KEYS, WARPS>(run, stream);
    launch_dkv<64, 64, 4>(run, stream);
}

template <int KEYS, int ROWS, int WARPS>
static void try_dkv(const kf_run *run, cudaStream_t stream)
{
    launch_dq<64, 64, 4>(run, stream);
    launch_dkv<KEYS, ROWS, WARPS>(run, stream);
}

template <int ROWS, int KEYS, int WARPS>
static const char *refused_dq(const kf_case *c, char *why, size_t size)
{
    return c->shape.D == 64 ? refused_here((const void *)backward_dq<64, ROWS, KEYS, WARPS>,
                                           bytes_of_dq<64, ROWS, KEYS>(), why, size)
                            : refused_here((const void *)backward_dq<128, ROWS, KEYS, WARPS>,
                                           bytes_of_dq<128, ROWS, KEYS>(), why, size);
}

template <int KEYS, int ROWS, int WARPS>
static const char *refused_dkv(const kf_case *c, char *why, size_t size)
{
    return c->shape.D == 64 ? refused_here((const void *)backward_dkv<64, KEYS, ROWS, WARPS>,
                                           bytes_of_dkv<64, KEYS, ROWS>(), why, size)
                            : refused_here((const void *)backward_dkv<128, KEYS, ROWS, WARPS>,
                                           bytes_of_dkv<128, KEYS, ROWS>(), why, size);
}

static void setup(kf_run *run)
{
    kf_flash_backward_setup(run, tiled::launch_forward);
}

#define LENGTHS(shape, d) shape(d, 512), shape(d, 2048), shape(d, 8192)

static const kf_case cases[] = {
    LENGTHS(KF_FLASH_SQUARE, 64),
    LENGTHS(KF_FLASH_CAUSAL, 64),
    LENGTHS(KF_FLASH_SQUARE, 128),
    LENGTHS(KF_FLASH_CAUSAL, 128),
    KF_FLASH_BACKWARD_ODD,
    KF_FLASH_CASE("made", 1, 70, 100, 64, true, KF_BY_KERNEL),
    KF_FLASH_CASE("made-D128", 1, 20, 70, 128, false, KF_BY_KERNEL),
};

#define DQ(rows, keys, warps)                                                                      \
    {                                                                                              \
        .name = "dq:m" #rows "-n" #keys "-w" #warps,                                               \
        .about = "kernel dq with " #rows " queries, " #keys " keys, " #warps " warps",             \
        .launch = try_dq<rows, keys, warps>, .applies = takes_part_here,                           \
        .refused = refused_dq<rows, keys, warps>                                                   \
    }
#define DKV(keys, rows, warps)                                                                     \
    {                                                                                              \
        .name = "dkv:n" #keys "-m" #rows "-w" #warps,                                              \
        .about = "kernel dkv with " #keys " keys, " #rows " queries, " #warps " warps",            \
        .launch = try_dkv<keys, rows, warps>, .applies = takes_part_here,                          \
        .refused = refused_dkv<keys, rows, warps>                                                  \
    }

static const kf_variant variants[] = {
    {.name = "reference-log",
     .about = "as the log has it: two kernels, delta in both",
     .launch = launch_log},
    DQ(64, 64, 4),
    DQ(64, 32, 4),
    DQ(64, 128, 4),
    DQ(128, 32, 4),
    DQ(128, 64, 4),
    DQ(128, 64, 8),
    DQ(128, 128, 8),
    DKV(64, 64, 4),
    DKV(64, 32, 4),
    DKV(64, 128, 4),
    DKV(128, 32, 4),
    DKV(128, 64, 4),
    DKV(128, 32, 8),
    DKV(128, 64, 8),
};

static const kf_timing timings[] = {{KF_GRAPH, KF_WARM}};

static const kf_question questions[] = {
    {.text =
         "In case small (2 heads of 128 queries and keys, D = 64), how many exponentials does a "
         "whole call of reference-log compute?",
     .figure = "exp",
     .case_name = "small",
     .variant = "reference-log"},
    {.text = "dkv:n128-m64-w4 (128-key variant) is how many times as fast as reference-log (64-key "
             "variant), both kernels together, at D = 64, S = 8192, without a mask?",
     .figure = "ratio",
     .case_name = "D64-S8192",
     .variant = "dkv:n128-m64-w4"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "24-flash-backward",
        .title = "the gradient, in two kernels and seven products",
        .architecture = "80",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = kf_flash_backward_reference,
        .cost = kf_flash_backward_cost,
        KF_TABLE(timings, timings),
        KF_TABLE(questions, questions),
        .tunes = true,
    };
    return kf_main(&program, argc, argv);
}
