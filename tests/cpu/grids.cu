/* Grids and groups that wait in vain: `./grids N` launches the N-th, whose report groups.t knows.
 */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

__global__ void ordinary()
{
    cg::this_grid().sync();
}

__global__ void block_leaves()
{
    if (blockIdx.x == 1)
        return;
    cg::this_grid().sync();
}

__global__ void leaves_later()
{
    auto grid = cg::this_grid();
    grid.sync();
    if (blockIdx.x > 0)
        grid.sync();
}

__global__ void half_a_block()
{
    if (threadIdx.x < 32)
        cg::this_grid().sync();
    else
        __syncthreads();
}

__global__ void half_a_tile()
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    if (tile.thread_rank() < 8)
        tile.sync();
    else
        __syncthreads();
}

__global__ void no_such_part()
{
    cg::tiled_partition(cg::this_thread_block(), 24).sync();
}

__global__ void sleeps_in_vain(volatile int *flag)
{
    while (blockIdx.x == 0 && !*flag)
        __nanosleep(100);
    cg::this_grid().sync();
}

int main(int, char **argv)
{
    void (*kernels[])() = {ordinary,     block_leaves, leaves_later,
                           half_a_block, half_a_tile,  no_such_part};
    const int i = atoi(argv[1]);
    int *flag;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    void *arguments[] = {&flag};
    if (i == 0)
        ordinary<<<2, 64>>>();
    else if (i == 6)
        cudaLaunchCooperativeKernel(sleeps_in_vain, dim3(3), dim3(64), arguments);
    else
        cudaLaunchCooperativeKernel(kernels[i], dim3(3), dim3(64), arguments);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
