// What mma.sync gives, to the last bit: each form with kinds of operands that show how it rounds.
// A line has hashes of 16 products each; `mma full N` prints the elements of N products a kind.
// Each finite element is also held to its exact value, in double, within the bound that matrix.c
// states.
#include "products.h"

#define F32_16816(types)                                                                           \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." types ".f32 "                            \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"             \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]),    \
                   "f"(c[1]), "f"(c[2]), "f"(c[3]))
#define F32_1688(shape, types)                                                                     \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." types ".f32 "                           \
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"                            \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]))

enum { F16_K16, BF16_K16, HALF_K16, F16_K8, BF16_K8, HALF_K8, TF32_K8, TF32_K4, FORMS };

// a [16][k], b [8][k] (a column of B lies together), c and d [16][8]; one warp a block and product.
// words: 32-bit words of a row of a.
template <int form, int words>
__global__ void multiply(const uint32_t *a_all, const uint32_t *b_all, const uint32_t *c_all,
                         uint32_t *d_all)
{
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const uint32_t *pa = a_all + blockIdx.x * 16 * words, *pb = b_all + blockIdx.x * 8 * words;
    uint32_t a[4], b[2];
    for (int i = 0; i < words / 2; i++)
        a[i] = pa[(g + i % 2 * 8) * words + t + i / 2 * 4];
    for (int i = 0; i < words / 4; i++)
        b[i] = pb[g * words + t + i * 4];
    if constexpr (form == HALF_K16 || form == HALF_K8) {
        const uint32_t *c = c_all + blockIdx.x * 64;
        uint32_t c0 = c[g * 4 + t], c1 = c[(g + 8) * 4 + t], d0, d1;
        if constexpr (form == HALF_K16)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                         "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
                         : "=r"(d0), "=r"(d1)
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                           "r"(c0), "r"(c1));
        else
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
                         "{%0, %1}, {%2, %3}, {%4}, {%5, %6};"
                         : "=r"(d0), "=r"(d1)
                         : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(c0), "r"(c1));
        d_all[blockIdx.x * 64 + g * 4 + t] = d0;
        d_all[blockIdx.x * 64 + (g + 8) * 4 + t] = d1;
    } else {
        float c[4], d[4];
        for (int i = 0; i < 4; i++)
            c[i] = __uint_as_float(c_all[blockIdx.x * 128 + (g + i / 2 * 8) * 8 + t * 2 + i % 2]);
        if constexpr (form == F16_K16)
            F32_16816("f16.f16");
        else if constexpr (form == BF16_K16)
            F32_16816("bf16.bf16");
        else if constexpr (form == F16_K8)
            F32_1688("m16n8k8", "f16.f16");
        else if constexpr (form == BF16_K8)
            F32_1688("m16n8k8", "bf16.bf16");
        else if constexpr (form == TF32_K4)
            F32_1688("m16n8k4", "tf32.tf32");
        else
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                         : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                           "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
        for (int i = 0; i < 4; i++)
            d_all[blockIdx.x * 128 + (g + i / 2 * 8) * 8 + t * 2 + i % 2] = __float_as_uint(d[i]);
    }
}

typedef void (*multiplication)(const uint32_t *a, const uint32_t *b, const uint32_t *c,
                               uint32_t *d);
static const multiplication kernels[] = {
    multiply<F16_K16, 8>, multiply<BF16_K16, 8>, multiply<HALF_K16, 8>, multiply<F16_K8, 4>,
    multiply<BF16_K8, 4>, multiply<HALF_K8, 4>,  multiply<TF32_K8, 8>,  multiply<TF32_K4, 4>};
static const struct form forms[] = {
    {"m16n8k16.f32.f16.f16.f32", 0, 5, 10, 2, 16, 0},
    {"m16n8k16.f32.bf16.bf16.f32", 1, 8, 7, 2, 16, 0},
    {"m16n8k16.f16.f16.f16.f16", 2, 5, 10, 2, 16, 1},
    {"m16n8k8.f32.f16.f16.f32", 3, 5, 10, 2, 8, 0},
    {"m16n8k8.f32.bf16.bf16.f32", 4, 8, 7, 2, 8, 0},
    {"m16n8k8.f16.f16.f16.f16", 5, 5, 10, 2, 8, 1},
    {"m16n8k8.f32.tf32.tf32.f32", 6, 8, 23, 4, 8, 0},
    {"m16n8k4.f32.tf32.tf32.f32", 7, 8, 23, 4, 4, 0},
};

int main(int argc, char **argv)
{
    int full = argc > 2 && strcmp(argv[1], "full") == 0 ? atoi(argv[2]) : 0;
    int cases = full ? full : 256, wrong = 0;
    for (int i = 0; i < FORMS; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            const struct form *f = &forms[i];
            size_t row = (size_t)(f->k * f->bytes), size = f->half_sums ? 256 : 512;
            char *a = (char *)malloc(16 * row * (size_t)cases);
            char *b = (char *)malloc(8 * row * (size_t)cases);
            char *c = (char *)malloc(size * (size_t)cases),
                 *d = (char *)malloc(size * (size_t)cases);
            if (!a || !b || !c || !d)
                return 2;
            for (int n = 0; n < cases; n++)
                fill(f, kind, n, a + 16 * row * n, b + 8 * row * n, c + size * n);
            void *da = on_device(a, 16 * row * cases), *db = on_device(b, 8 * row * cases);
            void *dc = on_device(c, size * cases), *dd = on_device(NULL, size * cases);
            kernels[i]<<<cases, 32>>>((uint32_t *)da, (uint32_t *)db, (uint32_t *)dc,
                                      (uint32_t *)dd);
            to_host(d, dd, size * cases);
            printf("mma.%s\t%s\t", f->name, kinds[kind]);
            int bad = 0;
            for (int n = 0; n < cases; n++)
                bad += outside(f, a + 16 * row * n, b + 8 * row * n, c + size * n, d + size * n);
            wrong += bad;
            for (int n = 0; n < cases && !full; n += 16)
                printf("%s%08x", n ? "," : "", hashed(0, d + size * n, size * 16));
            if (bad)
                printf(" and %d elements are not within the bound", bad);
            for (int n = 0; n < full; n++)
                for (int j = 0; j < 128; j++) {
                    uint32_t v = 0;
                    memcpy(&v, d + size * n + j * (size / 128), size / 128);
                    printf("%s%0*x", j ? " " : "\n", f->half_sums ? 4 : 8, v);
                }
            printf("\n");
            cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dd);
            free(a), free(b), free(c), free(d);
        }
    return wrong != 0;
}
