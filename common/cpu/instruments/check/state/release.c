/* check: order by fences and atomics, as PTX's memory model has it (MEMORY-MODEL.md).
 *
 * A release is a fence and, behind it in the same thread, a strong write; or a write that is
 * .release. An acquire is a strong read and, behind it, a fence; or a read that is .acquire. They
 * synchronise if the read finds the value of the write, or one that a chain of atomics has made of
 * it. Then what came before the fence of the one happens before what comes behind the fence of the
 * other.
 *
 * Within a block each place has a vector clock of what was released there (struct held), which an
 * acquire merges into that of its thread. Between blocks nothing is merged, as a grid has too many
 * threads. A release is a node, which says what it covers of its own block. The nodes of a place
 * are a chain, to which atomics add and which any other write ends. An acquire notes the last node
 * that it has found. Whether a thread knows of an access is asked only where another block's access
 * meets it: some node has to cover the access, and the thread to know an acquire of it, of its own
 * block or through others.
 *
 * A write to memory of the host has what fences of the system's scope cover as its news. A host
 * that has read such a place, by an atomic or a volatile access, knows that. */
#include "instruments/check/state/check.h"

#include <pthread.h>

enum { ANY, DEVICE, SYSTEM, SCOPES }; /* ANY: of any scope, which is enough within a block */

/* The reach of a thread's fence: what it did itself before `when`; all of the block before
 * `barrier`; the lanes of its warp before `warp`; and known[], if there is one. when is 0: no
 * fence. shared: it is of `vectors`, and others use it too. */
struct fence {
    uint32_t when, barrier, warp, *known;
    int shared;
};
/* A place that a thread has read, strongly, and when. */
struct seen {
    uintptr_t at;
    uint32_t when;
};
enum { SEEN = 4 };
struct fences {
    struct fence last[SCOPES], before[SCOPES]; /* before: the last one before the block's barrier */
    struct vector_clock *pending;              /* of the own block's releases, or NULL */
    int unused;                                /* no strong write has come behind the last fence */
    struct seen seen[SEEN], behind[SEEN]; /* since the last fence, and before that: the last ones */
    unsigned n_seen, n_behind;
    int *found; /* by relaxed reads since the last fence: the last node of each chain */
    int n_found;
    int news; /* 1 more than the number of the news of its last write, and when; 0: none */
    uint32_t news_at;
};
/* Releases of the block's own threads at a place. */
struct held {
    uintptr_t at; /* of its shadow cell; 0: none */
    int chain;    /* when the clock was made: another one means that the place was overwritten */
    struct vector_clock *clock;
    int node;                       /* the block's last in the place's chain, or -1 */
    int thread;                     /* that released last, */
    uint32_t fences, barrier, warp; /* and what it knew */
    uint32_t latest;                /* all that the clock knows is from before this */
};
static struct releases {
    struct fences of[MAX_THREADS];
    uint32_t fences, latest; /* how many there were, and the time of the last one */
    int fencers;             /* the thread that made them all; -1: several */
    /* The reach of all fences together, where a barrier has come behind them: made when there were
     * so many. */
    struct fence all[SCOPES];
    uint32_t all_fences[SCOPES];
    struct held *held;
    int n_held, places; /* of the table, and used */
    int size;
    struct releases *next; /* of those that are free */
} * mine, *spare;

static struct node {
    struct fence covers;
    int record, thread, chain, index, before, of_record; /* before, of_record: -1: no more */
    int captured;                                        /* some thread has found it */
    int host;                                            /* the host knows what it covers */
    unsigned mark;
} * nodes;
static int n_nodes;
static struct acquire {
    int node, record, thread, of_chain, of_record;
    uint32_t when;
} * acquires;
static int n_acquires;
/* Each block that has released or acquired: its last node, its last acquire, and its last
 * news for the host. */
static struct record {
    int node, acquire, news;
} * records;
static int n_records;
/* Of blocks: they are kept until the launch ends. */
static uint32_t **vectors;
static int n_vectors;
static struct chain {
    int acquire, length;
} * chains;
static int n_chains;
/* Places in global memory: their chains and the chains' last nodes, -1 while there is none; and
 * what the host learns if it reads the place. */
