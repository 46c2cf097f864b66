/* 16-rope-op-chain: RoPE as a framework runs it, every operation a kernel
 *
 * Grows from: 02-separate-rope
 * Profile: each --case large --variant rebuild --variant four-each
 *
 * Idea     Write RoPE as model code does, x * cos + rotate_half(x) * sin, and run each operation as
 *          a framework without a compiler does: its own kernel, its own result in memory. The
 *          angles, cosines and sines are made anew in each call.
 * Predict  Count bytes in units of N, the bytes of x. The minus sign reads and writes half of x: N.
 *          Joining the halves: 2 N. Two products: 4 N. The sum: 3 N. Together 10 N, where reading x
 *          and writing y takes 2 N, so no more than a fifth of the limit. The five kernels for the
 *          tables work on 1/128 of the large tensor and should not show there. For a single
 *          sequence the tables are as large as x, and ten launches should cost more than the bytes.
 * Outcome  10 N to within a hundredth, and an eighth of the limit where a fifth was expected. Each
 *          kernel moves its bytes more slowly than a copy does: with one float a thread, too few
 *          are under way. With four floats a thread, the variant four-each, the chain comes near
 *          the fifth. On a single sequence the launches decide, as predicted.
 */
#include "cuda/rope_alone.cuh"
#include "cuda/rope_chain.cuh"
#include "problems/rope.h"

#include <stdio.h>
#include <stdlib.h>

// snippet: chain
// x [B][S][D], cosine and sine [S][D] -> y = x * cosine + rotate_half(x) * sine
// cost: 10 N and the tables
static void launch_operations(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    const int D = run->shape.D;
    const float *x = kf_f32(run, "x");
    float *negated = kf_f32(run, "negated");
    float *rotated = kf_f32(run, "rotated");
    float *x_cosine = kf_f32(run, "x_cosine");
    float *rotated_sine = kf_f32(run, "rotated_sine");
    const dim3 blocks = blocks_for(S * D, run->shape.B);
    const dim3 half_blocks = blocks_for(S * D / 2, run->shape.B);
    // solution: chain -- five launches: minus sign, join, two products, sum
    negate_second_half<1><<<half_blocks, CHAIN_THREADS, 0, stream>>>(x, negated, S, D);
    CUDA_CHECK_LAUNCH();
    join_halves<1><<<blocks, CHAIN_THREADS, 0, stream>>>(negated, D / 2, x, D, rotated, S, D);
    CUDA_CHECK_LAUNCH();
    multiply<1><<<blocks, CHAIN_THREADS, 0, stream>>>(x, kf_f32(run, "cosine"), x_cosine, S * D);
    CUDA_CHECK_LAUNCH();
    multiply<1>
        <<<blocks, CHAIN_THREADS, 0, stream>>>(rotated, kf_f32(run, "sine"), rotated_sine, S * D);
    CUDA_CHECK_LAUNCH();
    add<1><<<blocks, CHAIN_THREADS, 0, stream>>>(x_cosine, rotated_sine, kf_f32(run, "y"), S * D);
    CUDA_CHECK_LAUNCH();
    // end solution: chain
}
// end snippet: chain

static void launch_rebuild(const kf_run *run, cudaStream_t stream)
{
    launch_tables(run, rope_last_position(run), stream);
    launch_operations(run, stream);
}

static void launch_four_each(const kf_run *run, cudaStream_t stream)
{
    launch_tables(run, rope_last_position(run), stream);
    launch_chain<4>(run, kf_f32(run, "cosine"), kf_f32(run, "sine"), stream);
}

// The last position is taken for the one before it: a table that is one row too short.
static void launch_short(const kf_run *run, cudaStream_t stream)
{
    launch_tables(run, rope_last_position(run) - 1, stream);
    launch_operations(run, stream);
}

// Long enough for one row in so many to vanish in a mean, and small enough for a CPU.
static bool long_and_thin(const kf_case *c)
{
    return c->shape.Sq == 16384 && c->shape.D == 32;
}

// snippet: mean-check
// The check that the log of this experiment relied on: the mean difference is below 1e-4.
static double mean_difference(const kf_run *run)
{
    const kf_tensor *y = kf_find(run, "y");
    float *got = (float *)malloc(y->count * sizeof *got);
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
     .about = "the same, four elements a thread in the five",
     .launch = launch_four_each,
     .extra_error = rope_alone_angle_error},
    {.name = "short-table",
     .about = "the last position is missing; a mean does not see it",
     .launch = launch_short,
     .applies = long_and_thin,
     .predicted = mean_check_passes,
     .extra_error = rope_alone_angle_error},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "16-rope-op-chain",
        .title = "RoPE as a framework runs it, every operation a kernel",
        .cases = rope_alone_cases,
        .n_cases = KF_COUNT_OF(rope_alone_cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = kf_rope_reference,
        .cost = kf_rope_cost,
        .timings = rope_alone_timings,
        .n_timings = KF_COUNT_OF(rope_alone_timings),
    };
    return kf_main(&program, argc, argv);
}
