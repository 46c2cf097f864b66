/* cuda::barrier, cuda::pipeline and the functions of C beside them: who waits for whom, which
 * copies are there after which wait, shapes that cp.async does not copy. */
#include "check.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <cuda_pipeline_primitives.h>
#include <vector>

#ifndef __CUDACPU__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

namespace cg = cooperative_groups;
typedef cuda::barrier<cuda::thread_scope_block> block_barrier;

const int N = 64, TILES = 5; // numbers in a tile

// Each round, who is not of the last warp arrives early and waits late.
__global__ void rounds(int *out)
{
    __shared__ block_barrier bar;
    __shared__ int mine[96];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        mine[threadIdx.x] = (k + 1) * (int)threadIdx.x;
        block_barrier::arrival_token token = bar.arrive();
        bar.wait(std::move(token));
        sum += mine[95 - threadIdx.x];
        bar.arrive_and_wait();
    }
    out[threadIdx.x] = sum;
}

// 96 threads, of which 32 leave in the first phase; then one of a warp arrives for two.
__global__ void fewer(int *out)
{
    __shared__ block_barrier bar;
    __shared__ int cell[64];
    if (threadIdx.x == 0)
        init(&bar, 96);
    __syncthreads();
    if (threadIdx.x >= 64) {
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    cell[threadIdx.x] = (int)threadIdx.x + 1;
    bar.arrive_and_wait();
    out[threadIdx.x] = cell[63 - threadIdx.x];
    if (threadIdx.x >= 32) {
        (void)bar.arrive();
        return;
    }
    bar.arrive_and_wait();
    cell[threadIdx.x] = (int)threadIdx.x + 100;
    (void)bar.arrive(2); // the phase is the fourth, so its parity is 1
    bar.wait_parity(true);
    out[threadIdx.x] += cell[31 - threadIdx.x];
}

// Each thread copies; all read after the barrier. Two stages with a barrier each.
__global__ void staged(const float *x, float *y)
{
    __shared__ alignas(16) float stage[2][N];
    __shared__ block_barrier full[2];
    if (threadIdx.x == 0) {
        init(&full[0], blockDim.x);
        init(&full[1], blockDim.x);
    }
    __syncthreads();
    const int t = threadIdx.x;
    const auto one = cuda::aligned_size_t<4>(4);
    cuda::memcpy_async(&stage[0][t], x + t, one, full[0]);
    float sum = 0;
    for (int k = 0; k < TILES; k++) {
        if (k + 1 < TILES)
            cuda::memcpy_async(&stage[(k + 1) % 2][t], x + N * (k + 1) + t, one, full[(k + 1) % 2]);
        full[k % 2].arrive_and_wait();
        sum += (k + 1) * stage[k % 2][N - 1 - t];
        __syncthreads();
    }
    y[t] = sum;
}

// A group copies, once a size that is no multiple of a piece, twice from shared memory.
__global__ void by_group(const char *x, char *y)
{
    __shared__ alignas(16) char cell[3][128];
    __shared__ block_barrier bar;
    const auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, cell[0], x, cuda::aligned_size_t<16>(128), bar);
    bar.arrive_and_wait();
    cuda::memcpy_async(block, cell[1], cell[0], cuda::aligned_size_t<16>(128), bar);
    bar.arrive_and_wait();
    cuda::memcpy_async(block, (void *)cell[2], (const void *)cell[1], 101, bar);
    bar.arrive_and_wait();
    cuda::memcpy_async(block, (int *)y, (const int *)cell[2], 101, bar);
    bar.arrive_and_wait();
}

