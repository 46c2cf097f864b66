/* unit_alone.c: the clocks sustained and cool, on a device that gets hot and is then slower. */
#define _DEFAULT_SOURCE
#include "fake.h"
#include "unit.h"
#include <math.h>

typedef struct job {
    double us, heat; /* heat: how much longer it takes on a hot device */
} job;

enum { MOST_CALLS = 1 << 20 };
static struct {
    const job *of;
    double at_us;
} calls[MOST_CALLS];
static int n_calls;

static void enqueue(void *context, cudaStream_t stream)
{
    const job *j = context;
    if (n_calls < MOST_CALLS) {
        calls[n_calls].of = j;
        calls[n_calls++].at_us = kf_host_us();
    }
    fake_heat = j->heat;
    fake_work(stream, j->us, 0.0);
}

static bool near(double value, double expected, double share)
{
    return fabs(value - expected) <= share * expected;
}

enum { WORKS = 4, REPETITIONS = 2, PLACES = REPETITIONS + 1 + REPETITIONS * (WORKS - 1) };
static job jobs[WORKS] = {{900.0, 0.1}, {450.0, 0.3}, {2000.0, 0.0}, {30000.0, 0.2}};

static void time_all(enum kf_clock clock, uint64_t seed, kf_stat *stat, kf_place *places)
{
    kf_work works[WORKS];
    for (int i = 0; i < WORKS; i++)
        works[i] = (kf_work){enqueue, &jobs[i]};
    n_calls = 0;
    kf_timing_begin(NULL, 0);
    kf_time_alone(works, WORKS, clock, REPETITIONS, seed, stat, places);
    kf_timing_end();
}

static void times(void)
{
    kf_stat s[WORKS];
    kf_place p[PLACES];
    bool good = true;
    time_all(KF_SUSTAINED, 1, s, p);
    for (int i = 0; i < WORKS; i++)
        good &= near(s[i].median, jobs[i].us * (1.0 + jobs[i].heat), 1e-3);
    ok(good, "sustained: each at its own heat: %.0f, %.0f, %.0f and %.0f us", s[0].median,
       s[1].median, s[2].median, s[3].median);
    ok(near(s[1].ratio, 990.0 / 585.0, 1e-3) && near(s[2].ratio, 990.0 / 2000.0, 1e-3) &&
           s[0].ratio == 1.0,
       "ratios are those of the sustained times");
    ok(s[0].n == 30 && s[1].n == 20 && s[3].n == 20,
       "ten samples a place, work 0 has one place more");
    time_all(KF_COOL, 1, s, p);
    good = true;
    for (int i = 0; i < 3; i++) /* 20 calls of the last one are long enough to heat the device */
        good &= near(s[i].median, jobs[i].us, 1e-3);
    ok(good, "cool: before the heat is felt: %.0f, %.0f and %.0f us", s[0].median, s[1].median,
       s[2].median);
    ok(s[0].n == 60 && s[1].n == 40, "20 samples a place");
}

/* Before the first call of each place there was nothing for half a second. */
static void idleness(void)
{
    kf_stat s[WORKS];
    kf_place p[PLACES];
    int idle = 0, within = 0;
    bool right = true;
    time_all(KF_SUSTAINED, 7, s, p);
    for (int i = 1; i < n_calls; i++) {
        double gap = calls[i].at_us - calls[i - 1].at_us - calls[i - 1].of->us;
        if (gap > 4e5) {
            right &= idle < PLACES && calls[i].of == &jobs[p[idle].work];
            right &= gap > 4.9e5 && gap < 5.3e5;
            idle++;
        } else {
            within += calls[i].of != calls[i - 1].of;
        }
    }
    ok(idle == PLACES && right, "half a second without work before each of %d places", idle);
    ok(within == WORKS - 1, "and no work directly after another, but when they are first tried");
}

