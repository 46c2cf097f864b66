// check: 1 host race
// The host writes to managed memory that a kernel of its still uses.
#include <cstdio>
__global__ void sum(const int *x, int n, int *out)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += x[i];
    *out = s;
}
int main()
{
    int *x, *o;
    cudaMallocManaged(&x, 1000 * sizeof(int));
    cudaMallocManaged(&o, 4);
    for (int i = 0; i < 1000; i++)
        x[i] = 1;
    sum<<<1, 1>>>(x, 1000, o);
    for (int i = 0; i < 1000; i++)
        x[i] = 2;
    cudaDeviceSynchronize();
    printf("%d (1000)\n", *o);
    cudaFree(x);
    cudaFree(o);
}
