/* check: copies, memsets, allocations and frees as work of streams, and the host.
 *
 * Such work touches rows of memory, and a range is kept of each until the host knows that it is
 * done: as nothing can race with it after that, there are few. A launch compares its accesses with
 * the ranges that its stream does not wait for. Work of this kind is compared with ranges, and with
 * the accesses that the shadow cells have of other streams' launches. So is an access of the host,
 * to memory that it shares with kernels. */
#include "instruments/check/state/check.h"

#include <pthread.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards ranges */
static struct range {
    struct stream_work work; /* first: a race returns it */
    struct trace_rows rows;
    uint32_t when;
    int stream;
    uint64_t learned; /* stream_learned() then */
} * ranges;
static int n_ranges;
/* Those that the launch does not know to be done, and where they begin and end. */
static struct range *beside;
static uintptr_t beside_low, beside_high;
int ranges_beside;
static __thread uint32_t site; /* of the work that runs */
static __thread int in_host_function;
static const enum kind kind_of[] = {COPY_READS, COPY_WRITES,   COPY_STAGED,
                                    SETS,       SETS_STAGED,   ALLOCATES,
                                    FREES,      LIBRARY_READS, LIBRARY_WRITES};

static int writes(enum kind kind)
{
    return kind != COPY_READS && kind != LIBRARY_READS && kind != CALL_READS && kind != HOST_READS;
}

/* --- Rows ------------------------------------------------------------------------------------- */

static uintptr_t end_of(const struct trace_rows *r)
{
    return (uintptr_t)r->p + (r->height - 1) * r->pitch + r->width;
}

/* Rows without gaps are one row. */
static struct trace_rows joined(struct trace_rows r)
{
    if (r.pitch == r.width) {
        r.width *= r.height;
        r.height = 1;
    }
    if (r.height == 1)
        r.pitch = r.width;
    return r;
}

/* How many of the bytes from p on lie in a row, and *at where the first of them is; 0: none. */
static size_t common(const struct trace_rows *r, uintptr_t p, size_t bytes, uintptr_t *at)
{
    const uintptr_t start = (uintptr_t)r->p;
    if (p + bytes <= start || p >= end_of(r))
        return 0;
    uintptr_t row = start;
    if (p > start && r->height > 1)
        row += (p - start) / r->pitch * r->pitch;
    if (p >= row + r->width) /* in the gap behind the row */
        row += r->pitch;
    *at = p > row ? p : row;
    const uintptr_t end = p + bytes < row + r->width ? p + bytes : row + r->width;
    return *at < end ? end - *at : 0;
}

/* The same of all rows of `a`. */
static size_t meeting(const struct trace_rows *a, const struct trace_rows *b, uintptr_t *at)
{
    size_t bytes = 0;
    if ((uintptr_t)a->p >= end_of(b) || (uintptr_t)b->p >= end_of(a))
        return 0;
    for (size_t y = 0; y < a->height && !bytes; y++)
        bytes = common(b, (uintptr_t)a->p + y * a->pitch, a->width, at);
    return bytes;
}

/* Whether anybody else can reach the memory: kernels, and the host where it is watched. */
static int is_watched(const void *p)
{
    return (uintptr_t)p - region < region_used ||
           (n_registered && is_registered((uintptr_t)p, 1)) ||
           (is_variable((uintptr_t)p) && object_of((uintptr_t)p));
}

/* The position of p's shadow cell, counted in bytes, or -1. */
static int64_t cell_of(uintptr_t p)
{
    if (p - region < region_used)
        return (int64_t)(p - region);
    return is_variable(p) ? (int64_t)(IMAGE_AT + (p - (uintptr_t)__executable_start)) : -1;
}

/* --- Races ------------------------------------------------------------------------------------ */

static void add_finding(enum rule rule, struct side now, struct side was, uintptr_t p, size_t bytes,
                        const char *why)
{
    const struct side sides[2] = {now, was};
    const unsigned n = bytes > UINT32_MAX ? UINT32_MAX : (unsigned)bytes;
    const struct object *o = object_of(p), registered = registered_at(p);
    finding_why(finding_add(rule, NULL, sides, 2, n, o ? o : &registered, p, NULL), why);
}

