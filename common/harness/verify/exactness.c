/* exactness.c: whether a variant is as exact as it was.
 *
 * A bound holds for all inputs, so a right result usually uses a few hundredths of it, and one that
 * has become ten times less exact may stay within. So each variant was run with many seeds, and
 * plots/data/cpu/step-NN-exactness.tsv records the maximum, over these, of two figures of each
 * output: the root mean square of error/bound over the elements with a reference, and the largest.
 * A variant within the bounds that exceeds either by more than a margin is wrong.
 *
 * The margins allow another order of a sum, or one more rounding, in fp32. Of an output of 16 bits
 * that is next to nothing: its mean error is that of roundings to 16 bits, which every right kernel
 * makes alike, and one more of them, or sums that are rounded between tiles, show above half as
 * much again. In a case with few elements, or
 * hardly any error, one seed in a hundred may show ten times the error of all others: so the limit
 * is at least the median over the cases of the same variant. And an error in one factor of a row, a
 * softmax probability, may be in all elements of that row: so the mean may be as large as if one
 * row had the largest recorded error, which is 1/sqrt(rows) of that. */
#include "harness/verify/verify.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const double MEAN_MARGIN = 3.0, MEAN_MARGIN_16_BITS = 1.5, LARGEST_MARGIN = 4.0;

const char kf_exactness_columns[] = "variant\tcase\ttensor\tmean\tlargest";

typedef struct seen {
    char variant[64], case_name[64], tensor[32];
    double mean, largest;
    double likely_mean, likely_largest; /* or as much as in half of the cases */
} seen;

struct kf_exactness {
    seen *of;
    int n;
};

static double mean_of(const kf_details *d)
{
    return d->ratios > 0 ? sqrt(d->square_ratio / (double)d->ratios) : 0.0;
}

static double median_of(const kf_exactness *known, const seen *like, size_t field)
{
    double *values = kf_alloc(known->n, sizeof *values);
    int n = 0;
    for (int i = 0; i < known->n; i++)
        if (strcmp(known->of[i].variant, like->variant) == 0 &&
            strcmp(known->of[i].tensor, like->tensor) == 0)
            memcpy(&values[n++], (const char *)&known->of[i] + field, sizeof *values);
    kf_sort(values, n);
    double median = kf_percentile(values, n, 50.0);
    free(values);
    return median;
}

static void set_likely(kf_exactness *known)
{
    for (int i = 0; i < known->n; i++) {
        seen *one = &known->of[i];
        one->likely_mean = fmax(one->mean, median_of(known, one, offsetof(seen, mean)));
        one->likely_largest = fmax(one->largest, median_of(known, one, offsetof(seen, largest)));
    }
}

/* NULL: nothing is known of this step. */
kf_exactness *kf_exactness_find(const char *step)
{
    char line[512], *path = kf_text("%s/plots/data/cpu/step-%s-exactness.tsv", kf_root(), step);
    FILE *file = fopen(path, "r");
    free(path);
    if (!file)
        return NULL;
    kf_exactness *known = kf_alloc(1, sizeof *known);
    while (fgets(line, sizeof line, file)) {
        seen one;
        if (sscanf(line, "%63[^\t]\t%63[^\t]\t%31[^\t]\t%lf\t%lf", one.variant, one.case_name,
                   one.tensor, &one.mean, &one.largest) != 5)
            continue; /* the header */
        known->of = realloc(known->of, (size_t)(known->n + 1) * sizeof *known->of);
        if (!known->of)
            kf_die(KF_CANNOT_RUN, "no host memory for what was seen of step %s", step);
        known->of[known->n++] = one;
    }
    fclose(file);
    set_likely(known);
    return known;
}

void kf_exactness_free(kf_exactness *known)
{
    if (known)
        free(known->of);
    free(known);
}

bool kf_is_exact(const kf_exactness *known, const char *variant, const char *case_name,
                 const kf_diagnosis *diagnosis, char *why, size_t size)
{
    const char *tensor = diagnosis->tensor->name;
    const kf_details *d = diagnosis->details;
    const double mean = mean_of(d);
    for (int i = 0; known && i < known->n; i++) {
        const seen *was = &known->of[i];
        if (strcmp(was->variant, variant) != 0 || strcmp(was->case_name, case_name) != 0 ||
            strcmp(was->tensor, tensor) != 0)
            continue;
        const double rows = (double)d->ratios / (double)diagnosis->columns;
        const double of_one_row = rows > 0 ? was->likely_largest / sqrt(rows) : 0.0;
        const double margin =
            diagnosis->tensor->dtype == KF_F32 ? MEAN_MARGIN : MEAN_MARGIN_16_BITS;
        const double mean_limit = fmax(margin * was->likely_mean, MEAN_MARGIN * of_one_row);
        const double largest_limit = LARGEST_MARGIN * was->likely_largest;
        bool by_mean = mean > mean_limit;
        if (!by_mean && d->max_ratio <= largest_limit)
            return true;
        snprintf(why, size,
                 "%s is less exact than a right one: the %s error/bound is %.3g; "
                 "%.3g was seen, and %.3g may be",
                 tensor, by_mean ? "mean" : "largest", by_mean ? mean : d->max_ratio,
                 by_mean ? was->mean : was->largest, by_mean ? mean_limit : largest_limit);
        return false;
    }
    return true;
}

void kf_exactness_write(FILE *to, const char *variant, const char *case_name,
                        const kf_diagnosis *diagnosis)
{
    fprintf(to, "%s\t%s\t%s\t%.4g\t%.4g\n", variant, case_name, diagnosis->tensor->name,
            mean_of(diagnosis->details), diagnosis->details->max_ratio);
}
