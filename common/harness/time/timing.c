/* timing.c: three clocks, two states of the L2, variants in a random order.
 *
 * graph   N calls captured in a graph, replayed between two events: device time, no launch cost.
 * stream  N calls launched back to back between two events: what a busy host sees.
 * call    host clock around one call and its synchronisation: what a waiting host sees.
 *
 * A sample is long enough (SAMPLE_US) for the events, which resolve about half a microsecond.
 * warm: the call before left its data in the L2. One untimed call precedes each sample, unless a
 * call takes so long (LONG_US) that neither what it finds there nor the upload of a graph matters.
 * cold: before each call a kernel reads more than twice the L2. Graph and stream samples then hold
 * N x (flush + call), from which the time of N flushes, measured in the same round, is taken. What
 * a call left dirty in the L2 is written back during the next flush and so counted as the call's.
 * With the stream clock the flush hides the launch, so a cold stream sample is device time.
 *
 * A round takes one sample of each variant. What runs before a sample leaves its heat, its clock
 * rate and its dirty lines to it, so each round has an order of its own, drawn from the seed: over
 * many rounds every variant comes directly after every other one equally often. The first sample of
 * a round comes after the last one of the round before, or after that of the flush.
 *
 * Four things would make a time too short, and are looked for: work that the clock does not see
 * (the host waits for the whole device after each sample, and has a clock of its own); a result
 * that is kept (calls on inputs that have just changed take longer than on the same again); first
 * calls that are slow on purpose (a sample then has too few calls); lines that stay in the L2
 * through a flush.
 *
 * Two more clocks, on which variants do not come in turn, are in alone.c. */
#include "harness/time/timing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAMPLE_US = 1000.0, CALL_SAMPLE_US = 200.0, BUDGET_S = 1.5, WARM_UP_S = 0.2,
                    LONG_US = 1e5;
static const double LEAST_US = 0.001; /* a difference of two samples may come out below zero */
enum { MOST_CALLS = 2000, MOST_ROUNDS = 1000, L2_FACTOR = 3 };
/* So much of a sample the clock may miss: the host's own calls, and a part of the sample. */
static const double UNSEEN_US = 200.0, UNSEEN_PART = 0.25;
/* How much longer a call on new inputs may take, and by how many times fewer calls than the first
 * ones asked for a sample may have. */
static const double RENEWED_US = 5.0, RENEWED_PART = 0.3, FEWER = 10.0;
enum { RENEWALS = 7, INSPECTED_BEFORE = 5, BUSY = 25 };

static cudaStream_t stream; /* kf_stream() */
static cudaEvent_t before, after;
static float *flush_data; /* the memory that a flush reads: more than twice the L2, or NULL */
static int64_t flush_floats;
static bool warm; /* the device has left its idle clock rate */

static bool none_aside; /* of the L2 nothing is set aside for lines that stay */

void kf_none_persist(void)
{
    none_aside = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) == cudaSuccess;
    cudaGetLastError(); /* not every device has such a limit; then none of its lines stay */
}

static bool take_back_window(void)
{
#ifdef CUDA_CPU_BACKEND
    return false;
#else
    cudaStreamAttrValue value;
    memset(&value, 0, sizeof value);
    if (cudaStreamGetAttribute(kf_stream(), cudaStreamAttributeAccessPolicyWindow, &value) !=
            cudaSuccess ||
        value.accessPolicyWindow.num_bytes == 0)
        return false;
    memset(&value, 0, sizeof value);
    CUDA_CHECK(cudaStreamSetAttribute(kf_stream(), cudaStreamAttributeAccessPolicyWindow, &value));
    return true;
#endif
}

bool kf_persists(void)
{
    size_t aside = 0;
    bool window = take_back_window();
    bool some = none_aside &&
                cudaDeviceGetLimit(&aside, cudaLimitPersistingL2CacheSize) == cudaSuccess &&
                aside > 0;
    cudaGetLastError(); /* handled: it has none */
    if (some)
        CUDA_CHECK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0));
    if (window || some)
        CUDA_CHECK(cudaCtxResetPersistingL2Cache());
    return window || some;
}

