/* check: each load and store of a kernel is held to the rules.
 *
 * Shadow memory: every 4 bytes of device and shared memory have a shadow cell with the last write
 * and two reads: by which thread, where in the code, and when. Two accesses race if one of them is
 * a write, they are not both atomic, and neither happens before the other (order.c). Blocks
 * run one after the other, so the findings do not depend on timing. */
#include "instruments/front/callbacks.h"

#include "instruments/check/state/check.h"
#include "cpu/trace.h"
#include <stdlib.h>

struct look looks[MAX_THREADS];
/* The last write by another thread that each thread has found by a strong read, of a flag perhaps:
 * its shadow cell, and when it was found. */
struct flag {
    shadow_entry write;
    int64_t at;
    uint32_t when;
};
static struct flag found[MAX_THREADS];
static int read_unwritten;   /* the launch has read what nothing had written */
static int copy_comes_later; /* the store being checked is one of cp.async */
static int plain_store;      /* the access being checked is a store that is made right afterwards */
static int load_of_copy; /* the access being checked loads what may be copied: padding as well */
/* The last announced load by ld.global.nc, __ldg or a texture. */
static struct {
    uintptr_t p;
    size_t bytes, left; /* left: of bytes, how many no access has loaded yet */
    int thread;
} cached_load;

void trace_launch(struct launch *l)
{
    second_begins(l);
    kernels_ran = 1;
    stops_catch();
    read_unwritten = 0;
    memory_launch();
    order_launch(l->kernel);
    release_launch();
    strong_launch();
    order.marked = 0;
    streams_launch();
    ranges_launch();
    events_launch();
}

void races_end(void);

void cpu_trace_cached(const volatile void *p, size_t bytes)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    cached_load.p = (uintptr_t)p;
    cached_load.bytes = cached_load.left = bytes;
    cached_load.thread = (int)w->now;
}

/* Whether this load is the announced one, or a part of it. */
static inline int is_cached(int thread, uintptr_t p, unsigned bytes)
{
    if (!cached_load.left || thread != cached_load.thread || p - cached_load.p >= cached_load.bytes)
        return 0;
    cached_load.left -= bytes < cached_load.left ? bytes : cached_load.left;
    return 1;
}

/* The state of a block that rests: which bytes of its shared memory are written, and where it is
 * set aside, all that is known of it. */
struct race;
struct trace {
    uint8_t written[ARENA / 8 + 1];
    struct shadow_cell *cells; /* of its shared memory */
    size_t shared;
    struct look looks[MAX_THREADS];
    struct flag found[MAX_THREADS];
    struct order_kept *order;
    struct clocks *clocks;
    struct named *named;
    struct releases *releases;
    struct race *loads;
};
static void stores_made(void);
static struct race *loads_take(void);
static void loads_give(struct race *given);

static size_t shared_bits(const struct worker *w)
{
    return (w->shared_used + w->gaps) / 8 + 1;
}

int trace_can_rest(struct worker *w)
{
    return !w->n_mbarriers && !pending_copies && !proxy_used && !events_wanted && !child_windows &&
           !unread_wanted();
}

/* How many bytes of shared memory the block's variables have by now. */
static size_t shared_bytes(const struct worker *w)
{
    return (w->shared_used + w->gaps + 3) & ~(size_t)3;
}

static void set_aside(struct worker *w)
{
    struct trace *t = w->trace;
    t->shared = shared_bytes(w);
    t->cells = need_memory(malloc(t->shared / 4 * sizeof *t->cells + 1), "what check knows");
    memcpy(t->cells, shadow + ARENA_AT / 4, t->shared / 4 * sizeof *t->cells);
    memcpy(t->looks, looks, sizeof looks);
    memcpy(t->found, found, sizeof found);
    stores_made();
    t->loads = loads_take();
    t->order = order_take();
    t->clocks = clocks_take();
    t->named = named_take();
    t->releases = release_take();
}

static void goes_on(struct worker *w)
{
    struct trace *t = w->trace;
    races_end();
    release_block();
    memory_block(w);
    memcpy(written + ARENA_AT / 8, t->written, shared_bits(w));
    memset(shadow + ARENA_AT / 4, 0, shared_bytes(w) / 4 * sizeof *shadow);
    memcpy(looks, t->looks, sizeof looks);
    memcpy(found, t->found, sizeof found);
    loads_give(t->loads);
    clocks_block(w);
    if (order_give(t->order)) {
        memcpy(shadow + ARENA_AT / 4, t->cells, t->shared / 4 * sizeof *t->cells);
        release_give(t->releases);
    } else {
        release_give(t->releases);
        release_block();
    }
    clocks_give(w, t->clocks);
    named_give(t->named);
    free(t->cells);
    t->cells = NULL;
}

const char *trace_rests(struct worker *w)
{
    if (!w->rest)
        return NULL;
    if (w->n_mbarriers || pending_copies || proxy_used)
        return "check does not follow mbarriers and asynchronous copies over a grid.sync";
    if (!w->trace)
        w->trace = need_memory(malloc(sizeof *w->trace), "what check knows");
    memcpy(w->trace->written, written + ARENA_AT / 8, shared_bits(w));
    if (w->rest == ASLEEP)
        set_aside(w);
    return NULL;
}

/* All that the block did before the grid barrier happens before what it does now. So it begins like
 * a new block, with its shared memory kept. */
void trace_block_again(struct worker *w)
{
    if (w->rest == ASLEEP) {
        goes_on(w);
        return;
    }
    trace_block(w, w->place);
    memcpy(written + ARENA_AT / 8, w->trace->written, shared_bits(w));
}

void trace_block(struct worker *w, uint64_t place)
{
    races_end();
    pending_block();
    unread_block_ended();
    proxy_block();
    registers_block();
    unread_block_begins(w);
    cached_load.left = 0;
    release_block();
    order_block(place);
    mbarriers_forget();
    clocks_block(w);
    shuffles_block();
    locals_block();
    memory_block(w);
    if (events_wanted)
        events_block(place);
}

void trace_launch_end(struct launch *l)
{
    races_end();
    locals_block();
    pending_block();
    unread_block_ended();
    unread_launch_ended();
    proxy_block();
    registers_block();
    release_block();
    if (events_wanted)
        events_block_ends();
    second_ends(l);
    release_launch_ends();
}

/* --- The rules -------------------------------------------------------------------------------- */

/* An access, and the 4 bytes of it that one shadow cell is for. It is passed by value: as it has no
 * address, inlined functions keep it in registers. */
