/* Each instruction that is executed, a line for each form of it:
 *
 *   PTX_BY_LANE(name, modifiers, operands, function)   each lane does it for itself
 *   PTX_BY_WARP(name, modifiers, operands, function)   once a warp, when all its lanes have come
 *   PTX_BY_WARPGROUP(name, ...)                        once for four warps, when all have come
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
 *   4x0         a vector of four; vx0: of as many as .v2, .v4 or .v8 says, else one register; mx0:
 *               of half as many as .m64nNk16 says
 *   pack0       a register, or a vector whose parts are as wide together
 *   any0        the same, or a special register
 *   pred pred|  a predicate, perhaps negated; with |q, which may be left out, the one to be written
 *   addr        [register + number] or [number]
 *   tensor      [register, {x, y}]: a tensor map, and as many coordinates as .1d to .5d says
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
PTX_BY_LANE("vabsdiff4", "u32|s32 u32|s32 u32|s32 ?sat|add", "=0 1 2 0", ptx_vabsdiff4)
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
PTX_BY_LANE("testp", "finite|infinite|number|notanumber|normal|subnormal f32|f64", "=pred 0",
            ptx_testp)

/* comparisons */
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs ?and|or|xor b16|b32|b64|u16|u32|u64|s16|s32|s64",
            "=pred| 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f32|f16x2",
            "=pred| 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor f64|bf16x2",
            "=pred| 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f16",
            "=pred 0 0 ?pred", ptx_setp)
PTX_BY_LANE("setp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor bf16",
            "=pred 0 0 ?pred", ptx_setp)
PTX_BY_LANE(
    "set",
    "eq|ne|lt|le|gt|ge|lo|ls|hi|hs ?and|or|xor u32|s32|f32 b16|b32|b64|u16|u32|u64|s16|s32|s64",
    "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("set",
            "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz u32|s32|f32 "
            "f32|f64|f16|bf16",
            "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("set", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f16x2 f16x2",
            "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("set", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan ?and|or|xor ?ftz f16 f16",
            "=0 1 1 ?pred", ptx_set_number)
