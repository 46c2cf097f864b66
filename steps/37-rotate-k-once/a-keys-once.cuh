/* a-keys-once: keys are rotated once, by a pass of their own in front of attention.
 *
 * Every query that sees a key uses it, so attention would rotate it once per work tile. All heads
 * have the same angles: a thread rotates its columns of a row in several heads, for one load from
 * the tables.
 */
#pragma once

#include "rotate_fragments.cuh"
#include "cuda/wgmma_keys.cuh"

enum { PASS_THREADS = 128 }; // per block

// k [heads][Sk][D] -> k_rotated, likewise
// grid (Sk D / 16 / PASS_THREADS, heads / HEADS): a thread has 8 pairs of a row, of HEADS heads
// cost: 4 bytes per element, and D floats of the tables per row of HEADS heads
template <int D, int HEADS>
__global__ void __launch_bounds__(PASS_THREADS)
    rotate_keys(const __half *k, rope_tables tables, __half *k_rotated, int heads, int Sk)
{
    constexpr int CHUNKS = D / 16; // of 8 columns, in half a row
    const int64_t number = (int64_t)blockIdx.x * PASS_THREADS + threadIdx.x;
    const int64_t row = number / CHUNKS, column = number % CHUNKS * 8;
    const int first = blockIdx.y * HEADS;
    // No kernel computes angles, so they are loaded while the kernel in front ends.
    const int64_t angle = min(row, (int64_t)Sk - 1) * (D / 2) + column;
    const four_angles a = load_angles(tables.cosines + angle, tables.sines + angle);
    const four_angles b = load_angles(tables.cosines + angle + 4, tables.sines + angle + 4);
    wait_for_previous(); // which may still read what this one writes
    let_next_begin();    // not before: the next kernel reads queries before it waits itself
    if (row >= Sk) {
        return;
    }
    COUNT("table loads", 16);
    const int64_t at = (first * (int64_t)Sk + row) * D + column, head = (int64_t)Sk * D;
    uint4 low[HEADS], high[HEADS];
#pragma unroll
    for (int i = 0; i < HEADS; i++) { // all loads first, for they take long
        const int64_t mine = min(i, heads - 1 - first) * head; // there may be fewer heads
        low[i] = *(const uint4 *)(k + at + mine);
        high[i] = *(const uint4 *)(k + at + mine + D / 2);
    }
#pragma unroll
    for (int i = 0; i < HEADS; i++) {
        if (first + i < heads) {
            uint4 x = low[i], y = high[i];
            rotate_two<false>(&x.x, &y.x, make_float2(a.cosine.x, a.cosine.y),
                              make_float2(a.sine.x, a.sine.y));
            rotate_two<false>(&x.y, &y.y, make_float2(a.cosine.z, a.cosine.w),
                              make_float2(a.sine.z, a.sine.w));
            rotate_two<false>(&x.z, &y.z, make_float2(b.cosine.x, b.cosine.y),
                              make_float2(b.sine.x, b.sine.y));
            rotate_two<false>(&x.w, &y.w, make_float2(b.cosine.z, b.cosine.w),
                              make_float2(b.sine.z, b.sine.w));
            *(uint4 *)(k_rotated + at + i * head) = x;
            *(uint4 *)(k_rotated + at + i * head + D / 2) = y;
            if (column == 0) {
                COUNT("K rotations", 1);
            }
            COUNT("element rotations", 16);
        }
    }
}
