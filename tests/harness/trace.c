/* trace.c: an instrument of our own making in place of common/cpu/instruments/, for tests of what
 * the harness does with one. FAKE_TRACE is count or check, or there is none; FAKE_FINDINGS is what
 * a check finds in each launch, classes with commas between. */
#include "cpu/trace.h"
#include <stdlib.h>
#include <string.h>

static const char *knob(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* --- Counts: each kernel has launched once, and counter number i stands at 10 i. -------------- */
/* Of those that may have no column, FAKE_OPTIONAL counts in the second kernel, the others nowhere.
 */

#define NAME(id, name) name,
static const char *const counter_names[CPU_COUNTERS] = {CPU_COUNTER_LIST(NAME)};
static const char *const named[] = {"K rotations"};
static struct cpu_kernel_counts kernels[2] = {{"sum<float, 4>", {0}}, {"plain", {0}}};
static int resets;

static int counts(const struct cpu_kernel_counts **list)
{
    for (int i = 0; i < CPU_COUNTERS; i++)
        kernels[0].value[i] = kernels[1].value[i] = i <= CPU_MMA ? (uint64_t)i * 10 : 0;
    for (int i = CPU_MMA + 1; i < CPU_COUNTERS; i++)
        if (strcmp(knob("FAKE_OPTIONAL"), counter_names[i]) == 0)
            kernels[1].value[i] = 5;
    *list = kernels;
    return 2;
}

static int named_counters(const char *const **names)
{
    *names = named;
    return resets > 2; /* first met in the second launch */
}

static uint64_t named_count(int kernel, const char *name)
{
    (void)name;
    return (uint64_t)kernel + 7;
}

static void counts_reset(void)
{
    resets++;
}

static void counts_print(FILE *out)
{
    fprintf(out, "a table\n");
}

static void counts_print_lines(FILE *out)
{
    fprintf(out, "lines\n");
}

/* --- Findings --------------------------------------------------------------------------------- */

static size_t unwritten;

static int findings_print(FILE *out)
{
    int n = 0;
    char list[256];
    snprintf(list, sizeof list, "%s", knob("FAKE_FINDINGS"));
    for (char *one = strtok(list, ","); one; one = strtok(NULL, ","), n++)
        fprintf(out, "%s: toy.c:%d of %zu bytes unwritten\n", one, n + 1, unwritten);
    unwritten = 0;
    return n;
}

static int findings_of(const char *class_name)
{
    int n = 0;
    const char *at = knob("FAKE_FINDINGS");
    for (; (at = strstr(at, class_name)); at++)
        n++;
    return n;
}

static int is_finding(const char *class_name)
{
    return strcmp(class_name, "never read") != 0;
}

static void mark_unwritten(void *p, size_t bytes)
{
    (void)p;
    unwritten += bytes;
}

static int unread(const void *p, size_t bytes, unsigned char *marks)
{
    (void)p, (void)bytes, (void)marks;
    return 0;
}

static void sums_in_order(int asked)
{
    if (asked)
        printf("sums in order\n");
}

static void name_memory(void *p, const char *name)
{
    (void)p;
    if (*knob("FAKE_NAMES"))
        printf("named %s\n", name);
}

static void fetch_unwritten(int asked)
{
    if (*knob("FAKE_NAMES"))
        printf(asked ? "fetch begins\n" : "fetch ends\n");
}

const struct cpu_instrument *cpu_instrument(void)
{
    static const struct cpu_instrument count = {.mode = CPU_COUNT,
                                                .counter_names = counter_names,
                                                .counts = counts,
                                                .named_counters = named_counters,
                                                .named_count = named_count,
                                                .counts_reset = counts_reset,
                                                .counts_print = counts_print,
                                                .counts_print_lines = counts_print_lines};
    static const struct cpu_instrument check = {.mode = CPU_CHECK,
                                                .findings_print = findings_print,
                                                .findings_of = findings_of,
                                                .is_finding = is_finding,
                                                .mark_unwritten = mark_unwritten,
                                                .fetch_unwritten = fetch_unwritten,
                                                .name_memory = name_memory,
                                                .sums_in_order = sums_in_order,
                                                .unread = unread};
    const char *asked = knob("FAKE_TRACE");
    return !strcmp(asked, "count") ? &count : !strcmp(asked, "check") ? &check : NULL;
}
