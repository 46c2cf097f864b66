/* flash_tiles.cuh: loads tiles into shared memory as in steps 22 and 23: with cp.async, chunk c of
 * 16 bytes of a row at c ^ row % 8.
 */
#pragma once

#include "cuda/tensor_cores.cuh"

// Rows first to first + ROWS - 1 of from [S][D] -> the tile [ROWS][D] at this address of shared
// memory, swizzled. Rows past the end are zeros. The tile is complete after a wait and a barrier.
template <int D, int ROWS, int THREADS>
static __device__ __forceinline__ void load_tile(uint32_t tile, const __half *from, int first,
                                                 int S)
{
    constexpr int CHUNKS = D / 8; // of 16 bytes, per row
    const int chunk = threadIdx.x % CHUNKS;
    from += (int64_t)first * D + chunk * 8;
#pragma unroll
    for (int i = 0; i < ROWS; i += THREADS / CHUNKS) {
        const int row = i + threadIdx.x / CHUNKS;
        copy_async(tile + (row * D + (chunk ^ row % 8) * 8) * 2, from + row * D,
                   row < S - first ? 16 : 0);
    }
}
