/* What the runtime's own files share, from the bottom to the top: error.c, fiber.c, worker.c,
 * fault.c, watch.c, block.c, warp.c, children.c, graph.c, stream.c, event.c, memory.c, array.c,
 * texture.c, capability.c, launch.c, graph_nodes.c, device.c, tensor_map.c. A file calls only files
 * that come before it. README.md says where between them the instruments stand, and tests/layers.t
 * sees to it. */
#ifndef RUNTIME_H
#define RUNTIME_H

#define _GNU_SOURCE /* sigsetjmp, sigaltstack and the like; so this header comes first */
#define _DARWIN_C_SOURCE

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cpu_runtime.h"
#include "error.h"
#include "fiber.h"
#include "trace/trace.h"

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

/* What watch.c has seen of a worker: states of its registers, and how often in a row none was new.
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
    struct async *async; /* copies of each thread that are under way, or NULL; ptx/copies.c */
    int async_used;      /* by the block that runs */
    uint64_t async_random;
    struct mbarrier *mbarriers; /* of the block, in the order in which they were made */
    int n_mbarriers, made;      /* made: in this block, those that are gone as well */
    struct flights *flights;    /* bulk copies under way, or NULL; ptx/flights.c */
    unsigned progress, expired; /* counts what may end a wait; what it was at the last timeout */
    unsigned asked, asked_at;   /* how often in vain, at which progress */
    struct variable {           /* __shared__, of the launch */
        const char *name;
        size_t offset, bytes;
    } variable[64];
    int variables;
    int bounds_threads, bounds_blocks; /* of __launch_bounds__, 0: it has none */
    uint64_t turn;                     /* counts the blocks that it has begun */
    struct products *wgmma; /* of each warpgroup, those under way, or NULL; ptx/wgmma.c */
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

/* --- watch.c ---------------------------------------------------------------------------------- */
/* The launch begins, and is stopped with a line when all that it does is to wait for nobody. */
void watch_launch(struct launch *l);
void watch_ends(void);

/* --- copies.c --------------------------------------------------------------------------------- */
/* When what is asynchronous takes effect: CUDACPU_ASYNC. */
enum async_mode { ASYNC_LATE, ASYNC_EARLY, ASYNC_RANDOM };
enum async_mode copies_mode(void);
/* True one time in eight. Does not touch the random numbers of the order of threads. */
int copies_chance(struct worker *w);
/* Asynchronous copies of the running thread, as PTX has them: `read` of the bytes are copied, the
 * others become 0. A wait leaves out the latest `pending` groups. */
void copies_issue(struct worker *w, void *to, const void *from, unsigned bytes, unsigned read);
void copies_commit(struct worker *w);
void copies_wait(struct worker *w, uint32_t pending);
void copies_wait_all(struct worker *w); /* also for those in no group yet */
/* The number of the running thread's open group: those that are committed have smaller ones. */
unsigned copies_open(struct worker *w);
/* One of its copies that are under way is no longer this file's. False: there is none. */
struct copied {
    char *to;
    const char *from;
    unsigned bytes, read, group;
};
int copies_hand_over(struct worker *w, struct copied *c);
void copies_end_block(struct worker *w); /* what nobody has waited for takes effect */
void copies_forget(struct worker *w);    /* after a fault: it never does */

/* --- phases.c --------------------------------------------------------------------------------- */
/* The mbarrier at an address, or NULL. A pointer is good until the next is made or taken away. */
struct mbarrier *phases_find(struct worker *w, uint32_t at);
struct mbarrier *phases_of(struct worker *w, int id); /* the one that has the number, or NULL */
void phases_make(struct worker *w, uint32_t at, int arrivals);
void phases_take_away(struct worker *w, struct mbarrier *m);
/* More bytes are announced, or less when some have come; so many threads have arrived. */
void phases_expect(struct worker *w, struct mbarrier *m, int64_t bytes);
void phases_arrive(struct worker *w, struct mbarrier *m, int arrivals);
/* Whether the latest phase of this parity is complete. */
int phases_complete(const struct mbarrier *m, unsigned parity);
/* All threads wait. True: some go on, as their try_wait has waited long enough. */
int phases_expire(struct worker *w);
/* What there is to know of one, in a line: its name, its phase, what that lacks. */
void phases_tell(const struct worker *w, const struct mbarrier *m, char *text, size_t size);
/* Tells in each thread that waits what it waits for. True: there are some. */
int phases_describe(struct worker *w);
void phases_block(struct worker *w); /* a block begins, and has none */

/* --- flights.c -------------------------------------------------------------------------------- */
/* Bulk copies of the running thread: a load that counts for an mbarrier; a store to the array, or
 * an addition to it, in the thread's open group. `op` is what check calls it. */
struct box;
void flights_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m, int op);
void flights_store(struct worker *w, const struct box *b, uint32_t tile, int adds, int op);
/* A copy by cp.async of the running thread that counts for an mbarrier from now on; and what it
 * has waited for itself, by groups below `group`. */
void flights_copy(struct worker *w, const struct copied *c, struct mbarrier *m);
void flights_copied(struct worker *w, unsigned group);
void flights_commit(struct worker *w);
/* Waits for all of the thread's groups but the latest `pending`: until the tiles are read, or until
 * the arrays are written as well. Returns how many of those groups are under way still. */
