/* warp_reduce.cuh: the maximum and the sum of one value a lane, over the 32 lanes of a warp.
 *
 * Every lane of the warp must call, and every lane gets the result. Five shuffles, no shared
 * memory, no barrier. In round r each lane exchanges with the lane whose number differs in bit r;
 * after bits 16, 8, 4, 2 and 1 every lane has seen all 32 values (a butterfly).
 */
#pragma once

static __device__ inline float warp_max(float v)
{
    for (int bit = 16; bit > 0; bit /= 2) {
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, bit));
    }
    return v;
}

static __device__ inline float warp_sum(float v)
{
    for (int bit = 16; bit > 0; bit /= 2) {
        v += __shfl_xor_sync(0xffffffffu, v, bit);
    }
    return v;
}
