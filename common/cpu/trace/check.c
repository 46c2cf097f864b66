/* check: the rules that each load and store of a kernel is held to.
 *
 * Every 4 bytes of device and shared memory have a cell, which remembers the last write and two
 * reads: by which thread, where in the code, and when. When is a number that grows at each start of
 * a block, barrier, warp operation and fence. Two accesses race if one is a write, they are not
 * both atomic, and nothing orders them: no barrier or warp operation between threads of a block;
 * between blocks, no atomic that the later block has seen, made after a __threadfence. Blocks run
 * one after the other, so what is found does not depend on luck. */
#include "callbacks.h"

#include "check.h"
#include "cpu_trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#if defined __linux__ && defined __x86_64__
#include <ucontext.h>
#endif

enum { EPOCHS = 1 << 25 };

/* The launch and the block that runs. */
static const struct cpu_kernel *kernel;
static uint32_t now = 1, launch_start, block_start, barrier_end;
static uint64_t block;
/* What a warp did before `sees[other][warp]` is known to the other; likewise lanes of a warp. */
static uint32_t sees[MAX_WARPS][MAX_WARPS], (*lane_sees[MAX_WARPS])[WARP];
static uint32_t joined[MAX_BARRIERS][MAX_WARPS];
static struct start {
    uint32_t when;
    uint64_t block;
} * starts;
static int n_starts;
/* Fences, and atomics that came after one in their thread or behind a barrier. */
static struct sync {
    uint32_t when, barrier; /* barrier: the end of the last one at that time */
    int thread;
    uintptr_t p; /* 0: a fence */
} * syncs;
static int n_syncs;

static uint32_t when_of(record r)
{
    return (uint32_t)(r >> 39);
}
static int thread_of(record r)
{
    return (int)(r >> 24 & 1023);
}
static int is_atomic(record r)
{
    return r >> 38 & 1;
}

/* --- Order ------------------------------------------------------------------------------------ */

static void start_add(void)
{
    starts = grown(starts, n_starts, sizeof *starts);
    starts[n_starts++] = (struct start){now, block};
}

/* Time goes on. When it has run out, all records are forgotten. */
static void tick(void)
{
    if (++now < EPOCHS)
        return;
    if (madvise(cells, (ARENA_AT + ARENA) / 4 * sizeof *cells, MADV_DONTNEED) != 0)
        give_up(1, "check: the system does not take back memory that is to be forgotten");
    memset(sees, 0, sizeof sees);
    now = launch_start = block_start = barrier_end = 1;
    n_starts = n_syncs = 0;
    start_add();
}

/* The block that r belongs to: an index into starts. */
static int start_of(record r)
{
    int low = 0, high = n_starts;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle].when <= when_of(r))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Within the block: does r come before what thread `me` does now? */
static inline int ordered(record r, int me)
{
    int its = thread_of(r);
    uint32_t when = when_of(r);
    if (its == me || when < barrier_end || when < sees[me / WARP][its / WARP])
        return 1;
    return me / WARP == its / WARP && lane_sees[me / WARP] &&
           when < lane_sees[me / WARP][me % WARP][its % WARP];
}

/* Between blocks: r's block made an atomic after a fence that covers r, and this block has met that
 * atomic's variable before. */
static int released(record r, int me)
{
    int its = start_of(r), low = 0, high = n_syncs;
    uint32_t end = its + 1 < n_starts ? starts[its + 1].when : UINT32_MAX;
    while (low < high) {
        int middle = (low + high) / 2;
        if (syncs[middle].when <= when_of(r))
            low = middle + 1;
        else
            high = middle;
    }
    for (int f = low; f < n_syncs && syncs[f].when < end; f++) {
        const struct sync *fence = &syncs[f], *atomic = fence + 1;
        if (fence->p || !(fence->thread == thread_of(r) || when_of(r) < fence->barrier))
            continue;
        for (; atomic < syncs + n_syncs && atomic->when < end; atomic++) {
            record mine = atomic->p ? cells[atomic->p / 4].write : 0;
            if ((atomic->thread == fence->thread || atomic->barrier > fence->when) &&
                is_atomic(mine) && when_of(mine) >= block_start && ordered(mine, me))
                return 1;
        }
    }
    return 0;
}

void trace_launch(struct launch *l)
{
    kernels_ran = 1;
    memory_launch();
    kernel = l->kernel;
    n_starts = n_syncs = 0;
    tick();
    launch_start = now;
}

void trace_block(struct worker *w, uint64_t place)
{
    tick();
    block = place;
    block_start = barrier_end = now;
    start_add();
    memory_block(w);
    memset(sees, 0, sizeof sees);
    for (int i = 0; i < MAX_WARPS; i++) {
        free(lane_sees[i]);
        lane_sees[i] = NULL;
    }
}

void trace_join(struct worker *w, int barrier)
{
    if (barrier == 0)
        return;
    tick();
    joined[barrier][w->now / WARP] = now;
}

