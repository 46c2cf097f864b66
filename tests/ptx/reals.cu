// Floating-point numbers: each instruction against the host's own arithmetic. What `approx`
// instructions give is another program's.
#include "scalar.h"

#include <fenv.h>
#include <math.h>

enum { FTZ = 1, SAT = 2, RELU = 4, NAN_WINS = 8, XORSIGN = 16 };

static float f32(uint64_t bits)
{
    return from_bits<float>(bits);
}
static double f64(uint64_t bits)
{
    return from_bits<double>(bits);
}

// f32 and f64 by the host's instructions, in the wanted rounding mode:

static uint64_t flushed(uint64_t bits, int flags)
{
    return flags & FTZ && (bits & 0x7fffffff) < 0x00800000 ? bits & 0x80000000 : bits;
}
static uint64_t single(char what, int mode, int flags, uint64_t a, uint64_t b, uint64_t c)
{
    volatile float x = f32(flushed(a, flags)), y = f32(flushed(b, flags)),
                   z = f32(flushed(c, flags)), r;
    fesetround(mode);
    r = what == '+'   ? x + y
        : what == '-' ? x - y
        : what == '*' ? x * y
        : what == '/' ? x / y
        : what == 'q' ? sqrtf(x)
        : what == 'r' ? 1 / x
                      : fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    if (flags & SAT)
        r = !(r > 0) ? 0.0f : r > 1 ? 1.0f : r;
    return r != r ? 0x7fffffff : flushed(to_bits<float>(r), flags);
}
// Of f64, a GPU keeps the NaN that an operand is: the second's, the third's, the first's, or of a
// division the first's.
static uint64_t quiet(uint64_t a)
{
    return a | 1ull << 51;
}
static uint64_t wide(char what, int mode, uint64_t a, uint64_t b, uint64_t c)
{
    volatile double x = f64(a), y = f64(b), z = f64(c), r;
    if (what == '/' && x != x)
        return quiet(a);
    if (y != y || z != z || x != x)
        return quiet(y != y ? b : z != z ? c : a);
    fesetround(mode);
    r = what == '+'   ? x + y
        : what == '-' ? x - y
        : what == '*' ? x * y
        : what == '/' ? x / y
        : what == 'q' ? sqrt(x)
        : what == 'r' ? 1 / x
                      : fma(x, y, z);
    fesetround(FE_TONEAREST);
    return r != r ? 0xfff8000000000000 : to_bits<double>(r);
}

// 16 bits: the nearest of all numbers that there are:

struct format {
    int exponent, fraction;
};
static const struct format HALF = {5, 10}, BRAIN = {8, 7};

static long double small_value(struct format f, uint64_t bits)
{
    int e = (int)(bits >> f.fraction) & ((1 << f.exponent) - 1), bias = (1 << (f.exponent - 1)) - 1;
    long double m = (long double)(bits & ((1 << f.fraction) - 1)), v;
    if (e == (1 << f.exponent) - 1)
        v = m != 0 ? NAN : INFINITY;
    else
        v = ldexpl(e ? m + (1 << f.fraction) : m, (e ? e : 1) - bias - f.fraction);
    return bits >> 15 ? -v : v;
}
// mode as fesetround has it
static uint64_t small_bits(struct format f, long double v, int mode)
{
    uint64_t sign = signbit(v) ? 0x8000 : 0, infinity = ((1u << f.exponent) - 1) << f.fraction;
    long double m = fabsl(v), top = ldexpl(1, 1 << (f.exponent - 1));
    int up = mode == FE_UPWARD ? !sign : mode == FE_DOWNWARD ? sign != 0 : 0;
    if (v != v)
        return 0x7fff;
    if (isinf(v))
        return sign | infinity;
    uint64_t low = 0, high = infinity; /* the greatest that is at most m */
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (small_value(f, middle) <= m)
            low = middle;
        else
            high = middle;
    }
    long double below = small_value(f, low), above = high == infinity ? top : small_value(f, high);
    if (below == m)
        return sign | low;
    if (mode == FE_TONEAREST)
        up = m - below > above - m || (m - below == above - m && low & 1);
    return sign | (up ? high : low);
}
static uint64_t small_flushed(struct format f, uint64_t bits, int flags)
{
    return flags & FTZ && !(bits >> f.fraction & ((1u << f.exponent) - 1)) ? bits & 0x8000 : bits;
}
// r + lost, cut off after the last bit that r has, with that bit set.
static long double odd(long double r, long double lost)
{
    if ((lost > 0) != (r > 0))
        r = nextafterl(r, 0);
    unsigned char last;
    memcpy(&last, &r, 1);
    return last & 1 ? r : nextafterl(r, r > 0 ? INFINITY : -INFINITY);
}
static uint64_t small(struct format f, char what, int flags, uint64_t a, uint64_t b, uint64_t c)
{
    long double x = small_value(f, small_flushed(f, a, flags));
    long double y = small_value(f, small_flushed(f, b, flags));
    long double z = small_value(f, small_flushed(f, c, flags));
    long double exact = x * y;
    long double p = what == 'f' ? exact : x, q = what == 'f' ? z : what == '-' ? -y : y;
    volatile long double r = what == '*' ? exact : p + q, back = r - p;
    if (what != '*' && isfinite(r)) { // what 64 bits do not hold only tells ties apart
        volatile long double lost = (p - (r - back)) + (q - back);
        if (lost != 0)
            r = odd(r, lost);
    }
    if (flags & SAT)
        r = !(r > 0) ? 0.0L : r > 1 ? 1.0L : r;
    if (flags & RELU)
        r = r <= 0 ? 0.0L : r;
    return small_flushed(f, small_bits(f, r, FE_TONEAREST), flags);
}
static uint64_t pair(struct format f, char what, int flags, uint64_t a, uint64_t b, uint64_t c)
{
    return small(f, what, flags, a & 0xffff, b & 0xffff, c & 0xffff) |
           small(f, what, flags, a >> 16, b >> 16, c >> 16) << 16;
}

