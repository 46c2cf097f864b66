/* threads: each thread notes its place. A kernel, its launch, memory of the device, a copy. */
#include "check.h"

// snippet: kernel
struct place {
    unsigned block, thread, warp, lane;
};

__global__ void note(struct place *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = {blockIdx.x, threadIdx.x, threadIdx.x / 32, threadIdx.x % 32};
}
// end snippet: kernel

int main(void)
{
    // snippet: launch
    enum { N = 100 };
    struct place host[N], *device;
    CHECK(cudaMalloc(&device, sizeof host));
    note<<<2, 64>>>(device, N); // a grid of 2 blocks, 64 threads each
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device));
    // end snippet: launch
    const int some[] = {31, 32, 64, 99};
    for (int i : some)
        printf("element %2d: block %u, thread %2u = warp %u, lane %2u\n", i, host[i].block,
               host[i].thread, host[i].warp, host[i].lane);
    return 0;
}