struct access {
    int thread; /* that makes the access, or gets these 4 bytes of it */
    enum kind kind;
    uint32_t code;
    uintptr_t p;
    unsigned bytes;
    const struct object *object;         /* that p belongs to or lies beside, or NULL */
    int is_atomic, is_shared, is_cached; /* is_cached: by ld.global.nc */
    int64_t at;                          /* of the shadow cell, counted in bytes */
    shadow_entry mine;                   /* the new entry of the shadow cell */
    int what;                            /* of a strong access: strong_what */
    uint32_t start;                      /* an entry from before that time is no race */
};

static __attribute__((cold, noinline)) void report(enum rule rule, struct access a)
{
    const struct side side = {a.kind, a.code, a.thread, order.block};
    const struct object *o = a.is_shared ? shared_at(a.p) : a.object;
    if (rule == BOUNDS && a.p - region < region_used)
        o = object_near(a.p);
    if (rule == BOUNDS || rule == FREED)
        stops_expect(a.p, a.bytes);
    finding_add(rule, order.kernel, &side, 1, a.bytes, o, a.p, NULL);
}

/* A race whose report is deferred: the next access may show that it is benign. */
struct race {
    struct side sides[2];
    const struct cpu_kernel *kernel;
    uintptr_t p; /* 0: none */
    unsigned bytes;
    int is_shared;
    int64_t at;           /* of the shadow cell */
    const char *why;      /* of a race of two strong accesses */
    int may_be;           /* a flag that the second side reads */
    struct object object; /* .what is NULL for none */
    uint64_t value[2];    /* the memory's value then */
};

static void report_deferred(struct race *r, enum rule rule)
{
    if (r->p)
        finding_why(finding_add(rule, r->kernel, r->sides, 2, r->bytes,
                                r->object.what ? &r->object : NULL, r->p, NULL),
                    rule == SAME_VALUE ? NULL : r->why);
    r->p = 0;
}

/* Races of volatile accesses. They are none if the place is a flag: a thread reads it over and
 * over, or `may_be`: it is written behind a fence, and the reader makes a fence behind the read. */
enum { FLAGS = 1024 };
static struct race flags[FLAGS];
static int n_flags;

/* Races of two plain stores, the second of which is about to be made. If it leaves the value as it
 * is, both stored the same value. */
static struct race stores[4]; /* a store has at most four shadow cells */

static void stores_made(void)
{
    for (int i = 0; i < 4 && stores[i].p; i++) {
        const int same = memcmp((void *)stores[i].p, stores[i].value, stores[i].bytes) == 0;
        if (!same && stores[i].why && n_flags < FLAGS) { /* volatile ones: it may be a flag */
            flags[n_flags++] = stores[i];
            stores[i].p = 0;
            continue;
        }
        report_deferred(&stores[i], same                  ? SAME_VALUE
                                    : stores[i].is_shared ? SHARED_RACE
                                                          : GLOBAL_RACE);
    }
}

/* Each thread's last plain load of what others change by atomics. The load is no race if the thread
 * then passes the value to a compare-and-swap, which fails if the value has changed since: loops of
 * compare-and-swap may begin with such a load. */
static struct race loads[MAX_THREADS];
static int loads_noted; /* in this block */

static void report_load(int thread)
{
    report_deferred(&loads[thread], loads[thread].is_shared ? SHARED_RACE : GLOBAL_RACE);
}

static void report_flag(struct race *r)
{
    if (!strong_polled(r->at) && !(r->sides[0].block == r->sides[1].block && named_told()))
        report_deferred(r, r->is_shared ? SHARED_RACE : GLOBAL_RACE);
    r->p = 0;
}

void trace_fence(struct worker *w, enum cpu_scope scope)
{
    for (int i = 0; i < n_flags; i++)
        if (flags[i].sides[1].thread == (int)w->now && flags[i].may_be)
            flags[i--] = flags[--n_flags];
    order_fence((int)w->now, scope);
}

void cpu_trace_fence(enum cpu_scope scope)
{
    if (cpu_worker && cpu_worker->running)
        trace_fence(cpu_worker, scope);
}

void races_end(void)
{
    stores_made();
    for (int i = 0; i < MAX_THREADS && loads_noted; i++)
        report_load(i);
    loads_noted = 0;
    for (int i = 0; i < n_flags; i++)
        report_flag(&flags[i]);
    n_flags = 0;
}

/* Those of a block that is set aside: first loads, or NULL, then the number of flags and these. */
struct kept_races {
    int loads_noted, n_flags;
    struct race races[];
};

static struct race *loads_take(void)
{
    const size_t n = (loads_noted ? MAX_THREADS : 0) + (size_t)n_flags;
    struct kept_races *k =
        need_memory(malloc(sizeof *k + n * sizeof *k->races), "what check knows");
    k->loads_noted = loads_noted;
    k->n_flags = n_flags;
    if (loads_noted)
        memcpy(k->races, loads, sizeof loads);
    memcpy(k->races + (loads_noted ? MAX_THREADS : 0), flags, (size_t)n_flags * sizeof *flags);
    if (loads_noted)
        memset(loads, 0, sizeof loads);
    loads_noted = n_flags = 0;
    return (struct race *)k;
}

static void loads_give(struct race *given)
{
    struct kept_races *k = (struct kept_races *)given;
    if (k->loads_noted)
        memcpy(loads, k->races, sizeof loads);
    memcpy(flags, k->races + (k->loads_noted ? MAX_THREADS : 0),
           (size_t)k->n_flags * sizeof *flags);
    loads_noted = k->loads_noted;
    n_flags = k->n_flags;
    free(k);
}

/* The compare-and-swap that comes next changes nothing unless it finds this. */
static struct {
    uintptr_t p;
    uint64_t expected;
    size_t bytes;
} compared;

void cpu_trace_compare(const volatile void *p, uint64_t expected, size_t bytes)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    struct race *r = &loads[w->now];
    if (r->p == (uintptr_t)p && r->bytes == bytes && memcmp(r->value, &expected, bytes) == 0)
        r->p = 0;
    for (int i = 0; i < n_flags; i++)
        if (flags[i].p == (uintptr_t)p && flags[i].sides[1].thread == (int)w->now)
            flags[i--] = flags[--n_flags];
    compared.p = (uintptr_t)p;
    compared.expected = expected;
    compared.bytes = bytes;
}

/* An earlier access of this launch, from its entry in the shadow memory. */
static struct side earlier(enum kind kind, shadow_entry e)
{
    return (struct side){kind, code_in(e), thread_of(e), order_block_of(e)};
}

/* Two strong accesses race all the same: why; *later: a flag may turn out to be no race. NULL: they
 * do not. */
