/* check: accesses of bulk copies and wgmma, from their issue until a thread has waited.
 *
 * Such an operation belongs to the async proxy. It sees what ordinary stores wrote only if they
 * happen before it and a fence.proxy.async lies between. Until it is done, only threads that know
 * that it is done may access what it writes, or write what it reads. Those are the threads that
 * have waited, and the threads that are ordered after such a wait. So the findings do not depend on
 * which thread runs first. */
#include "instruments/check/state/check.h"

#include "cpu/trace.h"
#include <stdio.h>

enum { READERS = 4, WAITS = 4, LINES = 4096 };

/* The waits for an operation. What is ordered after one of them knows that it is done. */
struct waits {
    shadow_entry r[WAITS];
    int n;
};

/* A wait for a parity of an mbarrier: the `n`th of the block, when so many phases were complete.
 * idle: it was answered at once, for a phase that had been complete long before. serves: the
 * mbarrier that its thread used next, whose copies the wait holds back; -1: none so far. */
struct wait {
    shadow_entry r;
    int mbarrier, serves;
    unsigned parity, idle, n;
    uint32_t phase;
    uintptr_t p; /* of the mbarrier */
};

static struct op {
    shadow_entry issued;
    enum proxy_what what;
    int mbarrier; /* that its bytes count for, in that phase; or -1 */
    int reported; /* the cause of its missing wait is reported */
    int hasty; /* it fills again what its thread has filled before, and the wait between was idle */
    struct wait before; /* its thread's last one before the issue */
    uint32_t phase;
    struct waits read, written;
    uint64_t group; /* of TRACE_COPIES: the last one of cp.async that has a part in it */
    uint32_t next;  /* another of its thread */
} * ops;
static uint32_t copying[MAX_THREADS]; /* the thread's latest of TRACE_COPIES, not waited for */
static int n_ops = 1;                 /* of the block; 0 is none */
int proxy_used;
/* Of each shadow cell of shared memory: the operation that wrote it last, 0 after an ordinary
 * store; and those that may read it. */
static uint32_t writer[ARENA / 4], readers[ARENA / 4][READERS];
/* Global memory in flight, and how many such pieces touch a line of 16 bytes that hashes so. */
static struct piece {
    uint32_t op;
    int written, atomic;
    unsigned bytes;
    int64_t at;
} * pieces;
static int n_pieces, n_written; /* n_written: pieces that are written, and not only read */
static uint32_t lines[LINES];
/* Of each thread, its last wait for an mbarrier; of each mbarrier, how many phases are waited for.
 */
static struct wait last_wait[MAX_THREADS];
static unsigned n_waits;
static uint32_t waited_for[MBARRIERS];
int proxy_blamed; /* a wait of the block is reported: what goes wrong later follows from it */

static uint32_t *line_of(int64_t at)
{
    return &lines[at / 16 % LINES];
}

static int is_shared(int64_t at)
{
    return at >= (int64_t)ARENA_AT;
}

static int issuer(const struct op *o)
{
    return thread_of(o->issued);
}

static int knows(const struct op *o, const struct waits *w, int me)
{
    for (int i = 0; i < w->n; i++)
        if (happens_before(w->r[i], me))
            return 1;
    return o->mbarrier >= 0 && clock_phases(me, o->mbarrier) > o->phase;
}

/* True if a copy's data is accessed too early because the wait on its mbarrier returned at once. */
static int idle_wait(struct op *o, int me, struct side side, uintptr_t p)
{
    char text[200];
    if (o->mbarrier < 0 || !last_wait[me].r || !last_wait[me].idle ||
        last_wait[me].mbarrier != o->mbarrier)
        return 0;
    struct side sides[2] = {
        {COPY, code_in(last_wait[me].r), me, order.block},
        side,
    };
    snprintf(
        text, sizeof text,
        "the wait for parity %u at %%1 is answered at once, and what phase %u brings is touched "
        "at %%2",
        last_wait[me].parity, o->phase);
    finding_add(MBARRIER, order.kernel, sides, 2, 0, shared_at(p), p, text);
    o->reported = 1;
    return 1;
}

static struct side side_of(shadow_entry e, enum kind kind)
{
    return (struct side){kind, code_in(e), thread_of(e), order.block};
}

