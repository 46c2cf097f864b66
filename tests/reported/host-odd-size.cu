// check: 1 out of bounds
// Page-locked memory of 6 bytes, which the host has written: a load of 4 bytes at offset 4 reads 2
// bytes too many.
#include <cstring>
#include <cuda_runtime.h>
__global__ void get(const int *p, int *sum)
{
    *sum = p[0] + p[1];
}
int main()
{
    char *p;
    int *sum;
    cudaMalloc(&sum, sizeof *sum);
    cudaMallocHost(&p, 6);
    memset(p, 1, 6);
    get<<<1, 1>>>((const int *)p, sum);
    cudaDeviceSynchronize();
    cudaFreeHost(p);
    cudaFree(sum);
}