static struct spot {
    uintptr_t at;
    int chain, node, news;
} * spots;
static int n_spots, used_spots;

/* --- Tables ----------------------------------------------------------------------------------- */

static uint32_t rounds; /* order.rounds, when all this began */

static unsigned hash_of(uintptr_t at)
{
    return (unsigned)((at / 4 * 0x9e3779b97f4a7c15u) >> 32);
}

static struct spot *spot_at(uintptr_t at, int make)
{
    if (make && 2 * used_spots >= n_spots) {
        struct spot *old = spots;
        const int n = n_spots;
        n_spots = n ? 2 * n : 64;
        spots = need_memory(calloc((size_t)n_spots, sizeof *spots), "what check knows");
        used_spots = 0;
        for (int i = 0; i < n; i++)
            if (old[i].at)
                *spot_at(old[i].at, 1) = old[i];
        free(old);
    }
    if (!n_spots)
        return NULL;
    unsigned i = hash_of(at) & (unsigned)(n_spots - 1);
    while (spots[i].at && spots[i].at != at)
        i = (i + 1) & (unsigned)(n_spots - 1);
    if (!spots[i].at && !make)
        return NULL;
    if (!spots[i].at) {
        spots[i] = (struct spot){at, -1, -1, -1};
        used_spots++;
    }
    return &spots[i];
}

static struct held *held_at(uintptr_t at, int make)
{
    if (make && 2 * mine->places >= mine->n_held) {
        struct held *old = mine->held;
        const int n = mine->n_held;
        mine->n_held = n ? 2 * n : 16;
        mine->held = need_memory(calloc((size_t)mine->n_held, sizeof *old), "what check knows");
        mine->places = 0;
        for (int i = 0; i < n; i++)
            if (old[i].at)
                *held_at(old[i].at, 1) = old[i];
        free(old);
    }
    if (!mine->n_held)
        return NULL;
    unsigned i = hash_of(at) & (unsigned)(mine->n_held - 1);
    while (mine->held[i].at && mine->held[i].at != at)
        i = (i + 1) & (unsigned)(mine->n_held - 1);
    if (!mine->held[i].at && !make)
        return NULL;
    if (!mine->held[i].at) {
        mine->held[i] = (struct held){.at = at, .chain = -1, .node = -1, .thread = -1};
        mine->places++;
    }
    return &mine->held[i];
}

static void drop(struct fence *f)
{
    if (!f->shared)
        free(f->known);
    f->known = NULL;
}

static struct releases *of_block(void)
{
    if (mine)
        return mine;
    mine = spare;
    if (mine)
        spare = mine->next;
    else
        mine = need_memory(calloc(1, sizeof *mine), "what check knows");
    mine->size = cpu_worker->size;
    mine->fencers = -2;
    return mine;
}

struct releases *release_take(void)
{
    struct releases *taken = mine;
    mine = NULL;
    return taken;
}

void release_give(struct releases *given)
{
    mine = given;
}

void release_block(void)
{
    if (!mine)
        return;
    for (int i = 0; i < mine->size; i++) {
        struct fences *f = &mine->of[i];
        for (int scope = 0; scope < SCOPES; scope++)
            free(f->last[scope].known), free(f->before[scope].known);
        if (f->pending)
            clock_drop(&f->pending);
        free(f->found);
    }
    memset(mine->of, 0, (size_t)mine->size * sizeof *mine->of);
    for (int i = 0; i < mine->n_held; i++)
        if (mine->held[i].clock)
            clock_drop(&mine->held[i].clock);
    free(mine->held);
    mine->held = NULL;
    mine->n_held = mine->places = 0;
    mine->fences = 0;
    memset(mine->all_fences, 0, sizeof mine->all_fences);
    mine->next = spare;
    spare = mine;
    mine = NULL;
}

