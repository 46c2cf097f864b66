/* instrument.c: what a program does more when `cudacc --count` or `cudacc --check` has linked it:
 * it asks the instrument, which cpu_trace.h has as a table of functions. On a GPU there is none. */
#define _DEFAULT_SOURCE
#include "cpu/include/cpu_trace.h"
#include "harness/internal.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifndef CUDA_CPU_BACKEND
const struct cpu_instrument *cpu_instrument(void)
{
    return NULL;
}
#endif

enum kf_instrument kf_instrument(void)
{
    const struct cpu_instrument *linked = cpu_instrument();
    return !linked ? KF_PLAIN : linked->mode == CPU_COUNT ? KF_COUNT : KF_CHECK;
}

/* --- Counts ---------------------------------------------------------------------------------- */

/* What one kernel did in one launch of a variant. A named counter may turn up in a later case than
 * the first, and is a column all the same: so rows are kept, and written when all have run. */
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

static void keep(kf_session *s, const kf_run *run, const char *variant,
                 const struct cpu_kernel_counts *kernel, int index)
{
    const char *const *names;
    int n = cpu_instrument()->named_counters(&names);
    s->counted = realloc(s->counted, (size_t)(s->n_counted + 1) * sizeof *s->counted);
    if (!s->counted)
        kf_die(KF_CANNOT_RUN, "no host memory for a row");
    kf_counted *row = &s->counted[s->n_counted++];
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

void kf_counts_take(kf_session *s, const kf_run *run, const char *variant)
{
    if (kf_instrument() != KF_COUNT)
        return;
    const struct cpu_kernel_counts *list;
    int n = cpu_instrument()->counts(&list);
    for (int i = 0; i < n; i++)
        keep(s, run, variant, &list[i], i);
    if (!s->options.json) {
        kf_say("  variant %s, counted:\n", variant);
        cpu_instrument()->counts_print(stdout);
        if (s->options.by_line)
            cpu_instrument()->counts_print_lines(stdout);
        fflush(stdout);
    }
    cpu_instrument()->counts_reset(); /* or it would be printed again at the end */
}

char *kf_counts_header(const kf_device *device, const char *program, uint64_t seed)
{
    char *text = kf_alloc(1024, 1);
    /* Neither date nor commit: the same counts make the same file. */
#ifdef __clang__
    snprintf(text, 1024, "# device: %s\n# backend: cpu\n# compiler: clang++ %d\n", device->name,
             __clang_major__);
#else
    snprintf(text, 1024, "# device: %s\n# backend: cpu\n# compiler: g++ %d\n", device->name,
             __GNUC__);
#endif
    size_t length = strlen(text);
    snprintf(text + length, 1024 - length, "# seed: %" PRIu64 "\n# program: %s\n", seed, program);
    return text;
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
static bool has_column(const kf_session *s, int counter)
{
    bool any = counter <= CPU_MMA;
    for (int i = 0; i < s->n_counted && !any; i++)
        any = s->counted[i].value[counter] != 0;
    return any;
}

static void put_row(FILE *to, const kf_session *s, const kf_counted *row, bool json)
{
    const char *const *names;
    int n = cpu_instrument()->named_counters(&names);
    char name[256];
    if (json) {
        put_json(to, "step", s->step, ", ");
        put_json(to, "variant", row->variant, ", ");
        put_json(to, "case", row->case_name, ", ");
        put_json(to, "kernel", row->kernel, "");
    } else {
        fprintf(to, "%s\t%s\t%s\t%s", s->step, row->variant, row->case_name, row->kernel);
    }
    for (int i = 0; i < CPU_COUNTERS + n; i++) {
        bool fixed = i < CPU_COUNTERS;
        if (fixed && !has_column(s, i))
            continue;
        const char *column = fixed ? cpu_instrument()->counter_names[i] : names[i - CPU_COUNTERS];
        uint64_t value = fixed ? row->value[i] : named_value(row, column);
        if (json)
            fprintf(to, ", \"%s\": %" PRIu64, without_blanks(column, name, sizeof name), value);
        else
            fprintf(to, "\t%" PRIu64, value);
    }
}

void kf_counts_finish(kf_session *s)
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
        if (has_column(s, i))
            fprintf(to, "\t%s", cpu_instrument()->counter_names[i]);
    for (int i = 0; i < n; i++)
        fprintf(to, "\t%s", without_blanks(names[i], name, sizeof name));
    if (fclose(to) != 0)
        kf_die(KF_CANNOT_RUN, "no host memory for the names of columns");
    kf_record_columns(text);
    free(text);
    to = open_memstream(&text, &size);
    for (int i = 0; i < s->n_counted && to; i++) {
        put_row(to, s, &s->counted[i], false);
        fputc('\n', to);
    }
    if (!to || fclose(to) != 0)
        kf_die(KF_CANNOT_RUN, "no host memory for the rows");
    kf_record_append(text, s->n_counted);
    free(text);
    if (s->options.json)
        printf("[");
    for (int i = 0; i < s->n_counted && s->options.json; i++) {
        printf("%s\n{", i ? "," : "");
        put_row(stdout, s, &s->counted[i], true);
        printf("}");
    }
    if (s->options.json)
        printf("\n]\n");
    for (int i = 0; i < s->n_counted; i++)
        free(s->counted[i].named);
    free(s->counted);
    s->counted = NULL;
    s->n_counted = 0;
}

/* --- Findings -------------------------------------------------------------------------------- */

void kf_name_memory(const kf_tensor *tensor)
{
    if (kf_instrument() == KF_CHECK)
        cpu_instrument()->name_memory(tensor->device, tensor->name);
}

void kf_mark_unwritten(const kf_tensor *tensor)
{
    if (kf_instrument() == KF_CHECK)
        cpu_instrument()->mark_unwritten(tensor->device, (size_t)kf_tensor_bytes(tensor));
}

void kf_sums_in_order(bool asked)
{
    if (kf_instrument() == KF_CHECK)
        cpu_instrument()->sums_in_order(asked);
}

kf_findings kf_take_findings(const char *class_name)
{
    kf_findings found = {0, 0, NULL};
    size_t size;
    FILE *to = open_memstream(&found.text, &size);
    if (!to)
        kf_die(KF_CANNOT_RUN, "no host memory for the findings");
    found.all = cpu_instrument()->findings_print(to);
    if (fclose(to) != 0)
        kf_die(KF_CANNOT_RUN, "no host memory for the findings");
    found.of_class = class_name ? cpu_instrument()->findings_of(class_name) : 0;
    return found;
}

/* --- Profilers ------------------------------------------------------------------------------- */

#ifdef CUDA_CPU_BACKEND
void kf_profile(bool on)
{
    (void)on;
}

void kf_profile_end(void)
{
}
#else
#include <cuda_profiler_api.h>

void kf_profile(bool on)
{
    /* With no profiler attached both may say that there is none: that is no trouble. */
    (void)(on ? cudaProfilerStart() : cudaProfilerStop());
    (void)cudaGetLastError();
}

void kf_profile_end(void)
{
    CUDA_CHECK(cudaDeviceReset()); /* without it compute-sanitizer looks for no leaks */
}
#endif

/* A profiler lists launches and knows nothing of variants. The launches of one call are the nodes
 * of its graph: captured here, and never run. */
int kf_count_launches(const kf_run *run, const kf_variant *variant)
{
    cudaGraph_t graph = kf_capture(run, variant->launch, kf_stream());
    size_t n = 0;
    int launches = 0;
    CUDA_CHECK(cudaGraphGetNodes(graph, NULL, &n));
    cudaGraphNode_t *node = kf_alloc((int64_t)n, sizeof(cudaGraphNode_t));
    CUDA_CHECK(cudaGraphGetNodes(graph, node, &n));
    for (size_t i = 0; i < n; i++) {
        enum cudaGraphNodeType type;
        CUDA_CHECK(cudaGraphNodeGetType(node[i], &type));
        launches += type == cudaGraphNodeTypeKernel;
    }
    CUDA_CHECK(cudaGraphDestroy(graph));
    free(node);
    return launches;
}
