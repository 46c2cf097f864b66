/* unit_flash_backward.c: gradients of attention: the reference against finite differences, its
 * bounds against right implementations as kernels make them, which must pass at every seed, and
 * against wrong ones, which must not; and that exact inputs are what they say. */
#define _DEFAULT_SOURCE
#include "unit.h"
#include "problems/flash_backward_cases.h"
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static const kf_program program = {.step = "00-unit"};
static const kf_case odd[] = {KF_FLASH_BACKWARD_ODD};
enum { ODD = sizeof odd / sizeof *odd };
static const char *const output[] = {"dq", "dk", "dv"};
enum { DQ, DK, DV, OUTPUTS };

static kf_run open_run(const kf_case *c, uint64_t seed)
{
    kf_run run;
    kf_open(&run, &program, c, seed);
    kf_flash_backward_setup(&run, NULL);
    return run;
}

static const kf_case *named(const char *name)
{
    for (int i = 0; i < ODD; i++)
        if (strcmp(odd[i].name, name) == 0)
            return &odd[i];
    kf_die(KF_WRONG, "no case %s", name);
}

/* --- The reference against the definition ----------------------------------------------------- */

/* One head's loss, sum(dout o), in fp64 from q, k, v [S][D]. What is not NULL is stored. */
static double loss_of(const kf_shape *s, const double *q, const double *k, const double *v,
                      const float *dout, double *o, double *lse)
{
    double loss = 0.0;
    int D = s->D;
    for (int i = 0; i < s->Sq; i++) {
        double weight[64], sum = 0.0;
        int n = 0;
        for (int j = 0; j < s->Sk && (!s->causal || j - s->Sk <= i - s->Sq); j++) {
            double score = 0.0;
            for (int d = 0; d < D; d++)
                score += q[i * D + d] * k[j * D + d];
            sum += weight[n++] = exp(score / sqrt(D));
        }
        for (int d = 0; d < D; d++) {
            double value = 0.0;
            for (int j = 0; j < n; j++)
                value += weight[j] / sum * v[j * D + d];
            loss += value * dout[i * D + d];
            if (o)
                o[i * D + d] = value;
        }
        if (lse)
            lse[i] = log(sum);
    }
    return loss;
}

static void differences(const kf_case *c)
{
    const kf_shape *s = &c->shape;
    const double STEP = 1e-4;
    kf_run run = open_run(c, 3);
    kf_tensor *o = kf_find(&run, "o"), *lse = kf_find(&run, "lse");
    const float *dout = kf_find(&run, "dout")->host;
    int heads = s->B * s->H, D = s->D;
    int64_t size[] = {(int64_t)s->Sq * D, (int64_t)s->Sk * D, (int64_t)s->Sk * D};
    double *x[OUTPUTS], worst = 0.0, largest = 0.0;
    for (int i = 0; i < OUTPUTS; i++) {
        const kf_tensor *t = kf_find(&run, output[i] + 1); /* q of dq */
        x[i] = kf_alloc(t->count, sizeof *x[i]);
        for (int64_t e = 0; e < t->count; e++)
            x[i][e] = t->host[e];
    }
    /* o and lse as they are before they are rounded to their types: to 2^-24 here. */
    double *fine_o = kf_alloc(o->count, sizeof *fine_o);
    double *fine_lse = kf_alloc(lse->count, sizeof *fine_lse);
    for (int head = 0; head < heads; head++)
        loss_of(s, x[DQ] + head * size[DQ], x[DK] + head * size[DK], x[DV] + head * size[DV],
                dout + head * size[DQ], fine_o + head * size[DQ], fine_lse + head * s->Sq);
    double off_o = 0.0, off_lse = 0.0;
    for (int64_t i = 0; i < o->count; i++) {
        off_o = fmax(off_o, fabs(o->host[i] - fine_o[i]) / (fabs(fine_o[i]) + 1e-3));
        o->host[i] = (float)fine_o[i];
    }
    for (int64_t i = 0; i < lse->count; i++) {
        if (lse->host[i] != fine_lse[i])
            off_lse = fmax(off_lse, fabs(lse->host[i] - fine_lse[i]));
        lse->host[i] = (float)fine_lse[i];
    }
    ok(off_o < 0x1p-10 && off_lse < 1e-6, "%s: inputs o and lse are the forward pass's, rounded",
       c->name);
    kf_flash_backward_reference(&run);
    for (int i = 0; i < OUTPUTS; i++)
        for (int64_t e = 0; e < heads * size[i]; e++) {
            int64_t head = e / size[i];
            double *at = &x[i][e], was = *at, loss[2];
            for (int side = 0; side < 2; side++) {
                *at = was + (side ? -STEP : STEP);
                loss[side] = loss_of(s, x[DQ] + head * size[DQ], x[DK] + head * size[DK],
                                     x[DV] + head * size[DV], dout + head * size[DQ], NULL, NULL);
            }
            *at = was;
            double slope = (loss[0] - loss[1]) / (2.0 * STEP);
            worst = fmax(worst, fabs(kf_find(&run, output[i])->want[e] - slope));
            largest = fmax(largest, fabs(slope));
        }
    ok(worst < 3e-6 && largest > 0.3,
       "%s: gradients are finite differences of the loss, to %.1e of %.1f", c->name, worst,
       largest);
    for (int i = 0; i < OUTPUTS; i++)
        free(x[i]);
    free(fine_o);
    free(fine_lse);
    kf_close(&run);
}

