// check: 1 out of bounds
// Page-locked memory of 6 bytes, which the host has written: behind a load of the last 2 bytes, one
// of 4 bytes at the same place reads 2 bytes too many.
#include <cstring>
#include <cuda_runtime.h>
__global__ void get(const int *p, int *sum)
{
    *sum = ((const short *)p)[2];
    *sum += p[1];
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
