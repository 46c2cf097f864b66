/* Shared by the files of `count`. */
#pragma once

#include "device/device.h"
#include "cpu/trace.h"
#include "instruments/front/symbols.h"

/* --- request.c -------------------------------------------------------------------------------- */

/* The number of 32-byte sectors that n accesses touch. */
int count_sectors(const uintptr_t *p, int n, unsigned bytes);
/* The wavefronts of shared memory that n lanes need; lane[] has their numbers, in order. *parts
 * becomes the number without conflicts. */
int count_passes(const uintptr_t *p, const unsigned char *lane, int n, unsigned bytes, int loads,
                 int *parts);
/* The same for ldmatrix and stmatrix: n matrices of 8 rows of 16 bytes. */
int count_matrix_passes(void *const *rows, int n);
/* The same for n lanes of cp.async; `from` is 0 for a lane that only fills in zeros. *sectors
 * becomes the number of sectors requested from global memory. */
int count_copy_passes(const uintptr_t *to, const uintptr_t *from, const unsigned char *lane, int n,
                      unsigned bytes, int around_l1, int *parts, int *sectors);

/* --- tally.c ---------------------------------------------------------------------------------- */

/* One load or store in the code of a kernel, and all counts of a kernel. */
/* A cp.async makes two notes: COPY_TO with its destination, then COPY or COPY_AROUND_L1. */
enum what { READS, WRITES, ATOMIC, LOOPS, LDMATRIX, STMATRIX, COPY_TO, COPY, COPY_AROUND_L1 };
enum space { GLOBAL, SHARED, LOCAL, NEITHER };
enum { SITES = 2048, NAMED = 32, MOVES = 2 };
struct site {
    uint64_t requests, sectors, bytes, passes, conflicts;
    uint32_t code,
        deepest; /* for local memory: the greatest depth in the stack, in steps of 4 bytes */
    uint8_t what, space, used;
};
struct tally {
    uint64_t value[CPU_COUNTERS], named[NAMED];
    struct site sites[SITES]; /* hashed by code */
};
struct site *tally_site(struct tally *t, uint32_t code, enum what what, enum space space);
void tally_site_add(uint64_t *value, const struct site *s); /* adds to the counters of its kind */
int tally_name(const char *name);                           /* its index in `named` */
void tally_launched(const char *kernel, int early);
/* Adds t to the kernel's counts, and clears t. A local variable at one of the depths in
 * `registers` is a register, and not counted. */
enum { DEPTHS = FIBER_STACK / 4 };
void tally_add(const char *kernel, struct tally *t, const uint8_t registers[DEPTHS / 8]);
/* The sites of all kernels since the reset, in a list that the caller frees. */
struct site *tally_sites(int *n);
extern int tally_unprinted; /* kernels have run since the tables were printed */
/* The tables behind the functions of cpu/trace.h. */
extern const char *const tally_counter_names[CPU_COUNTERS];
int tally_counts(const struct cpu_kernel_counts **list);
int tally_named_counters(const char *const **names);
uint64_t tally_named_count(int kernel, const char *name);
void tally_reset(void);

/* --- print.c ---------------------------------------------------------------------------------- */

void counts_print(FILE *out);
void counts_print_lines(FILE *out);

/* --- Notes: notes.c makes them, count.c merges them ------------------------------------------- */

enum { NOTES = 62 };

/* The notes of a warp: row i has the i-th note of every lane. */
struct lanes {
    uint64_t order[NOTES][WARP]; /* above 32 bits the depth, 0 the deepest; below, the code */
    uint64_t where[NOTES][WARP]; /* the address; from bit 48 log2 of the size, from 52 enum what */
    uint8_t first[WARP], n[WARP];
    unsigned full; /* lanes whose notes are full, which wait */
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
    uintptr_t copy_to[MAX_THREADS];  /* destination of the copy being merged */
    uint64_t statement[MAX_THREADS]; /* order of the thread's last statement of inline PTX */
    struct wait {
        const void *insn;
        uintptr_t p; /* 0 if a thread's last note was not in a wait loop */
    } wait[MAX_THREADS];
    const char *top[MAX_THREADS];
    /* The cp.async groups of a thread that it has not waited for, one bit each, the latest in
     * bit 0: set if the group has a copy. open_group is the same bit of the open group. */
    uint32_t groups[MAX_THREADS], open_group[MAX_THREADS];
    uint8_t registers[DEPTHS / 8]; /* a bit for each depth at which wgmma had a variable */
    struct tally tally;            /* of the running launch */
    struct trace *next;
};
