/* unit_timing.c: percentiles, the rule to stop, and the clocks on a runtime whose time is ours. */
#define _DEFAULT_SOURCE
#include "fake.h"
#include "unit.h"
#include <math.h>
#include <unistd.h>

static void percentiles(void)
{
    const double x[] = {1, 2, 3, 4, 10};
    ok(kf_percentile(x, 5, 50) == 3 && kf_percentile(x, 5, 0) == 1 &&
           kf_percentile(x, 5, 100) == 10,
       "median, least and most");
    ok(fabs(kf_percentile(x, 5, 90) - 7.6) < 1e-12 && kf_percentile(x, 1, 95) == 1,
       "percentiles interpolate; one sample is its own");
    /* Ranks from the binomial distribution: 2 P(Bin(n, 1/2) <= low) <= 5%, e.g. n = 10: low = 1. */
    const int expected[][3] = {{6, 0, 5}, {9, 1, 7}, {10, 1, 8}, {20, 5, 14}, {100, 39, 60}};
    bool good = true;
    int low, high;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        good &= kf_median_interval(expected[i][0], &low, &high) && low == expected[i][1] &&
                high == expected[i][2];
    ok(good, "interval of the median: ranks for 6, 9, 10, 20 and 100 samples");
    ok(!kf_median_interval(5, &low, &high), "five samples have no 95%% interval");
    good = kf_median_interval(2000, &low, &high) && low == 955 && high == 1044;
    ok(good, "2000 samples: ranks %d and %d", low, high);
}

static void decisions(void)
{
    enum { N = 200 };
    double steady[N], shaky[N], both[2 * N];
    for (int i = 0; i < N; i++) {
        steady[i] = 100.0 + 0.1 * (i % 5);
        shaky[i] = 100.0 + 60.0 * ((i * 37 % 100) / 100.0);
    }
    memcpy(both, steady, sizeof steady);
    memcpy(both + N, shaky, sizeof shaky);
    ok(kf_decide(steady, 1, N, 9, 1000, 0, 1.5) == KF_GO_ON,
       "nine rounds are too few to be stable");
    ok(kf_decide(steady, 1, N, 10, 1000, 0, 1.5) == KF_STABLE, "ten steady rounds are enough");
    ok(kf_decide(shaky, 1, N, 50, 1000, 1.0, 1.5) == KF_GO_ON, "a shaky one goes on");
    ok(kf_decide(both, 2, N, 50, 1000, 1.0, 1.5) == KF_GO_ON, "one shaky variant keeps all going");
    ok(kf_decide(shaky, 1, N, 50, 1000, 1.6, 1.5) == KF_ENOUGH, "until the budget is spent");
    ok(kf_decide(steady, 1, N, 4, 1000, 9.0, 1.5) == KF_GO_ON, "but at least five rounds");
    ok(kf_decide(shaky, 1, N, 5, 1000, 9.0, 1.5) == KF_ENOUGH, "and five are enough then");
    ok(kf_decide(steady, 1, N, 3, 3, 0, 1.5) == KF_ENOUGH, "and at most --reps rounds");
    kf_stat stat[2];
    kf_summarise(both, 2, N, N, false, stat);
    ok(!stat[0].noisy && stat[1].noisy, "p5 to p95 beyond a quarter of the median is noisy");
    kf_summarise(both, 2, N, N, true, stat);
    ok(!stat[1].noisy, "unless the median is known to 1%% all the same");

    /* A drift that doubles both times leaves each round's ratio alone. */
    double drift[20];
    for (int i = 0; i < 10; i++) {
        drift[i] = 10.0 * (1 + i);
        drift[10 + i] = 20.0 * (1 + i);
    }
    kf_summarise(drift, 2, 10, 10, false, stat);
    ok(stat[1].ratio == 0.5 && stat[1].ratio_p5 == 0.5 && stat[1].ratio_p95 == 0.5 &&
           stat[0].ratio == 1.0 && stat[1].median == 110.0,
       "ratios are taken round by round");
}

/* Times that no median, mean or quotient of medians confuses with another: ratios of the rounds are
 * 1, 0.5, 0.2, 2 and 4. */