static void against_differences(void)
{
    static const kf_case shapes[] = {
        {.name = "plain", .shape = {1, 2, 9, 9, 8, 0, false, 0}},
        {.name = "causal", .shape = {2, 1, 9, 9, 16, 0, true, 0}},
        {.name = "few queries", .shape = {1, 2, 5, 11, 8, 0, true, 0}},
        {.name = "queries without keys", .shape = {1, 2, 11, 5, 8, 0, true, 0}},
        {.name = "more queries", .shape = {1, 1, 11, 5, 12, 0, false, 0}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        differences(&shapes[i]);
}

/* --- Implementations in fp32 ------------------------------------------------------------------ */

/* OTHER_WAY is right too: from the last key to the first, -delta where dP begins, exp to base e. */
enum bug {
    NONE,
    OTHER_WAY,
    OTHER_DELTA,
    NO_DELTA,
    TWICE_SCALED,
    DK_NOT_SCALED,
    MASK,
    NO_MASK,
    OTHER_HEAD,
    LAST_ROW,
    LAST_KEY,
    LOST_TILE,
    ROUNDED_P,
    ROUNDED_DS,
    CUT,
    FP16_SUMS,
    FP16_DELTA
};
static const char *const bug_name[] = {
    "none",
    "another way",
    "delta of the next row",
    "no delta",
    "scale twice",
    "dk without the scale",
    "mask off by one",
    "no mask",
    "dk of another head added",
    "the last query dropped",
    "the last key dropped",
    "dq stored, not added",
    "P rounded to 8 bits",
    "dS rounded to 8 bits",
    "P and dS cut",
    "sums in fp16",
    "delta in fp16",
};

static float half(float x)
{
    return kf_round_to(KF_F16, x);
}

static float cut(float x)
{
    float near = half(x);
    return fabsf(near) <= fabsf(x) ? near : half(x - 0.5f * (near - x));
}

static float operand(float x, bool short_one, enum bug bug)
{
    return short_one ? kf_round_to(KF_BF16, x) : bug == CUT ? cut(x) : half(x);
}

static float inner(const float *a, const float *b, int D, float from)
{
    for (int d = 0; d < D; d++)
        from += a[d] * b[d];
    return from;
}

static void add_to(float *sum, float w, const float *x, int D, enum bug bug)
{
    for (int d = 0; d < D; d++) {
        sum[d] += w * x[d];
        sum[d] = bug == FP16_SUMS ? half(sum[d]) : sum[d];
    }
}

/* P in fp32, as kernels make it of a score without its scale and of lse. */
static float weight(float dot, float scale, float lse, bool base_e)
{
    const float LOG2_E = 1.4426950408889634f;
    return base_e ? expf(dot * scale - lse) : exp2f(dot * (scale * LOG2_E) - lse * LOG2_E);
}

static void one_head(const kf_run *run, int64_t head, enum bug bug, float *const to[OUTPUTS])
{
    const kf_shape *s = &run->shape;
    int64_t row0 = head * s->Sq, key0 = head * s->Sk, D = s->D;
    const float *q = kf_find(run, "q")->host + row0 * D, *k = kf_find(run, "k")->host + key0 * D;
    const float *v = kf_find(run, "v")->host + key0 * D, *o = kf_find(run, "o")->host + row0 * D;
    const float *dout = kf_find(run, "dout")->host + row0 * D;
    const float *lse = kf_find(run, "lse")->host + row0;
    float scale = 1.0f / sqrtf((float)D);
    float *dk = to[DK] + (bug == OTHER_HEAD && head > 0 ? key0 - s->Sk : key0) * D;
    float *dv = to[DV] + key0 * D, *dq = to[DQ] + row0 * D;
    int n = (int)D;
    for (int64_t i = 0; i < s->Sq - (bug == LAST_ROW); i++) {
        int64_t keys = kf_visible_keys(s, i), from = bug == OTHER_DELTA ? (i + 1) % s->Sq : i;
        float delta = bug == NO_DELTA ? 0.0f : inner(dout + from * D, o + from * D, n, 0.0f);
        delta = bug == FP16_DELTA ? half(delta) : delta;
        if (keys > 0 && keys < s->Sk && (bug == MASK || bug == NO_MASK))
            keys = bug == MASK ? keys + 1 : s->Sk;
        if (bug == LAST_KEY && keys == s->Sk)
            keys--;
        for (int64_t step = 0; step < keys; step++) {
            int64_t j = bug == OTHER_WAY ? keys - 1 - step : step;
            float p = weight(inner(q + i * D, k + j * D, n, 0.0f), scale, lse[i], bug == OTHER_WAY);
            float dp = inner(dout + i * D, v + j * D, n, bug == OTHER_WAY ? -delta : 0.0f);
            float ds = p * (bug == OTHER_WAY ? dp : dp - delta);
            ds = operand(ds, bug == ROUNDED_DS, bug);
            p = operand(p, bug == ROUNDED_P, bug);
            if (bug == LOST_TILE && j == 64)
                memset(dq + i * D, 0, sizeof *dq * (size_t)D);
            add_to(dq + i * D, ds, k + j * D, n, bug);
            add_to(dk + j * D, ds, q + i * D, n, bug);
            add_to(dv + j * D, p, dout + i * D, n, bug);
        }
    }
}

/* The outputs as a right or wrong implementation has them in fp16, to be freed. */
static void compute(const kf_run *run, enum bug bug, void *raw[OUTPUTS])
{
    const kf_shape *s = &run->shape;
    float *sums[OUTPUTS], scale = 1.0f / sqrtf((float)s->D);
    for (int i = 0; i < OUTPUTS; i++)
        sums[i] = kf_alloc(kf_find(run, output[i])->count, sizeof *sums[i]);
    for (int64_t head = 0; head < (int64_t)s->B * s->H; head++)
        one_head(run, head, bug, sums);
    for (int i = 0; i < OUTPUTS; i++) {
        const kf_tensor *t = kf_find(run, output[i]);
        bool scaled = i != DV && !(bug == DK_NOT_SCALED && i == DK);
        for (int64_t e = 0; e < t->count && scaled; e++)
            sums[i][e] *= bug == TWICE_SCALED ? scale * scale : scale;
        raw[i] = kf_alloc(t->count, kf_dtype_size(t->dtype));
        kf_pack(t->dtype, sums[i], raw[i], t->count);
        free(sums[i]);
    }
}

typedef struct verdict {
    int64_t wrong[OUTPUTS], total;
    double most[OUTPUTS]; /* of its bound */
} verdict;

static verdict judge(const kf_case *c, uint64_t seed, enum bug bug)
{
    kf_run run = open_run(c, seed);
    void *raw[OUTPUTS];
    verdict all = {.total = 0};
    kf_flash_backward_reference(&run);
    compute(&run, bug, raw);
    for (int i = 0; i < OUTPUTS; i++) {
        kf_diagnosis seen;
        kf_compare(kf_find(&run, output[i]), raw[i], &seen);
        all.wrong[i] = seen.wrong;
        all.most[i] = seen.details->max_ratio;
        all.total += seen.total;
        kf_diagnosis_free(&seen);
        free(raw[i]);
    }
    kf_close(&run);
    return all;
}

static void add_verdict(verdict *all, verdict v)
{
    for (int i = 0; i < OUTPUTS; i++) {
        all->wrong[i] += v.wrong[i];
        all->most[i] = fmax(all->most[i], v.most[i]);
    }
    all->total += v.total;
}

static bool passes(const verdict *v)
{
    return v->wrong[DQ] + v->wrong[DK] + v->wrong[DV] == 0;
}

static void right(void)
{
    for (int i = 0; i < ODD; i++) {
        const kf_shape *s = &odd[i].shape;
        if (odd[i].flags & KF_LARGE)
            continue;
        verdict all = {.total = 0};
        for (uint64_t seed = 1; seed <= 2; seed++)
            for (int way = NONE; way <= OTHER_WAY; way++)
                add_verdict(&all, judge(&odd[i], seed, (enum bug)way));
        int64_t elements = (int64_t)s->B * s->H * s->D * (s->Sq + 2 * s->Sk);
        ok(passes(&all) && all.total == 4 * elements,
           "%s: right implementations pass, with %.2f, %.2f and %.2f of their bounds", odd[i].name,
           all.most[DQ], all.most[DK], all.most[DV]);
    }
    /* Scores of thousands, where fp32 alone puts P off by more than half a step of fp16. */
    static const kf_case far = {
        .name = "far", .shape = {1, 1, 60, 60, 64, 0, true, 0}, .flags = KF_STEEP | KF_OUTLIERS};
    verdict all = judge(&far, 1, NONE);
    for (uint64_t seed = 1; seed <= 20; seed++)
        add_verdict(&all, judge(&far, seed, seed % 2 ? NONE : OTHER_WAY));
    ok(passes(&all), "scores of thousands pass, with %.2f, %.2f and %.2f", all.most[DQ],
       all.most[DK], all.most[DV]);
    all = (verdict){.total = 0};
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        int queries = 1 + (int)(seed % 5), keys = 1 + (int)(seed % 7);
        kf_case few = {.name = "few", .shape = {1, 1, queries, keys, 64, 0, seed % 2, 0}};
        add_verdict(&all, judge(&few, seed, seed % 3 ? NONE : OTHER_WAY));
    }
    ok(passes(&all) && all.most[DQ] > 0.3 && all.most[DK] > 0.3 && all.most[DV] > 0.3,
       "few queries and keys at 2000 seeds: they pass, with %.2f, %.2f and %.2f", all.most[DQ],
       all.most[DK], all.most[DV]);
}

/* Each bug in cases that show it, and in which outputs: those that it spoils, and no other. */
static void wrong(void)
{
    enum { Q = 1 << DQ, K = 1 << DK, V = 1 << DV };
    static const struct {
        enum bug bug;
        int spoils;
        const char *names[6];
    } shows[] = {
        {OTHER_DELTA, Q | K, {"small", "odd-D128", "no-key", "steep", "one-hot", "ones"}},
        {NO_DELTA, Q | K, {"small-D128", "one-query", "one-key", "one-hot", "integers", "ones"}},
        {TWICE_SCALED, Q | K, {"small", "odd-D128", "one-query", "steep", "integers"}},
        {DK_NOT_SCALED, K, {"small", "one-query-D128", "integers-causal", "integers-D128"}},
        {MASK, Q | K | V, {"small-causal", "odd-causal", "odd-D128", "rising", "no-key"}},
        {NO_MASK, Q | K | V, {"few-queries-D128", "mask-edge", "no-key", "rising", "two-blocks"}},
        {OTHER_HEAD, K, {"small", "odd", "few-queries", "no-key", "integers"}},
        {LAST_ROW, Q | K | V, {"small", "tail-63-queries", "two-blocks", "integers"}},
        {LAST_KEY, Q | K | V, {"small", "tail-63", "two-blocks-keys", "few-queries"}},
        {LOST_TILE, Q, {"small", "odd-causal", "mask-edge", "two-blocks-D128", "integers"}},
        {ROUNDED_P, V, {"small", "odd-long", "one-query", "steep", "outliers"}},
        {ROUNDED_DS, Q | K, {"small", "odd-long", "one-query", "outliers"}},
        {CUT, V, {"ones"}},
        {CUT, K | V, {"one-query"}},
        {FP16_SUMS, Q | K | V, {"small", "odd-D128", "few-queries", "no-key"}},
        {FP16_DELTA, Q | K, {"odd", "ones", "one-key"}},
    };
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++)
        for (int n = 0; n < 6 && shows[i].names[n]; n++) {
            verdict v = judge(named(shows[i].names[n]), 7, shows[i].bug);
            bool seen = true;
            for (int t = 0; t < OUTPUTS; t++)
                seen &= (v.wrong[t] > 0) == (shows[i].spoils >> t & 1);
            ok(seen, "%s: %s is caught (%lld, %lld and %lld wrong)", shows[i].names[n],
               bug_name[shows[i].bug], (long long)v.wrong[DQ], (long long)v.wrong[DK],
               (long long)v.wrong[DV]);
        }
}

