/* Bulk copies in flight.
 *
 * CUDACPU_ASYNC chooses when a load takes effect, as for cp.async (async_copies.c). `late`: when
 * a thread waits for its mbarrier and all that the phase still lacks is in flight; until then
 * the tile holds bytes of 0xff, and the source may still change. `early`: when it is issued.
 * `random`: at either of the two, or at any such instruction in between. A store takes effect in
 * two steps: its tile is read, at the latest when its thread waits for reads; then the array is
 * written, at the latest when its thread waits for the whole store. */
#include "device/units/units.h"
#include "device/units/boxes.h"

#include <stdlib.h>
#include <string.h>

enum kind { LOAD, COPY, STORE, ADD };

struct flight {
    enum kind kind;
    int thread, mbarrier, op;
    unsigned group; /* the thread's group; for COPY, its cp.async group */
    struct copied copied;
    uint32_t tile;
    struct box box;
    char *taken; /* of a store: bytes that it has read but not written, or NULL */
    int written; /* of a store, which stays here until its thread has waited */
};

struct bulk_copies {
    struct flight *flight;
    int n, room;
    unsigned group[MAX_THREADS]; /* the open group of each thread */
};

static struct bulk_copies *all(struct worker *w)
{
    if (!w->bulk_copies)
        w->bulk_copies = need_memory(calloc(1, sizeof *w->bulk_copies), "bulk copies");
    return w->bulk_copies;
}

static struct flight *add(struct worker *w, const struct box *b, uint32_t tile, enum kind kind,
                          int op)
{
    struct bulk_copies *a = all(w);
    if (a->n == a->room) {
        a->room = a->room ? 2 * a->room : 16;
        a->flight =
            need_memory(realloc(a->flight, (size_t)a->room * sizeof *a->flight), "bulk copies");
    }
    w->progress++;
    a->flight[a->n] = (struct flight){.kind = kind,
                                      .thread = (int)w->now,
                                      .mbarrier = -1,
                                      .op = op,
                                      .group = a->group[w->now],
                                      .tile = tile,
                                      .box = *b};
    return &a->flight[a->n++];
}

static size_t bytes_of(const struct flight *f)
{
    if (f->kind == COPY)
        return f->copied.bytes;
    return box_rows(&f->box) * box_row_bytes(&f->box);
}

static void remove_at(struct bulk_copies *a, int i)
{
    free(a->flight[i].taken);
    memmove(&a->flight[i], &a->flight[i + 1], (size_t)(--a->n - i) * sizeof *a->flight);
}

static int loads(const struct flight *f)
{
    return f->kind == LOAD || f->kind == COPY;
}

/* A load arrives. Its bytes count even if they have not been announced yet. */
static void land(struct worker *w, int i)
{
    struct flight f = w->bulk_copies->flight[i];
    const int64_t bytes = (int64_t)bytes_of(&f);
    struct mbarrier *m = mbarrier_by_id(w, f.mbarrier);
    remove_at(w->bulk_copies, i);
    if (f.kind == LOAD) {
        box_fetch(&f.box, w->arena, f.tile);
    } else {
        memcpy(f.copied.to, f.copied.from, f.copied.read);
        memset(f.copied.to + f.copied.read, 0, f.copied.bytes - f.copied.read);
    }
    if (!m)
        return;
    m->coming -= bytes;
    mbarrier_expect(w, m, -bytes);
}

static void take(struct worker *w, struct flight *f)
{
    if (f->taken || f->written)
        return;
    f->taken = need_memory(malloc(bytes_of(f)), "a bulk copy");
    box_take(&f->box, w->arena, f->tile, f->taken);
}

static void put(struct worker *w, struct flight *f)
{
    take(w, f);
    if (!f->written)
        (f->kind == STORE ? box_put : box_add)(&f->box, f->taken);
    free(f->taken);
    f->taken = NULL;
    f->written = 1;
}

