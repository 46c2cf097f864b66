/* tree_reduce.cuh: step 02's block reduction, which later steps are compared with.
 *
 * Every thread of a 256-thread block must call, every thread gets the result. values is shared
 * memory of 256 floats; it is free before and after the call, so that consecutive calls may share
 * it.
 */
#pragma once

#include <math.h>

enum { TREE_THREADS = 256 };

// cost: 10 barriers
template <bool is_sum>
static __device__ float block_tree(float v, float *values)
{
    const int t = threadIdx.x;
    values[t] = v;
    for (int half = TREE_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            const float other = values[t + half];
            values[t] = is_sum ? values[t] + other : fmaxf(values[t], other);
        }
    }
    __syncthreads();
    v = values[0];
    __syncthreads(); // values is free again: all have read it
    return v;
}
