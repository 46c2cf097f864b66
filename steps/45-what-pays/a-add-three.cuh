/* a-add-three: one add of three terms in place of two adds of two.
 *
 * A layer ends in (mlp + attention) + x. The first sum stays in registers: one launch less, and a
 * third fewer bytes. It is rounded to fp16 all the same, so that no bit of y changes. */
#pragma once

#include "neox/layers.cuh"

// snippet: add-three
// mlp, attention, x [count] -> y = (mlp + attention) + x, rounded after each sum, as by two kernels
// eight elements per thread; cost: 8 bytes per element, where two adds take 12
static __global__ void add_three(const half *mlp, const half *attention, const half *x, half *y,
                                 int64_t count)
{
    const int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    // solution: add-three -- both sums, each rounded to fp16, with one store
    // hint: Two kernels would round the first sum to fp16 when they store it. Which function of
    //     half_add.cuh rounds eight sums to fp16 and leaves them in registers?
    // hint: i is this thread's first element, already times 8; a thread with i >= count has nothing
    //     to do. load_eight and store_eight access 16 bytes, the eight elements from there on.
    // hint: Declare
    //     `const struct eight branches = sum_of(load_eight(mlp + i), load_eight(attention + i));`.
    //     Then add the eight elements of x to it, and store that sum from y + i on.
    if (i < count) {
        const struct eight branches = sum_of(load_eight(mlp + i), load_eight(attention + i));
        store_eight(y + i, sum_of(branches, load_eight(x + i)));
    }
    // end solution: add-three
}
// end snippet: add-three

static void add_three_layer(const neox_net *net, int layer, const half *x, half *y,
                            cudaStream_t stream)
{
    const int64_t count = (int64_t)net->T * net->c.hidden;
    launch_branches(net, layer, x, stream);
    add_three<<<add_blocks(count / 8), ADD_THREADS, 0, stream>>>(net->mlp, net->attention, x, y,
                                                                 count);
    CUDA_CHECK_LAUNCH();
}
