/* one_query_attention.cuh: the attention kernel of step 02 with its block reduction as a parameter.
 *
 * Steps that study the reduction pass their own, as reduction<maximum, sum>. Step 02 explains
 * everything else. There is one precaution: the loops are functions that the compiler may not
 * inline. Inlined loops are scheduled together with the reduction, and a comparison of reductions
 * would measure the schedule of loops that nobody changed. Step 04 shows by how much.
 * Even so nvcc makes a copy of each function per kernel: in step 03 two of four copies have another
 * order of loads (chapter 2).
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include "harness/harness.h"

enum { ONE_QUERY_THREADS = 256 };

/* How the kernel contains its loops: as separate functions, or inlined. From step 05 on whole
 * kernels differ, and separate functions are not enough: nvcc schedules them anew for each
 * kernel. attention_row.cuh says what Part II does about that. */
enum one_query_loops { LOOPS_APART, LOOPS_INLINED };

/* A reduction: two functions that give every thread of a block the maximum, or the sum, of one
 * value per thread. scratch is shared memory of one float per thread, which both calls use. */
template <float of_max(float v, float *scratch), float of_sum(float v, float *scratch)>
struct reduction {
    static __device__ float max(float v, float *scratch)
    {
        return of_max(v, scratch);
    }
    static __device__ float sum(float v, float *scratch)
    {
        return of_sum(v, scratch);
    }
};

// query [D], k [Sk][D] -> score [visible], one key per thread. Returns the thread's row_max.
static __device__ __forceinline__ float score_keys(const float *query, const float *k, float *score,
                                                   int visible, int D, float scale)
{
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        float dot = 0.0f;
        for (int d = 0; d < D; d++) {
            dot += query[d] * k[(int64_t)j * D + d];
        }
        score[j] = dot * scale;
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

// score [visible], v [Sk][D] -> o [D], one column per thread. Each thread computes the
// probabilities with its own copy of row_max and row_sum.
static __device__ __forceinline__ void softmax_times_v(const float *score, const float *v, float *o,
                                                       int visible, int D, float row_max,
                                                       float row_sum)
{
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        for (int j = 0; j < visible; j++) {
            out += expf(score[j] - row_max) * v[(int64_t)j * D + d];
        }
        o[d] = visible > 0 ? out / row_sum : 0.0f; // the result of a query that sees no key is 0
    }
}

static __device__ __noinline__ float score_keys_apart(const float *query, const float *k,
                                                      float *score, int visible, int D, float scale)
{
    return score_keys(query, k, score, visible, D, scale);
}

static __device__ __noinline__ void softmax_times_v_apart(const float *score, const float *v,
                                                          float *o, int visible, int D,
                                                          float row_max, float row_sum)
{
    softmax_times_v(score, v, o, visible, D, row_max, row_sum);
}

// The second half of attention: softmax, then the weighted sum of the values. Every thread of the
// block must call it.
// score [visible] in shared memory and each thread's row_max, v [Sk][D] -> o [D]
template <typename Reduce, one_query_loops loops>
static __device__ __forceinline__ void finish_row(const float *score, float row_max, const float *v,
                                                  float *o, int visible, int D, float *scratch)
{
    row_max = Reduce::max(row_max, scratch);

    float row_sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        row_sum += expf(score[j] - row_max);
    }
    row_sum = Reduce::sum(row_sum, scratch);

    if (loops == LOOPS_INLINED) {
        softmax_times_v(score, v, o, visible, D, row_max, row_sum);
    } else {
        softmax_times_v_apart(score, v, o, visible, D, row_max, row_sum);
    }
}

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), ONE_QUERY_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops per block; reads k and v of one head once per block; Sk exponentials per
// column
template <typename Reduce, one_query_loops loops>
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

    float row_max = loops == LOOPS_INLINED ? score_keys(query, k, score, visible, D, scale)
                                           : score_keys_apart(query, k, score, visible, D, scale);
    finish_row<Reduce, loops>(score, row_max, v, o, visible, D, scratch);
}

/* Enqueues one_query_attention for B = 1. Shapes as in kf_shape, R = 0. */
template <typename Reduce, one_query_loops loops = LOOPS_APART>
static void launch_one_query_attention(const kf_run *run, cudaStream_t stream)
{
    const kf_shape s = run->shape;
    const size_t shared = (s.D + s.Sk) * sizeof(float);
    one_query_attention<Reduce, loops><<<dim3(s.Sq, s.H), ONE_QUERY_THREADS, shared, stream>>>(
        kf_f32(run, "q"), kf_f32(run, "k"), kf_f32(run, "v"), kf_f32(run, "o"), s.Sq, s.Sk, s.D,
        s.causal, 1.0f / sqrtf((float)s.D));
    CUDA_CHECK_LAUNCH();
}
