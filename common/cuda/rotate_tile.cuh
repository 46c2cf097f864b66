/* rotate_tile.cuh: how a fused kernel of step 32 and later rotates a tile in shared memory. Tiles
 * are swizzled as in step 22: chunk c of 8 halves of a row stands at c ^ row % 8.
 */
#pragma once

#include "cuda/count.cuh"
#include "cuda/rotate_halves.cuh"

// The place of a thread in its first row of a tile. It rotates four neighbours, from element 4 *
// four on in the first half of the row, and their partners. They stand `at` and at ^ D / 2 halves
// from the start of the row.
struct thread_place {
    int row, four, at;
};

template <int D>
static __device__ __forceinline__ thread_place place_of_thread()
{
    const int four = threadIdx.x % (D / 8);
    const int place = threadIdx.x / (D / 8);
    // At D = 64 half a warp has two rows: 0 and 4, 1 and 5 and so on, because the chunks of two
    // rows that are four apart stand in different banks.
    const int row = D == 64 ? place / 8 * 8 + place % 2 * 4 + place % 8 / 2 : place;
    return {row, four, (four / 2 ^ row % 8) * 8 + four % 2 * 4};
}

// Rotates a tile [ROWS][D] in place: rows first to first + ROWS - 1 of x [S][D], row r by row r of
// cosine and sine [S][D/2]. A thread has four neighbours of a row and their partners, so that a
// warp reads the tables without a gap. The caller needs a barrier before and after the call,
// because other threads load and read the tile. cost: 4 D bytes of tables per row, as many as a row
// of k and one of v
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void rotate_tile(__half *tile, const float *cosine,
                                                   const float *sine, int first, int S)
{
    constexpr int STEP = THREADS / (D / 8); // rows at a time, 4 or a multiple of 8
    static_assert(ROWS % STEP == 0, "each thread has as many rows, and one at least");
    constexpr int LOADED = ROWS / STEP < 8 ? ROWS / STEP : 8;
    const thread_place own = place_of_thread<D>();
    tile += own.row * D;
#pragma unroll 1
    for (int i = 0; i < ROWS; i += LOADED * STEP) {
        four_angles by[LOADED]; // all loads first, to hide their latency
#pragma unroll
        for (int j = 0; j < LOADED; j++) {
            // Rows past the end are zeros, and any rotation leaves them zero.
            const int row = min(first + i + j * STEP + own.row, S - 1);
            const int64_t angle = (int64_t)row * (D / 2) + own.four * 4;
            by[j] = load_angles(cosine + angle, sine + angle);
            COUNT("table loads", 8);
        }
#pragma unroll
        for (int j = 0; j < LOADED; j++) {
            const int row = i + j * STEP;
            const int here = own.at ^ j * STEP % 8 * 8; // equals own.at unless STEP is 4
            rotate_four<false>((uint2 *)(tile + row * D + here),
                               (uint2 *)(tile + row * D + (here ^ D / 2)), by[j]);
            COUNT("element rotations", first + row + own.row < S ? 8 : 0);
        }
    }
}
