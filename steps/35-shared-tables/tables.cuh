/* The copy of angles into shared memory, and the rotation of a tile by them. */
#pragma once

#include "cuda/rotate_tile.cuh"

// Rows first to first + ROWS of cosine and sine [S][D/2] -> cosines [ROWS][D/2], then sines, at
// this address of shared memory; rows past the end are zeros. The rows are there after a wait and a
// barrier.
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void load_table(uint32_t table, const float *cosine,
                                                  const float *sine, int first, int S)
{
    constexpr int FOURS = D / 8; // of 16 bytes, a row
    const int four = threadIdx.x % FOURS;
    const int64_t start = (int64_t)first * (D / 2);
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS / FOURS) {
        const int row = i + threadIdx.x / FOURS;
        const int angle = row * (D / 2) + four * 4;
        const int bytes = row < S - first ? 16 : 0;
        copy_async(table + angle * 4, cosine + start + angle, bytes);
        copy_async(table + (ROWS * (D / 2) + angle) * 4, sine + start + angle, bytes);
        COUNT("table loads", bytes / 2);
    }
}

// As rotate_tile, but by the cosines and sines [ROWS][D/2] that load_table has brought.
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void rotate_staged(__half *tile, const float *table)
{
    constexpr int STEP = THREADS / (D / 8);
    const thread_place own = place_of_thread<D>();
    tile += own.row * D;
    table += own.row * (D / 2) + own.four * 4;
#pragma unroll
    for (int i = 0; i < ROWS; i += STEP) {
        rotate_four<false>((uint2 *)(tile + i * D + own.at),
                           (uint2 *)(tile + i * D + (own.at ^ D / 2)),
                           load_angles(table + i * (D / 2), table + (ROWS + i) * (D / 2)));
    }
}
