/* unit_flash.c: attention in fp16 and its lse: the reference, its inputs, and its bounds against a
 * right implementation as FlashAttention makes it, which must pass at every seed, and against wrong
 * ones, which must not. */
#include "unit.h"
#include "problems/flash_cases.h"
#include <math.h>

enum { TILE = 64, MOST_D = 128 };

enum bug { NONE, RESCALE, MASK, TAIL, LOG, SCALE, TWICE_ROUNDED, FP16_SUMS, BUGS };
static const char *const bug_name[BUGS] = {
    "none",   "no rescaling",   "mask off by one",     "the key after the last",
    "no log", "a wrong factor", "p rounded to 7 bits", "sums in fp16"};

static float half(float x)
{
    return kf_round_to(KF_F16, x);
}

/* One query, a tile of keys after the other. p is rounded before it is divided by the sum. */
static float flash_row(int D, int64_t keys, int64_t Sk, const float *q, const float *k,
                       const float *v, enum bug bug, float *o)
{
    float largest = -INFINITY, sum = 0.0f, scale = (bug == SCALE ? 0.98f : 1.0f) / sqrtf((float)D);
    int64_t end = bug == MASK && keys < Sk ? keys + 1 : keys;
    for (int d = 0; d < D; d++)
        o[d] = 0.0f;
    for (int64_t first = 0; first < end; first += TILE) {
        int64_t n = end - first < TILE ? end - first : TILE;
        float p[TILE + 1], was = largest;
        for (int64_t j = 0; j < n; j++) {
            float dot = 0.0f;
            for (int d = 0; d < D; d++)
                dot += q[d] * k[(first + j) * D + d];
            p[j] = dot * scale;
            largest = fmaxf(largest, p[j]);
        }
        float keep = bug == RESCALE || was == -INFINITY ? 1.0f : expf(was - largest);
        sum *= keep;
        for (int d = 0; d < D; d++)
            o[d] *= keep;
        for (int64_t j = 0; j < n; j++) {
            float weight = expf(p[j] - largest);
            sum += weight;
            weight = bug == TWICE_ROUNDED ? kf_round_to(KF_BF16, weight) : half(weight);
            for (int d = 0; d < D; d++) {
                o[d] += weight * v[(first + j) * D + d];
                o[d] = bug == FP16_SUMS ? half(o[d]) : o[d];
            }
        }
    }
    if (bug == TAIL && keys == Sk && keys % TILE != 0) /* a key of zeros */
        sum += expf(-largest);
    for (int d = 0; d < D; d++)
        o[d] = keys > 0 ? o[d] / sum : 0.0f;
    return keys == 0 ? -INFINITY : bug == LOG ? largest + sum : largest + logf(sum);
}

typedef struct verdict {
    int64_t wrong, total;
    double most; /* of its bound */
} verdict;

static verdict look(const kf_tensor *t, const float *got)
{
    void *raw = kf_alloc(t->count, 4);
    kf_diagnosis seen;
    kf_pack(t->dtype, got, raw, t->count);
    kf_compare(t, raw, &seen);
    verdict v = {seen.wrong, seen.total, seen.details->max_ratio};
    kf_diagnosis_free(&seen);
    free(raw);
    return v;
}

static verdict judge(const kf_case *c, uint64_t seed, enum bug bug)
{
    static const kf_program program = {.step = "00-unit"};
    const kf_shape *s = &c->shape;
    kf_run run;
    kf_open(&run, &program, c, seed);
    kf_flash_setup(&run);
    kf_flash_reference(&run);
    const kf_tensor *q = kf_find(&run, "q"), *k = kf_find(&run, "k"), *v = kf_find(&run, "v");
    const kf_tensor *o = kf_find(&run, "o"), *lse = kf_find(&run, "lse");
    float *out = kf_alloc(o->count, sizeof *out), *sums = kf_alloc(lse->count, sizeof *sums);
    for (int64_t row = 0; row < o->rows; row++) {
        int64_t first = row / s->Sq * s->Sk * s->D;
        int64_t keys = kf_visible_keys(s, row % s->Sq);
        sums[row] = flash_row(s->D, keys, s->Sk, q->host + row * s->D, k->host + first,
                              v->host + first, bug, out + row * s->D);
    }
    verdict a = look(o, out), b = look(lse, sums);
    free(out);
    free(sums);
    kf_close(&run);
    return (verdict){a.wrong + b.wrong, a.total + b.total, fmax(a.most, b.most)};
}

