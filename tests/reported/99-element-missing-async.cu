// check: 1 uninitialised read
// says: never written
// The last element of a float4 is never written, is copied asynchronously, and is used then.
#include <cstdio>
#include <cuda_pipeline.h>

__global__ void fill(float4 *in)
{
    const int t = threadIdx.x;
    in[t].x = in[t].y = in[t].z = t;
}

__global__ void last(const float4 *in, float2 *out)
{
    __shared__ float4 copied[32];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&copied[t], &in[t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = make_float2(copied[t].z, copied[t].w);
}

int main()
{
    float4 *in;
    float2 *out, host[32];
    cudaMalloc(&in, 32 * sizeof *in);
    cudaMalloc(&out, sizeof host);
    fill<<<1, 32>>>(in);
    last<<<1, 32>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g\n", host[3].x, host[3].y);
    cudaFree(in);
    cudaFree(out);
}
