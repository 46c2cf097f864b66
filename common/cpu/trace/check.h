/* What check.c and check_findings.c share. */
#ifndef CHECK_H
#define CHECK_H

#include "../runtime.h"
#include "symbols.h"

enum rule { BOUNDS, MISALIGNED, FREED, UNINITIALISED, SHARED_RACE, GLOBAL_RACE, DIVERGENCE, LEAK };
enum kind { READ, WRITE, ATOMIC };

/* A variable or an allocation. */
struct object {
    uintptr_t p;
    size_t bytes;
    const char *name; /* NULL: the place that allocated it tells which it is */
    const char *what; /* "shared memory", "allocated", "__device__" */
    uint32_t site;    /* of allocations */
    int freed;
};

/* One side of a finding. */
struct side {
    enum kind kind;
    uint32_t code;
    int thread;     /* counted through the block */
    uint64_t block; /* counted through the grid */
};

/* Notes one more of these. `first` is the side that came earlier, in a race; `text` is kept. */
void finding_add(enum rule rule, const struct cpu_kernel *kernel, const struct side *sides, int n,
                 unsigned bytes, const struct object *object, uintptr_t p, const char *text);

#endif
