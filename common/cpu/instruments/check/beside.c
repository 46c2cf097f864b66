/* check: where a run parts from a recorded one. CUDACPU_RECORD=FILE records what each thread of a
 * launch's first blocks and of its last one accesses, which values it stores, and which it passes
 * to shuffles and to products of matrices. CUDACPU_BESIDE=FILE compares a run with that, and says
 * where it first touches other places, and where the first value differs. An exercise that is
 * wrong is so set beside the step's own program: the line that goes astray is named even where no
 * rule is broken.
 *
 * Compared are sets, block by block: the order of two accesses may differ in a right program. */
#define _GNU_SOURCE
#include "instruments/check/state/check.h"

#include "base/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum {
    FIRST_BLOCKS = 4, /* that are looked at in each launch, and the last one */
    MOST = 4 << 20,   /* events, of 32 bytes; a block that comes to more is dropped */
    UNIT = 4,         /* bytes of memory that are one event, so that vectors compare with scalars */
    NAMES = 1000,
    STORES = 2048 /* of one operation */
};
enum what { READS, WRITES, ADDS, PRODUCT, SHUFFLE };

struct event {
    uint32_t value, unit; /* of memory: offset / UNIT; otherwise thread * 64 + number of operand */
    uint32_t code, order;
    uint32_t block; /* an index into blocks */
    uint16_t name, thread;
    uint8_t what, bytes, within; /* bytes of the value that are known; offset % UNIT */
};

struct name {
    char text[60];
};
struct block {
    uint32_t launch, name;
    uint3 grid, shape; /* of the launch */
    uint64_t number;
};

struct record {
    struct event *events;
    struct name *names;
    struct block *blocks;
    int n_events, n_names, n_blocks;
};
static struct record run;
static int is_taken, is_full; /* is_taken: the block that runs is looked at */
int beside_wanted = -1;       /* -1: not known yet */
static const char *record_to, *compare_with;
static uint32_t launches;
/* Stores whose values are not in memory yet. */
static struct {
    int event;
    uintptr_t p;
} stores[STORES];
static int n_stores;

static void *room(void *p)
{
    return need_memory(p, "what a run is compared with");
}

static void stores_made(void)
{
    for (int i = 0; i < n_stores; i++) {
        struct event *e = &run.events[stores[i].event];
        memcpy(&e->value, (const void *)stores[i].p, e->bytes); /* NOLINT: at most 4 bytes */
    }
    n_stores = 0;
}

static int name_of(const char *text)
{
    for (int i = 0; i < run.n_names; i++)
        if (strncmp(run.names[i].text, text, sizeof run.names[i].text - 1) == 0)
            return i;
    if (run.n_names == NAMES)
        return 0;
    snprintf(run.names[run.n_names].text, sizeof run.names[0].text, "%s", text);
    return run.n_names++;
}

static int name_of_object(const struct object *o)
{
    static const struct object *last;
    static const char *last_name;
    static int number;
    char text[40];
    if (o == last && o->name == last_name)
        return number;
    last = o;
    last_name = o->name;
    if (!o->name)
        snprintf(text, sizeof text, "allocation %td", o - objects);
    return number = name_of(o->name ? o->name : text);
}

static struct event *add(enum what what, int thread, uint32_t code, int name, uint32_t unit)
{
    if (run.n_events == MOST) { /* what is not whole cannot be compared */
        run.n_blocks--;
        while (run.n_events && run.events[run.n_events - 1].block == (uint32_t)run.n_blocks)
            run.n_events--;
        is_taken = 0;
        is_full = 1;
        n_stores = 0;
        return NULL;
    }
    struct event *e = &run.events[run.n_events];
    *e = (struct event){.unit = unit,
                        .code = code,
                        .order = (uint32_t)run.n_events,
                        .block = (uint32_t)run.n_blocks - 1,
                        .name = (uint16_t)name,
                        .thread = (uint16_t)thread,
                        .what = (uint8_t)what};
    run.n_events++;
    return e;
}

void beside_launch(void)
{
    if (beside_wanted < 0) {
        record_to = getenv("CUDACPU_RECORD");
        compare_with = getenv("CUDACPU_BESIDE");
        compare_with = compare_with && *compare_with ? compare_with : NULL;
        beside_wanted = record_to || compare_with;
        if (beside_wanted) {
            run.events = room(malloc(MOST * sizeof *run.events));
            run.names = room(calloc(NAMES, sizeof *run.names));
        }
    }
    launches++;
    is_taken = 0;
}

