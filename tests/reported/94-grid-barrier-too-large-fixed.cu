// check: 0
// prints: 1200 no error
// Correct: 1200 blocks of 128 threads are on a GPU with 132 multiprocessors at once, so each may
// wait for all.
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
    enum { BLOCKS = 1200 };
    unsigned h = 0;
    barrier<<<BLOCKS, 128>>>(BLOCKS);
    cudaMemcpyFromSymbol(&h, sum, sizeof h);
    printf("%u %s\n", h, cudaGetErrorString(cudaGetLastError()));
}
