/* unit_ceiling.c: the bounds of fp16 and bf16 where the plain implementation that they are measured
 * by is broken: what the type allows at most is then all there is. The program is linked without
 * plain.c, whose function is here under another name. */
#include "unit.h"
#define kf_plain_attention_row whole_plain_row
#include "problems/plain.c" /* NOLINT(bugprone-suspicious-include): under that name */
#undef kf_plain_attention_row

enum { HEADS = 2, QUERIES = 19, KEYS = 200, D = 64 };

static float broken_by, whole[HEADS * QUERIES * D]; /* what the one that is not broken says */
static const float *values;

/* The mask tells which query it is: each sees another number of keys. */
void kf_plain_attention_row(enum kf_dtype dtype, int d, int64_t keys, const float *q,
                            const float *k, const float *v, float *o)
{
    int64_t row = (v - values) / (KEYS * D) * QUERIES + keys - (KEYS - QUERIES + 1);
    whole_plain_row(dtype, d, keys, q, k, v, whole + row * D);
    for (int i = 0; i < d; i++)
        o[i] = whole[row * D + i] + broken_by;
}

static int64_t wrong_of(const kf_tensor *o, const float *values)
{
    void *raw = kf_alloc(o->count, kf_dtype_size(o->dtype));
    kf_diagnosis seen;
    kf_pack(o->dtype, values, raw, o->count);
    kf_compare(o, raw, &seen);
    int64_t wrong = seen.wrong;
    kf_diagnosis_free(&seen);
    free(raw);
    return wrong;
}

/* Right: the result, rounded; and what the plain implementation has before it is broken, which is
 * to be within half of the bounds. Wrong: v's mean, as if all scores were 0. */
static void look(enum kf_dtype dtype, int R, float by)
{
    const kf_case c = {.name = "low", .shape = {1, HEADS, QUERIES, KEYS, D, R, true, 0}};
    kf_run run = unit_attention(&c, 5);
    kf_tensor *o = kf_find(&run, "o");
    values = kf_find(&run, "v")->host;
    for (int i = 0; i < run.state->n; i++) {
        kf_tensor *t = &run.state->slot[i].t;
        t->dtype = dtype;
        for (int64_t j = 0; t->host && j < t->count; j++)
            t->host[j] = kf_round_to(dtype, t->host[j]);
    }
    broken_by = by;
    kf_attention_reference(&run);
    float *right = kf_alloc(o->count, sizeof *right), *mean = kf_alloc(o->count, sizeof *mean);
    for (int64_t i = 0; i < o->count; i++) {
        int64_t head = i / (QUERIES * D), keys = KEYS - QUERIES + 1 + i / D % QUERIES;
        right[i] = (float)o->want[i];
        for (int64_t j = 0; j < keys; j++)
            mean[i] += values[(head * KEYS + j) * D + i % D] / (float)keys;
        o->bound[i] /= 2.0;
    }
    int64_t none = wrong_of(o, right) + wrong_of(o, whole);
    for (int64_t i = 0; i < o->count; i++)
        o->bound[i] *= 2.0;
    int64_t many = wrong_of(o, mean);
    ok(none == 0, "%s, R = %d, plain is off by %g more: what is right passes", kf_dtype_name(dtype),
       R, by);
    ok(5 * many > o->count, "and of %lld elements without scores %lld are wrong",
       (long long)o->count, (long long)many);
    free(right);
    free(mean);
    kf_close(&run);
}

int main(void)
{
    for (int dtype = KF_F16; dtype <= KF_BF16; dtype++)
        for (int R = 0; R <= 64; R += 64) {
            look(dtype, R, INFINITY);
            look(dtype, R, 1000.0f);
        }
    return done();
}
