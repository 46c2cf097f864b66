/* Functions that the device calls, and that the folders above it define: the units of the
 * hardware (a block begins or ends), and the instruments `count` (CPU_TRACE is 1) and `check`
 * (2): the events of a kernel. The compiler reports loads and stores to an instrument
 * (instruments/front/callbacks.h). The runtime is compiled once for each instrument; in a plain
 * program the hooks are empty. Files that are the same in all three (CPU_SHARED; runtime.mk
 * lists them) see neither CPU_TRACE nor the hooks. */
#pragma once

#include "cpu/runtime.h"

#include <stdint.h>

/* TRACE(block(w, place)) calls trace_block: the macros add the prefix. TRACE_COUNT and TRACE_CHECK
 * call the hook of that instrument only. TRACE_COUNT_OR and TRACE_CHECK_OR return its value, and
 * `plain` where it is not called. */
#ifndef CPU_SHARED
#ifndef CPU_TRACE
#define CPU_TRACE 0
#endif
#if CPU_TRACE == 1
#define TRACE_COUNT_OR(call, plain) trace_##call
#else
#define TRACE_COUNT_OR(call, plain) (plain)
#endif
#if CPU_TRACE == 2
#define TRACE_CHECK_OR(call, plain) trace_##call
#else
#define TRACE_CHECK_OR(call, plain) (plain)
#endif
#define TRACE_COUNT(call) TRACE_COUNT_OR(call, (void)0)
#define TRACE_CHECK(call) TRACE_CHECK_OR(call, (void)0)
#if CPU_TRACE
#define TRACE(call) trace_##call
#else
#define TRACE(call) ((void)0)
#endif
#endif

/* An address that shows the call depth of this function's caller: a smaller address is deeper.
 * On aarch64 a function's frame lies below the registers that it saves, so two functions that
 * one kernel calls would seem to have different callers; the first word of the frame is the
 * address of the caller's frame. */
#ifdef __aarch64__
#define CALLERS_DEPTH (*(const void **)__builtin_frame_address(0))
#else
#define CALLERS_DEPTH __builtin_frame_address(0)
#endif

struct worker;
struct launch;

/* The reasons why a kernel stops. --check makes findings of some of them: rule_of. */
enum fault {
    FAULT_SIGNAL,      /* the CPU raises a signal: an illegal access, a division by zero */
    FAULT_TRAP,        /* the kernel, or one of our headers in it, stops it: __trap, assert */
    FAULT_OPERAND,     /* an operand has a value that CUDA does not allow */
    FAULT_LAUNCH,      /* the launch lacks what the kernel uses, such as enough shared memory */
    FAULT_UNSUPPORTED, /* CUDA allows it, and this backend does not have it */
    FAULT_WAIT,        /* all running threads wait for an event that no thread can cause */
    FAULT_DEADLOCK,    /* all threads of a block wait, some of them for an mbarrier */
    FAULT_DIVERGENCE,  /* threads that have to meet are at different places */
    FAULT_MBARRIER,    /* an mbarrier is used wrongly, or as check cannot follow */
    FAULT_DESCRIPTOR,  /* a matrix descriptor of wgmma is wrong, or a tensor map's rank */
    FAULT_REGISTERS,   /* setmaxnreg requests an impossible number of registers */
    FAULT_ALIGNMENT,   /* an address or a size is not a multiple of its required alignment */
    FAULT_ADDRESS      /* an address lies outside the memory that the instruction may use */
};

/* In the order of events: a launch, its blocks, and in a block its barriers and warp operations. */
void trace_launch(struct launch *l);
void trace_launch_end(struct launch *l);
/* Launches by kernels. The time now, for the next function. A child begins: it was launched at
 * `from`, and its parent grid ended at `end`. A child has ended. */
