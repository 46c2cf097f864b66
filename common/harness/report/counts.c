/* counts.c: what kernels did, in a program that `cudacc --count` has linked: a row a kernel. */
#define _DEFAULT_SOURCE
#include "cpu/include/cpu/trace.h"
#include "harness/report/report.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The counts of one kernel in one launch of a variant. A named counter may first appear in a
 * later case, and still is a column: so rows are kept, and written when all cases have run. */
typedef struct kf_counted {
    const char *variant, *case_name;
    char kernel[256];
    uint64_t value[CPU_COUNTERS];
    int n_named;
    struct named {
        const char *name;
        uint64_t value;
    } * named;
} kf_counted;

static kf_counted *counted; /* counts of kernels so far */
static int n_counted;

/* Text as a cell or the name of a column, without blanks: charts and the book select rows by
 * conditions that blanks part. "sum<float, 4>" becomes "sum<float,4>". */
static const char *without_blanks(const char *text, char *cell, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        if (*text > ' ')
            cell[n++] = *text;
        else if (n > 0 && cell[n - 1] != ',')
            cell[n++] = '_';
    cell[n] = '\0';
    return cell;
}

static void keep(const kf_run *run, const char *variant, const struct cpu_kernel_counts *kernel,
                 int index)
{
    const char *const *names;
    int n = cpu_instrument()->named_counters(&names);
    counted = realloc(counted, (size_t)(n_counted + 1) * sizeof *counted);
    if (!counted)
        kf_die(KF_CANNOT_RUN, "no host memory for a row");
    kf_counted *row = &counted[n_counted++];
    row->variant = variant;
    row->case_name = run->c->name;
    without_blanks(kernel->kernel, row->kernel, sizeof row->kernel);
    memcpy(row->value, kernel->value, sizeof row->value);
    row->n_named = n;
    row->named = kf_alloc(n, sizeof *row->named);
    for (int i = 0; i < n; i++)
        row->named[i] = (struct named){names[i], cpu_instrument()->named_count(index, names[i])};
}

void kf_counts_begin(void)
{
    if (kf_instrument() == KF_COUNT)
        cpu_instrument()->counts_reset();
}

void kf_counts_take(const kf_run *run, const char *variant, bool print, bool by_line)
{
    if (kf_instrument() != KF_COUNT)
        return;
    const struct cpu_kernel_counts *list;
    int n = cpu_instrument()->counts(&list);
    for (int i = 0; i < n; i++)
        keep(run, variant, &list[i], i);
    if (print) {
        kf_say("  variant %s, counted:\n", variant);
        cpu_instrument()->counts_print(stdout);
        if (by_line)
            cpu_instrument()->counts_print_lines(stdout);
        fflush(stdout);
    }
    cpu_instrument()->counts_reset(); /* or it would be printed again at the end */
}

char *kf_counts_header(const kf_device *device, const char *program, uint64_t seed)
{
#ifdef __clang__
    const char *compiler = "clang++";
    const int version = __clang_major__;
#else
    const char *compiler = "g++";
    const int version = __GNUC__;
#endif
    /* Neither date nor commit: the same counts make the same file. */
    return kf_text("# device: %s\n# backend: cpu\n# compiler: %s %d\n# seed: %" PRIu64
                   "\n# program: %s\n",
                   device->name, compiler, version, seed, program);
}

static uint64_t named_value(const kf_counted *row, const char *name)
{
    for (int i = 0; i < row->n_named; i++)
        if (strcmp(row->named[i].name, name) == 0)
            return row->named[i].value;
    return 0;
}

static void put_json(FILE *to, const char *key, const char *text, const char *after)
{
    fprintf(to, "\"%s\": \"", key);
    for (; *text; text++)
        fprintf(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fprintf(to, "\"%s", after);
}

/* Counters of tensor cores and asynchronous copies make a column only where something has them. */
static bool has_column(int counter)
{
    bool any = counter <= CPU_MMA;
    for (int i = 0; i < n_counted && !any; i++)
        any = counted[i].value[counter] != 0;
    return any;
}

static void put_row(FILE *to, const char *step, const kf_counted *row, bool json)
{
    const char *const *names;
    int n = cpu_instrument()->named_counters(&names);
    char name[256];
    if (json) {
        put_json(to, "step", step, ", ");
        put_json(to, "variant", row->variant, ", ");
        put_json(to, "case", row->case_name, ", ");
        put_json(to, "kernel", row->kernel, "");
    } else {
        fprintf(to, "%s\t%s\t%s\t%s", step, row->variant, row->case_name, row->kernel);
    }
    for (int i = 0; i < CPU_COUNTERS + n; i++) {
        bool fixed = i < CPU_COUNTERS;
        if (fixed && !has_column(i))
            continue;
        const char *column = fixed ? cpu_instrument()->counter_names[i] : names[i - CPU_COUNTERS];
        uint64_t value = fixed ? row->value[i] : named_value(row, column);
        if (json)
            fprintf(to, ", \"%s\": %" PRIu64, without_blanks(column, name, sizeof name), value);
        else
            fprintf(to, "\t%" PRIu64, value);
    }
}

void kf_counts_finish(const char *step, bool json)
{
    if (kf_instrument() != KF_COUNT)
        return;
    char *text = NULL, name[256];
    size_t size;
    const char *const *names;
    int n = cpu_instrument()->named_counters(&names);
    FILE *to = open_memstream(&text, &size);
    if (!to)
        kf_die(KF_CANNOT_RUN, "no host memory for the rows");
    fputs("step\tvariant\tcase\tkernel", to);
    for (int i = 0; i < CPU_COUNTERS; i++)
        if (has_column(i))
            fprintf(to, "\t%s", cpu_instrument()->counter_names[i]);
    for (int i = 0; i < n; i++)
        fprintf(to, "\t%s", without_blanks(names[i], name, sizeof name));
    if (fclose(to) != 0)
        kf_die(KF_CANNOT_RUN, "no host memory for the names of columns");
    kf_record_columns(text);
    free(text);
    to = open_memstream(&text, &size);
    for (int i = 0; i < n_counted && to; i++) {
        put_row(to, step, &counted[i], false);
        fputc('\n', to);
    }
    if (!to || fclose(to) != 0)
        kf_die(KF_CANNOT_RUN, "no host memory for the rows");
    kf_record_append(text, n_counted);
    free(text);
    if (json)
        printf("[");
    for (int i = 0; i < n_counted && json; i++) {
        printf("%s\n{", i ? "," : "");
        put_row(stdout, step, &counted[i], true);
        printf("}");
    }
    if (json)
        printf("\n]\n");
    for (int i = 0; i < n_counted; i++)
        free(counted[i].named);
    free(counted);
    counted = NULL;
    n_counted = 0;
}
