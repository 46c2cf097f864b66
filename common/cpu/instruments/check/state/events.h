/* The events of a run: see events.c. */
#pragma once

#include "instruments/check/state/check.h"

enum {
    EVENT_UNIT = 4,       /* bytes of memory that are one event: vectors compare with scalars */
    EVENT_OPERANDS = 256, /* of mma, registers of A from 0 and of B from EVENT_B on */
    EVENT_B = 128,
    EVENT_NAMES = 1000
};
enum what { READS, WRITES, ADDS, PRODUCT, SHUFFLE };

struct event {
    uint32_t value;
    uint32_t
        unit; /* of memory: offset / EVENT_UNIT; else thread * EVENT_OPERANDS + number of one */
    uint32_t code, order;
    uint32_t block; /* an index into blocks */
    uint16_t name, thread;
    uint8_t what, bytes, within; /* bytes of the value that are known; offset % EVENT_UNIT */
};
struct event_name { /* of an array, a kernel or an instruction */
    char text[60];
};
struct event_block {
    uint32_t launch, name;
    uint3 grid, shape; /* of the launch */
    uint64_t number;
};
struct event_launch { /* where: not compared */
    const char *file;
    int line;
};

struct events {
    struct event *events;
    struct event_name *names;
    struct event_block *blocks;
    struct event_launch *launched;            /* of each block; not in a file */
    int n_events, n_names, n_blocks, is_full; /* is_full: there was no room for the rest */
};

extern struct events run;                     /* all that there are */
extern const char *events_to, *events_beside; /* files, or NULL: to write, to compare with */
int event_name(const char *text);             /* an index into names */
void *events_room(void *p);                   /* p, of malloc; the program ends where it is NULL */
void events_complete(void);                   /* the last stores have been made */
