/* ld, st, atom, red; fences; conversions between kinds of addresses.
 *
 * A generic or global address is a host pointer. A shared address is as from
 * __cvta_generic_to_shared: an offset in bytes from the start of the block's shared memory. */
#include "ptx/handlers/handler.h"

#include <string.h>

static enum ptx_space space_of(const ptx_insn *i)
{
    return ptx_has(i, PTX_M_shared) || ptx_has(i, PTX_M_shared_cta) ? PTX_SHARED
           : ptx_has(i, PTX_M_global)                               ? PTX_GLOBAL
                                                                    : PTX_GENERIC;
}

static int parts_of(const ptx_insn *i)
{
    return ptx_has(i, PTX_M_v2) ? 2 : ptx_has(i, PTX_M_v4) ? 4 : ptx_has(i, PTX_M_v8) ? 8 : 1;
}

static void *pointer(struct worker *w, const ptx_insn *i, int operand, const uint64_t *reg,
                     size_t bytes)
{
    return ptx_pointer(w, (int)w->now % WARP, i, space_of(i),
                       ptx_address(&i->operand[operand], reg), bytes);
}

/* Only the block's own threads: a cluster is one block here. */
static int is_of_block(const ptx_insn *i)
{
    return ptx_has(i, PTX_M_cta) || ptx_has(i, PTX_M_cluster);
}

/* True if others may access the same place at the same time: .relaxed, .acquire, .release and
 * .volatile. For count, an access in the scope of a block is like any other. */
static int is_strong(const ptx_insn *i)
{
    return ptx_has(i, PTX_M_relaxed) || ptx_has(i, PTX_M_acquire) || ptx_has(i, PTX_M_release) ||
                   ptx_has(i, PTX_M_acq_rel)
               ? CPU_TRACE == 2 || !ptx_has(i, PTX_M_cta)
               : CPU_TRACE == 2 && ptx_has(i, PTX_M_volatile);
}

