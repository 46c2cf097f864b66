/* What the device tells the folders above it, which define these functions: units of the hardware,
 * that a block begins or ends; the instruments `count` (CPU_TRACE is 1) and `check` (2), what a
 * kernel does. Loads and stores an instrument learns from the compiler
 * (instruments/front/callbacks.h). The runtime is compiled once for each instrument. In a plain
 * program the hooks are nothing. What is the same in all three (CPU_SHARED; runtime.mk has the
 * list) sees neither CPU_TRACE nor the hooks. */
#ifndef HOOKS_H
#define HOOKS_H

#include "cpu/runtime.h"

#include <stdint.h>

#ifndef CPU_SHARED
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
#endif

/* An address that tells how deep in calls the caller of this function is: less is deeper. With
 * aarch64 a function's own frame lies below the registers that it saves, so two that one kernel
 * calls would seem to be called from different depths; the first word of the frame is the address
 * of the caller's. */
#ifdef __aarch64__
#define CALLERS_DEPTH (*(const void **)__builtin_frame_address(0))
#else
#define CALLERS_DEPTH __builtin_frame_address(0)
#endif

struct worker;
struct launch;

/* What stops a kernel. --check makes a finding of some kinds: rule_of. */
enum fault {
    FAULT_SIGNAL,      /* the CPU raises a signal: an illegal access, a division by zero */
    FAULT_TRAP,        /* the kernel stops itself: __trap, assert; or a function of a header does */
    FAULT_OPERAND,     /* an operand has a value that CUDA does not allow */
    FAULT_LAUNCH,      /* the launch does not allow it, such as so much shared memory */
    FAULT_UNSUPPORTED, /* CUDA allows it, and this backend does not have it */
    FAULT_WAIT,        /* all threads that run wait for what nobody does */
    FAULT_DEADLOCK,    /* all threads of a block wait, some of them for an mbarrier */
    FAULT_DIVERGENCE,  /* threads that have to meet do not come to the same place */
    FAULT_MBARRIER,    /* an mbarrier is used wrongly */
    FAULT_DESCRIPTOR,  /* a matrix descriptor of wgmma is wrong */
    FAULT_REGISTERS,   /* setmaxnreg asks for a number of registers that cannot be */
    FAULT_ALIGNMENT,   /* an address or a size is not a multiple of what it has to be */
    FAULT_ADDRESS      /* an address lies outside the memory that the instruction may use */
};

/* In the order of events: a launch, its blocks, in them barriers and warp operations. */
void trace_launch(struct launch *l);
void trace_launch_end(struct launch *l);
/* A child of a grid begins, which was launched at the one time, and the grid ended at the other;
 * a child has ended. */
uint32_t trace_child_time(void);
void trace_child_begins(uint32_t from, uint32_t end);
void trace_child_ended(void);
void trace_grid_wait(struct worker *w); /* griddepcontrol.wait by the running thread */
void trace_grids_done(void);            /* the host has waited for all launches */

/* Streams by their numbers, 0 is the default one, and whether they wait for that as it does for
 * them. A stream is given work; an event is recorded; a stream, or the host, waits. */
enum { TRACE_STREAMS = 64 };
void trace_stream_work(int stream, int with_default);
void trace_stream_record(uint32_t *clock, int stream, int with_default);
void trace_stream_wait(int stream, const uint32_t *clock);
void trace_host_waits(int stream, int with_default);
void trace_host_waits_event(const uint32_t *clock);
void trace_host_waits_all(void);
void trace_block(struct worker *w, uint64_t place);
void trace_join(struct worker *w, int barrier);    /* the running thread has come to it */
void trace_barrier(struct worker *w, int barrier); /* all have, and nobody has gone on */
/* Before that, if threads of the block have ended and do not come to its barrier. */
void trace_fewer(struct worker *w);
void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask); /* likewise */
/* Of a cooperative launch: all threads of the block have come to the grid's barrier. Then, for
 * check: a block has had its turn, and rests or has ended; the barrier opens; a block goes on. */
void trace_grid_barrier(struct worker *w);
const char *trace_rests(struct worker *w); /* why it cannot; NULL: it can */
void trace_grid_opens(void);
void trace_block_again(struct worker *w);
int trace_release(struct worker *w, int warp); /* lets lanes go on that wait for the instrument */
/* All threads wait: it tells threads[].caller of those that do so in inline PTX. */
void trace_callers(struct worker *w);
void trace_fault(struct worker *w, enum fault kind, const char *text); /* the kernel is stopped */
void trace_dies(void);            /* the host is about to, by a signal */
int trace_goes_on(void *context); /* after an access that this CPU does not make */
void trace_shared(struct worker *w, const char *name, size_t offset, size_t bytes);

/* Inline PTX. Lanes are those of the running thread's warp. `from` and `frame` are where the kernel
 * calls the statement, and how deep its stack is there: what follows is that statement's. */
