/* 17-rope-table: the op chain with its cosines and sines kept in a table
 *
 * Grows from: 16-rope-op-chain
 * Architecture: 75
 * Profile: --case large --variant cached
 * Tests: clang++ counts other requests; also on aarch64
 *
 * Idea     Cosines and sines depend on the position alone, so they are computed once and kept. Five
 *          launches and all trigonometry leave the call. The chain stays as it is.
 * Predict  Five launches and 25 MB through the L2 go: 9 us. The large tensor: 1.005 times as fast.
 *          A single sequence, whose tables are as large as x: 12 of 21 us are left, 1.8 times as
 *          fast.
 * Outcome  Both factors hold. The time saved is refuted: it is nearly twice as much.
 */
#include "cuda/rope_op_chain.cuh"
#include "problems/rope.h"

// snippet: cached
// x [B][S][D], cached cos_rows and sin_rows [S][D] -> y [B][S][D]
// cost: 10 N and the tables, as before; no trigonometry
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    // solution: cached -- launch the chain alone, on the tables that are kept
    // hint: launch_rebuild further below makes the tables and then launches the chain. Which of its
    //     three calls is left when the tables are there already?
    // hint: The chain reads other tables here: the two tensors that the comment above this function
    //     names. `kf_f32(run, NAME)` returns the address of a tensor; NAME is a string.
    // hint: launch_chain takes run, the cosines, the sines and the stream, and its second argument
    //     is `kf_f32(run, "cos_rows")`.
    launch_chain(run, kf_f32(run, "cos_rows"), kf_f32(run, "sin_rows"), stream);
    // end solution: cached
}
// end snippet: cached

// --- The rival: tables made anew in each call ----------------------------------------------------

// same as step 16
// -> position [S], from first on
__global__ void make_positions(float *position, int S, int first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        position[i] = (float)(first + i);
    }
}

// same as step 16
// position [S], frequency [D/2] -> angle [S][D/2]
__global__ void outer_product(const float *position, const float *frequency, float *angle, int S,
                              int half)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S * half) {
        angle[i] = position[i / half] * frequency[i % half];
    }
}

// same as step 16
// angle [n] -> y [n]
__global__ void cosine_of(const float *angle, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = cosf(angle[i]);
    }
}

// same as step 16
// angle [n] -> y [n]
__global__ void sine_of(const float *angle, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = sinf(angle[i]);
    }
}

// same as step 16
static void launch_positions(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    make_positions<<<blocks_for(S, 1), CHAIN_THREADS, 0, stream>>>(kf_f32(run, "position"), S,
                                                                   run->shape.pos0);
    CUDA_CHECK_LAUNCH();
}

// same as step 16
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

// same as step 16
static void launch_rebuild(const kf_run *run, cudaStream_t stream)
{
    launch_positions(run, stream);
    launch_tables(run, stream);
    launch_chain(run, kf_f32(run, "cosine"), kf_f32(run, "sine"), stream);
}

// --- Tables --------------------------------------------------------------------------------------

static void setup(kf_run *run)
{
    kf_rope_setup(run);
    kf_rope_tables(run);
    tables_setup(run);
    chain_setup(run);
    cached_rows(run);
}

static const kf_variant variants[] = {
    {.name = "rebuild",
     .about = "ten launches: tables and chain",
     .launch = launch_rebuild,
     .extra_error = rope_alone_angle_error},
    {.name = "cached",
     .about = "five launches: the chain, on tables that are kept",
     .launch = launch_cached},
};

static const kf_question questions[] = {
    {.text = "x has 16384 sectors. A call of cached makes a minus sign on half of x, a join, two "
             "products and a sum: how many sectors does the call store?",
     .figure = "global_st_sectors",
     .case_name = "small",
     .variant = "cached"},
    {.text = "On 128 sequences of 8192 rows, how many times as fast is cached (five launches, a "
             "table that is kept) as rebuild (ten launches)?",
     .figure = "median_us",
     .case_name = "large",
     .variant = "rebuild",
     .over = "cached"},
    {.text = "On one sequence of 8192 rows, D = 128, how many times as fast is cached (five "
             "launches) as rebuild (ten launches)?",
     .figure = "median_us",
     .case_name = "one",
     .variant = "rebuild",
     .over = "cached"},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "17-rope-table",
        .title = "the op chain with its cosines and sines kept in a table",
        KF_TABLES(rope_alone_cases, variants),
        .setup = setup,
        .reference = kf_rope_reference,
        .cost = kf_rope_cost,
        KF_TABLE(timings, rope_alone_timings),
        KF_TABLE(questions, questions),
    };
    return kf_main(&program, argc, argv);
}
