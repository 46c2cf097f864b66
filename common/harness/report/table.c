/* table.c: what a person reads, at most 100 columns wide, and the same rows as JSON. */
#include "harness/report/report.h"
#include <string.h>

static int wider(int width, const char *name)
{
    int length = (int)strlen(name);
    return length > 28 ? 28 : length > width ? length : width;
}

static int name_width(const kf_row *rows, int n)
{
    int width = 12;
    for (int i = 0; i < n; i++)
        width = wider(width, rows[i].variant);
    return width;
}

static void print_time(double us)
{
    kf_say(us < 10.0 ? " %10.3f" : us < 1e4 ? " %10.2f" : " %10.0f", us);
}

/* As wide as the names of the clocks that are met: two are longer than the others. */
static int clock_width(const kf_row *rows, int n)
{
    int width = 6;
    for (int i = 0; i < n; i++)
        if (rows[i].timing && (int)strlen(kf_clock_name(rows[i].timing->clock)) > width)
            width = (int)strlen(kf_clock_name(rows[i].timing->clock));
    return width;
}

static void print_timed(const kf_row *r, int width, int clocks)
{
    kf_say("  %-*.*s %-*s %-4s", width, width, r->variant, clocks, kf_clock_name(r->timing->clock),
           kf_l2_name(r->timing->l2));
    print_time(r->stat.median);
    print_time(r->stat.p5);
    print_time(r->stat.p95);
    kf_say(" %4d", r->stat.n);
    if (r->has_ratio)
        kf_say(" %6.2fx", r->stat.ratio);
    else
        kf_say(" %7s", "-");
    if (r->limit.us > 0.0)
        kf_say(" %6.1f%% %s", 100.0 * r->limit.us / r->stat.median, r->limit.by);
    else
        kf_say(" %7s", "-");
    kf_say("%s\n", !strcmp(r->status, KF_IMPOSSIBLE) ? " impossible"
                   : r->stat.noisy                   ? " noisy"
                                                     : "");
}

static void print_verified(const kf_row *r, int width)
{
    int length = (int)strcspn(r->status, "-"); /* of refused-room: why is said above */
    kf_say("  %-*.*s %-9.*s", width, width, r->variant, length, r->status);
    if (!r->verified) {
        kf_say(" %10s %10s %10s %15s\n", "-", "-", "-", "-");
        return;
    }
    kf_say(" %10lld %10lld %10lld", (long long)r->wrong, (long long)r->nonfinite,
           (long long)r->total);
    if (r->nonfinite > 0 && r->nonfinite == r->total)
        kf_say(" %15s\n", "-"); /* no number to be off */
    else
        kf_say(" %15.3g\n", r->max_ratio);
}

static void print_verified_names(int width)
{
    kf_say("  %-*s %-9s %10s %10s %10s %15s\n", width, "variant", "status", "wrong", "NaN/Inf",
           "compared", "max err/bound");
}

void kf_table_go_on(const kf_program *p, const kf_row *rows, int n, bool begins)
{
    int cases = 4, variants = 12;
    for (int i = 0; i < p->n_cases; i++)
        cases = wider(cases, p->cases[i].name);
    for (int i = 0; i < p->n_variants; i++)
        variants = wider(variants, p->variants[i].name);
    if (begins) {
        kf_say("  %-*s", cases, "case");
        print_verified_names(variants);
    }
    for (int i = 0; i < n; i++)
        if (strcmp(rows[i].status, "skipped") != 0) {
            kf_say("  %-*.*s", cases, cases, rows[i].case_name);
            print_verified(&rows[i], variants);
        }
}

void kf_table_print(const kf_row *rows, int n)
{
    int width = name_width(rows, n), timed = 0;
    print_verified_names(width);
    for (int i = 0; i < n; i++) {
        timed += rows[i].timing != NULL;
        if (!rows[i].timing && strcmp(rows[i].status, "skipped") != 0)
            print_verified(&rows[i], width);
    }
    if (timed == 0)
        return;
    int clocks = clock_width(rows, n);
    kf_say("  %-*s %-*s %-4s %10s %10s %10s %4s %7s %s\n", width, "variant", clocks, "clock", "L2",
           "median us", "p5", "p95", "n", "speed", "% of limit");
    for (int i = 0; i < n; i++)
        if (rows[i].timing)
            print_timed(&rows[i], width, clocks);
}

void kf_json_print(const kf_row *rows, int n)
{
    printf("[");
    for (int r = 0; r < n; r++) {
        char cell[KF_COLUMNS][KF_CELL];
        kf_row_cells(&rows[r], cell);
        printf("%s\n{", r ? "," : "");
        for (int i = 0; i < KF_COLUMNS; i++) {
            printf("%s\"%s\": ", i ? ", " : "", kf_column_name[i]);
            if (strcmp(cell[i], "-") == 0)
                printf("null");
            else /* names hold no blanks, quotes or backslashes: kf_main refuses them */
                printf(kf_cell_is_text(i) ? "\"%s\"" : "%s", cell[i]);
        }
        printf("}");
    }
    printf("\n]\n");
}