/* A read by the host of what a kernel changes by atomics. It is no race if the host's next access
 * is an atomic there: loops of compare-and-swap begin with such a read. */
static struct {
    struct side now, was;
    uintptr_t p; /* 0: none */
    size_t bytes;
    const char *why;
} host_read;

static void report_host_read(void)
{
    if (host_read.p)
        add_finding(HOST_RACE, host_read.now, host_read.was, host_read.p, host_read.bytes,
                    host_read.why);
    host_read.p = 0;
}

void ranges_end(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return; /* a signal ends the program within one of these functions */
    report_host_read();
    pthread_mutex_unlock(&lock);
}

static void report(enum rule rule, struct side now, struct side was, uintptr_t p, size_t bytes,
                   const char *why)
{
    report_host_read();
    if (now.kind != HOST_READS || was.kind != ATOMIC) {
        add_finding(rule, now, was, p, bytes, why);
        return;
    }
    host_read.now = now;
    host_read.was = was;
    host_read.p = p;
    host_read.bytes = bytes;
    host_read.why = why;
}

/* The accesses that are looked for: those that `unordered` finds, none of them before `oldest`. */
struct rivals {
    int (*unordered)(shadow_entry);
    uint32_t oldest;
};

/* The part of a shadow cell that races with an access that writes or reads, to the bytes of the
 * mask. */
static inline shadow_entry rival(const struct shadow_cell *c, int writing, shadow_entry mask,
                                 struct rivals of, enum kind *was)
{
    const shadow_entry entries[3] = {c->write, c->read[0], c->read[1]};
    for (int i = 0; i < (writing ? 3 : 1); i++)
        if (entries[i] & mask && when_of(entries[i]) >= of.oldest && of.unordered(entries[i])) {
            *was = i ? READ : is_atomic(entries[i]) ? ATOMIC : WRITE;
            return entries[i];
        }
    return 0;
}

/* The bytes of a cell that [from, end) has, as in an entry; at: of the cell. */
static inline shadow_entry mask_of(int64_t at, int64_t from, int64_t end)
{
    const int64_t low = from > at ? from - at : 0, high = end - at < 4 ? end - at : 4;
    return (shadow_entry)(((1u << high) - 1) & ~((1u << low) - 1)) << 34;
}

/* The first cell from `at` on, up to `end`, that may have been accessed: the system gives no memory
 * to shadow cells that nobody has touched. */
static int64_t next_touched(int64_t at, int64_t end)
{
    enum { PAGES = 512 };
    unsigned char there[PAGES];
    const int64_t cells = PAGE / sizeof(struct shadow_cell) * 4; /* bytes whose cells fit a page */
    while (at < end) {
        const uintptr_t page = (uintptr_t)&shadow[at / 4] & -(uintptr_t)PAGE;
        const uintptr_t stop = (uintptr_t)&shadow[(end + 3) / 4];
        size_t n = (stop - page + PAGE - 1) / PAGE, i = 0;
        n = n < PAGES ? n : PAGES;
        if (mincore((void *)page, n * PAGE, there) != 0)
            return at;
        while (i < n && !(there[i] & 1))
            i++;
        if (i == 0)
            return at;
        const int64_t cell =
            (int64_t)((page + i * PAGE - (uintptr_t)shadow) / sizeof(struct shadow_cell)) * 4;
        at = cell > at ? cell : at + cells;
        if (i < n)
            return at < end ? at : end;
    }
    return end;
}

/* Compares a row with the accesses of launches. One race is reported: of the
 * first bytes, as far as the same line has touched them. Returns whether there is one. */
