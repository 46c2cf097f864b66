/* count: the work of a kernel as the requests of its warps.
 *
 * Lanes run one after the other here, so each lane notes its loads and stores, and the notes of
 * a warp are merged in the order in which a GPU would have executed them. Each step takes the
 * least note of all lanes, together with equal notes of other lanes: that is one request. The
 * least note is the one deepest in calls, and among those the first in the code. Each jump back
 * to the head of a loop is a note too, at the loop's end, where a lane waits for lanes still in
 * the loop. (Collange, "Stack-less SIMT reconvergence at low cost", 2011, calls this the minimum
 * of stack pointer and program counter.) The result depends on what lanes did, not on which lane
 * ran first. */
#include "instruments/count/count.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS(where) ((uintptr_t)((where)&0xffffffffffff))

static struct trace *traces;              /* of all workers */
static const void *device_memory[256][2]; /* the __device__ variables: first byte, end */
static int n_device;

/* The space of the addresses low to high, both included, or -1 if they are not in one space. */
static int space_of(const struct worker *w, uintptr_t low, uintptr_t high)
{
    const struct cpu_kernel *k = w->launch->kernel;
    /* Parameters and __constant__ variables have their own cache. */
    const struct {
        uintptr_t p;
        size_t bytes;
        enum space space;
    } spaces[] = {{(uintptr_t)w->arena, ARENA, SHARED},
                  {(uintptr_t)w->stacks, (size_t)MAX_THREADS * FIBER_STACK, LOCAL},
                  {(uintptr_t)k->arguments, k->size, NEITHER},
                  {(uintptr_t)__executable_start, program_size(), NEITHER}};
    for (int i = 0; i < 4; i++) {
        int a = low - spaces[i].p < spaces[i].bytes, b = high - spaces[i].p < spaces[i].bytes;
        if (a != b || (!a && low < spaces[i].p && spaces[i].p <= high))
            return -1;
        if (!a)
            continue;
        for (int v = 0; i == 3 && v < n_device; v++)
            if (low >= (uintptr_t)device_memory[v][0] && low < (uintptr_t)device_memory[v][1])
                return high < (uintptr_t)device_memory[v][1] ? (int)GLOBAL : -1;
        return (int)spaces[i].space;
    }
    return GLOBAL;
}

/* `first` is the warp's first thread. */
static void request(struct worker *w, int first, uint32_t code, enum what what, enum space space,
                    unsigned bytes, const uintptr_t *p, const unsigned char *lane, int n)
{
    uintptr_t *copy_to = &w->trace->copy_to[first];
    if (what == COPY_TO) {
        for (int i = 0; i < n; i++)
            copy_to[lane[i]] = p[i];
        return;
    }
    struct site *s = tally_site(&w->trace->tally, code, what, space);
    s->requests++;
    s->bytes += (uint64_t)n * bytes;
    if (space == LOCAL && n && depth_of(w, p[0]) > s->deepest)
        s->deepest = depth_of(w, p[0]);
    if (what == COPY || what == COPY_AROUND_L1) {
        uintptr_t to[WARP];
        int parts, sectors;
        for (int i = 0; i < n; i++)
            to[i] = copy_to[lane[i]];
        int all =
            count_copy_passes(to, p, lane, n, bytes, what == COPY_AROUND_L1, &parts, &sectors);
        s->sectors += (uint64_t)sectors;
        s->passes += (uint64_t)all;
        s->conflicts += (uint64_t)(all - parts);
        return;
    }
    if (space == GLOBAL) {
        s->sectors += (uint64_t)count_sectors(p, n, bytes);
    } else if (space == SHARED && what != ATOMIC) {
        int parts, all = count_passes(p, lane, n, bytes, what == READS, &parts);
        s->passes += (uint64_t)all;
        s->conflicts += (uint64_t)(all - parts);
    }
}

/* --- Merging ---------------------------------------------------------------------------------- */

/* Executes the next notes of these lanes, which are at one place in the code. A pointer may lead
 * to shared memory in some lanes and to global memory in others: then there is a request for
 * each space. */
static void take(struct worker *w, int first, struct lanes *l, unsigned mask, uint32_t code)
{
    while (mask) {
        uintptr_t p[WARP], low = UINTPTR_MAX, high = 0;
        unsigned char lane[WARP];
        int n = 0, leader = __builtin_ctz(mask), space = NEITHER;
        uint64_t where = l->where[l->first[leader]][leader];
        unsigned others = 0;
        for (unsigned m = mask; m; m &= m - 1) {
            int i = __builtin_ctz(m);
            uint64_t mine = l->where[l->first[i]][i];
            if (mine >> 48 != where >> 48) {
                others |= m & -m;
                continue;
            }
            p[n] = shared_wrapped(w, ADDRESS(mine));
            low = p[n] < low ? p[n] : low;
            high = p[n] > high ? p[n] : high;
            lane[n++] = (unsigned char)i;
        }
        if (where >> 52 != LOOPS && (space = space_of(w, low, high)) < 0) {
            int all = n;
            const uintptr_t at = shared_wrapped(w, ADDRESS(where));
            space = space_of(w, at, at);
            for (int i = n = 0; i < all; i++)
                if (space_of(w, p[i], p[i]) != space)
                    others |= 1u << lane[i];
                else
                    p[n] = p[i], lane[n++] = lane[i];
        }
        if (space != NEITHER)
            request(w, first, code, (enum what)(where >> 52), (enum space)space,
                    1u << (where >> 48 & 15), p, lane, n);
        mask = others;
    }
}

