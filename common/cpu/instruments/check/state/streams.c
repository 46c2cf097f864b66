/* check: which launches of other streams happen before the one that runs.
 *
 * A vector clock for each stream: for each other stream the time before which its work is known to
 * be done, by events, by waits of the host, or by the rules of the default stream. Calls of the
 * host are seen in their order, so all its threads are one. */
#include "instruments/check/state/check.h"

enum { STREAMS = TRACE_STREAMS };

static uint32_t known[STREAMS][STREAMS], host[STREAMS];
static int blocking[STREAMS]; /* it and the default stream wait for each other */
static __thread int current;  /* the stream of the work that is about to run */
static struct start {
    uint32_t when;
    int stream;
} * launches;
static int n_launches;
int streams_several;
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
}

void trace_stream_work(int stream, int with_default)
{
    current = stream;
    blocking[stream] = with_default;
    merge(known[stream], host);
    if (stream != 0 && with_default)
        merge_stream(known[stream], 0);
    for (int i = 1; i < STREAMS && stream == 0; i++)
        if (blocking[i])
            merge_stream(known[0], i);
}

void trace_stream_record(uint32_t *clock, int stream, int with_default)
{
    trace_stream_work(stream, with_default);
    memset(clock, 0, sizeof host);
    merge_stream(clock, stream);
}

void trace_stream_wait(int stream, const uint32_t *clock)
{
    merge(known[stream], clock);
}

void trace_host_waits(int stream, int with_default)
{
    trace_stream_work(stream, with_default);
    merge_stream(host, stream);
}

void trace_host_waits_event(const uint32_t *clock)
{
    merge(host, clock);
}

void trace_host_waits_all(void)
{
    for (int i = 0; i < STREAMS; i++)
        host[i] = order.now + 1;
}

void streams_launch(void)
{
    if (n_launches && order.now < launches[n_launches - 1].when) { /* time began anew */
        memset(known, 0, sizeof known);
        memset(host, 0, sizeof host);
        n_launches = 0;
        for (int i = 0; i < child_windows; i++)
            windows[i] = (struct window){0, 0};
    }
    streams_several |= n_launches && launches[n_launches - 1].stream != current;
    launches = grown(launches, n_launches, sizeof *launches);
    launches[n_launches++] = (struct start){order.now, current};
}

int stream_unordered(shadow_entry e)
{
    int low = 0, high = n_launches;
    if (when_of(e) >= order.launch_start || !n_launches || when_of(e) < launches[0].when)
        return 0;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (launches[middle].when <= when_of(e))
            low = middle;
        else
            high = middle;
    }
    const int its = launches[low].stream;
    return its != current && when_of(e) >= known[current][its];
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
