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

/* mov, special registers */
PTX_BY_LANE("mov", "b16|u16|s16|b32|u32|s32|f32|b64|u64|s64|f64", "=pack0 any0", ptx_mov)
PTX_BY_LANE("mov", "pred", "=pred pred", ptx_mov)

/* integers */
PTX_BY_LANE("add", "?sat s32", "=0 0 0", ptx_add)
PTX_BY_LANE("add", "u16|u32|u64|s16|s64", "=0 0 0", ptx_add)
PTX_BY_LANE("add", "cc u32|s32|u64|s64", "=0 0 0", ptx_add_cc)
PTX_BY_LANE("addc", "?cc u32|s32|u64|s64", "=0 0 0", ptx_addc)
PTX_BY_LANE("sub", "?sat s32", "=0 0 0", ptx_sub)
PTX_BY_LANE("sub", "u16|u32|u64|s16|s64", "=0 0 0", ptx_sub)
PTX_BY_LANE("sub", "cc u32|s32|u64|s64", "=0 0 0", ptx_sub_cc)
PTX_BY_LANE("subc", "?cc u32|s32|u64|s64", "=0 0 0", ptx_subc)
PTX_BY_LANE("mul", "lo|hi u16|u32|u64|s16|s32|s64", "=0 0 0", ptx_mul)
PTX_BY_LANE("mul", "wide u16|u32|s16|s32", "=w0 0 0", ptx_mul)
PTX_BY_LANE("mad", "hi sat s32", "=0 0 0 0", ptx_mad)
PTX_BY_LANE("mad", "lo|hi u16|u32|u64|s16|s32|s64", "=0 0 0 0", ptx_mad)
PTX_BY_LANE("mad", "wide u16|u32|s16|s32", "=w0 0 0 w0", ptx_mad)
PTX_BY_LANE("mul24", "lo|hi u32|s32", "=0 0 0", ptx_mul24)
PTX_BY_LANE("mad24", "lo|hi u32|s32", "=0 0 0 0", ptx_mad24)
PTX_BY_LANE("dp4a", "u32|s32 u32|s32", "=0 0 1 0", ptx_dp4a)
PTX_BY_LANE("dp2a", "lo|hi u32|s32 u32|s32", "=0 0 1 0", ptx_dp2a)
PTX_BY_LANE("div", "u16|u32|u64|s16|s32|s64", "=0 0 0", ptx_div)
PTX_BY_LANE("rem", "u16|u32|u64|s16|s32|s64", "=0 0 0", ptx_rem)
PTX_BY_LANE("min", "?relu s32", "=0 0 0", ptx_min)
PTX_BY_LANE("min", "u16|u32|u64|s16|s64", "=0 0 0", ptx_min)
PTX_BY_LANE("max", "?relu s32", "=0 0 0", ptx_max)
PTX_BY_LANE("max", "u16|u32|u64|s16|s64", "=0 0 0", ptx_max)
PTX_BY_LANE("sad", "u16|u32|u64|s16|s32|s64", "=0 0 0 0", ptx_sad)
PTX_BY_LANE("neg", "s16|s32|s64", "=0 0", ptx_neg)
PTX_BY_LANE("abs", "s16|s32|s64", "=0 0", ptx_abs)

/* logic, shifts, fields */
PTX_BY_LANE("and", "pred|b16|b32|b64", "=0 0 0", ptx_and)
PTX_BY_LANE("or", "pred|b16|b32|b64", "=0 0 0", ptx_or)
PTX_BY_LANE("xor", "pred|b16|b32|b64", "=0 0 0", ptx_xor)
PTX_BY_LANE("not", "pred|b16|b32|b64", "=0 0", ptx_not)
PTX_BY_LANE("cnot", "b16|b32|b64", "=0 0", ptx_cnot)
PTX_BY_LANE("lop3", "b32", "=0 0 0 0 imm", ptx_lop3)
PTX_BY_LANE("shl", "b16|b32|b64", "=0 0 u32", ptx_shl)
PTX_BY_LANE("shr", "b16|b32|b64|u16|u32|u64|s16|s32|s64", "=0 0 u32", ptx_shr)
PTX_BY_LANE("shf", "l|r clamp|wrap b32", "=0 0 0 u32", ptx_shf)
PTX_BY_LANE("prmt", "b32 ?f4e|b4e|rc8|ecl|ecr|rc16", "=0 0 0 0", ptx_prmt)
PTX_BY_LANE("bfe", "u32|u64|s32|s64", "=0 0 u32 u32", ptx_bfe)
PTX_BY_LANE("bfi", "b32|b64", "=0 0 0 u32 u32", ptx_bfi)
PTX_BY_LANE("popc", "b32|b64", "=u32 0", ptx_popc)
PTX_BY_LANE("clz", "b32|b64", "=u32 0", ptx_clz)
PTX_BY_LANE("bfind", "?shiftamt u32|u64|s32|s64", "=u32 0", ptx_bfind)
PTX_BY_LANE("brev", "b32|b64", "=0 0", ptx_brev)

