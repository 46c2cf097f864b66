// check: 1 waits in vain
// says: kernel wait_for_flag (launched at
// The same of a cooperative launch, whose kernel is stopped: both lines have to name it.
__global__ void wait_for_flag(volatile int *flag)
{
    while (*flag == 0) {
    }
}
int main()
{
    int *d;
    cudaMalloc(&d, sizeof *d);
    cudaMemset(d, 0, sizeof *d);
    void *arguments[] = {&d};
    void (*kernel)(volatile int *) = wait_for_flag;
    cudaLaunchCooperativeKernel(kernel, dim3(1), dim3(1), arguments, 0, 0);
    cudaDeviceSynchronize();
}
