// check: 0
// prints: 2 3
// __NVCC__ is defined, as nvcc defines it: this header-like part is for it alone.
#include <cstdio>
#ifdef __NVCC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
BOTH inline int next(int i)
{
    return i + 1;
}
#ifdef __NVCC__
__global__ void k(int *p)
{
    *p = next(2);
}
int launch()
{
    int *d, h;
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return h;
}
#else
int launch()
{
    return 0;
}
#endif
int main()
{
    printf("%d %d\n", next(1), launch());
}
