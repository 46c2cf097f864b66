/* problem.c: which model a case means, its tensors, and what is right. */
#include "problem.h"
#include "harness/problem.h"
#include "problems/rope.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newton's words, from the text that the model was trained on: tokens of the cases that do not
 * speak, and, as far as NEOX_PROMPT, the beginning of those that do. */
static const char words[] =
    "Whence is it that Nature doth nothing in vain; and whence arises all that Order and Beauty "
    "which we see in the World? To what end are Comets, and whence is it that Planets";

/* --- Models -------------------------------------------------------------------------------------
 */
typedef struct known {
    const char *file; /* NULL: made up from the seed */
    neox_config config;
    int D;
    bool on_device; /* too large for the host */
} known;

static const known models[] = {
    {"common/neox/opticks.neox", {6, 160, 5, 8, 640, 128, 256, false}, 32, false},
    {NULL, {32, 2560, 32, 20, 10240, 50304, 2048, false}, 80, true},
    {NULL, {3, 24, 3, 2, 104, 61, 32, false}, 8, false},
    {NULL, {2, 72, 2, 10, 56, 37, 32, true}, 36, false},
};

static const known *find(const kf_shape *s)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (models[i].config.heads == s->H && models[i].D == s->D &&
            models[i].config.rotary == s->R)
            return &models[i];
    kf_die(KF_WRONG, "no model has H=%d D=%d R=%d; problem.h lists those there are", s->H, s->D,
           s->R);
}

/* Positions are those of the cache that the case declares. */
neox_config neox_config_of(const kf_shape *shape)
{
    neox_config config = find(shape)->config;
    if (shape->Sk > config.positions)
        kf_die(KF_USAGE, "Sk=%d is more than the %d positions of the model", shape->Sk,
               config.positions);
    config.positions = shape->Sk;
    return config;
}

static bool same_config(const neox_config *a, const neox_config *b)
{
    return a->layers == b->layers && a->hidden == b->hidden && a->heads == b->heads &&
           a->rotary == b->rotary && a->mlp == b->mlp && a->vocab == b->vocab &&
           a->positions == b->positions && a->tied == b->tied;
}

/* Weights do not depend on positions, so one copy serves every case. */
static float *weights_of(const known *k)
{
    static float *loaded;
    neox_model model;
    char path[1024];
    const char *root = getenv("KF_ROOT");
    if (loaded)
        return loaded;
    snprintf(path, sizeof path, "%s/%s", root && *root ? root : ".", k->file);
    const char *trouble = neox_load(path, &model);
    if (trouble)
        kf_die(KF_CANNOT_RUN, "%s", trouble);
    if (!same_config(&model.config, &k->config))
        kf_die(
            KF_CANNOT_RUN,
            "%s holds %d layers, hidden %d, %d heads, rotary %d, mlp %d, vocab %d, %d positions, "
            "tied %d; this step is for %d, %d, %d, %d, %d, %d, %d, %d",
            path, model.config.layers, model.config.hidden, model.config.heads, model.config.rotary,
            model.config.mlp, model.config.vocab, model.config.positions, model.config.tied,
            k->config.layers, k->config.hidden, k->config.heads, k->config.rotary, k->config.mlp,
            k->config.vocab, k->config.positions, k->config.tied);
    loaded = model.weights;
    return loaded;
}

neox_model neox_model_of(const kf_run *run)
{
    const known *k = find(&run->shape);
    return (neox_model){neox_config_of(&run->shape), k->file ? weights_of(k) : NULL, run->seed};
}

/* --- Tensors ------------------------------------------------------------------------------------
 */
static void set_weights(kf_run *run, const neox_model *model)
{
    const neox_config *c = &model->config;
    int64_t count = neox_weights(c);
    kf_tensor *t = kf_zero_input(run, "weights", "W", KF_F16, &count);
    if (model->weights) {
        memcpy(t->host, model->weights, (size_t)count * sizeof *t->host);
        return;
    }
    for (int layer = 0; layer < c->layers; layer++)
        for (int part = 0; part < NEOX_PARTS; part++)
            for (int64_t row = 0; row < neox_rows(c, (enum neox_part)part); row++)
                if (!(c->tied && part == NEOX_OUTPUT))
                    neox_read_row(model, layer, (enum neox_part)part, row,
                                  t->host + neox_offset(c, layer, (enum neox_part)part) +
                                      row * neox_columns(c, (enum neox_part)part));
}