void kf_timing_begin(const kf_timing *timings, int n)
{
    stream = kf_stream();
    CUDA_CHECK(cudaEventCreate(&before));
    CUDA_CHECK(cudaEventCreate(&after));
    for (int i = 0; i < n && !flush_data; i++) {
        if (timings[i].l2 != KF_COLD)
            continue;
        flush_floats = kf_open_device()->l2_bytes * L2_FACTOR / (int64_t)sizeof(float);
        flush_floats -= flush_floats % 4;
        size_t bytes = (size_t)flush_floats * sizeof(float);
        CUDA_CHECK(cudaMalloc((void **)&flush_data, bytes + 16));
        CUDA_CHECK(cudaMemset(flush_data, 0, bytes + 16));
        CUDA_CHECK(cudaDeviceSynchronize()); /* our stream does not wait for the default one */
    }
}

void kf_timing_end(void)
{
    if (flush_data)
        CUDA_CHECK(cudaFree(flush_data));
    CUDA_CHECK(cudaEventDestroy(before));
    CUDA_CHECK(cudaEventDestroy(after));
    kf_stream_end();
    flush_data = NULL;
    warm = false;
}

static void flush(void)
{
    kf_probe_read(flush_data, flush_data + flush_floats, flush_floats, stream);
    CUDA_CHECK_LAUNCH();
}

/* The work of one sample: calls of one work, or only of the flush (work is NULL). */
typedef struct lane {
    const kf_work *work;
    bool cold, is_long;
    int calls;
    cudaGraphExec_t graph;
    /* Of the samples: how many, of how many the clock missed a part, and of these the last; the
     * shortest call, with the flush. */
    int samples, unseen;
    double seen_us, waited_us, least_us;
    kf_suspicion found;
} lane;

static void enqueue_once(const lane *l)
{
    if (l->cold)
        flush();
    if (l->work)
        l->work->enqueue(l->work->context, stream);
}

static void enqueue_all(const lane *l)
{
    for (int i = 0; i < l->calls; i++)
        enqueue_once(l);
}

static double event_us(void (*body)(const lane *), const lane *l)
{
    float milliseconds = 0.0f;
    CUDA_CHECK(cudaEventRecord(before, stream));
    body(l);
    CUDA_CHECK(cudaEventRecord(after, stream));
    CUDA_CHECK(cudaEventSynchronize(after));
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, before, after));
    return milliseconds * 1e3;
}

static void launch_graph(const lane *l)
{
    CUDA_CHECK(cudaGraphLaunch(l->graph, stream));
}

