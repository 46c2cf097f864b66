/* count: the tables. */
#include "instruments/count/count.h"
#include "base/plural.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4 }; /* kernels per table */

/* One row: for each kernel a value, or a quotient of two. No row if all values are 0. */
static void put_row(FILE *out, const char *name, int width, const uint64_t *top,
                    const uint64_t *bottom, int n)
{
    uint64_t any = 0;
    for (int i = 0; i < n; i++)
        any |= top[i];
    if (!any)
        return;
    fprintf(out, "%-22s", name);
    for (int i = 0; i < n; i++)
        if (!bottom)
            fprintf(out, " %*" PRIu64, width, top[i]);
        else if (bottom[i])
            fprintf(out, " %*.2f", width, (double)top[i] / (double)bottom[i]);
        else
            fprintf(out, " %*s", width, "-");
    fputc('\n', out);
}

/* A table of n kernels. In the last table of several kernels one more column has their sum. */
static void put_kernels(FILE *out, const struct cpu_kernel_counts *list, int first, int n, int all)
{
    const char *const *names;
    int n_names = tally_named_counters(&names), width = 12;
    int columns = n + (all > 1 && first + n == all);
    uint64_t v[CPU_COUNTERS + NAMED][COLUMNS + 1] = {0}, moved[COLUMNS + 1];
    for (int i = 0; i < all; i++)
        for (int k = 0; k < CPU_COUNTERS + n_names; k++) {
            uint64_t value =
                k < CPU_COUNTERS ? list[i].value[k] : tally_named_count(i, names[k - CPU_COUNTERS]);
            if (i >= first && i < first + n)
                v[k][i - first] = value;
            v[k][n] += value; /* shown only if there is such a column */
        }
    for (int i = first; i < first + n; i++)
        if ((int)strlen(list[i].kernel) > width)
            width = (int)strlen(list[i].kernel) < 36 ? (int)strlen(list[i].kernel) : 36;
    fprintf(out, "%-22s", "");
    for (int i = 0; i < columns; i++)
        fprintf(out, " %*.36s", width, i < n ? list[first + i].kernel : "all kernels");
    fputc('\n', out);
    for (int k = 0; k < CPU_COUNTERS + n_names; k++) {
        put_row(out, k < CPU_COUNTERS ? tally_counter_names[k] : names[k - CPU_COUNTERS], width,
                v[k], NULL, columns);
        if (k != CPU_GLOBAL_LD_BYTES && k != CPU_GLOBAL_ST_BYTES)
            continue;
        for (int i = 0; i < columns; i++)
            moved[i] = 32 * v[k - 1][i];
        put_row(out, "  bytes moved", width, moved, NULL, columns);
        put_row(out, "  sectors per request", width, v[k - 1], v[k - 2], columns);
    }
}

void counts_print(FILE *out)
{
    const struct cpu_kernel_counts *list;
    int all = tally_counts(&list), n = all;
    while (n > 0 && !list[n - 1].value[CPU_BLOCKS])
        n--;
    for (int i = 0; i < n; i += COLUMNS)
        put_kernels(out, list, i, n - i < COLUMNS ? n - i : COLUMNS, n);
    for (int i = n; i < all; i++)
        fprintf(out, "%-22s %12" PRIu64 " time%s, %" PRIu64 " byte%s\n", list[i].kernel,
                list[i].value[CPU_LAUNCHES], plural((long long)list[i].value[CPU_LAUNCHES]),
                list[i].value[CPU_GLOBAL_ST_BYTES],
                plural((long long)list[i].value[CPU_GLOBAL_ST_BYTES]));
    tally_unprinted = 0;
}

/* --- By line ---------------------------------------------------------------------------------- */

struct line {
    struct place place;
    uint64_t value[CPU_COUNTERS];
};

/* The sum of loads, stores and asynchronous copies of one kind. */
static uint64_t sum(const struct line *l, enum cpu_counter loads, enum cpu_counter stores,
                    enum cpu_counter copies)
{
    return l->value[loads] + l->value[stores] + l->value[copies];
}

static uint64_t sectors(const struct line *l)
{
    return sum(l, CPU_GLOBAL_LD_SECTORS, CPU_GLOBAL_ST_SECTORS, CPU_CP_ASYNC_SECTORS);
}

