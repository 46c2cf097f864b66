/* warp_sum: a warp adds up by shuffles, and blocks by an atomic addition. */
#include "check.h"

// snippet: sum
template <int WIDTH>
__device__ float sum_of(float v)
{
#pragma unroll
    for (int other = WIDTH / 2; other > 0; other /= 2)
        v += __shfl_xor_sync(0xffffffff, v, other);
    return v;
}
// end snippet: sum

// snippet: total
__global__ void total(const float *x, float *sum)
{
    const float of_warp = sum_of<32>(x[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, of_warp);
}
// end snippet: total

// The same for four groups of eight lanes.
__global__ void groups(float *sums)
{
    const float of_group = sum_of<8>(threadIdx.x);
    if (threadIdx.x % 8 == 0)
        sums[threadIdx.x / 8] = of_group;
}

// sum_of<32>, with the value of each lane after each round.
__global__ void rounds(float *seen)
{
    float v = threadIdx.x;
    seen[threadIdx.x] = v;
    for (int other = 16, round = 1; other > 0; other /= 2, round++) {
        v += __shfl_xor_sync(0xffffffff, v, other);
        seen[32 * round + threadIdx.x] = v;
    }
}

int main(void)
{
    float host[1024], seen[6][32], *x, *sum, *device;
    for (int i = 0; i < 1024; i++)
        host[i] = (float)(i % 32);
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMalloc(&device, sizeof seen));
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(sum, 0, sizeof *sum));
    rounds<<<1, 32>>>(device);
    total<<<4, 256>>>(x, sum);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(seen, device, sizeof seen, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host, sum, sizeof *sum, cudaMemcpyDeviceToHost));
    printf("            lane 0  lane 1  lane 2  lane 3  ...  lane 31\n");
    for (int round = 0; round < 6; round++) {
        if (round == 0)
            printf("at first    ");
        else
            printf("lane ^ %2d   ", 32 >> round);
        for (int lane = 0; lane < 4; lane++)
            printf("%6.0f  ", seen[round][lane]);
        printf("...  %7.0f\n", seen[round][31]);
    }
    printf("total of 4 blocks of 8 warps: %.0f\n", host[0]);
    groups<<<1, 32>>>(device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, 4 * sizeof *host, cudaMemcpyDeviceToHost));
    printf("sum_of<8>: %.0f, %.0f, %.0f, %.0f\n", host[0], host[1], host[2], host[3]);
    CHECK(cudaFree(x));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(device));
    return 0;
}
