/* check: which accesses happen before which, by barriers and operations of a warp. release.c has
 * fences and atomics; ../MEMORY-MODEL.md says what rules of PTX's memory model both follow.
 *
 * Time is a number that grows at each start of a block, barrier, warp operation and fence. Within a
 * block, each warp and lane has a vector clock: the time before which what another did happens
 * before its next access. A block may be set aside, so that others run; then its accesses lie in
 * several stretches of time, and the stretch tells the block of an access. */
#include "instruments/check/state/check.h"

#include <sys/mman.h>

enum { EPOCHS = 1 << 25 };

struct ordering order = {.now = 1};
uint32_t statement[MAX_THREADS];
static uint32_t joined[MAX_BARRIERS][MAX_WARPS]; /* merged clocks of threads that have arrived */
/* The stretches of time in which blocks ran. record: of the block, in release.c, or -1. */
static struct start {
    uint32_t when;
    int record;
    uint64_t block;
} * starts;
static int n_starts;
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

static void start_add(void)
{
    starts = grown(starts, n_starts, sizeof *starts);
    starts[n_starts++] = (struct start){order.now, order.record, order.block};
}

/* When all 2^25 times are used, the shadow memory is emptied and time begins anew. */
static void begin_anew(void)
{
    if (madvise(shadow, (ARENA_AT + ARENA) / 4 * sizeof *shadow, MADV_DONTNEED) != 0 ||
        madvise(cached_reads, (ARENA_AT + ARENA) / 4 * sizeof *cached_reads, MADV_DONTNEED) != 0)
        give_up(1, "check: the system does not take back memory that is to be forgotten");
    memset(order.sees, 0, sizeof order.sees);
    for (int i = 0; i < MAX_WARPS; i++)
        if (order.lane_sees[i])
            memset(order.lane_sees[i], 0, WARP * sizeof *order.lane_sees[i]);
    for (int i = 0; i < MAX_THREADS; i++)
        if (order.clock[i])
            memset(order.clock[i], 0, offsetof(struct vector_clock, phases));
    order.now = order.launch_start = order.grid_start = order.block_start = order.barrier_end = 1;
    order.turn_start = 1;
    order.early = front.start = 0;
    n_starts = 0;
    order.synced = 0;
    order.record = -1;
    order.rounds++;
    start_add();
}

void order_tick(void)
{
    if (++order.now >= EPOCHS)
        begin_anew();
}

void order_ticks(int n)
{
    if (order.now + (uint32_t)n >= EPOCHS)
        begin_anew();
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

int order_own(shadow_entry e)
{
    return when_of(e) >= order.launch_start && starts[start_of(e)].block == order.block;
}

int order_record_of(shadow_entry e)
{
    return starts[start_of(e)].record;
}

void order_recorded(int record)
{
    for (int i = n_starts - 1; i >= 0 && (i == n_starts - 1 || order.apart); i--)
        if (starts[i].block == order.block)
            starts[i].record = record;
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
    order.apart = 0;
    n_starts = 0;
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
    order.block_start = order.turn_start = order.barrier_end = order.now;
    order.record = -1;
    order.named = 0;
    start_add();
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
    order.named = 1;
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

/* --- Blocks that are set aside ---------------------------------------------------------------- */

struct order_kept {
    struct ordering order;
    uint32_t rounds, joined[MAX_BARRIERS][MAX_WARPS], statement[MAX_THREADS];
    uint32_t grid_waits[MAX_THREADS];
    int grid_waited;
};

struct order_kept *order_take(void)
{
    struct order_kept *kept = need_memory(malloc(sizeof *kept), "what check knows");
    order.apart = 1;
    kept->order = order;
    kept->rounds = order.rounds;
    kept->grid_waited = grid_waited;
    memcpy(kept->joined, joined, sizeof joined);
    memcpy(kept->statement, statement, sizeof statement);
    memcpy(kept->grid_waits, grid_waits, sizeof grid_waits);
    memset(order.clock, 0, sizeof order.clock);
    memset(order.lane_sees, 0, sizeof order.lane_sees);
    return kept;
}

int order_give(struct order_kept *kept)
{
    const int same = kept->rounds == order.rounds;
    order_tick();
    order.block = kept->order.block;
    order.block_start = same ? kept->order.block_start : order.launch_start;
    order.barrier_end = same ? kept->order.barrier_end : order.now;
    order.record = same ? kept->order.record : -1;
    order.named = kept->order.named;
    memcpy(order.lane_sees, kept->order.lane_sees, sizeof order.lane_sees);
    memcpy(order.clock, kept->order.clock, sizeof order.clock);
    memset(order.sees, 0, sizeof order.sees);
    memset(joined, 0, sizeof joined);
    if (same) {
        memcpy(order.sees, kept->order.sees, sizeof order.sees);
        memcpy(joined, kept->joined, sizeof joined);
    }
    for (int i = 0; i < MAX_THREADS && !same; i++)
        if (order.clock[i])
            memset(order.clock[i], 0, offsetof(struct vector_clock, phases));
    for (int i = 0; i < MAX_WARPS && !same; i++)
        if (order.lane_sees[i])
            memset(order.lane_sees[i], 0, WARP * sizeof *order.lane_sees[i]);
    memcpy(statement, kept->statement, sizeof statement);
    memcpy(grid_waits, kept->grid_waits, sizeof grid_waits);
    grid_waited = kept->grid_waited;
    order.turn_start = order.now;
    start_add();
    free(kept);
    return same;
}
