/* check: uses of mbarriers.
 *
 * All that a thread did before its arrival happens before what those do who find the phase
 * complete. A thread that arrives has to know that the phase before is complete: if it does not, it
 * could as well have come too early. A thread that waits for a phase has to come before the next
 * but one: then the parity is the same again. */
#include "instruments/check/state/check.h"
#include "base/plural.h"

#include "cpu/trace.h"
#include <stdarg.h>
#include <stdio.h>

static struct state {
    shadow_entry made, fenced; /* 0: there was no fence.mbarrier_init */
    uintptr_t p;
    uint32_t phase;
    struct vector_clock *open, *complete; /* vector clocks: of those who have arrived; of those who
                                             have found it complete */
    shadow_entry arrivals[MAX_THREADS];
    int n;
    shadow_entry announced_at, brought_at;
    uint64_t announced, brought; /* bytes, in this phase */
    int copies;                  /* of cp.async, which it has to wait for as well */
} * states;
static int n_states;

/* The text has %1 and %2 for the places of the two sides. */
static void __attribute__((format(printf, 4, 5)))
report(shadow_entry first, shadow_entry second, uintptr_t p, const char *format, ...)
{
    char text[240];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    struct side sides[2] = {
        {COPY, code_in(first), thread_of(first), order.block},
        {COPY, code_in(second), thread_of(second), order.block},
    };
    finding_add(MBARRIER, order.kernel, sides, 2, 0, shared_at(p), p, text);
}

/* The thread's statement, now. */
static shadow_entry now(int thread)
{
    return entry_of(thread, statement[thread], 0);
}

static const struct mbarrier *runtimes(const struct worker *w, int id)
{
    for (int i = 0; i < w->n_mbarriers; i++)
        if (w->mbarriers[i].id == id)
            return &w->mbarriers[i];
    return NULL;
}

void trace_mbarrier_init(struct worker *w, int lane, int id, uint32_t at)
{
    if (id >= n_states) {
        states =
            need_memory(realloc(states, (size_t)(id + 1) * sizeof *states), "what check knows");
        memset(states + n_states, 0, (size_t)(id + 1 - n_states) * sizeof *states);
        n_states = id + 1;
    }
    struct state *s = &states[id];
    *s = (struct state){.made = now(thread_at(w, lane)), .p = (uintptr_t)w->arena + at};
    s->open = clock_new();
    s->complete = clock_new();
}

/* The line is that which calls the function with the instruction: it names the mbarrier. */
void trace_mbarrier_made(int id, char *text, size_t size)
{
    struct place *places = need_memory(calloc((size_t)n_states, sizeof *places), "places");
    uint32_t *codes = need_memory(calloc((size_t)n_states, sizeof *codes), "places");
    const struct place *place = &places[id];
    int before = 0, all = 0;
    for (int i = 0; i < n_states; i++)
        codes[i] = code_in(states[i].made);
    symbols_find(codes, n_states, places);
    for (int i = 0; i < n_states; i++)
        if (symbols_same(&places[i], place)) {
            before += i < id;
            all++;
        }
    int n = snprintf(text, size, ", made at %s:%d", place->caller ? place->caller : place->file,
                     place->caller ? place->caller_line : place->line);
    if (all > 1 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, " (%d of %d)", before + 1, all);
    symbols_free(places, n_states);
    free(places), free(codes);
}

void trace_mbarrier_fence(struct worker *w, int lane)
{
    const int thread = thread_at(w, lane);
    order_tick();
    for (int id = 0; id < n_states; id++)
        if (!states[id].fenced && happens_before(states[id].made, thread))
            states[id].fenced = entry_of(thread, 0, 0);
}

void trace_mbarrier_use(struct worker *w, int lane, int id)
{
    const int thread = thread_at(w, lane);
    const struct state *s = &states[id];
    if (!happens_before(s->made, thread))
        report(s->made, now(thread), s->p,
               "the mbarrier that is made at %%1 is used at %%2, and nothing orders the two");
}

void trace_mbarrier_expect(struct worker *w, int lane, int id, uint32_t bytes)
{
    struct state *s = &states[id];
    s->announced += bytes;
    s->announced_at = now(thread_at(w, lane));
    proxy_uses(thread_at(w, lane), id % MBARRIERS);
}

void trace_mbarrier_arrive(struct worker *w, int lane, int id)
{
    const int thread = thread_at(w, lane);
    struct state *s = &states[id];
    proxy_uses(thread, id % MBARRIERS);
    if (clock_phases(thread, id % MBARRIERS) < s->phase &&
        !proxy_blame(thread, id % MBARRIERS, statement[thread]) && !proxy_blamed) {
        report(s->made, now(thread), s->p,
               "an arrival too many or too early at %%2, in phase %u of a barrier made at %%1: its "
               "thread does not know that phase %u is complete",
               s->phase, s->phase - 1);
    }
    clock_release(s->open, thread);
    if (s->n < MAX_THREADS)
        s->arrivals[s->n++] = now(thread);
}

