/* unit_reference.c: the fp64 reference against another formulation, the bounds against a right fp32
 * implementation (which must pass) and against wrong ones (which must not). */
#include "unit.h"
#include <complex.h>
#include <math.h>

static const kf_case shapes[] = {
    {.name = "plain", .shape = {1, 2, 9, 9, 16, 0, false, 0}},
    {.name = "causal", .shape = {2, 1, 33, 33, 8, 0, true, 0}},
    {.name = "full-rope", .shape = {1, 2, 17, 17, 64, 64, false, 0}},
    {.name = "partial-rope", .shape = {1, 1, 12, 12, 80, 20, true, 0}},
    {.name = "decode-far", .shape = {1, 2, 1, 65, 128, 128, true, 131007}},
    {.name = "few-queries", .shape = {1, 1, 3, 40, 32, 32, true, 5}},
    {.name = "wide", .shape = {1, 1, 4, 64, 2048, 2048, false, 0}},
    {.name = "more-queries", .shape = {1, 1, 6, 4, 8, 0, true, 0}},
    {.name = "longer", .shape = {1, 1, 5, 3000, 40, 40, true, 0}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Rotating q by m and k by n and multiplying is multiplying once by e^{i (m - n) angle}: no table,
 * no rotated vector, and softmax as a stream with a running maximum. */
static void other_formulation(const kf_run *run, int64_t head, int i, long double *o)
{
    const kf_shape *s = &run->shape;
    const float *q = kf_find(run, "q")->host + (head * s->Sq + i) * s->D;
    long double largest = -INFINITY, sum = 0;
    memset(o, 0, sizeof *o * (size_t)s->D);
    for (int j = 0; j < s->Sk; j++) {
        const float *k = kf_find(run, "k")->host + (head * s->Sk + j) * s->D;
        const float *v = kf_find(run, "v")->host + (head * s->Sk + j) * s->D;
        int distance = s->Sk - s->Sq + i - j;
        if (s->causal && distance < 0)
            continue;
        long double score = 0;
        for (int d = 0; d < s->R / 2; d++) {
            double complex a = q[d] + I * q[d + s->R / 2], b = k[d] + I * k[d + s->R / 2];
            double angle = distance * exp(-2.0 * d / s->R * log(10000.0));
            score += creal(a * conj(b) * cexp(I * angle));
        }
        for (int d = s->R; d < s->D; d++)
            score += (long double)q[d] * k[d];
        score /= sqrtl(s->D);
        long double top = fmaxl(largest, score), keep = expl(largest - top);
        long double weight = expl(score - top);
        sum = sum * keep + weight;
        for (int d = 0; d < s->D; d++)
            o[d] = o[d] * keep + weight * v[d];
        largest = top;
    }
    for (int d = 0; d < s->D && sum > 0; d++)
        o[d] /= sum;
}

static double difference_from_other(const kf_run *run)
{
    const kf_shape *s = &run->shape;
    const kf_tensor *o = kf_find(run, "o");
    long double *other = malloc(sizeof *other * (size_t)s->D);
    double worst = 0;
    for (int64_t row = 0; row < o->rows; row++) {
        other_formulation(run, row / s->Sq, (int)(row % s->Sq), other);
        for (int d = 0; d < s->D; d++)
            worst = fmax(worst, fabs((double)other[d] - o->want[row * s->D + d]));
    }
    free(other);
    return worst;
}

/* A plain fp32 implementation with a rounded table, as a kernel would do it; and its bugs. */
enum bug { NONE, POSITION, SCALE, MASK, HALVES, TAIL, ANGLES, NO_SUM, BUGS, FP32_ANGLES };
static const char *const bug_name[] = {
    "none",           "position off by one", "missing scale",   "mask off by one",
    "halves swapped", "last row skipped",    "wrong frequency", "no division"};

static void rotate32(float *x, const kf_shape *s, int position, enum bug bug)
{
    int half = s->R / 2;
    for (int i = 0; i < half; i++) {
        double angle = position * pow(10000.0, -2.0 * i / (bug == ANGLES ? s->D + 2 : s->R));
        if (bug == FP32_ANGLES)
            angle = (float)position * powf(10000.0f, -2.0f * (float)i / (float)s->R);
        float c = (float)cos(angle), si = (float)sin(angle), a = x[i], b = x[i + half];
        if (bug == HALVES)
            si = -si;
        x[i] = a * c - b * si;
        x[i + half] = b * c + a * si;
    }
}

static void naive32(const kf_run *run, enum bug bug, float *o)
{
    const kf_shape *s = &run->shape;
    int D = s->D;
    float *q = malloc(sizeof *q * (size_t)D), *k = malloc(sizeof *k * (size_t)D);
    float *p = malloc(sizeof *p * (size_t)s->Sk);
    for (int64_t row = 0; row < (int64_t)s->B * s->H * s->Sq; row++) {
        int64_t head = row / s->Sq, i = row % s->Sq, key0 = head * s->Sk;
        int last = s->causal ? (int)(s->Sk - s->Sq + i) : s->Sk - 1;
        int position = s->pos0 + s->Sk - s->Sq + (int)i;
        if (bug == TAIL && i == s->Sq - 1)
            continue;
        if (bug == MASK && s->causal && last + 1 < s->Sk)
            last++;
        memcpy(q, kf_find(run, "q")->host + row * D, sizeof *q * (size_t)D);
        rotate32(q, s, position + (bug == POSITION), bug);
        float sum = 0, largest = -INFINITY;
        for (int j = 0; j <= last; j++) {
            memcpy(k, kf_find(run, "k")->host + (key0 + j) * D, sizeof *k * (size_t)D);
            rotate32(k, s, s->pos0 + j, bug == HALVES ? NONE : bug);
            float dot = 0;
            for (int d = 0; d < D; d++)
                dot += q[d] * k[d];
            p[j] = bug == SCALE ? dot : dot / sqrtf((float)D);
            largest = fmaxf(largest, p[j]);
        }
        for (int j = 0; j <= last; j++)
            sum += p[j] = expf(p[j] - largest);
        for (int d = 0; d < D; d++) {
            float dot = 0;
            for (int j = 0; j <= last; j++)
                dot += p[j] * kf_find(run, "v")->host[(key0 + j) * D + d];
            o[row * D + d] = last < 0 ? 0.0f : bug == NO_SUM ? dot : dot / sum;
        }
    }
    free(q);
    free(k);
    free(p);
}

static kf_diagnosis judge(const kf_run *run, enum bug bug)
{
    const kf_tensor *o = kf_find(run, "o");
    float *got = malloc(sizeof *got * (size_t)o->count);
    kf_poison_pattern(KF_F32, got, o->count);
    naive32(run, bug, got);
    kf_diagnosis seen;
    kf_compare(o, got, &seen);
    free(got);
    return seen;
}

static void right_and_wrong(void)
{
    double least = INFINITY, most = 0;
    bool none_wrong = true;
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int i = 0; i < SHAPES; i++) {
            kf_run run = unit_attention(&shapes[i], seed);
            kf_attention_reference(&run);
            kf_diagnosis seen = judge(&run, NONE);
            none_wrong &= seen.wrong == 0 && seen.total == kf_find(&run, "o")->count;
            least = fmin(least, seen.details->max_ratio);
            most = fmax(most, seen.details->max_ratio);
            kf_diagnosis_free(&seen);
            kf_close(&run);
        }
    ok(none_wrong, "a right fp32 implementation passes at every shape and seed");
    ok(least > 0.0005 && most < 0.5, "and uses %.4f to %.4f of its bound at most", least, most);

    for (int bug = POSITION; bug < BUGS; bug++)
        for (int i = 0; i < SHAPES; i++) {
            const kf_shape *s = &shapes[i].shape;
            bool rope = bug == POSITION || bug == HALVES || bug == ANGLES;
            bool shows = rope ? s->R > 0 && s->Sk > 1 : bug != MASK || (s->causal && s->Sq > 1);
            if (!shows)
                continue;
            kf_run run = unit_attention(&shapes[i], 3);
            kf_attention_reference(&run);
            kf_diagnosis seen = judge(&run, bug);
            ok(seen.wrong > 0, "%s: %s is caught (%lld of %lld wrong)", shapes[i].name,
               bug_name[bug], (long long)seen.wrong, (long long)seen.total);
            kf_diagnosis_free(&seen);
            kf_close(&run);
        }
}

/* What outputs of a bug above, or of the reference with MISTAKE, are taken for. The first WRONG of
 * them are something else. */
static const char *taken_for(enum bug bug, enum kf_mistake mistake, int wrong, double extra_error)
{
    static const kf_program program = {
        .step = "00-unit", .setup = kf_attention_setup, .reference = kf_attention_reference};
    static const kf_case c = {.name = "few-queries", .shape = {1, 2, 3, 140, 32, 32, true, 5}};
    kf_run run;
    kf_open(&run, &program, &c, 3);
    run.extra_error = extra_error;
    kf_attention_setup(&run);
    const kf_tensor *o = kf_find(&run, "o");
    float *got = kf_alloc(o->count, sizeof *got);
    kf_mistake = mistake;
    kf_attention_reference(&run);
    kf_mistake = KF_NO_MISTAKE;
    kf_mistaken = KF_BOTH;
    for (int64_t i = 0; i < o->count; i++)
        got[i] = (float)(o->want[i] + 0.9 * o->bound[i]);
    if (bug != NONE)
        naive32(&run, bug, got);
    for (int i = 0; i < wrong; i++)
        got[i] += 1.0f;
    for (int i = 0; i < run.state->n; i++)
        if (&run.state->slot[i].t == o)
            run.state->slot[i].raw = got;
    static char text[512];
    kf_find_mistakes(&run, text, sizeof text);
    kf_close(&run);
    return text;
}

static void mistakes(void)
{
    static const char *const want[BUGS] = {
        [HALVES] = "pairs are rotated the other way round (of queries alone)",
        [SCALE] = "scores are not divided by sqrt(D)",
        [MASK] = "a query sees one key more than it should",
        [NO_SUM] = "probabilities are not divided by their sum"};
    for (int bug = POSITION; bug < BUGS; bug++) {
        const char *text = taken_for(bug, KF_NO_MISTAKE, 0, 0.0);
        ok(strcmp(text, want[bug] ? want[bug] : "") == 0, "%s is taken for: %s", bug_name[bug],
           text);
    }
    static char seen[KF_MISTAKES * KF_MISTAKEN][512];
    int n = 0;
    for (int m = KF_NO_MISTAKE + 1; m < KF_MISTAKES; m++)
        for (int of = KF_BOTH; of < (m < KF_PAIR_MISTAKES ? KF_MISTAKEN : 1); of++) {
            kf_mistaken = of;
            snprintf(seen[n], sizeof seen[n], "%s", taken_for(NONE, m, 0, 0.0));
            int same = 0;
            for (int before = 0; before < n; before++)
                same += strcmp(seen[n], seen[before]) == 0;
            /* With cos and sin exchanged a vector is rotated by a quarter turn less its angle. If
             * both vectors are, their product is that of the other way round. If the two of a pair
             * are exchanged, it does not matter in which of both. */
            const bool twin =
                (m == KF_OTHER_WAY && of == KF_BOTH) || (m == KF_EACH_OTHER && of == KF_KEYS);
            const bool right = m == KF_EACH_OTHER && of == KF_BOTH;
            ok(right ? !seen[n][0] : seen[n][0] && same == twin,
               "mistake %d of %d is taken for: %s", m, of, seen[n]);
            n++;
        }
    ok(taken_for(NONE, KF_NO_MISTAKE, 0, 0.0)[0] == '\0', "right outputs are taken for no mistake");
    ok(kf_mistake == KF_NO_MISTAKE, "later references have no mistake");
    ok(taken_for(NONE, KF_NOT_SCALED, 1, 0.0)[0] == '\0',
       "nor are those of one with an error more");
    ok(strcmp(taken_for(NONE, KF_NOT_SCALED, 0, 1e-3), want[SCALE]) == 0,
       "the variant's extra error is allowed");
    ok(taken_for(NONE, KF_KEY_LESS, 0, 0.3)[0] == '\0',
       "bounds that allow everything name nothing");
}

static void sampling(void)
{
    enum { HEADS = 3, ROWS = 1000 };
    bool checked[HEADS * ROWS] = {0};
    kf_sample_rows(checked, HEADS, ROWS, 1.0, 1);
    int64_t all = 0, some = 0;
    for (int i = 0; i < HEADS * ROWS; i++)
        all += checked[i];
    memset(checked, 0, sizeof checked);
    kf_sample_rows(checked, HEADS, ROWS, 2e5, 1);
    bool edges = true, tail = true;
    for (int head = 0; head < HEADS; head++) {
        const bool *mine = checked + head * ROWS;
        edges &= mine[0] && mine[31] && mine[32] && mine[33] && mine[63] && mine[64] && mine[65] &&
                 mine[127] && mine[128] && mine[500] && mine[999];
        for (int row = 896; row < ROWS; row++)
            tail &= mine[row];
        for (int row = 0; row < ROWS; row++)
            some += mine[row];
    }
    ok(all == HEADS * ROWS, "a small case is checked in every row");
    ok(edges && tail, "a large one at tile boundaries and in its whole last partial tile");
    ok(some > 3 * 120 && some < 3 * 160, "and in a few random rows: %lld in all", (long long)some);

    /* Shorter than the largest boundary, 256: 86 rows of a head are chosen, and up to 8 random. */
    enum { FEW = 200 };
    bool few[2 * FEW + 2 * ROWS] = {0};
    int64_t most = 0, beyond = 0;
    kf_sample_rows(few, 2, FEW, 2e6, 1);
    for (int head = 0; head < 2; head++) {
        int64_t rows = 0;
        for (int row = 0; row < FEW; row++)
            rows += few[head * FEW + row];
        most = rows > most ? rows : most;
    }
    for (int i = 2 * FEW; i < 2 * FEW + 2 * ROWS; i++)
        beyond += few[i];
    ok(most > 86 && most <= 86 + 8 && beyond == 0, "of few rows none beyond the last: %lld a head",
       (long long)most);

    static bool many[64 * 4096];
    kf_sample_rows(many, 64, 4096, 4e6, 1);
    bool ends = true;
    int64_t inner = 0, full = 0;
    for (int head = 0; head < 64; head++) {
        ends &= many[head * 4096] && many[head * 4096 + 4095];
        for (int row = 0; row < 4096; row++)
            *(head == 0 || head == 63 ? &full : &inner) += many[head * 4096 + row];
    }
    /* 2e9 multiply-adds over 64 heads of 4e6 a row: 7 rows each, none twice. */
    ok(ends && full > 40 && inner == 62 * 7,
       "many heads: all ends, fewer rows inside (%lld, then %lld)", (long long)full,
       (long long)inner / 63);
}

/* Angles computed in fp32, far out: beyond the bounds of a table, within those that say so. */
static void fp32_angles(void)
{
    static const kf_case c = {.name = "far", .shape = {1, 2, 19, 45, 128, 128, false, 131027}};
    for (int allowed = 0; allowed < 2; allowed++) {
        kf_run run = unit_attention(&c, 7);
        run.extra_error = allowed ? kf_fp32_angle_error(&c.shape, false) : 0.0;
        kf_attention_reference(&run);
        kf_diagnosis seen = judge(&run, FP32_ANGLES);
        ok((seen.wrong == 0) == allowed, "angles in fp32 at 131071: %lld wrong of %lld, error %.1e",
           (long long)seen.wrong, (long long)seen.total, run.extra_error);
        kf_diagnosis_free(&seen);
        kf_close(&run);
    }
    double near = kf_fp32_angle_error(&(kf_shape){1, 1, 1, 1, 8, 8, false, 0}, false);
    double fast = kf_fp32_angle_error(&(kf_shape){1, 1, 1, 1, 8, 8, false, 0}, true);
    ok(near == 4 * 0x1p-24 && fast > 4e-7 && fast < 5e-7, "at position 0 only the functions err");
}

/* Queries without keys have the result 0 and may not be off at all, also where the reference is
 * filled in again for another error, in memory that holds something else. */
static void rows_without_keys(void)
{
    static const kf_case c = {.name = "no-keys", .shape = {2, 3, 7, 4, 8, 0, true, 0}};
    kf_run run = unit_attention(&c, 4);
    const kf_tensor *o = kf_find(&run, "o");
    for (int again = 0; again < 2; again++) {
        bool zero = true, others = true;
        run.extra_error = again * 1e-3;
        for (int64_t i = 0; i < o->count && again; i++)
            o->want[i] = o->bound[i] = NAN;
        kf_attention_reference(&run);
        for (int64_t i = 0; i < o->count; i++) {
            bool no_key = i / c.shape.D % c.shape.Sq < c.shape.Sq - c.shape.Sk;
            zero &= !no_key || (o->want[i] == 0.0 && o->bound[i] == 0.0);
            others &= no_key || (o->want[i] != 0.0 && o->bound[i] > 0.0);
        }
        ok(zero && others, "a query without keys: 0 exactly%s",
           again ? ", in used memory too" : "");
    }
    kf_close(&run);
}

/* A kernel as the tensor cores make it: p rounded, sums in fp32, division last. sloppy: sums
 * rounded to the type after each addition. */
static double low_precision_wrong(enum kf_dtype dtype, bool sloppy)
{
    static const kf_case c = {.name = "low", .shape = {1, 1, 24, 200, 64, 0, false, 0}};
    kf_run run = unit_attention(&c, 5);
    kf_tensor *o = kf_find(&run, "o");
    for (int i = 0; i < 4; i++) {
        kf_tensor *t = &run.state->slot[i].t;
        t->dtype = dtype;
        for (int64_t j = 0; t->host && j < t->count; j++)
            t->host[j] = kf_round_to(dtype, t->host[j]);
    }
    kf_attention_reference(&run);
    uint16_t *raw = malloc((size_t)o->count * 2);
    for (int i = 0; i < c.shape.Sq; i++) {
        float p[200], sum = 0, largest = -INFINITY;
        for (int j = 0; j < 200; j++) {
            p[j] = 0;
            for (int d = 0; d < 64; d++) {
                p[j] += run.state->slot[0].t.host[i * 64 + d] *
                        run.state->slot[1].t.host[j * 64 + d] * 0.125f;
                p[j] = sloppy ? kf_round_to(dtype, p[j]) : p[j];
            }
            largest = fmaxf(largest, p[j]);
        }
        for (int j = 0; j < 200; j++)
            sum += p[j] = kf_round_to(dtype, expf(p[j] - largest));
        for (int d = 0; d < 64; d++) {
            float dot = 0;
            for (int j = 0; j < 200; j++) {
                dot += p[j] * run.state->slot[2].t.host[j * 64 + d];
                dot = sloppy ? kf_round_to(dtype, dot) : dot;
            }
            dot /= sum;
            kf_pack(dtype, &dot, raw + i * 64 + d, 1);
        }
    }
    kf_diagnosis seen;
    kf_compare(o, raw, &seen);
    double wrong = (double)seen.wrong;
    kf_diagnosis_free(&seen);
    kf_close(&run);
    free(raw);
    return wrong;
}

/* Scores 100.078 and 100: fp16 knows 100.0625 and 100. p = 1 / (1 + exp(-0.0625)), rounded. */
static void plain_rounds_scores(void)
{
    const float q = 10.0f, k[2] = {10.0078125f, 10.0f}, v[2] = {1.0f, 0.0f};
    float o;
    kf_plain_attention_row(KF_F16, 1, 2, &q, k, v, &o);
    float expected = kf_round_to(KF_F16, (float)(1.0 / (1.0 + exp(-0.0625))));
    ok(o == expected, "the plain implementation rounds its scores: %.6f", o);
}

int main(void)
{
    plain_rounds_scores();
    for (int i = 0; i < SHAPES; i++) {
        kf_run run = unit_attention(&shapes[i], 11);
        kf_attention_reference(&run);
        double worst = difference_from_other(&run);
        ok(worst < 2e-10, "%s: two formulations agree to %.1e", shapes[i].name, worst);
        kf_close(&run);
    }
    kf_cost cost = kf_attention_cost(&(kf_case){.shape = {1, 2, 4, 6, 8, 4, true, 0}});
    /* pairs 3+4+5+6 = 18 a head; 2 heads (4 * 8 * 18 + 3 * (4 + 6) * 4); 2 heads * 8 * (2*4 + 2*6)
     */
    ok(cost.flops == 2 * (4 * 8 * 18 + 120) && cost.bytes == 4 * 2 * 8 * 20,
       "cost of a causal case");
    ok(fabs(kf_gamma(100, 0x1p-24) - 80 * 0x1p-24) < 1e-10, "gamma(100) is 8 sqrt(100) u");
    right_and_wrong();
    fp32_angles();
    rows_without_keys();
    mistakes();
    sampling();
    for (int dtype = KF_F16; dtype <= KF_BF16; dtype++) {
        double good = low_precision_wrong(dtype, false), bad = low_precision_wrong(dtype, true);
        ok(good == 0, "%s: sums in fp32 pass (%g wrong)", kf_dtype_name(dtype), good);
        ok(bad > 0, "%s: sums in the type itself fail (%g wrong)", kf_dtype_name(dtype), bad);
    }
    return done();
}