/* The news that the host gets if it reads a place in memory of its own: what fences of the system's
 * scope cover there, and all that came before a barrier of the grid, at the time `grid`. An atomic
 * adds to the news of the place, which are `before`. */
static struct news {
    struct fence covers;
    int record, thread, before, of_record;
    uint32_t grid;
    int known; /* the host has read there */
} * news;
enum { MOST_NEWS = 1 << 18 };  /* from then on time alone tells */
static int n_news, host_reads; /* host_reads: how often it has learned something */
/* When the launch made its last fence of the system's scope, and its last one before the grid's
 * last barrier; 0: none. */
static uint32_t system_fence, system_before;
static uint32_t host_grid; /* the latest time `grid` of what the host knows */
/* A launch runs, or another one than that which all this is of. Launches are in one OS thread, and
 * the host may read in others. */
static int running = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void release_launch(void)
{
    pthread_mutex_lock(&lock);
    running = 1;
    pthread_mutex_unlock(&lock);
    rounds = order.rounds;
    for (int i = 0; i < n_nodes; i++)
        drop(&nodes[i].covers);
    for (int i = 0; i < n_news; i++)
        drop(&news[i].covers);
    n_news = host_reads = 0;
    system_fence = system_before = host_grid = 0;
    for (int i = 0; i < n_vectors; i++)
        free(vectors[i]);
    n_vectors = 0;
    n_nodes = n_acquires = n_records = n_chains = 0;
    if (used_spots)
        memset(spots, 0, (size_t)n_spots * sizeof *spots);
    used_spots = 0;
    order.synced = 0;
    order.record = -1;
}

void release_launch_ends(void)
{
    pthread_mutex_lock(&lock);
    running = 0;
    pthread_mutex_unlock(&lock);
}

/* Time has begun anew, and no release is known any more. */
static void begin_anew(void)
{
    release_block();
    release_launch();
}

/* --- What is covered -------------------------------------------------------------------------- */

/* The time before which all that `thread` did is covered by a fence of `by`. */
static uint32_t covered(const struct fence *f, int by, int thread)
{
    uint32_t when = thread == by ? f->when : 0;
    if (f->known)
        return f->known[thread] > when ? f->known[thread] : when;
    when = f->barrier > when ? f->barrier : when;
    return thread / WARP == by / WARP && f->warp > when ? f->warp : when;
}

static int covers(const struct fence *f, int by, int thread, uint32_t when)
{
    return when < covered(f, by, thread);
}

static int knows(int me, int thread, uint32_t when)
{
    return happens_before((shadow_entry)when << 39 | (shadow_entry)thread << 24, me);
}

/* A fence of the thread, now. */
static struct fence fence_now(int thread)
{
    const int warp = thread / WARP;
    struct fence f = {order.now, order.barrier_end, order.sees[warp][warp], NULL, 0};
    if (order.named || order.lane_sees[warp] || order.clock[thread]) {
        f.known =
            need_memory(calloc((size_t)cpu_worker->size, sizeof *f.known), "what check knows");
        clock_known(f.known, thread);
    }
    return f;
}

/* f, of the thread `by`, covers what `other`, a fence of `its`, does as well. */
static void widen(struct fence *f, int by, const struct fence *other, int its)
{
    if (!f->known || f->shared) {
        uint32_t *known =
            need_memory(calloc((size_t)mine->size, sizeof *known), "what check knows");
        for (int i = 0; i < mine->size; i++)
            known[i] = covered(f, by, i);
        f->known = known;
        f->shared = 0;
    }
    for (int i = 0; i < mine->size; i++) {
        const uint32_t when = covered(other, its, i);
        f->known[i] = f->known[i] > when ? f->known[i] : when;
    }
}

/* The reach of the fences of all threads, the last ones and those before the barrier before. */
static struct fence all_fences(int scope)
{
    struct fence *all = &mine->all[scope];
    if (mine->all_fences[scope] == mine->fences)
        return *all;
    *all = (struct fence){0};
    for (int i = 0; i < mine->size; i++)
        if (mine->of[i].last[scope].when)
            widen(all, 0, &mine->of[i].last[scope], i);
    if (all->known) {
        all->shared = 1;
        vectors = grown(vectors, n_vectors, sizeof *vectors);
        vectors[n_vectors++] = all->known;
    }
    mine->all_fences[scope] = mine->fences;
    return *all;
}

