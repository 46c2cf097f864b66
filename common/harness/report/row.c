/* row.c: one measurement as text cells, for --out and for --json. "-": does not apply. */
#define _DEFAULT_SOURCE
#include "harness/report/report.h"
#include <math.h>
#include <string.h>

const char *const kf_column_name[KF_COLUMNS] = {
    "step",      "variant",  "case",      "B",       "H",        "Sq",        "Sk",
    "D",         "R",        "causal",    "pos0",    "dtype",    "clock",     "l2",
    "median_us", "p5_us",    "p95_us",    "n",       "bytes",    "flops",     "device_bytes",
    "limit_us",  "limit_by", "limit_pct", "ratio",   "ratio_p5", "ratio_p95", "status",
    "wrong",     "nan",      "total",     "max_err", "err_bound"};

bool kf_cell_is_text(int column)
{
    static const char *const text[] = {"step",  "variant", "case",     "dtype",
                                       "clock", "l2",      "limit_by", "status"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (strcmp(text[i], kf_column_name[column]) == 0)
            return true;
    return false;
}

typedef struct cells {
    char (*cell)[KF_CELL];
    int n;
} cells;

static void put_text(cells *c, const char *text)
{
    snprintf(c->cell[c->n++], KF_CELL, "%s", text);
}

static void put_int(cells *c, bool applies, int64_t value)
{
    if (applies)
        snprintf(c->cell[c->n++], KF_CELL, "%lld", (long long)value);
    else
        put_text(c, "-");
}

static void put_real(cells *c, bool applies, double value)
{
    if (applies && isfinite(value))
        snprintf(c->cell[c->n++], KF_CELL, "%.6g", value);
    else
        put_text(c, "-");
}

void kf_row_cells(const kf_row *row, char cell[KF_COLUMNS][KF_CELL])
{
    cells c = {.cell = cell};
    const kf_shape *s = &row->shape;
    bool timed = row->timing != NULL, limited = timed && row->limit.us > 0.0;
    put_text(&c, row->step);
    put_text(&c, row->variant);
    put_text(&c, row->case_name);
    const int shape[] = {s->B, s->H, s->Sq, s->Sk, s->D, s->R, s->causal, s->pos0};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        put_int(&c, true, shape[i]);
    put_text(&c, kf_dtype_name(row->dtype));
    put_text(&c, timed ? kf_clock_name(row->timing->clock) : "-");
    put_text(&c, timed ? kf_l2_name(row->timing->l2) : "-");
    put_real(&c, timed, row->stat.median);
    put_real(&c, timed, row->stat.p5);
    put_real(&c, timed, row->stat.p95);
    put_int(&c, timed, row->stat.n);
    put_int(&c, true, (int64_t)row->cost.bytes);
    put_int(&c, true, (int64_t)row->cost.flops);
    put_int(&c, true, row->device_bytes);
    put_real(&c, limited, row->limit.us);
    put_text(&c, limited ? row->limit.by : "-");
    put_real(&c, limited, 100.0 * row->limit.us / row->stat.median);
    put_real(&c, timed && row->has_ratio, row->stat.ratio);
    put_real(&c, timed && row->has_ratio, row->stat.ratio_p5);
    put_real(&c, timed && row->has_ratio, row->stat.ratio_p95);
    put_text(&c, row->status);
    put_int(&c, row->verified, row->wrong);
    put_int(&c, row->verified, row->nonfinite);
    put_int(&c, row->verified, row->total);
    put_real(&c, row->verified, row->max_err);
    put_real(&c, row->verified, row->err_bound);
}

char *kf_row_columns(void)
{
    enum { SIZE = 1024 };
    char *text = kf_alloc(SIZE, 1);
    for (int i = 0; i < KF_COLUMNS; i++) {
        size_t length = strlen(text);
        snprintf(text + length, SIZE - length, "%s%s", i ? "\t" : "", kf_column_name[i]);
    }
    return text;
}

char *kf_rows_text(const kf_row *rows, int n)
{
    char *text = kf_alloc((int64_t)n * KF_COLUMNS * KF_CELL + 1, 1), *at = text;
    for (int r = 0; r < n; r++) {
        char cell[KF_COLUMNS][KF_CELL];
        kf_row_cells(&rows[r], cell);
        for (int i = 0; i < KF_COLUMNS; i++) {
            at = stpcpy(at, cell[i]);
            *at++ = i + 1 < KF_COLUMNS ? '\t' : '\n';
        }
    }
    *at = '\0';
    return text;
}
