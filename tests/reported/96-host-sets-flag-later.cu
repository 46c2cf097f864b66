// check: 1 waits in vain
// says: no fault then, but the CPU backend cannot run it
// Right on a GPU: the host sets the flag after the launch. The CPU backend cannot run it, as its
// launch returns when the kernel has ended. The line has to say that.
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
    *flag = 0;
    wait_for_host<<<1, 1>>>(flag, out);
    *(volatile int *)flag = 1;
    cudaDeviceSynchronize();
    cudaFreeHost(flag);
    cudaFreeHost(out);
}
