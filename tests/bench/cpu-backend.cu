/* What the CPU backend's own machinery costs. Host times of the backend, never GPU times. */
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

__global__ void barriers(int rounds)
{
    for (int i = 0; i < rounds; i++)
        __syncthreads();
}

__global__ void shuffles(float *out, int rounds)
{
    float v = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        v = __shfl_xor_sync(0xffffffffu, v, 1);
    out[threadIdx.x] = v;
}

__global__ void plain(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__device__ float block_reduce(float v, float *s, bool maximum)
{
    for (int d = 16; d; d /= 2) {
        float w = __shfl_xor_sync(0xffffffffu, v, d);
        v = maximum ? fmaxf(v, w) : v + w;
    }
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = s[0];
    for (unsigned i = 1; i < blockDim.x / 32; i++)
        v = maximum ? fmaxf(v, s[i]) : v + s[i];
    __syncthreads();
    return v;
}

// q, k, v [H][S][D] -> o [H][S][D]; one block a query and head, one reduction a key for the score
__global__ void attention(const float *q, const float *k, const float *v, float *o, int S, int D)
{
    __shared__ float s[32], score[256];
    const size_t head = (size_t)blockIdx.y * S * D;
    for (int j = 0; j < S; j++) {
        float dot = 0;
        for (int d = threadIdx.x; d < D; d += blockDim.x)
            dot += q[head + (size_t)blockIdx.x * D + d] * k[head + (size_t)j * D + d];
        dot = block_reduce(dot, s, false);
        if (threadIdx.x == 0)
            score[j] = dot / sqrtf(D);
    }
    __syncthreads();
    float mine = threadIdx.x < (unsigned)S ? score[threadIdx.x] : -INFINITY;
    float most = block_reduce(mine, s, true), e = expf(mine - most);
    float sum = block_reduce(e, s, false);
    if (threadIdx.x < (unsigned)S)
        score[threadIdx.x] = e / sum;
    __syncthreads();
    for (int d = threadIdx.x; d < D; d += blockDim.x) {
        float a = 0;
        for (int j = 0; j < S; j++)
            a += score[j] * v[head + (size_t)j * D + d];
        o[head + (size_t)blockIdx.x * D + d] = a;
    }
}

template <class F>
static double seconds(F f)
{
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        auto start = std::chrono::steady_clock::now();
        f();
        std::chrono::duration<double> t = std::chrono::steady_clock::now() - start;
        best = t.count() < best ? t.count() : best;
    }
    return best;
}

int main()
{
    const int S = 64, H = 4, D = 2048, rounds = 2000;
    const size_t n = (size_t)H * S * D;
    float *x, *q;
    cudaMalloc(&x, 4096 * 256 * sizeof(float));
    cudaMalloc(&q, 4 * n * sizeof(float));
    std::vector<float> h(3 * n);
    for (size_t i = 0; i < h.size(); i++)
        h[i] = (float)(i * 2654435761u % 1000) / 1000 - 0.5f;
    cudaMemcpy(q, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice);
    for (int threads = 32; threads <= 1024; threads *= 2) {
        double t = seconds([&] { barriers<<<1, threads>>>(rounds); });
        printf("fiber switch at __syncthreads, %4d threads  %6.1f ns\n", threads,
               t / rounds / threads * 1e9);
    }
    double t = seconds([&] { shuffles<<<1, 256>>>(x, rounds); });
    printf("fiber switch at a shuffle,      256 threads  %6.1f ns\n", t / rounds / 256 * 1e9);
    t = seconds([&] { plain<<<4096, 256>>>(x); });
    printf("thread of a kernel without barriers          %6.1f ns (all cores)\n",
           t / 4096 / 256 * 1e9);
    t = seconds([&] { plain<<<1, 1>>>(x); });
    printf("launch of one thread                         %6.0f ns\n", t * 1e9);
    t = seconds([&] { attention<<<dim3(S, H), 256>>>(q, q + n, q + 2 * n, q + 3 * n, S, D); });
    printf("attention S=64 H=4 D=2048                    %6.3f s\n", t);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        puts(cudaGetErrorString(error));
    return error != cudaSuccess;
}
