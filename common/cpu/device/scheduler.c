/* One block of CUDA threads on one OS thread.
 *
 * The scheduler runs one warp as far as it can: until all its lanes wait for other warps or have
 * exited. Then it takes the next warp. The launch's order, which is forward, reverse or random,
 * chooses the next warp, and the next lane of a warp. A program whose result depends on the order
 * lacks a barrier.
 *
 * A fiber runs thread after thread in a loop. Only when a thread waits does the next thread get
 * another fiber, so a kernel without barriers runs on one stack and never switches.
 *
 * A block rests when all its threads wait at grid.sync, or when all threads that could run have
 * slept for some rounds: they wait for another block. Then another block of the OS thread runs, or
 * begins, and those that rest take turns. Each has a struct worker. All blocks of a cooperative
 * launch exist at once. */
#include "device/device.h"
#include "base/plural.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t next_random(struct worker *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}

/* Picks one of the set bits, by the launch's order. */
static int pick_lane(struct worker *w, unsigned bits)
{
    if (w->launch->order == ORDER_FORWARD)
        return __builtin_ctz(bits);
    if (w->launch->order == ORDER_REVERSE)
        return 31 - __builtin_clz(bits);
    int first = (int)(next_random(w) >> 59);
    return (__builtin_ctz(bits >> first | bits << (-first & 31)) + first) & 31;
}

enum { GONE = 0xffffffff };

static void reset_sleeps(struct worker *w)
{
    w->spun = 0;
    atomic_store_explicit(&w->sleeps, 0, memory_order_relaxed);
}

void block_open_group(struct worker *w, int warp, struct group *g)
{
    struct group open = *g;
    *g = w->warps[warp].group[--w->warps[warp].groups];
    if (open.op >= CPU_SHFL)
        TRACE_CHECK(shuffled(w, warp, open.arrived));
    TRACE(warp(w, warp, open.op, open.arrived));
    reset_sleeps(w);
    block_make_ready(w, warp, open.arrived);
}

/* __activemask names no lanes. It waits until the rest of the warp has gone as far as it can,
 * and returns the lanes that have arrived: those that a GPU would find converged here. Not
 * inline, to keep it off the path of every switch. */
static __attribute__((noinline)) void open_active(struct worker *w, int warp)
{
    struct warp *p = &w->warps[warp];
    struct group *g = p->group, *end = g + p->groups;
    while (g < end && g->op != CPU_ACTIVEMASK)
        g++;
    if (g == end)
        return;
    for (unsigned m = g->arrived; m; m &= m - 1)
        w->threads[warp * WARP + __builtin_ctz(m)].result = g->arrived;
    block_open_group(w, warp, g);
}

/* So many blocks of an OS thread may have begun and not ended: its share of those that a device
 * holds at once. Where more wait for each other, a GPU hangs too. */
static int most_resident(const struct worker *w)
{
    const int each = capability_blocks((uint64_t)w->size, w->shared_used);
    const int share = w->launch->multiprocessors;
    return (capability().multiprocessors * (each ? each : 1) + share - 1) / share;
}

/* Whether a block can begin beside w, which runs, and those that rest. */
static int can_begin_another(const struct worker *w)
{
    const struct launch *l = w->launch;
    return atomic_load(&l->next) < l->run && w->home->resting + 1 < most_resident(w);
}

/* Whether the block, if it rests, leaves its OS thread something to run. */
static int others_can_run(const struct worker *w)
{
    return w->launch->kernel->together || w->home->resting > 0 || can_begin_another(w);
}

/* How often a block may sleep before that is in vain. A spin that gives up after many rounds is not
 * to be stopped, so spins have the more rounds the fewer threads take part. */
