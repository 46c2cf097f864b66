/* Comparisons, and selection by their results. */
#include "ptx/handlers/handler.h"

/* The relation of a and b: -1, 0, 1, or 2 if one of them is NaN. */
static int relation(const ptx_insn *i, enum ptx_type type, uint64_t a, uint64_t b)
{
    int unused = 64 - ptx_type_bits[type];
    if (ptx_type_kinds[type] == 'f') {
        if (ptx_has(i, PTX_M_ftz)) {
            a = ptx_flush(type, a);
            b = ptx_flush(type, b);
        }
        double x = ptx_decode(type, a), y = ptx_decode(type, b);
        return x != x || y != y ? 2 : (x > y) - (x < y);
    }
    a <<= unused;
    b <<= unused;
    if (ptx_type_kinds[type] == 's')
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    return (a > b) - (a < b);
}

static int holds(const ptx_insn *i, enum ptx_type type, uint64_t a, uint64_t b)
{
    static const struct {
        enum ptx_modifier name;
        unsigned char less, equal, greater, unordered;
    } comparisons[] = {
        {PTX_M_eq, 0, 1, 0, 0},  {PTX_M_ne, 1, 0, 1, 0},  {PTX_M_lt, 1, 0, 0, 0},
        {PTX_M_le, 1, 1, 0, 0},  {PTX_M_gt, 0, 0, 1, 0},  {PTX_M_ge, 0, 1, 1, 0},
        {PTX_M_lo, 1, 0, 0, 0},  {PTX_M_ls, 1, 1, 0, 0},  {PTX_M_hi, 0, 0, 1, 0},
        {PTX_M_hs, 0, 1, 1, 0},  {PTX_M_equ, 0, 1, 0, 1}, {PTX_M_neu, 1, 0, 1, 1},
        {PTX_M_ltu, 1, 0, 0, 1}, {PTX_M_leu, 1, 1, 0, 1}, {PTX_M_gtu, 0, 0, 1, 1},
        {PTX_M_geu, 0, 1, 1, 1}, {PTX_M_num, 1, 1, 1, 0}, {PTX_M_nan, 0, 0, 0, 1},
    };
    int k = 0;
    while (!ptx_has(i, comparisons[k].name))
        k++;
    switch (relation(i, type, a, b)) {
    case -1:
        return comparisons[k].less;
    case 0:
        return comparisons[k].equal;
    case 1:
        return comparisons[k].greater;
    default:
        return comparisons[k].unordered;
    }
}

static int combined(const ptx_insn *i, const uint64_t *reg, int r)
{
    if (i->n < 4)
        return r;
    int c = ptx_true(&i->operand[3], reg);
    return ptx_has(i, PTX_M_and) ? r & c : ptx_has(i, PTX_M_or) ? r | c : r ^ c;
}

/* p is the result of the comparison; q, if given, that of the opposite comparison. For packed
 * types p is for the low half and q for the high one. */
void ptx_setp(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    enum ptx_type type = i->type[0], single = ptx_single(type);
    uint64_t a = ptx_get(&i->operand[1], reg), b = ptx_get(&i->operand[2], reg);
    uint64_t low = type == single ? ~0ull : 0xffff;
    int p = holds(i, single, a & low, b & low);
    int q = type == single ? !p : holds(i, single, a >> 16 & low, b >> 16 & low);
    p = combined(i, reg, p);
    q = combined(i, reg, q);
    ptx_set(&i->operand[0], reg, (uint64_t)p);
    if (i->operand[0].more >= 0)
        reg[i->operand[0].more] = (uint64_t)q;
}

/* The same with a value as the result: all ones or 1.0 for true. */
void ptx_set_number(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    enum ptx_type to = i->type[0], type = i->type[1], single = ptx_single(type);
    uint64_t a = ptx_get(&i->operand[1], reg), b = ptx_get(&i->operand[2], reg);
    uint64_t low = type == single ? ~0ull : 0xffff, r = 0;
    uint64_t one = ptx_type_kinds[to] == 'f'        ? ptx_encode(ptx_single(to), 1, PTX_NEAREST)
                   : to == PTX_U32 || to == PTX_S32 ? (type == single ? 0xffffffff : 0xffff)
                                                    : 0xffff;
    if (combined(i, reg, holds(i, single, a & low, b & low)))
        r = one;
    if (type != single && combined(i, reg, holds(i, single, a >> 16 & low, b >> 16 & low)))
        r |= one << 16;
    ptx_set(&i->operand[0], reg, r);
}

static void take(const ptx_insn *i, uint64_t *reg, int first)
{
    int unused = 64 - ptx_type_bits[i->type[0]];
    ptx_set(&i->operand[0], reg, ptx_get(&i->operand[first ? 1 : 2], reg) << unused >> unused);
}

void ptx_selp(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    take(i, reg, ptx_true(&i->operand[3], reg));
}

/* In a condition, -0 counts as 0, and NaN as negative. */
void ptx_slct(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t c = ptx_get(&i->operand[3], reg);
    if (i->type[1] == PTX_F32)
        take(i, reg, ptx_float(ptx_has(i, PTX_M_ftz) ? ptx_flush(PTX_F32, c) : c) >= 0);
    else
        take(i, reg, (int32_t)c >= 0);
}
