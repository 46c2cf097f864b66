/* 16-rope-op-chain: RoPE as a framework runs it, every operation a kernel
 *
 * Follows: 02-separate-rope
 * Architecture: 75
 * Profile: each --case large --variant rebuild --variant four-each
 * Tests: clang++ counts other requests
 *
 * Idea     Write RoPE as model code does, x * cos + rotate_half(x) * sin, and run each operation as
 *          a framework without a compiler does: its own kernel, its own result in memory. The
 *          angles, cosines and sines are made anew in each call.
 * Predict  The chain moves 10 N, where N is the bytes of x, in place of 2 N: at most a fifth of the
 *          limit. With one float in flight per thread (rebuild) 1700 to 2400 us, with four
 *          (four-each) 1280 us. A single sequence: 21 us, of which ten launches are 13.
 * Outcome  rebuild as predicted. four-each takes a tenth longer: its compiled minus sign waits for
 *          each load before the next. A single sequence is refuted: it takes longer. Each kernel
 *          also waits for its loads, in up to four waves of blocks. That explains a part only.
 */
#include "cuda/rope_alone.cuh"
#include "problems/rope.h"

#include <stdio.h>
#include <stdlib.h>

// A thread has one element. Kernels on x have the grid (blocks for the elements of a sequence, B);
// tables are the same for every sequence of the batch. N is the bytes of x.
enum { CHAIN_THREADS = 256 };

// snippet: rotate-half
// x [B][S][D] -> y [B][S][D/2], minus the second half of each row
// cost: reads N/2, writes N/2
__global__ void negate_second_half(const float *x, float *y, int S, int D)
{
    const int half = D / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t sequence = (int64_t)blockIdx.y * S;
    if (i < S * half) {
        y[sequence * half + i] = -x[(sequence + i / half) * D + half + i % half];
    }
}

// a [B][S][D/2] in rows of a_pitch, b likewise -> y [B][S][D], each row of a followed by that of b
// cost: reads N, writes N
__global__ void join_halves(const float *a, int a_pitch, const float *b, int b_pitch, float *y,
                            int S, int D)
{
    const int half = D / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t sequence = (int64_t)blockIdx.y * S;
    const int64_t row = sequence + i / D;
    const int column = i % D;
    if (i < S * D) {
        y[sequence * D + i] =
            column < half ? a[row * a_pitch + column] : b[row * b_pitch + column - half];
    }
}
// end snippet: rotate-half

// snippet: products
// x [B][n], table [n] -> y [B][n]
// cost: reads N and the table, writes N
__global__ void multiply(const float *x, const float *table, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t sequence = (int64_t)blockIdx.y * n;
    if (i < n) {
        y[sequence + i] = x[sequence + i] * table[i];
    }
}

// a [B][n], b [B][n] -> y [B][n]
// cost: reads 2 N, writes N
__global__ void add(const float *a, const float *b, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t sequence = (int64_t)blockIdx.y * n;
    if (i < n) {
        y[sequence + i] = a[sequence + i] + b[sequence + i];
    }
}
// end snippet: products

static dim3 blocks_for(int n, int B)
{
    return dim3((n + CHAIN_THREADS - 1) / CHAIN_THREADS, B);
}

