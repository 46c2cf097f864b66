/* Inline PTX: the program that the parser (parse.c) makes of an asm statement. The rewriter
 * parses a statement to check it when the file is compiled; run.c parses it once more to execute
 * it. */
#pragma once

#include "base/types.h"

#include <stddef.h>
#include <stdint.h>

/* Modifiers that are not types. A handler asks ptx_has(i, PTX_M_ftz). */
#define PTX_MODIFIER_LIST(X)                                                                       \
    X(rn, "rn")                                                                                    \
    X(rz, "rz")                                                                                    \
    X(rm, "rm")                                                                                    \
    X(rp, "rp")                                                                                    \
    X(rni, "rni")                                                                                  \
    X(rzi, "rzi")                                                                                  \
    X(rmi, "rmi")                                                                                  \
    X(rpi, "rpi")                                                                                  \
    X(rna, "rna")                                                                                  \
    X(ftz, "ftz")                                                                                  \
    X(sat, "sat")                                                                                  \
    X(satfinite, "satfinite")                                                                      \
    X(relu, "relu")                                                                                \
    X(NaN, "NaN")                                                                                  \
    X(xorsign, "xorsign")                                                                          \
    X(abs, "abs")                                                                                  \
    X(approx, "approx")                                                                            \
    X(full, "full")                                                                                \
    X(lo, "lo")                                                                                    \
    X(hi, "hi")                                                                                    \
    X(wide, "wide")                                                                                \
    X(cc, "cc")                                                                                    \
    X(wrap, "wrap")                                                                                \
    X(clamp, "clamp")                                                                              \
    X(l, "l")                                                                                      \
    X(r, "r")                                                                                      \
    X(f4e, "f4e")                                                                                  \
    X(b4e, "b4e")                                                                                  \
    X(rc8, "rc8")                                                                                  \
    X(ecl, "ecl")                                                                                  \
    X(ecr, "ecr")                                                                                  \
    X(rc16, "rc16")                                                                                \
    X(shiftamt, "shiftamt")                                                                        \
    X(eq, "eq")                                                                                    \
    X(ne, "ne")                                                                                    \
    X(lt, "lt")                                                                                    \
    X(le, "le")                                                                                    \
    X(gt, "gt")                                                                                    \
    X(ge, "ge")                                                                                    \
    X(ls, "ls")                                                                                    \
    X(hs, "hs")                                                                                    \
    X(equ, "equ")                                                                                  \
    X(neu, "neu")                                                                                  \
    X(ltu, "ltu")                                                                                  \
    X(leu, "leu")                                                                                  \
    X(gtu, "gtu")                                                                                  \
    X(geu, "geu")                                                                                  \
    X(num, "num")                                                                                  \
    X(nan, "nan")                                                                                  \
    X(and, "and")                                                                                  \
    X(or, "or")                                                                                    \
    X(xor, "xor")                                                                                  \
    X(finite, "finite")                                                                            \
    X(infinite, "infinite")                                                                        \
    X(number, "number")                                                                            \
    X(notanumber, "notanumber")                                                                    \
    X(normal, "normal")                                                                            \
    X(uni, "uni")                                                                                  \
    X(global, "global")                                                                            \
    X(shared, "shared")                                                                            \
    X(shared_cta, "shared::cta")                                                                   \
    X(shared_cluster, "shared::cluster")                                                           \
    X(cta, "cta")                                                                                  \
    X(cluster, "cluster")                                                                          \
    X(gpu, "gpu")                                                                                  \
    X(sys, "sys")                                                                                  \
    X(relaxed, "relaxed")                                                                          \
    X(volatile, "volatile")                                                                        \
    X(acquire, "acquire")                                                                          \
    X(release, "release")                                                                          \
    X(acq_rel, "acq_rel")                                                                          \
    X(to, "to")                                                                                    \
    X(proxy, "proxy")                                                                              \
    X(add, "add")                                                                                  \
    X(min, "min")                                                                                  \
    X(max, "max")                                                                                  \
    X(exch, "exch")                                                                                \
    X(cas, "cas")                                                                                  \
    X(inc, "inc")                                                                                  \
    X(dec, "dec")                                                                                  \
    X(idx, "idx")                                                                                  \
    X(up, "up")                                                                                    \
    X(down, "down")                                                                                \
    X(bfly, "bfly")                                                                                \
    X(any, "any")                                                                                  \
    X(all, "all")                                                                                  \
    X(ballot, "ballot")                                                                            \
    X(arrive, "arrive")                                                                            \
    X(popc, "popc")                                                                                \
    X(trans, "trans")                                                                              \
    X(x2, "x2")                                                                                    \
    X(x4, "x4")                                                                                    \
    X(m8n8k4, "m8n8k4")                                                                            \
    X(m16n8k32, "m16n8k32")                                                                        \
    X(m16n8k4, "m16n8k4")                                                                          \
    X(m16n8k8, "m16n8k8")                                                                          \
    X(m16n8k16, "m16n8k16")                                                                        \
    X(cg, "cg")                                                                                    \
    X(nc, "nc")                                                                                    \
    X(L2_cache_hint, "L2::cache_hint")                                                             \
    X(expect_tx, "expect_tx")                                                                      \
    X(mbarrier, "mbarrier")                                                                        \
    X(arrive_drop, "arrive_drop")                                                                  \
    X(noinc, "noinc")                                                                              \
    X(try_wait, "try_wait")                                                                        \
    X(parity, "parity")                                                                            \
    X(noftz, "noftz")                                                                              \
    X(bulk, "bulk")                                                                                \
    X(read, "read")                                                                                \
    X(reduce, "reduce")                                                                            \
    X(d1, "1d")                                                                                    \
    X(d2, "2d")                                                                                    \
    X(d3, "3d")                                                                                    \
    X(d4, "4d")                                                                                    \
    X(d5, "5d")                                                                                    \
    X(v2, "v2")                                                                                    \
    X(v4, "v4")                                                                                    \
    X(v8, "v8")
