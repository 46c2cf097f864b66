// check: 0
// prints: 4 (4)
// A correct lock that threads of one block take, with fences: an order by fence and atomic within a
// block.
#include <cstdio>
__global__ void add(int *lock, int *sum)
{
    if (threadIdx.x % 32 == 0)
        for (bool done = false; !done;)
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                *(volatile int *)sum += 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
}
int main()
{
    int *d, h;
    cudaMalloc(&d, 8);
    cudaMemset(d, 0, 8);
    add<<<1, 128>>>(d, d + 1);
    cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost);
    printf("%d (4)\n", h);
    cudaFree(d);
}