// Minimum, maximum, sign:

static double valued(int bits, struct format f, uint64_t v)
{
    return bits == 16 ? (double)small_value(f, v) : bits == 32 ? (double)f32(v) : f64(v);
}
static uint64_t extreme(int bits, struct format f, int flags, int greater, uint64_t a, uint64_t b)
{
    uint64_t sign = 1ull << (bits - 1), signs = flags & XORSIGN ? (a ^ b) & sign : 0;
    a = bits == 32 ? flushed(a, flags) : bits == 16 ? small_flushed(f, a, flags) : a;
    b = bits == 32 ? flushed(b, flags) : bits == 16 ? small_flushed(f, b, flags) : b;
    if (flags & XORSIGN)
        a &= ~sign, b &= ~sign;
    double x = valued(bits, f, a), y = valued(bits, f, b);
    uint64_t none = bits == 16 ? 0x7fff : bits == 32 ? 0x7fffffff : 0xfff8000000000000;
    if (isnan(x) && isnan(y))
        return bits == 64 ? quiet(b) : none;
    if (isnan(x) || isnan(y))
        return flags & NAN_WINS ? none : (isnan(x) ? b : a) | signs;
    if (x == 0 && y == 0)
        return (greater ? a & b : a | b) | signs; /* -0 is below 0 */
    return (greater ? (x > y ? a : b) : (x < y ? a : b)) | signs;
}
static uint64_t extreme_pair(struct format f, int flags, int greater, uint64_t a, uint64_t b)
{
    return extreme(16, f, flags, greater, a & 0xffff, b & 0xffff) |
           extreme(16, f, flags, greater, a >> 16, b >> 16) << 16;
}

// What neg and abs give is a GPU's own NaN where a NaN comes in, or of f64 that NaN.
static uint64_t signed_one(int bits, struct format f, int negates, uint64_t a)
{
    double v = valued(bits, f, a);
    uint64_t sign = 1ull << (bits - 1);
    if (isnan(v))
        return bits == 64 ? quiet(a) : sign - 1;
    return negates ? a ^ sign : a & ~sign;
}
static uint64_t signed_pair(struct format f, int negates, uint64_t a)
{
    return signed_one(16, f, negates, a & 0xffff) | signed_one(16, f, negates, a >> 16) << 16;
}

// Conversions:

