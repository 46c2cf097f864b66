/* rope_chain.cuh: the op chain of step 16, for later steps to compare with.
 *
 * x * cosine + rotate_half(x) * sine, each operation a kernel of its own. launch_tables makes the
 * cosines and sines of all positions, as a framework does that keeps none; launch_chain does the
 * rest.
 */
#pragma once

#include "harness/harness.h"

#include <math.h>
#include <stdint.h>

enum { CHAIN_THREADS = 256 };

// Every kernel has the grid (blocks for n elements, B) and one element a thread. Tables are the
// same for each sequence of the batch, so their index is the element's within its sequence.

// -> position [S], from first on
static __global__ void make_positions(float *position, int S, int first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        position[i] = (float)(first + i);
    }
}

// position [S], frequency [D/2] -> angle [S][D/2]
static __global__ void outer_product(const float *position, const float *frequency, float *angle,
                                     int S, int half)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S * half) {
        angle[i] = position[i / half] * frequency[i % half];
    }
}

// angle [n] -> y [n]
static __global__ void cosine_of(const float *angle, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = cosf(angle[i]);
    }
}

static __global__ void sine_of(const float *angle, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = sinf(angle[i]);
    }
}

// x [B][S][D] -> y [B][S][D/2], minus the second half of each row
// cost: reads N/2, writes N/2
static __global__ void negate_second_half(const float *x, float *y, int S, int D)
{
    const int half = D / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t row = (int64_t)blockIdx.y * S + i / half;
    if (i < S * half) {
        y[row * half + i % half] = -x[row * D + half + i % half];
    }
}

// a [B][S][D/2] in rows of a_pitch, b likewise -> y [B][S][D], each row of a with b's behind it
// cost: reads N, writes N
static __global__ void join_halves(const float *a, int a_pitch, const float *b, int b_pitch,
                                   float *y, int S, int D)
{
    const int half = D / 2;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t row = (int64_t)blockIdx.y * S + i / D;
    const int column = i % D;
    if (i < S * D) {
        y[row * D + column] =
            column < half ? a[row * a_pitch + column] : b[row * b_pitch + column - half];
    }
}

// x [B][n], table [n] -> y [B][n]
// cost: reads N and the table, writes N
static __global__ void multiply(const float *x, const float *table, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t at = (int64_t)blockIdx.y * n + i;
    if (i < n) {
        y[at] = x[at] * table[i];
    }
}

// a [B][n], b [B][n] -> y [B][n]
// cost: reads 2 N, writes N
static __global__ void add(const float *a, const float *b, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t at = (int64_t)blockIdx.y * n + i;
    if (i < n) {
        y[at] = a[at] + b[at];
    }
}

static inline dim3 blocks_for(int n, int B)
{
    return dim3((n + CHAIN_THREADS - 1) / CHAIN_THREADS, B);
}

// frequency -> cosine and sine [S][D]
static inline void launch_tables(const kf_run *run, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    const int D = run->shape.D;
    float *position = kf_f32(run, "position");
    float *angle = kf_f32(run, "angle");
    float *angles = kf_f32(run, "angles");
    make_positions<<<blocks_for(S, 1), CHAIN_THREADS, 0, stream>>>(position, S, run->shape.pos0);
    CUDA_CHECK_LAUNCH();
    outer_product<<<blocks_for(S * D / 2, 1), CHAIN_THREADS, 0, stream>>>(
        position, kf_f32(run, "frequency"), angle, S, D / 2);
    CUDA_CHECK_LAUNCH();
    join_halves<<<blocks_for(S * D, 1), CHAIN_THREADS, 0, stream>>>(angle, D / 2, angle, D / 2,
                                                                    angles, S, D);
    CUDA_CHECK_LAUNCH();
    cosine_of<<<blocks_for(S * D, 1), CHAIN_THREADS, 0, stream>>>(angles, kf_f32(run, "cosine"),
                                                                  S * D);
    CUDA_CHECK_LAUNCH();
    sine_of<<<blocks_for(S * D, 1), CHAIN_THREADS, 0, stream>>>(angles, kf_f32(run, "sine"), S * D);
    CUDA_CHECK_LAUNCH();
}

// x [B][S][D], cosine and sine [S][D] -> y = x * cosine + rotate_half(x) * sine
// cost: 10 N and the tables
static inline void launch_chain(const kf_run *run, const float *cosine, const float *sine,
                                cudaStream_t stream)
{
    const int S = run->shape.Sq;
    const int D = run->shape.D;
    const float *x = kf_f32(run, "x");
    float *negated = kf_f32(run, "negated");
    float *rotated = kf_f32(run, "rotated");
    float *x_cosine = kf_f32(run, "x_cosine");
    float *rotated_sine = kf_f32(run, "rotated_sine");
    const dim3 blocks = blocks_for(S * D, run->shape.B);
    negate_second_half<<<blocks_for(S * D / 2, run->shape.B), CHAIN_THREADS, 0, stream>>>(
        x, negated, S, D);
    CUDA_CHECK_LAUNCH();
    join_halves<<<blocks, CHAIN_THREADS, 0, stream>>>(negated, D / 2, x, D, rotated, S, D);
    CUDA_CHECK_LAUNCH();
    multiply<<<blocks, CHAIN_THREADS, 0, stream>>>(x, cosine, x_cosine, S * D);
    CUDA_CHECK_LAUNCH();
    multiply<<<blocks, CHAIN_THREADS, 0, stream>>>(rotated, sine, rotated_sine, S * D);
    CUDA_CHECK_LAUNCH();
    add<<<blocks, CHAIN_THREADS, 0, stream>>>(x_cosine, rotated_sine, kf_f32(run, "y"), S * D);
    CUDA_CHECK_LAUNCH();
}

/* For launch_tables: input frequency, scratch cosine and sine [S][D] and what leads there. */
static inline void tables_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t whole[] = {s.Sq, s.D};
    const int64_t half[] = {s.Sq, s.D / 2};
    kf_tensor *frequency = kf_input(run, "frequency", "R", KF_F32, half + 1);
    for (int i = 0; i < s.D / 2; i++) {
        frequency->host[i] = (float)pow(10000.0, -2.0 * i / s.D);
    }
    kf_scratch(run, "position", "S", KF_F32, whole);
    kf_scratch(run, "angle", "SR", KF_F32, half);
    kf_scratch(run, "angles", "SD", KF_F32, whole);
    kf_scratch(run, "cosine", "SD", KF_F32, whole);
    kf_scratch(run, "sine", "SD", KF_F32, whole);
}

/* For launch_chain: what its operations hand on. */
static inline void chain_setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t whole[] = {s.B, s.Sq, s.D};
    const int64_t half[] = {s.B, s.Sq, s.D / 2};
    kf_scratch(run, "negated", "BSR", KF_F32, half);
    kf_scratch(run, "rotated", "BSD", KF_F32, whole);
    kf_scratch(run, "x_cosine", "BSD", KF_F32, whole);
    kf_scratch(run, "rotated_sine", "BSD", KF_F32, whole);
}

/* The tables that a framework caches, as inputs cos_rows and sin_rows [S][D]: those of
 * kf_rope_tables, declared before, each row twice in a row, because x has two halves. */
static inline void cached_rows(kf_run *run)
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