/* --- What is exact ---------------------------------------------------------------------------- */

/* P of the keys that a query asks for, 2^g of them, in fp32 from scores and lse, also where lse is
 * off by two steps: in parts of what would keep it from being 2^-g in fp16. */
static double exact_probability(int D, bool base_e)
{
    int n = D - D / 8 * 2;
    float dot = 8.0f * 8.0f * (float)n, scale = 1.0f / sqrtf((float)D);
    double worst = 0.0;
    for (int g = 0; g <= 13; g++) {
        float lse = (float)(dot / sqrt(D) + g * log(2.0));
        lse = nextafterf(nextafterf(lse, 0.0f), 0.0f);
        for (int steps = -2; steps <= 2; steps++, lse = nextafterf(lse, INFINITY)) {
            double off = ldexp(weight(dot, scale, lse, base_e), g) - 1.0;
            worst = fmax(worst, off > 0.0 ? off / 0x1p-11 : -off / 0x1p-12);
        }
    }
    return worst;
}

static void exact(void)
{
    for (int D = 64; D <= 128; D += 64)
        for (int way = 0; way < 2; way++) {
            double worst = exact_probability(D, way);
            ok(worst < 0.95, "D = %d: P is a power of two in fp16: off by %.2f of what it may", D,
               worst);
        }
    for (int n = 0; n < ODD; n++) {
        const kf_case *c = &odd[n];
        int64_t D = c->shape.D, middle = D - D / 8 * 2, last = D - D / 8, sharp = 0;
        int64_t zero[OUTPUTS] = {0}, own[OUTPUTS] = {0}; /* where only keys or queries differ */
        if (!(c->flags & KF_EXACT_GRADIENTS) || c->flags & KF_LARGE)
            continue;
        kf_run run = open_run(c, 5);
        kf_flash_backward_reference(&run);
        const kf_tensor *o = kf_find(&run, "o"), *q = kf_find(&run, "q"), *k = kf_find(&run, "k");
        bool whole = true, apart = true, good = true, several = false;
        for (int64_t i = D; i < D * c->shape.Sq; i++)
            several |= o->host[i] != o->host[i % D];
        for (int64_t i = 0; i < o->count; i++)
            whole &= o->host[i] == nearbyintf(o->host[i]) && fabsf(o->host[i]) <= 3.0f;
        for (int64_t i = 0; i < q->count; i++)
            apart &= i % D < last || q->host[i] == 0.0f;
        for (int64_t i = 0; i < k->count; i++)
            apart &= i % D < middle || i % D >= last || k->host[i] == 0.0f;
        ok(several || c->shape.Sq == 1, "%s: groups of keys have means of their own", c->name);
        ok(whole && apart, "%s: o is whole numbers; queries and keys have dimensions of their own",
           c->name);
        for (int i = 0; i < OUTPUTS; i++) {
            const kf_tensor *t = kf_find(&run, output[i]);
            bool twice = D == 128 && i != DV;
            for (int64_t e = 0; e < t->count; e++) {
                double size = fabs(t->want[e]);
                sharp += t->bound[e] <= (twice ? (0x1p-11 + 0x1p-21) * size + 0x1p-25 : 0.0);
                zero[i] += size == 0.0;
                own[i] += size != 0.0 && e % D >= middle && (e % D >= last) == (i == DQ);
                good &= i != DQ || size == 0.0 || e % D >= last;
                good &= i != DK || size == 0.0 || e % D < last;
            }
            sharp -= t->count;
        }
        ok(sharp == 0, "%s: one result is right%s", c->name, D == 128 ? " but for scale" : "");
        if (c->flags & KF_ONE_HOT)
            ok(zero[DQ] == q->count && zero[DK] == k->count && zero[DV] < k->count * 9 / 10,
               "%s: dq and dk are 0, dv is not", c->name);
        else
            ok(good && own[DQ] > q->count / 32 && own[DK] > k->count / 32 &&
                   zero[DK] < k->count / 2 && zero[DV] < k->count / 2,
               "%s: dq is where keys of a group differ, dk where queries do, dv everywhere",
               c->name);
        kf_close(&run);
    }
}

