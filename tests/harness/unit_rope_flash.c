/* unit_rope_flash.c: attention over q and k that RoPE rotates: the reference of both passes against
 * fp64 with finite differences, bounds against right implementations as kernels make them, which
 * must pass at every seed, and against wrong ones, which must not. */
#include "unit.h"
#include "problems/rope_flash_cases.h"
#include <math.h>

static const kf_program program = {.step = "00-unit"};
static const char *const gradient[] = {"dq", "dk", "dv"};
enum { DQ, DK, DV, GRADIENTS };

/* The data of cases is not looked at here. */
static const char forward, backward;
static const kf_case odd[] = {KF_ROPE_FLASH_ODD(forward)};
static const kf_case backward_odd[] = {KF_ROPE_FLASH_ODD(backward)};
enum { ODD = sizeof odd / sizeof *odd };

/* --- The reference against the definition ----------------------------------------------------- */

/* x [D] rotated to a position, in fp64, by the definition in rope.h. */
static void rotate_exactly(double *x, int D, double position)
{
    for (int i = 0; i < D / 2; i++) {
        double angle = position * pow(10000.0, -2.0 * i / D), a = x[i], b = x[i + D / 2];
        x[i] = a * cos(angle) - b * sin(angle);
        x[i + D / 2] = b * cos(angle) + a * sin(angle);
    }
}

/* sum(dout o) of one head and, where it is wanted, o [Sq][D]. */
static double loss_of(const kf_shape *s, const double *q, const double *k, const double *v,
                      const float *dout, double *o)
{
    int D = s->D;
    double loss = 0.0, *keys = kf_alloc((int64_t)s->Sk * D + D, sizeof *keys);
    double *query = keys + (int64_t)s->Sk * D;
    memcpy(keys, k, (size_t)s->Sk * D * sizeof *keys);
    for (int j = 0; j < s->Sk; j++)
        rotate_exactly(keys + (int64_t)j * D, D, s->pos0 + j);
    for (int i = 0; i < s->Sq; i++) {
        double weight[64], sum = 0.0;
        int n = 0, at = s->Sk - s->Sq + i;
        memcpy(query, q + (int64_t)i * D, (size_t)D * sizeof *query);
        rotate_exactly(query, D, s->pos0 + at);
        for (int j = 0; j < s->Sk && (!s->causal || j <= at); j++) {
            double score = 0.0;
            for (int d = 0; d < D; d++)
                score += query[d] * keys[(int64_t)j * D + d];
            sum += weight[n++] = exp(score / sqrt(D));
        }
        for (int d = 0; d < D; d++) {
            double value = 0.0;
            for (int j = 0; j < n; j++)
                value += weight[j] / sum * v[(int64_t)j * D + d];
            loss += value * dout[(int64_t)i * D + d];
            if (o)
                o[(int64_t)i * D + d] = value;
        }
    }
    free(keys);
    return loss;
}

/* What rounding q and k to halves after they are rotated changes is no error of the reference: so
 * it is held to a hundredth of the largest value, and each of its elements to the neighbourhood
 * that halves allow. A wrong position or sign is off by far more. */
static void against_definition(const kf_case *c)
{
    const kf_shape *s = &c->shape;
    const double STEP = 1e-4;
    int D = s->D;
    int64_t size[] = {(int64_t)s->Sq * D, (int64_t)s->Sk * D, (int64_t)s->Sk * D};
    kf_run of_o, run;
    kf_open(&of_o, &program, c, 3);
    kf_rope_flash_setup(&of_o);
    kf_rope_flash_reference(&of_o);
    kf_open(&run, &program, c, 3);
    kf_rope_flash_backward_setup(&run, NULL);
    kf_rope_flash_backward_reference(&run);
    double *x[GRADIENTS], *o = kf_alloc(size[DQ], sizeof *o), off_o = 0.0;
    for (int i = 0; i < GRADIENTS; i++) {
        x[i] = kf_alloc(size[i], sizeof *x[i]);
        for (int64_t e = 0; e < size[i]; e++)
            x[i][e] = kf_find(&run, gradient[i] + 1)->host[e];
    }
    const float *dout = kf_find(&run, "dout")->host;
    loss_of(s, x[DQ], x[DK], x[DV], dout, o);
    for (int64_t e = 0; e < size[DQ]; e++)
        off_o = fmax(off_o, fabs(kf_find(&of_o, "o")->want[e] - o[e]));
    ok(off_o < 2e-3, "%s: o is the definition's, to %.1e", c->name, off_o);
    for (int i = 0; i < GRADIENTS; i++) {
        double worst = 0.0, largest = 0.0;
        for (int64_t e = 0; e < size[i]; e++) {
            double was = x[i][e], loss[2];
            for (int side = 0; side < 2; side++) {
                x[i][e] = was + (side ? -STEP : STEP);
                loss[side] = loss_of(s, x[DQ], x[DK], x[DV], dout, NULL);
            }
            x[i][e] = was;
            double slope = (loss[0] - loss[1]) / (2.0 * STEP);
            worst = fmax(worst, fabs(kf_find(&run, gradient[i])->want[e] - slope));
            largest = fmax(largest, fabs(slope));
        }
        ok(worst < 0.01 * largest && largest > 0.1,
           "%s: %s is the slope of the loss by the %s that came in, to %.1e of %.1f", c->name,
           gradient[i], gradient[i] + 1, worst, largest);
    }
    for (int i = 0; i < GRADIENTS; i++)
        free(x[i]);
    free(o);
    kf_close(&of_o);
    kf_close(&run);
}