static struct side side_of_op(const struct op *o)
{
    return side_of(o->issued, o->what == TRACE_WGMMA ? WGMMA : COPY);
}

/* Whether a thread that has made an operation after `first` and asks now for `second` has not
 * waited between: the mbarrier has completed no phase since, and its answer was for the phase
 * before. */
static int in_vain(const struct wait *first, const struct wait *second)
{
    return second->idle && first->n != second->n &&
           (second->phase == 0 ||
            (first->idle && first->mbarrier == second->mbarrier && first->phase == second->phase));
}

/* A thread does something wrong at `second`, and its wait before is to blame. */
static void blame(const struct wait *w, struct side second)
{
    static uint32_t blamed; /* the block's last one: what comes next is reported with it */
    static struct side first;
    char text[240];
    struct side sides[2] = {{COPY, code_in(w->r), thread_of(w->r), order.block}, second};
    if (proxy_blamed && blamed == sides[0].code)
        sides[1] = first;
    blamed = sides[0].code;
    first = sides[1];
    snprintf(text, sizeof text,
             "an mbarrier whose phase %u (parity %u) is not complete is asked for parity %u at "
             "%%1, which is answered at once, so what follows at %%2 comes too early",
             w->phase, w->phase & 1, w->parity);
    finding_add(MBARRIER, order.kernel, sides, 2, 0, shared_at(w->p), w->p, text);
    proxy_blamed = 1;
}

int proxy_blame(int thread, int mbarrier, uint32_t code)
{
    const struct wait *w = &last_wait[thread];
    for (int i = n_ops - 1; i > 0 && w->idle && w->serves == mbarrier; i--)
        if (ops[i].mbarrier == mbarrier && issuer(&ops[i]) == thread &&
            in_vain(&ops[i].before, w)) {
            blame(w, (struct side){COPY, code, thread, order.block});
            return 1;
        }
    return 0;
}

int proxy_blame_refill(int mbarrier)
{
    for (int i = n_ops - 1; i > 0; i--)
        if (ops[i].mbarrier == mbarrier && ops[i].hasty) {
            blame(&ops[i].before, side_of_op(&ops[i]));
            return 1;
        }
    return 0;
}

/* Whether such a wait before the operation, which may be NULL, is to blame for a fault. */
static int hasty(const struct op *o)
{
    if (!o || !o->hasty)
        return 0;
    blame(&o->before, side_of_op(o));
    return 1;
}

static void report(enum rule rule, struct side first, struct side second, int64_t at, uintptr_t p,
                   unsigned bytes)
{
    struct side sides[2] = {first, second};
    finding_add(rule, order.kernel, sides, 2, bytes, is_shared(at) ? shared_at(p) : object_at(p), p,
                NULL);
}

/* The rule that an access breaks which comes before the operation is done. */
static enum rule pending_rule(const struct op *o)
{
    return o->what == TRACE_WGMMA ? PENDING_WGMMA : PENDING_COPY;
}

/* Thread `me` touches a piece of shared memory that operations may be at work on; `by` an
 * operation, or NULL. */
static void touch_shared(int me, int64_t at, uintptr_t p, unsigned bytes, int writes,
                         struct side side, const struct op *by)
{
    const uint64_t cell = (uint64_t)(at - (int64_t)ARENA_AT) / 4;
    uint32_t o = writer[cell];
    if (o && !knows(&ops[o], &ops[o].written, me) && !idle_wait(&ops[o], me, side, p) &&
        !hasty(&ops[o]) && !hasty(by) && !ops[o].reported)
        report(PENDING_COPY, side_of_op(&ops[o]), side, at, p, bytes);
    if (!writes)
        return;
    writer[cell] = 0;
    for (int i = 0; i < READERS; i++) {
        o = readers[cell][i];
        if (o && !knows(&ops[o], &ops[o].read, me) && !hasty(by)) {
            struct side first = side_of_op(&ops[o]);
            if (ops[o].what == TRACE_BULK && !happens_before(ops[o].issued, me))
                first.kind = COPY_APART;
            report(pending_rule(&ops[o]), first, side, at, p, bytes);
        }
        readers[cell][i] = 0;
    }
}

