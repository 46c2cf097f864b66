/* half_add.cuh: c = a + b in fp16, eight elements per thread: step 38's best version, for the steps
 * that follow.
 *
 * Any n, and any addresses of halves. If the three arrays have the same offset from a multiple of
 * 16 bytes, loads and stores are of 16 bytes; otherwise of one element. c may be a or b itself.
 * Every element is the correctly rounded sum.
 */
#pragma once

#include "harness/harness.h"

#include <cuda_fp16.h>
#include <string.h>

enum { ADD_THREADS = 256 };

struct eight {
    __half2 pair[4];
};

// from, to: multiples of 16 bytes
static __device__ __forceinline__ struct eight load_eight(const __half *from)
{
    const uint4 words = *(const uint4 *)from;
    struct eight x;
    memcpy((void *)&x, &words, sizeof x);
    return x;
}

static __device__ __forceinline__ void store_eight(__half *to, struct eight x)
{
    uint4 words;
    memcpy(&words, (const void *)&x, sizeof words);
    *(uint4 *)to = words;
}

static __device__ __forceinline__ struct eight sum_of(struct eight x, struct eight y)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        x.pair[k] = __hadd2(x.pair[k], y.pair[k]);
    }
    return x;
}

// a, b [n] -> c [n], one element per thread
// cost: 6 n bytes, n additions
static __global__ void add_plain(const __half *a, const __half *b, __half *c, int64_t n)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = __hadd(a[i], b[i]);
    }
}

// a, b [n] -> c [n]. `before` elements stand in front of the first multiple of 16 bytes. A thread
// adds eight elements from there on; the elements before and the rest are added one per thread.
// cost: 6 n bytes, n additions
static __global__ void add_eight(const __half *a, const __half *b, __half *c, int64_t n, int before)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t eights = (n - before) / 8;
    const int after = (n - before) % 8;
    if (i < eights) {
        const int64_t at = before + 8 * i;
        store_eight(c + at, sum_of(load_eight(a + at), load_eight(b + at)));
    }
    if (i < before + after) {
        const int64_t at = i < before ? i : n - after + (i - before);
        c[at] = __hadd(a[at], b[at]);
    }
}

static inline unsigned add_blocks(int64_t threads)
{
    return (unsigned)((threads + ADD_THREADS - 1) / ADD_THREADS);
}

// One launch for any addresses. n is at least 1.
static inline void add_halves(const __half *a, const __half *b, __half *c, int64_t n,
                              cudaStream_t stream)
{
    const uintptr_t off = (uintptr_t)c % 16;
    if ((uintptr_t)a % 16 != off || (uintptr_t)b % 16 != off) {
        add_plain<<<add_blocks(n), ADD_THREADS, 0, stream>>>(a, b, c, n);
    } else {
        const int64_t to_next = (int64_t)((16 - off) % 16 / sizeof(__half));
        const int before = (int)(to_next < n ? to_next : n);
        const int64_t eights = (n - before) / 8;
        add_eight<<<add_blocks(eights > 0 ? eights : 1), ADD_THREADS, 0, stream>>>(a, b, c, n,
                                                                                   before);
    }
    CUDA_CHECK_LAUNCH();
}
