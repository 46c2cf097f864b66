/* barrier: each thread reads what its neighbour has stored in shared memory, with a barrier in
 * between and without. Without, it is a race: cudacc --check -run names it. */
#include "check.h"

// snippet: shared
__global__ void with_barrier(const float *x, float *y)
{
    __shared__ float part[256];
    const int i = threadIdx.x;
    part[i] = x[i];
    __syncthreads();
    y[i] = part[(i + 1) % 256];
}
// end snippet: shared

// The same without __syncthreads().
__global__ void without_barrier(const float *x, float *y)
{
    __shared__ float part[256];
    const int i = threadIdx.x;
    part[i] = x[i];
    y[i] = part[(i + 1) % 256];
}

static void compare(const char *name, const float *y)
{
    float host[256];
    int wrong = 0;
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++)
        wrong += host[i] != (float)((i + 1) % 256);
    printf("%s: %d of 256 wrong\n", name, wrong);
}

int main(void)
{
    float host[256], *x, *y;
    for (int i = 0; i < 256; i++)
        host[i] = (float)i;
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMalloc(&y, sizeof host));
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    with_barrier<<<1, 256>>>(x, y);
    compare("with_barrier", y);
    without_barrier<<<1, 256>>>(x, y);
    compare("without_barrier", y);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return 0;
}
