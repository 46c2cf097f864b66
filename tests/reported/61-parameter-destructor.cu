// check: 0
// prints: sum 64, copies 1, destructions 1
// A kernel's parameter with a destructor: nvcc's stub gets it by value, so the launch makes one
// copy and destroys it at the end of its statement; no block or thread of the device copies or
// destroys anything. The variable itself lives on.
#include <cstdio>
int made = 0, gone = 0;
struct Lock {
    int *mutex;
    Lock()
    {
        cudaMalloc(&mutex, 4);
        cudaMemset(mutex, 0, 4);
    }
    Lock(const Lock &o) : mutex(o.mutex)
    {
        made++;
    }
    ~Lock()
    {
        gone++;
    }
};
__global__ void add(Lock l, int *sum)
{
    if (threadIdx.x == 0)
        atomicAdd(sum, 1);
}
int main()
{
    int *d, h;
    cudaMalloc(&d, 4);
    cudaMemset(d, 0, 4);
    Lock l;
    add<<<64, 32>>>(l, d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    printf("sum %d, copies %d, destructions %d\n", h, made, gone);
    cudaFree(l.mutex);
    cudaFree(d);
}
