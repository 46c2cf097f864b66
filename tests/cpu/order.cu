/* Kernels with and without a bug in their synchronisation. Prints one checksum each: those of the
 * correct ones may not depend on the order of threads, those of the others must. */
#include <cstdio>
#include <vector>

__device__ float warp_sum(float v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, d);
    return v;
}

/* The sum over the block, in every thread. Without `guard`, the next call may overwrite s[0] while
 * warps still read it. */
template <bool guard>
__device__ float block_sum(float v, float *s)
{
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_sum(threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            s[0] = v;
    }
    __syncthreads();
    v = s[0];
    if (guard)
        __syncthreads();
    return v;
}

template <bool guard>
__global__ void two_sums(float *out)
{
    __shared__ float s[32];
    float a = block_sum<guard>(threadIdx.x, s);
    float b = block_sum<guard>(1, s);
    out[blockIdx.x * blockDim.x + threadIdx.x] = a * 1000 + b;
}

template <bool barrier>
__global__ void neighbour(float *out)
{
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x;
    if (barrier)
        __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 32];
}

template <bool barrier>
__global__ void warp_neighbour(float *out)
{
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x;
    if (barrier)
        __syncwarp();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 1];
}

static void run(const char *name, void (*kernel)(float *))
{
    const int n = 4 * 256;
    float *out;
    std::vector<float> h(n);
    cudaMalloc(&out, n * sizeof(float));
    kernel<<<4, 256>>>(out);
    cudaMemcpy(h.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned long long sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 31 + __float_as_uint(h[i]);
    printf("%s %llx\n", name, sum);
    cudaFree(out);
}

int main()
{
    run("good-sums", two_sums<true>);
    run("bad-sums", two_sums<false>);
    run("good-block", neighbour<true>);
    run("bad-block", neighbour<false>);
    run("good-warp", warp_neighbour<true>);
    run("bad-warp", warp_neighbour<false>);
    return 0;
}
