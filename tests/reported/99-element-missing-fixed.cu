// check: 0
// prints: 0 4
// As 99-element-missing.cu, with all elements written.
#include <cstdio>

__global__ void reversed(float *out)
{
    __shared__ float4 kept[32];
    const int t = threadIdx.x;
    kept[t].x = kept[t].y = kept[t].z = t;
    kept[t].w = 4;
    __syncthreads();
    const float4 copied = kept[31 - t];
    out[t] = copied.w + 31 - t - copied.x;
}

int main()
{
    float *out, host[32];
    cudaMalloc(&out, sizeof host);
    reversed<<<1, 32>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d %g\n", host[0] != host[31], host[3]);
    cudaFree(out);
}
