/* bounds.c: error bounds of a right implementation in fp16: at most twice the error of a plain
 * implementation, element by element.
 *
 * Twice the plain implementation's largest error would be a poor measure: one column of x may be
 * ten times as large as the others, have ten times their error, and then decide alone. So errors
 * are compared in units of the error that each element is expected to have. Layer l rounds x and
 * the sum of both branches, b = x[l] - x[l-1]. Rounding to nearest is off by at most u |value|,
 * and by u |value| / sqrt(3) in the root mean square if the errors are spread evenly. The
 * roundings of the element itself add up to s[l]^2 = s[l-1]^2 + u^2 (x[l]^2 + b^2) / 3. The
 * error that comes from the branches is taken as the same for all elements: t, the root mean
 * square of the plain errors in that layer. The unit is sqrt(t^2 + s^2). The final norm computes
 * y = g (x - mean) / sigma + b from x and rounds it, so y's own part is g^2 s^2 / sigma^2 + u^2
 * y^2 / 3, and a logit's own part is the sum of these times the squares of its weights. With z
 * the plain implementation's largest error in these units, anywhere in the model, the bound of
 * an element is 2 z units. */
#include "seeded.h"
#include "harness/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- A ceiling: a plain implementation that is broken must not make everything right --------- */
/* The number of roundings to fp16 that x has passed after so many layers, one after the other:
 * norm, product, rotation, attention, product; norm, product, GELU, product; the sum of both,
 * and x. A sum of n numbers in fp32 has n roundings of 2^-24 and counts as n 2^-13 of them. If
 * all had the greatest size and the same sign, and no operation changed their size, x would be
 * off by that many u of itself. In fact they cancel, and measured errors stay far below that. */
static double roundings(const neox_config *c, int layers)
{
    double sums = 4.0 * c->hidden + (double)c->hidden / c->heads + c->positions + c->mlp;
    return layers * (11.0 + 0x1p-13 * sums);
}

static double root_mean_square(const double *x, int64_t n)
{
    double squares = 0.0;
    for (int64_t i = 0; i < n; i++)
        squares += x[i] * x[i] / (double)n;
    return sqrt(squares);
}

/* The largest of `elements` errors is about sqrt(2 ln(2 elements)) times their root mean square,
 * if they are normally distributed. So the ceiling, like the bounds, is twice that. A NaN is
 * above every ceiling. */
static const char *too_large(const double *bound, const double *exact, int64_t n, double rounded,
                             double elements, const char *what)
{
    static char line[200];
    double u = kf_unit_roundoff(KF_F16), size = root_mean_square(exact, n);
    double is = root_mean_square(bound, n);
    double most = 2.0 * sqrt(2.0 * log(2.0 * elements)) * rounded * u * size;
    if (is <= most)
        return NULL;
    snprintf(line, sizeof line,
             "plain fp16, which bounds are measured on, would let %s be off by %.3g of %.3g; its "
             "roundings explain %.3g at most, so it is wrong",
             what, is, size, most);
    return line;
}

/* --- Bounds ---------------------------------------------------------------------------------- */
/* The units of hidden [layers + 1][n], layer after layer, and own [n], s^2 after the last layer. */
static void set_units(const double *exact, const double *plain, int layers, int64_t n, double *unit,
                      double *own)
{
    double u = kf_unit_roundoff(KF_F16);
    for (int64_t layer = 1; layer <= layers; layer++) {
        const double *x = exact + layer * n, *y = plain + layer * n;
        double squares = 0.0;
        for (int64_t i = 0; i < n; i++)
            squares += (y[i] - x[i]) * (y[i] - x[i]) / (double)n;
        for (int64_t i = 0; i < n; i++) {
            double b = x[i] - x[i - n];
            own[i] += u * u * (x[i] * x[i] + b * b) / 3.0;
            unit[layer * n + i] = sqrt(squares + own[i]);
        }
    }
}

/* own [hidden]: on entry that of x, on return that of the final norm of x. */
static void norm_own(const double *x, const float *gain, const float *bias, int64_t hidden,
                     double *own)
{
    double u = kf_unit_roundoff(KF_F16), mean = 0.0, variance = 0.0;
    for (int64_t i = 0; i < hidden; i++)
        mean += x[i] / (double)hidden;
    for (int64_t i = 0; i < hidden; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)hidden;
    for (int64_t i = 0; i < hidden; i++) {
        double scale = gain[i] / sqrt(variance + NEOX_EPSILON);
        double y = (x[i] - mean) * scale + bias[i];
        own[i] = scale * scale * own[i] + u * u * y * y / 3.0;
    }
}