/* The same of global memory, where two atomics may meet. */
static void touch_global(int me, int64_t at, uintptr_t p, unsigned bytes, int writes, int atomic,
                         struct side side)
{
    const int n = (writes || n_written) && *line_of(at) ? n_pieces : 0;
    for (int i = 0; i < n; i++) {
        const struct piece *x = &pieces[i];
        if (at < x->at + x->bytes && x->at < at + bytes && (writes || x->written) &&
            !(atomic && x->atomic) &&
            !knows(&ops[x->op], x->written ? &ops[x->op].written : &ops[x->op].read, me))
            report(PENDING_COPY, side_of_op(&ops[x->op]), side, at, p, bytes);
    }
}

void proxy_touched(int thread, int64_t at, uintptr_t p, unsigned bytes, enum kind kind,
                   uint32_t code)
{
    struct side side = {kind, code, thread, order.block};
    if (is_shared(at))
        touch_shared(thread, at, p, bytes, kind != READ, side, NULL);
    else
        touch_global(thread, at, p, bytes, kind != READ, kind == ATOMIC, side);
}

int proxy_issue(int thread, uint32_t code, enum proxy_what what)
{
    static int most;
    if (n_ops + 1 > most)
        ops = grown(ops, most = most ? 2 * most : 1024, sizeof *ops);
    ops[n_ops] = (struct op){.issued = entry_of(thread, code, 0),
                             .what = what,
                             .mbarrier = -1,
                             .before = last_wait[thread]};
    proxy_used = 1;
    return n_ops++;
}

struct side proxy_side(int op)
{
    return side_of_op(&ops[op]);
}

void proxy_brings(int op, int mbarrier, uint32_t phase)
{
    struct op *o = &ops[op];
    o->mbarrier = mbarrier;
    o->phase = phase;
    proxy_uses(issuer(o), mbarrier);
}

void proxy_takes(int op, int64_t at, unsigned bytes, uint64_t group)
{
    struct op *o = &ops[op];
    const int thread = issuer(o);
    for (unsigned k = 0; k < bytes; k += 4) {
        shadow[(at + k) / 4].write = 0;
        writer[(at + k - (int64_t)ARENA_AT) / 4] = (uint32_t)op;
    }
    if (copying[thread] != (uint32_t)op) {
        o->next = copying[thread];
        copying[thread] = (uint32_t)op;
    }
    o->group = group > o->group ? group : o->group;
}

static void piece_add(int op, int64_t at, unsigned bytes, int written, int atomic)
{
    struct piece *last = n_pieces ? &pieces[n_pieces - 1] : NULL;
    if (last && last->op == (uint32_t)op && last->at + last->bytes == at &&
        last->written == written) {
        *line_of(at) += at / 16 != (at - 1) / 16;
        last->bytes += bytes;
        return;
    }
    pieces = grown(pieces, n_pieces, sizeof *pieces);
    pieces[n_pieces++] = (struct piece){(uint32_t)op, written, atomic, bytes, at};
    n_written += written;
    ++*line_of(at);
}

/* Whether e happens before the issue, or cannot race with it. */
static int comes_after(shadow_entry e, int me, int64_t at, int atomic)
{
    if (when_of(e) < order.grid_start || (atomic && is_atomic(e)))
        return 1;
    return is_own(e) ? happens_before(e, me) : is_shared(at) || order_released(e, me);
}

/* Checks the operation against an earlier ordinary access. */
static void after(const struct op *o, shadow_entry e, enum kind was, int64_t at, uintptr_t p,
                  unsigned bytes, int atomic)
{
    const int me = issuer(o);
    struct side first = side_of(e, is_atomic(e) ? ATOMIC : was);
    if (!e)
        return;
    if (!is_shared(at) && order_unfinished(e, me)) {
        report(GRID_DEPENDENCY, side_of_op(o), first, at, p, bytes);
    } else if (launch_beside && !is_shared(at) && stream_unordered(e)) {
        report(STREAM_RACE, side_of_op(o), first, at, p, bytes);
    } else if (!comes_after(e, me, at, atomic) && !(is_shared(at) && hasty(o))) {
        const enum rule rule = !is_own(e)               ? GLOBAL_RACE
                               : o->what == TRACE_WGMMA ? SHARED_RACE
                                                        : PENDING_COPY;
        first.block = order_block_of(e);
        struct side second = side_of_op(o);
        if (rule == PENDING_COPY)
            second.kind = COPY_APART;
        report(rule, first, second, at, p, bytes);
    } else if (was == WRITE && is_own(e) && !clock_fenced(e, me, !is_shared(at))) {
        report(PROXY_FENCE, first, side_of_op(o), at, p, bytes);
    }
}

