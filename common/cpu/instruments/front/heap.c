/* Memory that kernels allocate by malloc and new: cudacc renames the calls in the object. For
 * check it is device memory like any other; for count it is the host's. Calls by the host are
 * passed on. */
#include "device/device.h"
#include "cpu/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The C++ symbols of new, new[], delete and delete[]. */
void *_Znwm(size_t bytes);
void *_Znam(size_t bytes);
void _ZdlPv(void *p);
void _ZdaPv(void *p);

#if CPU_TRACE == 2
static int in_kernel(void)
{
    return cpu_worker && cpu_worker->running;
}

static void *heap_take(size_t bytes, const void *site)
{
    enum { ALIGNMENT = 16, PAGE = 4096 };
    size_t data = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, all = 0;
    data += data ? 0 : ALIGNMENT;
    all = (data + PAGE - 1) / PAGE * PAGE + PAGE;
    char *base = trace_map(all);
    if (base == MAP_FAILED)
        return NULL;
    char *p = base + all - PAGE - data;
    fill_unwritten(p, data);
    trace_site(site);
    trace_allocated(p, bytes ? bytes : 1, cudaMemoryTypeDevice);
    return p;
}
#define TAKE(bytes, plain)                                                                         \
    (in_kernel() ? heap_take(bytes, __builtin_return_address(0)) : (plain)(bytes))
#define GIVE(p, plain)                                                                             \
    if (!trace_heap_free(p, __builtin_return_address(0)))                                          \
    (plain)(p)
#else
#define TAKE(bytes, plain) (plain)(bytes)
#define GIVE(p, plain) (plain)(p)
#endif

#pragma GCC visibility push(default)
void *cpu_trace_malloc(size_t bytes)
{
    return TAKE(bytes, malloc);
}
void cpu_trace_free(void *p)
{
    GIVE(p, free);
}
/* Weak, since a program may define its own operators, which then replace these. */
__attribute__((weak)) void *cpu_trace__Znwm(size_t bytes)
{
    return TAKE(bytes, _Znwm);
}
__attribute__((weak)) void *cpu_trace__Znam(size_t bytes)
{
    return TAKE(bytes, _Znam);
}
__attribute__((weak)) void cpu_trace__ZdlPv(void *p)
{
    GIVE(p, _ZdlPv);
}
__attribute__((weak)) void cpu_trace__ZdlPvm(void *p, size_t bytes)
{
    GIVE(p, _ZdlPv);
}
__attribute__((weak)) void cpu_trace__ZdaPv(void *p)
{
    GIVE(p, _ZdaPv);
}
__attribute__((weak)) void cpu_trace__ZdaPvm(void *p, size_t bytes)
{
    GIVE(p, _ZdaPv);
}
#pragma GCC visibility pop
