/* diagnosis.c: turns the counts of a comparison into findings, one line each. */
#include "harness/verify/verify.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32, MOST_RANGES = 4 };

static void append(char *text, size_t size, const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", more);
}

static int64_t count_marks(const int64_t *marks, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += marks[i] != 0;
    return count;
}

/* The step between marked indices when it is the same throughout, 0 otherwise. */
static int64_t regular_step(const int64_t *marks, int64_t n)
{
    int64_t last = -1, step = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!marks[i])
            continue;
        if (last >= 0 && step == 0)
            step = i - last;
        else if (last >= 0 && i - last != step)
            return 0;
        last = i;
    }
    return step;
}

void kf_ranges(const int64_t *marks, int64_t n, char *text, size_t size)
{
    int ranges = 0;
    int64_t first = -1, last = -1;
    text[0] = '\0';
    for (int64_t i = 0; i < n; i++) {
        if (!marks[i])
            continue;
        int64_t end = i;
        while (end + 1 < n && marks[end + 1])
            end++;
        char one[64];
        snprintf(one, sizeof one, end > i ? "%s%lld-%lld" : "%s%lld", ranges ? ", " : "",
                 (long long)i, (long long)end);
        append(text, size, one);
        first = first < 0 ? i : first;
        last = end;
        ranges++;
        i = end;
    }
    if (ranges <= MOST_RANGES)
        return;
    int64_t step = regular_step(marks, n), count = count_marks(marks, n);
    if (step > 1)
        snprintf(text, size, "every %lld%s from %lld to %lld", (long long)step,
                 step == 2   ? "nd"
                 : step == 3 ? "rd"
                             : "th",
                 (long long)first, (long long)last);
    else
        snprintf(text, size, "%lld between %lld and %lld", (long long)count, (long long)first,
                 (long long)last);
}

static const char *axis_word(const kf_tensor *t, int axis)
{
    static const char *const known[] = {"Bbatch",  "Hhead",     "Srow",
                                        "Dcolumn", "Pposition", "Llayer"};
    static char letter[KF_MAX_AXES][8];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == t->axes[axis])
            return known[i] + 1;
    snprintf(letter[axis], sizeof letter[axis], "%c", t->axes[axis]);
    return letter[axis];
}

/* printf writes nan, -nan or nan(...), as the C library likes. */
static const char *number(double value, int digits, char text[32])
{
    if (isfinite(value))
        snprintf(text, 32, "%.*g", digits, value);
    else
        snprintf(text, 32, "%s", isnan(value) ? "NaN" : value > 0 ? "Inf" : "-Inf");
    return text;
}

/* Which warps write the wrong columns, and whether that is the whole story: every column of these
 * warps is wrong, every column of the others right. */
static void print_warps(FILE *to, const kf_diagnosis *seen, int block)
{
    int64_t wrong_warp[32] = {0}, right_warp[32] = {0}, wrong_thread[1024] = {0};
    int warps = (block + WARP - 1) / WARP;
    if (block < 1 || block > 1024)
        return;
    bool split = false;
    for (int64_t column = 0; column < seen->columns; column++) {
        int64_t thread = column % block;
        bool wrong = seen->wrong_in_column[column] > 0;
        wrong_thread[thread] |= wrong;
        (wrong ? wrong_warp : right_warp)[thread / WARP] = 1;
    }
    for (int w = 0; w < warps; w++)
        split |= wrong_warp[w] && right_warp[w];
    char threads[128], wrong[128], right[128];
    kf_ranges(wrong_thread, block, threads, sizeof threads);
    kf_ranges(wrong_warp, warps, wrong, sizeof wrong);
    kf_ranges(right_warp, warps, right, sizeof right);
    fprintf(to, "    written by warp%s %s of %d (thread%s %s)", strpbrk(wrong, "-, ") ? "s" : "",
            wrong, warps, strpbrk(threads, "-, ") ? "s" : "", threads);
    if (split)
        fprintf(to, "; parts of warps, so no warp boundary\n");
    else if (right[0])
        fprintf(to, "; all that warp%s %s write%s is right\n", strpbrk(right, "-, ") ? "s" : "",
                right, strpbrk(right, "-, ") ? "" : "s");
    else
        fprintf(to, "\n");
}

/* Where along one axis. "all 64" says that every index of it has something wrong. */
static void print_axis(FILE *to, const kf_diagnosis *seen, int axis)
{
    const kf_tensor *t = seen->tensor;
    const int64_t *marks = seen->wrong_at[axis];
    int64_t n = t->dim[axis], count = count_marks(marks, n);
    if (n == 1)
        return;
    char where[128];
    kf_ranges(marks, n, where, sizeof where);
    const char *word = axis_word(t, axis);
    fprintf(to, "    %s%s: ", word, strcmp(word, "batch") == 0 ? "es" : "s");
    if (count == n)
        fprintf(to, "all %lld\n", (long long)n);
    else
        fprintf(to, "%s of 0-%lld; the others right\n", where, (long long)n - 1);
}

