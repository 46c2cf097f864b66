/* wgmma: asynchronous products of a warpgroup, which is four warps.
 *
 * CUDACPU_ASYNC chooses when a product takes effect. `late`: when the first of the warps waits
 * for it; only then are its matrices read, from shared memory and from variables. `early`: when
 * it is issued. `random`: at either of the two, or at any instruction of this file in between. A
 * warpgroup's products take effect in the order of their issue. The variables of the sums hold
 * NaN from issue to wait, except with `early`; a warp gets its sums at its own wait. A product
 * that nobody waits for never takes effect: its variables are gone. */
#include "ptx/tensor_cores/descriptor.h"
#include "cpu/trace.h"
#include "device/units/product.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, K = 16, WARPS = 4, NOT_A_NUMBER = 0x7fffffff };

/* Sums that products add to, and the variables that they go to after the wait. */
struct sums {
    int columns;
    uint32_t value[ROWS][PRODUCT_WIDE];
    uint32_t *at[WARPS][WARP][128]; /* the variables of each lane */
    int pending[WARPS];             /* products that the warp has not waited for */
    int delivered[WARPS];           /* the warp has its sums, before its wait */
    int used;
};

struct product {
    const ptx_insn *insn;
    uint64_t a, b;                        /* the descriptors */
    int in_registers;                     /* A is in registers; then: */
    const uint32_t *from[WARPS][WARP][4]; /* the variables, */
    uint32_t part[WARPS][WARP][4];        /* or the values if they are not variables */
    int add;                              /* 0: the sums begin at 0 */
    int negate_a, negate_b, transpose_a, transpose_b;
    struct sums *sums;
    int read;                                            /* the tiles have been read, into these: */
    uint16_t tile_a[ROWS * K], tile_b[PRODUCT_WIDE * K]; /* [64][16] and [columns][16] */
    unsigned done;                                       /* warps whose rows are computed */
    int op[WARPS];    /* for check: the operation of each warp's quarter */
    unsigned waiting; /* warps that have not waited for the product */
    unsigned group[WARPS];
};

/* The products of one warpgroup. */
struct products {
    uint64_t block; /* the block that all these products belong to */
    struct product **list;
    struct sums **sums;
    int n, room, n_sums;
    unsigned group[WARPS]; /* the open group */
};

static struct products *products_of(struct worker *w, int warp)
{
    if (!w->wgmma)
        w->wgmma = need_memory(calloc(MAX_WARPS / WARPS, sizeof *w->wgmma), "products of wgmma");
    struct products *p = &w->wgmma[warp / WARPS];
    if (p->block != w->blocks_begun) { /* products of another block that nobody waited for */
        for (int k = 0; k < p->n; k++)
            free(p->list[k]);
        for (int k = 0; k < p->n_sums; k++)
            p->sums[k]->used = 0;
        p->n = 0;
        p->block = w->blocks_begun;
    }
    return p;
}

/* --- Sums ------------------------------------------------------------------------------------- */

/* The r-th sum of lane `lane` of a warp. */
static inline uint32_t *sum_of(struct sums *s, int warp, int lane, int r)
{
    return &s->value[warp * 16 + lane / 4 + r % 4 / 2 * 8][r / 4 * 8 + lane % 4 * 2 + r % 2];
}

/* FETCH reads sums from their variables, DELIVER writes them to the variables, POISON writes
 * NaN. */
enum move { FETCH, DELIVER, POISON };
static void move(struct sums *s, int warp, enum move what)
{
    for (int lane = 0; lane < WARP; lane++)
        for (int r = 0; r < s->columns / 2; r++) {
            uint32_t *v = s->at[warp][lane][r], *sum = sum_of(s, warp, lane, r);
            if (what == FETCH)
                *sum = *v;
            else
                *v = what == DELIVER ? *sum : NOT_A_NUMBER;
        }
}

static void deliver(struct sums *s, int warp)
{
    if (!s->delivered[warp])
        move(s, warp, DELIVER);
    s->delivered[warp] = 1;
}

/* --- Effect ----------------------------------------------------------------------------------- */

/* Reads the tiles of the first n products. */
static void read_tiles(const struct worker *w, struct products *p, int n)
{
    for (int k = 0; k < n; k++) {
        struct product *q = p->list[k];
        if (q->read)
            continue;
        if (!q->in_registers)
            descriptor_read(w, q->a, q->transpose_a, ROWS, q->tile_a);
        descriptor_read(w, q->b, q->transpose_b, q->sums->columns, q->tile_b);
        for (int i = 0; i < q->sums->columns * K && q->negate_b; i++)
            q->tile_b[i] ^= 0x8000;
        q->read = 1;
    }
}

