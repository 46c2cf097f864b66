/* Arithmetic on floating-point numbers. */
#include "ptx/handlers/handler.h"

#include "cpu/numbers/approx.h"

#include "cpu/trace.h"

#include <fenv.h>
#include <math.h>

enum op { ADD, SUB, MUL, FMA, DIV, SQRT, RCP, RSQRT, EX2, LG2, SIN, COS, TANH };

/* The result with more bits than any format but f64 has. Sums are rounded to odd, which keeps
 * the later rounding right. The last six operations may be off by an ulp of double. */
static double compute(enum op op, double a, double b, double c)
{
    switch (op) {
    case ADD:
        return ptx_sum(a, b);
    case SUB:
        return ptx_sum(a, -b);
    case MUL:
        return a * b;
    case FMA:
        return ptx_sum(a * b, c);
    case DIV: /* for f32, quotients and roots are never that close to a rounding boundary */
        return a / b;
    case RCP:
        return 1 / a;
    case SQRT:
        return sqrt(a);
    case RSQRT:
        return 1 / sqrt(a);
    case EX2:
        return exp2(a);
    case LG2:
        return log2(a);
    case SIN:
        return sin(a);
    case COS:
        return cos(a);
    default:
        return tanh(a);
    }
}

/* A result that is NaN because an operand is. For f64 a GPU keeps that operand's bits. Of
 * several NaN operands it takes the second, then the third; in a division the first. */
static uint64_t quiet(double v)
{
    return ptx_double_bits(v) | 1ull << 51;
}

/* The same for f64, rounded at once. */
static double compute_double(enum op op, double a, double b, double c, enum ptx_rounding rounding)
{
    if (b != b || c != c || a != a)
        return ptx_double(quiet(b != b && !(op == DIV && a != a) ? b : c != c ? c : a));
    int before = rounding == PTX_NEAREST ? 0 : ptx_set_rounding(rounding);
    volatile double x = a, y = b, z = c, r; /* volatile, so computed in this rounding mode */
    switch (op) {
    case ADD:
        r = x + y;
        break;
    case SUB:
        r = x - y;
        break;
    case MUL:
        r = x * y;
        break;
    case FMA:
        r = fma(x, y, z);
        break;
    case DIV:
        r = x / y;
        break;
    case RCP:
        r = 1 / x;
        break;
    case SQRT:
        r = sqrt(x);
        break;
    default:
        r = 1 / sqrt(x);
        break;
    }
    if (rounding != PTX_NEAREST)
        fesetround(before);
    if (r != r) /* NaN from numbers: the GPU's NaN, not this CPU's */
        r = ptx_double(ptx_encode(PTX_F64, NAN, PTX_NEAREST));
    return r;
}

/* The result with an error that .approx or .full permits (PTX ISA, Floating-Point Instructions):
 * in steps of fp32, relative or absolute, less the error that the last rounding may add. */
static double approximate(enum op op, enum ptx_type type, double r, const double d[3])
{
    double step = cpu_step(r), size = fabs(r);
    /* Beyond one revolution the angle loses its last place: at 100 pi this gives the document's
     * 2^-14.7. */
    if ((op == SIN || op == COS) && fabs(d[0]) > 6.2831855 && isfinite(d[0])) {
        double angle = d[0] - copysign(cpu_step(d[0]), d[0]);
        r = op == SIN ? sin(angle) : cos(angle);
    }
    uint64_t argument = ptx_double_bits(d[0]) ^ (op == DIV ? ptx_double_bits(d[1]) >> 7 : 0);
    /* For small results of tanh, fmin limits the document's absolute error to a step of the
     * result. */
    if ((op == LG2 && r == rint(r)) || (op == DIV && cpu_is_exact(d[1])))
        return r;
    if (size < (type == PTX_F16 ? 0x1p-14 : 0x1p-126))
        return r;
    if (type == PTX_F16)
        return cpu_off(r, argument,
                       op == EX2 ? (0x1.12p-10 - 0x1p-11) * size : fmin(0x1p-12, 0x1p-11 * size));
    if (type == PTX_BF16)
        return cpu_off(r, argument, op == EX2 ? 0x1p-8 * size : fmin(0x1p-9, 0x1p-8 * size));
    double most = op == RCP                               ? 0.5 * step
                  : op == RSQRT                           ? 0x1.12p-23 * size - 0.5 * step
                  : op == SQRT                            ? 0x1p-23 * size - 0.5 * step
                  : op == TANH                            ? 0x1p-11 * size - 0.5 * step
                  : op == SIN || op == COS                ? 0x1.6ap-21
                  : op == LG2 && d[0] >= 0.5 && d[0] <= 2 ? 0x1p-22 - 0.5 * step
                  : op == LG2                             ? 0x1p-22 * size - 0.5 * step
                                                          : 1.5 * step; /* EX2, DIV */
    return cpu_off(r, argument, most);
}

