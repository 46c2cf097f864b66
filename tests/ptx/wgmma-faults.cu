// What a kernel must not do with wgmma, one kernel each; the number of one is the argument. Each is
// stopped with one line.
#include "record.h"
#include "wgmma_forms.h"

enum { BYTES = 4096 };

static __device__ uint64_t descriptor(const char *tile)
{
    return (uint64_t)((uint32_t)__cvta_generic_to_shared(tile) >> 4) | 8ull << 16 | 16ull << 32;
}

static __device__ void multiply(uint64_t b, int add, float *out)
{
    const uint32_t a[4] = {};
    float c[4] = {};
    wgmma_fence();
    wgmma_f16<1, 1, 0>(c, a, b, add);
    wgmma_commit();
    wgmma_wait<0>();
    out[threadIdx.x] = c[0];
}

__global__ void three_warps(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    multiply(descriptor(tile), 1, out);
}

__global__ void warps_part(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    if (threadIdx.x < 96)
        multiply(descriptor(tile), 1, out);
    else
        wgmma_fence();
}

__global__ void one_lane_missing(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    if (threadIdx.x != 77)
        multiply(descriptor(tile), 1, out);
}

__global__ void outside(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    multiply(descriptor(tile + BYTES - 128), 1, out);
}

__global__ void stride_in_bytes(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    multiply(descriptor(tile) | 0x4000ull << 32, 1, out);
}

__global__ void descriptors_differ(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    multiply(descriptor(tile + threadIdx.x / 64 * 1024), 1, out);
}

__global__ void predicates_differ(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    multiply(descriptor(tile), threadIdx.x != 127, out);
}

template <int sign, int count>
__global__ void numbers(float *out)
{
    __shared__ alignas(1024) char tile[BYTES];
    const uint32_t a[4] = {};
    float c[4] = {};
    if (count)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
    wgmma_fence();
    wgmma_f16<1, sign, 0>(c, a, descriptor(tile), 1);
    wgmma_commit();
    wgmma_wait<0>();
    out[threadIdx.x] = c[0];
}

__global__ void barrier_of_others(float *out)
{
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 128;" ::: "memory");
    else
        asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    void (*const kernels[])(float *) = {
        three_warps,        warps_part,        one_lane_missing, outside,        stride_in_bytes,
        descriptors_differ, predicates_differ, numbers<2, 0>,    numbers<1, 28>, barrier_of_others};
    int n = argc > 1 ? atoi(argv[1]) : 0;
    float *out = (float *)on_device(NULL, 4096);
    if (n < 0 || n >= (int)(sizeof kernels / sizeof *kernels))
        return 2;
    kernels[n]<<<1, kernels[n] == three_warps ? 96 : 128>>>(out);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    cudaFree(out);
    return error == cudaSuccess;
}
