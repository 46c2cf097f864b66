/* The device: blocks, warps and threads, and their execution. */
#pragma once

#define _GNU_SOURCE /* for sigsetjmp, sigaltstack and the like; so this header comes first */
#define _DARWIN_C_SOURCE

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "cpu/runtime.h"
#include "base/error.h"
#include "base/fiber.h"
#include "device/hooks.h"

enum {
    WARP = 32,
    MAX_THREADS = 1024,
    MAX_WARPS = MAX_THREADS / WARP,
    NAMED_BARRIERS = 16, /* 0 is __syncthreads; then one for each tile of several warps */
    MAX_BARRIERS = NAMED_BARRIERS + MAX_WARPS,
    SHARED_ALIGN = 1024, /* of dynamic shared memory: greatest alignment, and greatest offset */
#ifndef CPU_SHARED
    SHARED_GAP = CPU_TRACE == 2 ? 128 : 0, /* bytes between variables, to find overruns */
    ARENA = (CPU_TRACE == 2 ? 320 : 227) * 1024 + SHARED_ALIGN,
#endif
    SHARED_DEFAULT = 48 * 1024, /* bytes per block, unless its kernel opts in */
    SHARED_MOST = 227 * 1024    /* and if it does, on the device with the most */
};

#ifndef CPU_SHARED
/* The bytes of shared and device memory where nothing has been stored: NaN, so that a result
 * computed from them shows it. With --check one bit in 16 is 0, as programs may store -1, all
 * bits 1. */
static inline uint8_t unwritten_byte(uintptr_t at)
{
    return CPU_TRACE == 2 && at % 2 == 0 ? 0xfe : 0xff;
}

static inline void *fill_unwritten(void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)p)[i] = unwritten_byte((uintptr_t)p + i);
    return p;
}
#endif

enum order { ORDER_FORWARD, ORDER_REVERSE, ORDER_RANDOM };

/* A launch while it runs. Workers take blocks until `next` reaches `run`. */
struct launch {
    const struct cpu_kernel *kernel;
    uint64_t id;          /* counts launches from 1 */
    uint64_t blocks, run; /* run: how many of the blocks run */
    size_t shared_limit;
    size_t static_before; /* bytes of static variables in earlier launches of the kernel */
    size_t declared; /* dynamic shared memory's alignment, where it begins at a multiple of more */
    int took_addresses;  /* of shared memory, as numbers */
    int multiprocessors; /* of the device */
    enum order order;    /* of threads */
    int last_first;      /* blocks in the other order than threads */
    uint64_t seed;
    uint64_t stagger_us;            /* the longest pause of a block, in random order */
    atomic_ullong next;             /* how many blocks have been taken, in all */
    atomic_ullong front, back;      /* and from either end of the order */
    struct worker *_Atomic workers; /* workers that have joined */
    atomic_int error;               /* the first fault, a cudaError_t */
    atomic_size_t static_shared;
    uint64_t at_grid, ended; /* cooperative: blocks that wait at grid.sync, blocks that ended */
    uint64_t rounds;         /* how often grid.sync has opened */
    struct child *children;  /* launches by its threads; children.c */
    size_t n_children;
    atomic_int told_depth; /* a launch that is too deep has been reported */
};

/* A CUDA thread of the running block: while it waits, what it waits for. */
struct thread {
    enum cpu_op op;
    unsigned mask; /* of a warp operation, else the id of a named barrier */
    int line;
    const char *file;
    uint64_t value, result;
    int source;                  /* the lane that a shuffle reads, */
    unsigned asked;              /* its mask, with lanes that the block lacks, */
    const void *from;            /* and where it is called; check compares runs by it */
    unsigned carry;              /* of add.cc and the like */
    const void *what;            /* of CPU_PTX: the instruction, */
    const char *name;            /* its text, */
    uint64_t *registers;         /* and the lane's registers; ptx/run.c */
    const uint64_t *held;        /* addresses of operands' variables, or 0 */
    const volatile void *polled; /* the last atomic load: place, value, and how often in a row */
    uint64_t found;
    unsigned polls;
    const char *caller; /* of a wait in vain, ", called at ..."; NULL if unknown */
    const char *looked; /* and of __nanosleep, ", after loading ..."; NULL if unknown */
};

