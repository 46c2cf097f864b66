/* check: memory that nobody reads. It breaks no rule; where results are wrong, it shows what was
 * left out. CUDACPU_UNREAD=1 asks for it. Of shared memory: what a launch writes, and none of its
 * blocks reads afterwards.
 *
 * Blocks are looked at when they end: what a cell's last access was, the shadow memory knows. What
 * bulk copies and wgmma read it does not, so of a launch that uses them nothing is said. */
#include "instruments/check/state/check.h"

static struct cell {
    uint32_t code;
    int thread;
    uint64_t block;
    int is_read;
} cells[ARENA / 4];
static uintptr_t arena;    /* 0: no block has begun */
static int launch_unknown; /* a block of this launch has used the async proxy */
static int unknown;        /* a block of any has, or time began anew: earlier reads are forgotten */
static uint32_t latest;    /* the time when a block ended */

int unread_wanted(void)
{
    static int wanted = -1;
    if (wanted < 0) {
        const char *asked = getenv("CUDACPU_UNREAD");
        wanted = asked && *asked == '1';
    }
    return wanted;
}

void unread_block_ended(void)
{
    if (!unread_wanted() || !arena)
        return;
    launch_unknown |= proxy_used;
    unknown |= proxy_used || order.now < latest;
    latest = order.now;
    for (size_t i = 0; i < ARENA / 4; i++) {
        const struct shadow_cell *c = &shadow[ARENA_AT / 4 + i];
        struct cell *mine = &cells[i];
        const int is_read =
            when_of(c->read[0]) >= order.block_start || when_of(c->read[1]) >= order.block_start;
        if (when_of(c->write) < order.block_start && !is_read)
            continue;
        mine->is_read |= is_read;
        if (!mine->code)
            *mine =
                (struct cell){code_in(c->write), thread_of(c->write), order.block, mine->is_read};
    }
}

void unread_block_begins(const struct worker *w)
{
    arena = (uintptr_t)w->arena;
}

/* One finding for each statement that has written: where the first such bytes are, and how many. */
void unread_launch_ended(void)
{
    for (size_t i = 0; i < ARENA / 4 && arena && unread_wanted(); i++) {
        const struct cell first = cells[i];
        unsigned bytes = 0;
        if (!first.code || first.is_read || launch_unknown)
            continue;
        for (size_t k = i; k < ARENA / 4; k++)
            if (cells[k].code == first.code && !cells[k].is_read) {
                bytes += 4;
                cells[k].code = 0;
            }
        const struct side side = {WRITE, first.code, first.thread, first.block};
        const uintptr_t p = arena + 4 * i;
        finding_add(UNREAD, order.kernel, &side, 1, bytes, shared_at(p), p, NULL);
    }
    if (arena && unread_wanted())
        memset(cells, 0, sizeof cells);
    arena = 0;
    launch_unknown = 0;
}

int unread_memory(const void *p, size_t bytes, uint8_t *marks)
{
    if (!unread_wanted() || unknown || (uintptr_t)p - region >= region_used)
        return 0;
    const struct shadow_cell *c = &shadow[((uintptr_t)p - region) / 4];
    for (size_t i = 0; i < (bytes + 3) / 4; i++)
        marks[i] = c[i].read[0] || c[i].read[1] ? 0 : c[i].write ? 2 : 1;
    return 1;
}