static unsigned most_sleeps(const struct worker *w)
{
    int sleep = 0;
    for (int i = 0; i < MAX_WARPS && w->spun; i++)
        sleep += __builtin_popcount(w->warps[i].yielded);
    enum { SLEEPS = 1 << 17, POLLS = 1 << 21, LEAST = 1 << 12 };
    const struct launch *l = w->launch;
    const int blocks = l->kernel->together ? (int)l->blocks : w->home->resting + 1;
    const int most = w->spun ? POLLS / blocks / (sleep ? sleep : 1) : SLEEPS / blocks;
    return most > LEAST ? (unsigned)most : LEAST;
}

/* All threads of the block that can run sleep. If all other running blocks have slept for as
 * long, and still sleep, nobody will wake them: they wait for a block that has not begun, or for
 * nobody. */
static void count_sleep(struct worker *w)
{
    enum { OFTEN = 1024, RECENT = 100000000 }; /* RECENT: nanoseconds */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    atomic_store(&w->home->slept_at, now);
    atomic_store(&w->most_sleeps, most_sleeps(w));
    const unsigned mine = atomic_fetch_add(&w->sleeps, 1) + 1;
    if (mine < atomic_load(&w->most_sleeps) || mine % OFTEN)
        return;
    const struct launch *l = w->launch;
    const int can_rest = TRACE_CHECK_OR(can_rest(w), 1); /* or the blocks beside it never run */
    for (struct worker *o = atomic_load(&l->workers); o; o = o->peer) {
        if (o->home == w->home && !can_rest)
            continue;
        unsigned sleeps = atomic_load(&o->sleeps);
        if (sleeps != GONE &&
            (sleeps < atomic_load(&o->most_sleeps) ||
             (o->home != w->home && atomic_load(&o->home->slept_at) + RECENT < now)))
            return;
    }
    if (can_begin_another(w) && can_rest)
        return;
    const unsigned long long begun = atomic_load(&l->next), all = l->run;
    char why[200] = "waits in vain";
    if (begun < all && can_rest)
        snprintf(why, sizeof why,
                 "waits in vain: %llu of the grid's %llu blocks cannot begin, as a device with %d "
                 "multiprocessors has no more than %d on each at once",
                 all - begun, all, capability().multiprocessors,
                 capability_blocks((uint64_t)w->size, w->shared_used));
    fault_stuck(w, FAULT_WAIT, why);
}

static void wake_yielded(struct worker *w)
{
    if (w->slept && !w->looped)
        count_sleep(w);
    w->slept = w->looped = 0;
    for (int i = 0; i < MAX_WARPS; i++)
        if (w->warps[i].yielded) {
            block_make_ready(w, i, w->warps[i].yielded);
            w->warps[i].yielded = 0;
        }
    w->yielded = 0;
}

/* Whether the block, all of whose threads sleep, lets others of its OS thread run: after some
 * rounds in vain, as its own threads may wake each other, and after more of them if it has waited
 * for long, as a turn costs time as well. */
static int lets_others_run(struct worker *w)
{
    enum { LONG = 1024, ROUNDS = 16, MORE = 128 };
    if (CPU_TRACE != 2 && w->launch->kernel->together)
        return 1;
    const unsigned sleeps = atomic_load_explicit(&w->sleeps, memory_order_relaxed);
    return w->slept && (sleeps + 1) % (sleeps < LONG ? ROUNDS : MORE) == 0 && others_can_run(w) &&
           TRACE_CHECK_OR(can_rest(w), 1);
}

/* The thread to run next, or -1 if none can run. */
static int pick(struct worker *w)
{
    int mine = (int)w->now / WARP;
    if (!w->warps[mine].ready && !TRACE_COUNT_OR(release(w, mine), 0))
        open_active(w, mine);
    if (w->launch->order == ORDER_RANDOM && w->ready_warps && next_random(w) % 16 == 0)
        w->warp = (unsigned)pick_lane(w, w->ready_warps); /* now and then, leave a warp half way */
    if (!w->warps[w->warp].ready) {
        if (!w->ready_warps && w->yielded) {
            if (lets_others_run(w)) {
                w->rest = ASLEEP;
                return -1;
            }
            const int spins = w->spun;
            wake_yielded(w);
            /* The threads may wait for another block. A spin looks more often. */
            if (w->launch->multiprocessors > 1 && (!spins || w->sleeps % 16 == 0))
                sched_yield();
        }
        if (!w->ready_warps && !units_expire(w))
            return -1;
        w->warp = pick_lane(w, w->ready_warps);
    }
    return (int)w->warp * WARP + pick_lane(w, w->warps[w->warp].ready);
}