static int compare_cells(uintptr_t p, size_t bytes, struct side now, enum rule rule,
                         struct rivals of)
{
    enum { STRETCH = 1 << 16 }; /* bytes, at most, before it is asked again what was touched */
    const int64_t from = cell_of(p), end = from + (int64_t)bytes;
    const int writing = writes(now.kind);
    int64_t ask = from & -4;
    for (int64_t at = from & -4; from >= 0 && at < end; at += 4) {
        if (at >= ask && end - at > STRETCH) {
            at = next_touched(at, end) & -4;
            ask = at + STRETCH;
            if (at >= end)
                break;
        }
        enum kind was, again;
        const shadow_entry e = rival(&shadow[at / 4], writing, mask_of(at, from, end), of, &was);
        if (!e)
            continue;
        int64_t last = at + 4;
        while (last < end && code_in(rival(&shadow[last / 4], writing, mask_of(last, from, end), of,
                                           &again)) == code_in(e))
            last += 4;
        const int64_t first = at > from ? at : from;
        report(rule, now, (struct side){was, code_in(e), thread_of(e), 0},
               p + (uintptr_t)(first - from), (size_t)((last < end ? last : end) - first),
               rule == HOST_RACE && order_host_has_read(e)
                   ? "and no __threadfence_system lies between it and a flag that the host has read"
                   : NULL);
        return 1;
    }
    return 0;
}

/* When time has begun anew, what was before is forgotten. */
static void look_at_age(void)
{
    static int age;
    if (age != streams_ages)
        n_ranges = 0;
    age = streams_ages;
}

/* Compares rows with those of other work, of which `knows` says whether it is done. */
static void compare_ranges(const struct trace_rows *rows, struct side now, enum rule rule,
                           int (*knows)(int stream, uint32_t when))
{
    look_at_age();
    for (int i = n_ranges - 1; i >= 0; i--) {
        const struct range *r = &ranges[i];
        uintptr_t at;
        if (knows(r->stream, r->when) || !(writes(r->work.kind) || writes(now.kind)))
            continue;
        const size_t bytes = meeting(rows, &r->rows, &at);
        if (bytes) {
            report(rule, now, (struct side){r->work.kind, r->work.code, 0, 0}, at, bytes, NULL);
            return;
        }
    }
}

/* Drops what the host knows to be done, as all that comes later does then. */
static void forget(void)
{
    int n = 0;
    look_at_age();
    for (int i = 0; i < n_ranges; i++)
        if (!host_knows(ranges[i].stream, ranges[i].when))
            ranges[n++] = ranges[i];
    n_ranges = n;
}

/* Whether the range goes on where `rows` begins, by the same line and while nobody has learned what
 * the stream had done between the two. */
static int goes_on(const struct range *r, struct stream_work work, struct trace_rows rows,
                   int stream)
{
    return r->stream == stream && r->work.kind == work.kind && r->work.code == work.code &&
           r->rows.height == 1 && rows.height == 1 &&
           (const char *)r->rows.p + r->rows.width == rows.p &&
           r->learned == stream_learned(stream);
}

/* Earlier work of the same stream on the same rows is done when this is. */
static void range_add(struct stream_work work, struct trace_rows rows, int stream)
{
    enum { MERGED = 4 }; /* the last ranges: a copy has two, and a loop of the host some more */
    int i = n_ranges - 1;
    for (int k = 0; k < MERGED && i - k >= 0; k++)
        if (goes_on(&ranges[i - k], work, rows, stream)) {
            struct range *r = &ranges[i - k];
            r->rows.width += rows.width;
            r->rows.pitch = r->rows.width;
            r->when = order.now;
            return;
        }
    if ((n_ranges & (n_ranges - 1)) == 0) /* there may be more and more of them */
        forget();
    for (i = n_ranges - 1; i >= 0; i--)
        if (ranges[i].stream == stream && ranges[i].work.kind == work.kind &&
            memcmp(&ranges[i].rows, &rows, sizeof rows) == 0)
            break;
    if (i < 0) {
        ranges = grown(ranges, n_ranges, sizeof *ranges);
        i = n_ranges++;
    }
    ranges[i] = (struct range){work, rows, order.now, stream, stream_learned(stream)};
}

void trace_work(const void *from)
{
    site = from ? code_of(from) : 0;
    order_tick();
}