static uint64_t wavefronts(const struct line *l)
{
    return sum(l, CPU_SHARED_LD_WAVEFRONTS, CPU_SHARED_ST_WAVEFRONTS, CPU_CP_ASYNC_WAVEFRONTS);
}

static uint64_t weight(const struct line *l)
{
    return sectors(l) + wavefronts(l);
}

static int worst_first(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (weight(x) != weight(y))
        return weight(x) > weight(y) ? -1 : 1;
    int order = strcmp(x->place.file, y->place.file);
    order = order ? order : x->place.line - y->place.line;
    return order ? order : x->place.caller_line - y->place.caller_line;
}

/* The text of a source line without its indentation, or nothing if the file does not exist. For
 * inline PTX in a wrapper function it is the line of the call. */
static void put_source(FILE *out, const struct place *place)
{
    const char *file = place->caller ? place->caller : place->file;
    int line = place->caller ? place->caller_line : place->line;
    char text[512] = "";
    FILE *f = fopen(file, "r");
    for (int i = 0; f && i < line && fgets(text, sizeof text, f); i++)
        ;
    if (f)
        fclose(f);
    text[strcspn(text, "\n")] = '\0';
    fprintf(out, "  %s:%d", file, line);
    if (place->caller)
        fprintf(out, " > %s:%d", place->file, place->line);
    fprintf(out, "  %s\n", text + strspn(text, " \t"));
}

void counts_print_lines(FILE *out)
{
    int n, lines = 0;
    struct site *sites = tally_sites(&n);
    uint32_t *codes = need_memory(calloc((size_t)n + 1, sizeof *codes), "the counts by line");
    struct place *places = need_memory(calloc((size_t)n + 1, sizeof *places), "the counts by line");
    struct line *line = need_memory(calloc((size_t)n + 1, sizeof *line), "the counts by line");
    for (int i = 0; i < n; i++)
        codes[i] = sites[i].code;
    symbols_find(codes, n, places);
    for (int i = 0; i < n; i++) {
        int at = 0;
        while (at < lines && !symbols_same(&line[at].place, &places[i]))
            at++;
        if (at == lines)
            line[lines++].place = places[i];
        tally_site_add(line[at].value, &sites[i]);
    }
    qsort(line, (size_t)lines, sizeof *line, worst_first);
    fprintf(out, "%20s%10s%32s\n%10s%10s%10s%10s%12s%10s%10s  line\n", "------- global ----", "",
            "------------- shared -----------", "requests", "sectors", "atomics", "requests",
            "wavefronts", "conflicts", "local");
    for (int i = 0; i < lines; i++) {
        const struct line *l = &line[i];
        fprintf(out,
                "%10" PRIu64 "%10" PRIu64 "%10" PRIu64 "%10" PRIu64 "%12" PRIu64 "%10" PRIu64
                "%10" PRIu64,
                sum(l, CPU_GLOBAL_LD_REQUESTS, CPU_GLOBAL_ST_REQUESTS, CPU_CP_ASYNC_REQUESTS),
                sectors(l), l->value[CPU_ATOMICS],
                sum(l, CPU_SHARED_LD_REQUESTS, CPU_SHARED_ST_REQUESTS, CPU_CP_ASYNC_REQUESTS) +
                    l->value[CPU_LDMATRIX_REQUESTS] + l->value[CPU_STMATRIX_REQUESTS],
                wavefronts(l),
                sum(l, CPU_SHARED_LD_CONFLICTS, CPU_SHARED_ST_CONFLICTS, CPU_CP_ASYNC_CONFLICTS),
                l->value[CPU_LOCAL_LD_REQUESTS] + l->value[CPU_LOCAL_ST_REQUESTS]);
        put_source(out, &l->place);
    }
    symbols_free(places, n);
    free(codes), free(places), free(line), free(sites);
    tally_unprinted = 0;
}

static void __attribute__((destructor)) at_end(void)
{
    const char *by_line = getenv("CUDACPU_BY_LINE");
    if (!tally_unprinted)
        return;
    printf("\n");
    counts_print(stdout);
    if (by_line && *by_line && strcmp(by_line, "0") != 0)
        counts_print_lines(stdout);
    fflush(stdout);
}