/* floating point */
PTX_BY_LANE("add", "?rn|rz|rm|rp ?ftz ?sat f32", "=0 0 0", ptx_add_real)
PTX_BY_LANE("add", "?rn|rz|rm|rp f64", "=0 0 0", ptx_add_real)
PTX_BY_LANE("add", "?rn ?ftz ?sat f16|f16x2", "=0 0 0", ptx_add_real)
PTX_BY_LANE("add", "?rn bf16|bf16x2", "=0 0 0", ptx_add_real)
PTX_BY_LANE("sub", "?rn|rz|rm|rp ?ftz ?sat f32", "=0 0 0", ptx_sub_real)
PTX_BY_LANE("sub", "?rn|rz|rm|rp f64", "=0 0 0", ptx_sub_real)
PTX_BY_LANE("sub", "?rn ?ftz ?sat f16|f16x2", "=0 0 0", ptx_sub_real)
PTX_BY_LANE("sub", "?rn bf16|bf16x2", "=0 0 0", ptx_sub_real)
PTX_BY_LANE("mul", "?rn|rz|rm|rp ?ftz ?sat f32", "=0 0 0", ptx_mul_real)
PTX_BY_LANE("mul", "?rn|rz|rm|rp f64", "=0 0 0", ptx_mul_real)
PTX_BY_LANE("mul", "?rn ?ftz ?sat f16|f16x2", "=0 0 0", ptx_mul_real)
PTX_BY_LANE("mul", "?rn bf16|bf16x2", "=0 0 0", ptx_mul_real)
PTX_BY_LANE("fma", "rn|rz|rm|rp ?ftz ?sat f32", "=0 0 0 0", ptx_fma_real)
PTX_BY_LANE("fma", "rn|rz|rm|rp f64", "=0 0 0 0", ptx_fma_real)
PTX_BY_LANE("fma", "rn ?ftz ?sat|relu f16|f16x2", "=0 0 0 0", ptx_fma_real)
PTX_BY_LANE("fma", "rn ?relu bf16|bf16x2", "=0 0 0 0", ptx_fma_real)
PTX_BY_LANE("mad", "rn|rz|rm|rp ?ftz ?sat f32", "=0 0 0 0", ptx_fma_real)
PTX_BY_LANE("mad", "rn|rz|rm|rp f64", "=0 0 0 0", ptx_fma_real)
PTX_BY_LANE("div", "approx|full|rn|rz|rm|rp ?ftz f32", "=0 0 0", ptx_div_real)
PTX_BY_LANE("div", "rn|rz|rm|rp f64", "=0 0 0", ptx_div_real)
PTX_BY_LANE("sqrt", "approx|rn|rz|rm|rp ?ftz f32", "=0 0", ptx_sqrt)
PTX_BY_LANE("sqrt", "rn|rz|rm|rp f64", "=0 0", ptx_sqrt)
PTX_BY_LANE("rcp", "approx|rn|rz|rm|rp ?ftz f32", "=0 0", ptx_rcp)
PTX_BY_LANE("rcp", "rn|rz|rm|rp f64", "=0 0", ptx_rcp)
PTX_BY_LANE("rsqrt", "approx ?ftz f32", "=0 0", ptx_rsqrt)
PTX_BY_LANE("ex2", "approx ?ftz f32", "=0 0", ptx_ex2)
PTX_BY_LANE("ex2", "approx f16|f16x2", "=0 0", ptx_ex2)
PTX_BY_LANE("ex2", "approx ftz bf16|bf16x2", "=0 0", ptx_ex2)
PTX_BY_LANE("lg2", "approx ?ftz f32", "=0 0", ptx_lg2)
PTX_BY_LANE("sin", "approx ?ftz f32", "=0 0", ptx_sin)
PTX_BY_LANE("cos", "approx ?ftz f32", "=0 0", ptx_cos)
PTX_BY_LANE("tanh", "approx f32|f16|f16x2|bf16|bf16x2", "=0 0", ptx_tanh)
PTX_BY_LANE("min", "?ftz ?NaN ?xorsign ?abs f32|f16|f16x2", "=0 0 0", ptx_min_real)
PTX_BY_LANE("min", "?NaN ?xorsign ?abs bf16|bf16x2", "=0 0 0", ptx_min_real)
PTX_BY_LANE("min", "f64", "=0 0 0", ptx_min_real)
PTX_BY_LANE("max", "?ftz ?NaN ?xorsign ?abs f32|f16|f16x2", "=0 0 0", ptx_max_real)
PTX_BY_LANE("max", "?NaN ?xorsign ?abs bf16|bf16x2", "=0 0 0", ptx_max_real)
PTX_BY_LANE("max", "f64", "=0 0 0", ptx_max_real)
PTX_BY_LANE("neg", "?ftz f32|f16|f16x2", "=0 0", ptx_neg_real)
PTX_BY_LANE("neg", "f64|bf16|bf16x2", "=0 0", ptx_neg_real)
PTX_BY_LANE("abs", "?ftz f32|f16|f16x2", "=0 0", ptx_abs_real)
PTX_BY_LANE("abs", "f64|bf16|bf16x2", "=0 0", ptx_abs_real)
PTX_BY_LANE("copysign", "f32|f64", "=0 0 0", ptx_copysign)
PTX_BY_LANE("testp", "finite|infinite|number|notanumber|normal|subnormal f32|f64", "=pred 0", ptx_testp)

