/* check: asynchronous copies (cp.async), from issue to wait.
 *
 * In between, no thread may access where a copy writes, or write where it reads. The end of the
 * copy happens before what its own thread does after the wait, and before what other threads do
 * after a barrier that follows the wait. An access that is not ordered with the issue is a race,
 * which check.c finds. Left is an access by another thread that the issue happens before. Whether
 * it is ordered with the wait is known when the wait comes. If a barrier lies between the two, the
 * wait is late (pending copy); if none does, it is a race. So the report does not depend on which
 * thread runs first. */
#include "instruments/check/state/check.h"

#include "cpu/trace.h"

enum { LINES = 4096 };

/* A wait for all but the latest `left` groups, made when `groups` had been committed. */
struct wait {
    uint32_t code; /* 0: none */
    int left;
    uint64_t groups;
};

struct touch {
    shadow_entry r; /* 0: none */
    enum kind kind;
    int64_t at;
    uintptr_t p;
    unsigned bytes;
    struct wait before; /* the last of the copy's thread */
};

static struct copy {
    shadow_entry issued;
    int64_t to, from;
    uintptr_t source;     /* `from`, as the program knows it */
    unsigned bytes, read; /* 0 once it is done */
    uint64_t group;
    uint32_t next; /* of its thread, or of those that are done */
    struct touch touch[2];
} * copies;
int pending_copies;
static int n_copies = 1; /* 0 is none */
static uint32_t done, first[MAX_THREADS], last[MAX_THREADS];
static uint64_t groups[MAX_THREADS];   /* that the thread has committed */
static struct wait waits[MAX_THREADS]; /* the last of each thread */
static uint32_t
    writer[ARENA / 4]; /* of each shadow cell of shared memory, the copy that is to write it */
static uint32_t readers[LINES]; /* how many copies read a line of 16 bytes that hashes to it */

static uint32_t *readers_of(int64_t at)
{
    return &readers[at / 16 % LINES];
}

static void report(const struct copy *c, const struct touch *t, enum rule rule)
{
    int is_shared = t->at >= (int64_t)ARENA_AT;
    struct side sides[2] = {{rule == PENDING_COPY ? COPY
                             : is_shared          ? WRITE
                                                  : READ,
                             code_in(c->issued), thread_of(c->issued), order.block},
                            {t->kind, code_in(t->r), thread_of(t->r), order.block}};
    int finding = finding_add(rule, order.kernel, sides, 2, t->bytes,
                              is_shared ? shared_at(t->p) : object_at(t->p), t->p, NULL);
    /* A write into a copy's place may be the mistake, and no wait. */
    if (rule == PENDING_COPY && t->kind == READ && t->before.code)
        finding_waited(finding, t->before.code,
                       c->group < t->before.groups ? t->before.left : BEFORE_THE_COPY,
                       object_at(c->source), c->source);
}

static void touched(struct copy *c, int thread, int64_t at, uintptr_t p, unsigned bytes,
                    enum kind kind, uint32_t code)
{
    struct touch t = {
        entry_of(thread, code, kind == ATOMIC), kind, at, p, bytes, waits[thread_of(c->issued)]};
    if (thread == thread_of(c->issued)) {
        report(c, &t, PENDING_COPY);
        return;
    }
    if (when_of(c->issued) <= order.now && !happens_before(c->issued, thread))
        return;
    if (!c->touch[0].r || !c->touch[1].r)
        c->touch[c->touch[0].r != 0] = t;
}

void pending_touched(int thread, int64_t at, uintptr_t p, unsigned bytes, enum kind kind,
                     uint32_t code)
{
    if (at >= (int64_t)ARENA_AT) {
        uint32_t c = writer[(at - (int64_t)ARENA_AT) / 4];
        if (c)
            touched(&copies[c], thread, at, p, bytes, kind, code);
        return;
    }
    if (kind == READ || !*readers_of(at))
        return;
    for (int i = 1; i < n_copies; i++) {
        struct copy *c = &copies[i];
        if (c->bytes && c->read && at < c->from + c->read && c->from < at + bytes)
            touched(c, thread, at, p, bytes, kind, code);
    }
}