/* A shadow cell has slots for a few readers. A new operation replaces one by the same warps: that
 * was issued before, so it is done when the new one is. */
static void reader_add(uint32_t *slots, int op)
{
    const struct op *o = &ops[op];
    int group = o->what == TRACE_WGMMA ? 4 * WARP : 1, at = 0;
    for (int i = READERS - 1; i >= 0; i--)
        if (!slots[i] ||
            (ops[slots[i]].what == o->what && issuer(&ops[slots[i]]) / group == issuer(o) / group))
            at = i;
    slots[at] = (uint32_t)op;
}

void proxy_reads(int op, int64_t at, uintptr_t p, unsigned bytes)
{
    const struct op *o = &ops[op];
    struct shadow_cell *c = &shadow[at / 4];
    if (is_shared(at)) {
        const uint64_t cell = (uint64_t)(at - (int64_t)ARENA_AT) / 4;
        touch_shared(issuer(o), at, p, bytes, 0, side_of_op(o), o);
        if (!writer[cell])
            after(o, c->write, WRITE, at, p, bytes, 0);
        reader_add(readers[cell], op);
    } else {
        touch_global(issuer(o), at, p, bytes, 0, 0, side_of_op(o));
        after(o, c->write, WRITE, at, p, bytes, 0);
        piece_add(op, at, bytes, 0, 0);
    }
    const unsigned all = (1u << bytes) - 1;
    if (bits_at(written, (uint64_t)at, bytes) == all)
        return;
    const struct object *of = is_shared(at) ? shared_at(p) : object_at(p);
    if (of && of->host)
        host_writes(p, bytes);
    if (bits_at(written, (uint64_t)at, bytes) != all) {
        struct side side = side_of_op(o);
        finding_add(UNINITIALISED, order.kernel, &side, 1, bytes, of, p, NULL);
    }
}

void proxy_writes(int op, int64_t at, uintptr_t p, unsigned bytes, int atomic)
{
    struct op *o = &ops[op];
    struct shadow_cell *c = &shadow[at / 4];
    if (is_shared(at)) {
        const uint64_t cell = (uint64_t)(at - (int64_t)ARENA_AT) / 4;
        const int ordinary = !writer[cell];
        const struct op *last = &ops[writer[cell]];
        if (!ordinary && issuer(last) == issuer(o) &&
            (o->before.serves < 0 || o->before.serves == last->mbarrier))
            o->hasty |= in_vain(&last->before, &o->before);
        touch_shared(issuer(o), at, p, bytes, 1, side_of_op(o), o);
        if (ordinary)
            after(o, c->write, WRITE, at, p, bytes, 0);
        writer[cell] = (uint32_t)op;
    } else {
        touch_global(issuer(o), at, p, bytes, 1, atomic, side_of_op(o));
        after(o, c->write, WRITE, at, p, bytes, atomic);
        const shadow_entry mask = (shadow_entry)((1u << bytes) - 1) << (34 + at % 4);
        if (order.cached && when_of(cached_reads[at / 4]) >= order.launch_start &&
            (cached_reads[at / 4] & mask)) {
            struct side first = side_of(cached_reads[at / 4], READ);
            first.block = order_block_of(cached_reads[at / 4]);
            report(STALE_LOAD, first, side_of_op(o), at, p, bytes);
        }
        piece_add(op, at, bytes, 1, atomic);
    }
    const int first = bits_at(written, (uint64_t)at, bytes) != (1u << bytes) - 1;
    const struct side side = side_of_op(o);
    for (int i = 0; i < 2; i++) {
        const shadow_entry r = c->read[i];
        after(o, r, READ, at, p, bytes, 0);
        if (first && when_of(r) >= (is_shared(at) ? order.block_start : order.grid_start))
            finding_written_later(code_in(r), p, bytes, &side);
        c->read[i] = 0;
    }
    c->write = 0;
    set_bits(written, (uint64_t)at, bytes, 1);
}