PTX_BY_LANE("selp", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", "=0 0 0 pred", ptx_selp)
PTX_BY_LANE("slct", "?ftz b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64 s32|f32", "=0 0 0 1",
            ptx_slct)

/* conversions */
PTX_BY_LANE("cvt", "?sat u8|u16|u32|u64|s8|s16|s32|s64 u8|u16|u32|u64|s8|s16|s32|s64", "=0+ 1+",
            ptx_cvt)
PTX_BY_LANE("cvt", "rn|rz|rm|rp ?ftz ?sat f16|bf16|f32|f64 u8|u16|u32|u64|s8|s16|s32|s64", "=0+ 1+",
            ptx_cvt)
PTX_BY_LANE("cvt", "rni|rzi|rmi|rpi ?ftz ?sat u8|u16|u32|u64|s8|s16|s32|s64 f16|bf16|f32|f64",
            "=0+ 1+", ptx_cvt)
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
PTX_BY_LANE("griddepcontrol", "wait|launch_dependents", "", ptx_griddepcontrol)

/* memory */
#define PTX_SPACES "?global|shared|shared::cta "
#define PTX_SCOPES "cta|cluster|gpu|sys "
#define PTX_HINTS                                                                                  \
    "?L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate "        \
    "?L2::evict_normal|L2::evict_first|L2::evict_last "
#define PTX_MOVED                                                                                  \
    "?L2::64B|L2::128B|L2::256B ?v2|v4 b8|b16|b32|b64|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"
#define PTX_HINTED "L2::cache_hint "
PTX_BY_LANE("ld", "?weak|volatile " PTX_SPACES "?ca|cg|cs|lu|cv ?nc " PTX_HINTS PTX_MOVED,
            "=vx0+ addr", ptx_ld)
PTX_BY_LANE("ld", "?weak " PTX_SPACES "?ca|cg|cs|lu|cv ?nc " PTX_HINTS PTX_HINTED PTX_MOVED,
            "=vx0+ addr b64", ptx_ld)
PTX_BY_LANE("ld", "relaxed|acquire " PTX_SCOPES PTX_SPACES PTX_HINTS PTX_MOVED, "=vx0+ addr",
            ptx_ld)
PTX_BY_LANE("ld", "relaxed|acquire " PTX_SCOPES PTX_SPACES PTX_HINTS PTX_HINTED PTX_MOVED,
            "=vx0+ addr b64", ptx_ld)
PTX_BY_LANE("st", "?weak|volatile " PTX_SPACES "?wb|cg|cs|wt " PTX_HINTS PTX_MOVED, "addr vx0+",
            ptx_st)
PTX_BY_LANE("st", "?weak " PTX_SPACES "?wb|cg|cs|wt " PTX_HINTS PTX_HINTED PTX_MOVED,
            "addr vx0+ b64", ptx_st)
PTX_BY_LANE("st", "relaxed|release " PTX_SCOPES PTX_SPACES PTX_HINTS PTX_MOVED, "addr vx0+", ptx_st)
PTX_BY_LANE("st", "relaxed|release " PTX_SCOPES PTX_SPACES PTX_HINTS PTX_HINTED PTX_MOVED,
            "addr vx0+ b64", ptx_st)
#define PTX_ATOMIC "?relaxed|acquire|release|acq_rel ?cta|cluster|gpu|sys " PTX_SPACES
#define PTX_BOTH(modifiers, values)                                                                \
    PTX_BY_LANE("atom", PTX_ATOMIC modifiers, "=vx0 addr " values, ptx_atom)                       \
    PTX_BY_LANE("red", PTX_ATOMIC modifiers, "addr " values, ptx_red)
#define PTX_BOTH_HINTED(operation, types, values)                                                  \
    PTX_BOTH(operation " " types, values)                                                          \
    PTX_BOTH(operation " " PTX_HINTED types, values " b64")
PTX_BOTH_HINTED("add", "u32|s32|u64|f32|f64", "0")
PTX_BOTH_HINTED("add", "v2|v4 f32", "vx0")
PTX_BOTH_HINTED("add noftz", "f16|f16x2|bf16|bf16x2", "0")
PTX_BOTH_HINTED("add noftz", "v2|v4 f16|f16x2|bf16|bf16x2", "vx0")
PTX_BOTH_HINTED("add noftz", "v8 f16|bf16", "vx0")
PTX_BOTH_HINTED("min|max", "u32|s32|u64|s64", "0")
PTX_BOTH_HINTED("and|or|xor", "b32|b64", "0")
PTX_BOTH_HINTED("inc|dec", "u32", "0")
PTX_BY_LANE("atom", PTX_ATOMIC "exch b32|b64", "=0 addr 0", ptx_atom)
PTX_BY_LANE("atom", PTX_ATOMIC "exch " PTX_HINTED "b32|b64", "=0 addr 0 b64", ptx_atom)
PTX_BY_LANE("atom", PTX_ATOMIC "cas b16|b32|b64", "=0 addr 0 0", ptx_atom)
PTX_BY_LANE("atom", PTX_ATOMIC "cas " PTX_HINTED "b16|b32|b64", "=0 addr 0 0 b64", ptx_atom)
PTX_BY_LANE("cvta", "?to global|shared|shared::cta u32|u64", "=0 0", ptx_cvta)
PTX_BY_LANE("isspacep", "global|shared|shared::cta", "=pred b64", ptx_isspacep)
PTX_BY_LANE("membar", "cta|gl|sys", "", ptx_fence)
PTX_BY_LANE("fence", "?sc|acq_rel|acquire|release cta|cluster|gpu|sys", "", ptx_fence)
PTX_BY_LANE("fence", "proxy alias", "", ptx_fence)
PTX_BY_LANE("fence", "proxy async ?global|shared::cta|shared::cluster", "", ptx_fence_proxy)
PTX_BY_LANE("prefetch", "?global L1|L2", "addr", ptx_prefetch)
PTX_BY_LANE("prefetch", "global L2::evict_last|L2::evict_normal", "addr", ptx_prefetch)
PTX_BY_LANE("prefetchu", "L1", "addr", ptx_prefetch)
#define PTX_POLICY                                                                                 \
    "fractional L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged "              \
    "?L2::evict_first|L2::evict_unchanged b64"
PTX_BY_LANE("createpolicy", PTX_POLICY, "=0 ?f32", ptx_createpolicy)

/* asynchronous copies */
#define PTX_FROM_GLOBAL "async ca|cg shared|shared::cta global "
#define PTX_FETCHED "?L2::64B|L2::128B|L2::256B"
PTX_BY_LANE("cp", PTX_FROM_GLOBAL PTX_FETCHED, "addr addr imm", ptx_cp_async)
PTX_BY_LANE("cp", PTX_FROM_GLOBAL PTX_FETCHED, "addr addr imm b32", ptx_cp_async)
PTX_BY_LANE("cp", PTX_FROM_GLOBAL PTX_FETCHED, "addr addr imm pred", ptx_cp_async)
PTX_BY_LANE("cp", PTX_FROM_GLOBAL PTX_HINTED PTX_FETCHED, "addr addr imm b64", ptx_cp_async)
PTX_BY_LANE("cp", PTX_FROM_GLOBAL PTX_HINTED PTX_FETCHED, "addr addr imm b32 b64", ptx_cp_async)
PTX_BY_LANE("cp", PTX_FROM_GLOBAL PTX_HINTED PTX_FETCHED, "addr addr imm pred b64", ptx_cp_async)
PTX_BY_LANE("cp", "async commit_group", "", ptx_cp_async_commit)
PTX_BY_LANE("cp", "async wait_group", "imm", ptx_cp_async_wait)
PTX_BY_LANE("cp", "async wait_all", "", ptx_cp_async_wait)

/* bulk copies */
#define PTX_LOADS "async bulk shared::cluster|shared::cta global mbarrier::complete_tx::bytes"
PTX_BY_LANE("cp", PTX_LOADS, "addr addr b32 addr", ptx_bulk_load)
PTX_BY_LANE("cp", PTX_LOADS " L2::cache_hint", "addr addr b32 addr b64", ptx_bulk_load)
#define PTX_STORES "async bulk global shared::cta bulk_group"
PTX_BY_LANE("cp", PTX_STORES, "addr addr b32", ptx_bulk_store)
PTX_BY_LANE("cp", PTX_STORES " L2::cache_hint", "addr addr b32 b64", ptx_bulk_store)
#define PTX_ADDS(type)                                                                             \
    PTX_BY_LANE("cp", "reduce " PTX_STORES " add " type, "addr addr b32", ptx_bulk_store)          \
    PTX_BY_LANE("cp", "reduce " PTX_STORES " L2::cache_hint add " type, "addr addr b32 b64",       \
                ptx_bulk_store)
PTX_ADDS("f32|f64|u32|s32|u64")
PTX_ADDS("noftz f16|bf16")
#define PTX_TENSOR "async bulk tensor 1d|2d|3d|4d|5d "
#define PTX_TENSOR_LOADS                                                                           \
    PTX_TENSOR "shared::cluster|shared::cta global ?tile mbarrier::complete_tx::bytes"
PTX_BY_LANE("cp", PTX_TENSOR_LOADS, "addr tensor addr", ptx_tensor_load)
PTX_BY_LANE("cp", PTX_TENSOR_LOADS " L2::cache_hint", "addr tensor addr b64", ptx_tensor_load)
#define PTX_TENSOR_STORES "global shared::cta ?tile bulk_group"
PTX_BY_LANE("cp", PTX_TENSOR PTX_TENSOR_STORES, "tensor addr", ptx_tensor_store)
PTX_BY_LANE("cp", PTX_TENSOR PTX_TENSOR_STORES " L2::cache_hint", "tensor addr b64",
            ptx_tensor_store)
#define PTX_TENSOR_ADDS "global shared::cta add ?tile bulk_group"
PTX_BY_LANE("cp", "reduce " PTX_TENSOR PTX_TENSOR_ADDS, "tensor addr", ptx_tensor_store)
PTX_BY_LANE("cp", "reduce " PTX_TENSOR PTX_TENSOR_ADDS " L2::cache_hint", "tensor addr b64",
            ptx_tensor_store)
PTX_BY_LANE("cp", "async bulk commit_group", "", ptx_bulk_commit)
PTX_BY_LANE("cp", "async bulk wait_group ?read", "imm", ptx_bulk_wait)
PTX_BY_LANE("cp", "async bulk prefetch L2 global", "addr b32", ptx_prefetch)
PTX_BY_LANE("cp", "async bulk prefetch L2 global L2::cache_hint", "addr b32 b64", ptx_prefetch)
PTX_BY_LANE("cp", "async bulk prefetch tensor 1d|2d|3d|4d|5d L2 global ?tile", "tensor",
            ptx_prefetch)
PTX_BY_LANE("prefetch", "tensormap", "addr", ptx_prefetch_tensormap)

/* barriers in shared memory */
#define PTX_SHARED_B64 " ?shared|shared::cta b64"
#define PTX_ORDER " ?release|acquire|relaxed ?cta|cluster"
PTX_BY_LANE("mbarrier", "init" PTX_SHARED_B64, "addr b32", ptx_mbarrier_init)
PTX_BY_LANE("mbarrier", "inval" PTX_SHARED_B64, "addr", ptx_mbarrier_inval)
PTX_BY_LANE("mbarrier", "arrive" PTX_ORDER PTX_SHARED_B64, "=b64 addr ?b32", ptx_mbarrier_arrive)
PTX_BY_LANE("mbarrier", "arrive_drop" PTX_ORDER PTX_SHARED_B64, "=b64 addr ?b32",
            ptx_mbarrier_arrive)
PTX_BY_LANE("mbarrier", "arrive expect_tx" PTX_ORDER PTX_SHARED_B64, "=b64 addr b32",
            ptx_mbarrier_arrive)
PTX_BY_LANE("mbarrier", "expect_tx ?relaxed ?cta|cluster" PTX_SHARED_B64, "addr b32",
            ptx_mbarrier_expect)
PTX_BY_LANE("mbarrier", "test_wait" PTX_ORDER PTX_SHARED_B64, "=pred addr b64", ptx_mbarrier_wait)
PTX_BY_LANE("mbarrier", "test_wait parity" PTX_ORDER PTX_SHARED_B64, "=pred addr b32",
            ptx_mbarrier_wait)
PTX_BY_LANE("mbarrier", "try_wait" PTX_ORDER PTX_SHARED_B64, "=pred addr b64 ?b32",
            ptx_mbarrier_wait)
PTX_BY_LANE("mbarrier", "try_wait parity" PTX_ORDER PTX_SHARED_B64, "=pred addr b32 ?b32",
            ptx_mbarrier_wait)
PTX_BY_LANE("cp", "async mbarrier arrive ?noinc" PTX_SHARED_B64, "addr", ptx_cp_async_arrive)
PTX_BY_LANE("mbarrier", "pending_count b64", "=b32 b64", ptx_mbarrier_pending)
PTX_BY_LANE("fence", "mbarrier_init release cluster", "", ptx_fence_mbarrier_init)

/* lanes and barriers */
PTX_BY_LANE("shfl", "sync idx|up|down|bfly b32", "=0| 0 b32 b32 b32", ptx_shfl)
PTX_BY_LANE("vote", "sync any|all|uni pred", "=pred pred b32", ptx_vote)
PTX_BY_LANE("vote", "sync ballot b32", "=b32 pred b32", ptx_vote)
PTX_BY_LANE("match", "any sync b32|b64", "=b32 0 b32", ptx_match)
PTX_BY_LANE("match", "all sync b32|b64", "=b32| 0 b32", ptx_match)
PTX_BY_LANE("redux", "sync add|min|max u32|s32", "=0 0 b32", ptx_redux)
PTX_BY_LANE("redux", "sync and|or|xor b32", "=0 0 b32", ptx_redux)
PTX_BY_LANE("activemask", "b32", "=0", ptx_activemask)
PTX_BY_LANE("elect", "sync", "=b32| b32", ptx_elect)
PTX_BY_LANE("bar", "warp sync", "b32", ptx_warp_sync)
#define PTX_BARRIER(name, aligned)                                                                 \
    PTX_BY_LANE(name, "?cta sync" aligned, "b32 ?b32", ptx_bar)                                    \
    PTX_BY_LANE(name, "?cta arrive" aligned, "b32 b32", ptx_bar)                                   \
    PTX_BY_LANE(name, "?cta red popc" aligned " u32", "=0 b32 pred", ptx_bar_red)                  \
    PTX_BY_LANE(name, "?cta red popc" aligned " u32", "=0 b32 b32 pred", ptx_bar_red)              \
    PTX_BY_LANE(name, "?cta red and|or" aligned " pred", "=0 b32 pred", ptx_bar_red)               \
    PTX_BY_LANE(name, "?cta red and|or" aligned " pred", "=0 b32 b32 pred", ptx_bar_red)
PTX_BARRIER("bar", "")
PTX_BARRIER("barrier", " ?aligned")

/* matrices */
#define PTX_MMA "sync aligned "
PTX_BY_WARP("mma", PTX_MMA "m16n8k16 row col f32 f16 f16 f32", "=4xf32 4xb32 2xb32 4xf32", ptx_mma)
PTX_BY_WARP("mma", PTX_MMA "m16n8k16 row col f32 bf16 bf16 f32", "=4xf32 4xb32 2xb32 4xf32",
            ptx_mma)
PTX_BY_WARP("mma", PTX_MMA "m16n8k16 row col f16 f16 f16 f16", "=2xb32 4xb32 2xb32 2xb32", ptx_mma)
PTX_BY_WARP("mma", PTX_MMA "m16n8k8 row col f32 f16 f16 f32", "=4xf32 2xb32 1xb32 4xf32", ptx_mma)
PTX_BY_WARP("mma", PTX_MMA "m16n8k8 row col f32 bf16 bf16 f32", "=4xf32 2xb32 1xb32 4xf32", ptx_mma)
PTX_BY_WARP("mma", PTX_MMA "m16n8k8 row col f16 f16 f16 f16", "=2xb32 2xb32 1xb32 2xb32", ptx_mma)
PTX_BY_WARP("mma", PTX_MMA "m16n8k8 row col f32 tf32 tf32 f32", "=4xf32 4xb32 2xb32 4xf32", ptx_mma)
PTX_BY_WARP("mma", PTX_MMA "m16n8k4 row col f32 tf32 tf32 f32", "=4xf32 2xb32 1xb32 4xf32", ptx_mma)
#define PTX_BYTES " row col ?satfinite s32 s8|u8 s8|u8 s32"
PTX_BY_WARP("mma", PTX_MMA "m16n8k16" PTX_BYTES, "=4xb32 2xb32 1xb32 4xb32", ptx_mma_bytes)
PTX_BY_WARP("mma", PTX_MMA "m16n8k32" PTX_BYTES, "=4xb32 4xb32 2xb32 4xb32", ptx_mma_bytes)
PTX_BY_WARP("mma", PTX_MMA "m8n8k4 row col f64 f64 f64 f64", "=2xf64 1xf64 1xf64 2xf64",
            ptx_mma_double)
#define PTX_ROWS " ?shared|shared::cta b16"
#define PTX_MOVE(n)                                                                                \
    PTX_BY_WARP("ldmatrix", "sync aligned m8n8 x" n " ?trans" PTX_ROWS, "=" n "xb32 addr",         \
                ptx_ldmatrix)                                                                      \
    PTX_BY_WARP("stmatrix", "sync aligned m8n8 x" n " ?trans" PTX_ROWS, "addr " n "xb32",          \
                ptx_stmatrix)
PTX_MOVE("1")
PTX_MOVE("2")
PTX_MOVE("4")

/* matrices of a warpgroup */
#define PTX_SHAPES                                                                                 \
    "m64n8k16|m64n16k16|m64n24k16|m64n32k16|m64n40k16|m64n48k16|m64n56k16|m64n64k16|"              \
    "m64n72k16|m64n80k16|m64n88k16|m64n96k16|m64n104k16|m64n112k16|m64n120k16|m64n128k16|"         \
    "m64n136k16|m64n144k16|m64n152k16|m64n160k16|m64n168k16|m64n176k16|m64n184k16|"                \
    "m64n192k16|m64n200k16|m64n208k16|m64n216k16|m64n224k16|m64n232k16|m64n240k16|"                \
    "m64n248k16|m64n256k16 "
#define PTX_WGMMA(types)                                                                           \
    PTX_BY_WARPGROUP("wgmma", "mma_async " PTX_MMA PTX_SHAPES types,                               \
                     "=mxf32 b64 b64 pred imm imm imm imm", ptx_wgmma)                             \
    PTX_BY_WARPGROUP("wgmma", "mma_async " PTX_MMA PTX_SHAPES types,                               \
                     "=mxf32 4xb32 b64 pred imm imm imm", ptx_wgmma)
PTX_WGMMA("f32 f16 f16")
PTX_WGMMA("f32 bf16 bf16")
PTX_BY_WARP("wgmma", "fence sync aligned", "", ptx_wgmma_fence)
PTX_BY_WARP("wgmma", "commit_group sync aligned", "", ptx_wgmma_commit)
PTX_BY_WARP("wgmma", "wait_group sync aligned", "imm", ptx_wgmma_wait)
PTX_BY_WARP("setmaxnreg", "inc|dec sync aligned u32", "imm", ptx_setmaxnreg)
