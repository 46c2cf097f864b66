/* Operands of matrix products that show how the sums are rounded, and how far from its exact value
 * an element may be. */
#pragma once

#include "record.h"
#include <math.h>

struct form {
    const char *name;
    int id;
    int exponent, fraction; // bits of an element of A and B
    int bytes, k;           // of one, and columns of A
    int half_sums;          // C and D are f16, else f32
};

// Bits of a number of the given power of two, sign and fraction random. Below the least normal
// number it is a random subnormal one; above the largest exponent it has the largest.
static uint32_t number(struct sequence *s, int exponent_bits, int fraction_bits, int power)
{
    int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 2, e = power + bias;
    uint32_t r = next_number(s), fraction = r & ((1u << fraction_bits) - 1);
    e = e < 0 ? 0 : e > top ? top : e;
    if (exponent_bits == 8 && fraction_bits == 23 && r >> 29 & 1)
        fraction &= ~0x1fffu; // what tf32 keeps; the other half of them has more
    return (r >> 31) << (exponent_bits + fraction_bits) | (uint32_t)e << fraction_bits | fraction;
}

enum {
    PLAIN,
    WIDE,
    NEAR,
    CANCEL,
    SMALL,
    LARGE_SUM,
    SPARSE,
    SPECIAL,
    TOP,
    TINY,
    ONE,
    WHOLE,
    ZEROS,
    KINDS
};
static const char *const kinds[] = {"plain",     "wide",   "near",    "cancel", "small",
                                    "large-sum", "sparse", "special", "top",    "tiny",
                                    "one",       "whole",  "zeros"};

static uint32_t special(struct sequence *s, int exponent_bits, int fraction_bits)
{
    uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits, r = next_number(s);
    uint32_t sign = (r & 1) << (exponent_bits + fraction_bits);
    switch (r >> 1 & 3) {
    case 0:
        return sign | infinity;
    case 1: // NaN, with any payload
        return sign | infinity | 1u << (r >> 8) % (unsigned)fraction_bits;
    case 2:
        return sign | (infinity - 1);
    default:
        return sign;
    }
}

// The bits of a whole number up to 2^11 in such a format.
static uint32_t whole(int v, int exponent_bits, int fraction_bits)
{
    uint32_t sign = (uint32_t)(v < 0) << (exponent_bits + fraction_bits), m = (uint32_t)abs(v);
    if (!m)
        return sign;
    int e = 31 - __builtin_clz(m);
    uint32_t fraction = fraction_bits >= e ? m << (fraction_bits - e) : m >> (e - fraction_bits);
    return sign | ((uint32_t)(e + (1 << (exponent_bits - 1)) - 1) << fraction_bits) +
                      (fraction - (1u << fraction_bits));
}

static uint32_t element(struct sequence *s, const struct form *f, int kind)
{
    int E = f->exponent, M = f->fraction, narrow = E == 5;
    switch (kind) {
    case WIDE:
        return number(s, E, M, narrow ? next_between(s, -15, 15) : next_between(s, -40, 40));
    case NEAR:
    case ONE:
        return number(s, E, M, next_between(s, -13, 0));
    case SMALL:
        return number(s, E, M, narrow ? next_between(s, -15, -12) : next_between(s, -78, -60));
    case SPARSE:
        return next_number(s) % 4 ? number(s, E, M, -200) & 1u << (E + M)
                                  : number(s, E, M, next_between(s, -4, 0));
    case SPECIAL:
        return next_number(s) % 100 ? number(s, E, M, next_between(s, -4, 0)) : special(s, E, M);
    case TOP:
        return number(s, E, M, narrow ? next_between(s, 9, 15) : next_between(s, 58, 66));
    case TINY:
        return number(s, E, M, narrow ? next_between(s, -18, -12) : next_between(s, -80, -70));
    case WHOLE:
        return whole(next_between(s, -8, 8), E, M);
    case ZEROS: // times great numbers, beside small ones
        return next_number(s) % 2
                   ? number(s, E, M, narrow ? next_between(s, -15, 15) : next_between(s, -40, 40))
                   : number(s, E, M, -200) & 1u << (E + M);
    default:
        return number(s, E, M, next_between(s, -4, 0));
    }
}

