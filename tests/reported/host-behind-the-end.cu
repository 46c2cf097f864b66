// check: 1 host access, out of bounds
// The host stores behind the end of device memory. That is a finding, and makes no memory of it: a
// kernel that loads there is out of bounds.
#include <cuda_runtime.h>
__global__ void get(const int *p, int *sum)
{
    *sum = p[1];
}
int main()
{
    int *p, *sum;
    cudaMalloc(&sum, sizeof *sum);
    cudaMalloc(&p, sizeof *p);
    p[1] = 1;
    get<<<1, 1>>>(p, sum);
    cudaDeviceSynchronize();
    cudaFree(p);
    cudaFree(sum);
}
