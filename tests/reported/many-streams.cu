// check: 1 stream race
// A hundred streams come and go. The last two race, and each is known by itself.
#include <cstdio>
__global__ void fill(int *d)
{
    d[threadIdx.x] = threadIdx.x;
}
int main()
{
    int *d;
    cudaMalloc(&d, 256);
    for (int i = 0; i < 100; i++) {
        cudaStream_t a, b;
        cudaEvent_t filled;
        cudaStreamCreate(&a), cudaStreamCreate(&b), cudaEventCreate(&filled);
        fill<<<1, 64, 0, a>>>(d);
        cudaEventRecord(filled, a);
        if (i < 99)
            cudaStreamWaitEvent(b, filled, 0);
        cudaMemsetAsync(d, 0, 256, b);
        cudaStreamSynchronize(b);
        cudaStreamDestroy(a), cudaStreamDestroy(b), cudaEventDestroy(filled);
    }
    cudaFree(d);
}
