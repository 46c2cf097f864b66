/* mbarrier: barriers in shared memory that also count the bytes of bulk copies.
 * units/mbarriers.c has their state; the instructions that use it are here. */
#include "ptx/handlers/handler.h"
#include "base/plural.h"

#include <string.h>

/* The mbarrier's offset in shared memory, from a shared or a generic address. */
static uint32_t place(struct worker *w, const ptx_insn *i, int operand, const uint64_t *reg)
{
    const enum ptx_space space =
        ptx_has(i, PTX_M_shared) || ptx_has(i, PTX_M_shared_cta) ? PTX_SHARED : PTX_GENERIC;
    const uint64_t address = ptx_address(&i->operand[operand], reg);
    const char *p = ptx_pointer(w, (int)w->now % WARP, i, space, address, 8);
    if (p < w->arena || p >= w->arena + ARENA)
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure,
                  ": address %p is not of shared memory", (const void *)p);
    return (uint32_t)(p - w->arena);
}

static struct mbarrier *barrier(struct worker *w, const ptx_insn *i, int operand,
                                const uint64_t *reg)
{
    return ptx_mbarrier(w, i, place(w, i, operand, reg));
}

void ptx_mbarrier_init(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const uint32_t at = place(w, i, 0, reg), count = (uint32_t)ptx_get(&i->operand[1], reg);
    if (count < 1 || count >= 1 << 20)
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure, ": %u arrivals: need 1 to %d",
                  count, (1 << 20) - 1);
    TRACE_CHECK(lane_write(w, (int)w->now % WARP, (uintptr_t)w->arena + at, 8));
    mbarrier_init(w, at, (int)count);
    const uint64_t mark = ptx_mbarrier_mark(mbarrier_find(w, at));
    memcpy(w->arena + at, &mark, sizeof mark);
    TRACE_CHECK(mbarrier_init(w, (int)w->now % WARP, mbarrier_find(w, at)->id, at));
}

void ptx_mbarrier_inval(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    struct mbarrier *m = barrier(w, i, 0, reg);
    if (m->waiters)
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure, ": %d thread%s for it", m->waiters,
                  m->waiters == 1 ? " waits" : "s wait");
    TRACE_CHECK(mbarrier_use(w, (int)w->now % WARP, m->id));
    mbarrier_inval(w, m);
}

static uint64_t state_of(const struct mbarrier *m)
{
    return (uint64_t)(uint32_t)m->pending << 32 | m->phase;
}

static void expect(struct worker *w, const ptx_insn *i, struct mbarrier *m, uint32_t bytes)
{
    TRACE_CHECK(mbarrier_expect(w, (int)w->now % WARP, m->id, bytes));
    if (m->bytes + bytes >= 1 << 20)
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure,
                  ": %lld bytes are to come: at most %d can", (long long)m->bytes + bytes,
                  (1 << 20) - 1);
    mbarrier_expect(w, m, bytes);
}

static void arrive(struct worker *w, const ptx_insn *i, struct mbarrier *m, uint32_t arrivals)
{
    if (arrivals < 1 || arrivals > (uint32_t)m->pending) {
        char described[500];
        TRACE_CHECK(mbarrier_full(w, (int)w->now % WARP, m->id));
        mbarrier_describe(w, m, described, sizeof described);
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure, ": %u arrival%s too many on %s",
                  arrivals - (uint32_t)m->pending, plural(arrivals - (uint32_t)m->pending),
                  described);
    }
    TRACE_CHECK(mbarrier_arrive(w, (int)w->now % WARP, m->id));
    mbarrier_arrive(w, m, (int)arrivals);
}

/* Operands: the resulting state, or nothing; the address; the number of arrivals or of bytes. */
void ptx_mbarrier_arrive(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    struct mbarrier *m = barrier(w, i, 1, reg);
    const int expects = ptx_has(i, PTX_M_expect_tx);
    const uint32_t number = i->n > 2 ? (uint32_t)ptx_get(&i->operand[2], reg) : 1;
    const uint32_t arrivals = expects ? 1 : number;
    bulk_progress(w);
    TRACE_CHECK(mbarrier_use(w, (int)w->now % WARP, m->id));
    ptx_set(&i->operand[0], reg, state_of(m));
    if (expects)
        expect(w, i, m, number);
    if (ptx_has(i, PTX_M_arrive_drop) && arrivals <= (uint32_t)m->pending)
        m->arrivals -= (int)arrivals;
    arrive(w, i, m, arrivals);
    if (m->waiters)
        bulk_deliver(w, m);
}

