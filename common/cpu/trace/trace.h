/* The instruments `count` and `check`, and what they are told. The compiler reports each load and
 * store of a kernel (callbacks.h), the runtime everything else, through the hooks here. A plain
 * program is built without CPU_TRACE and contains none of it. */
#ifndef TRACE_H
#define TRACE_H

#include "cpu_runtime.h"

#ifdef CPU_TRACE
#define TRACE(call) trace_##call
#define TRACE_OR(call, plain) trace_##call

struct worker;
struct launch;

/* In the order of events: a launch, its blocks, in them barriers and warp operations. */
void trace_launch(struct launch *l);
void trace_launch_end(struct launch *l);
void trace_block(struct worker *w, uint64_t place);
void trace_join(struct worker *w, int barrier); /* the running thread has come to it */
void trace_barrier(struct worker *w, int barrier, int arrived); /* all have, nobody has gone on */
void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask); /* likewise */
int trace_release(struct worker *w, int warp); /* lets lanes go on that wait for the instrument */
void trace_fault(struct worker *w, const char *text); /* the kernel is stopped */
void trace_shared(struct worker *w, const char *name, size_t offset, size_t bytes);
size_t trace_gap(void); /* bytes to leave free behind a shared variable */
int trace_workers(int wanted);

/* Memory. A site is the place in the caller's code that asked for it. */
void trace_site(const void *site);
void *trace_map(size_t bytes); /* pages for an allocation, MAP_FAILED if there are none */
void trace_allocated(void *p, size_t bytes, enum cudaMemoryType type);
int trace_freed(void *p);                  /* true: the instrument keeps the pages */
void trace_written(void *p, size_t bytes); /* by the host */
void trace_reset(void);                    /* the device is about to forget all allocations */

#else
#define TRACE(call) ((void)0)
#define TRACE_OR(call, plain) (plain)
#endif
#endif