#define PTX_ID(id, name) PTX_M_##id,
enum ptx_modifier { PTX_MODIFIER_LIST(PTX_ID) PTX_MODIFIERS };
#undef PTX_ID

/* Special registers that can be read. */
#define PTX_SPECIAL_LIST(X)                                                                        \
    X(LANEID, "laneid")                                                                            \
    X(WARPID, "warpid")                                                                            \
    X(NWARPID, "nwarpid")                                                                          \
    X(SMID, "smid")                                                                                \
    X(NSMID, "nsmid")                                                                              \
    X(GRIDID, "gridid")                                                                            \
    X(CLOCK, "clock")                                                                              \
    X(CLOCK_HI, "clock_hi")                                                                        \
    X(CLOCK64, "clock64")                                                                          \
    X(GLOBALTIMER, "globaltimer")                                                                  \
    X(GLOBALTIMER_LO, "globaltimer_lo")                                                            \
    X(TID_X, "tid.x")                                                                              \
    X(TID_Y, "tid.y")                                                                              \
    X(TID_Z, "tid.z")                                                                              \
    X(NTID_X, "ntid.x")                                                                            \
    X(NTID_Y, "ntid.y")                                                                            \
    X(NTID_Z, "ntid.z")                                                                            \
    X(CTAID_X, "ctaid.x")                                                                          \
    X(CTAID_Y, "ctaid.y")                                                                          \
    X(CTAID_Z, "ctaid.z")                                                                          \
    X(NCTAID_X, "nctaid.x")                                                                        \
    X(NCTAID_Y, "nctaid.y")                                                                        \
    X(NCTAID_Z, "nctaid.z")                                                                        \
    X(LANEMASK_EQ, "lanemask_eq")                                                                  \
    X(LANEMASK_LE, "lanemask_le")                                                                  \
    X(LANEMASK_LT, "lanemask_lt")                                                                  \
    X(LANEMASK_GE, "lanemask_ge")                                                                  \
    X(LANEMASK_GT, "lanemask_gt")
