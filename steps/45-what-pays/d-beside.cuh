/* d-beside: down runs beside attention, on a second stream.
 *
 * Attention has one block per head, which leaves multiprocessors free for down. A serial layer
 * could not do this, for its MLP waits for attention. Two events per layer fork the streams and
 * join them again. */
#pragma once

#include "c-pairs.cuh"

// Block `block` of down_rows' grid: up [mlp] -> mlp [hidden] = down
static __device__ __forceinline__ void down_of(const half *up, matrix down, half *mlp, int block)
{
    __shared__ float partial[ROW_WARPS];
    const int row = block * ROWS_OF_FOUR + threadIdx.x / (WARPS_A_ROW * 32);
    const bool in_rows = row < down.rows;
    const float bias = in_rows ? __half2float(down.bias[row]) : 0.0f;
    const float sum =
        dot_by_four(down.w + (int64_t)row * down.columns, up, down.columns, in_rows, partial);
    if (in_rows && threadIdx.x % (WARPS_A_ROW * 32) == 0) {
        mlp[row] = __float2half_rn(sum + bias);
    }
}

// up [mlp] -> mlp [hidden] = down; four warps per row; cost: 2 hidden mlp bytes
static __global__ void down_rows(const half *up, matrix down, half *mlp)
{
    down_of(up, down, mlp, blockIdx.x);
}

// context, mlp, x [hidden] -> y [hidden] = (mlp + dense) + x; four warps per row
// cost: 2 hidden^2 bytes
static __global__ void dense_and_sum(const half *context, const half *mlp, const half *x,
                                     matrix dense, half *y)
{
    __shared__ float partial[ROW_WARPS];
    const int row = blockIdx.x * ROWS_OF_FOUR + threadIdx.x / (WARPS_A_ROW * 32);
    const bool in_rows = row < dense.rows;
    const float bias = in_rows ? __half2float(dense.bias[row]) : 0.0f;
    let_next_begin();
    wait_for_previous();
    const float sum = dot_by_four(dense.w + (int64_t)row * dense.columns, context, dense.columns,
                                  in_rows, partial);
    if (in_rows && threadIdx.x % (WARPS_A_ROW * 32) == 0) {
        const half attention = __float2half_rn(sum + bias);
        y[row] = __hadd(__hadd(mlp[row], attention), x[row]);
    }
}

static void launch_dense_and_sum(const neox_net *net, int layer, enum start start,
                                 cudaStream_t stream)
{
    const matrix dense = part(net, layer, NEOX_DENSE);
    const int blocks = blocks_for(dense.rows, ROWS_OF_FOUR);
    const cudaLaunchConfig_t config = launch_config(start == EARLY, blocks, ROW_THREADS, 0, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&config, dense_and_sum, net->context, net->mlp,
                                  neox_x(net, layer), dense, neox_x(net, layer + 1)));
}

// snippet: fork
/* A second stream, whose blocks have priority, and the events that fork it from the first stream
 * and join it again. */
typedef struct side_stream {
    cudaStream_t stream;
    cudaEvent_t begin, end;
} side_stream;

static side_stream new_side_stream(void)
{
    side_stream side;
    int least, greatest;
    CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA_CHECK(cudaStreamCreateWithPriority(&side.stream, cudaStreamNonBlocking, greatest));
    CUDA_CHECK(cudaEventCreateWithFlags(&side.begin, cudaEventDisableTiming));
    CUDA_CHECK(cudaEventCreateWithFlags(&side.end, cudaEventDisableTiming));
    return side;
}

static void side_by_side(const neox_net *net, int layer, enum start start, cudaStream_t stream)
{
    static const side_stream side = new_side_stream(); // the first launch makes it
    const matrix down = part(net, layer, NEOX_DOWN);
    CUDA_CHECK(cudaEventRecord(side.begin, stream));
    CUDA_CHECK(cudaStreamWaitEvent(side.stream, side.begin, 0));
    launch_rotate_and_attend(net, layer, side.stream);
    CUDA_CHECK(cudaEventRecord(side.end, side.stream));
    down_rows<<<blocks_for(down.rows, ROWS_OF_FOUR), ROW_THREADS, 0, stream>>>(net->up, down,
                                                                               net->mlp);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaStreamWaitEvent(stream, side.end, 0));
    launch_dense_and_sum(net, layer, start, stream);
}
// end snippet: fork
