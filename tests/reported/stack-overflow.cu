// check: 1 stopped kernel
// prints: an illegal memory access was encountered
// A frame that is larger than all local memory of a thread, beside one that a thread has: it must
// not reach into the stack of another thread.
#include <cstdio>
__global__ void large(int *o, int n)
{
    char b[500000];
    for (int i = threadIdx.x; i < n; i += 4096)
        b[i] = i;
    o[threadIdx.x] = b[threadIdx.x];
}
__global__ void too_large(int *o, int n)
{
    char b[5000000];
    for (int i = threadIdx.x; i < n; i += 4096)
        b[i] = i;
    __syncthreads();
    o[threadIdx.x] = b[threadIdx.x];
}
int main()
{
    int *d;
    cudaMalloc(&d, 256);
    large<<<1, 64>>>(d, 500000);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 3;
    too_large<<<1, 64>>>(d, 5000000);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(d);
}
