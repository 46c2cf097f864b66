/* verify.c: compares an output with its reference, element by element. A NaN or an Inf is wrong,
 * and so is an element that is still poison; rows without a reference are searched for these too. A
 * reference may be infinite, such as the logarithm of a sum over no keys: then only that is right.
 */
#include "harness/verify/verify.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RATIOS = 1 << 20, BLOCK_ELEMENTS = 1 << 18 };

/* Of an element outside of the tensor, the first coordinate is outside. */
static void coordinates(const kf_tensor *t, int64_t index, int64_t *at)
{
    for (int axis = t->n_axes - 1; axis > 0; axis--) {
        int64_t dim = t->dim[axis];
        at[axis] = (index % dim + dim) % dim;
        index = (index - at[axis]) / dim;
    }
    at[0] = index;
}

static bool is_right(double got, double want, double bound)
{
    return isinf(want) ? got == want : fabs(got - want) <= bound; /* a NaN never is */
}

void kf_need_bounds(const kf_run *run)
{
    int outputs = 0;
    int64_t checked = 0;
    for (int s = 0; s < run->state->n; s++) {
        const kf_tensor *t = &run->state->slot[s].t;
        if (run->state->slot[s].role != KF_OUTPUT)
            continue;
        outputs++;
        for (int64_t i = 0, columns = t->dim[t->n_axes - 1]; i < t->count; i++) {
            if (!t->checked[i / columns])
                continue;
            checked++;
            if (isfinite(t->want[i]) && !isfinite(t->bound[i]))
                kf_die(KF_USAGE,
                       "case %s: the reference gives %s the bound %g at row %lld, column %lld, and "
                       "any value would be right there: need a finite number",
                       run->c->name, t->name, t->bound[i], (long long)(i / columns),
                       (long long)(i % columns));
        }
    }
    if (outputs && !checked)
        kf_die(KF_USAGE,
               "case %s: the reference checks no row of an output, and any result would be right: "
               "need checked[row] = true for each row that it computes; a row runs along the last "
               "axis, so an array of one axis is one row",
               run->c->name);
}

static void note_wrong(kf_diagnosis *seen, int64_t index, double got, double want)
{
    const kf_tensor *t = seen->tensor;
    int64_t at[KF_MAX_AXES];
    coordinates(t, index, at);
    if (seen->wrong == 0) {
        memcpy(seen->first, at, sizeof at);
        seen->details->first_got = got;
        seen->details->first_want = want;
    }
    seen->wrong++;
    for (int axis = 0; axis < t->n_axes && seen->wrong_at[axis]; axis++)
        seen->wrong_at[axis][at[axis]]++;
}

typedef struct ratios {
    double *value; /* got/want, of the first so many wrong elements */
    int64_t n;
} ratios;

/* Adds these rows to seen. With ratio NULL it stops and returns false at the first wrong element,
 * and seen is then unusable. */
static bool compare_rows(const kf_tensor *t, const void *raw, int64_t row, int64_t end,
                         kf_diagnosis *seen, ratios *ratio)
{
    int64_t i = row * seen->columns;
    for (; row < end; row++) {
        bool checked = t->checked[row];
        for (int64_t column = 0; column < seen->columns; column++, i++) {
            double got = kf_unpack(t->dtype, raw, i), want = checked ? t->want[i] : NAN;
            bool finite = isfinite(got);
            if (isinf(want) && is_right(got, want, 0.0)) {
                seen->total++;
                continue;
            }
            if (!finite && !ratio)
                return false;
            if (!finite) {
                seen->nonfinite++;
                seen->nonfinite_in_column[column]++;
                seen->unwritten += kf_is_poison(t->dtype, raw, i);
                seen->details->from_unwritten += kf_is_from_poison(t->dtype, raw, i);
                note_wrong(seen, i, got, want);
            }
            seen->total += checked || !finite;
            if (!checked || !finite)
                continue;
            double error = fabs(got - want);
            if (error > seen->details->max_err || seen->details->max_err_bound == 0.0) {
                seen->details->max_err = error;
                seen->details->max_err_bound = t->bound[i];
            }
            seen->details->ratios++;
            if (error > 0.0) {
                double part = error / t->bound[i];
                seen->details->max_ratio = fmax(seen->details->max_ratio, part);
                seen->details->square_ratio += part * part;
            }
            if (is_right(got, want, t->bound[i]))
                continue;
            if (!ratio)
                return false;
            note_wrong(seen, i, got, want);
            if (want != 0.0 && isfinite(want) && ratio->n < MOST_RATIOS)
                ratio->value[ratio->n++] = got / want;
        }
    }
    return true;
}

/* Blocks of rows are compared in parallel. The right ones are summed in order; the others, which
 * should be few, are compared again one after the other, to note each wrong element in order. */