static void set_tokens(kf_run *run, const neox_config *c, bool speaks)
{
    int64_t positions = c->positions, one = 1, n = speaks ? (int64_t)sizeof words - 1 : 0;
    kf_tensor *tokens = kf_zero_input(run, "tokens", "S", KF_I32, &positions);
    kf_tensor *past = kf_zero_input(run, "past", "S", KF_I32, &one);
    for (int i = 0; i < positions; i++)
        tokens->host[i] =
            (float)(i < n ? words[i]
                          : (int)kf_random_below(run->seed, (uint64_t)i, (uint32_t)c->vocab));
    past->host[0] = (float)(run->shape.Sk - run->shape.Sq);
}

/* What the positions before have left: what the model itself puts there, if it speaks; else any
 * values will do. */
static void fill_caches(kf_run *run, const neox_model *model, kf_tensor *k, kf_tensor *v)
{
    const neox_config *c = &model->config;
    int past = run->shape.Sk - run->shape.Sq;
    if (past > 0 && model->weights) {
        double *keys = kf_alloc(k->count, sizeof *keys), *values = kf_alloc(k->count, sizeof *keys);
        double *hidden = kf_alloc((int64_t)(c->layers + 1) * past * c->hidden, sizeof *hidden);
        double *logits = kf_alloc((int64_t)past * c->vocab, sizeof *logits);
        int *tokens = kf_alloc(past, sizeof *tokens);
        for (int i = 0; i < past; i++)
            tokens[i] = (int)kf_find(run, "tokens")->host[i];
        neox_forward(model, true, keys, values, tokens, past, 0, hidden, logits);
        for (int64_t i = 0; i < k->count; i++) {
            k->host[i] = (float)keys[i];
            v->host[i] = (float)values[i];
        }
        free(keys);
        free(values);
        free(hidden);
        free(logits);
        free(tokens);
    }
    int64_t D = run->shape.D;
    for (int64_t row = 0; row < k->rows; row++)
        for (int64_t d = 0; d < D && row % c->positions >= past; d++)
            k->host[row * D + d] = v->host[row * D + d] = NAN;
}

static void scratch(kf_run *run, const char *name, int64_t columns)
{
    const int64_t dim[] = {run->shape.Sq, columns};
    kf_scratch(run, name, "SD", KF_F16, dim);
}

void neox_setup(kf_run *run, void (*make)(const kf_run *run, void *weights))
{
    const known *k = find(&run->shape);
    const neox_model model = neox_model_of(run);
    const neox_config *c = &model.config;
    const int64_t weights = neox_weights(c), one = 1, workspace = NEOX_WORKSPACE;
    const int64_t cache[] = {c->layers, c->heads, c->positions, run->shape.D};
    const int64_t hidden[] = {c->layers + 1, run->shape.Sq, c->hidden};
    const int64_t logits[] = {run->shape.Sq, c->vocab};
    if (k->on_device)
        kf_device_input(run, "weights", "W", KF_F16, &weights, make);
    else
        set_weights(run, &model);
    set_tokens(run, c, k->file != NULL);
    kf_tensor *keys = kf_input(run, "k_cache", "LHSD", KF_F16, cache);
    fill_caches(run, &model, keys, kf_input(run, "v_cache", "LHSD", KF_F16, cache));
    kf_rope_tables(run);
    kf_output(run, "hidden", "LSD", KF_F16, hidden);
    kf_output(run, "logits", "SD", KF_F32, logits);
    kf_output(run, "next", "S", KF_I32, &one);
    scratch(run, "normed1", c->hidden);
    scratch(run, "normed2", c->hidden);
    scratch(run, "qkv", 3 * c->hidden);
    scratch(run, "context", c->hidden);
    scratch(run, "attention", c->hidden);
    scratch(run, "up", c->mlp);
    scratch(run, "mlp", c->hidden);
    scratch(run, "sum", c->hidden);
    kf_scratch(run, "workspace", "W", KF_F32, &workspace);
}

