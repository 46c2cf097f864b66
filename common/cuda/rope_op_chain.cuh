/* rope_op_chain.cuh: RoPE as a chain of five operations, each its own kernel, as in step 16.
 * Steps 17 and 18 are compared with it.
 */
#pragma once

#include "cuda/rope_alone.cuh"

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
