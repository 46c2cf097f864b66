/* What the functions that execute instructions share, and run.c, which calls them. */
#ifndef PTX_HANDLER_H
#define PTX_HANDLER_H

#include "base/formats.h"
#include "device/units/units.h"
#include "ptx/language/ptx.h"

#define PTX_BY_LANE(name, modifiers, operands, function) ptx_lane_run function;
#define PTX_BY_WARP(name, modifiers, operands, function) ptx_warp_run function;
#define PTX_BY_WARPGROUP(name, modifiers, operands, function) ptx_group_run function;
#include "ptx/language/instructions.h"
#undef PTX_BY_LANE
#undef PTX_BY_WARP
#undef PTX_BY_WARPGROUP

/* --- memory.c --------------------------------------------------------------------------------- */
enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED };
/* The memory at an address that an instruction has for a lane. Does not return where `bytes` are
 * not aligned to themselves, or it is shared and does not lie in the block's shared memory. */
void *ptx_pointer(struct worker *w, int lane, const ptx_insn *i, enum ptx_space space,
                  uint64_t address, size_t bytes);

/* --- mbarrier.c ------------------------------------------------------------------------------- */
/* The mbarrier at that place of shared memory. Does not return where there is none. */
struct mbarrier *ptx_mbarrier(struct worker *w, const ptx_insn *i, uint32_t at);

/* --- bulk.c ----------------------------------------------------------------------------------- */
struct box;
/* A tile in shared memory, from an operand's address. Does not return where it is not so aligned
 * (16 or 128), or does not lie in the block's. */
uint32_t ptx_tile(struct worker *w, const ptx_insn *i, uint64_t address, size_t bytes, int aligned);
struct mbarrier *ptx_mbarrier_of(struct worker *w, const ptx_insn *i, uint64_t address);
/* The running thread asks for a copy. */
void ptx_start_load(struct worker *w, const struct box *b, uint32_t tile, struct mbarrier *m);
void ptx_start_store(struct worker *w, const struct box *b, uint32_t tile, int adds);

/* What an operand is worth to the running lane: raw bits of its type, of which those above its
 * width may be anything. */
static inline uint64_t ptx_get(const ptx_operand *o, const uint64_t *reg)
{
    return o->kind == PTX_REGISTER ? reg[o->reg] : o->value;
}

/* Writes to a register, unless it is `_`. The bits above the type's width must be 0. */
static inline void ptx_set(const ptx_operand *o, uint64_t *reg, uint64_t bits)
{
    if (o->reg >= 0)
        reg[o->reg] = bits;
}

/* Part k of {a, b, ...}; of a plain register, part 0 is itself. */
static inline const ptx_operand *ptx_part(const ptx_operand *o, int k)
{
    return o->kind == PTX_VECTOR ? &o->element[k] : o;
}

/* The predicate that an operand gives: 0 or 1. */
static inline int ptx_true(const ptx_operand *o, const uint64_t *reg)
{
    return (int)(ptx_get(o, reg) & 1) ^ o->negated;
}

/* The number in [register + number]; `bits` of it count, 32 or 64, whatever its state space. */
static inline uint64_t ptx_address(const ptx_operand *o, const uint64_t *reg)
{
    return (o->reg >= 0 ? reg[o->reg] : 0) + (o->more >= 0 ? reg[o->more] : 0) + o->value;
}

/* The rounding that an instruction names; the first of rn, rz, rm, rp and their .rni forms. */
static inline enum ptx_rounding ptx_rounding_of(const ptx_insn *i)
{
    return ptx_has(i, PTX_M_rz) || ptx_has(i, PTX_M_rzi)   ? PTX_ZERO
           : ptx_has(i, PTX_M_rm) || ptx_has(i, PTX_M_rmi) ? PTX_DOWN
           : ptx_has(i, PTX_M_rp) || ptx_has(i, PTX_M_rpi) ? PTX_UP
           : ptx_has(i, PTX_M_rna)                         ? PTX_AWAY
                                                           : PTX_NEAREST;
}

static inline int ptx_only_nearest(const ptx_insn *i)
{
    uint64_t others = i->modifiers[0] & ~(1ull << PTX_M_rn);
    for (size_t k = 1; k < sizeof i->modifiers / sizeof *i->modifiers; k++)
        others |= i->modifiers[k];
    return !others;
}

#endif
