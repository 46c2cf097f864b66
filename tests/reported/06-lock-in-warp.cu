// check: 1 global race
// prints: 128 (128) no error
// All threads of a block spin for a lock (Stack Overflow 2021019; NVIDIA forum 9202): hangs before
// sm_70.
#include <cstdio>
__global__ void add(int *lock, int *sum)
{
    while (atomicExch(lock, 1) != 0) {
    }
    *sum += 1;
    atomicExch(lock, 0);
}
int main()
{
    int *d, h;
    cudaMalloc(&d, 8);
    cudaMemset(d, 0, 8);
    add<<<2, 64>>>(d, d + 1);
    cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost);
    printf("%d (128) %s\n", h, cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
