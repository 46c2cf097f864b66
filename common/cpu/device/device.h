/* The device: blocks, warps and threads, and how they run. */
#ifndef DEVICE_H
#define DEVICE_H

#define _GNU_SOURCE /* sigsetjmp, sigaltstack and the like; so this header comes first */
#define _DARWIN_C_SOURCE

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cpu/runtime.h"
#include "base/error.h"
#include "base/fiber.h"
#include "device/hooks.h"

enum {
    WARP = 32,
    MAX_THREADS = 1024,
    MAX_WARPS = MAX_THREADS / WARP,
    NAMED_BARRIERS = 16, /* 0 is __syncthreads; behind them one for each tile of several warps */
    MAX_BARRIERS = NAMED_BARRIERS + MAX_WARPS,
    SHARED_ALIGN = 1024, /* of dynamic shared memory, at most; so far into the arena it may begin */
#ifndef CPU_SHARED
    SHARED_GAP = CPU_TRACE == 2 ? 128 : 0, /* bytes between variables, where overruns show */
    ARENA = (CPU_TRACE == 2 ? 320 : 227) * 1024 + SHARED_ALIGN,
#endif
    SHARED_DEFAULT = 48 * 1024, /* bytes a block may have unless its kernel opts in */
    SHARED_MOST = 227 * 1024    /* and if it does, on the device that gives the most */
};

enum order { ORDER_FORWARD, ORDER_REVERSE, ORDER_RANDOM };

/* A launch while it runs. Workers take block numbers from `next` until it reaches `blocks`. */
struct launch {
    const struct cpu_kernel *kernel;
    uint64_t id;          /* counts launches; 0 is none */
    uint64_t blocks, run; /* run: how many of them do */
    size_t shared_limit;
    int multiprocessors; /* of the device */
    enum order order;    /* of threads */
    int last_first;      /* blocks the other way round, where threads go forward */
    uint64_t seed;
    uint64_t stagger_us; /* the longest pause of a block, in random order */
    atomic_ullong next;
    struct worker *_Atomic workers; /* that have joined */
    atomic_int error;               /* the first fault, a cudaError_t */
    atomic_size_t static_shared;
    /* Of a cooperative launch: blocks that wait at the grid's barrier, and those that have ended;
     * how often it has opened. */
    uint64_t at_grid, ended, rounds;
    struct child *children; /* what its threads have launched; children.c */
    size_t n_children;
    atomic_int told_depth; /* that they launch too deep */
};

/* A CUDA thread of the block being run: its fiber and, while it waits, what it waits for. */
struct thread {
    int fiber;
    enum cpu_op op;
    unsigned mask; /* of a warp operation, else the number of a named barrier */
    int line;
    const char *file;
    uint64_t value, result;
    int source;           /* the lane that a shuffle reads */
    unsigned carry;       /* of add.cc and its like */
    const void *what;     /* of CPU_PTX: the instruction, */
    const char *name;     /* its text, */
    uint64_t *registers;  /* and the lane's registers; ptx/run.c */
    const uint64_t *held; /* of the statement, addresses of variables that outlive it, or 0 */
    const volatile void *polled; /* the last atomic load, what it found, how often in a row */
    uint64_t found;
    unsigned polls;
    const char *caller; /* of a wait in vain, ", called at ..."; NULL: nobody knows */
};

/* What watchdog.c has seen of a worker: states of its registers, and how often in a row none was
 * new.
 */
enum { LOOK_STATES = 64 };
struct looks {
    uint64_t state[LOOK_STATES];
    int n;
    atomic_int same, verdict;
};

/* Lanes of a warp that have come to the same operation with the same mask. */
struct group {
    enum cpu_op op;
    const void *what;
    unsigned mask, arrived;
    int line;
    /* Lets the lanes go on if all that have not exited are there. */
    void (*go_on)(struct worker *w, int warp, struct group *g);
};

struct warp {
    unsigned exists, live; /* lanes that the block has, and those that have not exited */
    unsigned ready, fresh; /* lanes that may run, and those of them that have not started */
    unsigned yielded;      /* lanes that may run when nothing else can */
    int groups;
    struct group group[WARP];
};

struct barrier {
    int arrived, count, result; /* count: threads whose predicate held */
    int mixed;                  /* threads came to it at different places */
    int threads;                /* that a named one is for */
    int first;                  /* the first thread that came */
    unsigned waiting[MAX_WARPS];
};

/* An mbarrier. A phase is complete when no arrival is pending and all bytes that were announced
 * have come; more may have come than were announced so far. */
struct mbarrier {
    uint32_t at; /* in shared memory, in bytes */
    int id;      /* counts those that the block has made; from 0 */
    int arrivals, pending;
    int64_t bytes, announced, coming; /* to come; announced in this phase; on their way */
    uint32_t phase;                   /* how many are complete */
    unsigned waiting[MAX_WARPS];
    int waiters;
};

/* Why a block has stopped: it never does, has ended, or waits. Blocks of a cooperative launch take
 * turns. */
enum rest { RESTS_NOT, ASLEEP, AT_GRID };

/* One OS thread that runs blocks, one after the other, and the block it runs. In a cooperative
 * launch it has one of these for each of its blocks, and the first is the others' home. */
