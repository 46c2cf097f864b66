/* check: vector clocks of single threads.
 *
 * All that a thread did before it arrived at an mbarrier happens before what those do who have
 * waited there. A vector clock has for each thread a time, and what that thread did earlier happens
 * before the next access of the clock's owner. Lanes that meet, and threads at a barrier, merge
 * their clocks. Part of a clock is what of that lies behind a fence.proxy.async: a fence counts for
 * all that happens before it, and for all threads that are ordered after it. */
#include "base/avx2.h"
#include "instruments/check/state/check.h"

static struct vector_clock base; /* of all threads of the block, since their last __syncthreads */
static struct vector_clock *joined[MAX_BARRIERS], *spare[MAX_THREADS];
static int spares, size, any;
static uint8_t changed[MAX_WARPS]; /* some lane's vector clock has, since the lanes last met */

IN_BOTH void raise(uint32_t *to, const uint32_t *from, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

IN_BOTH void merge(struct vector_clock *to, const struct vector_clock *from)
{
    raise(to->known, from->known, size);
    for (int space = 0; space < 2; space++)
        raise(to->fenced[space], from->fenced[space], size);
    raise(to->phases, from->phases, MBARRIERS);
}

static WITH_AVX2 void merge_avx2(struct vector_clock *to, const struct vector_clock *from)
{
    merge(to, from);
}

void clock_merge(struct vector_clock *to, const struct vector_clock *from)
{
    if (has_avx2())
        merge_avx2(to, from);
    else
        merge(to, from);
}

static void copy(struct vector_clock *to, const struct vector_clock *from)
{
    const size_t n = (size_t)size * sizeof *to->known;
    memcpy(to->known, from->known, n);
    for (int space = 0; space < 2; space++)
        memcpy(to->fenced[space], from->fenced[space], n);
    memcpy(to->phases, from->phases, sizeof to->phases);
}

static struct vector_clock *unset(void)
{
    any = 1;
    return spares ? spare[--spares]
                  : need_memory(malloc(sizeof(struct vector_clock)), "what check knows");
}

struct vector_clock *clock_new(void)
{
    return memset(unset(), 0, sizeof(struct vector_clock));
}

static struct vector_clock *clock_of(int thread)
{
    if (!order.clock[thread]) {
        order.clock[thread] = unset();
        copy(order.clock[thread], &base);
    }
    changed[thread / WARP] = 1;
    return order.clock[thread];
}

void clock_drop(struct vector_clock **c)
{
    if (*c && spares < MAX_THREADS)
        spare[spares++] = *c;
    else
        free(*c);
    *c = NULL;
}

/* Raises `to` to the times before which all that other threads did happens before what the thread
 * does now. */
static void raise_to_known(uint32_t *to, int thread)
{
    const struct vector_clock *mine = order.clock[thread];
    const int warp = thread / WARP;
    for (int i = 0; i < size; i++) {
        uint32_t when = order.sees[warp][i / WARP];
        when = when > order.barrier_end ? when : order.barrier_end;
        if (i / WARP == warp && order.lane_sees[warp] &&
            order.lane_sees[warp][thread % WARP][i % WARP] > when)
            when = order.lane_sees[warp][thread % WARP][i % WARP];
        to[i] = to[i] > when ? to[i] : when;
    }
    if (mine)
        raise(to, mine->known, size);
    to[thread] = order.now;
}

void clock_known(uint32_t *to, int thread)
{
    raise_to_known(to, thread);
}

void clock_carry(struct vector_clock *to, int thread)
{
    const struct vector_clock *mine = order.clock[thread] ? order.clock[thread] : &base;
    for (int space = 0; space < 2; space++)
        raise(to->fenced[space], mine->fenced[space], size);
    raise(to->phases, mine->phases, MBARRIERS);
}

/* The state that a block leaves here while it rests. */
struct clocks {
    struct vector_clock base, *joined[MAX_BARRIERS];
    int any;
    uint8_t changed[MAX_WARPS];
};

struct clocks *clocks_take(void)
{
    struct clocks *taken = need_memory(malloc(sizeof *taken), "what check knows");
    taken->base = base;
    taken->any = any;
    memcpy(taken->joined, joined, sizeof joined);
    memcpy(taken->changed, changed, sizeof changed);
    memset(joined, 0, sizeof joined);
    return taken;
}

void clocks_give(struct worker *w, struct clocks *given)
{
    size = w->size;
    base = given->base;
    any = given->any;
    memcpy(joined, given->joined, sizeof joined);
    memcpy(changed, given->changed, sizeof changed);
    free(given);
}

void trace_proxy_fence(struct worker *w, int lane, int spaces)
{
    const int thread = thread_at(w, lane);
    order_tick();
    struct vector_clock *mine = clock_of(thread);
    for (int space = 0; space < 2; space++)
        if (spaces >> space & 1)
            raise_to_known(mine->fenced[space], thread);
}

int clock_fenced(shadow_entry e, int me, int space)
{
    const struct vector_clock *mine = order.clock[me] ? order.clock[me] : &base;
    return when_of(e) < mine->fenced[space][thread_of(e)];
}

void clock_release(struct vector_clock *to, int thread)
{
    order_tick();
    clock_merge(to, order.clock[thread] ? order.clock[thread] : &base);
    raise_to_known(to->known, thread);
}

void clock_acquire(int thread, const struct vector_clock *from)
{
    clock_merge(clock_of(thread), from);
}

uint32_t clock_phases(int thread, int mbarrier)
{
    return (order.clock[thread] ? order.clock[thread] : &base)->phases[mbarrier];
}

void clocks_block(struct worker *w)
{
    size = w->size;
    named_forget();
    for (int i = 0; i < MAX_THREADS && any; i++)
        clock_drop(&order.clock[i]);
    for (int i = 0; i < MAX_BARRIERS && any; i++)
        clock_drop(&joined[i]);
    if (any)
        memset(&base, 0, sizeof base);
    any = 0;
    memset(changed, 0, sizeof changed);
}

/* --- Hooks ------------------------------------------------------------------------------------ */

void trace_join(struct worker *w, int barrier)
{
    named_join(w, barrier);
    order_join(barrier);
    if (!order.clock[w->now])
        return;
    if (joined[barrier]) {
        clock_merge(joined[barrier], order.clock[w->now]);
    } else {
        joined[barrier] = unset();
        copy(joined[barrier], order.clock[w->now]);
    }
}

/* At __syncthreads all vector clocks become one, and no thread needs its own. */
void trace_barrier(struct worker *w, int barrier)
{
    order_barrier(w, barrier);
    if (barrier == 0) {
        for (int i = 0; i < size && any; i++)
            if (order.clock[i]) {
                clock_merge(&base, order.clock[i]);
                clock_drop(&order.clock[i]);
            }
        return;
    }
    named_opens(w, barrier);
    if (!joined[barrier])
        return;
    for (int i = 0; i < size; i++)
        if (w->barriers[barrier].waiting[i / WARP] >> i % WARP & 1)
            clock_merge(clock_of(i), joined[barrier]);
    clock_drop(&joined[barrier]);
}

/* Lanes meet at mma, ldmatrix, wgmma and the like as well; but these order no memory. */
void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask)
{
    if (op == CPU_PTX)
        return;
    if (events_wanted)
        events_warp(w, warp, op, mask);
    order_warp(w, warp, mask);
    if (!changed[warp])
        return;
    struct vector_clock *joint = unset();
    copy(joint, &base);
    for (unsigned m = mask; m; m &= m - 1)
        if (order.clock[warp * WARP + __builtin_ctz(m)])
            clock_merge(joint, order.clock[warp * WARP + __builtin_ctz(m)]);
    for (unsigned m = mask; m; m &= m - 1)
        copy(clock_of(warp * WARP + __builtin_ctz(m)), joint);
    clock_drop(&joint);
    changed[warp] = (w->warps[warp].live & ~mask) != 0;
}