/* The phase stays open until the thread's cp.async copies in flight are done. Without .noinc the
 * number of pending arrivals rises by the one that the copies make, so that only the copies
 * count. */
void ptx_cp_async_arrive(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    struct mbarrier *m = barrier(w, i, 0, reg);
    struct copied c;
    bulk_progress(w);
    TRACE_CHECK(mbarrier_use(w, (int)w->now % WARP, m->id));
    TRACE_CHECK(mbarrier_copies(w, (int)w->now % WARP, m->id));
    while (cp_async_hand_over(w, &c))
        bulk_adopt_cp_async(w, &c, m);
    if (ptx_has(i, PTX_M_noinc))
        arrive(w, i, m, 1);
    if (m->waiters)
        bulk_deliver(w, m);
}

void ptx_mbarrier_expect(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    struct mbarrier *m = barrier(w, i, 0, reg);
    bulk_progress(w);
    TRACE_CHECK(mbarrier_use(w, (int)w->now % WARP, m->id));
    expect(w, i, m, (uint32_t)ptx_get(&i->operand[1], reg));
    if (m->waiters)
        bulk_deliver(w, m);
}

void ptx_mbarrier_pending(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    ptx_set(&i->operand[0], reg, ptx_get(&i->operand[1], reg) >> 32);
}

/* Waits until the phase is complete. Returns 0 if all threads of the block wait: then this one
 * asks again, or does something else that others wait for. */
static int wait(struct worker *w, const ptx_insn *i, struct mbarrier *m, unsigned parity)
{
    struct thread *t = &w->threads[w->now];
    const int id = m->id;
    while (!mbarrier_is_complete(m, parity)) {
        const uint32_t before = m->phase;
        t->op = CPU_MBARRIER;
        t->name = i->text;
        t->mask = (unsigned)id << 1 | parity;
        m->waiting[w->now / WARP] |= 1u << w->now % WARP;
        m->waiters++;
        block_stop(w);
        block_wait(w);
        t->op = CPU_PTX;
        m = mbarrier_by_id(w, id);
        if (!m)
            ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure,
                      ": the mbarrier is gone while the thread waits");
        if (m->phase == before)
            return 0;
        bulk_deliver(w, m);
    }
    return 1;
}

/* Operands: the predicate; the address; a parity, or a state that an arrival returned. After a
 * failed test other threads run, as this thread would only test again. */
void ptx_mbarrier_wait(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    enum { MANY = 1 << 20 };
    struct mbarrier *m = barrier(w, i, 1, reg);
    const uint64_t phase = ptx_get(&i->operand[2], reg); /* a state, or a parity alone */
    if (ptx_has(i, PTX_M_parity) && phase > 1)
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure, ": parity %llu: need 0 or 1",
                  (unsigned long long)phase);
    const unsigned parity = phase & 1;
    const int id = m->id;
    bulk_progress(w);
    TRACE_CHECK(mbarrier_use(w, (int)w->now % WARP, m->id));
    if (!mbarrier_is_complete(m, parity))
        bulk_deliver(w, m);
    TRACE_CHECK(mbarrier_test(w, (int)w->now % WARP, m->id, parity));
    int done = ptx_has(i, PTX_M_try_wait) ? wait(w, i, m, parity) : mbarrier_is_complete(m, parity);
    m = mbarrier_by_id(w,
                       id); /* meanwhile mbarriers may have been made, and this one invalidated */
    ptx_set(&i->operand[0], reg, (uint64_t)done);
    if (done && m)
        TRACE_CHECK(mbarrier_waited(w, (int)w->now % WARP, id, parity));
    if (done || !m)
        return;
    if (w->failed_waits_at != w->progress)
        w->failed_waits = 0;
    w->failed_waits_at = w->progress;
    if (++w->failed_waits == MANY) {
        char described[500];
        mbarrier_describe(w, m, described, sizeof described);
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure,
                  ": tested %d times in vain for parity %u of %s", MANY, parity, described);
    }
    if (!ptx_has(i, PTX_M_try_wait))
        cpu_yield();
}

void ptx_fence_mbarrier_init(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    TRACE_CHECK(mbarrier_fence(w, (int)w->now % WARP));
}
