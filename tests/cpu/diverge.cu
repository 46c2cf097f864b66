/* Kernels that a GPU would hang in or compute nonsense with: each must be reported. */
#include <cstdio>
#include <cstdlib>

const unsigned FULL = 0xffffffffu;

__global__ void two_places()
{
    if (threadIdx.x % 32 < 16)
        __syncthreads(); // line 10
    else
        __syncthreads(); // line 12
}
__global__ void lanes_exited(int *p)
{
    if (threadIdx.x >= 20)
        return;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [0];" : "=r"(*p)); // line 18
}
__global__ void lanes_elsewhere()
{
    if (threadIdx.x % 32 < 16)
        __syncwarp(); // line 23
    else
        __syncthreads(); // line 25
}
__global__ void left_out()
{
    if (threadIdx.x == 3)
        __syncwarp(0xf0); // line 30
}
__global__ void wrong_width(int *p)
{
    if (threadIdx.x < 16)
        p[threadIdx.x] = __shfl_xor_sync(0xffff, 1, 1, 12); // line 35
}
__global__ void different_masks()
{
    __ballot_sync(threadIdx.x < 8 ? 0xffffu : FULL, 1); // line 39
}

// Block 1 does not count on, and the blocks after it wait for that.
__global__ void waits_in_vain(int *p)
{
    if (threadIdx.x == 0)
        while (atomicAdd(p, 0) != (int)blockIdx.x)
            __nanosleep(20); // line 47
    __syncthreads();         // line 48
    if (threadIdx.x == 0 && blockIdx.x != 1)
        atomicAdd(p, 1);
}

int main(int, char **argv)
{
    int *p;
    cudaMalloc(&p, 4096);
    switch (atoi(argv[1])) {
    case 0:
        two_places<<<2, 96>>>();
        break;
    case 1:
        lanes_exited<<<1, 64>>>(p);
        break;
    case 2:
        lanes_elsewhere<<<1, 64>>>();
        break;
    case 3:
        left_out<<<1, 32>>>();
        break;
    case 4:
        wrong_width<<<1, 32>>>(p);
        break;
    case 5:
        different_masks<<<1, 32>>>();
        break;
    case 6:
        cudaMemset(p, 0, 4);
        waits_in_vain<<<3, 64>>>(p);
        break;
    }
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
