// check: 1 freed memory
// Memory of many pages is written, freed and then read in the middle: what was written of it counts
// no more.
#include <cuda_runtime.h>
__global__ void fill(char *p, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = 1;
}
__global__ void get(const int *p, int *sum)
{
    *sum += *p;
}
int main()
{
    const int n = (1 << 22) + 20;
    int *sum;
    char *p;
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    cudaMalloc(&p, n);
    fill<<<1, 256>>>(p, n);
    cudaDeviceSynchronize();
    cudaFree(p);
    get<<<1, 1>>>((const int *)(p + n / 8 * 4), sum);
    cudaDeviceSynchronize();
    cudaFree(sum);
}
