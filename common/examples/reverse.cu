/* reverse: a first kernel of one's own. Each block reverses its part of an array, through
 * shared memory. It is right on many machines, and wrong: chapter 3 finds out why. */
#include <stdio.h>
#include <stdlib.h>

// snippet: reverse
__global__ void reverse(const float *x, float *y)
{
    __shared__ float part[256];
    const int i = threadIdx.x, n = blockDim.x;
    part[i] = x[blockIdx.x * n + i];
    y[blockIdx.x * n + i] = part[n - 1 - i];
}
// end snippet: reverse

int main(void)
{
    const int n = 1024;
    float host[1024], *x, *y;
    int wrong = 0;
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    cudaMalloc(&x, sizeof host);
    cudaMalloc(&y, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<<<4, 256>>>(x, y);
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        wrong += host[i] != (float)(i / 256 * 256 + 255 - i % 256);
    printf("%d of %d wrong\n", wrong, n);
    cudaFree(x);
    cudaFree(y);
    return 0;
}
