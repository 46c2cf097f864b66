/* Watches long launches: stops a thread that spins in a loop that nothing will end, such as a wait
 * for the host, or a wait without __nanosleep for a thread of its block.
 *
 * The program's code is not examined. An OS thread has looks at those that run blocks, many times a
 * second. A loop that computes is in a new state each time. A loop that waits has few states: if
 * for long no new state is found, in no OS thread, it is stuck.
 *
 * In a plain program a look is a signal, and the state is what the registers hold, so a loop that
 * waits has as many states as instructions. With an instrument a look is taken at the begin of the
 * next basic block, where the compiler has placed a call. What the thread still needs is then in
 * the registers that a call preserves and in its stack, and the state is those, with a count of
 * what the kernel has changed in memory. */
#include "device/device.h"

#if defined __linux__ && (defined __x86_64__ || defined __aarch64__)
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

/* A signal costs more than a look of an instrument. There, the lanes of a warp may take turns in a
 * loop, and so have more states together. */
enum {
    PERIOD = CPU_TRACE ? 10 : 100,         /* milliseconds between two looks */
    STATES = CPU_TRACE ? LOOK_STATES : 64, /* no more states, or it is no loop that waits */
    PATIENCE = 4000 / PERIOD,              /* looks at a launch before the first interruption */
    ENOUGH = 5000 / PERIOD,                /* looks in a row that find no new state */
    TOGETHER = ENOUGH / 5                  /* so many of these must be the same for all workers */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `watched`, and a launch's life */
static struct launch *watched;

/* A look at the running thread, at `from` in a function with that frame: it is in this state; 0: in
 * one that does not count. Whether the state is new. */
static int is_new(struct looks *l, uint64_t state, const void *from, const void *frame)
{
    int i = 0;
    while (i < l->n && l->state[i] != state)
        i++;
    if (state && i < l->n) {
        l->again[i] = 1;
        return 0;
    }
    if (!state || i == STATES) {
        l->n = 0;
        return 1;
    }
    l->state[i] = state;
    l->from[i] = from;
    l->frame[i] = frame;
    memset(l->again, 0, sizeof l->again);
    l->n++;
    return 1;
}

#if CPU_TRACE
atomic_int watchdog_wants;

static __attribute__((noreturn)) void stop(struct worker *w)
{
    const void *from[LOOK_STATES], *frame[LOOK_STATES];
    char place[1000];
    int n = 0;
    for (int i = 0; i < w->looks.n; i++)
        if (w->looks.again[i]) {
            from[n] = w->looks.from[i];
            frame[n++] = w->looks.frame[i];
        }
    TRACE(loop(from, frame, n, place, sizeof place));
    fault_stop(
        w, FAULT_WAIT, cudaErrorLaunchTimeout,
        "thread (%u,%u,%u) does not leave the loop at %s: it changes nothing there, and no thread "
        "runs that could end it",
        threadIdx.x, threadIdx.y, threadIdx.z, place);
}

/* A value that an illegal access has given may be the bound of a loop. */
static void stop_late(struct worker *w)
{
    enum { SECONDS = 60 };
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (w->illegal_in == w->launch->id && t.tv_sec - w->illegal_at > SECONDS)
        fault_stop(w, FAULT_WAIT, cudaErrorLaunchTimeout,
                   "thread (%u,%u,%u) still runs %d seconds after an illegal access: the bits that "
                   "are all set, which that has given, may be the bound of a loop",
                   threadIdx.x, threadIdx.y, threadIdx.z, SECONDS);
}

/* low: where the registers lie that a call preserves, below all frames of the kernel. */
static void look(const void *from, const void *low)
{
    struct worker *w = cpu_worker;
    struct looks *l = w ? &w->looks : NULL;
    if (!w || !w->running || !atomic_load(&l->wanted) || l->skip-- > 0)
        return;
    if (atomic_exchange(&l->verdict, 0))
        stop(w);
    stop_late(w);
    const uint64_t more[] = {
        (uintptr_t)from,        w->now, w->place, w->changes, w->progress, w->blocks_begun,
        atomic_load(&w->sleeps)};
    const uint64_t *top = (const void *)fiber_top(w->stacks, w->fiber_of[w->now]);
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        hash = (hash ^ more[i]) * 1099511628211u;
    for (const uint64_t *p = low; p < top; p++) {
        hash = (hash ^ *p) * 1099511628211u;
        hash ^= hash >> 29; /* words differ in their upper bits too */
    }
    l->fresh |= is_new(l, hash | 1, from, low);
    l->random = l->random * 1664525u + 1013904223u;
    l->skip = (int)(l->random >> 24);
    if (--l->left > 0)
        return;
    atomic_store(&l->same, l->fresh ? 0 : l->same + 1);
    atomic_store(&l->wanted, 0);
    atomic_fetch_sub(&watchdog_wants, 1);
}

void watchdog_look(const void *from)
{
    __builtin_unwind_init(); /* puts all registers that a call preserves into this frame */
#ifdef __x86_64__
    enum { BELOW = 5 * 8 }; /* there are five below the frame's address */
#else
    enum { BELOW = 0 };
#endif
    look(from, (const char *)__builtin_frame_address(0) - BELOW);
}

/* Asks for several looks, up to 256 basic blocks apart: what the instrument itself does takes most
 * of the time, and all that would be seen is what comes right behind that. */
static void ask(struct worker *w)
{
    enum { LOOKS = 32 };
    if (atomic_load(&w->looks.wanted))
        return;
    w->looks.left = LOOKS;
    w->looks.skip = w->looks.fresh = 0;
    atomic_store(&w->looks.wanted, 1);
    atomic_fetch_add(&watchdog_wants, 1);
}

static void forget_asked(struct launch *l)
{
    for (struct worker *w = atomic_load(&l->workers); w; w = w->peer)
        if (atomic_exchange(&w->looks.wanted, 0))
            atomic_fetch_sub(&watchdog_wants, 1);
}

static int begin_looks(void)
{
    return 1;
}
#else
/* A hash of the general registers and the place in the code. 0 in a system call, which may well
 * take long. */
static uint64_t state_of(const ucontext_t *u)
{
    uint64_t hash = 1469598103934665603u;
#ifdef __x86_64__
    const unsigned char *pc = (const unsigned char *)u->uc_mcontext.gregs[REG_RIP];
    const void *from = u->uc_mcontext.gregs;
    const size_t n = (REG_EFL + 1) * sizeof *u->uc_mcontext.gregs;
    if (pc[-2] == 0x0f && pc[-1] == 0x05)
        return 0;
#else
    const uint32_t *pc = (const uint32_t *)u->uc_mcontext.pc;
    const void *from = &u->uc_mcontext.regs;
    const size_t n = 34 * sizeof *u->uc_mcontext.regs; /* sp, pc and pstate follow */
    if (pc[-1] == 0xd4000001)
        return 0;
#endif
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)from)[i]) * 1099511628211u;
    return hash | 1;
}