int flights_wait(struct worker *w, uint32_t pending, int read_only);
/* Lets the loads for an mbarrier arrive, if its phase is complete then. */
void flights_bring(struct worker *w, struct mbarrier *m);
/* In random mode, some of all that are under way go on; else nothing happens. */
void flights_go_on(struct worker *w);
void flights_end_block(struct worker *w); /* what nobody has waited for takes effect */
void flights_forget(struct worker *w);    /* after a fault: it never does */

/* --- block.c ---------------------------------------------------------------------------------- */
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

/* --- children.c ------------------------------------------------------------------------------- */
/* A piece of work that runs now, later, or becomes a node of the graph being captured. */
struct work {
    enum cudaGraphNodeType type;
    cudaError_t (*run)(void *state);
    void (*drop)(void *state);
    void *state; /* owned */
};
/* Whether the running thread may launch a kernel: a line where it is nested too deep. A tail launch
 * comes when all of its launcher is done, and is no deeper than that. */
cudaError_t children_allow(const struct cpu_kernel *kernel, cudaStream_t stream);
/* The running thread asks for work in a stream. cudaErrorInvalidResourceHandle: the stream is none
 * that a kernel may use, and the work is dropped. */
cudaError_t children_add(cudaStream_t stream, struct work work);
/* The grid has ended: runs all of its children, and theirs. l->error becomes the first error; a
 * grid that has failed has its children dropped. */
void children_run(struct launch *l);
cudaError_t children_make_stream(cudaStream_t *stream, unsigned flags); /* for a kernel */
int children_stream_made(cudaStream_t stream);

/* --- graph.c ---------------------------------------------------------------------------------- */
int graph_frees_first(void); /* the one that runs frees what it allocates before it does so */

/* --- stream.c --------------------------------------------------------------------------------- */
/* Runs the work, or makes it a node of a capture or a kernel's child; where it is refused, as all
 * is while there is a sticky error, it is dropped. */
cudaError_t stream_submit(cudaStream_t stream, struct work work);
/* For calls that a capture in progress may forbid, in any stream. In global mode it forbids calls
 * such as cudaMalloc to every OS thread, in thread-local mode to the one that began it, in relaxed
 * mode to none; a call that `waits` for the device it forbids in every mode. Each capture that
 * forbids the call is spoiled, and the call's error is cudaErrorStreamCaptureUnsupported. If none
 * does, it is the sticky error, or cudaSuccess. */
cudaError_t stream_check_unsafe(int waits);

/* --- memory.c --------------------------------------------------------------------------------- */
void memory_reset(void); /* frees all that is allocated, and all CUDA arrays */
/* The CUDA arrays that there are: their handles are no memory that a copy may touch. Whose the
 * handle is, and its elements, is the caller's affair but for memory_reset. */
void memory_add_array(struct cudaArray *array);
int memory_has_array(const void *handle);
void memory_remove_array(const struct cudaArray *array);
/* Make the work of a copy, or of a memset. Of nothing it is none, and run is NULL. */
cudaError_t memory_copy_box(const struct cudaMemcpy3DParms *p, struct work *work);
cudaError_t memory_copy_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            struct work *work);
/* The work of a graph that allocates memory, at an address that is known from here on, or frees it.
 */
cudaError_t memory_graph_allocate(void **p, size_t bytes, struct work *work);
cudaError_t memory_graph_free(void *p, struct work *work);
cudaError_t memory_set(const struct cudaMemsetParams *p, struct work *work);
/* How far p lies behind the start of its allocation; 0 where that is not known. */
size_t memory_offset(const void *p);
int corners_only(void); /* CUDACPU_CORNERS=1: two blocks of a large grid run, and nothing else */

/* --- array.c ---------------------------------------------------------------------------------- */
/* Of each row the elements follow each other, and so do rows and slices. */
struct cudaArray {
    char *p;
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* in elements; a height or depth of 0: there is none */
    unsigned flags, element;  /* element: its bytes */
    struct cudaArray *next;
};
/* Bytes of an element, or 0 where no such element can be. */
unsigned array_element(const struct cudaChannelFormatDesc *desc);
/* Whether there is an array to look at. After an error that sticks a program may have the handle of
 * one that was never made. */
int array_given(const struct cudaArray *a);

/* --- texture.c -------------------------------------------------------------------------------- */
void texture_reset(void); /* destroys all objects, of surfaces too */

/* --- capability.c ----------------------------------------------------------------------------- */
struct capability {
    int arch;                                      /* 900: of compute capability 9.0 */
    int shared_a_block;                            /* bytes, for a kernel that has opted in */
    int shared_an_sm, threads_an_sm, blocks_an_sm; /* an sm: a multiprocessor */
};
struct capability capability(void); /* of the device */

/* --- launch.c --------------------------------------------------------------------------------- */
/* Makes the work of a launch by pointers to its arguments, from this place. */
cudaError_t launch_work(const struct cudaKernelNodeParams *p, const char *file, int line,
                        int together, cudaStream_t stream, struct work *work);
int worker_count(void); /* OS threads that may run blocks: CUDACPU_WORKERS, or one a core */

#endif