/* --- What else is promised -------------------------------------------------------------------- */

static void without_keys(void)
{
    const kf_case *c = named("no-key");
    kf_run run = open_run(c, 5);
    const kf_tensor *dq = kf_find(&run, "dq"), *lse = kf_find(&run, "lse");
    bool zero = true, others = true;
    for (int64_t i = 0; i < dq->count; i++)
        dq->want[i] = dq->bound[i] = NAN; /* memory that was used */
    kf_flash_backward_reference(&run);
    for (int64_t i = 0; i < dq->count; i++) {
        bool sees = i / 64 % 150 >= 80;
        zero &= sees || (dq->want[i] == 0.0 && dq->bound[i] == 0.0);
        others &= !sees || dq->bound[i] > 0.0;
    }
    ok(zero && others && lse->host[79] == -INFINITY && isfinite(lse->host[80]),
       "a query without keys: lse is -Inf, dq 0 and nothing else");
    kf_close(&run);
}

static void dq_alone(void)
{
    const kf_case *c = named("odd-causal");
    kf_run all = open_run(c, 5), one;
    kf_open(&one, &program, c, 5);
    kf_flash_dq_setup(&one, NULL);
    ok(kf_has(&one, "dq") && !kf_has(&one, "dk") && !kf_has(&one, "dv"), "dq alone is declared");
    kf_flash_backward_reference(&all);
    kf_flash_backward_reference(&one);
    const kf_tensor *a = kf_find(&all, "dq"), *b = kf_find(&one, "dq");
    size_t bytes = sizeof *a->want * (size_t)a->count;
    ok(memcmp(a->want, b->want, bytes) == 0 && memcmp(a->bound, b->bound, bytes) == 0,
       "and is the same");
    kf_close(&all);
    kf_close(&one);
}

