/* Instructions and words as arrays, without the functions that execute them: the rewriter does
 * not need those. */
#include "ptx/language/ptx.h"

#define PTX_BY_LANE(name, modifiers, operands, function) {name, modifiers, operands, PTX_LANE},
#define PTX_BY_WARP(name, modifiers, operands, function) {name, modifiers, operands, PTX_WARP},
#define PTX_BY_WARPGROUP(name, modifiers, operands, function)                                      \
    {name, modifiers, operands, PTX_WARPGROUP},
const struct ptx_form ptx_forms[] = {
#include "ptx/language/instructions.h"
    {"bra", "?uni", "label", PTX_JUMP},
};
const int ptx_form_count = sizeof ptx_forms / sizeof *ptx_forms;

#define PTX_NAME(id, name, ...) name,
const char *const ptx_modifier_names[PTX_MODIFIERS] = {PTX_MODIFIER_LIST(PTX_NAME)};
const char *const ptx_special_names[] = {PTX_SPECIAL_LIST(PTX_NAME) NULL};