// A stage is used by the thread that filled it.
template <int stages>
__global__ void thread_pipeline(const float4 *x, float4 *y)
{
    __shared__ float4 stage[stages][N];
    const int t = threadIdx.x;
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    float4 sum = {0, 0, 0, 0};
    for (int k = 0, next = 0; k < TILES; k++) {
        for (; next < TILES && next < k + stages; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[next % stages][t], x + N * next + t,
                               cuda::aligned_size_t<16>(16), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const float4 v = stage[k % stages][t];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w * (k + 1);
        pipe.consumer_release();
    }
    y[t] = sum;
}

// All fill and all use; with roles the last 16 threads fill, and by a count the even ones do.
enum parts { ALL, ROLES, COUNT };
template <int stages, parts how>
__global__ void block_pipeline(const float *x, float *y)
{
    __shared__ float stage[stages][N];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    const bool fills = how == ALL || (how == ROLES ? t >= 48 : t % 2 == 0);
    const bool uses = how == ALL || !fills;
    const int mine = how == ALL ? t : how == ROLES ? t % 48 : t / 2;
    const int fillers = how == ALL ? N : how == ROLES ? 16 : N / 2;
    const int users = how == ROLES ? N - fillers : fillers;
    auto pipe = [&] {
        if constexpr (how == ALL)
            return cuda::make_pipeline(block, &state);
        else if constexpr (how == ROLES)
            return cuda::make_pipeline(block, &state,
                                       fills ? cuda::pipeline_role::producer
                                             : cuda::pipeline_role::consumer);
        else
            return cuda::make_pipeline(block, &state, (size_t)(N / 2));
    }();
    float sum = 0;
    for (int k = 0, next = 0; k < TILES; k++) {
        for (; fills && next < TILES && next < k + stages; next++) {
            pipe.producer_acquire();
            for (int i = mine; i < N; i += fillers)
                cuda::memcpy_async(&stage[next % stages][i], x + N * next + i, sizeof(float), pipe);
            pipe.producer_commit();
        }
        if (!uses)
            continue;
        pipe.consumer_wait();
        for (int i = mine; i < N; i += users)
            sum += (k + 1) * stage[k % stages][N - 1 - i];
        pipe.consumer_release();
    }
    y[t] = sum;
}

// What a thread has given to a barrier it may wait for by itself, too.
__global__ void either_wait(const float *x, float *y)
{
    __shared__ float cell[3][N];
    __shared__ block_barrier bar;
    const int t = threadIdx.x;
    if (t == 0)
        init(&bar, N);
    __syncthreads();
    auto pipe = cuda::make_pipeline();
    cuda::memcpy_async(&cell[0][t], x + t, sizeof(float), bar);
    cuda::memcpy_async(&cell[1][t], x + N + t, sizeof(float), pipe);
    cuda::memcpy_async(&cell[2][t], x + 2 * N + t, sizeof(float), bar);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    const float own = cell[0][t] + 2 * cell[1][t] + 3 * cell[2][t];
    bar.arrive_and_wait();
    y[N * blockIdx.x + t] = own + cell[0][N - 1 - t];
}

// Who is the only one to arrive knows that a phase is complete, unless a copy is to come.
__global__ void alone(const float *x, float *y)
{
    __shared__ float cell;
    __shared__ block_barrier bar;
    init(&bar, 1);
    cuda::memcpy_async(&cell, x, sizeof cell, bar);
    bar.arrive_and_wait();
    block_barrier::arrival_token token = bar.arrive();
    token = bar.arrive();
    bar.wait(std::move(token));
    *y = cell;
}

// Of ten groups the first ones, whatever number is left; what is left out is counted from there.
__global__ void all_but(const float *x, float *y)
{
    enum { GROUPS = 10 };
    __shared__ float cell[GROUPS][N];
    const int t = threadIdx.x;
    for (int k = 0; k < GROUPS; k++) {
        __pipeline_memcpy_async(&cell[k][t], x + N * k + t, sizeof(float));
        __pipeline_commit();
    }
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        __pipeline_wait_prior(GROUPS - 1 - k);
        y[N * k + t] = cell[k][t];
    }
    auto pipe = cuda::make_pipeline();
    for (int k = 0; k < 2; k++) {
        cuda::memcpy_async(&cell[k][t], x + N * (k + GROUPS) + t, sizeof(float), pipe);
        pipe.producer_commit();
    }
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    y[N * GROUPS + t] = cell[0][t];
    pipe.consumer_wait();
    y[N * (GROUPS + 1) + t] = cell[1][t];
}

// The functions of C: groups, zeros, and copies that arrive.
__global__ void primitives(const float4 *x, float4 *y)
{
    __shared__ float4 cell[2][N];
    __shared__ __mbarrier_t bar;
    const int t = threadIdx.x;
    if (t == 0)
        __mbarrier_init(&bar, N);
    __syncthreads();
    __pipeline_memcpy_async(&cell[0][t], x + t, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&cell[1][t], x + N + t, 16, 8);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    const float4 a = cell[0][t];
    __pipeline_wait_prior(0);
    const float4 b = cell[1][t];
    y[t] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    __syncthreads();
    __pipeline_memcpy_async(&cell[0][t], x + 2 * N + t, 16, 4);
    __pipeline_arrive_on(&bar);
    const __mbarrier_token_t token = __mbarrier_arrive(&bar);
    const unsigned pending = __mbarrier_token_pending_count(token);
    if (pending < 1 || pending > N)
        __trap();
    while (!__mbarrier_test_wait(&bar, token))
        ;
    y[N + t] = cell[0][N - 1 - t];
    nvcuda::experimental::pipeline pipe;
    nvcuda::experimental::memcpy_async(cell[1][t], x[3 * N + t], pipe);
    pipe.commit_and_wait();
    y[2 * N + t] = cell[1][t];
}

