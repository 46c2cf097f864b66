/* naive.cuh: step 01's three kernels for fp16, with the log-sum-exp. Steps 21 to 23 are compared
 * with them. The S x S matrix is fp32, in device memory.
 */
#pragma once

#include "cuda/warp_reduce.cuh"
#include "problems/flash.h"

#include <cuda_fp16.h>
#include <math.h>

enum { NAIVE_THREADS = 256, NAIVE_ROWS = NAIVE_THREADS / 32 };

static inline __half *kf_half(const kf_run *run, const char *name)
{
    return (__half *)kf_memory(run, name, KF_F16);
}

// q [BH][Sq][D], k [BH][Sk][D] -> s [BH][Sq][Sk], one thread per score
// cost: 2 D flops per score; writes 4 bytes and reads 4 D bytes per score, nearly all from cache
static __global__ void half_scores(const __half *q, const __half *k, float *s, int Sq, int Sk,
                                   int D, bool causal)
{
    const int64_t i = blockIdx.x;
    const int j = blockIdx.y * blockDim.x + threadIdx.x;
    const int64_t head = blockIdx.z;
    if (j >= Sk) {
        return;
    }
    float score = -INFINITY;
    if (!causal || j <= Sk - Sq + i) {
        const __half *query = q + (head * Sq + i) * D;
        const __half *key = k + (head * Sk + j) * D;
        float dot = 0.0f;
        for (int d = 0; d < D; d++) {
            dot += __half2float(query[d]) * __half2float(key[d]);
        }
        score = dot / sqrtf((float)D);
    }
    s[(head * Sq + i) * Sk + j] = score;
}

// s [rows][Sk] -> s, each row exp(s - max) / sum, and lse [rows], one warp per row
// cost: reads the matrix three times and writes it twice, 20 bytes per score
static __global__ void softmax_and_lse(float *s, float *lse, int64_t rows, int Sk)
{
    const int lane = threadIdx.x % 32;
    const int64_t row = (int64_t)blockIdx.x * NAIVE_ROWS + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    s += row * Sk;

    float row_max = -INFINITY;
    for (int j = lane; j < Sk; j += 32) {
        row_max = fmaxf(row_max, s[j]);
    }
    row_max = warp_max(row_max);

    float row_sum = 0.0f;
    for (int j = lane; j < Sk; j += 32) {
        s[j] = expf(s[j] - row_max);
        row_sum += s[j];
    }
    row_sum = warp_sum(row_sum);

    // A query that sees no key has probabilities of 0, and the logarithm of their sum is -Inf.
    const bool sees_some = row_max > -INFINITY;
    for (int j = lane; j < Sk; j += 32) {
        s[j] = sees_some ? s[j] / row_sum : 0.0f;
    }
    if (lane == 0) {
        lse[row] = sees_some ? row_max + logf(row_sum) : -INFINITY;
    }
}

// p [BH][Sq][Sk], v [BH][Sk][D] -> o [BH][Sq][D], one thread an element of o
// cost: 2 Sk flops an element; reads the matrix once, v from cache
static __global__ void half_weighted_sum(const float *p, const __half *v, __half *o, int Sq, int Sk,
                                         int D)
{
    const int d = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t i = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t head = blockIdx.z;
    if (d >= D || i >= Sq) {
        return;
    }
    p += (head * Sq + i) * Sk;
    v += head * Sk * D;
    float sum = 0.0f;
    for (int j = 0; j < Sk; j++) {
        sum += p[j] * __half2float(v[(int64_t)j * D + d]);
    }
    o[(head * Sq + i) * D + d] = __float2half_rn(sum);
}

// The naive kernels take part in calls of at most the work of 32 heads of 8192 queries and keys at
// D = 64, and in cases that ask whether memory suffices.
static inline bool naive_takes_part(const kf_case *c)
{
    const kf_shape s = c->shape;
    const double work = (double)s.B * s.H * s.Sq * s.Sk * s.D;
    return work <= 32.0 * 8192 * 8192 * 64 || c->flags & KF_MAY_NOT_FIT;
}

// For setup: allocates the matrix if the naive kernels take part.
static inline void naive_matrix(kf_run *run)
{
    const int64_t matrix[] = {run->shape.B, run->shape.H, run->shape.Sq, run->shape.Sk};
    if (naive_takes_part(run->c)) {
        kf_scratch(run, "s", "BHSK", KF_F32, matrix);
    }
}

static inline void launch_naive(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const int heads = s.B * s.H;
    const int64_t rows = (int64_t)heads * s.Sq;
    float *matrix = kf_f32(run, "s");
    const dim3 a_thread_a_score(s.Sq, (s.Sk + NAIVE_THREADS - 1) / NAIVE_THREADS, heads);
    half_scores<<<a_thread_a_score, NAIVE_THREADS, 0, stream>>>(
        kf_half(run, "q"), kf_half(run, "k"), matrix, s.Sq, s.Sk, s.D, s.causal);
    CUDA_CHECK_LAUNCH();
    softmax_and_lse<<<(unsigned)((rows + NAIVE_ROWS - 1) / NAIVE_ROWS), NAIVE_THREADS, 0, stream>>>(
        matrix, kf_f32(run, "lse"), rows, s.Sk);
    CUDA_CHECK_LAUNCH();
    const dim3 tile(64, 4);
    const dim3 a_thread_an_element((s.D + tile.x - 1) / tile.x, (s.Sq + tile.y - 1) / tile.y,
                                   heads);
    half_weighted_sum<<<a_thread_an_element, tile, 0, stream>>>(matrix, kf_half(run, "v"),
                                                                kf_half(run, "o"), s.Sq, s.Sk, s.D);
    CUDA_CHECK_LAUNCH();
}
