/* Workers: the state of an OS thread that runs blocks. */
#include "device/device.h"

#include <signal.h>
#include <stdlib.h>

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

static struct worker *new_at(struct worker *home)
{
    struct worker *w = calloc(1, sizeof *w);
    void *arena = NULL;
    if (!w || posix_memalign(&arena, 2 * SHARED_ALIGN, ARENA) ||
        !(w->stacks = fiber_area(MAX_THREADS)))
        give_up(1, "no memory for the stacks of %d threads", MAX_THREADS);
    w->arena = arena;
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