static uint64_t one_result(const ptx_insn *i, enum op op, enum ptx_type type, const uint64_t v[3])
{
    double d[3], r;
    int ftz = ptx_has(i, PTX_M_ftz);
    enum ptx_rounding rounding = ptx_rounding_of(i);
    for (int k = 0; k < 3; k++)
        d[k] = ptx_decode(type, ftz ? ptx_flush(type, v[k]) : v[k]);
    r = type == PTX_F64 ? compute_double(op, d[0], d[1], d[2], rounding)
                        : compute(op, d[0], d[1], d[2]);
    if (type != PTX_F64 && (ptx_has(i, PTX_M_approx) || ptx_has(i, PTX_M_full)))
        r = approximate(op, type, r, d);
    if (ptx_has(i, PTX_M_sat))
        r = r >= 1 ? 1 : r > 0 ? r : 0;
    if (ptx_has(i, PTX_M_relu) && !(r > 0) && r == r)
        r = 0;
    if (type == PTX_F64)
        return ptx_double_bits(r);
    uint64_t bits = ptx_encode(type, r, rounding);
    /* When rounding down, an exact sum of 0 is -0 if its terms have different signs. The sum -0
     * + -0 is -0 in every mode. */
    if (r == 0 && rounding == PTX_DOWN && op <= FMA && op != MUL && !ptx_has(i, PTX_M_sat)) {
        double x = op == FMA ? d[0] * d[1] : d[0], y = op == FMA ? d[2] : op == SUB ? -d[1] : d[1];
        if (signbit(x) != signbit(y))
            bits = ptx_encode(type, -0.0, PTX_NEAREST);
    }
    return ftz ? ptx_flush(type, bits) : bits;
}

/* d = op(a, b, c); for packed types, in each half. */
static inline __attribute__((always_inline)) void real(const ptx_insn *i, uint64_t *reg, enum op op)
{
    enum ptx_type type = i->type[0];
    uint64_t v[3] = {0}, result;
    for (int k = 1; k < i->n; k++)
        v[k - 1] = ptx_get(&i->operand[k], reg);
    if (type == PTX_F32 && op <= MUL && ptx_only_nearest(i)) { /* the usual case, fast */
        float a = ptx_float(v[0]), b = ptx_float(v[1]);
        float r = op == ADD ? a + b : op == SUB ? a - b : a * b;
        result = r == r ? ptx_float_bits(r) : 0x7fffffff;
    } else if (type == PTX_F16X2 || type == PTX_BF16X2) {
        uint64_t low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = v[k] & 0xffff;
            high[k] = v[k] >> 16 & 0xffff;
        }
        result = one_result(i, op, ptx_single(type), low) |
                 one_result(i, op, ptx_single(type), high) << 16;
    } else {
        result = one_result(i, op, type, v);
    }
    ptx_set(&i->operand[0], reg, result);
}

#define REAL(name, op)                                                                             \
    void name(struct worker *w, const ptx_insn *i, uint64_t *reg)                                  \
    {                                                                                              \
        real(i, reg, op);                                                                          \
    }
/* Operations that count has a counter for. */
#define COUNTED(name, op, counter)                                                                 \
    void name(struct worker *w, const ptx_insn *i, uint64_t *reg)                                  \
    {                                                                                              \
        ptx_counted(counter);                                                                      \
        real(i, reg, op);                                                                          \
    }
REAL(ptx_add_real, ADD)
REAL(ptx_sub_real, SUB)
REAL(ptx_mul_real, MUL)
REAL(ptx_fma_real, FMA)
COUNTED(ptx_div_real, DIV, CPU_DIV)
COUNTED(ptx_sqrt, SQRT, CPU_SQRT)
COUNTED(ptx_rcp, RCP, CPU_DIV)
COUNTED(ptx_rsqrt, RSQRT, CPU_RSQRT)
COUNTED(ptx_ex2, EX2, CPU_EXP)
COUNTED(ptx_lg2, LG2, CPU_LOG)
COUNTED(ptx_sin, SIN, CPU_SIN)
COUNTED(ptx_cos, COS, CPU_COS)
REAL(ptx_tanh, TANH)

