// check: 0
// prints: 256 (256)
// Correct: in a block, the last warp to arrive sums what the others stored (fence, then atomic on a
// shared counter).
#include <cstdio>
__global__ void sum(const int *x, int *out)
{
    __shared__ int part[8];
    __shared__ unsigned count;
    int t = threadIdx.x, w = t / 32;
    if (t == 0)
        count = 0;
    __syncthreads();
    int v = __reduce_add_sync(~0u, x[t]);
    if (t % 32 == 0) {
        part[w] = v;
        __threadfence_block();
        if (atomicAdd(&count, 1) == blockDim.x / 32 - 1) {
            __threadfence_block();
            int s = 0;
            for (unsigned i = 0; i < blockDim.x / 32; i++)
                s += part[i];
            *out = s;
        }
    }
}
int main()
{
    int h[256], *d, r;
    for (int i = 0; i < 256; i++)
        h[i] = 1;
    cudaMalloc(&d, sizeof h + 4);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    sum<<<1, 256>>>(d, d + 256);
    cudaMemcpy(&r, d + 256, 4, cudaMemcpyDeviceToHost);
    printf("%d (256)\n", r);
    cudaFree(d);
}
