/* Functions that kernels call: barriers of a block and of some of its warps, yielding and sleeping,
 * the clock. */
#include "device/device.h"
#include "base/plural.h"

#include <stdlib.h>
#include <string.h>

static int same_place(const struct thread *a, const struct thread *b)
{
    return a->op == b->op && a->line == b->line &&
           (a->file == b->file || strcmp(a->file, b->file) == 0);
}

/* PTX lets warps meet at bar.sync in different places of the code: the barrier is one. Lanes of a
 * warp may not, nor may two kinds of a barrier. */
static __attribute__((noinline)) void compare_places(const struct worker *w, struct barrier *b)
{
    const struct thread *t = &w->threads[w->now], *first = &w->threads[b->first];
    const struct thread *mate = &w->threads[w->now / WARP * WARP];
    const unsigned mates = b->waiting[w->now / WARP];
    b->mixed |= t->op != first->op || (mates && !same_place(t, mate + __builtin_ctz(mates)));
    b->apart |= !same_place(t, first);
}

static inline void join_barrier(struct worker *w, struct barrier *b, enum cpu_op op, int predicate)
{
    const struct thread *t = &w->threads[w->now];
    if (!b->arrived) {
        b->first = (int)w->now;
        b->op = op;
        b->file = t->file;
        b->line = t->line;
        b->mixed = b->apart = 0;
    } else if (op != CPU_NAMED_BARRIER &&
               (b->apart || op != b->op || t->line != b->line || t->file != b->file)) {
        compare_places(w, b); /* else all of them have arrived at one place */
    }
    b->arrived++;
    b->count += predicate != 0;
}

int cpu_block_barrier(enum cpu_op op, int predicate, const char *file, int line)
{
    struct worker *w = block_inside(op, file, line);
    struct barrier *b = &w->barriers[0];
    join_barrier(w, b, op, predicate);
    b->waiting[w->now / WARP] |= 1u << w->now % WARP;
    if (b->arrived < w->live) {
        block_stop_and_wait(w);
    } else {
        block_stop(w);
        block_open_barrier(w, b);
        block_wait(w);
    }
    return b->result;
}

void cpu_grid_barrier(const char *file, int line)
{
    struct worker *w = block_inside(CPU_GRID_SYNC, file, line);
    if (!w->launch->kernel->together)
        fault_stop(w, FAULT_LAUNCH, cudaErrorLaunchFailure,
                   "%s:%d: grid.sync in a launch that is not cooperative: need "
                   "cudaLaunchCooperativeKernel, or the attribute of cudaLaunchKernelEx",
                   file, line);
    cpu_block_barrier(CPU_GRID_SYNC, 0, file, line);
}

int cpu_grid_together(void)
{
    return cpu_worker && cpu_worker->running && cpu_worker->launch->kernel->together;
}

static void join_some(struct worker *w, int id, int threads, int wait)
{
    struct barrier *b = &w->barriers[id];
    w->named_used = 1;
    b->threads = threads;
    w->threads[w->now].mask = (unsigned)id;
    join_barrier(w, b, w->threads[w->now].op, 0);
    TRACE_CHECK(join(w, id));
    if (wait) {
        block_stop(w);
        b->waiting[w->now / WARP] |= 1u << w->now % WARP;
    }
    if (b->arrived == threads)
        block_open_barrier(w, b);
    if (wait)
        block_wait(w);
}

void cpu_named_barrier(int id, int threads, int wait, const char *file, int line)
{
    struct worker *w = block_inside(CPU_NAMED_BARRIER, file, line);
    if (id < 1 || id >= NAMED_BARRIERS || threads < WARP || threads % WARP || threads > w->size)
        fault_stop(w, FAULT_OPERAND, cudaErrorLaunchFailure,
                   "%s:%d: named barrier %d for %d thread%s: need a number from 1 to 15 and a "
                   "multiple of 32 threads, at most the block's %d",
                   file, line, id, threads, plural(threads), w->size);
    struct barrier *b = &w->barriers[id];
    if (b->arrived && b->threads != threads) {
        w->threads[w->now].mask = (unsigned)id;
        fault_stop(
            w, FAULT_DIVERGENCE, cudaErrorLaunchFailure,
            "%s:%d: thread %d comes to named barrier %d for %d threads, and thread %d for %d "
            "threads (%s:%d): need the same number, or another barrier",
            file, line, (int)w->now, id, threads, b->first, b->threads, b->file, b->line);
    }
    join_some(w, id, threads, wait);
}

/* Tiles of each width have their own barriers, numbered as in a tree: those of half the width
 * come after those of the width. */
void cpu_tile_barrier(unsigned width, const char *file, int line)
{
    struct worker *w = block_inside(CPU_TILE_SYNC, file, line);
    const int first = (int)(w->now / width * width), left = w->size - first;
    join_some(w, NAMED_BARRIERS + (int)(MAX_THREADS / width + w->now / width),
              left < (int)width ? left : (int)width, 1);
}

void cpu_tile_pass(uint64_t bits)
{
    struct worker *w = cpu_worker;
    if (!w->passed)
        w->passed = need_memory(calloc(MAX_THREADS, sizeof *w->passed), "tiles of several warps");
    w->passed[w->now] = bits;
}

uint64_t cpu_tile_passed(unsigned thread)
{
    return cpu_worker->passed[thread];
}

static void yield(struct worker *w)
{
    block_stop(w);
    w->warps[w->now / WARP].yielded |= 1u << w->now % WARP;
    w->yielded = 1;
    block_wait(w);
}

void cpu_yield(void)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    w->looped = 1;
    yield(w);
}

void cpu_sleep(const char *file, int line)
{
    struct worker *w = block_inside(CPU_NANOSLEEP, file, line);
    w->threads[w->now].polls = 0; /* the loop sleeps by itself */
    w->slept = 1;
    yield(w);
}

void cpu_polled(const volatile void *p, const void *found, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, found, bytes < sizeof bits ? bytes : sizeof bits);
    cpu_found(p, bits);
}

void cpu_found(const volatile void *p, uint64_t bits)
{
    enum { MANY = 64 };
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    struct thread *t = &w->threads[w->now];
    if (t->polled != p || t->found != bits)
        t->polls = 0;
    t->polled = p;
    t->found = bits;
    if (++t->polls <= MANY)
        return;
    block_inside(CPU_SPIN, "a value that does not change", 0);
    w->slept = w->spun = 1;
    yield(w);
}

void cpu_grid_wait(void)
{
    TRACE_CHECK(grid_wait(cpu_worker));
}

void cpu_grid_trigger(void)
{
    TRACE_CHECK(grid_trigger(cpu_worker));
}

void cpu_launch_bounds(int threads, int blocks)
{
    cpu_worker->bounds_threads = threads;
    cpu_worker->bounds_blocks = blocks;
}

/* A thread that has read the clock a thousand times in a row waits for time to pass. From then
 * on the clock doubles its speed every 16 readings. */
long long cpu_clock(void)
{
    enum { MANY = 1000, FASTEST = 20 };
    static __thread long long ticks;
    static __thread unsigned reader, readings;
    const unsigned now = cpu_worker ? cpu_worker->now : 0;
    readings = now == reader ? readings + 1 : 0;
    reader = now;
    if (readings < MANY)
        return ++ticks;
    const unsigned faster = (readings - MANY) / 16;
    return ticks += 1ll << (faster < FASTEST ? faster : FASTEST);
}
