// check: 0
// prints: 28 (28) no error
// p[~i] with an unsigned i, in shared memory: its addresses have 32 bits on a GPU, so the index is
// -(i + 1) there (HeCBench's merge). Here it is 2^32 - 1 - i, and the access is 16 GB off.
#include <cstdio>
__global__ void k(const int *x, int *o, unsigned i)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    int *p = s + 32 + threadIdx.x % 8;
    o[threadIdx.x] = p[~i];
}
int main()
{
    int h[64], *d;
    for (int i = 0; i < 64; i++)
        h[i] = i;
    cudaMalloc(&d, 2 * sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    k<<<1, 64>>>(d, d + 64, 3);
    cudaMemcpy(h, d + 64, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d (28) %s\n", h[0], cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
