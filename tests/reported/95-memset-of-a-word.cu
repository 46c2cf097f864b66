// check: 1 global race
// Two blocks set the same word to different values by a memset, of which g++ makes one store. It
// was not seen.
#include <cstdio>
#include <cstring>
__global__ void mark(int *p)
{
    switch (threadIdx.x) {
    case 0:
        memset(p, blockIdx.x + 1, sizeof *p);
    }
}
int main()
{
    int *d;
    cudaMalloc(&d, sizeof *d);
    mark<<<2, 1>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
