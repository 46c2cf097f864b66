/* Watches long launches: stops a thread that spins in a loop that nothing will end, such as a wait
 * for the host, or a wait without __nanosleep for a thread of its block.
 *
 * The program's code is not examined. An OS thread interrupts those that run blocks, ten times a
 * second, and notes their registers. A loop that computes has new register contents each time. A
 * loop that waits has as many states as instructions: if for long no new state is found, in no
 * OS thread, it is stuck. With an instrument, the calls at each load have more states, and such
 * a loop is not found. */
#include "device/device.h"

#if defined __linux__ && (defined __x86_64__ || defined __aarch64__)
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum {
    PERIOD = 100,  /* milliseconds between two looks */
    PATIENCE = 40, /* looks at a launch before the first interruption */
    ENOUGH = 50,   /* looks in a row that find no new state */
    TOGETHER = 10  /* so many of these must be the same looks for all workers */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards `watched`, and a launch's life */
static struct launch *watched;

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
    const uint64_t state = state_of(context);
    int i = 0;
    while (i < w->looks.n && w->looks.state[i] != state)
        i++;
    if (!state || (i == w->looks.n && i == LOOK_STATES)) {
        w->looks.n = 0;
        atomic_store(&w->looks.same, 0);
    } else if (i == w->looks.n) {
        w->looks.state[w->looks.n++] = state;
        w->looks.same = 0;
    } else {
        w->looks.same++;
    }
}

/* Returns a worker if all workers have been seen often enough without a new state, otherwise
 * NULL. While one worker computes, others may wait for its result, and get some time to see
 * that. */
static struct worker *stuck(struct launch *l)
{
    struct worker *found = NULL;
    int least = ENOUGH;
    for (struct worker *w = atomic_load(&l->workers); w; w = w->peer)
        if (w->running) {
            found = w;
            least = w->looks.same < least ? w->looks.same : least;
        }
    for (struct worker *w = atomic_load(&l->workers); w && least < ENOUGH - TOGETHER; w = w->peer)
        if (w->running && w->looks.same > ENOUGH - TOGETHER)
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
                if (w->running)
                    pthread_kill(w->os_thread, SIGURG);
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void begin_watch(void)
{
    struct sigaction action = {.sa_sigaction = on_look,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    sigset_t all, before;
    pthread_t t;
    if (sigaction(SIGURG, &action, NULL) != 0)
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
    if (CPU_TRACE || l->kernel->together)
        return;
    pthread_once(&once, begin_watch);
    pthread_mutex_lock(&lock);
    watched = l;
    pthread_mutex_unlock(&lock);
}

void watchdog_end(void)
{
    pthread_mutex_lock(&lock);
    watched = NULL;
    pthread_mutex_unlock(&lock);
}
#else
void watchdog_begin(struct launch *l)
{
}

void watchdog_end(void)
{
}
#endif
