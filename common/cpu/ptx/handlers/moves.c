/* mov, also between a packed register and its parts, and the special registers. */
#include "ptx/handlers/handler.h"

#include "cpu/trace.h"
#include <string.h>
#include <time.h>

static uint64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A special register of the device that device.c describes. A block stays on one multiprocessor. */
static uint64_t special(struct worker *w, enum ptx_special which)
{
    unsigned lane = w->now % WARP;
    uint64_t block =
        blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
    switch (which) {
    case PTX_S_LANEID:
        return lane;
    case PTX_S_WARPID:
        return w->now / WARP;
    case PTX_S_NWARPID:
        return MAX_WARPS * 2;
    case PTX_S_SMID:
        return block % (uint64_t)w->launch->multiprocessors;
    case PTX_S_NSMID:
        return (uint64_t)w->launch->multiprocessors;
    case PTX_S_GRIDID:
        return w->launch->id;
    case PTX_S_CLOCK:
    case PTX_S_CLOCK64:
        return (uint64_t)cpu_clock();
    case PTX_S_CLOCK_HI:
        return (uint64_t)cpu_clock() >> 32;
    case PTX_S_GLOBALTIMER:
    case PTX_S_GLOBALTIMER_LO:
        return nanoseconds();
    case PTX_S_TID_X:
        return threadIdx.x;
    case PTX_S_TID_Y:
        return threadIdx.y;
    case PTX_S_TID_Z:
        return threadIdx.z;
    case PTX_S_NTID_X:
        return blockDim.x;
    case PTX_S_NTID_Y:
        return blockDim.y;
    case PTX_S_NTID_Z:
        return blockDim.z;
    case PTX_S_CTAID_X:
        return blockIdx.x;
    case PTX_S_CTAID_Y:
        return blockIdx.y;
    case PTX_S_CTAID_Z:
        return blockIdx.z;
    case PTX_S_NCTAID_X:
        return gridDim.x;
    case PTX_S_NCTAID_Y:
        return gridDim.y;
    case PTX_S_NCTAID_Z:
        return gridDim.z;
    case PTX_S_LANEMASK_EQ:
        return 1u << lane;
    case PTX_S_LANEMASK_LE:
        return (2ull << lane) - 1;
    case PTX_S_LANEMASK_LT:
        return (1u << lane) - 1;
    case PTX_S_LANEMASK_GE:
        return ~0u << lane;
    default:
        return ~0ull << (lane + 1);
    }
}

void ptx_mov(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const ptx_operand *d = &i->operand[0], *a = &i->operand[1];
    int bits = ptx_type_bits[i->type[0]];
    uint64_t v = 0;
    if (a->kind == PTX_VECTOR) /* the first part is the low one */
        for (int k = a->n - 1, part = bits / a->n; k >= 0; k--)
            v = v << part | (ptx_get(&a->element[k], reg) & ((1ull << part) - 1));
    else
        v = a->kind == PTX_SPECIAL ? special(w, (enum ptx_special)a->value) : ptx_get(a, reg);
    v ^= (uint64_t)a->negated;
    v = v << (64 - bits) >> (64 - bits);
    if (d->kind == PTX_VECTOR)
        for (int k = 0, part = bits / d->n; k < d->n; k++)
            ptx_set(&d->element[k], reg, v >> (k * part) & ((1ull << part) - 1));
    else
        ptx_set(d, reg, v);
}

/* Changes no order: the kernel in front has ended, and the next kernel begins in stream order. */
void ptx_griddepcontrol(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    if (strstr(i->text, "wait")) {
        cpu_grid_wait();
        return;
    }
    ptx_counted(CPU_LAUNCH_DEPENDENTS);
    cpu_grid_trigger();
}

void ptx_trap(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    const struct thread *t = &w->threads[w->now];
    cpu_trap(cudaErrorLaunchFailure, i->text, t->file, t->line);
}

void ptx_nanosleep(struct worker *w, const ptx_insn *i, uint64_t *reg)
{
    cpu_sleep(w->threads[w->now].file, w->threads[w->now].line);
}
