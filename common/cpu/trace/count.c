/* count: what a kernel did, as the requests of its warps.
 *
 * Lanes run one after the other here, so each notes its loads and stores, and the notes of a warp
 * are merged as a GPU would have executed them: again and again the least note is taken, together
 * with its equals in other lanes. That is one request. Least is what lies deepest in calls, then
 * what comes first in the code; each way back to the head of a loop leaves a note too, at the
 * loop's end, where a lane waits for those still inside. (Collange, "Stack-less SIMT
 * reconvergence at low cost", 2011, calls it the minimum of stack pointer and program counter.)
 * What comes out depends on what lanes did, not on which ran first. */
#include "callbacks.h"

#include "count.h"
#include <stdlib.h>

enum { NOTES = 62, SITES = 1 << 10, SECTOR = 32, BANKS = 32 };
enum what { READS, WRITES, ATOMIC, LOOPS };
enum space { GLOBAL, SHARED, LOCAL, NEITHER };

struct note {
    uint64_t where; /* the address; above 48 bits log2 of the size, above 52 enum what */
    uint64_t order; /* how deep, 0 the deepest, and the place in the code below 32 bits */
};
/* Not a multiple of 4 KiB apart, or the same note of all lanes would share one set of the cache. */
struct lane {
    struct note note[NOTES];
    int first, n;
    char unused[88];
};
struct lanes {
    struct lane lane[WARP];
    unsigned full; /* lanes that wait for room */
    struct lanes *next;
};

struct sites {
    struct site *slot; /* hashed by code; a power of two */
    uint32_t size, n;
};
struct named {
    const char *name;
    uint64_t value;
};
struct tally {
    uint64_t value[CPU_COUNTERS];
    struct sites sites;
    struct named *named;
    int n_named;
};

struct trace {
    struct lanes *of_warp[MAX_WARPS], *spare;
    uint64_t last[MAX_THREADS]; /* order of a thread's last note or block of code */
    const char *top[MAX_THREADS];
    uint64_t seen[128];
    struct tally tally; /* of the launch */
    struct trace *next;
};

struct kernel {
    const char *name;
    struct tally tally;
};
static struct kernel *kernels;
static struct cpu_kernel_counts *listed;
static int n_kernels;
static const char **names;
static int n_names;
static struct trace *traces;              /* of all workers */
static const void *device_memory[256][2]; /* the __device__ variables, from and to */
static int n_device;
static int unprinted;

const char *const cpu_counter_names[CPU_COUNTERS] = {
#define CPU_NAME(id, name) name,
    CPU_COUNTER_LIST(CPU_NAME)};

static void *need(void *p)
{
    if (!p) {
        complain("count: no memory left");
        exit(1);
    }
    return p;
}

/* --- Sites ------------------------------------------------------------------------------------ */

static struct site *site_of(struct sites *s, uint32_t code, unsigned what, unsigned space)
{
    if (s->n * 2 >= s->size) {
        struct sites old = *s;
        *s = (struct sites){need(calloc(old.size ? 2 * old.size : SITES, sizeof *s->slot)),
                            old.size ? 2 * old.size : SITES, 0};
        for (uint32_t i = 0; i < old.size; i++)
            if (old.slot[i].used)
                *site_of(s, old.slot[i].code, old.slot[i].what, old.slot[i].space) = old.slot[i];
        free(old.slot);
    }
    uint32_t i = (code * 0x9e3779b1u ^ what << 3 ^ space) & (s->size - 1);
    while (s->slot[i].used &&
           (s->slot[i].code != code || s->slot[i].what != what || s->slot[i].space != space))
        i = (i + 1) & (s->size - 1);
    struct site *site = &s->slot[i];
    s->n += !site->used;
    site->code = code, site->what = (uint8_t)what, site->space = (uint8_t)space, site->used = 1;
    return site;
}

static enum space space_of(const struct worker *w, uintptr_t p)
{
    extern char end[];
    const struct cpu_kernel *k = w->launch->kernel;
    if (p - (uintptr_t)w->arena < SHARED_OPTIN)
        return SHARED;
    if (p - (uintptr_t)w->stacks < (uintptr_t)MAX_THREADS * FIBER_STACK)
        return LOCAL;
    if (p - (uintptr_t)k->arguments < k->size)
        return NEITHER; /* parameters, as __constant__ variables, have a cache of their own */
    if (p - (uintptr_t)__executable_start >= (uintptr_t)(end - __executable_start))
        return GLOBAL;
    for (int i = 0; i < n_device; i++)
        if (p >= (uintptr_t)device_memory[i][0] && p < (uintptr_t)device_memory[i][1])
            return GLOBAL;
    return NEITHER;
}