static void fiber_body(void);

/* The stacks of a block's threads do not fit into the L1 cache. The uppermost lines of the one that
 * most often comes after the next are fetched meanwhile. Always inline, as g++ takes a function
 * that only fetches for one that does nothing. */
static inline __attribute__((always_inline)) void fetch_stack(const struct worker *w, int fiber)
{
    enum { LINE = 64, LINES = 3 };
    const char *stack = w->fiber[fiber].stack;
    for (int i = 0; i < LINES; i++)
        __builtin_prefetch(stack + LINE * i);
}

static int take_fiber(struct worker *w)
{
    if (w->idles > 1)
        fetch_stack(w, w->idle[w->idles - 2]);
    if (w->idles)
        return w->idle[--w->idles];
    fiber_start(&w->fiber[w->fibers], w->stacks, w->fibers, fiber_body);
    return w->fibers++;
}

/* Makes t the running thread. Returns true if it has not started yet. */
static int enter(struct worker *w, unsigned t)
{
    struct warp *warp = &w->warps[w->warp];
    unsigned bit = 1u << t % WARP, fresh = warp->fresh & bit;
    w->now = t;
    threadIdx = w->index[t];
    if (fresh)
        warp->fresh &= ~bit;
    return fresh != 0;
}

/* No thread can run. */
static __attribute__((noreturn)) void stuck(struct worker *w)
{
    if (units_describe(w))
        fault_stuck(w, FAULT_DEADLOCK, "deadlock");
    fault_stuck(w, FAULT_DIVERGENCE, "barrier divergence");
}

/* The running thread waits, and `next` runs; less than 0: none can. */
static inline void hand_over(struct worker *w, unsigned me, int next)
{
    if (next < 0 && w->rest) {
        fiber_switch(&w->fiber[w->fiber_of[me]], &w->native);
        return;
    }
    if (next < 0)
        stuck(w);
    if (enter(w, (unsigned)next))
        w->fiber_of[next] = take_fiber(w);
    if (next == (int)me)
        return;
    fetch_stack(w, w->fiber_of[(next + 1) % MAX_THREADS]);
    fiber_switch(&w->fiber[w->fiber_of[me]], &w->fiber[w->fiber_of[next]]);
}

void block_wait(struct worker *w)
{
    const unsigned me = w->now;
    hand_over(w, me, pick(w));
}

/* At most barriers the next lane of the warp comes next. It is found here with few loads, as one
 * switch has to wait for what the one before has stored. */
void block_stop_and_wait(struct worker *w)
{
    const unsigned me = w->now;
    struct warp *warp = &w->warps[w->warp];
    const unsigned left = warp->ready & ~(1u << me % WARP);
    if (left && me / WARP == w->warp && w->launch->order == ORDER_FORWARD) {
        warp->ready = left;
        hand_over(w, me, (int)(w->warp * WARP) + __builtin_ctz(left));
    } else {
        block_stop(w);
        hand_over(w, me, pick(w));
    }
}

/* Blocks that begin one after the other reach the same place in that order, nearly always. After
 * pauses of different lengths they do not, which exposes kernels that rely on the order. */
static void pause_once(struct worker *w)
{
    if (w->launch->stagger_us > 0 && !w->paused)
        usleep((useconds_t)(next_random(w) % w->launch->stagger_us));
    w->paused = 1;
}

