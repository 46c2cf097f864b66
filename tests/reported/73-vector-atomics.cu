// check: 0
// prints: 64 128 (64 128)
// atomicAdd of float2 and float4 in global memory, which sm_90 has.
#include <cstdio>
__global__ void k(float2 *a, float4 *b)
{
    atomicAdd(a, make_float2(1, 2));
    atomicAdd(b, make_float4(1, 2, 3, 4));
}
int main()
{
    float4 *d, h[2];
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    k<<<1, 32>>>((float2 *)d, d + 1);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g %g (64 128)\n", h[0].y, h[1].w);
    cudaFree(d);
}
