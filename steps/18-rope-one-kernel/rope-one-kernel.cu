/* 18-rope-one-kernel: RoPE alone in one kernel that reads x once
 *
 * Grows from: 17-rope-table
 * Profile: --case large
 *
 * Idea     A thread takes a pair, turns it and stores it. Nothing that lies between x and y goes to
 *          memory. The cosine and the sine come from a table, or are computed on the spot.
 * Predict  2 N in place of 10 N, so 5 times as fast as the chain where the bytes decide, and near
 *          the limit. From the table: the two halves of the table are as many floats as the pair,
 *          so a third of what a multiprocessor moves comes from the L2, and that is free as long as
 *          the L2 keeps up. Computed with powf and sincosf: some 150 instructions a pair. There are
 *          67 million pairs, 2.1 million warps' worth, and the device issues about 900 million warp
 *          instructions a millisecond: 0.35 ms, above the 0.25 ms of the bytes. So computing, which
 *          the log chose, should lose here. With __sincosf some 70 instructions fit under the
 *          bytes, at the price of accuracy.
 * Outcome  2 N, and more than five times as fast as the chain, which was not at its own limit. Not
 *          near the limit: one pair a thread is not enough under way. The first version was slower
 *          still. Its loop over pairs runs once, the compiler unrolled it by four, and the
 *          registers of copies that never run kept a quarter of the threads away: unrolled.
 *          Computing loses, because of its instructions, as predicted. __sincosf loses too, which
 *          was not: sine and cosine are few of the instructions, the power and a division are most.
 */
#include "cuda/count.cuh"
#include "cuda/rope_alone.cuh"
#include "cuda/rope_chain.cuh"
#include "problems/rope.h"

// A block is PAIRS x ROWS threads, and has ROWS rows of one sequence. Grid (blocks for S rows, B):
// with two axes for the place of a row, no thread divides.
enum { PAIRS = 64, ROWS = 4 };

// snippet: pair
// The pair (x[i], x[i + half]) of a row, turned, to the same place in y.
static __device__ void turn_pair(const float *x, float *y, int i, int half, float c, float s)
{
    COUNT("element rotations", 2);
    // solution: pair -- read both elements once, store both turned
    const float first = x[i];
    const float second = x[i + half];
    y[i] = first * c - second * s;
    y[i + half] = second * c + first * s;
    // end solution: pair
}
// end snippet: pair

// snippet: table
// x [B][S][D], cosine and sine [S][D/2] -> y [B][S][D]
// cost: reads x and writes y once, 2 N; reads as many floats of the table as x has, from the L2
template <int unroll>
__global__ void rope_table(const float *x, const float *cosine, const float *sine, float *y, int S,
                           int D)
{
    const int half = D / 2;
    const int s = blockIdx.x * ROWS + threadIdx.y;
    const int64_t row = ((int64_t)blockIdx.y * S + s) * D;
    if (s >= S) {
        return;
    }
#pragma unroll unroll
    for (int i = threadIdx.x; i < half; i += PAIRS) {
        const int64_t at = (int64_t)s * half + i;
        COUNT("table loads", 2);
        turn_pair(x + row, y + row, i, half, cosine[at], sine[at]);
    }
}
// end snippet: table

// snippet: computed
// x [B][S][D] -> y [B][S][D], row s at position pos0 + s
// cost: 2 N; a power, a cosine and a sine a pair
template <bool fast>
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
        if (fast) {
            __sincosf(angle, &sine, &cosine);
        } else {
            sincosf(angle, &sine, &cosine);
        }
        turn_pair(x + row, y + row, i, half, cosine, sine);
    }
}
// end snippet: computed

static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    launch_chain<1>(run, kf_f32(run, "cos_rows"), kf_f32(run, "sin_rows"), stream);
}

static dim3 grid(const kf_shape *s)
{
    return dim3((s->Sq + ROWS - 1) / ROWS, s->B);
}

template <int unroll>
static void launch_table(const kf_run *run, cudaStream_t stream)
{
    rope_table<unroll><<<grid(&run->shape), dim3(PAIRS, ROWS), 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "cos"), kf_f32(run, "sin"), kf_f32(run, "y"), run->shape.Sq,
        run->shape.D);
    CUDA_CHECK_LAUNCH();
}

template <bool fast>
static void launch_computed(const kf_run *run, cudaStream_t stream)
{
    rope_computed<fast><<<grid(&run->shape), dim3(PAIRS, ROWS), 0, stream>>>(
        kf_f32(run, "x"), kf_f32(run, "y"), run->shape.Sq, run->shape.D, run->shape.pos0);
    CUDA_CHECK_LAUNCH();
}

static double fast_angle_error(const kf_case *c)
{
    return kf_fp32_angle_error(&c->shape, true);
}

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
    {.name = "table",
     .about = "one launch, cosine and sine from a table",
     .launch = launch_table<1>},
    {.name = "unrolled",
     .about = "table, its loop unrolled as the compiler would",
     .launch = launch_table<4>},
    {.name = "computed",
     .about = "one launch, powf and sincosf for every pair",
     .launch = launch_computed<false>,
     .extra_error = rope_alone_angle_error},
    {.name = "fast",
     .about = "one launch, powf and __sincosf for every pair",
     .launch = launch_computed<true>,
     .extra_error = fast_angle_error},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "18-rope-one-kernel",
        .title = "RoPE alone in one kernel that reads x once",
        .cases = rope_alone_cases,
        .n_cases = KF_COUNT_OF(rope_alone_cases),
        .variants = variants,
        .n_variants = KF_COUNT_OF(variants),
        .setup = setup,
        .reference = kf_rope_reference,
        .cost = kf_rope_cost,
    };
    return kf_main(&program, argc, argv);
}
