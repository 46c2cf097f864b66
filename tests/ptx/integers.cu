// Integers, logic, bits, moves: each against plain C.
#include "scalar.h"

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b) ((a) > (b) ? (a) : (b))

static uint64_t bits32(uint64_t v)
{
    return v & 0xffffffff;
}
static uint64_t bits16(uint64_t v)
{
    return v & 0xffff;
}
static int64_t s16(uint64_t v)
{
    return (int16_t)v;
}
static int64_t s32(uint64_t v)
{
    return (int32_t)v;
}
static int64_t clamped(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}
static uint64_t high64(uint64_t a, uint64_t b)
{
    uint64_t al = bits32(a), ah = a >> 32, bl = bits32(b), bh = b >> 32;
    uint64_t middle = (al * bl >> 32) + bits32(al * bh) + bits32(ah * bl);
    return ah * bh + (al * bh >> 32) + (ah * bl >> 32) + (middle >> 32);
}
static uint64_t high64_signed(uint64_t a, uint64_t b)
{
    return high64(a, b) - (a >> 63 ? b : 0) - (b >> 63 ? a : 0);
}

// Field of bits, as PTX's manual writes it; but of 64 bits a GPU takes where it begins, and its
// length, as they are, while of 32 bits the lowest byte of each counts.
static uint64_t field(uint64_t a, unsigned at, unsigned n, int width, int is_signed)
{
    uint64_t r = 0;
    at = width == 32 ? at & 255 : LEAST(at, 255);
    n = width == 32 ? n & 255 : LEAST(n, 255);
    int top = at + n - 1 < (unsigned)width - 1 ? (int)(at + n - 1) : width - 1;
    int sign = !is_signed || n == 0 ? 0 : (int)(a >> top & 1);
    for (int i = 0; i < width; i++)
        r |= (uint64_t)(i < (int)n && (int)at + i < width ? a >> (at + i) & 1 : (uint64_t)sign)
             << i;
    return r;
}
static uint64_t inserted(uint64_t a, uint64_t b, unsigned at, unsigned n, int width)
{
    at = width == 32 ? at & 255 : LEAST(at, 255);
    n = width == 32 ? n & 255 : LEAST(n, 255);
    for (unsigned i = 0; i < n && at + i < (unsigned)width; i++)
        b = (b & ~(1ull << (at + i))) | (a >> i & 1) << (at + i);
    return b;
}
static uint64_t permuted(uint64_t a, uint64_t b, const int *from)
{
    uint64_t both = a | b << 32, r = 0;
    for (int k = 0; k < 4; k++) {
        uint64_t byte = both >> 8 * (from[k] & 7) & 255;
        r |= (from[k] & 8 ? (byte >> 7) * 255 : byte) << 8 * k;
    }
    return r;
}
static uint64_t permuted_by(uint64_t a, uint64_t b, uint64_t c)
{
    int from[4] = {(int)c & 15, (int)(c >> 4) & 15, (int)(c >> 8) & 15, (int)(c >> 12) & 15};
    return permuted(a, b, from);
}
static uint64_t permuted_mode(uint64_t a, uint64_t b, int row)
{
    static const int rows[][4] = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6},  // f4e
                                  {0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0},  // b4e
                                  {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3},  // rc8
                                  {0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3},  // ecl
                                  {0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3},  // ecr
                                  {0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}; // rc16
    return permuted(a, b, rows[row]);
}
static uint64_t reversed(uint64_t a, int width)
{
    uint64_t r = 0;
    for (int i = 0; i < width; i++)
        r |= (a >> i & 1) << (width - 1 - i);
    return r;
}
static uint64_t leading(uint64_t a, int width)
{
    int n = 0;
    while (n < width && !(a >> (width - 1 - n) & 1))
        n++;
    return (uint64_t)n;
}
static uint64_t found(uint64_t a, int width, int is_signed, int shift)
{
    if (is_signed && a >> (width - 1) & 1)
        a = ~a & (width == 64 ? ~0ull : (1ull << width) - 1);
    uint64_t n = leading(a, width);
    return n == (uint64_t)width ? 0xffffffff : shift ? n : (uint64_t)width - 1 - n;
}
static uint64_t counted(uint64_t a)
{
    uint64_t n = 0;
    for (; a; a >>= 1)
        n += a & 1;
    return n;
}
static uint64_t table3(uint64_t a, uint64_t b, uint64_t c, int table)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (uint64_t)(table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
    return r;
}
static uint64_t dot4(uint64_t a, uint64_t b, uint64_t c, int as, int bs)
{
    for (int k = 0; k < 4; k++) {
        int64_t x = as ? (int8_t)(a >> 8 * k) : (uint8_t)(a >> 8 * k);
        int64_t y = bs ? (int8_t)(b >> 8 * k) : (uint8_t)(b >> 8 * k);
        c += (uint64_t)(x * y);
    }
    return bits32(c);
}
static uint64_t dot2(uint64_t a, uint64_t b, uint64_t c, int high)
{
    for (int k = 0; k < 2; k++)
        c += (uint64_t)(s16(a >> 16 * k) * (int8_t)(b >> (8 * k + 16 * high)));
    return bits32(c);
}
static uint64_t shifted_left(uint64_t a, uint64_t n, int width)
{
    return n >= (uint64_t)width ? 0 : (width == 64 ? a << n : (a << n) & ((1ull << width) - 1));
}
static uint64_t funnel(uint64_t a, uint64_t b, uint64_t n, int left)
{
    uint64_t both = b << 32 | a;
    return left ? (n == 32 ? a : bits32((both << n) >> 32)) : bits32(n == 32 ? b : both >> n);
}

