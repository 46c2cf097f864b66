// check: 0
// prints: 32 (32)
// Each thread has an array of its own, fills one element and reads all (a "flash attention" that
// lost its __shared__).
#include <cstdio>
__global__ void sum(const float *x, float *o)
{
    __shared__ float k[32];
    k[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < 32; i++)
        s += k[i];
    o[threadIdx.x] = s;
}
int main()
{
    float h[32], *d;
    for (int i = 0; i < 32; i++)
        h[i] = 1;
    cudaMalloc(&d, 2 * sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    sum<<<1, 32>>>(d, d + 32);
    cudaMemcpy(h, d + 32, sizeof h, cudaMemcpyDeviceToHost);
    printf("%g (32)\n", h[0]);
    cudaFree(d);
}
