/* Lets an instruction that has raised a signal access another place than it asks for, and then go
 * on with the next one: --check passes over illegal accesses so, and addresses of shared memory
 * wrap at 32 bits.
 *
 * Of the instruction only so much is decoded as tells the registers of its address. One of them is
 * changed so that the address falls where it shall, the trap flag makes the CPU stop behind this
 * one instruction, and the register gets its value back. x86-64 Linux only: an aarch64 has no trap
 * flag for programs. */
#include "device/device.h"

#ifdef __linux__
#include <ucontext.h>
#endif
#if defined __linux__ && defined __x86_64__
#include <signal.h>
#include <string.h>

enum { TRAP_FLAG = 0x100, WRITES = 2 }; /* of the flags; of REG_ERR: the access was a write */

/* 2880 is a multiple of all that an address can multiply a register by (1 to 5, 8 and 9), and of
 * 64: an address that moves by a multiple of it stays as aligned as it was. */
enum { STRIDE = 2880, WIDEST = 64 };
static __thread struct {
    /* Between both ends an address of any remainder has WIDEST bytes on either side. */
    _Alignas(WIDEST) unsigned char bytes[STRIDE + 3 * WIDEST];
} poison;

/* The registers that an instruction was lent, until it is done. */
static __thread struct {
    int n, is_string;
    uintptr_t at; /* the instruction */
    struct {
        int reg;
        greg_t own, lent;
    } lent[2];
} step;

struct operand {
    int base, index, scale; /* numbers of registers in gregs, or -1 */
    int64_t displacement;
    int is_string, is_exact; /* is_exact: the displacement is known */
};

static const int registers[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                  REG_R12, REG_R13, REG_R14, REG_R15};

/* Of the opcodes of one byte: whether a ModRM byte follows. */
static int has_modrm(unsigned char op)
{
    if (op < 0x40)
        return (op & 7) < 4;
    return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8e) || op == 0xc0 ||
           op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
           (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

/* The same of those behind 0F. */
static int has_modrm_0f(unsigned char op)
{
    return !(op == 0x05 || (op >= 0x06 && op <= 0x0b) || (op >= 0x30 && op <= 0x37) || op == 0x77 ||
             (op >= 0x80 && op <= 0x8f) || (op >= 0xa0 && op <= 0xa2) ||
             (op >= 0xa8 && op <= 0xaa) || (op >= 0xc8 && op <= 0xcf));
}

/* Decodes the registers of the instruction's memory operand. False: it has none, or one without
 * registers, or of another segment. */
static int decode(const unsigned char *code, struct operand *o)
{
    unsigned rex = 0, map = 0, evex = 0;
    *o = (struct operand){-1, -1, 1, 0, 0, 1};
    for (;; code++)
        if (*code == 0x67 || *code == 0x64 || *code == 0x65)
            return 0;
        else if (*code != 0x66 && *code != 0xf2 && *code != 0xf3 && *code != 0xf0 &&
                 *code != 0x2e && *code != 0x3e && *code != 0x26 && *code != 0x36)
            break;
    if ((*code & 0xf0) == 0x40)
        rex = *code++;
    unsigned char op = *code++;
    if (op == 0xc5) { /* VEX */
        map = 1;
        code++;
        op = *code++;
    } else if (op == 0xc4 || op == 0x62) { /* VEX, or EVEX; X and B are inverted */
        evex = op == 0x62;
        rex = ~code[0] >> 5 & 3;
        map = code[0] & (evex ? 7 : 31);
        code += evex ? 3 : 2;
        op = *code++;
        if (map == 2 && ((op >= 0x90 && op <= 0x93) || (op >= 0xa0 && op <= 0xa3)))
            return 0; /* gather and scatter: the index is a vector */
    } else if (op == 0x0f) {
        op = *code++;
        map = op == 0x38 ? 2 : op == 0x3a ? 3 : 1;
        if (map > 1)
            op = *code++;
    }
    o->is_string = map == 0 && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf));
    if (o->is_string)
        return 1;
    if (map == 0 ? !has_modrm(op) : map == 1 && !has_modrm_0f(op))
        return 0;
    const unsigned modrm = *code++, mode = modrm >> 6, rm = modrm & 7;
    if (mode == 3 || (mode == 0 && rm == 5))
        return 0; /* a register; an address that counts from the instruction */
    int has_base = 1;
    if (rm == 4) {
        const unsigned sib = *code++, index = (sib >> 3 & 7) | (rex & 2) << 2;
        has_base = mode != 0 || (sib & 7) != 5;
        o->base = has_base ? registers[(sib & 7) | (rex & 1) << 3] : -1;
        o->index = index == 4 ? -1 : registers[index];
        o->scale = 1 << (sib >> 6);
    } else {
        o->base = registers[rm | (rex & 1) << 3];
    }
    int32_t wide;
    memcpy(&wide, code, sizeof wide);
    o->displacement = mode == 1 ? (int8_t)*code : mode == 2 || !has_base ? wide : 0;
    o->is_exact = !evex || mode != 1; /* EVEX counts a short displacement in other units */
    return 1;
}

static int is_canonical(uintptr_t p)
{
    return (int64_t)(p << 16) >> 16 == (int64_t)p;
}

