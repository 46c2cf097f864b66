/* Shuffles that read a lane which does not take part. The value is undefined; a GPU goes on, and
 * so does the kernel here.
 *
 * Of a lane that the mask leaves out it is a warning: sums by __shfl_down_sync read such lanes, and
 * nobody uses what comes of it. A mask that names a lane which has ended, or which the block lacks,
 * is a finding if a lane that got the value, itself or by a shuffle from another, stores anything
 * afterwards. What it stores may have nothing to do with the value: that is not known. */
#include "instruments/check/state/check.h"

int undefined_lanes; /* how many lanes of the block have such a value */

/* The value that a lane got: from which lane, and where. */
static struct value {
    const char *file; /* NULL: nothing undefined */
    int line, lane, source, absent;
    enum cpu_op op;
} value_of[MAX_THREADS];

void shuffles_block(void)
{
    if (undefined_lanes)
        memset(value_of, 0, sizeof value_of);
    undefined_lanes = 0;
}

/* Once for each line of the program. */
static void warn(const struct value *v, int thread, unsigned mask)
{
    static struct {
        const char *file;
        int line;
    } warned[64];
    static int n;
    for (int i = 0; i < n; i++)
        if (warned[i].file == v->file && warned[i].line == v->line)
            return;
    if (n == sizeof warned / sizeof *warned)
        return;
    warned[n].file = v->file;
    warned[n++].line = v->line;
    char why[64], text[1000];
    if (mask >> v->source & 1)
        snprintf(why, sizeof why, "%s", v->absent ? "which the block lacks" : "which has ended");
    else
        snprintf(why, sizeof why, "which mask 0x%08x leaves out", mask);
    snprintf(text, sizeof text,
             "lane %d reads lane %d, %s, in %s at %s:%d: the value is undefined, and all ones here",
             v->lane, v->source, why, op_names[v->op], v->file, v->line);
    const struct side side = {READ, 0, thread, order.block};
    finding_add(UNDEFINED_SHUFFLE, order.kernel, &side, 1, 0, NULL, 0, text);
}

void trace_shuffled(const struct worker *w, int warp, unsigned arrived)
{
    struct value before[WARP];
    unsigned reads = 0;
    for (unsigned m = arrived; m; m &= m - 1)
        reads |= 1u << w->threads[warp * WARP + __builtin_ctz(m)].source;
    if (!undefined_lanes && !(reads & ~arrived))
        return; /* mostly */
    memcpy(before, &value_of[warp * WARP], sizeof before);
    for (unsigned m = arrived; m; m &= m - 1) {
        const int lane = __builtin_ctz(m), thread = warp * WARP + lane;
        const struct thread *t = &w->threads[thread];
        const int missing = !(arrived >> t->source & 1);
        struct value *mine = &value_of[thread];
        const struct value from = {
            t->file, t->line, lane, t->source, !(w->warps[warp].exists >> t->source & 1), t->op};
        const int had = mine->file != NULL;
        if (missing)
            warn(&from, thread, t->asked);
        if (missing && !had && t->asked >> t->source & 1)
            *mine = from;
        else if (!missing && (!had || t->op == CPU_SHFL)) /* __shfl_sync replaces the lane's own */
            *mine = before[t->source];
        undefined_lanes += (mine->file != NULL) - had;
    }
}

void shuffles_stored(int thread, uint32_t code)
{
    struct value *v = &value_of[thread];
    if (!v->file)
        return;
    char text[1000];
    snprintf(text, sizeof text,
             "lane %d reads lane %d, which %s, in %s at %s:%d: the value is undefined, and a lane "
             "that got it stores at %%1",
             v->lane, v->source, v->absent ? "the block lacks" : "has ended", op_names[v->op],
             v->file, v->line);
    const struct side side = {WRITE, code, thread, order.block};
    finding_add(DIVERGENCE, order.kernel, &side, 1, 0, NULL, 0, text);
    v->file = NULL;
    undefined_lanes--;
}
