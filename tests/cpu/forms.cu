/* Launches and functions in the forms that CUDA C++ allows: deduced templates, members, macros,
 * lambdas. */
#include <cstdio>
template <int B, class T>
__global__ void k(T *p, int n)
{
    p[threadIdx.x] = n + B;
}
struct Runner {
    int *p;
    int n;
    void go(cudaStream_t s)
    {
        k<32><<<dim3(1), 32, 0, s>>>(p, this->n);
    }
};
#define LAUNCH(x, ...) x<<<1, 32>>>(__VA_ARGS__)
__host__ __device__ __forceinline__ float sq(float a)
{
    return a * a;
}
__noinline__ __device__ float cube(float a)
{
    return sq(a) * a;
}
__global__ void kf(float *p, const float *q = nullptr)
{
    p[0] = cube(2) + (q ? 1 : 0);
}
template <class F>
__global__ void map(F f, int n)
{
    if ((int)threadIdx.x < n)
        f(threadIdx.x);
}
int main()
{
    int *p;
    float *f;
    cudaMallocManaged(&p, 128);
    cudaMallocManaged(&f, 128);
    Runner{p, 3}.go(0);
    cudaDeviceSynchronize();
    printf("%d\n", p[5]);
    LAUNCH((k<8, int>), p, 1);
    printf("%d\n", p[5]);
    kf<<<1, 1>>>(f, nullptr);
    printf("%g\n", f[0]);
    map<<<1, 32>>>([=] __device__(int i) { p[i] = i * 7; }, 32);
    printf("%d\n", p[5]);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
