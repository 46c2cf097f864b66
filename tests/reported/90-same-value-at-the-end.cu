// check: 0
// prints: 0 no error
// The last access of each block: all threads store the same value in shared memory. That is a
// warning, for the last two threads of a block as for the others (GPUVerify's
// testsuite/CUDA/pointertests/test_copy_between_pointers).
#include <cstdio>
__global__ void zeros(int *p)
{
    __shared__ int a[10];
    p[blockIdx.x] = 0;
    a[0] = 0;
}
int main()
{
    int *d, h = 1;
    cudaMalloc(&d, 64 * sizeof *d);
    zeros<<<64, 64>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %s\n", h, cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
