/* attention_row.cuh: the half of attention that no step of Part II changes.
 *
 * A kernel stages its query, scores the keys, and then multiplies P by V. The steps change the
 * first two. The last one is here, the same in all steps, so that a ratio of two kernels measures
 * their difference alone. V1 to V4 and the baseline do not inline the function that scores: if it
 * is inlined, nvcc schedules its loads together with the surrounding code, and a comparison
 * measures that schedule. Step 04 says more about it. V5 to V7 inline it, in all their variants.
 */
#pragma once

#include "cuda/attention_args.cuh"
#include "cuda/block_reduce.cuh"
#include "cuda/count.cuh"

// snippet: softmax-times-v
// score [visible] in shared memory and each thread's row_max, v [Sk][D] -> o [D]: softmax and the
// weighted sum of the values, one column per thread. Every thread of the block must call it. At
// least one key must be visible; with RoPE there are never fewer keys than queries. The source has
// eight loads before the first use of a value. nvcc decides how many of them are in flight, one to
// eight, as the kernel's registers allow. A comparison of kernels measures this choice, too.
// cost: Sk exponentials per column, 2 Sk flops per column; reads v once
static __device__ __forceinline__ void softmax_times_v(const float *score, float row_max,
                                                       const float *v, float *o, int visible, int D,
                                                       float *scratch)
{
    enum { BATCH = 8 };
    row_max = block_max(row_max, scratch);

    float row_sum = 0.0f;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        row_sum += expf(score[j] - row_max);
    }
    row_sum = block_sum(row_sum, scratch);

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
                out += expf(score[j + i] - row_max) * value[i];
            }
        }
        for (; j < visible; j++) {
            out += expf(score[j] - row_max) * v[(int64_t)j * D + d];
        }
        o[d] = out / row_sum;
    }
}
// end snippet: softmax-times-v
