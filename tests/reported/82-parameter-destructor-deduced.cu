// check: 0
// prints: sum 96, copies 2, destructions 2, moves 1
// As 61, where the compiler deduces the kernel's template arguments, and a parameter that can only
// be moved.
#include <cstdio>
#include <utility>
int made = 0, gone = 0, moved = 0;
struct Lock {
    int *sum;
    explicit Lock(int *s) : sum(s)
    {
    }
    Lock(const Lock &o) : sum(o.sum)
    {
        made++;
    }
    ~Lock()
    {
        gone++;
    }
};
struct Owner {
    int *sum;
    explicit Owner(int *s) : sum(s)
    {
    }
    Owner(Owner &&o) : sum(o.sum)
    {
        o.sum = nullptr;
        moved++;
    }
    ~Owner()
    {
        if (!sum)
            moved += 100;
    }
};
template <class T>
__global__ void add(T l, const int *one)
{
    if (threadIdx.x == 0)
        atomicAdd(l.sum, *one);
    l.sum = nullptr; // of this thread alone
}
template <class T, int n>
__global__ void add_n(T l, int)
{
    if (threadIdx.x < n)
        atomicAdd(l.sum, 1);
    l.sum = nullptr;
}
__global__ void move(Owner o)
{
    if (threadIdx.x == 0)
        atomicAdd(o.sum, 1);
}
int main()
{
    const int one = 1;
    int *d, *c, h;
    cudaMalloc(&d, 4);
    cudaMemset(d, 0, 4);
    cudaMalloc(&c, 4);
    cudaMemcpy(c, &one, 4, cudaMemcpyHostToDevice);
    Lock l(d);
    add<<<16, 32>>>(l, (const int *)c);
    add_n<Lock, 1><<<16, 32>>>(l, 5);
    {
        Owner o(d);
        move<<<64, 32>>>(std::move(o));
        cudaDeviceSynchronize();
        o.sum = d;
    }
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    printf("sum %d, copies %d, destructions %d, moves %d\n", h, made, gone, moved);
    cudaFree(d);
    cudaFree(c);
}
