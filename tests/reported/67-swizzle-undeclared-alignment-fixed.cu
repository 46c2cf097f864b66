// check: 0
// prints: 1 62 (1 62) no error
// XOR of address bits 4 to 6 in dynamic shared memory that declares no alignment: right on every
// GPU so far (the dynamic part begins at a multiple of 1024 where nothing static is in front), out
// of bounds here.
#include <cstdio>
__global__ void pass(const int *in, int *out)
{
    extern __shared__ __align__(1024) int s[];
    unsigned base = (unsigned)__cvta_generic_to_shared(s), t = threadIdx.x;
    unsigned a = base + t * 16;
    a ^= ((t / 8) % 8) * 16;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(in[t]) : "memory");
    __syncthreads();
    unsigned o = t ^ 1, b = base + o * 16;
    b ^= ((o / 8) % 8) * 16;
    int v;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(b) : "memory");
    out[t] = v;
}
int main()
{
    int h[64], *d;
    for (int i = 0; i < 64; i++)
        h[i] = i;
    cudaMalloc(&d, 2 * sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    pass<<<1, 64, 1024>>>(d, d + 64);
    cudaMemcpy(h, d + 64, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d (1 62) %s\n", h[0], h[63], cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
