#include "twice.h"
__global__ void twice(int *p, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    if ((int)threadIdx.x < n)
        p[threadIdx.x] = 2 * s[n - 1 - threadIdx.x];
}
void launch_twice(int *p, int n)
{
    twice<<<1, 64>>>(p, n);
}