OP1("mov.b32", r, r, "i", a)
OP1("mov.u64", l, l, "l", a)
OP1("mov.b16", h, h, "s", a)
OP1("mov.f32", f, f, "f", a)
OP1("mov.b32", f, r, "i", a)
OPX2("mov.b32 {}", "mov.b32 %0, {%1, %2};", r, h, h, "ss", b << 16 | a)
OPX2("mov.b64 {}", "mov.b64 %0, {%1, %2};", l, r, r, "ii", b << 32 | a)
OPX1("mov.b64 {4}",
     "{ .reg .b16 x<4>; mov.b64 {x0, x1, x2, x3}, %1; mov.b64 %0, {x3, x2, x1, x0}; }", l, l, "l",
     a >> 48 | (a >> 32 & 0xffff) << 16 | (a >> 16 & 0xffff) << 32 | a << 48)
OPX1("mov.b32 {_}", "{ .reg .b16 x; mov.b32 {_, x}, %1; mov.b32 %0, {x, x}; }", r, r, "i",
     a >> 16 | (a >> 16) << 16)
OPX1("mov immediate", "{ .reg .b32 x; mov.b32 x, (1 << 4) + 0x10U * 3 - 7; add.u32 %0, %1, x; }", r,
     r, "i", bits32(a + 57))
OP2("add.u16", h, h, h, "ss", bits16(a + b))
OP2("add.s16", h, h, h, "ss", bits16(a + b))
OP2("add.u32", r, r, r, "ii", bits32(a + b))
OP2("add.s32", r, r, r, "ii", bits32(a + b))
OP2("add.u64", l, l, l, "ll", a + b)
OP2("add.sat.s32", r, r, r, "ii", bits32((uint64_t)clamped(s32(a) + s32(b), INT32_MIN, INT32_MAX)))
OP2("sub.u16", h, h, h, "ss", bits16(a - b))
OP2("sub.s32", r, r, r, "ii", bits32(a - b))
OP2("sub.s64", l, l, l, "ll", a - b)
OP2("sub.sat.s32", r, r, r, "ii", bits32((uint64_t)clamped(s32(a) - s32(b), INT32_MIN, INT32_MAX)))
OPX3("add.cc.u32 addc.u32", "{ .reg .b32 x; add.cc.u32 x, %1, %2; addc.u32 %0, %3, 5; }", r, r, r,
     r, "iii", bits32(c + 5 + ((a + b) >> 32)))
OPX3("add.cc.s32 addc.cc.u32",
     "{ .reg .b32 x; add.cc.s32 x, %1, %2; addc.cc.u32 x, %3, %1; addc.u32 %0, 0, 0; }", r, r, r, r,
     "iii", (c + a + ((a + b) >> 32)) >> 32)
OPX3("sub.cc.u32 subc.u32", "{ .reg .b32 x; sub.cc.u32 x, %1, %2; subc.u32 %0, %3, 5; }", r, r, r,
     r, "iii", bits32(c - 5 - (a < b)))
OPX3("sub.cc.u32 subc.cc.u32",
     "{ .reg .b32 x; sub.cc.u32 x, %1, %2; subc.cc.u32 x, %3, %1; subc.u32 %0, 0, 0; }", r, r, r, r,
     "iii", bits32(-(uint64_t)(c < a + (a < b))))