static uint64_t saturated(double v, double low, double high)
{
    return v >= high  ? (high > 9.2e18 ? (high > 1.8e19 ? ~0ull : INT64_MAX) : (uint64_t)high)
           : v <= low ? (uint64_t)(int64_t)low
           : v < 0    ? (uint64_t)(int64_t)v
                      : (uint64_t)v;
}
static uint64_t to_integer(double v, int mode, double low, double high, uint64_t not_a_number)
{
    fesetround(mode);
    volatile double r = nearbyint(v);
    fesetround(FE_TONEAREST);
    return v != v ? not_a_number : saturated(r, low, high);
}
static uint64_t float_of(double v, int mode)
{
    fesetround(mode);
    volatile double d = v;
    volatile float r = (float)d;
    fesetround(FE_TONEAREST);
    return r != r ? 0x7fffffff : to_bits<float>(r);
}
static uint64_t float_of_integer(int64_t v, int mode)
{
    fesetround(mode);
    volatile int64_t i = v;
    volatile float r = (float)i;
    fesetround(FE_TONEAREST);
    return to_bits<float>(r);
}
static uint64_t double_of_integer(int64_t v, int mode)
{
    fesetround(mode);
    volatile int64_t i = v;
    volatile double r = (double)i;
    fesetround(FE_TONEAREST);
    return to_bits<double>(r);
}
static uint64_t small_of(struct format f, double v, int mode, int flags)
{
    return flags & RELU && v <= 0 ? 0 : small_bits(f, v, mode);
}
// A NaN of `bits` bits, `from` of them the fraction, that keeps its sign and as much of its payload
// as there is room for in another type.
static uint64_t kept_nan(uint64_t a, int bits, int from, int bits_to, int to)
{
    uint64_t sign = a >> (bits - 1), payload = a & ((1ull << from) - 1);
    payload = from > to ? payload >> (from - to) : payload << (to - from);
    uint64_t infinity = ((1ull << (bits_to - 1 - to)) - 1) << to;
    return sign << (bits_to - 1) | infinity | 1ull << (to - 1) | payload;
}
static uint64_t float_of_double(uint64_t a, int mode)
{
    return isnan(f64(a)) ? kept_nan(a, 64, 52, 32, 23) : float_of(f64(a), mode);
}
// tf32 has 10 bits of fraction; the lower 13 of an f32 become 0.
static uint64_t tf32_of(uint64_t a, int away)
{
    if (isnan(f32(a)))
        return away ? a & 0xffffe000 : 0x7fffe000;
    if (isinf(f32(a)))
        return a;
    uint64_t rest = a & 0x1fff, kept = a & ~0x1fffull;
    return rest > 0x1000 || (rest == 0x1000 && (away || kept & 0x2000)) ? kept + 0x2000 : kept;
}
static uint64_t whole(uint64_t a, int mode, int flags)
{
    fesetround(mode);
    volatile float r = nearbyintf(f32(flushed(a, flags)));
    fesetround(FE_TONEAREST);
    if (flags & SAT)
        r = !(r > 0) ? 0.0f : r > 1 ? 1.0f : r;
    return r != r ? 0x7fffffff : to_bits<float>(r);
}
static uint64_t sat_of(double v)
{
    return float_of(!(v > 0) ? 0.0 : v > 1 ? 1.0 : v, FE_TONEAREST);
}

#define RN FE_TONEAREST
#define RZ FE_TOWARDZERO
#define RM FE_DOWNWARD
#define RP FE_UPWARD

#define SINGLE(title, what, mode, flags)                                                           \
    OP2(title, f, f, f, "ff", single(what, mode, flags, a, b, c))
SINGLE("add.f32", '+', RN, 0)
SINGLE("add.rn.f32", '+', RN, 0)
SINGLE("add.rz.f32", '+', RZ, 0)
SINGLE("add.rm.f32", '+', RM, 0)
SINGLE("add.rp.f32", '+', RP, 0)
SINGLE("add.ftz.f32", '+', RN, FTZ)
SINGLE("add.rz.ftz.sat.f32", '+', RZ, FTZ | SAT)
SINGLE("sub.f32", '-', RN, 0)
SINGLE("sub.rm.f32", '-', RM, 0)
SINGLE("sub.sat.f32", '-', RN, SAT)
SINGLE("mul.f32", '*', RN, 0)
SINGLE("mul.rz.f32", '*', RZ, 0)
SINGLE("mul.rm.f32", '*', RM, 0)
SINGLE("mul.rp.f32", '*', RP, 0)
SINGLE("mul.ftz.f32", '*', RN, FTZ)
SINGLE("mul.rn.sat.f32", '*', RN, SAT)
SINGLE("div.rn.f32", '/', RN, 0)
SINGLE("div.rz.f32", '/', RZ, 0)
SINGLE("div.rm.f32", '/', RM, 0)
SINGLE("div.rp.f32", '/', RP, 0)
SINGLE("div.rn.ftz.f32", '/', RN, FTZ)
OP3("fma.rn.f32", f, f, f, f, "fff", single('f', RN, 0, a, b, c))
OP3("fma.rz.f32", f, f, f, f, "fff", single('f', RZ, 0, a, b, c))
OP3("fma.rm.f32", f, f, f, f, "fff", single('f', RM, 0, a, b, c))
OP3("fma.rp.f32", f, f, f, f, "fff", single('f', RP, 0, a, b, c))
OP3("fma.rn.ftz.f32", f, f, f, f, "fff", single('f', RN, FTZ, a, b, c))
OP3("fma.rn.ftz.sat.f32", f, f, f, f, "fff", single('f', RN, FTZ | SAT, a, b, c))
OP3("mad.rn.f32", f, f, f, f, "fff", single('f', RN, 0, a, b, c))
OPX1("add.f32 immediate", "add.f32 %0, %1, 0f3FC00000;", f, f, "f",
     single('+', RN, 0, a, 0x3fc00000, c))