/* comparisons */
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs ?and|or|xor b16|b32|b64|u16|u32|u64|s16|s32|s64", "=pred| 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f32|f16x2", "=pred| 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor f64|bf16x2", "=pred| 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f16", "=pred 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor bf16", "=pred 0 0 ?pred", ptx_setp)
PTX_BY_LANE("set", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs ?and|or|xor u32|s32|f32 b16|b32|b64|u16|u32|u64|s16|s32|s64", "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("set", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz u32|s32|f32 f32|f64|f16|bf16", "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("set", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f16x2 f16x2", "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("set", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f16 f16", "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("selp", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "=0 0 0 pred", ptx_selp)
PTX_BY_LANE("slct", "?ftz b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64 s32|f32", "=0 0 0 1", ptx_slct)

/* conversions */
PTX_BY_LANE("cvt", "?sat u8|u16|u32|u64|s8|s16|s32|s64 u8|u16|u32|u64|s8|s16|s32|s64", "=0+ 1+", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz|rm|rp ?ftz ?sat f16|bf16|f32|f64 u8|u16|u32|u64|s8|s16|s32|s64", "=0+ 1+", ptx_cvt)
PTX_BY_LANE("cvt", "rni|rzi|rmi|rpi ?ftz ?sat u8|u16|u32|u64|s8|s16|s32|s64 f16|bf16|f32|f64", "=0+ 1+", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz|rm|rp ?ftz ?sat f32 f64", "=0 1", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz|rm|rp ?ftz ?sat f16 f32|f64", "=0+ 1", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz|rm|rp bf16 f32|f64", "=0+ 1", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz ?relu ?satfinite f16|bf16 f32", "=0+ 1", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz|rm|rp ?sat bf16 f16", "=0+ 1+", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz|rm|rp ?sat f16 bf16", "=0+ 1+", ptx_cvt)
PTX_BY_LANE("cvt", "?rn ?ftz ?sat f32|f64 f16|bf16|f32", "=0 1+", ptx_cvt)
PTX_BY_LANE("cvt", "rni|rzi|rmi|rpi ?ftz ?sat f32 f32", "=0 1", ptx_cvt)
PTX_BY_LANE("cvt", "rni|rzi|rmi|rpi ?sat f64 f64", "=0 1", ptx_cvt)
PTX_BY_LANE("cvt", "?rni|rzi|rmi|rpi ?ftz ?sat f16 f16", "=0+ 1+", ptx_cvt)
PTX_BY_LANE("cvt", "rni|rzi|rmi|rpi ?sat bf16 bf16", "=0+ 1+", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz ?relu ?satfinite f16x2|bf16x2 f32", "=0 1 1", ptx_cvt_packed)
PTX_BY_LANE("cvt", "rna ?satfinite tf32 f32", "=b32 1", ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz ?relu ?satfinite tf32 f32", "=b32 1", ptx_cvt)

/* control */
PTX_BY_LANE("nanosleep", "u32", "0", ptx_nanosleep)
PTX_BY_LANE("trap", "", "", ptx_trap)

PTX_BY_WARP("activemask", "b32", "=0", ptx_activemask)
