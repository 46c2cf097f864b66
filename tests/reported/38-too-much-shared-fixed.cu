// check: 0
// prints: 63 (63)
// 64 KB of dynamic shared memory without cudaFuncSetAttribute, and no error check.
#include <cstdio>
__global__ void fill(float *x)
{
    extern __shared__ float s[];
    s[threadIdx.x] = threadIdx.x;
    x[threadIdx.x] = s[threadIdx.x];
}
int main()
{
    float h[64], *d;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    fill<<<1, 64, 65536>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g (63)\n", h[63]);
    cudaFree(d);
}