typedef struct survey {
    const kf_tensor *t;
    const void *raw;
    int64_t rows; /* a block */
    kf_diagnosis *found;
    kf_details *details; /* of these */
    bool *right;
} survey;

static int64_t block_end(const survey *s, int64_t block)
{
    int64_t end = (block + 1) * s->rows;
    return end < s->t->rows ? end : s->t->rows;
}

static void survey_block(void *context, int64_t block)
{
    const survey *s = context;
    kf_diagnosis *found = &s->found[block];
    found->details = &s->details[block];
    found->columns = s->t->dim[s->t->n_axes - 1];
    s->right[block] = compare_rows(s->t, s->raw, block * s->rows, block_end(s, block), found, NULL);
}

static void add_right(kf_diagnosis *seen, const kf_diagnosis *found)
{
    seen->total += found->total;
    seen->details->max_ratio = fmax(seen->details->max_ratio, found->details->max_ratio);
    seen->details->square_ratio += found->details->square_ratio;
    seen->details->ratios += found->details->ratios;
    if (found->total > 0 &&
        (found->details->max_err > seen->details->max_err || seen->details->max_err_bound == 0.0)) {
        seen->details->max_err = found->details->max_err;
        seen->details->max_err_bound = found->details->max_err_bound;
    }
}

void kf_compare(const kf_tensor *t, const void *raw, kf_diagnosis *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->tensor = t;
    seen->details = kf_alloc(1, sizeof *seen->details);
    seen->columns = t->dim[t->n_axes - 1];
    for (int axis = 0; axis < t->n_axes; axis++)
        seen->wrong_at[axis] = kf_alloc(t->dim[axis], sizeof *seen->wrong_at[axis]);
    seen->wrong_in_column = seen->wrong_at[t->n_axes - 1];
    seen->nonfinite_in_column = kf_alloc(seen->columns, sizeof *seen->nonfinite_in_column);
    ratios ratio = {kf_alloc(t->count < MOST_RATIOS ? t->count : MOST_RATIOS, sizeof(double)), 0};

    survey s = {.t = t, .raw = raw, .rows = BLOCK_ELEMENTS / seen->columns + 1};
    int64_t blocks = (t->rows + s.rows - 1) / s.rows;
    s.found = kf_alloc(blocks, sizeof *s.found);
    s.details = kf_alloc(blocks, sizeof *s.details);
    s.right = kf_alloc(blocks, sizeof *s.right);
    kf_parallel(blocks, survey_block, &s);
    for (int64_t block = 0; block < blocks; block++)
        if (s.right[block])
            add_right(seen, &s.found[block]);
        else
            compare_rows(t, raw, block * s.rows, block_end(&s, block), seen, &ratio);
    free(s.found);
    free(s.details);
    free(s.right);

    kf_sort(ratio.value, ratio.n);
    seen->details->median_ratio =
        ratio.n > 0 ? kf_percentile(ratio.value, (int)ratio.n, 50.0) : NAN;
    const double spread = ratio.n > 1 ? fabs(kf_percentile(ratio.value, (int)ratio.n, 95.0) -
                                             kf_percentile(ratio.value, (int)ratio.n, 5.0))
                                      : INFINITY;
    const double size = fabs(seen->details->median_ratio);
    seen->details->same_ratio = spread < 0.01 * size;
    /* Both of its ends are rounded, once or twice. */
    seen->details->one_ratio = size > 0.0 && spread <= 4.0 * kf_unit_roundoff(t->dtype) * size;
    free(ratio.value);
}

/* Elements of a guard that are no longer poison; first: the first of them, n if there is none. */
static int64_t changed_in(const kf_tensor *t, const char *guard, int64_t n, int64_t *first)
{
    char *raw = kf_alloc(n, kf_dtype_size(t->dtype));
    int64_t changed = 0;
    CUDA_CHECK(cudaMemcpy(raw, guard, (size_t)n * kf_dtype_size(t->dtype), cudaMemcpyDeviceToHost));
    *first = n;
    for (int64_t i = n - 1; i >= 0; i--)
        if (!kf_is_poison(t->dtype, raw, i)) {
            *first = i;
            changed++;
        }
    free(raw);
    return changed;
}

void kf_look_beyond(const kf_run *run, const kf_slot *slot, kf_diagnosis *seen)
{
    const kf_tensor *t = &slot->t;
    int64_t n = kf_guard(run, slot) / (int64_t)kf_dtype_size(t->dtype), first;
    if (n == 0)
        return;
    seen->before = changed_in(t, slot->base, n, &first);
    coordinates(t, first - n, seen->details->first_before);
    const char *end = (const char *)t->device + kf_tensor_bytes(t);
    seen->after = changed_in(t, end, n, &first);
    coordinates(t, t->count + first, seen->details->first_after);
}