OPX1("mul.f32 immediate", "mul.f32 %0, %1, -1.25;", f, f, "f", single('*', RN, 0, a, 0xbfa00000, c))
OP1("sqrt.rn.f32", f, f, "f", single('q', RN, 0, a, b, c))
OP1("sqrt.rz.f32", f, f, "f", single('q', RZ, 0, a, b, c))
OP1("sqrt.rp.ftz.f32", f, f, "f", single('q', RP, FTZ, a, b, c))
OP1("rcp.rn.f32", f, f, "f", single('r', RN, 0, a, b, c))
OP1("rcp.rm.f32", f, f, "f", single('r', RM, 0, a, b, c))
OP1("rcp.rn.ftz.f32", f, f, "f", single('r', RN, FTZ, a, b, c))

OP2("add.f64", d, d, d, "dd", wide('+', RN, a, b, c))
OP2("add.rm.f64", d, d, d, "dd", wide('+', RM, a, b, c))
OP2("sub.rz.f64", d, d, d, "dd", wide('-', RZ, a, b, c))
OP2("mul.f64", d, d, d, "dd", wide('*', RN, a, b, c))
OP2("mul.rp.f64", d, d, d, "dd", wide('*', RP, a, b, c))
OP2("div.rn.f64", d, d, d, "dd", wide('/', RN, a, b, c))
OP2("div.rz.f64", d, d, d, "dd", wide('/', RZ, a, b, c))
OP3("fma.rn.f64", d, d, d, d, "ddd", wide('f', RN, a, b, c))
OP3("fma.rp.f64", d, d, d, d, "ddd", wide('f', RP, a, b, c))
OP1("sqrt.rn.f64", d, d, "d", wide('q', RN, a, b, c))
OP1("rcp.rn.f64", d, d, "d", wide('r', RN, a, b, c))
OPX1("add.f64 immediate", "add.f64 %0, %1, 0d3FF8000000000000;", d, d, "d",
     wide('+', RN, a, 0x3ff8000000000000, c))

OP2("add.f16", h, h, h, "hh", small(HALF, '+', 0, a, b, c))
OP2("add.rn.ftz.f16", h, h, h, "hh", small(HALF, '+', FTZ, a, b, c))
OP2("sub.f16", h, h, h, "hh", small(HALF, '-', 0, a, b, c))
OP2("mul.sat.f16", h, h, h, "hh", small(HALF, '*', SAT, a, b, c))
OP2("mul.f16", h, h, h, "hh", small(HALF, '*', 0, a, b, c))
OP3("fma.rn.f16", h, h, h, h, "hhh", small(HALF, 'f', 0, a, b, c))
OP3("fma.rn.relu.f16", h, h, h, h, "hhh", small(HALF, 'f', RELU, a, b, c))
OP2("add.f16x2", r, r, r, "HH", pair(HALF, '+', 0, a, b, c))
OP2("sub.sat.f16x2", r, r, r, "HH", pair(HALF, '-', SAT, a, b, c))
OP2("mul.ftz.f16x2", r, r, r, "HH", pair(HALF, '*', FTZ, a, b, c))
OP3("fma.rn.f16x2", r, r, r, r, "HHH", pair(HALF, 'f', 0, a, b, c))
OP3("fma.rn.ftz.sat.f16x2", r, r, r, r, "HHH", pair(HALF, 'f', FTZ | SAT, a, b, c))
OP2("add.bf16", h, h, h, "bb", small(BRAIN, '+', 0, a, b, c))
OP2("mul.bf16", h, h, h, "bb", small(BRAIN, '*', 0, a, b, c))
OP3("fma.rn.bf16", h, h, h, h, "bbb", small(BRAIN, 'f', 0, a, b, c))
OP2("add.bf16x2", r, r, r, "BB", pair(BRAIN, '+', 0, a, b, c))
OP2("sub.bf16x2", r, r, r, "BB", pair(BRAIN, '-', 0, a, b, c))
OP2("mul.bf16x2", r, r, r, "BB", pair(BRAIN, '*', 0, a, b, c))
OP3("fma.rn.bf16x2", r, r, r, r, "BBB", pair(BRAIN, 'f', 0, a, b, c))
OP3("fma.rn.relu.bf16x2", r, r, r, r, "BBB", pair(BRAIN, 'f', RELU, a, b, c))