uint32_t trace_child_time(void);
void trace_child_begins(uint32_t from, uint32_t end);
void trace_child_ended(void);
void trace_grid_wait(struct worker *w);    /* griddepcontrol.wait, by the running thread */
void trace_grid_trigger(struct worker *w); /* griddepcontrol.launch_dependents, likewise */
void trace_grids_done(void);               /* the host has waited for all launches */

/* Streams are numbers, and 0 is the default stream. with_default: the stream is a blocking one,
 * which waits for the default stream, and the default stream for it. Work is launched into a
 * stream; an event is recorded, or recorded by the work that runs (a graph); a stream, or the host,
 * waits. */
enum { TRACE_STREAMS = 64 };
void trace_stream_work(int stream, int with_default);
void trace_stream_record(uint32_t *clock, int stream, int with_default);
void trace_stream_record_here(uint32_t *clock);
void trace_stream_wait(int stream, const uint32_t *clock);
void trace_host_waits(int stream, int with_default);
void trace_host_waits_event(const uint32_t *clock);
void trace_host_waits_all(void);

/* Work that is no launch, of the stream that the last trace_stream_work of this OS thread named: it
 * begins, called at `site` in the program; it is about to touch `height` rows of `width` bytes,
 * `pitch` bytes apart. STAGED: a write that need not be done when the call of the host returns,
 * though its name has no Async. */
enum trace_touch {
    TRACE_READS,
    TRACE_WRITES,
    TRACE_STAGED,
    TRACE_SETS,
    TRACE_SETS_STAGED,
    TRACE_ALLOCATES,
    TRACE_FREES,
    TRACE_LIBRARY_READS,
    TRACE_LIBRARY_WRITES
};
struct trace_rows {
    const void *p;
    size_t width, height, pitch;
};
void trace_work(const void *site);
void trace_work_touches(enum trace_touch how, struct trace_rows rows);
/* The rows have been copied, both of one width and height: what nobody has written stays so. */
void trace_work_copied(struct trace_rows to, struct trace_rows from, const void *site);
/* The host frees, without waiting for anything. */
void trace_host_frees(const void *p, size_t bytes, const void *site);
/* A host function of that stream begins (1) or has ended (0). */
void trace_host_function(int begins);
void trace_block(struct worker *w, uint64_t place);
void trace_join(struct worker *w, int barrier);    /* the running thread has arrived; not at 0 */
void trace_barrier(struct worker *w, int barrier); /* all threads have arrived, and none has left */
/* Comes before trace_barrier if threads of the block have exited without arriving at its
 * barrier. */
void trace_fewer(struct worker *w);
/* Likewise if whole warps have arrived at other places in the code than thread `first`. */
void trace_apart(struct worker *w, int first);
/* For check, in front of trace_warp: the lanes that have arrived get what a shuffle gives. */
void trace_shuffled(const struct worker *w, int warp, unsigned arrived);
/* All lanes of the mask have arrived, and none has left. */
void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask);
/* Of a cooperative launch. All threads of a block have arrived at the grid's barrier. The others
 * are for check: a block's turn is over (the block rests, or has ended); the barrier opens; a
 * block runs again. */
void trace_grid_barrier(struct worker *w);
const char *trace_rests(struct worker *w); /* why the block cannot rest here; NULL if it can */
void trace_grid_opens(void);
void trace_block_again(struct worker *w);
/* For count: wakes lanes that wait for the instrument. True if there were some. */
int trace_release(struct worker *w, int warp);
/* All threads wait: fills in threads[].caller of those that wait in inline PTX, and .looked of
 * those that sleep. */
void trace_callers(struct worker *w);
void trace_fault(struct worker *w, enum fault kind, const char *text); /* the kernel is stopped */
const char *trace_kernel_name(const struct cpu_kernel *kernel); /* the launch may not say it */
void trace_launch_refused(const struct cpu_kernel *kernel, const char *text); /* it will not run */
void trace_dies(void);                     /* the program is about to die of a signal */
int trace_allow_misaligned(void *context); /* true: the access can be made again */
/* The code at `from` has made an illegal access at p; can: it can be passed over. False: it must
 * not be. */