/* Gives the register another value until the instruction is done. */
static void lend(greg_t *g, int reg, uintptr_t value)
{
    step.lent[step.n].reg = reg;
    step.lent[step.n].own = g[reg];
    step.lent[step.n++].lent = g[reg] = (greg_t)value;
    step.at = (uintptr_t)g[REG_RIP];
    g[REG_EFL] |= TRAP_FLAG;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (!step.n) {
        signal(number, SIG_DFL); /* not ours: let it happen again */
        raise(number);
        return;
    }
    for (int i = 0; i < step.n; i++) {
        const int reg = step.lent[i].reg;
        if (step.is_string) /* which has moved on by one element */
            g[reg] += step.lent[i].own - step.lent[i].lent;
        else if (g[reg] == step.lent[i].lent) /* else the instruction has loaded it */
            g[reg] = step.lent[i].own;
    }
    step.n = 0;
    g[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static int begin(void)
{
    static int caught;
    const struct sigaction action = {.sa_sigaction = on_trap,
                                     .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (!caught && sigaction(SIGTRAP, &action, NULL) == 0)
        caught = 1;
    return caught;
}

/* Where the address p shall fall in the poison. An address is taken for a signed number, as the
 * distance between two of them is one. */
static uintptr_t poisoned(uintptr_t p)
{
    const int64_t from = (int64_t)(uintptr_t)poison.bytes + WIDEST;
    return (uintptr_t)(from + (((int64_t)p - from) % STRIDE + STRIDE) % STRIDE);
}

/* A string instruction is at one element, of the place that has raised the signal. Stores to the
 * poison are left out, up to the end of the page: there may be many. */
static int redirect_string(greg_t *g, uintptr_t p, uintptr_t to)
{
    const unsigned char *code = (const unsigned char *)g[REG_RIP];
    int repeats = 0, bytes = 4;
    for (; *code == 0xf2 || *code == 0xf3 || *code == 0x66 || (*code & 0xf0) == 0x40; code++) {
        repeats |= (*code & 0xfe) == 0xf2;
        bytes = *code == 0x66 ? 2 : (*code & 0xf8) == 0x48 ? 8 : bytes;
    }
    bytes = *code & 1 ? bytes : 1;
    const int moves = (*code & 0xfe) == 0xa4, sets = (*code & 0xfe) == 0xaa;
    int reg = (*code & 0xfe) == 0xac ? REG_RSI : REG_RDI;
    if (moves || (*code & 0xfe) == 0xa6) {
        const int source = p ? p - (uintptr_t)g[REG_RSI] < 8 : !is_canonical((uintptr_t)g[REG_RSI]);
        const int target = p ? p - (uintptr_t)g[REG_RDI] < 8 : !is_canonical((uintptr_t)g[REG_RDI]);
        reg = source && (!target || !(g[REG_ERR] & WRITES)) ? REG_RSI : REG_RDI;
    }
    if (step.n && (step.n == 2 || step.lent[0].reg == reg))
        return 0;
    if (!to && !step.n && repeats && (moves || sets) && reg == REG_RDI) {
        const uint64_t page =
            (0x1000 - ((uint64_t)g[REG_RDI] & 0xfff) + (uint64_t)bytes - 1) / (uint64_t)bytes;
        const greg_t n = (uint64_t)g[REG_RCX] < page ? g[REG_RCX] : (greg_t)page;
        g[REG_RCX] -= n;
        g[REG_RDI] += n * bytes;
        g[REG_RSI] += moves ? n * bytes : 0;
        return 1;
    }
    step.is_string = 1;
    lend(g, reg, to ? (uintptr_t)g[reg] + (to - p) : poisoned((uintptr_t)g[reg]));
    return 1;
}

uintptr_t redirect_address(const void *context)
{
    const greg_t *g = ((const ucontext_t *)context)->uc_mcontext.gregs;
    struct operand o;
    if (!decode((const void *)g[REG_RIP], &o) || !o.is_exact || o.is_string)
        return 0;
    uintptr_t p = (uintptr_t)o.displacement;
    if (o.base >= 0)
        p += (uintptr_t)g[o.base];
    if (o.index >= 0)
        p += (uintptr_t)g[o.index] * (uintptr_t)o.scale;
    return is_canonical(p) ? 0 : p;
}

int redirect(void *context, uintptr_t p, uintptr_t to)
{
    greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct operand o;
    const int again = step.n && step.at == (uintptr_t)g[REG_RIP] && step.is_string;
    if (!again)
        step.n = step.is_string = 0;
    if (g[REG_EFL] & TRAP_FLAG && !again)
        return 0; /* the address that it was lent is no better */
    if (!begin() || !decode((const void *)g[REG_RIP], &o))
        return 0;
    if (!to)
        memset(poison.bytes, 0xff, sizeof poison.bytes);
    if (o.is_string)
        return redirect_string(g, p, to);
    const int reg = o.base >= 0 && o.base != REG_RSP ? o.base : o.index;
    const int64_t each = reg != o.index ? 1 : reg == o.base ? 1 + o.scale : o.scale;
    const int64_t shift = (int64_t)((to ? to : poisoned(p)) - p);
    if (reg < 0 || shift % each != 0)
        return 0;
    lend(g, reg, (uintptr_t)(g[reg] + shift / each));
    return 1;
}

void redirect_forget(void)
{
    step.n = 0;
}
#else
uintptr_t redirect_address(const void *context)
{
    return 0;
}

int redirect(void *context, uintptr_t p, uintptr_t to)
{
    return 0;
}

void redirect_forget(void)
{
}
#endif

uintptr_t redirect_code(const void *context)
{
#if defined __linux__ && defined __x86_64__
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined __linux__ && defined __aarch64__
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    return UINTPTR_MAX;
#endif
}

uintptr_t redirect_caller(const void *context)
{
#if defined __linux__ && defined __x86_64__
    return *(const uintptr_t *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP] - 1;
#elif defined __linux__ && defined __aarch64__
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.regs[30] - 1;
#else
    return UINTPTR_MAX;
#endif
}

uintptr_t redirect_stack(const void *context)
{
#if defined __linux__ && defined __x86_64__
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#elif defined __linux__ && defined __aarch64__
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.sp;
#else
    return 0;
#endif
}
