/* check: the events of a run, for beside.c: what each thread of a launch's first blocks and of its
 * last one accesses, which values it stores, and which it passes to shuffles and to products of
 * matrices. */
#define _GNU_SOURCE
#include "instruments/check/state/events.h"

#include <stdio.h>

enum {
    FIRST_BLOCKS = 4, /* that are looked at in each launch, and the last one */
    MOST = 4 << 20,   /* events, of 28 bytes; a block that comes to more is dropped */
    STORES = 2048     /* of one operation */
};
int events_wanted = -1;
struct events run;
const char *events_to, *events_beside;
static int is_taken; /* the block that runs is looked at */
static uint32_t launches;
/* Stores whose values are not in memory yet. */
static struct {
    int event;
    uintptr_t p;
} stores[STORES];
static int n_stores;

void *events_room(void *p)
{
    return need_memory(p, "what a run is compared with");
}

void events_complete(void)
{
    for (int i = 0; i < n_stores; i++) {
        struct event *e = &run.events[stores[i].event];
        memcpy(&e->value, (const void *)stores[i].p, e->bytes); /* NOLINT: at most 4 bytes */
    }
    n_stores = 0;
}

int event_name(const char *text)
{
    for (int i = 0; i < run.n_names; i++)
        if (strncmp(run.names[i].text, text, sizeof run.names[i].text - 1) == 0)
            return i;
    if (run.n_names == EVENT_NAMES)
        return 0;
    snprintf(run.names[run.n_names].text, sizeof run.names[0].text, "%s", text);
    return run.n_names++;
}

static int name_of_object(const struct object *o)
{
    static const char *last;
    static int number;
    char text[40];
    if (o->name && o->name == last)
        return number;
    if (!o->name)
        snprintf(text, sizeof text, "allocation %td", o - objects);
    last = o->name;
    return number = event_name(o->name ? o->name : text);
}

static struct event *add(enum what what, int thread, uint32_t code, int name, uint32_t unit)
{
    if (run.n_events == MOST) { /* only whole blocks can be compared */
        run.n_blocks--;
        while (run.n_events && run.events[run.n_events - 1].block == (uint32_t)run.n_blocks)
            run.n_events--;
        is_taken = 0;
        run.is_full = 1;
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

void events_launch(void)
{
    if (events_wanted < 0) {
        events_to = getenv("CUDACPU_RECORD");
        events_beside = getenv("CUDACPU_BESIDE");
        events_beside = events_beside && *events_beside ? events_beside : NULL;
        events_wanted = events_to || events_beside;
        if (events_wanted) {
            run.events = events_room(malloc(MOST * sizeof *run.events));
            run.names = events_room(calloc(EVENT_NAMES, sizeof *run.names));
        }
    }
    launches++;
    is_taken = 0;
}

void events_block(uint64_t number)
{
    const uint3 grid = order.kernel->grid;
    events_complete();
    is_taken =
        !run.is_full && (number < FIRST_BLOCKS || number == (uint64_t)grid.x * grid.y * grid.z - 1);
    if (!is_taken)
        return;
    run.blocks = events_room(realloc(run.blocks, (size_t)(run.n_blocks + 1) * sizeof *run.blocks));
    run.launched =
        events_room(realloc(run.launched, (size_t)(run.n_blocks + 1) * sizeof *run.launched));
    run.launched[run.n_blocks] = (struct event_launch){order.kernel->file, order.kernel->line};
    run.blocks[run.n_blocks++] =
        (struct event_block){launches, (uint32_t)event_name(order.kernel->name), order.kernel->grid,
                             order.kernel->block, number};
}

void events_block_ends(void)
{
    events_complete();
    is_taken = 0;
}

void events_access(int thread, enum kind kind, uint32_t code, uintptr_t p, size_t bytes,
                   const struct object *o, enum event_value value)
{
    if (value != EVENT_WITH_LAST)
        events_complete();
    if (!is_taken || !o)
        return;
    const int name = name_of_object(o);
    const enum what what = kind == READ ? READS : kind == ATOMIC ? ADDS : WRITES;
    while (bytes) {
        const uint32_t offset = (uint32_t)(p - o->p);
        const size_t n =
            bytes < EVENT_UNIT - offset % EVENT_UNIT ? bytes : EVENT_UNIT - offset % EVENT_UNIT;
        struct event *e = add(what, thread, code, name, offset / EVENT_UNIT);
        if (!e)
            return;
        e->within = offset % EVENT_UNIT;
        if (what == WRITES && value != EVENT_UNKNOWN && n_stores < STORES) {
            e->bytes = (uint8_t)n;
            stores[n_stores].event = (int)e->order;
            stores[n_stores++].p = p;
        }
        p += n;
        bytes -= n;
    }
}

/* A fragment of A or B is in registers of 32 bits. */
void events_statement(int thread, uint32_t code, const char *text, const char *constraints,
                      const uint64_t *registers)
{
    char name[sizeof run.names[0].text];
    events_complete();
    text += strspn(text, " \t\n{");
    if (!is_taken || !constraints ||
        (strncmp(text, "mma.", 4) != 0 && strncmp(text, "wgmma.mma", 9) != 0))
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, " \t\n"), text);
    const int number = event_name(name);
    int all = 0, n = 0; /* of those operands: A of mma has two thirds */
    for (int k = 0; k < EVENT_OPERANDS && constraints[k]; k++)
        all += constraints[k] == 'r';
    for (int k = 0; k < EVENT_OPERANDS && constraints[k]; k++)
        if (constraints[k] == 'r') {
            const int of_a = *name == 'm' ? all * 2 / 3 : EVENT_B;
            const int operand = n < of_a ? n : EVENT_B + n - of_a;
            struct event *e = add(PRODUCT, thread, code, number,
                                  (uint32_t)thread * EVENT_OPERANDS + (uint32_t)operand);
            n++;
            if (!e)
                return;
            e->value = (uint32_t)registers[k];
            e->bytes = 4;
        }
}

void events_warp(const struct worker *w, int warp, enum cpu_op op, unsigned mask)
{
    events_complete();
    if (!is_taken || op < CPU_SHFL)
        return;
    const int number = event_name("shuffle");
    for (unsigned m = mask; m; m &= m - 1) {
        const int thread = warp * WARP + __builtin_ctz(m);
        const struct thread *t = &w->threads[thread];
        struct event *e =
            add(SHUFFLE, thread, code_of(t->from), number, (uint32_t)thread * EVENT_OPERANDS);
        if (!e)
            return;
        e->value = (uint32_t)t->value;
        e->bytes = 4;
    }
}
