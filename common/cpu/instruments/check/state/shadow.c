/* check: memory. Allocations come from one region of addresses that are never used twice. So a
 * pointer to freed memory is recognised, and an address gives the position of its bits and of its
 * shadow cell. */
#include "instruments/check/state/check.h"
#include "base/plural.h"

#include "cpu/trace.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

uintptr_t region;
size_t region_used;
struct shadow_cell *shadow;
shadow_entry *cached_reads;
uint8_t *written, in_variable[ARENA / 8];
uint32_t *owner;
struct object *objects;
int n_objects = 1;
static struct object variables[256]; /* __shared__, of the launch */
static int n_variables, broken;
static int variables_end = 1; /* in objects: behind the last variable of the program */
static const void *wanted_site;

void *grown(void *array, int n, size_t size)
{
    if (n & (n - 1))
        return array;
    return need_memory(realloc(array, (n ? 2 * (size_t)n : 1) * size), "what check knows");
}

static void *reserve(uint64_t bytes, int protection)
{
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        give_up(1,
                "check: cannot reserve %llu GiB of addresses: raise ulimit -v, or allow overcommit",
                (unsigned long long)(bytes >> 30));
    return p;
}

static void set_up(void)
{
    uint64_t all = ARENA_AT + ARENA;
    if (shadow)
        return;
    if (sysconf(_SC_PAGESIZE) > PAGE)
        give_up(1, "check: this machine's pages have %ld bytes: need a kernel with pages of %d",
                sysconf(_SC_PAGESIZE), PAGE);
    region = (uintptr_t)reserve(REGION, PROT_NONE);
    shadow = reserve(all / 4 * sizeof *shadow, PROT_READ | PROT_WRITE);
    cached_reads = reserve(all / 4 * sizeof *cached_reads, PROT_READ | PROT_WRITE);
    written = reserve(all / 8, PROT_READ | PROT_WRITE);
    owner = reserve(REGION / PAGE * sizeof *owner, PROT_READ | PROT_WRITE);
    /* A page in front of the first allocation, as the others have one. */
    region_used = PAGE;
    if (mprotect((char *)region, PAGE, PROT_READ | PROT_WRITE) != 0)
        give_up(1, "check: no access to the page before the first allocation");
}

const struct object *object_near(uintptr_t p)
{
    const struct object *here = object_at(p), *next = object_at(p + PAGE);
    if (!here || !next || here == next || p < here->p)
        return here ? here : next;
    return next->p - p <= p - (here->p + here->bytes) ? next : here;
}

void set_bits(uint8_t *bits, uint64_t at, uint64_t n, int value)
{
    for (; n && at % 8; at++, n--)
        bits[at / 8] = (uint8_t)((bits[at / 8] & ~(1 << at % 8)) | value << at % 8);
    memset(bits + at / 8, value ? 0xff : 0, n / 8);
    for (at += n / 8 * 8, n %= 8; n; at++, n--)
        bits[at / 8] = (uint8_t)((bits[at / 8] & ~(1 << at % 8)) | value << at % 8);
}

void trace_site(const void *site)
{
    if (!wanted_site)
        wanted_site = site;
}

void *trace_map(size_t bytes)
{
    set_up();
    if (bytes > REGION - region_used)
        return MAP_FAILED;
    char *p = (char *)region + region_used;
    region_used += bytes;
    return mprotect(p, bytes, PROT_READ | PROT_WRITE) ? MAP_FAILED : p;
}

static uint32_t object_add(struct object o)
{
    objects = grown(objects, n_objects, sizeof *objects);
    objects[n_objects] = o;
    return (uint32_t)n_objects++;
}