static void lopsided(void)
{
    enum { N = 50 };
    const double x[] = {10, 10, 10, 40, 40, 10, 20, 50, 20, 10};
    kf_stat stat[2];
    kf_summarise(x, 2, 5, 5, false, stat);
    ok(stat[0].median == 10.0 && stat[1].median == 20.0, "a median is no mean: %g and %g",
       stat[0].median, stat[1].median);
    ok(stat[1].ratio == 1.0 && fabs(stat[1].ratio_p5 - 0.26) < 1e-12 &&
           fabs(stat[1].ratio_p95 - 3.6) < 1e-12,
       "a ratio is the median of the rounds' ratios, not the medians' ratio: %g, %g to %g",
       stat[1].ratio, stat[1].ratio_p5, stat[1].ratio_p95);
    ok(stat[1].p5 == 10.0 && fabs(stat[1].p95 - 44.0) < 1e-12, "p5 and p95 are no others: %g, %g",
       stat[1].p5, stat[1].p95);
    /* The median of these is 100, and its interval goes from rank 17 to 32. */
    for (int side = -1; side <= 1; side += 2) {
        double one_sided[N];
        for (int i = 0; i < N; i++)
            one_sided[i] = i % 5 < 2 ? 100.0 + 10.0 * side : 100.0;
        ok(kf_decide(one_sided, 1, N, N, 1000, 0, 1.5) == KF_GO_ON,
           "a median that is not known %s is not stable", side < 0 ? "downwards" : "upwards");
    }
}

typedef struct job {
    double us, cold_us;
} job;

static void enqueue(void *context, cudaStream_t stream)
{
    const job *j = context;
    fake_work(stream, j->us, j->cold_us);
}

static bool near(double value, double expected, double share)
{
    return fabs(value - expected) <= share * expected;
}

static void clocks(void)
{
    job jobs[] = {{20.0, 8.0}, {0.5, 0.0}, {3000.0, 0.0}};
    kf_work works[] = {{enqueue, &jobs[0]}, {enqueue, &jobs[1]}, {enqueue, &jobs[2]}};
    const kf_timing timing[] = {
        {KF_GRAPH, KF_WARM}, {KF_GRAPH, KF_COLD}, {KF_STREAM, KF_WARM}, {KF_CALL, KF_COLD}};
    kf_stat s[3];
    kf_timing_begin(timing, 3);
    kf_time(works, 3, timing[0], KF_MAX_REPS, 1, s);
    ok(near(s[0].median, 20, 1e-3) && near(s[1].median, 0.5, 1e-3) && near(s[2].median, 3000, 1e-3),
       "graph clock: %.3f, %.3f, %.1f us", s[0].median, s[1].median, s[2].median);
    ok(s[0].n == 10 && near(s[1].ratio, 40, 1e-3) && near(s[2].ratio, 1 / 150.0, 1e-3),
       "ratios to work 0, stable after %d rounds", s[0].n);
    kf_time(works, 3, timing[1], KF_MAX_REPS, 1, s);
    ok(near(s[0].median, 28, 0.01) && near(s[1].median, 0.5, 0.1) && near(s[2].median, 3000, 0.01),
       "cold, flush taken out: %.3f, %.3f, %.1f us", s[0].median, s[1].median, s[2].median);
    kf_time(works, 3, timing[2], KF_MAX_REPS, 1, s);
    ok(near(s[0].median, 20, 1e-3) && near(s[1].median, 3, 1e-3),
       "stream clock: %.3f us, and a launch's %.3f us where the kernel is shorter", s[0].median,
       s[1].median);
    kf_time(works, 2, timing[3], KF_MAX_REPS, 1, s);
    ok(near(s[0].median, 33, 1e-3) && near(s[1].median, 8, 0.01),
       "call clock, cold: %.2f and %.2f us, of which 5 us synchronise", s[0].median, s[1].median);
    kf_time(works, 1, timing[0], 3, 1, s);
    ok(s[0].n == 3, "--reps bounds the rounds");
    setenv("FAKE_NOISE", "200", 1);
    kf_time(works, 1, timing[0], 60, 1, s);
    ok(s[0].noisy && s[0].n == 60 && s[0].p95 > s[0].p5 * 1.5, "noise is called noise");
    setenv("FAKE_NOISE", "0", 1);
    kf_timing_end();
}

/* --- Who comes after whom -------------------------------------------------------------------- */

enum { MOST_WORKS = 14, ROUNDS = 700 };
static int calls[2 * MOST_WORKS * ROUNDS], n_calls;

static void enqueue_and_note(void *context, cudaStream_t stream)
{
    if (n_calls < KF_COUNT_OF(calls))
        calls[n_calls++] = *(int *)context;
    fake_work(stream, 300.0, 0.0);
}

/* kf_time's order of n works: the last rounds * n calls are its rounds, for on this clock a sample
 * of such a work is one call. */
