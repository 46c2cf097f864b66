// check: 0
// prints: -1 3 5
// A function that is called returns its structure straight into memory, with padding and with bytes
// of 0xff in it. All of it counts as written.
#include <cstdio>

struct hit {
    char is_hit;
    double distance;
    int index, of_mesh;
};

__device__ __noinline__ hit find(int t)
{
    return {1, t / 2.0, -1, t};
}

__global__ void hits(hit *out, int *y)
{
    __shared__ hit found[32];
    const int t = threadIdx.x;
    found[t] = find(t);
    out[t] = find(t);
    __syncthreads();
    y[t] = found[31 - t].index + out[t].index + 1;
}

int main()
{
    hit *out, host[32];
    int *y, sum[32];
    cudaMalloc(&out, sizeof host);
    cudaMalloc(&y, sizeof sum);
    hits<<<1, 32>>>(out, y);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaMemcpy(sum, y, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%d %g %d\n", sum[0], host[6].distance, host[5].of_mesh);
    cudaFree(out);
    cudaFree(y);
}
