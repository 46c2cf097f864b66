/* reference.c: the model on the host: in fp64 for the right results, or as a plain implementation
 * in fp16 for their bounds.
 *
 * Each function is an operation of the model over n rows. r() rounds values that a kernel would
 * store. */
#include "harness/problem.h"
#include "neox.h"
#include "problems/rope.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct forward {
    const neox_model *model;
    bool plain;
    int n, past;
} forward;

static double r(const forward *f, double value)
{
    return f->plain ? kf_round_to(KF_F16, (float)value) : value;
}

/* --- Matrices: y [n][rows] = x [n][columns] W^T + b ------------------------------------------ */
typedef struct product {
    const forward *f;
    int layer;
    enum neox_part part, bias;
    bool keep_fp32; /* logits are not rounded */
    const double *x;
    double *y;
} product;

static double dot(const forward *f, const float *w, const double *x, int64_t n)
{
    double sum = 0.0;
    float sum32 = 0.0f;
    if (!f->plain) {
        for (int64_t i = 0; i < n; i++)
            sum += w[i] * x[i];
        return sum;
    }
    for (int64_t i = 0; i < n; i++)
        sum32 += w[i] * (float)x[i];
    return sum32;
}

static void product_row(void *context, int64_t row)
{
    const product *p = context;
    const neox_config *c = &p->f->model->config;
    int64_t columns = neox_columns(c, p->part), rows = neox_rows(c, p->part);
    float *w = kf_alloc(columns, sizeof *w), *bias = NULL;
    neox_read_row(p->f->model, p->layer, p->part, row, w);
    if (p->bias != NEOX_PARTS) {
        bias = kf_alloc(rows, sizeof *bias);
        neox_read_row(p->f->model, p->layer, p->bias, 0, bias);
    }
    for (int t = 0; t < p->f->n; t++) {
        double sum = dot(p->f, w, p->x + t * columns, columns) + (bias ? bias[row] : 0.0f);
        p->y[t * rows + row] = p->keep_fp32 ? sum : r(p->f, sum);
    }
    free(w);
    free(bias);
}

static void multiply(const forward *f, int layer, enum neox_part part, enum neox_part bias,
                     const double *x, double *y)
{
    product p = {f, layer, part, bias, bias == NEOX_PARTS, x, y};
    kf_parallel(neox_rows(&f->model->config, part), product_row, &p);
}

/* --- Layer norm (Ba et al. 2016, Layer Normalization, equation 3) ---------------------------- */
static void norm(const forward *f, int layer, enum neox_part gain_part, const double *x, double *y)
{
    int hidden = f->model->config.hidden;
    float *gain = kf_alloc(hidden, sizeof *gain), *bias = kf_alloc(hidden, sizeof *bias);
    neox_read_row(f->model, layer, gain_part, 0, gain);
    neox_read_row(f->model, layer, (enum neox_part)(gain_part + 1), 0, bias);
    for (int t = 0; t < f->n; t++, x += hidden, y += hidden) {
        double mean = 0.0, variance = 0.0;
        for (int i = 0; i < hidden; i++)
            mean += x[i] / hidden;
        for (int i = 0; i < hidden; i++)
            variance += (x[i] - mean) * (x[i] - mean) / hidden;
        double scale = 1.0 / sqrt(variance + NEOX_EPSILON);
        for (int i = 0; i < hidden; i++)
            y[i] = r(f, (x[i] - mean) * scale * gain[i] + bias[i]);
    }
    free(gain);
    free(bias);
}

/* --- Attention over the cache ---------------------------------------------------------------- */
/* qkv [n][heads][3][D] -> the new rows of k and v; q is rotated in place. */
static void rotate_and_append(const forward *f, double *qkv, double *k, double *v)
{
    const neox_config *c = &f->model->config;
    int D = c->hidden / c->heads, R = c->rotary;
    double *cosine = kf_alloc((int64_t)f->n * (R / 2), sizeof *cosine);
    double *sine = kf_alloc((int64_t)f->n * (R / 2), sizeof *sine);
    kf_rope_fp64(f->past, f->n, R, cosine, sine);
    for (int t = 0; t < f->n; t++) {
        for (int head = 0; head < c->heads; head++) {
            double *q = qkv + ((int64_t)t * c->heads + head) * 3 * D;
            int64_t at = ((int64_t)head * c->positions + f->past + t) * D;
            kf_rotate(false, q, R, cosine + t * (R / 2), sine + t * (R / 2));
            kf_rotate(true, q + D, R, cosine + t * (R / 2), sine + t * (R / 2));
            for (int d = 0; d < D; d++) {
                q[d] = r(f, q[d]);
                k[at + d] = r(f, q[D + d]);
                v[at + d] = q[2 * D + d];
            }
        }
    }
    free(cosine);
    free(sine);
}

