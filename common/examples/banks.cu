/* banks: one warp stores 32 words in shared memory and loads them, at three distances. Count it:
 * cudacc --count -run. */
#include "check.h"

// snippet: banks
__global__ void apart_1(float *y)
{
    __shared__ float part[32];
    part[threadIdx.x] = threadIdx.x;
    __syncwarp();
    y[threadIdx.x] = part[31 - threadIdx.x];
}
// end snippet: banks

__global__ void apart_32(float *y)
{
    __shared__ float part[32 * 32];
    part[32 * threadIdx.x] = threadIdx.x;
    __syncwarp();
    y[threadIdx.x] = part[32 * (31 - threadIdx.x)];
}

__global__ void apart_33(float *y)
{
    __shared__ float part[33 * 32];
    part[33 * threadIdx.x] = threadIdx.x;
    __syncwarp();
    y[threadIdx.x] = part[33 * (31 - threadIdx.x)];
}

int main(void)
{
    float *y;
    CHECK(cudaMalloc(&y, 32 * sizeof *y));
    apart_1<<<1, 32>>>(y);
    apart_32<<<1, 32>>>(y);
    apart_33<<<1, 32>>>(y);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(y));
    return 0;
}