/* Minimum and maximum. -0 is below +0. Of a NaN and a number the result is the number, unless
 * .NaN is given. */
static uint64_t choose(const ptx_insn *i, enum ptx_type type, uint64_t x, uint64_t y, int greater)
{
    uint64_t sign = 1ull << (ptx_type_bits[type] - 1), signs = 0;
    if (ptx_has(i, PTX_M_ftz)) {
        x = ptx_flush(type, x);
        y = ptx_flush(type, y);
    }
    if (ptx_has(i, PTX_M_xorsign)) {
        signs = (x ^ y) & sign;
        x &= ~sign;
        y &= ~sign;
    }
    double a = ptx_decode(type, x), b = ptx_decode(type, y);
    if (type == PTX_F64 && a != a && b != b)
        return quiet(b);
    if ((a != a && b != b) || (ptx_has(i, PTX_M_NaN) && (a != a || b != b)))
        return ptx_encode(type, NAN, PTX_NEAREST);
    int first = b != b || (a != a ? 0 : a == b ? (!(x & sign)) == greater : (a > b) == greater);
    return (first ? x : y) ^ signs;
}

static void choose_each(const ptx_insn *i, uint64_t *reg, int greater)
{
    enum ptx_type type = ptx_single(i->type[0]);
    uint64_t r = ptx_get(&i->operand[1], reg);
    for (int k = 2; k < i->n; k++) {
        uint64_t x = r, y = ptx_get(&i->operand[k], reg);
        if (type == i->type[0])
            r = choose(i, type, x, y, greater);
        else
            r = choose(i, type, x & 0xffff, y & 0xffff, greater) |
                choose(i, type, x >> 16 & 0xffff, y >> 16 & 0xffff, greater) << 16;
    }
    ptx_set(&i->operand[0], reg, r);
}

void ptx_min_real(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    choose_each(i, reg, 0);
}

void ptx_max_real(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    choose_each(i, reg, 1);
}

/* Changes only the sign. NaN stays (f64), or becomes the GPU's own NaN. */
static uint64_t with_sign(const ptx_insn *i, enum ptx_type type, uint64_t v, int negates)
{
    uint64_t sign = 1ull << (ptx_type_bits[type] - 1);
    double d = ptx_decode(type, v);
    if (d != d)
        return type == PTX_F64 ? quiet(d) : ptx_encode(type, d, PTX_NEAREST);
    if (ptx_has(i, PTX_M_ftz))
        v = ptx_flush(type, v);
    return negates ? v ^ sign : v & ~sign;
}

static void sign_each(const ptx_insn *i, uint64_t *reg, int negates)
{
    enum ptx_type type = ptx_single(i->type[0]);
    uint64_t v = ptx_get(&i->operand[1], reg);
    if (type == i->type[0])
        v = with_sign(i, type, v, negates);
    else
        v = with_sign(i, type, v & 0xffff, negates) | with_sign(i, type, v >> 16 & 0xffff, negates)
                                                          << 16;
    ptx_set(&i->operand[0], reg, v);
}

void ptx_neg_real(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    sign_each(i, reg, 1);
}

void ptx_abs_real(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    sign_each(i, reg, 0);
}

void ptx_copysign(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t sign = 1ull << (ptx_type_bits[i->type[0]] - 1);
    ptx_set(&i->operand[0], reg,
            (ptx_get(&i->operand[1], reg) & sign) | (ptx_get(&i->operand[2], reg) & ~sign));
}

void ptx_testp(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t v = ptx_get(&i->operand[1], reg);
    double d = ptx_decode(i->type[0], v);
    int subnormal = d != 0 && ptx_flush(i->type[0], v) != v;
    int r = ptx_has(i, PTX_M_finite)       ? isfinite(d)
            : ptx_has(i, PTX_M_infinite)   ? isinf(d)
            : ptx_has(i, PTX_M_number)     ? d == d
            : ptx_has(i, PTX_M_notanumber) ? d != d
            : ptx_has(i, PTX_M_normal)     ? isfinite(d) && !subnormal /* 0 is normal */
                                           : subnormal;
    ptx_set(&i->operand[0], reg, (uint64_t)r);
}
