// probes.cu: the kernels the harness itself needs. Not under study, never in a table.
#include "harness/problem.h"
extern "C" { /* between the files of the harness, which are C */
#include "harness/device/device.h"
}

__global__ void empty_kernel()
{
}

void kf_probe_empty(cudaStream_t stream)
{
    empty_kernel<<<1, 1, 0, stream>>>();
}

__global__ void wait_kernel(long long cycles)
{
    for (const long long start = clock64(); clock64() - start < cycles;) {
    }
}

void kf_probe_wait(cudaStream_t stream)
{
    wait_kernel<<<1, 1, 0, stream>>>(100000);
}

// from [count] -> sum [1], which grows. Neighbouring threads read neighbouring elements.
__global__ void hash_kernel(const unsigned short *from, long long count, unsigned long long *sum)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    unsigned long long mine = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        unsigned long long x = (i << 16 | from[i]) * 0x9e3779b97f4a7c15ull; // splitmix64
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
        mine += x ^ x >> 27;
    }
    atomicAdd(sum, mine);
}

void kf_probe_hash(const void *from, int64_t bytes, unsigned long long *sum, cudaStream_t stream)
{
    hash_kernel<<<1024, 256, 0, stream>>>((const unsigned short *)from, bytes / 2, sum);
}

// Reads only: a flush that wrote would leave dirty lines, and their write-back would be charged to
// the kernel measured next. The store never happens (the data are zeros), but the compiler cannot
// know, so it keeps the loads.
__global__ void read_kernel(const float4 *from, float *never_written, long long count)
{
    long long stride = (long long)gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        float4 x = from[i];
        sum += x.x + x.y + x.z + x.w;
    }
    if (sum != 0.0f)
        *never_written = sum;
}

void kf_probe_read(const float *from, float *never_written, int64_t count, cudaStream_t stream)
{
    const int block = 512, grid = 1024;
    read_kernel<<<grid, block, 0, stream>>>((const float4 *)from, never_written, count / 4);
}