static const char *why_strong(struct access a, shadow_entry e, int *later, int *may_be)
{
    const int its = strong_of(a.at, e);
    if ((its ^ a.what) & STRONG_SIZE)
        return "and neither is atomic to the other, as their sizes differ";
    if (!is_own(e) && (its | a.what) & STRONG_OF_BLOCK)
        return "and neither is atomic to the other, as a scope is the block's";
    const int has_read = a.kind == READ || looks[a.thread].p == a.p;
    if (strong_polled(a.at) || (has_read && order_observed(e, a.thread)) ||
        (a.kind == WRITE && order_has_read(a.thread, (uintptr_t)a.at, e)) ||
        (is_own(e) && named_told()))
        return NULL;
    *later = 1;
    *may_be = a.kind != WRITE && (its & STRONG_FLAG || !(its & STRONG_VOLATILE));
    return "and volatile orders nothing";
}

/* A race where the thread has found a flag that the other's block has set since: which fence it
 * lacks. NULL: there is no such flag; or, within a block, no fence, so that a barrier may be what
 * is missing. */
static const char *why_no_order(struct access a, shadow_entry e)
{
    const struct flag *f = &found[a.thread];
    if (a.is_atomic || (is_own(e) && !order.synced) || f->when < order.block_start ||
        when_of(f->write) < when_of(e) || order_block_of(f->write) != order_block_of(e) ||
        strong_of(f->at, f->write) & STRONG_OF_BLOCK)
        return NULL;
    if (order_observed(e, a.thread))
        return is_own(e)
                   ? "and the flag between them orders nothing: no fence comes behind its load"
                   : "and the flag between them orders nothing: no __threadfence comes "
                     "behind its load";
    return is_own(e) ? "and the flag between them orders nothing: no fence in front of its store "
                       "covers the first access"
                     : "and the flag between them orders nothing: no __threadfence in front of its "
                       "store covers the first access";
}

static __attribute__((cold, noinline)) void report_race(struct access a, shadow_entry e,
                                                        enum kind was)
{
    const char *why = NULL;
    int later = 0, may_be = 0;
    if (is_atomic(e) && is_atomic(a.mine)) {
        why = why_strong(a, e, &later, &may_be);
        if (!why)
            return;
    }
    if (is_atomic(e) && was == ATOMIC && strong_of(a.at, e) & STRONG_VOLATILE)
        was = WRITE;
    struct race race = {.sides = {earlier(was, e), {a.kind, a.code, a.thread, order.block}},
                        .kernel = order.kernel,
                        .p = a.p,
                        .bytes = a.bytes,
                        .at = a.at,
                        .why = why,
                        .may_be = may_be,
                        .is_shared = a.is_shared};
    const struct object *object = a.is_shared ? shared_at(a.p) : a.object;
    struct race *load = &loads[a.thread];
    int i = 0;
    if (object)
        race.object = *object;
    memcpy(race.value, (const void *)a.p, a.bytes);
    while (i < 4 && stores[i].p)
        i++;
    if (plain_store && was == WRITE && a.kind == WRITE && i < 4) {
        stores[i] = race;
    } else if (later && n_flags < FLAGS) {
        flags[n_flags++] = race;
    } else if (!why && was == ATOMIC && a.kind == READ && a.bytes <= sizeof(uint64_t)) {
        if (load->p != a.p || memcmp(load->value, race.value, a.bytes) != 0)
            report_load(a.thread);
        *load = race;
        loads_noted = 1;
    } else {
        race.why = why ? why : why_no_order(a, e);
        report_deferred(&race, a.is_shared ? SHARED_RACE : GLOBAL_RACE);
    }
}

/* The results of locate for memory without shadow cells. */
enum { FORBIDDEN = -1, NOT_TRACKED = -2 };

/* The position of p's shadow cell, counted in bytes; FORBIDDEN when a kernel may not access p;
 * NOT_TRACKED when it may, and no rule applies. *object: what p belongs to or lies beside. */
static inline __attribute__((always_inline)) int64_t
locate(const struct worker *w, uintptr_t p, unsigned bytes, const struct object **object)
{
    *object = NULL;
    if (p - region < region_used) {
        const struct object *o = object_at(p);
        *object = o;
        return o && p - o->p < o->bytes && o->p + o->bytes - p >= bytes ? (int64_t)(p - region)
                                                                        : FORBIDDEN;
    }
    if (p - (uintptr_t)w->arena < ARENA - 16) {
        uint64_t at = p - (uintptr_t)w->arena;
        return bits_at(in_variable, at, bytes) == (1u << bytes) - 1 ? (int64_t)(ARENA_AT + at)
                                                                    : FORBIDDEN;
    }
    if (p - (uintptr_t)w->stacks < (uintptr_t)MAX_THREADS * FIBER_STACK ||
        p - (uintptr_t)order.kernel->arguments < order.kernel->size)
        return NOT_TRACKED;
    if (p - (uintptr_t)__executable_start >= program_size())
        return is_registered(p, bytes) ? NOT_TRACKED : FORBIDDEN;
    for (int i = 1; i < n_objects; i++)
        if (p - objects[i].p < objects[i].bytes) {
            *object = &objects[i];
            return (int64_t)(IMAGE_AT + (p - (uintptr_t)__executable_start));
        }
    return NOT_TRACKED;
}

/* Whether two strong accesses need an order as others do: they are not morally strong, or one is
 * volatile. */
static __attribute__((noinline)) int are_weak(struct access a, shadow_entry e)
{
    const int its = strong_of(a.at, e);
    return ((its ^ a.what) & STRONG_SIZE) || (its | a.what) & STRONG_VOLATILE ||
           ((its | a.what) & STRONG_OF_BLOCK && !is_own(e));
}

/* Whether the access races with an earlier one of this launch. */
static inline __attribute__((always_inline)) int conflicts(struct access a, shadow_entry e)
{
    if (when_of(e) < a.start || !common_bytes(e, a.mine) ||
        (is_atomic(e) && is_atomic(a.mine) && !(order.marked && are_weak(a, e))))
        return 0;
    if (is_own(e))
        return !happens_before(e, a.thread) && (order.record < 0 || !order_released(e, a.thread));
    return !a.is_shared && !order_released(e, a.thread);
}

/* The access breaks a rule together with an earlier one of other work. */
static void report_work(enum rule rule, struct access a, struct side was)
{
    const struct side sides[2] = {{a.kind, a.code, a.thread, order.block}, was};
    finding_add(rule, order.kernel, sides, 2, a.bytes, a.object, a.p, NULL);
}