// Bulk copies that the barrier counts, and the arrival of inline PTX that is one of those it is
// made for.
__global__ void counted(const float4 *x, float4 *y)
{
    __shared__ alignas(16) float4 cell[2][N];
    __shared__ block_barrier bar;
    const int t = threadIdx.x;
    if (t == 0) {
        init(&bar, N + 1); // the first thread arrives twice in each phase
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    block_barrier::arrival_token token = 0;
    if (t == 0) {
        cuda::device::memcpy_async_tx(&cell[0][0], x, cuda::aligned_size_t<16>(sizeof cell[0]),
                                      bar);
        token = cuda::device::barrier_arrive_tx(bar, 2, sizeof cell[0]);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    y[t] = cell[0][N - 1 - t];
    __pipeline_memcpy_async(&cell[1][t].x, &x[N + t].x, 8);
    __pipeline_memcpy_async(&cell[1][t].z, &x[N + t].z, 8);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(
                     (unsigned)__cvta_generic_to_shared(cuda::device::barrier_native_handle(bar)))
                 : "memory");
    if (t == 0)
        (void)bar.arrive();
    bar.wait_parity(true);
    y[N + t] = cell[1][N - 1 - t];
}

template <class T, class F>
static void same(const char *name, const T *y, size_t n, F want)
{
    checks++;
    for (size_t i = 0; i < n; i++)
        if (y[i] != want((int)i)) {
            failures++;
            printf("FAILED %s: element %zu is %g, not %g\n", name, i, (double)y[i],
                   (double)want((int)i));
            return;
        }
}

int main()
{
    float *x, *y;
    cudaMallocManaged(&x, 4 * TILES * N * sizeof(float));
    cudaMallocManaged(&y, 4 * TILES * N * sizeof(float));
    for (int i = 0; i < 4 * TILES * N; i++)
        x[i] = (float)(i * 7 % 64);
    int *out = (int *)y;

    rounds<<<3, 96>>>(out);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("rounds", out, 96, [](int i) { return 10 * (95 - i); });
    fewer<<<1, 96>>>(out);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("fewer", out, 64, [](int i) { return 64 - i + (i < 32 ? 131 - i : 0); });

    const auto tiles = [=](int i) {
        float sum = 0;
        for (int k = 0; k < TILES; k++)
            sum += (float)(k + 1) * x[N * k + N - 1 - i];
        return sum;
    };
    staged<<<1, N>>>(x, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("staged", y, N, tiles);

    cudaMemset(y, 0xee, 101);
    by_group<<<1, 48>>>((const char *)x, (char *)y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("by_group", (char *)y, 101, [=](int i) { return ((const char *)x)[i]; });

    const auto by_threads = [=](const char *name) {
        CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
        same(name, y, 4 * N, [=](int i) {
            float sum = 0;
            for (int k = 0; k < TILES; k++)
                sum += (i % 4 == 3 ? (float)(k + 1) : 1.f) * x[4 * N * k + i];
            return sum;
        });
    };
    thread_pipeline<1><<<1, N>>>((const float4 *)x, (float4 *)y);
    by_threads("thread_pipeline<1>");
    thread_pipeline<3><<<1, N>>>((const float4 *)x, (float4 *)y);
    by_threads("thread_pipeline<3>");

    block_pipeline<1, ALL><<<1, N>>>(x, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("block_pipeline<1, ALL>", y, N, tiles);
    block_pipeline<2, ALL><<<1, N>>>(x, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("block_pipeline<2, ALL>", y, N, tiles);
    block_pipeline<2, ROLES><<<1, N>>>(x, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("block_pipeline<2, ROLES>", y, N,
         [=](int i) { return i >= 48 ? 0 : tiles(i) + (i < 16 ? tiles(i + 48) : 0); });
    block_pipeline<3, COUNT><<<1, N>>>(x, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("block_pipeline<3, COUNT>", y, N,
         [=](int i) { return i % 2 == 0 ? 0 : tiles(i / 2) + tiles(i / 2 + 32); });

    either_wait<<<2, N>>>(x, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("either_wait", y, 2 * N, [=](int i) {
        const int t = i % N;
        return x[t] + 2 * x[N + t] + 3 * x[2 * N + t] + x[N - 1 - t];
    });
    alone<<<1, 1>>>(x + 1, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("alone", y, 1, [=](int) { return x[1]; });

    all_but<<<1, N>>>(x, y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("all_but", y, 12 * N, [=](int i) { return x[i]; });

    primitives<<<1, N>>>((const float4 *)x, (float4 *)y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("primitives", y, 12 * N, [=](int i) {
        const int e = i % 4, t = i / 4 % N;
        return i < 4 * N   ? x[i] + (e < 2 ? x[4 * N + i] : 0)
               : i < 8 * N ? (e < 3 ? x[8 * N + 4 * (N - 1 - t) + e] : 0)
                           : x[12 * N + i - 8 * N];
    });
    counted<<<1, N>>>((const float4 *)x, (float4 *)y);
    CHECK_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    same("counted", y, 8 * N, [=](int i) {
        const int tile = i / (4 * N), t = i / 4 % N;
        return x[4 * N * tile + 4 * (N - 1 - t) + i % 4];
    });
    cudaFree(x);
    cudaFree(y);
    return check_result();
}