static void release(struct worker *w, struct barrier *b)
{
    reset_sleeps(w);
    pause_once(w);
    w->progress++;
    for (int i = 0; i < MAX_WARPS; i++)
        if (b->waiting[i]) {
            block_make_ready(w, i, b->waiting[i]);
            b->waiting[i] = 0;
        }
    enum cpu_op op = w->threads[b->first].op;
    b->result = op == CPU_SYNCTHREADS_COUNT ? b->count
                : op == CPU_SYNCTHREADS_AND ? b->count == b->arrived
                                            : b->count > 0;
    b->arrived = b->count = 0;
    w->warp = pick_lane(w, w->ready_warps); /* a new phase: warps start in order again */
}

void block_open_barrier(struct worker *w, struct barrier *b)
{
    if (b->mixed)
        fault_stuck(w, FAULT_DIVERGENCE, "barrier divergence");
    if (w->threads[b->first].op == CPU_GRID_SYNC) {
        TRACE_COUNT(grid_barrier(w));
        w->rest = AT_GRID; /* until all blocks are: is_grid_open */
        return;
    }
    /* Warps that meet in two places, and then come to different numbers of barriers: a GPU goes on,
     * but few programs mean it. */
    if (CPU_TRACE == 2 && b == w->barriers && w->live < w->size && w->apart)
        fault_stuck(w, FAULT_DIVERGENCE, "barrier divergence");
    if (b == w->barriers && w->live < w->size)
        TRACE_CHECK(fewer(w));
    if (b->apart) {
        TRACE_CHECK(apart(w, b->first));
        w->apart = 1;
    }
    TRACE(barrier(w, (int)(b - w->barriers)));
    release(w, b);
}

static void thread_exits(struct worker *w)
{
    struct warp *warp = &w->warps[w->now / WARP];
    warp->live &= ~(1u << w->now % WARP);
    w->live--;
    reset_sleeps(w);
    w->progress++;
    block_stop(w);
    for (int i = warp->groups - 1; i >= 0; i--)
        warp->group[i].reconverge(w, (int)(w->now / WARP), &warp->group[i]);
    struct barrier *all = &w->barriers[0];
    if (all->arrived && all->arrived == w->live)
        block_open_barrier(w, all); /* as on the GPU, exited threads are not waited for */
}

/* Runs the current thread, then every thread that it can reach on this stack. */
static void fiber_body(void)
{
    struct worker *w = cpu_worker;
    for (;;) {
        int me = w->fiber_of[w->now];
        w->launch->kernel->entry(w->launch->kernel->arguments);
        thread_exits(w);
        int next = pick(w);
        if (next < 0 && w->live && !w->rest)
            stuck(w);
        if (next >= 0 && enter(w, (unsigned)next)) {
            w->fiber_of[next] = me;
            continue;
        }
        w->idle[w->idles++] = me;
        if (next >= 0)
            fetch_stack(w, w->fiber_of[(next + 1) % MAX_THREADS]);
        fiber_switch(&w->fiber[me], next < 0 ? &w->native : &w->fiber[w->fiber_of[next]]);
    }
}

/* The number of the i-th block to run. Blocks follow the launch's order, except with last_first.
 * Random order visits each block once: the step has no common factor with the number of blocks,
 * and the start is random. */
static uint64_t place_of(const struct launch *l, uint64_t i)
{
    if (l->run != l->blocks) /* only two run: the first and the last */
        return i == 0 ? 0 : l->blocks - 1;
    if ((l->order == (l->last_first ? ORDER_REVERSE : ORDER_FORWARD)) || l->blocks < 2)
        return i;
    if (l->order != ORDER_RANDOM)
        return l->blocks - 1 - i;
    uint64_t step = (l->seed * 0x9e3779b97f4a7c15u + l->id) >> 33, a, b, c;
    do
        for (a = ++step, b = l->blocks; b; c = a % b, a = b, b = c)
            ;
    while (a != 1);
    return (uint64_t)(((unsigned __int128)step * i + l->seed) % l->blocks);
}

