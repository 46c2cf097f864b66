/* one_token.cuh: the model with one token for rungs c to f. They differ in `rest`, the part of a
 * layer after its first pair. Rung f has rest of e, and is the only one that passes EARLY: with it
 * every kernel of a layer may begin before the kernel in front of it has ended, so that its blocks
 * already stand on the device then. With SERIAL each kernel waits for the one before. */
#pragma once

#include "c-pairs.cuh"

// x [hidden] -> its norms, as norms() computes them; one block, eight elements per thread
static __global__ void norms_early(const half *x, norm_of first, norm_of second, int hidden)
{
    const int column = threadIdx.x * 8;
    float v[8];
    let_next_begin();
    wait_for_previous();
    if (column < hidden) {
        to_floats(load_eight(x + column), v);
    }
    norm_row(v, column < hidden, first, second, column, column, hidden);
}

static void launch_norms_early(const neox_net *net, int layer, enum start start,
                               cudaStream_t stream)
{
    norm_of first, second;
    norms_after(net, layer, &first, &second);
    const cudaLaunchConfig_t config = launch_config(start == EARLY, 1, row_threads(net), 0, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&config, norms_early, neox_x(net, layer + 1), first, second,
                                  net->c.hidden));
}

// x [columns] -> logits [rows], one warp per row; cost: 2 rows columns bytes
static __global__ void logit_rows(const half *x, const half *w, float *logits, int rows,
                                  int columns)
{
    const int row = blockIdx.x * ROW_WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    wait_for_previous();
    const float sum =
        warp_sum(partial_dot(w + (int64_t)row * columns, x, columns, lane * 8, 32 * 8));
    if (lane == 0) {
        logits[row] = sum;
    }
}

static void launch_logit_rows(const neox_net *net, enum start start, cudaStream_t stream)
{
    const int blocks = blocks_for(net->c.vocab, ROW_WARPS);
    const half *w = neox_weight(net, 0, net->c.tied ? NEOX_EMBEDDING : NEOX_OUTPUT);
    const cudaLaunchConfig_t config = launch_config(start == EARLY, blocks, ROW_THREADS, 0, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&config, logit_rows, net->normed1, w, net->logits, net->c.vocab,
                                  net->c.hidden));
}

/* The part of a layer between its first pair and the norms of the next layer. */
typedef void second_half(const neox_net *net, int layer, enum start start, cudaStream_t stream);

template <second_half *rest, enum start start>
static void launch_paired(const kf_run *run, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    launch_embed(&net, stream);
    launch_norms_early(&net, -1, SERIAL, stream);
    for (int layer = 0; layer < net.c.layers; layer++) {
        launch_first_pair(&net, layer, start, stream);
        rest(&net, layer, start, stream);
        launch_norms_early(&net, layer, start, stream);
    }
    launch_logit_rows(&net, start, stream);
    launch_arg_max(&net, stream);
}
