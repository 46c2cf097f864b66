/* How a fused kernel turns a tile in shared memory. Tiles are swizzled as in step 22: chunk c of 8
 * halves of a row stands at c ^ row % 8. */
#pragma once

#include "cuda/count.cuh"
#include "cuda/turn_halves.cuh"

// snippet: rotate-tile
// Rows first to first + ROWS of x [S][D], which are the tile [ROWS][D], are turned where they lie,
// row r by row r of cosine and sine [S][D/2]; rows past the end stay zeros. A barrier is before and
// behind it, for a chunk's partner came by another thread. cost: 4 D bytes of tables a row, as much
// as a row of k and one of v
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void rotate_tile(__half *tile, const float *cosine,
                                                   const float *sine, int first, int S)
{
    constexpr int PAIRS = D / 16; // of chunks, a row
    const int pair = threadIdx.x % PAIRS;
    // Which of the rows: 0, 4, 1, 5, 2, 6, 3, 7 and so on. At D = 64 eight threads have two rows,
    // and the chunks of two that are four apart stand in different banks.
    const int place = threadIdx.x / PAIRS;
    const int thread_row = place / 8 * 8 + place % 2 * 4 + place % 8 / 2;
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS / PAIRS) {
        const int row = i + thread_row;
        if (first + row < S) {
            uint4 *low = (uint4 *)(tile + row * D + (pair ^ row % 8) * 8);
            uint4 *high = (uint4 *)(tile + row * D + ((pair + PAIRS) ^ row % 8) * 8);
            const int64_t angle = (int64_t)(first + row) * (D / 2) + pair * 8;
            turn_eight<false>(low, high, load_angles(cosine + angle, sine + angle));
            COUNT("table loads", 16);
            COUNT("element rotations", 16);
        }
    }
}
// end snippet: rotate-tile
