// check: 1 waits in vain
// prints: the launch timed out and was terminated
// A thread looks for a value that nobody writes. On a GPU the program hangs, and so did check.
#include <cstdio>
__global__ void search(const volatile int *x, int *found, int n)
{
    int i = threadIdx.x;
    while (x[i] != 77)
        i = (i + 7) % n;
    *found = i;
}
int main()
{
    int *x, *found;
    cudaMalloc(&x, 256);
    cudaMalloc(&found, 4);
    cudaMemset(x, 0, 256);
    search<<<1, 1>>>(x, found, 64);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(x);
    cudaFree(found);
}
