// What wgmma gives, to the last bit: each width and type with A in shared memory and in registers;
// kinds of operands that show how it rounds; signs, and sums that begin at 0; groups in flight.
// The matrices lie as rows of 64 numbers along k in 128 bytes, swizzled; layouts.cu has the others.
#include "products.h"
#include "wgmma_forms.h"
#include <type_traits>

enum { WARPGROUP = 128, K = 64 };

static __device__ uint64_t descriptor(uint32_t start)
{
    return (uint64_t)(start >> 4) | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

// rows [rows][K] -> tile, each 16 bytes where the swizzle has them.
static __device__ void store_tile(char *tile, const uint16_t *rows, int count)
{
    for (int i = threadIdx.x; i < count * 8; i += WARPGROUP)
        *(uint4 *)(tile + i / 8 * 128 + (i % 8 ^ i / 8 % 8) * 16) = ((const uint4 *)rows)[i];
}

template <int bf16, int sign_a, int sign_b, int N, class A>
static __device__ __forceinline__ void multiply_add(float (&c)[N], A a, uint64_t b, int add)
{
    if constexpr (!std::is_pointer<A>::value) {
        if constexpr (bf16)
            wgmma_bf16<sign_a, sign_b, 0, 0>(c, a, b, add);
        else
            wgmma_f16<sign_a, sign_b, 0, 0>(c, a, b, add);
    } else {
        if constexpr (bf16)
            wgmma_bf16<sign_a, sign_b, 0>(c, a, b, add);
        else
            wgmma_f16<sign_a, sign_b, 0>(c, a, b, add);
    }
}

// a [64][K], b [N][K], c and d [64][N]; a block multiplies the first `steps` times 16 of k, one
// after the other, and leaves c out where `add` is 0.
template <int bf16, int N, int in_registers, int steps = 4, int sign_a = 1, int sign_b = 1>
__global__ void multiply(const uint16_t *a_all, const uint16_t *b_all, const float *c_all,
                         float *d_all, int add)
{
    extern __shared__ __align__(1024) char tiles[];
    const int t = threadIdx.x, warp = t / 32, g = t % 32 / 4, q = t % 4;
    const uint16_t *a = a_all + blockIdx.x * 64 * K, *b = b_all + blockIdx.x * N * K;
    float c[N / 2];
    uint32_t part[4][4];
    store_tile(tiles, a, 64);
    store_tile(tiles + 8192, b, N);
    for (int i = 0; i < N / 2; i++)
        c[i] = c_all[blockIdx.x * 64 * N + (warp * 16 + g + i % 4 / 2 * 8) * N + i / 4 * 8 + q * 2 +
                     i % 2];
    for (int i = 0; i < 16; i++)
        part[i / 4][i % 4] = *(const uint32_t *)&a[(warp * 16 + g + i % 2 * 8) * K + i / 4 * 16 +
                                                   i % 4 / 2 * 8 + q * 2];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(tiles);
    hold(c);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < steps; k++)
        if constexpr (in_registers)
            multiply_add<bf16, sign_a, sign_b>(c, (const uint32_t *)part[k],
                                               descriptor(at + 8192 + k * 32), k ? 1 : add);
        else
            multiply_add<bf16, sign_a, sign_b>(c, descriptor(at + k * 32),
                                               descriptor(at + 8192 + k * 32), k ? 1 : add);
    wgmma_commit();
    wgmma_wait<0>();
    hold(c);
    for (int i = 0; i < N / 2; i++)
        d_all[blockIdx.x * 64 * N + (warp * 16 + g + i % 4 / 2 * 8) * N + i / 4 * 8 + q * 2 +
              i % 2] = c[i];
}

static const struct form forms[] = {{"m64nNk16.f32.f16.f16", 16, 5, 10, 2, 16, 0},
                                    {"m64nNk16.f32.bf16.bf16", 17, 8, 7, 2, 16, 0}};

// Operands of `count` products of a kind: a [count][64][K], b [count][N][K], c [count][64][N], four
// by N / 8 times what mma has, of each 16 of k.
static void fill_wide(const struct form *f, int kind, int count, int N, uint16_t *a, uint16_t *b,
                      float *c)
{
    uint16_t pa[16 * 16], pb[8 * 16];
    float pc[16 * 8];
    for (int n = 0; n < count; n++)
        for (int k = 0; k < K / 16; k++)
            for (int part = 0; part < (N / 8 > 4 ? N / 8 : 4); part++) {
                fill(f, kind, (n * 4 + k) * 32 + part, (char *)pa, (char *)pb, (char *)pc);
                for (int i = 0; i < 16 && part < 4; i++)
                    memcpy(a + ((n * 64 + part * 16 + i) * K + k * 16), pa + i * 16, 32);
                for (int i = 0; i < 8 && part < N / 8; i++)
                    memcpy(b + ((n * N + part * 8 + i) * K + k * 16), pb + i * 16, 32);
                for (int i = 0; i < 64 && part < N / 8 && k == 0; i++)
                    memcpy(c + (n * 64 + i) * N + part * 8, pc + (i + part) % 16 * 8, 32);
            }
}

