/* check: where a run parts from a recorded one. CUDACPU_RECORD=FILE records the events of a run
 * (state/events.c). CUDACPU_BESIDE=FILE compares a run with that, and says where it first touches
 * other places, and where the first value differs. So an exercise that is wrong is set beside the
 * step's own program: the line that goes astray is named even where no rule is broken.
 *
 * Compared are sets, block by block: the order of two accesses may differ in a right program. */
#include "instruments/check/state/events.h"

#include "base/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Names that the run has, and that the recorded one has. */
static uint8_t in_run[EVENT_NAMES], in_record[EVENT_NAMES];

/* --- The record as a file --------------------------------------------------------------------- */

static void save(void)
{
    FILE *f = fopen(events_to, "wb");
    const int n[4] = {run.n_names, run.n_blocks, run.n_events, run.is_full};
    if (!f || fwrite(n, sizeof n, 1, f) != 1 ||
        fwrite(run.names, sizeof *run.names, (size_t)n[0], f) != (size_t)n[0] ||
        fwrite(run.blocks, sizeof *run.blocks, (size_t)n[1], f) != (size_t)n[1] ||
        fwrite(run.events, sizeof *run.events, (size_t)n[2], f) != (size_t)n[2] || fclose(f))
        fprintf(stderr, "check: CUDACPU_RECORD=%s: cannot be written\n", events_to);
}

/* Its names become the run's. */
static int load(struct events *r)
{
    FILE *f = fopen(events_beside, "rb");
    int n[4], whole = f && fread(n, sizeof n, 1, f) == 1;
    int numbers[EVENT_NAMES];
    if (whole) {
        *r = (struct events){.events = events_room(malloc((size_t)n[2] * sizeof *r->events + 1)),
                             .names = events_room(malloc((size_t)n[0] * sizeof *r->names + 1)),
                             .blocks = events_room(malloc((size_t)n[1] * sizeof *r->blocks + 1)),
                             .n_events = n[2],
                             .n_names = n[0],
                             .n_blocks = n[1],
                             .is_full = n[3]};
        whole = fread(r->names, sizeof *r->names, (size_t)n[0], f) == (size_t)n[0] &&
                fread(r->blocks, sizeof *r->blocks, (size_t)n[1], f) == (size_t)n[1] &&
                fread(r->events, sizeof *r->events, (size_t)n[2], f) == (size_t)n[2];
    }
    if (f)
        fclose(f);
    if (!whole) {
        fprintf(stderr, "check: CUDACPU_BESIDE=%s: is no whole record\n", events_beside);
        return 0;
    }
    memset(in_run, 1, (size_t)run.n_names);
    for (int i = 0; i < n[0]; i++) {
        numbers[i] = event_name(r->names[i].text);
        in_record[numbers[i]] = 1;
    }
    for (int i = 0; i < n[1]; i++)
        r->blocks[i].name = (uint32_t)numbers[r->blocks[i].name];
    for (int i = 0; i < n[2]; i++)
        r->events[i].name = (uint16_t)numbers[r->events[i].name];
    return 1;
}

/* --- The comparison --------------------------------------------------------------------------- */

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

static float half(uint32_t bits)
{
    return (float)ptx_decode(PTX_F16, bits & 0xffff);
}

/* How to read the values of an array, and how large they are. Nothing says of memory whether it has
 * floats or pairs of halves. Where the lower 16 bits are halves, they are as large as the upper
 * ones; of a float they are as good as chance, or end in zeros. */
struct view {
    int halves;
    float scale;
};

static int exponent(uint32_t half)
{
    return half >> 10 & 31;
}

