/* check: which strong accesses are morally strong to each other.
 *
 * The shadow memory says of an access only whether it is strong. Most are of the device's scope, of
 * 1, 2 or 4 bytes, and not volatile. What the others are is noted here, beside the shadow cell. */
#include "instruments/check/state/check.h"

static struct cell {
    int64_t at; /* 0: none */
    shadow_entry entry[3];
    uint8_t what[3], polled;
} * cells;
static unsigned n_cells, used;

static struct cell *cell_at(int64_t at, int make)
{
    if (make && 2 * used >= n_cells) {
        struct cell *old = cells;
        const unsigned n = n_cells;
        n_cells = n ? 2 * n : 64;
        cells = need_memory(calloc(n_cells, sizeof *cells), "what check knows");
        used = 0;
        for (unsigned i = 0; i < n; i++)
            if (old[i].at)
                *cell_at(old[i].at, 1) = old[i];
        free(old);
    }
    if (!n_cells)
        return NULL;
    const int64_t key = at / 4 * 4 + 1; /* not 0 */
    unsigned i = (unsigned)(((uint64_t)at / 4 * 0x9e3779b97f4a7c15u) >> 32) & (n_cells - 1);
    while (cells[i].at && cells[i].at != key)
        i = (i + 1) & (n_cells - 1);
    if (!cells[i].at && !make)
        return NULL;
    used += !cells[i].at;
    cells[i].at = key;
    return &cells[i];
}

void strong_launch(void)
{
    if (used)
        memset(cells, 0, n_cells * sizeof *cells);
    used = 0;
    order.marked = 0;
}

/* The access is in the shadow memory already. */
void strong_note(int64_t at, shadow_entry e, int what)
{
    const struct shadow_cell *c = &shadow[at / 4];
    struct cell *cell = cell_at(at, 1);
    int i = 0;
    order.marked = 1;
    for (int k = 0; k < 3; k++) {
        const shadow_entry known = cell->entry[k];
        if (!known || known == e ||
            (known != c->write && known != c->read[0] && known != c->read[1]))
            i = k;
    }
    cell->entry[i] = e;
    cell->what[i] = (uint8_t)what;
}

int strong_of(int64_t at, shadow_entry e)
{
    const struct cell *cell = cell_at(at, 0);
    for (int k = 0; cell && k < 3; k++)
        if (cell->entry[k] == e)
            return cell->what[k];
    return strong_what(__builtin_popcount((unsigned)(e >> 34 & 15)), 0);
}

void strong_poll(int64_t at)
{
    cell_at(at, 1)->polled = 1;
}

int strong_polled(int64_t at)
{
    const struct cell *cell = cell_at(at, 0);
    return cell && cell->polled;
}
