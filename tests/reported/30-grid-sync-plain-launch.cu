// check: 1 stopped kernel
// grid.sync() in a kernel launched with <<<>>>.
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rot(int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    cg::this_grid().sync();
    b[i] = a[(i + blockDim.x) % n];
}
int main()
{
    int *d, h[128];
    cudaMalloc(&d, 2 * sizeof h);
    int *a = d, *b = d + 128;
    rot<<<2, 64>>>(a, b);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d (64) %s\n", h[0], cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
