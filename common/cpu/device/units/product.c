/* D = A B + C, to the last bit, as the tensor cores of Hopper compute it.
 *
 * An element of D is one sum of k products and an element of C. A product is exact: its significand
 * is the product of the significands, in [1, 4) or below, its exponent the sum of the exponents.
 * From each term the bits more than FRACTION below the greatest exponent of all terms are cut off,
 * towards zero. The rest is added exactly, and the sum is cut to f32, towards zero, or rounded to
 * the nearest f16, ties to even. The order of terms does not matter. NVIDIA does not document this;
 * it agrees with an H200 in each bit of tests/ptx/mma.cu. The published model of Xie et al.
 * (MMA-Sim, 2025) has the same 25 bits; LEAST and the treatment of zeros were found here.
 *
 * Here each term is scaled by a power of two so that the bits that count are an integer, and
 * becomes an int32_t. The compiler vectorizes the loops over the 8 columns. */
#include "device/units/product.h"
#include "base/avx2.h"
#include "base/formats.h"

#include <math.h>
#include <string.h>

/* GCC would unroll a loop over the 8 columns before it vectorizes, with a worse result. */
#if defined __GNUC__ && !defined __clang__
#define NOT_UNROLLED _Pragma("GCC unroll 1")
#else
#define NOT_UNROLLED
#endif

enum {
    FRACTION = 25,   /* bits of a term below the greatest exponent that count */
    LEAST = -133,    /* taken as the greatest exponent if all are less */
    NOTHING = -4000, /* the exponent of zero, which is never the greatest */
    FAR = -64        /* a term so far below the greatest exponent is cut off entirely */
};

/* A number is significand * 2^exponent. The significand of a normal number is in [1, 2). */
struct numbers {
    float significand[PRODUCT_ROWS * PRODUCT_K];
    int16_t exponent[PRODUCT_ROWS * PRODUCT_K];
};

IN_BOTH double power(int exponent)
{
    return ptx_double((uint64_t)(exponent + 1023) << 52);
}

/* Returns true if all n numbers are finite. Masks of ones replace branches. */
IN_BOTH int unpack(struct numbers *to, const uint32_t *bits, int n, int E, int M)
{
    const uint32_t bias = (1u << (E - 1)) - 1, top = (1u << E) - 1;
    uint32_t infinite = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t e = bits[i] >> M & top, fraction = bits[i] & ((1u << M) - 1);
        const uint32_t subnormal = -(uint32_t)(e == 0), zero = -(uint32_t)((e | fraction) == 0);
        const float s =
            ptx_float(127u << 23 | fraction << (23 - M)) - ptx_float(127u << 23 & subnormal);
        infinite |= -(uint32_t)(e == top);
        to->significand[i] = ptx_float(ptx_float_bits(s) | bits[i] >> (E + M) << 31);
        to->exponent[i] =
            (int16_t)((((e | (subnormal & 1)) - bias) & ~zero) | ((uint32_t)NOTHING & zero));
    }
    return !infinite;
}

IN_BOTH int unpack_any(struct numbers *to, const uint32_t *bits, int n, enum ptx_type type)
{
    return type == PTX_F16    ? unpack(to, bits, n, 5, 10)
           : type == PTX_BF16 ? unpack(to, bits, n, 8, 7)
                              : unpack(to, bits, n, 8, 23); /* the last bits of tf32 are 0 */
}

/* One row of sums. They are exact after the bits of their terms are cut off. */
IN_BOTH void add_row(int terms, const float *a, const int16_t *ea, const float *b,
                     const int16_t *eb, const float *c, const int16_t *ec, double *total)
{
    int16_t most[PRODUCT_COLUMNS];
    int32_t sum[PRODUCT_COLUMNS] = {0};
    NOT_UNROLLED
    for (int j = 0; j < PRODUCT_COLUMNS; j++)
        most[j] = ec[j] > LEAST ? ec[j] : LEAST;
    for (int k = 0; k < terms; k++) {
        NOT_UNROLLED
        for (int j = 0; j < PRODUCT_COLUMNS; j++) {
            int16_t e = (int16_t)(ea[k] + eb[k * PRODUCT_COLUMNS + j]);
            most[j] = e > most[j] ? e : most[j];
        }
    }
    /* 16 products below 2^27 fit in 32 bits: the greatest significand is 2 - 2^-10. */
    for (int k = 0; k < terms; k++) {
        NOT_UNROLLED
        for (int j = 0; j < PRODUCT_COLUMNS; j++) {
            int16_t e = (int16_t)(ea[k] + eb[k * PRODUCT_COLUMNS + j] - most[j]);
            float scale = ptx_float((uint32_t)((e > FAR ? e : FAR) + FRACTION + 127) << 23);
            sum[j] += (int32_t)(a[k] * b[k * PRODUCT_COLUMNS + j] * scale);
        }
    }
    NOT_UNROLLED
    for (int j = 0; j < PRODUCT_COLUMNS; j++) {
        int16_t e = (int16_t)(ec[j] - most[j]);
        float scale = ptx_float((uint32_t)((e > FAR ? e : FAR) + FRACTION + 127) << 23);
        total[j] = ((double)sum[j] + (double)(int32_t)(c[j] * scale)) * power(most[j] - FRACTION);
    }
}

static uint32_t cut_small(double v)
{
    uint32_t fraction = (uint32_t)(fabs(v) * 0x1p149);
    return fraction | (uint32_t)(v < 0 && fraction) << 31;
}