/* How many different 32-byte sectors n accesses touch. */
static int sectors(struct trace *t, const uintptr_t *p, int n, unsigned bytes)
{
    static __thread uint64_t turn;
    int count = 0;
    uint64_t last = ~0ull;
    turn++;
    for (int i = 0; i < n; i++)
        for (uint64_t s = p[i] / SECTOR; s <= (p[i] + bytes - 1) / SECTOR; s++) {
            if (s == last)
                continue;
            last = s;
            /* An entry is a sector of this turn or is free: 42 bits name one, 22 the turn. */
            uint64_t entry = s << 22 | (turn & 0x3fffff);
            unsigned at = (unsigned)(s * 0x9e3779b97f4a7c15u >> 57);
            while (t->seen[at] != entry && ((t->seen[at] ^ turn) & 0x3fffff) == 0)
                at = (at + 1) & 127;
            count += t->seen[at] != entry;
            t->seen[at] = entry;
        }
    if ((turn & 0x3fffff) == 0)
        memset(t->seen, 0, sizeof t->seen);
    return count;
}

/* Passes through the banks of the accesses i..n-1 whose lanes lie below `end`; *at goes past them.
 * In one pass each of 32 banks gives one word of 4 bytes, to any number of lanes. */
static int passes(const uintptr_t *p, const unsigned char *lane, int n, unsigned words,
                  unsigned end, int *at)
{
    uintptr_t word[4 * WARP];
    unsigned char next[4 * WARP], head[BANKS], depth[BANKS] = {0};
    int deepest = 0, used = 0;
    memset(head, 0xff, sizeof head);
    for (; *at < n && lane[*at] < end; ++*at)
        for (unsigned j = 0; j < words; j++) {
            uintptr_t v = p[*at] / 4 + j;
            unsigned bank = v % BANKS, k = head[bank];
            while (k != 0xff && word[k] != v)
                k = next[k];
            if (k != 0xff)
                continue;
            word[used] = v, next[used] = head[bank], head[bank] = (unsigned char)used++;
            if (++depth[bank] > deepest)
                deepest = depth[bank];
        }
    return deepest;
}

/* Do lanes i and i^step, where both take part, all read the same address? */
static int in_pairs(const uintptr_t *p, const unsigned char *lane, int n, unsigned step)
{
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n && lane[k] <= (lane[i] | step); k++)
            if (lane[k] == (lane[i] ^ step) && p[k] != p[i])
                return 0;
    return 1;
}

/* Lanes of 8 bytes go half a warp at a time, of 16 a quarter; two of these parts go together when a
 * load finds lanes in pairs at equal addresses. No manual says so: an H200's own counters do, for
 * every pattern in tests/banks.cu. *parts is how many passes it takes without conflicts. */
static int wavefronts(const uintptr_t *p, const unsigned char *lane, int n, unsigned bytes,
                      int loads, int *parts)
{
    unsigned words = bytes <= 4 ? 1 : bytes / 4, size = WARP / words, end;
    int total = 0;
    *parts = 0;
    for (int i = 0; i < n; ++*parts) {
        unsigned both = lane[i] / (2 * size) * (2 * size) + 2 * size;
        int last = i;
        while (last < n && lane[last] < both)
            last++;
        if (words > 1 && loads &&
            (in_pairs(p + i, lane + i, last - i, 1) || in_pairs(p + i, lane + i, last - i, 2)))
            end = both;
        else
            end = lane[i] / size * size + size;
        total += passes(p, lane, n, words, end, &i);
    }
    return total;
}

static void request(struct worker *w, uint32_t code, unsigned what, enum space space,
                    unsigned bytes, const uintptr_t *p, const unsigned char *lane, int n)
{
    struct trace *t = w->trace;
    struct site *s = site_of(&t->tally.sites, code, what, space);
    s->requests++;
    s->bytes += (uint64_t)n * bytes;
    if (space == GLOBAL) {
        s->sectors += (uint64_t)sectors(t, p, n, bytes);
    } else if (space == SHARED && what != ATOMIC) {
        int parts, all = wavefronts(p, lane, n, bytes, what == READS, &parts);
        s->wavefronts += (uint64_t)all;
        s->conflicts += (uint64_t)(all - parts);
    }
}