static const kf_case odd[] = {KF_FLASH_ODD};
enum { ODD = sizeof odd / sizeof *odd };

static const kf_case *named(const char *name)
{
    for (int i = 0; i < ODD; i++)
        if (strcmp(odd[i].name, name) == 0)
            return &odd[i];
    kf_die(KF_WRONG, "no case %s", name);
}

static void right(void)
{
    for (int i = 0; i < ODD; i++) {
        if (odd[i].flags & KF_LARGE)
            continue;
        verdict all = {0, 0, 0};
        for (uint64_t seed = 1; seed <= 3; seed++) {
            verdict v = judge(&odd[i], seed, NONE);
            all = (verdict){all.wrong + v.wrong, all.total + v.total, fmax(all.most, v.most)};
        }
        const kf_shape *s = &odd[i].shape;
        ok(all.wrong == 0 && all.total == 3 * (int64_t)s->B * s->H * s->Sq * (s->D + 1),
           "%s: a right implementation passes, with %.2f of its bound", odd[i].name, all.most);
    }
    const kf_case ones = {.name = "ones", .shape = {1, 2, 3, 9, 64, 0, false, 0}, .flags = KF_ONES};
    ok(judge(&ones, 1, NONE).wrong == 0, "values that are all 1: a right implementation passes");
    /* Few keys, where plain.c may be right by chance. */
    int64_t wrong = 0;
    double most = 0.0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        kf_case few = {.name = "few", .shape = {1, 1, 2, 1 + (int)(seed % 7), 64, 0, false, 0}};
        verdict v = judge(&few, seed, NONE);
        wrong += v.wrong;
        most = fmax(most, v.most);
    }
    ok(wrong == 0 && most > 0.5, "and with 1 to 7 keys at 3000 seeds, with %.2f of its bound",
       most);
}

static void wrong(void)
{
    static const struct {
        const char *name;
        enum bug bug;
    } shows[] = {{"rising", RESCALE},     {"odd-long", RESCALE},
                 {"few-queries", MASK},   {"no-key", MASK},

                 {"odd-causal", MASK},    {"odd", TAIL},
                 {"one-query", TAIL},     {"odd", LOG},
                 {"one-key", LOG},        {"small", SCALE},
                 {"one-query", SCALE},    {"small", TWICE_ROUNDED},

                 {"odd-long", FP16_SUMS}, {"outliers", RESCALE},
                 {"steep", SCALE},        {"falling", SCALE}};
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++) {
        verdict v = judge(named(shows[i].name), 7, shows[i].bug);
        ok(v.wrong > 0, "%s: %s is caught (%lld of %lld wrong)", shows[i].name,
           bug_name[shows[i].bug], (long long)v.wrong, (long long)v.total);
    }
}

/* What the exact inputs are: o a row of v; whole numbers divided by a power of two. */
static void exact(void)
{
    static const kf_program program = {.step = "00-unit"};
    for (int integers = 0; integers < 2; integers++) {
        const kf_case *c = named(integers ? "integers-causal" : "one-hot-causal");
        const kf_shape *s = &c->shape;
        kf_run run;
        kf_open(&run, &program, c, 5);
        kf_flash_setup(&run);
        kf_flash_reference(&run);
        const kf_tensor *o = kf_find(&run, "o"), *v = kf_find(&run, "v");
        const kf_tensor *lse = kf_find(&run, "lse");
        int64_t good = 0, sharp = 0, others = 0, expected = 0;
        for (int64_t row = 0; row < o->rows; row++) {
            int64_t keys = kf_visible_keys(s, row % s->Sq);
            bool found = keys <= 0, different = false;
            for (int64_t key = 0; key < keys && !integers && !found; key++) {
                found = true;
                for (int d = 0; d < s->D; d++)
                    found &= o->want[row * s->D + d] == v->host[key * s->D + d];
            }
            double n = exp(lse->want[row] - 128.0 * sqrt(s->D));
            for (int d = 0; d < s->D && integers && keys > 0; d++) {
                double sum = o->want[row * s->D + d] * n;
                found = fabs(sum - nearbyint(sum)) < 1e-6;
                different |= d > 0 && o->want[row * s->D + d] != o->want[row * s->D];
            }
            good += found;
            others += different;
            for (int d = 0; d < s->D; d++)
                sharp += o->bound[row * s->D + d] == 0.0;
            expected += (int64_t)s->D;
        }
        ok(good == o->rows && sharp == expected, "%s: o is exact, and its bound 0", c->name);
        ok(!integers || others > o->rows / 2, "and no constant");
        kf_close(&run);
    }
}