/* Computes a warp's 16 rows. */
static void take_effect(struct product *q, int warp)
{
    enum { PART = ROWS / WARPS };
    uint16_t a[PART * K];
    if (!q->in_registers)
        memcpy(a, q->tile_a + warp * PART * K, sizeof a);
    for (int lane = 0; q->in_registers && lane < WARP; lane++)
        for (int r = 0; r < 4; r++) {
            const uint32_t *from = q->from[warp][lane][r];
            const uint32_t v = from ? *from : q->part[warp][lane][r];
            uint16_t *to = a + (lane / 4 + r % 2 * 8) * K + r / 2 * 8 + lane % 4 * 2;
            to[0] = (uint16_t)v, to[1] = (uint16_t)(v >> 16);
        }
    for (int i = 0; i < PART * K && q->negate_a; i++)
        a[i] ^= 0x8000;
    uint32_t(*sums)[PRODUCT_WIDE] = &q->sums->value[warp * PART];
    if (!q->add)
        memset(sums, 0, PART * sizeof *sums);
    product_wide(q->insn->type[1], q->sums->columns, a, q->tile_b, sums);
    q->done |= 1u << warp;
}

/* Lets the first n products take effect for one warp. */
static void finish(const struct worker *w, struct products *p, int n, int warp)
{
    read_tiles(w, p, n);
    for (int k = 0; k < n; k++)
        if (!(p->list[k]->done >> warp & 1))
            take_effect(p->list[k], warp);
}

/* In random mode, products may take effect at any instruction, and their sums reach the
 * variables. */
static void perhaps(struct worker *w, struct products *p)
{
    if (async_mode_now() != ASYNC_RANDOM || !p->n || !async_chance(w))
        return;
    for (int v = 0; v < WARPS; v++)
        finish(w, p, p->n, v);
    for (int k = 0; k < p->n && async_chance(w); k++)
        for (int warp = 0; warp < WARPS; warp++)
            if (p->list[k]->sums->pending[warp])
                deliver(p->list[k]->sums, warp);
}

/* --- Reports to check ------------------------------------------------------------------------- */

/* Also tells count which variables are registers. */
static void tell_variables(struct worker *w, const struct product *q, int warp, int v, int issue)
{
    for (int lane = 0; CPU_TRACE && lane < WARP; lane++) {
        const int thread = (warp + v) * WARP + lane, sums = q->sums->columns / 2;
        if (issue)
            TRACE_CHECK_OR(registers_issue(w, thread), (void)thread);
        for (int r = 0; r < sums + (q->in_registers ? 4 : 0); r++) {
            const uint32_t *p = r < sums ? q->sums->at[v][lane][r] : q->from[v][lane][r - sums];
            if (p && issue)
                TRACE(registers_hold(w, thread, p, r < sums));
            if (p && !issue)
                TRACE_CHECK(registers_release(w, thread, p, r < sums));
        }
    }
}

/* A warp reads its own 16 rows of A, and all of B. */
static void tell_issue(struct worker *w, struct product *q, int warp)
{
    for (int v = 0; CPU_TRACE == 2 && v < WARPS; v++) {
        const int lane = (warp + v - (int)w->now / WARP) * WARP; /* relative to the running warp */
        q->op[v] = TRACE_CHECK_OR(proxy_issue(w, lane, TRACE_WGMMA), lane);
        if (!q->in_registers)
            descriptor_tell(w, q->op[v], q->a, q->transpose_a, 16 * v, 16);
        descriptor_tell(w, q->op[v], q->b, q->transpose_b, 0, q->sums->columns);
        tell_variables(w, q, warp, v, 1);
    }
    if (CPU_TRACE == 1)
        tell_variables(w, q, warp, 0, 1);
}

/* A product is one operation: when one warp has waited for it, all warps have read. */
static void tell_done(struct worker *w, const struct product *q, int v)
{
    for (int k = 0; CPU_TRACE == 2 && k < WARPS; k++)
        TRACE_CHECK(proxy_done(w, 0, q->op[k]));
    if (CPU_TRACE == 2)
        tell_variables(w, q, (int)w->now / WARP - v, v, 0);
}

/* --- Instructions ----------------------------------------------------------------------------- */

static __attribute__((noreturn)) void differ(struct worker *w, enum fault kind, const ptx_insn *i,
                                             const char *what, int a, uint64_t va, int b,
                                             uint64_t vb)
{
    const struct thread *t = &w->threads[w->now];
    fault_stop(w, kind, cudaErrorLaunchFailure,
               "%s:%d: %s: %s is 0x%llx in thread %d and 0x%llx in thread %d: need the same in all "
               "128 threads of the warpgroup",
               t->file, t->line, i->text, what, (unsigned long long)va, a, (unsigned long long)vb,
               b);
}