static struct view view_of(const struct event *e, const struct event *end)
{
    int least = 31, most = 0, n = 0, alike = 0, no_numbers = 0;
    uint32_t digits = 0;
    for (const struct event *i = e; i < end; i++)
        if (i->bytes == 4 && i->value >> 16 & 0x7fff) {
            const int high = exponent(i->value >> 16);
            no_numbers += (i->value >> 16 & 0x7fff) > 0x7c00;
            least = high < least ? high : least;
            most = high > most ? high : most;
        }
    for (const struct event *i = e; i < end; i++)
        if (i->bytes == 4 && i->value & 0x7fff) {
            const int low = exponent(i->value);
            n++;
            digits |= i->value & 0xff;
            alike += low >= least - 2 && low <= most + 2;
        }
    const int of_halves = e->what == PRODUCT
                              ? strstr(run.names[e->name].text, ".f16") != NULL
                              : e->what == WRITES && digits && !no_numbers && alike >= n - n / 16;
    struct view v = {e->bytes == 2 || of_halves, 0};
    for (const struct event *i = e; i < end; i++)
        for (int k = 0; k < 1 + v.halves && i->bytes; k++) {
            const float x = fabsf(v.halves ? half(i->value >> 16 * k) : ptx_float(i->value));
            if (x > v.scale && isfinite(x))
                v.scale = x;
        }
    return v;
}

/* Whether two values differ by more than rounding: sums may be made in another order. */
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
    return are_apart(ptx_float(a), ptx_float(b), v.scale);
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
        fprintf(stderr, "%g", ptx_float(e->value));
}

/* The differences found in one block. */
struct parting {
    const struct event *more, *fewer;
    const struct event *again, *next; /* next: what comes in place of `again` in the recorded run */
    const struct event *also; /* an access shortly before `again` to the same place, or NULL */
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

/* Whether a is to be named rather than b: by the thread of `of`, if that is given, or earlier. */
static int is_before(const struct event *a, const struct event *b, const struct event *of)
{
    if (!b)
        return 1;
    if (of && (a->thread == of->thread) != (b->thread == of->thread))
        return a->thread == of->thread;
    return a->order < b->order;
}

/* Of two sorted lists, the places that only the first has; the earliest of array `of`, or of any
 * where that is NULL. In `n`, how many places of its array there are. An array that the other run
 * does not have at all is not compared: the program may have one of its own. */
static const struct event *only(const struct event *a, const struct event *end,
                                const struct event *b, const struct event *b_end,
                                const struct event *of, int *n)
{
    const struct event *best = NULL;
    while (a < end) {
        const struct event *array_end = past_array(a, end), *first = NULL;
        int places = 0;
        if (a->what >= PRODUCT || !in_run[a->name] || !in_record[a->name] ||
            (of && (of->what != a->what || of->name != a->name))) {
            a = array_end;
            continue;
        }
        while (a < array_end) {
            while (b < b_end && by_place(b, a) < 0)
                b++;
            if (b == b_end || by_place(b, a) != 0) {
                places++;
                if (is_before(a, first, of))
                    first = a;
            }
            a = past(a, array_end);
        }
        if (first && is_before(first, best, NULL)) {
            best = first;
            *n = places;
        }
    }
    return best;
}

/* Of two lists of one place: an access that a thread of the first makes more often. Most lists have
 * the same threads. */
static const struct event *once_more(const struct event *a, const struct event *end,
                                     const struct event *b, const struct event *b_end)
{
    static int64_t left = 200000000; /* steps, in all */
    int i = 0;
    while (a + i < end && b + i < b_end && a[i].thread == b[i].thread)
        i++;
    if (a + i == end || (left -= (end - a) * (b_end - b + 1)) < 0)
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
    const struct event **list = events_room(malloc((size_t)(end - e + 1) * sizeof(void *)));
    size_t n = 0;
    for (; e < end; e++)
        if (e->what == of->what && e->name == of->name && e->thread == of->thread)
            list[n++] = e;
    qsort(list, n, sizeof(void *), by_order);
    list[n] = NULL;
    return list;
}

static int by_unit(const void *x, const void *y)
{
    const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

enum { FEW = 32 }; /* accesses among which another order is nothing */

static int is_among(const struct event *e, const struct event **list)
{
    for (int k = 0; k < FEW && list[k]; k++)
        if (list[k]->unit == e->unit)
            return 1;
    return 0;
}

/* The first of a list whose place is not among the first few of the other. */
static const struct event **first_alone(const struct event **list, const struct event **other)
{
    while (*list && is_among(*list, other))
        list++;
    return list;
}

/* A thread makes an access more often: where its accesses of that array go another way. Up to there
 * both runs have come to the same places, in whatever order. */
static void find_next(const struct event *a, const struct event *a_end, const struct event *b,
                      const struct event *b_end, struct parting *found)
{
    const struct event **old = in_order(a, a_end, found->again),
                       **new = in_order(b, b_end, found->again);
    size_t n = 0, n_units = 0, same = 0; /* same: how long they are the same */
    int apart = 0;                       /* places to which one has come more often */
    while (new[n])
        n++;
    uint32_t *units = events_room(malloc((n + 1) * sizeof *units));
    int *more = events_room(calloc(n + 1, sizeof *more)); /* how much more often the run has */
    for (size_t i = 0; i < n; i++)
        units[i] = new[i]->unit;
    qsort(units, n, sizeof *units, by_unit);
    for (size_t i = 0; i < n; i++)
        if (!i || units[i] != units[n_units - 1])
            units[n_units++] = units[i];
    for (size_t i = 0; old[i] && new[i]; i++) {
        const uint32_t *u = bsearch(&old[i]->unit, units, n_units, sizeof *units, by_unit);
        if (!u)
            break; /* the run never comes there */
        apart += more[u - units]-- == 0 ? 1 : more[u - units] == 0 ? -1 : 0;
        u = bsearch(&new[i]->unit, units, n_units, sizeof *units, by_unit);
        apart += more[u - units]++ == 0 ? 1 : more[u - units] == 0 ? -1 : 0;
        if (!apart)
            same = i + 1;
    }
    const struct event **at = first_alone(new + same, old + same);
    const struct event **in_its_place =
        old + same; /* the access of the same number, if it can be */
    while (*in_its_place && in_its_place - old < at - new)
        in_its_place++;
    if (!*in_its_place || is_among(*in_its_place, new + same))
        in_its_place = first_alone(old + same, new + same);
    found->again = *at;
    found->next = *in_its_place;
    found->also = NULL;
    const struct event **e = at - new > FEW ? at - FEW : new;
    for (; *at != NULL && e < at; e++)
        if ((*e)->unit == (*at)->unit && (*e)->code != (*at)->code)
            found->also = *e;
    free(old), free(new), free(units), free(more);
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
            if (more && is_before(more, found->again, NULL))
                found->again = more;
            for (; a < next && b < b_end && by_place(a, b) == 0; a++, b++)
                if (a->bytes && a->bytes == b->bytes && a->within == b->within &&
                    differ(a->value, b->value, v) && is_before(b, found->value, NULL)) {
                    found->value = b;
                    found->recorded = a;
                    found->view = v;
                }
            a = next;
        }
    }
}

