// check: 0
// prints: sum 64, no error
// The same with a destructor that frees (the Lock of "CUDA by Example"): cudaFree waits for the
// kernel on a GPU, so the kernel ends with 64; here the memory is gone while blocks run.
#include <cstdio>
struct Lock {
    int *mutex;
    Lock()
    {
        cudaMalloc(&mutex, 4);
        cudaMemset(mutex, 0, 4);
    }
    ~Lock()
    {
        cudaFree(mutex);
    }
};
__global__ void add(Lock l, int *sum)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(l.mutex, 0, 1)) {
        }
        __threadfence();
        *sum += 1;
        __threadfence();
        atomicExch(l.mutex, 0);
    }
}
int main()
{
    int *d, h = 0;
    cudaMalloc(&d, 4);
    cudaMemset(d, 0, 4);
    Lock l;
    add<<<64, 32>>>(l, d);
    cudaError_t e = cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    printf("sum %d, %s\n", h, cudaGetErrorString(e));
    cudaFree(d);
}
