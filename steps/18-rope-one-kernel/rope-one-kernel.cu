/* 18-rope-one-kernel: RoPE alone in one kernel that reads x once
 *
 * Follows: 17-rope-table
 * Architecture: 75
 * Profile: --case large
 * Tests: clang++ counts other requests
 *
 * Idea     A thread takes a pair, rotates it and stores it. Nothing that lies between x and y goes
 *          to memory. The cosine and the sine come from a table, or are computed on the spot.
 * Predict  2 N in place of 10 N, the table from the L2, and two floats in flight per thread: table
 *          and fast (54 instructions for 32 pairs) at the limit of 251 us, 8 times as fast as the
 *          chain. computed, with 134 instructions, takes 269 us to issue them.
 * Outcome  2 N, as predicted. table takes a fifth longer, we think for too few bytes in flight.
 *          The first version (unrolled) has even fewer: copies of its loop that never run take
 *          registers. fast and computed are refuted: they have 162 and 174 instructions and lose to
 *          table. The power and the division cost the most.
 */
#include "cuda/count.cuh"
#include "cuda/rope_op_chain.cuh"
#include "problems/rope.h"

// A block is PAIRS x ROWS threads, and has ROWS rows of one sequence. Grid (blocks for S rows, B):
// a row is found by two indices, so no thread needs a division.
enum { PAIRS = 64, ROWS = 4 };

// snippet: pair
// The pair (x[i], x[i + half]) of a row, rotated -> the same place in y.
static __device__ void rotate_pair(const float *x, float *y, int i, int half, float c, float s)
{
    COUNT("element rotations", 2);
    // solution: pair -- read both elements once, store both rotated
    // hint: A rotation makes (a cos - b sin, b cos + a sin) of a pair (a, b), so each result needs
    //     both elements. Which two of the four accesses have to come first if y may be x?
    // hint: The pair is x[i] and x[i + half], its cosine is c and its sine is s. Declare two
    //     constants for the two elements, first and second.
    // hint: The line for the first element is `y[i] = first * c - second * s;`.
    const float first = x[i];
    const float second = x[i + half];
    y[i] = first * c - second * s;
    y[i + half] = second * c + first * s;
    // end solution: pair
}
// end snippet: pair

// snippet: table
// x [B][S][D], cosine and sine [S][D/2] -> y [B][S][D]
// cost: reads x and writes y once, 2 N; reads N of the table, most of it from the L2
__global__ void rope_table(const float *x, const float *cosine, const float *sine, float *y, int S,
                           int D)
{
    const int half = D / 2;
    const int s = blockIdx.x * ROWS + threadIdx.y;
    const int64_t row = ((int64_t)blockIdx.y * S + s) * D;
    if (s >= S) {
        return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < half; i += PAIRS) {
        const int64_t at = (int64_t)s * half + i;
        COUNT("table loads", 2);
        rotate_pair(x + row, y + row, i, half, cosine[at], sine[at]);
    }
}
// end snippet: table

// snippet: computed
// x [B][S][D] -> y [B][S][D], row s at position pos0 + s
// cost: 2 N; a power, a cosine and a sine per pair
__global__ void rope_computed(const float *x, float *y, int S, int D, int pos0)
{
    const int half = D / 2;
    const int s = blockIdx.x * ROWS + threadIdx.y;
    const int64_t row = ((int64_t)blockIdx.y * S + s) * D;
    if (s >= S) {
        return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < half; i += PAIRS) {
        const float angle = (float)(pos0 + s) * powf(10000.0f, -2.0f * i / D);
        float cosine, sine;
        sincosf(angle, &sine, &cosine);
        rotate_pair(x + row, y + row, i, half, cosine, sine);
    }
}
// end snippet: computed

static dim3 grid(const kf_shape *s)
{
    return dim3((s->Sq + ROWS - 1) / ROWS, s->B);
}

static void launch_table(const kf_run *run, cudaStream_t stream)
{
    rope_table<<<grid(&run->shape), dim3(PAIRS, ROWS), 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "y"), run->shape.Sq,
        run->shape.D);
    CUDA_CHECK_LAUNCH();
}

// Copies x to y, and rotates y in place. The copy is not part of RoPE, so this is never timed.
static void launch_in_place(const kf_run *run, cudaStream_t stream)
{
    float *y = kf_f32(run, "y");
    CUDA_CHECK(cudaMemcpyAsync(y, kf_f32(run, "x"), kf_find(run, "x")->count * sizeof(float),
                               cudaMemcpyDeviceToDevice, stream));
    rope_table<<<grid(&run->shape), dim3(PAIRS, ROWS), 0, stream>>>(
        y, kf_f32(run, "cos"), kf_f32(run, "sin"), y, run->shape.Sq, run->shape.D);
    CUDA_CHECK_LAUNCH();
}

