/* Operations among lanes, and numbered barriers: functions of warp.c and scheduler.c under PTX's
 * names. */
#include "ptx/handlers/handler.h"

/* The running thread's place, for reports. */
#define PLACE(w) (w)->threads[(w)->now].file, (w)->threads[(w)->now].line

static uint32_t get(const ptx_insn *i, int operand, const uint64_t *reg)
{
    return (uint32_t)ptx_get(&i->operand[operand], reg);
}

static void set_with_predicate(const ptx_operand *o, uint64_t *reg, uint64_t v, int predicate)
{
    ptx_set(o, reg, v);
    if (o->more >= 0)
        reg[o->more] = (uint64_t)predicate;
}

/* c packs two numbers: bits 0 to 4 are the last lane that may be read; bits 8 to 12 mark the
 * bits of the lane's number that its source shares. */
void ptx_shfl(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int lane = (int)w->now % WARP;
    const uint32_t a = get(i, 1, reg), c = get(i, 3, reg), mask = get(i, 4, reg);
    const int b = (int)(get(i, 2, reg) & 31), last = (int)(c & 31), segment = (int)(c >> 8 & 31);
    const int first = lane & segment, limit = first | (last & ~segment);
    int from = ptx_has(i, PTX_M_idx)    ? first | (b & ~segment)
               : ptx_has(i, PTX_M_up)   ? lane - b
               : ptx_has(i, PTX_M_down) ? lane + b
                                        : lane ^ b;
    int inside = ptx_has(i, PTX_M_up) ? from >= limit : from <= limit;
    uint64_t v = cpu_shuffle(CPU_SHFL, mask, a, inside ? from : lane, WARP, PLACE(w));
    set_with_predicate(&i->operand[0], reg, v, inside);
}

void ptx_vote(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const uint32_t mask = get(i, 2, reg);
    const int p = ptx_true(&i->operand[1], reg);
    uint64_t v = cpu_warp(ptx_has(i, PTX_M_any)   ? CPU_ANY
                          : ptx_has(i, PTX_M_all) ? CPU_ALL
                                                  : CPU_BALLOT,
                          mask, (uint64_t)p, PLACE(w));
    if (ptx_has(i, PTX_M_uni))
        v = v == 0 || v == (mask & w->warps[w->now / WARP].exists);
    ptx_set(&i->operand[0], reg, v);
}

void ptx_match(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t a = ptx_get(&i->operand[1], reg);
    if (i->type[0] == PTX_B32)
        a = (uint32_t)a;
    uint64_t v = cpu_warp(ptx_has(i, PTX_M_all) ? CPU_MATCH_ALL : CPU_MATCH_ANY, get(i, 2, reg), a,
                          PLACE(w));
    set_with_predicate(&i->operand[0], reg, v, v != 0);
}

void ptx_redux(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int is_signed = i->type[0] == PTX_S32;
    enum cpu_op op = ptx_has(i, PTX_M_add)   ? CPU_REDUCE_ADD
                     : ptx_has(i, PTX_M_min) ? is_signed ? CPU_REDUCE_MIN_SIGNED : CPU_REDUCE_MIN
                     : ptx_has(i, PTX_M_max) ? is_signed ? CPU_REDUCE_MAX_SIGNED : CPU_REDUCE_MAX
                     : ptx_has(i, PTX_M_and) ? CPU_REDUCE_AND
                     : ptx_has(i, PTX_M_or)  ? CPU_REDUCE_OR
                                             : CPU_REDUCE_XOR;
    uint32_t a = get(i, 1, reg);
    uint64_t v = cpu_warp(op, get(i, 2, reg), is_signed ? (uint64_t)(int32_t)a : a, PLACE(w));
    ptx_set(&i->operand[0], reg, (uint32_t)v);
}

void ptx_activemask(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    ptx_set(&i->operand[0], reg, cpu_warp(CPU_ACTIVEMASK, 0, 0, PLACE(w)));
}

/* The elected lane is always the same for the same mask. The order of threads determines which. */
void ptx_elect(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint32_t lanes = get(i, 1, reg) & w->warps[w->now / WARP].exists;
    cpu_warp(CPU_SYNCWARP, get(i, 1, reg), 0, PLACE(w));
    if (w->launch->order == ORDER_RANDOM)
        for (uint64_t skip = (w->launch->seed + 1) * 0x9e3779b97f4a7c15u * lanes >> 40; skip % 32;
             skip--)
            lanes = lanes & (lanes - 1) ? lanes & (lanes - 1) : lanes;
    int leader =
        w->launch->order == ORDER_REVERSE ? 31 - __builtin_clz(lanes) : __builtin_ctz(lanes);
    set_with_predicate(&i->operand[0], reg, (uint64_t)leader, (int)w->now % WARP == leader);
}

void ptx_warp_sync(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    cpu_warp(CPU_SYNCWARP, get(i, 0, reg), 0, PLACE(w));
}

/* --- Barriers --------------------------------------------------------------------------------- */

/* Barrier 0 for all threads is __syncthreads. */
void ptx_bar(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    int id = (int)get(i, 0, reg), threads = i->n > 1 ? (int)get(i, 1, reg) : w->size;
    int wait = !ptx_has(i, PTX_M_arrive);
    if (id == 0 && threads == w->size && wait)
        cpu_block_barrier(CPU_SYNCTHREADS, 0, PLACE(w));
    else
        cpu_named_barrier(id, threads, wait, PLACE(w));
}

/* Operands: the result, the barrier, optionally a number of threads, the predicate. */
void ptx_bar_red(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    int id = (int)get(i, 1, reg), threads = i->n > 3 ? (int)get(i, 2, reg) : w->size;
    if (id != 0 || threads != w->size)
        fault_stop(
            w, FAULT_UNSUPPORTED, cudaErrorLaunchFailure,
            "%s:%d: %s on barrier %d for %d threads: the CPU backend has it on barrier 0 for "
            "all %d threads of the block",
            PLACE(w), i->text, id, threads, w->size);
    ptx_set(&i->operand[0], reg,
            (uint64_t)cpu_block_barrier(ptx_has(i, PTX_M_popc)  ? CPU_SYNCTHREADS_COUNT
                                        : ptx_has(i, PTX_M_and) ? CPU_SYNCTHREADS_AND
                                                                : CPU_SYNCTHREADS_OR,
                                        ptx_true(&i->operand[i->n - 1], reg), PLACE(w)));
}
