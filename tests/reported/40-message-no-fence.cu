// check: 1 global race
// prints: 42 (42) no error
// A message from one block to another: a volatile flag, no fences.
#include <cstdio>
__global__ void pass(volatile int *flag, int *box, int *out)
{
    if (blockIdx.x == 0) {
        *box = 42;
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
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