/* How many outputs setup declares before the one of this name. */
static int outputs_before(const kf_run *run, const char *output)
{
    const kf_tensor *t = kf_find(run, output);
    char outputs[256] = "";
    for (int i = 0, n = 0; i < run->state->n; i++) {
        const kf_slot *slot = &run->state->slot[i];
        size_t length = strlen(outputs);
        if (slot->role != KF_OUTPUT)
            continue;
        if (&slot->t == t)
            return n;
        snprintf(outputs + length, sizeof outputs - length, "%s%s", n ? ", " : "", slot->t.name);
        n++;
    }
    kf_die(KF_WRONG,
           "tensor %s of step %s is no output, and nothing has been compared; its outputs are %s",
           output, run->state->program->step, outputs);
}

const kf_diagnosis *kf_seen(const kf_run *run, const kf_diagnosis *seen, const char *output)
{
    return &seen[outputs_before(run, output)];
}

int64_t kf_wrong(const kf_run *run, const kf_diagnosis *seen)
{
    int64_t wrong = 0;
    for (int i = 0, n = 0; i < run->state->n; i++)
        if (run->state->slot[i].role == KF_OUTPUT)
            wrong += seen[n++].wrong;
    return wrong;
}

int64_t kf_wrong_by(const kf_run *run, const char *output, void (*reference)(kf_run *run))
{
    outputs_before(run, output); /* it is one */
    kf_tensor *t = kf_find(run, output);
    double *const want = t->want, *const bound = t->bound;
    bool *const checked = t->checked;
    void *raw = kf_alloc(t->count, kf_dtype_size(t->dtype));
    kf_run other = *run;
    kf_diagnosis seen;
    t->want = kf_alloc(t->count, sizeof *t->want);
    t->bound = kf_alloc(t->count, sizeof *t->bound);
    t->checked = kf_alloc(t->rows, sizeof *t->checked);
    reference(&other);
    kf_fetch(t, raw);
    kf_compare(t, raw, &seen);
    const int64_t wrong = seen.wrong;
    kf_diagnosis_free(&seen);
    free(raw);
    free(t->want);
    free(t->bound);
    free(t->checked);
    t->want = want;
    t->bound = bound;
    t->checked = checked;
    return wrong;
}

void kf_diagnosis_free(kf_diagnosis *seen)
{
    for (int axis = 0; seen->tensor && axis < seen->tensor->n_axes; axis++)
        free(seen->wrong_at[axis]);
    free(seen->nonfinite_in_column);
    free(seen->details);
    memset(seen, 0, sizeof *seen);
}

void kf_errors_write(FILE *to, const char *variant, const char *case_name, const kf_tensor *t,
                     const void *raw)
{
    int64_t part = t->count / t->dim[0], columns = t->dim[t->n_axes - 1];
    for (int64_t index = 0; index < t->dim[0]; index++) {
        double worst = 0.0, largest = 0.0;
        int64_t wrong = 0;
        for (int64_t i = index * part; i < (index + 1) * part; i++) {
            double error = fabs(kf_unpack(t->dtype, raw, i) - t->want[i]);
            if (!t->checked[i / columns])
                continue;
            bool right = is_right(kf_unpack(t->dtype, raw, i), t->want[i], t->bound[i]);
            wrong += !right;
            if (right && isinf(t->want[i]))
                continue;
            worst = isfinite(error) ? fmax(worst, error) : INFINITY;
            largest = fmax(largest, fabs(t->want[i]));
        }
        fprintf(to, "%s\t%s\t%s\t%lld\t%.6g\t%.6g\t%lld\n", variant, case_name, t->name,
                (long long)index, worst, largest, (long long)wrong);
    }
}

void kf_dump_write(FILE *to, const char *variant, const char *case_name, const kf_tensor *t,
                   const void *raw)
{
    fprintf(to, "%s %s %s %s", variant, case_name, t->name, kf_dtype_name(t->dtype));
    for (int axis = 0; axis < t->n_axes; axis++)
        fprintf(to, " %lld", (long long)t->dim[axis]);
    fputc('\n', to);
    fwrite(raw, kf_dtype_size(t->dtype), (size_t)t->count, to);
}

void kf_map_write(FILE *to, const char *variant, const kf_tensor *t, const void *raw)
{
    int64_t columns = t->dim[t->n_axes - 1], rows = t->n_axes > 1 ? t->dim[t->n_axes - 2] : 1;
    fprintf(to, "# variant %s\n", variant);
    for (int64_t row = t->rows - rows; row < t->rows; row++) {
        for (int64_t column = 0; column < columns; column++) {
            int64_t i = row * columns + column;
            double got = kf_unpack(t->dtype, raw, i);
            bool right = t->checked[row] && is_right(got, t->want[i], t->bound[i]);
            int mark = right ? 0 : !isfinite(got) ? 2 : t->checked[row];
            fprintf(to, column ? " %d" : "%d", mark);
        }
        fputc('\n', to);
    }
    fputs("\n\n", to); /* two blank lines end a data set of gnuplot's index */
}