OPX2("add.cc.u64 addc.u64", "{ .reg .b64 x; add.cc.u64 x, %1, %2; addc.u64 %0, %2, %1; }", l, l, l,
     "ll", a + b + (a + b < a))
OP2("mul.lo.u32", r, r, r, "ii", bits32(a *b))
OP2("mul.lo.s32", r, r, r, "ii", bits32(a *b))
OP2("mul.lo.u16", h, h, h, "ss", bits16(a *b))
OP2("mul.lo.s64", l, l, l, "ll", a *b)
OP2("mul.hi.u16", h, h, h, "ss", a *b >> 16)
OP2("mul.hi.s16", h, h, h, "ss", bits16((uint64_t)(s16(a) * s16(b)) >> 16))
OP2("mul.hi.u32", r, r, r, "ii", a *b >> 32)
OP2("mul.hi.s32", r, r, r, "ii", bits32((uint64_t)(s32(a) * s32(b)) >> 32))
OP2("mul.hi.u64", l, l, l, "ll", high64(a, b))
OP2("mul.hi.s64", l, l, l, "ll", high64_signed(a, b))
OP2("mul.wide.u16", r, h, h, "ss", a *b)
OP2("mul.wide.s16", r, h, h, "ss", bits32((uint64_t)(s16(a) * s16(b))))
OP2("mul.wide.u32", l, r, r, "ii", a *b)
OP2("mul.wide.s32", l, r, r, "ii", (uint64_t)(s32(a) * s32(b)))
OP3("mad.lo.u16", h, h, h, h, "sss", bits16(a *b + c))
OP3("mad.lo.s32", r, r, r, r, "iii", bits32(a *b + c))
OP3("mad.hi.u32", r, r, r, r, "iii", bits32((a * b >> 32) + c))
OP3("mad.hi.s32", r, r, r, r, "iii", bits32(((uint64_t)(s32(a) * s32(b)) >> 32) + c))
OP3("mad.hi.sat.s32", r, r, r, r, "iii",
    bits32((uint64_t)clamped((s32(a) * s32(b) >> 32) + s32(c), INT32_MIN, INT32_MAX)))
OP3("mad.lo.u64", l, l, l, l, "lll", a *b + c)
OP3("mad.hi.s64", l, l, l, l, "lll", high64_signed(a, b) + c)
OP3("mad.wide.u16", r, h, h, r, "ssi", bits32(a *b + c))
OP3("mad.wide.s32", l, r, r, l, "iil", (uint64_t)(s32(a) * s32(b)) + c)
OP2("mul24.lo.u32", r, r, r, "ii", bits32((a & 0xffffff) * (b & 0xffffff)))
OP2("mul24.hi.u32", r, r, r, "ii", bits32((a & 0xffffff) * (b & 0xffffff) >> 16))
OP2("mul24.lo.s32", r, r, r, "ii", bits32((uint64_t)((s32(a << 8) >> 8) * (s32(b << 8) >> 8))))
OP3("mad24.lo.u32", r, r, r, r, "iii", bits32((a & 0xffffff) * (b & 0xffffff) + c))
OP3("dp4a.u32.u32", r, r, r, r, "iii", dot4(a, b, c, 0, 0))
OP3("dp4a.s32.s32", r, r, r, r, "iii", dot4(a, b, c, 1, 1))
OP3("dp4a.u32.s32", r, r, r, r, "iii", dot4(a, b, c, 0, 1))
OP3("dp2a.lo.s32.s32", r, r, r, r, "iii", dot2(a, b, c, 0))
OP3("dp2a.hi.s32.s32", r, r, r, r, "iii", dot2(a, b, c, 1))
OP2("div.u32", r, r, r, "ii", b ? a / b : 0xffffffff)
OP2("div.s32", r, r, r, "ii", bits32(b ? (uint64_t)(s32(a) / s32(b)) : ~0ull))
OP2("div.u64", l, l, l, "ll", b ? a / b : ~0ull)
OP2("rem.u32", r, r, r, "ii", b ? a % b : 0xffffffff)
OP2("rem.s32", r, r, r, "ii", bits32(b ? (uint64_t)(s32(a) % s32(b)) : ~0ull))
OP2("min.u16", h, h, h, "ss", LEAST(a, b))
OP2("min.s32", r, r, r, "ii", bits32((uint64_t)LEAST(s32(a), s32(b))))
OP2("min.u32", r, r, r, "ii", LEAST(a, b))
OP2("min.s64", l, l, l, "ll", (uint64_t)LEAST((int64_t)a, (int64_t)b))
OP2("max.s16", h, h, h, "ss", bits16((uint64_t)MOST(s16(a), s16(b))))
OP2("max.s32", r, r, r, "ii", bits32((uint64_t)MOST(s32(a), s32(b))))
OP2("max.u32", r, r, r, "ii", MOST(a, b))
OP2("max.relu.s32", r, r, r, "ii", (uint64_t)MOST(MOST(s32(a), s32(b)), 0))
OP2("max.u64", l, l, l, "ll", MOST(a, b))
OP3("sad.u32", r, r, r, r, "iii", bits32(c + (a < b ? b - a : a - b)))
OP3("sad.s32", r, r, r, r, "iii",
    bits32(c + (uint64_t)(s32(a) < s32(b) ? s32(b) - s32(a) : s32(a) - s32(b))))
