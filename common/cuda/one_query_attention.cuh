/* one_query_attention.cuh: the attention kernel of step 02, with its block reduction left open.
 *
 * Steps that study the reduction hand in their own, as a struct with two static functions
 * max(value, scratch) and sum(value, scratch), scratch being shared memory of one float a thread
 * that both calls use. Everything else is as step 02 explains it.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include "harness/harness.h"

enum { ONE_QUERY_THREADS = 256 };

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), ONE_QUERY_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block; reads k and v of one head once a block; Sk exponentials a column
template <typename Reduce>
static __global__ void one_query_attention(const float *q, const float *k, const float *v, float *o,
                                           int Sq, int Sk, int D, bool causal, float scale)
{
    extern __shared__ float shared[];
    __shared__ float scratch[ONE_QUERY_THREADS];
    float *query = shared;
    float *score = shared + D;
    const int row = blockIdx.x;
    const int64_t head = blockIdx.y;
    const int visible = causal ? Sk - Sq + row + 1 : Sk;
    q += (head * Sq + row) * D;
    o += (head * Sq + row) * D;
    k += head * Sk * D;
    v += head * Sk * D;

    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        query[d] = q[d];
    }
    __syncthreads();

    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        float dot = 0.0f;
        for (int d = 0; d < D; d++) {
            dot += query[d] * k[(int64_t)j * D + d];
        }
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    largest = Reduce::max(largest, scratch);

    float sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        sum += expf(score[j] - largest);
    }
    sum = Reduce::sum(sum, scratch);

    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        for (int j = 0; j < visible; j++) {
            out += expf(score[j] - largest) * v[(int64_t)j * D + d];
        }
        o[d] = out / sum;
    }
}

/* Enqueues one_query_attention for B = 1. Shapes as in kf_shape, R = 0. */
template <typename Reduce>
static void launch_one_query_attention(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    one_query_attention<Reduce><<<dim3(s.Sq, s.H), ONE_QUERY_THREADS, shared, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "v"), kf_f32(run, "o"), s.Sq, s.Sk, s.D,
        s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}
