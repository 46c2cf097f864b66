/* cvt: from one type to another. */
#include "ptx/handlers/handler.h"

#include <fenv.h>
#include <math.h>

static int is_real(enum ptx_type type)
{
    return ptx_type_kinds[type] == 'f';
}

/* The least and the greatest value of an integer type. */
static int64_t least(enum ptx_type type)
{
    return ptx_type_kinds[type] == 's' ? -1ll - (INT64_MAX >> (64 - ptx_type_bits[type])) : 0;
}

static uint64_t greatest(enum ptx_type type)
{
    return ~0ull >> (64 - ptx_type_bits[type] + (ptx_type_kinds[type] == 's'));
}

static double integral(double v, enum ptx_rounding rounding)
{
    switch (rounding) {
    case PTX_ZERO:
        return trunc(v);
    case PTX_DOWN:
        return floor(v);
    case PTX_UP:
        return ceil(v);
    default:
        return nearbyint(v);
    }
}

/* A value outside of the type becomes the type's nearest value. NaN becomes 0, but from f64 or
 * to 64 bits, the value with only the highest bit set. */
static uint64_t to_integer(enum ptx_type to, enum ptx_type from, double v,
                           enum ptx_rounding rounding)
{
    if (v != v)
        return from == PTX_F64 || ptx_type_bits[to] == 64 ? 1ull << (ptx_type_bits[to] - 1) : 0;
    v = integral(v, rounding);
    double top = ldexp(1, ptx_type_bits[to] - (ptx_type_kinds[to] == 's'));
    if (v >= top)
        return greatest(to);
    if (v < (double)least(to))
        return (uint64_t)least(to);
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

/* A 64-bit integer as a double, rounded to odd, so that any later rounding is right. */
static double odd_double(uint64_t v, int negative)
{
    uint64_t m = negative ? -v : v;
    int lost = m >> 53 ? 11 - __builtin_clzll(m) : 0;
    if (lost > 0 && m & ((1ull << lost) - 1))
        m = (m >> lost | 1) << lost;
    return negative ? -(double)m : (double)m;
}

static uint64_t from_integer(enum ptx_type to, enum ptx_type from, uint64_t v,
                             enum ptx_rounding rounding)
{
    v = ptx_extended(from, v);
    int negative = ptx_type_kinds[from] == 's' && (int64_t)v < 0;
    if (to != PTX_F64)
        return ptx_encode(to, odd_double(v, negative), rounding);
    int before = ptx_set_rounding(rounding);
    volatile uint64_t bits = v;
    volatile double d = negative ? (double)(int64_t)bits : (double)bits;
    fesetround(before);
    return ptx_double_bits(d);
}

static uint64_t integer_to_integer(enum ptx_type to, enum ptx_type from, uint64_t v, int saturates)
{
    v = ptx_extended(from, v);
    if (!saturates)
        return v;
    if (ptx_type_kinds[from] == 's' && (int64_t)v < 0)
        return (int64_t)v < least(to) ? (uint64_t)least(to) : v;
    return v > greatest(to) ? greatest(to) : v;
}

/* The result for NaN. From or to f64 a GPU keeps the sign and as much of the payload as fits. It
 * also keeps them from bf16 to f32, which is a shift, and with cvt.rna.tf32. Otherwise it
 * returns its own NaN. */
static uint64_t converted_nan(const ptx_insn *i, enum ptx_type to, enum ptx_type from, uint64_t v)
{
    if (from == PTX_BF16 && to == PTX_F32)
        return v << 16;
    if (to == PTX_TF32)
        return ptx_has(i, PTX_M_rna) ? v & 0xffffe000 : 0x7fffe000;
    if (from != PTX_F64 && to != PTX_F64)
        return ptx_encode(to, NAN, PTX_NEAREST);
    int have = ptx_fraction_bits(from), need = ptx_fraction_bits(to);
    uint64_t sign = v >> (ptx_type_bits[from] - 1), payload = v & ((1ull << have) - 1);
    payload = have > need ? payload >> (have - need) : payload << (need - have);
    uint64_t exponent = (1ull << (ptx_type_bits[to] - 1 - need)) - 1;
    return sign << (ptx_type_bits[to] - 1) | exponent << need | 1ull << (need - 1) | payload;
}

/* Converts between floating-point types. With .rni and the like the result is an integral value. */
static uint64_t real_to_real(const ptx_insn *i, enum ptx_type to, enum ptx_type from, uint64_t v)
{
    if (ptx_has(i, PTX_M_ftz))
        v = ptx_flush(from, v);
    double d = ptx_decode(from, v);
    enum ptx_rounding rounding = ptx_rounding_of(i);
    if (ptx_has(i, PTX_M_rni) || ptx_has(i, PTX_M_rzi) || ptx_has(i, PTX_M_rmi) ||
        ptx_has(i, PTX_M_rpi))
        d = integral(d, rounding);
    if (d != d && !ptx_has(i, PTX_M_sat))
        return converted_nan(i, to, from, v);
    if (ptx_has(i, PTX_M_sat))
        d = d >= 1 ? 1 : d > 0 ? d : 0;
    if (ptx_has(i, PTX_M_relu) && d <= 0)
        d = 0;
    uint64_t r = ptx_encode(to, d, rounding);
    if (ptx_has(i, PTX_M_satfinite) && isinf(ptx_decode(to, r)))
        r--; /* the greatest finite value is just below infinity */
    return ptx_has(i, PTX_M_ftz) ? ptx_flush(to, r) : r;
}

void ptx_cvt(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    enum ptx_type to = i->type[0], from = i->type[1];
    const ptx_operand *d = &i->operand[0];
    uint64_t v = ptx_get(&i->operand[1], reg), r;
    v = v << (64 - ptx_type_bits[from]) >> (64 - ptx_type_bits[from]);
    if (is_real(to))
        r = is_real(from) ? real_to_real(i, to, from, v)
                          : from_integer(to, from, v, ptx_rounding_of(i));
    else if (is_real(from))
        r = to_integer(to, from, ptx_decode(from, ptx_has(i, PTX_M_ftz) ? ptx_flush(from, v) : v),
                       ptx_rounding_of(i));
    else
        r = integer_to_integer(to, from, v, ptx_has(i, PTX_M_sat));
    /* A register that is wider than the type is filled with the sign or with zeros. */
    ptx_set(d, reg, is_real(to) ? r : ptx_extended(to, r) << (64 - d->value) >> (64 - d->value));
}

/* Two values become one register: the first is the high half. */
void ptx_cvt_packed(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    enum ptx_type to = ptx_single(i->type[0]), from = i->type[1];
    uint64_t high = real_to_real(i, to, from, ptx_get(&i->operand[1], reg));
    uint64_t low = real_to_real(i, to, from, ptx_get(&i->operand[2], reg));
    ptx_set(&i->operand[0], reg, high << 16 | low);
}