OP1("neg.s32", r, r, "i", bits32(-a))
OP1("neg.s64", l, l, "l", -a)
OP1("abs.s16", h, h, "s", bits16(a >> 15 ? -a : a))
OP1("abs.s32", r, r, "i", bits32(a >> 31 ? -a : a))
OP1("abs.s64", l, l, "l", a >> 63 ? -a : a)
OP2("and.b16", h, h, h, "ss", a &b)
OP2("and.b32", r, r, r, "ii", a &b)
OP2("or.b32", r, r, r, "ii", a | b)
OP2("or.b64", l, l, l, "ll", a | b)
OP2("xor.b32", r, r, r, "ii", a ^ b)
OP1("not.b16", h, h, "s", bits16(~a))
OP1("not.b64", l, l, "l", ~a)
OP1("cnot.b32", r, r, "i", !a)
OPX3("lop3.b32 0xe8", "lop3.b32 %0, %1, %2, %3, 0xe8;", r, r, r, r, "iii",
     (a & b) | (b & c) | (a & c))
OPX3("lop3.b32 0x96", "lop3.b32 %0, %1, %2, %3, 0x96;", r, r, r, r, "iii", a ^ b ^ c)
OPX3("lop3.b32 0x1d", "lop3.b32 %0, %1, %2, %3, 0x1d;", r, r, r, r, "iii", table3(a, b, c, 0x1d))
OP2("shl.b16", h, h, r, "sn", shifted_left(a, b, 16))
OP2("shl.b32", r, r, r, "in", shifted_left(a, b, 32))
OP2("shl.b64", l, l, r, "ln", shifted_left(a, b, 64))
OP2("shl.b32", r, r, r, "ii", shifted_left(a, b, 32))
OP2("shr.u16", h, h, r, "sn", b > 15 ? 0 : a >> b)
OP2("shr.b32", r, r, r, "in", b > 31 ? 0 : a >> b)
OP2("shr.s16", h, h, r, "sn", bits16((uint64_t)(s16(a) >> LEAST(b, 15))))
OP2("shr.s32", r, r, r, "in", bits32((uint64_t)(s32(a) >> LEAST(b, 31))))
OP2("shr.s64", l, l, r, "ln", (uint64_t)((int64_t)a >> LEAST(b, 63)))
OP2("shr.u64", l, l, r, "ln", b > 63 ? 0 : a >> b)
OP3("shf.l.wrap.b32", r, r, r, r, "iin", funnel(a, b, c % 32, 1))
OP3("shf.r.wrap.b32", r, r, r, r, "iin", funnel(a, b, c % 32, 0))
OP3("shf.l.clamp.b32", r, r, r, r, "iin", funnel(a, b, LEAST(c, 32), 1))
OP3("shf.r.clamp.b32", r, r, r, r, "iin", funnel(a, b, LEAST(c, 32), 0))
OP3("prmt.b32", r, r, r, r, "iii", permuted_by(a, b, c))
OPX2("prmt.b32 immediate", "prmt.b32 %0, %1, %2, 0x5410;", r, r, r, "ii",
     (a & 0xffff) | bits32(b << 16))