static void capture(lane *l)
{
    cudaGraph_t graph;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue_all(l);
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&l->graph, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    if (!l->is_long)
        launch_graph(l); /* the first replay uploads the graph */
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

static void lane_close(lane *l)
{
    if (l->graph)
        CUDA_CHECK(cudaGraphExecDestroy(l->graph));
    l->graph = NULL;
}

static int calls_for(double us, enum kf_clock clock)
{
    double target = clock == KF_CALL ? CALL_SAMPLE_US : SAMPLE_US;
    double calls = ceil(target / us);
    return calls > MOST_CALLS ? MOST_CALLS : calls < 1.0 ? 1 : (int)calls;
}

static double call_us(const lane *l)
{
    double total = 0.0;
    for (int i = 0; i < l->calls; i++) {
        if (l->cold)
            flush();
        CUDA_CHECK(cudaStreamSynchronize(stream));
        double start = kf_host_us();
        l->work->enqueue(l->work->context, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
        total += kf_host_us() - start;
    }
    return total;
}

/* Microseconds a call, of the whole sample; the flush is still in it on the cold device clocks. */
static double sample_us(lane *l, enum kf_clock clock)
{
    double start = kf_host_us();
    bool one_more = !l->cold && !l->is_long;
    if (one_more)
        enqueue_once(l);
    double total = clock == KF_CALL    ? call_us(l)
                   : clock == KF_GRAPH ? event_us(launch_graph, l)
                                       : event_us(enqueue_all, l);
    double stopped = kf_host_us();
    CUDA_CHECK(cudaDeviceSynchronize());
    /* On the clock call the flushes are outside, so there only what comes after it counts. */
    double waited = kf_host_us() - (clock == KF_CALL ? stopped - total : start);
    double us = total / l->calls;
    l->samples++;
    if (waited - (one_more ? us : 0.0) > total * (1.0 + UNSEEN_PART) + UNSEEN_US) {
        l->unseen++;
        l->seen_us = total;
        l->waited_us = waited;
    }
    l->least_us = l->samples == 1 ? us : fmin(l->least_us, us);
    return us;
}

static void inspect(lane *l, enum kf_clock clock, const kf_audit *audit, int work)
{
    lane again = *l; /* the same graph; what is noted of this sample is not the lane's */
    audit->lend(audit->context, work);
    sample_us(&again, clock);
    audit->look(audit->context, work);
}

/* One call by itself, on a device that was busy for a millisecond, so that its clock rate is the
 * same whatever the host did before; from a cold L2 where there is a flush, as what renews the
 * inputs leaves them in the L2. */
static double alone_us(const lane *l)
{
    for (int i = 0; i < BUSY; i++)
        if (flush_data)
            flush();
        else
            kf_probe_wait(stream);
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return event_us(l->graph ? launch_graph : enqueue_once, l);
}

static double median_of(double *values, int n)
{
    kf_sort(values, n);
    return kf_percentile(values, n, 50.0);
}

static void renew(lane *l, enum kf_clock clock, const kf_audit *audit, int work)
{
    double renewed[RENEWALS], same[RENEWALS];
    int n = l->is_long ? 1 : RENEWALS;
    lane one = {.work = l->work, .calls = 1, .is_long = l->is_long};
    if (clock == KF_GRAPH)
        capture(&one);
    for (int i = 0; i < n; i++) {
        audit->renew(audit->context, work);
        renewed[i] = alone_us(&one);
        same[i] = alone_us(&one);
    }
    lane_close(&one);
    double new_us = median_of(renewed, n), same_us = median_of(same, n);
    if (new_us > same_us * (1.0 + RENEWED_PART) + RENEWED_US)
        l->found = (kf_suspicion){KF_REPLAYED, same_us, new_us};
}

static void judge(lane *l, enum kf_clock clock)
{
    if (l->found.doubt != KF_TRUSTED)
        return;
    if (2 * l->unseen > l->samples)
        l->found = (kf_suspicion){KF_UNSEEN, l->seen_us / l->calls, l->waited_us / l->calls};
    else if (calls_for(fmax(l->least_us, LEAST_US), clock) > FEWER * l->calls)
        l->found =
            (kf_suspicion){KF_SLOW_FIRST, l->calls, calls_for(fmax(l->least_us, LEAST_US), clock)};
}

void kf_doubt_text(const kf_suspicion *s, char *text, size_t size)
{
    text[0] = '\0';
    if (s->doubt == KF_UNSEEN)
        snprintf(text, size,
                 "the clock says %.3g us a call, and the device was busy for %.3g us: work that is "
                 "not on the stream that the variant is given",
                 s->clock_us, s->true_us);
    else if (s->doubt == KF_REPLAYED)
        snprintf(text, size,
                 "a call takes %.3g us on inputs that it has met, and %.3g us on new ones: a "
                 "result was kept",
                 s->clock_us, s->true_us);
    else if (s->doubt == KF_SLOW_FIRST)
        snprintf(text, size,
                 "after its first calls a sample was given %.0f call%s, and by the later ones it "
                 "should have had %.0f: the first calls were slower",
                 s->clock_us, s->clock_us == 1.0 ? "" : "s", s->true_us);
    else if (s->doubt == KF_PERSISTS)
        snprintf(text, size,
                 "a launch asks that lines stay in the L2, and a flush would not clear them");
}

/* Warms the work up and chooses how many calls make a sample. A single call includes the latency of
 * its launch, so the first choice is too small for short kernels: a first sample corrects it. */
static lane lane_open(const kf_work *work, kf_timing timing)
{
    lane l = {.work = work, .cold = timing.l2 == KF_COLD, .calls = 1};
    double once = INFINITY;
    for (int i = 0; i < 3 && (i == 0 || once < LONG_US); i++)
        once = fmin(once, event_us(enqueue_once, &l));
    l.is_long = once >= LONG_US;
    for (int i = 0; i < 2; i++) {
        int calls = calls_for(once, timing.clock);
        if (i > 0 && calls < 2 * l.calls)
            break;
        lane_close(&l);
        l.calls = calls;
        if (timing.clock == KF_GRAPH)
            capture(&l);
        if (l.is_long)
            break;
        once = fmax(sample_us(&l, timing.clock), LEAST_US);
    }
    return l;
}

/* An idle device runs at a low clock rate: keep it busy until that is over. Once a program. */
static void warm_up(const kf_work *work)
{
    double end = kf_host_us() + WARM_UP_S * 1e6;
    while (!warm && kf_host_us() < end) {
        work->enqueue(work->context, stream);
        CUDA_CHECK(cudaStreamSynchronize(stream));
    }
    warm = true;
}

/* Each work once, in an order of their own. */
static void inspect_all(lane *lanes, int n, enum kf_clock clock, const kf_audit *audit)
{
    int *order = kf_alloc(n, sizeof *order);
    kf_shuffle(order, n, kf_fresh_seed(), 0);
    for (int i = 0; i < n; i++)
        if (!audit->brief || !lanes[order[i]].is_long)
            inspect(&lanes[order[i]], clock, audit, order[i]);
    free(order);
}

void kf_time(const kf_work *works, int n, kf_timing timing, int max_rounds, uint64_t seed,
             kf_stat *stat)
{
    kf_time_audited(works, n, timing, max_rounds, seed, NULL, NULL, stat);
}

void kf_time_audited(const kf_work *works, int n, kf_timing timing, int max_rounds, uint64_t seed,
                     const kf_audit *audit, kf_suspicion *found, kf_stat *stat)
{
    int most = max_rounds < MOST_ROUNDS ? max_rounds : MOST_ROUNDS, rounds = 0;
    double *samples = kf_alloc((int64_t)n * most, sizeof *samples);
    lane *lanes = kf_alloc(n, sizeof *lanes), flush_lane = {0};
    int *order = kf_alloc(n, sizeof *order);
    bool subtract = timing.l2 == KF_COLD && timing.clock != KF_CALL;
    bool looks = audit && audit->lend, looks_early = looks && !audit->brief;
    kf_device_lock(KF_EXCLUSIVE);
    warm_up(&works[0]);
    kf_divert_output(true);
    for (int i = 0; i < n; i++) {
        lanes[i] = lane_open(&works[i], timing);
        if (kf_persists())
            lanes[i].found.doubt = KF_PERSISTS;
    }
    if (subtract)
        flush_lane = lane_open(NULL, timing);
    int secret = (int)kf_random_below(kf_fresh_seed(), 0, INSPECTED_BEFORE); /* a round */
    double start = kf_host_us();
    enum kf_verdict verdict = KF_GO_ON;
    while (verdict == KF_GO_ON) {
        if (looks_early && rounds == secret) {
            double before_us = kf_host_us();
            inspect_all(lanes, n, timing.clock, audit);
            start += kf_host_us() - before_us;
        }
        double flush_us = subtract ? sample_us(&flush_lane, timing.clock) : 0.0;
        kf_shuffle(order, n, seed, rounds);
        for (int i = 0; i < n; i++) {
            int v = order[i];
            double us = sample_us(&lanes[v], timing.clock) - flush_us;
            samples[(int64_t)v * most + rounds] = fmax(us, LEAST_US);
        }
        rounds++;
        verdict =
            kf_decide(samples, n, most, rounds, most, (kf_host_us() - start) * 1e-6, BUDGET_S);
    }
    kf_summarise(samples, n, most, rounds, verdict == KF_STABLE, stat);
    if (looks) /* a work may have kept its first results for the last rounds */
        inspect_all(lanes, n, timing.clock, audit);
    for (int i = 0; i < n; i++) {
        if (audit) {
            judge(&lanes[i], timing.clock);
            if (lanes[i].found.doubt == KF_TRUSTED && audit->renew && !audit->brief)
                renew(&lanes[i], timing.clock, audit, i);
            found[i] = lanes[i].found;
        }
        lane_close(&lanes[i]);
    }
    kf_divert_output(false);
    lane_close(&flush_lane);
    free(samples);
    free(lanes);
    free(order);
    kf_device_lock(KF_UNLOCKED);
}