void neox_speech_setup(kf_run *run, void (*make)(const kf_run *run, void *weights))
{
    const int64_t positions = run->shape.Sk;
    neox_setup(run, make);
    kf_tensor *tokens = kf_find(run, "tokens"), *k = kf_find(run, "k_cache");
    for (int64_t i = NEOX_PROMPT; i < positions; i++)
        tokens->host[i] = 0.0f;
    kf_find(run, "past")->host[0] = 0.0f;
    for (int64_t i = 0; i < k->count; i++)
        k->host[i] = kf_find(run, "v_cache")->host[i] = NAN;
    kf_output(run, "text", "S", KF_I32, &positions);
}

/* --- Reference ----------------------------------------------------------------------------------
 */
typedef struct results {
    double *k, *v, *hidden, *logits;
} results;

static results room_for(const kf_run *run)
{
    int64_t cache = kf_find(run, "k_cache")->count;
    return (results){kf_alloc(cache, sizeof(double)), kf_alloc(cache, sizeof(double)),
                     kf_alloc(kf_find(run, "hidden")->count, sizeof(double)),
                     kf_alloc(kf_find(run, "logits")->count, sizeof(double))};
}

static results forward(const kf_run *run, const neox_model *model, bool plain)
{
    const kf_tensor *keys = kf_find(run, "k_cache"), *values = kf_find(run, "v_cache");
    const kf_tensor *given = kf_find(run, "tokens");
    int n = run->shape.Sq, past = run->shape.Sk - n;
    int *tokens = kf_alloc(n, sizeof *tokens);
    results x = room_for(run);
    for (int64_t i = 0; i < keys->count; i++) {
        x.k[i] = keys->host[i];
        x.v[i] = values->host[i];
    }
    for (int i = 0; i < n; i++)
        tokens[i] = (int)given->host[past + i];
    neox_forward(model, plain, x.k, x.v, tokens, n, past, x.hidden, x.logits);
    free(tokens);
    return x;
}

static void free_results(results *x)
{
    free(x->k);
    free(x->v);
    free(x->hidden);
    free(x->logits);
}

/* --- Bounds: at most twice the error of the plain implementation
 * ----------------------------------- Twice its largest error would be a poor measure: one column
 * of x may be ten times as large as the others and so have ten times their error, and then that one
 * draw decides. So errors are compared in units of what each element is expected to have. Layer l
 * rounds x and the sum of both branches, b = x[l] - x[l-1]; a rounding to nearest is off by u
 * |value| at most and by u |value| / sqrt(3) in the root mean square if it is spread evenly. What
 * an element gathers on its own is s[l]^2 = s[l-1]^2 + u^2 (x[l]^2 + b^2) / 3, what comes with the
 * branches is alike for all, t = the root mean square of the plain errors in that layer, and the
 * unit is sqrt(t^2 + s^2). With z the largest error of the plain implementation in those units,
 * anywhere in the model, the bound of an element is 2 z units. */

