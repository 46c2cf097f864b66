// check: 0
// prints: 64 (64)
// The atomic builtins of CUDA 12.8 and later (HeCBench's atomicCAS): not known.
#include <cstdio>
__global__ void k(int *x, int *o)
{
    __nv_atomic_fetch_add(x, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __syncthreads();
    if (threadIdx.x == 0)
        *o = __nv_atomic_load_n(x, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
}
int main()
{
    int *d, h;
    cudaMalloc(&d, 8);
    cudaMemset(d, 0, 8);
    k<<<1, 64>>>(d, d + 1);
    cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost);
    printf("%d (64)\n", h);
    cudaFree(d);
}
