// check: 1 waits in vain
// says: 88 of the grid's 2200 blocks cannot begin
// The blocks wait for each other at a barrier of their own, and a GPU with 132 multiprocessors has
// no more than 16 blocks of 128 threads on each at once: the last of 2200 blocks never begin. It
// hung without a line.
#include <cstdio>
__device__ unsigned arrived, sum;
__global__ void barrier(unsigned blocks)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < blocks) {
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&sum, 1);
}
int main()
{
    enum { BLOCKS = 2200 };
    unsigned h = 0;
    barrier<<<BLOCKS, 128>>>(BLOCKS);
    cudaMemcpyFromSymbol(&h, sum, sizeof h);
    printf("%u %s\n", h, cudaGetErrorString(cudaGetLastError()));
}
