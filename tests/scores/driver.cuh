// driver.cuh: a host for kernels that come without one. DRIVE(kernel, grid, block, scalar) launches
// any kernel: each pointer gets memory of its own with small numbers, as two threads that write
// zeros write the same; each integer and float the value `scalar`; and each 8 bytes of a structure
// a pointer.
#pragma once

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

// GPUVerify's annotations: what a kernel requires of its parameters makes the launch do nothing
// where it does not hold.
#define __requires(e)                                                                              \
    if (!(e))                                                                                      \
    return
#define __assert(e) assert(e)
#define __assume(e) (void)0
#define __ensures(e) (void)0
#define __invariant(e) (void)0
#define __global_invariant(e) (void)0
#define __function_wide_invariant(e) (void)0
#define __non_temporal(e) e

static void *memory()
{
    static int numbers[4 << 20];
    for (int i = 0; i < 4 << 20; i++)
        numbers[i] = i % 61;
    void *p = nullptr;
    if (cudaMalloc(&p, sizeof numbers) != cudaSuccess ||
        cudaMemcpy(p, numbers, sizeof numbers, cudaMemcpyHostToDevice) != cudaSuccess)
        exit(3);
    return p;
}

template <class T>
static T driven(int scalar)
{
    using V = typename std::remove_cv<T>::type;
    V v{};
    if constexpr (std::is_pointer<V>::value &&
                  !std::is_function<typename std::remove_pointer<V>::type>::value) {
        v = (V)memory();
    } else if constexpr (std::is_arithmetic<V>::value) {
        v = (V)scalar;
    } else if constexpr (std::is_class<V>::value) {
        for (size_t at = 0; at + sizeof(void *) <= sizeof v; at += sizeof(void *)) {
            void *p = memory();
            memcpy((char *)&v + at, &p, sizeof p);
        }
    }
    return v;
}

template <class... P>
static int drive(void (*kernel)(P...), dim3 grid, dim3 block, int scalar)
{
    kernel<<<grid, block>>>(driven<P>(scalar)...);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
