/* cp.async: copies from global to shared memory, in flight until the thread waits for them.
 * units/async_copies.c decides when they take effect. */
#include "ptx/handlers/handler.h"
#include "base/plural.h"

#include <string.h>

/* Operands: to, from, bytes; then the number of bytes to read, or a predicate that is true if no
 * bytes are to be read; and a cache policy. */
void ptx_cp_async(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int lane = (int)w->now % WARP;
    const uint64_t bytes = ptx_get(&i->operand[2], reg);
    uint64_t read = bytes;
    if (bytes != 16 && (ptx_has(i, PTX_M_cg) || (bytes != 4 && bytes != 8)))
        ptx_fault(w, i, FAULT_OPERAND, cudaErrorLaunchFailure, " of %lld byte%s: need %s",
                  (long long)bytes, plural((long long)bytes),
                  ptx_has(i, PTX_M_cg) ? "16" : "4, 8 or 16");
    if (strstr(i->form->operands, "pred"))
        read = ptx_true(&i->operand[3], reg) ? 0 : bytes;
    else if (strstr(i->form->operands, "b32"))
        read = (uint32_t)ptx_get(&i->operand[3], reg);
    if (read > bytes)
        ptx_fault(w, i, FAULT_OPERAND, cudaErrorLaunchFailure,
                  " of %lld bytes is to read %lld: at most as many", (long long)bytes,
                  (long long)read);
    void *to = ptx_pointer(w, lane, i, PTX_SHARED, ptx_address(&i->operand[0], reg), bytes);
    const void *from = ptx_pointer(w, lane, i, PTX_GLOBAL, ptx_address(&i->operand[1], reg), bytes);
    TRACE(async_issue(w, lane, to, from, (unsigned)bytes, (unsigned)read, ptx_has(i, PTX_M_cg)));
    cp_async_issue(w, to, from, (unsigned)bytes, (unsigned)read);
}

void ptx_cp_async_commit(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    TRACE(async_commit(w, (int)w->now % WARP));
    cp_async_commit(w);
}

/* Waits until at most the given number of groups, the latest ones, are pending. Without a
 * number, waits for all copies, also for those in no group yet. */
void ptx_cp_async_wait(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint32_t pending = i->n ? (uint32_t)ptx_get(&i->operand[0], reg) : 0;
    TRACE(async_wait(w, (int)w->now % WARP, i->n ? (int)pending : -1));
    if (i->n)
        cp_async_wait(w, pending);
    else
        cp_async_wait_all(w);
    if (w->bulk_copies && pending < 1u << 30)
        bulk_adopted_waited(w, cp_async_open_group(w) + !i->n - pending);
}
