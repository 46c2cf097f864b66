/* Workers: the state of an OS thread that runs blocks. */
#include "device/device.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

__thread struct worker *cpu_worker;
__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

int cpu_in_kernel(void)
{
    return cpu_worker && (cpu_worker->running || cpu_worker->launching);
}

void cpu_launching(int begins)
{
    struct worker *w = cpu_worker;
    if (!w || !(begins ? w->running : w->launching))
        return;
    w->running = !begins;
    w->launching = begins;
}

/* Shared memory for a worker, with nothing around it: see shared_wrapped. Without such addresses,
 * or where no instruction can be redirected, it is memory like any other. */
static char *new_arena(int *wraps)
{
    void *p = NULL;
    *wraps = 0;
#if defined __linux__ && defined __x86_64__
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uintptr_t next, end;
    enum { UNIT = 64 * 1024, BYTES = (ARENA + UNIT - 1) / UNIT * UNIT, MOST = 1 << 30 };
    pthread_mutex_lock(&lock);
    if (!end) {
        const size_t all = 2 * WRAP_REACH + MOST;
        char *base = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        end = 1;
        if (base != MAP_FAILED) {
            next = ((uintptr_t)base + WRAP_REACH + UNIT - 1) / UNIT * UNIT;
            end = next + MOST - UNIT;
        }
    }
    if (next + BYTES < end && mprotect((void *)next, BYTES, PROT_READ | PROT_WRITE) == 0) {
        p = (void *)next;
        next += BYTES + UNIT;
        *wraps = 1;
    }
    pthread_mutex_unlock(&lock);
#endif
    return p || posix_memalign(&p, 2 * SHARED_ALIGN, ARENA) == 0 ? p : NULL;
}

static struct worker *new_at(struct worker *home)
{
    struct worker *w = calloc(1, sizeof *w);
    if (!w || !(w->arena = new_arena(&w->wraps)) || !(w->stacks = fiber_area(MAX_THREADS)))
        give_up(1, "no memory for the stacks of %d threads", MAX_THREADS);
    w->home = home ? home : w;
    w->os_thread = pthread_self();
    return w;
}

struct worker *worker_new(void)
{
    enum { SIGNALS = 64 * 1024 }; /* bytes of stack for on_signal: a thread's own may be full */
    void *signals = malloc(SIGNALS);
    if (!signals || sigaltstack(&(stack_t){.ss_sp = signals, .ss_size = SIGNALS}, NULL) != 0)
        give_up(1, "no memory for the stack of signals");
    cpu_worker = new_at(NULL);
    return cpu_worker;
}

struct worker *worker_beside(struct worker *w)
{
    if (!w->beside)
        w->beside = new_at(w->home);
    return w->beside;
}

uint64_t cpu_compare_and_swap(void *p, unsigned bytes, uint64_t old, uint64_t v)
{
    if (bytes == 2)
        return __sync_val_compare_and_swap((uint16_t *)p, (uint16_t)old, (uint16_t)v);
    if (bytes == 4)
        return __sync_val_compare_and_swap((uint32_t *)p, (uint32_t)old, (uint32_t)v);
    return __sync_val_compare_and_swap((uint64_t *)p, old, v);
}

size_t cpu_any_size(size_t bytes)
{
    return bytes;
}