typedef struct logit_job {
    const neox_model *model;
    int tokens;
    const double *own; /* [tokens][hidden] */
    double *to;        /* [tokens][vocab] */
} logit_job;

static void add_logit_units(void *context, int64_t row)
{
    const logit_job *j = context;
    const neox_config *c = &j->model->config;
    float *w = kf_alloc(c->hidden, sizeof *w);
    neox_read_row(j->model, 0, c->tied ? NEOX_EMBEDDING : NEOX_OUTPUT, row, w);
    for (int t = 0; t < j->tokens; t++)
        for (int64_t i = 0; i < c->hidden; i++)
            j->to[t * (int64_t)c->vocab + row] +=
                (double)w[i] * w[i] * j->own[t * (int64_t)c->hidden + i];
    free(w);
}

/* The units of the logits. own [n] is that of x after the last layer. */
static void set_logit_units(const neox_model *model, int tokens, const double *exact_x, double *own,
                            double squares, double *unit)
{
    int64_t hidden = model->config.hidden, m = (int64_t)tokens * model->config.vocab;
    float *gain = kf_alloc(hidden, sizeof *gain), *bias = kf_alloc(hidden, sizeof *bias);
    neox_read_row(model, 0, NEOX_FINAL_GAIN, 0, gain);
    neox_read_row(model, 0, NEOX_FINAL_BIAS, 0, bias);
    for (int64_t t = 0; t < tokens; t++)
        norm_own(exact_x + t * hidden, gain, bias, hidden, own + t * hidden);
    free(gain);
    free(bias);
    logit_job job = {model, tokens, own, unit};
    for (int64_t i = 0; i < m; i++)
        unit[i] = 0.0;
    kf_parallel(model->config.vocab, add_logit_units, &job);
    for (int64_t i = 0; i < m; i++)
        unit[i] = sqrt(squares + unit[i]);
}

static double largest_in_units(const double *exact, const double *plain, const double *unit,
                               int64_t n)
{
    double z = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (unit[i] > 0.0)
            z = fmax(z, fabs(plain[i] - exact[i]) / unit[i]);
    return z;
}

const char *neox_bounds(const neox_model *model, int tokens, const neox_results *exact,
                        const neox_results *plain, neox_results *bound)
{
    const neox_config *c = &model->config;
    int64_t n = (int64_t)tokens * c->hidden, in_layers = (c->layers + 1) * n;
    int64_t m = (int64_t)tokens * c->vocab;
    double squares = 0.0, elements = (double)(in_layers + m), *own = kf_alloc(n, sizeof *own);
    char what[40];
    set_units(exact->hidden, plain->hidden, c->layers, n, bound->hidden, own);
    for (int64_t i = 0; i < m; i++)
        squares += pow(plain->logits[i] - exact->logits[i], 2.0) / (double)m;
    set_logit_units(model, tokens, exact->hidden + c->layers * n, own, squares, bound->logits);
    free(own);
    double z = fmax(largest_in_units(exact->hidden, plain->hidden, bound->hidden, in_layers),
                    largest_in_units(exact->logits, plain->logits, bound->logits, m));
    for (int64_t i = 0; i < in_layers; i++)
        bound->hidden[i] *= 2.0 * z;
    for (int64_t i = 0; i < m; i++)
        bound->logits[i] *= 2.0 * z;
    for (int layer = 1; layer <= c->layers; layer++) {
        snprintf(what, sizeof what, "x behind layer %d", layer);
        const char *trouble = too_large(bound->hidden + layer * n, exact->hidden + layer * n, n,
                                        roundings(c, layer), elements, what);
        if (trouble)
            return trouble;
    }
    /* The final norm adds one rounding, and its product with the output matrix adds those of its
     * sums. */
    return too_large(bound->logits, exact->logits, m,
                     roundings(c, c->layers) + 1.0 + 0x1p-13 * c->hidden, elements, "the logits");
}

/* --- The most likely token ------------------------------------------------------------------- */
int neox_largest(const double *logits, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

/* True if no other logit can be larger than the best one: they differ by more than both bounds. */
bool neox_is_clear(const double *logits, int n, const double *bound)
{
    int best = neox_largest(logits, n);
    bool clear = true;
    for (int i = 0; i < n; i++)
        clear = clear && (i == best || logits[best] - logits[i] > bound[best] + bound[i]);
    return clear;
}
