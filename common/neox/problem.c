/* problem.c: the model of a case, its tensors, and its reference. */
#include "problem.h"
#include "harness/problem.h"
#include "problems/rope.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Newton's words, from the text that the model was trained on: the tokens of cases without
 * speech, and, as far as NEOX_PROMPT, the beginning of cases with speech. */
static const char words[] =
    "Whence is it that Nature doth nothing in vain; and whence arises all that Order and Beauty "
    "which we see in the World? To what end are Comets, and whence is it that Planets";

/* --- Models ---------------------------------------------------------------------------------- */
const neox_known neox_opticks = {.config = {6, 160, 5, 8, 640, 128, 256, false},
                                 .file = "common/neox/opticks.neox"};
const neox_known neox_pythia = {.config = {32, 2560, 32, 20, 10240, 50304, 2048, false},
                                .on_device = true};
const neox_known neox_tiny = {.config = {3, 24, 3, 2, 104, 61, 32, false}};
const neox_known neox_tied = {.config = {2, 72, 2, 10, 56, 37, 32, true}};
const neox_known neox_long = {.config = {1, 40, 2, 4, 72, 9001, 320, false}, .kind = NEOX_LATE};
const neox_known neox_ties = {.config = {1, 24, 3, 2, 40, 2050, 16, false}, .kind = NEOX_TIES};
const neox_known neox_made = {.config = {2, 24, 3, 2, 40, 61, 16, false}, .on_device = true};
const neox_known neox_far = {.config = {1, 24, 3, 2, 40, 61, 16, false}, .kind = NEOX_FAR};
const neox_known neox_wide = {.config = {1, 312, 3, 26, 1032, 61, 16, false}};

bool neox_names_model(const kf_case *c)
{
    return c->data == &neox_opticks || c->data == &neox_pythia || c->data == &neox_tiny ||
           c->data == &neox_tied || c->data == &neox_long || c->data == &neox_ties ||
           c->data == &neox_far || c->data == &neox_made || c->data == &neox_wide;
}

static const neox_known *known_of(const kf_case *c)
{
    const neox_known *k = c->data;
    if (!neox_names_model(c))
        kf_die(KF_WRONG, "case %s names no model; .data = &neox_tiny is one, see neox/problem.h",
               c->name);
    const neox_config *m = &k->config;
    const kf_shape *s = &c->shape;
    const char *trouble = neox_config_trouble(m);
    if (trouble)
        kf_die(KF_WRONG, "case %s: its model cannot be run: %s", c->name, trouble);
    if (s->H != m->heads || s->D != m->hidden / m->heads || s->R != m->rotary)
        kf_die(KF_WRONG, "case %s has H=%d D=%d R=%d; its model has H=%d D=%d R=%d", c->name, s->H,
               s->D, s->R, m->heads, m->hidden / m->heads, m->rotary);
    return k;
}

/* Positions are those of the cache that the case declares. */
neox_config neox_config_of(const kf_case *c)
{
    neox_config config = known_of(c)->config;
    if (c->shape.Sk > config.positions)
        kf_die(KF_USAGE, "case %s: Sk=%d is more than the %d positions of the model", c->name,
               c->shape.Sk, config.positions);
    config.positions = c->shape.Sk;
    return config;
}

bool neox_reads_file(const kf_case *c)
{
    return neox_names_model(c) && known_of(c)->file;
}

/* The weights of the one model that has a file. They do not depend on positions, so all cases
 * share one copy, which is kept from the first case on. */
static float *weights_of(const kf_run *run, const neox_known *k)
{
    static float *loaded;
    if (loaded)
        return loaded;
    neox_model model;
    char *path = run->model ? kf_text("%s", run->model) : kf_text("%s/%s", kf_root(), k->file);
    const char *trouble = neox_load(path, &k->config, &model);
    if (trouble)
        kf_die(KF_USAGE, "%s%s: %s", run->model ? "--model " : "", path, trouble);
    free(path);
    loaded = model.weights;
    return loaded;
}

neox_model neox_model_of(const kf_run *run)
{
    const neox_known *k = known_of(run->c);
    float *weights = k->file ? weights_of(run, k) : NULL;
    return (neox_model){neox_config_of(run->c), weights, run->seed, k->kind};
}

/* --- Tensors --------------------------------------------------------------------------------- */
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

static bool speaks(const kf_case *c)
{
    return c->flags & NEOX_SPEECH;
}

/* A random token of the vocabulary, from the seed; different in each draw. */
static float drawn_token(const kf_run *run, const neox_config *c, int draw, int i)
{
    uint64_t index = (uint64_t)draw * (uint64_t)c->positions + (uint64_t)i;
    return (float)kf_random_below(run->seed, index, (uint32_t)c->vocab);
}