// snippet: chain
// x [B][S][D], cosine and sine [S][D] -> y = x * cosine + rotate_half(x) * sine
// cost: 10 N and the tables
static void launch_chain(const kf_run *run, const float *cosine, const float *sine,
                         cudaStream_t stream)
{
    const int S = run->shape.Sq;
    const int D = run->shape.D;
    const float *x = kf_f32(run, "x");
    float *negated = kf_f32(run, "negated");
    float *rotated = kf_f32(run, "rotated");
    float *x_cosine = kf_f32(run, "x_cosine");
    float *rotated_sine = kf_f32(run, "rotated_sine");
    float *y = kf_f32(run, "y");
    const dim3 blocks = blocks_for(S * D, run->shape.B);
    const dim3 half_blocks = blocks_for(S * D / 2, run->shape.B);
    // solution: chain -- five launches: minus sign, join, two products, sum
    // hint: Each of negated, rotated, x_cosine, rotated_sine and y is the result of one operation.
    //     Which of the four kernels above writes which of them, and from what?
    // hint: join_halves takes two tensors, each with its pitch, the number of floats from one row
    //     to the next. A row of rotate_half(x) is a row of negated, which has D / 2 floats, and
    //     then the first half of a row of x, which has D floats.
    // hint: The first launch is `negate_second_half<<<half_blocks, CHAIN_THREADS, 0, stream>>>(x,
    //     negated, S, D);`. The other four have `blocks` blocks, and n, the number of elements of a
    //     sequence, is S * D. CUDA_CHECK_LAUNCH() follows each launch.
    negate_second_half<<<half_blocks, CHAIN_THREADS, 0, stream>>>(x, negated, S, D);
    CUDA_CHECK_LAUNCH();
    join_halves<<<blocks, CHAIN_THREADS, 0, stream>>>(negated, D / 2, x, D, rotated, S, D);
    CUDA_CHECK_LAUNCH();
    multiply<<<blocks, CHAIN_THREADS, 0, stream>>>(x, cosine, x_cosine, S * D);
    CUDA_CHECK_LAUNCH();
    multiply<<<blocks, CHAIN_THREADS, 0, stream>>>(rotated, sine, rotated_sine, S * D);
    CUDA_CHECK_LAUNCH();
    add<<<blocks, CHAIN_THREADS, 0, stream>>>(x_cosine, rotated_sine, y, S * D);
    CUDA_CHECK_LAUNCH();
    // end solution: chain
}
// end snippet: chain

// -> position [S], from first on
__global__ void make_positions(float *position, int S, int first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        position[i] = (float)(first + i);
    }
}

// position [S], frequency [D/2] -> angle [S][D/2]
__global__ void outer_product(const float *position, const float *frequency, float *angle, int S,
                              int half)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S * half) {
        angle[i] = position[i / half] * frequency[i % half];
    }
}

// angle [n] -> y [n]
__global__ void cosine_of(const float *angle, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = cosf(angle[i]);
    }
}

// angle [n] -> y [n]
__global__ void sine_of(const float *angle, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = sinf(angle[i]);
    }
}

static void launch_positions(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    make_positions<<<blocks_for(S, 1), CHAIN_THREADS, 0, stream>>>(kf_f32(run, "position"), S,
                                                                   run->shape.pos0);
    CUDA_CHECK_LAUNCH();
}

// snippet: tables-launch
// position [S], frequency [D/2] -> cosine and sine [S][D]; rows have angles twice, for both halves
// of x
static void launch_tables(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    const int D = run->shape.D;
    const dim3 blocks = blocks_for(S * D, 1);
    float *angle = kf_f32(run, "angle");
    float *angles = kf_f32(run, "angles");
    outer_product<<<blocks_for(S * D / 2, 1), CHAIN_THREADS, 0, stream>>>(
        kf_f32(run, "position"), kf_f32(run, "frequency"), angle, S, D / 2);
    CUDA_CHECK_LAUNCH();
    join_halves<<<blocks, CHAIN_THREADS, 0, stream>>>(angle, D / 2, angle, D / 2, angles, S, D);
    CUDA_CHECK_LAUNCH();
    cosine_of<<<blocks, CHAIN_THREADS, 0, stream>>>(angles, kf_f32(run, "cosine"), S * D);
    CUDA_CHECK_LAUNCH();
    sine_of<<<blocks, CHAIN_THREADS, 0, stream>>>(angles, kf_f32(run, "sine"), S * D);
    CUDA_CHECK_LAUNCH();
}

static void launch_rebuild(const kf_run *run, cudaStream_t stream)
{
    launch_positions(run, stream);
    launch_tables(run, stream);
    launch_chain(run, kf_f32(run, "cosine"), kf_f32(run, "sine"), stream);
}
// end snippet: tables-launch

// --- Variants that explain -----------------------------------------------------------------------