/* --- Merging ---------------------------------------------------------------------------------- */

/* The first notes of these lanes, which are at one place in the code. A pointer may lead to shared
 * memory in some lanes and to global in others: that is a request for each. */
static void take(struct worker *w, struct lanes *l, unsigned mask, uint32_t code)
{
    while (mask) {
        uintptr_t p[WARP];
        unsigned char lane[WARP];
        int n = 0;
        uint64_t first = 0;
        enum space space = NEITHER;
        for (unsigned m = mask; m; m &= m - 1) {
            int i = __builtin_ctz(m);
            uint64_t where = l->lane[i].note[l->lane[i].first].where;
            uintptr_t address = where & 0xffffffffffff;
            enum space mine = where >> 52 == LOOPS ? NEITHER : space_of(w, address);
            if (n == 0)
                first = where, space = mine;
            else if (where >> 48 != first >> 48 || mine != space)
                continue;
            p[n] = address, lane[n++] = (unsigned char)i;
            mask &= ~(1u << i);
        }
        if (space != NEITHER)
            request(w, code, first >> 52, space, 1u << (first >> 48 & 15), p, lane, n);
    }
}

/* Merges until nothing is left, or a lane that was full can go on. */
static void merge(struct worker *w, struct lanes *l)
{
    unsigned have = 0, emptied = 0;
    for (int i = 0; i < WARP; i++)
        if (l->lane[i].n)
            have |= 1u << i;
    while (have && !(emptied & l->full)) {
        uint64_t least = UINT64_MAX;
        unsigned mask = 0;
        for (unsigned m = have; m; m &= m - 1) {
            const struct lane *a = &l->lane[__builtin_ctz(m)];
            uint64_t order = a->note[a->first].order;
            if (order < least)
                least = order, mask = 0;
            if (order == least)
                mask |= m & -m;
        }
        take(w, l, mask, (uint32_t)least);
        for (unsigned m = mask; m; m &= m - 1) {
            struct lane *a = &l->lane[__builtin_ctz(m)];
            if (++a->first == a->n) {
                a->first = a->n = 0;
                emptied |= m & -m;
            }
        }
        have &= ~emptied;
    }
}

static void give_back(struct trace *t, int warp)
{
    t->of_warp[warp]->next = t->spare;
    t->spare = t->of_warp[warp];
    t->of_warp[warp] = NULL;
}

int trace_release(struct worker *w, int warp)
{
    struct lanes *l = w->trace->of_warp[warp];
    if (!l)
        return 0;
    merge(w, l);
    unsigned freed = 0;
    for (unsigned m = l->full; m; m &= m - 1)
        if (!l->lane[__builtin_ctz(m)].n)
            freed |= m & -m;
    l->full &= ~freed;
    if (freed)
        block_make_ready(w, warp, freed);
    else
        give_back(w->trace, warp);
    return freed != 0;
}

static struct lanes *lanes_of(struct worker *w, int warp)
{
    struct trace *t = w->trace;
    struct lanes *l = t->spare;
    if (l)
        t->spare = l->next;
    else
        l = need(aligned_alloc(64, sizeof *l));
    for (int i = 0; i < WARP; i++)
        l->lane[i].first = l->lane[i].n = 0;
    l->full = 0;
    return t->of_warp[warp] = l;
}

static inline uint64_t order_of(struct worker *w, const void *from, const void *frame)
{
    const char **top = &w->trace->top[w->now];
    if (!*top)
        *top = fiber_top(w->stacks, w->threads[w->now].fiber);
    return (uint64_t)(FIBER_STACK - (uint32_t)(*top - (const char *)frame)) << 32 | code_of(from);
}

static void wait_for_room(struct worker *w, struct lanes *l)
{
    l->full |= 1u << w->now % WARP;
    block_stop(w);
    block_wait(w);
}

static inline void note(struct worker *w, uint64_t where, uint64_t order)
{
    struct lanes *l = w->trace->of_warp[w->now / WARP];
    if (!l)
        l = lanes_of(w, w->now / WARP);
    struct lane *a = &l->lane[w->now % WARP];
    a->note[a->n++] = (struct note){where, order};
    if (a->n == NOTES)
        wait_for_room(w, l);
}