/* The units of hidden [layers + 1][n], one after the other. */
static void set_units(const results *exact, const results *plain, int64_t layers, int64_t n,
                      double *unit)
{
    double u = kf_unit_roundoff(KF_F16), *own = kf_alloc(n, sizeof *own);
    for (int64_t layer = 0; layer <= layers; layer++) {
        const double *x = exact->hidden + layer * n, *y = plain->hidden + layer * n;
        double squares = 0.0;
        for (int64_t i = 0; i < n; i++)
            squares += (y[i] - x[i]) * (y[i] - x[i]) / (double)n;
        for (int64_t i = 0; i < n; i++) {
            double b = layer > 0 ? x[i] - x[i - n] : 0.0;
            own[i] += layer > 0 ? u * u * (x[i] * x[i] + b * b) / 3.0 : 0.0;
            unit[layer * n + i] = layer > 0 ? sqrt(squares + own[i]) : 0.0;
        }
    }
    free(own);
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

static void set_bounds(kf_tensor *t, const double *exact, const double *unit, double z)
{
    for (int64_t i = 0; i < t->count; i++) {
        t->want[i] = exact[i];
        t->bound[i] = 2.0 * z * unit[i];
    }
    memset(t->checked, true, (size_t)t->rows * sizeof *t->checked);
}

/* Twice the bound apart, no two logits within their bounds change places. */
static void set_next(kf_tensor *next, const double *logits, int vocab, double bound)
{
    int best = 0;
    bool close = false;
    for (int i = 1; i < vocab; i++)
        if (logits[i] > logits[best])
            best = i;
    for (int i = 0; i < vocab; i++)
        close |= i != best && logits[best] - logits[i] <= 2.0 * bound;
    next->want[0] = best;
    next->bound[0] = 0.0;
    next->checked[0] = !close;
}

/* Sets the outputs, and frees both. */
static void set_results(kf_run *run, const neox_model *model, results *exact, results *plain)
{
    kf_tensor *hidden = kf_find(run, "hidden"), *logits = kf_find(run, "logits");
    double *unit = kf_alloc(hidden->count, sizeof *unit);
    double *logit_unit = kf_alloc(logits->count, sizeof *logit_unit), squares = 0.0;
    set_units(exact, plain, hidden->dim[0] - 1, hidden->count / hidden->dim[0], unit);
    for (int64_t i = 0; i < logits->count; i++)
        squares += pow(plain->logits[i] - exact->logits[i], 2.0) / (double)logits->count;
    for (int64_t i = 0; i < logits->count; i++)
        logit_unit[i] = sqrt(squares);
    double z = fmax(largest_in_units(exact->hidden, plain->hidden, unit, hidden->count),
                    largest_in_units(exact->logits, plain->logits, logit_unit, logits->count));
    set_bounds(hidden, exact->hidden, unit, z);
    set_bounds(logits, exact->logits, logit_unit, z);
    free(unit);
    free(logit_unit);
    double bound = logits->bound[0];
    set_next(kf_find(run, "next"), exact->logits + logits->count - model->config.vocab,
             model->config.vocab, bound);
    free_results(exact);
    free_results(plain);
}

void neox_reference(kf_run *run)
{
    const neox_model model = neox_model_of(run);
    results exact = forward(run, &model, false), plain = forward(run, &model, true);
    set_results(run, &model, &exact, &plain);
}

/* --- Speech --- */
static int largest(const double *logits, int vocab)
{
    int best = 0;
    for (int i = 1; i < vocab; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

/* Tokens [positions], of which NEOX_PROMPT are given. Returns the results of the last step. */
static results speak(const kf_run *run, const neox_model *model, bool plain, int *tokens)
{
    results x = room_for(run);
    for (int i = 0; i < NEOX_PROMPT; i++)
        tokens[i] = (int)kf_find(run, "tokens")->host[i];
    for (int i = 0; i + 1 < model->config.positions; i++) {
        neox_forward(model, plain, x.k, x.v, tokens + i, 1, i, x.hidden, x.logits);
        if (i + 1 >= NEOX_PROMPT)
            tokens[i + 1] = largest(x.logits, model->config.vocab);
    }
    return x;
}

void neox_speech_reference(kf_run *run)
{
    const neox_model model = neox_model_of(run);
    kf_tensor *text = kf_find(run, "text");
    int n = run->shape.Sk;
    int *tokens = kf_alloc(n, sizeof *tokens), *plain_tokens = kf_alloc(n, sizeof *tokens);
    results exact = speak(run, &model, false, tokens);
    results plain = speak(run, &model, true, plain_tokens);
    if (memcmp(tokens, plain_tokens, (size_t)n * sizeof *tokens) != 0)
        kf_die(KF_WRONG,
               "case %s: fp64 and plain fp16 continue the prompt differently; choose one "
               "with a clearer continuation",
               run->c->name);
    for (int i = 0; i < n; i++)
        text->want[i] = tokens[i];
    text->checked[0] = true;
    set_results(run, &model, &exact, &plain);
    free(tokens);
    free(plain_tokens);
}

void neox_text(const int *tokens, int n, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < n && length + 1 < size; i++)
        text[length++] = (char)(tokens[i] >= ' ' && tokens[i] < 127 ? tokens[i] : ' ');
    text[length] = '\0';
}

kf_cost neox_speech_cost(const kf_case *c)
{
    kf_cost cost = neox_cost(c);
    return (kf_cost){cost.bytes * (c->shape.Sk - 1), cost.flops * (c->shape.Sk - 1), true};
}

kf_cost neox_cost(const kf_case *of)
{
    const neox_config c = neox_config_of(&of->shape);
    double T = of->shape.Sq, past = of->shape.Sk - T, weights = neox_bytes_read(&c) / 2.0;
    double pairs = T * past + T * (T + 1.0) / 2.0;
    return (kf_cost){.bytes = neox_bytes_read(&c) + 4.0 * c.layers * (past + T) * c.hidden,
                     .flops = 2.0 * weights * T + 4.0 * c.layers * pairs * c.hidden,
                     .tensor_cores = true};
}
