/* check: which accesses happen before which.
 *
 * Time is a number that grows at each start of a block, barrier, warp operation and fence. Within a
 * block, each warp and lane has a vector clock: the time before which what another did happens
 * before its next access. Between blocks, what a thread did before a fence happens before what a
 * later block does, if an atomic was made after the fence and the later block has accessed its
 * variable: by an atomic, by a load that is .acquire, or by one that is .relaxed with a fence after
 * it. A .release is a fence with an atomic or a store after it. */
#include "instruments/check/state/check.h"

#include <sys/mman.h>

enum { EPOCHS = 1 << 25 };

struct ordering order = {.now = 1};
uint32_t statement[MAX_THREADS];
static uint32_t joined[MAX_BARRIERS][MAX_WARPS]; /* merged clocks of threads that have arrived */
static struct start {
    uint32_t when;
    uint64_t block;
} * starts;
static int n_starts;
/* Fences, and atomics that came after one in their thread or behind a barrier. */
static struct sync {
    /* barrier: the end of the last one at that time; warp: what the lanes of the thread's warp did
     * before happens before this. */
    uint32_t when, barrier, warp;
    int thread;
    uintptr_t p; /* or FENCE */
} * syncs;
static int n_syncs;
#define FENCE UINTPTR_MAX
/* Launches in front that need not have ended: when the first and the last of them began, 0 once the
 * host has waited; how many blocks of the last have waited for those before, and whether one of
 * them had before it let the next launch begin, so that all those had ended by then. */
static struct {
    uint32_t start, last;
    cudaStream_t stream;
    int early, waited, let_go_late;
} front;
/* When each thread of the block has waited for the launch in front, or 0. What was done before
 * `unwaited` need not have ended all the same. */
static uint32_t grid_waits[MAX_THREADS], unwaited;
static int grid_waited;  /* a thread of the block has */
static int let_go_early; /* one has let the next launch begin, and none in front of it had */
/* The last load of a thread of this block that looks at a variable as atomics change it. What it
 * has seen was made before `until`. */
static struct poll {
    uint32_t when, until;
    int thread, acquires; /* or else a fence has to come after it */
    uintptr_t p;
} * polls;
static int n_polls;
/* Of variables that blocks may wait for, changed right after a fence: what the last change found.
 */
enum { CHANGES = 4096 };
static struct change {
    uintptr_t p;
    uint64_t before;
    unsigned bytes;
    uint32_t when, shown; /* shown: the start of the block that has loaded `before` */
} changes[CHANGES];       /* at p / 4 modulo their number; what is pushed out is not shown */

static void start_add(void)
{
    starts = grown(starts, n_starts, sizeof *starts);
    starts[n_starts++] = (struct start){order.now, order.block};
}

/* When all 2^25 times are used, the shadow memory is emptied and time begins anew. */
void order_tick(void)
{
    if (++order.now < EPOCHS)
        return;
    if (madvise(shadow, (ARENA_AT + ARENA) / 4 * sizeof *shadow, MADV_DONTNEED) != 0 ||
        madvise(cached_reads, (ARENA_AT + ARENA) / 4 * sizeof *cached_reads, MADV_DONTNEED) != 0)
        give_up(1, "check: the system does not take back memory that is to be forgotten");
    memset(order.sees, 0, sizeof order.sees);
    for (int i = 0; i < MAX_THREADS; i++)
        if (order.clock[i])
            memset(order.clock[i], 0, offsetof(struct vector_clock, phases));
    order.now = order.launch_start = order.grid_start = order.block_start = order.barrier_end = 1;
    order.early = front.start = 0;
    n_starts = n_syncs = n_polls = 0;
    start_add();
}

/* The block that e belongs to: an index into starts. */
static int start_of(shadow_entry e)
{
    int low = 0, high = n_starts;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle].when <= when_of(e))
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint64_t order_block_of(shadow_entry e)
{
    return starts[start_of(e)].block;
}

/* Whether what a thread did at that time comes before s, in its block. */
static int comes_before(int thread, uint32_t when, const struct sync *s)
{
    return thread == s->thread || when < s->barrier ||
           (thread / WARP == s->thread / WARP && when < s->warp);
}