static void attend(const forward *f, const double *qkv, const double *k, const double *v, double *o)
{
    const neox_config *c = &f->model->config;
    int D = c->hidden / c->heads;
    double *p = kf_alloc(c->positions, sizeof *p);
    for (int t = 0; t < f->n; t++) {
        for (int head = 0; head < c->heads; head++) {
            const double *q = qkv + ((int64_t)t * c->heads + head) * 3 * D;
            const double *keys = k + (int64_t)head * c->positions * D;
            const double *values = v + (int64_t)head * c->positions * D;
            double largest = -INFINITY, sum = 0.0;
            int n = f->past + t + 1;
            for (int j = 0; j < n; j++) {
                p[j] = 0.0;
                for (int d = 0; d < D; d++)
                    p[j] += q[d] * keys[(int64_t)j * D + d];
                p[j] /= sqrt(D);
                largest = fmax(largest, p[j]);
            }
            for (int j = 0; j < n; j++)
                sum += p[j] = exp(p[j] - largest);
            for (int d = 0; d < D; d++) {
                double weighted = 0.0;
                for (int j = 0; j < n; j++)
                    weighted += p[j] * values[(int64_t)j * D + d];
                o[((int64_t)t * c->heads + head) * D + d] = r(f, weighted / sum);
            }
        }
    }
    free(p);
}

/* GELU, exact (Hendrycks and Gimpel 2016, section 2): x Phi(x). */
static void gelu(const forward *f, double *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = r(f, 0.5 * x[i] * (1.0 + erf(x[i] / sqrt(2.0))));
}

/* --- All of it ------------------------------------------------------------------------------- */
typedef struct room {
    double *normed, *qkv, *context, *attention, *up, *mlp;
} room;

static void run_layer(const forward *f, int layer, const room *w, double *k, double *v,
                      const double *x, double *y)
{
    const neox_config *c = &f->model->config;
    int64_t count = (int64_t)f->n * c->hidden;
    norm(f, layer, NEOX_NORM1_GAIN, x, w->normed);
    multiply(f, layer, NEOX_QKV, NEOX_QKV_BIAS, w->normed, w->qkv);
    rotate_and_append(f, w->qkv, k, v);
    attend(f, w->qkv, k, v, w->context);
    multiply(f, layer, NEOX_DENSE, NEOX_DENSE_BIAS, w->context, w->attention);
    norm(f, layer, NEOX_NORM2_GAIN, x, w->normed);
    multiply(f, layer, NEOX_UP, NEOX_UP_BIAS, w->normed, w->up);
    gelu(f, w->up, (int64_t)f->n * c->mlp);
    multiply(f, layer, NEOX_DOWN, NEOX_DOWN_BIAS, w->up, w->mlp);
    for (int64_t i = 0; i < count; i++)
        y[i] = r(f, r(f, w->mlp[i] + w->attention[i]) + x[i]);
}

neox_results neox_new_results(const neox_config *c, int n)
{
    int64_t cache = (int64_t)c->layers * c->positions * c->hidden;
    return (neox_results){kf_alloc(cache, sizeof(double)), kf_alloc(cache, sizeof(double)),
                          kf_alloc((int64_t)(c->layers + 1) * n * c->hidden, sizeof(double)),
                          kf_alloc((int64_t)n * c->vocab, sizeof(double))};
}

void neox_free_results(neox_results *results)
{
    free(results->k);
    free(results->v);
    free(results->hidden);
    free(results->logits);
    *results = (neox_results){NULL, NULL, NULL, NULL};
}

void neox_forward(const neox_model *model, bool plain, const int *tokens, int n, int past,
                  neox_results *to)
{
    const neox_config *c = &model->config;
    const forward f = {model, plain, n, past};
    int64_t count = (int64_t)n * c->hidden, cache = (int64_t)c->positions * c->hidden;
    room w = {kf_alloc(count, sizeof(double)),
              kf_alloc(3 * count, sizeof(double)),
              kf_alloc(count, sizeof(double)),
              kf_alloc(count, sizeof(double)),
              kf_alloc((int64_t)n * c->mlp, sizeof(double)),
              kf_alloc(count, sizeof(double))};
    float *row = kf_alloc(c->hidden, sizeof *row);
    for (int t = 0; t < n; t++) {
        neox_read_row(model, 0, NEOX_EMBEDDING, tokens[t], row);
        for (int i = 0; i < c->hidden; i++)
            to->hidden[(int64_t)t * c->hidden + i] = row[i];
    }
    for (int layer = 0; layer < c->layers; layer++)
        run_layer(&f, layer, &w, to->k + layer * cache, to->v + layer * cache,
                  to->hidden + layer * count, to->hidden + (layer + 1) * count);
    norm(&f, 0, NEOX_FINAL_GAIN, to->hidden + c->layers * count, w.normed);
    multiply(&f, 0, c->tied ? NEOX_EMBEDDING : NEOX_OUTPUT, NEOX_PARTS, w.normed, to->logits);
    free(row);
    free(w.normed);
    free(w.qkv);
    free(w.context);
    free(w.attention);
    free(w.up);
    free(w.mlp);
}
