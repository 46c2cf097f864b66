/* Addresses in instructions: memory, tiles of bulk copies, mbarriers. An address that an
 * instruction may not have stops the kernel. */
#include "ptx/handlers/handler.h"
#include "base/plural.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ptx_fault(struct worker *w, const ptx_insn *i, enum fault kind, cudaError_t error,
               const char *format, ...)
{
    const struct thread *t = &w->threads[w->now];
    char text[700];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fault_stop(w, kind, error, "%s:%d: thread %d (lane %d): %s%s", t->file, t->line, (int)w->now,
               (int)w->now % WARP, i->text, text);
}

static __attribute__((noreturn)) void bad_address(struct worker *w, int lane, const ptx_insn *i,
                                                  enum fault kind, cudaError_t error,
                                                  const char *space, uint64_t address, size_t bytes,
                                                  const char *why)
{
    const struct thread *t = &w->threads[w->now];
    fault_stop(w, kind, error, "%s:%d: thread %d (lane %d): %s of %zu byte%s at %saddress 0x%llx%s",
               t->file, t->line, (int)w->now / WARP * WARP + lane, lane, i->text, bytes,
               plural((long long)bytes), space, (unsigned long long)address, why);
}

int ptx_in_shared(const struct worker *w, uint64_t address)
{
    return address - (uintptr_t)w->arena < ARENA;
}

void *ptx_pointer(struct worker *w, int lane, const ptx_insn *i, enum ptx_space space,
                  uint64_t address, size_t bytes)
{
    char why[120];
    const char *name = space == PTX_SHARED ? "shared " : space == PTX_GLOBAL ? "global " : "";
    if (space == PTX_SHARED)
        address = (uint32_t)address;
    const int reported = CPU_TRACE == 2; /* check reports it and goes on */
    if (address % bytes && !reported) {
        snprintf(why, sizeof why, ", which is no multiple of %zu", bytes);
        bad_address(w, lane, i, FAULT_ALIGNMENT, cudaErrorMisalignedAddress, name, address, bytes,
                    why);
    }
    if (space == PTX_GLOBAL && ptx_in_shared(w, address))
        bad_address(w, lane, i, FAULT_ADDRESS, cudaErrorIllegalAddress, name, address, bytes,
                    ", which is a pointer to shared memory");
    if (space != PTX_SHARED)
        return (void *)(uintptr_t)address;
    size_t used = w->shared_used + w->gaps;
    if (address + bytes > (reported ? ARENA - 16 : used)) {
        snprintf(why, sizeof why, ": the block's shared memory ends at 0x%zx%s", used,
                 address > used ? "; __cvta_generic_to_shared makes such an address" : "");
        bad_address(w, lane, i, FAULT_ADDRESS, cudaErrorIllegalAddress, name, address, bytes, why);
    }
    return w->arena + address;
}

void ptx_misaligned(struct worker *w, const ptx_insn *i, const char *what, uint64_t have,
                    const char *need)
{
    ptx_fault(w, i, FAULT_ALIGNMENT, cudaErrorMisalignedAddress, " %s 0x%llx: need %s", what,
              (unsigned long long)have, need);
}

uint32_t ptx_tile(struct worker *w, const ptx_insn *i, uint64_t address, size_t bytes, int aligned)
{
    const uint32_t at = (uint32_t)address;
    const size_t used = w->shared_used + w->gaps;
    if (at % (unsigned)aligned)
        ptx_misaligned(w, i, "at shared address", at,
                       aligned == 16 ? "a multiple of 16" : "a multiple of 128");
    if (at + bytes > used)
        ptx_fault(w, i, FAULT_ADDRESS, cudaErrorIllegalAddress,
                  " of %zu bytes at shared address 0x%x: the block's shared memory ends at 0x%zx",
                  bytes, at, used);
    return at;
}

/* The bytes in memory at an mbarrier. Its state is elsewhere, so only these bytes show that
 * something was stored over the mbarrier. */
uint64_t ptx_mbarrier_mark(const struct mbarrier *m)
{
    return 0x7262617272696572u ^ (uint64_t)m->id << 32;
}

struct mbarrier *ptx_mbarrier(struct worker *w, const ptx_insn *i, uint32_t at)
{
    struct mbarrier *m = mbarrier_find(w, at);
    uint64_t there;
    if (!m)
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure,
                  ": no mbarrier at shared address 0x%x: mbarrier.init makes one", at);
    memcpy(&there, w->arena + at, sizeof there);
    if (there != ptx_mbarrier_mark(m))
        ptx_fault(w, i, FAULT_MBARRIER, cudaErrorLaunchFailure,
                  ": something was stored over the mbarrier at shared address 0x%x", at);
    return m;
}

struct mbarrier *ptx_mbarrier_of(struct worker *w, const ptx_insn *i, uint64_t address)
{
    return ptx_mbarrier(
        w, i,
        (uint32_t)((char *)ptx_pointer(w, (int)w->now % WARP, i, PTX_SHARED, address, 8) -
                   w->arena));
}
