/* counted: kernels whose counts follow from reading them. Prints for each kernel the counters that
 * are not 0, in tests/instrument.t's order of columns. Each runs with one warp unless it says more.
 */
#include "../../common/cuda/count.cuh"
#include "cpu/trace.h"
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Lane i goes round i % 4 + 1 times: 4 loads of x, though lanes leave one after the other.
__global__ void trips(const float *x, float *y)
{
    float sum = 0;
    for (int i = 0; i <= (int)threadIdx.x % 4; i++)
        sum += x[i * 32 + threadIdx.x];
    y[threadIdx.x] = sum;
}

// Odd lanes skip the second load of each round: 4 full loads and 4 half ones.
__global__ void skips(const float *x, float *y)
{
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        sum += x[i * 32 + threadIdx.x];
        if (threadIdx.x % 2)
            continue;
        sum += x[i * 32 + threadIdx.x + 256];
    }
    y[threadIdx.x] = sum;
}

// A loop in a loop, both of different lengths by lane: 2 + 1 rounds of the inner one.
__global__ void nested(const float *x, float *y)
{
    float sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < (i == 0 && threadIdx.x < 16 ? 2 : 1); j++)
            sum += x[i * 64 + j * 32 + threadIdx.x];
    y[threadIdx.x] = sum;
}

// A function that is not inlined: its load is deeper than the next one, and goes first.
__device__ __noinline__ float called(const float *p)
{
    return *p;
}
__global__ void calls(const float *x, float *y)
{
    float v = 0;
    if (threadIdx.x < 16)
        v = called(x + threadIdx.x);
    v += x[threadIdx.x + 32];
    y[threadIdx.x] = v;
}

// The same with a function that lies behind the kernel in the program.
__device__ __attribute__((section(".text.behind"))) float behind(const float *p);
__global__ void calls_ahead(const float *x, float *y)
{
    float v = 0;
    if (threadIdx.x < 16)
        v = behind(x + threadIdx.x);
    v += x[threadIdx.x + 32];
    y[threadIdx.x] = v;
}
__device__ __noinline__ float behind(const float *p)
{
    return *p;
}

// Half of the lanes return at once.
__global__ void leaves(const float *x, float *y)
{
    if (threadIdx.x >= 16)
        return;
    y[threadIdx.x] = x[threadIdx.x];
}

// More notes than a lane has room for: 500 rounds, one of them with one more load for lane 0.
__global__ void many(const float *x, float *y)
{
    float sum = 0;
    for (int i = 0; i < 500; i++) {
        sum += x[i + threadIdx.x];
        if (threadIdx.x == 0 && i == 300)
            sum += x[64];
    }
    y[threadIdx.x] = sum;
}

// A halves' shuffle between two loads: still 2 loads of x.
__global__ void shuffles(const float *x, float *y)
{
    float v = x[threadIdx.x];
    if (threadIdx.x < 16)
        v += __shfl_xor_sync(0xffff, v, 1);
    v += x[threadIdx.x + 32];
    unsigned all = __ballot_sync(0xffffffff, v > 0);
    y[threadIdx.x] = v + all;
}

// 64 threads, 2 warps: 2 barriers, 2 atomic requests in shared and 2 in global memory.
__device__ int total;
__global__ void atomics(const float *x, float *y)
{
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, (int)x[threadIdx.x]);
    __syncthreads();
    atomicAdd(&total, 1);
    y[threadIdx.x] = sum;
}

// Calls of special functions: sin 64 (one of them by sincosf), cos 32, exp 64, log 32, pow 32,
// sqrt 32, rsqrt 32, div 96. The constant quotient and the whole numbers' are free.
__global__ void specials(const float *x, float *y)
{
    float a = x[threadIdx.x] + 2, s, c;
    sincosf(a, &s, &c);
    float v = s + c + sinf(a + 1) + expf(a) + __expf(a + 1) + logf(a) + powf(a, 1.5f) + sqrtf(a);
    v += rsqrtf(a) + a / (v + 3) + __fdividef(a, 3) + 1.0f / 3.0f + (float)(threadIdx.x / 3);
    v /= a;
    y[threadIdx.x] = v;
}

struct three {
    float x, y, z;
};
// 12 bytes a lane are three requests of 4 bytes, each of 12 sectors. A memcpy of 16 bytes a lane is
// one request of 16 sectors on either side.
__global__ void structs(const float *x, float *y, int bytes)
{
    three t = ((const three *)x)[threadIdx.x];
    memcpy(y + 4 * threadIdx.x, x + 4 * threadIdx.x, bytes);
    y[threadIdx.x + 128] = t.x + t.y + t.z;
}

