/* Operations among the lanes of a warp: __syncwarp, shuffles, votes, matches, reductions.
 *
 * A lane that calls one joins the group of lanes that came with the same operation and mask, and
 * waits. The lane that completes the mask computes every lane's result. Masks are taken at their
 * word: a lane that is named and never comes leaves the others waiting, which is reported when
 * nothing in the block can run any more. */
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const op_names[] = {
    "__syncthreads",     "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
    "named barrier",     "__syncwarp",          "__activemask",      "__ballot_sync",
    "__any_sync",        "__all_sync",          "__match_any_sync",  "__match_all_sync",
    "__reduce_add_sync", "__reduce_min_sync",   "__reduce_max_sync", "__reduce_min_sync",
    "__reduce_max_sync", "__reduce_and_sync",   "__reduce_or_sync",  "__reduce_xor_sync",
    "__shfl_sync",       "__shfl_up_sync",      "__shfl_down_sync",  "__shfl_xor_sync",
};

static uint64_t combine(enum cpu_op op, uint64_t a, uint64_t b)
{
    switch (op) {
    case CPU_REDUCE_ADD:
        return a + b;
    case CPU_REDUCE_MIN_SIGNED:
        return (int64_t)a < (int64_t)b ? a : b;
    case CPU_REDUCE_MAX_SIGNED:
        return (int64_t)a > (int64_t)b ? a : b;
    case CPU_REDUCE_MIN:
        return a < b ? a : b;
    case CPU_REDUCE_MAX:
        return a > b ? a : b;
    case CPU_REDUCE_AND:
        return a & b;
    case CPU_REDUCE_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* The lanes of mask whose value is v. */
static unsigned lanes_with(const struct thread *t, unsigned mask, uint64_t v)
{
    unsigned lanes = 0;
    for (unsigned m = mask; m; m &= m - 1)
        if (t[__builtin_ctz(m)].value == v)
            lanes |= m & -m;
    return lanes;
}

/* A result that is the same in every lane. */
static uint64_t common_result(const struct thread *t, enum cpu_op op, unsigned mask)
{
    uint64_t v = t[__builtin_ctz(mask)].value;
    unsigned unset = op >= CPU_BALLOT && op <= CPU_ALL ? lanes_with(t, mask, 0) : 0;
    switch (op) {
    case CPU_SYNCWARP:
        return 0;
    case CPU_ACTIVEMASK:
        return mask;
    case CPU_BALLOT:
        return mask & ~unset;
    case CPU_ANY:
        return unset != mask;
    case CPU_ALL:
        return unset == 0;
    case CPU_MATCH_ALL:
        return lanes_with(t, mask, v) == mask ? mask : 0;
    default:
        for (unsigned m = mask & (mask - 1); m; m &= m - 1)
            v = combine(op, v, t[__builtin_ctz(m)].value);
        return v;
    }
}

static void complete(struct worker *w, int warp, struct group *g)
{
    struct thread *t = &w->threads[warp * WARP];
    enum cpu_op op = g->op;
    unsigned mask = g->arrived;
    uint64_t same = op < CPU_SHFL && op != CPU_MATCH_ANY ? common_result(t, op, mask) : 0;
    for (int i = 0; i < WARP; i++)
        if (mask >> i & 1)
            t[i].result = op >= CPU_SHFL        ? t[t[i].source].value
                          : op == CPU_MATCH_ANY ? lanes_with(t, mask, t[i].value)
                                                : same;
    *g = w->warps[warp].group[--w->warps[warp].groups];
    TRACE(warp(w, warp, op, mask));
    block_make_ready(w, warp, mask);
}

/* __activemask names no lanes. It waits until the rest of the warp has gone as far as it can, and
 * then answers with the lanes that came: the ones a GPU would find converged here. */
int warp_release_active(struct worker *w, int warp)
{
    struct warp *p = &w->warps[warp];
    for (int i = 0; i < p->groups; i++)
        if (p->group[i].op == CPU_ACTIVEMASK) {
            complete(w, warp, &p->group[i]);
            return 1;
        }
    return 0;
}

static inline uint64_t meet(struct worker *w, unsigned mask)
{
    struct thread *t = &w->threads[w->now];
    struct warp *warp = &w->warps[w->now / WARP];
    unsigned bit = 1u << w->now % WARP;
    int line = t->op == CPU_ACTIVEMASK ? t->line : 0;
    struct group *g = warp->group, *end = g + warp->groups;
    while (g < end && (g->op != t->op || g->mask != mask || g->line != line))
        g++;
    if (g == end) {
        *g = (struct group){t->op, mask, 0, line};
        warp->groups++;
    }
    t->mask = mask;
    warp->ready &= ~bit;
    if (!warp->ready)
        w->ready_warps &= ~(1u << w->now / WARP);
    g->arrived |= bit;
    if (g->arrived == mask)
        complete(w, w->now / WARP, g);
    block_wait(w);
    return t->result;
}

static unsigned checked(struct worker *w, unsigned mask)
{
    const struct thread *t = &w->threads[w->now];
    if (!(mask >> w->now % WARP & 1))
        block_fail(w, cudaErrorLaunchFailure,
                   "%s:%d: thread %d (lane %d) calls %s with mask 0x%08x, which leaves it out",
                   t->file, t->line, w->now, w->now % WARP, op_names[t->op], mask);
    return mask &
           w->warps[w->now / WARP].exists; /* a short last warp has no more lanes to wait for */
}

uint64_t cpu_warp(enum cpu_op op, unsigned mask, uint64_t value, const char *file, int line)
{
    struct worker *w = block_inside(op, file, line);
    w->threads[w->now].value = value;
    return meet(w, op == CPU_ACTIVEMASK ? 0 : checked(w, mask));
}

uint64_t cpu_shuffle(enum cpu_op op, unsigned mask, uint64_t value, int delta, int width,
                     const char *file, int line)
{
    struct worker *w = block_inside(op, file, line);
    struct thread *t = &w->threads[w->now];
    int lane = w->now % WARP, first = lane & -width, last = first + width - 1, from;
    mask = checked(w, mask);
    if (width < 1 || width > WARP || width & (width - 1))
        block_fail(w, cudaErrorLaunchFailure, "%s:%d: %s with width %d: need 1, 2, 4, 8, 16 or 32",
                   file, line, op_names[op], width);
    if (op == CPU_SHFL)
        from = first | (delta & (width - 1));
    else if (op == CPU_SHFL_UP)
        from = (unsigned)delta > (unsigned)(lane - first) ? lane : lane - delta;
    else if (op == CPU_SHFL_DOWN)
        from = (unsigned)delta > (unsigned)(last - lane) ? lane : lane + delta;
    else
        from = (lane ^ delta) > last || (lane ^ delta) < 0 ? lane : lane ^ delta;
    if (!(mask >> from & 1))
        block_fail(w, cudaErrorLaunchFailure,
                   "%s:%d: thread %d (lane %d) reads lane %d in %s, which mask 0x%08x (of existing "
                   "lanes) leaves out; a smaller width keeps lanes among themselves",
                   file, line, w->now, lane, from, op_names[op], mask);
    t->value = value;
    t->source = from;
    return meet(w, mask);
}

/* The report of a block in which nothing can run: who waits where, who has exited. */

static int same_wait(const struct worker *w, int a, int b)
{
    const struct thread *s = &w->threads[a], *t = &w->threads[b];
    int live = w->warps[a / WARP].live >> a % WARP & 1;
    if (live != (int)(w->warps[b / WARP].live >> b % WARP & 1))
        return 0;
    return !live || (s->op == t->op && s->line == t->line && strcmp(s->file, t->file) == 0 &&
                     (s->op < CPU_NAMED_BARRIER || s->mask == t->mask));
}

struct text {
    char s[2000];
    size_t n;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->s + t->n, sizeof t->s - t->n, format, list);
    va_end(list);
    if (n > 0 && (t->n += (size_t)n) >= sizeof t->s)
        t->n = sizeof t->s - 1;
}

static void add_wait(struct text *text, const struct worker *w, int first)
{
    const struct thread *t = &w->threads[first];
    const char *comma = text->n ? "; threads" : "threads";
    for (int i = first; i < w->size; i++) {
        if (!same_wait(w, first, i))
            continue;
        int end = i;
        while (end + 1 < w->size && same_wait(w, first, end + 1))
            end++;
        add(text, end > i ? "%s %d-%d" : "%s %d", comma, i, end);
        i = end;
        comma = ",";
    }
    if (!(w->warps[first / WARP].live >> first % WARP & 1)) {
        add(text, " have exited");
        return;
    }
    add(text, " wait at %s", op_names[t->op]);
    if (t->op == CPU_NAMED_BARRIER)
        add(text, " %u", t->mask);
    else if (t->op > CPU_NAMED_BARRIER)
        add(text, " of mask 0x%08x", t->mask);
    add(text, " (%s:%d)", t->file, t->line);
}

void block_report_stuck(struct worker *w)
{
    struct text text = {.n = 0};
    for (int i = 0; i < w->size; i++) {
        int seen = 0;
        for (int j = 0; j < i && !seen; j++)
            seen = same_wait(w, i, j);
        if (!seen)
            add_wait(&text, w, i);
    }
    block_fail(w, cudaErrorLaunchFailure, "barrier divergence: %s", text.s);
}