int trace_illegal(struct worker *w, uintptr_t p, uintptr_t from, int can);
/* Writes the place of a loop as "FILE:LINE". n return addresses from it, and its frames. */
void trace_loop(const void *const *from, const void *const *frame, int n, char *text, size_t size);
void trace_shared(struct worker *w, const char *name, size_t offset, size_t bytes);

/* Inline PTX. Lanes are those of the running thread's warp. `from` is the place in the kernel
 * that calls the statement, and `frame` shows how deep the stack is there. The events that
 * follow are that statement's. */
enum matrix { TRACE_LDMATRIX, TRACE_STMATRIX };
void trace_asm(struct worker *w, const void *from, const void *frame);
/* For check: its operands, as the next event. */
void trace_operands(struct worker *w, const char *text, const char *constraints,
                    const uint64_t *registers);
void trace_lane_read(struct worker *w, int lane, uintptr_t p, unsigned bytes);
void trace_lane_write(struct worker *w, int lane, uintptr_t p, unsigned bytes);
/* A load or store that is .relaxed, .acquire or .release, so a race with other blocks is
 * allowed. The load takes its value from the address that is returned. insn identifies the
 * statement: all copies that the compiler has made of it have the same. */
const void *trace_lane_poll(struct worker *w, int lane, uintptr_t p, unsigned bytes, int acquires,
                            const void *insn);
void trace_lane_publish(struct worker *w, int lane, uintptr_t p, unsigned bytes);
/* A floating-point addition by an atomic; trace_lane_atomic follows. */
void trace_lane_sum(struct worker *w, int lane, uintptr_t p, unsigned bytes);
/* `parts` elements, which have `bytes` together. */
void trace_lane_atomic(struct worker *w, int lane, uintptr_t p, unsigned bytes, unsigned parts);
/* For check, by the running thread: a fence; what the strong access that comes next is, beside
 * .relaxed of the device's scope. */
enum trace_order {
    TRACE_BLOCK_SCOPE = 1,
    TRACE_ACQUIRE = 2,
    TRACE_RELEASE = 4,
    TRACE_VOLATILE = 8,
    TRACE_DEVICE_SCOPE = 16 /* a release that does not reach the host */
};
void trace_fence(struct worker *w, enum cpu_scope scope);
void trace_ordering(struct worker *w, int order);
/* Whether a block that only waits may be set aside, so that others run: check can follow it. */
int trace_can_rest(struct worker *w);
/* Comes before the data moves: rows[8 * i + r] is row r of matrix i, 16 bytes; n matrices. */
void trace_matrix(struct worker *w, enum matrix what, void *const rows[32], int n, int transposed);
/* Once per warp; wgmma once per warpgroup, with the bytes of shared memory that it reads. */
void trace_mma(struct worker *w, uint64_t flops);
void trace_wgmma(struct worker *w, uint64_t flops, unsigned bytes);
/* cp.async: `read` bytes are copied from `from`, and the others are zeros; .cg bypasses the L1
 * cache. The groups of cp.async: a wait leaves the latest `pending` groups in flight; -1: it
 * waits for all copies, those in no group included. */
void trace_async_issue(struct worker *w, int lane, void *to, const void *from, unsigned bytes,
                       unsigned read, int around_l1);
void trace_async_commit(struct worker *w, int lane);
void trace_async_wait(struct worker *w, int lane, int pending);

/* Bulk copies, for count: one request each, and the bytes of global memory that it touches. */
enum bulk { TRACE_BULK_LOAD, TRACE_BULK_STORE, TRACE_BULK_REDUCE };
void trace_bulk(struct worker *w, enum bulk what, uint64_t bytes);

/* The async proxy: accesses by bulk copies and wgmma, for check alone (TRACE_CHECK). The lane's
 * thread issues an operation, at its statement. From its issue until it is done, the operation
 * may read and write the memory that is named here: until then no thread may write the memory
 * that it reads, nor touch the memory that it writes. Ordinary writes are visible to it only
 * behind a fence.proxy.async. */