OP3("prmt.b32.f4e", r, r, r, r, "iii", permuted_mode(a, b, 0 + c % 4))
OP3("prmt.b32.b4e", r, r, r, r, "iii", permuted_mode(a, b, 4 + c % 4))
OP3("prmt.b32.rc8", r, r, r, r, "iii", permuted_mode(a, b, 8 + c % 4))
OP3("prmt.b32.ecl", r, r, r, r, "iii", permuted_mode(a, b, 12 + c % 4))
OP3("prmt.b32.ecr", r, r, r, r, "iii", permuted_mode(a, b, 16 + c % 4))
OP3("prmt.b32.rc16", r, r, r, r, "iii", permuted_mode(a, b, 20 + c % 4))
OP3("bfe.u32", r, r, r, r, "inn", field(a, (unsigned)b, (unsigned)c, 32, 0))
OP3("bfe.s32", r, r, r, r, "inn", field(a, (unsigned)b, (unsigned)c, 32, 1))
OP3("bfe.u64", l, l, r, r, "lnn", field(a, (unsigned)b, (unsigned)c, 64, 0))
OP3("bfe.s64", l, l, r, r, "lnn", field(a, (unsigned)b, (unsigned)c, 64, 1))
OPX3("bfi.b32", "bfi.b32 %0, %1, 0x12345678, %2, %3;", r, r, r, r, "inn",
     inserted(a, 0x12345678, (unsigned)b, (unsigned)c, 32))
OPX3("bfi.b64", "bfi.b64 %0, %1, 0x123456789abcdef0, %2, %3;", l, l, r, r, "lnn",
     inserted(a, 0x123456789abcdef0, (unsigned)b, (unsigned)c, 64))
OP1("popc.b32", r, r, "i", counted(a))
OP1("popc.b64", r, l, "l", counted(a))
OP1("clz.b32", r, r, "i", leading(a, 32))
OP1("clz.b64", r, l, "l", leading(a, 64))
OP1("bfind.u32", r, r, "i", found(a, 32, 0, 0))
OP1("bfind.s32", r, r, "i", found(a, 32, 1, 0))
OP1("bfind.s64", r, l, "l", found(a, 64, 1, 0))
OP1("bfind.shiftamt.u32", r, r, "i", found(a, 32, 0, 1))
OP1("bfind.shiftamt.s64", r, l, "l", found(a, 64, 1, 1))
OP1("brev.b32", r, r, "i", reversed(a, 32))
OP1("brev.b64", l, l, "l", reversed(a, 64))

// Comparisons: p as bit 0, q as bit 1.
#define COMPARE(title, i, classes, expression)                                                     \
    OPX2(title,                                                                                    \
         "{ .reg .pred p, q; .reg .b32 x; " title " p|q, %1, %2; selp.b32 %0, 1, 0, p;\n\t"        \
         "selp.b32 x, 2, 0, q; or.b32 %0, %0, x; }",                                               \
         r, i, i, classes, (expression) ? 1 : 2)
COMPARE("setp.eq.s32", r, "nn", a == b)
COMPARE("setp.ne.b32", r, "nn", a != b)
COMPARE("setp.lt.s32", r, "ii", s32(a) < s32(b))
COMPARE("setp.le.s32", r, "ii", s32(a) <= s32(b))
COMPARE("setp.gt.s32", r, "nn", a > b)
COMPARE("setp.ge.s32", r, "ii", s32(a) >= s32(b))
COMPARE("setp.lt.u32", r, "ii", a < b)
COMPARE("setp.lo.u32", r, "ii", a < b)
COMPARE("setp.ls.u32", r, "nn", a <= b)
COMPARE("setp.hi.u32", r, "ii", a > b)
COMPARE("setp.hs.u32", r, "nn", a >= b)
COMPARE("setp.lt.s16", h, "ss", s16(a) < s16(b))
COMPARE("setp.ge.u64", l, "ll", a >= b)
COMPARE("setp.lt.s64", l, "ll", (int64_t)a < (int64_t)b)
#define COMBINE(mode, op)                                                                          \
    OPX3("setp.lt." mode ".s32",                                                                   \
         "{ .reg .pred p, q, c; .reg .b32 x; setp.gt.s32 c, %3, 20;\n\t"                           \
         "setp.lt." mode ".s32 p|q, %1, %2, !c; selp.b32 %0, 1, 0, p;\n\t"                         \
         "selp.b32 x, 2, 0, q; or.b32 %0, %0, x; }",                                               \
         r, r, r, r, "iin",                                                                        \
         ((s32(a) < s32(b)) op !(c > 20)) | ((s32(a) >= s32(b)) op !(c > 20)) << 1)