static const int *time_and_note(int n, uint64_t seed, int *rounds)
{
    static int name[MOST_WORKS];
    const kf_timing timing = {KF_CALL, KF_COLD};
    kf_work works[MOST_WORKS];
    kf_stat stat[MOST_WORKS];
    for (int v = 0; v < n; v++) {
        name[v] = v;
        works[v] = (kf_work){enqueue_and_note, &name[v]};
    }
    n_calls = 0;
    kf_timing_begin(&timing, 1);
    kf_time(works, n, timing, ROUNDS, seed, stat);
    kf_timing_end();
    *rounds = stat[0].n;
    return calls + n_calls - *rounds * n;
}

/* Within a round there are n - 1 pairs of neighbours, so each of the n (n - 1) ordered pairs is met
 * in every n-th round: six standard deviations of that are allowed. A cyclic shift has only n of
 * the pairs, each of them in nearly every round. */
static bool pairs_are_even(const int *order, int n, int rounds)
{
    static int count[MOST_WORKS][MOST_WORKS];
    bool even = true;
    memset(count, 0, sizeof count);
    for (int r = 0; r < rounds; r++)
        for (int i = 1; i < n; i++)
            count[order[r * n + i - 1]][order[r * n + i]]++;
    double share = 1.0 / n, slack = 6.0 * sqrt(rounds * share * (1.0 - share));
    for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++)
            even &= u == v ? count[u][v] == 0 : fabs(count[u][v] - rounds * share) <= slack;
    return even;
}

static bool all_in_each_round(const int *order, int n, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        unsigned met = 0;
        for (int i = 0; i < n; i++)
            met |= 1u << order[r * n + i];
        if (met != (1u << n) - 1)
            return false;
    }
    return true;
}

static void orders(void)
{
    static const int sizes[] = {2, 3, MOST_WORKS};
    static int first[MOST_WORKS * ROUNDS];
    setenv("FAKE_NOISE", "50", 1); /* or ten rounds would be enough */
    for (int i = 0; i < KF_COUNT_OF(sizes); i++) {
        int n = sizes[i], rounds, again;
        const int *order = time_and_note(n, 5, &rounds);
        ok(rounds > 200 && all_in_each_round(order, n, rounds), "%d variants: all in each of %d", n,
           rounds);
        ok(pairs_are_even(order, n, rounds), "%d variants: each directly after each other one", n);
        size_t bytes = sizeof *order * (size_t)(rounds * n);
        memcpy(first, order, bytes);
        order = time_and_note(n, 5, &again);
        ok(again >= 200 && memcmp(first, order, sizeof *order * (size_t)(200 * n)) == 0,
           "%d variants: --seed repeats the order", n);
        order = time_and_note(n, 6, &again);
        ok(again >= 200 && memcmp(first, order, sizeof *order * (size_t)(200 * n)) != 0,
           "%d variants: another seed has another", n);
    }
    setenv("FAKE_NOISE", "0", 1);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < MOST_WORKS; i++)
            first[r * MOST_WORKS + i] = (r + i) % MOST_WORKS;
    ok(!pairs_are_even(first, MOST_WORKS, ROUNDS), "a cyclic shift is told from that");
}

/* --- What a sample is ------------------------------------------------------------------------- */

/* Calls of one work in so many rounds, which are too few to be stable. */
static int calls_in_rounds(kf_timing timing, void (*body)(void *, cudaStream_t), int rounds)
{
    static int name;
    const kf_work work = {body, &name};
    kf_stat stat;
    n_calls = 0;
    kf_timing_begin(&timing, 1);
    kf_time(&work, 1, timing, rounds, 1, &stat);
    kf_timing_end();
    return n_calls;
}

static void enqueue_long(void *context, cudaStream_t stream)
{
    (void)context;
    n_calls++;
    fake_work(stream, 2e5, 0.0);
}

