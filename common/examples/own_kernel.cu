// own_kernel.cu: a kernel of one's own, held against a reference. Copy this file and change it.
//
//   make verify FILE=common/examples/own_kernel.cu
//   make verify FILE=common/examples/own_kernel.cu ARGS="--out build/rows.tsv --seed 7"
//
// y = x minus the mean of its row, for x [S][D].
#include "harness/problem.h"
#include <math.h>

// --- The kernels ---------------------------------------------------------------------------------

// The one to be as fast as: a thread adds up a row.
__global__ void by_thread(const float *x, float *y, int S, int D)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < S) {
        float sum = 0.0f;
        for (int d = 0; d < D; d++) {
            sum += x[(int64_t)row * D + d];
        }
        for (int d = 0; d < D; d++) {
            y[(int64_t)row * D + d] = x[(int64_t)row * D + d] - sum / D;
        }
    }
}

// Mine: a warp adds up a row.
__global__ void by_warp(const float *x, float *y, int S, int D)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (row < S) {
        float sum = 0.0f;
        for (int d = lane; d < D; d += 32) {
            sum += x[(int64_t)row * D + d];
        }
        for (int other = 16; other > 0; other /= 2) {
            sum += __shfl_xor_sync(0xffffffff, sum, other);
        }
        for (int d = lane; d < D; d += 32) {
            y[(int64_t)row * D + d] = x[(int64_t)row * D + d] - sum / D;
        }
    }
}

// --- Their launchers: only enqueue, on the stream that is given ---------------------------------

static void launch_by_thread(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    by_thread<<<(S + 127) / 128, 128, 0, stream>>>(kf_f32(run, "x"), kf_f32(run, "y"), S,
                                                   run->shape.D);
    CUDA_CHECK_LAUNCH();
}

static void launch_by_warp(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    by_warp<<<(S + 3) / 4, 128, 0, stream>>>(kf_f32(run, "x"), kf_f32(run, "y"), S, run->shape.D);
    CUDA_CHECK_LAUNCH();
}

// --- Which arrays there are, and what is right ---------------------------------------------------

static void setup(kf_run *run)
{
    const int64_t dim[] = {run->shape.Sq, run->shape.D};
    kf_input(run, "x", "SD", KF_F32, dim);
    kf_output(run, "y", "SD", KF_F32, dim);
}

// In fp64. A sum of D floats may be off by kf_gamma times the sum of their sizes; a quotient and a
// difference come after it.
static void reference_row(void *context, int64_t row)
{
    const kf_run *run = (const kf_run *)context;
    const kf_tensor *y = kf_find(run, "y");
    const int D = run->shape.D;
    const float *x = kf_find(run, "x")->host + row * D;
    double sum = 0.0, sizes = 0.0;
    for (int d = 0; d < D; d++) {
        sum += x[d];
        sizes += fabs(x[d]);
    }
    for (int d = 0; d < D; d++) {
        y->want[row * D + d] = x[d] - sum / D;
        y->bound[row * D + d] =
            kf_gamma(D + 2, kf_unit_roundoff(KF_F32)) * (sizes / D + fabs(x[d]));
    }
    y->checked[row] = true;
}

static void reference(kf_run *run)
{
    kf_parallel(run->shape.Sq, reference_row, run);
}

// The least work: each element read once and written once.
static kf_cost cost(const kf_case *c)
{
    const double n = (double)c->shape.Sq * c->shape.D;
    return {.bytes = 8.0 * n, .flops = 2.0 * n, .tensor_cores = false};
}

static const kf_case cases[] = {
    {.name = "odd", .shape = {.Sq = 67, .D = 45}, .flags = KF_VERIFY_ONLY},
    {.name = "large", .shape = {.Sq = 16384, .D = 1024}, .flags = KF_LARGE}, // timed, on a GPU
};

static const kf_variant variants[] = {
    {.name = "by-thread", .about = "a thread adds up a row", .launch = launch_by_thread},
    {.name = "by-warp", .about = "a warp adds up a row", .launch = launch_by_warp},
};

int main(int argc, char **argv)
{
    const kf_program program = {
        .step = "own-kernel",
        .title = "x minus the mean of its row",
        KF_TABLES(cases, variants),
        .setup = setup,
        .reference = reference,
        .cost = cost,
    };
    return kf_main(&program, argc, argv);
}