static void report_launches(enum rule rule, struct access a, shadow_entry e, enum kind was)
{
    report_work(rule, a, (struct side){is_atomic(e) ? ATOMIC : was, code_in(e), thread_of(e), 0});
}

/* A kernel that began early accesses what a kernel in front of it still may. */
static void early(struct access a)
{
    const struct shadow_cell *c = &shadow[a.at / 4];
    if (order_unfinished(c->write, a.thread))
        report_launches(GRID_DEPENDENCY, a, c->write, WRITE);
    for (int i = 0; i < 2 && a.kind != READ; i++)
        if (order_unfinished(c->read[i], a.thread))
            report_launches(GRID_DEPENDENCY, a, c->read[i], READ);
}

/* Accesses of another stream, or of a kernel that has launched this one, which do not happen before
 * this access. */
static void beside(struct access a)
{
    const struct shadow_cell *c = &shadow[a.at / 4];
    const shadow_entry others[3] = {c->write, c->read[0], c->read[1]};
    for (int i = 0; i < (a.kind == READ ? 1 : 3); i++) {
        const shadow_entry r = others[i];
        if (!common_bytes(r, a.mine) || (is_atomic(r) && is_atomic(a.mine)))
            continue;
        const int child = child_unordered(r);
        if (child || stream_unordered(r))
            report_launches(child ? CHILD_RACE : STREAM_RACE, a, r, i == 0 ? WRITE : READ);
    }
    const struct stream_work *work =
        ranges_beside ? ranges_race(address_of(a.at), a.bytes < 4 ? a.bytes : 4, a.kind != READ)
                      : NULL;
    if (work)
        report_work(STREAM_RACE, a, (struct side){work->kind, work->code, 0, 0});
}

/* Whether a read by that thread may replace that one in the shadow cell. */
static inline int replaceable(shadow_entry e, shadow_entry start, int thread)
{
    return e < start || (is_own(e) && happens_before(e, thread));
}

/* ld.global.nc may return what memory held before the launch, at any time. So a launch must not
 * write, in whatever order, what it loads so. Returns whether it does. */
static int stale(struct access a)
{
    shadow_entry *last = &cached_reads[a.at / 4];
    const shadow_entry other = a.is_cached ? shadow[a.at / 4].write : *last;
    const int found = when_of(other) >= order.launch_start && common_bytes(other, a.mine);
    if (found) {
        const enum kind was = !a.is_cached ? READ : is_atomic(other) ? ATOMIC : WRITE;
        const struct side sides[2] = {earlier(was, other), {a.kind, a.code, a.thread, order.block}};
        finding_add(STALE_LOAD, order.kernel, sides, 2, a.bytes, a.object, a.p, NULL);
    }
    if (a.is_cached)
        *last = a.mine | (when_of(*last) >= order.launch_start ? *last & ALL_BYTES : 0);
    order.cached |= a.is_cached;
    return found;
}

/* The new entry, for the bytes of the one before as well if that is of the same thread and time: it
 * accesses the bytes of a cell one by one. */
static inline shadow_entry with_bytes_of(shadow_entry mine, shadow_entry before)
{
    const shadow_entry all_but_place = ~(ALL_BYTES | 0xffffff);
    return (mine ^ before) & all_but_place ? mine : mine | (before & ALL_BYTES);
}

/* The cell keeps two reads, of two warps of the block that runs where there are some. */
static __attribute__((noinline)) void note_read(struct shadow_cell *c, shadow_entry mine,
                                                shadow_entry start, int thread)
{
    if (replaceable(c->read[0], start, thread))
        c->read[0] = with_bytes_of(mine, c->read[0]);
    else if (replaceable(c->read[1], start, thread) || !is_own(c->read[1]) ||
             thread_of(c->read[1]) / WARP == thread_of(c->read[0]) / WARP)
        c->read[1] = mine;
}

/* A strong access, where the last write was `before`. Two strong accesses need no order, but both
 * need one with an earlier write that is not strong, as where the counter of a barrier is reset and
 * its thread arrives again. */
static __attribute__((noinline)) void hidden_race(struct access a, shadow_entry before)
{
    const shadow_entry hidden = strong_hides && is_atomic(before) ? strong_hidden(a.at) : 0;
    if (hidden && conflicts(a, hidden))
        report_race(a, hidden, WRITE);
    if (a.kind != READ && !is_atomic(before) && when_of(before) >= a.start &&
        !(a.is_shared && is_own(before) && when_of(before) < order.barrier_end))
        strong_hide(a.at, before);
}

/* reported: a fault of reading here is reported already, and a race would say the same. */
static inline __attribute__((always_inline)) void race(struct access a, int reported)
{
    struct shadow_cell *c = &shadow[a.at / 4];
    if (!(reported && a.kind == READ) && conflicts(a, c->write))
        report_race(a, c->write, is_atomic(c->write) ? ATOMIC : WRITE);
    if (a.is_atomic)
        hidden_race(a, c->write);
    if (a.kind != READ) {
        for (int i = 0; i < 2; i++)
            if (!reported && conflicts(a, c->read[i]))
                report_race(a, c->read[i], READ);
            else if (!(c->read[i] & ~a.mine & ALL_BYTES))
                c->read[i] = 0;
        c->write = with_bytes_of(a.mine, c->write);
        return;
    }
    note_read(c, a.mine, at_time(a.start), a.thread);
}

/* A kernel touches a variable that is not marked as the device's, which nvcc refuses. What a
 * function declares static is the kernel's. */
static __attribute__((cold, noinline)) void hosts_variable(int thread, enum kind kind, uintptr_t p,
                                                           unsigned bytes, uint32_t code)
{
    const struct symbol *v = symbols_variable(p);
    const struct side side = {kind, code, thread, order.block};
    if (!v)
        return;
    const struct object o = {.p = v->p, .bytes = v->bytes, .name = v->name, .what = "of the host"};
    finding_add(HOST_VARIABLE, order.kernel, &side, 1, bytes, &o, p, NULL);
}

/* Whether the rules about other launches and about stale loads apply to the access. */
static inline int more_rules(struct access a)
{
    return !a.is_shared && (a.is_cached || (order.cached && a.kind != READ) || order.early ||
                            launch_beside || child_windows);
}

/* Applies them. Returns whether a fault of reading here is reported. */
static __attribute__((noinline)) int hold_to_more(struct access a)
{
    if (order.early)
        early(a);
    if (launch_beside || child_windows)
        beside(a);
    return (a.is_cached || (a.kind != READ && order.cached)) && stale(a);
}

/* The first write of these bytes. Another thread may have read them before, which is a finding
 * already. */