/* The watchdog's looks at a worker: the states that its thread was in, and how often in a row no
 * state was new. With an instrument also where in the code that was and how deep in the stack,
 * which states have come again since the last new one, and whether a look is wanted. */
enum { LOOK_STATES = 256 };
struct looks {
    uint64_t state[LOOK_STATES];
    uint8_t again[LOOK_STATES];
    const void *from[LOOK_STATES], *frame[LOOK_STATES];
    int n, left, skip, fresh; /* left: looks to take, the next one after `skip` blocks of code */
    uint32_t random;
    atomic_int same, verdict, wanted;
};

/* Lanes of a warp that have reached the same operation with the same mask. */
struct group {
    enum cpu_op op;
    const void *what;
    unsigned mask, arrived;
    int line;
    /* Completes the operation if all lanes of the mask that have not exited have arrived. */
    void (*reconverge)(struct worker *w, int warp, struct group *g);
};

struct warp {
    unsigned exists, live; /* lanes that the block has, and lanes that have not exited */
    unsigned ready, fresh; /* lanes that may run, and those that have not started */
    unsigned yielded;      /* lanes that may run if nothing else can */
    int groups;
    struct group group[WARP];
};

struct barrier {
    int arrived, count, result; /* count: threads whose predicate is true */
    int mixed, apart;           /* lanes of a warp arrived at different places; warps did */
    int threads;                /* of a named barrier: how many threads open it */
    int first;                  /* the first thread that arrived, */
    enum cpu_op op;             /* for what, */
    int line;                   /* and where: it may have gone on */
    const char *file;
    unsigned waiting[MAX_WARPS];
};

/* An mbarrier. A phase is complete when no arrival is pending and all announced bytes have
 * arrived. More bytes may arrive than have been announced so far. */
struct mbarrier {
    uint32_t at; /* offset in shared memory, in bytes */
    int id;      /* counts the mbarriers that the block has made, from 0 */
    int arrivals, pending;
    int64_t bytes, announced, coming; /* still to come; announced in this phase; in flight */
    uint32_t phase;                   /* how many phases are complete */
    unsigned waiting[MAX_WARPS];
    int waiters;
};

/* Why a block has stopped: not at all or ended, asleep, or at grid.sync. The blocks of an OS thread
 * that rest take turns. */
enum rest { RESTS_NOT, ASLEEP, AT_GRID };

/* One OS thread that runs blocks, one after the other, and the running block. Where several blocks
 * of an OS thread have begun and not ended, each has a worker; the first is the `home` of the
 * others. */