static int knows(int me, int thread, uint32_t when)
{
    return happens_before((shadow_entry)when << 39 | (shadow_entry)thread << 24, me);
}

/* Whether what a load of this block saw happens before what `me` does now. */
static int acquired(const struct poll *poll, int me)
{
    if (poll->acquires)
        return knows(me, poll->thread, poll->when);
    for (const struct sync *s = syncs + n_syncs; s-- > syncs && s->when > poll->when;)
        if (s->p == FENCE && comes_before(poll->thread, poll->when, s) &&
            knows(me, s->thread, s->when))
            return 1;
    return 0;
}

/* Whether the block that runs has accessed the variable, and `me` is ordered after that. */
static int met(uintptr_t p, uint32_t made, int me)
{
    shadow_entry mine = shadow[p / 4].write;
    if (is_atomic(mine) && when_of(mine) >= order.block_start && happens_before(mine, me))
        return 1;
    for (int i = 0; i < n_polls; i++)
        if (polls[i].p == p && made < polls[i].until && acquired(&polls[i], me))
            return 1;
    return 0;
}

int order_released(shadow_entry e, int me)
{
    int its = start_of(e), low = 0, high = n_syncs;
    uint32_t end = its + 1 < n_starts ? starts[its + 1].when : UINT32_MAX;
    while (low < high) {
        int middle = (low + high) / 2;
        if (syncs[middle].when <= when_of(e))
            low = middle + 1;
        else
            high = middle;
    }
    for (int f = low; f < n_syncs && syncs[f].when < end; f++) {
        const struct sync *fence = &syncs[f], *atomic = fence + 1;
        if (fence->p != FENCE || !comes_before(thread_of(e), when_of(e), fence))
            continue;
        for (; atomic < syncs + n_syncs && atomic->when < end; atomic++)
            if (atomic->p != FENCE && comes_before(fence->thread, fence->when, atomic) &&
                met(atomic->p, atomic->when, me))
                return 1;
    }
    return 0;
}

/* The next launch begins when every block has let it or has ended: one that waits first is enough.
 */
static void block_ends(void)
{
    front.let_go_late |= grid_waited && !let_go_early;
    grid_waited = let_go_early = 0;
}

void order_launch(const struct cpu_kernel *kernel)
{
    block_ends();
    const int front_waited = !front.early || front.waited == n_starts;
    order.kernel = kernel;
    order.cached = 0;
    n_starts = n_syncs = 0;
    order_tick();
    order.early = kernel->early && front.start && front.stream == kernel->stream
                      ? front.let_go_late ? front.last : front.start
                      : 0;
    order.launch_start = order.grid_start = order.now;
    unwaited = order.early && !front_waited ? front.last : 0;
    front.start = order.early ? order.early : order.now;
    front.last = order.now;
    front.stream = kernel->stream;
    front.early = order.early != 0;
    front.waited = front.let_go_late = 0;
}

void trace_grids_done(void)
{
    front.stream = NULL;
    front.start = 0;
}

void trace_grid_wait(struct worker *w)
{
    const int thread = (int)w->now;
    if (!order.early)
        return;
    front.waited += !grid_waited;
    grid_waited = 1;
    if (!grid_waits[thread])
        grid_waits[thread] = order.now;
}

/* Whether the thread has waited, or comes after one that has. */
static int comes_after_wait(int me)
{
    for (int i = 0; i < MAX_THREADS && !grid_waits[me]; i++)
        if (grid_waits[i] &&
            happens_before((shadow_entry)grid_waits[i] << 39 | (shadow_entry)i << 24, me))
            grid_waits[me] = order.now;
    return grid_waits[me] != 0;
}

void trace_grid_trigger(struct worker *w)
{
    if (order.early && !comes_after_wait((int)w->now))
        let_go_early = 1;
}

int order_unfinished(shadow_entry e, int me)
{
    if (!order.early || when_of(e) < order.early || when_of(e) >= order.launch_start)
        return 0;
    if (when_of(e) < unwaited)
        return 1; /* the kernel in front has ended, but not waited for this one */
    return !comes_after_wait(me);
}