static __attribute__((cold, noinline)) void written_first(struct access a, int64_t at)
{
    const struct side side = {a.kind, a.code, a.thread, order.block};
    const uint32_t start = a.is_shared ? order.block_start : order.grid_start;
    for (unsigned i = 0; i < a.bytes; i += 4)
        for (int k = 0; k < 2; k++) {
            const shadow_entry r = shadow[at / 4 + i / 4].read[k];
            if (when_of(r) >= start && thread_of(r) != a.thread)
                finding_written_later(code_in(r), a.p + i, a.bytes < 4 ? a.bytes : 4, &side);
        }
}

/* Words of what is loaded are unwritten, and are padding. They stay so in the target of the
 * copy, where a use of them is found. Without a copy the last store went elsewhere: the values that
 * lie there show it, memory_finds_stores. */
static __attribute__((cold, noinline)) void copy_hands_on(struct worker *w, unsigned words,
                                                          unsigned bytes)
{
    const struct object *o;
    const uintptr_t to = stored.p + piece_at;
    const int64_t at = stored.bytes == (whole ? whole : bytes) ? locate(w, to, bytes, &o) : -1;
    const int is_shared = to - (uintptr_t)w->arena < ARENA;
    if (at >= 0 && (is_shared || (o && o->device && !o->marked && !o->freed)))
        for (unsigned i = 0; i < bytes / 4; i++)
            if (words >> i & 1)
                set_bits(written, (uint64_t)at + 4 * i, 4, 0);
}

static int64_t access_again(struct worker *w, struct access a, int whose, int step);

/* Applies all rules to an access. Each 4 bytes of it are for another thread, beginning with `whose`
 * in steps, where the lanes of a warp read a row together. Returns the position of its shadow
 * cells, or a negative number when an address rule is broken. */
static inline __attribute__((always_inline)) int64_t
access_of(struct worker *w, struct access asked, int whose, int step)
{
    const uintptr_t p = asked.p;
    const unsigned bytes = asked.bytes;
    const struct object *o;
    if (stores[0].p)
        stores_made();
    if (locals_noted)
        locals_next(w, asked.thread, asked.kind, p, bytes);
    const int64_t at = locate(w, p, bytes, &o);
    if (at == NOT_TRACKED) { /* as most are, to the stack: they need no copy of the struct */
        if (is_variable(p) && !is_registered(p, bytes))
            hosts_variable(asked.thread, asked.kind, p, bytes, asked.code);
        if (is_on_stack(w, p) && locals_bits(w, p, bytes))
            locals_touched(w, asked.thread, asked.kind, p, bytes, asked.code);
        registers_touched(w, asked.thread, p, bytes, asked.kind, asked.code);
        return at;
    }
    struct access a = asked;
    a.object = o;
    a.is_shared = p - (uintptr_t)w->arena < ARENA;
    if (at < 0 || (p & (bytes - 1)) || (o && o->freed)) {
        a.p = shared_wrapped(w, p);
        if (a.p != p)
            return access_again(w, a, whose, step);
        report(at < 0 ? BOUNDS : o && o->freed ? FREED : MISALIGNED, a);
        return FORBIDDEN;
    }
    if (events_wanted)
        events_access(a.thread, a.kind, a.code, p, bytes, a.is_shared ? shared_at(p) : o,
                      copy_comes_later ? EVENT_UNKNOWN
                      : in_pieces      ? EVENT_WITH_LAST
                                       : EVENT_NEXT);
    if (undefined_lanes && a.kind != READ)
        shuffles_stored(a.thread, a.code);
    a.is_cached = a.kind == READ && is_cached(a.thread, p, bytes) && !a.is_shared;
    unsigned all = (1u << bytes) - 1, have = bits_at(written, (uint64_t)at, bytes);
    if (a.kind != WRITE && have != all && o && o->host) {
        host_writes(p, bytes);
        have = bits_at(written, (uint64_t)at, bytes);
    }
    if (a.kind != WRITE && have != all && (o || a.is_shared)) {
        memory_finds_stores(o, (uint64_t)at, (const void *)p, bytes);
        have = bits_at(written, (uint64_t)at, bytes);
    }
    if (a.kind != WRITE && have != all && (uint64_t)at - IMAGE_AT >= IMAGE) {
        unsigned unwritten = bytes <= 4;
        for (unsigned i = 0; i < bytes; i += 4)
            unwritten |= ((have >> i & 15) == 0) << i / 4;
        if (bytes >= 8 && load_of_copy && unwritten_is_padding(o, (uint64_t)at, unwritten)) {
            copy_hands_on(w, unwritten, bytes);
        } else if (unwritten) {
            report(UNINITIALISED, a);
            read_unwritten = 1;
        }
    }
    if (a.kind != READ && have != all) {
        set_bits(written, (uint64_t)at, bytes, 1);
        if (read_unwritten)
            written_first(a, at);
    }
    if (a.is_atomic && a.kind != WRITE && order.marked && looks[a.thread].p == p &&
        when_of(looks[a.thread].mine) >= order.block_start)
        strong_poll(at);
    if (a.kind == READ || a.kind == ATOMIC)
        looks[a.thread] = (struct look){p, entry_of(a.thread, a.code, 0), bytes};
    if (order.synced && a.kind != READ && !a.is_atomic && o && !o->device)
        order_tells_host(a.thread, (uintptr_t)at, 0, 0);
    a.start = a.is_shared ? order.block_start : order.grid_start;
    const shadow_entry last = shadow[at / 4].write;
    if (a.is_atomic && a.kind != WRITE && is_atomic(last) && when_of(last) >= a.start &&
        !(is_own(last) && thread_of(last) == a.thread) && !(a.what & STRONG_OF_BLOCK))
        found[a.thread] = (struct flag){last, at, order.now};
    const int more = more_rules(a);
    const unsigned part = bytes < 4 ? bytes : 4;
    for (unsigned i = 0; i < bytes; i += 4, whose += step) {
        const shadow_entry mask = bytes >= 4 ? 15 : ((1u << bytes) - 1) << (at & 3);
        a.thread = whose;
        a.at = at + i;
        a.mine = entry_of(whose, a.code, a.is_atomic) | mask << 34;
        if (pending_copies)
            pending_touched(whose, a.at, p + i, part, a.kind, a.code);
        if (proxy_used)
            proxy_touched(whose, a.at, p + i, part, a.kind, a.code);
        if (a.kind != READ && !a.is_atomic && order.synced && is_atomic(shadow[a.at / 4].write))
            order_overwritten((uintptr_t)a.at);
        race(a, more && hold_to_more(a));
        if (a.is_atomic && a.what != strong_what((int)part, 0))
            strong_note(a.at, a.mine, a.what);
    }
    return at;
}

