/* Integers and bits. */
#include "ptx/handlers/handler.h"

static inline uint64_t cut(int bits, uint64_t v)
{
    return bits < 64 ? v & ((1ull << bits) - 1) : v;
}

static inline uint64_t operand(const ptx_insn *i, int k, const uint64_t *reg)
{
    return ptx_extended(i->type[0], ptx_get(&i->operand[k], reg));
}

static inline void put(const ptx_insn *i, uint64_t *reg, uint64_t v)
{
    ptx_set(&i->operand[0], reg, cut(ptx_type_bits[i->type[0]], v));
}

static inline int is_signed(const ptx_insn *i)
{
    return ptx_type_kinds[i->type[0]] == 's';
}

/* Sums. The thread keeps the carry, as consecutive statements may use it. */

static inline uint64_t saturated(const ptx_insn *i, uint64_t v)
{
    int64_t s = (int64_t)v;
    if (!ptx_has(i, PTX_M_sat))
        return v;
    return (uint64_t)(s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s);
}

void ptx_add(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, saturated(i, operand(i, 1, reg) + operand(i, 2, reg)));
}

void ptx_sub(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, saturated(i, operand(i, 1, reg) - operand(i, 2, reg)));
}

/* add.cc, addc, sub.cc, subc. A difference is a sum with the complement, and a borrow is an
 * inverted carry. */
static void with_carry(struct worker *w, const ptx_insn *i, uint64_t *reg, int minus, int uses)
{
    int bits = ptx_type_bits[i->type[0]];
    unsigned *carry = &w->threads[w->now].carry;
    uint64_t a = cut(bits, operand(i, 1, reg)), b = cut(bits, operand(i, 2, reg));
    unsigned __int128 sum = a;
    sum += minus ? cut(bits, ~b) : b;
    sum += uses ? *carry ^ (unsigned)minus : (unsigned)minus;
    if (ptx_has(i, PTX_M_cc))
        *carry = (unsigned)(sum >> bits & 1) ^ (unsigned)minus;
    put(i, reg, (uint64_t)sum);
}

void ptx_add_cc(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    with_carry(w, i, reg, 0, 0);
}

void ptx_addc(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    with_carry(w, i, reg, 0, 1);
}

void ptx_sub_cc(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    with_carry(w, i, reg, 1, 0);
}

void ptx_subc(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    with_carry(w, i, reg, 1, 1);
}

/* Products. */

/* The part of a * b that the instruction names: .lo, .hi or .wide; .wide is twice as wide. */
static uint64_t product(const ptx_insn *i, const uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), b = operand(i, 2, reg);
    int bits = ptx_type_bits[i->type[0]];
    if (!ptx_has(i, PTX_M_hi))
        return a * b;
    if (bits < 64)
        return is_signed(i) ? (uint64_t)((int64_t)a * (int64_t)b >> bits) : a * b >> bits;
    return is_signed(i) ? (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64)
                        : (uint64_t)((unsigned __int128)a * b >> 64);
}

void ptx_mul(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    int wide = ptx_has(i, PTX_M_wide);
    ptx_set(&i->operand[0], reg, cut(ptx_type_bits[i->type[0]] << wide, product(i, reg)));
}

void ptx_mad(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    int wide = ptx_has(i, PTX_M_wide);
    uint64_t c = wide ? ptx_get(&i->operand[3], reg) : operand(i, 3, reg);
    ptx_set(&i->operand[0], reg,
            cut(ptx_type_bits[i->type[0]] << wide, saturated(i, product(i, reg) + c)));
}

/* The product of 24 bits of each factor: .lo is bits 0 to 31 of the 48, .hi bits 16 to 47. */
static uint64_t product24(const ptx_insn *i, const uint64_t *reg)
{
    uint64_t a = ptx_get(&i->operand[1], reg) << 40, b = ptx_get(&i->operand[2], reg) << 40;
    uint64_t p =
        is_signed(i) ? (uint64_t)(((int64_t)a >> 40) * ((int64_t)b >> 40)) : (a >> 40) * (b >> 40);
    return ptx_has(i, PTX_M_hi) ? p >> 16 : p;
}

void ptx_mul24(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, product24(i, reg));
}

void ptx_mad24(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, product24(i, reg) + operand(i, 3, reg));
}

/* The third operand plus four products of bytes, or plus two products of a half and a byte. */
static int64_t dot(const ptx_insn *i, const uint64_t *reg, int parts, int bits, int from)
{
    uint64_t a = ptx_get(&i->operand[1], reg), b = ptx_get(&i->operand[2], reg) >> from;
    int64_t sum = (int64_t)(int32_t)ptx_get(&i->operand[3], reg);
    for (int k = 0; k < parts; k++, a >>= bits, b >>= 8) {
        enum ptx_type wide = bits == 8 ? (i->type[0] == PTX_S32 ? PTX_S8 : PTX_U8)
                                       : (i->type[0] == PTX_S32 ? PTX_S16 : PTX_U16);
        enum ptx_type byte = i->type[1] == PTX_S32 ? PTX_S8 : PTX_U8;
        sum += (int64_t)ptx_extended(wide, a) * (int64_t)ptx_extended(byte, b);
    }
    return sum;
}

