// check: 0
// prints: 63 (63) no error
// Two halves of a block meet at __syncthreads of two lines (whole warps; a double buffer of
// leimao's GEMM series). The programming guide forbids it; PTX has one barrier 0, and every GPU so
// far goes on. Stopped here, as divergence.
#include <cstdio>
__global__ void pass(int *o)
{
    __shared__ int s[64];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = threadIdx.x;
        __syncthreads();
    } else {
        __syncthreads();
        o[threadIdx.x - 64] = s[127 - threadIdx.x];
    }
}
int main()
{
    int *d, h[64];
    cudaMalloc(&d, sizeof h);
    pass<<<1, 128>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d (63) %s\n", h[0], cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
