/* wgmma.cuh: products of four warps for this suite, an instruction a function, and tiles for them:
 * 64 rows of 64 numbers, 128 bytes a row, of which the swizzle changes the order. */
#pragma once

#include "ptx.cuh"

#include <stdint.h>

enum { SIDE = 64, TILE = SIDE * SIDE * 2, GROUP = 128 };

/* A tile whose rows are those of a, or the columns of b; 16 of k are 32 bytes. Turned, its rows are
 * along k, 16 of k are 2048 bytes, and `leading` bytes lie between 64 columns and the next 64. */
static __device__ __forceinline__ uint64_t tile(const void *p, int leading = 0)
{
    return (uint64_t)(shared_address(p) >> 4) | (uint64_t)(leading >> 4) << 16 | 64ull << 32 |
           1ull << 62;
}

/* The same so many bytes on. */
static __device__ __forceinline__ uint64_t further(uint64_t descriptor, int bytes)
{
    return descriptor + (uint64_t)(bytes >> 4);
}

static __device__ __forceinline__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

static __device__ __forceinline__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int n>
static __device__ __forceinline__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
}

/* 16 of k from 16 k on, of a tile whose rows are along k. */
static __device__ __forceinline__ uint64_t at_k(const void *p, int k)
{
    return further(tile(p), k * 32);
}

/* What ordinary stores wrote is there for wgmma. */
static __device__ __forceinline__ void proxy_fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

template <int n>
static __device__ __forceinline__ void more_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}

template <int n>
static __device__ __forceinline__ void fewer_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}

/* c [64][64] += a b, or = a b where `add` is 0: a [64][16] and b [16][64] in shared memory. */
template <int turn_b = 0>
static __device__ __forceinline__ void multiply(float (&c)[32], uint64_t a, uint64_t b, int add = 1)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, p, 1, 1, 0, %35; }"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
          "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
          "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
          "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
          "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
        : "l"(a), "l"(b), "r"(add), "n"(turn_b)
        : "memory");
}

/* The same with a in registers: the fragment that mma has of each 16 rows. */
static __device__ __forceinline__ void multiply(float (&c)[32], const uint32_t (&a)[4], uint64_t b,
                                                int add = 1)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
        "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, p, 1, 1, 0; }"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
          "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
          "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
          "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
          "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)
        : "memory");
}

/* c [64][128] += a b, or = a b where `add` is 0: a [64][16] and b [16][128] in shared memory. */
template <int turn_b = 0>
static __device__ __forceinline__ void multiply(float (&c)[64], uint64_t a, uint64_t b, int add = 1)
{
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %66, 0; "
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                 "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
                 "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                 "%64, %65, p, 1, 1, 0, %67; }"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]),
                   "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]),
                   "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]),
                   "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]),
                   "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),
                   "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]),
                   "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]),
                   "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]),
                   "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]),
                   "+f"(c[54]), "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]),
                   "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
                 : "l"(a), "l"(b), "r"(add), "n"(turn_b)
                 : "memory");
}

/* x [rows][64] -> tile, by `threads` threads of which this is number t */
static __device__ __forceinline__ void store_tile(char *tile, const int *x, int t,
                                                  int threads = GROUP, int rows = SIDE)
{
    for (int i = t; i < rows * SIDE; i += threads) {
        const int row = i / SIDE, column = i % SIDE;
        *(__half *)(tile + row * 128 + (column / 8 ^ row % 8) * 16 + column % 8 * 2) =
            __int2half_rn(x[i]);
    }
}

/* Both operands by the whole block, and wgmma finds them. */
static __device__ __forceinline__ void store_tiles(char *as, const int *a, char *bs, const int *b)
{
    store_tile(as, a, threadIdx.x);
    store_tile(bs, b, threadIdx.x);
    proxy_fence();
    __syncthreads();
}

/* All four products of two tiles, of 16 of k each. */
static __device__ __forceinline__ void multiply_tiles(float (&c)[32], uint64_t a, uint64_t b,
                                                      int add = 1)
{
#pragma unroll
    for (int k = 0; k < 4; k++)
        multiply(c, further(a, k * 32), further(b, k * 32), k || add);
}

/* What thread t of the four warps has of a matrix [64][n], element i: its row and column. */
static __device__ __forceinline__ int row_of(int t, int i)
{
    return t / 32 * 16 + t % 32 / 4 + i % 4 / 2 * 8;
}

static __device__ __forceinline__ int column_of(int t, int i)
{
    return i / 4 * 8 + t % 4 * 2 + i % 2;
}

/* y [64][n] */
template <int n>
static __device__ __forceinline__ void store_sums(float *y, const float (&c)[n])
{
    for (int i = 0; i < n; i++)
        y[row_of(threadIdx.x % GROUP, i) * 2 * n + column_of(threadIdx.x % GROUP, i)] = c[i];
}

/* The registers of 16 columns of x [64][64] from column k on. */
static __device__ __forceinline__ void load_part(uint32_t (&a)[4], const int *x, int k)
{
    for (int i = 0; i < 4; i++) {
        const int t = threadIdx.x % GROUP, row = t / 32 * 16 + t % 32 / 4 + i % 2 * 8;
        const int *p = x + row * SIDE + k + i / 2 * 8 + t % 4 * 2;
        const __half2 h = __halves2half2(__int2half_rn(p[0]), __int2half_rn(p[1]));
        memcpy(&a[i], &h, sizeof h);
    }
}

/* a [64][64], `tiles` of b [64][64], whose rows are columns of the product, and room for the
 * result. */
struct operands {
    std::vector<int> host_a, host_b;
    array<int> a, b;
    array<float> y;
    explicit operands(int tiles = 1)
        : host_a(numbers(SIDE * SIDE)), host_b(numbers(tiles * SIDE * SIDE)), a(host_a), b(host_b),
          y(SIDE * SIDE)
    {
    }
    /* times * (what the products of a and each tile add up to) */
    std::vector<float> product(float times = 1) const
    {
        std::vector<float> want(SIDE * SIDE);
        for (size_t r = 0; r < host_b.size(); r += SIDE * SIDE)
            for (int i = 0; i < SIDE; i++)
                for (int j = 0; j < SIDE; j++)
                    for (int k = 0; k < SIDE; k++)
                        want[i * SIDE + j] +=
                            times * (float)(host_a[i * SIDE + k] * host_b[r + j * SIDE + k]);
        return want;
    }
};

/* run_NAME for a kernel NAME(a, b, y, ...) of one warpgroup, whose result is `times` the product of
 * `tiles` of b. */
#define RUN_PRODUCT(name, tiles, times, ...)                                                       \
    template <bool fault>                                                                          \
    static bool run_##name()                                                                       \
    {                                                                                              \
        operands o(tiles);                                                                         \
        name<fault><<<1, GROUP>>>(o.a, o.b, o.y, ##__VA_ARGS__);                                   \
        return came_out<fault>(o.y.p, o.product(times));                                           \
    }
