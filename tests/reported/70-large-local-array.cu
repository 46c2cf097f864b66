// check: 0
// prints: no error
// 400 KB of local memory a thread, which a GPU has (up to 512 KB): stopped here as an illegal
// access, of no variable.
#include <cstdio>
__global__ void big(int *o)
{
    char b[400000];
    for (int i = 0; i < 400000; i++)
        b[i] = i + threadIdx.x;
    int s = 0;
    for (int i = 0; i < 400000; i += 7)
        s += b[i * 31ll % 400000];
    o[threadIdx.x] = s;
}
int main()
{
    int *d;
    cudaMalloc(&d, 256);
    big<<<1, 64>>>(d);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(d);
}
