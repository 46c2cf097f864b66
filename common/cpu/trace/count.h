/* What count.c and count_print.c share. */
#ifndef COUNT_H
#define COUNT_H

#include "cpu_trace.h"
#include "symbols.h"

/* One load or store in the code of a kernel. */
struct site {
    uint64_t requests, sectors, bytes, wavefronts, conflicts;
    uint32_t code;
    uint8_t what, space, used;
};
/* Those of all kernels since the reset, in a list to be freed. */
const struct site **count_sites(int *n);
void count_add_site(uint64_t *value, const struct site *s); /* to the counters it belongs to */
void count_printed(void); /* nothing is left to print when the program ends */

#endif
