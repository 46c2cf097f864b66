/* instruments: five kernels, timed by the host's clock. tests/bench/instruments builds it plain,
 * with
 * --count and with --check, and compares. Prints a kernel and its milliseconds a line, then the
 * memory that the process had at most, in MiB; the kernels work on 64 MiB of it. */
#include "../../common/cuda/block_reduce.cuh"
#include <chrono>
#include <cstdio>
#include <cuda_runtime.h>
#include <sys/resource.h>

// x [n], y [n]: one load and one store an element.
__global__ void copy(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

// x [n] -> y [n / 256]: a tree in shared memory, a barrier a level.
__global__ void sums(const float *x, float *y)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            part[t] += part[t + half];
    }
    if (t == 0)
        y[blockIdx.x] = part[0];
}

// a [n][n], b [n][n] -> c [n][n] in tiles of 16 x 16 through shared memory.
__global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[16][16], t[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[y][x] = a[row * n + k + x];
        t[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += s[y][j] * t[j][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// q [S][D], k [S][D] -> s [S][S]: each thread one product of rows, as naive attention has it.
__global__ void scores(const float *q, const float *k, float *s, int S, int D)
{
    int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= S)
        return;
    float sum = 0;
    for (int d = 0; d < D; d++)
        sum += q[i * D + d] * k[j * D + d];
    s[i * S + j] = expf(sum / D);
}

// q [H][S][D], k [H][S][D], v [H][S][D] -> o [H][S][D], a block a query: a thread a key, two
// reductions, then a thread a column. As in steps 02 to 04, with all in one kernel.
__global__ void attention(const float *q, const float *k, const float *v, float *o, int S, int D)
{
    extern __shared__ float score[]; // [S]
    __shared__ float partial[32];
    const size_t head = (size_t)blockIdx.y * S * D;
    q += head + (size_t)blockIdx.x * D;
    k += head;
    v += head;
    float largest = -INFINITY, sum = 0;
    for (int j = threadIdx.x; j < S; j += blockDim.x) {
        float dot = 0;
        for (int d = 0; d < D; d++)
            dot += q[d] * k[(size_t)j * D + d];
        score[j] = dot;
        largest = fmaxf(largest, dot);
    }
    largest = block_max(largest, partial);
    for (int j = threadIdx.x; j < S; j += blockDim.x)
        sum += expf(score[j] - largest);
    sum = block_sum(sum, partial);
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float out = 0;
        for (int j = 0; j < S; j++)
            out += expf(score[j] - largest) * v[(size_t)j * D + d];
        o[head + (size_t)blockIdx.x * D + d] = out / sum;
    }
}

template <class F>
static void timed(const char *name, F launch)
{
    launch();
    cudaDeviceSynchronize();
    auto begin = std::chrono::steady_clock::now();
    launch();
    cudaDeviceSynchronize();
    auto end = std::chrono::steady_clock::now();
    printf("%s\t%.3f\n", name, std::chrono::duration<double, std::milli>(end - begin).count());
}

int main()
{
    const int n = 1 << 23;
    float *x, *y;
    cudaMalloc(&x, n * sizeof *x);
    cudaMalloc(&y, n * sizeof *y);
    cudaMemset(x, 0, n * sizeof *x);
    timed("copy", [=] { copy<<<n / 256, 256>>>(x, y, n); });
    timed("sums", [=] { sums<<<n / 256, 256>>>(x, y); });
    timed("product", [=] { product<<<dim3(16, 16), dim3(16, 16)>>>(x, x, y, 256); });
    timed("scores", [=] { scores<<<dim3(1, 256), 256>>>(x, x, y, 256, 64); });
    timed("attention", [=] { // 4 heads, 64 queries and keys, D = 512
        attention<<<dim3(64, 4), 256, 64 * sizeof(float)>>>(x, x, x, y, 64, 512);
    });
    cudaFree(x);
    cudaFree(y);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("memory\t%.0f\n", usage.ru_maxrss / 1024.0);
    return 0;
}