OP2("min.f32", f, f, f, "ff", extreme(32, HALF, 0, 0, a, b))
OP2("max.f32", f, f, f, "ff", extreme(32, HALF, 0, 1, a, b))
OP2("max.ftz.f32", f, f, f, "ff", extreme(32, HALF, FTZ, 1, a, b))
OP2("max.NaN.f32", f, f, f, "ff", extreme(32, HALF, NAN_WINS, 1, a, b))
OP2("min.ftz.NaN.f32", f, f, f, "ff", extreme(32, HALF, FTZ | NAN_WINS, 0, a, b))
OP2("min.xorsign.abs.f32", f, f, f, "ff", extreme(32, HALF, XORSIGN, 0, a, b))
OP2("min.f64", d, d, d, "dd", extreme(64, HALF, 0, 0, a, b))
OP2("max.f64", d, d, d, "dd", extreme(64, HALF, 0, 1, a, b))
OP2("min.f16", h, h, h, "hh", extreme(16, HALF, 0, 0, a, b))
OP2("max.NaN.f16", h, h, h, "hh", extreme(16, HALF, NAN_WINS, 1, a, b))
OP2("max.f16x2", r, r, r, "HH", extreme_pair(HALF, 0, 1, a, b))
OP2("min.ftz.NaN.f16x2", r, r, r, "HH", extreme_pair(HALF, FTZ | NAN_WINS, 0, a, b))
OP2("max.bf16", h, h, h, "bb", extreme(16, BRAIN, 0, 1, a, b))
OP2("max.bf16x2", r, r, r, "BB", extreme_pair(BRAIN, 0, 1, a, b))
OP2("min.NaN.bf16x2", r, r, r, "BB", extreme_pair(BRAIN, NAN_WINS, 0, a, b))
OP2("max.NaN.xorsign.abs.bf16x2", r, r, r, "BB", extreme_pair(BRAIN, NAN_WINS | XORSIGN, 1, a, b))
OP1("neg.f32", f, f, "f", signed_one(32, HALF, 1, a))
OP1("neg.ftz.f32", f, f, "f", signed_one(32, HALF, 1, flushed(a, FTZ)))
OP1("neg.f64", d, d, "d", signed_one(64, HALF, 1, a))
OP1("neg.f16", h, h, "h", signed_one(16, HALF, 1, a))
OP1("neg.f16x2", r, r, "H", signed_pair(HALF, 1, a))
OP1("neg.bf16x2", r, r, "B", signed_pair(BRAIN, 1, a))
OP1("abs.f32", f, f, "f", signed_one(32, HALF, 0, a))
OP1("abs.ftz.f32", f, f, "f", signed_one(32, HALF, 0, flushed(a, FTZ)))
OP1("abs.f64", d, d, "d", signed_one(64, HALF, 0, a))
OP1("abs.f16x2", r, r, "H", signed_pair(HALF, 0, a))
OP1("abs.bf16", h, h, "b", signed_one(16, BRAIN, 0, a))
OP2("copysign.f32", f, f, f, "ff", (a & 0x80000000) | (b & 0x7fffffff))

#define PROPERTY(title, i, classes, expression)                                                    \
    OPX1(title, "{ .reg .pred p; " title " p, %1; selp.b32 %0, 1, 0, p; }", r, i, classes,         \
         (expression) ? 1 : 0)
PROPERTY("testp.finite.f32", f, "f", isfinite(f32(a)))
PROPERTY("testp.infinite.f32", f, "f", isinf(f32(a)))
PROPERTY("testp.number.f32", f, "f", !isnan(f32(a)))
PROPERTY("testp.notanumber.f64", d, "d", isnan(f64(a)))
PROPERTY("testp.normal.f32", f, "f", isnormal(f32(a)) || f32(a) == 0)
PROPERTY("testp.subnormal.f32", f, "f", fpclassify(f32(a)) == FP_SUBNORMAL)

