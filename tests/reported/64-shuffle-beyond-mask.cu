// check: 0
// prints: 120 (120) no error
// A sum of 16 lanes by shfl_down under a mask of 16: lanes 8 to 15 get values that nobody uses.
// Right on a GPU; the kernel is stopped here.
#include <cstdio>
__global__ void half_sum(int *out)
{
    int v = threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < 16);
    if (threadIdx.x < 16) {
        for (int o = 8; o > 0; o >>= 1)
            v += __shfl_down_sync(mask, v, o);
        if (threadIdx.x == 0)
            *out = v;
    }
}
int main()
{
    int *d, h = -1;
    cudaMalloc(&d, sizeof h);
    half_sum<<<1, 32>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d (120) %s\n", h, cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
