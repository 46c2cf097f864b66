// check: 0
// prints: 37 6 3
// A function that is called returns its structure straight into memory. These bytes are written,
// though g++ reports no store of them.
#include <cstdio>

struct five {
    float of[5];
};

__device__ __noinline__ five count_from(float x)
{
    return {{x, x + 1, x + 2, x + 3, x + 4}};
}

__global__ void sums(five *out, float *y)
{
    __shared__ five kept[32];
    const int t = threadIdx.x;
    kept[t] = count_from(t);
    out[t] = count_from(t);
    __syncthreads();
    y[t] = kept[31 - t].of[2] + out[t].of[4];
}

int main()
{
    five *out, *copy, host[32];
    float *y, sum[32];
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&copy, sizeof host);
    cudaMalloc(&y, sizeof sum);
    sums<<<1, 32>>>(out, y);
    cudaMemcpy(copy, out, sizeof host, cudaMemcpyDeviceToDevice);
    cudaMemcpy(host, copy, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(sum, y, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%g %g %g\n", sum[0], host[3].of[3], host[3].of[0]);
    cudaFree(out);
    cudaFree(copy);
    cudaFree(y);
}