/* Makes the thread's earlier writes visible before its next write. */
static void release(const ptx_insn *i)
{
    if (ptx_has(i, PTX_M_release) || ptx_has(i, PTX_M_acq_rel))
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void tell_order(struct worker *w, const ptx_insn *i)
{
    const int both = ptx_has(i, PTX_M_acq_rel);
    const int order = (is_of_block(i) ? TRACE_BLOCK_SCOPE : 0) |
                      (ptx_has(i, PTX_M_gpu) ? TRACE_DEVICE_SCOPE : 0) |
                      (both || ptx_has(i, PTX_M_acquire) ? TRACE_ACQUIRE : 0) |
                      (both || ptx_has(i, PTX_M_release) ? TRACE_RELEASE : 0) |
                      (ptx_has(i, PTX_M_volatile) ? TRACE_VOLATILE : 0) | parts_of(i) << 8;
    TRACE_CHECK_OR(ordering(w, order), (void)order);
}

void ptx_ld(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int parts = parts_of(i), bits = ptx_type_bits[i->type[0]];
    const size_t bytes = (size_t)bits / 8;
    const char *p = pointer(w, i, 1, reg, bytes * (size_t)parts);
    if (is_strong(i))
        tell_order(w, i);
    if (is_strong(i))
        p = ptx_poll(w, (int)w->now % WARP, p, (unsigned)(bytes * (size_t)parts),
                     ptx_has(i, PTX_M_acquire), i);
    else
        (ptx_has(i, PTX_M_nc) ? ptx_read_cached : ptx_read)(w, (int)w->now % WARP, p,
                                                            (unsigned)(bytes * (size_t)parts));
    uint64_t value[8] = {0};
    for (int k = 0; k < parts; k++)
        memcpy(&value[k], p + (size_t)k * bytes, bytes);
    if (ptx_has(i, PTX_M_acquire))
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (ptx_has(i, PTX_M_relaxed) || ptx_has(i, PTX_M_acquire) || ptx_has(i, PTX_M_volatile))
        cpu_polled(p, value, sizeof value);
    for (int k = 0; k < parts; k++) {
        const ptx_operand *to = ptx_part(&i->operand[0], k);
        if (ptx_type_kinds[i->type[0]] == 's') /* extended to the register's width */
            value[k] = (uint64_t)((int64_t)(value[k] << (64 - bits)) >> (64 - bits)) &
                       ~0ull >> (64 - to->value);
        ptx_set(to, reg, value[k]);
    }
}

void ptx_st(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int parts = parts_of(i);
    const size_t bytes = ptx_type_bits[i->type[0]] / 8u;
    char *p = pointer(w, i, 0, reg, bytes * (size_t)parts);
    release(i);
    if (is_strong(i))
        tell_order(w, i);
    (is_strong(i) ? ptx_publish : ptx_write)(w, (int)w->now % WARP, p,
                                             (unsigned)(bytes * (size_t)parts));
    for (int k = 0; k < parts; k++) {
        uint64_t v = ptx_get(ptx_part(&i->operand[1], k), reg);
        memcpy(p + (size_t)k * bytes, &v, bytes);
    }
}

/* --- Atomics ---------------------------------------------------------------------------------- */

/* True if a < b as values of the instruction's type. */
static int less(const ptx_insn *i, uint64_t a, uint64_t b)
{
    switch (i->type[0]) {
    case PTX_S32:
        return (int32_t)a < (int32_t)b;
    case PTX_S64:
        return (int64_t)a < (int64_t)b;
    default:
        return a < b;
    }
}

/* The value that replaces `old`. */
static uint64_t combined(const ptx_insn *i, int shared, uint64_t old, uint64_t a, uint64_t b)
{
    if (ptx_has(i, PTX_M_add))
        return ptx_added(i->type[0], i->type[0] == PTX_F32 && !shared, old, a);
    if (ptx_has(i, PTX_M_min))
        return less(i, a, old) ? a : old;
    if (ptx_has(i, PTX_M_max))
        return less(i, old, a) ? a : old;
    if (ptx_has(i, PTX_M_and))
        return old & a;
    if (ptx_has(i, PTX_M_or))
        return old | a;
    if (ptx_has(i, PTX_M_xor))
        return old ^ a;
    if (ptx_has(i, PTX_M_exch))
        return a;
    if (ptx_has(i, PTX_M_cas))
        return old == a ? b : old;
    if (ptx_has(i, PTX_M_inc))
        return old >= a ? 0 : old + 1;
    return old == 0 || old > a ? a : old - 1; /* dec */
}

/* One exchange for each width. The value is cut to the width. */
#define EXCHANGE(T)                                                                                \
    do {                                                                                           \
        T old = __atomic_load_n((T *)p, __ATOMIC_RELAXED);                                         \
        while (!__atomic_compare_exchange_n((T *)p, &old, (T)combined(i, shared, old, (T)a, (T)b), \
                                            0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))                \
            ;                                                                                      \
        return old;                                                                                \
    } while (0)

static uint64_t exchange(const ptx_insn *i, int shared, void *p, size_t bytes, uint64_t a,
                         uint64_t b)
{
    if (bytes == 2)
        EXCHANGE(uint16_t);
    if (bytes == 4)
        EXCHANGE(uint32_t);
    EXCHANGE(uint64_t);
}

/* Operands: the register for the old value, or NULL; the address; one or two values. */
static void atomic(struct worker *w, const ptx_insn *i, uint64_t *reg, const ptx_operand *old,
                   int address)
{
    const int parts = parts_of(i);
    const size_t bytes = ptx_type_bits[i->type[0]] / 8u;
    char *p = pointer(w, i, address, reg, bytes * (size_t)parts);
    const ptx_operand *a = &i->operand[address + 1], *b = &i->operand[address + 2];
    const int shared = ptx_in_shared(w, (uintptr_t)p);
    uint64_t was[8], second = ptx_has(i, PTX_M_cas) ? ptx_get(b, reg) : 0;
    release(i);
    tell_order(w, i);
    ptx_atomic(w, (int)w->now % WARP, p, (unsigned)(bytes * (size_t)parts), (unsigned)parts,
               ptx_has(i, PTX_M_add) && ptx_type_kinds[i->type[0]] == 'f');
    for (int k = 0; k < parts; k++)
        was[k] =
            exchange(i, shared, p + (size_t)k * bytes, bytes, ptx_get(ptx_part(a, k), reg), second);
    for (int k = 0; old && k < parts; k++)
        ptx_set(ptx_part(old, k), reg, was[k]);
    const uint64_t v = ptx_get(ptx_part(a, 0), reg);
    if (old && parts == 1 &&
        (ptx_has(i, PTX_M_cas) || ptx_has(i, PTX_M_exch) || (ptx_has(i, PTX_M_add) && !v)) &&
        memcmp(p, was, bytes) == 0)
        cpu_polled(p, was, bytes); /* a loop of those waits for a change */
}

void ptx_atom(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    atomic(w, i, reg, &i->operand[0], 1);
}

void ptx_red(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    atomic(w, i, reg, NULL, 0);
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* cvta turns a shared address into a generic one, cvta.to a generic one into a shared one. A
 * global address is a generic one. */
void ptx_cvta(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    uint64_t v = ptx_get(&i->operand[1], reg);
    w->launch->took_addresses |= ptx_has(i, PTX_M_to);
    if (ptx_has(i, PTX_M_shared) || ptx_has(i, PTX_M_shared_cta))
        v = ptx_has(i, PTX_M_to) ? v - (uintptr_t)w->arena : (uint32_t)v + (uintptr_t)w->arena;
    ptx_set(&i->operand[0], reg, v);
}

void ptx_isspacep(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    int shared = ptx_in_shared(w, ptx_get(&i->operand[1], reg));
    ptx_set(&i->operand[0], reg, (uint64_t)(ptx_has(i, PTX_M_global) ? !shared : shared));
}

/* --- No effect on results here ---------------------------------------------------------------- */

void ptx_fence(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!ptx_has(i, PTX_M_proxy))
        TRACE_CHECK(fence(w, is_of_block(i)          ? CPU_SCOPE_BLOCK
                             : ptx_has(i, PTX_M_sys) ? CPU_SCOPE_SYSTEM
                                                     : CPU_SCOPE_DEVICE));
}

/* fence.proxy.async: for global and shared memory, unless it names one. */
void ptx_fence_proxy(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int global = ptx_has(i, PTX_M_global);
    const int shared = ptx_has(i, PTX_M_shared_cta) || ptx_has(i, PTX_M_shared_cluster);
    const int spaces = (global ? 0 : TRACE_PROXY_SHARED) | (shared ? 0 : TRACE_PROXY_GLOBAL);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    TRACE_CHECK_OR(proxy_fence(w, (int)w->now % WARP, spaces), (void)spaces);
}

void ptx_prefetch(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
}

void ptx_createpolicy(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    ptx_set(&i->operand[0], reg, 1); /* no instruction uses the policy */
}
