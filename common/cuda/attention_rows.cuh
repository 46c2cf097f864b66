/* attention_rows.cuh: the second half of attention for blocks with several queries.
 */
#pragma once

#include "cuda/attention_row.cuh"

// The largest of the scores that this thread has written itself. No barrier is needed.
static __device__ __forceinline__ float own_largest(const float *score, int visible)
{
    float row_max = -INFINITY;
    for (int j = threadIdx.x; j < visible; j += blockDim.x) {
        row_max = fmaxf(row_max, score[j]);
    }
    return row_max;
}

// score [rows][Sk] -> o [rows][D], row after row. Not inlined, so that its machine code does not
// depend on the code before it: chapter 2 says why.
static __device__ __noinline__ void softmax_times_v_of_rows(const float *score, const float *v,
                                                            float *o, int rows, int visible,
                                                            bool causal, int Sk, int D,
                                                            float *scratch)
{
    for (int n = 0; n < rows; n++) {
        const int seen = visible + (causal ? n : 0);
        const float *of_row = score + (int64_t)n * Sk;
        softmax_times_v(of_row, own_largest(of_row, seen), v, o + (int64_t)n * D, seen, D, scratch);
    }
}
