/* cp.async.bulk and cp.reduce.async.bulk, of bytes in a row and of boxes: copies by the TMA that
 * one thread starts. units/bulk_copies.c decides when they take effect. */
#include "ptx/handlers/handler.h"
#include "base/plural.h"

#include "device/units/boxes.h"
#include "cpu/trace.h"
#include "cuda.h"

#include <string.h>

/* Reports the operation to check, with its reads and writes. Returns its number. */
static int report_copy(struct worker *w, const struct box *b, uint32_t tile, int loads, int atomic)
{
    int op = TRACE_CHECK_OR(proxy_issue(w, (int)w->now % WARP, TRACE_BULK), 0);
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

static void start_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m)
{
    bulk_progress(w);
    TRACE_COUNT(bulk(w, TRACE_BULK_LOAD, box_inside(b)));
    int op = report_copy(w, b, tile, 1, 0);
    TRACE_CHECK(mbarrier_load(w, (int)w->now % WARP, m->id, op, box_rows(b) * box_row_bytes(b)));
    bulk_load(w, b, tile, m, op);
}

static void start_store(struct worker *w, const struct box *b, uint32_t tile, int adds)
{
    bulk_progress(w);
    TRACE_COUNT(bulk(w, adds ? TRACE_BULK_REDUCE : TRACE_BULK_STORE, box_inside(b)));
    bulk_store(w, b, tile, adds, report_copy(w, b, tile, 0, adds));
}

/* Consecutive bytes are a box of one dimension with elements of 16 bytes. */
static struct box row_of(struct worker *w, const ptx_insn *i, uint64_t global, uint64_t bytes)
{
    if (global % 16)
        ptx_misaligned(w, i, "at a global address that ends in", global & 0xff, "a multiple of 16");
    if (bytes % 16) {
        ptx_fault(w, i, FAULT_ALIGNMENT, cudaErrorMisalignedAddress,
                  " of %llu byte%s: need a multiple of 16", (unsigned long long)bytes,
                  plural((long long)bytes));
    }
    return (struct box){.map = {.address = (char *)(uintptr_t)global,
                                .extent = {bytes / 16},
                                .stride = {16},
                                .box = {(uint32_t)bytes / 16},
                                .step = {1},
                                .rank = 1}};
}

/* Operands: to, from, bytes, the mbarrier, a cache policy. */
void ptx_bulk_load(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const uint32_t bytes = (uint32_t)ptx_get(&i->operand[2], reg);
    const struct box b = row_of(w, i, ptx_address(&i->operand[1], reg), bytes);
    const uint32_t tile = ptx_tile(w, i, ptx_address(&i->operand[0], reg), bytes, 16);
    start_load(w, &b, tile, ptx_mbarrier_of(w, i, ptx_address(&i->operand[3], reg)));
}

/* Operands: to, from, bytes, a cache policy. */
void ptx_bulk_store(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const uint32_t bytes = (uint32_t)ptx_get(&i->operand[2], reg);
    struct box b = row_of(w, i, ptx_address(&i->operand[0], reg), bytes);
    const uint32_t tile = ptx_tile(w, i, ptx_address(&i->operand[1], reg), bytes, 16);
    b.type = i->type[0];
    start_store(w, &b, tile, ptx_has(i, PTX_M_reduce));
}

void ptx_bulk_commit(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    bulk_commit(w);
}

void ptx_bulk_wait(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const int read_only = ptx_has(i, PTX_M_read);
    int left = bulk_wait(w, (uint32_t)ptx_get(&i->operand[0], reg), read_only);
    if (read_only)
        ptx_counted(CPU_BULK_READ_WAITS);
    while (left-- > 0)
        ptx_counted(CPU_BULK_LEFT_GROUPS);
}

/* --- Boxes of an array that a tensor map describes -------------------------------------------- */

static struct tensor_map map_at(struct worker *w, const ptx_insn *i, uint64_t address)
{
    struct tensor_map m;
    const int aligned = address % 64 == 0 && address;
    if (aligned)
        memcpy(&m, (const void *)(uintptr_t)address, sizeof m);
    if (!aligned || m.magic != TENSOR_MAP)
        ptx_fault(w, i, FAULT_ADDRESS, cudaErrorIllegalAddress,
                  ": no tensor map at address 0x%llx%s: need a parameter const __grid_constant__ "
                  "CUtensorMap, from cuTensorMapEncodeTiled",
                  (unsigned long long)address, aligned ? "" : ", which is no multiple of 64");
    return m;
}

/* The box at the coordinates of an operand. */
static struct box box_at(struct worker *w, const ptx_insn *i, const ptx_operand *o,
                         const uint64_t *reg)
{
    struct box b = {.map = map_at(w, i, ptx_address(o, reg))};
    if (b.map.rank != o->n)
        ptx_fault(w, i, FAULT_DESCRIPTOR, cudaErrorLaunchFailure,
                  ": the tensor map has %d dimension%s", b.map.rank, plural(b.map.rank));
    for (int k = 0; k < o->n; k++)
        b.at[k] = (int32_t)ptx_get(&o->element[k], reg);
    if (b.at[0] * (int64_t)b.map.stride[0] % 16)
        ptx_fault(w, i, FAULT_ALIGNMENT, cudaErrorIllegalInstruction,
                  ": the first coordinate is %d, %lld byte%s into a row: need a multiple of 16",
                  b.at[0], (long long)b.at[0] * (int64_t)b.map.stride[0],
                  plural(b.at[0] * (int64_t)b.map.stride[0]));
    return b;
}

/* Operands: the tile, the map with coordinates, the mbarrier, a cache policy. */
void ptx_tensor_load(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const struct box b = box_at(w, i, &i->operand[1], reg);
    const uint32_t tile =
        ptx_tile(w, i, ptx_address(&i->operand[0], reg), box_rows(&b) * box_pitch(&b), 128);
    start_load(w, &b, tile, ptx_mbarrier_of(w, i, ptx_address(&i->operand[2], reg)));
}

/* Operands: the map with coordinates, the tile, a cache policy. */
void ptx_tensor_store(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    static const enum ptx_type types[] = {
        PTX_U8,  PTX_U16, PTX_U32,  PTX_S32, PTX_U64, PTX_S64, PTX_F16,
        PTX_F32, PTX_F64, PTX_BF16, PTX_F32, PTX_F32, PTX_F32,
    }; /* by CUtensorMapDataType */
    struct box b = box_at(w, i, &i->operand[0], reg);
    const uint32_t tile =
        ptx_tile(w, i, ptx_address(&i->operand[1], reg), box_rows(&b) * box_pitch(&b), 128);
    b.type = types[b.map.type];
    b.flush = b.map.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    for (int k = 0; k < b.map.rank; k++)
        if (b.at[k] < 0)
            ptx_fault(w, i, FAULT_OPERAND, cudaErrorIllegalInstruction,
                      ": coordinate %d is %d: a store may not begin in front of the array, need 0 "
                      "or more",
                      k, b.at[k]);
    if (ptx_has(i, PTX_M_reduce) && (b.type == PTX_U8 || b.type == PTX_U16 || b.type == PTX_S64))
        ptx_fault(w, i, FAULT_OPERAND, cudaErrorIllegalInstruction,
                  ": the tensor map's type %d cannot be added: need 32 bits, u64 or a "
                  "floating-point type",
                  b.map.type);
    start_store(w, &b, tile, ptx_has(i, PTX_M_reduce));
}

void ptx_prefetch_tensormap(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    map_at(w, i, ptx_address(&i->operand[0], reg));
}