/* Runs the block until it has ended or rests. */
static void run_block(struct worker *w)
{
    int first = pick(w);
    if (enter(w, (unsigned)first))
        w->fiber_of[first] = take_fiber(w);
    fiber_switch(&w->native, &w->fiber[w->fiber_of[first]]);
    if (w->rest)
        return;
    units_end_block(w);
}

static void begin_block(struct worker *w, uint64_t place)
{
    const struct cpu_kernel *k = w->launch->kernel;
    blockIdx.x = (unsigned)(place % k->grid.x);
    blockIdx.y = (unsigned)(place / k->grid.x % k->grid.y);
    blockIdx.z = (unsigned)(place / k->grid.x / k->grid.y);
    w->block = blockIdx;
    w->place = place;
    w->rest = RESTS_NOT;
    w->random = (place + 1) * 0x9e3779b97f4a7c15u ^ (w->launch->seed + 1) * 0xbf58476d1ce4e5b9u ^
                w->launch->id << 32;
    w->random |= w->random == 0;
    w->blocks_begun++;
    swap_last_error(cudaSuccess); /* errors of other blocks are not this block's */
    w->paused = w->apart = 0;
    w->bounds_threads = w->bounds_blocks = 0;
    w->live = w->size;
    w->ready_warps = 0;
    for (int i = 0, left = w->size; left > 0; i++, left -= WARP) {
        struct warp *warp = &w->warps[i];
        warp->exists = left >= WARP ? ~0u : (1u << left) - 1;
        warp->live = warp->ready = warp->fresh = warp->exists;
        w->ready_warps |= 1u << i;
    }
    for (int i = 1; i < MAX_BARRIERS && w->named_used; i++)
        w->barriers[i].arrived = 0; /* the last block may have arrived once more than waited */
    w->named_used = 0;
    units_begin_block(w);
    TRACE(block(w, place)); /* which still looks at what the block before has left */
    fill_unwritten(w->arena, w->shared_used + w->gaps);
    w->warp = pick_lane(w, w->ready_warps);
    w->now = w->warp * WARP;
    run_block(w);
}

static void prepare(struct worker *w)
{
    const struct cpu_kernel *k = w->launch->kernel;
    uint3 b = k->block;
    gridDim = k->grid;
    blockDim = b;
    w->size = (int)(b.x * b.y * b.z);
    if (memcmp(&w->shape, &b, sizeof b) != 0) {
        uint3 *index = w->index;
        for (uint3 i = {0, 0, 0}; i.z < b.z; i.z++)
            for (i.y = 0; i.y < b.y; i.y++)
                for (i.x = 0; i.x < b.x; i.x++)
                    *index++ = i;
        w->shape = b;
    }
    memset(w->warps, 0, sizeof w->warps);
    memset(w->barriers, 0, sizeof w->barriers);
    w->yielded = w->slept = w->looped = 0;
    w->shared_used = k->shared;
    w->gaps = k->shared ? SHARED_ALIGN : 0;
    w->dynamic = 0;
    w->variables = 0;
}

/* Joins the launch's list of workers, so that count_sleep() counts this one. */
static void join_launch(struct worker *w)
{
    struct launch *l = w->launch;
    reset_sleeps(w);
    w->joined = l->id;
    w->resting = 0;
    w->rest = RESTS_NOT;
    w->looks.n = 0;
    atomic_store(&w->looks.same, 0);
    atomic_store(&w->looks.verdict, 0); /* of a block that ended before it saw the verdict */
    w->running = 1;
    w->peer = atomic_load(&l->workers);
    while (!atomic_compare_exchange_weak(&l->workers, &w->peer, w))
        ;
}

/* --- Several blocks of an OS thread ----------------------------------------------------------- */

