// check: 1 stopped kernel
// prints: an illegal memory access was encountered
// A kernel that is stopped for an illegal access which no instrument sees (a null function
// pointer): the line comes, and then "check: no findings" and exit code 0.
#include <cstdio>
typedef int (*F)(int);
__device__ F table[2];
__global__ void call(int *o)
{
    *o = table[1](3);
}
int main()
{
    int *d, h = 0;
    cudaMalloc(&d, 4);
    F z[2] = {0, 0};
    cudaMemcpyToSymbol(table, z, sizeof z);
    call<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