void pending_issue(int thread, uint32_t code, int64_t to, unsigned bytes, int64_t from,
                   uintptr_t source, unsigned read)
{
    uint32_t i = done;
    if (i) {
        done = copies[i].next;
    } else {
        copies = grown(copies, n_copies, sizeof *copies);
        i = (uint32_t)n_copies++;
    }
    copies[i] = (struct copy){.issued = entry_of(thread, code, 0),
                              .to = to,
                              .from = from,
                              .source = source,
                              .bytes = bytes,
                              .read = from < 0 ? 0 : read,
                              .group = groups[thread]};
    if (first[thread])
        copies[last[thread]].next = i;
    else
        first[thread] = i;
    last[thread] = i;
    for (unsigned k = 0; k < bytes && to >= 0; k += 4)
        writer[(to - (int64_t)ARENA_AT + k) / 4] = i;
    if (copies[i].read)
        ++*readers_of(from);
    pending_copies++;
}

void trace_async_commit(struct worker *w, int lane)
{
    groups[thread_at(w, lane)]++;
}

int pending_hand_over(int thread)
{
    int op = 0;
    for (uint32_t i; (i = first[thread]);) {
        struct copy *c = &copies[i];
        if (!op)
            op = proxy_issue(thread, code_in(c->issued), TRACE_COPIES);
        for (unsigned k = 0; k < c->bytes && c->to >= 0; k += 4) {
            uint32_t *cell = &writer[(c->to - (int64_t)ARENA_AT + k) / 4];
            if (*cell == i) {
                *cell = 0;
                proxy_takes(op, c->to + k, 4, c->group);
            }
        }
        if (c->read)
            --*readers_of(c->from);
        first[thread] = c->next;
        *c = (struct copy){.next = done};
        done = i;
        pending_copies--;
    }
    return op;
}

/* The copy is done: its write gets the time of the wait, from where other threads are ordered with
 * it. */
static void finish(uint32_t i, int waited)
{
    struct copy *c = &copies[i];
    int thread = thread_of(c->issued);
    shadow_entry now = entry_of(thread, code_in(c->issued), 0) | ALL_BYTES;
    for (int k = 0; k < 2 && c->touch[k].r; k++) {
        const struct touch *t = &c->touch[k];
        int beside = waited && when_of(t->r) <= order.now && !happens_before(t->r, thread);
        report(c, t,
               !beside                      ? PENDING_COPY
               : t->at >= (int64_t)ARENA_AT ? SHARED_RACE
                                            : GLOBAL_RACE);
    }
    for (unsigned k = 0; k < c->bytes && c->to >= 0; k += 4) {
        uint32_t *cell = &writer[(c->to - (int64_t)ARENA_AT + k) / 4];
        if (*cell == i) {
            *cell = 0;
            shadow[(c->to + k) / 4].write = now;
        }
    }
    for (unsigned k = 0; k < c->read; k += 4) {
        shadow_entry *read = shadow[(c->from + k) / 4].read;
        read[thread_of(read[0]) != thread] = now;
    }
    if (c->read)
        --*readers_of(c->from);
    *c = (struct copy){.next = done};
    done = i;
    pending_copies--;
}

void trace_async_wait(struct worker *w, int lane, int pending)
{
    const int thread = thread_at(w, lane);
    uint64_t waited = pending < 0                          ? UINT64_MAX
                      : groups[thread] > (uint64_t)pending ? groups[thread] - (uint64_t)pending
                                                           : 0;
    for (uint32_t i; (i = first[thread]) && copies[i].group < waited;) {
        first[thread] = copies[i].next;
        finish(i, 1);
    }
    waits[thread] = (struct wait){statement[thread], pending, groups[thread]};
    if (proxy_used)
        proxy_copied(thread, waited);
}

void pending_broken(void)
{
    for (int i = 1; i < n_copies; i++)
        memset(copies[i].touch, 0, sizeof copies[i].touch);
}

void pending_block(void)
{
    for (int thread = 0; thread < MAX_THREADS && pending_copies; thread++)
        while (first[thread]) {
            uint32_t i = first[thread];
            first[thread] = copies[i].next;
            finish(i, 0);
        }
    memset(waits, 0, sizeof waits);
}