static void samples(void)
{
    static const struct {
        kf_timing timing;
        void (*body)(void *, cudaStream_t);
        int calls;
        const char *what;
    } expected[] = {
        {{KF_STREAM, KF_WARM}, enqueue_and_note, 5, "four calls are a millisecond, one is before"},
        {{KF_STREAM, KF_COLD}, enqueue_and_note, 3, "three with their flush, none is before"},
        {{KF_CALL, KF_WARM}, enqueue_and_note, 2, "a call is more than 0.2 ms, one is before"},
        {{KF_CALL, KF_COLD}, enqueue_and_note, 1, "none is before it"},
        {{KF_STREAM, KF_WARM}, enqueue_long, 1, "nor before one of 0.2 s"},
    };
    for (int i = 0; i < KF_COUNT_OF(expected); i++) {
        int less = calls_in_rounds(expected[i].timing, expected[i].body, 5);
        int more = calls_in_rounds(expected[i].timing, expected[i].body, 8);
        ok(more - less == 3 * expected[i].calls, "%s, %s: %d in three rounds, %s",
           kf_clock_name(expected[i].timing.clock), kf_l2_name(expected[i].timing.l2), more - less,
           expected[i].what);
    }
    const kf_timing timing = {KF_CALL, KF_WARM};
    int calls = calls_in_rounds(timing, enqueue_and_note, 5);
    ok(calls > 0.2e6 / 310 && calls < 0.2e6 / 300 + 40, "and 0.2 s of calls warm the device: %d",
       calls);
}

/* --- Ceilings --------------------------------------------------------------------------------- */

static void write_ceilings(const char *path, const char *columns, const char *after)
{
    static const char *const name[] = {"copy_tbps",       "fp32_tflops",      "tensor_f16_tflops",
                                       "launch_graph_us", "launch_stream_us", "launch_call_us"};
    FILE *to = fopen(path, "w");
    fprintf(to, "# device: x\n# copy_tbps\t99\n%s\n", columns);
    for (int i = 0; i < KF_COUNT_OF(name); i++)
        fprintf(to, "%s\t%d%s\n", name[i], i + 1, after);
    fclose(to);
}

static void ceilings(void)
{
    char path[] = "/tmp/unit_timing.XXXXXX";
    kf_ceilings c;
    close(mkstemp(path));
    write_ceilings(path, "name\tvalue\tp5\tp95\tn\tunit", "\t0.25\t70\t40\tx");
    ok(kf_ceilings_read(path, &c) && c.copy_tbps == 1 && c.fp32_tflops == 2 &&
           c.tensor_f16_tflops == 3 && c.launch_us[KF_GRAPH] == 4 && c.launch_us[KF_STREAM] == 5 &&
           c.launch_us[KF_CALL] == 6,
       "each ceiling is the value of its own row, not a percentile");
    unlink(path);
    ok(!kf_ceilings_read(path, &c) && !c.known && c.copy_tbps == 0.0, "no file, no ceilings");
}

static void limits(void)
{
    const kf_ceilings c = {true, 4.0, 50.0, 800.0, {0.5, 3.0, 8.0}, 5.0};
    kf_cost cost = {4e6, 1e6, false};
    kf_limit limit = kf_least_time(&c, &cost, KF_GRAPH);
    ok(fabs(limit.us - 1.0) < 1e-12 && !strcmp(limit.by, "bytes"), "4 MB at 4 TB/s: 1 us, bytes");
    limit = kf_least_time(&c, &cost, KF_CALL);
    ok(limit.us == 8.0 && !strcmp(limit.by, "launch"), "on the call clock the launch is the limit");
    cost.flops = 1e9;
    limit = kf_least_time(&c, &cost, KF_GRAPH);
    ok(fabs(limit.us - 20.0) < 1e-9 && !strcmp(limit.by, "flops"), "1 GFLOP at 50 TFLOP/s: 20 us");
    cost.tensor_cores = true;
    ok(fabs(kf_least_time(&c, &cost, KF_GRAPH).us - 1.25) < 1e-9, "on tensor cores 1.25 us");
    const kf_ceilings unknown = {0};
    ok(kf_least_time(&unknown, &cost, KF_GRAPH).us == 0.0, "no ceilings, no limit");
    cost = (kf_cost){4e3, 1e3, false};
    ok(kf_least_time(&c, &cost, KF_GRAPH).us == 0.5 &&
           kf_least_time(&c, &cost, KF_STREAM).us == 3 &&
           kf_least_time(&c, &cost, KF_SUSTAINED).us == 3 &&
           kf_least_time(&c, &cost, KF_COOL).us == 3,
       "a launch is that of its clock; alone, that of the stream");
}