// An operator of a class is no variable of the device, though a [ follows its name.
struct Row {
    float v[4];
    __device__ float &operator[](int i)
    {
        return v[i];
    }
};

// What an intrinsic or an operator of 16-bit numbers returns is stored: two pairs and one number.
__global__ void halves(const float *x, float *y)
{
    const __half2 p = ((const __half2 *)x)[threadIdx.x];
    ((__half2 *)y)[threadIdx.x] = __hadd2(p, p);
    ((__half2 *)y)[threadIdx.x + 32] = p * p;
    ((__half *)y)[threadIdx.x + 128] = __hadd(p.x, p.y);
}

// An array whose address is passed on is read as local memory. Its stores are the compiler's to
// follow, and count as registers.
__global__ void locals(const float *x, float *y)
{
    float a[4];
    for (int i = 0; i < 4; i++)
        a[i] = x[threadIdx.x + i];
    y[threadIdx.x] = called(a + threadIdx.x % 4);
}

// Constant memory is no request. One pointer leads half of the lanes to shared memory.
__constant__ float scale[2] = {2, 3};
__global__ void spaces(const float *x, float *y)
{
    __shared__ float s[32];
    s[threadIdx.x] = scale[threadIdx.x % 2];
    __syncwarp();
    const float *p = threadIdx.x < 16 ? s : x;
    y[threadIdx.x] = p[threadIdx.x];
}

// What is added to is loaded first, and four zeros in a row are four stores, each of 16 sectors.
__global__ void updates(const float *x, float *y)
{
    y[threadIdx.x] += x[threadIdx.x];
    float *z = y + 64 + 4 * threadIdx.x;
    z[0] = z[1] = z[2] = z[3] = 0;
}

// Named counters: 32, and 3 for each of two lanes.
__global__ void named(const float *x, float *y)
{
    COUNT("visits", 1);
    if (threadIdx.x < 2)
        COUNT("by three", 3);
    y[threadIdx.x] = x[threadIdx.x];
}

static void show()
{
    const struct cpu_kernel_counts *list;
    const char *const *names;
    cudaDeviceSynchronize();
    int n = cpu_instrument()->counts(&list), n_names = cpu_instrument()->named_counters(&names);
    for (int i = 0; i < n; i++) {
        printf("%s:", list[i].kernel);
        for (int k = CPU_BARRIERS; k < CPU_COUNTERS; k++)
            if (list[i].value[k] && k != CPU_GLOBAL_LD_BYTES && k != CPU_GLOBAL_ST_BYTES)
                printf(" %s=%d", cpu_instrument()->counter_names[k], (int)list[i].value[k]);
        for (int k = 0; k < n_names; k++)
            if (cpu_instrument()->named_count(i, names[k]))
                printf(" %s=%d", names[k], (int)cpu_instrument()->named_count(i, names[k]));
        printf("\n");
    }
    cpu_instrument()->counts_reset();
}

int main()
{
    float *x, *y;
    cudaMalloc(&x, 4096);
    cudaMalloc(&y, 4096);
    cudaMemset(x, 0, 4096);
    cpu_instrument()->counts_reset();
    trips<<<1, 32>>>(x, y);
    skips<<<1, 32>>>(x, y);
    const void *by_pointer = (const void *)nested;
    void *arguments[] = {&x, &y}; // what is kept of them until it runs is not counted either
    cudaLaunchKernel(by_pointer, dim3(1), dim3(32), arguments, 0, 0);
    calls<<<1, 32>>>(x, y);
    calls_ahead<<<1, 32>>>(x, y);
    leaves<<<1, 32>>>(x, y);
    many<<<1, 32>>>(x, y);
    shuffles<<<1, 32>>>(x, y);
    atomics<<<1, 64>>>(x, y);
    specials<<<1, 32>>>(x, y);
    structs<<<1, 32>>>(x, y, 16);
    halves<<<1, 32>>>(x, y);
    locals<<<1, 32>>>(x, y);
    spaces<<<1, 32>>>(x, y);
    updates<<<1, 32>>>(x, y);
    named<<<1, 32>>>(x, y);
    show();
    cudaFree(x);
    cudaFree(y);
    return 0;
}
