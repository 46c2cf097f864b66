/* row_pieces.cuh: rows of D floats in the registers of a few lanes, some of them in pairs to turn.
 *
 * A group of LANES lanes has a row, and a lane has SLOTS pieces of it, WIDTH neighbouring floats
 * each. With D = 128 a piece is 16 bytes. A row of 80 of which 20 are turned has pairs that are 40
 * bytes apart, no multiple of 16: there a piece is 8 bytes.
 *
 * Addresses must be multiples of a piece, and R / 2 a multiple of WIDTH.
 */
#pragma once

#include "cuda/count.cuh"
#include "cuda/rope_angle.cuh"
#include "harness/harness.h"

template <int D>
struct row_of {
    static constexpr int WIDTH = D == 80 ? 2 : 4;
    static constexpr int LANES = D == 80 ? 8 : 16;
    static constexpr int SLOTS = D / (LANES * WIDTH);
};

static __device__ __forceinline__ void load(const float *from, float (&to)[4])
{
    const float4 x = *reinterpret_cast<const float4 *>(from);
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
}

static __device__ __forceinline__ void load(const float *from, float (&to)[2])
{
    const float2 x = *reinterpret_cast<const float2 *>(from);
    to[0] = x.x;
    to[1] = x.y;
}

static __device__ __forceinline__ void store(const float (&from)[4], float *to)
{
    *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

static __device__ __forceinline__ void store(const float (&from)[2], float *to)
{
    *reinterpret_cast<float2 *>(to) = make_float2(from[0], from[1]);
}

// snippet: columns
// Which piece of a row is piece n of a lane: the two pieces of a pair fall to the same lane, so
// that it can turn them. Lanes beyond the pairs, and pieces 2 and up, have what is not turned.
static __device__ __forceinline__ int piece_of(int n, int lane, int lanes, int pairs)
{
    if (n == 0) {
        return lane < pairs ? lane : pairs + lane;
    }
    if (n == 1) {
        return lane < pairs ? pairs + lane : lanes + lane;
    }
    return n * lanes + lane;
}
// end snippet: columns

// What a lane has of each row.
template <int D>
struct lane_of {
    int lane;
    bool turns; // it has pairs
    int column[row_of<D>::SLOTS];
    rope_frequency frequency[row_of<D>::WIDTH]; // of its pairs, where angles are computed
};

// frequencies [R/2], or NULL for a table -> what the calling thread has
template <int D>
static __device__ __forceinline__ lane_of<D> this_lane(int R, const rope_frequency *frequencies)
{
    constexpr int WIDTH = row_of<D>::WIDTH;
    constexpr int LANES = row_of<D>::LANES;
    const int pairs = R / 2 / WIDTH;
    lane_of<D> mine = {};
    mine.lane = threadIdx.x % LANES;
    mine.turns = mine.lane < pairs;
    for (int n = 0; n < row_of<D>::SLOTS; n++) {
        mine.column[n] = piece_of(n, mine.lane, LANES, pairs) * WIDTH;
    }
    for (int e = 0; e < WIDTH && mine.turns && frequencies; e++) {
        mine.frequency[e] = frequencies[mine.lane * WIDTH + e];
    }
    return mine;
}

// The row at `from`, a lane's pieces of which stand at column[SLOTS] -> to [SLOTS][WIDTH]
template <int SLOTS, int WIDTH>
static __device__ __forceinline__ void load_row(const float *from, const int (&column)[SLOTS],
                                                float (&to)[SLOTS][WIDTH])
{
    for (int n = 0; n < SLOTS; n++) {
        load(from + column[n], to[n]);
    }
}

template <int SLOTS, int WIDTH>
static __device__ __forceinline__ void store_row(const float (&from)[SLOTS][WIDTH],
                                                 const int (&column)[SLOTS], float *to)
{
    for (int n = 0; n < SLOTS; n++) {
        store(from[n], to + column[n]);
    }
}

// a and b [SLOTS][WIDTH], a lane's pieces of two rows -> their inner product, in all LANES lanes
// cost: 2 flops an element, a shuffle for each halving of LANES
template <int LANES, int SLOTS, int WIDTH>
static __device__ __forceinline__ float dot_of_rows(const float (&a)[SLOTS][WIDTH],
                                                    const float (&b)[SLOTS][WIDTH])
{
    float dot = 0.0f;
    for (int n = 0; n < SLOTS; n++) {
        for (int e = 0; e < WIDTH; e++) {
            dot += a[n][e] * b[n][e];
        }
    }
    for (int bit = LANES / 2; bit > 0; bit /= 2) {
        dot += __shfl_xor_sync(0xffffffffu, dot, bit);
    }
    return dot;
}

// The two pieces of a pair, turned by the angles of which c and s are cosines and sines.
template <int WIDTH>
static __device__ __forceinline__ void turn(float (&a)[WIDTH], float (&b)[WIDTH],
                                            const float (&c)[WIDTH], const float (&s)[WIDTH])
{
    COUNT("element rotations", 2 * WIDTH);
    for (int e = 0; e < WIDTH; e++) {
        const float x = a[e];
        a[e] = x * c[e] - b[e] * s[e];
        b[e] = b[e] * c[e] + x * s[e];
    }
}
