// check: 0
// prints: 96.5 3
// A kernel writes structures with padding, member by member. Another one copies them whole by
// asynchronous copies, and uses the members only.
#include <cstdio>
#include <cuda_pipeline.h>

struct job {
    int begin, end;
    double scale;
    int tag;
};

__global__ void make(job *jobs)
{
    const int t = threadIdx.x;
    jobs[t].begin = t;
    jobs[t].end = 2 * t;
    jobs[t].scale = 0.5;
    jobs[t].tag = 3;
}

__global__ void sums(const job *jobs, double *out)
{
    __shared__ job kept[32];
    const int t = threadIdx.x;
    for (int i = 0; i < 3; i++)
        __pipeline_memcpy_async((char *)&kept[t] + 8 * i, (const char *)&jobs[t] + 8 * i, 8);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const job &j = kept[31 - t];
    out[t] = j.begin + j.end + j.scale + j.tag;
}

int main()
{
    job *jobs, of[32];
    double *out, host[32];
    cudaMalloc(&jobs, sizeof of);
    cudaMalloc(&out, sizeof host);
    make<<<1, 32>>>(jobs);
    sums<<<1, 32>>>(jobs, out);
    cudaMemcpy(of, jobs, sizeof of, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %d\n", host[0], of[31].tag);
    cudaFree(jobs);
    cudaFree(out);
}
