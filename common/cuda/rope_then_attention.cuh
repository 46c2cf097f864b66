/* rope_then_attention.cuh: RoPE op by op, then attention alone: what the fused kernels of step 33
 * and later compete with.
 */
#pragma once

#include "cuda/rope_passes.cuh"
#include "cuda/tiled_attention.cuh"
#include "problems/rope_flash.h"

// The tensors of a forward run, and those of launch_op_by_op.
static inline void setup_op_by_op(kf_run *run)
{
    kf_rope_flash_setup(run);
    op_by_op::setup(run);
}

static inline void launch_op_by_op(const kf_run *run, cudaStream_t stream)
{
    op_by_op::launch(run, stream);
    tiled::launch(run, "q_rotated", "k_rotated", stream);
}