/* Released by a strong write of the thread: what its last fence covers, and what fences of other
 * threads cover that come before the write, by a barrier or the like. when is 0 and known NULL if
 * there is nothing. */
static struct fence released(int thread, int scope, int now)
{
    if (!now && mine->fencers == -1 && mine->latest < order.barrier_end)
        return all_fences(scope);
    struct fence f = now ? fence_now(thread) : mine->of[thread].last[scope];
    if (!now && f.known) {
        const uint32_t *known = f.known;
        f.known = need_memory(calloc((size_t)mine->size, sizeof *known), "what check knows");
        memcpy(f.known, known, (size_t)mine->size * sizeof *known);
    }
    for (int i = 0; i < mine->size && mine->fencers != thread && mine->fencers != -2; i++) {
        const struct fence *other = &mine->of[i].last[scope];
        if (other->when && !knows(thread, i, other->when))
            other = &mine->of[i].before[scope];
        if (i != thread && other->when && knows(thread, i, other->when) &&
            other->when > covered(&f, thread, i))
            widen(&f, thread, other, i);
    }
    return f;
}

/* --- Releases --------------------------------------------------------------------------------- */

static int record_of_block(void)
{
    if (order.record < 0) {
        records = grown(records, n_records, sizeof *records);
        records[n_records] = (struct record){-1, -1, -1};
        order_recorded(order.record = n_records++);
    }
    return order.record;
}

static void chain_begins(struct spot *p)
{
    chains = grown(chains, n_chains, sizeof *chains);
    chains[n_chains] = (struct chain){-1, 0};
    p->chain = n_chains++;
    p->node = -1;
}

/* Adds a release to the chain of the place. */
static void node_add(struct spot *p, struct held *h, int thread, struct fence f)
{
    const int record = record_of_block();
    struct node *last = p->node >= 0 ? &nodes[p->node] : NULL;
    if (p->chain < 0)
        chain_begins(p);
    if (last && last->record == record && !last->captured) {
        if (last->thread == thread && !last->covers.known && !f.known)
            last->covers = f;
        else if (!f.shared || f.known != last->covers.known)
            widen(&last->covers, last->thread, &f, thread);
        drop(&f);
        h->node = p->node;
        return;
    }
    nodes = grown(nodes, n_nodes, sizeof *nodes);
    nodes[n_nodes] = (struct node){.covers = f,
                                   .record = record,
                                   .thread = thread,
                                   .chain = p->chain,
                                   .index = chains[p->chain].length++,
                                   .before = p->node,
                                   .of_record = records[record].node};
    records[record].node = p->node = h->node = n_nodes++;
}

static void forget(struct held *h)
{
    if (h->clock)
        clock_drop(&h->clock);
    h->node = h->thread = -1;
}

/* The block's releases there, if another block has not overwritten it. */
static struct held *held_now(uintptr_t at)
{
    struct held *h = mine ? held_at(at, 0) : NULL;
    const struct spot *p = h && h->chain >= 0 ? spot_at(at, 0) : NULL;
    if (p && p->chain != h->chain)
        forget(h);
    return h;
}

/* A strong write to the place by the thread releases; by an atomic it goes on with what was
 * released there before. Returns whether there is something that other blocks can acquire. */