static const char *const doing[] = {"read", "write", "atomic"};
static const char *const verbs[] = {"reads", "writes", "adds to"};

static void put_block(const char *name, uint32_t block)
{
    const struct event_block *b = &run.blocks[block];
    finding_put_index(stderr, name, b->number, b->grid);
    fprintf(stderr, " of kernel %s (launched at %s:%d)", run.names[b->name].text,
            run.launched[block].file, run.launched[block].line);
}

/* "read at FILE:LINE (called at FILE:LINE)" */
static void put_code(const char *name, const struct event *e)
{
    struct place place;
    char calls[1000];
    symbols_find(&e->code, 1, &place);
    fprintf(stderr, "%s at %s:%d", name, place.file, place.line);
    if (symbols_calls(calls, sizeof calls, &place))
        fprintf(stderr, " (%s)", calls);
    symbols_free(&place, 1);
}

static void put_event(const char *name, const struct event *e)
{
    put_code(name, e);
    finding_put_index(stderr, " by thread", e->thread, run.blocks[e->block].shape);
    put_block(" of block", e->block);
}

static void put_places(const struct event *e, int n)
{
    fprintf(stderr, "byte %u of %s", e->unit * EVENT_UNIT + e->within, run.names[e->name].text);
    if (n > 1)
        fprintf(stderr, " (and %d more place%s)", n - 1, n == 2 ? "" : "s");
}