struct worker {
    struct launch *launch;
    int running;   /* inside a kernel */
    int launching; /* inside a kernel's launch, of which instruments see nothing */
    unsigned now;  /* the running CUDA thread, counted through the block */
    unsigned warp; /* the warp that runs as far as it goes */
    int size, live;
    unsigned ready_warps;       /* those with a ready lane */
    int yielded, slept, looped; /* by __nanosleep, by a loop in inline PTX */
    /* How often in a row the block's threads have slept, all that could run, and when that was
     * last; GONE when the worker has no block. */
    atomic_uint sleeps;
    atomic_ullong slept_at;
    struct worker *peer; /* the next of the launch */
    pthread_t os_thread;
    struct looks looks;
    uint64_t random;
    int paused; /* the block, at its first barrier; see pause_once */
    uint3 shape;
    struct warp warps[MAX_WARPS];
    struct barrier barriers[MAX_BARRIERS];
    int named_used;   /* of those, others than __syncthreads, by the block */
    uint64_t *passed; /* what each thread passes to its tile of several warps, or NULL */
    struct thread threads[MAX_THREADS];
    uint3 index[MAX_THREADS];
    int idle[MAX_THREADS], idles, fibers; /* fibers made, and those without a thread */
    struct fiber fiber[MAX_THREADS], native;
    char *stacks, *arena;
    size_t shared_used, gaps; /* bytes of variables; in front of them and between them */
    size_t dynamic;           /* where dynamic shared memory begins; 0: no thread has come to it */
    sigjmp_buf escape;        /* out of a kernel that failed; home's */
    struct worker *home, *beside; /* beside: the next that has the same home, or NULL */
    uint3 block;                  /* its index, and its number */
    uint64_t place, round;        /* round: how often the grid's barrier had opened when it came */
    enum rest rest;
    struct trace *trace; /* what an instrument keeps */
    struct async
        *async;     /* copies of each thread that are under way, or NULL; units/async_copies.c */
    int async_used; /* by the block that runs */
    uint64_t async_random;
    struct mbarrier *mbarriers; /* of the block, in the order in which they were made */
    int n_mbarriers, made;      /* made: in this block, those that are gone as well */
    struct flights *flights;    /* bulk copies under way, or NULL; units/bulk_copies.c */
    unsigned progress, expired; /* counts what may end a wait; what it was at the last timeout */
    unsigned asked, asked_at;   /* how often in vain, at which progress */
    struct variable {           /* __shared__, of the launch */
        const char *name;
        size_t offset, bytes;
    } variable[64];
    int variables;
    int bounds_threads, bounds_blocks; /* of __launch_bounds__, 0: it has none */
    uint64_t turn;                     /* counts the blocks that it has begun */
    struct products
        *wgmma; /* of each warpgroup, those under way, or NULL; ptx/tensor_cores/wgmma.c */
};

/* --- worker.c --------------------------------------------------------------------------------- */
extern __thread struct worker *cpu_worker; /* of this OS thread, or NULL */
struct worker *worker_new(void);           /* makes this OS thread a worker */
/* Another for a block of this OS thread, which follows w, and is made when there is none. */
struct worker *worker_beside(struct worker *w);

/* --- fault.c ---------------------------------------------------------------------------------- */
extern const char *const op_names[]; /* by enum cpu_op */
/* Reports one line, records the error and leaves the kernel. Kinds: trace.h. */
void fault_stop(struct worker *w, enum fault kind, cudaError_t error, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
/* The same where nothing in the block can run: the line says why, and who waits where. */
void fault_stuck(struct worker *w, enum fault kind, const char *why) __attribute__((noreturn));
/* An operation of kernels that is called where no kernel runs: ends the program. */
void fault_outside(enum cpu_op op, const char *file, int line) __attribute__((noreturn));
void fault_catch_signals(void); /* from here on, those that a kernel raises are its faults */

/* --- watchdog.c ------------------------------------------------------------------------------- */
/* The launch begins, and is stopped with a line when all that it does is to wait for nobody. */
void watch_launch(struct launch *l);
void watch_ends(void);

/* --- scheduler.c ------------------------------------------------------------------------------ */
void block_run_all(struct worker *w); /* returns when no block is left or one has failed */
void block_wait(struct worker *w);    /* runs others until the running thread is ready again */
/* Lets the lanes of a group go on: their results are there. */
void block_open_group(struct worker *w, int warp, struct group *g);

/* Every operation begins with it: notes what the running thread does and where. These three are
 * inline as they are on the way of each switch. */
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

/* The running thread is not ready any more: it is about to wait. */
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
/* Waits until all lanes of the running thread's warp have come to the same `what`; the last to come
 * calls run for them all. A lane that has exited never comes. `name` is for reports. */
void warp_together(struct worker *w, enum cpu_op op, const void *what, const char *name,
                   void (*run)(struct worker *w, int warp, unsigned lanes));
/* The same of the four warps of a warpgroup, the first of which has a number divisible by four. */
void warp_four_together(struct worker *w, enum cpu_op op, const void *what, const char *name,
                        void (*run)(struct worker *w, int warp, unsigned lanes));

/* --- capability.c ----------------------------------------------------------------------------- */
struct capability {
    int arch;                                      /* 900: of compute capability 9.0 */
    int shared_a_block;                            /* bytes, for a kernel that has opted in */
    int shared_an_sm, threads_an_sm, blocks_an_sm; /* an sm: a multiprocessor */
};
struct capability capability(void); /* of the device */

#endif
