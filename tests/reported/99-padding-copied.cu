// check: 0
// prints: 31 31 5 31 31 31 5 2
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

struct __align__(16) three
{
    float x, y, n;
};

template <class T>
__global__ void copy(T *first, T *out)
{
    __shared__ T kept[32];
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

__global__ void whole(const three *in, three *out)
{
    const int t = threadIdx.x;
    out[t].x = in[t].x;
    out[t].y = in[t].x;
    out[t].n = in[t].n;
}

int main()
{
    at_end *a, *copied, host_a[32], host_copied[64];
    between *b, host_b[32];
    three *c, *d, host_c[64];
    cudaMalloc(&a, sizeof host_a);
    cudaMalloc(&copied, sizeof host_copied);
    cudaMalloc(&b, sizeof host_b);
    cudaMalloc(&c, sizeof host_c);
    cudaMalloc(&d, sizeof host_c);
    copy<<<1, 32>>>(a, copied);
    members<<<1, 32>>>(b);
    copy<<<1, 32>>>(c, d);
    whole<<<1, 32>>>(d, c);
    cudaMemcpy(host_a, a, sizeof host_a, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_copied, copied, sizeof host_copied, cudaMemcpyDeviceToHost);
    cudaMemcpy(host_b, b, sizeof host_b, cudaMemcpyDeviceToHost);
    cudaMemcpy2D(host_c, sizeof *c, c, sizeof *c, 12, 32, cudaMemcpyDeviceToHost);
    printf("%d %d %d %g %d %d %d %d\n", host_copied[0].n, host_copied[32].n, host_a[5].n,
           host_c[0].n, host_copied[0].n, host_copied[32].n, host_b[5].n, host_b[6].last);
    cudaFree(a);
    cudaFree(copied);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
}