/* An operand that must be the same in all threads of the warpgroup. */
static uint64_t common(struct worker *w, const ptx_insn *i, int warp, int operand, const char *what)
{
    const struct thread *t = &w->threads[warp * WARP];
    const ptx_operand *o = &i->operand[operand];
    const int predicate = *i->form->operands && operand == 3;
    uint64_t first = predicate ? (uint64_t)ptx_true(o, t->registers) : ptx_get(o, t->registers);
    for (int k = 1; k < WARPS * WARP; k++) {
        uint64_t v = predicate ? (uint64_t)ptx_true(o, t[k].registers) : ptx_get(o, t[k].registers);
        if (v != first)
            differ(w, predicate ? FAULT_OPERAND : FAULT_DESCRIPTOR, i, what, warp * WARP, first,
                   warp * WARP + k, v);
    }
    return first;
}

/* True if the operand, which must be +1 or -1, is -1. */
static int negates(struct worker *w, const ptx_insn *i, int operand, const uint64_t *reg)
{
    const struct thread *t = &w->threads[w->now];
    int v = (int)ptx_get(&i->operand[operand], reg);
    if (v != 1 && v != -1)
        fault_stop(w, FAULT_OPERAND, cudaErrorLaunchFailure,
                   "%s:%d: %s: operand %d is %d: need 1 or -1", t->file, t->line, i->text,
                   operand + 1, v);
    return v < 0;
}

static int transposes(struct worker *w, const ptx_insn *i, int operand, const uint64_t *reg)
{
    const struct thread *t = &w->threads[w->now];
    int v = (int)ptx_get(&i->operand[operand], reg);
    if (v != 0 && v != 1)
        fault_stop(w, FAULT_OPERAND, cudaErrorLaunchFailure,
                   "%s:%d: %s: operand %d is %d: need 0 or 1", t->file, t->line, i->text,
                   operand + 1, v);
    return v;
}

static uint64_t held_at(const struct thread *t, const ptx_operand *o, int part)
{
    return t->held[o->element[part].reg];
}

/* The sums in these variables: sums that a product already adds to, or new ones. */
static struct sums *sums_in(struct worker *w, struct products *p, const ptx_insn *i, int warp)
{
    const struct thread *t = &w->threads[warp * WARP];
    const ptx_operand *d = &i->operand[0];
    struct sums *s = NULL, *spare = NULL;
    for (int k = 0; k < p->n_sums && !s; k++) {
        struct sums *one = p->sums[k];
        if (one->used && one->columns == 2 * d->n &&
            (uintptr_t)one->at[0][0][0] == held_at(t, d, 0))
            s = one;
        else if (!one->used)
            spare = one;
    }
    if (!s && !spare) {
        p->sums = need_memory(realloc(p->sums, (size_t)(p->n_sums + 1) * sizeof(void *)),
                              "products of wgmma");
        spare = p->sums[p->n_sums++] = need_memory(malloc(sizeof *spare), "products of wgmma");
    }
    if (!s) {
        s = spare;
        s->columns = 2 * d->n;
        s->used = 1;
        memset(s->pending, 0, sizeof s->pending);
        memset(s->delivered, 0, sizeof s->delivered);
    }
    for (int v = 0; v < WARPS; v++) {
        if (s->pending[v] && !s->delivered[v])
            continue; /* the sums are here already */
        for (int lane = 0; lane < WARP; lane++)
            for (int r = 0; r < d->n; r++)
                s->at[v][lane][r] = (uint32_t *)(uintptr_t)held_at(&t[v * WARP + lane], d, r);
        move(s, v, FETCH);
    }
    return s;
}

/* Operands: D, A, B; whether to add to D or to begin with 0; the signs of A and B; whether A (in
 * shared memory) and B are transposed. */
