/* The instruments `count` (CPU_TRACE is 1) and `check` (2), and what they are told: by the compiler
 * of each load and store (callbacks.h), by the runtime of everything else, through the hooks here.
 * The runtime is compiled once for each. In a plain program all of this is nothing. */
#ifndef TRACE_H
#define TRACE_H

#include "cpu_runtime.h"

#ifndef CPU_TRACE
#define CPU_TRACE 0
#endif
#if CPU_TRACE == 1
#define TRACE_COUNT(call, plain) trace_##call
#else
#define TRACE_COUNT(call, plain) (plain)
#endif
#if CPU_TRACE == 2
#define TRACE_CHECK(call, plain) trace_##call
#else
#define TRACE_CHECK(call, plain) (plain)
#endif
#if CPU_TRACE
#define TRACE(call) trace_##call
#else
#define TRACE(call) ((void)0)
#endif

struct worker;
struct launch;

/* In the order of events: a launch, its blocks, in them barriers and warp operations. */
void trace_launch(struct launch *l);
void trace_launch_end(struct launch *l);
void trace_block(struct worker *w, uint64_t place);
void trace_join(struct worker *w, int barrier);    /* the running thread has come to it */
void trace_barrier(struct worker *w, int barrier); /* all have, and nobody has gone on */
void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask); /* likewise */
int trace_release(struct worker *w, int warp); /* lets lanes go on that wait for the instrument */
void trace_fault(struct worker *w, const char *text); /* the kernel is stopped */
int trace_goes_on(void *context); /* after an access that this CPU does not make */
void trace_shared(struct worker *w, const char *name, size_t offset, size_t bytes);

/* Memory. A site is the place in the caller's code that asked for it. */
void trace_site(const void *site);
void *trace_map(size_t bytes); /* pages for an allocation, MAP_FAILED if there are none */
void trace_allocated(void *p, size_t bytes, enum cudaMemoryType type);
int trace_freed(void *p);                  /* true: the instrument keeps the pages */
void trace_written(void *p, size_t bytes); /* by the host */
void trace_reset(void);                    /* the device is about to forget all allocations */

#endif
