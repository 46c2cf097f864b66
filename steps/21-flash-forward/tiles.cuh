/* tiles.cuh: how a block of step 21 divides a tile among its threads, and the products and copies
 * of its kernels.
 *
 * 16 threads share eight neighbouring queries. For these queries each thread has every 16th key of
 * a tile of scores, and four neighbouring columns of every 64 of a tile of output. So for four
 * steps along D, or along the keys, a thread loads 8 + 4 vectors of four, and does 128
 * multiply-adds with them. The 8 are the vectors that threads share, which is deliberate: 16 bytes
 * for each of 32 lanes are four wavefronts, but two if groups of eight lanes load the same.
 */
#pragma once

#include "naive.cuh"

#include <string.h>

enum { THREADS = 128, TILE = 64, LANES = 16, ROWS = TILE * LANES / THREADS, KEYS = TILE / LANES };

struct flash_args {
    const __half *q, *k, *v; // q [BH][Sq][D], k and v [BH][Sk][D]
    __half *o;               // [BH][Sq][D]
    float *lse;              // [BH][Sq]
    int Sq, Sk;
    bool causal;
    float scale;
};

// In shared memory. A row is padded by four floats, so that 8 lanes that load 16 bytes each, from 8
// rows at the same column, use all 32 banks.
template <int D>
struct tiles {
    float q[TILE][D + 4];
    float kv[TILE][D + 4]; // keys, then values
    float p[TILE][TILE + 4];
};

static __device__ __forceinline__ float4 four_of(const float *from)
{
    return *(const float4 *)from;
}

// from [n][D], at a multiple of 8 bytes -> rows first to first + TILE - 1; rows past the end are 0
template <int D>
static __device__ __forceinline__ void load_tile(const __half *from, int first, int n,
                                                 float (*to)[D + 4])
{
    for (int i = threadIdx.x; i < TILE * D / 4; i += THREADS) {
        const int row = i / (D / 4);
        const int column = i % (D / 4) * 4;
        uint2 words = {0, 0};
        if (first + row < n) {
            words = *(const uint2 *)(from + (int64_t)(first + row) * D + column);
        }
        __half2 pair[2];
        memcpy((void *)pair, &words, sizeof pair);
        const float2 a = __half22float2(pair[0]);
        const float2 b = __half22float2(pair[1]);
        *(float4 *)&to[row][column] = make_float4(a.x, a.y, b.x, b.y);
    }
}

// snippet: scores
// q, kv [TILE][D] -> p [ROWS][KEYS]: scores of queries row to row + ROWS - 1 and of every 16th key
// from lane on
template <int D>
static __device__ __forceinline__ void score_tile(const tiles<D> &t, int row, int lane,
                                                  float (&p)[ROWS][KEYS])
{
    for (int d = 0; d < D; d += 4) {
        float4 key[KEYS];
#pragma unroll
        for (int j = 0; j < KEYS; j++) {
            key[j] = four_of(&t.kv[lane + j * LANES][d]);
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const float4 query = four_of(&t.q[row + i][d]);
#pragma unroll
            for (int j = 0; j < KEYS; j++) {
                p[i][j] += query.x * key[j].x;
                p[i][j] += query.y * key[j].y;
                p[i][j] += query.z * key[j].z;
                p[i][j] += query.w * key[j].w;
            }
        }
    }
}
// end snippet: scores

static __device__ __forceinline__ void add_four(float probability, float4 value, float *sum)
{
    sum[0] += probability * value.x;
    sum[1] += probability * value.y;
    sum[2] += probability * value.z;
    sum[3] += probability * value.w;
}

// p [TILE][TILE], kv [TILE][D] -> out [ROWS][D / LANES] += p kv; the thread's columns are 4 lane to
// 4 lane + 3 of every 64
template <int D>
static __device__ __forceinline__ void add_values(const tiles<D> &t, int row, int lane,
                                                  float (&out)[ROWS][D / LANES])
{
    for (int j = 0; j < TILE; j += 4) {
        float4 probability[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            probability[i] = four_of(&t.p[row + i][j]);
        }
#pragma unroll
        for (int c = 0; c < D / LANES; c += 4) {
            const int column = 4 * lane + c * LANES;
            float4 value[4];
#pragma unroll
            for (int m = 0; m < 4; m++) {
                value[m] = four_of(&t.kv[j + m][column]);
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                add_four(probability[i].x, value[0], &out[i][c]);
                add_four(probability[i].y, value[1], &out[i][c]);
                add_four(probability[i].z, value[2], &out[i][c]);
                add_four(probability[i].w, value[3], &out[i][c]);
            }
        }
    }
}

// Reductions over the 16 threads that share the same queries; all 16 get the result.
static __device__ __forceinline__ float max_of_row(float x)
{
    for (int bit = LANES / 2; bit > 0; bit /= 2) {
        x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, bit));
    }
    return x;
}

static __device__ __forceinline__ float sum_of_row(float x)
{
    for (int bit = LANES / 2; bit > 0; bit /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, bit);
    }
    return x;
}

// out [D / LANES] times factor -> o [D]
template <int D>
static __device__ __forceinline__ void store_row(__half *o, int lane, const float *out,
                                                 float factor)
{
#pragma unroll
    for (int c = 0; c < D / LANES; c += 4) {
        const __half2 pair[2] = {__floats2half2_rn(out[c] * factor, out[c + 1] * factor),
                                 __floats2half2_rn(out[c + 2] * factor, out[c + 3] * factor)};
        uint2 words;
        memcpy(&words, (const void *)pair, sizeof words);
        *(uint2 *)(o + 4 * lane + c * LANES) = words;
    }
}
