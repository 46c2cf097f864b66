/* bulk.cuh: mbarriers and bulk copies for this suite, an instruction a function. They take sm_90.
 */
#pragma once

#include "suite.cuh"

#include <cstdint>

static __device__ __forceinline__ unsigned at(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

static __device__ __forceinline__ void init(uint64_t *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)), "r"(arrivals)
                 : "memory");
}

static __device__ __forceinline__ void fence_init()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Thread 0 makes a barrier, and the block waits until all see it. */
static __device__ __forceinline__ void make(uint64_t *barrier, int arrivals)
{
    if (threadIdx.x == 0) {
        init(barrier, arrivals);
        fence_init();
    }
    __syncthreads();
}

static __device__ __forceinline__ void expect(uint64_t *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(barrier)),
                 "r"(bytes)
                 : "memory");
}

static __device__ __forceinline__ void arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(barrier)) : "memory");
}

static __device__ __forceinline__ void wait(uint64_t *barrier, int parity)
{
    asm volatile("{\n.reg .pred done;\nWAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra WAIT;\n}" ::"r"(at(barrier)),
                 "r"(parity)
                 : "memory");
}

static __device__ __forceinline__ void fence_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

static __device__ __forceinline__ void fence_async_global()
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}

static __device__ __forceinline__ void load(void *tile, const void *from, int bytes,
                                            uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                 "%2, [%3];" ::"r"(at(tile)),
                 "l"(from), "r"(bytes), "r"(at(barrier))
                 : "memory");
}

static __device__ __forceinline__ void store(void *to, const void *tile, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(at(tile)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Until all stores of the thread but the latest n are done, or have read their tiles. */
template <int n>
static __device__ __forceinline__ void stored()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}

template <int n>
static __device__ __forceinline__ void stored_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}

enum { TILE = 256, THREADS = 64, BYTES = 4 * TILE };

/* What a thread makes of a tile: the sum of 4 numbers, which no two threads share. */
static __device__ __forceinline__ int sum_of(const int *tile)
{
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (i + 1) * tile[i * THREADS + threadIdx.x];
    return sum;
}

inline std::vector<int> sums(const std::vector<int> &in, int tiles)
{
    std::vector<int> want(THREADS);
    for (int k = 0; k < tiles; k++)
        for (int t = 0; t < THREADS; t++)
            for (int i = 0; i < 4; i++)
                want[t] += (k + 1) * (i + 1) * in[k * TILE + i * THREADS + t];
    return want;
}
