/* c-checked: an add that is given strides and type, and looks before it launches.
 *
 * Tests: no kernel of its own
 *
 * The kernel of eight elements per thread gets only views that it is right for; all others go to
 * strided_add. */
#pragma once

#include "b-strided.cuh"

#include <stdio.h>

// snippet: refusal
/* True if the elements lie one after the other, row by row. */
static bool is_contiguous(const view *v)
{
    bool contiguous = false;
    // solution: contiguous -- a stride over an extent of 1 is never used, and may be anything
    // hint: If the elements lie one after the other, where is the next element of a row, and where
    //     the next row? Strides are in elements.
    // hint: The column stride has to be 1 and the row stride v->columns, but each only where its
    //     extent is greater than 1.
    // hint: For the columns the condition is `(v->columns == 1 || v->column_stride == 1)`; that for
    //     the rows is built in the same way, and both have to be true.
    contiguous =
        (v->columns == 1 || v->column_stride == 1) && (v->rows == 1 || v->row_stride == v->columns);
    // end solution: contiguous
    return contiguous;
}

/* NULL if add_halves may have these views. Otherwise one line that says what is wrong and what
 * would be right, valid until the next call. */
static const char *refusal(const view *a, const view *b, const view *c)
{
    static char line[160];
    const view *all[] = {a, b, c};
    const long long rows = c->rows;
    const long long columns = c->columns;
    for (int k = 0; k < 3; k++) {
        const view v = *all[k];
        if (v.rows != rows || v.columns != columns) {
            snprintf(line, sizeof line, "%c is [%lld][%lld]; [%lld][%lld] is right", "abc"[k],
                     (long long)v.rows, (long long)v.columns, rows, columns);
            return line;
        }
        if (v.dtype != KF_F16) {
            snprintf(line, sizeof line, "%c is %s; f16 is right", "abc"[k],
                     v.dtype == KF_BF16 ? "bf16" : "of 32 bits");
            return line;
        }
        if (!is_contiguous(&v)) {
            snprintf(line, sizeof line, "%c has strides %lld, %lld; %lld, 1 is right", "abc"[k],
                     (long long)v.row_stride, (long long)v.column_stride, columns);
            return line;
        }
    }
    return NULL;
}

/* add_halves itself handles any alignment and any length. Views that it may not have go to
 * strided_add. */
static void checked_add(const view *a, const view *b, const view *c, cudaStream_t stream)
{
    if (refusal(a, b, c) == NULL) {
        add_halves((const half *)a->data, (const half *)b->data, (half *)c->data,
                   c->rows * c->columns, stream);
    } else {
        strided_add(a, b, c, stream);
    }
}
// end snippet: refusal

// --- Predictions --------------------------------------------------------------------------------

/* Refusals that no case covers: other extents, 32 bits and other strides are refused in each of the
 * three places beside good views, but a stride over an extent of 1 never is. NULL if that is so,
 * else what is not. */
static const char *not_refused_right(const view *good)
{
    const int64_t m = good->rows, n = good->columns;
    const char *const rows = m > 1 ? "rows that leave a gap, overlap or go back are not all refused"
                                   : "a stride over one row is refused, and is never used";
    const char *const columns =
        n > 1 ? "columns that leave a gap, repeat or go back are not all refused"
              : "a stride over one column is refused, and is never used";
    const struct {
        view other;
        bool refused;
        const char *otherwise;
    } due[] = {
        {*good, false, "elements that follow each other are refused in another place"},
        {{NULL, KF_F16, m + 1, n, n, 1}, true, "other extents are not refused"},
        {{NULL, KF_F16, m, n + 1, n + 1, 1}, true, "other extents are not refused"},
        {{NULL, KF_F32, m, n, n, 1}, true, "32 bits are not refused"},
        {{NULL, KF_F16, m, n, n + 1, 1}, m > 1, rows},
        {{NULL, KF_F16, m, n, 0, 1}, m > 1, rows},
        {{NULL, KF_F16, m, n, -n, 1}, m > 1, rows},
        {{NULL, KF_F16, m, n, n, 2}, n > 1, columns},
        {{NULL, KF_F16, m, n, n, 0}, n > 1, columns},
        {{NULL, KF_F16, m, n, n, -1}, n > 1, columns},
    };
    for (const auto &d : due) {
        const int refusals = (refusal(&d.other, good, good) != NULL) +
                             (refusal(good, &d.other, good) != NULL) +
                             (refusal(good, good, &d.other) != NULL);
        if (refusals != (d.refused ? 3 : 0)) {
            return d.otherwise;
        }
    }
    return NULL;
}

/* NULL if `said`, the refusal of a case, is the right one; else what would be right. */
static const char *not_as_due(const layout *l, const char *said, const view *good)
{
    if (l->refused != NULL) {
        return said != NULL && strcmp(said, l->refused) == 0 ? NULL : l->refused;
    }
    if (said == NULL) {
        return not_refused_right(good);
    }
    return good->rows > 1 && good->columns > 1
               ? "its elements follow each other"
               : "its elements follow each other, and a stride over an extent of 1 is never used";
}

/* Refused layouts are added by strides, misaligned ones singly, all others eight per thread. */
static const void *kernel_due(const layout *l)
{
    if (l->refused != NULL) {
        return l->dtype == KF_F16 ? (const void *)add_strided<half>
                                  : (const void *)add_strided<__nv_bfloat16>;
    }
    return l->offset != 0 ? (const void *)add_plain : (const void *)add_eight;
}

static bool predict_checked(const kf_run *run, const kf_diagnosis *seen, char *why, size_t size)
{
    kf_launch *const checked = launch<checked_add>;
    if (neox_names_model(run->c)) {
        return all_adds_by(run, seen, checked, (const void *)add_eight, why, size);
    }
    const layout *l = layout_of(run->c);
    const view a = view_of(run, "a");
    const view b = view_of(run, "b");
    const view c = view_of(run, "c");
    const char *said = refusal(&a, &b, &c);
    const int calls = neox_count_calls(run, checked, kernel_due(l));
    const char *due = not_as_due(l, said, &c);
    snprintf(why, size, "%s, %s%s%s%s; launches of the kernel that is due: %d",
             due ? "not as it should be" : "as it should be", said ? "refused: " : "not refused",
             said ? said : "", due ? ", but " : "", due ? due : "", calls);
    return kf_wrong(run, seen) == 0 && due == NULL && calls == 1 &&
           neox_count_calls(run, checked, NULL) == 1;
}
