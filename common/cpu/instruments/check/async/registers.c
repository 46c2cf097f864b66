/* check: the variables that wgmma adds to or reads, which are registers on a GPU, and how many
 * registers there are.
 *
 * Each 4 bytes of a stack have a shadow cell of another kind: the last access to them, when and
 * where in the code it was, and whether a product uses them. A product needs a wgmma.fence of its
 * warp after the last access to its variables, other than by products; and a warp's first product
 * needs one. */
#include "instruments/check/state/check.h"

#include "cpu/trace.h"
#include <stdio.h>
#include <sys/mman.h>

struct held {
    uint32_t when;
    uint32_t touched, issued; /* codes: of the last access, of the product that holds it */
    uint16_t thread;          /* that holds it */
    uint8_t sums, parts;      /* how many products hold it, to add to, to read */
    uint8_t kind;             /* of the last access */
};
static struct held *variables;
static uint32_t fenced[MAX_WARPS]; /* when the warp's last wgmma.fence was; 0: never */
static uint32_t issued[MAX_THREADS], holds[MAX_THREADS]; /* its last product; variables held */
static struct cut {
    int count;     /* registers a thread; 0: those at entry */
    uint32_t code; /* of the last setmaxnreg */
    const char *file;
    int line;
} cuts[MAX_WARPS];
static int cut_size, cut_entry; /* threads of the block, their registers at entry */
static int used;
/* There was a wgmma or a wgmma.fence in this block. An access before it is earlier than every
 * fence, and no product uses its variable: it need not be kept. */
static int watching;

static struct held *variable_at(const struct worker *w, uintptr_t p)
{
    if (!variables) {
        const size_t bytes = (size_t)MAX_THREADS * FIBER_STACK / 4 * sizeof *variables;
        variables = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (variables == MAP_FAILED)
            give_up(1, "check: cannot reserve %zu MiB of addresses: raise ulimit -v", bytes >> 20);
    }
    const uintptr_t at = p - (uintptr_t)w->stacks;
    return at < (uintptr_t)MAX_THREADS * FIBER_STACK ? &variables[at / 4] : NULL;
}

static void report(enum rule rule, uint32_t first, enum kind kind, uint32_t second, int thread,
                   uintptr_t p, unsigned bytes, const char *what)
{
    const struct object o = {.p = p, .bytes = bytes, .name = what};
    const struct side sides[2] = {{WGMMA, first, thread, order.block},
                                  {kind, second, thread, order.block}};
    const struct side swapped[2] = {sides[1], sides[0]};
    finding_add(rule, order.kernel, rule == WGMMA_FENCE ? swapped : sides, 2, bytes, &o, p, NULL);
}

void registers_touched(const struct worker *w, int thread, uintptr_t p, unsigned bytes,
                       enum kind kind, uint32_t code)
{
    if (!watching)
        return;
    for (uintptr_t at = p & ~(uintptr_t)3; at < p + bytes; at += 4) {
        struct held *x = variable_at(w, at);
        if (!x)
            return;
        if (x->thread == thread + 1 && (x->sums || (x->parts && kind != READ)))
            report(PENDING_WGMMA, x->issued, kind, code, thread, at, 4,
                   x->sums ? "a sum" : "a part of A");
        x->when = order.now;
        x->touched = code;
        x->kind = (uint8_t)kind;
    }
}

void trace_registers_fence(struct worker *w, int warp)
{
    order_tick(); /* earlier accesses have an earlier time */
    fenced[warp] = order.now;
    watching = 1;
}

void trace_registers_issue(struct worker *w, int thread)
{
    used = watching = 1;
    issued[thread] = statement[thread];
    if (fenced[thread / WARP])
        return;
    const struct side side = {WGMMA, statement[thread], thread, order.block};
    finding_add(WGMMA_FENCE, order.kernel, &side, 1, 0, NULL, 0, NULL);
}

void trace_registers_hold(struct worker *w, int thread, const void *p, int sums)
{
    struct held *x = variable_at(w, (uintptr_t)p);
    if (!x)
        return; /* no variable of the thread's: global or shared memory, which is no register */
    if (x->thread != thread + 1)
        x->sums = x->parts = 0; /* of a thread that has ended */
    if (!x->sums && fenced[thread / WARP] && x->when >= fenced[thread / WARP])
        report(WGMMA_FENCE, issued[thread], (enum kind)x->kind, x->touched, thread, (uintptr_t)p, 4,
               sums ? "a sum" : "a part of A");
    if (sums ? x->parts != 0 : x->sums != 0)
        report(PENDING_WGMMA, x->issued, WGMMA, issued[thread], thread, (uintptr_t)p, 4,
               sums ? "a part of A" : "a sum");
    x->thread = (uint16_t)(thread + 1);
    x->issued = issued[thread];
    if (sums)
        x->sums++;
    else
        x->parts++;
    holds[thread]++;
}