static void definitions(void)
{
    static const kf_case shapes[] = {
        {.name = "near", .shape = {1, 1, 9, 9, 16, 16, true, 0}},
        {.name = "later", .shape = {1, 1, 7, 11, 32, 32, true, 5}},
        {.name = "far", .shape = {1, 1, 6, 8, 16, 16, false, 131064}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        against_definition(&shapes[i]);
}

/* --- Implementations in fp32 ------------------------------------------------------------------ */

/* TWICE is right too: gradients are rounded to halves, then rotated back. */
enum bug {
    NONE,
    TWICE,
    QUERY_POSITION,
    KEY_TILE,
    OTHER_TABLE,
    INTERLEAVED,
    SIGN,
    NOT_ROTATED,
    SHORT_TABLE,
    FP32_ANGLE,
    DK_FORWARD,
    DQ_FORWARD,
    DK_NOT_BACK,
    DQ_POSITION
};
static const char *const bug_name[] = {
    "none",
    "gradients rounded twice",
    "queries one position early",
    "keys from 64 on a tile early",
    "the table of another D",
    "pairs of neighbours",
    "the sign of the sine",
    "the last query not rotated",
    "cosines in fp16",
    "angles in fp32",
    "dk rotated forward",
    "dq rotated forward",
    "dk not rotated back",
    "dq rotated by its row",
};

static float half(float x)
{
    return kf_round_to(KF_F16, x);
}

typedef struct angle {
    float c, s;
} angle;

static angle angle_of(const kf_run *run, int64_t row, int i, enum bug bug)
{
    int D = run->shape.D;
    int64_t at = bug == OTHER_TABLE ? row * D / 4 + i : row * D / 2 + i;
    angle a = {kf_find(run, "cos")->host[at], kf_find(run, "sin")->host[at]};
    if (bug == FP32_ANGLE) {
        float angle = (float)(run->shape.pos0 + row) * powf(10000.0f, -2.0f * (float)i / (float)D);
        a.c = cosf(angle);
        a.s = sinf(angle);
    }
    if (bug == SHORT_TABLE) {
        a.c = half(a.c);
        a.s = half(a.s);
    }
    return a;
}

/* One row rotated by the table's row, forward or back, in fp32. */
static void rotate(const kf_run *run, const float *from, float *to, int64_t row, bool back,
                   enum bug bug)
{
    int D = run->shape.D, half_D = D / 2;
    for (int i = 0; i < half_D; i++) {
        angle a = angle_of(run, row, i, bug);
        int first = bug == INTERLEAVED ? 2 * i : i;
        int second = bug == INTERLEAVED ? 2 * i + 1 : i + half_D;
        float s = back != (bug == SIGN) ? -a.s : a.s;
        float x = from[first], y = from[second];
        to[first] = x * a.c - y * s;
        to[second] = y * a.c + x * s;
    }
}

/* q and k of the run as halves that are multiplied, [rows][D]. */
static float *operand(const kf_run *run, bool is_query, enum bug bug)
{
    const kf_shape *s = &run->shape;
    const kf_tensor *x = kf_find(run, is_query ? "q" : "k");
    float *to = kf_alloc(x->count, sizeof *to);
    int64_t S = is_query ? s->Sq : s->Sk, first = is_query ? s->Sk - s->Sq : 0;
    for (int64_t row = 0; row < x->rows; row++) {
        int64_t at = first + row % S;
        if (is_query && bug == QUERY_POSITION)
            at = at > 0 ? at - 1 : at;
        if (!is_query && bug == KEY_TILE && at >= 64)
            at -= 64;
        bool gradient_only = bug >= DK_FORWARD;
        rotate(run, x->host + row * s->D, to + row * s->D, at, false, gradient_only ? NONE : bug);
        if (is_query && bug == NOT_ROTATED && row % S == S - 1)
            memcpy(to + row * s->D, x->host + row * s->D, (size_t)s->D * sizeof *to);
        for (int d = 0; d < s->D; d++)
            to[row * s->D + d] = half(to[row * s->D + d]);
    }
    return to;
}

static float inner(const float *a, const float *b, int D, float from)
{
    for (int d = 0; d < D; d++)
        from += a[d] * b[d];
    return from;
}

static void compute_forward(const kf_run *run, enum bug bug, float *o, float *lse)
{
    const kf_shape *s = &run->shape;
    int D = s->D;
    float *q = operand(run, true, bug), *k = operand(run, false, bug);
    const float *v = kf_find(run, "v")->host;
    float scale = 1.0f / sqrtf((float)D), *p = kf_alloc(s->Sk, sizeof *p);
    for (int64_t row = 0; row < (int64_t)s->B * s->H * s->Sq; row++) {
        int64_t head = row / s->Sq, keys = kf_visible_keys(s, row % s->Sq);
        float largest = -INFINITY, sum = 0.0f;
        for (int64_t j = 0; j < keys; j++) {
            p[j] = scale * inner(q + row * D, k + (head * s->Sk + j) * D, D, 0.0f);
            largest = fmaxf(largest, p[j]);
        }
        for (int64_t j = 0; j < keys; j++)
            sum += p[j] = expf(p[j] - largest);
        for (int d = 0; d < D; d++) {
            float value = 0.0f;
            for (int64_t j = 0; j < keys; j++)
                value += half(p[j]) * v[(head * s->Sk + j) * D + d];
            o[row * D + d] = value / sum;
        }
        lse[row] = largest + logf(sum);
    }
    free(q);
    free(k);
    free(p);
}

/* A sum is rotated back; TWICE: after it was rounded. */
static void finish(const kf_run *run, float *sum, float scale, int64_t at, bool forwards,
                   enum bug bug)
{
    int D = run->shape.D;
    float rotated[128];
    for (int d = 0; d < D; d++)
        sum[d] = bug == TWICE ? half(sum[d] * scale) : sum[d] * scale;
    rotate(run, sum, rotated, at, !forwards, bug < DK_FORWARD ? bug : NONE);
    memcpy(sum, rotated, (size_t)D * sizeof *sum);
}

static void compute_backward(const kf_run *run, enum bug bug, float *const to[GRADIENTS])
{
    const kf_shape *s = &run->shape;
    int D = s->D;
    float *q = operand(run, true, bug), *k = operand(run, false, bug);
    const float *v = kf_find(run, "v")->host, *o = kf_find(run, "o")->host;
    const float *dout = kf_find(run, "dout")->host, *lse = kf_find(run, "lse")->host;
    float scale = 1.0f / sqrtf((float)D);
    for (int64_t row = 0; row < (int64_t)s->B * s->H * s->Sq; row++) {
        int64_t head = row / s->Sq;
        float delta = inner(dout + row * D, o + row * D, D, 0.0f);
        for (int64_t j = 0; j < kf_visible_keys(s, row % s->Sq); j++) {
            int64_t key = head * s->Sk + j;
            float p = expf(scale * inner(q + row * D, k + key * D, D, 0.0f) - lse[row]);
            float ds = half(p * (inner(dout + row * D, v + key * D, D, 0.0f) - delta));
            p = half(p);
            for (int d = 0; d < D; d++) {
                to[DQ][row * D + d] += ds * k[key * D + d];
                to[DK][key * D + d] += ds * q[row * D + d];
                to[DV][key * D + d] += p * dout[row * D + d];
            }
        }
        int64_t at = s->Sk - s->Sq + row % s->Sq;
        at = bug == DQ_POSITION ? row % s->Sq : at;
        finish(run, to[DQ] + row * D, scale, at, bug == DQ_FORWARD, bug);
    }
    for (int64_t key = 0; key < (int64_t)s->B * s->H * s->Sk; key++) {
        if (bug != DK_NOT_BACK)
            finish(run, to[DK] + key * D, scale, key % s->Sk, bug == DK_FORWARD, bug);
        for (int d = 0; d < D && bug == DK_NOT_BACK; d++)
            to[DK][key * D + d] *= scale;
    }
    free(q);
    free(k);
}

/* --- Verdicts --------------------------------------------------------------------------------- */

typedef struct verdict {
    int64_t wrong[GRADIENTS], total; /* forward: o, lse, none */
    double most[GRADIENTS];
} verdict;

static void compare(const kf_run *run, const char *name, float *values, int i, verdict *v)
{
    const kf_tensor *t = kf_find(run, name);
    void *raw = kf_alloc(t->count, kf_dtype_size(t->dtype));
    kf_diagnosis seen;
    kf_pack(t->dtype, values, raw, t->count);
    kf_compare(t, raw, &seen);
    v->wrong[i] += seen.wrong;
    v->most[i] = fmax(v->most[i], seen.details->max_ratio);
    v->total += seen.total;
    kf_diagnosis_free(&seen);
    free(raw);
}

static void judge_forward(const kf_case *c, uint64_t seed, enum bug bug, verdict *v)
{
    kf_run run;
    kf_open(&run, &program, c, seed);
    kf_rope_flash_setup(&run);
    kf_rope_flash_reference(&run);
    const kf_tensor *o = kf_find(&run, "o"), *lse = kf_find(&run, "lse");
    float *values = kf_alloc(o->count + lse->count, sizeof *values);
    compute_forward(&run, bug, values, values + o->count);
    compare(&run, "o", values, 0, v);
    compare(&run, "lse", values + o->count, 1, v);
    free(values);
    kf_close(&run);
}

static void judge_backward(const kf_case *c, uint64_t seed, enum bug bug, verdict *v)
{
    kf_run run;
    float *to[GRADIENTS];
    kf_open(&run, &program, c, seed);
    kf_rope_flash_backward_setup(&run, NULL);
    kf_rope_flash_backward_reference(&run);
    for (int i = 0; i < GRADIENTS; i++)
        to[i] = kf_alloc(kf_find(&run, gradient[i])->count, sizeof *to[i]);
    compute_backward(&run, bug, to);
    for (int i = 0; i < GRADIENTS; i++) {
        compare(&run, gradient[i], to[i], i, v);
        free(to[i]);
    }
    kf_close(&run);
}

static bool passes(const verdict *v)
{
    return v->wrong[DQ] + v->wrong[DK] + v->wrong[DV] == 0;
}

static void right(void)
{
    for (int i = 0; i < ODD; i++) {
        verdict v = {.total = 0}, w = {.total = 0};
        if (odd[i].flags & KF_LARGE)
            continue;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            judge_forward(&odd[i], seed, NONE, &v);
            judge_backward(&backward_odd[i], seed, seed % 2 ? NONE : TWICE, &w);
        }
        ok(passes(&v) && v.total > 0, "%s: a right implementation passes, with %.2f and %.2f",
           odd[i].name, v.most[0], v.most[1]);
        ok(passes(&w) && w.total > 0, "%s: they pass, with %.2f, %.2f and %.2f",
           backward_odd[i].name, w.most[DQ], w.most[DK], w.most[DV]);
    }
    verdict v = {.total = 0}, w = {.total = 0};
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        int queries = 1 + (int)(seed % 3), keys = queries + (int)(seed % 7);
        kf_case few = {.name = "few",
                       .shape = {1, 1, queries, keys, 64, 64, seed % 2, (int)(seed * 131)}};
        judge_forward(&few, seed, NONE, &v);
        judge_backward(&few, seed, seed % 2 ? NONE : TWICE, &w);
    }
    ok(passes(&v) && passes(&w) && w.most[DQ] > 0.3 && w.most[DK] > 0.3,
       "few queries and keys at 1000 seeds pass, with %.2f and %.2f, then %.2f, %.2f and %.2f",
       v.most[0], v.most[1], w.most[DQ], w.most[DK], w.most[DV]);
}

