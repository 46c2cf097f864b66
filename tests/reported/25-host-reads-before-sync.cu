// check: 1 host race
// The host reads the result of cudaMemcpyAsync before the stream is done.
#include <cstdio>
__global__ void fill(int *d)
{
    d[threadIdx.x] = threadIdx.x;
}
int main()
{
    int *d, *h;
    cudaStream_t s;
    cudaMalloc(&d, 256);
    cudaMallocHost(&h, 256);
    h[63] = 0;
    cudaStreamCreate(&s);
    fill<<<1, 64, 0, s>>>(d);
    cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost, s);
    printf("%d\n", h[63]);
    cudaStreamDestroy(s);
    cudaFree(d);
    cudaFreeHost(h);
}
