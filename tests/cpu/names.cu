/* A program's globals may have the names that the runtime and its instruments have for their own.
 */
#include <cstdio>

int result = 1, streams = 2, complain = 3, worker_count = 4, objects = 5, cells = 6, written = 7;
int owner = 8, region = 9, grown = 10, order = 11, give_up = 12, product = 13, findings_end = 14;
int block_wait = 15, kernels_ran = 16, need_memory = 17, trace_launch = 18, fiber_switch = 19;
__device__ int shared_at;
__constant__ int box_add = 20;

extern "C" int stream_submit(int a) /* a function, where the runtime has another */
{
    return a + 1;
}

__global__ void sum(int *out, int memory_reset)
{
    __shared__ int set_bits[32];
    set_bits[threadIdx.x] = box_add + memory_reset;
    __syncthreads();
    atomicAdd(&shared_at, set_bits[31 - threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = shared_at;
}

int main()
{
    int *d, h[32], total = result + streams + complain + worker_count + objects + cells + written;
    total += owner + region + grown + order + give_up + product + findings_end + block_wait;
    total += kernels_ran + need_memory + trace_launch + fiber_switch;
    cudaMalloc(&d, sizeof h);
    sum<<<1, 32>>>(d, stream_submit(1));
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("%d wrong\n", (total != 190) + (h[0] != 32 * 22) + (h[31] != 32 * 22));
    return 0;
}
