/* Operations among the lanes of a warp: __syncwarp, shuffles, votes, matches, reductions.
 *
 * A lane that calls one joins the group of lanes that arrived with the same operation and mask,
 * and waits. The lane that completes the mask computes every lane's result. Lanes that have
 * exited are not waited for. A lane of the mask that never arrives leaves the others waiting,
 * which is reported when nothing in the block can run any more. */
#include "device/device.h"
#include "base/plural.h"

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
    case CPU_PTX:
        return 0;
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

/* The value of a shuffle that reads a lane which does not take part: undefined on a GPU. Here it
 * is all ones, as fresh memory is: NaN, or -1. */
static const uint64_t UNDEFINED = ~(uint64_t)0;

static void complete(struct worker *w, int warp, struct group *g)
{
    struct thread *t = &w->threads[warp * WARP];
    enum cpu_op op = g->op;
    unsigned mask = g->arrived;
    uint64_t same = op < CPU_SHFL && op != CPU_MATCH_ANY ? common_result(t, op, mask) : 0;
    for (int i = 0; i < WARP; i++)
        if (mask >> i & 1)
            t[i].result = op >= CPU_SHFL
                              ? mask >> t[i].source & 1 ? t[t[i].source].value : UNDEFINED
                          : op == CPU_MATCH_ANY ? lanes_with(t, mask, t[i].value)
                                                : same;
    block_open_group(w, warp, g);
}

/* As in PTX, all lanes of the mask that have not exited must arrive. */
static void reconverge(struct worker *w, int warp, struct group *g)
{
    if (!g->arrived || g->arrived != (g->mask & w->warps[warp].live) || g->op == CPU_PTX ||
        g->op == CPU_ACTIVEMASK)
        return;
    complete(w, warp, g);
}

/* The running thread joins its group and stops being ready. */
static inline struct group *join(struct worker *w, unsigned mask, const void *what)
{
    struct thread *t = &w->threads[w->now];
    struct warp *warp = &w->warps[w->now / WARP];
    int line = t->op == CPU_ACTIVEMASK ? t->line : 0;
    struct group *g = warp->group, *end = g + warp->groups;
    while (g < end && (g->op != t->op || g->mask != mask || g->line != line || g->what != what))
        g++;
    if (g == end) {
        *g = (struct group){t->op, what, mask, 0, line, reconverge};
        warp->groups++;
    }
    t->mask = mask;
    block_stop(w);
    g->arrived |= 1u << w->now % WARP;
    return g;
}

static inline uint64_t meet(struct worker *w, unsigned mask, const void *what,
                            void (*run)(struct worker *w, int warp, unsigned lanes))
{
    struct thread *t = &w->threads[w->now];
    struct group *g = join(w, mask, what);
    if (g->arrived == mask) {
        if (run)
            run(w, (int)(w->now / WARP), mask);
        complete(w, (int)(w->now / WARP), g);
    } else {
        reconverge(w, (int)(w->now / WARP), g);
    }
    block_wait(w);
    return t->result;
}

static unsigned checked(struct worker *w, unsigned mask)
{
    const struct thread *t = &w->threads[w->now];
    if (!(mask >> w->now % WARP & 1))
        fault_stop(w, FAULT_DIVERGENCE, cudaErrorLaunchFailure,
                   "%s:%d: thread %d (lane %d) calls %s with mask 0x%08x, which leaves it out",
                   t->file, t->line, w->now, w->now % WARP, op_names[t->op], mask);
    return mask & w->warps[w->now / WARP].exists; /* a short last warp lacks the other lanes */
}

uint64_t cpu_warp(enum cpu_op op, unsigned mask, uint64_t value, const char *file, int line)
{
    struct worker *w = block_inside(op, file, line);
    w->threads[w->now].value = value;
    return meet(w, op == CPU_ACTIVEMASK ? 0 : checked(w, mask), NULL, NULL);
}

void warp_together(struct worker *w, enum cpu_op op, const void *what, const char *name,
                   void (*run)(struct worker *w, int warp, unsigned lanes))
{
    struct thread *t = &w->threads[w->now];
    t->op = op;
    t->what = what;
    t->name = name;
    meet(w, w->warps[w->now / WARP].exists, what, run);
}

/* The group of a whole warp that has reached `what`, or NULL. */
static struct group *whole(struct worker *w, int warp, enum cpu_op op, const void *what)
{
    struct group *g = w->warps[warp].group, *end = g + w->warps[warp].groups;
    while (g < end && (g->op != op || g->what != what || g->arrived != ~0u))
        g++;
    return g < end ? g : NULL;
}

void warp_four_together(struct worker *w, enum cpu_op op, const void *what, const char *name,
                        void (*run)(struct worker *w, int warp, unsigned lanes))
{
    struct thread *t = &w->threads[w->now];
    int first = (int)w->now / WARP / 4 * 4;
    for (int i = first; i < first + 4; i++)
        if (i >= MAX_WARPS || w->warps[i].exists != ~0u)
            fault_stop(
                w, FAULT_DIVERGENCE, cudaErrorLaunchFailure,
                "%s:%d: %s by warp %d of a block of %d thread%s: need the 4 whole warps of a "
                "warpgroup, %d to %d",
                t->file, t->line, name, (int)w->now / WARP, w->size, plural(w->size), first,
                first + 3);
    t->op = op;
    t->what = what;
    t->name = name;
    join(w, ~0u, what);
    int come = 0;
    for (int i = first; i < first + 4; i++)
        come += whole(w, i, op, what) != NULL;
    if (come == 4) {
        run(w, first, ~0u);
        for (int i = first; i < first + 4; i++)
            complete(w, i, whole(w, i, op, what));
    }
    block_wait(w);
}

uint64_t cpu_shuffle(enum cpu_op op, unsigned mask, uint64_t value, int delta, int width,
                     const char *file, int line)
{
    struct worker *w = block_inside(op, file, line);
    struct thread *t = &w->threads[w->now];
    int lane = w->now % WARP, first = lane & -width, last = first + width - 1, from;
    t->asked = mask;
    mask = checked(w, mask);
    if (width < 1 || width > WARP || width & (width - 1))
        fault_stop(w, FAULT_OPERAND, cudaErrorLaunchFailure,
                   "%s:%d: %s with width %d: need 1, 2, 4, 8, 16 or 32", file, line, op_names[op],
                   width);
    if (op == CPU_SHFL)
        from = first | (delta & (width - 1));
    else if (op == CPU_SHFL_UP)
        from = (unsigned)delta > (unsigned)(lane - first) ? lane : lane - delta;
    else if (op == CPU_SHFL_DOWN)
        from = (unsigned)delta > (unsigned)(last - lane) ? lane : lane + delta;
    else
        from = (lane ^ delta) > last || (lane ^ delta) < 0 ? lane : lane ^ delta;
    t->value = value;
    t->source = from;
    t->from = __builtin_return_address(0);
    return meet(w, mask, NULL, NULL);
}
