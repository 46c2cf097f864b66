/* count: what a kernel did, as the requests of its warps.
 *
 * Lanes run one after the other here, so each notes its loads and stores, and the notes of a warp
 * are merged as a GPU would have executed them: again and again the least note is taken, together
 * with its equals in other lanes. That is one request. Least is what lies deepest in calls, then
 * what comes first in the code; each way back to the head of a loop leaves a note too, at the
 * loop's end, where a lane waits for those still inside. (Collange, "Stack-less SIMT
 * reconvergence at low cost", 2011, calls it the minimum of stack pointer and program counter.)
 * What comes out depends on what lanes did, not on which ran first. */
#include "callbacks.h"

#include "count.h"
#include <stdlib.h>

enum { NOTES = 62 };

struct note {
    uint64_t where; /* the address; above 48 bits log2 of the size, above 52 enum what */
    uint64_t order; /* how deep, 0 the deepest, and the place in the code below 32 bits */
};
/* Not a multiple of 4 KiB apart, or the same note of all lanes would share one set of the cache. */
struct lane {
    struct note note[NOTES];
    int first, n;
    char unused[88];
};
struct lanes {
    struct lane lane[WARP];
    unsigned full; /* lanes that wait for room */
    struct lanes *next;
};

struct trace {
    struct lanes *of_warp[MAX_WARPS], *spare;
    uint64_t last[MAX_THREADS]; /* order of a thread's last note or block of code */
    const char *top[MAX_THREADS];
    struct tally tally; /* of the launch */
    struct trace *next;
};

static struct trace *traces;              /* of all workers */
static const void *device_memory[256][2]; /* the __device__ variables, from and to */
static int n_device;

static enum space space_of(const struct worker *w, uintptr_t p)
{
    extern char end[];
    const struct cpu_kernel *k = w->launch->kernel;
    if (p - (uintptr_t)w->arena < SHARED_OPTIN)
        return SHARED;
    if (p - (uintptr_t)w->stacks < (uintptr_t)MAX_THREADS * FIBER_STACK)
        return LOCAL;
    if (p - (uintptr_t)k->arguments < k->size)
        return NEITHER; /* parameters, as __constant__ variables, have a cache of their own */
    if (p - (uintptr_t)__executable_start >= (uintptr_t)(end - __executable_start))
        return GLOBAL;
    for (int i = 0; i < n_device; i++)
        if (p >= (uintptr_t)device_memory[i][0] && p < (uintptr_t)device_memory[i][1])
            return GLOBAL;
    return NEITHER;
}

static void request(struct worker *w, uint32_t code, enum what what, enum space space,
                    unsigned bytes, const uintptr_t *p, const unsigned char *lane, int n)
{
    struct site *s = tally_site(&w->trace->tally, code, what, space);
    s->requests++;
    s->bytes += (uint64_t)n * bytes;
    if (space == GLOBAL) {
        s->sectors += (uint64_t)count_sectors(p, n, bytes);
    } else if (space == SHARED && what != ATOMIC) {
        int parts, all = count_passes(p, lane, n, bytes, what == READS, &parts);
        s->passes += (uint64_t)all;
        s->conflicts += (uint64_t)(all - parts);
    }
}

/* --- Merging ---------------------------------------------------------------------------------- */

/* The first notes of these lanes, which are at one place in the code. A pointer may lead to shared
 * memory in some lanes and to global in others: that is a request for each. */
static void take(struct worker *w, struct lanes *l, unsigned mask, uint32_t code)
{
    while (mask) {
        uintptr_t p[WARP];
        unsigned char lane[WARP];
        int n = 0;
        uint64_t first = 0;
        enum space space = NEITHER;
        for (unsigned m = mask; m; m &= m - 1) {
            int i = __builtin_ctz(m);
            uint64_t where = l->lane[i].note[l->lane[i].first].where;
            uintptr_t address = where & 0xffffffffffff;
            enum space mine = where >> 52 == LOOPS ? NEITHER : space_of(w, address);
            if (n == 0)
                first = where, space = mine;
            else if (where >> 48 != first >> 48 || mine != space)
                continue;
            p[n] = address, lane[n++] = (unsigned char)i;
            mask &= ~(1u << i);
        }
        if (space != NEITHER)
            request(w, code, first >> 52, space, 1u << (first >> 48 & 15), p, lane, n);
    }
}

/* Merges until nothing is left, or a lane that was full can go on. */
static void merge(struct worker *w, struct lanes *l)
{
    unsigned have = 0, emptied = 0;
    for (int i = 0; i < WARP; i++)
        if (l->lane[i].n)
            have |= 1u << i;
    while (have && !(emptied & l->full)) {
        uint64_t least = UINT64_MAX;
        unsigned mask = 0;
        for (unsigned m = have; m; m &= m - 1) {
            const struct lane *a = &l->lane[__builtin_ctz(m)];
            uint64_t order = a->note[a->first].order;
            if (order < least)
                least = order, mask = 0;
            if (order == least)
                mask |= m & -m;
        }
        take(w, l, mask, (uint32_t)least);
        for (unsigned m = mask; m; m &= m - 1) {
            struct lane *a = &l->lane[__builtin_ctz(m)];
            if (++a->first == a->n) {
                a->first = a->n = 0;
                emptied |= m & -m;
            }
        }
        have &= ~emptied;
    }
}

