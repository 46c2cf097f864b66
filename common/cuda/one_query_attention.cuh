/* one_query_attention.cuh: the attention kernel of step 02, with its block reduction left open.
 *
 * Steps that study the reduction hand in their own, as a struct with two static functions
 * max(value, scratch) and sum(value, scratch), scratch being shared memory of one float a thread
 * that both calls use. Everything else is as step 02 explains it, with one precaution: the loops
 * are functions that the compiler may not inline. Inlined, they are scheduled together with
 * whatever reduction surrounds them, and a comparison of reductions measures the schedule of loops
 * that nobody changed. Step 04 shows by how much.
 */
#pragma once

#include <math.h>
#include <stdint.h>

#include "harness/harness.h"

enum { ONE_QUERY_THREADS = 256 };

/* How the loops stand in a kernel: functions of their own, inlined, or inlined with the loads of
 * the values written out in batches. nvcc schedules a function that is not inlined for each kernel
 * anew: with the registers that its kernel has left, four loads are in flight at once, or two, or
 * one. Step 10 shows what that does to a comparison of whole kernels. Eight loads in a row, written
 * down before the first is used, leave no choice. Part II takes that. */
enum one_query_loops { LOOPS_APART, LOOPS_INLINED, LOOPS_BATCHED };

// query [D], k [Sk][D] -> score [visible], one key a thread. Returns the thread's largest score.
static __device__ __forceinline__ float score_keys(const float *query, const float *k, float *score,
                                                   int visible, int D, float scale)
{
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        float dot = 0.0f;
        for (int d = 0; d < D; d++) {
            dot += query[d] * k[(int64_t)j * D + d];
        }
        score[j] = dot * scale;
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

// score [visible], v [Sk][D] -> o [D], one column a thread. Each thread weighs the keys with its
// own copy of largest and sum.
static __device__ __forceinline__ void weigh_values(const float *score, const float *v, float *o,
                                                    int visible, int D, float largest, float sum)
{
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        for (int j = 0; j < visible; j++) {
            out += expf(score[j] - largest) * v[(int64_t)j * D + d];
        }
        o[d] = out / sum;
    }
}

static __device__ __noinline__ float score_keys_apart(const float *query, const float *k,
                                                      float *score, int visible, int D, float scale)
{
    return score_keys(query, k, score, visible, D, scale);
}

static __device__ __noinline__ void weigh_values_apart(const float *score, const float *v, float *o,
                                                       int visible, int D, float largest, float sum)
{
    weigh_values(score, v, o, visible, D, largest, sum);
}

// As weigh_values, the same sums in the same order.
static __device__ __forceinline__ void weigh_values_batched(const float *score, const float *v,
                                                            float *o, int visible, int D,
                                                            float largest, float sum)
{
    enum { BATCH = 8 };
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0.0f;
        int j = 0;
        for (; j + BATCH <= visible; j += BATCH) {
            float value[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                value[i] = v[(int64_t)(j + i) * D + d];
            }
#pragma unroll
            for (int i = 0; i < BATCH; i++) {
                out += expf(score[j + i] - largest) * value[i];
            }
        }
        for (; j < visible; j++) {
            out += expf(score[j] - largest) * v[(int64_t)j * D + d];
        }
        o[d] = out / sum;
    }
}

// The second half of attention, the same for every way to compute the scores: softmax, then the
// weighted sum of the values. Every thread of the block must call it.
// score [visible] in shared memory and each thread's largest, v [Sk][D] -> o [D]
template <typename Reduce, one_query_loops loops = LOOPS_BATCHED>
static __device__ __forceinline__ void finish_row(const float *score, float largest, const float *v,
                                                  float *o, int visible, int D, float *scratch)
{
    largest = Reduce::max(largest, scratch);

    float sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        sum += expf(score[j] - largest);
    }
    sum = Reduce::sum(sum, scratch);

    if (loops == LOOPS_BATCHED) {
        weigh_values_batched(score, v, o, visible, D, largest, sum);
    } else if (loops == LOOPS_INLINED) {
        weigh_values(score, v, o, visible, D, largest, sum);
    } else {
        weigh_values_apart(score, v, o, visible, D, largest, sum);
    }
}

// The largest of the scores that this thread has written itself: no barrier is needed.
static __device__ __forceinline__ float own_largest(const float *score, int visible)
{
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        largest = fmaxf(largest, score[j]);
    }
    return largest;
}

// For kernels with several queries a block: score [rows][Sk], v [Sk][D] -> o [rows][D], row after
// row. The first row sees `visible` keys, under a causal mask each further one a key more. Not
// inlined, so that it is the same machine code whatever came before it: chapter 2 has a reason.
template <typename Reduce>
static __device__ __noinline__ void finish_rows(const float *score, const float *v, float *o,
                                                int rows, int visible, bool causal, int Sk, int D,
                                                float *scratch)
{
    for (int n = 0; n < rows; n++) {
        const int seen = visible + (causal ? n : 0);
        const float *of_row = score + (int64_t)n * Sk;
        finish_row<Reduce>(of_row, own_largest(of_row, seen), v, o + (int64_t)n * D, seen, D,
                           scratch);
    }
}

// q [H][Sq][D], k [H][Sk][D], v [H][Sk][D] -> o [H][Sq][D]
// grid (Sq, H), ONE_QUERY_THREADS threads, (D + Sk) floats of dynamic shared memory
// cost: 4 D Sk flops a block; reads k and v of one head once a block; Sk exponentials a column
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

    float largest = loops == LOOPS_INLINED ? score_keys(query, k, score, visible, D, scale)
                                           : score_keys_apart(query, k, score, visible, D, scale);
    finish_row<Reduce, loops>(score, largest, v, o, visible, D, scratch);
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
