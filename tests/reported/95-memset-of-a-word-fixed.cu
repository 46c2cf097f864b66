// check: 0
// prints: 1010101 2020202
// Correct: each block sets a word of its own.
#include <cstdio>
#include <cstring>
__global__ void mark(int *p)
{
    switch (threadIdx.x) {
    case 0:
        memset(p + blockIdx.x, blockIdx.x + 1, sizeof *p);
    }
}
int main()
{
    int *d, h[2];
    cudaMalloc(&d, sizeof h);
    mark<<<2, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%x %x\n", h[0], h[1]);
    cudaFree(d);
}
