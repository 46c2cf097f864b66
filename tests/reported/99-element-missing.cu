// check: 1 uninitialised read
// says: never written
// The last element of a float4 is never written, and the float4 is copied as a whole. That is no
// padding: no store of 8 bytes is near.
#include <cstdio>

__global__ void reversed(float *out)
{
    __shared__ float4 kept[32];
    const int t = threadIdx.x;
    kept[t].x = kept[t].y = kept[t].z = t;
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