static int release(int thread, uintptr_t at, int adds, int flags)
{
    const int now = (flags & TRACE_RELEASE) != 0, global = at < ARENA_AT;
    const int to_device = global && !(flags & TRACE_BLOCK_SCOPE), warp = thread / WARP;
    struct spot *p = global ? spot_at(at, 0) : NULL;
    struct held *h = held_now(at);
    if (h && !adds)
        forget(h);
    if (p && (!adds || !to_device)) {
        p->chain = p->node = -1;
        if (h)
            h->chain = -1;
    }
    if (!now && (!mine || !mine->fences))
        return 0;
    of_block();
    if (now)
        order_tick();
    /* Often it is there already. */
    if (h && h->clock && !now && h->fences == mine->fences && h->barrier == order.barrier_end &&
        ((h->thread == thread && h->warp == order.sees[warp][warp]) ||
         (mine->latest < order.barrier_end &&
          h->clock->known[thread] >= mine->of[thread].last[ANY].when)))
        return 0;
    struct fence f = released(thread, ANY, now);
    if (!f.when && !f.known)
        return 0;
    h = held_at(at, 1);
    if (!h->clock)
        h->clock = clock_new();
    for (int i = 0; i < mine->size; i++) {
        const uint32_t when = covered(&f, thread, i);
        h->clock->known[i] = h->clock->known[i] > when ? h->clock->known[i] : when;
    }
    clock_carry(h->clock, thread);
    h->thread = thread;
    h->fences = mine->fences;
    h->barrier = order.barrier_end;
    h->warp = order.sees[warp][warp];
    h->latest = now ? order.now : mine->latest > h->latest ? mine->latest : h->latest;
    drop(&f);
    f = (struct fence){0};
    if (to_device)
        f = released(thread, DEVICE, now);
    if (f.when || f.known) {
        p = spot_at(at, 1);
        node_add(p, h, thread, f);
    }
    h->chain = p ? p->chain : -1;
    if (now)
        order_tick();
    return f.when || f.known;
}

/* --- Acquires --------------------------------------------------------------------------------- */

/* The thread knows now what the node, and those before it in its chain, cover. */
static void take_in(int thread, int node)
{
    const int record = record_of_block(), chain = nodes[node].chain;
    for (int i = records[record].acquire, n = 0; i >= 0 && n < 8; i = acquires[i].of_record, n++)
        if (acquires[i].node == node && acquires[i].thread == thread)
            return;
    acquires = grown(acquires, n_acquires, sizeof *acquires);
    acquires[n_acquires] = (struct acquire){
        node, record, thread, chains[chain].acquire, records[record].acquire, order.now};
    records[record].acquire = chains[chain].acquire = n_acquires++;
}

static void note_found(struct fences *f, int node)
{
    for (int i = f->n_found - 1; i >= 0 && i >= f->n_found - 8; i--)
        if (nodes[f->found[i]].chain == nodes[node].chain) {
            f->found[i] = node;
            return;
        }
    enum { MOST = 4096 };
    if (f->n_found == MOST)
        f->n_found = 0; /* of a thread that looks at thousands of places and never fences */
    f->found = grown(f->found, f->n_found, sizeof *f->found);
    f->found[f->n_found++] = node;
}

/* The thread has read the place, strongly. node: where the chain was when its value was written. */
static void found(int thread, uintptr_t at, int node, int own, int flags)
{
    const struct held *h = own ? held_now(at) : NULL;
    if (h && h->clock && h->latest >= order.barrier_end) {
        if (flags & TRACE_ACQUIRE) {
            clock_acquire(thread, h->clock);
        } else {
            struct fences *f = &mine->of[thread];
            if (!f->pending)
                f->pending = clock_new();
            clock_merge(f->pending, h->clock);
        }
    }
    if (node < 0 || flags & TRACE_BLOCK_SCOPE)
        return;
    nodes[node].captured = 1;
    if (flags & TRACE_ACQUIRE)
        take_in(thread, node);
    else
        note_found(&of_block()->of[thread], node);
}

int order_follows_fence(int thread)
{
    return !mine || !mine->of[thread].last[ANY].when || mine->of[thread].unused;
}

int order_has_read(int thread, uintptr_t at, shadow_entry e)
{
    for (int i = 0; mine && i < SEEN; i++)
        if (mine->of[thread].behind[i].at == at && mine->of[thread].behind[i].when >= when_of(e))
            return 1;
    return 0;
}

static int chain_of(uintptr_t at)
{
    const struct spot *p = at < ARENA_AT ? spot_at(at, 0) : NULL;
    return p ? p->node : -1;
}

