/* cp.async.bulk.tensor: boxes of an array that a tensor map describes. */
#include "ptx/handlers/handler.h"

#include "device/units/boxes.h"
#include "cuda.h"

#include <string.h>

static struct tensor_map map_at(struct worker *w, const ptx_insn *i, uint64_t address)
{
    const struct thread *t = &w->threads[w->now];
    struct tensor_map m;
    const int aligned = address % 64 == 0 && address;
    if (aligned)
        memcpy(&m, (const void *)(uintptr_t)address, sizeof m);
    if (!aligned || m.magic != TENSOR_MAP)
        fault_stop(w, FAULT_ADDRESS, cudaErrorIllegalAddress,
                   "%s:%d: thread %d (lane %d): %s: no tensor map at address 0x%llx%s: need a "
                   "parameter const __grid_constant__ CUtensorMap, from cuTensorMapEncodeTiled",
                   t->file, t->line, (int)w->now, (int)w->now % WARP, i->text,
                   (unsigned long long)address, aligned ? "" : ", which is no multiple of 64");
    return m;
}

/* The box at the coordinates of an operand. */
static struct box box_at(struct worker *w, const ptx_insn *i, const ptx_operand *o,
                         const uint64_t *reg)
{
    const struct thread *t = &w->threads[w->now];
    struct box b = {.map = map_at(w, i, ptx_address(o, reg))};
    if (b.map.rank != o->n)
        fault_stop(w, FAULT_OPERAND, cudaErrorLaunchFailure,
                   "%s:%d: thread %d (lane %d): %s: the tensor map has %d dimensions", t->file,
                   t->line, (int)w->now, (int)w->now % WARP, i->text, b.map.rank);
    for (int k = 0; k < o->n; k++)
        b.at[k] = (int32_t)ptx_get(&o->element[k], reg);
    if (b.at[0] * (int64_t)b.map.stride[0] % 16)
        fault_stop(w, FAULT_ALIGNMENT, cudaErrorIllegalInstruction,
                   "%s:%d: thread %d (lane %d): %s: the first coordinate is %d, %lld bytes into a "
                   "row: need a multiple of 16",
                   t->file, t->line, (int)w->now, (int)w->now % WARP, i->text, b.at[0],
                   (long long)b.at[0] * (int64_t)b.map.stride[0]);
    return b;
}

/* Operands: the tile, the map with coordinates, the mbarrier, a cache policy. */
void ptx_tensor_load(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const struct box b = box_at(w, i, &i->operand[1], reg);
    const uint32_t tile =
        ptx_tile(w, i, ptx_address(&i->operand[0], reg), box_rows(&b) * box_pitch(&b), 128);
    ptx_start_load(w, &b, tile, ptx_mbarrier_of(w, i, ptx_address(&i->operand[2], reg)));
}

/* Operands: the map with coordinates, the tile, a cache policy. */
void ptx_tensor_store(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    static const enum ptx_type types[] = {
        PTX_U8,  PTX_U16, PTX_U32,  PTX_S32, PTX_U64, PTX_S64, PTX_F16,
        PTX_F32, PTX_F64, PTX_BF16, PTX_F32, PTX_F32, PTX_F32,
    }; /* by CUtensorMapDataType */
    const struct thread *t = &w->threads[w->now];
    struct box b = box_at(w, i, &i->operand[0], reg);
    const uint32_t tile =
        ptx_tile(w, i, ptx_address(&i->operand[1], reg), box_rows(&b) * box_pitch(&b), 128);
    b.type = types[b.map.type];
    b.flush = b.map.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    for (int k = 0; k < b.map.rank; k++)
        if (b.at[k] < 0)
            fault_stop(w, FAULT_OPERAND, cudaErrorIllegalInstruction,
                       "%s:%d: thread %d (lane %d): %s: coordinate %d is %d: a store may not begin "
                       "in front of the array, need 0 or more",
                       t->file, t->line, (int)w->now, (int)w->now % WARP, i->text, k, b.at[k]);
    if (ptx_has(i, PTX_M_reduce) && (b.type == PTX_U8 || b.type == PTX_U16 || b.type == PTX_S64))
        fault_stop(w, FAULT_OPERAND, cudaErrorIllegalInstruction,
                   "%s:%d: thread %d (lane %d): %s: the tensor map's type %d cannot be added: need "
                   "32 bits, u64 or a floating-point type",
                   t->file, t->line, (int)w->now, (int)w->now % WARP, i->text, b.map.type);
    ptx_start_store(w, &b, tile, ptx_has(i, PTX_M_reduce));
}

void ptx_prefetch_tensormap(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    map_at(w, i, ptx_address(&i->operand[0], reg));
}