static void orders(void)
{
    kf_stat s[WORKS];
    kf_place p[PLACES], again[PLACES];
    bool first = true, mirrored = true, numbered = true, same = true, other = false;
    time_all(KF_COOL, 3, s, p);
    for (int repetition = 0; repetition <= REPETITIONS; repetition++)
        first &= p[repetition * WORKS].work == 0;
    for (int i = 0; i < PLACES; i++)
        mirrored &= p[i].work == p[PLACES - 1 - i].work;
    for (int i = 0; i < PLACES; i++) {
        int own = 1;
        for (int j = 0; j < i; j++)
            own += p[j].work == p[i].work;
        numbered &= p[i].repetition == own;
    }
    ok(numbered, "a place knows how many its work has had before");
    ok(first, "work 0 is timed before, between and after the others");
    ok(mirrored, "the second turn has the order of the first reversed");
    time_all(KF_COOL, 3, s, again);
    for (int i = 0; i < PLACES; i++)
        same &= p[i].work == again[i].work;
    ok(same, "--seed repeats the order");
    for (uint64_t seed = 4; seed < 9; seed++) {
        time_all(KF_COOL, seed, s, again);
        for (int i = 0; i < PLACES; i++)
            other |= p[i].work != again[i].work;
    }
    ok(other, "another seed has another");
}

/* A device that gets slower all the time: what lies between two places of work 0 is compared with
 * their mean. */
static void drift(void)
{
    enum { N = 3 };
    static job same[2] = {{1000.0, 0.0}, {1000.0, 0.0}};
    kf_stat s[2];
    kf_place p[N];
    kf_work works[] = {{enqueue, &same[0]}, {enqueue, &same[1]}};
    fake_reset_clock();
    fake_drift = 0.1;
    kf_timing_begin(NULL, 0);
    kf_time_alone(works, 2, KF_SUSTAINED, 1, 1, s, p);
    kf_timing_end();
    fake_drift = 0.0;
    ok(p[2].us.median > 1.15 * p[0].us.median, "a device that gets slower: %.0f, %.0f, %.0f us",
       p[0].us.median, p[1].us.median, p[2].us.median);
    ok(p[1].us.p5 < 0.99 * p[1].us.median && p[1].us.median < 0.99 * p[1].us.p95,
       "nor is a place's median at an end: %.0f, %.0f, %.0f us", p[1].us.p5, p[1].us.median,
       p[1].us.p95);
    ok(near(s[1].ratio, 1.0, 0.01), "does not show in a ratio: %.3f", s[1].ratio);
}

static void rates(void)
{
    kf_stat s[WORKS];
    kf_place p[PLACES];
    bool good = true;
    time_all(KF_SUSTAINED, 1, s, p);
    for (int i = 0; i < PLACES; i++)
        good &= p[i].readings == 0;
    ok(good, "a device that says nothing of itself has no readings");
    setenv("FAKE_RATES", "1", 1);
    time_all(KF_SUSTAINED, 1, s, p);
    for (int i = 0; i < PLACES; i++)
        good &= p[i].readings >= 5 && p[i].mhz.median == 1500.0 && p[i].watts.p5 == 695.0 &&
                p[i].capped > 0.99;
    ok(good, "sustained: only readings of the timed half, %d of them", p[0].readings);
    time_all(KF_COOL, 1, s, p);
    ok(p[0].readings >= 1 && p[0].mhz.median == 1980.0 && p[0].capped == 0.0, "cool: another rate");
    setenv("FAKE_RATES", "0", 1);
}

/* The host sends all calls at once and looks while they run: of 0.35 s that count the device is
 * looked at each hundredth, and what it said in the 0.35 s before, cool at first, is dropped. */
static void looked_at_while_it_runs(void)
{
    enum { N = 3 };
    static job same[2] = {{1000.0, 0.0}, {1000.0, 0.0}};
    kf_stat s[2];
    kf_place p[N];
    kf_work works[] = {{enqueue, &same[0]}, {enqueue, &same[1]}};
    bool good = true;
    setenv("FAKE_RATES", "1", 1);
    fake_reset_clock();
    fake_behind = true;
    kf_timing_begin(NULL, 0);
    kf_time_alone(works, 2, KF_SUSTAINED, 1, 1, s, p);
    kf_timing_end();
    fake_behind = false;
    setenv("FAKE_RATES", "0", 1);
    for (int i = 0; i < N; i++)
        good &= p[i].readings >= 30 && p[i].readings <= 35 && p[i].mhz.p95 == 1500.0 &&
                p[i].capped > 0.99 && near(p[i].us.median, 1000.0, 1e-3);
    ok(good, "a device that works behind the host: %d readings, up to %.0f MHz, %.0f%% capped",
       p[0].readings, p[0].mhz.p95, 100.0 * p[0].capped);
}

int main(void)
{
    times();
    idleness();
    orders();
    drift();
    rates();
    looked_at_while_it_runs();
    return done();
}