void ptx_dp4a(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, (uint64_t)dot(i, reg, 4, 8, 0));
}

void ptx_dp2a(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, (uint64_t)dot(i, reg, 2, 16, ptx_has(i, PTX_M_hi) ? 16 : 0));
}

/* The absolute differences of four bytes, each as a byte; with .add, their sum plus c. */
void ptx_vabsdiff4(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const uint64_t a = ptx_get(&i->operand[1], reg), b = ptx_get(&i->operand[2], reg);
    const int64_t most = is_signed(i) ? INT8_MAX : UINT8_MAX;
    uint64_t sum = ptx_get(&i->operand[3], reg), bytes = 0;
    for (int k = 0; k < 32; k += 8) {
        const int64_t x = (int64_t)ptx_extended(i->type[1] == PTX_S32 ? PTX_S8 : PTX_U8, a >> k);
        const int64_t y = (int64_t)ptx_extended(i->type[2] == PTX_S32 ? PTX_S8 : PTX_U8, b >> k);
        const int64_t difference = x < y ? y - x : x - y;
        sum += (uint64_t)difference;
        bytes |= cut(8, (uint64_t)(ptx_has(i, PTX_M_sat) && difference > most ? most : difference))
                 << k;
    }
    put(i, reg, ptx_has(i, PTX_M_add) ? sum : bytes);
}

/* A division by zero does not stop a GPU: quotient and remainder are all ones. */
void ptx_div(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), b = operand(i, 2, reg);
    put(i, reg,
        !b              ? ~0ull
        : !is_signed(i) ? a / b
        : b == ~0ull    ? -a
                        : (uint64_t)((int64_t)a / (int64_t)b));
}

void ptx_rem(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), b = operand(i, 2, reg);
    put(i, reg,
        !b              ? ~0ull
        : !is_signed(i) ? a % b
        : b == ~0ull    ? 0
                        : (uint64_t)((int64_t)a % (int64_t)b));
}

static inline int less(const ptx_insn *i, uint64_t a, uint64_t b)
{
    return is_signed(i) ? (int64_t)a < (int64_t)b : a < b;
}

void ptx_min(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), b = operand(i, 2, reg), r = less(i, b, a) ? b : a;
    put(i, reg, ptx_has(i, PTX_M_relu) && (int64_t)r < 0 ? 0 : r);
}

void ptx_max(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), b = operand(i, 2, reg), r = less(i, a, b) ? b : a;
    put(i, reg, ptx_has(i, PTX_M_relu) && (int64_t)r < 0 ? 0 : r);
}

void ptx_sad(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), b = operand(i, 2, reg);
    put(i, reg, operand(i, 3, reg) + (less(i, a, b) ? b - a : a - b));
}

void ptx_neg(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, -operand(i, 1, reg));
}

void ptx_abs(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg);
    put(i, reg, (int64_t)a < 0 ? -a : a);
}

/* Logic. A predicate is an integer of one bit. */

#define LOGIC(name, expression)                                                                    \
    void name(struct worker *w, const ptx_insn *i, uint64_t *reg)                                  \
    {                                                                                              \
        uint64_t a = ptx_get(&i->operand[1], reg) ^ (uint64_t)i->operand[1].negated;               \
        uint64_t b = ptx_get(&i->operand[i->n - 1], reg) ^ (uint64_t)i->operand[i->n - 1].negated; \
        (void)b;                                                                                   \
        put(i, reg, expression);                                                                   \
    }
LOGIC(ptx_and, a &b)
LOGIC(ptx_or, a | b)
LOGIC(ptx_xor, a ^ b)
LOGIC(ptx_not, ~a)
LOGIC(ptx_cnot, !cut(ptx_type_bits[i->type[0]], a))

void ptx_lop3(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint32_t a = (uint32_t)ptx_get(&i->operand[1], reg), b = (uint32_t)ptx_get(&i->operand[2], reg);
    uint32_t c = (uint32_t)ptx_get(&i->operand[3], reg), r = 0;
    uint64_t table = ptx_get(&i->operand[4], reg);
    for (int k = 0; k < 8; k++) /* bit k of the table is the result for bits a, b, c of k */
        if (table >> k & 1)
            r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    put(i, reg, r);
}

/* Shifts. A count of the width or more shifts all bits out. */

void ptx_shl(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint32_t n = (uint32_t)ptx_get(&i->operand[2], reg);
    put(i, reg, n >= ptx_type_bits[i->type[0]] ? 0 : operand(i, 1, reg) << n);
}

static inline uint64_t shifted_right(const ptx_insn *i, uint64_t a, unsigned n)
{
    int out = n >= ptx_type_bits[i->type[0]];
    if (!is_signed(i))
        return out ? 0 : a >> n;
    return out ? -(uint64_t)((int64_t)a < 0) : (uint64_t)((int64_t)a >> n);
}