/* Keys 7, 36 and so on of a head are 4 times as large, their values 32 times, and nothing else. */
static void outliers(void)
{
    static const kf_program program = {.step = "00-unit"};
    const kf_case *c = named("outliers");
    kf_case plain = *c;
    kf_run run, other;
    bool good = true;
    plain.flags &= ~(unsigned)KF_OUTLIERS;
    kf_open(&run, &program, c, 5);
    kf_open(&other, &program, &plain, 5);
    kf_flash_setup(&run);
    kf_flash_setup(&other);
    for (int i = 0; i < 3; i++) {
        static const char *const name[] = {"q", "k", "v"};
        static const float times[] = {1.0f, 4.0f, 32.0f};
        const kf_tensor *t = kf_find(&run, name[i]), *was = kf_find(&other, name[i]);
        for (int64_t e = 0; e < t->count; e++) {
            bool is_one = e / c->shape.D % c->shape.Sk % 29 == 7;
            good &= t->host[e] == was->host[e] * (is_one ? times[i] : 1.0f);
        }
    }
    ok(good, "outliers: one key of 29, in k and v");
    kf_close(&run);
    kf_close(&other);
}

/* The rule for rows without keys: -Inf and nothing else, and nowhere else. */
static void minus_infinity(void)
{
    static const kf_program program = {.step = "00-unit"};
    static const float instead[] = {INFINITY, NAN, 0.0f, -3e38f};
    const kf_case *c = named("no-key");
    kf_run run;
    kf_open(&run, &program, c, 5);
    kf_flash_setup(&run);
    kf_flash_reference(&run);
    const kf_tensor *lse = kf_find(&run, "lse");
    float *got = kf_alloc(lse->count, sizeof *got);
    for (int64_t i = 0; i < lse->count; i++)
        got[i] = (float)lse->want[i];
    ok(got[0] == -INFINITY && got[79] == -INFINITY && isfinite(got[80]), "80 queries see no key");
    verdict v = look(lse, got);
    ok(v.wrong == 0 && v.total == 300, "-Inf is right there");
    for (int i = 0; i < 4; i++) {
        got[7] = instead[i];
        v = look(lse, got);
        ok(v.wrong == 1 && v.total == 300, "and %g is not", instead[i]);
    }
    got[7] = -INFINITY;
    got[90] = -INFINITY;
    ok(look(lse, got).wrong == 1, "nor is it right in a row with keys");
    lse->checked[90] = false;
    ok(look(lse, got).wrong == 1, "also where there is no reference");
    free(got);
    kf_close(&run);

    kf_case large = {.name = "large", .shape = {1, 16, 4096, 100, 64, 0, true, 0}};
    kf_open(&run, &program, &large, 5);
    kf_tensor *o;
    kf_flash_setup(&run);
    kf_flash_reference(&run);
    o = kf_find(&run, "o");
    int64_t without = 0, with = 0;
    for (int64_t row = 0; row < o->rows; row++)
        *(kf_visible_keys(&large.shape, row % 4096) == 0 ? &without : &with) += o->checked[row];
    ok(without == 16 * 3996 && with < 16 * 100, "all rows without keys are checked, of others %lld",
       (long long)with);
    kf_close(&run);
}

static void cost(void)
{
    kf_cost c = kf_flash_cost(&(kf_case){.shape = {1, 2, 4, 6, 8, 0, true, 0}});
    /* pairs 3+4+5+6 = 18 a head */
    ok(c.flops == 2 * 4 * 8 * 18 && c.bytes == 2 * 2 * 8 * 20 + 2 * 4 * 4 && c.tensor_cores,
       "cost of a causal case");
}

int main(void)
{
    right();
    wrong();
    exact();
    outliers();
    minus_infinity();
    cost();
    return done();
}
