/* trace.c: an instrument of our own making in place of common/cpu/instruments/, for tests of what the
 * harness does with one. FAKE_TRACE is count or check; FAKE_FINDINGS is what a check finds in each
 * launch, classes with commas between. */
#include "cpu/trace.h"
#include <stdlib.h>
#include <string.h>

static const char *knob(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

int cpu_trace_mode(void)
{
    return !strcmp(knob("FAKE_TRACE"), "check") ? CPU_TRACE_CHECK : CPU_TRACE_COUNT;
}

/* --- Counts: each kernel has launched once, and counter number i stands at 10 i. -------------- */
/* Of those that may have no column, FAKE_OPTIONAL counts in the second kernel, the others nowhere.
 */

#define NAME(id, name) name,
const char *const cpu_counter_names[CPU_COUNTERS] = {CPU_COUNTER_LIST(NAME)};
static const char *const named[] = {"K rotations"};
static struct cpu_kernel_counts kernels[2] = {{"sum<float, 4>", {0}}, {"plain", {0}}};
static int resets;

int cpu_counts(const struct cpu_kernel_counts **list)
{
    for (int i = 0; i < CPU_COUNTERS; i++)
        kernels[0].value[i] = kernels[1].value[i] = i <= CPU_MMA ? (uint64_t)i * 10 : 0;
    for (int i = CPU_MMA + 1; i < CPU_COUNTERS; i++)
        if (strcmp(knob("FAKE_OPTIONAL"), cpu_counter_names[i]) == 0)
            kernels[1].value[i] = 5;
    *list = kernels;
    return 2;
}

int cpu_named_counters(const char *const **names)
{
    *names = named;
    return resets > 2; /* first met in the second launch */
}

uint64_t cpu_named_count(int kernel, const char *name)
{
    (void)name;
    return (uint64_t)kernel + 7;
}

void cpu_counts_reset(void)
{
    resets++;
}

void cpu_counts_print(FILE *out)
{
    fprintf(out, "a table\n");
}

void cpu_counts_print_lines(FILE *out)
{
    fprintf(out, "lines\n");
}

/* --- Findings --------------------------------------------------------------------------------- */

static size_t unwritten;

int cpu_findings_print(FILE *out)
{
    int n = 0;
    char list[256];
    snprintf(list, sizeof list, "%s", knob("FAKE_FINDINGS"));
    for (char *one = strtok(list, ","); one; one = strtok(NULL, ","), n++)
        fprintf(out, "%s: toy.c:%d of %zu bytes unwritten\n", one, n + 1, unwritten);
    unwritten = 0;
    return n;
}

int cpu_findings_of(const char *class_name)
{
    int n = 0;
    const char *at = knob("FAKE_FINDINGS");
    for (; (at = strstr(at, class_name)); at++)
        n++;
    return n;
}

void cpu_mark_unwritten(void *p, size_t bytes)
{
    (void)p;
    unwritten += bytes;
}

void cpu_sums_in_order(int asked)
{
    if (asked)
        printf("sums in order\n");
}

void cpu_name_memory(void *p, const char *name)
{
    (void)p;
    if (*knob("FAKE_NAMES"))
        printf("named %s\n", name);
}
