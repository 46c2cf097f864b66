/* D = A B + C, to the last bit, as the tensor cores of Hopper compute it.
 *
 * An element of D is one sum of k products and an element of C. Each product is exact: significand
 * times significand, in [1, 4), and exponent plus exponent. The greatest exponent of all terms is
 * found; of every term the bits that lie more than FRACTION below it are cut off (towards zero);
 * what is left is added exactly; and the sum is cut to f32 (towards zero), or rounded to the
 * nearest f16, ties to even. The order of terms does not matter.
 *
 * Here a term is scaled by a power of two so that what counts of it is a whole number, and becomes
 * an int32_t. The loops over the 8 columns are those that the compiler turns into vectors. */
#include "product.h"

#include <math.h>
#include <string.h>

enum {
    FRACTION = 25,
    LEAST = -133,
    NOTHING = -4000, /* the exponent of zero, which is never the greatest, unless all are zero */
    FAR = -64        /* a term so far below the greatest exponent is cut off entirely */
};

const struct number_format format_f16 = {5, 10}, format_bf16 = {8, 7}, format_f32 = {8, 23},
                           format_tf32 = {8, 23};

/* A number is significand * 2^exponent; a normal one's significand is in [1, 2). */
struct numbers {
    float significand[PRODUCT_ROWS * PRODUCT_K];
    int16_t exponent[PRODUCT_ROWS * PRODUCT_K];
};

static inline float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline double power(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Returns whether all n numbers are finite. */
static inline int unpack(struct numbers *to, const uint32_t *bits, int n, int E, int M)
{
    const uint32_t bias = (1u << (E - 1)) - 1, top = (1u << E) - 1;
    uint32_t infinite = 0;
    for (int i = 0; i < n; i++) {
        uint32_t e = bits[i] >> M & top, fraction = bits[i] & ((1u << M) - 1);
        float s = float_of(127u << 23 | fraction << (23 - M)) - (e ? 0.0f : 1.0f);
        infinite |= e == top;
        to->significand[i] = float_of(bits_of(s) | bits[i] >> (E + M) << 31);
        to->exponent[i] = (int16_t)(s == 0 ? NOTHING : (int)((e ? e : 1) - bias));
    }
    return !infinite;
}

static int unpack_any(struct numbers *to, const uint32_t *bits, int n,
                      const struct number_format *f)
{
    return f->exponent == 5   ? unpack(to, bits, n, 5, 10)
           : f->fraction == 7 ? unpack(to, bits, n, 8, 7)
                              : unpack(to, bits, n, 8, 23);
}

/* One row of the sums: total * 2^(most - FRACTION). */
static inline void add_row(int terms, const float *a, const int16_t *ea, const float *b,
                           const int16_t *eb, const float *c, const int16_t *ec, double *total,
                           int16_t *most)
{
    int32_t sum[PRODUCT_COLUMNS] = {0};
    for (int j = 0; j < PRODUCT_COLUMNS; j++)
        most[j] = ec[j] > LEAST ? ec[j] : LEAST;
    for (int k = 0; k < terms; k++)
        for (int j = 0; j < PRODUCT_COLUMNS; j++) {
            int16_t e = (int16_t)(ea[k] + eb[k * PRODUCT_COLUMNS + j]);
            most[j] = e > most[j] ? e : most[j];
        }
    /* 16 products below 2^27 fit in 32 bits: the greatest significand is 2 - 2^-10. */
    for (int k = 0; k < terms; k++)
        for (int j = 0; j < PRODUCT_COLUMNS; j++) {
            int16_t e = (int16_t)(ea[k] + eb[k * PRODUCT_COLUMNS + j] - most[j]);
            float scale = float_of((uint32_t)((e > FAR ? e : FAR) + FRACTION + 127) << 23);
            sum[j] += (int32_t)(a[k] * b[k * PRODUCT_COLUMNS + j] * scale);
        }
    for (int j = 0; j < PRODUCT_COLUMNS; j++) {
        int16_t e = (int16_t)(ec[j] - most[j]);
        float scale = float_of((uint32_t)((e > FAR ? e : FAR) + FRACTION + 127) << 23);
        total[j] = (double)sum[j] + (double)(int32_t)(c[j] * scale);
    }
}

static uint32_t cut_to_f32(double v)
{
    if (fabs(v) < 0x1p-126) {
        uint32_t fraction = (uint32_t)(fabs(v) * 0x1p149);
        return fraction | (uint32_t)(v < 0 && fraction) << 31;
    }
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits &= ~0ull << 29;
    memcpy(&v, &bits, sizeof v);
    return bits_of((float)v);
}

static uint32_t round_to_f16(double v)
{
    double size = fabs(v);
    uint32_t sign = (uint32_t)(v < 0) << 15;
    if (size <
        0x1p-14) { /* adding it puts the last place of a subnormal number at a double's last */
        uint32_t fraction = (uint32_t)((size + 0x1p28 - 0x1p28) * 0x1p24);
        return fraction ? sign | fraction : 0;
    }
    if (size >= 65520)
        return sign | 0x7c00;
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    bits += (1ull << 41) - 1 + (bits >> 42 & 1);
    return sign | (uint32_t)((bits >> 42) - ((1023ull - 15) << 10));
}

/* A sum with an operand that is not finite. */
static uint32_t special(const struct number_format *sum, double v)
{
    if (sum->exponent == 5)
        return isnan(v) ? 0x7fff : v < 0 ? 0xfc00 : 0x7c00;
    return isnan(v) ? 0x7fffffff : v < 0 ? 0xff800000 : 0x7f800000;
}

static double value(uint32_t bits, const struct number_format *f)
{
    int E = f->exponent, M = f->fraction, top = (1 << E) - 1, e = (int)(bits >> M) & top;
    double m = bits & ((1u << M) - 1), sign = bits >> (E + M) & 1 ? -1 : 1;
    if (e == top)
        return m != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * ldexp(e ? m + (1u << M) : m, (e ? e : 1) - top / 2 - M);
}

void product(const struct number_format *in, const struct number_format *sum, int k,
             const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d)
{
    struct numbers na, nb, nc;
    const int n = PRODUCT_COLUMNS;
    int finite = unpack_any(&na, a, PRODUCT_ROWS * k, in) & unpack_any(&nb, b, k * n, in) &
                 unpack_any(&nc, c, PRODUCT_ROWS * n, sum);
    for (int i = 0; i < PRODUCT_ROWS; i++) {
        double total[PRODUCT_COLUMNS];
        int16_t most[PRODUCT_COLUMNS];
        add_row(k, na.significand + i * k, na.exponent + i * k, nb.significand, nb.exponent,
                nc.significand + i * n, nc.exponent + i * n, total, most);
        for (int j = 0; j < n; j++) {
            double v = total[j] * power(most[j] - FRACTION);
            if (!finite) { /* rare, so whatever it costs */
                double exact = value(c[i * n + j], sum);
                for (int l = 0; l < k; l++)
                    exact += value(a[i * k + l], in) * value(b[l * n + j], in);
                if (!isfinite(exact)) {
                    d[i * n + j] = special(sum, exact);
                    continue;
                }
            }
            d[i * n + j] = sum->exponent == 5 ? round_to_f16(v) : cut_to_f32(v);
        }
    }
}
