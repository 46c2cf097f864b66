// check: 1 global race
// The last block of a sum takes its ticket in relaxed order, so nothing orders the parts of the
// other blocks before its loads.
#include <cstdio>
__global__ void sum(int *parts, int *ticket, int *out)
{
    parts[blockIdx.x] = (int)blockIdx.x + 1;
    int before = __nv_atomic_fetch_add(ticket, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    if (before != (int)gridDim.x - 1)
        return;
    int all = 0;
    for (unsigned i = 0; i < gridDim.x; i++)
        all += parts[i];
    *out = all;
}
int main()
{
    int *d, h;
    cudaMalloc(&d, 10 * sizeof(int));
    cudaMemset(d, 0, 10 * sizeof(int));
    sum<<<8, 1>>>(d, d + 8, d + 9);
    cudaMemcpy(&h, d + 9, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d (36)\n", h);
    cudaFree(d);
}
