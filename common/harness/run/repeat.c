/* repeat.c: --repeats, whether a variant gives the same bits each time. Atomic adds come in the
 * order in which blocks happen to run, and a sum in another order rounds to another value: every
 * run is within the bounds, and only a comparison of bits tells them apart.
 *
 * Each variant that is right, or wrong as predicted, is launched for a first run and then up to
 * MOST_RUNS times, from the same inputs and fresh poison, until BUDGET_S seconds have passed, but
 * at least LEAST_RUNS times; a CPU makes LEAST_RUNS. Each run is verified, and compared with the
 * first. Nothing is timed. */
#include "harness/run/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 100, LEAST_RUNS = 3 };
static const double BUDGET_S = 10.0; /* a variant and case, with what the host does for each run */

/* One output over the runs of a variant. */
typedef struct repeated {
    const kf_slot *slot;
    void *first;              /* its memory after the first run */
    int runs_differing;       /* in a bit at least */
    int64_t most_elements;    /* that differ, in one run */
    double max_diff, max_ulp; /* of all elements of all runs; neighbouring values: 1 ulp */
} repeated;

static bool enough(int runs, double seconds)
{
    if (runs < LEAST_RUNS)
        return false;
    return kf_on_cpu() || runs == MOST_RUNS || seconds > BUDGET_S;
}

static void compare_bits(repeated *r)
{
    const kf_tensor *t = &r->slot->t;
    const char *first = r->first, *again = r->slot->raw;
    const int64_t size = (int64_t)kf_dtype_size(t->dtype);
    int64_t elements = 0;
    if (memcmp(first, again, (size_t)kf_tensor_bytes(t)) == 0)
        return;
    for (int64_t i = 0; i < t->count; i++) {
        if (memcmp(first + i * size, again + i * size, (size_t)size) == 0)
            continue;
        const double was = kf_unpack(t->dtype, first, i), is = kf_unpack(t->dtype, again, i);
        const bool finite = isfinite(was) && isfinite(is);
        const int64_t steps = kf_ordinal(t->dtype, again, i) - kf_ordinal(t->dtype, first, i);
        r->max_diff = fmax(r->max_diff, finite ? fabs(is - was) : INFINITY);
        r->max_ulp = fmax(r->max_ulp, finite ? fabs((double)steps) : INFINITY);
        elements++;
    }
    r->runs_differing++;
    r->most_elements = elements > r->most_elements ? elements : r->most_elements;
}

/* "100 runs, dq differs in 100, 13 % of its elements; dk in 3, 0.2 %": most of them in one run. */
static void say(const char *variant, const repeated *outputs, int n, int runs)
{
    bool any = false;
    kf_say("  variant %s, repeats: ", variant);
    for (int i = 0; i < n; i++) {
        const repeated *r = &outputs[i];
        const double percent = 100.0 * (double)r->most_elements / (double)r->slot->t.count;
        if (r->runs_differing == 0)
            continue;
        if (!any)
            kf_say("%d run%s, ", runs, runs == 1 ? "" : "s");
        kf_say(any ? "; %s in %d, %.*g %%" : "%s differs in %d, %.*g %% of its elements",
               r->slot->t.name, r->runs_differing, percent < 99.5 ? 2 : 3, percent);
        any = true;
    }
    if (!any)
        kf_say("the same bits in %d run%s", runs, runs == 1 ? "" : "s");
    kf_say("\n");
}

static void write_rows(FILE *to, const char *variant, const kf_case *c, const repeated *outputs,
                       int n, int runs)
{
    for (int i = 0; i < n; i++) {
        const repeated *r = &outputs[i];
        kf_put_case(to, variant, c);
        fprintf(to, "\t%s\t%lld\t%d\t%d\t%lld\t%.6g\t%.9g\n", r->slot->t.name,
                (long long)r->slot->t.count, runs, r->runs_differing, (long long)r->most_elements,
                r->max_diff, r->max_ulp);
    }
}

void kf_repeat(kf_session *s, kf_run *run, int v, kf_outcome *out)
{
    const char *variant = s->program->variants[v].name;
    repeated outputs[KF_MAX_TENSORS];
    int n = 0, runs = 0;
    const double start = kf_host_us();
    kf_verify(s, run, v, KF_REPEATED, out);
    for (int i = 0; i < run->state->n; i++) {
        const kf_slot *slot = &run->state->slot[i];
        if (slot->role != KF_OUTPUT)
            continue;
        outputs[n] = (repeated){.slot = slot, .first = kf_alloc(kf_tensor_bytes(&slot->t), 1)};
        memcpy(outputs[n++].first, slot->raw, (size_t)kf_tensor_bytes(&slot->t));
    }
    while (kf_may_be_timed(out) && !enough(runs, (kf_host_us() - start) * 1e-6)) {
        kf_verify(s, run, v, KF_REPEATED, out);
        runs++;
        for (int i = 0; i < n; i++)
            compare_bits(&outputs[i]);
    }
    if (kf_may_be_timed(out)) {
        say(variant, outputs, n, runs);
        write_rows(kf_sink(KF_REPEATS), variant, run->c, outputs, n, runs);
    }
    for (int i = 0; i < n; i++)
        free(outputs[i].first);
}
