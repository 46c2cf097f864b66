// check: 1 host race
// Host reads mapped memory right after the launch (Stack Overflow, "synchronizing device memory
// access with host thread").
#include <cstdio>
__global__ void negate(int *a, int n)
{
    if (threadIdx.x < n)
        a[threadIdx.x] *= -1;
}
int main()
{
    int *a, *g;
    cudaHostAlloc((void **)&a, 8 * sizeof(int), cudaHostAllocMapped);
    cudaHostGetDevicePointer((void **)&g, a, 0);
    for (int i = 0; i < 8; i++)
        a[i] = i;
    negate<<<1, 8>>>(g, 8);
    printf("%d\n", a[7]);
    cudaFreeHost(a);
}