struct worker {
    struct launch *launch;
    int running;   /* inside a kernel */
    int launching; /* inside a launch by a kernel, which instruments ignore */
    unsigned now;  /* the running CUDA thread's number in the block */
    unsigned warp; /* the warp that runs as far as it can */
    int size, live;
    unsigned ready_warps;       /* warps with a ready lane */
    int yielded, slept, looped; /* by __nanosleep or a spin; by a loop in inline PTX */
    int spun;                   /* since `sleeps` began, some have slept by a spin */
    atomic_uint sleeps;         /* how often in a row all runnable threads slept; GONE: no block */
    atomic_uint most_sleeps;    /* so many of them are in vain */
    atomic_ullong slept_at;     /* of a home: when a block of it last did, in nanoseconds */
    uint64_t joined;            /* the id of the last launch that it has joined */
    int resting;                /* of a home: how many of its blocks are set aside */
    struct worker *peer;        /* the launch's next worker */
    pthread_t os_thread;
    struct looks looks;
    uint64_t random;
    int paused; /* the block has paused, at its first barrier: pause_once */
    int apart;  /* whole warps of the block have met at barriers in two places */
    uint3 shape;
    struct warp warps[MAX_WARPS];
    struct barrier barriers[MAX_BARRIERS];
    int named_used;   /* the block has used barriers other than __syncthreads */
    uint64_t *passed; /* values that threads pass to their tile of several warps, or NULL */
    struct thread threads[MAX_THREADS];
    uint3 index[MAX_THREADS];
    int fiber_of[MAX_THREADS]; /* each thread's: apart, as each switch looks for those of others */
    int idle[MAX_THREADS], idles, fibers; /* fibers made, and those without a thread */
    struct fiber fiber[MAX_THREADS], native;
    char *stacks, *arena;
    int wraps;                    /* addresses of shared memory have 32 bits: shared_wrapped */
    size_t shared_used, gaps;     /* bytes of variables; bytes before and between them */
    size_t dynamic;               /* start of dynamic shared memory; 0 until a thread uses it */
    sigjmp_buf escape;            /* out of a kernel that failed; used in the home */
    struct worker *home, *beside; /* beside: the next worker with the same home, or NULL */
    uint3 block;                  /* index and number of the block */
    uint64_t place, round; /* round: how often the grid's barrier had opened when the block came */
    enum rest rest;
    struct trace *trace; /* the instrument's state */
    struct async *async; /* each thread's copies in flight, or NULL; units/async_copies.c */
    int async_used;      /* by the running block */
    uint64_t async_random;
    struct mbarrier *mbarriers;      /* the block's, in the order of their making */
    int n_mbarriers, made;           /* made: in this block, including invalidated ones */
    struct bulk_copies *bulk_copies; /* bulk copies in flight, or NULL; units/bulk_copies.c */
    unsigned progress, expired; /* counts events that may end a wait; value at the last timeout */
    unsigned failed_waits, failed_waits_at; /* in a row, and progress at the last one */
    struct variable {                       /* __shared__ variables of the launch */
        const char *name;
        size_t offset, bytes;
    } variable[64];
    int variables;
    int bounds_threads, bounds_blocks; /* of __launch_bounds__; 0 without them */
    uint64_t blocks_begun;
    /* For instruments: counts stores, and atomics but those that leave their place as it is; and
     * the place of the last atomic, and what was there before it. */
    uint64_t changes;
    struct {
        const volatile void *p;
        unsigned char value[16];
    } atomic;
    /* The code at which a signal has come that stops the kernel, and the stack pointer there. */
    uintptr_t signalled, signalled_stack;
    /* The launch that has last made an illegal access which was passed over, how many it has made,
     * and when it made the first one, in seconds. */
    uint64_t illegal_in;
    unsigned illegal;
    time_t illegal_at;
    struct products *wgmma; /* each warpgroup's in flight, or NULL; ptx/tensor_cores/wgmma.c */
};

/* --- worker.c --------------------------------------------------------------------------------- */
extern __thread struct worker *cpu_worker; /* of this OS thread, or NULL */
struct worker *worker_new(void);           /* makes this OS thread a worker */
/* The worker after w for another block of this OS thread. Makes one if there is none. */
struct worker *worker_beside(struct worker *w);

/* --- shared_memory.c -------------------------------------------------------------------------- */
extern int shared_as_declared; /* dynamic shared memory is no more aligned than it is declared */

/* On a GPU shared memory has addresses of 32 bits, so an index like ~i, which is unsigned, leads in
 * front of its pointer. Returns where p leads then; p itself if it is no such address. Around the
 * arena of a worker that wraps there is nothing, as far as WRAP_REACH: the greatest index, times
 * the size of the greatest load. */
#define WRAP_REACH ((uintptr_t)1 << 36)
#ifndef CPU_SHARED
static inline uintptr_t shared_wrapped(const struct worker *w, uintptr_t p)
{
    const uintptr_t offset = p - (uintptr_t)w->arena;
    if (offset + WRAP_REACH >= 2 * WRAP_REACH || (uint32_t)offset >= ARENA || !w->wraps)
        return p;
    return (uintptr_t)w->arena + (uint32_t)offset;
}
#endif

