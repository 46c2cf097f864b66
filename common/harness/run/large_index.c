/* large_index.c: the large-index run, on arrays of more elements than an int counts.
 *
 * A case gets so many heads, or a matrix so many rows (columns, where a variant refuses the rows),
 * that one of its tensors has more than 2^31 elements and fewer than 2^32. A 32-bit index that
 * overflows then points in front of the array, where the CPU backend maps nothing, and the launch
 * fails. An index that counts pairs of elements overflows at twice as many, and is still positive
 * at more than that: so a matrix is tried again with as many pairs, fours and eights. A CPU cannot
 * fill or process such arrays in reasonable time, so only the first and the last block of each
 * launch run, on zeros, and no value is compared. */
#include "harness/run/run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double BEYOND = 2147483648.0; /* elements, or units of as many elements */

static bool is_beyond(double count, int unit)
{
    return count > BEYOND * unit && count < 2.0 * BEYOND * unit;
}

bool kf_large_index(void)
{
    const char *large_index = getenv("KF_LARGE_INDEX");
    return kf_on_cpu() && large_index && *large_index == '1';
}

/* Other cases are left out: their setup changes inputs, which takes long, or their shape is that of
 * a model. */
static bool is_plain(const kf_program *p, const kf_case *c)
{
    return c->flags < KF_OF_PROBLEM && !(p->reads_model && c->shape.R > 0);
}

/* heads: the tensor has some. */
static double elements_of(const kf_program *p, const kf_case *c, const char *tensor, bool *heads)
{
    kf_run run;
    kf_open(&run, p, c, 1);
    p->setup(&run);
    const kf_tensor *t = kf_has(&run, tensor) ? kf_find(&run, tensor) : NULL;
    double count = t ? (double)t->count : 0.0;
    *heads = t && strchr(t->axes, 'H');
    kf_close(&run);
    return count;
}

/* Gives the case so many heads, or without heads a batch, or a matrix so many rows, or columns if
 * it is to be wide, that the tensor is large enough; false: it cannot be. */
static bool enlarge(const kf_program *p, kf_case *c, const char *tensor, int unit, bool wide)
{
    static const double MOST_HEADS = 65535.0; /* blocks of a grid in y or z */
    bool has_heads;
    double count = elements_of(p, c, tensor, &has_heads);
    const bool matrix = !has_heads && c->shape.R == 0 && c->shape.B == 1; /* of any height */
    if (wide && !matrix)
        return false;
    int *extent = wide             ? &c->shape.D
                  : matrix         ? &c->shape.Sq
                  : c->shape.H > 1 ? &c->shape.H
                                   : &c->shape.B;
    double extents = ceil(1.2 * BEYOND * unit / (count / *extent));
    double heads = extents * c->shape.B * c->shape.H / *extent;
    if (!(matrix ? extents < BEYOND : heads <= MOST_HEADS) || extents <= *extent ||
        (has_heads && unit > 1))
        return false;
    *extent = (int)extents;
    return is_beyond(elements_of(p, c, tensor, &has_heads), unit);
}

static bool is_allowed(const kf_variant *variant, const kf_case *c)
{
    char why[256];
    return kf_takes(variant, c) && !(variant->refused && variant->refused(c, why, sizeof why));
}

/* Finds the case with the least work per query, as it runs on a CPU. Returns whether there is one.
 */
static bool find_case(const kf_session *s, const kf_variant *variant, const char *tensor, int unit,
                      kf_case *found)
{
    const int64_t most = 1 << 20; /* keys times columns: a block takes up to a second */
    int64_t least = most + 1;
    for (int i = 0; i < s->program->n_cases; i++) {
        const kf_case *c = &s->program->cases[i];
        int64_t work = (int64_t)c->shape.Sk * c->shape.D;
        if (!s->options.case_chosen[i] || !is_plain(s->program, c) || work >= least ||
            !is_allowed(variant, c))
            continue;
        const int ways = variant->refused ? 2 : 1;
        for (int wide = 0; wide < ways && work < least; wide++) {
            kf_case large = *c;
            if (enlarge(s->program, &large, tensor, unit, wide) && is_allowed(variant, &large)) {
                least = work;
                *found = large;
            }
        }
    }
    return least <= most;
}

/* Names of tensors that are done: large in an earlier run, or tried. */
typedef struct seen {
    const char *name[KF_MAX_CHOICES * KF_MAX_TENSORS];
    int n;
} seen;

static void see(seen *s, const char *name)
{
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->name[i], name) == 0)
            return;
    s->name[s->n++] = name;
}

static void run_large_index(const kf_session *s, const kf_variant *variant, const char *tensor,
                            int unit, seen *done)
{
    kf_case c;
    kf_run run;
    char shape[128];
    if (!find_case(s, variant, tensor, unit, &c))
        return;
    kf_open(&run, s->program, &c, s->options.seed);
    s->program->setup(&run);
    if (!kf_allocate(&run))
        kf_die(KF_CANNOT_RUN, "case %s: no addresses for its memory", c.name);
    kf_shape_text(&c.shape, shape, sizeof shape);
    kf_doing(variant->name, c.name);
    variant->launch(kf_view(&run), kf_stream());
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaStreamSynchronize(kf_stream()));
    kf_doing(NULL, NULL);
    kf_say("  variant %s, %.1f billion elements of", variant->name,
           (double)kf_find(&run, tensor)->count / 1e9);
    for (int i = 0; i < run.state->n; i++) {
        const kf_tensor *t = &run.state->slot[i].t;
        if (!is_beyond((double)t->count, unit))
            continue;
        kf_say(" %s", t->name);
        see(done, t->name);
    }
    kf_say(": %s\n", shape);
    kf_close(&run);
}

static void run_variant(const kf_session *s, const kf_variant *variant, int unit)
{
    const kf_program *p = s->program;
    seen done = {.n = 0};
    for (int i = 0; i < p->n_cases; i++) {
        kf_run run;
        if (!is_plain(p, &p->cases[i]))
            continue;
        kf_open(&run, p, &p->cases[i], 1);
        p->setup(&run);
        for (int t = 0; t < run.state->n; t++) {
            const char *name = run.state->slot[t].t.name;
            const int before = done.n;
            see(&done, name);
            if (done.n > before)
                run_large_index(s, variant, name, unit, &done);
        }
        kf_close(&run);
    }
}

void kf_run_large_index(const kf_session *s)
{
    for (int v = 0; v < s->program->n_variants; v++)
        for (int unit = 1; unit <= 8 && s->options.variant_chosen[v]; unit *= 2)
            run_variant(s, &s->program->variants[v], unit);
}
