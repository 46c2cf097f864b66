/* Executes asm statements. A statement is parsed on its first run; its instructions then are
 * functions.
 *
 * Every lane runs the statement by itself, on its own registers. At an instruction of the whole
 * warp a lane waits, as at __syncwarp, until the other lanes have reached the same instruction.
 * The last lane executes it for all. */
#include "ptx/handlers/handler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PTX_BY_LANE(name, modifiers, operands, function) {.lane = function},
#define PTX_BY_WARP(name, modifiers, operands, function) {.warp = function},
#define PTX_BY_WARPGROUP(name, modifiers, operands, function) {.group = function},
static const struct {
    ptx_lane_run *lane;
    ptx_warp_run *warp;
    ptx_group_run *group;
} functions[] = {
/* in the order of ptx_forms */
#include "ptx/language/instructions.h"
};

/* The text of a statement that has constraint C: each %k that stands for a string becomes that
 * string. */
static char *with_strings(const struct cpu_asm_site *site, const uint64_t *reg)
{
    size_t size = strlen(site->text) + 1, n = 0;
    for (const char *c = site->constraints; *c; c++)
        size += *c == 'C' ? strlen(site->text) *
                                strlen((const char *)(uintptr_t)reg[c - site->constraints])
                          : 0;
    char *text = need_memory(calloc(1, size), "an asm statement");
    for (const char *p = site->text; *p;) {
        char *end = NULL;
        unsigned long k = p[0] == '%' && p[1] >= '0' && p[1] <= '9' ? strtoul(p + 1, &end, 10) : 0;
        if (end && k < strlen(site->constraints) && site->constraints[k] == 'C') {
            const char *s = (const char *)(uintptr_t)reg[k];
            memcpy(text + n, s, strlen(s)); /* NOLINT: text ends elsewhere */
            n += strlen(s);
            p = end;
        } else {
            int escaped = p[0] == '%' && p[1] == '%';
            text[n++] = *p++;
            if (escaped)
                text[n++] = *p++;
        }
    }
    return text;
}

static __attribute__((noinline)) ptx_program *prepare(struct worker *w, struct cpu_asm_site *site,
                                                      const uint64_t *reg)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    struct ptx_error error;
    ptx_program *p;
    int strings = site->constraints && strchr(site->constraints, 'C');
    pthread_mutex_lock(&one);
    if (!(p = site->program)) {
        p = ptx_parse(strings ? with_strings(site, reg) : site->text, site->constraints, &error);
        for (int k = 0; p && k < p->n; k++) {
            ptrdiff_t form = p->insn[k].form - ptx_forms;
            if (p->insn[k].form->kind != PTX_JUMP) {
                p->insn[k].lane = functions[form].lane;
                p->insn[k].warp = functions[form].warp;
                p->insn[k].group = functions[form].group;
            }
        }
        __atomic_store_n(&site->program, p, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&one);
    if (!p) /* only with strings: the rewriter has parsed all other statements */
        fault_stop(w, FAULT_UNSUPPORTED, cudaErrorLaunchFailure, "%s:%d: %s", site->file,
                   site->line, error.text);
    if (strings && p->held)
        fault_stop(w, FAULT_UNSUPPORTED, cudaErrorLaunchFailure,
                   "%s:%d: a statement with strings has no wgmma on the CPU backend", site->file,
                   site->line);
    if (p->registers > site->registers)
        fault_stop(w, FAULT_UNSUPPORTED, cudaErrorLaunchFailure,
                   "%s:%d: a statement with strings may have %d registers", site->file, site->line,
                   site->registers);
    return p;
}

/* The threads of the lanes hold the instruction and the registers. */
static void together(struct worker *w, int warp, unsigned lanes)
{
    uint64_t *reg[WARP];
    const struct thread *t = &w->threads[warp * WARP];
    for (int i = 0; i < WARP; i++)
        reg[i] = lanes >> i & 1 ? t[i].registers : NULL;
    const ptx_insn *insn = t[__builtin_ctz(lanes)].what;
    insn->warp(w, insn, reg, lanes);
}

static void group_together(struct worker *w, int warp, unsigned lanes)
{
    (void)lanes;
    const ptx_insn *insn = w->threads[warp * WARP].what;
    insn->group(w, insn, warp);
}

static inline void execute(struct worker *w, struct cpu_asm_site *site, uint64_t *reg)
{
    const ptx_program *p = __atomic_load_n(&site->program, __ATOMIC_ACQUIRE);
    if (!p)
        p = prepare(w, site, reg);
    for (int k = 0; k < p->n; k++) {
        const ptx_insn *i = &p->insn[k];
        if (i->guard >= 0 && (int)(reg[i->guard] & 1) == i->guard_not)
            continue;
        if (i->lane) {
            i->lane(w, i, reg);
        } else if (i->warp) {
            w->threads[w->now].registers = reg;
            warp_together(w, CPU_PTX, i, i->text, together);
        } else if (i->group) {
            w->threads[w->now].registers = reg;
            warp_four_together(w, CPU_PTX, i, i->text, group_together);
        } else {
            if (i->target <= k)
                cpu_yield(); /* may be a loop that waits for another thread */
            k = i->target - 1;
        }
    }
}

void cpu_asm(struct cpu_asm_site *site, uint64_t *reg)
{
    struct worker *w = block_inside(CPU_PTX, site->file, site->line);
    TRACE(asm(w, __builtin_return_address(0), CALLERS_DEPTH));
    TRACE_CHECK(operands(w, site->text, site->constraints, reg));
    execute(w, site, reg);
}

void cpu_asm_at(struct cpu_asm_site *site, uint64_t *reg, const char *file, int line)
{
    struct worker *w = block_inside(CPU_PTX, file, line);
    TRACE(asm(w, __builtin_return_address(0), __builtin_frame_address(0)));
    TRACE_CHECK(operands(w, site->text, site->constraints, reg));
    execute(w, site, reg);
}

void cpu_asm_held(struct cpu_asm_site *site, uint64_t *reg, const uint64_t *held)
{
    struct worker *w = block_inside(CPU_PTX, site->file, site->line);
    TRACE(asm(w, __builtin_return_address(0), CALLERS_DEPTH));
    TRACE_CHECK(operands(w, site->text, site->constraints, reg));
    w->threads[w->now].held = held;
    execute(w, site, reg);
}

#if CPU_TRACE
/* Operands of a statement are registers: copying to and from them is no memory access. */
void cpu_asm_put(uint64_t *reg, uint64_t bits)
{
    *reg = bits;
}

uint64_t cpu_asm_get(const uint64_t *reg)
{
    return *reg;
}
#endif
