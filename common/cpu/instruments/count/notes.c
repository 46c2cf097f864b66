/* count: reports of kernels, noted lane by lane for count.c to merge. A lane whose notes are
 * full waits, so this file calls the scheduler. */
#include "instruments/front/callbacks.h"

#include "instruments/count/count.h"
#include <stdlib.h>

static __attribute__((noinline)) struct lanes *lanes_of(struct worker *w, int warp)
{
    struct trace *t = w->trace;
    struct lanes *l = t->spare;
    if (l)
        t->spare = l->next;
    else
        l = need_memory(aligned_alloc(64, sizeof *l), "the counts");
    memset(l->first, 0, sizeof l->first);
    memset(l->n, 0, sizeof l->n);
    l->full = 0;
    return t->of_warp[warp] = l;
}

static inline uint64_t order_of(struct worker *w, const void *from, const void *frame)
{
    const char **top = &w->trace->top[w->now];
    if (__builtin_expect(!*top, 0))
        *top = fiber_top(w->stacks, w->fiber_of[w->now]);
    return (uint64_t)(FIBER_STACK - (uint32_t)(*top - (const char *)frame)) << 32 | code_of(from);
}

static __attribute__((noinline)) void wait_for_room(struct worker *w, struct lanes *l)
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
    unsigned lane = w->now % WARP, i = l->n[lane]++;
    l->order[i][lane] = order;
    l->where[i][lane] = where;
    if (where >> 52 != LOOPS)
        w->trace->wait[w->now].p = 0;
    if (i == NOTES - 1)
        wait_for_room(w, l);
}

/* Only kernels are counted. */
static inline void seen_of_host(uintptr_t p, size_t bytes, int writes, const void *from)
{
}

static inline void seen(struct worker *w, uintptr_t p, unsigned bytes, int writes, const void *from,
                        const void *frame)
{
    if (is_builtin_variable(p))
        return;
    uint64_t order = order_of(w, from, frame);
    w->trace->last[w->now] = order;
    w->changes += writes == WRITES;
    note(w, p | (uint64_t)__builtin_ctz(bytes) << 48 | (uint64_t)writes << 52, order);
}

static inline void seen_volatile(struct worker *w, uintptr_t p, unsigned bytes, int writes,
                                 const void *from, const void *frame)
{
    seen(w, p, bytes, writes, from, frame);
}

static inline int can_load(const struct worker *w, uintptr_t p, unsigned bytes)
{
    return 1;
}

/* --- Inline PTX ------------------------------------------------------------------------------- */

void trace_asm(struct worker *w, const void *from, const void *frame)
{
    w->trace->statement[w->now] = order_of(w, from, frame);
    symbols_statement(code_of(from));
}

static void statement_note(struct worker *w, uintptr_t p, unsigned bytes, enum what what)
{
    uint64_t order = w->trace->statement[w->now];
    w->trace->last[w->now] = order;
    w->changes += what != READS && what != ATOMIC;
    note(w, p | (uint64_t)__builtin_ctz(bytes) << 48 | (uint64_t)what << 52, order);
}

/* The lane is always the running one. */
void trace_lane_read(struct worker *w, int lane, uintptr_t p, unsigned bytes)
{
    statement_note(w, p, bytes, READS);
}

void trace_lane_write(struct worker *w, int lane, uintptr_t p, unsigned bytes)
{
    statement_note(w, p, bytes, WRITES);
}

/* A thread that waits loads from one place again and again, as often as others make it wait:
 * that counts as one load. The first load and the others may be at different places in the code,
 * since clang++ moves the first out of the loop. */
const void *trace_lane_poll(struct worker *w, int lane, uintptr_t p, unsigned bytes, int acquires,
                            const void *insn)
{
    struct wait *last = &w->trace->wait[w->now], now = {insn, p};
    if (last->insn == insn && last->p == p) {
        w->trace->last[w->now] = w->trace->statement[w->now];
    } else {
        trace_lane_read(w, lane, p, bytes);
        *last = now;
    }
    return (const void *)p;
}

void trace_lane_publish(struct worker *w, int lane, uintptr_t p, unsigned bytes)
{
    trace_lane_write(w, lane, p, bytes);
}

/* Amounts that a lane has alone are summed at once. Requests are known only when notes are
 * merged. */
static void elements(struct worker *w, uintptr_t p, unsigned n)
{
    if (p - (uintptr_t)w->arena >= ARENA)
        w->trace->tally.value[CPU_GLOBAL_ATOMIC_ELEMENTS] += n;
}

void trace_lane_atomic(struct worker *w, int lane, uintptr_t p, unsigned bytes, unsigned parts)
{
    elements(w, p, parts);
    watchdog_atomic(w, (const void *)p, bytes);
    statement_note(w, p, bytes, ATOMIC);
}