void trace_work_touches(enum trace_touch how, struct trace_rows given)
{
    const enum kind kind = kind_of[how];
    const struct side now = {kind, site, 0, 0};
    const struct trace_rows rows = joined(given);
    const int stream = streams_work();
    if (!rows.width || !rows.height || !is_watched(rows.p))
        return;
    pthread_mutex_lock(&lock);
    const struct rivals others = {stream_unordered_with_work, streams_beside()};
    if (kind != ALLOCATES && others.oldest) {
        int found = 0;
        for (size_t y = 0; y < rows.height && !found; y++)
            found = compare_cells((uintptr_t)rows.p + y * rows.pitch, rows.width, now, STREAM_RACE,
                                  others);
        if (!found)
            compare_ranges(&rows, now, STREAM_RACE, stream_knows);
    }
    if (kind != FREES) /* an access to freed memory is another finding */
        range_add((struct stream_work){kind, site}, rows, stream);
    pthread_mutex_unlock(&lock);
}

void ranges_launch(void)
{
    pthread_mutex_lock(&lock);
    forget();
    ranges_beside = 0;
    beside_low = UINTPTR_MAX;
    beside_high = 0;
    for (int i = 0; i < n_ranges; i++) {
        const struct range *r = &ranges[i];
        if (stream_knows(r->stream, r->when))
            continue;
        beside = grown(beside, ranges_beside, sizeof *beside);
        beside[ranges_beside++] = *r;
        beside_low = (uintptr_t)r->rows.p < beside_low ? (uintptr_t)r->rows.p : beside_low;
        beside_high = end_of(&r->rows) > beside_high ? end_of(&r->rows) : beside_high;
    }
    pthread_mutex_unlock(&lock);
}

const struct stream_work *ranges_race(uintptr_t p, unsigned bytes, int writing)
{
    uintptr_t at;
    if (p + bytes <= beside_low || p >= beside_high)
        return NULL;
    for (int i = 0; i < ranges_beside; i++)
        if ((writing || writes(beside[i].work.kind)) && common(&beside[i].rows, p, bytes, &at))
            return &beside[i].work;
    return NULL;
}

/* --- The host --------------------------------------------------------------------------------- */

/* A host function is work of its stream. How the program waits for its end, or for something that
 * it does, is not seen: that is taken to be done. */
void trace_host_function(int begins)
{
    in_host_function = begins;
    order_tick();
    if (begins)
        streams_work();
    streams_host_knows_current();
    order_tick();
}

void ranges_host(uintptr_t p, size_t bytes, int writing, uint32_t code, const struct object *o)
{
    const struct trace_rows rows = {(const void *)p, bytes, 1, bytes};
    if ((o && o->freed) || (!in_host_function && !streams_beside_host))
        return;
    const struct side now = {in_host_function ? (writing ? CALL_WRITES : CALL_READS)
                             : writing        ? HOST_WRITES
                                              : HOST_READS,
                             code, 0, 0};
    const enum rule rule = in_host_function ? STREAM_RACE : HOST_RACE;
    pthread_mutex_lock(&lock);
    report_host_read();
    const struct rivals others =
        in_host_function ? (struct rivals){stream_unordered_with_work, streams_beside()}
                         : (struct rivals){stream_unordered_with_host, streams_beside_the_host()};
    if (!others.oldest || !compare_cells(p, bytes, now, rule, others))
        compare_ranges(&rows, now, rule, in_host_function ? stream_knows : host_knows);
    if (in_host_function)
        range_add((struct stream_work){now.kind, code}, rows, streams_work());
    pthread_mutex_unlock(&lock);
}

/* A host that waits for a value that a kernel stores then knows what came before the store. */
void ranges_host_strong(uintptr_t p, int reads)
{
    const int64_t at = cell_of(p);
    if (host_read.p == p)
        host_read.p = 0;
    if (shadow && reads && at >= 0 && !in_host_function)
        streams_host_learns(shadow[at / 4].write, (uintptr_t)at);
}

void trace_host_frees(const void *p, size_t bytes, const void *from)
{
    const struct trace_rows rows = {p, bytes, 1, bytes};
    const struct side now = {FREES, code_of(from), 0, 0};
    if (!streams_beside_host)
        return;
    pthread_mutex_lock(&lock);
    const struct rivals others = {stream_unordered_with_host, streams_beside_the_host()};
    if (!compare_cells((uintptr_t)p, bytes, now, HOST_RACE, others))
        compare_ranges(&rows, now, HOST_RACE, host_knows);
    pthread_mutex_unlock(&lock);
}