#define COMPARE(title, i, classes, expression)                                                     \
    OPX2(title,                                                                                    \
         "{ .reg .pred p, q; .reg .b32 x; " title " p|q, %1, %2; selp.b32 %0, 1, 0, p;\n\t"        \
         "selp.b32 x, 2, 0, q; or.b32 %0, %0, x; }",                                               \
         r, i, i, classes, (expression) ? 1 : 2)
COMPARE("setp.eq.f32", f, "ff", f32(a) == f32(b))
COMPARE("setp.ne.f32", f, "ff", f32(a) < f32(b) || f32(a) > f32(b))
COMPARE("setp.lt.f32", f, "ff", f32(a) < f32(b))
COMPARE("setp.le.f32", f, "ff", f32(a) <= f32(b))
COMPARE("setp.gt.f32", f, "ff", f32(a) > f32(b))
COMPARE("setp.ge.f32", f, "ff", f32(a) >= f32(b))
COMPARE("setp.equ.f32", f, "ff", !(f32(a) < f32(b) || f32(a) > f32(b)))
COMPARE("setp.neu.f32", f, "ff", f32(a) != f32(b))
COMPARE("setp.ltu.f32", f, "ff", !(f32(a) >= f32(b)))
COMPARE("setp.leu.f32", f, "ff", !(f32(a) > f32(b)))
COMPARE("setp.gtu.f32", f, "ff", !(f32(a) <= f32(b)))
COMPARE("setp.geu.f32", f, "ff", !(f32(a) < f32(b)))
COMPARE("setp.num.f32", f, "ff", !isnan(f32(a)) && !isnan(f32(b)))
COMPARE("setp.nan.f32", f, "ff", isnan(f32(a)) || isnan(f32(b)))
COMPARE("setp.eq.ftz.f32", f, "ff", f32(flushed(a, FTZ)) == f32(flushed(b, FTZ)))
COMPARE("setp.lt.f64", d, "dd", f64(a) < f64(b))
OPX2("setp.gt.f16", "{ .reg .pred p; setp.gt.f16 p, %1, %2; selp.b32 %0, 1, 0, p; }", r, h, h, "hh",
     small_value(HALF, a) > small_value(HALF, b) ? 1 : 0)
OPX2("setp.leu.bf16", "{ .reg .pred p; setp.leu.bf16 p, %1, %2; selp.b32 %0, 1, 0, p; }", r, h, h,
     "bb", small_value(BRAIN, a) > small_value(BRAIN, b) ? 0 : 1)
OPX2("setp.ge.f16x2",
     "{ .reg .pred p, q; .reg .b32 x; setp.ge.f16x2 p|q, %1, %2; selp.b32 %0, 1, 0, p; selp.b32 x, "
     "2, 0, q; or.b32 %0, %0, x; }",
     r, r, r, "HH",
     (small_value(HALF, a & 0xffff) >= small_value(HALF, b & 0xffff) ? 1 : 0) |
         (small_value(HALF, a >> 16) >= small_value(HALF, b >> 16) ? 2 : 0))
OP2("set.gt.u32.f32", r, f, f, "ff", f32(a) > f32(b) ? 0xffffffff : 0)
OP2("set.gt.f32.f32", f, f, f, "ff", f32(a) > f32(b) ? 0x3f800000 : 0)
OP2("set.le.f16x2.f16x2", r, r, r, "HH",
    (small_value(HALF, a & 0xffff) <= small_value(HALF, b & 0xffff) ? 0x3c00 : 0) |
        (small_value(HALF, a >> 16) <= small_value(HALF, b >> 16) ? 0x3c000000 : 0))
OPX3("slct.f32.f32", "slct.f32.f32 %0, %1, %2, %3;", f, f, f, f, "fff", f32(c) >= 0 ? a : b)

OP1("cvt.rni.s32.f32", r, f, "f", to_integer(f32(a), RN, INT32_MIN, INT32_MAX, 0) & 0xffffffff)
OP1("cvt.rzi.s32.f32", r, f, "f", to_integer(f32(a), RZ, INT32_MIN, INT32_MAX, 0) & 0xffffffff)
OP1("cvt.rmi.s32.f32", r, f, "f", to_integer(f32(a), RM, INT32_MIN, INT32_MAX, 0) & 0xffffffff)
OP1("cvt.rpi.s32.f32", r, f, "f", to_integer(f32(a), RP, INT32_MIN, INT32_MAX, 0) & 0xffffffff)
OP1("cvt.rzi.u32.f32", r, f, "f", to_integer(f32(a), RZ, 0, UINT32_MAX, 0))
OP1("cvt.rni.ftz.s32.f32", r, f, "f",
    to_integer(f32(flushed(a, FTZ)), RN, INT32_MIN, INT32_MAX, 0) & 0xffffffff)
