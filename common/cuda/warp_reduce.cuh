/* warp_reduce.cuh: the maximum and the sum of one value per lane, over the 32 lanes of a warp.
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

// snippet: sum-of-four
// Four values per lane; lane l gets the sum of value number l / 8 over the warp. In the first
// exchange a lane gives away two values and keeps two. In the second exchange it gives away one
// of these.
// cost: 6 shuffles; warp_sum for each of the four takes 20
static __device__ __forceinline__ float warp_sum_of_four(const float *v)
{
    const bool high = threadIdx.x & 16;
    const bool odd = threadIdx.x & 8;
    float a = high ? v[2] : v[0];
    float b = high ? v[3] : v[1];
    a += __shfl_xor_sync(0xffffffffu, high ? v[0] : v[2], 16);
    b += __shfl_xor_sync(0xffffffffu, high ? v[1] : v[3], 16);
    float sum = odd ? b : a;
    sum += __shfl_xor_sync(0xffffffffu, odd ? a : b, 8);
    for (int bit = 4; bit > 0; bit /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, bit);
    }
    return sum;
}
// end snippet: sum-of-four
