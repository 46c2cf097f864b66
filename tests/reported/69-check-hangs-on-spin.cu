// check: 0
// prints: 42 (42) no error
// Block 1 waits for block 0 by an atomic, with fences: right on a GPU and in a plain build; with
// --check the last block begins first, and the program hangs without a line (20 s of CPU and more),
// where a plain build would stop it.
#include <cstdio>
__global__ void pass(int *flag, int *box, int *out)
{
    if (blockIdx.x == 0) {
        *box = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        *out = *box;
    }
}
int main()
{
    int *d, h;
    cudaMalloc(&d, 12);
    cudaMemset(d, 0, 12);
    pass<<<2, 1>>>(d, d + 1, d + 2);
    cudaMemcpy(&h, d + 2, 4, cudaMemcpyDeviceToHost);
    printf("%d (42) %s\n", h, cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
