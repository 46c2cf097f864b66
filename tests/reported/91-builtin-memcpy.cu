// check: 1 global race
// A copy by __builtin_memcpy of more bytes than the element has: two threads write the same bytes.
// Its size is known to the compiler and no power of two (GPUVerify's
// testsuite/CUDA/memcpy/fail_overstep).
#include <cstdio>
struct element {
    short x, y;
    char z;
};
__global__ void copy(const element *in, element *out)
{
    __builtin_memcpy(&out[threadIdx.x], &in[threadIdx.x], 2 * sizeof *out);
}
int main()
{
    char h[64], *d;
    for (int i = 0; i < 64; i++)
        h[i] = i;
    cudaMalloc(&d, 2 * sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    copy<<<1, 2>>>((element *)d, (element *)(d + sizeof h));
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(d);
}
