/* unit_flash_backward.c: gradients of attention: the reference against finite differences, its
 * bounds against a right implementation as kernels make it, which must pass at every seed, and
 * against wrong ones, which must not. */
#include "unit.h"
#include "problems/flash_backward_cases.h"
#include <math.h>

static const kf_program program = {.step = "00-unit"};
static const kf_case odd[] = {KF_FLASH_BACKWARD_ODD};
enum { ODD = sizeof odd / sizeof *odd, MOST_D = 128 };

static float half(float x)
{
    return kf_round_to(KF_F16, x);
}

/* What a kernel does in fp32, with P and dS rounded to fp16 as operands: to dq, dk, dv. */
enum bug {
    NONE,
    OTHER_DELTA,
    NO_DELTA,
    TWICE_SCALED,
    NOT_SCALED,
    MASK,
    NO_MASK,
    OTHER_HEAD,
    TAIL,
    DV_OF_DS,
    FP16_SUMS,
    LOST_TILE,
    BUGS
};
static const char *const bug_name[BUGS] = {
    "none",
    "delta of the next row",
    "no delta",
    "scale twice",
    "no scale",
    "mask off by one",
    "no mask",
    "dk of another head added",
    "the last row dropped",
    "dv from dS",
    "sums in fp16",
    "a tile overwritten instead of added",
};

typedef struct gradients {
    float *dq, *dk, *dv;
} gradients;

static void add_to(float *sum, float w, const float *x, int D, enum bug bug)
{
    for (int d = 0; d < D; d++) {
        sum[d] += w * x[d];
        sum[d] = bug == FP16_SUMS ? half(sum[d]) : sum[d];
    }
}

static float inner(const float *a, const float *b, int D, float from)
{
    for (int d = 0; d < D; d++)
        from += a[d] * b[d];
    return from;
}

/* One head. */
static void backward(const kf_run *run, int64_t head, enum bug bug, gradients to)
{
    const kf_shape *s = &run->shape;
    const float LOG2_E = 1.4426950408889634f;
    int D = s->D;
    int64_t row0 = head * s->Sq, key0 = head * s->Sk;
    const float *q = kf_find(run, "q")->host + row0 * D, *k = kf_find(run, "k")->host + key0 * D;
    const float *v = kf_find(run, "v")->host + key0 * D, *o = kf_find(run, "o")->host + row0 * D;
    const float *dout = kf_find(run, "dout")->host + row0 * D;
    const float *lse = kf_find(run, "lse")->host + row0;
    float scale = 1.0f / sqrtf((float)D), *dq = to.dq + row0 * D;
    int64_t into = bug == OTHER_HEAD && head > 0 ? key0 - s->Sk : key0;
    float *dk = to.dk + into * D, *dv = to.dv + key0 * D;
    for (int64_t i = 0; i < s->Sq; i++) {
        int64_t keys = kf_visible_keys(s, i), from = bug == OTHER_DELTA ? (i + 1) % s->Sq : i;
        float delta = inner(dout + from * D, o + from * D, D, 0.0f);
        if (bug == NO_DELTA)
            delta = 0.0f;
        if (bug == NO_MASK && keys > 0)
            keys = s->Sk;
        if (bug == MASK && keys > 0 && keys < s->Sk)
            keys++;
        if (bug == TAIL && i == s->Sq - 1)
            continue;
        for (int64_t j = 0; j < keys; j++) {
            float score = inner(q + i * D, k + j * D, D, 0.0f);
            float p = exp2f(score * (scale * LOG2_E) - lse[i] * LOG2_E);
            float ds = half(p * (inner(dout + i * D, v + j * D, D, 0.0f) - delta));
            if (bug == LOST_TILE && j == 64)
                memset(dq + i * D, 0, sizeof *dq * (size_t)D);
            add_to(dq + i * D, ds, k + j * D, D, bug);
            add_to(dk + j * D, ds, q + i * D, D, bug);
            add_to(dv + j * D, bug == DV_OF_DS ? ds : half(p), dout + i * D, D, bug);
        }
    }
}

static gradients compute(const kf_run *run, enum bug bug)
{
    const kf_shape *s = &run->shape;
    int64_t heads = (int64_t)s->B * s->H, queries = heads * s->Sq * s->D;
    int64_t keys = heads * s->Sk * s->D;
    gradients g = {kf_alloc(queries, 4), kf_alloc(keys, 4), kf_alloc(keys, 4)};
    float scale = 1.0f / sqrtf((float)s->D);
    scale = bug == TWICE_SCALED ? scale * scale : bug == NOT_SCALED ? 1.0f : scale;
    for (int64_t head = 0; head < heads; head++)
        backward(run, head, bug, g);
    for (int64_t i = 0; i < queries; i++)
        g.dq[i] *= scale;
    for (int64_t i = 0; i < keys; i++)
        g.dk[i] *= scale;
    return g;
}

typedef struct verdict {
    int64_t wrong[3], total;
    double most[3]; /* of its bound */
} verdict;

static verdict judge(const kf_case *c, uint64_t seed, enum bug bug)
{
    static const char *const name[] = {"dq", "dk", "dv"};
    kf_run run;
    kf_open(&run, &program, c, seed);
    kf_flash_backward_setup(&run, NULL);
    kf_flash_backward_reference(&run);
    gradients g = compute(&run, bug);
    float *got[] = {g.dq, g.dk, g.dv};
    verdict all = {.total = 0};
    for (int i = 0; i < 3; i++) {
        const kf_tensor *t = kf_find(&run, name[i]);
        void *raw = kf_alloc(t->count, 2);
        kf_diagnosis seen;
        kf_pack(t->dtype, got[i], raw, t->count);
        kf_compare(t, raw, &seen);
        all.wrong[i] = seen.wrong;
        all.most[i] = seen.details->max_ratio;
        all.total += seen.total;
        kf_diagnosis_free(&seen);
        free(raw);
        free(got[i]);
    }
    kf_close(&run);
    return all;
}

static void right(void)
{
    for (int i = 0; i < ODD; i++) {
        if (odd[i].flags & KF_LARGE)
            continue;
        verdict v = judge(&odd[i], 1, NONE);
        ok(v.wrong[0] + v.wrong[1] + v.wrong[2] == 0,
           "%s: a right implementation passes, with %.2f, %.2f and %.2f of its bound", odd[i].name,
           v.most[0], v.most[1], v.most[2]);
    }
}

static void wrong(void)
{
    for (int b = 1; b < BUGS; b++)
        for (int i = 0; i < ODD; i++) {
            if (odd[i].flags & KF_LARGE)
                continue;
            verdict v = judge(&odd[i], 1, b);
            printf("# %s %s: %lld %lld %lld\n", bug_name[b], odd[i].name, (long long)v.wrong[0],
                   (long long)v.wrong[1], (long long)v.wrong[2]);
        }
}

int main(int argc, char **argv)
{
    (void)argv;
    right();
    if (argc > 1)
        wrong();
    return done();
}