void trace_mbarrier_full(struct worker *w, int lane, int id)
{
    const int thread = thread_at(w, lane);
    proxy_blame(thread, id % MBARRIERS, statement[thread]);
}

/* The last to arrive knows that the phase is complete if all other arrivals happen before its own
 * and no copy is to come. */
void trace_mbarrier_phase(struct worker *w, int id)
{
    const int thread = (int)w->now;
    struct state *s = &states[id];
    int knows = s->brought == 0 && !s->copies;
    for (int i = 0; i < s->n && knows; i++)
        knows = happens_before(s->arrivals[i], thread);
    s->phase++;
    s->open->phases[id % MBARRIERS] = s->phase;
    clock_merge(s->complete, s->open);
    if (knows)
        clock_acquire(thread, s->complete);
    s->n = 0;
    s->announced = s->brought = 0;
    s->copies = 0;
}

/* The thread waits for the first phase of that parity which it does not know to be complete. */
static void look_behind(int thread, int id, unsigned parity)
{
    const struct state *s = &states[id];
    const uint32_t known = clock_phases(thread, id % MBARRIERS);
    if (s->phase < known + ((known & 1) != parity) + 2 || proxy_blame_refill(id % MBARRIERS) ||
        proxy_blamed)
        return;
    report(s->made, now(thread), s->p,
           "a wait two phases behind, at %%2, for parity %u of a barrier made at %%1: the thread "
           "knows phases below %u, and all below %u are complete",
           parity, known, s->phase);
}

void trace_mbarrier_test(struct worker *w, int lane, int id, unsigned parity)
{
    const int thread = thread_at(w, lane);
    const struct state *s = &states[id];
    look_behind(thread, id, parity);
    proxy_waits(thread, id % MBARRIERS, now(thread), parity,
                clock_phases(thread, id % MBARRIERS) == s->phase && (s->phase & 1) != parity,
                s->phase, s->p);
}

void trace_mbarrier_waited(struct worker *w, int lane, int id, unsigned parity)
{
    const int thread = thread_at(w, lane);
    look_behind(thread, id, parity);
    clock_acquire(thread, states[id].complete);
    proxy_waited(id % MBARRIERS, states[id].phase);
}

/* Bytes or copies for a barrier whose phase before this one the issuing thread does not know to be
 * complete. */
static int too_early(const struct state *s, const char *what, int thread, int id)
{
    if (clock_phases(thread, id % MBARRIERS) >= s->phase)
        return 0;
    if (proxy_blame(thread, id % MBARRIERS, statement[thread]))
        return 1;
    report(s->made, now(thread), s->p,
           "%s too many or too early at %%2, in phase %u of a barrier made at %%1: the "
           "copy's thread does not know that phase %u is complete, and they may count for that",
           what, s->phase, s->phase - 1);
    return 1;
}

void trace_mbarrier_copies(struct worker *w, int lane, int id)
{
    const int thread = thread_at(w, lane);
    const int op = pending_hand_over(thread);
    struct state *s = &states[id];
    if (!op)
        return;
    s->copies = 1;
    proxy_brings(op, id % MBARRIERS, s->phase);
    if (too_early(s, "copies", thread, id))
        proxy_reported(op);
}

void trace_mbarrier_load(struct worker *w, int lane, int id, int op, size_t bytes)
{
    const int thread = thread_at(w, lane);
    struct state *s = &states[id];
    const struct mbarrier *m = runtimes(w, id);
    trace_mbarrier_use(w, lane, id);
    if (!(s->fenced && happens_before(s->fenced, thread)) && !clock_fenced(s->made, thread, 0))
        report(s->made, now(thread), s->p,
               "the mbarrier that is made at %%1 is given to a copy at %%2, without a "
               "fence.mbarrier_init between");
    proxy_brings(op, id % MBARRIERS, s->phase);
    if (too_early(s, "bytes", thread, id))
        proxy_reported(op);
    s->brought += bytes;
    s->brought_at = now(thread);
    if (m && !m->pending && s->brought > s->announced) {
        report(s->announced_at, now(thread), s->p,
               "copies bring %llu bytes at %%2, and %llu %s announced, at %%1",
               (unsigned long long)s->brought, (unsigned long long)s->announced,
               s->announced == 1 ? "is" : "are");
    }
}

/* The block has ended: bytes that were announced and never asked for are missing all the same. */
void trace_mbarrier_end(struct worker *w)
{
    for (int i = 0; i < w->n_mbarriers; i++) {
        const struct mbarrier *m = &w->mbarriers[i];
        const struct state *s = &states[m->id];
        if (m->bytes == m->coming)
            continue;
        const int64_t off = llabs(m->bytes - m->coming);
        report(s->announced_at, s->brought_at, s->p,
               "the block ends, and %lld byte%s %s of those announced at %%1 and brought at %%2",
               (long long)off, off == 1 ? " is" : "s are",
               m->bytes > m->coming ? "missing" : "too many");
    }
}

void mbarriers_forget(void)
{
    for (int i = 0; i < n_states; i++) {
        clock_drop(&states[i].open);
        clock_drop(&states[i].complete);
    }
    n_states = 0;
}