static uint32_t addend(struct sequence *s, const struct form *f, int kind)
{
    int half = f->half_sums, E = half ? 5 : 8, M = half ? 10 : 23, narrow = f->exponent == 5;
    switch (kind) {
    case WIDE:
        return number(s, E, M, narrow ? next_between(s, -50, 34) : next_between(s, -80, 80));
    case NEAR:
    case ONE:
        return number(s, E, M, next_between(s, -30, 6));
    case CANCEL:
        return number(s, E, M, next_between(s, -32, -8));
    case SMALL:
        return number(s, E, M, narrow ? next_between(s, -50, -24) : next_between(s, -130, -116));
    case LARGE_SUM:
        return number(s, E, M, half ? next_between(s, 6, 15) : next_between(s, 12, 30));
    case SPARSE:
        return next_number(s) % 2 ? number(s, E, M, -200) & 1u << (E + M)
                                  : number(s, E, M, next_between(s, -4, 0));
    case SPECIAL:
        return next_number(s) % 16 ? number(s, E, M, next_between(s, -4, 2)) : special(s, E, M);
    case TOP:
        return number(s, E, M, half ? 15 : next_between(s, 118, 127));
    case TINY: // nothing, or less than the least normal number
        return number(s, E, M, -200) & (next_number(s) % 2 ? ~0u : 1u << (E + M));
    case WHOLE:
        return whole(next_between(s, -2048, 2048), E, M);
    case ZEROS:
        return next_number(s) % 2 ? number(s, E, M, next_between(s, -60, -10))
                                  : number(s, E, M, -200) & 1u << (E + M);
    default:
        return number(s, E, M, next_between(s, -4, 2));
    }
}

// The operands of product n of a kind: a [16][k], b [8][k], c [16][8].
static void fill(const struct form *f, int kind, int n, char *a, char *b, char *c)
{
    struct sequence s = {(uint64_t)f->id << 32 | (uint64_t)kind << 24 | (uint64_t)n, 0};
    for (int row = 0; row < 24; row++) {
        uint32_t last = 0;
        for (int k = 0; k < f->k; k++) {
            uint32_t v = element(&s, f, kind);
            // Neighbours' products cancel but for the last bits of what is not 0.
            if (kind == CANCEL && k % 2)
                v = row < 16 ? last ^ 1u << (f->exponent + f->fraction)
                             : last ^ (next_number(&s) & (f->bytes == 4 ? 0x6000 : 3));
            if (kind == ONE && k != n % f->k)
                v = 0;
            last = v;
            memcpy((row < 16 ? a + row * f->k * f->bytes : b + (row - 16) * f->k * f->bytes) +
                       k * f->bytes,
                   &v, (size_t)f->bytes);
        }
    }
    for (int i = 0; i < 128; i++) {
        uint32_t v = addend(&s, f, kind);
        memcpy(c + i * (f->half_sums ? 2 : 4), &v, f->half_sums ? 2 : 4);
    }
}

// The value of such bits; of tf32 what the instruction takes.
static double value(const char *p, int bytes, int exponent_bits, int fraction_bits, int tf32)
{
    uint32_t bits = 0;
    memcpy(&bits, p, (size_t)bytes);
    if (tf32)
        bits &= ~0x1fffu;
    int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
    int e = (int)(bits >> fraction_bits) & top;
    uint32_t m = bits & ((1u << fraction_bits) - 1);
    double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
    if (e == top)
        return m ? NAN : sign * INFINITY;
    return sign *
           ldexp((double)(e ? m | 1u << fraction_bits : m), (e ? e : 1) - bias - fraction_bits);
}

// The power of two at which an operand is aligned, or more: below the least normal number all are
// alike.
static double reach(double v, int exponent_bits)
{
    double least = ldexp(1, 2 - (1 << (exponent_bits - 1)));
    return v == 0 || fabs(v) > least ? fabs(v) : least;
}

// Elements of d that are further from the exact sum than the bound allows: a unit in the last place
// of the sum, and for each of k + 1 terms 2^-24 of the greatest. What is not finite has to be so.
static int outside(const struct form *f, const char *a, const char *b, const char *c, const char *d)
{
    int E = f->half_sums ? 5 : 8, M = f->half_sums ? 10 : 23, size = f->half_sums ? 2 : 4, bad = 0;
    double top = ldexp(2 - ldexp(1, -M), f->half_sums ? 15 : 127);
    double least = ldexp(1, f->half_sums ? -24 : -149);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            double sum = value(c + (i * 8 + j) * size, size, E, M, 0), most = reach(sum, E);
            for (int k = 0; k < f->k; k++) {
                double x = value(a + (i * f->k + k) * f->bytes, f->bytes, f->exponent, f->fraction,
                                 f->bytes == 4);
                double y = value(b + (j * f->k + k) * f->bytes, f->bytes, f->exponent, f->fraction,
                                 f->bytes == 4);
                sum += x * y;
                most = fmax(most, reach(x, f->exponent) * reach(y, f->exponent));
            }
            double got = value(d + (i * 8 + j) * size, size, E, M, 0);
            double bound = ldexp(fabs(sum), -M) + (f->k + 1) * ldexp(most, -24) + 2 * least;
            int fine = isnan(sum)   ? isnan(got)
                       : isinf(sum) ? got == sum
                       : isinf(got) ? fabs(sum) + bound > top && (got > 0) == (sum > 0)
                                    : fabs(got - sum) <= bound;
            bad += !fine;
        }
    return bad;
}