// four-each: the chain's four kernels with EACH elements per thread, a block's width apart. All of
// them are loaded before the first is stored. (nvcc puts each negation of negate_four directly
// behind its load, so a thread of that kernel still waits for one load after the other.)

enum { EACH = 4 };

// snippet: each
// element: the index of a thread's k-th element. store: the values of its elements -> y [n]
static __device__ __forceinline__ int element(int k)
{
    return (blockIdx.x * EACH + k) * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ void store(const float (&value)[EACH], float *y, int n)
{
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (element(k) < n) {
            y[element(k)] = value[k];
        }
    }
}

__global__ void multiply_four(const float *x, const float *table, float *y, int n)
{
    const int64_t sequence = (int64_t)blockIdx.y * n;
    float value[EACH] = {};
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = element(k);
        if (i < n) {
            value[k] = x[sequence + i] * table[i];
        }
    }
    store(value, y + sequence, n);
}
// end snippet: each

__global__ void negate_four(const float *x, float *y, int S, int D)
{
    const int half = D / 2;
    const int64_t sequence = (int64_t)blockIdx.y * S;
    float value[EACH] = {};
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = element(k);
        if (i < S * half) {
            value[k] = -x[(sequence + i / half) * D + half + i % half];
        }
    }
    store(value, y + sequence * half, S * half);
}

__global__ void join_four(const float *a, int a_pitch, const float *b, int b_pitch, float *y, int S,
                          int D)
{
    const int half = D / 2;
    const int64_t sequence = (int64_t)blockIdx.y * S;
    float value[EACH] = {};
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = element(k);
        const int64_t row = sequence + i / D;
        const int column = i % D;
        if (i < S * D) {
            value[k] = column < half ? a[row * a_pitch + column] : b[row * b_pitch + column - half];
        }
    }
    store(value, y + sequence * D, S * D);
}

__global__ void add_four(const float *a, const float *b, float *y, int n)
{
    const int64_t sequence = (int64_t)blockIdx.y * n;
    float value[EACH] = {};
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int i = element(k);
        if (i < n) {
            value[k] = a[sequence + i] + b[sequence + i];
        }
    }
    store(value, y + sequence, n);
}

static void launch_four_each(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    const int D = run->shape.D;
    const float *x = kf_f32(run, "x");
    float *negated = kf_f32(run, "negated");
    float *rotated = kf_f32(run, "rotated");
    float *x_cosine = kf_f32(run, "x_cosine");
    float *rotated_sine = kf_f32(run, "rotated_sine");
    const float *cosine = kf_f32(run, "cosine");
    const float *sine = kf_f32(run, "sine");
    float *y = kf_f32(run, "y");
    const dim3 blocks = blocks_for((S * D + EACH - 1) / EACH, run->shape.B);
    const dim3 half_blocks = blocks_for((S * D / 2 + EACH - 1) / EACH, run->shape.B);
    launch_positions(run, stream);
    launch_tables(run, stream);
    // solution: four-each -- the same five, with the kernels whose threads have four elements
    // hint: The launches are those of launch_chain, with negate_four, join_four, multiply_four and
    //     add_four, which have the same parameters. What else in a launch depends on the number of
    //     elements per thread?
    // hint: blocks and half_blocks have been divided by EACH above, so use them as launch_chain
    //     does: half_blocks for the minus sign, blocks for the other four.
    // hint: The fourth launch is `multiply_four<<<blocks, CHAIN_THREADS, 0, stream>>>(rotated,
    //     sine, rotated_sine, S * D);`, and CUDA_CHECK_LAUNCH() follows it.
    negate_four<<<half_blocks, CHAIN_THREADS, 0, stream>>>(x, negated, S, D);
    CUDA_CHECK_LAUNCH();
    join_four<<<blocks, CHAIN_THREADS, 0, stream>>>(negated, D / 2, x, D, rotated, S, D);
    CUDA_CHECK_LAUNCH();
    multiply_four<<<blocks, CHAIN_THREADS, 0, stream>>>(x, cosine, x_cosine, S * D);
    CUDA_CHECK_LAUNCH();
    multiply_four<<<blocks, CHAIN_THREADS, 0, stream>>>(rotated, sine, rotated_sine, S * D);
    CUDA_CHECK_LAUNCH();
    add_four<<<blocks, CHAIN_THREADS, 0, stream>>>(x_cosine, rotated_sine, y, S * D);
    CUDA_CHECK_LAUNCH();
    // end solution: four-each
}

