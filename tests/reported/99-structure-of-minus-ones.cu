// check: 0
// prints: 22 22 -1 -1
// A function that is called returns structures of which all members are -1. They are written, like
// any other value.
#include <cstdio>

struct hit {
    int triangle, mesh, instance, level;
};

struct range {
    long long begin, end;
};

__device__ __noinline__ hit trace(int t)
{
    if (t % 3 == 0)
        return {-1, -1, -1, -1};
    return {t, t / 4, t % 4, 7};
}

__device__ __noinline__ range range_of(int t)
{
    return {t, -t};
}

__global__ void count(hit *out, range *ranges, int *misses)
{
    __shared__ hit found[64];
    const int t = threadIdx.x;
    found[t] = trace(t);
    out[t] = trace(t);
    ranges[t] = range_of(t);
    __syncthreads();
    if (found[63 - t].triangle < 0)
        atomicAdd(&misses[0], 1);
    if (out[t].level < 0)
        atomicAdd(&misses[1], 1);
}

int main()
{
    hit *out, host[64];
    range *ranges, of[64];
    int *misses, n[2];
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&ranges, sizeof of);
    cudaMalloc(&misses, sizeof n);
    cudaMemset(misses, 0, sizeof n);
    count<<<1, 64>>>(out, ranges, misses);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(of, ranges, sizeof of, cudaMemcpyDeviceToHost);
    cudaMemcpy(n, misses, sizeof n, cudaMemcpyDeviceToHost);
    printf("%d %d %d %lld\n", n[0], n[1], host[3].mesh, of[1].end);
    cudaFree(out);
    cudaFree(ranges);
    cudaFree(misses);
}