/* A lane that only fills in zeros has no source. */
void trace_async_issue(struct worker *w, int lane, void *to, const void *from, unsigned bytes,
                       unsigned read, int around_l1)
{
    w->trace->open_group[w->now] = 1;
    w->trace->tally.value[CPU_CP_ASYNC_BYTES] += read;
    statement_note(w, (uintptr_t)to, bytes, COPY_TO);
    statement_note(w, read ? (uintptr_t)from : 0, bytes, around_l1 ? COPY_AROUND_L1 : COPY);
}

void trace_async_commit(struct worker *w, int lane)
{
    struct trace *t = w->trace;
    t->groups[w->now] = t->groups[w->now] << 1 | t->open_group[w->now];
    t->open_group[w->now] = 0;
}

void trace_async_wait(struct worker *w, int lane, int pending)
{
    struct trace *t = w->trace;
    if (pending < 0)
        t->open_group[w->now] = 0;
    t->groups[w->now] &= pending <= 0 ? 0 : pending < 32 ? (1u << pending) - 1 : ~0u;
    t->tally.value[CPU_CP_ASYNC_LEFT_GROUPS] += (unsigned)__builtin_popcount(t->groups[w->now]);
}

/* An operation of a whole warp is one request, and needs no notes of its lanes. */

void trace_matrix(struct worker *w, enum matrix what, void *const rows[32], int n, int transposed)
{
    struct site *s = tally_site(&w->trace->tally, (uint32_t)w->trace->statement[w->now],
                                what == TRACE_LDMATRIX ? LDMATRIX : STMATRIX, SHARED);
    int all = count_matrix_passes(rows, n);
    s->requests++;
    s->bytes += (uint64_t)n * 8 * 16;
    s->passes += (uint64_t)all;
    s->conflicts += (uint64_t)(all - n);
    w->changes += what == TRACE_STMATRIX;
}

void trace_mma(struct worker *w, uint64_t flops)
{
    w->trace->tally.value[CPU_MMA]++;
    w->trace->tally.value[CPU_MMA_FLOPS] += flops;
}

void trace_registers_hold(struct worker *w, int thread, const void *p, int sums)
{
    const uint32_t depth = depth_of(w, (uintptr_t)p);
    if ((uintptr_t)p - (uintptr_t)w->stacks < (uintptr_t)MAX_THREADS * FIBER_STACK)
        w->trace->registers[depth / 8] |= (uint8_t)(1 << depth % 8);
}

void trace_bulk(struct worker *w, enum bulk what, uint64_t bytes)
{
    w->trace->tally.value[CPU_BULK_LOAD_REQUESTS + 2 * what]++;
    w->trace->tally.value[CPU_BULK_LOAD_BYTES + 2 * what] += bytes;
}

void trace_wgmma(struct worker *w, uint64_t flops, unsigned bytes)
{
    w->trace->tally.value[CPU_WGMMA]++;
    w->trace->tally.value[CPU_WGMMA_SHARED_BYTES] += bytes;
    w->trace->tally.value[CPU_MMA_FLOPS] += flops;
}

/* --- C++ -------------------------------------------------------------------------------------- */

/* Called at the head of each basic block (-fsanitize-coverage=trace-pc). */
__attribute__((visibility("default"))) void __sanitizer_cov_trace_pc(void)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    uint64_t order = order_of(w, __builtin_return_address(0), CALLERS_DEPTH);
    uint64_t last = w->trace->last[w->now];
    w->trace->last[w->now] = order;
    if ((uint32_t)order <= (uint32_t)last)
        note(w, (uint64_t)LOOPS << 52, last);
    watchdog_block(__builtin_return_address(0));
}

/* Reports by the code of kernels. */

void cpu_trace_atomic(const volatile void *p, size_t bytes, enum cpu_scope scope)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    elements(w, (uintptr_t)p, 1);
    watchdog_atomic(w, p, (unsigned)bytes);
    seen(w, (uintptr_t)p, (unsigned)bytes, ATOMIC, __builtin_return_address(0), CALLERS_DEPTH);
}

void cpu_trace_compare(const volatile void *p, uint64_t expected, size_t bytes)
{
}

void cpu_trace_sum(const volatile void *p, size_t bytes)
{
}

void cpu_trace_cached(const volatile void *p, size_t bytes)
{
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

void cpu_trace_fence(
    enum cpu_scope scope) /* blocks run concurrently, and not every CPU keeps stores in order */
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Does nothing: the same object may be linked with check, which reports the index. */
__attribute__((visibility("default"))) void __ubsan_handle_out_of_bounds(const void *b,
                                                                         uintptr_t index)
{
}

/* Arrays of threads that check looks at: an object may be linked with either. */
void cpu_trace_local(struct cpu_local *l, uintptr_t p, size_t bytes, const char *name)
{
}
void cpu_trace_local_ends(struct cpu_local *l)
{
}
