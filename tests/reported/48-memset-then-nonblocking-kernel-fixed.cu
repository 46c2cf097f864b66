// check: 0
// prints: 64 (64)
// cudaMemset of the default stream, then a kernel in a non-blocking stream (pytorch/gloo #97,
// sony/nnabla-ext-cuda #188).
#include <cstdio>
__global__ void count(int *c)
{
    atomicAdd(c, 1);
}
int main()
{
    int *c, h;
    cudaStream_t s;
    cudaMalloc(&c, 4);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaMemset(c, 0, 4);
    cudaDeviceSynchronize();
    count<<<1, 64, 0, s>>>(c);
    cudaStreamSynchronize(s);
    cudaMemcpy(&h, c, 4, cudaMemcpyDeviceToHost);
    printf("%d (64)\n", h);
    cudaFree(c);
    cudaStreamDestroy(s);
}
