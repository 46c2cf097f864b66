/* turning.cuh: rows that RoPE turns where a warp has them in fragments. A lane has columns 8n + 2t
 * and the next of rows g and g + 8, and of the other half of the row the same: both of a pair.
 * Fragments, g and t: tensor_cores.cuh.
 */
#pragma once

#include "cuda/count.cuh"
#include "cuda/tensor_cores.cuh"

// Tables [positions][D/2].
typedef struct rope_tables {
    const float *cosines, *sines;
} rope_tables;

// Of a lane, for its rows g and g + 8: those of columns 8n + 2t and the next.
template <int D>
struct angles {
    float2 cosines[2][D / 16], sines[2][D / 16];
};

// row: of the tables, for the lane's row g; none beyond the last.
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

// Two columns of a row and those of its other half, as halves, turned by two angles.
static __device__ __forceinline__ void turn_pairs(uint32_t *low, uint32_t *high, float2 c, float2 s)
{
    const float2 x = __half22float2(*(const __half2 *)low);
    const float2 y = __half22float2(*(const __half2 *)high);
    *low = pack_halves(x.x * c.x - y.x * s.x, x.y * c.y - y.y * s.y);
    *high = pack_halves(y.x * c.x + x.x * s.x, y.y * c.y + x.y * s.y);
}

// snippet: turn-queries
// q as fragments of 16 columns each, turned.
template <int D>
static __device__ __forceinline__ void turn_queries(uint32_t (&q)[D / 16][4], const angles<D> &a)
{
    // solution: turn -- each register with its partner of the other half, by the angles of its row
#pragma unroll
    for (int i = 0; i < D / 8; i++) {
        const int half = i % 2, n = i / 2; // row g or g + 8; columns 8n + 2t
        turn_pairs(&q[i / 4][i % 4], &q[i / 4 + D / 32][i % 4], a.cosines[half][n],
                   a.sines[half][n]);
    }
    // end solution: turn
}
// end snippet: turn-queries

// Fragments -> the tile [64][D] of this group's queries: load_queries the other way round.
template <int D>
static __device__ __forceinline__ void store_queries(uint32_t tile, const uint32_t (*q)[4])
{
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x / 32 % 4 * 16 + lane % 16; // that this lane names to stmatrix
    tile += row * 128 + (lane / 16 ^ lane % 8) * 16;
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        warp_store_matrices(d / 4 * 64 * 128 + (tile ^ d % 4 * 32), q[d]);
    }
}

// snippet: turn-back
// Gradients by turned rows become those by the rows before: c as fragments of 8 columns each.
template <int D>
static __device__ __forceinline__ void turn_back(float (&c)[D / 8][4], const angles<D> &a)
{
#pragma unroll
    for (int i = 0; i < D / 4; i++) {
        const int half = i / 2 % 2, n = i / 4; // row g or g + 8; columns 8n + 2t and the next
        const float x = c[n][i % 4], y = c[n + D / 16][i % 4];
        const float2 cosines = a.cosines[half][n], sines = a.sines[half][n];
        const float cosine = i % 2 ? cosines.y : cosines.x, sine = i % 2 ? sines.y : sines.x;
        // solution: back -- by minus the angle
        c[n][i % 4] = x * cosine + y * sine;
        c[n + D / 16][i % 4] = y * cosine - x * sine;
        // end solution: back
    }
}
// end snippet: turn-back
