/* Shared memory of a block: the dynamic part first, then each __shared__ variable when a thread
 * first reaches it. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

int shared_as_declared;

/* Whether nothing says that dynamic shared memory begins elsewhere than at a multiple of 1024: on a
 * GPU static variables stand in front. Those of functions that the kernel calls are known when they
 * have been reached, here or in an earlier launch. */
static int begins_at_1024(const struct worker *w, int has_static)
{
    const char *asked = getenv("CUDACPU_ALIGN");
    const int as_declared = shared_as_declared || (asked && *asked == '1');
    return CPU_TRACE == 1 || (!has_static && w->shared_used == w->launch->kernel->shared &&
                              !w->launch->static_before && !as_declared);
}

/* Else it begins at a multiple of its alignment but not of twice that, so that code that needs more
 * fails. */
void *cpu_dynamic_shared(size_t align, int has_static, const char *file, int line)
{
    struct worker *w = cpu_worker;
    size_t bytes = w->launch->kernel->shared, most = w->dynamic ? w->dynamic : SHARED_ALIGN;
    if (align > 16 && align > most)
        fault_stop(
            w, FAULT_UNSUPPORTED, cudaErrorInvalidValue,
            "%s:%d: dynamic shared memory with an alignment of %zu bytes: at most %zu here%s", file,
            line, align, most, w->dynamic ? ", as the kernel's first declaration of it has" : "");
    if (!w->dynamic) {
        w->dynamic = align > 16 ? align : 16;
        if (w->dynamic < SHARED_ALIGN && begins_at_1024(w, has_static)) {
            w->launch->declared = w->dynamic;
            w->dynamic = SHARED_ALIGN;
        }
        if (bytes && w->shared_used == bytes) /* no variable follows yet */
            w->gaps = w->dynamic;
        if (bytes || !w->shared_used) /* a launch may have forgotten to ask for any */
            TRACE_CHECK(shared(w, "the dynamic part", w->dynamic, bytes));
    }
    return w->arena + w->dynamic;
}

size_t cpu_shared_offset(const void *p)
{
    cpu_worker->launch->took_addresses = 1;
    return (size_t)((const char *)p - cpu_worker->arena);
}

int cpu_is_shared(const void *p)
{
    return (size_t)((const char *)p - cpu_worker->arena) < ARENA;
}

/* nvcc refuses the kernel, by its architecture. */
static void __attribute__((noreturn))
too_much_static(struct worker *w, size_t bytes, const char *file, int line)
{
    const struct capability c = capability();
    fault_stop(w, FAULT_LAUNCH, cudaErrorInvalidValue,
               "%s:%d: too much shared memory: nvcc for sm_%d%s says \"uses too much shared data "
               "(0x%zx bytes, 0x%x max)\": %zu bytes static, at most %d%s",
               file, line, c.arch / 10, c.specific ? "a" : "", bytes, c.static_a_block, bytes,
               c.static_a_block,
               c.specific ? "" : "; only an architecture with an a, as sm_90a, takes more");
}

void *cpu_shared(struct cpu_slot *slot, size_t bytes, size_t align, const char *file, int line)
{
    struct worker *w = cpu_worker;
    struct launch *l = w->launch;
    if (slot->launch != l->id) {
        size_t at = (w->shared_used + align - 1) / align * align, end = at + bytes;
        const size_t fixed = end - l->kernel->shared;
        if (fixed > (size_t)capability().static_a_block)
            too_much_static(w, fixed, file, line);
        if (end > l->shared_limit && l->kernel->shared)
            fault_stop(w, FAULT_LAUNCH, cudaErrorInvalidValue,
                       "%s:%d: too much shared memory: %zu bytes static and %zu dynamic; at most "
                       "%zu in all",
                       file, line, fixed, l->kernel->shared, l->shared_limit);
        w->gaps = (at + w->gaps + SHARED_GAP + align - 1) / align * align - at;
        fill_unwritten(w->arena + w->shared_used + w->gaps, end - w->shared_used);
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
