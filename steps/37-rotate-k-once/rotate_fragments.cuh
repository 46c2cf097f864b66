/* rotate_fragments.cuh: the tables of RoPE, and a lane's angles for rows that its warp has as
 * fragments, for rotate_back in d-rotate-back.cuh. A lane has columns 8n + 2t and the next of rows
 * g and g + 8, and the same columns of the other half of the row: both elements of a pair.
 * Fragments, g and t: tensor_cores.cuh.
 */
#pragma once

#include "cuda/count.cuh"
#include "cuda/rotate_halves.cuh"

// Tables [positions][D/2].
typedef struct rope_tables {
    const float *cosines, *sines;
} rope_tables;

// The angles of a lane for its rows g and g + 8: those of columns 8n + 2t and the next.
template <int D>
struct angles {
    float2 cosines[2][D / 16], sines[2][D / 16];
};

// row: the row of the tables for the lane's row g; none beyond the last is read.
template <int D>
static __device__ __forceinline__ void load_angles(angles<D> &a, rope_tables from, int row,
                                                   int last)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int64_t at = (int64_t)min(row + half * 8, last) * (D / 2) + threadIdx.x % 4 * 2;
#pragma unroll
        for (int n = 0; n < D / 16; n++) {
            a.cosines[half][n] = *(const float2 *)(from.cosines + at + n * 8);
            a.sines[half][n] = *(const float2 *)(from.sines + at + n * 8);
        }
    }
    COUNT("table loads", D / 2);
}
