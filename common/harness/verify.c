/* verify.c: compares an output with its reference, element by element. Nothing is skipped: a NaN or
 * an Inf is wrong, and so is an element that still carries the poison. Rows without a reference are
 * searched for such elements, which then count as compared. */
#include "internal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RATIOS = 1 << 20 };

static void coordinates(const kf_tensor *t, int64_t index, int64_t *at)
{
    for (int axis = t->n_axes - 1; axis >= 0; axis--) {
        at[axis] = index % t->dim[axis];
        index /= t->dim[axis];
    }
}

static void note_wrong(kf_diagnosis *seen, int64_t index, double got, double want)
{
    const kf_tensor *t = seen->tensor;
    int64_t at[KF_MAX_AXES];
    coordinates(t, index, at);
    if (seen->wrong == 0) {
        memcpy(seen->first, at, sizeof at);
        seen->first_got = got;
        seen->first_want = want;
    }
    seen->wrong++;
    for (int axis = 0; axis < t->n_axes; axis++)
        seen->wrong_at[axis][at[axis]]++;
}

void kf_compare(const kf_tensor *t, const void *raw, kf_diagnosis *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->tensor = t;
    seen->columns = t->dim[t->n_axes - 1];
    for (int axis = 0; axis < t->n_axes; axis++)
        seen->wrong_at[axis] = kf_alloc(t->dim[axis], sizeof *seen->wrong_at[axis]);
    seen->wrong_in_column = seen->wrong_at[t->n_axes - 1];
    seen->nonfinite_in_column = kf_alloc(seen->columns, sizeof *seen->nonfinite_in_column);
    double *ratio = kf_alloc(t->count < MOST_RATIOS ? t->count : MOST_RATIOS, sizeof *ratio);
    int64_t ratios = 0;
    for (int64_t i = 0; i < t->count; i++) {
        double got = kf_unpack(t->dtype, raw, i), want = t->want[i];
        bool checked = t->checked[i / seen->columns], finite = isfinite(got);
        if (!finite) {
            seen->nonfinite++;
            seen->nonfinite_in_column[i % seen->columns]++;
            seen->unwritten += kf_is_poison(t->dtype, raw, i);
            seen->from_unwritten += kf_is_from_poison(t->dtype, raw, i);
            note_wrong(seen, i, got, checked ? want : NAN);
        }
        seen->total += checked || !finite;
        if (!checked || !finite)
            continue;
        double error = fabs(got - want);
        if (error > seen->max_err || seen->max_err_bound == 0.0) {
            seen->max_err = error;
            seen->max_err_bound = t->bound[i];
        }
        if (error > 0.0)
            seen->max_ratio = fmax(seen->max_ratio, error / t->bound[i]);
        if (error <= t->bound[i])
            continue;
        note_wrong(seen, i, got, want);
        if (want != 0.0 && ratios < MOST_RATIOS)
            ratio[ratios++] = got / want;
    }
    kf_sort(ratio, ratios);
    seen->median_ratio = ratios > 0 ? kf_percentile(ratio, (int)ratios, 50.0) : NAN;
    seen->same_ratio = ratios > 1 && fabs(kf_percentile(ratio, (int)ratios, 95.0) -
                                          kf_percentile(ratio, (int)ratios, 5.0)) <
                                         0.01 * fabs(seen->median_ratio);
    free(ratio);
}

void kf_diagnosis_free(kf_diagnosis *seen)
{
    for (int axis = 0; seen->tensor && axis < seen->tensor->n_axes; axis++)
        free(seen->wrong_at[axis]);
    free(seen->nonfinite_in_column);
    memset(seen, 0, sizeof *seen);
}

void kf_map_write(FILE *to, const char *variant, const kf_tensor *t, const void *raw)
{
    int64_t columns = t->dim[t->n_axes - 1], rows = t->n_axes > 1 ? t->dim[t->n_axes - 2] : 1;
    fprintf(to, "# variant %s\n", variant);
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t column = 0; column < columns; column++) {
            int64_t i = row * columns + column;
            double got = kf_unpack(t->dtype, raw, i);
            bool off = t->checked[row] && !(fabs(got - t->want[i]) <= t->bound[i]);
            fprintf(to, column ? " %d" : "%d", !isfinite(got) ? 2 : off ? 1 : 0);
        }
        fputc('\n', to);
    }
    fputs("\n\n", to); /* two blank lines end a data set of gnuplot's index */
}
