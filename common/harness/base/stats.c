/* stats.c: medians, percentiles, and when to stop measuring. Times are not normal: a few are far
 * too long, none too short. So no means and no standard deviations here. */
#include "harness/base/base.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The rules of kf_decide and kf_summarise. */
static const double STABLE = 0.01; /* the median's interval lies within 1% of it */
static const double NOISY = 0.25;  /* (p95 - p5) / median above this, and not stable: noisy */
enum { LEAST_STABLE = 10, LEAST_EVER = 5 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void kf_sort(double *values, int64_t n)
{
    qsort(values, (size_t)n, sizeof *values, ascending);
}

double kf_percentile(const double *sorted, int n, double percent)
{
    double at = (n - 1) * percent / 100.0;
    int below = (int)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] + (at - below) * (sorted[below + 1] - sorted[below]);
}

/* The k-th smallest of n samples exceeds the true median with the probability that fewer than k of
 * n coin tosses show heads. This gives a 95% interval for any distribution (David and Nagaraja,
 * Order Statistics, 2003, section 7.1; Hoefler and Belli, Scientific benchmarking of parallel
 * computing systems, SC 2015, section 3.1.3). */
bool kf_median_interval(int n, int *low, int *high)
{
    double term = exp2(-n), below = 0.0; /* P(exactly k heads), P(at most k heads) */
    if (n > 1000) {                      /* the normal approximation is exact enough here */
        *low = (int)floor((n - 1.96 * sqrt(n)) / 2.0) - 1;
        *high = n - 1 - *low;
        return true;
    }
    int rank = -1;
    for (int k = 0; k < n; k++) {
        below += term;
        if (below > 0.025)
            break;
        rank = k;
        term *= (double)(n - k) / (k + 1);
    }
    if (rank < 0)
        return false;
    *low = rank;
    *high = n - 1 - rank;
    return true;
}

static bool stable(const double *samples, int n)
{
    int low, high;
    if (!kf_median_interval(n, &low, &high))
        return false;
    double *sorted = kf_alloc(n, sizeof *sorted);
    memcpy(sorted, samples, (size_t)n * sizeof *sorted);
    kf_sort(sorted, n);
    double median = kf_percentile(sorted, n, 50.0);
    bool narrow = sorted[high] <= median * (1 + STABLE) && sorted[low] >= median * (1 - STABLE);
    free(sorted);
    return narrow;
}

/* Testing after each round makes the 95% nominal: it is a rule for stopping, not a confidence. */
enum kf_verdict kf_decide(const double *samples, int variants, int stride, int n, int max_rounds,
                          double seconds, double budget)
{
    bool all = n >= LEAST_STABLE;
    for (int v = 0; all && v < variants; v++)
        all = stable(samples + (int64_t)v * stride, n);
    if (all)
        return KF_STABLE;
    if (n >= max_rounds || (seconds >= budget && n >= LEAST_EVER))
        return KF_ENOUGH;
    return KF_GO_ON;
}

/* Leaves the samples, in order, in sorted [n]. */
static double median_of(const double *samples, int n, double *sorted)
{
    memcpy(sorted, samples, (size_t)n * sizeof *sorted);
    kf_sort(sorted, n);
    return kf_percentile(sorted, n, 50.0);
}

void kf_summarise(const double *samples, int variants, int stride, int n, bool is_stable,
                  kf_stat *stat)
{
    double *sorted = kf_alloc(n, sizeof *sorted);
    for (int v = 0; v < variants; v++) {
        const double *mine = samples + (int64_t)v * stride;
        kf_stat *s = &stat[v];
        s->half[0] = median_of(mine, n > 1 ? n / 2 : n, sorted);
        s->half[1] = median_of(mine + n / 2, n - n / 2, sorted);
        s->n = n;
        s->median = median_of(mine, n, sorted);
        s->p5 = kf_percentile(sorted, n, 5.0);
        s->p95 = kf_percentile(sorted, n, 95.0);
        s->noisy = !is_stable && s->p95 - s->p5 > NOISY * s->median;
        for (int i = 0; i < n; i++)
            sorted[i] = samples[i] / mine[i]; /* both from the same round */
        kf_sort(sorted, n);
        s->ratio = kf_percentile(sorted, n, 50.0);
        s->ratio_p5 = kf_percentile(sorted, n, 5.0);
        s->ratio_p95 = kf_percentile(sorted, n, 95.0);
    }
    free(sorted);
}