// Elements that are not within the bound, where one k-step was multiplied.
static int outside_wide(const struct form *f, int count, int N, const uint16_t *a,
                        const uint16_t *b, const float *c, const float *d)
{
    uint16_t pa[16 * 16], pb[8 * 16];
    float pc[16 * 8], pd[16 * 8];
    int bad = 0;
    for (int n = 0; n < count; n++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < N / 8; j++) {
                for (int r = 0; r < 16; r++) {
                    const size_t row = (size_t)(n * 64 + i * 16 + r);
                    memcpy(pa + r * 16, a + row * K, 32);
                    memcpy(pc + r * 8, c + row * N + j * 8, 32);
                    memcpy(pd + r * 8, d + row * N + j * 8, 32);
                }
                for (int r = 0; r < 8; r++)
                    memcpy(pb + r * 16, b + (size_t)(n * N + j * 8 + r) * K, 32);
                bad += outside(f, (char *)pa, (char *)pb, (char *)pc, (char *)pd);
            }
    return bad;
}

typedef void (*multiplication)(const uint16_t *, const uint16_t *, const float *, float *, int);

static void run(const char *text, multiplication kernel, int form, int kind, int count, int N,
                int steps, int add)
{
    const struct form *f = &forms[form];
    const size_t na = (size_t)count * 64 * K, nb = (size_t)count * N * K;
    const size_t nc = (size_t)count * 64 * N;
    uint16_t *a = (uint16_t *)malloc(na * 2), *b = (uint16_t *)malloc(nb * 2);
    float *c = (float *)malloc(nc * 4), *d = (float *)malloc(nc * 4);
    if (!a || !b || !c || !d)
        exit(2);
    fill_wide(f, kind, count, N, a, b, c);
    void *da = on_device(a, na * 2), *db = on_device(b, nb * 2), *dc = on_device(c, nc * 4);
    void *dd = on_device(NULL, nc * 4);
    const int shared = 8192 + 256 * 128;
    need(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              shared),
         "cudaFuncSetAttribute");
    kernel<<<count, WARPGROUP, shared>>>((uint16_t *)da, (uint16_t *)db, (float *)dc, (float *)dd,
                                         add);
    to_host(d, dd, nc * 4);
    const int wrong =
        steps == 1 && add && !strstr(text, "sign") ? outside_wide(f, count, N, a, b, c, d) : 0;
    char name[100];
    snprintf(name, sizeof name, "wgmma n%d %s", N, form ? "bf16" : "f16");
    print_result(name, text, hashed(0, d, nc * 4), wrong);
    cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dd);
    free(a), free(b), free(c), free(d);
}

// Both places of A, in each width.
template <int bf16, int N>
static void width()
{
    run("shared", multiply<bf16, N, 0, 4, 1, 1>, bf16, PLAIN, 1, N, 4, 1);
    run("registers", multiply<bf16, N, 1, 4, 1, 1>, bf16, PLAIN, 1, N, 4, 1);
    if constexpr (N > 8)
        width<bf16, N - 8>();
}

template <int bf16>
static void all()
{
    width<bf16, 256>();
    for (int kind = 0; kind < KINDS; kind++) {
        char text[40];
        snprintf(text, sizeof text, "rounding %s", kinds[kind]);
        run(text, multiply<bf16, 32, 0, 1, 1, 1>, bf16, kind, 16, 32, 1, 1);
        snprintf(text, sizeof text, "rounding %s, registers", kinds[kind]);
        run(text, multiply<bf16, 32, 1, 4, 1, 1>, bf16, kind, 16, 32, 4, 1);
    }
    run("sign -a", multiply<bf16, 64, 0, 2, -1, 1>, bf16, PLAIN, 2, 64, 2, 1);
    run("sign -b", multiply<bf16, 64, 0, 2, 1, -1>, bf16, PLAIN, 2, 64, 2, 1);
    run("sign -a -b", multiply<bf16, 64, 0, 2, -1, -1>, bf16, PLAIN, 2, 64, 2, 1);
    run("sign -a, registers", multiply<bf16, 64, 1, 2, -1, 1>, bf16, PLAIN, 2, 64, 2, 1);
    run("sign -a, special", multiply<bf16, 64, 0, 1, -1, 1>, bf16, SPECIAL, 2, 64, 1, 1);
    run("from zero", multiply<bf16, 64, 0, 3, 1, 1>, bf16, PLAIN, 2, 64, 3, 0);
    run("from zero, special", multiply<bf16, 64, 0, 1, 1, 1>, bf16, SPECIAL, 2, 64, 1, 0);
    run("from zero, registers", multiply<bf16, 64, 1, 1, 1, 1>, bf16, SPECIAL, 2, 64, 1, 0);
}

int main()
{
    all<0>();
    all<1>();
    return any_wrong;
}