#define PTX_ID(id, name) PTX_S_##id,
enum ptx_special { PTX_SPECIAL_LIST(PTX_ID) PTX_SPECIALS };
#undef PTX_ID

enum ptx_kind { PTX_REGISTER, PTX_IMMEDIATE, PTX_VECTOR, PTX_ADDRESS, PTX_SPECIAL };

typedef struct ptx_operand {
    enum ptx_kind kind;
    int reg;  /* REGISTER: an index into the lane's registers, -1 is `_`; ADDRESS: the base or -1 */
    int more; /* setp's second predicate, or an address's constant register; -1 is none */
    int negated; /* !p */
    int held;    /* REGISTER: an operand whose variable is used after the statement */
    int n;       /* VECTOR: so many elements */
    struct ptx_operand *element;
    uint64_t value; /* IMMEDIATE: raw bits; ADDRESS: offset; SPECIAL: an enum ptx_special; REGISTER:
                       its width in bits */
} ptx_operand;

enum { PTX_OPERANDS = 8, PTX_TYPES_OF_ONE = 4 };

struct worker;
struct ptx_insn;
/* A register holds raw bits, zero-extended: an f16 in the low 16, a predicate as 0 or 1. A
 * lane_run is called for each lane. A warp_run is called once, when all existing lanes have
 * arrived; the registers of a lane that is not in `lanes` are NULL. A group_run is called once,
 * when all lanes of four warps have arrived, of which `warp` is the first; registers are in
 * w->threads. */
typedef void ptx_lane_run(struct worker *w, const struct ptx_insn *i, uint64_t *reg);
typedef void ptx_warp_run(struct worker *w, const struct ptx_insn *i, uint64_t *const reg[32],
                          unsigned lanes);
typedef void ptx_group_run(struct worker *w, const struct ptx_insn *i, int warp);

/* One line of instructions.h. */
enum ptx_form_kind { PTX_LANE, PTX_WARP, PTX_WARPGROUP, PTX_JUMP };
struct ptx_form {
    const char *name, *modifiers, *operands;
    enum ptx_form_kind kind;
};

typedef struct ptx_insn {
    const struct ptx_form *form;
    const char *text;     /* "add.s32", for reports */
    int guard, guard_not; /* the predicate's register, or -1 */
    int target;           /* of a jump: the instruction's number */
    int n;
    ptx_operand operand[PTX_OPERANDS];    /* as written: destination first */
    enum ptx_type type[PTX_TYPES_OF_ONE]; /* the types among the modifiers, in order */
    uint64_t modifiers[(PTX_MODIFIERS + 63) / 64];
    int offset;         /* its place in the statement's text */
    ptx_lane_run *lane; /* run.c sets one of the three, except for jumps */
    ptx_warp_run *warp;
    ptx_group_run *group;
} ptx_insn;

typedef struct ptx_program {
    int n, registers; /* registers: first the operands of the statement, then its declarations */
    int guarded;      /* some instruction has a predicate */
    ptx_insn *insn;
    /* For each operand, 1 if an instruction uses its variable after the statement: wgmma's
     * accumulators, and its A in registers. NULL: no operand is used so. */
    char *held;
} ptx_program;

struct ptx_error {
    int offset; /* in the text */
    char text[400];
};

static inline int ptx_has(const ptx_insn *i, enum ptx_modifier m)
{
    return (int)(i->modifiers[m / 64] >> m % 64 & 1);
}

/* --- table.c ---------------------------------------------------------------------------------- */
extern const struct ptx_form ptx_forms[];
extern const int ptx_form_count;
extern const char *const ptx_modifier_names[PTX_MODIFIERS];
extern const char *const ptx_special_names[]; /* by enum ptx_special; ends with NULL */

/* --- parse.c ---------------------------------------------------------------------------------- */
/* constraints[k] is the constraint of operand %k: h, r, l, f, d or n. NULL: the text is wrong,
 * and *error says how. A program is never freed. */
ptx_program *ptx_parse(const char *text, const char *constraints, struct ptx_error *error);
