/* e-one-kernel: attention and down in one kernel (horizontal fusion).
 *
 * A block's number says which of the two it is. No stream is forked, so the layer is four kernels
 * in one stream, and each of them may begin before the one in front has ended. */
#pragma once

#include "d-beside.cuh"

static_assert((int)NEOX_THREADS == (int)ROW_THREADS, "heads and rows are blocks of one launch");

// snippet: horizontal
// rotate_and_attend and down_rows in one launch: the first blocks compute one head each, the other
// blocks rows of down; cost: 4 D bytes per key and head, 2 hidden mlp bytes
// Without a launch bound each block would get the registers that attention needs. The bound limits
// them, so that registers do not limit how many blocks fit on an SM.
static __global__ void __launch_bounds__(ROW_THREADS, ROW_BLOCKS_AN_SM)
    attend_and_down(attention_args a, const half *up, matrix down, half *mlp)
{
    let_next_begin();
    wait_for_previous();
    if ((int)blockIdx.x < a.heads) {
        attend_head(a, blockIdx.x);
    } else {
        down_of(up, down, mlp, (int)blockIdx.x - a.heads);
    }
}
// end snippet: horizontal

static void in_one_kernel(const neox_net *net, int layer, enum start start, cudaStream_t stream)
{
    const matrix down = part(net, layer, NEOX_DOWN);
    const int blocks = net->c.heads + blocks_for(down.rows, ROWS_OF_FOUR);
    const size_t shared = attention_memory(net);
    const cudaLaunchConfig_t config =
        launch_config(start == EARLY, blocks, ROW_THREADS, shared, stream);
    CUDA_CHECK(cudaLaunchKernelEx(&config, attend_and_down, attention_args_of(net, layer), net->up,
                                  down, net->mlp));
    launch_dense_and_sum(net, layer, start, stream);
}
