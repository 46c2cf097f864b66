/* alone.c: two clocks on which each variant runs by itself.
 *
 * sustained: the steady state under the power limit, when the clock rate has settled. IDLE_S
 * without work, then calls back to back for WARMING_S, which do not count, and for TIMED_S, which
 * do.
 *
 * cool: short bursts at the boost clock, before the power limit acts. IDLE_S without work, then
 * COOL_SAMPLES samples, each waited for, of one call, or of as many as take COOL_S.
 *
 * A kernel that keeps the tensor cores busy draws more than the power limit, and within half a
 * second the device lowers its clock rate, by an amount that depends on the kernel. Interleaved
 * sample by sample, as in timing.c, all variants would share one clock rate, and the one that draws
 * most would gain by the others. So here each runs alone, after the same idle time. The device also
 * gets warmer in the course of a run. So work 0, the baseline, is timed before, between and after
 * the repetitions of the others, and every second repetition has the order of the one before it
 * reversed: no variant is early or late on average. A ratio is to the mean of the two places of
 * work 0 around the repetition. A place is one work, timed once.
 *
 * The L2 is warm. Events are recorded between windows of calls, so nothing waits for the host. */
#include "harness/time/timing.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double IDLE_S = 0.5, WARMING_S = 0.35, TIMED_S = 0.35, COOL_S = 1e-3;
static const double LOOK_US = 1e4; /* between two readings of clock rate and power */
enum { WINDOWS = 10, COOL_SAMPLES = 20, MOST_READINGS = 512 };

/* Readings of the device while a place was timed. */
typedef struct watch {
    kf_rates reading[MOST_READINGS];
    double at_us[MOST_READINGS];
    int n;
} watch;

/* One kf_time_alone. */
typedef struct session {
    const kf_work *works;
    const double *once; /* [works]: how long a call takes, about */
    bool cool;
    int samples;                    /* of a place */
    cudaEvent_t event[WINDOWS + 1]; /* of which cool needs two */
    watch seen;
    kf_place *places;
    int n_places;
} session;

static void look(watch *seen)
{
    static bool said;
    char why[128];
    double now = kf_host_us();
    if (seen->n == MOST_READINGS || (seen->n > 0 && now - seen->at_us[seen->n - 1] < LOOK_US))
        return;
    if (kf_rates_read(&seen->reading[seen->n], why, sizeof why)) {
        seen->at_us[seen->n++] = now;
    } else if (!said) {
        kf_say("  no clock rates and no power: %s\n", why);
        said = true;
    }
}

static void enqueue(const kf_work *work, int calls)
{
    for (int i = 0; i < calls; i++)
        work->enqueue(work->context, kf_stream());
}

static double between_us(cudaEvent_t from, cudaEvent_t to)
{
    float milliseconds = 0.0f;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, from, to));
    return milliseconds * 1e3;
}

static void idle(void)
{
    CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
    kf_host_sleep_us(IDLE_S * 1e6);
}

static double about(const kf_work *work, cudaEvent_t *event)
{
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        CUDA_CHECK(cudaEventRecord(event[0], kf_stream()));
        enqueue(work, 1);
        CUDA_CHECK(cudaEventRecord(event[1], kf_stream()));
        CUDA_CHECK(cudaEventSynchronize(event[1]));
        least = fmin(least, between_us(event[0], event[1]));
    }
    return fmax(least, 1.0);
}

static int calls_in(double seconds, double once_us)
{
    return (int)fmax(1.0, ceil(seconds * 1e6 / once_us));
}

/* If the device were idle, the time between two events would include the host's launch overhead. So
 * a probe kernel of one thread keeps it waiting while everything is enqueued. The events themselves
 * take some microseconds, so short calls are not timed one by one. */
static void run_cool(session *s, const kf_work *work, double once, double *us)
{
    int calls = calls_in(COOL_S, once);
    for (int i = 0; i < COOL_SAMPLES; i++) {
        kf_probe_wait(kf_stream());
        CUDA_CHECK(cudaEventRecord(s->event[0], kf_stream()));
        enqueue(work, calls);
        CUDA_CHECK(cudaEventRecord(s->event[1], kf_stream()));
        look(&s->seen);
        CUDA_CHECK(cudaEventSynchronize(s->event[1]));
        us[i] = between_us(s->event[0], s->event[1]) / calls;
    }
}

/* Readings of clock rate and power before the timed half are dropped, as the calls are. */
static void run_sustained(session *s, const kf_work *work, double once, double *us)
{
    int calls = calls_in(TIMED_S / WINDOWS, once);
    enqueue(work, calls_in(WARMING_S, once));
    CUDA_CHECK(cudaEventRecord(s->event[0], kf_stream()));
    for (int i = 0; i < WINDOWS; i++) {
        enqueue(work, calls);
        CUDA_CHECK(cudaEventRecord(s->event[i + 1], kf_stream()));
        look(&s->seen);
    }
    while (cudaEventQuery(s->event[WINDOWS]) == cudaErrorNotReady) {
        cudaGetLastError(); /* not ready is no error, but would be taken for one */
        look(&s->seen);
        kf_host_sleep_us(1000.0);
    }
    CUDA_CHECK(cudaEventSynchronize(s->event[WINDOWS]));
    double began = kf_host_us() - between_us(s->event[0], s->event[WINDOWS]);
    for (int i = 0; i < WINDOWS; i++)
        us[i] = between_us(s->event[i], s->event[i + 1]) / calls;
    int early = 0;
    while (early < s->seen.n && s->seen.at_us[early] < began)
        early++;
    s->seen.n -= early;
    memmove(s->seen.reading, s->seen.reading + early, sizeof *s->seen.reading * (size_t)s->seen.n);
}