static inline void seen(struct worker *w, uintptr_t p, unsigned bytes, int writes, const void *from,
                        const void *frame)
{
    if (is_builtin_variable(p))
        return;
    uint64_t order = order_of(w, from, frame);
    w->trace->last[w->now] = order;
    note(w, p | (uint64_t)__builtin_ctz(bytes) << 48 | (uint64_t)writes << 52, order);
}

/* At the head of each block of code (-fsanitize-coverage=trace-pc). */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    struct worker *w = cpu_worker;
    if (!w || !w->running)
        return;
    uint64_t order = order_of(w, __builtin_return_address(0), __builtin_frame_address(0));
    uint64_t last = w->trace->last[w->now];
    w->trace->last[w->now] = order;
    if ((uint32_t)order <= (uint32_t)last)
        note(w, (uint64_t)LOOPS << 52, last);
}

/* --- What the runtime tells ------------------------------------------------------------------- */

void trace_block(struct worker *w, uint64_t place)
{
    (void)place;
    struct trace *t = w->trace;
    if (!t) {
        static atomic_flag busy = ATOMIC_FLAG_INIT;
        t = w->trace = need(calloc(1, sizeof *t));
        while (atomic_flag_test_and_set(&busy))
            ;
        t->next = traces;
        traces = t;
        atomic_flag_clear(&busy);
    }
    for (int i = 0; i < MAX_WARPS; i++)
        if (t->of_warp[i])
            give_back(t, i); /* of a block that failed */
    memset(t->last, 0, sizeof t->last);
    memset(t->top, 0, sizeof t->top);
    t->tally.value[CPU_BLOCKS]++;
    t->tally.value[CPU_THREADS] += (uint64_t)w->size;
}

void trace_warp(struct worker *w, int warp, enum cpu_op op, unsigned mask)
{
    if (op >= CPU_SHFL)
        w->trace->tally.value[CPU_SHUFFLES]++;
    else if (op >= CPU_BALLOT)
        w->trace->tally.value[CPU_VOTES]++;
    if (!(w->warps[warp].live & ~mask))
        trace_release(w, warp);
}

void trace_barrier(struct worker *w, int barrier)
{
    w->trace->tally.value[CPU_BARRIERS]++;
    for (int i = 0; i < MAX_WARPS && barrier == 0; i++)
        trace_release(w, i);
}

static void add_named(struct tally *to, const char *name, uint64_t value)
{
    for (int i = 0; i < to->n_named; i++)
        if (to->named[i].name == name || strcmp(to->named[i].name, name) == 0) {
            to->named[i].value += value;
            return;
        }
    to->named = need(realloc(to->named, (size_t)(to->n_named + 1) * sizeof *to->named));
    to->named[to->n_named++] = (struct named){name, value};
}

static void add_name(const char *name)
{
    int at = 0;
    while (at < n_names && strcmp(names[at], name) < 0)
        at++;
    if (at < n_names && strcmp(names[at], name) == 0)
        return;
    names = need(realloc(names, (size_t)(n_names + 1) * sizeof *names));
    memmove(names + at + 1, names + at, (size_t)(n_names++ - at) * sizeof *names);
    names[at] = name;
}

/* What one site's loads or stores add to which counters. */
void count_add_site(uint64_t *value, const struct site *s)
{
    if (s->what == ATOMIC) {
        value[CPU_ATOMICS] += s->requests;
        return;
    }
    static const enum cpu_counter first[3][2] = {
        [GLOBAL] = {CPU_GLOBAL_LD_REQUESTS, CPU_GLOBAL_ST_REQUESTS},
        [SHARED] = {CPU_SHARED_LD_REQUESTS, CPU_SHARED_ST_REQUESTS},
        [LOCAL] = {CPU_LOCAL_LD_REQUESTS, CPU_LOCAL_ST_REQUESTS}};
    uint64_t *v = value + first[s->space][s->what];
    v[0] += s->requests;
    if (s->space == GLOBAL) {
        v[1] += s->sectors;
        v[2] += s->bytes;
    } else if (s->space == SHARED) {
        v[1] += s->wavefronts;
        v[2] += s->conflicts;
    }
}

