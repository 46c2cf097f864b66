/* check: which work of other streams happens before the work that runs, and before what the host
 * does. ranges.c has what copies, memsets and frees touch, and what the host does.
 *
 * A vector clock for each stream: for each other stream the time before which its work is known to
 * be done, by events, by waits of the host, or by the rules of the default stream. The host has
 * such a clock too. Calls of the host are seen in their order, so all its threads are one. */
#include "instruments/check/state/check.h"

enum { STREAMS = TRACE_STREAMS };

static uint32_t known[STREAMS][STREAMS], host[STREAMS];
static int blocking[STREAMS];     /* it and the default stream wait for each other */
static uint64_t learned[STREAMS]; /* how often somebody has learned what it has done */
static uint32_t latest[STREAMS];  /* when its last work began, or 0 */
static __thread int current;      /* the stream of the work that is about to run */
static struct start {
    uint32_t when;
    int stream;
} * starts; /* of launches */
static int n_starts;
/* The knowledge of the host about a launch, by flags, is forgotten when the next one begins: from
 * then on it is taken to know all that came before the last flag. */
static struct {
    int stream;
    uint32_t when; /* 0: none */
} last_flag;
int launch_beside, streams_ages, streams_beside_host;
static int several; /* streams have work */
/* Of the launches by kernels that lead to this one: what the launching grid did from the one time
 * to the other, its end, came after the launch, and the child does not wait for it. */
static struct window {
    uint32_t from, end;
} * windows;
int child_windows;

static void merge(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < STREAMS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* Takes in what is known after a wait for all work of the stream. */
static void merge_stream(uint32_t *to, int stream)
{
    merge(to, known[stream]);
    to[stream] = order.now + 1;
    learned[stream]++;
}

/* When time has begun anew, the shadow memory is empty, and all earlier work is taken to be done.
 */
static void look_at_clock(void)
{
    static uint32_t seen;
    if (order.now < seen) {
        memset(known, 0, sizeof known);
        memset(host, 0, sizeof host);
        memset(latest, 0, sizeof latest);
        last_flag.when = 0;
        n_starts = 0;
        streams_ages++;
        for (int i = 0; i < child_windows; i++)
            windows[i] = (struct window){0, 0};
    }
    seen = order.now;
}

void trace_stream_work(int stream, int with_default)
{
    look_at_clock();
    current = stream;
    /* Streams that share the last number: what one of them orders counts for all. */
    blocking[stream] = with_default || (stream == STREAMS - 1 && blocking[stream]);
    merge(known[stream], host);
    if (stream != 0 && blocking[stream])
        merge_stream(known[stream], 0);
    for (int i = 1; i < STREAMS && stream == 0; i++)
        if (blocking[i])
            merge_stream(known[0], i);
}

void trace_stream_record(uint32_t *clock, int stream, int with_default)
{
    trace_stream_work(stream, with_default);
    trace_stream_record_here(clock);
}

void trace_stream_record_here(uint32_t *clock)
{
    memset(clock, 0, sizeof host);
    merge_stream(clock, current);
}

void trace_stream_wait(int stream, const uint32_t *clock)
{
    look_at_clock();
    merge(known[stream], clock);
}

uint64_t stream_learned(int stream)
{
    return learned[stream];
}

int host_knows(int stream, uint32_t when)
{
    return when < host[stream];
}

static void host_has_waited(void)
{
    streams_beside_host = 0;
    for (int i = 0; i < STREAMS; i++)
        streams_beside_host |= latest[i] && !host_knows(i, latest[i]);
}

void trace_host_waits(int stream, int with_default)
{
    const int was = current; /* a host function may call this */
    trace_stream_work(stream, with_default);
    merge_stream(host, stream);
    current = was;
    host_has_waited();
}

void trace_host_waits_event(const uint32_t *clock)
{
    merge(host, clock);
    host_has_waited();
}

void trace_host_waits_all(void)
{
    for (int i = 0; i < STREAMS; i++)
        host[i] = order.now + 1;
    streams_beside_host = 0;
}

/* The launch that has made the access, or NULL. */
static const struct start *start_of(shadow_entry e)
{
    static __thread int last; /* neighbours in memory are mostly of one launch */
    int low = 0, high = n_starts;
    if (last < n_starts && when_of(e) >= starts[last].when &&
        (last + 1 == n_starts || when_of(e) < starts[last + 1].when))
        return &starts[last];
    if (!n_starts || when_of(e) < starts[0].when)
        return NULL;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (starts[middle].when <= when_of(e))
            low = middle;
        else
            high = middle;
    }
    last = low;
    return &starts[low];
}