void trace_allocated(void *p, size_t bytes, enum cudaMemoryType type)
{
    uint64_t at = (uintptr_t)p - region;
    uint32_t site = wanted_site ? code_of(wanted_site) : 0;
    uint32_t o = object_add((struct object){.p = (uintptr_t)p,
                                            .bytes = bytes,
                                            .what = "allocated",
                                            .site = site,
                                            .device = type == cudaMemoryTypeDevice,
                                            .managed = type == cudaMemoryTypeManaged});
    uint64_t guard = (at + bytes - 1) / PAGE + 1;
    for (uint64_t i = at / PAGE; i <= guard; i++)
        owner[i] = o;
    /* An access past the end is reported, and then goes on: there may be more to find. */
    if (mprotect((char *)region + guard * PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
        give_up(1, "check: no access to the page behind %zu bytes", bytes);
    wanted_site = NULL;
    if (type != cudaMemoryTypeDevice) /* the host writes there as it likes */
        trace_written(p, bytes);
}

/* The value that host memory is filled with, until the host writes: as a float NaN, as an integer
 * nothing that programs are likely to write. */
static const uint32_t fresh = 0xffffa5c1;

void trace_host_memory(void *p, size_t bytes)
{
    for (size_t i = 0; i < (bytes + 3) / 4; i++)
        ((uint32_t *)p)[i] = fresh;
    memory_mark_unwritten(p, bytes);
    object_at((uintptr_t)p)->host = 1;
}

void host_writes(uintptr_t p, size_t bytes)
{
    for (uintptr_t at = p & -(uintptr_t)4; at < p + bytes; at += 4)
        if (at % 8 == 0 && written[(at - region) / 8] == 0xff)
            at += 4;
        else if (*(const uint32_t *)at != fresh)
            trace_written((void *)at, 4);
}

/* g++ reports no store of a structure that a call returns. Until something is stored, device memory
 * and a block's hold what programs hardly ever store: fill_unwritten. A structure may have padding:
 * the 8 bytes around a byte that was stored so count as written. */
void memory_finds_stores(const struct object *o, uint64_t at, const void *p, size_t bytes)
{
    if (o && (!o->device || o->marked))
        return;
    const uint64_t end = o ? o->p + o->bytes - region : UINT64_MAX;
    for (uint64_t word = at & -(uint64_t)8; word < at + bytes; word += 8) {
        const uint8_t *found = (const uint8_t *)p + (int64_t)(word - at);
        for (int i = 0; i < 8 && written[word / 8] != 0xff && word + i < end; i++)
            if (found[i] != unwritten_byte(word + i) && !bits_at(written, word + i, 1))
                set_bits(written, word, 8, 1);
    }
}

uint8_t widths[CODES];

/* Nothing of n bytes, whole pages, is written any more. Their bits may be less than a page. */
static void bits_forget(uint64_t at, uint64_t n)
{
    uint8_t *from = written + at / 8, *end = from + n / 8;
    uint8_t *page = (uint8_t *)(((uintptr_t)from + PAGE - 1) & -(uintptr_t)PAGE);
    const size_t whole = page < end ? (size_t)(end - page) & -(size_t)PAGE : 0;
    madvise(page, whole, MADV_DONTNEED);
    set_bits(written, at, whole ? (uint64_t)(page - from) * 8 : n, 0);
    if (whole)
        set_bits(written, at + (uint64_t)(page + whole - from) * 8,
                 (uint64_t)(end - page - (ptrdiff_t)whole) * 8, 0);
}

int trace_freed(void *p)
{
    struct object *o = object_at((uintptr_t)p);
    uintptr_t page = o->p & -(uintptr_t)PAGE;
    uint64_t at = page - region, n = (o->p + o->bytes - page + PAGE - 1) / PAGE * PAGE;
    o->freed = 1;
    madvise((void *)page, n, MADV_DONTNEED);
    madvise((char *)cached_reads + at / 4 * sizeof *cached_reads, n / 4 * sizeof *cached_reads,
            MADV_DONTNEED);
    madvise((char *)shadow + at / 4 * sizeof *shadow, n / 4 * sizeof *shadow, MADV_DONTNEED);
    bits_forget(at, n); /* so that what is written may be accessed */
    return 1;
}

int trace_is_freed(const void *p)
{
    const struct object *o = object_at((uintptr_t)p);
    return o && o->freed;
}

/* Only bytes of an allocation are written: check.c takes it that they may be accessed. */
void trace_written(void *p, size_t bytes)
{
    const struct object *o = object_at((uintptr_t)p);
    const size_t offset = o ? (uintptr_t)p - o->p : 0;
    if (o && offset < o->bytes && !o->freed)
        set_bits(written, (uintptr_t)p - region,
                 bytes < o->bytes - offset ? bytes : o->bytes - offset, 1);
}

/* Host memory that kernels may access; what they do there is not checked. */
static struct {
    uintptr_t p;
    size_t bytes;
} * registered;
int n_registered;

void trace_registered(void *p, size_t bytes)
{
    registered = grown(registered, n_registered, sizeof *registered);
    registered[n_registered].p = (uintptr_t)p;
    registered[n_registered++].bytes = bytes;
}

void trace_unregistered(void *p)
{
    for (int i = 0; i < n_registered; i++)
        if (registered[i].p == (uintptr_t)p)
            registered[i--] = registered[--n_registered];
}

int is_registered(uintptr_t p, unsigned bytes)
{
    for (int i = 0; i < n_registered; i++)
        if (p - registered[i].p < registered[i].bytes &&
            registered[i].p + registered[i].bytes - p >= bytes)
            return 1;
    return 0;
}

struct object registered_at(uintptr_t p)
{
    for (int i = 0; i < n_registered; i++)
        if (p - registered[i].p < registered[i].bytes)
            return (struct object){.p = registered[i].p,
                                   .bytes = registered[i].bytes,
                                   .name = "registered memory",
                                   .what = "of the host"};
    return (struct object){0};
}

void memory_mark_unwritten(void *p, size_t bytes)
{
    struct object *o = object_at((uintptr_t)p);
    if (o)
        o->marked = 1;
    if ((uintptr_t)p - region < region_used)
        set_bits(written, (uintptr_t)p - region, bytes, 0);
}

void memory_name(void *p, const char *name)
{
    struct object *o = object_at((uintptr_t)p);
    if (o)
        o->name = name;
}

/* The allocation or variable that holds p, or NULL. */
const struct object *object_of(uintptr_t p)
{
    if (p - region < region_used)
        return object_near(p);
    for (int i = 1; i < n_objects; i++)
        if (p - objects[i].p < objects[i].bytes)
            return &objects[i];
    return NULL;
}

int trace_library(const struct cpu_access *a)
{
    const uintptr_t p = (uintptr_t)a->p;
    const size_t bytes = (a->height - 1) * a->pitch + a->width;
    const struct object *o = object_of(p);
    const struct side side = {.code = code_of(a->site)};
    char text[200];
    if (!o || p < o->p || bytes > o->p + o->bytes - p || o->freed) {
        snprintf(text, sizeof text, "%s of %s has %zu byte%s", a->what, a->call, bytes,
                 plural((long long)bytes));
        finding_add(o && o->freed ? FREED : BOUNDS, NULL, &side, 1, 0, o, p, text);
        return 1;
    }
    if (p - region >= region_used)
        return 0; /* a variable, which begins with zeros */
    for (size_t i = 0; o->host && a->access & CPU_ACCESS_READ && i < a->height; i++)
        host_writes(p + i * a->pitch, a->width);
    for (size_t i = 0; a->access & CPU_ACCESS_READ && i < a->height; i++)
        memory_finds_stores(o, p - region + i * a->pitch, (char *)a->p + i * a->pitch, a->width);
    for (size_t i = 0; a->access & CPU_ACCESS_READ && i < a->height; i++)
        for (size_t k = 0; k < a->width; k++)
            if (!bits_at(written, p - region + i * a->pitch + k, 1)) {
                snprintf(text, sizeof text, "%s reads what was never written of %s", a->call,
                         a->what);
                finding_add(UNINITIALISED, NULL, &side, 1, 0, o, p + i * a->pitch + k, text);
                i = a->height;
                break;
            }
    for (size_t i = 0; a->access & CPU_ACCESS_WRITE && i < a->height; i++)
        set_bits(written, p - region + i * a->pitch, a->width, 1);
    return 0;
}

/* A variable of kernels that lies at p, among those that may change. One that is const the host may
 * read, if its value is known when the program is compiled. */
static const struct object *variable_at(uintptr_t p)
{
    for (int i = 1; i < variables_end; i++)
        if (p - objects[i].p < objects[i].bytes)
            return &objects[i];
    return NULL;
}

const struct object *memory_host_access(uintptr_t p, size_t bytes, int writes, uint32_t code)
{
    const struct object *o = p - region < region_used ? object_near(p) : variable_at(p);
    if (!o || !o->device)
        return o;
    const struct side side = {.kind = writes ? WRITE : READ, .code = code};
    finding_add(HOST_ACCESS, NULL, &side, 1, (unsigned)bytes, o, p, NULL);
    trace_written((void *)p, bytes); /* it is reported once */
    return NULL;
}

int memory_leaks(void)
{
    for (int i = 1; i < n_objects && !broken; i++) {
        struct object *o = &objects[i];
        if (o->freed || o->p - region >= region_used)
            continue;
        struct side side = {.code = o->site};
        finding_add(LEAK, NULL, &side, 1, 0, o, o->p, NULL);
        o->freed = 1;
    }
    return !broken;
}

void trace_variable(void *p, size_t bytes, const char *name, int kind)
{
    static const char *const what[] = {"of __device__ memory", "of __constant__ memory",
                                       "of managed memory"};
    object_add((struct object){
        .p = (uintptr_t)p, .bytes = bytes, .name = name, .what = what[kind], .device = kind < 2});
    variables_end = n_objects;
}

void trace_shared(struct worker *w, const char *name, size_t offset, size_t bytes)
{
    set_bits(in_variable, offset, bytes, 1);
    set_bits(written, ARENA_AT + offset, bytes, 0);
    if (n_variables < (int)(sizeof variables / sizeof *variables))
        variables[n_variables++] = (struct object){.p = (uintptr_t)w->arena + offset,
                                                   .bytes = bytes,
                                                   .name = name,
                                                   .what = "of shared memory"};
}

void memory_launch(void)
{
    set_up();
    if (program_size() > IMAGE)
        give_up(1, "check: a program of more than %d MiB", (int)(IMAGE >> 20));
    n_variables = 0;
    memset(in_variable, 0, sizeof in_variable);
}

void memory_block(struct worker *w)
{
    static uintptr_t arena; /* of the block before */
    for (int i = 0; i < n_variables; i++)
        variables[i].p += (uintptr_t)w->arena - arena;
    arena = (uintptr_t)w->arena;
    memset(written + ARENA_AT / 8, 0, (w->shared_used + w->gaps) / 8 + 1);
}

void memory_broken(void)
{
    broken = 1;
}

const struct object *shared_at(uintptr_t p)
{
    const struct object *best = NULL;
    for (int i = 0; i < n_variables; i++)
        if (variables[i].p <= p && (!best || variables[i].p > best->p))
            best = &variables[i];
    return best ? best : n_variables ? &variables[0] : NULL;
}

/* --- Strong accesses -------------------------------------------------------------------------- */

/* A shadow cell says of an access only whether it is strong. Most strong accesses are of the
 * device's scope, of 1, 2 or 4 bytes, and not volatile. What the others are is noted here, beside
 * the cell. */
static struct cell {
    int64_t at; /* 0: none */
    shadow_entry entry[3], weak;
    uint8_t what[3], polled;
} * cells;
static unsigned n_cells, used;
int strong_hides;

static struct cell *cell_at(int64_t at, int make)
{
    if (make && 2 * used >= n_cells) {
        struct cell *old = cells;
        const unsigned n = n_cells;
        n_cells = n ? 2 * n : 64;
        cells = need_memory(calloc(n_cells, sizeof *cells), "what check knows");
        used = 0;
        for (unsigned i = 0; i < n; i++)
            if (old[i].at)
                *cell_at(old[i].at, 1) = old[i];
        free(old);
    }
    if (!n_cells)
        return NULL;
    const int64_t key = at / 4 * 4 + 1; /* not 0 */
    unsigned i = (unsigned)(((uint64_t)at / 4 * 0x9e3779b97f4a7c15u) >> 32) & (n_cells - 1);
    while (cells[i].at && cells[i].at != key)
        i = (i + 1) & (n_cells - 1);
    if (!cells[i].at && !make)
        return NULL;
    used += !cells[i].at;
    cells[i].at = key;
    return &cells[i];
}

void strong_launch(void)
{
    if (used)
        memset(cells, 0, n_cells * sizeof *cells);
    used = 0;
    strong_hides = 0;
}

void strong_hide(int64_t at, shadow_entry weak)
{
    enum { MOST = 1 << 20 };
    if (used >= MOST)
        return;
    cell_at(at, 1)->weak = weak;
    strong_hides = 1;
}

shadow_entry strong_hidden(int64_t at)
{
    const struct cell *cell = cell_at(at, 0);
    return cell ? cell->weak : 0;
}

/* The access is in the shadow memory already. */
void strong_note(int64_t at, shadow_entry e, int what)
{
    const struct shadow_cell *c = &shadow[at / 4];
    struct cell *cell = cell_at(at, 1);
    int i = 0;
    for (int k = 0; k < 3; k++) {
        const shadow_entry known = cell->entry[k];
        if (!known || known == e ||
            (known != c->write && known != c->read[0] && known != c->read[1]))
            i = k;
    }
    cell->entry[i] = e;
    cell->what[i] = (uint8_t)what;
}

int strong_of(int64_t at, shadow_entry e)
{
    const struct cell *cell = cell_at(at, 0);
    for (int k = 0; cell && k < 3; k++)
        if (cell->entry[k] == e)
            return cell->what[k];
    return strong_what(__builtin_popcount((unsigned)(e >> 34 & 15)), 0);
}

void strong_poll(int64_t at)
{
    cell_at(at, 1)->polled = 1;
}

int strong_polled(int64_t at)
{
    const struct cell *cell = cell_at(at, 0);
    return cell && cell->polled;
}
