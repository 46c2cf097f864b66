/* sectors: one warp loads 32 floats, from two layouts. Count it: cudacc --count -run. */
#include "check.h"

// snippet: loads
__global__ void neighbours(const float *x, float *y)
{
    y[threadIdx.x] = x[threadIdx.x];
}

__global__ void every_32nd(const float *x, float *y)
{
    y[threadIdx.x] = x[32 * threadIdx.x];
}
// end snippet: loads

int main(void)
{
    float *x, *y;
    CHECK(cudaMalloc(&x, 1024 * sizeof *x));
    CHECK(cudaMalloc(&y, 32 * sizeof *y));
    CHECK(cudaMemset(x, 0, 1024 * sizeof *x));
    neighbours<<<1, 32>>>(x, y);
    every_32nd<<<1, 32>>>(x, y);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return 0;
}
