/* check: illegal accesses, which are passed over, and the end of a program that is interrupted. */
#include "instruments/check/state/check.h"

#include <inttypes.h>
#include <stdio.h>

/* The accesses that were reported last: all those of a warp, which are reported before any of them
 * is made, and more. */
static struct {
    uintptr_t p;
    unsigned bytes;
} told[128];
static unsigned n_told;
static uint32_t told_in; /* the block that has made the last one: when it began */
static int last_expected;

void stops_expect(uintptr_t p, unsigned bytes)
{
    const unsigned i = n_told++ % (sizeof told / sizeof *told);
    told[i].p = p;
    told[i].bytes = bytes;
    told_in = order.block_start;
}

static int is_told(uintptr_t p)
{
    for (unsigned i = 0; i < sizeof told / sizeof *told; i++)
        if (p - told[i].p < told[i].bytes)
            return 1;
    return 0;
}

int stops_expected(void)
{
    return last_expected;
}

/* Nearly each access has been reported before it is made. What no instrument sees is reported
 * here: a function of the C library that a kernel calls. An access of a copy that takes effect
 * late was reported when the copy began, perhaps long ago. */
int trace_illegal(struct worker *w, uintptr_t p, uintptr_t from, int can)
{
    const int expected = is_told(p) || told_in == order.block_start;
    last_expected = expected && !can;
    if (expected || !can)
        return can;
    const int known = from - (uintptr_t)__executable_start < program_size();
    char text[100];
    snprintf(text, sizeof text, "%san access at address 0x%" PRIxPTR ", where no memory is",
             known ? "at %1: " : "", p);
    registers_report(BOUNDS, (int)w->now, known ? code_of((const char *)from + 1) : 0, text);
    return 1;
}
