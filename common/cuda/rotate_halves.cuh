/* rotate_halves.cuh: rotates neighbours in a row of halves together with their partners. Kernels of
 * step 32 and later share this, wherever the row is stored and wherever its angles come from.
 *
 * Pairs are NeoX halves (rope.h). Arithmetic is in fp32; results are rounded to fp16 once, at the
 * end.
 */
#pragma once

#include "cuda/tensor_cores.cuh"

// Cosines and sines of four neighbouring pairs.
struct four_angles {
    float4 cosine, sine;
};

// cosine, sine: of the first pair, multiples of 16 bytes
static __device__ __forceinline__ four_angles load_angles(const float *cosine, const float *sine)
{
    return {*(const float4 *)cosine, *(const float4 *)sine};
}

// Rotates two pairs, x with y, by two angles. x and y are two halves each.
template <bool BACK>
static __device__ __forceinline__ void rotate_two(unsigned *x, unsigned *y, float2 cosine,
                                                  float2 sine)
{
    const float2 a = __half22float2(*(const __half2 *)x);
    const float2 b = __half22float2(*(const __half2 *)y);
    const float s0 = BACK ? -sine.x : sine.x;
    const float s1 = BACK ? -sine.y : sine.y;
    *x = pack_halves(a.x * cosine.x - b.x * s0, a.y * cosine.y - b.y * s1);
    *y = pack_halves(b.x * cosine.x + a.x * s0, b.y * cosine.y + a.y * s1);
}

// Rotates four halves of the first half of a row, and their partners in the second half, by the
// angles; BACK: by minus the angles. cost: 6 flops per pair
template <bool BACK>
static __device__ __forceinline__ void rotate_four(uint2 *low, uint2 *high, four_angles by)
{
    uint2 x = *low; // loaded as a whole; otherwise its parts are loaded one by one
    uint2 y = *high;
    rotate_two<BACK>(&x.x, &y.x, make_float2(by.cosine.x, by.cosine.y),
                     make_float2(by.sine.x, by.sine.y));
    rotate_two<BACK>(&x.y, &y.y, make_float2(by.cosine.z, by.cosine.w),
                     make_float2(by.sine.z, by.sine.w));
    *low = x;
    *high = y;
}
