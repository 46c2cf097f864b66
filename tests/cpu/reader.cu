/* What a reader of a CUDA tutorial types: kernels, a macro for errors, a main. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TILE 16
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = call;                                                                    \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void vecAdd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void matMul(float *a, float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < n / TILE; t++) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t * TILE + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

int main(void)
{
    int n = 64, size = n * n * sizeof(float);
    float *a, *b, *c;
    float *ha = (float *)malloc(size), *hc = (float *)malloc(size);
    for (int i = 0; i < n * n; i++)
        ha[i] = i % 5;
    CHECK(cudaMalloc((void **)&a, size));
    CHECK(cudaMalloc((void **)&b, size));
    CHECK(cudaMalloc((void **)&c, size));
    CHECK(cudaMemcpy(a, ha, size, cudaMemcpyHostToDevice));
    vecAdd<<<(n * n + 255) / 256, 256>>>(a, a, b, n * n);
    CHECK(cudaGetLastError());
    dim3 blocks(n / TILE, n / TILE), threads(TILE, TILE);
    matMul<<<blocks, threads>>>(a, b, c, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(hc, c, size, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += ha[i * n + k] * 2 * ha[k * n + j];
            wrong += hc[i * n + j] != sum;
        }
    printf("%d wrong\n", wrong);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return wrong != 0;
}