/* A model from a file gets Newton's words, as far as they go; then, or otherwise, random tokens. */
static void set_tokens(kf_run *run, const neox_model *model)
{
    const neox_config *c = &model->config;
    int64_t positions = c->positions, one = 1;
    int n = model->weights ? (int)sizeof words - 1 : 0;
    kf_tensor *tokens = kf_zero_input(run, "tokens", "S", KF_I32, &positions);
    kf_tensor *past = kf_zero_input(run, "past", "S", KF_I32, &one);
    int given = speaks(run->c) ? NEOX_PROMPT : c->positions;
    for (int i = 0; i < given; i++)
        tokens->host[i] = i < n ? (float)words[i] : drawn_token(run, c, 0, i);
    kf_may_write(run, "tokens"); /* speech changes both */
    kf_may_write(run, "past");
    past->host[0] = speaks(run->c) ? 0.0f : (float)(run->shape.Sk - run->shape.Sq);
}

/* The keys and values of earlier positions: computed by the model if it has a file, otherwise
 * random. */
static void fill_caches(kf_run *run, const neox_model *model, kf_tensor *k, kf_tensor *v)
{
    const neox_config *c = &model->config;
    int past = (int)kf_find(run, "past")->host[0];
    if (past > 0 && model->weights) {
        neox_results x = neox_new_results(c, past);
        int *tokens = kf_alloc(past, sizeof *tokens);
        for (int i = 0; i < past; i++)
            tokens[i] = (int)kf_find(run, "tokens")->host[i];
        neox_forward(model, true, tokens, past, 0, &x);
        for (int64_t i = 0; i < k->count; i++) {
            k->host[i] = (float)x.k[i];
            v->host[i] = (float)x.v[i];
        }
        neox_free_results(&x);
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
    const neox_model model = neox_model_of(run);
    const neox_config *c = &model.config;
    const int64_t weights = neox_weights(c), one = 1, workspace = NEOX_WORKSPACE;
    const int64_t cache[] = {c->layers, c->heads, c->positions, run->shape.D};
    const int64_t hidden[] = {c->layers + 1, run->shape.Sq, c->hidden};
    const int64_t logits[] = {run->shape.Sq, c->vocab}, positions = c->positions;
    if (known_of(run->c)->on_device)
        kf_device_input(run, "weights", "W", KF_F16, &weights, make);
    else
        set_weights(run, &model);
    set_tokens(run, &model);
    kf_tensor *keys = kf_input(run, "k_cache", "LHSD", KF_F16, cache);
    fill_caches(run, &model, keys, kf_input(run, "v_cache", "LHSD", KF_F16, cache));
    kf_may_write(run, "k_cache");
    kf_may_write(run, "v_cache");
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
    if (speaks(run->c))
        kf_output(run, "text", "S", KF_I32, &positions);
}

/* --- Reference ------------------------------------------------------------------------------- */
/* The results for the new tokens, over the given caches. */
static neox_results forward(const kf_run *run, const neox_model *model, bool plain)
{
    const kf_tensor *keys = kf_find(run, "k_cache"), *values = kf_find(run, "v_cache");
    const kf_tensor *given = kf_find(run, "tokens");
    int n = run->shape.Sq, past = run->shape.Sk - n;
    int *tokens = kf_alloc(n, sizeof *tokens);
    neox_results x = neox_new_results(&model->config, n);
    for (int64_t i = 0; i < keys->count; i++) {
        x.k[i] = keys->host[i];
        x.v[i] = values->host[i];
    }
    for (int i = 0; i < n; i++)
        tokens[i] = (int)given->host[past + i];
    neox_forward(model, plain, tokens, n, past, &x);
    free(tokens);
    return x;
}

static void set_output(kf_tensor *t, const double *exact, const double *bound)
{
    memcpy(t->want, exact, (size_t)t->count * sizeof *exact);
    memcpy(t->bound, bound, (size_t)t->count * sizeof *bound);
    memset(t->checked, true, (size_t)t->rows * sizeof *t->checked);
}

/* Sets hidden, logits and next, and frees exact and plain. Returns true if one logit is
 * certainly the largest. */
static bool set_results(kf_run *run, const neox_model *model, neox_results *exact,
                        neox_results *plain)
{
    int vocab = model->config.vocab;
    kf_tensor *logits = kf_find(run, "logits"), *next = kf_find(run, "next");
    const double *last = exact->logits + logits->count - vocab;
    neox_results bound = neox_new_results(&model->config, run->shape.Sq);
    const char *trouble = neox_bounds(model, run->shape.Sq, exact, plain, &bound);
    if (trouble)
        kf_die(KF_WRONG, "case %s: %s", run->c->name, trouble);
    set_output(kf_find(run, "hidden"), exact->hidden, bound.hidden);
    set_output(logits, exact->logits, bound.logits);
    next->want[0] = neox_largest(last, vocab);
    next->bound[0] = 0.0;
    next->checked[0] = true;
    bool clear = model->kind == NEOX_TIES ||
                 neox_is_clear(last, vocab, bound.logits + logits->count - vocab);
    neox_free_results(&bound);
    neox_free_results(exact);
    neox_free_results(plain);
    return clear;
}

/* Sets tokens [positions], of which NEOX_PROMPT are given. Returns the results of the last step. */
static neox_results speak(const kf_run *run, const neox_model *model, bool plain, int *tokens)
{
    neox_results x = neox_new_results(&model->config, 1);
    for (int i = 0; i < NEOX_PROMPT; i++)
        tokens[i] = (int)kf_find(run, "tokens")->host[i];
    for (int i = 0; i + 1 < model->config.positions; i++) {
        neox_forward(model, plain, tokens + i, 1, i, &x);
        if (i + 1 >= NEOX_PROMPT)
            tokens[i + 1] = neox_largest(x.logits, model->config.vocab);
    }
    return x;
}

static void compare_no(kf_tensor *t)
{
    memset(t->checked, false, (size_t)t->rows * sizeof *t->checked);
}

/* In speech the model reads its own output. After the first wrong letter its layers have another
 * input than the reference's, so comparing them says nothing. A prompt whose continuation
 * differs between fp64 and plain fp16 would prove nothing. */
static void speech_reference(kf_run *run, const neox_model *model)
{
    kf_tensor *text = kf_find(run, "text");
    int n = run->shape.Sk;
    int *tokens = kf_alloc(n, sizeof *tokens), *plain_tokens = kf_alloc(n, sizeof *tokens);
    neox_results exact = speak(run, model, false, tokens);
    neox_results plain = speak(run, model, true, plain_tokens);
    bool same = memcmp(tokens, plain_tokens, (size_t)n * sizeof *tokens) == 0;
    if (!set_results(run, model, &exact, &plain) || !same)
        kf_die(KF_WRONG,
               "case %s: fp64 and fp16 may continue the prompt differently; choose one with a "
               "clearer continuation",
               run->c->name);
    for (int i = 0; i < n; i++)
        text->want[i] = tokens[i];
    text->checked[0] = true;
    compare_no(kf_find(run, "hidden"));
    compare_no(kf_find(run, "logits"));
    free(tokens);
    free(plain_tokens);
}

/* Called before the first upload of the inputs, so the variants get the new tokens. */
static void draw_again(kf_run *run, const neox_config *c, int draw)
{
    kf_tensor *tokens = kf_find(run, "tokens");
    kf_say("  two logits are too close to tell which is larger: draw %d of the tokens\n", draw + 1);
    for (int i = run->shape.Sk - run->shape.Sq; i < run->shape.Sk; i++)
        tokens->host[i] = drawn_token(run, c, draw, i);
}

void neox_reference(kf_run *run)
{
    enum { MOST_DRAWS = 8 };
    const neox_model model = neox_model_of(run);
    if (speaks(run->c)) {
        speech_reference(run, &model);
        return;
    }
    for (int draw = 1;; draw++) {
        neox_results exact = forward(run, &model, false), plain = forward(run, &model, true);
        if (set_results(run, &model, &exact, &plain))
            return;
        if (model.weights || draw == MOST_DRAWS)
            kf_die(KF_WRONG,
                   "case %s: next cannot be compared, two logits are too close to tell which is "
                   "larger; %s",
                   run->c->name,
                   model.weights ? "choose other words" : "and so in every draw of the tokens");
        draw_again(run, &model.config, draw);
    }
}

void neox_text(const int *tokens, int n, char *text, size_t size)
{
    size_t length = 0;
    for (int i = 0; i < n && length + 1 < size; i++)
        text[length++] = (char)(tokens[i] >= ' ' && tokens[i] < 127 ? tokens[i] : ' ');
    text[length] = '\0';
}

kf_cost neox_cost(const kf_case *of)
{
    const neox_config c = neox_config_of(of);
    double T = of->shape.Sq, past = of->shape.Sk - T, weights = neox_bytes_read(&c) / 2.0;
    double pairs = T * past + T * (T + 1.0) / 2.0, steps = speaks(of) ? of->shape.Sk - 1 : 1;
    double bytes = neox_bytes_read(&c) + 4.0 * c.layers * (past + T) * c.hidden;
    double flops = 2.0 * weights * T + 4.0 * c.layers * pairs * c.hidden;
    return (kf_cost){.bytes = steps * bytes, .flops = steps * flops, .tensor_cores = true};
}
