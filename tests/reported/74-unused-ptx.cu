// check: 0
// prints: 5 (5)
// A helper of another architecture in a header that nothing instantiates: nvcc compiles the file,
// cudacc refuses it.
#include <cstdio>
template <int N>
__device__ void load(int *r, const void *p)
{
    static_assert(N == 8 || N == 4, "");
    if constexpr (N == 8)
        asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]),
                       "=r"(r[6]), "=r"(r[7])
                     : "l"(p));
    else
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "l"(p));
}
__global__ void k(const int4 *a, int *o)
{
    int r[4];
    load<4>(r, a);
    *o = r[0] + r[3];
}
int main()
{
    int4 *d, v = {1, 2, 3, 4};
    int *o, h;
    cudaMalloc(&d, 16);
    cudaMalloc(&o, 4);
    cudaMemcpy(d, &v, 16, cudaMemcpyHostToDevice);
    k<<<1, 1>>>(d, o);
    cudaMemcpy(&h, o, 4, cudaMemcpyDeviceToHost);
    printf("%d (5)\n", h);
    cudaFree(d);
    cudaFree(o);
}
