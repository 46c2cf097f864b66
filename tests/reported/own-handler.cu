// check: 0
// prints: caught on the host
// prints: 7
// A program may catch its own faults: the handler that it set before its first launch is called for
// a fault of the host, and a kernel's work goes on being right after it.
#include <csetjmp>
#include <csignal>
#include <cstdio>

static sigjmp_buf back;

static void caught(int)
{
    siglongjmp(back, 1);
}

__global__ void set(int *x)
{
    *x = 7;
}

int main()
{
    signal(SIGSEGV, caught);
    int *x, result = 0;
    cudaMalloc(&x, sizeof *x);
    set<<<1, 1>>>(x);
    if (sigsetjmp(back, 1) == 0)
        *(volatile int *)16 = 1;
    else
        puts("caught on the host");
    set<<<1, 1>>>(x);
    cudaMemcpy(&result, x, sizeof result, cudaMemcpyDeviceToHost);
    printf("%d\n", result);
    cudaFree(x);
}
