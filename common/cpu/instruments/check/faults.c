/* Findings that are no access: an index beyond its array, faults, warnings; and the hooks at the
 * begin and the end of a program: at_end reports leaks and then all findings. */

#include "instruments/check/state/check.h"
#include "base/plural.h"
#include "cpu/trace.h"
#include <execinfo.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined __linux__ && defined __x86_64__
#include <ucontext.h>
#endif

/* --- Arrays of known size --------------------------------------------------------------------- */

/* The argument that g++ -fsanitize=bounds passes. A type has: whether it is signed, its bits as
 * a power of two, and its name in quotes. */
struct bounds {
    const char *file;
    uint32_t line, column;
    const struct type {
        uint16_t kind, is_signed : 1, log2_bits : 15;
        char name[];
    } * array, *index;
};

/* An array of a thread is in no memory that is looked at, and a row that is left is in the array
 * all the same: so each index is compared with its dimension. */
__attribute__((visibility("default"))) void __ubsan_handle_out_of_bounds(const struct bounds *b,
                                                                         uintptr_t index)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    const int unused = 64 - (1 << b->index->log2_bits), length = (int)strlen(b->array->name) - 2;
    char number[24], text[160];
    if (b->index->is_signed)
        snprintf(number, sizeof number, "%" PRId64, (int64_t)((uint64_t)index << unused) >> unused);
    else
        snprintf(number, sizeof number, "%" PRIu64, (uint64_t)index);
    snprintf(text, sizeof text, "at %%1: index %s of %.*s", number, length, b->array->name + 1);
    registers_report(BOUNDS, (int)w->now, code_of(__builtin_return_address(0)), text);
}

/* Called at the head of each basic block (-fsanitize-coverage=trace-pc). */
__attribute__((visibility("default"))) void __sanitizer_cov_trace_pc(void)
{
    watchdog_block(__builtin_return_address(0));
}

/* Hooks of count alone: what is computed. */

void cpu_trace_special(int counter)
{
}

void cpu_trace_named(const char *name, uint64_t amount)
{
}

/* The numbers of codes[] that the threads wait at, of[thread], or -1. Returns how many there
 * are. */
static int find_waits(const struct worker *w, uint32_t *codes, int most, int *of)
{
    int n = 0;
    for (int i = 0; i < w->size; i++) {
        int k = 0;
        while (k < n && codes[k] != statement[i])
            k++;
        of[i] = statement[i] && k < most ? k : -1;
        if (of[i] == n)
            codes[n++] = statement[i];
    }
    return n;
}

static int is_place(const struct thread *t, const struct place *place)
{
    const char *a = strrchr(t->file, '/'), *b = strrchr(place->file, '/');
    return t->line == place->line && strcmp(a ? a + 1 : t->file, b ? b + 1 : place->file) == 0;
}

