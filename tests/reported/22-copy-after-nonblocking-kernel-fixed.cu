// check: 0
// prints: 63
// cudaMemcpy does not wait for a stream made with cudaStreamNonBlocking (blog "launches in the null
// stream are NOT synchronous").
#include <cstdio>
__global__ void fill(int *d)
{
    d[threadIdx.x] = threadIdx.x;
}
int main()
{
    int *d, h[64];
    cudaStream_t s;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    fill<<<1, 64, 0, s>>>(d);
    cudaStreamSynchronize(s);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h[63]);
    cudaStreamDestroy(s);
    cudaFree(d);
}
