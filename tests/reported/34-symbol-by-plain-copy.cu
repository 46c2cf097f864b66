// check: 1 failed work
// prints: 0 (4) invalid argument
// cudaMemcpy to a __constant__ variable instead of cudaMemcpyToSymbol.
#include <cstdio>
__constant__ float c[4];
__global__ void use(float *o)
{
    o[threadIdx.x] = c[threadIdx.x];
}
int main()
{
    float h[4] = {1, 2, 3, 4}, *d, r[4];
    cudaMalloc(&d, sizeof r);
    cudaMemcpy(c, h, sizeof h, cudaMemcpyHostToDevice);
    use<<<1, 4>>>(d);
    cudaMemcpy(r, d, sizeof r, cudaMemcpyDeviceToHost);
    printf("%g (4) %s\n", r[3], cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