static bool other_than_timed(const kf_case *c)
{
    return c->flags & KF_VERIFY_ONLY && c->shape.D < 128;
}

static void launch_computed(const kf_run *run, cudaStream_t stream)
{
    rope_computed<<<grid(&run->shape), dim3(PAIRS, ROWS), 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "y"), run->shape.Sq, run->shape.D, run->shape.pos0);
    CUDA_CHECK_LAUNCH();
}

// --- Variants that explain -----------------------------------------------------------------------

// rope_table with its loop unrolled, the compiler's own choice.
__global__ void rope_unrolled(const float *x, const float *cosine, const float *sine, float *y,
                              int S, int D)
{
    const int half = D / 2;
    const int s = blockIdx.x * ROWS + threadIdx.y;
    const int64_t row = ((int64_t)blockIdx.y * S + s) * D;
    if (s >= S) {
        return;
    }
#pragma unroll 4
    for (int i = threadIdx.x; i < half; i += PAIRS) {
        const int64_t at = (int64_t)s * half + i;
        COUNT("table loads", 2);
        rotate_pair(x + row, y + row, i, half, cosine[at], sine[at]);
    }
}

static void launch_unrolled(const kf_run *run, cudaStream_t stream)
{
    rope_unrolled<<<grid(&run->shape), dim3(PAIRS, ROWS), 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "y"), run->shape.Sq,
        run->shape.D);
    CUDA_CHECK_LAUNCH();
}

// rope_computed with the special function unit's sine and cosine.
__global__ void rope_fast(const float *x, float *y, int S, int D, int pos0)
{
    const int half = D / 2;
    const int s = blockIdx.x * ROWS + threadIdx.y;
    const int64_t row = ((int64_t)blockIdx.y * S + s) * D;
    if (s >= S) {
        return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < half; i += PAIRS) {
        const float angle = (float)(pos0 + s) * powf(10000.0f, -2.0f * i / D);
        float cosine, sine;
        __sincosf(angle, &sine, &cosine);
        rotate_pair(x + row, y + row, i, half, cosine, sine);
    }
}

static void launch_fast(const kf_run *run, cudaStream_t stream)
{
    rope_fast<<<grid(&run->shape), dim3(PAIRS, ROWS), 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "y"), run->shape.Sq, run->shape.D, run->shape.pos0);
    CUDA_CHECK_LAUNCH();
}

static double fast_angle_error(const kf_case *c)
{
    return kf_fp32_angle_error(&c->shape, true);
}

// --- The rival: step 17's chain, on the tables that are kept -------------------------------------

// same as step 17
// x [B][S][D], cached cos_rows and sin_rows [S][D] -> y [B][S][D]
// cost: 10 N and the tables, as before; no trigonometry
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    launch_chain(run, kf_f32(run, "cos_rows"), kf_f32(run, "sin_rows"), stream);
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    kf_rope_setup(run);
    kf_rope_tables(run);
    chain_setup(run);
    cached_rows(run);
}

static const kf_variant variants[] = {
    {.name = "chain",
     .about = "five launches: step 17's, on tables that are kept",
     .launch = launch_cached},
    {.name = "table", .about = "one launch, cosine and sine from a table", .launch = launch_table},
    {.name = "in-place",
     .about = "table, y being x",
     .launch = launch_in_place,
     .applies = other_than_timed},
    {.name = "unrolled",
     .about = "table, its loop unrolled by four as the compiler would",
     .launch = launch_unrolled},
    {.name = "computed",
     .about = "one launch, powf and sincosf for every pair",
     .launch = launch_computed,
     .extra_error = rope_alone_angle_error},
    {.name = "fast",
     .about = "one launch, powf and __sincosf for every pair",
     .launch = launch_fast,
     .extra_error = fast_angle_error},
};

static const kf_question questions[] = {
    {.text = "For 4 sequences of 256 rows, with the loads of the tables: how many times as many "
             "sectors do the five kernels of chain load as the one kernel of the variant table?",
     .figure = "global_ld_sectors",
     .case_name = "small",
     .variant = "chain",
     .over = "table"},
    {.text = "On 128 sequences of 8192 rows, D = 128, how many times as fast is the variant table "
             "(one kernel) as chain (five kernels)?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "chain",
     .over = "table"},
    {.text = "On 128 sequences of 8192 rows, the variant fast computes powf and __sincosf for each "
             "pair: how many times as long as the variant table does it take?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "fast",
     .over = "table"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "18-rope-one-kernel",
        .title = "RoPE alone in one kernel that reads x once",
        KF_TABLES(rope_alone_cases, variants),
        .setup = setup,
        .reference = kf_rope_reference,
        .cost = kf_rope_cost,
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
