/* check: named barriers that two groups of threads share.
 *
 * A barrier counts arrivals and does not ask whose they are. So whoever comes to it for a phase has
 * to know that the phase before is complete: all its arrivals have to happen before. Threads that
 * have waited there know. Others know it by a barrier, an mbarrier or the like in between. Where
 * nobody tells them, their arrival may count for the phase before, which then opens too early. */
#include "instruments/check/state/check.h"

#include <stdio.h>

/* The arrivals of a phase: the last one of each warp. */
struct phase {
    unsigned warps; /* a bit for each that has arrived */
    shadow_entry last[MAX_WARPS];
};
static struct phase now[NAMED_BARRIERS], before[NAMED_BARRIERS];
/* Of a warp that is on its way there: the lanes that have arrived. In a random order they do so one
 * by one, and a barrier that two groups share may open between two of them. */
static unsigned lanes[NAMED_BARRIERS][MAX_WARPS];
static unsigned used, told; /* in this block: a bit for each barrier */
static uint32_t latest;     /* the time of the last arrival */

void named_forget(void)
{
    if (used) {
        memset(now, 0, sizeof now);
        memset(before, 0, sizeof before);
        memset(lanes, 0, sizeof lanes);
    }
    used = told = 0;
}

/* Whether a lane of the warp knows that arrival: the warp comes to the barrier as one. */
static int warp_knows(const struct worker *w, int warp, shadow_entry arrival)
{
    for (unsigned m = w->warps[warp].live; m; m &= m - 1)
        if (happens_before(arrival, warp * WARP + __builtin_ctz(m)))
            return 1;
    return 0;
}

static void report(const struct worker *w, int barrier, shadow_entry earlier, int threads)
{
    char text[400];
    if (told >> barrier & 1)
        return;
    told |= 1u << barrier;
    int n =
        snprintf(text, sizeof text, "number %d for %d threads, at which threads", barrier, threads);
    for (int i = 0, comma = 0; i < MAX_WARPS; i++) {
        if (!(before[barrier].warps >> i & 1))
            continue;
        const int first = i;
        while (i + 1 < MAX_WARPS && before[barrier].warps >> (i + 1) & 1)
            i++;
        const int end = (i + 1) * WARP < w->size ? (i + 1) * WARP : w->size;
        if (n < 200)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s %d-%d", comma++ ? "," : "",
                          first * WARP, end - 1);
    }
    snprintf(
        text + n, sizeof text - (size_t)n,
        " meet (%%1), is used by others too (%%2), and nothing orders the two: any %d of them all "
        "open it, some before their own group is there; need a number for each group, or a "
        "__syncthreads between",
        threads);
    const struct side sides[2] = {
        {READ, code_in(earlier), thread_of(earlier), order.block},
        {READ, statement[w->now], (int)w->now, order.block},
    };
    finding_add(NAMED_BARRIER, order.kernel, sides, 2, 0, NULL, 0, text);
}

void named_join(const struct worker *w, int barrier)
{
    const int warp = (int)w->now / WARP;
    struct phase *p = &now[barrier];
    if (barrier >= NAMED_BARRIERS)
        return; /* of a tile of several warps, which nobody else can use */
    if (order.now < latest)
        named_forget(); /* time has begun anew, and with it what is known */
    latest = order.now;
    used |= 1u << barrier;
    p->warps |= 1u << warp;
    p->last[warp] = entry_of((int)w->now, statement[w->now], 0);
    lanes[barrier][warp] |= 1u << w->now % WARP;
    if (w->warps[warp].live & ~lanes[barrier][warp])
        return;
    lanes[barrier][warp] = 0;
    for (unsigned m = before[barrier].warps & ~(1u << warp); m; m &= m - 1) {
        const shadow_entry earlier = before[barrier].last[__builtin_ctz(m)];
        if (!warp_knows(w, warp, earlier)) {
            report(w, barrier, earlier, w->barriers[barrier].threads);
            return;
        }
    }
}

void named_opens(const struct worker *w, int barrier)
{
    if (barrier >= NAMED_BARRIERS)
        return;
    const int warp = (int)w->now / WARP;
    int other = -1, part = 0; /* of a warp, not all lanes have come: there are more than needed */
    for (unsigned m = now[barrier].warps; m; m &= m - 1) {
        const int i = __builtin_ctz(m);
        part |= lanes[barrier][i] != 0;
        other = i != warp && (other < 0 || lanes[barrier][i]) ? i : other;
    }
    before[barrier] = now[barrier];
    if (part && other >= 0)
        report(w, barrier, now[barrier].last[other], w->barriers[barrier].threads);
    memset(&now[barrier], 0, sizeof now[barrier]);
}

int named_told(void)
{
    return told != 0;
}

struct named {
    struct phase now[NAMED_BARRIERS], before[NAMED_BARRIERS];
    unsigned lanes[NAMED_BARRIERS][MAX_WARPS], used, told;
};

struct named *named_take(void)
{
    struct named *taken = NULL;
    if (used) {
        taken = need_memory(malloc(sizeof *taken), "what check knows");
        memcpy(taken->now, now, sizeof now);
        memcpy(taken->before, before, sizeof before);
        memcpy(taken->lanes, lanes, sizeof lanes);
        taken->used = used;
        taken->told = told;
    }
    named_forget();
    return taken;
}

void named_give(struct named *given)
{
    named_forget();
    if (!given)
        return;
    memcpy(now, given->now, sizeof now);
    memcpy(before, given->before, sizeof before);
    memcpy(lanes, given->lanes, sizeof lanes);
    used = given->used;
    told = given->told;
    free(given);
}

void named_differs(unsigned barrier, const char *text)
{
    char more[700];
    shadow_entry first = 0;
    for (int i = 0; i < MAX_WARPS; i++)
        if (now[barrier].warps >> i & 1 && (!first || now[barrier].last[i] < first))
            first = now[barrier].last[i];
    const struct side sides[2] = {
        {READ, code_in(first), thread_of(first), order.block},
        {READ, statement[cpu_worker->now], (int)cpu_worker->now, order.block},
    };
    snprintf(more, sizeof more, "%s: the first is used at %%1, this at %%2", text);
    finding_add(DIVERGENCE, order.kernel, sides, 2, 0, NULL, 0, more);
}
