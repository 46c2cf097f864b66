// check: 0
// prints: 31 31 5 5 2
// Structures with padding are written member by member, and then copied as a whole: in the kernel,
// and to the host. Nobody reads the padding.
#include <cstdio>

struct at_end {
    double x;
    int n;
};

struct between {
    int n;
    double x;
    char last;
};

__global__ void copy(at_end *first, at_end *out)
{
    __shared__ at_end kept[32];
    const int t = threadIdx.x;
    kept[t].x = first[t].x = t / 2.0f;
    kept[t].n = first[t].n = t;
    __syncthreads();
    out[t] = kept[31 - t];
    out[t + 32] = first[31 - t];
}

__global__ void members(between *out)
{
    const int t = threadIdx.x;
    out[t].n = t;
    out[t].x = t + 0.5;
    out[t].last = 2;
}

int main()
{
    at_end *a, *copied, host_a[32], host_copied[64];
    between *b, host_b[32];
    cudaMalloc(&a, sizeof host_a);
    cudaMalloc(&copied, sizeof host_copied);
    cudaMalloc(&b, sizeof host_b);
    copy<<<1, 32>>>(a, copied);
    members<<<1, 32>>>(b);
    cudaMemcpy(host_a, a, sizeof host_a, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_copied, copied, sizeof host_copied, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_b, b, sizeof host_b, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d\n", host_copied[0].n, host_copied[32].n, host_a[5].n, host_b[5].n,
           host_b[6].last);
    cudaFree(a);
    cudaFree(copied);
    cudaFree(b);
}
