// check: 1 named barrier
#include <cstdio>
// Two groups of 128 share named barrier 7 of 128 threads. Warps come in the order g0w0 g1w0 g0w1
// g1w1 ...: made so by shared flags.
__global__ void k(int *out)
{
    __shared__ volatile int turn;
    __shared__ volatile int stored[256];
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, place = warp * 2 + group;
    stored[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        turn = 0;
    __syncthreads();
    // warps 0, 1 of each group store and come first; warps 2, 3 are late
    if (warp >= 2) {
        while (turn == 0)
            __nanosleep(100);
    }
    stored[threadIdx.x] = 1;
    asm volatile("bar.sync %0, %1;" ::"r"(7), "r"(128) : "memory");
    if (threadIdx.x % 128 == 0) { // the leader that would start the copy
        int n = 0;
        for (int i = 0; i < 128; i++)
            n += stored[group * 128 + i];
        out[group] = n;
        turn = 1;
    }
    (void)place;
}
int main()
{
    int *o, h[2];
    cudaMalloc(&o, 8);
    k<<<1, 256>>>(o);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(h, o, 8, cudaMemcpyDeviceToHost);
    printf("%s: leader of group 0 saw %d of 128 stored, of group 1 %d\n", cudaGetErrorString(e),
           h[0], h[1]);
    cudaFree(o);
    return 0;
}
