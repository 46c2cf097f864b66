// check: 0
// prints: 0 wrong
// Each form of CUDA's atomic builtins once: values as the programming guide has them. Vectors are
// added element by element.
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ int wrong;
__device__ void is(bool right)
{
    if (!right)
        atomicAdd(&wrong, 1);
}
__global__ void forms(int *x, float *f, unsigned long long *u, unsigned char *c, float4 *v)
{
    const int device = __NV_THREAD_SCOPE_DEVICE;
    int a = 5, b = 0;
    __nv_atomic_store(x, &a, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_load(x, &b, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
    is(b == 5 && device == 3);
    a = 6;
    __nv_atomic_exchange(x, &a, &b, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    is(b == 5 && __nv_atomic_load_n(x, __NV_ATOMIC_RELAXED) == 6);
    is(__nv_atomic_exchange_n(x, 7, __NV_ATOMIC_SEQ_CST) == 6);
    b = 8;
    is(!__nv_atomic_compare_exchange_n(x, &b, 9, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED) &&
       b == 7);
    a = 10;
    is(__nv_atomic_compare_exchange(x, &b, &a, true, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE,
                                    __NV_THREAD_SCOPE_DEVICE) &&
       b == 7);
    is(__nv_atomic_fetch_add(x, 4, __NV_ATOMIC_RELAXED) == 10);
    is(__nv_atomic_fetch_sub(x, 2, __NV_ATOMIC_RELAXED) == 14);
    is(__nv_atomic_fetch_and(x, 6, __NV_ATOMIC_RELAXED) == 12);
    is(__nv_atomic_fetch_or(x, 3, __NV_ATOMIC_RELAXED) == 4);
    is(__nv_atomic_fetch_xor(x, 15, __NV_ATOMIC_RELAXED) == 7);
    is(__nv_atomic_fetch_min(x, -3, __NV_ATOMIC_RELAXED) == 8);
    is(__nv_atomic_fetch_max(x, 2, __NV_ATOMIC_RELAXED) == -3);
    __nv_atomic_add(x, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    is(__nv_atomic_load_n(x, __NV_ATOMIC_SEQ_CST) == 3);
    is(__nv_atomic_fetch_add(f, 1.5f, __NV_ATOMIC_RELAXED) == 0.0f);
    is(__nv_atomic_fetch_sub(f, 0.5f, __NV_ATOMIC_RELAXED) == 1.5f);
    __nv_atomic_store_n(u, 1ull << 40, __NV_ATOMIC_RELEASE);
    is(__nv_atomic_fetch_max(u, 1ull << 41, __NV_ATOMIC_RELAXED) == 1ull << 40);
    __nv_atomic_store_n(c, 200, __NV_ATOMIC_RELAXED);
    is(__nv_atomic_load_n(c, __NV_ATOMIC_RELAXED) == 200);
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    float4 before = atomicAdd(v, make_float4(1, 2, 3, 4));
    is(before.x == 0 && before.w == 0);
    before = atomicAdd_system(v, make_float4(1, 1, 1, 1));
    is(before.x == 1 && before.y == 2 && before.z == 3 && before.w == 4 && v->w == 5);
    const float2 pair = atomicAdd_block((float2 *)v, make_float2(1, 1));
    is(pair.x == 2 && pair.y == 3 && v->y == 4);
    __half2 *h = (__half2 *)(v + 1);
    __nv_bfloat162 *g = (__nv_bfloat162 *)(h + 1);
    atomicAdd(h, __floats2half2_rn(1, 2));
    atomicAdd(g, __floats2bfloat162_rn(3, 4));
    is(__high2float(atomicAdd(h, __floats2half2_rn(1, 2))) == 2);
    is(__low2float(atomicAdd(g, __floats2bfloat162_rn(1, 2))) == 3);
}
int main()
{
    char *d;
    int h = -1;
    cudaMalloc(&d, 96);
    cudaMemset(d, 0, 96);
    forms<<<1, 1>>>((int *)d, (float *)(d + 16), (unsigned long long *)(d + 24),
                    (unsigned char *)(d + 40), (float4 *)(d + 48));
    cudaMemcpyFromSymbol(&h, wrong, sizeof h);
    printf("%d wrong\n", h);
    cudaFree(d);
}