static void waited(struct waits *w, const struct op *o, int thread)
{
    shadow_entry now = entry_of(thread, code_in(o->issued), 0);
    for (int i = 0; i < w->n; i++)
        if (thread_of(w->r[i]) / WARP == thread / WARP)
            return; /* the warp's other lanes wait for the same */
    if (w->n < WAITS)
        w->r[w->n++] = now;
}

void trace_proxy_read_done(struct worker *w, int lane, int op)
{
    waited(&ops[op].read, &ops[op], thread_at(w, lane));
}

/* The operation's write to global memory becomes an ordinary write, made now by the thread that
 * waited: threads of other blocks too are ordered after the write if they are ordered after that
 * thread. */
void trace_proxy_done(struct worker *w, int lane, int op)
{
    const int thread = thread_at(w, lane);
    struct op *o = &ops[op];
    int left = 0;
    for (int i = 0; i < n_pieces; i++) {
        const struct piece *x = &pieces[i];
        if (x->op != (uint32_t)op) {
            pieces[left++] = *x;
            continue;
        }
        n_written -= x->written;
        for (int64_t at = x->at; at < x->at + x->bytes; at += 16)
            --*line_of(at);
        for (int64_t at = x->at / 4 * 4; at < x->at + x->bytes && x->written; at += 4)
            shadow[at / 4].write = entry_of(thread, code_in(o->issued), x->atomic) | ALL_BYTES;
    }
    n_pieces = left;
    waited(&o->read, o, thread);
    waited(&o->written, o, thread);
}

void proxy_copied(int thread, uint64_t group)
{
    uint32_t *at = &copying[thread];
    while (*at)
        if (ops[*at].group < group) {
            waited(&ops[*at].written, &ops[*at], thread);
            *at = ops[*at].next;
        } else {
            at = &ops[*at].next;
        }
}

void proxy_reported(int op)
{
    ops[op].reported = 1;
}

void proxy_waits(int thread, int mbarrier, shadow_entry e, unsigned parity, int idle,
                 uint32_t phase, uintptr_t p)
{
    last_wait[thread] = (struct wait){.r = e,
                                      .mbarrier = mbarrier,
                                      .serves = -1,
                                      .parity = parity,
                                      .idle = idle != 0,
                                      .n = ++n_waits,
                                      .phase = phase,
                                      .p = p};
}

void proxy_uses(int thread, int mbarrier)
{
    if (last_wait[thread].serves < 0)
        last_wait[thread].serves = mbarrier;
}

void proxy_waited(int mbarrier, uint32_t phases)
{
    if (waited_for[mbarrier] < phases)
        waited_for[mbarrier] = phases;
}

/* Operations that no thread waited for: their writes come after all accesses of the block. */
void proxy_block(void)
{
    if (!proxy_used)
        return;
    for (int i = 1; i < n_ops; i++) {
        struct op *o = &ops[i];
        if (o->reported)
            continue;
        if (o->what == TRACE_BULK &&
            (o->mbarrier < 0 ? !o->read.n : waited_for[o->mbarrier] <= o->phase)) {
            struct side side = side_of_op(o);
            finding_add(PENDING_COPY, order.kernel, &side, 1, 0, NULL, 0,
                        "the block ends, and nobody has waited for the copy of %1");
        }
    }
    proxy_broken();
}

void proxy_broken(void)
{
    for (int i = 0; i < n_pieces; i++)
        for (int64_t at = pieces[i].at / 4 * 4; at < pieces[i].at + pieces[i].bytes; at += 4)
            if (pieces[i].written)
                shadow[at / 4].write =
                    entry_of(issuer(&ops[pieces[i].op]), code_in(ops[pieces[i].op].issued),
                             pieces[i].atomic) |
                    ALL_BYTES;
    n_pieces = n_written = 0;
    n_ops = 1;
    proxy_used = proxy_blamed = 0;
    memset(copying, 0, sizeof copying);
    memset(last_wait, 0, sizeof last_wait);
    memset(waited_for, 0, sizeof waited_for);
    memset(lines, 0, sizeof lines);
    memset(writer, 0, sizeof writer);
    memset(readers, 0, sizeof readers);
}
