// check: 1 global race
// says: in kernel inner::scale<int,3>: 4 bytes
// The kernel is launched by cudaLaunchKernel and a pointer in a helper: the line has to name the
// kernel.
#include <cstdio>
namespace inner
{
template <class T, int N>
__global__ void scale(T *p)
{
    p[0] += N * blockIdx.x;
}
} // namespace inner
template <class F>
static void launch(F kernel, int *p)
{
    void *arguments[] = {&p};
    cudaLaunchKernel(kernel, dim3(2), dim3(1), arguments, 0, 0);
}
int main()
{
    int *d, h;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    launch(inner::scale<int, 3>, d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h);
    cudaFree(d);
}