/* A kernel that is right, as far as that is looked at: elsewhere lse is 7. */
static void forward(const kf_run *run, cudaStream_t stream)
{
    (void)stream;
    kf_run same; /* a launch gets no reference */
    kf_open(&same, &program, run->c, 5);
    kf_flash_setup(&same);
    kf_flash_reference(&same);
    const kf_tensor *o = kf_find(&same, "o"), *lse = kf_find(&same, "lse");
    uint16_t *halves = kf_memory(run, "o", KF_F16);
    float *sums = kf_memory(run, "lse", KF_F32);
    for (int64_t i = 0; i < o->count; i++) {
        float value = (float)o->want[i];
        kf_pack(KF_F16, &value, halves + i, 1);
    }
    for (int64_t i = 0; i < lse->count; i++)
        sums[i] = lse->checked[i] ? (float)lse->want[i] : 7.0f;
    kf_close(&same);
}

/* A case with KF_LARGE: o and lse are the kernel's; few rows of gradients have a reference. */
static void large(void)
{
    static const kf_case c = {
        .name = "large", .shape = {1, 8, 1500, 1100, 64, 0, true, 0}, .flags = KF_LARGE};
    kf_run run;
    kf_open(&run, &program, &c, 5);
    kf_flash_backward_setup(&run, forward);
    kf_flash_backward_reference(&run);
    const kf_tensor *dq = kf_find(&run, "dq"), *dk = kf_find(&run, "dk"), *dv = kf_find(&run, "dv");
    const kf_tensor *lse = kf_find(&run, "lse");
    int64_t queries = 0, without = 0, keys = 0, same = 0, made = 0;
    for (int64_t i = 0; i < lse->count; i++)
        made += lse->host[i] == 7.0f;
    for (int64_t row = 0; row < dq->rows; row++)
        *(row % 1500 < 400 ? &without : &queries) += dq->checked[row];
    for (int64_t row = 0; row < dk->rows; row++) {
        keys += dk->checked[row];
        same += dk->checked[row] == dv->checked[row];
    }
    ok(made > 5000, "a large case: lse comes from the kernel, also where nothing is known of it");
    ok(without == 8 * 400, "all queries without keys are checked");
    ok(queries > 100 && queries < 2000 && keys > 400 && keys < 2000 && same == dk->rows,
       "of others %lld, and %lld keys, the same in dk and dv", (long long)queries, (long long)keys);
    ok(dk->checked[0] && dk->checked[1099] && dk->checked[1100] && dk->want[1099 * 64] != 0.0,
       "the first and the last key of a head are among them");
    kf_close(&run);
}