static void on_look(int number, siginfo_t *info, void *context)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    if (atomic_exchange(&w->looks.verdict, 0))
        fault_stop(
            w, FAULT_WAIT, cudaErrorLaunchTimeout,
            "thread (%u,%u,%u): spins in a loop that changes nothing, and nothing else runs: "
            "what it waits for is up to the host, which a kernel cannot wait for here, or to "
            "a thread that runs when this one waits at a barrier or calls __nanosleep",
            threadIdx.x, threadIdx.y, threadIdx.z);
    const int fresh = is_new(&w->looks, state_of(context), NULL, NULL);
    atomic_store(&w->looks.same, fresh ? 0 : w->looks.same + 1);
}

static void ask(struct worker *w)
{
    pthread_kill(w->home->os_thread, SIGURG);
}

static void forget_asked(struct launch *l)
{
}

static int begin_looks(void)
{
    const struct sigaction action = {.sa_sigaction = on_look,
                                     .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    return sigaction(SIGURG, &action, NULL) == 0;
}
#endif

/* Whether the worker has a block that runs, and does not rest while others of its OS thread do. */
static int is_active(struct worker *w)
{
    return w->running && atomic_load(&w->sleeps) != UINT_MAX && w->rest == RESTS_NOT;
}

/* Returns a worker if all workers have been seen often enough without a new state, otherwise
 * NULL. While one worker computes, others may wait for its result, and get some time to see
 * that. */
static struct worker *stuck(struct launch *l)
{
    struct worker *found = NULL;
    int least = ENOUGH;
    for (struct worker *w = atomic_load(&l->workers); w; w = w->peer)
        if (is_active(w)) {
            found = w;
            least = w->looks.same < least ? w->looks.same : least;
        }
    for (struct worker *w = atomic_load(&l->workers); w && least < ENOUGH - TOGETHER; w = w->peer)
        if (is_active(w) && w->looks.same > ENOUGH - TOGETHER)
            atomic_store(&w->looks.same, ENOUGH - TOGETHER);
    return least < ENOUGH ? NULL : found;
}

static void *watch(void *unused)
{
    const struct timespec period = {0, PERIOD * 1000000};
    uint64_t id = 0;
    int seen = 0;
    for (;;) {
        nanosleep(&period, NULL);
        pthread_mutex_lock(&lock);
        struct launch *l = watched;
        seen = l && l->id == id ? seen + 1 : 0;
        id = l ? l->id : 0;
        if (l && seen >= PATIENCE) {
            struct worker *w = stuck(l);
            if (w)
                atomic_store(&w->looks.verdict, 1);
            for (w = atomic_load(&l->workers); w; w = w->peer)
                if (is_active(w))
                    ask(w);
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void begin_watch(void)
{
    sigset_t all, before;
    pthread_t t;
    if (!begin_looks())
        return; /* then no launch is watched */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the watchdog takes no signals of the program */
    if (pthread_create(&t, NULL, watch, NULL) == 0)
        pthread_detach(t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void watchdog_begin(struct launch *l)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin_watch);
    pthread_mutex_lock(&lock);
    watched = l;
    pthread_mutex_unlock(&lock);
}

void watchdog_end(void)
{
    pthread_mutex_lock(&lock);
    if (watched)
        forget_asked(watched);
    watched = NULL;
    pthread_mutex_unlock(&lock);
}
#else
atomic_int watchdog_wants;
void watchdog_look(const void *from)
{
}

void watchdog_begin(struct launch *l)
{
}

void watchdog_end(void)
{
}
#endif
