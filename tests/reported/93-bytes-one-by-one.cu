// check: 1 global race
// Two threads each write six bytes, one after another; the first two bytes of the second are the
// last two of the first. Each byte counts, not only the last one that a thread has written within
// four (after GPUVerify's memcpy/notexactdiv).
#include <cstdio>
__global__ void fill(char *out)
{
    for (int i = 0; i < 6; i++)
        out[1 + 4 * threadIdx.x + i] = (char)(10 * threadIdx.x + i);
}
int main()
{
    char *d;
    cudaMalloc(&d, 64);
    fill<<<1, 2>>>(d);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(d);
}