enum proxy_what { TRACE_BULK, TRACE_WGMMA, TRACE_COPIES };
enum proxy_space { TRACE_PROXY_SHARED = 1, TRACE_PROXY_GLOBAL = 2 };
/* Returns the number of the operation, for the functions below; in a block numbers begin with 1. */
int trace_proxy_issue(struct worker *w, int lane, enum proxy_what what);
/* The operation's read, or its write (atomic: by a reduction), is in flight. */
void trace_proxy_read(struct worker *w, int op, const void *p, size_t bytes);
void trace_proxy_write(struct worker *w, int op, void *p, size_t bytes, int atomic);
/* The lane's thread has waited and knows: all reads are done; all writes are done, too. Threads
 * that are ordered after it then know as well. Several threads may wait for one operation. */
void trace_proxy_read_done(struct worker *w, int lane, int op);
void trace_proxy_done(struct worker *w, int lane, int op);
void trace_proxy_fence(struct worker *w, int lane, int spaces); /* fence.proxy.async */

/* mbarriers, by their numbers in the block. A thread uses one in any way; announces bytes
 * (expect_tx); arrives, or arrives once too often, which stops the kernel; a phase completes; a
 * thread tests a parity, and has found that phase complete. */
void trace_mbarrier_init(struct worker *w, int lane, int id, uint32_t at);
void trace_mbarrier_fence(struct worker *w, int lane); /* fence.mbarrier_init */
void trace_mbarrier_use(struct worker *w, int lane, int id);
/* Writes ", made at FILE:LINE", and which one it is if several are made there. */
void trace_mbarrier_made(int id, char *text, size_t size);
void trace_mbarrier_expect(struct worker *w, int lane, int id, uint32_t bytes);
void trace_mbarrier_arrive(struct worker *w, int lane, int id);
void trace_mbarrier_full(struct worker *w, int lane, int id); /* no arrival is pending */
void trace_mbarrier_phase(struct worker *w, int id);
void trace_mbarrier_test(struct worker *w, int lane, int id, unsigned parity);
void trace_mbarrier_waited(struct worker *w, int lane, int id, unsigned parity);
void trace_mbarrier_end(struct worker *w); /* the block ends while copies are in flight */
/* The mbarrier counts the thread's cp.async copies that are in flight. */
void trace_mbarrier_copies(struct worker *w, int lane, int id);
/* The mbarrier counts the bytes of a bulk load. */
void trace_mbarrier_load(struct worker *w, int lane, int id, int op, size_t bytes);
/* wgmma, for check, and the first function also for count. The variables that a product holds
 * from its issue until the thread waits for it: sums, which no thread may touch meanwhile, or a
 * part of A, which no thread may write. */
void trace_registers_hold(struct worker *w, int thread, const void *p, int sums);
void trace_registers_release(struct worker *w, int thread, const void *p, int sums);
void trace_registers_fence(struct worker *w, int warp);   /* wgmma.fence */
void trace_registers_issue(struct worker *w, int thread); /* comes before trace_registers_hold */
/* setmaxnreg by the running warp: `count` registers per thread; more: .inc, else .dec. */
void trace_registers_count(struct worker *w, int count, int more);
/* The error in a descriptor, or NULL if there is none. */
void trace_descriptor(struct worker *w, const char *text);

#ifndef CPU_SHARED
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* in a plain program they do nothing */
/* The handlers of ld, st, red and atom call these before the access: bytes are 1, 2, 4, 8 or 16,
 * the whole of a vector. A lane may wait in here while others run. */