void ptx_shr(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    put(i, reg, shifted_right(i, operand(i, 1, reg), (uint32_t)ptx_get(&i->operand[2], reg)));
}

/* A funnel shift of 64 bits: a is the low half, b the high half. */
void ptx_shf(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t both = (uint32_t)ptx_get(&i->operand[1], reg) | ptx_get(&i->operand[2], reg) << 32;
    uint32_t n = (uint32_t)ptx_get(&i->operand[3], reg);
    n = ptx_has(i, PTX_M_wrap) ? n & 31 : n > 32 ? 32 : n;
    put(i, reg, ptx_has(i, PTX_M_l) ? both << n >> 32 : both >> n);
}

/* Bytes and fields. */

void ptx_prmt(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t both = (uint32_t)ptx_get(&i->operand[1], reg) | ptx_get(&i->operand[2], reg) << 32;
    uint64_t c = ptx_get(&i->operand[3], reg), s = c & 3;
    uint32_t r = 0;
    if (ptx_has(i, PTX_M_f4e)) /* each mode selects four bytes, which s moves */
        c = s | (s + 1) << 4 | (s + 2) << 8 | (s + 3) << 12;
    else if (ptx_has(i, PTX_M_b4e))
        c = s | ((s - 1) & 7) << 4 | ((s - 2) & 7) << 8 | ((s - 3) & 7) << 12;
    else if (ptx_has(i, PTX_M_rc8))
        c = s * 0x1111;
    else if (ptx_has(i, PTX_M_ecl))
        c = (s > 0 ? s : 0) | (s > 1 ? s : 1) << 4 | (s > 2 ? s : 2) << 8 | 3 << 12;
    else if (ptx_has(i, PTX_M_ecr))
        c = 0 | (s < 1 ? s : 1) << 4 | (s < 2 ? s : 2) << 8 | s << 12;
    else if (ptx_has(i, PTX_M_rc16))
        c = s & 1 ? 0x3232 : 0x1010;
    for (int k = 0; k < 4; k++) {
        uint32_t byte = both >> (c >> (4 * k) & 7) * 8 & 255;
        if (c >> (4 * k) & 8) /* the byte's sign in all 8 bits */
            byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * k);
    }
    put(i, reg, r);
}

/* The position or the length of a field. For 32-bit fields only 8 bits of the operand count, for
 * 64-bit fields, which have no instruction of their own on a GPU, all bits. */
static unsigned extent(const ptx_insn *i, int k, const uint64_t *reg)
{
    uint32_t n = (uint32_t)ptx_get(&i->operand[k], reg);
    return ptx_type_bits[i->type[0]] == 32 ? n & 255 : n < 255 ? n : 255;
}

void ptx_bfe(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    unsigned bits = ptx_type_bits[i->type[0]], at = extent(i, 2, reg), n = extent(i, 3, reg);
    uint64_t r = shifted_right(i, operand(i, 1, reg), at);
    if (n < bits && n < 64) {
        uint64_t sign = is_signed(i) && n ? r >> (n - 1) & 1 : 0;
        r = (r & ((1ull << n) - 1)) | (sign ? ~0ull << n : 0);
    }
    put(i, reg, r);
}

void ptx_bfi(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    unsigned bits = ptx_type_bits[i->type[0]], at = extent(i, 3, reg), n = extent(i, 4, reg);
    uint64_t mask = n < 64 ? (1ull << (n & 63)) - 1 : ~0ull;
    mask = at < bits ? mask << (at & 63) : 0;
    uint64_t a = at < bits ? operand(i, 1, reg) << (at & 63) : 0;
    put(i, reg, (a & mask) | (operand(i, 2, reg) & ~mask));
}

/* The result of counting bits is 32 bits wide, whatever the type. */

void ptx_popc(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    ptx_set(&i->operand[0], reg, (uint64_t)__builtin_popcountll(operand(i, 1, reg)));
}

void ptx_clz(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), bits = ptx_type_bits[i->type[0]];
    ptx_set(&i->operand[0], reg, a ? (uint64_t)__builtin_clzll(a) - (64 - bits) : bits);
}

/* The position of the highest bit that is no sign bit. */
void ptx_bfind(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), bits = ptx_type_bits[i->type[0]];
    a = is_signed(i) && (int64_t)a < 0 ? ~a : a;
    uint64_t found = a ? 63 - (uint64_t)__builtin_clzll(a) : 0xffffffff;
    ptx_set(&i->operand[0], reg, a && ptx_has(i, PTX_M_shiftamt) ? bits - 1 - found : found);
}

void ptx_brev(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = operand(i, 1, reg), r = 0;
    for (int k = 0; k < ptx_type_bits[i->type[0]]; k++, a >>= 1)
        r = r << 1 | (a & 1);
    put(i, reg, r);
}
