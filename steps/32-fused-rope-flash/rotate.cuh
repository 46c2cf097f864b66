/* How a fused kernel turns a tile in shared memory. Tiles are swizzled as in step 22: chunk c of 8
 * halves of a row stands at c ^ row % 8. */
#pragma once

#include "cuda/count.cuh"
#include "cuda/turn_halves.cuh"

// snippet: rotate-tile
// Rows first to first + ROWS of x [S][D], which are the tile [ROWS][D], are turned where they lie,
// row r by row r of cosine and sine [S][D/2]. A barrier is before and behind it, for a chunk's
// partner came by another thread. cost: 4 D bytes of tables a row, as many as a row of k and one of
// v have
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void rotate_tile(__half *tile, const float *cosine,
                                                   const float *sine, int first, int S)
{
    constexpr int PAIRS = D / 16;         // of chunks, a row
    constexpr int STEP = THREADS / PAIRS; // rows at a time
    constexpr int LOADED = ROWS / STEP < 4 ? ROWS / STEP : 4;
    const int pair = threadIdx.x % PAIRS;
    const int place = threadIdx.x / PAIRS;
    // At D = 64 eight threads have two rows: 0 and 4, 1 and 5 and so on, for the chunks of two that
    // are four apart stand in different banks.
    const int thread_row = D == 64 ? place / 8 * 8 + place % 2 * 4 + place % 8 / 2 : place;
#pragma unroll 1
    for (int i = 0; i < ROWS; i += LOADED * STEP) {
        eight_angles by[LOADED]; // all loads first, for they take long
#pragma unroll
        for (int j = 0; j < LOADED; j++) {
            // Rows past the end are zeros, and stay zeros by any angle.
            const int row = min(first + i + j * STEP + thread_row, S - 1);
            const int64_t angle = (int64_t)row * (D / 2) + pair * 8;
            by[j] = load_angles(cosine + angle, sine + angle);
            COUNT("table loads", 16);
        }
#pragma unroll
        for (int j = 0; j < LOADED; j++) {
            const int row = i + j * STEP + thread_row;
            uint4 *low = (uint4 *)(tile + row * D + (pair ^ row % 8) * 8);
            uint4 *high = (uint4 *)(tile + row * D + ((pair + PAIRS) ^ row % 8) * 8);
            turn_eight<false>(low, high, by[j]);
            COUNT("element rotations", first + row < S ? 16 : 0);
        }
    }
}
// end snippet: rotate-tile