int order_strong(int thread, uintptr_t at, enum kind kind, int flags)
{
    if (!order.synced && !(flags & (TRACE_ACQUIRE | TRACE_RELEASE)))
        return 0;
    order_ticks(4);
    if (rounds != order.rounds)
        begin_anew();
    order.synced = 1;
    if (kind != READ && mine)
        mine->of[thread].unused = 0;
    if (kind != WRITE) {
        struct fences *f = &of_block()->of[thread];
        if (f->n_seen && f->seen[(f->n_seen - 1) % SEEN].at == at)
            f->n_seen--;
        f->seen[f->n_seen++ % SEEN] = (struct seen){at, order.now};
    }
    if (kind != WRITE)
        found(thread, at, chain_of(at), 1, flags);
    if (kind == READ)
        return 0;
    const int released = release(thread, at, kind == ATOMIC, flags);
    if (at < ARENA_AT && (system_fence || flags & TRACE_RELEASE)) {
        const struct object *o = object_of(address_of((int64_t)at));
        if (o && !o->device)
            order_tells_host(thread, at, kind == ATOMIC, flags);
    }
    return released;
}

/* Of variables that blocks may wait for, changed by a release: what the last change found. */
enum { CHANGES = 4096 };
static struct change {
    uintptr_t p;
    uint64_t before;
    unsigned bytes;
    int node;             /* the release there before */
    uint32_t when, shown; /* shown: the start of the block that has loaded `before` */
} changes[CHANGES];       /* at p / 4 modulo their number; what is pushed out is not shown */

void order_atomic(int thread, uintptr_t at, const void *p, unsigned bytes, enum kind kind,
                  int flags)
{
    const int node = order.synced ? chain_of(at) : -1;
    if (!order_strong(thread, at, kind, flags) || bytes > sizeof changes->before)
        return;
    struct change *c = &changes[at / 4 % CHANGES];
    *c = (struct change){.p = at, .bytes = bytes, .node = node, .when = order.now};
    memcpy(&c->before, p, bytes);
}

/* A block finds what blocks before it have left, and a wait for the wrong value would go unseen. So
 * its first load returns the value before the last change, unless that change happens before the
 * load. */
const void *order_poll(int thread, uintptr_t at, const void *p, unsigned bytes, int flags)
{
    struct change *c = &changes[at / 4 % CHANGES];
    if (!(c->p == at && c->when >= order.grid_start && c->when < order.block_start &&
          c->shown != order.block_start && bytes == c->bytes &&
          !order_released(shadow[at / 4].write, thread))) {
        order_strong(thread, at, READ, flags);
        return p;
    }
    c->shown = order.block_start;
    found(thread, at, c->node, 0, flags);
    return &c->before;
}

void order_overwritten(uintptr_t at)
{
    struct spot *p = at < ARENA_AT ? spot_at(at, 0) : NULL;
    struct held *h = mine ? held_at(at, 0) : NULL;
    if (p)
        p->chain = p->node = -1;
    if (h)
        forget(h);
}

void order_fence(int thread, enum cpu_scope scope)
{
    order_ticks(4);
    if (rounds != order.rounds)
        begin_anew();
    struct fences *f = &of_block()->of[thread];
    order.synced = 1;
    order_tick();
    if (f->pending) {
        clock_acquire(thread, f->pending);
        clock_drop(&f->pending);
    }
    for (int i = 0; i < f->n_found && scope != CPU_SCOPE_BLOCK; i++)
        take_in(thread, f->found[i]);
    if (scope != CPU_SCOPE_BLOCK) {
        free(f->found);
        f->found = NULL;
        f->n_found = 0;
    }
    order_tick();
    mine->fences++;
    mine->latest = order.now;
    f->unused = 1;
    for (unsigned i = f->n_seen > SEEN ? f->n_seen - SEEN : 0; i < f->n_seen; i++)
        f->behind[f->n_behind++ % SEEN] = f->seen[i % SEEN];
    f->n_seen = 0;
    mine->fencers = mine->fencers == -2 || mine->fencers == thread ? thread : -1;
    const int widest = scope == CPU_SCOPE_BLOCK ? ANY : scope == CPU_SCOPE_DEVICE ? DEVICE : SYSTEM;
    if (widest == SYSTEM && system_fence < order.grid_start)
        system_before = system_fence;
    if (widest == SYSTEM)
        system_fence = order.now;
    for (int i = 0; i <= widest; i++) {
        if (f->last[i].when && f->last[i].when < order.barrier_end) {
            free(f->before[i].known);
            f->before[i] = f->last[i];
        } else {
            free(f->last[i].known);
        }
        f->last[i] = fence_now(thread);
    }
    order_tick();
}

