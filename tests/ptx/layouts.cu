// Where wgmma finds its matrices: descriptors of all swizzles, with rows along k and transposed,
// other distances, starts and bases of the pattern. Shared memory holds the number of each element,
// in two parts that f16 holds exactly; a product with the identity brings them out. A line has a
// hash of the elements' places; `layouts full` prints them.
#include "record.h"
#include "wgmma_forms.h"
#include <cuda_fp16.h>

enum { WARPGROUP = 128, N = 64, BYTES = 160 * 1024, IDENTITY = BYTES };

// Part 0 of an element's number is what remains modulo 1024, part 1 the rest.
static __device__ void fill(uint16_t *shared, int part)
{
    for (int i = threadIdx.x; i < BYTES / 2; i += WARPGROUP)
        ((__half *)shared)[i] = __int2half_rn(part ? i / 1024 : i % 1024);
    // The identity [16][16] in matrices of 8 x 8, without a swizzle: those beside each other first.
    for (int i = threadIdx.x; i < 256; i += WARPGROUP) {
        const int row = i / 128 * 8 + i % 64 / 8, column = i / 64 % 2 * 8 + i % 8;
        ((__half *)shared)[IDENTITY / 2 + i] = __int2half_rn(row == column);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

// b [16][N] -> d [16][N], places of its elements
template <int turned>
__global__ void places_of_b(uint64_t b, int *d)
{
    extern __shared__ __align__(1024) uint16_t shared[];
    const int t = threadIdx.x, warp = t / 32, g = t % 32 / 4, q = t % 4;
    // the identity, four times below itself
    uint32_t a[4];
    for (int i = 0; i < 4; i++) {
        const int row = g + i % 2 * 8, column = i / 2 * 8 + q * 2;
        a[i] = row == column ? 0x3c00u : row == column + 1 ? 0x3c000000u : 0;
    }
    b += (uint64_t)((uint32_t)__cvta_generic_to_shared(shared) >> 4);
    for (int part = 0; part < 2; part++) {
        float c[N / 2];
        fill(shared, part);
        wgmma_fence();
        wgmma_f16<1, 1, turned>(c, a, b, 0);
        wgmma_commit();
        wgmma_wait<0>();
        hold(c);
        for (int i = 0; i < N / 2 && warp == 0; i++)
            d[(g + i % 4 / 2 * 8) * N + i / 4 * 8 + q * 2 + i % 2] += (int)c[i] * (part ? 1024 : 1);
        __syncthreads();
    }
}

// a [64][16] -> d [64][16]
template <int turned>
__global__ void places_of_a(uint64_t a, int *d)
{
    extern __shared__ __align__(1024) uint16_t shared[];
    const int t = threadIdx.x, warp = t / 32, g = t % 32 / 4, q = t % 4;
    const uint32_t at = (uint32_t)__cvta_generic_to_shared(shared);
    a += (uint64_t)(at >> 4);
    for (int part = 0; part < 2; part++) {
        float c[8];
        fill(shared, part);
        wgmma_fence();
        const uint64_t identity = (uint64_t)((at + IDENTITY) >> 4) | 8ull << 16 | 16ull << 32;
        wgmma_f16<1, 1, turned, 0>(c, a, identity, 0);
        wgmma_commit();
        wgmma_wait<0>();
        hold(c);
        for (int i = 0; i < 8; i++)
            d[(warp * 16 + g + i % 4 / 2 * 8) * 16 + i / 4 * 8 + q * 2 + i % 2] +=
                (int)c[i] * (part ? 1024 : 1);
        __syncthreads();
    }
}

typedef void (*places)(uint64_t, int *);
static int full;

static void one(places kernel, const char *matrix, int turned, int swizzle, int start, int leading,
                int stride, int base)
{
    static int d[16 * N];
    static const char *const swizzles[] = {"none", "128", "64", "32"};
    char name[60], text[100];
    const int shared = BYTES + 1024;
    need(cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              shared),
         "cudaFuncSetAttribute");
    void *dd = on_device(NULL, sizeof d);
    kernel<<<1, WARPGROUP, shared>>>((uint64_t)(start >> 4) | (uint64_t)(leading >> 4) << 16 |
                                         (uint64_t)(stride >> 4) << 32 | (uint64_t)base << 49 |
                                         (uint64_t)swizzle << 62,
                                     (int *)dd);
    to_host(d, dd, sizeof d);
    cudaFree(dd);
    snprintf(name, sizeof name, "layout of %s%s, swizzle %s", matrix, turned ? " turned" : "",
             swizzles[swizzle]);
    snprintf(text, sizeof text, "start %d leading %d stride %d base %d", start, leading, stride,
             base);
    print_result(name, text, hashed(0, d, sizeof d), 0);
    for (int i = 0; i < 16 * N && full; i++)
        printf("%d%s", d[i],
               i % (*matrix == 'a' ? 16 : N) == (*matrix == 'a' ? 15 : N - 1) ? "\n" : " ");
}

int main(int argc, char **argv)
{
    static const int widths[] = {16, 128, 64, 32};
    full = argc > 1 && strcmp(argv[1], "full") == 0;
    for (int which = 0; which < 4; which++) {
        const int turned = which % 2;
        const char *matrix = which < 2 ? "b" : "a";
        places kernel = which == 0   ? places_of_b<0>
                        : which == 1 ? places_of_b<1>
                        : which == 2 ? places_of_a<0>
                                     : places_of_a<1>;
        for (int s = 0; s < 4; s++) {
            const int atom = widths[s] * 8;
            // close together, apart, and the other way round
            one(kernel, matrix, turned, s, 0, atom, 8 * atom, 0);
            one(kernel, matrix, turned, s, 0, 8 * atom, atom, 0);
            one(kernel, matrix, turned, s, 4096, 2048, 1024, 0);
            one(kernel, matrix, turned, s, 1024, 1024, 4096, 0);
            one(kernel, matrix, turned, s, 0, 1040, 1296, 0);
            one(kernel, matrix, turned, s, 0, 0, 1024, 0);
            one(kernel, matrix, turned, s, 0, 16, 1024, 0);
            one(kernel, matrix, turned, s, 0, 1024, 16, 0);
            one(kernel, matrix, turned, s, 0, 16384, 2048, 0);
            // further into a row, and further rows
            for (int start = 16; start < 128; start += 16)
                one(kernel, matrix, turned, s, start, 8192, 1024, 0);
            for (int start = 128; start <= 1024; start += 128)
                one(kernel, matrix, turned, s, start, 8192, 1024, 0);
            one(kernel, matrix, turned, s, 160, 8192, 1024, 0);
            one(kernel, matrix, turned, s, 2048 + 96, 8192, 1024, 0);
            // the pattern begins elsewhere
            for (int base = 1; base < 8; base++) {
                one(kernel, matrix, turned, s, base * 128, 8192, 1024, base);
                one(kernel, matrix, turned, s, 0, 8192, 1024, base);
            }
            one(kernel, matrix, turned, s, 384 + 32, 8192, 1024, 3);
            one(kernel, matrix, turned, s, 256, 8192, 1024, 6);
        }
    }
    return any_wrong;
}
