// check: interrupted global race
// A finding in the first launch, then long work: what does Ctrl-C (or timeout's SIGTERM) print with
// --check?
#include <cstdio>
__global__ void race(int *x)
{
    x[0] += threadIdx.x;
}
__global__ void slow(int *x, int n)
{
    for (int i = 0; i < n; i++)
        x[blockIdx.x * 64 + threadIdx.x] += i;
}
int main()
{
    int *d;
    cudaMalloc(&d, 65536 * 4);
    cudaMemset(d, 0, 65536 * 4);
    race<<<1, 64>>>(d);
    slow<<<1024, 64>>>(d, 100000);
    cudaDeviceSynchronize();
    printf("done\n");
    cudaFree(d);
}