OP1("cvt.rzi.u8.f32", r, f, "f", to_integer(f32(a), RZ, 0, 255, 0))
OP1("cvt.rni.s8.f32", r, f, "f", to_integer(f32(a), RN, -128, 127, 0) & 0xffffffff)
OP1("cvt.rzi.s16.f32", h, f, "f", to_integer(f32(a), RZ, -32768, 32767, 0) & 0xffff)
OP1("cvt.rni.s64.f32", l, f, "f", to_integer(f32(a), RN, INT64_MIN, INT64_MAX, 1ull << 63))
OP1("cvt.rzi.u64.f32", l, f, "f", to_integer(f32(a), RZ, 0, UINT64_MAX, 1ull << 63))
OP1("cvt.rzi.s32.f64", r, d, "d",
    to_integer(f64(a), RZ, INT32_MIN, INT32_MAX, 1u << 31) & 0xffffffff)
OP1("cvt.rni.s64.f64", l, d, "d", to_integer(f64(a), RN, INT64_MIN, INT64_MAX, 1ull << 63))
OP1("cvt.rzi.s32.f16", r, h, "h",
    to_integer((double)small_value(HALF, a), RZ, INT32_MIN, INT32_MAX, 0) & 0xffffffff)
OP1("cvt.rni.u16.f16", h, h, "h", to_integer((double)small_value(HALF, a), RN, 0, 65535, 0))
OP1("cvt.rni.s32.bf16", r, h, "b",
    to_integer((double)small_value(BRAIN, a), RN, INT32_MIN, INT32_MAX, 0) & 0xffffffff)
OP1("cvt.rn.f32.s32", f, r, "i", float_of_integer((int32_t)a, RN))
OP1("cvt.rz.f32.s32", f, r, "i", float_of_integer((int32_t)a, RZ))
OP1("cvt.rm.f32.u32", f, r, "i", float_of_integer((int64_t)a, RM))
OP1("cvt.rp.f32.s64", f, l, "l", float_of_integer((int64_t)a, RP))
OP1("cvt.rn.f32.s64", f, l, "l", float_of_integer((int64_t)a, RN))
OP1("cvt.rn.f64.s64", d, l, "l", double_of_integer((int64_t)a, RN))
OP1("cvt.rz.f64.s64", d, l, "l", double_of_integer((int64_t)a, RZ))
OP1("cvt.rn.f64.u32", d, r, "i", double_of_integer((int64_t)a, RN))
OP1("cvt.rn.f16.s32", h, r, "i", small_bits(HALF, (int32_t)a, RN))
OP1("cvt.rz.f16.u16", h, h, "s", small_bits(HALF, a, RZ))
OP1("cvt.rn.bf16.s32", h, r, "i", small_bits(BRAIN, (int32_t)a, RN))
OP1("cvt.rn.f16.s64", h, l, "l", small_bits(HALF, (long double)(int64_t)a, RN))
OP1("cvt.rn.f16.f32", h, f, "f", small_of(HALF, f32(a), RN, 0))
OP1("cvt.rz.f16.f32", h, f, "f", small_of(HALF, f32(a), RZ, 0))
OP1("cvt.rm.f16.f32", h, f, "f", small_of(HALF, f32(a), RM, 0))
OP1("cvt.rp.f16.f32", h, f, "f", small_of(HALF, f32(a), RP, 0))
OP1("cvt.rn.relu.f16.f32", h, f, "f", small_of(HALF, f32(a), RN, RELU))
OP1("cvt.rn.sat.f16.f32", h, f, "f", small_bits(HALF, f32(sat_of(f32(a))), RN))
OP1("cvt.rn.f16.f64", h, d, "d",
    isnan(f64(a)) ? kept_nan(a, 64, 52, 16, 10) : small_of(HALF, f64(a), RN, 0))
OP1("cvt.rn.bf16.f32", h, f, "f", small_of(BRAIN, f32(a), RN, 0))
OP1("cvt.rz.bf16.f32", h, f, "f", small_of(BRAIN, f32(a), RZ, 0))
OP1("cvt.rn.relu.bf16.f32", h, f, "f", small_of(BRAIN, f32(a), RN, RELU))
OP2("cvt.rn.f16x2.f32", r, f, f, "ff",
    small_of(HALF, f32(a), RN, 0) << 16 | small_of(HALF, f32(b), RN, 0))