static pthread_mutex_t grid = PTHREAD_MUTEX_INITIALIZER; /* guards at_grid, ended, rounds */
static pthread_cond_t grid_changed = PTHREAD_COND_INITIALIZER;

static void tell_others(void)
{
    pthread_mutex_lock(&grid);
    pthread_cond_broadcast(&grid_changed);
    pthread_mutex_unlock(&grid);
}

/* Gives variables in shared memory the same places in all blocks of an OS thread, whichever
 * block came to a variable first. */
static void place_as(struct worker *w, const struct worker *other)
{
    const size_t from = w->shared_used + w->gaps, to = other->shared_used + other->gaps;
    if (to > from)
        fill_unwritten(w->arena + from, to - from);
    w->shared_used = other->shared_used;
    w->gaps = other->gaps;
    w->dynamic = other->dynamic;
    w->variables = other->variables;
    memcpy(w->variable, other->variable, sizeof w->variable);
}

static void begin_turn(struct worker *w)
{
    if (w != cpu_worker)
        place_as(w, cpu_worker);
    cpu_worker = w;
}

/* Ends the block's turn. The last block that reaches the grid's barrier opens it. */
static void end_turn(struct worker *w)
{
    struct launch *l = w->launch;
    const char *why = TRACE_CHECK_OR(rests(w), NULL);
    if (why)
        fault_stop(w, FAULT_MBARRIER, cudaErrorNotSupported, "%s", why);
    if (w->rest == ASLEEP)
        return;
    atomic_store(&w->sleeps, GONE);
    if (!l->kernel->together)
        return;
    pthread_mutex_lock(&grid);
    w->round = l->rounds;
    l->at_grid += w->rest == AT_GRID;
    l->ended += w->rest != AT_GRID;
    if (l->at_grid == l->blocks) {
        TRACE_CHECK(grid_opens());
        l->at_grid = 0;
        l->rounds++;
    }
    if (!l->at_grid || l->at_grid + l->ended == l->blocks)
        pthread_cond_broadcast(&grid_changed);
    pthread_mutex_unlock(&grid);
}

/* Waits until the grid's barrier has opened. w and all other blocks of the OS thread are at it. */
static void wait_for_grid(struct worker *w)
{
    struct launch *l = w->launch;
    pthread_mutex_lock(&grid);
    while (!l->error && w->round == l->rounds && l->at_grid + l->ended < l->blocks)
        pthread_cond_wait(&grid_changed, &grid);
    const int never = w->round == l->rounds && !l->error;
    pthread_mutex_unlock(&grid);
    if (!never)
        return;
    char why[100];
    snprintf(why, sizeof why, "barrier divergence: %llu of the grid's %llu block%s %s ended",
             (unsigned long long)l->ended, (unsigned long long)l->blocks,
             plural((long long)l->blocks), l->ended == 1 ? "has" : "have");
    begin_turn(w);
    blockIdx = w->block;
    fault_stuck(w, FAULT_DIVERGENCE, why);
}

static int is_grid_open(struct worker *w)
{
    pthread_mutex_lock(&grid);
    const int open = w->round != w->launch->rounds;
    pthread_mutex_unlock(&grid);
    return open;
}

/* Runs a block that rests again. Returns false if it waits at grid.sync, which is not open yet. */
static int resume_block(struct worker *w)
{
    if (w->rest == AT_GRID && !is_grid_open(w))
        return 0;
    begin_turn(w);
    blockIdx = w->block;
    TRACE_CHECK(block_again(w));
    if (w->rest == AT_GRID)
        release(w, &w->barriers[0]);
    else
        wake_yielded(w);
    if (w->launch->multiprocessors > 1)
        sched_yield(); /* a block may wait for another OS thread */
    w->rest = RESTS_NOT;
    run_block(w);
    end_turn(w);
    return 1;
}