/* "PLACE (called at PLACE)" */
static int put_place(char *text, size_t size, const struct place *place)
{
    int n = snprintf(text, size, " at %s:%d", place->file, place->line);
    if (place->caller && (size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, " (called at %s:%d)", place->caller,
                      place->caller_line);
    return n;
}

static int is_shared(const struct worker *w, const struct look *look)
{
    return look->p - (uintptr_t)w->arena < ARENA;
}

/* The last write of the place that the thread looks at. */
static shadow_entry last_write(const struct worker *w, const struct look *look)
{
    const uint64_t offset = look->p - region;
    const uint64_t at = is_shared(w, look)     ? ARENA_AT + (look->p - (uintptr_t)w->arena)
                        : offset < region_used ? offset
                                               : IMAGE_AT + look->p - (uintptr_t)__executable_start;
    return shadow[at / 4].write;
}

/* A sleeping thread has loaded this last: value, place, array, and who has written it last. */
static void put_look(const struct worker *w, char *text, size_t size, const struct look *look,
                     const struct place places[3])
{
    const uint3 shape = order.kernel->block, grid = order.kernel->grid;
    const int shared = is_shared(w, look);
    const struct object *o = shared ? shared_at(look->p) : object_of(look->p);
    const shadow_entry last = last_write(w, look);
    const int unused = 64 - 8 * (int)look->bytes;
    size_t n = 0;
    uint64_t bits = 0;
#define PUT(...) (n += n < size ? (size_t)snprintf(text + n, size - n, __VA_ARGS__) : 0)
    PUT(", after loading");
    if (unused >= 0) {
        memcpy(&bits, (const void *)look->p, look->bytes);
        PUT(" %" PRId64, (int64_t)(bits << unused) >> unused);
    }
    n += n < size ? (size_t)put_place(text + n, size - n, &places[0]) : 0;
    PUT(": %u bytes", look->bytes);
    if (o && o->name)
        PUT(" at offset %zu of %s (%zu bytes)", (size_t)(look->p - o->p), o->name, o->bytes);
    else if (o)
        PUT(" at offset %zu of the allocation of %s:%d (%zu bytes)", (size_t)(look->p - o->p),
            places[2].file, places[2].line, o->bytes);
    if (when_of(last) < (shared ? order.block_start : order.launch_start)) {
        PUT(", which nothing in this %s has written", shared ? "block" : "launch");
        if (!shared && o && !o->device)
            PUT("; the host reaches this memory, and a store of the host after the launch may end "
                "the wait on a GPU: no fault then, but the CPU backend cannot run it, as a launch "
                "returns here when its kernel has ended");
        return;
    }
    const unsigned t = (unsigned)thread_of(last);
    const uint64_t b = order_block_of(last);
    PUT(", last written");
    n += n < size ? (size_t)put_place(text + n, size - n, &places[1]) : 0;
    PUT(" by thread (%u,%u,%u) of block (%u,%u,%u)", t % shape.x, t / shape.x % shape.y,
        t / shape.x / shape.y, (unsigned)(b % grid.x), (unsigned)(b / grid.x % grid.y),
        (unsigned)(b / grid.x / grid.y));
#undef PUT
}

/* Of the threads that sleep. Their last load is what they wait for, or near it. */
static void find_looks(struct worker *w)
{
    enum { LOOKS = 8 };
    static __thread char texts[LOOKS][700];
    const struct look *found[LOOKS];
    uint32_t codes[3 * LOOKS];
    struct place places[3 * LOOKS];
    int n = 0, of[MAX_THREADS];
    for (int i = 0; i < w->size; i++) {
        const struct look *look = &looks[i];
        int k = 0;
        w->threads[i].looked = NULL;
        of[i] = -1;
        if (!(w->warps[i / WARP].live >> i % WARP & 1) ||
            (w->threads[i].op != CPU_NANOSLEEP && w->threads[i].op != CPU_SPIN) ||
            when_of(look->mine) < order.block_start)
            continue;
        while (k < n && (found[k]->p != look->p || found[k]->bytes != look->bytes))
            k++;
        if (k == LOOKS)
            continue;
        of[i] = k;
        if (k < n)
            continue;
        found[n] = look;
        codes[3 * n] = code_in(look->mine);
        codes[3 * n + 1] = code_in(last_write(w, look));
        const struct object *o = is_shared(w, look) ? NULL : object_of(look->p);
        codes[3 * n++ + 2] = o ? o->site : 0;
    }
    if (!n)
        return;
    symbols_find(codes, 3 * n, places);
    for (int k = 0; k < n; k++)
        put_look(w, texts[k], sizeof texts[k], found[k], &places[3 * k]);
    symbols_free(places, 3 * n);
    for (int i = 0; i < w->size; i++)
        if (of[i] >= 0)
            w->threads[i].looked = texts[of[i]];
}

void trace_callers(struct worker *w)
{
    enum { WAITS = 64 };
    static __thread char texts[WAITS][400]; /* with a comma in front */
    struct place places[WAITS];
    uint32_t codes[WAITS];
    int of[MAX_THREADS], n = find_waits(w, codes, WAITS, of);
    find_looks(w);
    if (n)
        symbols_find(codes, n, places);
    for (int k = 0; k < n; k++) {
        memcpy(texts[k], ", ", 3);
        symbols_calls(texts[k] + 2, sizeof texts[k] - 2, &places[k]);
    }
    for (int i = 0; i < w->size; i++) {
        int k = of[i];
        w->threads[i].caller = NULL;
        if (k < 0 || !places[k].caller || !is_place(&w->threads[i], &places[k]))
            continue;
        /* A loop that was unrolled has the same call several times. */
        for (int j = 0; j < k; j++)
            if (strcmp(texts[j], texts[k]) == 0)
                k = j;
        w->threads[i].caller = texts[k];
    }
    symbols_free(places, n);
}

/* The rule that a fault of this kind breaks, or NO_RULE: the access that raised a signal has been
 * reported before it was made. */
static enum rule rule_of(const struct worker *w, enum fault kind)
{
    switch (kind) {
    case FAULT_DIVERGENCE:
        return DIVERGENCE;
    case FAULT_DEADLOCK:
    case FAULT_MBARRIER:
        return MBARRIER;
    case FAULT_DESCRIPTOR:
        return DESCRIPTOR;
    case FAULT_REGISTERS:
        return SETMAXNREG;
    case FAULT_ALIGNMENT:
        return MISALIGNED;
    case FAULT_ADDRESS:
        return BOUNDS;
    case FAULT_SIGNAL:
        return stops_expected() ? NO_RULE : STOPPED;
    case FAULT_TRAP:
    case FAULT_OPERAND:
    case FAULT_LAUNCH:
    case FAULT_UNSUPPORTED:
        break;
    case FAULT_WAIT: /* of an mbarrier, if one thread waits for that */
        for (int i = 0; i < w->size; i++)
            if (w->warps[i / WARP].live >> i % WARP & 1 && w->threads[i].op == CPU_MBARRIER)
                return MBARRIER;
        return VAIN;
    }
    return STOPPED;
}

/* The line at which a signal has come. The runtime and the C library are built without lines: there
 * it is that of a call, which is the first address on the stack that has one. 0: none is known. */
static uint32_t signalled_at(const struct worker *w)
{
    enum { MOST = 64, WORDS = 512 };
    uint32_t codes[MOST], found = 0;
    struct place places[MOST];
    int n = 0;
    const uintptr_t program = (uintptr_t)__executable_start;
    if (w->signalled - program < program_size())
        codes[n++] = code_of((const char *)w->signalled + 1);
    const uintptr_t offset = w->signalled_stack - (uintptr_t)w->stacks;
    if (offset < (uintptr_t)MAX_THREADS * FIBER_STACK) {
        const uintptr_t low =
            offset % FIBER_STACK < FIBER_GUARD ? FIBER_GUARD : offset % FIBER_STACK;
        const char *stack = w->stacks + offset / FIBER_STACK * FIBER_STACK;
        const uintptr_t *p = (const uintptr_t *)(stack + (low + 7) / 8 * 8);
        for (int i = 0; i < WORDS && (const char *)(p + i) < stack + FIBER_STACK && n < MOST; i++)
            if (p[i] - program < program_size())
                codes[n++] = code_of((const void *)p[i]);
    }
    if (n)
        symbols_find(codes, n, places);
    for (int i = n - 1; i >= 0; i--)
        found = places[i].line ? codes[i] : found;
    symbols_free(places, n);
    return found;
}

static int before_apart; /* how many findings there were when warps first met in two places */

void trace_fault(struct worker *w, enum fault kind, const char *text)
{
    struct side side = {READ, 0, (int)w->now, order.block};
    const enum rule rule = rule_of(w, kind);
    races_end();
    if (w->apart && rule == DIVERGENCE)
        findings_cut(before_apart); /* they come of barriers that were taken for others */
    memory_broken();
    locals_broken();
    pending_broken();
    proxy_broken();
    registers_broken();
    const struct thread *now = &w->threads[w->now];
    const int runs = w->warps[w->now / WARP].ready >> w->now % WARP & 1;
    if (now->op == CPU_NAMED_BARRIER && runs && rule == DIVERGENCE) {
        named_differs(now->mask, text);
        return;
    }
    char placed[2200];
    const char *what = kind == FAULT_SIGNAL && rule != NO_RULE ? strstr(text, "): ") : NULL;
    if (what && (side.code = signalled_at(w))) {
        snprintf(placed, sizeof placed, "at %%1: %s", what + 3);
        text = placed;
    }
    /* One thread has made the mistake, or all wait. */
    const int all = kind == FAULT_DEADLOCK || kind == FAULT_WAIT || kind == FAULT_DIVERGENCE;
    if (!all && kind != FAULT_SIGNAL && kind != FAULT_TRAP &&
        (now->op == CPU_PTX || now->op == CPU_MBARRIER))
        side.code = statement[w->now];
    for (int i = w->size - 1; i >= 0 && all; i--)
        if (w->warps[i / WARP].live >> i % WARP & 1 &&
            (w->threads[i].op == CPU_PTX || w->threads[i].op == CPU_MBARRIER) &&
            !w->threads[i].caller)
            side.code = statement[i]; /* where its function is called is worth telling */
    if (kind == FAULT_MBARRIER || kind == FAULT_DESCRIPTOR)
        side.code = statement[w->now]; /* not a wait, but what this thread does */
    if (rule != NO_RULE)
        finding_add(rule, order.kernel, &side, 1, 0, NULL, 0, text);
}

/* An x86-64 stops at a move of 16 bytes that says its address is a multiple of 16, if it is not.
 * The finding is noted by then. Turned into the move that takes any address, which is as long, the
 * kernel goes on, as it does after other findings and as it would on other CPUs. False: the
 * instruction is not one of those. */
int trace_allow_misaligned(void *context)
{
#if defined __linux__ && defined __x86_64__
    unsigned char *code = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    uintptr_t page = (uintptr_t)code & -(uintptr_t)4096;
    unsigned char *prefix = NULL, *op; /* prefix: of which the last bits say 66 or F3 */
    int whole = 0;
    if (code[0] == 0xc5 || code[0] == 0xc4) { /* VEX, as with --check all moves are */
        op = code + (code[0] == 0xc5 ? 2 : 3);
        prefix = op - 1;
        whole = (*prefix & 3) == 1;
    } else {
        whole = code[0] == 0x66;
        op = code + whole;
        op += (op[0] & 0xf0) == 0x40; /* registers from the eighth on */
        if (*op++ != 0x0f)
            return 0;
    }
    const int integers = whole && (*op == 0x6f || *op == 0x7f);
    if ((!integers && *op != 0x28 && *op != 0x29) ||
        mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 0;
    if (!integers)
        *op -= 0x18; /* movaps becomes movups */
    else if (prefix)
        *prefix ^= 3; /* vmovdqa becomes vmovdqu */
    else
        code[0] = 0xf3; /* movdqa becomes movdqu */
    return 1;
#else
    return 0;
#endif
}

/* --- Warnings --------------------------------------------------------------------------------- */

void trace_fewer(struct worker *w)
{
    static struct {
        const char *file;
        int line;
    } reported[64];
    static int n;
    const struct thread *t = &w->threads[w->barriers[0].first];
    for (int i = 0; i < n; i++)
        if (reported[i].file == t->file && reported[i].line == t->line)
            return;
    if (n == sizeof reported / sizeof *reported)
        return;
    reported[n].file = t->file;
    reported[n++].line = t->line;
    char text[1000];
    snprintf(text, sizeof text,
             "%d of the block's %d threads come%s to the barrier at %s:%d, the others have ended: "
             "it waits for none of those, but CUDA's guide says so only since Volta",
             w->live, w->size, w->live == 1 ? "s" : "", t->file, t->line);
    const struct side side = {READ, 0, (int)w->now, order.block};
    finding_add(FEWER_THREADS, order.kernel, &side, 1, 0, NULL, 0, text);
}

void trace_apart(struct worker *w, int first)
{
    if (!w->apart)
        before_apart = findings_count();
    const struct thread *a = &w->threads[first], *b = a;
    for (int i = 0; i < w->size && b->line == a->line && strcmp(b->file, a->file) == 0; i++)
        if (w->barriers[0].waiting[i / WARP] >> i % WARP & 1)
            b = &w->threads[i];
    if (b->line < a->line) { /* which of them came first is chance */
        const struct thread *other = a;
        a = b;
        b = other;
    }
    char text[1000];
    snprintf(
        text, sizeof text,
        "warps of a block meet at %s:%d and at %s:%d: PTX has one barrier for both, but CUDA's "
        "guide wants one place for all threads",
        a->file, a->line, b->file, b->line);
    const struct side side = {READ, 0, (int)w->now, order.block};
    finding_add(TWO_BARRIERS, order.kernel, &side, 1, 0, NULL, 0, text);
}

/* A call of the API has failed, and many programs never ask. It is reported once for each place:
 * the innermost frame whose file and line are known, as the runtime is built without lines. */
static int refused; /* the call is a launch that has been reported */
static void note_failed_call(cudaError_t error, int work)
{
    enum { DEPTH = 12, CALLS = 64 };
    static struct {
        void *frames[DEPTH];
        cudaError_t error;
    } reported[CALLS];
    static int n;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (cpu_in_kernel() || refused) { /* a block keeps its errors to itself */
        refused = 0;
        return;
    }
    void *frames[DEPTH] = {NULL};
    uint32_t codes[DEPTH];
    struct place places[DEPTH];
    const int depth = backtrace(frames, DEPTH);
    pthread_mutex_lock(&lock);
    int known = n == CALLS, of = 0;
    for (int i = 0; i < n; i++)
        known |=
            reported[i].error == error && memcmp(reported[i].frames, frames, sizeof frames) == 0;
    if (!known) {
        memcpy(reported[n].frames, frames, sizeof frames);
        reported[n++].error = error;
        for (int i = 0; i < depth; i++)
            codes[i] = code_of(frames[i]);
        symbols_find(codes, depth, places);
        while (of < depth - 1 && !places[of].line)
            of++;
        symbols_free(places, depth);
        char text[200];
        snprintf(text, sizeof text, "returns %s: %s", cudaGetErrorName(error),
                 cudaGetErrorString(error));
        const struct side side = {.code = codes[of]};
        finding_add(work ? FAILED_WORK : FAILED_CALL, NULL, &side, 1, 0, NULL, 0, text);
    }
    pthread_mutex_unlock(&lock);
}

const char *trace_kernel_name(const struct cpu_kernel *kernel)
{
    return symbols_kernel(kernel->name, kernel->function);
}

/* Once for each place: programs launch in loops. */
void trace_launch_refused(const struct cpu_kernel *kernel, const char *text)
{
    enum { PLACES = 64 };
    static struct {
        const char *file;
        int line;
    } reported[PLACES];
    static int n;
    const struct side none = {.code = 0};
    refused = 1;
    for (int i = 0; i < n; i++)
        if (reported[i].file == kernel->file && reported[i].line == kernel->line)
            return;
    if (n == PLACES)
        return;
    reported[n].file = kernel->file;
    reported[n++].line = kernel->line;
    finding_add(FAILED_WORK, NULL, &none, 1, 0, NULL, 0, text);
}

static void __attribute__((constructor)) at_start(void)
{
    call_failed = note_failed_call;
}

void trace_reset(void)
{
    trace_grids_done(); /* which forgets the stream of the last launch */
    ranges_end();
    if (memory_leaks())
        handles_leak();
}

static void __attribute__((destructor)) at_end(void)
{
    trace_reset(); /* allocations that are still there are leaks */
    beside_end();
    findings_end();
}