/* A named barrier joins what its warps know; a warp that only arrived is not told. */
void trace_barrier(struct worker *w, int barrier)
{
    tick();
    if (barrier == 0) {
        barrier_end = now;
        return;
    }
    uint32_t known[MAX_WARPS];
    for (int i = 0; i < MAX_WARPS; i++) {
        known[i] = joined[barrier][i];
        for (int k = 0; k < MAX_WARPS; k++)
            if (joined[barrier][k] && sees[k][i] > known[i])
                known[i] = sees[k][i];
    }
    for (int k = 0; k < MAX_WARPS; k++)
        if (w->barriers[barrier].waiting[k])
            for (int i = 0; i < MAX_WARPS; i++)
                if (known[i] > sees[k][i])
                    sees[k][i] = known[i];
    memset(joined[barrier], 0, sizeof joined[barrier]);
}

void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask)
{
    (void)op;
    tick();
    if (!(w->warps[warp].live & ~mask)) {
        sees[warp][warp] = now;
        return;
    }
    if (!lane_sees[warp])
        lane_sees[warp] = need_memory(calloc(WARP, sizeof *lane_sees[warp]), "what check knows");
    for (unsigned a = mask; a; a &= a - 1)
        for (unsigned b = mask; b; b &= b - 1)
            lane_sees[warp][__builtin_ctz(a)][__builtin_ctz(b)] = now;
}

static void sync_add(uintptr_t p)
{
    syncs = grown(syncs, n_syncs, sizeof *syncs);
    syncs[n_syncs++] = (struct sync){now, barrier_end, (int)cpu_worker->now, p};
}

void cpu_trace_fence(void)
{
    if (!cpu_worker || !cpu_worker->running)
        return;
    tick();
    sync_add(0);
    tick();
}

/* --- The rules -------------------------------------------------------------------------------- */

static void report(const struct worker *w, enum rule rule, enum kind kind, uint32_t code,
                   uintptr_t p, unsigned bytes, const struct object *o)
{
    struct side side = {kind, code, (int)w->now, block};
    finding_add(rule, kernel, &side, 1, bytes, o, p, NULL);
}

static void report_race(const struct worker *w, record r, enum kind was, enum kind kind,
                        uint32_t code, uintptr_t p, unsigned bytes, const struct object *o,
                        int is_shared)
{
    struct side sides[2] = {{was, (uint32_t)r & 0xffffff, thread_of(r), starts[start_of(r)].block},
                            {kind, code, (int)w->now, block}};
    finding_add(is_shared ? SHARED_RACE : GLOBAL_RACE, kernel, sides, 2, bytes,
                is_shared ? shared_at(p) : o, p, NULL);
}

/* Where p's cell is, counted in bytes; -1 when p may not be touched and -2 when it is no concern of
 * ours. *object is what p belongs to or lies beside. */
static inline int64_t locate(const struct worker *w, uintptr_t p, unsigned bytes,
                             const struct object **object)
{
    *object = NULL;
    if (p - region < region_used) {
        const struct object *o = object_at(p);
        *object = o;
        return o && p - o->p < o->bytes && o->p + o->bytes - p >= bytes ? (int64_t)(p - region)
                                                                        : -1;
    }
    if (p - (uintptr_t)w->arena < ARENA - 16) {
        uint64_t at = p - (uintptr_t)w->arena;
        return bits_at(in_variable, at, bytes) == (1u << bytes) - 1 ? (int64_t)(ARENA_AT + at) : -1;
    }
    if (p - (uintptr_t)w->stacks < (uintptr_t)MAX_THREADS * FIBER_STACK ||
        p - (uintptr_t)kernel->arguments < kernel->size)
        return -2;
    if (p - (uintptr_t)__executable_start >= program_size())
        return -1;
    for (int i = 1; i < n_objects; i++)
        if (p - objects[i].p < objects[i].bytes) {
            *object = &objects[i];
            return (int64_t)(IMAGE_AT + (p - (uintptr_t)__executable_start));
        }
    return -2;
}

static inline int conflicts(record r, record mine, uint32_t start, int me, int is_shared)
{
    if (when_of(r) < start || !((r & mine) >> 34 & 15) || (is_atomic(r) && is_atomic(mine)))
        return 0;
    return when_of(r) >= block_start ? !ordered(r, me) : !is_shared && !released(r, me);
}

/* Whether a read that was noted may make room for one by thread me. */
static inline int replaceable(record r, uint32_t start, int me)
{
    return when_of(r) < start || (when_of(r) >= block_start && ordered(r, me));
}

static inline void race(const struct worker *w, struct cell *c, record mine, enum kind kind,
                        uint32_t code, uintptr_t p, unsigned bytes, const struct object *o,
                        int is_shared)
{
    int me = (int)w->now;
    uint32_t start = is_shared ? block_start : launch_start;
    if (conflicts(c->write, mine, start, me, is_shared))
        report_race(w, c->write, is_atomic(c->write) ? ATOMIC : WRITE, kind, code, p, bytes, o,
                    is_shared);
    if (kind != READ) {
        for (int i = 0; i < 2; i++)
            if (conflicts(c->read[i], mine, start, me, is_shared))
                report_race(w, c->read[i], READ, kind, code, p, bytes, o, is_shared);
            else
                c->read[i] = 0;
        c->write = mine;
        return;
    }
    if (replaceable(c->read[0], start, me))
        c->read[0] = mine;
    else if (replaceable(c->read[1], start, me) || when_of(c->read[1]) < block_start ||
             thread_of(c->read[1]) / WARP == thread_of(c->read[0]) / WARP)
        c->read[1] = mine;
}

