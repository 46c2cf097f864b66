/* count: the tables. */
#define _GNU_SOURCE
#include "count.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 4 }; /* kernels side by side */

static void ratio(FILE *out, const char *name, const uint64_t *v, int n, const int *over,
                  const int *under, double factor)
{
    int any = 0;
    for (int i = 0; i < n; i++)
        any |= v[i * CPU_COUNTERS + over[0]] != 0;
    if (!any)
        return;
    fprintf(out, "%-24s", name);
    for (int i = 0; i < n; i++) {
        const uint64_t *c = v + i * CPU_COUNTERS;
        double top = factor * (double)c[over[0]];
        if (!under)
            fprintf(out, " %17.0f", top);
        else if (c[under[0]])
            fprintf(out, " %17.2f", top / (double)c[under[0]]);
        else
            fprintf(out, " %17s", "-");
    }
    fputc('\n', out);
}

/* n kernels, and with `sum` all of them in one more column. */
static void columns(FILE *out, const struct cpu_kernel_counts *list, int first, int n,
                    const uint64_t *sum)
{
    uint64_t v[(COLUMNS + 1) * CPU_COUNTERS];
    int all = n + (sum != NULL);
    fprintf(out, "%-24s", "");
    for (int i = 0; i < n; i++) {
        fprintf(out, " %17.17s", list[first + i].kernel);
        memcpy(v + i * CPU_COUNTERS, list[first + i].value, sizeof list[first + i].value);
    }
    if (sum) {
        fprintf(out, " %17s", "all kernels");
        memcpy(v + n * CPU_COUNTERS, sum, CPU_COUNTERS * sizeof *sum);
    }
    fputc('\n', out);
    for (int k = 0; k < CPU_COUNTERS; k++) {
        int any = 0;
        for (int i = 0; i < all; i++)
            any |= v[i * CPU_COUNTERS + k] != 0;
        if (any) {
            fprintf(out, "%-24s", cpu_counter_names[k]);
            for (int i = 0; i < all; i++)
                fprintf(out, " %17" PRIu64, v[i * CPU_COUNTERS + k]);
            fputc('\n', out);
        }
        if (k == CPU_GLOBAL_LD_BYTES || k == CPU_GLOBAL_ST_BYTES) {
            int sectors = k - 1, requests = k - 2;
            ratio(out, "  bytes moved", v, all, &sectors, NULL, 32);
            ratio(out, "  sectors per request", v, all, &sectors, &requests, 1);
        }
    }
    const char *const *names;
    int n_names = cpu_named_counters(&names);
    for (int k = 0; k < n_names; k++) {
        uint64_t total = 0;
        fprintf(out, "%-24s", names[k]);
        for (int i = 0; i < n; i++)
            fprintf(out, " %17" PRIu64, cpu_named_count(first + i, names[k]));
        const struct cpu_kernel_counts *unused;
        for (int i = 0; sum && i < cpu_counts(&unused); i++)
            total += cpu_named_count(i, names[k]);
        if (sum)
            fprintf(out, " %17" PRIu64, total);
        fputc('\n', out);
    }
}

void cpu_counts_print(FILE *out)
{
    const struct cpu_kernel_counts *list;
    uint64_t sum[CPU_COUNTERS] = {0};
    int n = cpu_counts(&list);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < CPU_COUNTERS; k++)
            sum[k] += list[i].value[k];
    for (int i = 0; i < n; i += COLUMNS)
        columns(out, list, i, n - i < COLUMNS ? n - i : COLUMNS,
                n > 1 && i + COLUMNS >= n ? sum : NULL);
    count_printed();
}

/* --- By line ---------------------------------------------------------------------------------- */

struct line {
    struct place place;
    uint64_t value[CPU_COUNTERS];
};

static uint64_t weight(const struct line *l)
{
    return l->value[CPU_GLOBAL_LD_SECTORS] + l->value[CPU_GLOBAL_ST_SECTORS] +
           l->value[CPU_SHARED_LD_WAVEFRONTS] + l->value[CPU_SHARED_ST_WAVEFRONTS];
}

static int worst_first(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (weight(x) != weight(y))
        return weight(x) > weight(y) ? -1 : 1;
    int order = strcmp(x->place.file, y->place.file);
    return order ? order : x->place.line - y->place.line;
}

/* The text of a source line without its indentation; nothing when the file is not there. */
static void print_source(FILE *out, const struct place *place)
{
    char text[512];
    FILE *f = fopen(place->file, "r");
    for (int i = 0; f && i < place->line; i++)
        if (!fgets(text, sizeof text, f)) {
            fclose(f);
            f = NULL;
        }
    if (f) {
        text[strcspn(text, "\n")] = '\0';
        fprintf(out, "  %s", text + strspn(text, " \t"));
        fclose(f);
    }
    fputc('\n', out);
}

void cpu_counts_print_lines(FILE *out)
{
    int n, lines = 0;
    const struct site **sites = count_sites(&n);
    uint32_t *codes = calloc((size_t)n + 1, sizeof *codes);
    struct place *places = calloc((size_t)n + 1, sizeof *places);
    struct line *line = calloc((size_t)n + 1, sizeof *line);
    for (int i = 0; i < n; i++)
        codes[i] = sites[i]->code;
    symbols_find(codes, n, places);
    for (int i = 0; i < n; i++) {
        int at = 0;
        while (at < lines && (line[at].place.line != places[i].line ||
                              strcmp(line[at].place.file, places[i].file) != 0))
            at++;
        if (at == lines)
            line[lines++].place = places[i];
        count_add_site(line[at].value, sites[i]);
    }
    qsort(line, (size_t)lines, sizeof *line, worst_first);
    fprintf(out, "%30s%30s\n%10s%10s%10s%10s%10s%10s%10s  %s\n", "---------- global ----------",
            "---------- shared ----------", "requests", "sectors", "atomics", "requests", "passes",
            "conflicts", "local", "line");
    for (int i = 0; i < lines; i++) {
        const uint64_t *v = line[i].value;
        fprintf(out, "%10" PRIu64 "%10" PRIu64 "%10" PRIu64 "%10" PRIu64 "%10" PRIu64 "%10" PRIu64,
                v[CPU_GLOBAL_LD_REQUESTS] + v[CPU_GLOBAL_ST_REQUESTS],
                v[CPU_GLOBAL_LD_SECTORS] + v[CPU_GLOBAL_ST_SECTORS], v[CPU_ATOMICS],
                v[CPU_SHARED_LD_REQUESTS] + v[CPU_SHARED_ST_REQUESTS],
                v[CPU_SHARED_LD_WAVEFRONTS] + v[CPU_SHARED_ST_WAVEFRONTS],
                v[CPU_SHARED_LD_CONFLICTS] + v[CPU_SHARED_ST_CONFLICTS]);
        fprintf(out, "%10" PRIu64 "  %s:%d", v[CPU_LOCAL_LD_REQUESTS] + v[CPU_LOCAL_ST_REQUESTS],
                line[i].place.file, line[i].place.line);
        print_source(out, &line[i].place);
    }
    for (int i = 0; i < n; i++)
        free(places[i].file);
    free(codes), free(places), free(line), free(sites);
    count_printed();
}