static __attribute__((cold, noinline)) int64_t access_again(struct worker *w, struct access a,
                                                            int whose, int step)
{
    return access_of(w, a, whose, step);
}

/* The usual access. Its six arguments stay in registers: a struct in memory slows
 * --check down. */
static __attribute__((noinline)) int64_t access_seen(struct worker *w, int thread, enum kind kind,
                                                     uintptr_t p, unsigned bytes, uint32_t code)
{
    const struct access a = {
        .thread = thread, .kind = kind, .is_atomic = 0, .code = code, .p = p, .bytes = bytes};
    return access_of(w, a, thread, 0);
}

/* The same of a strong access; flags: of enum trace_order; parts: elements of a vector. */
static __attribute__((noinline)) int64_t strong_seen(struct worker *w, int thread, enum kind kind,
                                                     uintptr_t p, unsigned bytes, uint32_t code,
                                                     int flags, unsigned parts)
{
    const int what = strong_what((int)(bytes / (parts ? parts : 1)), flags);
    order.marked |= what != strong_what(4, 0);
    const int flag = flags & TRACE_VOLATILE && kind == WRITE && order_follows_fence(thread);
    const struct access a = {.thread = thread,
                             .kind = kind,
                             .is_atomic = 1,
                             .what = what | (flag ? STRONG_FLAG : 0),
                             .code = code,
                             .p = p,
                             .bytes = bytes};
    return access_of(w, a, thread, 0);
}

static __attribute__((noinline)) void seen_of_host(uintptr_t p, size_t bytes, int writes,
                                                   const void *from)
{
    const int registered = n_registered && is_registered(p, 1);
    if ((p - region >= region_used && !is_variable(p) && !registered) || cpu_in_kernel())
        return;
    const struct object *o = memory_host_access(p, bytes, writes, code_of(from));
    if (o || registered)
        ranges_host(p, bytes, writes, code_of(from), o);
}

void trace_host_variable(const void *p, size_t bytes, int writes, const void *site)
{
    memory_host_access((uintptr_t)p, bytes, writes, code_of(site));
}

void trace_host_atomic(uintptr_t p, int reads)
{
    if ((p - region < region_used || is_variable(p)) && !cpu_in_kernel())
        ranges_host_strong(p, reads);
}

/* Whether an earlier access of the cell leaves nothing to find: it is of before `start`, or of this
 * thread, or a barrier lies between. Entries are compared whole, as their highest bits are the
 * time. */
static inline int is_over(shadow_entry e, shadow_entry start, int thread)
{
    const shadow_entry turn = at_time(order.turn_start), barrier = at_time(order.barrier_end);
    return e < start || (e >= turn && (e < barrier || thread_of(e) == thread));
}

/* Whether something goes on that has rules of its own. */
static inline int is_special(int writes)
{
    return order.early || launch_beside || child_windows || pending_copies || proxy_used ||
           stores[0].p || locals_noted || events_wanted ||
           (writes ? order.cached || order.synced || undefined_lanes : cached_load.left != 0);
}

/* Notes that these bytes are written: at most 16. They must lie inside of what p points into, as
 * is_usual takes what is written for memory that a kernel may access. */
static inline int written_first_time(uintptr_t p, uint64_t at, unsigned bytes)
{
    uint32_t word;
    if (at < REGION) {
        const struct object *o = &objects[owner[at / PAGE]];
        if (p - o->p >= o->bytes || o->bytes - (p - o->p) < bytes || o->freed)
            return 0;
    } else if (bits_at(in_variable, at - ARENA_AT, bytes) != (1u << bytes) - 1) {
        return 0;
    }
    if (read_unwritten)
        return 0;
    memcpy(&word, written + at / 8, sizeof word);
    word |= ((1u << bytes) - 1) << at % 8;
    memcpy(written + at / 8, &word, sizeof word);
    return 1;
}

/* The short way for most accesses: where no special rule applies and nothing can conflict. It
 * leaves behind what access_of would leave; 0: access_of has to judge. What is written lies in an
 * allocation that is not freed, or in a variable: so only a first write looks for these. */
static inline int is_usual(struct worker *w, uintptr_t p, unsigned bytes, int writes, uint32_t code)
{
    const int thread = (int)w->now;
    const uint64_t in_arena = p - (uintptr_t)w->arena;
    uint64_t at = p - region;
    shadow_entry start = at_time(order.grid_start);
    if (in_arena < ARENA - 16) {
        at = ARENA_AT + in_arena;
        start = at_time(order.block_start);
    } else if (at >= region_used) {
        return 0;
    }
    if (bytes < 4 || (p & (bytes - 1)) || is_special(writes))
        return 0;
    if (bits_at(written, at, bytes) != (1u << bytes) - 1 &&
        !(writes && written_first_time(p, at, bytes)))
        return 0;
    const shadow_entry mine = entry_of(thread, code, 0) | ALL_BYTES;
    struct shadow_cell *c = &shadow[at / 4];
    if (!writes)
        looks[thread] = (struct look){p, mine, bytes};
    for (unsigned i = 0; i < bytes; i += 4, c++) {
        if (!is_over(c->write, start, thread))
            return 0;
        if (writes) {
            if (!is_over(c->read[0], start, thread) || !is_over(c->read[1], start, thread))
                return 0;
            *c = (struct shadow_cell){.write = mine};
        } else if (is_over(c->read[0], start, thread)) {
            c->read[0] = mine;
        } else if (is_over(c->read[1], start, thread)) {
            c->read[1] = mine;
        } else {
            note_read(c, mine, start, thread);
        }
    }
    w->changes += writes != 0;
    return 1;
}

/* An access that is_usual passes on. */
static __attribute__((noinline)) void seen_unusual(struct worker *w, uintptr_t p, unsigned bytes,
                                                   int writes, uint32_t code)
{
    const int is_memory = p - region < region_used || p - (uintptr_t)w->arena < ARENA;
    const enum kind kind = writes ? WRITE : READ;
    if (!is_memory && is_on_stack(w, p)) { /* the short way, which access_of would take as well */
        if (locals_noted)
            locals_next(w, (int)w->now, kind, p, bytes);
        if (locals_bits(w, p, bytes))
            locals_touched(w, (int)w->now, kind, p, bytes, code);
        registers_touched(w, (int)w->now, p, bytes, kind, code);
        return;
    }
    if (!is_memory &&
        (is_builtin_variable(p) || (!locals_noted && p - (uintptr_t)order.kernel->arguments <
                                                         order.kernel->size))) /* its parameters */
        return;
    w->changes += writes != 0;
    plain_store = writes && !in_pieces;
    load_of_copy = !writes;
    access_seen(w, (int)w->now, kind, p, bytes, code);
    plain_store = load_of_copy = 0;
}

