/* keys.cuh: the pass that turns all keys once, before attention reads them many times. */
#pragma once

#include "cuda/wgmma_keys.cuh"
#include "turning.cuh"

namespace keys
{

// HEADS: that a thread works for, all with the same angles
enum { THREADS = 128, HEADS = 4 };

// k [heads][Sk][D] -> k_rotated, likewise
// grid (Sk D / 16 / THREADS, heads / HEADS): a thread has 8 pairs of a row, the same in each head
// cost: 4 bytes an element, and of the tables D floats for a row of HEADS heads
template <int D>
__global__ void __launch_bounds__(THREADS)
    rotate(const __half *k, rope_tables tables, __half *k_rotated, int heads, int Sk)
{
    constexpr int CHUNKS = D / 16; // of 8 columns, in half a row
    const int64_t number = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t row = number / CHUNKS, column = number % CHUNKS * 8;
    const int first = blockIdx.y * HEADS;
    let_next_begin();
    wait_for_previous(); // which may still read what this one writes
    if (row >= Sk) {
        return;
    }
    const float4 *const cosines = (const float4 *)(tables.cosines + row * (D / 2) + column);
    const float4 *const sines = (const float4 *)(tables.sines + row * (D / 2) + column);
    const float4 c[2] = {cosines[0], cosines[1]};
    const float4 s[2] = {sines[0], sines[1]};
    COUNT("table loads", 16);
    const int64_t at = (first * (int64_t)Sk + row) * D + column, head = (int64_t)Sk * D;
    uint4 low[HEADS], high[HEADS];
#pragma unroll
    for (int i = 0; i < HEADS; i++) {
        if (first + i < heads) {
            low[i] = *(const uint4 *)(k + at + i * head);
            high[i] = *(const uint4 *)(k + at + i * head + D / 2);
        }
    }
#pragma unroll
    for (int i = 0; i < HEADS; i++) {
        if (first + i < heads) {
            turn_pairs(&low[i].x, &high[i].x, make_float2(c[0].x, c[0].y),
                       make_float2(s[0].x, s[0].y));
            turn_pairs(&low[i].y, &high[i].y, make_float2(c[0].z, c[0].w),
                       make_float2(s[0].z, s[0].w));
            turn_pairs(&low[i].z, &high[i].z, make_float2(c[1].x, c[1].y),
                       make_float2(s[1].x, s[1].y));
            turn_pairs(&low[i].w, &high[i].w, make_float2(c[1].z, c[1].w),
                       make_float2(s[1].z, s[1].w));
            *(uint4 *)(k_rotated + at + i * head) = low[i];
            *(uint4 *)(k_rotated + at + i * head + D / 2) = high[i];
            if (column == 0) {
                COUNT("K rotations", 1);
            }
            COUNT("element rotations", 16);
        }
    }
}

} // namespace keys