static const kf_case *named(const kf_case *list, const char *prefix, const char *name)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s-%s", prefix, name);
    for (int i = 0; i < ODD; i++)
        if (strcmp(list[i].name, whole) == 0)
            return &list[i];
    kf_die(KF_WRONG, "no case %s", whole);
}

static void wrong(void)
{
    static const struct {
        enum bug bug;
        const char *names[4];
    } shows[] = {
        {QUERY_POSITION, {"small", "odd-D128", "far", "few-queries"}},
        {KEY_TILE, {"small", "small-D128", "odd", "far-D128"}},
        {OTHER_TABLE, {"small", "small-D128", "full", "few-queries"}},
        {INTERLEAVED, {"small", "odd-D128", "full-D128", "one-query"}},
        {SIGN, {"full", "full-D128", "mask-edge", "outliers"}},
        {NOT_ROTATED, {"small", "odd", "far", "one-query"}},
        {SHORT_TABLE, {"steep"}},
        {FP32_ANGLE, {"far", "far-D128"}},
    };
    static const struct {
        enum bug bug;
        int spoils;
        const char *names[4];
    } spoils[] = {
        {DK_FORWARD, 1 << DK, {"small", "odd-D128", "far", "one-query"}},
        {DQ_FORWARD, 1 << DQ, {"small", "odd-D128", "far", "mask-edge"}},
        {DK_NOT_BACK, 1 << DK, {"small-D128", "odd", "full", "few-queries"}},
        {DQ_POSITION, 1 << DQ, {"full", "far-D128", "few-queries", "mask-edge"}},
    };
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++)
        for (int n = 0; n < 4 && shows[i].names[n]; n++) {
            verdict v = {.total = 0}, w = {.total = 0};
            judge_forward(named(odd, "forward", shows[i].names[n]), 7, shows[i].bug, &v);
            judge_backward(named(backward_odd, "backward", shows[i].names[n]), 7, shows[i].bug, &w);
            ok(!passes(&v) && !passes(&w), "%s: %s is caught (%lld, then %lld and %lld wrong)",
               shows[i].names[n], bug_name[shows[i].bug], (long long)v.wrong[0],
               (long long)w.wrong[DQ], (long long)w.wrong[DK]);
        }
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++)
        for (int n = 0; n < 4 && spoils[i].names[n]; n++) {
            verdict w = {.total = 0};
            bool seen = true;
            judge_backward(named(backward_odd, "backward", spoils[i].names[n]), 7, spoils[i].bug,
                           &w);
            for (int t = 0; t < GRADIENTS; t++)
                seen &= (w.wrong[t] > 0) == (spoils[i].spoils >> t & 1);
            ok(seen, "%s: %s is caught (%lld, %lld and %lld wrong)", spoils[i].names[n],
               bug_name[spoils[i].bug], (long long)w.wrong[DQ], (long long)w.wrong[DK],
               (long long)w.wrong[DV]);
        }
}

