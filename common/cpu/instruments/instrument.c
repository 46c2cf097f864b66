/* The table of functions that a host program finds its instrument by. */
#if CPU_TRACE == 1
#include "instruments/count/count.h"

static const struct cpu_instrument instrument = {
    .mode = CPU_COUNT,
    .counter_names = tally_counter_names,
    .counts = tally_counts,
    .named_counters = tally_named_counters,
    .named_count = tally_named_count,
    .counts_reset = tally_reset,
    .counts_print = counts_print,
    .counts_print_lines = counts_print_lines,
};
#elif CPU_TRACE == 2
#include "instruments/check/state/check.h"

static const struct cpu_instrument instrument = {
    .mode = CPU_CHECK,
    .findings_print = findings_print,
    .findings_of = findings_of,
    .is_finding = is_finding,
    .mark_unwritten = memory_mark_unwritten,
    .fetch_unwritten = unwritten_allowed,
    .name_memory = memory_name,
    .sums_in_order = sums_in_order,
    .unread = unread_memory,
};
#else
#include "cpu/trace.h"
#endif

const struct cpu_instrument *cpu_instrument(void)
{
#if CPU_TRACE
    return &instrument;
#else
    return NULL;
#endif
}
