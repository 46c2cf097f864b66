/* norms.cuh: layer norm (Ba et al. 2016, equation 3) of rows that fit into the registers of a
 * block.
 *
 * Each thread has eight elements, so a row is read once, by 16-byte loads, and has at most 8192
 * elements. Two norms of the same row differ only in gain and bias, so they may share mean and
 * deviation. */
#pragma once

#include "cuda/block_reduce.cuh"
#include "cuda/half_add.cuh"
#include "neox/net.cuh"

/* A norm's weights and its result; to is NULL if there is no such norm. */
typedef struct norm_of {
    const half *gain, *bias;
    half *to;
} norm_of;

static __device__ __forceinline__ void to_floats(struct eight x, float *to)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float2 pair = __half22float2(x.pair[k]);
        to[2 * k] = pair.x;
        to[2 * k + 1] = pair.y;
    }
}

static __device__ __forceinline__ struct eight to_halves(const float *from)
{
    struct eight x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        x.pair[k] = __floats2half2_rn(from[2 * k], from[2 * k + 1]);
    }
    return x;
}

/* The gains and biases of eight columns. */
typedef struct norm_eight {
    struct eight gain, bias;
} norm_eight;

static __device__ __forceinline__ void load_norm(norm_of norm, int column, norm_eight *to)
{
    if (norm.to) {
        to->gain = load_eight(norm.gain + column);
        to->bias = load_eight(norm.bias + column);
    }
}

// Writes eight elements of a row, already less their mean and divided by their deviation: times
// gain, plus bias.
static __device__ __forceinline__ void write_norm(norm_of norm, const norm_eight *weights,
                                                  const float *centred, int64_t at)
{
    float gain[8];
    float bias[8];
    float value[8];
    if (!norm.to) {
        return;
    }
    to_floats(weights->gain, gain);
    to_floats(weights->bias, bias);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        value[k] = centred[k] * gain[k] + bias[k];
    }
    store_eight(norm.to + at, to_halves(value));
}

// Eight elements of a row per thread, in registers; all threads of the block call it -> both norms
// cost: two reductions over the block. Loads of gains and biases are in flight while the block
// reduces.
static __device__ __forceinline__ void norm_row(const float *v, bool in_row, norm_of first,
                                                norm_of second, int64_t at, int column, int hidden)
{
    __shared__ float partial[32];
    norm_eight weights[2] = {};
    float centred[8];
    float sum = 0.0f;
    float squares = 0.0f;
    if (in_row) {
        load_norm(first, column, &weights[0]);
        load_norm(second, column, &weights[1]);
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        sum += in_row ? v[k] : 0.0f;
    }
    const float mean = block_sum(sum, partial) / hidden;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        centred[k] = in_row ? v[k] - mean : 0.0f;
        squares += centred[k] * centred[k];
    }
    const float scale = 1.0f / sqrtf(block_sum(squares, partial) / hidden + NEOX_EPSILON);
    if (!in_row) {
        return;
    }
#pragma unroll
    for (int k = 0; k < 8; k++) {
        centred[k] *= scale;
    }
    write_norm(first, &weights[0], centred, at);
    write_norm(second, &weights[1], centred, at);
}

// x [T][hidden] -> one norm or two, [T][hidden]; one block per row, eight elements per thread
// cost: 2 bytes per element, 2 per norm and element, and gains and biases
static __global__ void norms(const half *x, norm_of first, norm_of second, int hidden)
{
    const int column = threadIdx.x * 8;
    const int64_t at = (int64_t)blockIdx.x * hidden + column;
    float v[8];
    if (column < hidden) {
        to_floats(load_eight(x + at), v);
    }
    norm_row(v, column < hidden, first, second, at, column, hidden);
}

static inline int row_threads(const neox_net *net)
{
    return (net->c.hidden / 8 + 31) / 32 * 32;
}