static inline void ptx_read(struct worker *w, int lane, const void *p, unsigned bytes)
{
    TRACE(lane_read(w, lane, (uintptr_t)p, bytes));
}
/* A read by ld.global.nc. */
static inline void ptx_read_cached(struct worker *w, int lane, const void *p, unsigned bytes)
{
#if CPU_TRACE
    cpu_trace_cached(p, bytes);
#endif
    ptx_read(w, lane, p, bytes);
}
static inline void ptx_write(struct worker *w, int lane, const void *p, unsigned bytes)
{
    TRACE(lane_write(w, lane, (uintptr_t)p, bytes));
}
static inline const void *ptx_poll(struct worker *w, int lane, const void *p, unsigned bytes,
                                   int acquires, const void *insn)
{
#if CPU_TRACE
    p = trace_lane_poll(w, lane, (uintptr_t)p, bytes, acquires, insn);
#endif
    return p;
}
static inline void ptx_publish(struct worker *w, int lane, const void *p, unsigned bytes)
{
    TRACE(lane_publish(w, lane, (uintptr_t)p, bytes));
}
/* sums: additions of floating point. */
static inline void ptx_atomic(struct worker *w, int lane, const void *p, unsigned bytes,
                              unsigned parts, int sums)
{
    if (sums)
        TRACE_CHECK(lane_sum(w, lane, (uintptr_t)p, bytes));
    TRACE(lane_atomic(w, lane, (uintptr_t)p, bytes, parts));
}
/* A function that count has a counter for: ex2 is CPU_EXP, rcp CPU_DIV. */
static inline void ptx_counted(int counter)
{
#if CPU_TRACE
    cpu_trace_special(counter);
#endif
}
#pragma GCC diagnostic pop
#endif

/* Memory. A site is the place in the caller's code that requests it. */
void trace_site(const void *site);
void *trace_map(size_t bytes); /* pages for an allocation, MAP_FAILED if there are none */
void trace_allocated(void *p, size_t bytes, enum cudaMemoryType type);
void trace_host_memory(void *p, size_t bytes); /* the host may write there, and has not yet */
int trace_freed(void *p);                      /* true: the instrument keeps the pages */
int trace_is_freed(const void *p);             /* true: freed, and its pages are kept */
void trace_written(void *p, size_t bytes);     /* by the host */
void trace_registered(void *p, size_t bytes);  /* the host's own memory, which kernels may touch */
void trace_unregistered(void *p);
/* A library is about to use memory. True: it must not, and the error has been reported. */
int trace_library(const struct cpu_access *a);
/* The device sets rows of its memory to a value, or copies them to another place of its own. */
void trace_moved(int copies, size_t width, size_t height);
/* A kernel or the host frees memory of malloc or new. False: it is the host's own. */
int trace_heap_free(void *p, const void *site);
/* The host makes an atomic or a volatile access; reads: it gets the value. */
void trace_host_atomic(uintptr_t p, int reads);
/* A __device__ (kind 0), __constant__ (1) or __managed__ (2) variable of the program; the host
 * copies from or to the variable of its own that bears the name of one. */
void trace_variable(void *p, size_t bytes, const char *name, int kind);
void trace_host_variable(const void *p, size_t bytes, int writes, const void *site);
/* A handle that the program has to destroy; kind is "a stream" or the like. The site is the
 * caller's. */
void trace_handle_made(const char *kind, const void *handle, const void *site);
void trace_handle_destroyed(const void *handle);
/* The runtime's own list of handles: a handle that only this list refers to is lost. */
void trace_handle_list(const void *head);
void trace_reset(void); /* the device is about to forget all allocations */

/* --- units/units.c, units/mbarriers.c --------------------------------------------------------- */
/* The state that instructions leave behind in a block: copies in flight, mbarriers. */
void units_begin_block(struct worker *w); /* there are no mbarriers yet */
void units_end_block(struct worker *w);   /* copies that nobody has waited for take effect */
void units_forget(struct worker *w);      /* after a fault: such copies are dropped */
/* All threads wait. True: some go on, as their try_wait has waited long enough. */
int units_expire(struct worker *w);
/* Says of each thread that waits for an mbarrier what it waits for. True: there are some. */
int units_describe(struct worker *w);
