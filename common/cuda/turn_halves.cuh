/* turn_halves.cuh: eight neighbours of a row of halves and their partners, turned: what kernels of
 * step 32 and later have in common, wherever the row lies and wherever its angles come from.
 *
 * Pairs are NeoX halves (rope.h). fp32, and rounded to fp16 once, at the end.
 */
#pragma once

#include "cuda/tensor_cores.cuh"

#include <string.h>

// Cosines and sines of eight neighbouring pairs.
struct eight_angles {
    float cosine[8], sine[8];
};

// cosine, sine: of the first pair, multiples of 16 bytes. cost: 64 bytes
static __device__ __forceinline__ eight_angles load_angles(const float *cosine, const float *sine)
{
    eight_angles a;
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
        const float4 c = *(const float4 *)(cosine + i);
        const float4 s = *(const float4 *)(sine + i);
        memcpy(a.cosine + i, &c, sizeof c);
        memcpy(a.sine + i, &s, sizeof s);
    }
    return a;
}

// snippet: turn-eight
// Eight halves of the first half of a row, and their partners, become what they are turned by the
// angles; BACK: by minus the angles. cost: 6 flops a pair
template <bool BACK>
static __device__ __forceinline__ void turn_eight(uint4 *low, uint4 *high, const eight_angles &by)
{
    __half2 x[4], y[4];
    uint32_t turned_x[4], turned_y[4];
    memcpy((void *)x, low, sizeof x);
    memcpy((void *)y, high, sizeof y);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 a = __half22float2(x[i]);
        const float2 b = __half22float2(y[i]);
        const float c0 = by.cosine[2 * i], c1 = by.cosine[2 * i + 1];
        const float s0 = BACK ? -by.sine[2 * i] : by.sine[2 * i];
        const float s1 = BACK ? -by.sine[2 * i + 1] : by.sine[2 * i + 1];
        turned_x[i] = pack_halves(a.x * c0 - b.x * s0, a.y * c1 - b.y * s1);
        turned_y[i] = pack_halves(b.x * c0 + a.x * s0, b.y * c1 + a.y * s1);
    }
    memcpy(low, turned_x, sizeof turned_x);
    memcpy(high, turned_y, sizeof turned_y);
}
// end snippet: turn-eight
