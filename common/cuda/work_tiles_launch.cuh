/* work_tiles_launch.cuh: launches step 29's g-work-tiles. That file or wgmma_forward.cuh, which has
 * the same kernel, is included before this one.
 */
#pragma once

#include "cuda/wgmma_launch.cuh"
#include "cuda/work_tiles.cuh"

// q, k: names of queries and keys. early: the kernel may begin before the one in front of it in the
// stream has ended.
template <int D, int WARPGROUPS>
static void launch_work_tiles_of(const kf_run *run, cudaStream_t stream, int small, bool early,
                                 const char *q, const char *k)
{
    const kf_shape s = run->shape;
    const int heads = s.B * s.H, bytes = work_tiles::bytes_of_block<D, WARPGROUPS>();
    const int all = (work_tiles::large_tiles(s.Sq, small, WARPGROUPS * 64) + small) * heads;
    const int blocks = all < multiprocessors() ? all : multiprocessors();
    CUDA_CHECK(cudaFuncSetAttribute(work_tiles::flash<D, WARPGROUPS>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const cudaLaunchConfig_t config =
        launch_config(early, blocks, WARPGROUPS * 128 + 128, bytes, stream);
    CUDA_CHECK(cudaLaunchKernelEx(
        &config, work_tiles::flash<D, WARPGROUPS>, map_of(run, q, 64),
        map_of(run, k, work_tiles::KEYS), map_of(run, "v", work_tiles::KEYS), map_of(run, "o", 64),
        kf_f32(run, "lse"), heads, heads_at_once(&s), small, s.Sq, s.Sk, s.causal));
}

static inline void launch_cut(const kf_run *run, cudaStream_t stream, cut c, bool early,
                              const char *q, const char *k)
{
    if (run->shape.D == 128) {
        launch_work_tiles_of<128, 2>(run, stream, c.small, early, q, k);
    } else if (c.warpgroups == 2) {
        launch_work_tiles_of<64, 2>(run, stream, c.small, early, q, k);
    } else {
        launch_work_tiles_of<64, 3>(run, stream, c.small, early, q, k);
    }
}