/* A head by itself has the reference that it has among all, and no other row has one. */
static void one_head(const kf_case *c, int64_t head)
{
    const kf_shape *s = &c->shape;
    int64_t of_head = (int64_t)s->Sk * s->D, first = head * s->Sq, rows = 0, same = 0;
    kf_run all, one;
    kf_open(&all, &program, c, 5);
    kf_rope_flash_setup(&all);
    kf_rope_flash_reference(&all);
    kf_open(&one, &program, c, 5);
    kf_rope_flash_setup(&one);
    kf_rope_flash_reference_head(&one, head, kf_find(&all, "k")->host + head * of_head,
                                 kf_find(&all, "v")->host + head * of_head);
    const kf_tensor *o = kf_find(&one, "o"), *lse = kf_find(&one, "lse");
    const kf_tensor *all_o = kf_find(&all, "o"), *all_lse = kf_find(&all, "lse");
    for (int64_t row = 0; row < o->rows; row++)
        rows += o->checked[row] && lse->checked[row];
    for (int64_t row = first; row < first + s->Sq; row++) {
        size_t bytes = (size_t)s->D * sizeof *o->want;
        same += o->checked[row] && lse->checked[row] &&
                memcmp(o->want + row * s->D, all_o->want + row * s->D, bytes) == 0 &&
                memcmp(o->bound + row * s->D, all_o->bound + row * s->D, bytes) == 0 &&
                lse->want[row] == all_lse->want[row] && lse->bound[row] == all_lse->bound[row];
    }
    ok(rows == s->Sq && same == s->Sq, "%s: head %d alone has its reference", c->name, (int)head);
    kf_close(&all);
    kf_close(&one);
}

int main(void)
{
    definitions();
    one_head(named(odd, "forward", "odd"), 4);
    one_head(named(odd, "forward", "full-D128"), 0);
    right();
    wrong();
    return done();
}