/* Of the bytes that do not fit into the L2, all where it is cold; at 1.05 times the best rates. */
static void impossible(void)
{
    const kf_ceilings c = {true, 4.0, 50.0, 800.0, {0.5, 3.0, 8.0}, 5.0}, none = {0};
    const kf_timing warm = {KF_GRAPH, KF_WARM}, cold = {KF_GRAPH, KF_COLD};
    kf_cost cost = {5e6, 0.0, false};
    ok(fabs(kf_impossible_us(&c, &cost, &cold, 1000000) - 1.0 / 1.05) < 1e-12,
       "cold: 5 MB at the faster of 4 and 5 TB/s");
    ok(fabs(kf_impossible_us(&c, &cost, &warm, 1000000) - 0.8 / 1.05) < 1e-12,
       "warm: the L2 has 1 MB of them");
    ok(kf_impossible_us(&c, &cost, &warm, 6000000) == 0.0, "or all, and then nothing is too fast");
    cost.flops = 1e9;
    ok(fabs(kf_impossible_us(&c, &cost, &warm, 6000000) - 20.0 / 1.05) < 1e-9, "but for the flops");
    cost.tensor_cores = true;
    ok(fabs(kf_impossible_us(&c, &cost, &warm, 6000000) - 1.25 / 1.05) < 1e-9,
       "and those of tensor cores");
    ok(kf_impossible_us(&none, &cost, &cold, 0) == 0.0, "without ceilings all is possible");
}

/* --- What looks at works while they are timed ------------------------------------------------- */

static int lent, looked, renewed, samples_since; /* samples: of the work that has other inputs */

static void lend(void *context, int work)
{
    (void)context, (void)work;
    lent++;
    samples_since = 0;
}

static void look(void *context, int work)
{
    (void)context, (void)work;
    looked += samples_since > 0;
}

static void renew(void *context, int work)
{
    (void)context, (void)work;
    renewed++;
}

/* A work of 20 us; of another stream so much as well, and with each renewal so much once more. */
typedef struct odd_job {
    double aside_us, renewed_us;
    int slow_calls, renewed;
} odd_job;

static void nothing(const kf_run *run)
{
    (void)run;
}

static void enqueue_odd(void *context, cudaStream_t stream)
{
    odd_job *j = context;
    double more = j->slow_calls-- > 0 ? 1e5 : j->renewed != renewed ? j->renewed_us : 0.0;
    if (!fake_capturing())
        j->renewed = renewed;
    samples_since++;
    fake_work(stream, 20.0 + more, 0.0);
    if (j->aside_us > 0.0)
        fake_aside(j->aside_us, nothing, NULL);
}

static kf_suspicion suspicion(odd_job job, enum kf_clock clock)
{
    const kf_work work = {enqueue_odd, &job};
    const kf_audit audit = {NULL, lend, look, renew, false};
    const kf_timing timing = {clock, KF_WARM};
    kf_suspicion found;
    kf_stat stat;
    lent = looked = 0;
    kf_timing_begin(&timing, 1);
    kf_time_audited(&work, 1, timing, KF_MAX_REPS, 1, &audit, &found, &stat);
    kf_timing_end();
    return found;
}

static void audited(void)
{
    kf_suspicion found = suspicion((odd_job){.aside_us = 0.0}, KF_STREAM);
    ok(found.doubt == KF_TRUSTED && lent == 2 && looked == 2 && renewed > 0,
       "an honest work is trusted, and was looked at twice");
    found = suspicion((odd_job){.aside_us = 4.0}, KF_STREAM);
    ok(found.doubt == KF_TRUSTED, "a fifth more on another stream is not seen");
    found = suspicion((odd_job){.aside_us = 30.0}, KF_STREAM);
    ok(found.doubt == KF_UNSEEN && near(found.clock_us, 20, 0.01) && near(found.true_us, 30, 0.05),
       "as much again and more is: %g and %g us", found.clock_us, found.true_us);
    found = suspicion((odd_job){.aside_us = 100.0}, KF_CALL);
    ok(found.doubt == KF_UNSEEN, "also on the clock call");
    found = suspicion((odd_job){.renewed_us = 10.0}, KF_STREAM);
    ok(found.doubt == KF_TRUSTED, "10 us more on new inputs may be chance");
    found = suspicion((odd_job){.renewed_us = 12.0}, KF_STREAM);
    ok(found.doubt == KF_REPLAYED && near(found.clock_us, 20, 0.01) &&
           near(found.true_us, 32, 0.01),
       "12 us more are not: %g and %g us", found.clock_us, found.true_us);
    found = suspicion((odd_job){.slow_calls = 9}, KF_STREAM);
    ok(found.doubt == KF_SLOW_FIRST && found.clock_us == 1.0 && near(found.true_us, 50.0, 0.03),
       "slow first calls: a sample of %g call in place of %g", found.clock_us, found.true_us);
}

int main(void)
{
    percentiles();
    decisions();
    lopsided();
    clocks();
    orders();
    samples();
    ceilings();
    limits();
    impossible();
    audited();
    return done();
}