static kf_spread spread_of(double *values, int n)
{
    kf_sort(values, n);
    return (kf_spread){kf_percentile(values, n, 50.0), kf_percentile(values, n, 5.0),
                       kf_percentile(values, n, 95.0)};
}

static void summarise_place(const watch *seen, const double *us, int n, kf_place *place)
{
    double sorted[MOST_READINGS];
    memcpy(sorted, us, sizeof *us * (size_t)n);
    place->us = spread_of(sorted, n);
    place->samples = n;
    place->readings = seen->n;
    for (int i = 0; i < seen->n; i++) {
        sorted[i] = seen->reading[i].watts;
        place->capped += seen->reading[i].capped ? 1.0 / seen->n : 0.0;
    }
    if (seen->n > 0)
        place->watts = spread_of(sorted, seen->n);
    for (int i = 0; i < seen->n; i++)
        sorted[i] = seen->reading[i].mhz;
    if (seen->n > 0)
        place->mhz = spread_of(sorted, seen->n);
}

static void run_place(session *s, int w, double *us)
{
    kf_place *place = &s->places[s->n_places];
    s->seen.n = 0;
    idle();
    if (s->cool)
        run_cool(s, &s->works[w], s->once[w], us);
    else
        run_sustained(s, &s->works[w], s->once[w], us);
    memset(place, 0, sizeof *place);
    place->work = w;
    place->repetition = 1;
    for (int i = 0; i < s->n_places; i++)
        place->repetition += s->places[i].work == w;
    summarise_place(&s->seen, us, s->samples, place);
    s->n_places++;
}

int kf_places(int works, int repetitions)
{
    return repetitions + 1 + repetitions * (works - 1);
}

double kf_alone_seconds(enum kf_clock clock, int works, int repetitions)
{
    return kf_places(works, repetitions) *
           (IDLE_S + (clock == KF_COOL ? 0.0 : WARMING_S + TIMED_S));
}

/* Work 0 has a place more than the others have. Its own median is that of all its samples. */
static void summarise(const session *s, int n, int repetitions, const double *first,
                      double *samples, kf_stat *stat)
{
    int count = repetitions * s->samples;
    for (int i = 0; i < count; i++)
        samples[i] = 0.5 * (first[i] + first[i + s->samples]);
    kf_summarise(samples, n, count, count, false, stat);
    kf_summarise(first, 1, count + s->samples, count + s->samples, false, stat);
}

void kf_time_alone(const kf_work *works, int n, enum kf_clock clock, int repetitions, uint64_t seed,
                   kf_stat *stat, kf_place *places)
{
    session s = {.works = works, .cool = clock == KF_COOL, .places = places};
    s.samples = s.cool ? COOL_SAMPLES : WINDOWS;
    const int count = repetitions * s.samples, others = n - 1;
    double *samples = kf_alloc((int64_t)n * count, sizeof *samples);
    double *first = kf_alloc(count + s.samples, sizeof *first), *once = kf_alloc(n, sizeof *once);
    int *order = kf_alloc(n, sizeof *order);
    kf_device_lock(KF_EXCLUSIVE);
    for (int i = 0; i <= WINDOWS; i++)
        CUDA_CHECK(cudaEventCreate(&s.event[i]));
    for (int w = 0; w < n; w++)
        once[w] = about(&works[w], s.event);
    s.once = once;
    run_place(&s, 0, first);
    for (int repetition = 0; repetition < repetitions; repetition++) {
        kf_shuffle(order, others, seed, repetition / 2);
        for (int i = 0; i < others; i++) {
            int w = 1 + order[repetition % 2 ? others - 1 - i : i];
            run_place(&s, w, samples + (int64_t)w * count + repetition * s.samples);
        }
        run_place(&s, 0, first + (repetition + 1) * s.samples);
    }
    summarise(&s, n, repetitions, first, samples, stat);
    for (int i = 0; i <= WINDOWS; i++)
        CUDA_CHECK(cudaEventDestroy(s.event[i]));
    free(samples);
    free(first);
    free(once);
    free(order);
    kf_device_lock(KF_UNLOCKED);
}

/* --- What --rates writes ---------------------------------------------------------------------- */

static void write_spread(FILE *to, bool known, kf_spread spread)
{
    if (known)
        fprintf(to, "\t%.6g\t%.6g\t%.6g", spread.median, spread.p5, spread.p95);
    else
        fprintf(to, "\t-\t-\t-");
}

/* No power on the clock cool: the driver's reading is up to 0.1 s old, longer than a place takes.
 */
void kf_rates_write(FILE *to, const char *variant, const kf_case *c, enum kf_clock clock, int place,
                    const kf_place *p)
{
    kf_put_case(to, variant, c);
    fprintf(to, "\t%s\t%d\t%d", kf_clock_name(clock), place, p->repetition);
    write_spread(to, true, p->us);
    fprintf(to, "\t%d\t%d", p->samples, p->readings);
    write_spread(to, p->readings > 0, p->mhz);
    write_spread(to, p->readings > 0 && clock == KF_SUSTAINED, p->watts);
    fprintf(to, p->readings > 0 ? "\t%.3g\n" : "\t-\n", 100.0 * p->capped);
}
