// check: 1 stream race
// The input is copied in one stream, the kernel runs in another.
#include <cstdio>
__global__ void twice(int *d)
{
    d[threadIdx.x] *= 2;
}
int main()
{
    int *d, *h;
    cudaStream_t s, t;
    cudaMalloc(&d, 256);
    cudaMallocHost(&h, 256);
    for (int i = 0; i < 64; i++)
        h[i] = i;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaMemcpyAsync(d, h, 256, cudaMemcpyHostToDevice, s);
    twice<<<1, 64, 0, t>>>(d);
    cudaMemcpyAsync(h, d, 256, cudaMemcpyDeviceToHost, t);
    cudaDeviceSynchronize();
    printf("%d\n", h[63]);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaFree(d);
    cudaFreeHost(h);
}
