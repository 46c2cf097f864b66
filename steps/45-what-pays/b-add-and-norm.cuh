/* b-add-and-norm: the same kernel also computes what reads the sum, both norms of the next layer.
 *
 * They read the same row, and a block has it in registers: two launches less per layer. So a layer
 * begins with its norms computed and ends with those of the next, and the first layer's norms are a
 * launch of their own. */
#pragma once

#include "rows.cuh"

// snippet: add-and-norm
// mlp, attention, x [T][hidden] -> y = (mlp + attention) + x, and the norms that read y
// one block per row, eight elements per thread; cost: 12 bytes per element, and gains and biases
static __global__ void add_and_norm(const half *mlp, const half *attention, const half *x, half *y,
                                    norm_of first, norm_of second, int hidden)
{
    const int column = threadIdx.x * 8;
    const int64_t at = (int64_t)blockIdx.x * hidden + column;
    float v[8];
    if (column < hidden) {
        const struct eight branches = sum_of(load_eight(mlp + at), load_eight(attention + at));
        const struct eight sum = sum_of(branches, load_eight(x + at));
        store_eight(y + at, sum);
        to_floats(sum, v);
    }
    norm_row(v, column < hidden, first, second, at, column, hidden);
}
// end snippet: add-and-norm

static void launch_add_and_norm(const neox_net *net, int layer, cudaStream_t stream)
{
    norm_of first, second;
    norms_after(net, layer, &first, &second);
    add_and_norm<<<net->T, row_threads(net), 0, stream>>>(
        net->mlp, net->attention, neox_x(net, layer), neox_x(net, layer + 1), first, second,
        net->c.hidden);
    CUDA_CHECK_LAUNCH();
}

// snippet: chained
// Each layer begins with its norms computed and ends with those of the next.
static void launch_normed(const kf_run *run, cudaStream_t stream)
{
    const neox_net net = neox_open(run);
    norm_of first, second;
    launch_embed(&net, stream);
    norms_after(&net, -1, &first, &second);
    norms<<<net.T, row_threads(&net), 0, stream>>>(neox_x(&net, 0), first, second, net.c.hidden);
    CUDA_CHECK_LAUNCH();
    for (int layer = 0; layer < net.c.layers; layer++) {
        launch_attention(&net, layer, net.normed1, stream);
        launch_mlp(&net, layer, net.normed2, stream);
        launch_add_and_norm(&net, layer, stream);
    }
    launch_logits(&net, stream);
    launch_arg_max(&net, stream);
}
// end snippet: chained