/* What a forward pass leaves that is off by a part of what it may be. */
static const kf_run *known;
static double part;

static void off_by_part(const kf_run *run, cudaStream_t stream)
{
    (void)stream;
    const kf_tensor *o = kf_find(known, "o"), *lse = kf_find(known, "lse");
    uint16_t *values = kf_memory(run, "o", KF_F16);
    for (int64_t i = 0; i < o->count; i++) {
        float value = (float)o->want[i];
        kf_pack(KF_F16, &value, values + i, 1);
    }
    for (int64_t i = 0; i < lse->count; i++)
        kf_f32(run, "lse")[i] = (float)(lse->want[i] + part * lse->bound[i]);
}

/* How many elements of an output are to be others, or with other bounds, than in the other run. */
static int64_t others(const kf_run *a, const kf_run *b, const char *name)
{
    const kf_tensor *x = kf_find(a, name), *y = kf_find(b, name);
    int64_t differ = 0, columns = x->dim[x->n_axes - 1];
    for (int64_t i = 0; i < x->count; i++)
        differ += x->want[i] != y->want[i] || x->bound[i] != y->bound[i] ||
                  x->checked[i / columns] != y->checked[i / columns];
    return differ;
}

/* Both passes in one call: gradients are those of what the forward pass wrote. */
static void both(void)
{
    static const kf_case c = {.name = "both", .shape = {1, 2, 70, 50, 64, 0, true, 0}};
    kf_run right, run, wanted = open_run(&c, 5), given = open_run(&c, 5);
    kf_open(&right, &program, &c, 5);
    kf_flash_setup(&right);
    kf_flash_reference(&right);
    known = &right;
    part = 0.5;
    kf_open(&run, &program, &c, 5);
    kf_flash_both_setup(&run);
    ok(kf_allocate(&run), "both passes fit");
    kf_flash_both_reference(&run, off_by_part);
    const kf_tensor *lse = kf_find(&run, "lse"), *o = kf_find(&run, "o");
    const kf_tensor *right_lse = kf_find(&right, "lse");
    int64_t moved = 0, loose = 0;
    for (int64_t i = 0; i < lse->count; i++) {
        moved += lse->want[i] != (float)right_lse->want[i];
        loose += lse->bound[i] != 0.0 || !lse->checked[i];
        kf_find(&given, "lse")->host[i] = (float)lse->want[i];
    }
    for (int64_t i = 0; i < o->count; i++) {
        loose += o->bound[i] != 0.0 || !o->checked[i / 64];
        kf_find(&given, "o")->host[i] = (float)o->want[i];
    }
    ok(moved > 60 && loose == 0, "o and lse are what was written, bit for bit: %lld others",
       (long long)moved);
    kf_flash_backward_reference(&given);
    kf_flash_backward_reference(&wanted);
    for (int i = 0; i < OUTPUTS; i++)
        ok(others(&run, &given, output[i]) == 0 && others(&run, &wanted, output[i]) > 1000,
           "%s is that of what was written, not of what was wanted", output[i]);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        part = 1.5;
        fclose(stderr);
        kf_flash_both_reference(&run, off_by_part);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == KF_WRONG,
       "a forward pass that is wrong ends it");
    kf_cost cost = kf_flash_both_cost(&c), forward = kf_flash_cost(&c);
    kf_cost backward = kf_flash_backward_cost(&c);
    ok(cost.flops == forward.flops + backward.flops && cost.bytes == backward.bytes &&
           cost.tensor_cores,
       "its cost: the flops of both, and what is moved once");
    kf_close(&right);
    kf_close(&run);
    kf_close(&wanted);
    kf_close(&given);
}

static void cost(void)
{
    static const kf_case c = {.shape = {1, 2, 4, 6, 8, 0, true, 0}};
    kf_cost all = kf_flash_backward_cost(&c), dq = kf_flash_dq_cost(&c);
    /* pairs 3+4+5+6 = 18 a head; q, o, dout and dq have 4 rows, k, v, dk and dv 6, lse 4 floats */
    ok(all.flops == 2 * 10 * 8 * 18 && all.bytes == 2 * (2 * 8 * (4 * 4 + 4 * 6) + 4 * 4) &&
           all.tensor_cores,
       "cost of a causal case");
    ok(dq.flops == 2 * 6 * 8 * 18 && dq.bytes == 2 * (2 * 8 * (4 * 4 + 2 * 6) + 4 * 4) &&
           dq.tensor_cores,
       "and of dq alone");
}

int main(void)
{
    against_differences();
    right();
    wrong();
    exact();
    without_keys();
    dq_alone();
    large();
    both();
    cost();
    return done();
}