static void add_tally(struct tally *to, struct tally *from)
{
    for (int i = 0; i < CPU_COUNTERS; i++)
        to->value[i] += from->value[i];
    for (int i = 0; i < from->n_named; i++)
        add_named(to, from->named[i].name, from->named[i].value);
    for (uint32_t i = 0; i < from->sites.size; i++) {
        const struct site *s = &from->sites.slot[i];
        if (!s->used)
            continue;
        count_add_site(to->value, s);
        struct site *sum = site_of(&to->sites, s->code, s->what, s->space);
        sum->requests += s->requests, sum->sectors += s->sectors, sum->bytes += s->bytes;
        sum->wavefronts += s->wavefronts, sum->conflicts += s->conflicts;
    }
    free(from->named);
    free(from->sites.slot);
    memset(from, 0, sizeof *from);
}

void trace_launch_end(struct launch *l)
{
    int i = 0;
    while (i < n_kernels && strcmp(kernels[i].name, l->kernel->name) != 0)
        i++;
    if (i == n_kernels) {
        kernels = need(realloc(kernels, (size_t)(n_kernels + 1) * sizeof *kernels));
        kernels[n_kernels++] = (struct kernel){.name = l->kernel->name};
    }
    unprinted = 1;
    kernels[i].tally.value[CPU_LAUNCHES]++;
    for (struct trace *t = traces; t; t = t->next) {
        for (int k = 0; k < t->tally.n_named; k++)
            add_name(t->tally.named[k].name);
        add_tally(&kernels[i].tally, &t->tally);
    }
}

/* What kernels report themselves. */

void cpu_trace_atomic(const volatile void *p, size_t bytes)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        seen(w, (uintptr_t)p, (unsigned)bytes, ATOMIC, __builtin_return_address(0),
             __builtin_frame_address(0));
}

void cpu_trace_special(int counter)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        w->trace->tally.value[counter]++;
}

void cpu_trace_named(const char *name, uint64_t amount)
{
    struct worker *w = cpu_worker;
    if (w && w->running)
        add_named(&w->trace->tally, name, amount);
}

void cpu_trace_variable(void *p, size_t bytes, const char *name, int constant)
{
    (void)name;
    if (constant)
        return;
    if (n_device == sizeof device_memory / sizeof *device_memory) {
        complain("count: more than %d __device__ variables", n_device);
        exit(1);
    }
    device_memory[n_device][0] = p;
    device_memory[n_device++][1] = (char *)p + bytes;
}

void cpu_trace_fence(void)
{
}

/* --- For the host ----------------------------------------------------------------------------- */

int cpu_trace_mode(void)
{
    return CPU_TRACE_COUNT;
}

int cpu_counts(const struct cpu_kernel_counts **list)
{
    listed = need(realloc(listed, (size_t)(n_kernels + 1) * sizeof *listed));
    for (int i = 0; i < n_kernels; i++) {
        listed[i].kernel = kernels[i].name;
        memcpy(listed[i].value, kernels[i].tally.value, sizeof listed[i].value);
    }
    *list = listed;
    return n_kernels;
}

int cpu_named_counters(const char *const **list)
{
    *list = names;
    return n_names;
}

uint64_t cpu_named_count(int kernel, const char *name)
{
    const struct tally *t = &kernels[kernel].tally;
    for (int i = 0; i < t->n_named; i++)
        if (strcmp(t->named[i].name, name) == 0)
            return t->named[i].value;
    return 0;
}

void cpu_counts_reset(void)
{
    for (int i = 0; i < n_kernels; i++) {
        free(kernels[i].tally.sites.slot);
        free(kernels[i].tally.named);
    }
    free(kernels);
    kernels = NULL;
    n_kernels = unprinted = 0;
}

void count_printed(void)
{
    unprinted = 0;
}

const struct site **count_sites(int *n)
{
    const struct site **list = NULL;
    *n = 0;
    for (int k = 0; k < n_kernels; k++) {
        const struct sites *s = &kernels[k].tally.sites;
        list = need(realloc(list, ((size_t)*n + s->n + 1) * sizeof *list));
        for (uint32_t i = 0; i < s->size; i++)
            if (s->slot[i].used)
                list[(*n)++] = &s->slot[i];
    }
    return list;
}

static void __attribute__((destructor)) at_end(void)
{
    if (!unprinted)
        return;
    printf("\n");
    cpu_counts_print(stdout);
    const char *by_line = getenv("CUDACPU_BY_LINE");
    if (by_line && *by_line && strcmp(by_line, "0") != 0)
        cpu_counts_print_lines(stdout);
    fflush(stdout);
}