/* A kernel has failed. Its threads will never end, so the next kernel begins anew. */
static void forget(struct worker *home)
{
    for (struct worker *w = cpu_worker = home; w; w = w->beside) {
        atomic_store(&w->sleeps, GONE);
        w->fibers = w->idles = 0;
        w->running = 0;
        units_forget(w);
    }
    tell_others();
}

static void run_together(struct worker *home)
{
    struct launch *l = home->launch;
    struct worker *w = NULL;
    for (uint64_t i; !l->error && (i = atomic_fetch_add(&l->next, 1)) < l->run;) {
        w = w ? worker_beside(w) : home;
        w->launch = l;
        if (w != home) {
            prepare(w);
            join_launch(w);
            begin_turn(w);
        }
        begin_block(w, place_of(l, i));
        end_turn(w);
    }
    const struct worker *end = w ? w->beside : home;
    for (int resumed = 1; !l->error;) {
        struct worker *waits = NULL;
        for (resumed = 0, w = home; w != end && !l->error; w = w->beside) {
            if (w->rest && !resume_block(w))
                waits = w;
            else
                resumed |= w->rest != RESTS_NOT;
        }
        if (!waits && !resumed)
            break;
        if (!resumed)
            wait_for_grid(waits);
    }
}

/* A worker of the OS thread that has no block. */
static struct worker *free_worker(struct worker *home)
{
    struct worker *w = home;
    while (w->joined == home->joined && w->rest != RESTS_NOT)
        w = worker_beside(w);
    return w;
}

/* Takes a block. Blocks that rest wait for one that has not begun: where many do, the next block is
 * taken from the other end. Returns its place in the order of blocks, or `run` if none is left. */
static uint64_t take_block(struct launch *l, int resting)
{
    enum { MANY = 16 };
    if (atomic_fetch_add(&l->next, 1) >= l->run)
        return l->run;
    return resting < MANY ? atomic_fetch_add(&l->front, 1)
                          : l->run - 1 - atomic_fetch_add(&l->back, 1);
}

/* The blocks of a launch that is not cooperative: each begins when the ones before it have ended or
 * rest, and then one of those that rest has a turn. */
static void run_in_turn(struct worker *home)
{
    struct launch *l = home->launch;
    struct worker *last = home; /* that had a turn */
    for (uint64_t i; !l->error;) {
        int begun = 0;
        if (home->resting < most_resident(home) && (i = take_block(l, home->resting)) < l->run) {
            struct worker *w = home->resting ? free_worker(home) : home;
            if (w->joined != l->id) {
                w->launch = l;
                prepare(w);
                join_launch(w);
            }
            begin_turn(w);
            reset_sleeps(w);
            begin_block(w, place_of(l, i));
            begun = 1;
            home->resting += w->rest != RESTS_NOT;
            if (home->resting || w != home)
                end_turn(w);
        }
        if (!home->resting && !begun)
            return;
        if (!home->resting)
            continue;
        do
            last = last->beside && last->beside->joined == l->id ? last->beside : home;
        while (last->rest == RESTS_NOT);
        home->resting--;
        resume_block(last);
        home->resting += last->rest != RESTS_NOT;
    }
}

/* Apart from the caller of sigsetjmp, so that none of its locals is in a register across the
 * longjmp. */
static __attribute__((noinline)) void run_launch(struct worker *w)
{
    struct launch *l = w->launch;
    join_launch(w);
    if (l->kernel->together)
        run_together(w);
    else
        run_in_turn(w);
    if (l->error)
        forget(w);
    cpu_worker = w;
    for (; w; w = w->beside) {
        atomic_store(&w->sleeps, GONE);
        w->running = 0;
    }
}

void block_run_all(struct worker *w)
{
    const volatile cudaError_t hosts = swap_last_error(cudaSuccess);
    prepare(w);
    if (sigsetjmp(w->escape, 0))
        forget(cpu_worker->home);
    else
        run_launch(w);
    swap_last_error(hosts);
}