void trace_registers_release(struct worker *w, int thread, const void *p, int sums)
{
    struct held *x = variable_at(w, (uintptr_t)p);
    if (!x || x->thread != thread + 1)
        return;
    if (sums)
        x->sums--;
    else
        x->parts--;
    holds[thread]--;
}

/* --- setmaxnreg ------------------------------------------------------------------------------- */

void registers_report(enum rule rule, int thread, uint32_t code, const char *text)
{
    static uint32_t reported[64];
    if (reported[code % 64] == code)
        return;
    reported[code % 64] = code;
    struct side side = {WGMMA, code, thread, order.block};
    finding_add(rule, order.kernel, &side, 1, 0, NULL, 0, text);
}

/* Registers per thread as the compiler assigns them: as many as fit, where __launch_bounds__
 * says how many blocks are to fit. */
static int at_entry(const struct worker *w)
{
    if (w->bounds_blocks < 1)
        return 0;
    int n = 65536 / (w->bounds_threads * w->bounds_blocks) / 8 * 8;
    return n < 255 ? n : 255;
}

void trace_registers_count(struct worker *w, int count, int more)
{
    const uint32_t code = statement[w->now];
    struct cut *c = &cuts[w->now / WARP];
    const struct thread *t = &w->threads[w->now];
    char text[400];
    const int had = c->count ? c->count : at_entry(w);
    used = 1;
    cut_size = w->size;
    cut_entry = at_entry(w);
    if (!cut_entry)
        snprintf(text, sizeof text,
                 "%s:%d: setmaxnreg is ignored, as no number of registers is known at entry: need "
                 "__launch_bounds__(%d, 1)",
                 t->file, t->line, w->size);
    else if (more ? count < had : count > had)
        snprintf(text, sizeof text, "%s:%d: setmaxnreg.%s to %d registers of a warp that has %d",
                 t->file, t->line, more ? "inc" : "dec", count, had);
    else
        *text = '\0';
    if (*text)
        registers_report(SETMAXNREG, (int)w->now, code, text);
    *c = (struct cut){count, code, t->file, t->line};
}

/* Reports warps of a block that end with a number of registers that is impossible. */
static void judge_cuts(void)
{
    char text[400];
    const int warps = cut_size / WARP;
    int total = 0, last = 0;
    for (int i = 0; i < warps; i++) {
        const struct cut *c = &cuts[i], *first = &cuts[i / 4 * 4];
        total += (c->count ? c->count : cut_entry) * WARP;
        if (c->count > cuts[last].count)
            last = i;
        if (c->count == first->count)
            continue;
        const struct cut *one = c->count ? c : first;
        snprintf(
            text, sizeof text,
            "%s:%d: setmaxnreg: warp %d has %d registers a thread and warp %d has %d: need the "
            "same in the four warps of a warpgroup",
            one->file, one->line, i / 4 * 4, first->count ? first->count : cut_entry, i,
            c->count ? c->count : cut_entry);
        registers_report(SETMAXNREG, i * WARP, one->code, text);
        return;
    }
    if (!cut_entry || total <= cut_entry * cut_size)
        return;
    snprintf(text, sizeof text,
             "%s:%d: setmaxnreg: the warps of the block ask for %d registers together, and it has "
             "%d, %d for each of %d threads: the last to ask waits for ever",
             cuts[last].file, cuts[last].line, total, cut_entry * cut_size, cut_entry, cut_size);
    registers_report(SETMAXNREG, last * WARP, cuts[last].code, text);
}

void registers_block(void)
{
    for (int i = 0; used && i < MAX_THREADS; i++)
        if (holds[i]) {
            const struct side side = {WGMMA, issued[i], i, order.block};
            finding_add(PENDING_WGMMA, order.kernel, &side, 1, 0, NULL, 0, NULL);
        }
    if (cut_size)
        judge_cuts();
    registers_broken();
}

void registers_broken(void)
{
    if (watching && variables)
        madvise(variables, (size_t)MAX_THREADS * FIBER_STACK / 4 * sizeof *variables,
                MADV_DONTNEED);
    used = watching = 0;
    memset(fenced, 0, sizeof fenced);
    memset(holds, 0, sizeof holds);
    memset(cuts, 0, sizeof cuts);
    cut_size = 0;
}
