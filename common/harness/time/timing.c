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
 * Two more clocks, on which variants do not come in turn, are in alone.c. */
#include "harness/time/timing.h"
#include <math.h>
#include <stdlib.h>

static const double SAMPLE_US = 1000.0, CALL_SAMPLE_US = 200.0, BUDGET_S = 1.5, WARM_UP_S = 0.2,
                    LONG_US = 1e5;
static const double LEAST_US = 0.001; /* a difference of two samples may come out below zero */
enum { MOST_CALLS = 2000, MOST_ROUNDS = 1000, L2_FACTOR = 3 };

static cudaStream_t stream; /* kf_stream() */
static cudaEvent_t before, after;
static float *flush_data; /* the memory that a flush reads: more than twice the L2, or NULL */
static int64_t flush_floats;
static bool warm; /* the device has left its idle clock rate */

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
static double sample_us(const lane *l, enum kf_clock clock)
{
    if (!l->cold && !l->is_long)
        enqueue_once(l);
    double total = clock == KF_CALL    ? call_us(l)
                   : clock == KF_GRAPH ? event_us(launch_graph, l)
                                       : event_us(enqueue_all, l);
    return total / l->calls;
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

void kf_time(const kf_work *works, int n, kf_timing timing, int max_rounds, uint64_t seed,
             kf_stat *stat)
{
    int most = max_rounds < MOST_ROUNDS ? max_rounds : MOST_ROUNDS, rounds = 0;
    double *samples = kf_alloc((int64_t)n * most, sizeof *samples);
    lane *lanes = kf_alloc(n, sizeof *lanes), flush_lane = {0};
    int *order = kf_alloc(n, sizeof *order);
    bool subtract = timing.l2 == KF_COLD && timing.clock != KF_CALL;
    kf_device_lock(KF_EXCLUSIVE);
    warm_up(&works[0]);
    for (int i = 0; i < n; i++)
        lanes[i] = lane_open(&works[i], timing);
    if (subtract)
        flush_lane = lane_open(NULL, timing);
    double start = kf_host_us();
    enum kf_verdict verdict = KF_GO_ON;
    while (verdict == KF_GO_ON) {
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
    for (int i = 0; i < n; i++)
        lane_close(&lanes[i]);
    lane_close(&flush_lane);
    free(samples);
    free(lanes);
    free(order);
    kf_device_lock(KF_UNLOCKED);
}
