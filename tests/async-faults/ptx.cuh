/* ptx.cuh: asynchronous copies, tensor cores and numbered barriers for this suite, an instruction a
 * function. */
#pragma once

#include "suite.cuh"

#include <cuda_fp16.h>

static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* 16 bytes to shared memory, of which `read` are copied and the others 0. */
static __device__ __forceinline__ void copy_16(void *to, const void *from, int read = 16)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(read)
                 : "memory");
}

static __device__ __forceinline__ void copy_4(void *to, const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
}

/* y[0] += v, y[1] += v, y[2] += v and y[3] += v, each of them atomically. It takes sm_90. */
static __device__ __forceinline__ void add_to_4(float *y, float v)
{
    asm volatile("red.global.add.v4.f32 [%0], {%1, %1, %1, %1};" ::"l"(y), "f"(v) : "memory");
}

static __device__ __forceinline__ unsigned load_acquire(const unsigned *p)
{
    unsigned v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

/* The same, and what came before the value is there for who makes a fence after it. */
static __device__ __forceinline__ unsigned load_relaxed(const unsigned *p)
{
    unsigned v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

/* Adds 1. Who sees it by load_acquire sees what the thread did before, or knew of. */
static __device__ __forceinline__ void add_release(unsigned *p)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
}

/* The same, and who sees it knows no more. */
static __device__ __forceinline__ void add_relaxed(unsigned *p)
{
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
}

/* Closes a group of copies. */
static __device__ __forceinline__ void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* Waits until all groups of the thread but the latest n are there. */
template <int n>
static __device__ __forceinline__ void wait_group()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}

/* Four 8 x 8 matrices: lane 8 i + r has the address of row r of matrix i. */
static __device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

/* Two: lanes 0 to 15 have the addresses. */
static __device__ __forceinline__ void ldmatrix_x2_trans(unsigned (&r)[2], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
}

// a 16 x 16, b 16 x 8, c 16 x 8: c += a b
static __device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4],
                                           const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ __forceinline__ void named_sync(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

static __device__ __forceinline__ void named_arrive(int id, int threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/* The two numbers of a register. */
static __device__ __forceinline__ float2 halves(unsigned r)
{
    __half2 h;
    memcpy(&h, &r, sizeof h);
    return __half22float2(h);
}

/* What a lane has of a 16 x 16 matrix after ldmatrix_x4, a number for each of its four pairs. */
static __device__ __forceinline__ void store_pairs(float *y, const unsigned (&r)[4])
{
    for (int i = 0; i < 4; i++) {
        const float2 v = halves(r[i]);
        y[4 * threadIdx.x + i] = 10 * v.x + v.y;
    }
}

/* And what that should be, of one warp. */
inline std::vector<float> pairs_of(const std::vector<int> &in)
{
    std::vector<float> want(128);
    for (int t = 0; t < 32; t++)
        for (int i = 0; i < 4; i++) {
            const int row = i % 2 * 8 + t / 4, column = i / 2 * 8 + t % 4 * 2;
            want[4 * t + i] = (float)(10 * in[16 * row + column] + in[16 * row + column + 1]);
        }
    return want;
}