enum matrix { TRACE_LDMATRIX, TRACE_STMATRIX };
void trace_asm(struct worker *w, const void *from, const void *frame);
void trace_lane_read(struct worker *w, int lane, uintptr_t p, unsigned bytes);
void trace_lane_write(struct worker *w, int lane, uintptr_t p, unsigned bytes);
/* A load or store that other blocks may race with by right: .relaxed, .acquire, .release. The load
 * finds its value where that says. insn: of the statement, and one for all copies of it that the
 * compiler has made. */
const void *trace_lane_poll(struct worker *w, int lane, uintptr_t p, unsigned bytes, int acquires,
                            const void *insn);
void trace_lane_publish(struct worker *w, int lane, uintptr_t p, unsigned bytes);
/* An atomic addition of floating point, before it is told as an atomic. */
void trace_lane_sum(struct worker *w, int lane, uintptr_t p, unsigned bytes);
/* `parts` numbers, which are bytes together. */
void trace_lane_atomic(struct worker *w, int lane, uintptr_t p, unsigned bytes, unsigned parts);
void trace_fence(struct worker *w);
/* Before the data moves: rows[8 * i + r] is row r of matrix i, 16 bytes; n matrices. */
void trace_matrix(struct worker *w, enum matrix what, void *const rows[32], int n, int transposed);
void trace_mma(struct worker *w, uint64_t flops);                   /* once a warp */
void trace_wgmma(struct worker *w, uint64_t flops, unsigned bytes); /* once for four; bytes read */
/* cp.async: `read` of the bytes come from `from`, the others are zeros; .cg goes around the L1
 * cache. Then its groups: a wait leaves the latest `pending` of them out, or with -1 waits for what
 * is in no group as well. */
void trace_async_issue(struct worker *w, int lane, void *to, const void *from, unsigned bytes,
                       unsigned read, int around_l1);
void trace_async_commit(struct worker *w, int lane);
void trace_async_wait(struct worker *w, int lane, int pending);

/* Bulk copies, for count: a request each, and the bytes of global memory that it touches. */
enum bulk { TRACE_BULK_LOAD, TRACE_BULK_STORE, TRACE_BULK_REDUCE };
void trace_bulk(struct worker *w, enum bulk what, uint64_t bytes);

/* The async proxy: what bulk copies and wgmma do with memory, for check alone (TRACE_CHECK). The
 * lane's thread issues an operation, at its statement. The operation may then read and write what
 * it says, from its issue until it is done: until then nobody may write the one or touch the other.
 * What ordinary accesses wrote it finds only behind a fence.proxy.async. */
enum proxy_what { TRACE_BULK, TRACE_WGMMA, TRACE_COPIES };
enum proxy_space { TRACE_PROXY_SHARED = 1, TRACE_PROXY_GLOBAL = 2 };
/* The operation's number, for what follows; the numbers of a block begin with 1. */
int trace_proxy_issue(struct worker *w, int lane, enum proxy_what what);
void trace_proxy_read(struct worker *w, int op, const void *p, size_t bytes); /* is in flight */
void trace_proxy_write(struct worker *w, int op, void *p, size_t bytes, int atomic); /* likewise */
/* The lane's thread has waited, and knows: all is read; all is written as well. Others know it when
 * they come after that in order. Several threads may tell so of one operation. */
void trace_proxy_read_done(struct worker *w, int lane, int op);
void trace_proxy_done(struct worker *w, int lane, int op);
void trace_proxy_fence(struct worker *w, int lane, int spaces); /* fence.proxy.async */

/* mbarriers, by the numbers that the block gives them. A thread uses one in any way; announces
 * bytes; arrives; a phase is complete; a thread asks for a parity; has found it complete. */
void trace_mbarrier_init(struct worker *w, int lane, int id, uint32_t at);
void trace_mbarrier_fence(struct worker *w, int lane); /* fence.mbarrier_init */
void trace_mbarrier_use(struct worker *w, int lane, int id);
void trace_mbarrier_expect(struct worker *w, int lane, int id, uint32_t bytes);
void trace_mbarrier_arrive(struct worker *w, int lane, int id);
void trace_mbarrier_phase(struct worker *w, int id);
void trace_mbarrier_ask(struct worker *w, int lane, int id, unsigned parity);
void trace_mbarrier_waited(struct worker *w, int lane, int id, unsigned parity);
void trace_mbarrier_end(struct worker *w); /* the block ends, and copies are in flight */
/* The thread's copies by cp.async that are in flight count for it. */
void trace_mbarrier_copies(struct worker *w, int lane, int id);
/* A bulk load counts for it. */
void trace_mbarrier_load(struct worker *w, int lane, int id, int op, size_t bytes);
/* wgmma, for check, and of the first function for count. The variables that a product holds, from
 * its issue until the thread waits for it: sums, which nobody may touch meanwhile, or a part of A,
 * which nobody may write. */