IN_BOTH void cut_to_f32(const double *v, uint32_t *d)
{
    int small = 0;
    for (int j = 0; j < PRODUCT_COLUMNS; j++)
        small |= fabs(v[j]) < 0x1p-126;
    for (int j = 0; j < PRODUCT_COLUMNS; j++)
        d[j] = ptx_float_bits((float)ptx_double(ptx_double_bits(v[j]) & ~0ull << 29));
    for (int j = 0; small && j < PRODUCT_COLUMNS; j++)
        if (fabs(v[j]) < 0x1p-126)
            d[j] = cut_small(v[j]);
}

/* Computes the sums that are not finite because an operand is not. This is rare, so its cost
 * does not matter. */
static void mend(enum ptx_type in, enum ptx_type sum, int k, const uint32_t *a, const uint32_t *b,
                 const uint32_t *c, uint32_t *d)
{
    for (int i = 0; i < PRODUCT_ROWS; i++)
        for (int j = 0; j < PRODUCT_COLUMNS; j++) {
            double v = ptx_decode(sum, c[i * PRODUCT_COLUMNS + j]);
            for (int l = 0; l < k; l++)
                v += ptx_decode(in, a[i * k + l]) * ptx_decode(in, b[l * PRODUCT_COLUMNS + j]);
            if (!isfinite(v))
                d[i * PRODUCT_COLUMNS + j] = (uint32_t)ptx_encode(sum, v, PTX_NEAREST);
        }
}

IN_BOTH void product_of(enum ptx_type in, enum ptx_type sum, int k, const uint32_t *a,
                        const uint32_t *b, const uint32_t *c, uint32_t *d)
{
    struct numbers na, nb, nc;
    const int n = PRODUCT_COLUMNS;
    int finite = unpack_any(&na, a, PRODUCT_ROWS * k, in) & unpack_any(&nb, b, k * n, in) &
                 unpack_any(&nc, c, PRODUCT_ROWS * n, sum);
    for (int i = 0; i < PRODUCT_ROWS; i++) {
        double v[PRODUCT_COLUMNS];
        add_row(k, na.significand + i * k, na.exponent + i * k, nb.significand, nb.exponent,
                nc.significand + i * n, nc.exponent + i * n, v);
        if (sum == PTX_F32)
            cut_to_f32(v, d + i * n);
        else
            for (int j = 0; j < n; j++) {
                uint32_t bits = (uint32_t)ptx_encode(PTX_F16, v[j], PTX_NEAREST);
                d[i * n + j] = bits == 0x8000 ? 0 : bits;
            }
    }
    if (!finite)
        mend(in, sum, k, a, b, c, d);
}

/* With a constant number of terms the compiler generates better loops. */
IN_BOTH void product_any(enum ptx_type in, enum ptx_type sum, int k, const uint32_t *a,
                         const uint32_t *b, const uint32_t *c, uint32_t *d)
{
    if (k == 16)
        product_of(in, sum, 16, a, b, c, d);
    else if (k == 8)
        product_of(in, sum, 8, a, b, c, d);
    else
        product_of(in, sum, 4, a, b, c, d);
}

IN_BOTH void product_wide_any(enum ptx_type in, int columns, const uint16_t *a, const uint16_t *b,
                              uint32_t (*c)[PRODUCT_WIDE])
{
    enum { N = PRODUCT_COLUMNS, K = PRODUCT_K, ROWS = PRODUCT_ROWS };
    uint32_t bits_a[ROWS * K], bits_b[K * N], old[ROWS * N], new[ROWS * N];
    struct numbers na, nb, nc;
    for (int i = 0; i < ROWS * K; i++)
        bits_a[i] = a[i];
    const int finite_a = unpack_any(&na, bits_a, ROWS * K, in);
    for (int j = 0; j < columns; j += N) {
        for (int k = 0; k < K; k++)
            for (int n = 0; n < N; n++)
                bits_b[k * N + n] = b[(j + n) * K + k];
        for (int i = 0; i < ROWS; i++)
            memcpy(old + i * N, c[i] + j, N * sizeof *old);
        const int finite =
            finite_a & unpack_any(&nb, bits_b, K * N, in) & unpack_any(&nc, old, ROWS * N, PTX_F32);
        for (int i = 0; i < ROWS; i++) {
            double v[N];
            add_row(K, na.significand + i * K, na.exponent + i * K, nb.significand, nb.exponent,
                    nc.significand + i * N, nc.exponent + i * N, v);
            cut_to_f32(v, new + i *N);
        }
        if (!finite)
            mend(in, PTX_F32, K, bits_a, bits_b, old, new);
        for (int i = 0; i < ROWS; i++)
            memcpy(c[i] + j, new + i *N, N * sizeof *new);
    }
}

static WITH_AVX2 void product_avx2(enum ptx_type in, enum ptx_type sum, int k, const uint32_t *a,
                                   const uint32_t *b, const uint32_t *c, uint32_t *d)
{
    product_any(in, sum, k, a, b, c, d);
}

static WITH_AVX2 void product_wide_avx2(enum ptx_type in, int columns, const uint16_t *a,
                                        const uint16_t *b, uint32_t (*c)[PRODUCT_WIDE])
{
    product_wide_any(in, columns, a, b, c);
}

void product(enum ptx_type in, enum ptx_type sum, int k, const uint32_t *a, const uint32_t *b,
             const uint32_t *c, uint32_t *d)
{
    if (has_avx2())
        product_avx2(in, sum, k, a, b, c, d);
    else
        product_any(in, sum, k, a, b, c, d);
}

void product_wide(enum ptx_type in, int columns, const uint16_t *a, const uint16_t *b,
                  uint32_t (*c)[PRODUCT_WIDE])
{
    if (has_avx2())
        product_wide_avx2(in, columns, a, b, c);
    else
        product_wide_any(in, columns, a, b, c);
}
