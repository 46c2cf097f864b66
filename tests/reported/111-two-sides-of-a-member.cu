// check: 0
// prints: inf inf inf 2 1 2 3
// Functions that one side of a file declares for the device and the other for the host, or for
// both: kernels call the device's, and the host its own.
#include <cstdio>
#include <limits>
#ifdef __CUDA_ARCH__
#include <math_constants.h>
#endif
struct infinite {
#ifdef __CUDA_ARCH__
    __device__ operator double() const
    {
        return CUDART_INF;
    }
    __device__ operator float() const
    {
        return CUDART_INF_F;
    }
    __device__ static int side()
    {
        return 2;
    }
#else
    __host__ __device__ operator double() const
    {
        return std::numeric_limits<double>::infinity();
    }
    __host__ __device__ operator float() const
    {
        return std::numeric_limits<float>::infinity();
    }
    __host__ __device__ static int side()
    {
        return 1;
    }
#endif
};
#ifdef __CUDA_ARCH__
__device__ int where()
{
    return 2;
}
__host__ __device__ int either()
{
    return 3;
}
#else
int where()
{
    return 1;
}
__device__ int either()
{
    return 4;
}
#endif
__global__ void k(float *f, int *i)
{
    f[0] = infinite();
    f[1] = (float)(double)infinite();
    i[0] = infinite::side();
    i[1] = where();
    i[2] = either();
}
int main()
{
    float *f, hf[2];
    int *i, hi[3];
    cudaMalloc(&f, sizeof hf);
    cudaMalloc(&i, sizeof hi);
    k<<<1, 1>>>(f, i);
    cudaMemcpy(hf, f, sizeof hf, cudaMemcpyDeviceToHost);
    cudaMemcpy(hi, i, sizeof hi, cudaMemcpyDeviceToHost);
    const float largest = infinite();
    if (hi[0] != 2 || infinite::side() != 1)
        return 1;
    printf("%g %g %g %d %d %d %d\n", hf[0], hf[1], largest, hi[0], where(), hi[1], hi[2]);
    cudaFree(f);
    cudaFree(i);
}
