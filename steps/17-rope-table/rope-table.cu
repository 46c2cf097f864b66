/* 17-rope-table: the op chain with its cosines and sines kept in a table
 *
 * Grows from: 16-rope-op-chain
 * Architecture: 75
 * Profile: --case large --variant cached
 * Tests: clang++ counts other requests; also on aarch64
 *
 * Idea     Cosines and sines depend on the position alone, so they are computed once and kept. Five
 *          launches and all trigonometry leave the call. The chain stays as it is.
 * Predict  The large tensor: no gain worth the name. The five kernels that go moved a few MiB
 *          beside 5 GiB, and the chain reads its tables as before. A cold L2 changes nothing. A
 *          single sequence: the tables are as large as x, and of ten launches five go: nearly half
 *          of the time on every clock.
 * Outcome  As predicted, warm or cold.
 */
#include "cuda/rope_alone.cuh"
#include "problems/rope.h"

// A thread has one element. Kernels on x have the grid (blocks for the elements of a sequence, B);
// tables are the same for every sequence of the batch. N is the bytes of x.
enum { CHAIN_THREADS = 256 };

// same as step 16
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

// same as step 16
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

// same as step 16
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

// same as step 16
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

// same as step 16
static dim3 blocks_for(int n, int B)
{
    return dim3((n + CHAIN_THREADS - 1) / CHAIN_THREADS, B);
}

// same as step 16
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
}

// A framework's cached tables, as inputs cos_rows and sin_rows [S][D]: those of kf_rope_tables,
// declared before, with the angles of a row twice, once for each half of x.
static void cached_rows(kf_run *run)
{
    const int64_t S = run->shape.Sq;
    const int64_t D = run->shape.D;
    const int64_t dim[] = {S, D};
    const char *const names[2][2] = {{"cos", "cos_rows"}, {"sin", "sin_rows"}};
    for (int t = 0; t < 2; t++) {
        const float *from = kf_find(run, names[t][0])->host;
        float *to = kf_input(run, names[t][1], "SD", KF_F32, dim)->host;
        for (int64_t i = 0; i < S * D; i++) {
            to[i] = from[i / D * (D / 2) + i % D % (D / 2)];
        }
    }
}

// snippet: cached
// x [B][S][D], cached cos_rows and sin_rows [S][D] -> y [B][S][D]
// cost: 10 N and the tables, as before; no trigonometry
static void launch_cached(const kf_run *run, cudaStream_t stream)
{
    // solution: cached -- the chain alone, on the tables that are kept
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
    };
    return kf_main(&program, argc, argv);
}