static void host_learns(int stream, uint32_t when)
{
    host[stream] = host[stream] > when ? host[stream] : when;
}

void streams_host_learns(shadow_entry e, uintptr_t at)
{
    const struct start *s = start_of(e);
    if (!s)
        return;
    merge(host, known[s->stream]);
    learned[s->stream]++;
    latest[s->stream] = order.now; /* the work has gone on after what the host has learned of */
    if (!order_host_reads(at, e)) {
        host_learns(s->stream, when_of(e));
        return;
    }
    host_learns(s->stream, s->when);
    if (when_of(e) > last_flag.when) {
        last_flag.stream = s->stream;
        last_flag.when = when_of(e);
    }
}

void streams_host_knows_current(void)
{
    merge_stream(host, current);
    host_has_waited();
}

int streams_work(void)
{
    static int last = -1;
    look_at_clock();
    several |= last >= 0 && last != current;
    latest[current] = order.now;
    streams_beside_host = 1;
    return last = current;
}

void streams_launch(void)
{
    if (last_flag.when)
        host_learns(last_flag.stream, last_flag.when);
    last_flag.when = 0;
    const int stream = streams_work();
    starts = grown(starts, n_starts, sizeof *starts);
    starts[n_starts++] = (struct start){order.now, stream};
    launch_beside = streams_beside() != 0;
}

int stream_unordered(shadow_entry e)
{
    return when_of(e) < order.launch_start && stream_unordered_with_work(e);
}

int stream_unordered_with_work(shadow_entry e)
{
    const struct start *s = start_of(e);
    return s && s->stream != current && when_of(e) >= known[current][s->stream];
}

int stream_unordered_with_host(shadow_entry e)
{
    const struct start *s = start_of(e);
    return s && when_of(e) >= host[s->stream] && !order_host_knows(e);
}

int stream_knows(int stream, uint32_t when)
{
    return stream == current || when < known[current][stream];
}

uint32_t streams_beside(void)
{
    uint32_t oldest = 0;
    for (int i = 0; i < STREAMS && several; i++)
        if (latest[i] && !stream_knows(i, latest[i]) && (!oldest || known[current][i] < oldest))
            oldest = known[current][i] ? known[current][i] : 1;
    return oldest;
}

uint32_t streams_beside_the_host(void)
{
    uint32_t oldest = 0;
    for (int i = 0; i < STREAMS && streams_beside_host; i++)
        if (latest[i] && !host_knows(i, latest[i]) && (!oldest || host[i] < oldest))
            oldest = host[i] ? host[i] : 1;
    return oldest;
}

/* --- Children --------------------------------------------------------------------------------- */

uint32_t trace_child_time(void)
{
    order_tick();
    return order.now;
}

void trace_child_begins(uint32_t from, uint32_t end)
{
    windows = grown(windows, child_windows, sizeof *windows);
    windows[child_windows++] = (struct window){from, end};
}

void trace_child_ended(void)
{
    child_windows--;
}

int child_unordered(shadow_entry e)
{
    for (int i = 0; i < child_windows; i++)
        if (when_of(e) >= windows[i].from && when_of(e) < windows[i].end)
            return 1;
    return 0;
}
