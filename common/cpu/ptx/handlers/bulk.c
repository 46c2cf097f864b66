/* cp.async.bulk and cp.reduce.async.bulk: copies by the TMA that one thread starts.
 * units/bulk_copies.c decides when they take effect. */
#include "ptx/handlers/handler.h"

#include "device/units/boxes.h"
#include "cpu/trace.h"

static __attribute__((noreturn)) void wrong(struct worker *w, const ptx_insn *i, const char *what,
                                            uint64_t have, const char *need)
{
    const struct thread *t = &w->threads[w->now];
    fault_stop(w, FAULT_ALIGNMENT, cudaErrorMisalignedAddress,
               "%s:%d: thread %d (lane %d): %s %s 0x%llx: need %s", t->file, t->line, (int)w->now,
               (int)w->now % WARP, i->text, what, (unsigned long long)have, need);
}

uint32_t ptx_tile(struct worker *w, const ptx_insn *i, uint64_t address, size_t bytes, int aligned)
{
    const struct thread *t = &w->threads[w->now];
    const uint32_t at = (uint32_t)address;
    const size_t used = w->shared_used + w->gaps;
    if (at % (unsigned)aligned)
        wrong(w, i, "at shared address", at,
              aligned == 16 ? "a multiple of 16" : "a multiple of 128");
    if (at + bytes > used)
        fault_stop(w, FAULT_ADDRESS, cudaErrorIllegalAddress,
                   "%s:%d: thread %d (lane %d): %s of %zu bytes at shared address 0x%x: the "
                   "block's shared memory ends at 0x%zx",
                   t->file, t->line, (int)w->now, (int)w->now % WARP, i->text, bytes, at, used);
    return at;
}

/* Reports the operation to check, with its reads and writes. Returns its number. */
static int told(struct worker *w, const struct box *b, uint32_t tile, int loads, int atomic)
{
    int op = TRACE_CHECK(proxy_issue(w, (int)w->now % WARP, TRACE_BULK), 0);
    (void)w, (void)b, (void)tile, (void)loads, (void)atomic;
#if CPU_TRACE == 2
    const size_t width = box_row_bytes(b);
    for (size_t row = 0; row < box_rows(b); row++) {
        const struct box_row r = loads ? box_row(b, row) : box_stored(b, row);
        if (loads && r.p)
            trace_proxy_read(w, op, r.p, r.bytes);
        for (size_t k = 0; k < width; k += 16) {
            char *p = w->arena + box_place(b, tile, row * width + k);
            size_t first = r.skip > k ? r.skip - k : 0, end = r.skip + r.bytes;
            end = end <= k ? 0 : end - k < 16 ? end - k : 16;
            if (loads)
                trace_proxy_write(w, op, p, 16, 0);
            else if (r.p && first < end)
                trace_proxy_read(w, op, p + first, end - first);
        }
        if (!loads && r.p)
            trace_proxy_write(w, op, r.p, r.bytes, atomic);
    }
#endif
    return op;
}

void ptx_start_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m)
{
    flights_go_on(w);
    TRACE_COUNT(bulk(w, TRACE_BULK_LOAD, box_inside(b)), (void)0);
    int op = told(w, b, tile, 1, 0);
    TRACE_CHECK(mbarrier_load(w, (int)w->now % WARP, m->id, op, box_rows(b) * box_row_bytes(b)),
                (void)0);
    flights_load(w, b, tile, m, op);
}

void ptx_start_store(struct worker *w, const struct box *b, uint32_t tile, int adds)
{
    flights_go_on(w);
    TRACE_COUNT(bulk(w, adds ? TRACE_BULK_REDUCE : TRACE_BULK_STORE, box_inside(b)), (void)0);
    flights_store(w, b, tile, adds, told(w, b, tile, 0, adds));
}

/* Consecutive bytes are a box of one dimension with elements of 16 bytes. */
static struct box row_of(struct worker *w, const ptx_insn *i, uint64_t global, uint64_t bytes)
{
    if (global % 16)
        wrong(w, i, "at a global address that ends in", global & 0xff, "a multiple of 16");
    if (bytes % 16) {
        const struct thread *t = &w->threads[w->now];
        fault_stop(w, FAULT_ALIGNMENT, cudaErrorMisalignedAddress,
                   "%s:%d: thread %d (lane %d): %s of %llu bytes: need a multiple of 16", t->file,
                   t->line, (int)w->now, (int)w->now % WARP, i->text, (unsigned long long)bytes);
    }
    return (struct box){.map = {.address = (char *)(uintptr_t)global,
                                .extent = {bytes / 16},
                                .stride = {16},
                                .box = {(uint32_t)bytes / 16},
                                .step = {1},
                                .rank = 1}};
}

struct mbarrier *ptx_mbarrier_of(struct worker *w, const ptx_insn *i, uint64_t address)
{
    return ptx_mbarrier(
        w, i,
        (uint32_t)((char *)ptx_pointer(w, (int)w->now % WARP, i, PTX_SHARED, address, 8) -
                   w->arena));
}

/* Operands: to, from, bytes, the mbarrier, a cache policy. */
void ptx_bulk_load(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const uint32_t bytes = (uint32_t)ptx_get(&i->operand[2], reg);
    const struct box b = row_of(w, i, ptx_address(&i->operand[1], reg), bytes);
    const uint32_t tile = ptx_tile(w, i, ptx_address(&i->operand[0], reg), bytes, 16);
    ptx_start_load(w, &b, tile, ptx_mbarrier_of(w, i, ptx_address(&i->operand[3], reg)));
}

/* Operands: to, from, bytes, a cache policy. */
void ptx_bulk_store(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const uint32_t bytes = (uint32_t)ptx_get(&i->operand[2], reg);
    struct box b = row_of(w, i, ptx_address(&i->operand[0], reg), bytes);
    const uint32_t tile = ptx_tile(w, i, ptx_address(&i->operand[1], reg), bytes, 16);
    b.type = i->type[0];
    ptx_start_store(w, &b, tile, ptx_has(i, PTX_M_reduce));
}

void ptx_bulk_commit(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    (void)i, (void)reg;
    flights_commit(w);
}

void ptx_bulk_wait(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int read_only = ptx_has(i, PTX_M_read);
    int left = flights_wait(w, (uint32_t)ptx_get(&i->operand[0], reg), read_only);
    if (read_only)
        ptx_counted(CPU_BULK_READ_WAITS);
    while (left-- > 0)
        ptx_counted(CPU_BULK_LEFT_GROUPS);
}
