/* c-pairs: for one token, the products of a layer in pairs: four launches per layer.
 *
 * The layer is parallel. QKV and up read norms of the same x, so one kernel has the rows of both
 * matrices. Dense and down both end in the sum, so another has theirs. Attention between the pairs
 * rotates its query and key itself. */
#pragma once

#include "rows.cuh"

// snippet: first-pair
// normed1, normed2 [hidden] -> qkv [3 hidden], gelu(up) [mlp], rounded as by kernels of their own
// one warp per row of either matrix; cost: 2 hidden (3 hidden + mlp) bytes
static __global__ void first_pair(const half *normed1, const half *normed2, matrix qkv, matrix up,
                                  half *qkv_out, half *up_out)
{
    const int row = blockIdx.x * ROW_WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= qkv.rows + up.rows) {
        return;
    }
    const bool of_up = row >= qkv.rows;
    const matrix m = of_up ? up : qkv;
    const int r = of_up ? row - qkv.rows : row;
    const half *w = m.w + (int64_t)r * m.columns;
    const half *x = of_up ? normed2 : normed1;
    const float bias = __half2float(m.bias[r]);
    // These two calls have an effect only in early and together.
    let_next_begin();
    wait_for_previous();
    const float sum = warp_sum(partial_dot(w, x, m.columns, lane * 8, 32 * 8));
    if (lane == 0) {
        const half rounded = __float2half_rn(sum + bias);
        if (of_up) {
            up_out[r] = gelu_of(rounded);
        } else {
            qkv_out[r] = rounded;
        }
    }
}
// end snippet: first-pair

static void launch_first_pair(const neox_net *net, int layer, enum start start, cudaStream_t stream)
{
    const matrix qkv = part(net, layer, NEOX_QKV);
    const matrix up = part(net, layer, NEOX_UP);
    const int blocks = blocks_for(qkv.rows + up.rows, ROW_WARPS);
    const cudaLaunchConfig_t config = launch_config(start == EARLY, blocks, ROW_THREADS, 0, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&config, first_pair, net->normed1, net->normed2, qkv, up,
                                  net->qkv, net->up));
}

// snippet: rotate-and-attend
/* Attention of the one new token: qkv [heads][3][D], tables [positions][R/2], caches
 * [heads][positions][D], context [heads][D]. */
typedef struct attention_args {
    half *qkv;
    const int *past;
    const float *cosine, *sine;
    half *keys, *values, *context;
    int heads, positions, D, R;
    float scale;
} attention_args;

// Attention of one head by one block, which appends the new key and value to the caches and reads
// them from there
static __device__ __forceinline__ void attend_head(attention_args a, int head)
{
    const int position = *a.past;
    const int64_t cache = (int64_t)head * a.positions * a.D;
    const int64_t at = cache + (int64_t)position * a.D;
    const int64_t angles = (int64_t)position * (a.R / 2);
    half *q = a.qkv + (int64_t)head * 3 * a.D;
    if ((int)threadIdx.x < a.D) {
        rotate_one(q, a.keys + at, a.values + at, a.cosine + angles, a.sine + angles, threadIdx.x,
                   a.D, a.R);
    }
    __syncthreads();
    attend(q, a.keys + cache, a.values + cache, a.context + (int64_t)head * a.D, position + 1, a.D,
           a.scale);
}

// qkv -> caches appended to, context; one block per head; cost: 4 D bytes per key and head
static __global__ void rotate_and_attend(attention_args a)
{
    attend_head(a, blockIdx.x);
}
// end snippet: rotate-and-attend

static attention_args attention_args_of(const neox_net *net, int layer)
{
    half *keys = neox_cache(net, net->k_cache, layer);
    half *values = neox_cache(net, net->v_cache, layer);
    const float scale = 1.0f / sqrtf((float)net->D);
    return {net->qkv,     net->past,    net->cosine,      net->sine, keys,          values,
            net->context, net->c.heads, net->c.positions, net->D,    net->c.rotary, scale};
}

static void launch_rotate_and_attend(const neox_net *net, int layer, cudaStream_t stream)
{
    rotate_and_attend<<<net->c.heads, NEOX_THREADS, attention_memory(net), stream>>>(
        attention_args_of(net, layer));
    CUDA_CHECK_LAUNCH();
}

// context [hidden], up [mlp], x [hidden] -> y [hidden] = (down + dense) + x, rounded as before
// four warps per row, which share both products
// cost: 2 hidden (hidden + mlp) bytes
static __global__ void second_pair(const half *context, const half *up, const half *x, matrix dense,
                                   matrix down, half *y)
{
    __shared__ float partial[2][ROW_WARPS];
    const int warp = threadIdx.x / 32;
    const int row = blockIdx.x * ROWS_OF_FOUR + warp / WARPS_A_ROW;
    const bool in_rows = row < down.rows;
    const float b =
        dot_by_four(down.w + (int64_t)row * down.columns, up, down.columns, in_rows, partial[0]);
    const float a = dot_by_four(dense.w + (int64_t)row * dense.columns, context, dense.columns,
                                in_rows, partial[1]);
    if (in_rows && threadIdx.x % (WARPS_A_ROW * 32) == 0) {
        const half attention = __float2half_rn(a + __half2float(dense.bias[row]));
        const half mlp = __float2half_rn(b + __half2float(down.bias[row]));
        y[row] = __hadd(__hadd(mlp, attention), x[row]);
    }
}

static void launch_second_pair(const neox_net *net, int layer, cudaStream_t stream)
{
    const matrix dense = part(net, layer, NEOX_DENSE);
    const matrix down = part(net, layer, NEOX_DOWN);
    second_pair<<<blocks_for(down.rows, ROWS_OF_FOUR), ROW_THREADS, 0, stream>>>(
        net->context, net->up, neox_x(net, layer), dense, down, neox_x(net, layer + 1));
    CUDA_CHECK_LAUNCH();
}

static void one_after_the_other(const neox_net *net, int layer, enum start, cudaStream_t stream)
{
    launch_rotate_and_attend(net, layer, stream);
    launch_second_pair(net, layer, stream);
}
