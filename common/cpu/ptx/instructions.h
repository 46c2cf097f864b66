/* Each instruction that is executed, a line for each form of it:
 *
 *   PTX_BY_LANE(name, modifiers, operands, function)   each lane does it for itself
 *   PTX_BY_WARP(name, modifiers, operands, function)   once a warp, when all its lanes have come
 *
 * Modifiers: groups in the order that PTX wants, separated by blanks; a group is one word or
 * several with | between them, after ? when none of them may stand there. A word is a type of
 * ptx.h, or a modifier of its list.
 *
 * Operands, in order, separated by blanks:
 *   0 1 2 3     a register or a number of that type among the modifiers; or a type's name
 *   =0          written
 *   w0          of type 0 twice as wide
 *   0+          a register may be wider (as with ld, st, cvt)
 *   4x0         a vector of four; vx0: of as many as .v2, .v4 or .v8 says, else one register
 *   pack0       a register, or a vector whose parts are as wide together
 *   any0        the same, or a special register
 *   pred pred|  a predicate, perhaps negated; with |q, which may be left out, the one to be written
 *   addr        [register + number] or [number]
 *   imm         a number, or an operand with constraint n
 *   label
 * ? before one that may be left out, with all that follow. */
PTX_BY_LANE("add", "u32|s32", "=0 0 0", ptx_add_32)
PTX_BY_LANE("mov", "b32|u32|s32", "=0 any0", ptx_mov)
PTX_BY_WARP("activemask", "b32", "=0", ptx_activemask)
