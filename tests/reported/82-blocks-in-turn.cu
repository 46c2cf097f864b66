// check: 0
// prints: 4960 4960 no error
// Correct: each block waits for the one before it, which may begin later. By then it has written
// shared memory and passed barriers, and other blocks use theirs while it waits.
#include <cstdio>
__global__ void in_turn(volatile int *turn, int *sum, int *out)
{
    __shared__ int mine[64], total;
    const int t = threadIdx.x;
    mine[t] = blockIdx.x;
    if (t == 0)
        total = 0;
    __syncthreads();
    asm volatile("bar.sync 1, 64;" ::: "memory");
    const int other = mine[t ^ 33];
    __syncthreads();
    mine[t] = other;
    __syncthreads();
    if (t == 0) {
        while (*turn != (int)blockIdx.x) {
        }
        __threadfence();
        total = *sum;
    }
    __syncthreads();
    for (int i = 0; i < 64; i++) // lanes add one after the other
        if (t == i)
            atomicAdd(&total, mine[(t + 1) % 64]);
    __syncthreads();
    if (t == 0) {
        *sum = total / 64 * 64 == total ? total : -1000000;
        out[blockIdx.x] = total / 64;
        __threadfence();
        *turn = blockIdx.x + 1;
    }
}
int main()
{
    enum { BLOCKS = 100 };
    int *d, h, last;
    cudaMalloc(&d, 4 * (2 + BLOCKS));
    cudaMemset(d, 0, 4 * (2 + BLOCKS));
    in_turn<<<BLOCKS, 64>>>(d, d + 1, d + 2);
    cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(&last, d + 1 + BLOCKS, 4, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", h / 64 + 10, last + 10, cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
