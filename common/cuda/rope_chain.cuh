/* rope_chain.cuh: RoPE as a framework runs it, every operation a kernel: the kernels of step 16.
 *
 * x * cosine + rotate_half(x) * sine. launch_tables makes the cosines and sines of all positions,
 * as a framework does that keeps none; launch_chain does the rest. N is the bytes of x.
 *
 * Kernels on tables have one element a thread. Kernels on x have so many each, loaded before the
 * first is stored, and the grid (blocks for the elements of a sequence, B). Tables are the same for
 * each sequence of the batch.
 */
#pragma once

#include "problems/rope.h"

#include <math.h>
#include <stdint.h>

enum { CHAIN_THREADS = 256 };

// snippet: tables
// -> position [S], from first on and not beyond last
static __global__ void make_positions(float *position, int S, int first, int last)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < S) {
        position[i] = (float)min(first + i, last);
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
// end snippet: tables

// snippet: each
// Which element is a thread's number k, and the values of its elements to y [n].
template <int each>
static __device__ __forceinline__ int element(int k)
{
    return (blockIdx.x * each + k) * blockDim.x + threadIdx.x;
}

template <int each>
static __device__ __forceinline__ void store(const float (&value)[each], float *y, int n)
{
#pragma unroll
    for (int k = 0; k < each; k++) {
        if (element<each>(k) < n) {
            y[element<each>(k)] = value[k];
        }
    }
}
// end snippet: each

// snippet: rotate-half
// x [B][S][D] -> y [B][S][D/2], minus the second half of each row
// cost: reads N/2, writes N/2
template <int each>
static __global__ void negate_second_half(const float *x, float *y, int S, int D)
{
    const int half = D / 2;
    const int64_t sequence = (int64_t)blockIdx.y * S;
    float value[each] = {};
#pragma unroll
    for (int k = 0; k < each; k++) {
        const int i = element<each>(k);
        if (i < S * half) {
            value[k] = -x[(sequence + i / half) * D + half + i % half];
        }
    }
    store<each>(value, y + sequence * half, S * half);
}

// a [B][S][D/2] in rows of a_pitch, b likewise -> y [B][S][D], each row of a with b's behind it
// cost: reads N, writes N
template <int each>
static __global__ void join_halves(const float *a, int a_pitch, const float *b, int b_pitch,
                                   float *y, int S, int D)
{
    const int half = D / 2;
    const int64_t sequence = (int64_t)blockIdx.y * S;
    float value[each] = {};
#pragma unroll
    for (int k = 0; k < each; k++) {
        const int i = element<each>(k);
        const int64_t row = sequence + i / D;
        const int column = i % D;
        if (i < S * D) {
            value[k] = column < half ? a[row * a_pitch + column] : b[row * b_pitch + column - half];
        }
    }
    store<each>(value, y + sequence * D, S * D);
}
// end snippet: rotate-half

// snippet: products
// x [B][n], table [n] -> y [B][n]
// cost: reads N and the table, writes N
template <int each>
static __global__ void multiply(const float *x, const float *table, float *y, int n)
{
    const int64_t sequence = (int64_t)blockIdx.y * n;
    float value[each] = {};
#pragma unroll
    for (int k = 0; k < each; k++) {
        const int i = element<each>(k);
        if (i < n) {
            value[k] = x[sequence + i] * table[i];
        }
    }
    store<each>(value, y + sequence, n);
}

// a [B][n], b [B][n] -> y [B][n]
// cost: reads 2 N, writes N
template <int each>
static __global__ void add(const float *a, const float *b, float *y, int n)
{
    const int64_t sequence = (int64_t)blockIdx.y * n;
    float value[each] = {};
#pragma unroll
    for (int k = 0; k < each; k++) {
        const int i = element<each>(k);
        if (i < n) {
            value[k] = a[sequence + i] + b[sequence + i];
        }
    }
    store<each>(value, y + sequence, n);
}
// end snippet: products

static inline dim3 blocks_for(int n, int B, int each = 1)
{
    return dim3((n + CHAIN_THREADS * each - 1) / (CHAIN_THREADS * each), B);
}

/* Of the last row of x. */
static inline int rope_last_position(const kf_run *run)
{
    return run->shape.pos0 + run->shape.Sq - 1;
}

// snippet: tables-launch
// frequency -> cosine and sine [S][D]; positions beyond last are taken for last
static inline void launch_tables(const kf_run *run, int last, cudaStream_t stream)
{
    const int S = run->shape.Sq;
    const int D = run->shape.D;
    const dim3 blocks = blocks_for(S * D, 1);
    float *position = kf_f32(run, "position");
    float *angle = kf_f32(run, "angle");
    float *angles = kf_f32(run, "angles");
    make_positions<<<blocks_for(S, 1), CHAIN_THREADS, 0, stream>>>(position, S, run->shape.pos0,
                                                                   last);
    CUDA_CHECK_LAUNCH();
    outer_product<<<blocks_for(S * D / 2, 1), CHAIN_THREADS, 0, stream>>>(
        position, kf_f32(run, "frequency"), angle, S, D / 2);
    CUDA_CHECK_LAUNCH();
    join_halves<1><<<blocks, CHAIN_THREADS, 0, stream>>>(angle, D / 2, angle, D / 2, angles, S, D);
    CUDA_CHECK_LAUNCH();
    cosine_of<<<blocks, CHAIN_THREADS, 0, stream>>>(angles, kf_f32(run, "cosine"), S * D);
    CUDA_CHECK_LAUNCH();
    sine_of<<<blocks, CHAIN_THREADS, 0, stream>>>(angles, kf_f32(run, "sine"), S * D);
    CUDA_CHECK_LAUNCH();
}
// end snippet: tables-launch

// x [B][S][D], cosine and sine [S][D] -> y = x * cosine + rotate_half(x) * sine
// cost: 10 N and the tables
template <int each>
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
    const dim3 blocks = blocks_for(S * D, run->shape.B, each);
    const dim3 half_blocks = blocks_for(S * D / 2, run->shape.B, each);
    negate_second_half<each><<<half_blocks, CHAIN_THREADS, 0, stream>>>(x, negated, S, D);
    CUDA_CHECK_LAUNCH();
    join_halves<each><<<blocks, CHAIN_THREADS, 0, stream>>>(negated, D / 2, x, D, rotated, S, D);
    CUDA_CHECK_LAUNCH();
    multiply<each><<<blocks, CHAIN_THREADS, 0, stream>>>(x, cosine, x_cosine, S * D);
    CUDA_CHECK_LAUNCH();
    multiply<each><<<blocks, CHAIN_THREADS, 0, stream>>>(rotated, sine, rotated_sine, S * D);
    CUDA_CHECK_LAUNCH();
    add<each>
        <<<blocks, CHAIN_THREADS, 0, stream>>>(x_cosine, rotated_sine, kf_f32(run, "y"), S * D);
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
