/* exactness.c: whether a variant is as exact as it was.
 *
 * A bound holds whatever the numbers are, so what is right uses a few hundredths of it, and what
 * has become ten times less exact may stay within. So each variant was run by many seeds, and
 * plots/data/cpu/step-NN-exactness.tsv holds the most that was seen of each of its outputs: the
 * root mean square of error/bound over the elements that have a reference, and the largest of them.
 * A variant that passes the bound and exceeds one of the two by more than its margin is wrong.
 *
 * The margins let other right ways pass, which sum in another order or round once more. The mean
 * hardly differs between seeds. The largest is one element's, and does. */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MEAN_MARGIN = 2.0, LARGEST_MARGIN = 4.0;

const char kf_exactness_columns[] = "variant\tcase\ttensor\tmean\tlargest\n";

typedef struct seen {
    char variant[64], case_name[64], tensor[32];
    double mean, largest;
} seen;

struct kf_exactness {
    seen *of;
    int n;
};

static double mean_of(const kf_details *d)
{
    return d->ratios > 0 ? sqrt(d->square_ratio / (double)d->ratios) : 0.0;
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
        bool by_mean = mean > MEAN_MARGIN * was->mean;
        if (!by_mean && d->max_ratio <= LARGEST_MARGIN * was->largest)
            return true;
        snprintf(why, size,
                 "%s is less exact than a right one: %s error/bound is %.3g, %.3g was seen, and "
                 "%g times that may be",
                 tensor, by_mean ? "the mean" : "the largest", by_mean ? mean : d->max_ratio,
                 by_mean ? was->mean : was->largest, by_mean ? MEAN_MARGIN : LARGEST_MARGIN);
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