/* --- The host --------------------------------------------------------------------------------- */

void order_tells_host(int thread, uintptr_t place, int adds, int flags)
{
    const uintptr_t at = place & -(uintptr_t)4;
    const int now = flags & TRACE_RELEASE && !(flags & (TRACE_BLOCK_SCOPE | TRACE_DEVICE_SCOPE));
    if (rounds != order.rounds)
        begin_anew();
    struct spot *p = spot_at(at, 0);
    const int before = p && adds ? p->news : -1;
    if (p)
        p->news = before;
    if ((!now && !system_fence) || n_news == MOST_NEWS)
        return;
    struct fences *own = &of_block()->of[thread];
    if (before < 0 && !now && own->news && own->news_at == order.now) {
        spot_at(at, 1)->news = own->news - 1; /* of another place, and nothing else */
        return;
    }
    const struct fence f = released(thread, SYSTEM, now);
    const uint32_t before_grid = system_fence < order.grid_start ? system_fence : system_before;
    const uint32_t grid = f.when || f.known ? order.grid_start : before_grid;
    if (!grid)
        return;
    const int record = record_of_block();
    news = grown(news, n_news, sizeof *news);
    news[n_news] = (struct news){.covers = f,
                                 .record = record,
                                 .thread = thread,
                                 .before = before,
                                 .of_record = records[record].news,
                                 .grid = grid};
    records[record].news = spot_at(at, 1)->news = n_news++;
    own->news = before < 0 ? n_news : 0;
    own->news_at = order.now;
}

/* The host knows all that the fence covers, of that block and, by what it has acquired, of
 * others. */
static void host_learns(const struct fence *covering, int thread, int record)
{
    int *stack = need_memory(malloc((size_t)(n_nodes + 1) * sizeof *stack), "what check knows");
    for (int depth = 0;;) {
        for (int i = records[record].acquire; i >= 0; i = acquires[i].of_record)
            if (covers(covering, thread, acquires[i].thread, acquires[i].when))
                for (int k = acquires[i].node; k >= 0 && !nodes[k].host; k = nodes[k].before) {
                    nodes[k].host = 1;
                    stack[depth++] = k;
                }
        if (!depth)
            break;
        const struct node *n = &nodes[stack[--depth]];
        covering = &n->covers;
        thread = n->thread;
        record = n->record;
    }
    free(stack);
}

int order_host_reads(uintptr_t place, shadow_entry e)
{
    pthread_mutex_lock(&lock);
    const int can = !running && rounds == order.rounds && when_of(e) >= order.launch_start &&
                    n_news < MOST_NEWS;
    const struct spot *p = can ? spot_at(place & -(uintptr_t)4, 0) : NULL;
    for (int i = p ? p->news : -1; i >= 0 && !news[i].known; i = news[i].before) {
        news[i].known = 1;
        host_grid = news[i].grid > host_grid ? news[i].grid : host_grid;
        host_learns(&news[i].covers, news[i].thread, news[i].record);
    }
    host_reads += can;
    pthread_mutex_unlock(&lock);
    return can;
}

int order_host_has_read(shadow_entry e)
{
    return host_reads && !running && when_of(e) >= order.launch_start;
}