/* --- fault.c ---------------------------------------------------------------------------------- */
extern const char *const op_names[]; /* by enum cpu_op */
/* Reports one line, records the error, and leaves the kernel. */
void fault_stop(struct worker *w, enum fault kind, cudaError_t error, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
/* The same if nothing in the block can run: the line gives the reason, and where each thread
 * waits. */
void fault_stuck(struct worker *w, enum fault kind, const char *why) __attribute__((noreturn));
/* A kernel's operation is called outside of kernels: ends the program. */
void fault_outside(enum cpu_op op, const char *file, int line) __attribute__((noreturn));
void fault_catch_signals(void); /* makes signals that a kernel raises its faults */

/* --- redirect.c ------------------------------------------------------------------------------- */
/* The instruction at which a signal has come accesses `to` in place of p, once; `to` 0: memory in
 * which all bits are set, and where stores are lost. False: this instruction, or this machine,
 * cannot. p: the address that the signal reports, or redirect_address. */
int redirect(void *context, uintptr_t p, uintptr_t to);
void redirect_forget(void); /* the kernel is stopped */
/* The address of an access that no memory can have, and that the CPU does not report; 0: it is
 * another signal. */
uintptr_t redirect_address(const void *context);
uintptr_t redirect_code(const void *context);   /* where the signal has come; all bits: not known */
uintptr_t redirect_stack(const void *context);  /* the stack pointer; 0: not known */
uintptr_t redirect_caller(const void *context); /* the call that has led there, and no further */

/* --- watchdog.c ------------------------------------------------------------------------------- */
/* Begins to watch a launch. Stops it with a line if all that it does is to wait in vain. */
void watchdog_begin(struct launch *l);
void watchdog_end(void);
/* For instruments, which call watchdog_block last of all at each basic block, so that the registers
 * are the kernel's again: takes a look if one is wanted. */
extern atomic_int watchdog_wants; /* workers of which looks are wanted */
void watchdog_look(const void *from);
/* The running thread is about to make an atomic: a wait for a lock is many that change nothing. */
static inline void watchdog_atomic(struct worker *w, const volatile void *p, unsigned bytes)
{
    bytes = bytes < sizeof w->atomic.value ? bytes : sizeof w->atomic.value;
    w->changes += p != w->atomic.p || memcmp((const void *)p, w->atomic.value, bytes) != 0;
    w->atomic.p = p;
    memcpy(w->atomic.value, (const void *)p, bytes);
}
static inline void watchdog_block(const void *from)
{
    if (__builtin_expect(atomic_load_explicit(&watchdog_wants, memory_order_relaxed) > 0, 0))
        watchdog_look(from);
}

/* --- scheduler.c ------------------------------------------------------------------------------ */
void block_run_all(struct worker *w);       /* returns if no block is left or one has failed */
void block_wait(struct worker *w);          /* runs other threads until this one is ready */
void block_stop_and_wait(struct worker *w); /* block_stop, then block_wait */
void block_open_barrier(struct worker *w, struct barrier *b); /* all threads have arrived */
/* Lets the lanes of a group go on, since their results are known. */
void block_open_group(struct worker *w, int warp, struct group *g);

/* Begins every operation: records the running thread's operation and place. This function and
 * the next two are inline because each switch of threads calls them. */
static inline struct worker *block_inside(enum cpu_op op, const char *file, int line)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        fault_outside(op, file, line);
    struct thread *t = &w->threads[w->now];
    t->op = op;
    t->file = file;
    t->line = line;
    return w;
}

/* The running thread is about to wait, and no longer ready. */
static inline void block_stop(struct worker *w)
{
    struct warp *warp = &w->warps[w->now / WARP];
    warp->ready &= ~(1u << w->now % WARP);
    if (!warp->ready)
        w->ready_warps &= ~(1u << w->now / WARP);
}

static inline void block_make_ready(struct worker *w, int warp, unsigned lanes)
{
    w->warps[warp].ready |= lanes;
    w->ready_warps |= 1u << warp;
}

/* --- warp.c ----------------------------------------------------------------------------------- */
/* Waits until all lanes of the running thread's warp have reached the same `what`. The last lane
 * calls `run` for all of them. A lane that has exited never arrives. `name` is for reports. */
void warp_together(struct worker *w, enum cpu_op op, const void *what, const char *name,
                   void (*run)(struct worker *w, int warp, unsigned lanes));
/* The same for the four warps of a warpgroup. The number of the first is divisible by four. */
void warp_four_together(struct worker *w, enum cpu_op op, const void *what, const char *name,
                        void (*run)(struct worker *w, int warp, unsigned lanes));

/* --- capability.c ----------------------------------------------------------------------------- */
struct capability {
    int arch;                                      /* 900: compute capability 9.0 */
    int specific;                                  /* to this device: 9.0a */
    int shared_a_block;                            /* bytes, for a kernel that has opted in */
    int static_a_block;                            /* bytes of static variables */
    int shared_an_sm, threads_an_sm, blocks_an_sm; /* sm: multiprocessor */
    int multiprocessors;                           /* of the largest device */
};
struct capability capability(void); /* the device's */
/* How many blocks of so many threads and bytes of shared memory a multiprocessor holds at once.
 * Registers are not known here. */
int capability_blocks(uint64_t threads, size_t shared);