void ptx_wgmma(struct worker *w, const ptx_insn *i, int warp)
{
    const struct thread *t = &w->threads[warp * WARP];
    struct products *p = products_of(w, warp);
    struct product *q = need_memory(calloc(1, sizeof *q), "products of wgmma");
    const uint64_t *reg = t->registers;
    perhaps(w, p);
    q->insn = i;
    q->in_registers = i->operand[1].kind == PTX_VECTOR;
    q->b = common(w, i, warp, 2, "the descriptor of B");
    q->add = (int)common(w, i, warp, 3, "the predicate that says whether to add");
    q->negate_a = negates(w, i, 4, reg);
    q->negate_b = negates(w, i, 5, reg);
    q->transpose_b = transposes(w, i, i->n - 1, reg);
    if (!q->in_registers) {
        q->a = common(w, i, warp, 1, "the descriptor of A");
        q->transpose_a = transposes(w, i, 6, reg);
        descriptor_check(w, i, 'A', q->a, q->transpose_a, ROWS);
    }
    descriptor_check(w, i, 'B', q->b, q->transpose_b, 2 * i->operand[0].n);
    for (int k = 0; k < WARPS * WARP && q->in_registers; k++)
        for (int r = 0; r < 4; r++) {
            const ptx_operand *o = &i->operand[1].element[r];
            const uint64_t at = o->held ? t[k].held[o->reg] : 0;
            q->from[k / WARP][k % WARP][r] = (const uint32_t *)(uintptr_t)at;
            if (!at)
                q->part[k / WARP][k % WARP][r] = (uint32_t)ptx_get(o, t[k].registers);
        }
    q->sums = sums_in(w, p, i, warp);
    TRACE_COUNT(wgmma(w, 2ull * ROWS * K * (unsigned)q->sums->columns,
                      2u * K * ((q->in_registers ? 0 : ROWS) + (unsigned)q->sums->columns)));
    tell_issue(w, q, warp);
    q->waiting = (1u << WARPS) - 1;
    memcpy(q->group, p->group, sizeof q->group);
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 16;
        p->list =
            need_memory(realloc(p->list, (size_t)p->room * sizeof(void *)), "products of wgmma");
    }
    p->list[p->n++] = q;
    for (int v = 0; v < WARPS; v++) {
        q->sums->pending[v]++;
        q->sums->delivered[v] = 0;
        if (async_mode_now() != ASYNC_EARLY)
            move(q->sums, v, POISON);
    }
    for (int v = 0; async_mode_now() == ASYNC_EARLY && v < WARPS; v++) {
        finish(w, p, p->n, v);
        deliver(q->sums, v);
    }
    perhaps(w, p);
}

void ptx_wgmma_fence(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    TRACE_CHECK(registers_fence(w, (int)w->now / WARP));
    perhaps(w, products_of(w, (int)w->now / WARP));
}

void ptx_wgmma_commit(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    struct products *p = products_of(w, (int)w->now / WARP);
    p->group[w->now / WARP % WARPS]++;
    perhaps(w, p);
}

void ptx_wgmma_wait(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    struct products *p = products_of(w, (int)w->now / WARP);
    const int warp = (int)w->now / WARP % WARPS;
    const unsigned pending = (unsigned)ptx_get(&i->operand[0], reg[__builtin_ctz(lanes)]);
    int n = 0, left = 0;
    for (int k = 0; k < p->n; k++)
        if ((int)(p->list[k]->group[warp] + pending - p->group[warp]) < 0)
            n = k + 1;
    finish(w, p, n, warp);
    for (int k = 0; k < p->n; k++) {
        struct product *q = p->list[k];
        if (k < n && q->waiting >> warp & 1) {
            q->waiting &= ~(1u << warp);
            tell_done(w, q, warp);
            if (--q->sums->pending[warp] == 0)
                deliver(q->sums, warp);
        }
        int used = 0;
        for (int v = 0; v < WARPS; v++)
            used |= q->sums->pending[v];
        q->sums->used = used != 0;
        if (q->waiting)
            p->list[left++] = q;
        else
            free(q);
    }
    p->n = left;
    unsigned last = p->group[warp];
    for (int k = 0; k < p->n; k++) {
        const struct product *q = p->list[k];
        if (q->waiting >> warp & 1 && q->group[warp] != last && q->group[warp] != p->group[warp])
            ptx_counted(CPU_WGMMA_LEFT_GROUPS);
        last = q->group[warp];
    }
    perhaps(w, p);
}

/* Threads here need no more registers: only check adds them up. */
void ptx_setmaxnreg(struct worker *w, const ptx_insn *i, uint64_t *const reg[32], unsigned lanes)
{
    const struct thread *t = &w->threads[w->now];
    const int count = (int)ptx_get(&i->operand[0], reg[__builtin_ctz(lanes)]);
    if (count < 24 || count > 256 || count % 8)
        fault_stop(w, FAULT_REGISTERS, cudaErrorLaunchFailure,
                   "%s:%d: %s of %d registers: need a multiple of 8 from 24 to 256", t->file,
                   t->line, i->text, count);
    TRACE_CHECK(registers_count(w, count, ptx_has(i, PTX_M_inc)));
}
