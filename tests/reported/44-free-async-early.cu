// check: 1 stream race
// Memory is freed in one stream while a kernel of another still uses it.
#include <cstdio>
__global__ void twice(const int *a, int *b)
{
    b[threadIdx.x] = 2 * a[threadIdx.x];
}
__global__ void fill(int *a)
{
    a[threadIdx.x] = threadIdx.x;
}
int main()
{
    int *a, *b, *c, h[64];
    cudaStream_t s, t;
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaMalloc(&b, 256);
    cudaMallocAsync(&a, 256, s);
    fill<<<1, 64, 0, s>>>(a);
    cudaStreamSynchronize(s);
    twice<<<1, 64, 0, t>>>(a, b);
    cudaFreeAsync(a, s);
    cudaMallocAsync(&c, 256, s);
    cudaMemsetAsync(c, 0, 256, s);
    cudaDeviceSynchronize();
    cudaMemcpy(h, b, 256, cudaMemcpyDeviceToHost);
    printf("%d (126)\n", h[63]);
    cudaFreeAsync(c, s);
    cudaFree(b);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
}