void beside_block(uint64_t number)
{
    const uint3 grid = order.kernel->grid;
    stores_made();
    is_taken =
        !is_full && (number < FIRST_BLOCKS || number == (uint64_t)grid.x * grid.y * grid.z - 1);
    if (!is_taken)
        return;
    run.blocks = room(realloc(run.blocks, (size_t)(run.n_blocks + 1) * sizeof *run.blocks));
    run.blocks[run.n_blocks++] = (struct block){launches, (uint32_t)name_of(order.kernel->name),
                                                order.kernel->grid, order.kernel->block, number};
}

void beside_block_ends(void)
{
    stores_made();
    is_taken = 0;
}

void beside_access(int thread, enum kind kind, uint32_t code, uintptr_t p, size_t bytes,
                   const struct object *o, enum beside_value value)
{
    if (value != BESIDE_WITH_LAST)
        stores_made();
    if (!is_taken || !o)
        return;
    const int name = name_of_object(o);
    const enum what what = kind == READ ? READS : kind == ATOMIC ? ADDS : WRITES;
    while (bytes) {
        const uint32_t offset = (uint32_t)(p - o->p);
        const size_t n = bytes < UNIT - offset % UNIT ? bytes : UNIT - offset % UNIT;
        struct event *e = add(what, thread, code, name, offset / UNIT);
        if (!e)
            return;
        e->within = offset % UNIT;
        if (what == WRITES && value != BESIDE_UNKNOWN && n_stores < STORES) {
            e->bytes = (uint8_t)n;
            stores[n_stores].event = (int)e->order;
            stores[n_stores++].p = p;
        }
        p += n;
        bytes -= n;
    }
}

/* A fragment of A or B is in registers of 32 bits. */
void beside_statement(int thread, uint32_t code, const char *text, const char *constraints,
                      const uint64_t *registers)
{
    char name[sizeof run.names[0].text];
    stores_made();
    text += strspn(text, " \t\n{");
    if (!is_taken || !constraints || (strncmp(text, "mma.", 4) && strncmp(text, "wgmma.mma", 9)))
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, " \t\n"), text);
    const int number = name_of(name);
    for (int k = 0; constraints[k] && k < 64; k++)
        if (constraints[k] == 'r') {
            struct event *e =
                add(PRODUCT, thread, code, number, (uint32_t)thread * 64 + (uint32_t)k);
            if (!e)
                return;
            e->value = (uint32_t)registers[k];
            e->bytes = 4;
        }
}

void beside_warp(const struct worker *w, int warp, enum cpu_op op, unsigned mask)
{
    stores_made();
    if (!is_taken || op < CPU_SHFL)
        return;
    const int number = name_of("shuffle");
    for (unsigned m = mask; m; m &= m - 1) {
        const int thread = warp * WARP + __builtin_ctz(m);
        const struct thread *t = &w->threads[thread];
        struct event *e = add(SHUFFLE, thread, code_of(t->from), number, (uint32_t)thread * 64);
        if (!e)
            return;
        e->value = (uint32_t)t->value;
        e->bytes = 4;
    }
}

/* --- The record as a file ----------------------------------------------------------------------
 */

static void save(void)
{
    FILE *f = fopen(record_to, "wb");
    const int n[3] = {run.n_names, run.n_blocks, run.n_events};
    if (!f || fwrite(n, sizeof n, 1, f) != 1 ||
        fwrite(run.names, sizeof *run.names, (size_t)n[0], f) != (size_t)n[0] ||
        fwrite(run.blocks, sizeof *run.blocks, (size_t)n[1], f) != (size_t)n[1] ||
        fwrite(run.events, sizeof *run.events, (size_t)n[2], f) != (size_t)n[2] || fclose(f))
        fprintf(stderr, "check: CUDACPU_RECORD=%s: cannot be written\n", record_to);
}