void kf_unread_print(FILE *to, const kf_slot *slot, const bool *marks)
{
    const kf_tensor *t = &slot->t;
    const char *of = slot->role == KF_INPUT ? "the input" : "what kernels wrote to";
    int64_t n_marks = 0;
    for (int64_t i = 0; i < t->count; i++)
        n_marks += marks[i];
    if (n_marks == t->count) {
        fprintf(to, "    never read: all of %s %s\n", of, t->name);
        return;
    }
    for (int axis = 0; axis < t->n_axes; axis++) {
        const int64_t n = t->dim[axis];
        int64_t *whole = kf_alloc(n, sizeof *whole), inner = 1;
        for (int further = axis + 1; further < t->n_axes; further++)
            inner *= t->dim[further];
        for (int64_t i = 0; i < n; i++)
            whole[i] = 1;
        for (int64_t at = 0; at < t->count;)
            for (int64_t i = 0; i < n; i++)
                for (int64_t k = 0; k < inner; k++)
                    whole[i] &= marks[at++];
        char where[128];
        kf_ranges(whole, n, where, sizeof where);
        const char *word = axis_word(t, axis), *es = strcmp(word, "batch") == 0 ? "es" : "s";
        if (where[0] && n > 1)
            fprintf(to, "    never read: %s%s %s of 0-%lld of %s %s\n", word, es, where,
                    (long long)n - 1, of, t->name);
        free(whole);
    }
}

static void print_nonfinite(FILE *to, const kf_diagnosis *seen)
{
    char where[128];
    kf_ranges(seen->nonfinite_in_column, seen->columns, where, sizeof where);
    bool everywhere = count_marks(seen->nonfinite_in_column, seen->columns) == seen->columns;
    fprintf(to, "    NaN or Inf: %lld, in %s%s\n", (long long)seen->nonfinite,
            everywhere ? "every column" : "columns ", everywhere ? "" : where);
    if (seen->unwritten > 0)
        fprintf(to, "    unwritten: %lld%s still carry the poison the harness put there\n",
                (long long)seen->unwritten,
                seen->unwritten == seen->nonfinite ? " (all of them)" : "");
    else if (seen->details->from_unwritten == 0)
        fprintf(to, "    unwritten: none; the kernel wrote these values\n");
    if (seen->details->from_unwritten > 0)
        fprintf(to, "    %lld were computed from memory that nobody wrote\n",
                (long long)seen->details->from_unwritten);
}

static void print_coordinates(FILE *to, const kf_tensor *t, const int64_t *at)
{
    for (int axis = 0; axis < t->n_axes; axis++)
        fprintf(to, "%s %s %lld", axis ? "," : "", axis_word(t, axis), (long long)at[axis]);
}

static void print_beyond(FILE *to, const kf_tensor *t, const char *side, int64_t elements,
                         const int64_t *first)
{
    if (elements == 0)
        return;
    fprintf(to, "    written %s it: %lld element%s, first at", side, (long long)elements,
            elements == 1 ? "" : "s");
    print_coordinates(to, t, first);
    fputc('\n', to);
}

/* Many elements are off by the same factor, which is no other thing: a ratio near 1 is rounding,
 * one near 0 something that was never added, one near -1 a sign. In one row it may be its sum. */
static bool lacks_factor(const kf_diagnosis *seen)
{
    double factor = fabs(seen->details->median_ratio);
    return seen->details->same_ratio && seen->tensor->rows > 1 &&
           seen->wrong - seen->nonfinite >= WARP && factor > 0.01 && fabs(factor - 1.0) > 0.05;
}

void kf_diagnosis_print(FILE *to, const kf_diagnosis *seen, int block)
{
    const kf_tensor *t = seen->tensor;
    fprintf(to, "  %s: %lld of %lld elements wrong, %lld of them NaN or Inf\n", t->name,
            (long long)seen->wrong, (long long)seen->total, (long long)seen->nonfinite);
    print_beyond(to, t, "before", seen->before, seen->details->first_before);
    print_beyond(to, t, "after", seen->after, seen->details->first_after);
    if (seen->wrong == 0)
        return;
    fprintf(to, "    first at");
    print_coordinates(to, t, seen->first);
    char got[32], want[32];
    number(seen->details->first_got, 4, got);
    number(seen->details->first_want, 4, want);
    if (strcmp(got, want) == 0) { /* they differ further behind */
        number(seen->details->first_got, 9, got);
        number(seen->details->first_want, 9, want);
    }
    if (isnan(seen->details->first_want))
        fprintf(to, ": got %s (this row has no reference)\n", got);
    else
        fprintf(to, ": got %s, want %s\n", got, want);
    for (int axis = 0; axis < t->n_axes; axis++)
        print_axis(to, seen, axis);
    if (block > 0)
        print_warps(to, seen, block);
    if (seen->nonfinite > 0)
        print_nonfinite(to, seen);
    const double off = fabs(seen->details->median_ratio - 1.0);
    /* Ratios that are the same to a hundredth may all be about 1, and differ: rounding is no
     * factor. */
    const bool throughout = seen->details->one_ratio || (seen->details->same_ratio && off > 0.05);
    if (isfinite(off))
        fprintf(to, "    where finite: got/want is %.*g%s%s\n", off < 0.005 ? 9 : 3,
                seen->details->median_ratio, throughout && off > 0.01 ? " throughout" : " (median)",
                lacks_factor(seen) ? ": a missing factor?" : "");
}
