/* What the files of `count` share. */
#ifndef COUNT_H
#define COUNT_H

#include "device/device.h"
#include "cpu/trace.h"
#include "instruments/front/symbols.h"

/* --- request.c -------------------------------------------------------------------------------- */

/* How many different 32-byte sectors n accesses touch. */
int count_sectors(const uintptr_t *p, int n, unsigned bytes);
/* Passes through the banks of shared memory that n lanes need, `lane` which they are, in order;
 * *parts is how many it would be without conflicts. */
int count_passes(const uintptr_t *p, const unsigned char *lane, int n, unsigned bytes, int loads,
                 int *parts);
/* The same of ldmatrix and stmatrix: n matrices of 8 rows, 16 bytes each. */
int count_matrix_passes(void *const *rows, int n);
/* The same of n lanes that copy asynchronously; `from` is 0 where one only fills in zeros. *sectors
 * is what they ask of global memory. */
int count_copy_passes(const uintptr_t *to, const uintptr_t *from, const unsigned char *lane, int n,
                      unsigned bytes, int around_l1, int *parts, int *sectors);

/* --- tally.c ---------------------------------------------------------------------------------- */

/* One load or store in the code of a kernel, and all that is counted of a kernel. */
/* cp.async is noted twice: COPY_TO with where it writes, then one of the other two. */
enum what { READS, WRITES, ATOMIC, LOOPS, LDMATRIX, STMATRIX, COPY_TO, COPY, COPY_AROUND_L1 };
enum space { GLOBAL, SHARED, LOCAL, NEITHER };
enum { SITES = 2048, NAMED = 32, MOVES = 2 };
struct site {
    uint64_t requests, sectors, bytes, passes, conflicts;
    uint32_t code,
        deepest; /* of local memory: what is least deep in the stack, in steps of 4 bytes */
    uint8_t what, space, used;
};
struct tally {
    uint64_t value[CPU_COUNTERS], named[NAMED];
    struct site sites[SITES]; /* hashed by code */
};
struct site *tally_site(struct tally *t, uint32_t code, enum what what, enum space space);
void tally_site_add(uint64_t *value, const struct site *s); /* to the counters it belongs to */
int tally_name(const char *name);                           /* its index in `named` */
void tally_launched(const char *kernel, int early);
/* Clears t too. What lies in the stack at one of these depths is a register, and not counted. */
enum { DEPTHS = FIBER_STACK / 4 };
void tally_add(const char *kernel, struct tally *t, const uint8_t registers[DEPTHS / 8]);
/* Sites of all kernels since the reset, in a list to be freed. */
struct site *tally_sites(int *n);
extern int tally_unprinted; /* kernels have run since the tables were printed */
/* What cpu/trace.h has of these. */
extern const char *const tally_counter_names[CPU_COUNTERS];
int tally_counts(const struct cpu_kernel_counts **list);
int tally_named_counters(const char *const **names);
uint64_t tally_named_count(int kernel, const char *name);
void tally_reset(void);

/* --- count_print.c ---------------------------------------------------------------------------- */

void counts_print(FILE *out);
void counts_print_lines(FILE *out);

/* --- What notes.c notes and count.c merges ---------------------------------------------------- */

enum { NOTES = 62 };

/* The notes of a warp, those that lanes made first side by side. */
struct lanes {
    uint64_t order[NOTES][WARP]; /* how deep, 0 the deepest; below 32 bits the place in the code */
    uint64_t where[NOTES][WARP]; /* the address; from bit 48 log2 of the size, from 52 enum what */
    uint8_t first[WARP], n[WARP];
    unsigned full; /* lanes that wait for room */
    struct lanes *next;
};

static inline uint32_t depth_of(const struct worker *w, uintptr_t p)
{
    const int fiber = (int)((p - (uintptr_t)w->stacks) / FIBER_STACK);
    return (uint32_t)((uintptr_t)fiber_top(w->stacks, fiber) - p) / 4 % DEPTHS;
}

struct trace {
    struct lanes *of_warp[MAX_WARPS], *spare;
    uint64_t last[MAX_THREADS];      /* order of a thread's last note or block of code */
    uintptr_t copy_to[MAX_THREADS];  /* of the copy that is being merged */
    uint64_t statement[MAX_THREADS]; /* order of its last statement of inline PTX */
    struct wait {
        const void *insn;
        uintptr_t p; /* 0: a thread's last note is none of a wait */
    } wait[MAX_THREADS];
    const char *top[MAX_THREADS];
    /* Groups of cp.async that a thread has not waited for, a bit each, the latest bit 0: set where
     * the group holds a copy. And the same of the group that is still open. */
    uint32_t groups[MAX_THREADS], open_group[MAX_THREADS];
    uint8_t registers[DEPTHS / 8]; /* a bit for each depth at which wgmma has had a variable */
    struct tally tally;            /* of the launch */
    struct trace *next;
};

#endif
