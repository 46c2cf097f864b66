// check: 0
// prints: 1.25 (1.25)
#include <cuda_fp8.h>
#include <cstdio>
// FP8 types: 1.3 lies between 1.25 and 1.375.
__global__ void k(float *o, float x)
{
    __nv_fp8_e4m3 v(x);
    *o = float(v);
}
int main()
{
    float *d, h;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d, 1.3f);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    printf("%g (1.25)\n", h);
    cudaFree(d);
}
