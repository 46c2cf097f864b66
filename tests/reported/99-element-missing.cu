// check: 1 uninitialised read
// says: never written
// The last element of a float4 is never written. That may be padding where the float4 is copied as
// a whole, and is found where the element is used.
#include <cstdio>

__global__ void reversed(float *out)
{
    __shared__ float4 kept[32], copied[32];
    const int t = threadIdx.x;
    kept[t].x = kept[t].y = kept[t].z = t;
    __syncthreads();
    copied[31 - t] = kept[t];
    __syncthreads();
    out[t] = copied[t].w + 31 - t - copied[t].x;
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
