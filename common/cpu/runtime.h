/* What the runtime's own files share. Reading order: launch.c, block.c, warp.c, fiber.c, then
 * device.c, memory.c, stream.c, graph.c. */
#ifndef RUNTIME_H
#define RUNTIME_H

#define _GNU_SOURCE /* sigsetjmp, sigaltstack and the like; so this header comes first */
#define _DARWIN_C_SOURCE

#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cpu_runtime.h"
#include "fiber.h"
#include "trace/trace.h"

enum {
    WARP = 32,
    MAX_THREADS = 1024,
    MAX_WARPS = MAX_THREADS / WARP,
    MAX_BARRIERS = 16,
    SHARED_GAP = CPU_TRACE == 2 ? 128 : 0, /* bytes between variables, where overruns show */
    ARENA = (CPU_TRACE == 2 ? 320 : 227) * 1024,
    SHARED_DEFAULT = 48 * 1024, /* bytes a block may have unless its kernel opts in */
    SHARED_OPTIN = 227 * 1024   /* and if it does */
};

enum order { ORDER_FORWARD, ORDER_REVERSE, ORDER_RANDOM };

/* A launch while it runs. Workers take block numbers from `next` until it reaches `blocks`. */
struct launch {
    const struct cpu_kernel *kernel;
    uint64_t id; /* counts launches; 0 is none */
    uint64_t blocks;
    size_t shared_limit;
    enum order order;
    uint64_t seed;
    atomic_ullong next;
    atomic_int error; /* the first fault, a cudaError_t */
    atomic_size_t static_shared;
};

/* A CUDA thread of the block being run: its fiber and, while it waits, what it waits for. */
struct thread {
    int fiber;
    enum cpu_op op;
    unsigned mask; /* of a warp operation, else the number of a named barrier */
    int line;
    const char *file;
    uint64_t value, result;
    int source; /* the lane that a shuffle reads */
};

/* Lanes of a warp that have come to the same operation with the same mask. */
struct group {
    enum cpu_op op;
    unsigned mask, arrived;
    int line;
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
    int first;                  /* the first thread that came */
    unsigned waiting[MAX_WARPS];
};

/* One OS thread that runs blocks, one after the other, and the block it runs. */
struct worker {
    struct launch *launch;
    int running;   /* inside a kernel */
    unsigned now;  /* the running CUDA thread, counted through the block */
    unsigned warp; /* the warp that runs as far as it goes */
    int size, live;
    unsigned ready_warps; /* those with a ready lane */
    int yielded;
    uint64_t random;
    uint3 shape;
    struct warp warps[MAX_WARPS];
    struct barrier barriers[MAX_BARRIERS]; /* 0 is __syncthreads */
    struct thread threads[MAX_THREADS];
    uint3 index[MAX_THREADS];
    int idle[MAX_THREADS], idles, fibers; /* fibers made, and those without a thread */
    struct fiber fiber[MAX_THREADS], native;
    char *stacks, *arena;
    size_t shared_used, gaps; /* bytes of variables; between them, in instrumented programs */
    sigjmp_buf escape;        /* out of a kernel that failed */
    struct trace *trace;      /* what an instrument keeps */
};
extern __thread struct worker *cpu_worker; /* of this OS thread, or NULL */

void block_outside(enum cpu_op op, const char *file, int line) __attribute__((noreturn));

/* Every operation begins with it: notes what the running thread does and where. Inline, as it is
 * on the way of each switch. */
static inline struct worker *block_inside(enum cpu_op op, const char *file, int line)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        block_outside(op, file, line);
    struct thread *t = &w->threads[w->now];
    t->op = op;
    t->file = file;
    t->line = line;
    return w;
}

/* block.c */
void block_run_all(struct worker *w); /* returns when no block is left or one has failed */
int block_pick_lane(struct worker *w, unsigned lanes);
void block_stop(struct worker *w); /* clears the running thread's ready bit, before it waits */
void block_wait(struct worker *w);
void block_make_ready(struct worker *w, int warp, unsigned lanes);
void block_report_stuck(struct worker *w) __attribute__((noreturn));
/* warp.c */
int warp_release_active(struct worker *w, int warp);
extern const char *const op_names[];

/* Reports one line, records the error and leaves the kernel. */
void block_fail(struct worker *w, cudaError_t error, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* device.c: every API function returns through result(), which remembers the error. */
cudaError_t result(cudaError_t error);
cudaError_t sticky_error(void); /* the fault that ended all work, or cudaSuccess */
void set_sticky_error(cudaError_t error);
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* launch.c */
int worker_count(void);

/* memory.c */
void memory_reset(void);

/* stream.c: a piece of work that runs now, or becomes a node of the graph being captured. */
struct work {
    enum cudaGraphNodeType type;
    cudaError_t (*run)(void *state);
    void (*drop)(void *state);
    void *state; /* owned */
};
cudaError_t stream_submit(cudaStream_t stream, struct work work);
/* Refuses, and spoils the capture, where a capture forbids calls such as cudaMalloc; with `waits`,
 * under any capture mode. Gives the sticky error otherwise. */
cudaError_t stream_check_unsafe(int waits);
void graph_add(struct CUgraph_st *graph, struct work work);

#endif
