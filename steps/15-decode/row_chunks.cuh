/* row_chunks.cuh: rows of D floats in the registers of a few lanes, some of them in pairs to
 * rotate.
 *
 * A group of LANES lanes has a row, and a lane has SLOTS chunks of it, WIDTH neighbouring floats
 * each. With D = 128 a chunk is 16 bytes. In a row of 80 of which 20 are rotated, the two elements
 * of a pair are 40 bytes apart, not a multiple of 16: there a chunk is 8 bytes.
 *
 * Addresses must be multiples of a chunk, and R / 2 a multiple of WIDTH, at most LANES times WIDTH.
 */
#pragma once

#include "cuda/count.cuh"
#include "harness/harness.h"

enum { THREADS = 256 }; // per block, of every kernel here but join_shares

template <int D>
struct row_layout {
    static constexpr int WIDTH = D == 80 ? 2 : 4;
    static constexpr int LANES = D == 80 ? 8 : 16;
    static constexpr int SLOTS = D / (LANES * WIDTH);
    static constexpr int GROUPS = THREADS / LANES; // per block
    static_assert(D == LANES * WIDTH * SLOTS, "a row of D floats does not fill the lanes' chunks");
    static_assert(SLOTS >= 2, "a lane has both chunks of a pair");
};

// A lane's chunks of a row.
template <int D>
struct chunks {
    float at[row_layout<D>::SLOTS][row_layout<D>::WIDTH];
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

// The index in a row of chunk n of a lane. The two chunks of a pair belong to the same lane, so
// that it can rotate them. Elements of other lanes, and of chunks 2 and up, do not rotate.
static __device__ __forceinline__ int chunk_of(int n, int lane, int lanes, int pairs)
{
    if (n == 0) {
        return lane < pairs ? lane : pairs + lane;
    }
    if (n == 1) {
        return lane < pairs ? pairs + lane : lanes + lane;
    }
    return n * lanes + lane;
}

// The places of a lane's chunks, the same in every row.
template <int D>
struct lane_layout {
    int index;    // of LANES
    bool rotates; // chunks 0 and 1 are pairs
    int column[row_layout<D>::SLOTS];
};

template <int D>
static __device__ __forceinline__ lane_layout<D> this_lane(int R)
{
    constexpr int WIDTH = row_layout<D>::WIDTH;
    constexpr int LANES = row_layout<D>::LANES;
    const int pairs = R / 2 / WIDTH;
    lane_layout<D> lane = {};
    lane.index = threadIdx.x % LANES;
    lane.rotates = lane.index < pairs;
    for (int n = 0; n < row_layout<D>::SLOTS; n++) {
        lane.column[n] = chunk_of(n, lane.index, LANES, pairs) * WIDTH;
    }
    return lane;
}

// The row at `from` -> the calling lane's chunks of it, and back
template <int D>
static __device__ __forceinline__ void load_row(const float *from, const lane_layout<D> &lane,
                                                chunks<D> *to)
{
    for (int n = 0; n < row_layout<D>::SLOTS; n++) {
        load(from + lane.column[n], to->at[n]);
    }
}

template <int D>
static __device__ __forceinline__ void store_row(const chunks<D> &from, const lane_layout<D> &lane,
                                                 float *to)
{
    for (int n = 0; n < row_layout<D>::SLOTS; n++) {
        store(from.at[n], to + lane.column[n]);
    }
}

// Two rows -> their inner product, in all LANES lanes
// cost: 2 flops per element, a shuffle for each halving of LANES
template <int D>
static __device__ __forceinline__ float dot_of_rows(const chunks<D> &a, const chunks<D> &b)
{
    float dot = 0.0f;
    for (int n = 0; n < row_layout<D>::SLOTS; n++) {
        for (int e = 0; e < row_layout<D>::WIDTH; e++) {
            dot += a.at[n][e] * b.at[n][e];
        }
    }
    for (int bit = row_layout<D>::LANES / 2; bit > 0; bit /= 2) {
        dot += __shfl_xor_sync(0xffffffffu, dot, bit);
    }
    return dot;
}

// Rotates the two chunks of a pair by angles with cosines c and sines s.
template <int WIDTH>
static __device__ __forceinline__ void rotate(float (&a)[WIDTH], float (&b)[WIDTH],
                                              const float (&c)[WIDTH], const float (&s)[WIDTH])
{
    COUNT("element rotations", 2 * WIDTH);
    for (int e = 0; e < WIDTH; e++) {
        const float x = a[e];
        a[e] = x * c[e] - b[e] * s[e];
        b[e] = b[e] * c[e] + x * s[e];
    }
}
