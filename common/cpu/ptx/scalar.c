/* Scalar instructions: mov, integer arithmetic, logic. */
#include "handler.h"

uint64_t ptx_special(struct worker *w, enum ptx_special which)
{
    unsigned lane = w->now % WARP;
    switch (which) {
    case PTX_S_LANEID:
        return lane;
    default:
        return 0;
    }
}

void ptx_mov(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const ptx_operand *a = &i->operand[1];
    ptx_set(&i->operand[0], reg,
            a->kind == PTX_SPECIAL ? ptx_special(w, (enum ptx_special)a->value) : ptx_get(a, reg));
}

void ptx_add_32(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    (void)w;
    ptx_set(&i->operand[0], reg,
            (uint32_t)(ptx_get(&i->operand[1], reg) + ptx_get(&i->operand[2], reg)));
}

void ptx_activemask(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    (void)w;
    for (int l = 0; l < 32; l++)
        if (lanes >> l & 1)
            ptx_set(&i->operand[0], reg[l], lanes);
}