/* A place that only one of the two runs touches, in the whole block. */
static void put_place(const struct parting *found)
{
    const struct event *more = found->more, *fewer = found->fewer;
    fputs("differs: ", stderr);
    if (more) {
        put_event(doing[more->what], more);
        fputs(": ", stderr);
        put_places(more, found->n_more);
        fprintf(stderr, ", which the recorded run's block never %s", verbs[more->what]);
        if (found->next) {
            fputs("; there its thread comes to ", stderr);
            put_places(found->next, 1);
        } else if (fewer) {
            fprintf(stderr, "; that block alone %s ", verbs[fewer->what]);
            put_places(fewer, found->n_fewer);
        }
    } else {
        put_block("block", fewer->block);
        fprintf(stderr, " never %s ", verbs[fewer->what]);
        put_places(fewer, found->n_fewer);
        finding_put_index(stderr, ", as the recorded run does, by thread", fewer->thread,
                          run.blocks[fewer->block].shape);
        if (fewer->what == READS)
            fputs(" (the compiler drops a read whose value nothing uses)", stderr);
    }
    fputc('\n', stderr);
}

/* A thread comes to another place than in the recorded run. */
static void put_next(const struct parting *found)
{
    fputs("differs: ", stderr);
    put_event(doing[found->again->what], found->again);
    fputs(": ", stderr);
    put_places(found->again, 1);
    if (found->next) {
        fputs(", where this thread in the recorded run comes to ", stderr);
        put_places(found->next, 1);
    } else {
        fputs(", to which this thread in the recorded run does not come again", stderr);
    }
    if (found->also) {
        fputs("; it is the place of the ", stderr);
        put_code(doing[found->also->what], found->also);
        fputs(", too", stderr);
    }
    fputc('\n', stderr);
}

static void put_other_value(const struct parting *found, int is_first)
{
    const struct event *e = found->value;
    fputs("differs: ", stderr);
    if (is_first)
        fputs("the first value that differs: ", stderr);
    put_event(e->what == WRITES                 ? "write"
              : e->what == SHUFFLE              ? "shuffle"
              : *run.names[e->name].text == 'm' ? "mma"
                                                : "wgmma",
              e);
    if (e->what == WRITES) {
        fputs(": to ", stderr);
        put_places(e, 1);
    } else if (e->what == PRODUCT) {
        const unsigned operand = e->unit % EVENT_OPERANDS;
        fprintf(stderr, ": register %u of %c is", operand % EVENT_B, operand < EVENT_B ? 'A' : 'B');
    } else {
        fputs(": passes", stderr);
    }
    fputc(' ', stderr);
    put_value(e, found->view);
    fputs(", in the recorded run ", stderr);
    put_value(found->recorded, found->view);
    fputc('\n', stderr);
}

/* Prints the first difference; and after a value that differs, the places that do. A value that
 * differs later than a place follows from it. */
static void put_parting(const struct parting *found)
{
    const struct event *more = found->more, *again = found->again, *value = found->value;
    const int by_thread = again && is_before(again, more, NULL);
    const struct event *place = by_thread ? again : more;
    if (value && is_before(value, place, NULL) && (place || !found->fewer)) {
        put_other_value(found, 1);
        if (more)
            put_place(found);
        return;
    }
    if (by_thread)
        put_next(found);
    else if (more || found->fewer)
        put_place(found);
    if (value && (by_thread || !more))
        put_other_value(found, 0);
}

static void put_launch(const struct event_block *b)
{
    fprintf(stderr, "%s<<<(%u,%u,%u), (%u,%u,%u)>>>", run.names[b->name].text, b->grid.x, b->grid.y,
            b->grid.z, b->shape.x, b->shape.y, b->shape.z);
}

/* Launches that are not the same, each NULL where that run has no more. */
static void put_launches(const struct event_block *mine, const struct event_block *recorded)
{
    if (mine) {
        const struct event_launch *at = &run.launched[mine - run.blocks];
        fprintf(stderr, "differs: launched at %s:%d is ", at->file, at->line);
        put_launch(mine);
    } else {
        fputs("differs: nothing more is launched", stderr);
    }
    fputs(", in the recorded run ", stderr);
    if (recorded)
        put_launch(recorded);
    else
        fputs("nothing more", stderr);
    fputc('\n', stderr);
}

