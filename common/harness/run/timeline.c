/* timeline.c: --timeline, when the warps of one block did what. A variant that records writes into
 * the scratch tensor that kf_program.timeline names: [roles][most][4], a row being event, tile,
 * first and last cycle, as timeline.cuh writes it. Rows that are still poison were not recorded.
 *
 * Each right variant is launched once more and verified, and its rows are written with cycles
 * counted from the earliest. The counter has 32 bits, so at most half its range, about a second,
 * is unambiguous. */
#include "harness/run/run.h"
#include <stdlib.h>

enum { EVENT, TILE, START, END, CELLS };

static bool recorded(const int32_t *row)
{
    return !kf_is_poison(KF_I32, row, EVENT);
}

/* The earliest cycle, as a difference to that of the first row. */
static int32_t earliest(const int32_t *rows, int64_t n, uint32_t zero)
{
    int32_t least = 0;
    for (int64_t i = 0; i < n; i++) {
        int32_t start = (int32_t)((uint32_t)rows[i * CELLS + START] - zero);
        if (recorded(rows + i * CELLS) && start < least)
            least = start;
    }
    return least;
}

static const char *name_of(const char *const *names, int n, int64_t which, const char *what)
{
    if (which < 0 || which >= n)
        kf_die(KF_WRONG, "--timeline: %s %lld was recorded; 0 to %d have names", what,
               (long long)which, n - 1);
    return names[which];
}

static void write_rows(FILE *to, const char *variant, const kf_case *c, const kf_timeline *names,
                       const kf_tensor *t, const int32_t *rows)
{
    int64_t most = t->dim[1], n = t->dim[0] * most;
    uint32_t zero = 0;
    for (int64_t i = n - 1; i >= 0; i--)
        if (recorded(rows + i * CELLS))
            zero = (uint32_t)rows[i * CELLS + START];
    zero += (uint32_t)earliest(rows, n, zero);
    for (int64_t i = 0; i < n; i++) {
        const int32_t *row = rows + i * CELLS;
        if (!recorded(row))
            continue;
        kf_put_case(to, variant, c);
        fprintf(to, "\t%s\t%s\t%d\t%u\t%u\n",
                name_of(names->roles, names->n_roles, i / most, "role"),
                name_of(names->events, names->n_events, row[EVENT], "event"), row[TILE],
                (uint32_t)row[START] - zero, (uint32_t)row[END] - zero);
    }
}

void kf_timeline_write(kf_session *s, kf_run *run, int v, kf_outcome *out)
{
    const kf_timeline *names = s->program->timeline;
    const kf_tensor *t = kf_find(run, names->tensor);
    if (t->dtype != KF_I32 || t->n_axes != 3 || t->dim[2] != CELLS)
        kf_die(KF_WRONG, "--timeline: tensor %s must be [roles][most][%d] of i32", t->name, CELLS);
    kf_verify(s, run, v, KF_REPEATED, out);
    static int32_t *rows; /* static, so that a message that ends the program leaks nothing */
    rows = kf_alloc(t->count, sizeof *rows);
    kf_fetch(t, rows);
    if (kf_may_be_timed(out))
        write_rows(kf_sink(KF_TIMELINE), s->program->variants[v].name, run->c, names, t, rows);
    free(rows);
}