static void give_back(struct trace *t, int warp)
{
    t->of_warp[warp]->next = t->spare;
    t->spare = t->of_warp[warp];
    t->of_warp[warp] = NULL;
}

int trace_release(struct worker *w, int warp)
{
    struct lanes *l = w->trace->of_warp[warp];
    if (!l)
        return 0;
    merge(w, l);
    unsigned freed = 0;
    for (unsigned m = l->full; m; m &= m - 1)
        if (!l->lane[__builtin_ctz(m)].n)
            freed |= m & -m;
    l->full &= ~freed;
    if (freed)
        block_make_ready(w, warp, freed);
    else
        give_back(w->trace, warp);
    return freed != 0;
}

static struct lanes *lanes_of(struct worker *w, int warp)
{
    struct trace *t = w->trace;
    struct lanes *l = t->spare;
    if (l)
        t->spare = l->next;
    else
        l = tally_need(aligned_alloc(64, sizeof *l));
    for (int i = 0; i < WARP; i++)
        l->lane[i].first = l->lane[i].n = 0;
    l->full = 0;
    return t->of_warp[warp] = l;
}

static inline uint64_t order_of(struct worker *w, const void *from, const void *frame)
{
    const char **top = &w->trace->top[w->now];
    if (!*top)
        *top = fiber_top(w->stacks, w->threads[w->now].fiber);
    return (uint64_t)(FIBER_STACK - (uint32_t)(*top - (const char *)frame)) << 32 | code_of(from);
}

static void wait_for_room(struct worker *w, struct lanes *l)
{
    l->full |= 1u << w->now % WARP;
    block_stop(w);
    block_wait(w);
}

static inline void note(struct worker *w, uint64_t where, uint64_t order)
{
    struct lanes *l = w->trace->of_warp[w->now / WARP];
    if (!l)
        l = lanes_of(w, w->now / WARP);
    struct lane *a = &l->lane[w->now % WARP];
    a->note[a->n++] = (struct note){where, order};
    if (a->n == NOTES)
        wait_for_room(w, l);
}

static inline void seen(struct worker *w, uintptr_t p, unsigned bytes, int writes, const void *from,
                        const void *frame)
{
    if (is_builtin_variable(p))
        return;
    uint64_t order = order_of(w, from, frame);
    w->trace->last[w->now] = order;
    note(w, p | (uint64_t)__builtin_ctz(bytes) << 48 | (uint64_t)writes << 52, order);
}

/* At the head of each block of code (-fsanitize-coverage=trace-pc). */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    uint64_t order = order_of(w, __builtin_return_address(0), __builtin_frame_address(0));
    uint64_t last = w->trace->last[w->now];
    w->trace->last[w->now] = order;
    if ((uint32_t)order <= (uint32_t)last)
        note(w, (uint64_t)LOOPS << 52, last);
}

/* --- What the runtime tells ------------------------------------------------------------------- */

void trace_block(struct worker *w, uint64_t place)
{
    (void)place;
    struct trace *t = w->trace;
    if (!t) {
        static atomic_flag busy = ATOMIC_FLAG_INIT;
        t = w->trace = tally_need(calloc(1, sizeof *t));
        while (atomic_flag_test_and_set(&busy))
            ;
        t->next = traces;
        traces = t;
        atomic_flag_clear(&busy);
    }
    for (int i = 0; i < MAX_WARPS; i++)
        if (t->of_warp[i])
            give_back(t, i); /* of a block that failed */
    memset(t->last, 0, sizeof t->last);
    memset(t->top, 0, sizeof t->top);
    t->tally.value[CPU_BLOCKS]++;
    t->tally.value[CPU_THREADS] += (uint64_t)w->size;
}

void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask)
{
    if (op >= CPU_SHFL)
        w->trace->tally.value[CPU_SHUFFLES]++;
    else if (op >= CPU_BALLOT)
        w->trace->tally.value[CPU_VOTES]++;
    if (!(w->warps[warp].live & ~mask))
        trace_release(w, warp);
}

void trace_barrier(struct worker *w, int barrier)
{
    w->trace->tally.value[CPU_BARRIERS]++;
    for (int i = 0; i < MAX_WARPS && barrier == 0; i++)
        trace_release(w, i);
}

void trace_launch_end(struct launch *l)
{
    for (struct trace *t = traces; t; t = t->next)
        tally_add(l->kernel->name, &t->tally);
    tally_launched(l->kernel->name);
}

/* What kernels report themselves. */

void cpu_trace_atomic(const volatile void *p, size_t bytes)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        seen(w, (uintptr_t)p, (unsigned)bytes, ATOMIC, __builtin_return_address(0),
             __builtin_frame_address(0));
}

void cpu_trace_special(int counter)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        w->trace->tally.value[counter]++;
}

void cpu_trace_named(const char *name, uint64_t amount)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        w->trace->tally.named[tally_name(name)] += amount;
}

void cpu_trace_variable(void *p, size_t bytes, const char *name, int constant)
{
    (void)name;
    if (constant)
        return;
    if (n_device == sizeof device_memory / sizeof *device_memory) {
        complain("count: more than %d __device__ variables", n_device);
        exit(1);
    }
    device_memory[n_device][0] = p;
    device_memory[n_device++][1] = (char *)p + bytes;
}

void cpu_trace_fence(void)
{
}
