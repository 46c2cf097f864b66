// check: 0
// prints: 42
// Correct: the host sets the flag before the launch.
#include <cstdio>
__global__ void wait_for_host(volatile int *flag, int *out)
{
    while (*flag == 0) {
    }
    *out = 42;
}
int main()
{
    int *flag, *out;
    cudaMallocHost(&flag, sizeof *flag);
    cudaMallocHost(&out, sizeof *out);
    *flag = 1;
    wait_for_host<<<1, 1>>>(flag, out);
    cudaDeviceSynchronize();
    printf("%d\n", *out);
    cudaFreeHost(flag);
    cudaFreeHost(out);
}