/* Its names become the run's. */
static int load(struct record *r)
{
    FILE *f = fopen(compare_with, "rb");
    int n[3], whole = f && fread(n, sizeof n, 1, f) == 1;
    int numbers[NAMES];
    if (whole) {
        *r = (struct record){room(malloc((size_t)n[2] * sizeof *r->events + 1)),
                             room(malloc((size_t)n[0] * sizeof *r->names + 1)),
                             room(malloc((size_t)n[1] * sizeof *r->blocks + 1)),
                             n[2],
                             n[0],
                             n[1]};
        whole = fread(r->names, sizeof *r->names, (size_t)n[0], f) == (size_t)n[0] &&
                fread(r->blocks, sizeof *r->blocks, (size_t)n[1], f) == (size_t)n[1] &&
                fread(r->events, sizeof *r->events, (size_t)n[2], f) == (size_t)n[2];
    }
    if (f)
        fclose(f);
    if (!whole) {
        fprintf(stderr, "check: CUDACPU_BESIDE=%s: is no whole record\n", compare_with);
        return 0;
    }
    for (int i = 0; i < n[0]; i++)
        numbers[i] = name_of(r->names[i].text);
    for (int i = 0; i < n[1]; i++)
        r->blocks[i].name = (uint32_t)numbers[r->blocks[i].name];
    for (int i = 0; i < n[2]; i++)
        r->events[i].name = (uint16_t)numbers[r->events[i].name];
    return 1;
}

/* --- The comparison ----------------------------------------------------------------------------
 */

