// check: 1 uninitialised read
// Half of an array is computed, all of it is copied to the host and used (a partial sum of "100
// days of GPU").
#include <cstdio>
__global__ void fill(int *d)
{
    d[threadIdx.x] = threadIdx.x;
}
int main()
{
    int *d, h[64];
    cudaMalloc(&d, sizeof h);
    fill<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[31], h[63]);
    cudaFree(d);
}