COMBINE("and", &)
COMBINE("or", |)
COMBINE("xor", ^)
OP2("set.lt.u32.s32", r, r, r, "ii", s32(a) < s32(b) ? 0xffffffff : 0)
OP2("set.ge.f32.u32", f, r, r, "ii", a >= b ? 0x3f800000 : 0)
OPX3("selp.b32", "{ .reg .pred p; setp.ne.u32 p, %3, 0; selp.b32 %0, %1, %2, p; }", r, r, r, r,
     "iii", c ? a : b)
OPX3("selp.b64 !p",
     "{ .reg .pred p; setp.ne.u32 p, %3, 0; not.pred p, p; selp.b64 %0, %1, %2, p; }", l, l, l, r,
     "lli", c ? b : a)
OPX3("and.pred",
     "{ .reg .pred p, q; setp.gt.u32 p, %1, 20; setp.gt.u32 q, %2, 20; and.pred p, p, q; selp.b32 "
     "%0, %3, 7, p; }",
     r, r, r, r, "nni", a > 20 && b > 20 ? c : 7)
OPX3("xor.pred",
     "{ .reg .pred p, q; setp.gt.u32 p, %1, 20; setp.gt.u32 q, %2, 20; xor.pred p, p, q; or.pred "
     "p, p, p; mov.pred q, p; selp.b32 %0, %3, 7, q; }",
     r, r, r, r, "nni", (a > 20) != (b > 20) ? c : 7)
OP3("slct.b32.s32", r, r, r, r, "iii", s32(c) >= 0 ? a : b)
OP3("slct.u64.s32", l, l, l, r, "lli", s32(c) >= 0 ? a : b)
OP3("slct.b32.f32", r, r, r, f, "iif", from_bits<float>(c) >= 0 ? a : b)
OPX2("@p",
     "{ .reg .pred p; setp.gt.s32 p, %1, %2; mov.b32 %0, 1; @p mov.b32 %0, 2; @!p add.u32 %0, %0, "
     "2; }",
     r, r, r, "ii", s32(a) > s32(b) ? 2 : 3)
OPX1("bra",
     "{ .reg .pred p; mov.u32 %0, 1; AGAIN_%=: add.u32 %0, %0, 3; setp.lt.u32 p, %0, %1; @p bra "
     "AGAIN_%=; }",
     r, r, "n", a <= 4 ? 4 : (a - 1 + 2) / 3 * 3 + 1)

// Between integers.
OP1("cvt.u8.u32", r, r, "i", a & 255)
OP1("cvt.s8.s32", r, r, "i", bits32((uint64_t)(int8_t)a))
OP1("cvt.s16.s32", h, r, "i", bits16(a))
OP1("cvt.s32.s8", r, r, "i", bits32((uint64_t)(int8_t)a))
OP1("cvt.u32.u16", r, h, "s", a)
OP1("cvt.s32.s16", r, h, "s", bits32((uint64_t)s16(a)))
OP1("cvt.s64.s32", l, r, "i", (uint64_t)s32(a))
OP1("cvt.u64.u32", l, r, "i", a)
OP1("cvt.u64.s32", l, r, "i", (uint64_t)s32(a))
OP1("cvt.u32.u64", r, l, "l", bits32(a))
OP1("cvt.sat.s8.s32", r, r, "i", bits32((uint64_t)clamped(s32(a), -128, 127)))
OP1("cvt.sat.u8.s32", r, r, "i", (uint64_t)clamped(s32(a), 0, 255))
OP1("cvt.sat.u16.u32", h, r, "i", LEAST(a, 65535))
OP1("cvt.sat.s32.u32", r, r, "i", LEAST(a, 0x7fffffff))
OP1("cvt.sat.u32.s32", r, r, "i", s32(a) < 0 ? 0 : a)
OP1("cvt.sat.s32.s64", r, l, "l", bits32((uint64_t)clamped((int64_t)a, INT32_MIN, INT32_MAX)))
OP1("cvt.sat.u64.s32", l, r, "i", s32(a) < 0 ? 0 : a)

OPX1("mov.pred !p",
     "{ .reg .pred p, q; setp.gt.s32 p, %1, 20; mov.pred q, !p; selp.b32 %0, 1, 2, q; }", r, r, "n",
     a > 20 ? 2 : 1)
OPX2("and.pred !q",
     "{ .reg .pred p, q; setp.gt.s32 p, %1, 20; setp.gt.s32 q, %2, 20; and.pred p, !q, p;\n\t"
     "selp.b32 %0, 1, 2, !p; }",
     r, r, r, "nn", a > 20 && b <= 20 ? 2 : 1)

MAIN
