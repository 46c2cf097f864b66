/* Shared by the functions that execute instructions, and by run.c, which calls them. */
#pragma once

#include "device/units/units.h"

#include "base/formats.h"
#include "ptx/language/ptx.h"

#define PTX_BY_LANE(name, modifiers, operands, function) ptx_lane_run function;
#define PTX_BY_WARP(name, modifiers, operands, function) ptx_warp_run function;
#define PTX_BY_WARPGROUP(name, modifiers, operands, function) ptx_group_run function;
#include "ptx/language/instructions.h"
#undef PTX_BY_LANE
#undef PTX_BY_WARP
#undef PTX_BY_WARPGROUP

/* --- address.c -------------------------------------------------------------------------------- */
/* Stops the kernel with a line: the running thread, the instruction, then the text. */
void ptx_fault(struct worker *w, const ptx_insn *i, enum fault kind, cudaError_t error,
               const char *format, ...) __attribute__((noreturn, format(printf, 5, 6)));
/* The same for an address that is no multiple of what it needs. */
void ptx_misaligned(struct worker *w, const ptx_insn *i, const char *what, uint64_t have,
                    const char *need) __attribute__((noreturn));
enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED };
int ptx_in_shared(const struct worker *w, uint64_t address); /* a generic address */
/* The memory at a lane's address in an instruction. Stops the kernel if the address is no
 * multiple of `bytes`, or is a shared address outside of the block's shared memory. */
void *ptx_pointer(struct worker *w, int lane, const ptx_insn *i, enum ptx_space space,
                  uint64_t address, size_t bytes);
/* A tile in shared memory, at an operand's address. Stops the kernel if the address is no
 * multiple of `aligned` (16 or 128), or the tile is not within the block's shared memory. */
uint32_t ptx_tile(struct worker *w, const ptx_insn *i, uint64_t address, size_t bytes, int aligned);
/* The mbarrier at that place in shared memory, or at a shared address. Stops the kernel if there is
 * none. */
struct mbarrier *ptx_mbarrier(struct worker *w, const ptx_insn *i, uint32_t at);
struct mbarrier *ptx_mbarrier_of(struct worker *w, const ptx_insn *i, uint64_t address);
uint64_t ptx_mbarrier_mark(const struct mbarrier *m);

/* The value of an operand for the running lane: raw bits of its type. The bits above the type's
 * width may be anything. */
static inline uint64_t ptx_get(const ptx_operand *o, const uint64_t *reg)
{
    return o->kind == PTX_REGISTER ? reg[o->reg] : o->value;
}

/* A value extended to 64 bits, with its sign or with zeros, as its type requires. */
static inline uint64_t ptx_extended(enum ptx_type type, uint64_t v)
{
    int unused = 64 - ptx_type_bits[type];
    return ptx_type_kinds[type] == 's' ? (uint64_t)((int64_t)(v << unused) >> unused)
                                       : v << unused >> unused;
}

/* Writes to a register, unless it is `_`. The bits above the type's width must be 0. */
static inline void ptx_set(const ptx_operand *o, uint64_t *reg, uint64_t bits)
{
    if (o->reg >= 0)
        reg[o->reg] = bits;
}

/* Part k of {a, b, ...}; part 0 of a plain register is the register. */
static inline const ptx_operand *ptx_part(const ptx_operand *o, int k)
{
    return o->kind == PTX_VECTOR ? &o->element[k] : o;
}

/* The value of a predicate operand: 0 or 1. */
static inline int ptx_true(const ptx_operand *o, const uint64_t *reg)
{
    return (int)(ptx_get(o, reg) & 1) ^ o->negated;
}

/* The address [register + number]. Callers cut an address of shared memory to 32 bits. */
static inline uint64_t ptx_address(const ptx_operand *o, const uint64_t *reg)
{
    return (o->reg >= 0 ? reg[o->reg] : 0) + (o->more >= 0 ? reg[o->more] : 0) + o->value;
}

/* The rounding that an instruction names: rn, rz, rm, rp, one of their .rni forms, or rna. */
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