/* The lanes whose next note is the least, and its place in the code. */
static unsigned least(const struct lanes *l, unsigned have, uint64_t *order)
{
    const uint64_t *row = l->order[l->first[0]];
    uint64_t differ = 0;
    uint8_t apart = 0;
    unsigned mask = 0;
    for (int i = 0; i < WARP; i++)
        apart |= l->first[i] ^ l->first[0];
    for (int i = 0; i < WARP; i++)
        differ |= row[i] ^ row[0];
    *order = row[0];
    if (!differ && !apart && have == ~0u)
        return have; /* the usual case: all lanes do the same */
    *order = UINT64_MAX;
    for (unsigned m = have; m; m &= m - 1) {
        int i = __builtin_ctz(m);
        uint64_t mine = l->order[l->first[i]][i];
        if (mine < *order)
            *order = mine, mask = 0;
        if (mine == *order)
            mask |= m & -m;
    }
    return mask;
}

/* Takes a note off each of these lanes. Returns the lanes that have no more notes. */
static unsigned advance(struct lanes *l, unsigned mask)
{
    unsigned emptied = 0;
    uint8_t ends = 0;
    if (mask == ~0u)
        for (int i = 0; i < WARP; i++)
            ends |= ++l->first[i] == l->n[i];
    else
        for (unsigned m = mask; m; m &= m - 1) {
            int i = __builtin_ctz(m);
            ends |= ++l->first[i] == l->n[i];
        }
    for (unsigned m = ends ? mask : 0; m; m &= m - 1) {
        int i = __builtin_ctz(m);
        if (l->first[i] == l->n[i])
            emptied |= m & -m;
    }
    return emptied;
}

/* Merges until no notes are left, or a lane whose notes were full can go on. */
static void merge(struct worker *w, int first, struct lanes *l)
{
    unsigned have = 0, emptied = 0;
    for (int i = 0; i < WARP; i++)
        have |= (unsigned)(l->n[i] != 0) << i;
    while (have && !(emptied & l->full)) {
        uint64_t order;
        unsigned mask = least(l, have, &order);
        take(w, first, l, mask, (uint32_t)order);
        emptied |= advance(l, mask);
        have &= ~emptied;
    }
    for (int i = 0; i < WARP; i++)
        if (l->first[i] == l->n[i])
            l->first[i] = l->n[i] = 0;
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
    merge(w, warp * WARP, l);
    unsigned freed = 0;
    for (unsigned m = l->full; m; m &= m - 1)
        if (!l->n[__builtin_ctz(m)])
            freed |= m & -m;
    l->full &= ~freed;
    if (freed)
        block_make_ready(w, warp, freed);
    else
        give_back(w->trace, warp);
    return freed != 0;
}

/* --- Reports of the runtime ------------------------------------------------------------------- */

void trace_block(struct worker *w, uint64_t place)
{
    struct trace *t = w->trace;
    if (!t) {
        static atomic_flag busy = ATOMIC_FLAG_INIT;
        t = w->trace = need_memory(calloc(1, sizeof *t), "the counts");
        while (atomic_flag_test_and_set(&busy))
            ;
        t->next = traces;
        traces = t;
        atomic_flag_clear(&busy);
    }
    for (int i = 0; i < MAX_WARPS; i++)
        if (t->of_warp[i])
            give_back(t, i); /* notes of a block that failed */
    memset(t->last, 0, sizeof t->last);
    memset(t->top, 0, sizeof t->top);
    memset(t->wait, 0, sizeof t->wait);
    memset(t->groups, 0, sizeof t->groups);
    memset(t->open_group, 0, sizeof t->open_group);
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

void trace_grid_barrier(struct worker *w)
{
    w->trace->tally.value[CPU_GRID_BARRIERS]++;
    for (int i = 0; i < MAX_WARPS; i++)
        trace_release(w, i);
}

void trace_launch_end(struct launch *l)
{
    static uint8_t registers[DEPTHS / 8];
    memset(registers, 0, sizeof registers);
    for (struct trace *t = traces; t; t = t->next) {
        for (size_t i = 0; t->tally.value[CPU_WGMMA] && i < sizeof registers; i++)
            registers[i] |= t->registers[i];
        memset(t->registers, 0, sizeof t->registers);
    }
    for (struct trace *t = traces; t; t = t->next)
        tally_add(l->kernel->name, &t->tally, registers);
    tally_launched(l->kernel->name, l->kernel->early);
}

void trace_variable(void *p, size_t bytes, const char *name, int kind)
{
    if (kind == 1) /* __constant__ */
        return;
    if (n_device == sizeof device_memory / sizeof *device_memory) {
        give_up(1, "count: more than %d __device__ variables", n_device);
    }
    device_memory[n_device][0] = p;
    device_memory[n_device++][1] = (char *)p + bytes;
}
