/* wgmma_launch.cuh: host functions for kernels of steps 29 to 31 and 37: maps of their tensors, and
 * the choice of a launcher.
 */
#pragma once

#include "cuda/dependent_launch.cuh"
#include "cuda/tma.cuh"
#include "harness/harness.h"

#include <string.h>

// A tensor [BH][S][D] -> a map whose boxes are tiles of `rows` rows. The columns are split, because
// a swizzled box has at most 64. S is Sk if there is a k or a v in the tensor's name, else Sq.
static CUtensorMap map_of(const kf_run *run, const char *name, int rows)
{
    const kf_shape s = run->shape;
    const uint64_t S = strchr(name, 'k') || strchr(name, 'v') ? s.Sk : s.Sq;
    const tensor_layout layout = {.rank = 4,
                                  .extent = {64, S, s.D / 64u, (uint64_t)s.B * s.H},
                                  .stride = {s.D * 2u, 64 * 2, S * s.D * 2},
                                  .box = {64, (cuuint32_t)rows, s.D / 64u, 1}};
    return tensor_map(kf_memory(run, name, KF_F16), CU_TENSOR_MAP_DATA_TYPE_FLOAT16, &layout,
                      CU_TENSOR_MAP_SWIZZLE_128B);
}

// The launcher for the run's D.
template <kf_launch *for_64, kf_launch *for_128>
static void launch_by_width(const kf_run *run, cudaStream_t stream)
{
    (run->shape.D == 64 ? for_64 : for_128)(run, stream);
}