OP2("cvt.rz.f16x2.f32", r, f, f, "ff",
    small_of(HALF, f32(a), RZ, 0) << 16 | small_of(HALF, f32(b), RZ, 0))
OP2("cvt.rn.relu.f16x2.f32", r, f, f, "ff",
    small_of(HALF, f32(a), RN, RELU) << 16 | small_of(HALF, f32(b), RN, RELU))
OP2("cvt.rn.bf16x2.f32", r, f, f, "ff",
    small_of(BRAIN, f32(a), RN, 0) << 16 | small_of(BRAIN, f32(b), RN, 0))
OP2("cvt.rz.relu.bf16x2.f32", r, f, f, "ff",
    small_of(BRAIN, f32(a), RZ, RELU) << 16 | small_of(BRAIN, f32(b), RZ, RELU))
OP1("cvt.f32.f16", f, h, "h", float_of((double)small_value(HALF, a), RN))
OP1("cvt.sat.f32.f16", f, h, "h", sat_of((double)small_value(HALF, a)))
OP1("cvt.f32.bf16", f, h, "b", a << 16)
OP1("cvt.f64.f16", d, h, "h",
    isnan((double)small_value(HALF, a)) ? kept_nan(a, 16, 10, 64, 52)
                                        : to_bits<double>((double)small_value(HALF, a)))
OP1("cvt.f64.f32", d, f, "f", isnan(f32(a)) ? kept_nan(a, 32, 23, 64, 52) : to_bits<double>(f32(a)))
OP1("cvt.rn.f32.f64", f, d, "d", float_of_double(a, RN))
OP1("cvt.rz.f32.f64", f, d, "d", float_of_double(a, RZ))
OP1("cvt.rp.ftz.f32.f64", f, d, "d", flushed(float_of_double(a, RP), FTZ))
OP1("cvt.rni.f32.f32", f, f, "f", whole(a, RN, 0))
OP1("cvt.rmi.f32.f32", f, f, "f", whole(a, RM, 0))
OP1("cvt.rzi.ftz.sat.f32.f32", f, f, "f", whole(a, RZ, FTZ | SAT))
OP1("cvt.sat.f32.f32", f, f, "f", sat_of(f32(a)))
OP1("cvt.ftz.f32.f32", f, f, "f", isnan(f32(a)) ? 0x7fffffff : flushed(a, FTZ))
OP1("cvt.rpi.f16.f16", h, h, "h",
    isnan((double)small_value(HALF, a)) ? 0x7fff
                                        : small_bits(HALF, ceill(small_value(HALF, a)), RN))
OP1("cvt.rn.bf16.f16", h, h, "h", small_bits(BRAIN, small_value(HALF, a), RN))
OP1("cvt.rn.f16.bf16", h, h, "b", small_bits(HALF, small_value(BRAIN, a), RN))
OP1("cvt.rna.tf32.f32", r, f, "f", tf32_of(a, 1))
OP1("cvt.rn.tf32.f32", r, f, "f", tf32_of(a, 0))

// Where rounding twice would show, and the least number that is too large.
OPX1("cvt.rn.f32.s64 near a tie",
     "{ .reg .b64 t; and.b64 t, %1, 3; or.b64 t, t, 0x4000004000000000; cvt.rn.f32.s64 %0, t; }", f,
     l, "l", a & 3 ? 0x5e800001 : 0x5e800000)
OPX1("cvt.rn.f16.s64 near a tie",
     "{ .reg .b64 t; and.b64 t, %1, 0; or.b64 t, t, 0x801; cvt.rn.f16.s64 %0, t; }", h, l, "l",
     small_bits(HALF, 0x801, RN))
OPX1("cvt.rni.s32.f32 of 2^31",
     "{ .reg .f32 t; copysign.f32 t, %1, 0f4F000000; cvt.rni.s32.f32 %0, t; }", r, f, "f",
     a >> 31 ? 0x80000000 : 0x7fffffff)
OPX1("cvt.rzi.u64.f32 of 2^64",
     "{ .reg .f32 t; copysign.f32 t, %1, 0f5F800000; cvt.rzi.u64.f32 %0, t; }", l, f, "f",
     a >> 31 ? 0 : ~0ull)

MAIN