// short-table: a table that lacks its last row, so that the last position uses the row before.
__global__ void make_short_positions(float *position, int S, int first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        position[i] = (float)(first + min(i, S - 2));
    }
}

static void launch_short(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    make_short_positions<<<blocks_for(S, 1), CHAIN_THREADS, 0, stream>>>(kf_f32(run, "position"), S,
                                                                         run->shape.pos0);
    CUDA_CHECK_LAUNCH();
    launch_tables(run, stream);
    launch_chain(run, kf_f32(run, "cosine"), kf_f32(run, "sine"), stream);
}

// snippet: mean-check
// The check in the log of this experiment: the mean difference is below 1e-4.
static double mean_difference(const kf_run *run)
{
    const kf_tensor *y = kf_find(run, "y");
    float *got = (float *)kf_alloc(y->count, sizeof *got);
    double sum = 0.0;
    CUDA_CHECK(cudaMemcpy(got, y->device, y->count * sizeof *got, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < y->count; i++) {
        sum += fabs(got[i] - y->want[i]);
    }
    free(got);
    return sum / y->count;
}

static bool mean_check_passes(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    const int last = run->shape.Sq - 1;
    const int64_t in_last_row = seen->wrong_at[1][last];
    const double mean = mean_difference(run);
    snprintf(why, size,
             "predicted wrong elements in the last row and nowhere else, and a mean difference "
             "below 1e-4; seen %lld in row %d, %lld elsewhere, mean difference %.1e",
             (long long)in_last_row, last, (long long)(seen->wrong - in_last_row), mean);
    return in_last_row > 0 && in_last_row == seen->wrong && mean < 1e-4;
}
// end snippet: mean-check

// --- Tables --------------------------------------------------------------------------------------

// Long enough for one wrong row to vanish in the mean, and small enough for a CPU.
static bool long_and_thin(const kf_case *c)
{
    return c->shape.Sq == 16384 && c->shape.D == 32;
}

static void setup(kf_run *run)
{
    kf_rope_setup(run);
    tables_setup(run);
    chain_setup(run);
}

static const kf_variant variants[] = {
    {.name = "rebuild",
     .about = "ten launches: five for the tables, five for the rotation",
     .launch = launch_rebuild,
     .extra_error = rope_alone_angle_error},
    {.name = "four-each",
     .about = "the same, four elements per thread in the chain",
     .launch = launch_four_each,
     .extra_error = rope_alone_angle_error},
    {.name = "short-table",
     .about = "the last position is missing; a mean does not see it",
     .launch = launch_short,
     .applies = long_and_thin,
     .predicted = mean_check_passes,
     .extra_error = rope_alone_angle_error},
};

static const kf_question questions[] = {
    {.text =
         "For 4 sequences of 256 rows, x has 16384 sectors and each table 4096. A product loads "
         "its table once per sequence: how many sectors do the two products of rebuild load in "
         "all?",
     .figure = "global_ld_sectors",
     .case_name = "small",
     .variant = "rebuild",
     .kernel = "multiply"},
    {.text = "On 128 sequences of 8192 rows, D = 128, rebuild moves five times the bytes that RoPE "
             "must: how many per cent of the limit does it reach?",
     .figure = "limit_pct",
     .case_name = "large",
     .variant = "rebuild"},
    {.text =
         "On 128 sequences of 8192 rows, how many times as fast is four-each (four elements per "
         "thread) as rebuild (one element)?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "rebuild",
     .over = "four-each"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "16-rope-op-chain",
        .title = "RoPE as a framework runs it, every operation a kernel",
        KF_TABLES(rope_alone_cases, variants),
        .setup = setup,
        .reference = kf_rope_reference,
        .cost = kf_rope_cost,
        KF_TABLE(timings, rope_alone_timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