/* The events of a block: from the returned one up to that of the next block. */
static const struct event *begin_of(const struct events *r, int block)
{
    int low = 0, high = r->n_events;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (r->events[middle].block < (uint32_t)block)
            low = middle + 1;
        else
            high = middle;
    }
    return r->events + low;
}

/* Compares a block of the run with a recorded one. */
static int block_differs(const struct events *old, int recorded, int block, struct parting *found)
{
    const struct event *a = begin_of(old, recorded), *a_end = begin_of(old, recorded + 1);
    const struct event *b = begin_of(&run, block), *b_end = begin_of(&run, block + 1);
    *found = (struct parting){0};
    found->more = only(b, b_end, a, a_end, NULL, &found->n_more);
    found->fewer = only(a, a_end, b, b_end, found->more, &found->n_fewer);
    find_values(a, a_end, b, b_end, found);
    if (!found->more && !found->fewer && !found->value)
        return 0; /* another thread may do the same */
    const struct event *again = found->again, *more = found->more;
    if (more && is_before(more, again, NULL))
        found->again = more;
    if (found->again)
        find_next(a, a_end, b, b_end, found);
    if (more && (found->again == more || is_before(more, again, NULL))) {
        found->next = found->again == more ? found->next : NULL;
        found->again = NULL;
    }
    return 1;
}

/* The blocks of one launch follow each other: up to the returned one. */
static int launch_end(const struct events *r, int block)
{
    int end = block;
    while (end < r->n_blocks && r->blocks[end].launch == r->blocks[block].launch)
        end++;
    return end;
}

static int are_alike(const struct event_block *a, const struct event_block *b)
{
    return a->name == b->name && memcmp(&a->grid, &b->grid, sizeof a->grid) == 0 &&
           memcmp(&a->shape, &b->shape, sizeof a->shape) == 0;
}

/* Compares two launches. The last block has run first; the first one is easier to think about. */
static int launch_differs(const struct events *old, int recorded, int first, struct parting *found)
{
    const int n = launch_end(&run, first) - first;
    const int old_n = launch_end(old, recorded) - recorded; /* there may not be room for all */
    for (int k = (n < old_n ? n : old_n) - 1; k >= 0; k--)
        if (block_differs(old, recorded + k, first + k, found))
            return 1;
    return 0;
}

/* Launches may come in another order: each is set beside a recorded one that is like it, if there
 * is one, and else beside the first of the same kernel, grid and block. */
static void compare(struct events *old)
{
    uint8_t *taken = events_room(calloc((size_t)old->n_blocks + 1, 1));
    struct parting found;
    qsort(old->events, (size_t)old->n_events, sizeof *old->events, by_block);
    qsort(run.events, (size_t)run.n_events, sizeof *run.events, by_block);
    for (int i = 0; i < run.n_blocks; i = launch_end(&run, i)) {
        int first = -1, same = -1, other = -1;
        for (int k = 0; k < old->n_blocks && same < 0; k = launch_end(old, k)) {
            if (taken[k])
                continue;
            if (other < 0)
                other = k;
            if (!are_alike(&run.blocks[i], &old->blocks[k]))
                continue;
            if (first < 0)
                first = k;
            if (!launch_differs(old, k, i, &found))
                same = k;
        }
        if (same < 0 && first >= 0 && launch_differs(old, first, i, &found)) {
            put_parting(&found);
            break;
        }
        if (same < 0) {
            if (!run.is_full && !old->is_full)
                put_launches(&run.blocks[i], other < 0 ? NULL : &old->blocks[other]);
            break;
        }
        taken[same] = 1;
        if (launch_end(&run, i) == run.n_blocks && !run.is_full && !old->is_full)
            for (int k = 0; k < old->n_blocks; k = launch_end(old, k))
                if (!taken[k]) {
                    put_launches(NULL, &old->blocks[k]);
                    break;
                }
    }
    free(taken);
}

void beside_end(void)
{
    struct events old;
    events_complete();
    if (events_wanted <= 0)
        return;
    if (events_to)
        save();
    if (events_beside && load(&old)) {
        compare(&old);
        free(old.events), free(old.names), free(old.blocks);
    }
}
