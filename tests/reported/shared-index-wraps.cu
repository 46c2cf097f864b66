// check: 1 out of bounds
// prints: 61 62 no error
// Unsigned indices that wrap in shared memory, stores and atomics too: right where they lead into
// the array, and a finding where they lead in front of it.
#include <cstdio>
__global__ void wraps(const int *x, int *o, unsigned i)
{
    __shared__ int s[64];
    __shared__ short h[64];
    s[threadIdx.x] = x[threadIdx.x];
    h[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        int *p = s + 32;
        p[i - 4] = p[i - 3] + p[i - 2] + p[i - 1] - 61; // s[28] = 29
        atomicAdd(&p[~i], (h + 10)[-i - 6]);            // h[4], to s[31]
        o[0] = p[~i] + s[28] - 3;
        o[1] = p[~i] + s[28] - 2;
        o[2] = s[i - 9];
    }
}
int main()
{
    int h[64], *d;
    for (int i = 0; i < 64; i++)
        h[i] = i;
    cudaMalloc(&d, 2 * sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    wraps<<<1, 64>>>(d, d + 64, 0);
    cudaMemcpy(h, d + 64, 8, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", h[0], h[1], cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
