// What a kernel must not do with inline PTX, a kernel each: `faults N` runs one, and its report is
// a line; tests/async.t knows what each has to say. ptxas refuses two of them.
#include "record.h"

__device__ uint32_t in_shared(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__global__ void outside_shared(float *out)
{
    __shared__ float s[32];
    s[threadIdx.x] = 1;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(out[threadIdx.x]) : "r"(in_shared(s) + 1000));
}

__global__ void misaligned_load(float *out)
{
    float4 v;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(out + threadIdx.x));
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

__global__ void global_is_shared(float *out)
{
    __shared__ float s[32];
    s[threadIdx.x] = 1;
    asm volatile("st.global.f32 [%0], %1;" ::"l"(s + threadIdx.x), "f"(out[0]));
}

__global__ void misaligned_row(float *out)
{
    __shared__ alignas(16) float s[256];
    uint32_t r;
    s[threadIdx.x] = 1;
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r)
                 : "r"(in_shared(s + threadIdx.x * 4 + threadIdx.x / 5)));
    out[threadIdx.x] = (float)r;
}

__global__ void part_of_warp(float *out)
{
    float c[4] = {};
    uint32_t one = 0x3c003c00;
    if (threadIdx.x < 24)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, "
                     "{%4}, {%0, %1, %2, %3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(one));
    out[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}

template <int bytes>
__global__ void copies_of(float *out)
{
    __shared__ alignas(16) float s[128];
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(in_shared(s)), "l"(out),
                 "n"(bytes));
}

__global__ void misaligned_copy(float *out)
{
    __shared__ alignas(16) float s[128];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(in_shared(s + threadIdx.x * 4)),
                 "l"(out + threadIdx.x * 2));
}

__global__ void too_much(float *out)
{
    __shared__ alignas(16) float s[128];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(in_shared(s)), "l"(out),
                 "r"(9));
}

__global__ void no_source(float *out)
{
    __shared__ alignas(16) float s[128];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(in_shared(s + threadIdx.x)),
                 "l"(out - (threadIdx.x == 3 ? 1ll << 40 : 0)));
    asm volatile("cp.async.wait_all;");
}

__global__ void wide_barrier(float *out)
{
    asm volatile("bar.sync 3, 33;");
    out[threadIdx.x] = 1;
}

__global__ void short_warp(float *out)
{
    uint32_t r;
    __shared__ alignas(16) float s[256];
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r)
                 : "r"(in_shared(s)));
    out[threadIdx.x] = (float)r;
}

int main(int argc, char **argv)
{
    void (*const kernels[])(float *) = {outside_shared,  misaligned_load, global_is_shared,
                                        misaligned_row,  part_of_warp,    copies_of<12>,
                                        misaligned_copy, too_much,        no_source,
                                        wide_barrier,    short_warp};
    int n = argc > 1 ? atoi(argv[1]) : 0;
    float *out = (float *)on_device(NULL, 4096);
    if (n < 0 || n >= (int)(sizeof kernels / sizeof *kernels))
        return 2;
    kernels[n]<<<1, kernels[n] == short_warp ? 24 : 32>>>(out);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(error));
    cudaFree(out);
    return error == cudaSuccess;
}
