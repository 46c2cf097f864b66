/* unit_rope.c: RoPE alone: the reference in both layouts against complex
 * numbers, its bounds against a right fp32 rotation (which must pass) and wrong
 * ones (which must not), and a comparison of many blocks of rows. */
#include "unit.h"
#include <complex.h>
#include <math.h>

static const kf_case shapes[] = {
    {.name = "one", .shape = {1, 1, 1, 1, 2, 2, false, 9}},
    {.name = "odd", .shape = {3, 1, 7, 7, 20, 20, false, 0}},
    {.name = "far", .shape = {2, 1, 45, 45, 128, 128, false, 131027}},
    {.name = "blocks", .shape = {5, 1, 2000, 2000, 64, 64, false, 3}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
enum bug { NONE, LAYOUT, SIGN, POSITION, FP32_ANGLES };

static kf_run rope_alone(const kf_case *c, bool interleaved)
{
    static const kf_program program = {.step = "00-unit"};
    kf_run run;
    kf_open(&run, &program, c, 7);
    kf_rope_setup(&run);
    (interleaved ? kf_rope_reference_interleaved : kf_rope_reference)(&run);
    return run;
}

/* Pair i of a row is elements *a and *b. */
static void pair(int i, int D, bool interleaved, int *a, int *b)
{
    *a = interleaved ? 2 * i : i;
    *b = interleaved ? 2 * i + 1 : i + D / 2;
}

static double difference_from_complex(const kf_run *run, bool interleaved)
{
    const kf_tensor *x = kf_find(run, "x"), *y = kf_find(run, "y");
    int D = run->shape.D, a, b;
    double worst = 0.0;
    for (int64_t row = 0; row < y->rows; row++)
        for (int i = 0; i < D / 2; i++) {
            pair(i, D, interleaved, &a, &b);
            double position = run->shape.pos0 + (double)(row % run->shape.Sq);
            double complex z = x->host[row * D + a] + I * x->host[row * D + b];
            z *= cexp(I * position * exp(-2.0 * i / D * log(10000.0)));
            worst = fmax(worst, fabs(creal(z) - y->want[row * D + a]));
            worst = fmax(worst, fabs(cimag(z) - y->want[row * D + b]));
        }
    return worst;
}

static kf_diagnosis turned(const kf_run *run, bool interleaved, enum bug bug)
{
    const kf_tensor *x = kf_find(run, "x"), *y = kf_find(run, "y");
    float *got = malloc(sizeof *got * (size_t)y->count);
    int D = run->shape.D, a, b;
    for (int64_t row = 0; row < y->rows; row++)
        for (int i = 0; i < D / 2; i++) {
            pair(i, D, interleaved != (bug == LAYOUT), &a, &b);
            int64_t position = run->shape.pos0 + row % run->shape.Sq + (bug == POSITION);
            double angle = kf_rope_angle(position, i, D);
            if (bug == FP32_ANGLES)
                angle = (float)position * powf(10000.0f, -2.0f * (float)i / (float)D);
            float c = (float)cos(angle), s = (float)sin(angle) * (bug == SIGN ? -1.0f : 1.0f);
            float p = x->host[row * D + a], q = x->host[row * D + b];
            got[row * D + a] = p * c - q * s;
            got[row * D + b] = q * c + p * s;
        }
    kf_diagnosis seen;
    kf_compare(y, got, &seen);
    free(got);
    return seen;
}

static void each_shape(const kf_case *c, bool interleaved)
{
    const char *layout = interleaved ? "neighbours" : "halves";
    kf_run run = rope_alone(c, interleaved);
    double off = difference_from_complex(&run, interleaved);
    ok(off < 1e-8, "%s, %s: the reference is a complex product (%.1e)", c->name, layout, off);
    kf_diagnosis seen = turned(&run, interleaved, NONE);
    ok(seen.wrong == 0 && seen.total == kf_find(&run, "y")->count && seen.details->max_ratio < 1.0,
       "%s, %s: a right rotation passes (%.2f of the bound)", c->name, layout,
       seen.details->max_ratio);
    kf_diagnosis_free(&seen);
    for (enum bug bug = LAYOUT; bug <= POSITION; bug++) {
        if (bug == LAYOUT && c->shape.D == 2)
            continue; /* one pair: the layouts are the same */
        seen = turned(&run, interleaved, bug);
        ok(seen.wrong > 0, "%s, %s: bug %d is wrong in %lld", c->name, layout, bug,
           (long long)seen.wrong);
        kf_diagnosis_free(&seen);
    }
    kf_close(&run);
}

/* Angles in fp32 are beyond the bounds of a table, and within those that allow
 * for them. */
static void fp32_angles(void)
{
    for (int allowed = 0; allowed < 2; allowed++) {
        kf_run run = rope_alone(&shapes[2], false);
        run.extra_error = allowed ? kf_fp32_angle_error(&run.shape, false) : 0.0;
        kf_rope_reference(&run);
        kf_diagnosis seen = turned(&run, false, FP32_ANGLES);
        ok(allowed ? seen.wrong == 0 : seen.wrong > 0, "angles in fp32 %s: %lld wrong",
           allowed ? "where they are allowed" : "under the bounds of a table",
           (long long)seen.wrong);
        kf_diagnosis_free(&seen);
        kf_close(&run);
    }
}

/* A cache holds its keys rotated, the newest none, and the dimensions from R on as they are. */
static void caches(void)
{
    for (int R = 0; R <= 8; R += 2) {
        const kf_case c = {.name = "cache", .shape = {2, 1, 2, 9, 8, R, true, 5}};
        const kf_shape *s = &c.shape;
        kf_run run = unit_attention(&c, 3);
        const kf_tensor *k = kf_find(&run, "k");
        bool good = true;
        kf_rope_cache(&run);
        const float *cached = kf_find(&run, "k_cache")->host;
        for (int64_t e = 0; e < k->count; e++) {
            int64_t row = e / s->D, key = row % s->Sk, d = e % s->D, i = d % (R ? R / 2 : 1);
            const float *from = k->host + row * s->D;
            double complex z = d < R ? from[i] + I * from[i + R / 2] : from[d];
            if (d < R)
                z *= cexp(I * (s->pos0 + (double)key) * exp(-2.0 * (double)i / R * log(10000.0)));
            double want = d >= R / 2 && d < R ? cimag(z) : creal(z);
            good &= key >= s->Sk - s->Sq ? isnan(cached[e]) : fabs(cached[e] - want) < 1e-6;
        }
        ok(good, "a cache of keys, R = %d: rotated, and the newest not there yet", R);
        kf_close(&run);
    }
}

/* Faults in several blocks: all are counted, and the first one is the first. */
static void many_blocks(void)
{
    kf_run run = rope_alone(&shapes[3], false);
    const kf_tensor *y = kf_find(&run, "y");
    float *got = malloc(sizeof *got * (size_t)y->count);
    for (int64_t i = 0; i < y->count; i++)
        got[i] = (float)y->want[i];
    static const int64_t at[] = {330001, 400000, 639999};
    got[at[0]] = NAN;
    got[at[1]] = (float)y->want[at[1]] + 1.0f;
    kf_poison_pattern(KF_F32, &got[at[2]], 1);
    kf_diagnosis seen;
    kf_compare(y, got, &seen);
    ok(seen.wrong == 3 && seen.nonfinite == 2 && seen.unwritten == 1 && seen.total == y->count,
       "three faults in %lld elements: %lld wrong, %lld NaN, %lld unwritten", (long long)y->count,
       (long long)seen.wrong, (long long)seen.nonfinite, (long long)seen.unwritten);
    ok(seen.first[0] == 2 && seen.first[1] == 1156 && seen.first[2] == 17,
       "the first is at %lld, %lld, %lld", (long long)seen.first[0], (long long)seen.first[1],
       (long long)seen.first[2]);
    kf_diagnosis_free(&seen);
    free(got);
    kf_close(&run);
}

int main(void)
{
    for (int i = 0; i < SHAPES; i++)
        for (int interleaved = 0; interleaved < 2; interleaved++)
            each_shape(&shapes[i], interleaved);
    fp32_angles();
    caches();
    many_blocks();
    return done();
}