static inline void seen(struct worker *w, uintptr_t p, unsigned bytes, int writes, const void *from,
                        const void *frame)
{
    const uint32_t code = code_of(from);
    if (writes && bytes >= 8)
        widths[code % CODES] = (uint8_t)bytes;
    if (!is_usual(w, p, bytes, writes, code))
        seen_unusual(w, p, bytes, writes, code);
}

static inline int can_load(const struct worker *w, uintptr_t p, unsigned bytes)
{
    const struct object *o;
    return locate(w, p, bytes, &o) >= 0;
}

/* A volatile access is relaxed, in the scope of the system. */
static inline void seen_volatile(struct worker *w, uintptr_t p, unsigned bytes, int writes,
                                 const void *from, const void *frame)
{
    if (is_builtin_variable(p))
        return;
    plain_store = writes && !in_pieces;
    const int thread = (int)w->now;
    const int64_t at =
        strong_seen(w, thread, writes ? WRITE : READ, p, bytes, code_of(from), TRACE_VOLATILE, 1);
    plain_store = 0;
    if (at >= 0)
        order_strong(thread, (uintptr_t)at, writes ? WRITE : READ, TRACE_VOLATILE);
}

int trace_heap_free(void *p, const void *site)
{
    const struct object *o = object_at((uintptr_t)p);
    if ((uintptr_t)p - region >= region_used)
        return 0;
    if (o && o->p == (uintptr_t)p && !o->freed)
        trace_freed(p);
    else
        report(o && o->freed ? FREED : BOUNDS,
               (struct access){.thread = cpu_worker ? (int)cpu_worker->now : 0,
                               .kind = WRITE,
                               .code = code_of(site),
                               .p = (uintptr_t)p,
                               .bytes = 1,
                               .object = o});
    return 1;
}

static int sums_asked; /* by the host; or by the variable, of all that runs */
void sums_in_order(int asked)
{
    sums_asked = asked;
}

/* The sum of floats depends on which of two additions comes first. */
static void sum_seen(struct worker *w, int me, uintptr_t p, unsigned bytes, uint32_t code)
{
    static int of_all = -1; /* not known yet */
    const struct object *o;
    if (of_all < 0) {
        const char *asked = getenv("CUDACPU_SUMS");
        of_all = asked && *asked == '1';
    }
    const int64_t at = sums_asked || of_all ? locate(w, p, bytes, &o) : NOT_TRACKED;
    const int is_shared = at >= (int64_t)ARENA_AT;
    const uint32_t start = is_shared ? order.block_start : order.grid_start;
    for (unsigned i = 0; at >= 0 && i < bytes; i += 4) {
        const shadow_entry r = shadow[at / 4 + i / 4].write;
        if (!is_atomic(r) || when_of(r) < start ||
            (is_own(r) ? happens_before(r, me) : order_released(r, me)))
            continue;
        struct side sides[2] = {earlier(ATOMIC, r), {ATOMIC, code, me, order.block}};
        finding_add(SUM_ORDER, order.kernel, sides, 2, bytes, is_shared ? shared_at(p) : o, p,
                    NULL);
    }
}

void cpu_trace_sum(const volatile void *p, size_t bytes)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        sum_seen(w, (int)w->now, (uintptr_t)p, (unsigned)bytes,
                 code_of(__builtin_return_address(0)));
}

/* Whether an atomic at p, of so many bytes, only reads. */
static int fails(uintptr_t p, unsigned bytes)
{
    const int is_compare = compared.p == p && compared.bytes == bytes;
    const struct object *o;
    compared.p = 0;
    return is_compare && locate(cpu_worker, p, bytes, &o) >= 0 &&
           memcmp((const void *)p, &compared.expected, bytes) != 0;
}

static void atomic_seen(struct worker *w, int thread, uintptr_t p, unsigned bytes, uint32_t code,
                        int flags, unsigned parts)
{
    const enum kind kind = fails(p, bytes) ? READ : ATOMIC;
    const int64_t at = strong_seen(w, thread, kind, p, bytes, code, flags, parts);
    watchdog_atomic(w, (const void *)p, bytes);
    if (at >= 0)
        order_atomic(thread, (uintptr_t)at, (const void *)p, bytes, kind, flags);
}

void cpu_trace_atomic(const volatile void *p, size_t bytes, enum cpu_scope scope)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        atomic_seen(w, (int)w->now, (uintptr_t)p, (unsigned)bytes,
                    code_of(__builtin_return_address(0)),
                    scope == CPU_SCOPE_BLOCK ? TRACE_BLOCK_SCOPE : 0, 1);
}

/* --- Inline PTX ------------------------------------------------------------------------------- */

/* An access by a lane's statement. */
static int64_t lane_seen(struct worker *w, int lane, enum kind kind, uintptr_t p, unsigned bytes)
{
    const int thread = thread_at(w, lane);
    return access_seen(w, thread, kind, p, bytes, statement[thread]);
}

/* The next strong access of a statement: flags, and from bit 8 on the elements of a
 * vector. */
static int next_order;
void trace_ordering(struct worker *w, int order)
{
    next_order = order;
}

static int take_order(void)
{
    const int taken = next_order;
    next_order = 0;
    return taken;
}

void trace_asm(struct worker *w, const void *from, const void *frame)
{
    symbols_statement(statement[w->now] = code_of(from));
}

void trace_operands(struct worker *w, const char *text, const char *constraints,
                    const uint64_t *registers)
{
    if (events_wanted)
        events_statement((int)w->now, statement[w->now], text, constraints, registers);
}

void trace_lane_read(struct worker *w, int lane, uintptr_t p, unsigned bytes)
{
    lane_seen(w, lane, READ, p, bytes);
}

void trace_lane_write(struct worker *w, int lane, uintptr_t p, unsigned bytes)
{
    w->changes++;
    lane_seen(w, lane, WRITE, p, bytes);
}

void trace_lane_sum(struct worker *w, int lane, uintptr_t p, unsigned bytes)
{
    const int thread = thread_at(w, lane);
    sum_seen(w, thread, p, bytes, statement[thread]);
}

void trace_lane_atomic(struct worker *w, int lane, uintptr_t p, unsigned bytes, unsigned parts)
{
    int thread = thread_at(w, lane);
    atomic_seen(w, thread, p, bytes, statement[thread], take_order() & 0xff, parts);
}