int order_host_knows(shadow_entry e)
{
    if (!order_host_has_read(e))
        return 0;
    pthread_mutex_lock(&lock);
    int knows_it = running || when_of(e) < host_grid;
    const int record = running ? -1 : order_record_of(e);
    for (int i = record < 0 ? -1 : records[record].news; i >= 0 && !knows_it; i = news[i].of_record)
        knows_it =
            news[i].known && covers(&news[i].covers, news[i].thread, thread_of(e), when_of(e));
    for (int i = record < 0 ? -1 : records[record].node; i >= 0 && !knows_it;
         i = nodes[i].of_record)
        knows_it =
            nodes[i].host && covers(&nodes[i].covers, nodes[i].thread, thread_of(e), when_of(e));
    pthread_mutex_unlock(&lock);
    return knows_it;
}

/* --- Questions -------------------------------------------------------------------------------- */

int order_observed(shadow_entry e, int me)
{
    const struct fences *f = mine && rounds == order.rounds ? &mine->of[me] : NULL;
    if (!f)
        return 0;
    if (is_own(e) && f->pending && when_of(e) < f->pending->known[thread_of(e)])
        return 1;
    const int record = order_record_of(e);
    for (int i = 0; i < f->n_found && record >= 0; i++)
        for (int n = records[record].node; n >= 0; n = nodes[n].of_record)
            if (nodes[n].chain == nodes[f->found[i]].chain &&
                nodes[n].index <= nodes[f->found[i]].index &&
                covers(&nodes[n].covers, nodes[n].thread, thread_of(e), when_of(e)))
                return 1;
    return 0;
}

/* Whether `me`, of the running block, knows an acquire of the node by its block. */
static int is_taken_in(int node, int me)
{
    for (int i = chains[nodes[node].chain].acquire; i >= 0; i = acquires[i].of_chain)
        if (acquires[i].record == order.record &&
            nodes[acquires[i].node].index >= nodes[node].index &&
            knows(me, acquires[i].thread, acquires[i].when))
            return 1;
    return 0;
}

/* Marks all nodes that `me` knows: those whose acquire it knows, and in turn those whose acquire
 * one of them covers. */
static unsigned mark_known(int me)
{
    static unsigned mark;
    static int thread, n, m, record, *stack;
    static uint32_t now;
    if (mark && thread == me && n == n_nodes && m == n_acquires && now == order.now &&
        record == order.record)
        return mark;
    mark++;
    thread = me, n = n_nodes, m = n_acquires, now = order.now, record = order.record;
    int depth = 0;
    stack = need_memory(realloc(stack, (size_t)(n + 1) * sizeof *stack), "what check knows");
    for (int i = records[order.record].acquire; i >= 0; i = acquires[i].of_record)
        if (knows(me, acquires[i].thread, acquires[i].when))
            for (int k = acquires[i].node; k >= 0 && nodes[k].mark != mark; k = nodes[k].before)
                nodes[stack[depth++] = k].mark = mark;
    while (depth) {
        const struct node *by = &nodes[stack[--depth]];
        for (int i = records[by->record].acquire; i >= 0; i = acquires[i].of_record)
            if (covers(&by->covers, by->thread, acquires[i].thread, acquires[i].when))
                for (int k = acquires[i].node; k >= 0 && nodes[k].mark != mark; k = nodes[k].before)
                    nodes[stack[depth++] = k].mark = mark;
    }
    return mark;
}

int order_released(shadow_entry e, int me)
{
    if (order.record < 0 || records[order.record].acquire < 0)
        return 0;
    const int record = order_record_of(e);
    if (record < 0)
        return 0;
    int covering = 0;
    for (int i = records[record].node; i >= 0; i = nodes[i].of_record) {
        if (!covers(&nodes[i].covers, nodes[i].thread, thread_of(e), when_of(e)))
            continue;
        covering++;
        if (is_taken_in(i, me))
            return 1;
    }
    if (!covering)
        return 0;
    const unsigned mark = mark_known(me);
    for (int i = records[record].node; i >= 0; i = nodes[i].of_record)
        if (nodes[i].mark == mark &&
            covers(&nodes[i].covers, nodes[i].thread, thread_of(e), when_of(e)))
            return 1;
    return 0;
}
