/* mbarriers: their phases, and the threads that wait for them.
 *
 * A thread that waits goes on when the phase is complete. If all threads of the block wait,
 * every pending try_wait fails once, as on a GPU after a while: its thread may then do something
 * that another thread waits for. If all threads wait again without any progress, no thread will
 * ever go on. */
#include "device/units/units.h"
#include "base/plural.h"

#include <stdio.h>
#include <stdlib.h>

struct mbarrier *mbarrier_find(struct worker *w, uint32_t at)
{
    for (int i = w->n_mbarriers - 1; i >= 0; i--)
        if (w->mbarriers[i].at == at)
            return &w->mbarriers[i];
    return NULL;
}

struct mbarrier *mbarrier_by_id(struct worker *w, int id)
{
    for (int i = 0; i < w->n_mbarriers; i++)
        if (w->mbarriers[i].id == id)
            return &w->mbarriers[i];
    return NULL;
}

void mbarrier_init(struct worker *w, uint32_t at, int arrivals)
{
    struct mbarrier *m = mbarrier_find(w, at);
    w->progress++;
    if (!m) {
        size_t n = (size_t)w->n_mbarriers++;
        if ((n & (n - 1)) == 0)
            w->mbarriers =
                need_memory(realloc(w->mbarriers, (n ? 2 * n : 1) * sizeof *m), "mbarriers");
        m = &w->mbarriers[n];
    }
    *m = (struct mbarrier){.at = at, .id = w->made++, .arrivals = arrivals, .pending = arrivals};
}

void mbarrier_inval(struct worker *w, struct mbarrier *m)
{
    *m = w->mbarriers[--w->n_mbarriers];
}

static void settle(struct worker *w, struct mbarrier *m)
{
    w->progress++;
    if (m->pending || m->bytes)
        return;
    m->phase++;
    m->pending = m->arrivals;
    m->announced = 0;
    TRACE_CHECK(mbarrier_phase(w, m->id));
    for (int i = 0; i < MAX_WARPS && m->waiters; i++)
        if (m->waiting[i]) {
            block_make_ready(w, i, m->waiting[i]);
            m->waiting[i] = 0;
        }
    m->waiters = 0;
}

void mbarrier_expect(struct worker *w, struct mbarrier *m, int64_t bytes)
{
    m->bytes += bytes;
    m->announced += bytes > 0 ? bytes : 0;
    settle(w, m);
}

void mbarrier_arrive(struct worker *w, struct mbarrier *m, int arrivals)
{
    m->pending -= arrivals;
    settle(w, m);
}

int mbarrier_is_complete(const struct mbarrier *m, unsigned parity)
{
    return (m->phase & 1) != parity;
}

int units_expire(struct worker *w)
{
    if (w->progress == w->expired)
        return 0;
    w->expired = w->progress;
    for (int k = 0; k < w->n_mbarriers; k++) {
        struct mbarrier *m = &w->mbarriers[k];
        for (int i = 0; i < MAX_WARPS; i++)
            if (m->waiting[i]) {
                block_make_ready(w, i, m->waiting[i]);
                m->waiting[i] = 0;
            }
        m->waiters = 0;
    }
    return w->ready_warps != 0;
}

/* Names an mbarrier by the __shared__ variable that contains it, and the offset in that. Dynamic
 * shared memory holds many, so there --check says where it was made, too. */
static void name_of(const struct worker *w, const struct mbarrier *m, char *text, size_t size)
{
    char made[300] = "";
    const char *name = NULL;
    size_t offset = m->at - w->dynamic;
    for (int i = 0; i < w->variables; i++)
        if (m->at - w->variable[i].offset < w->variable[i].bytes) {
            name = w->variable[i].name;
            offset = m->at - w->variable[i].offset;
        }
    if (!name) {
        name = "dynamic shared memory";
        TRACE_CHECK(mbarrier_made(m->id, made, sizeof made));
    }
    if (offset)
        snprintf(text, size, "%s + %zu%s", name, offset, made);
    else
        snprintf(text, size, "%s%s", name, made);
}

void mbarrier_describe(const struct worker *w, const struct mbarrier *m, char *text, size_t size)
{
    char name[400], arrivals[60] = "", bytes[80] = "";
    const int64_t missing = m->bytes - m->coming;
    name_of(w, m, name, sizeof name);
    if (m->pending)
        snprintf(arrivals, sizeof arrivals, " lacks %d of %d arrival%s", m->pending, m->arrivals,
                 plural(m->arrivals));
    if (missing > 0)
        snprintf(bytes, sizeof bytes, " lacks %lld of %lld byte%s", (long long)missing,
                 (long long)m->announced, plural(m->announced));
    else if (missing < 0)
        snprintf(bytes, sizeof bytes, " gets %lld byte%s more than the %lld announced",
                 (long long)-missing, plural(-missing), (long long)m->announced);
    snprintf(text, size, "%s, whose phase %u (parity %u)%s%s%s", name, m->phase, m->phase & 1,
             arrivals, *arrivals && *bytes ? " and" : "",
             *bytes      ? bytes
             : *arrivals ? ""
                         : " has all arrivals");
}

int units_describe(struct worker *w)
{
    static __thread char texts[MAX_BARRIERS][500]; /* any further mbarriers share the last one */
    int n = 0;
    for (int k = 0; k < w->n_mbarriers; k++) {
        const struct mbarrier *m = &w->mbarriers[k];
        if (!m->waiters)
            continue;
        char *text = texts[n < MAX_BARRIERS ? n++ : n - 1], described[440];
        mbarrier_describe(w, m, described, sizeof described);
        for (int i = 0; i < w->size; i++)
            if (m->waiting[i / WARP] >> i % WARP & 1) {
                snprintf(text, sizeof *texts, "%.40s on %s", w->threads[i].name, described);
                break;
            }
        for (int i = 0; i < w->size; i++)
            if (m->waiting[i / WARP] >> i % WARP & 1)
                w->threads[i].name = text;
    }
    return n;
}

void mbarriers_begin_block(struct worker *w)
{
    w->n_mbarriers = w->made = 0;
    w->expired = w->progress;
}
