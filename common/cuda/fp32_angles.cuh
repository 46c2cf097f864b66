/* fp32_angles.cuh: RoPE with angles computed in fp32, position * 10000^(-2i/R).
 *
 * Such an angle is rounded before its cosine is taken. A unit in the last place of a large angle is
 * large, so the results are inaccurate far from position 0. The angles of rope_angle.cuh are
 * accurate there.
 */
#pragma once

#include "cuda/count.cuh"

#include <math.h>

// snippet: frequencies
// -> frequency [n] in shared memory: pair i rotates by position * frequency[i]; pairs from R/2 on
// have frequency 0
// cost: n powers per block
static __device__ __forceinline__ void precompute_frequencies(float *frequency, int n, int R)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        frequency[i] = i < R / 2 ? powf(10000.0f, -2.0f * i / R) : 0.0f;
    }
}

// The pair (x, y) rotated by an angle -> *first, *second
static __device__ __forceinline__ void rotate_pair(float x, float y, float angle, float *first,
                                                   float *second)
{
    float s, c;
    __sincosf(angle, &s, &c);
    COUNT("element rotations", 2);
    *first = x * c - y * s;
    *second = y * c + x * s;
}
// end snippet: frequencies