void bulk_progress(struct worker *w)
{
    struct bulk_copies *a = w->bulk_copies;
    if (!a || async_mode_now() != ASYNC_RANDOM)
        return;
    for (int i = a->n - 1; i >= 0; i--) {
        struct flight *f = &a->flight[i];
        if (f->written || !async_chance(w))
            continue;
        if (loads(f))
            land(w, i);
        else if (f->taken)
            put(w, f);
        else
            take(w, f);
    }
}

static int at_once(struct worker *w)
{
    return async_mode_now() == ASYNC_EARLY || (async_mode_now() == ASYNC_RANDOM && async_chance(w));
}

void bulk_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m, int op)
{
    struct flight *f = add(w, b, tile, LOAD, op);
    f->mbarrier = m->id;
    m->coming += (int64_t)bytes_of(f);
    for (size_t i = 0; i < bytes_of(f); i += 16)
        memset(w->arena + box_place(b, tile, i), 0xff, 16);
    if (at_once(w))
        land(w, w->bulk_copies->n - 1);
    else if (m->waiters)
        bulk_deliver(w, m);
}

void bulk_adopt_cp_async(struct worker *w, const struct copied *c, struct mbarrier *m)
{
    struct flight *f = add(w, &(struct box){0}, 0, COPY, 0);
    f->mbarrier = m->id;
    f->copied = *c;
    f->group = c->group;
    m->coming += c->bytes;
    mbarrier_expect(w, m, c->bytes);
}

void bulk_adopted_waited(struct worker *w, unsigned group)
{
    struct bulk_copies *a = w->bulk_copies;
    for (int i = 0; a && i < a->n;)
        if (a->flight[i].kind == COPY && a->flight[i].thread == (int)w->now &&
            (int)(a->flight[i].group - group) < 0)
            land(w, i);
        else
            i++;
}

void bulk_deliver(struct worker *w, struct mbarrier *m)
{
    const int id = m->id;
    if (m->pending || !m->coming || m->bytes != m->coming)
        return;
    for (int i = 0; i < w->bulk_copies->n;)
        if (loads(&w->bulk_copies->flight[i]) && w->bulk_copies->flight[i].mbarrier == id)
            land(w, i);
        else
            i++;
}

void bulk_store(struct worker *w, const struct box *b, uint32_t tile, int adds, int op)
{
    struct flight *f = add(w, b, tile, adds ? ADD : STORE, op);
    if (at_once(w))
        put(w, f);
}

void bulk_commit(struct worker *w)
{
    all(w)->group[w->now]++;
    bulk_progress(w);
}

int bulk_wait(struct worker *w, uint32_t pending, int read_only)
{
    struct bulk_copies *a = all(w);
    const unsigned open = a->group[w->now], group = open - pending;
    unsigned last = open;
    int left = 0;
    w->progress++;
    bulk_progress(w);
    for (int i = 0; i < a->n;) {
        struct flight *f = &a->flight[i];
        if (loads(f) || f->thread != (int)w->now) {
            i++;
        } else if ((int)(f->group - group) >= 0) {
            left += f->group != open && f->group != last;
            last = f->group;
            i++;
        } else if (read_only) {
            take(w, f);
            TRACE_CHECK(proxy_read_done(w, (int)w->now % WARP, f->op));
            i++;
        } else {
            put(w, f);
            TRACE_CHECK(proxy_done(w, (int)w->now % WARP, f->op));
            remove_at(a, i);
        }
    }
    return left;
}

void bulk_end_block(struct worker *w)
{
    struct bulk_copies *a = w->bulk_copies;
    TRACE_CHECK(mbarrier_end(w));
    while (a && a->n) {
        w->now = (unsigned)a->flight[0].thread; /* a fault is a fault of this thread */
        threadIdx = w->index[w->now];
        if (loads(&a->flight[0])) {
            land(w, 0);
        } else {
            put(w, &a->flight[0]);
            remove_at(a, 0);
        }
    }
    if (a)
        memset(a->group, 0, sizeof a->group);
}

void bulk_forget(struct worker *w)
{
    while (w->bulk_copies && w->bulk_copies->n)
        remove_at(w->bulk_copies, w->bulk_copies->n - 1);
}
