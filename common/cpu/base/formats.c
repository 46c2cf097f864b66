/* Number formats: the value of their bits, and rounding to them. Results are computed as doubles
 * "rounded to odd" (rounded_to_odd). A double has more than twice the bits of an f32, and two to
 * spare. So rounding it once more, in any direction, gives the correctly rounded exact result.
 * (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
 * rounding to odd", 2008.) */
#include "base/formats.h"

#include <fenv.h>
#include <math.h>

static const struct format {
    int exponent, fraction; /* bits */
    int shift;              /* bits below the fraction, which are 0 */
    uint64_t nan;
} formats[PTX_TYPES] = {
    [PTX_F16] = {5, 10, 0, 0x7fff},
    [PTX_BF16] = {8, 7, 0, 0x7fff},
    [PTX_TF32] = {8, 10, 13, 0x7fffffff},
    [PTX_F32] = {8, 23, 0, 0x7fffffff},
    [PTX_F64] = {11, 52, 0, 0xfff8000000000000},
};

int ptx_fraction_bits(enum ptx_type type)
{
    return formats[type].fraction;
}

double ptx_decode(enum ptx_type type, uint64_t bits)
{
    if (type == PTX_F64)
        return ptx_double(bits);
    if (type == PTX_F32)
        return ptx_float(bits);
    const struct format *f = &formats[type];
    bits >>= f->shift;
    uint64_t sign = bits >> (f->exponent + f->fraction) & 1;
    uint64_t e = bits >> f->fraction & ((1u << f->exponent) - 1);
    uint64_t m = bits & ((1u << f->fraction) - 1), bias = (1u << (f->exponent - 1)) - 1;
    double v;
    if (e == (1u << f->exponent) - 1)
        v = m ? NAN : INFINITY;
    else if (e == 0) /* zero or subnormal: a multiple of the least step */
        v = (double)m * ptx_double((1024 - bias - (uint64_t)f->fraction) << 52);
    else
        v = ptx_double((e - bias + 1023) << 52 | m << (52 - f->fraction));
    return sign ? -v : v;
}

/* True if a number is rounded up. `rest`: the bits that are cut off; `half`: their value of one
 * half. */
static int rounds_up(uint64_t rest, uint64_t half, uint64_t last, int negative,
                     enum ptx_rounding rounding)
{
    switch (rounding) {
    case PTX_NEAREST:
        return rest > half || (rest == half && last);
    case PTX_AWAY:
        return rest >= half;
    case PTX_DOWN:
        return negative && rest;
    case PTX_UP:
        return !negative && rest;
    default:
        return 0;
    }
}

uint64_t ptx_encode(enum ptx_type type, double v, enum ptx_rounding rounding)
{
    const struct format *f = &formats[type];
    if (v != v)
        return f->nan;
    if (type == PTX_F64)
        return ptx_double_bits(v);
    if (type == PTX_F32 && rounding == PTX_NEAREST)
        return ptx_float_bits((float)v);
    uint64_t bits = ptx_double_bits(v), m = bits & ((1ull << 52) - 1), negative = bits >> 63;
    uint64_t infinity = ((1ull << f->exponent) - 1) << f->fraction;
    int e = (int)(bits >> 52 & 0x7ff) - 1023 + (1 << (f->exponent - 1)) - 1;
    int shift = 52 - f->fraction;
    if (v == INFINITY || v == -INFINITY) {
        m = infinity;
    } else if (e >= (1 << f->exponent) - 1) {
        m = rounds_up(3, 2, 0, (int)negative, rounding) ? infinity : infinity - 1;
    } else {
        if (e > 0) { /* the exponent lies above the fraction, so a carry moves into it */
            m |= (uint64_t)e << 52;
        } else if (bits << 1) {
            m |= 1ull << 52;
            shift += 1 - e;
            if (shift > 54)
                m = 1, shift = 54; /* below half the least step */
        }
        uint64_t rest = m & ((1ull << shift) - 1);
        m >>= shift;
        m += (uint64_t)rounds_up(rest, 1ull << (shift - 1), m & 1, (int)negative, rounding);
    }
    return (negative << (f->exponent + f->fraction) | m) << f->shift;
}

/* Rounding to odd: s, or, if s lacks `error` of the exact result, the neighbour of s whose last
 * bit is 1. Rounding that once more, to fewer bits and in any direction, gives the correctly
 * rounded exact result. */
static double rounded_to_odd(double s, double error)
{
    uint64_t bits = ptx_double_bits(s);
    if (error == 0 || !isfinite(s) || bits & 1)
        return s;
    return ptx_double((error > 0) == (s > 0) ? bits + 1 : bits - 1);
}

double ptx_sum(double x, double y)
{
    double s = x + y, back = s - x;
    return isfinite(s) ? rounded_to_odd(s, (x - (s - back)) + (y - back)) : s;
}

uint64_t ptx_flush(enum ptx_type type, uint64_t bits)
{
    const struct format *f = &formats[type];
    int low = f->fraction + f->shift;
    uint64_t sign = 1ull << (low + f->exponent);
    return bits & ((1ull << f->exponent) - 1) << low ? bits : bits & sign;
}

int ptx_set_rounding(enum ptx_rounding rounding)
{
    static const int modes[] = {[PTX_NEAREST] = FE_TONEAREST,
                                [PTX_ZERO] = FE_TOWARDZERO,
                                [PTX_DOWN] = FE_DOWNWARD,
                                [PTX_UP] = FE_UPWARD};
    int before = fegetround();
    fesetround(modes[rounding]);
    return before;
}

uint64_t ptx_added(enum ptx_type type, int flush, uint64_t a, uint64_t b)
{
    const enum ptx_type single = ptx_single(type);
    if (ptx_type_kinds[type] != 'f')
        return a + b;
    if (type == PTX_F64)
        return ptx_encode(type, ptx_double(a) + ptx_double(b), PTX_NEAREST);
    if (single != type) /* two halves */
        return ptx_added(single, 0, a & 0xffff, b & 0xffff) | ptx_added(single, 0, a >> 16, b >> 16)
                                                                  << 16;
    if (flush)
        a = ptx_flush(type, a), b = ptx_flush(type, b);
    a = ptx_encode(type, ptx_sum(ptx_decode(type, a), ptx_decode(type, b)), PTX_NEAREST);
    return flush ? ptx_flush(type, a) : a;
}