static void access_seen(struct worker *w, uintptr_t p, unsigned bytes, enum kind kind,
                        uint32_t code)
{
    const struct object *o;
    int64_t at = locate(w, p, bytes, &o);
    if (at == -2)
        return;
    int is_shared = p - (uintptr_t)w->arena < ARENA;
    if (at >= 0 && p % bytes == 0 && !(o && o->freed)) {
        unsigned all = (1u << bytes) - 1, have = bits_at(written, (uint64_t)at, bytes);
        if (kind != WRITE && have != all && (uint64_t)at - IMAGE_AT >= IMAGE) {
            int unwritten = bytes <= 4;
            for (unsigned i = 0; i < bytes; i += 4)
                unwritten |= (have >> i & 15) == 0;
            if (unwritten)
                report(w, UNINITIALISED, kind, code, p, bytes, is_shared ? shared_at(p) : o);
        }
        if (kind != READ && have != all)
            set_bits(written, (uint64_t)at, bytes, 1);
        record mine = (record)now << 39 | (record)(kind == ATOMIC) << 38 | (record)w->now << 24 |
                      (code & 0xffffff);
        for (unsigned i = 0; i < bytes; i += 4) {
            record mask = bytes >= 4 ? 15 : ((1u << bytes) - 1) << (at & 3);
            race(w, &cells[at / 4 + i / 4], mine | mask << 34, kind, code, p, bytes, o, is_shared);
        }
        return;
    }
    report(w,
           at < 0          ? BOUNDS
           : o && o->freed ? FREED
                           : MISALIGNED,
           kind, code, p, bytes, is_shared ? shared_at(p) : o);
}

static inline void seen(struct worker *w, uintptr_t p, unsigned bytes, int writes, const void *from,
                        const void *frame)
{
    (void)frame;
    if (!is_builtin_variable(p))
        access_seen(w, p, bytes, writes ? WRITE : READ, code_of(from));
}

void cpu_trace_atomic(const volatile void *p, size_t bytes)
{
    struct worker *w = cpu_worker;
    const struct object *o;
    if (!w || !w->running)
        return;
    access_seen(w, (uintptr_t)p, (unsigned)bytes, ATOMIC, code_of(__builtin_return_address(0)));
    int64_t at = locate(w, (uintptr_t)p, (unsigned)bytes, &o);
    if (n_syncs && at >= 0 && at < (int64_t)ARENA_AT)
        sync_add((uintptr_t)at);
}

/* What is told for count alone: blocks of code, and what is computed. */

void __sanitizer_cov_trace_pc(void)
{
}

void cpu_trace_special(int counter)
{
    (void)counter;
}

void cpu_trace_named(const char *name, uint64_t amount)
{
    (void)name, (void)amount;
}

void trace_fault(struct worker *w, const char *text)
{
    struct side side = {READ, 0, (int)w->now, block};
    memory_broken();
    if (strncmp(text, "barrier divergence: ", 20) == 0)
        finding_add(DIVERGENCE, kernel, &side, 1, 0, NULL, 0, text + 20);
    else if (strstr(text, "leaves it out") || strstr(text, "leaves out"))
        finding_add(DIVERGENCE, kernel, &side, 1, 0, NULL, 0, text);
}

/* An x86-64 stops at a move of 16 bytes that says its address is a multiple of 16, if it is not.
 * The finding is noted by then. Turned into the move that takes any address, which is as long, the
 * kernel goes on, as it does after other findings and as it would on other CPUs. False: the
 * instruction is not one of those. */
int trace_goes_on(void *context)
{
#if defined __linux__ && defined __x86_64__
    unsigned char *first = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    unsigned char *code = first + (first[0] == 0x66);
    uintptr_t page = (uintptr_t)first & -(uintptr_t)4096;
    code += (code[0] & 0xf0) == 0x40; /* registers from the eighth on */
    int whole = first[0] == 0x66 && (code[1] == 0x6f || code[1] == 0x7f);
    int floats = code[1] == 0x28 || code[1] == 0x29;
    if (code[0] != 0x0f || (!whole && !floats) ||
        mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 0;
    if (whole)
        first[0] = 0xf3; /* movdqa becomes movdqu */
    else
        code[1] -= 0x18; /* movaps becomes movups */
    return 1;
#else
    (void)context;
    return 0;
#endif
}

int cpu_trace_mode(void)
{
    return CPU_TRACE_CHECK;
}

static void __attribute__((destructor)) at_end(void)
{
    trace_reset(); /* what is still allocated leaks */
    findings_end();
}