void trace_registers_hold(struct worker *w, int thread, const void *p, int sums);
void trace_registers_release(struct worker *w, int thread, const void *p, int sums);
void trace_registers_fence(struct worker *w, int warp);   /* wgmma.fence */
void trace_registers_issue(struct worker *w, int thread); /* before what its product holds */
/* setmaxnreg: the running warp asks for so many registers a thread, which is more or fewer. */
void trace_registers_count(struct worker *w, int count, int more);
/* What is wrong with a descriptor, or NULL. */
void trace_descriptor(struct worker *w, const char *text);

#ifndef CPU_SHARED
/* What the handlers of ld, st, red and atom tell, before they do it: bytes are 1, 2, 4, 8 or 16,
 * all of a vector. A lane may wait in here while others run. */
static inline void ptx_read(struct worker *w, int lane, const void *p, unsigned bytes)
{
    (void)w, (void)lane, (void)p, (void)bytes;
    TRACE(lane_read(w, lane, (uintptr_t)p, bytes));
}
/* The same by ld.global.nc. */
static inline void ptx_read_cached(struct worker *w, int lane, const void *p, unsigned bytes)
{
#if CPU_TRACE
    cpu_trace_cached(p, bytes);
#endif
    ptx_read(w, lane, p, bytes);
}
static inline void ptx_write(struct worker *w, int lane, const void *p, unsigned bytes)
{
    (void)w, (void)lane, (void)p, (void)bytes;
    TRACE(lane_write(w, lane, (uintptr_t)p, bytes));
}
static inline const void *ptx_poll(struct worker *w, int lane, const void *p, unsigned bytes,
                                   int acquires, const void *insn)
{
    (void)w, (void)lane, (void)bytes, (void)acquires, (void)insn;
#if CPU_TRACE
    p = trace_lane_poll(w, lane, (uintptr_t)p, bytes, acquires, insn);
#endif
    return p;
}
static inline void ptx_publish(struct worker *w, int lane, const void *p, unsigned bytes)
{
    (void)w, (void)lane, (void)p, (void)bytes;
    TRACE(lane_publish(w, lane, (uintptr_t)p, bytes));
}
/* sums: of floating point. */
static inline void ptx_atomic(struct worker *w, int lane, const void *p, unsigned bytes,
                              unsigned parts, int sums)
{
    (void)w, (void)lane, (void)p, (void)bytes, (void)parts, (void)sums;
    if (sums)
        TRACE(lane_sum(w, lane, (uintptr_t)p, bytes));
    TRACE(lane_atomic(w, lane, (uintptr_t)p, bytes, parts));
}
/* A function that count knows by name: ex2 is CPU_EXP, rcp CPU_DIV. */
static inline void ptx_counted(int counter)
{
    (void)counter;
#if CPU_TRACE
    cpu_trace_special(counter);
#endif
}
#endif

/* Memory. A site is the place in the caller's code that asked for it. */
void trace_site(const void *site);
void *trace_map(size_t bytes); /* pages for an allocation, MAP_FAILED if there are none */
void trace_allocated(void *p, size_t bytes, enum cudaMemoryType type);
void trace_host_memory(void *p, size_t bytes); /* the host may write there; it has not yet */
int trace_freed(void *p);                      /* true: the instrument keeps the pages */
int trace_is_freed(const void *p);             /* an allocation has been there, and is kept */
void trace_written(void *p, size_t bytes);     /* by the host */
void trace_registered(void *p, size_t bytes);  /* the host's own memory, which kernels may touch */
void trace_unregistered(void *p);
/* A library is about to use memory. True: it must not, and that is told. */
int trace_library(const struct cpu_access *a);
/* The device sets rows of its memory to a value, or copies them to another place of its own. */
void trace_moved(int copies, size_t width, size_t height);
/* A kernel, or the host, frees what it has of malloc or new. False: it is the host's. */
int trace_heap_free(void *p, const void *site);
/* A handle that somebody has to destroy, of this kind: "a stream". The site is the caller's. */
void trace_handle_made(const char *kind, const void *handle, const void *site);
void trace_handle_destroyed(const void *handle);
/* Where the runtime has a list of its own: what that alone holds is lost. */
void trace_handle_list(const void *head);
void trace_reset(void); /* the device is about to forget all allocations */

/* --- units/units.c ---------------------------------------------------------------------------- */
/* What instructions leave behind in a block: copies in flight, mbarriers. */
void units_begin_block(struct worker *w); /* there are no mbarriers yet */
void units_end_block(struct worker *w);   /* copies that nobody has waited for take effect */
void units_forget(struct worker *w);      /* after a fault they never do */
/* All threads wait. True: some go on, as their try_wait has waited long enough. */
int units_expire(struct worker *w);
/* Says of each thread that waits for an mbarrier what it waits for. True: there are some. */
int units_describe(struct worker *w);

#endif
