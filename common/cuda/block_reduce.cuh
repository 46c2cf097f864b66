/* block_reduce.cuh: the maximum and the sum of one value per thread over a whole block.
 *
 * Every thread of the block must call, and every thread gets the result. The block has any whole
 * number of warps up to 32. partial is shared memory of 32 floats; it is free before and after the
 * call, so that consecutive calls may share it. Step 03 shows what happens without the
 * broadcast, step 04 what happens without the third barrier.
 */
#pragma once

#include <math.h>

#include "warp_reduce.cuh"

/* max and sum differ in how they join two values, and in the value that stands for an absent
 * one. */
struct join_max {
    static __device__ float warp(float v)
    {
        return warp_max(v);
    }
    static __device__ float absent()
    {
        return -INFINITY;
    }
};

struct join_sum {
    static __device__ float warp(float v)
    {
        return warp_sum(v);
    }
    static __device__ float absent()
    {
        return 0.0f;
    }
};

template <typename Join>
static __device__ float block_reduce(float v, float *partial)
{
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;

    v = Join::warp(v);
    if (lane == 0) {
        partial[warp] = v;
    }
    // Barrier 1: warp 0 reads what all the warps wrote.
    __syncthreads();
    if (warp == 0) {
        v = Join::warp(lane < warps ? partial[lane] : Join::absent());
        if (lane == 0) {
            partial[0] = v;
        }
    }
    // Barrier 2: all warps read the result of warp 0. Returning v here, which is the result in warp
    // 0 only, is the bug of step 03.
    __syncthreads();
    v = partial[0];
    // Barrier 3: a slow warp may still have to read partial[0]. Until all warps have read it, no
    // warp may start the next reduction and overwrite it: that is the second bug, of step 04.
    __syncthreads();
    return v;
}

static __device__ inline float block_max(float v, float *partial)
{
    return block_reduce<join_max>(v, partial);
}

static __device__ inline float block_sum(float v, float *partial)
{
    return block_reduce<join_sum>(v, partial);
}