/* The order of two events' places within a block: 0 for the same place. */
static int by_place(const struct event *a, const struct event *b)
{
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static int by_block(const void *x, const void *y)
{
    const struct event *a = x, *b = y;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    const int place = by_place(a, b);
    return place ? place : a->order < b->order ? -1 : a->order > b->order;
}

static float single(uint32_t bits)
{
    return ptx_float(bits);
}

static float half(uint32_t bits)
{
    return (float)ptx_decode(PTX_F16, bits & 0xffff);
}

/* How to read the values of an array, and how large they are. A pair of halves lies in 4 bytes. The
 * lower half of a float, read as a half, is soon large or no number. */
struct view {
    int halves;
    float scale;
};

static struct view view_of(const struct event *e, const struct event *end)
{
    struct view v = {1, 0};
    for (const struct event *i = e; i < end; i++)
        for (int k = 0; k < 2 && i->bytes; k++) {
            const float x = fabsf(half(i->value >> 16 * k));
            v.halves &= x < 1024 || isinf(x);
        }
    for (const struct event *i = e; i < end; i++)
        for (int k = 0; k < 1 + v.halves && i->bytes; k++) {
            const float x = fabsf(v.halves ? half(i->value >> 16 * k) : single(i->value));
            if (x > v.scale && isfinite(x))
                v.scale = x;
        }
    return v;
}

/* Two values are told apart from the rounding of one: sums may be made in another order. */
static int are_apart(float x, float y, float scale)
{
    if (!isfinite(x) || !isfinite(y))
        return !(isnan(x) && isnan(y)) && !(x == y);
    return fabsf(x - y) > 0.02f * fmaxf(fabsf(x), fabsf(y)) + 0.002f * scale;
}

static int differ(uint32_t a, uint32_t b, struct view v)
{
    if (a == b)
        return 0;
    if (v.halves)
        return are_apart(half(a), half(b), v.scale) ||
               are_apart(half(a >> 16), half(b >> 16), v.scale);
    return are_apart(single(a), single(b), v.scale);
}

static void put_value(const struct event *e, struct view v)
{
    if (v.halves && e->bytes == 4)
        fprintf(stderr, "(%g, %g)", half(e->value), half(e->value >> 16));
    else if (v.halves)
        fprintf(stderr, "%g", half(e->value));
    else if (e->value && e->value < 1 << 23)
        fprintf(stderr, "%" PRIu32, e->value);
    else
        fprintf(stderr, "%g", single(e->value));
}

/* What is found in one block. */
struct parting {
    const struct event *more, *fewer;
    const struct event *again, *next; /* next: what comes in place of `again` in the recorded run */
    const struct event *value, *recorded; /* recorded: what `value` differs from */
    struct view view;
    int n_more, n_fewer; /* places of the array of `more`, or of `fewer` */
};

/* The events of one place: up to the returned one. */
static const struct event *past(const struct event *e, const struct event *end)
{
    const struct event *first = e;
    while (e < end && by_place(first, e) == 0)
        e++;
    return e;
}

static const struct event *past_array(const struct event *e, const struct event *end)
{
    const struct event *first = e;
    while (e < end && e->what == first->what && e->name == first->name)
        e++;
    return e;
}

/* Of two sorted lists, the places that only the first has; the earliest of array `of`, or of any
 * where that is NULL. In `n`, how many places of its array there are. An array that the other does
 * not know at all is not compared. */
static const struct event *only(const struct event *a, const struct event *end,
                                const struct event *b, const struct event *b_end,
                                const struct event *of, int *n)
{
    const struct event *best = NULL;
    while (a < end) {
        const struct event *array_end = past_array(a, end), *first = NULL;
        int places = 0, known = 0;
        if (a->what >= PRODUCT || (of && (of->what != a->what || of->name != a->name))) {
            a = array_end;
            continue;
        }
        while (a < array_end) {
            while (b < b_end && by_place(b, a) < 0)
                known |= b->what == a->what && b->name == a->name, b++;
            known |= b < b_end && b->what == a->what && b->name == a->name;
            if (b == b_end || by_place(b, a) != 0) {
                places++;
                if (!first || (of && a->thread == of->thread && first->thread != of->thread) ||
                    (a->order < first->order &&
                     !(of && first->thread == of->thread && a->thread != of->thread)))
                    first = a;
            }
            a = past(a, array_end);
        }
        if (first && known && (!best || first->order < best->order)) {
            best = first;
            *n = places;
        }
    }
    return best;
}

/* Of two lists of one place: an access that a thread of the first makes more often. */
static const struct event *once_more(const struct event *a, const struct event *end,
                                     const struct event *b, const struct event *b_end)
{
    enum { MANY = 2000 };
    if (end - a <= b_end - b || end - a > MANY)
        return NULL;
    for (const struct event *e = a; e < end; e++) {
        int times = 1;
        for (const struct event *i = a; i < e; i++)
            times += i->thread == e->thread;
        for (const struct event *i = b; i < b_end && times > 0; i++)
            times -= i->thread == e->thread;
        if (times > 0)
            return e;
    }
    return NULL;
}

static int by_order(const void *x, const void *y)
{
    const struct event *const *a = x, *const *b = y;
    return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

/* The accesses of that array by that thread, in their order; NULL behind the last. */
static const struct event **in_order(const struct event *e, const struct event *end,
                                     const struct event *of)
{
    const struct event **list = room(malloc((size_t)(end - e + 1) * sizeof *list));
    size_t n = 0;
    for (; e < end; e++)
        if (e->what == of->what && e->name == of->name && e->thread == of->thread)
            list[n++] = e;
    qsort(list, n, sizeof *list, by_order);
    list[n] = NULL;
    return list;
}

/* A thread makes an access more often: where its accesses of that array first differ. */
static void find_next(const struct event *a, const struct event *a_end, const struct event *b,
                      const struct event *b_end, struct parting *found)
{
    const struct event **old = in_order(a, a_end, found->again),
                       **new = in_order(b, b_end, found->again);
    int i = 0;
    while (old[i] && new[i] && old[i]->unit == new[i]->unit)
        i++;
    if (new[i])
        found->again = new[i];
    found->next = old[i];
    free(old), free(new);
}

static void find_values(const struct event *a, const struct event *end, const struct event *b,
                        const struct event *b_end, struct parting *found)
{
    while (a < end) {
        const struct event *array_end = past_array(a, end);
        const struct view v = view_of(a, array_end);
        while (a < array_end) {
            const struct event *next = past(a, array_end);
            while (b < b_end && by_place(b, a) < 0)
                b++;
            const struct event *more = b < b_end && a->what <= ADDS && by_place(a, b) == 0
                                           ? once_more(b, past(b, b_end), a, next)
                                           : NULL;
            if (more && (!found->again || more->order < found->again->order))
                found->again = more;
            for (; a < next && b < b_end && by_place(a, b) == 0; a++, b++)
                if (a->bytes && a->bytes == b->bytes && a->within == b->within &&
                    differ(a->value, b->value, v) &&
                    (!found->value || b->order < found->value->order)) {
                    found->value = b;
                    found->recorded = a;
                    found->view = v;
                }
            a = next;
        }
    }
}

static void put_index(const char *name, uint64_t i, uint3 n)
{
    fprintf(stderr, "%s (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", name, i % n.x, i / n.x % n.y,
            i / n.x / n.y);
}

static const char *const verbs[] = {"reads", "writes", "adds to"};

/* "read at FILE:LINE (called at FILE:LINE) by thread 3" */
static void put_event(const char *doing, const struct event *e)
{
    struct place place;
    char calls[1000];
    symbols_find(&e->code, 1, &place);
    fprintf(stderr, "%s at %s:%d", doing, place.file, place.line);
    if (symbols_calls(calls, sizeof calls, &place))
        fprintf(stderr, " (%s)", calls);
    symbols_free(&place, 1);
    const struct block *b = &run.blocks[e->block];
    put_index(" by thread", e->thread, b->shape);
    put_index(" of block", b->number, b->grid);
    fprintf(stderr, " in kernel %s", run.names[b->name].text);
}

static void put_places(const struct event *e, int n)
{
    fprintf(stderr, "offset %u of %s", e->unit * UNIT + e->within, run.names[e->name].text);
    if (n > 1)
        fprintf(stderr, " (and %d more place%s)", n - 1, n == 2 ? "" : "s");
}

static void put_parting(const struct parting *found)
{
    static const char *const doing[] = {"read", "write", "atomic"};
    const struct event *e = found->more;
    if (e) {
        fputs("differs: ", stderr);
        put_event(doing[e->what], e);
        fputs(": ", stderr);
        put_places(e, found->n_more);
        fprintf(stderr, ", where the recorded run's block never %s", verbs[e->what]);
        if (found->fewer) {
            fputs("; that one's has ", stderr);
            put_places(found->fewer, found->n_fewer);
            fputs(", and this one's never", stderr);
        }
        fputc('\n', stderr);
    } else if (found->fewer) {
        e = found->fewer;
        fprintf(stderr, "differs: the recorded run's block %s ", verbs[e->what]);
        put_places(e, found->n_fewer);
        fputs(", and this one's never\n", stderr);
    }
    e = found->again;
    if (e && !found->more && !found->fewer && (!found->value || e->order < found->value->order)) {
        fputs("differs: ", stderr);
        put_event(doing[e->what], e);
        fputs(": ", stderr);
        put_places(e, 1);
        fputs(", again; in the recorded run ", stderr);
        if (found->next)
            put_places(found->next, 1);
        else
            fputs("nothing of it", stderr);
        fputs(" comes next\n", stderr);
        return;
    }
    e = found->value;
    if (!e || (found->more && found->more->order < e->order))
        return;
    fputs(found->more || found->fewer
              ? "differs: "
              : "differs: the same places are read and written; the first value that differs: ",
          stderr);
    put_event(e->what == WRITES                 ? "write"
              : e->what == SHUFFLE              ? "shuffle"
              : *run.names[e->name].text == 'm' ? "mma"
                                                : "wgmma",
              e);
    if (e->what == WRITES) {
        fputs(": to ", stderr);
        put_places(e, 1);
    } else if (e->what == PRODUCT) {
        fprintf(stderr, ": operand %%%u is", e->unit % 64);
    } else {
        fputs(": passes", stderr);
    }
    fputc(' ', stderr);
    put_value(e, found->view);
    fputs(", in the recorded run ", stderr);
    put_value(found->recorded, found->view);
    fputc('\n', stderr);
}

static const struct event *begin_of(const struct event *e, const struct event *end, int block)
{
    while (e < end && e->block < (uint32_t)block)
        e++;
    return e;
}

static void compare(const struct record *old)
{
    const struct event *a = old->events, *a_end = a + old->n_events;
    const struct event *b = run.events, *b_end = b + run.n_events;
    qsort(old->events, (size_t)old->n_events, sizeof *a, by_block);
    qsort(run.events, (size_t)run.n_events, sizeof *b, by_block);
    for (int i = 0; i < old->n_blocks && i < run.n_blocks; i++) {
        if (memcmp(&old->blocks[i], &run.blocks[i], sizeof run.blocks[i]) != 0)
            return; /* other launches: counts say so */
        const struct event *a_next = begin_of(a, a_end, i + 1), *b_next = begin_of(b, b_end, i + 1);
        struct parting found = {0};
        found.more = only(b, b_next, a, a_next, NULL, &found.n_more);
        found.fewer = only(a, a_next, b, b_next, found.more, &found.n_fewer);
        find_values(a, a_next, b, b_next, &found);
        if (found.again)
            find_next(a, a_next, b, b_next, &found);
        if (found.more || found.fewer || found.value) {
            put_parting(&found);
            return;
        }
        a = a_next;
        b = b_next;
    }
}

void beside_end(void)
{
    struct record old;
    stores_made();
    if (beside_wanted <= 0)
        return;
    if (record_to)
        save();
    if (compare_with && load(&old)) {
        compare(&old);
        free(old.events), free(old.names), free(old.blocks);
    }
}
