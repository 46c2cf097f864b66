// check: 0
// prints: 1 1 1.23438 1.58105
// Functions of cuda_fp16.h and cuda_bf16.h. The first three numbers are those of nvcc's host code:
// __hbeq2 is a bool.
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void k(float *o)
{
    half2 a = __floats2half2_rn(1.5f, 2.5f);
    o[0] = __half2float(__hadd_sat(__float2half(0.7f), __float2half(0.7f)));
    o[1] = __hbeq2(a, a);
    o[2] = __bfloat162float(__float2bfloat16_rz(1.2345f));
    o[3] = __high2float(h2sqrt(a));
}
int main()
{
    float *d, h[4];
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", h[0], h[1], h[2], h[3]);
    cudaFree(d);
}