void order_block(uint64_t place)
{
    block_ends();
    order_tick();
    order.block = place;
    order.block_start = order.barrier_end = order.now;
    start_add();
    n_polls = 0;
    memset(order.sees, 0, sizeof order.sees);
    memset(joined, 0, sizeof joined);
    if (order.early)
        memset(grid_waits, 0, sizeof grid_waits);
    for (int i = 0; i < MAX_WARPS; i++) {
        free(order.lane_sees[i]);
        order.lane_sees[i] = NULL;
    }
}

void trace_grid_opens(void)
{
    order_tick();
    order.grid_start = order.now;
}

void order_join(int barrier)
{
    order_tick();
    const uint64_t warp = cpu_worker->now / WARP;
    uint32_t *known = joined[barrier];
    for (int i = 0; i < MAX_WARPS; i++)
        known[i] = known[i] > order.sees[warp][i] ? known[i] : order.sees[warp][i];
    known[warp] = order.now;
}

/* A named barrier merges the vector clocks of its warps, as they were when they came. A warp that
 * only arrived has gone on, and takes in nothing. */
void order_barrier(struct worker *w, int barrier)
{
    order_tick();
    if (barrier == 0) {
        order.barrier_end = order.now;
        return;
    }
    uint32_t *known = joined[barrier];
    for (int k = 0; k < MAX_WARPS; k++)
        if (w->barriers[barrier].waiting[k])
            for (int i = 0; i < MAX_WARPS; i++)
                if (known[i] > order.sees[k][i])
                    order.sees[k][i] = known[i];
    memset(joined[barrier], 0, sizeof joined[barrier]);
}

void order_warp(struct worker *w, int warp, unsigned mask)
{
    order_tick();
    if (!(w->warps[warp].live & ~mask)) {
        order.sees[warp][warp] = order.now;
        return;
    }
    if (!order.lane_sees[warp])
        order.lane_sees[warp] =
            need_memory(calloc(WARP, sizeof *order.lane_sees[warp]), "what check knows");
    for (unsigned a = mask; a; a &= a - 1)
        for (unsigned b = mask; b; b &= b - 1)
            order.lane_sees[warp][__builtin_ctz(a)][__builtin_ctz(b)] = order.now;
}

static void sync_add(uintptr_t p)
{
    syncs = grown(syncs, n_syncs, sizeof *syncs);
    int thread = (int)cpu_worker->now, warp = thread / WARP;
    syncs[n_syncs++] =
        (struct sync){order.now, order.barrier_end, order.sees[warp][warp], thread, p};
}

void order_atomic(uintptr_t at, const void *p, unsigned bytes)
{
    if (!n_syncs)
        return;
    int after_fence = syncs[n_syncs - 1].p == FENCE;
    sync_add(at);
    if (!after_fence || bytes > sizeof changes->before)
        return;
    struct change *c = &changes[at / 4 % CHANGES];
    *c = (struct change){.p = at, .bytes = bytes, .when = order.now};
    memcpy(&c->before, p, bytes);
}

/* Blocks run one after the other: a block would never load a value that is too early, and a wait
 * for the wrong value would go unseen. So its first load returns the value before the last change,
 * unless that change happens before the load. */
const void *order_poll(uintptr_t at, const void *p, unsigned bytes, int acquires)
{
    struct change *c = &changes[at / 4 % CHANGES];
    int thread = (int)cpu_worker->now, i = 0;
    int early = c->p == at && c->when >= order.grid_start && c->when < order.block_start &&
                c->shown != order.block_start && bytes == c->bytes &&
                !order_released(shadow[at / 4].write, thread);
    while (i < n_polls &&
           (polls[i].p != at || polls[i].thread != thread || polls[i].acquires != acquires))
        i++;
    if (i == n_polls)
        polls = grown(polls, n_polls++, sizeof *polls);
    polls[i] = (struct poll){order.now, early ? c->when : UINT32_MAX, thread, acquires, at};
    if (early)
        c->shown = order.block_start;
    return early ? &c->before : p;
}

void trace_fence(struct worker *w)
{
    order_tick();
    sync_add(FENCE);
    order_tick();
}

void cpu_trace_fence(void)
{
    if (cpu_worker && cpu_worker->running)
        trace_fence(cpu_worker);
}
