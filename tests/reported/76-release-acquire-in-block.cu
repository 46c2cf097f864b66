// check: 0
// prints: 42 (42)
// Correct: warp 0 hands a value to warp 1 by release and acquire of an atomic of the block.
#include <cstdio>
#include <cuda/atomic>
__global__ void pass(int *out)
{
    __shared__ int box;
    __shared__ int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        box = 42;
        cuda::atomic_ref<int, cuda::thread_scope_block>(flag).store(1, cuda::memory_order_release);
    } else if (threadIdx.x == 32) {
        cuda::atomic_ref<int, cuda::thread_scope_block> f(flag);
        while (f.load(cuda::memory_order_acquire) == 0)
            __nanosleep(20);
        *out = box;
    }
}
int main()
{
    int *d, r;
    cudaMalloc(&d, 4);
    pass<<<1, 64>>>(d);
    cudaMemcpy(&r, d, 4, cudaMemcpyDeviceToHost);
    printf("%d (42)\n", r);
    cudaFree(d);
}
