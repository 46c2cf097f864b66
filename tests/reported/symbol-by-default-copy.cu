// check: 1 host access
// prints: 2 (2) no error
// cudaMemcpyDefault takes the name of a __device__ variable for memory of the host: the copy
// succeeds, and the device's variable keeps its value.
#include <cstdio>
__device__ int x = 2;
__global__ void read(int *out)
{
    *out = x;
}
int main()
{
    int five = 5, *d, got;
    cudaMalloc(&d, sizeof five);
    cudaMemcpy(&x, &five, sizeof five, cudaMemcpyDefault);
    read<<<1, 1>>>(d);
    cudaMemcpy(&got, d, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d (2) %s\n", got, cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