const void *trace_lane_poll(struct worker *w, int lane, uintptr_t p, unsigned bytes, int acquires,
                            const void *insn)
{
    const int order = take_order(), flags = order & 0xff, thread = thread_at(w, lane);
    const int64_t at =
        strong_seen(w, thread, READ, p, bytes, statement[thread], flags, (unsigned)order >> 8);
    if (at < 0)
        return (const void *)p;
    return order_poll(thread, (uintptr_t)at, (const void *)p, bytes, flags);
}

void trace_lane_publish(struct worker *w, int lane, uintptr_t p, unsigned bytes)
{
    w->changes++;
    const int order = take_order(), flags = order & 0xff, thread = thread_at(w, lane);
    const int64_t at =
        strong_seen(w, thread, WRITE, p, bytes, statement[thread], flags, (unsigned)order >> 8);
    if (at >= 0)
        order_atomic(thread, (uintptr_t)at, (const void *)p, bytes, WRITE, flags);
}

/* The lane that has a row's address is not the lane that gets the row: 4 bytes of row r go to lanes
 * 4r to 4r + 3; transposed, elements 2i and 2i + 1 to lanes 8i + r / 2 and 4 after it. */
void trace_matrix(struct worker *w, enum matrix what, void *const rows[32], int n, int transposed)
{
    w->changes += what == TRACE_STMATRIX;
    for (int i = 0; i < 8 * n; i++) {
        const int r = i % 8, thread = thread_at(w, i);
        const struct access a = {.thread = thread,
                                 .kind = what == TRACE_LDMATRIX ? READ : WRITE,
                                 .code = statement[thread],
                                 .p = (uintptr_t)rows[i],
                                 .bytes = 16};
        in_pieces = i > 0;
        access_of(w, a, thread_at(w, transposed ? r / 2 : 4 * r), transposed ? 8 : 1);
    }
    in_pieces = 0;
}

/* The bytes that a copy reads need not be a power of 2, and their address is as aligned as the
 * one that it writes. */
static int64_t copy_reads(struct worker *w, int lane, uintptr_t p, unsigned bytes, unsigned read)
{
    int64_t at = -1;
    unsigned n = 1;
    if (p % bytes != 0 || read == bytes)
        return read ? lane_seen(w, lane, READ, p, bytes) : -1;
    for (unsigned i = read; i > 0; i -= n) {
        while (n * 2 <= i && (read - i) % (n * 2) == 0)
            n *= 2;
        while (n > i)
            n /= 2;
        at = lane_seen(w, lane, READ, p + read - i, n);
    }
    return at < 0 ? -1 : at / bytes * bytes;
}

void trace_async_issue(struct worker *w, int lane, void *to, const void *from, unsigned bytes,
                       unsigned read, int around_l1)
{
    const int thread = thread_at(w, lane);
    w->changes++;
    stored.bytes = 0; /* of another copy */
    load_of_copy = 1;
    const int64_t source = copy_reads(w, lane, (uintptr_t)from, bytes, read);
    load_of_copy = 0;
    copy_comes_later = 1;
    const int64_t target = lane_seen(w, lane, WRITE, (uintptr_t)to, bytes);
    copy_comes_later = 0;
    unsigned unwritten = 0;
    for (unsigned i = 0; source >= 0 && target >= 0 && i + 4 <= read; i += 4)
        unwritten |= (unsigned)!bits_at(written, (uint64_t)source + i, 4) << i / 4;
    const int is_padding =
        read >= 8 && unwritten_is_padding(object_at((uintptr_t)from), (uint64_t)source, unwritten);
    for (unsigned i = 0; is_padding && i < 4; i++)
        if (unwritten >> i & 1)
            set_bits(written, (uint64_t)target + 4 * i, 4, 0);
    pending_issue(thread, statement[thread], target < (int64_t)ARENA_AT ? -1 : target, bytes,
                  source, (uintptr_t)from, read);
}

int trace_proxy_issue(struct worker *w, int lane, enum proxy_what what)
{
    int thread = thread_at(w, lane);
    return proxy_issue(thread, statement[thread], what);
}

/* By shadow cells, and parts of cells at both ends. Memory that the operation may not access is
 * reported. */
static void proxy_seen(struct worker *w, int op, uintptr_t p, size_t bytes, int writes, int atomic)
{
    const struct object *o;
    while (bytes) {
        unsigned n = 4 - (unsigned)(p % 4);
        n = n < bytes ? n : (unsigned)bytes;
        int64_t at = locate(w, p, n, &o);
        if (at == NOT_TRACKED)
            return;
        if (at < 0 || (o && o->freed)) {
            const struct side side = proxy_side(op);
            report(at < 0 ? BOUNDS : FREED,
                   (struct access){.thread = side.thread,
                                   .kind = side.kind,
                                   .code = side.code,
                                   .p = p,
                                   .bytes = n,
                                   .object = o,
                                   .is_shared = p - (uintptr_t)w->arena < ARENA});
            return;
        }
        const struct stream_work *work =
            ranges_beside && at < (int64_t)ARENA_AT ? ranges_race(p, n, writes) : NULL;
        if (work) {
            const struct side sides[2] = {proxy_side(op), {work->kind, work->code, 0, 0}};
            finding_add(STREAM_RACE, order.kernel, sides, 2, n, o, p, NULL);
        }
        if (writes)
            proxy_writes(op, at, p, n, atomic);
        else
            proxy_reads(op, at, p, n);
        p += n;
        bytes -= n;
    }
}

/* The first byte says where the whole lies. */
static void proxy_event(const struct worker *w, int op, uintptr_t p, size_t bytes, int writes)
{
    const struct object *o;
    const struct side side = proxy_side(op);
    const int64_t at = locate(w, p, 1, &o);
    if (at >= 0)
        events_access(side.thread, writes ? WRITE : READ, side.code, p, bytes,
                      at >= (int64_t)ARENA_AT ? shared_at(p) : o, EVENT_UNKNOWN);
}

void trace_proxy_read(struct worker *w, int op, const void *p, size_t bytes)
{
    if (events_wanted)
        proxy_event(w, op, (uintptr_t)p, bytes, 0);
    proxy_seen(w, op, (uintptr_t)p, bytes, 0, 0);
}

void trace_proxy_write(struct worker *w, int op, void *p, size_t bytes, int atomic)
{
    if (events_wanted)
        proxy_event(w, op, (uintptr_t)p, bytes, 1);
    proxy_seen(w, op, (uintptr_t)p, bytes, 1, atomic);
}

void trace_descriptor(struct worker *w, const char *text)
{
    if (text)
        registers_report(DESCRIPTOR, (int)w->now, statement[w->now], text);
}
