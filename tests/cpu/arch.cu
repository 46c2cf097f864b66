// __CUDA_ARCH__: what is the device's, what is the host's, and what is both.
#include "check.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
static __inline__ __device__ double atomicAdd(double *p, double v)
{
    return old_way(p, v);
}
#endif

#if __CUDA_ARCH__ >= 900
#define BLOCKS 2
#else
#define BLOCKS 1
#endif

__host__ __device__ int side()
{
#ifdef __CUDA_ARCH__
    return __CUDA_ARCH__;
#else
    return -1;
#endif
}

struct number {
    int n = 0;
    template <class T = int>
    __host__ __device__ number &operator+=(T more)
    {
#ifdef __CUDA_ARCH__
        n += more;
#else
        n -= more;
#endif
        return *this;
    }
};

__device__ int level()
{
#if __CUDA_ARCH__ >= 800
    return 3;
#elif __CUDA_ARCH__ >= 700
    return 2;
#else
    return 1;
#endif
}

#ifdef __CUDA_ARCH__
__device__ __attribute__((noinline)) int only_there()
{
    return 7;
}
[[maybe_unused]] static int nobody() // a function of the host, which has a number
{
    return 6;
}
#else
static __attribute__((noinline)) int only_here()
{
    return 6;
}
static const int nobody = 6;
#endif

constexpr __host__ __device__ int width()
{
#ifdef __CUDA_ARCH__
    return 32;
#else
    return 8;
#endif
}
enum { WIDTH = width() };

__global__ void __launch_bounds__(64, BLOCKS) sides(int *out, double *sum)
{
    number n;
    n += 2;
    out[0] = side();
    out[1] = level();
    out[2] = n.n;
    out[5] = width();
#if defined(__CUDA_ARCH__)
    out[3] = only_there();
    out[4] = __LINE__;
#endif
    atomicAdd(sum, 0.5);
}

#ifndef __CUDA_ARCH__
static int of_the_host()
{
    return 5;
}
#endif

int main()
{
    int *out;
    double *sum;
    number n;
    cudaMallocManaged(&out, 6 * sizeof *out);
    cudaMallocManaged(&sum, sizeof *sum);
    *sum = 0;
    out[3] = out[4] = 0;
    sides<<<1, 1>>>(out, sum);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    n += 2;
    CHECK(out[0] >= 750 && out[0] % 10 == 0);
    CHECK(out[1] == (out[0] >= 800 ? 3 : 2));
    CHECK(out[2] == 2 && out[3] == 7 && out[4] == 89 && *sum == 0.5);
    CHECK(side() == -1 && n.n == -2);
    CHECK(width() == 8 && WIDTH == 8 && out[5] == 32);
#ifdef __CUDA_ARCH__
    CHECK(!"this is the host");
#else
    CHECK(of_the_host() == 5 && only_here() == nobody && __LINE__ == 121);
#endif
    return check_result();
}
