/* Shared memory of a block: the dynamic part first, then each __shared__ variable when a thread
 * first reaches it. */
#include "device/device.h"

#include <string.h>

/* Dynamic shared memory begins at a multiple of its alignment but not of twice that, so that
 * code that needs more fails. Requests are counted as on a GPU, where it begins at 1024: the
 * number of 128-byte lines that a copy touches depends on that. */
void *cpu_dynamic_shared(size_t align, const char *file, int line)
{
    struct worker *w = cpu_worker;
    size_t bytes = w->launch->kernel->shared, most = w->dynamic ? w->dynamic : SHARED_ALIGN;
    if (align > 16 && align > most)
        fault_stop(
            w, FAULT_UNSUPPORTED, cudaErrorInvalidValue,
            "%s:%d: dynamic shared memory with an alignment of %zu bytes: at most %zu here%s", file,
            line, align, most, w->dynamic ? ", as the kernel's first declaration of it has" : "");
    if (!w->dynamic) {
        w->dynamic = CPU_TRACE == 1 ? SHARED_ALIGN : align > 16 ? align : 16;
        if (bytes && w->shared_used == bytes) /* no variable follows yet */
            w->gaps = w->dynamic;
        if (bytes || !w->shared_used) /* a launch may have forgotten to ask for any */
            TRACE_CHECK(shared(w, "the dynamic part", w->dynamic, bytes));
    }
    return w->arena + w->dynamic;
}

size_t cpu_shared_offset(const void *p)
{
    return (size_t)((const char *)p - cpu_worker->arena);
}

int cpu_is_shared(const void *p)
{
    return cpu_shared_offset(p) < ARENA;
}

void *cpu_shared(struct cpu_slot *slot, size_t bytes, size_t align, const char *file, int line)
{
    struct worker *w = cpu_worker;
    struct launch *l = w->launch;
    if (slot->launch != l->id) {
        size_t at = (w->shared_used + align - 1) / align * align, end = at + bytes;
        size_t fixed = end - l->kernel->shared;
        if (fixed > SHARED_DEFAULT || end > l->shared_limit)
            fault_stop(w, FAULT_LAUNCH, cudaErrorInvalidValue,
                       "%s:%d: too much shared memory: %zu bytes static and %zu dynamic; at most "
                       "%d static, %zu in all",
                       file, line, fixed, l->kernel->shared, SHARED_DEFAULT, l->shared_limit);
        w->gaps = (at + w->gaps + SHARED_GAP + align - 1) / align * align - at;
        memset(w->arena + w->shared_used + w->gaps, 0xff, end - w->shared_used);
        w->shared_used = end;
        if (fixed > l->static_shared)
            l->static_shared = fixed;
        slot->offset = at + w->gaps;
        slot->launch = l->id;
        if (w->variables < (int)(sizeof w->variable / sizeof *w->variable))
            w->variable[w->variables++] = (struct variable){slot->name, slot->offset, bytes};
        TRACE_CHECK(shared(w, slot->name, slot->offset, bytes));
    }
    return w->arena + slot->offset;
}
