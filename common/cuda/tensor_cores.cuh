/* tensor_cores.cuh: the instructions of steps 22 and later that C has no operator for, one per
 * function.
 *
 * A warp holds a matrix in fragments: some registers per lane, two halves or one float each. With g
 * = lane / 4 and t = lane % 4 a lane has of
 *     a [16][16] halves  a[0]: row g, columns 2t and 2t+1    a[1]: row g+8, the same columns
 *                        a[2]: row g, columns 2t+8, 2t+9     a[3]: row g+8, the same columns
 *     b [16][8]  halves  b[0]: rows 2t and 2t+1 of column g  b[1]: rows 2t+8 and 2t+9 of column g
 *     c [16][8]  floats  c[0], c[1]: row g, columns 2t, 2t+1 c[2], c[3]: row g+8, the same columns
 * so the four lanes of one g, a quad, hold two rows of c. Fragments: PTX ISA, mma.m16n8k16.
 */
#pragma once

#include <cuda_fp16.h>
#include <stdint.h>

// snippet: mma
// c += a b. All 32 lanes call it together; the same holds for every function here whose name begins
// with warp_. cost: 4096 flops
static __device__ __forceinline__ void warp_mma(float *c, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
// end snippet: mma

// The address of p in shared memory, in the form that the instructions below take.
static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// snippet: ldmatrix
// Loads four matrices [8][8] of halves from shared memory. Lane l passes the address of row l % 8
// of matrix l / 8, a multiple of 16; it gets m[i] of matrix i: row g, columns 2t and 2t+1.
static __device__ __forceinline__ void warp_load_matrices(uint32_t *m, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(row)
                 : "memory");
}

// The same, with each matrix transposed: m[i] is column g, rows 2t and 2t+1.
static __device__ __forceinline__ void warp_load_transposed(uint32_t *m, uint32_t row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(row)
                 : "memory");
}
// end snippet: ldmatrix

// Stores four matrices into shared memory. Lane l passes the address of row l % 8 of matrix l / 8.
// Hopper and later; on older devices lanes ask each other for the addresses of their rows.
static __device__ __forceinline__ void warp_store_matrices(uint32_t row, const uint32_t *m)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row), "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
                 : "memory");
#else
    for (int i = 0; i < 4; i++) {
        const uint32_t at = __shfl_sync(0xffffffffu, row, i * 8 + threadIdx.x % 32 / 4);
        asm volatile("st.shared.b32 [%0], %1;"
                     :
                     : "r"(at + threadIdx.x % 4 * 4), "r"(m[i])
                     : "memory");
    }
#endif
}

// The same, with each matrix transposed: m[i] is column g, rows 2t and 2t+1. Hopper and later.
static __device__ __forceinline__ void warp_store_transposed(uint32_t row, const uint32_t *m)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
                 :
                 : "r"(row), "r"(m[0]), "r"(m[1]), "r"(m[2]), "r"(m[3])
                 : "memory");
}

// Starts a copy of 16 bytes into shared memory: `bytes` of them (16 or 0) are read, the others are
// zeros. Both addresses are multiples of 16.
static __device__ __forceinline__ void copy_async(uint32_t to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(from), "r"(bytes)
                 : "memory");
}

// The same for 4 bytes (4 or 0), one float; both addresses are multiples of 4.
static __device__ __forceinline__ void copy_async_float(uint32_t to, const float *from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(to), "l"(from), "r"(bytes)
                 : "memory");
}

// Makes a cp.async group of the copies that this thread has started since its last group.
static __device__ __forceinline__ void copy_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most the GROUPS youngest cp.async groups of this thread are in flight.
template <int GROUPS>
static __device__ __forceinline__ void copy_async_wait()
{
    static_assert(GROUPS >= 0, "a wait leaves 0 groups in flight, or more");
    asm volatile("cp.async.wait_group %0;" : : "n"(GROUPS) : "memory");
}

static const float LOG2E = 1.4426950408889634f; // e^x = 2^(LOG2E x)

// 2^x, relative error 2^-22; results below 2^-126 are 0.
static __device__ __forceinline__ float exp2_approx(float x)
{
    float y;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Two floats rounded to halves, low in the lower 16 bits.
static __device__ __forceinline__ uint32_t pack_halves(float low, float high)
{
    uint32_t both;
    asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}

// The maximum and the sum of one value per lane over the four lanes of a quad; each of them gets
// the result.
static __device__ __forceinline__ float quad_max(float v)
{
    v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 1));
    return fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 2));
}

static __device__ __forceinline__ float quad_sum(float v)
{
    v += __shfl_xor_sync(0xffffffffu, v, 1);
    return v + __shfl_xor_sync(0xffffffffu, v, 2);
}
