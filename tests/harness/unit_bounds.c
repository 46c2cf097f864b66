/* unit_bounds.c: every bound against its formula, computed once more from the comment that derives
 * it, for cases of a few elements. A bound may be neither smaller nor larger: one that is four
 * times as large lets through what is wrong, and no right or wrong kernel may show it. */
#include "unit.h"
#include "neox/neox.h"
#include "problems/flash_backward.h"
#include "problems/rope_flash.h"
#include <float.h>
#include <math.h>

static const kf_program program = {.step = "00-unit"};
static const double U = 0x1p-24; /* of fp32 */

static bool near(double got, double want, double share)
{
    return fabs(got - want) <= share * fabs(want);
}

static double gamma_of(double n)
{
    return exp(8.0 * sqrt(n) * U + n * U * U / (1.0 - U)) - 1.0;
}

/* --- tolerance.c ----------------------------------------------------------------------------- */

static void tolerance(void)
{
    ok(kf_unit_roundoff(KF_F32) == U && kf_unit_roundoff(KF_F16) == 1.0 / 2048 &&
           kf_unit_roundoff(KF_BF16) == 1.0 / 256,
       "unit roundoffs: half a step above 1");
    ok(near(kf_gamma(1, U), gamma_of(1), 1e-6) && near(kf_gamma(4096, U), gamma_of(4096), 1e-6) &&
           near(kf_gamma(100, 0x1p-11), 0.0398603, 1e-5),
       "gamma(n), also of fp16: exp(80 / 2048 + 100 / 2048^2) - 1 is %.6f", kf_gamma(100, 0x1p-11));
    /* three errors of half steps 1, 2 and 2: 8 sqrt(9 / 3) */
    ok(near(kf_uniform_sum(9.0), 8.0 * sqrt(3.0), 1e-12), "sums of uniform errors");
}

/* --- rope.c ---------------------------------------------------------------------------------- */

static double rotation(double x1, double x2, double c, double s, double e)
{
    double g = 3.0 * U / (1.0 - 3.0 * U);
    return g * (fabs(x1 * c) + fabs(x2 * s)) + (1.0 + g) * e * (fabs(x1) + fabs(x2));
}

static void angles(void)
{
    /* 3 u (3 * 0.6 + 2 * 0.8) = 10.2 u, and 1e-3 (3 + 2) more */
    ok(near(kf_rotation_error(3.0, -2.0, 0.6, 0.8, U, 0.0), 10.2 * U, 1e-3) &&
           near(kf_rotation_error(3.0, -2.0, 0.6, 0.8, U, 1e-3), 5e-3 + 10.2 * U, 1e-6),
       "a rotation: three roundings, and what the angle is off by");
    const kf_shape more_keys = {1, 1, 3, 11, 8, 8, true, 90},
                   more_queries = {1, 1, 11, 3, 8, 8, false, 0};
    double last = 90 + 11 - 1;
    ok(near(kf_fp32_angle_error(&more_keys, false), (9 * last + 4) * U, 1e-9) &&
           near(kf_fp32_angle_error(&more_queries, false), (9 * 10 + 4) * U, 1e-9),
       "angles in fp32: 9 u of the last position, and sincosf's 4 u");
    ok(near(kf_fp32_angle_error(&more_keys, true), 12 * last * U + pow(2.0, -21.19), 1e-9),
       "with __sincosf 12 u of it, and its 2^-21.19");
}

static void rope_alone(double e, bool interleaved)
{
    const kf_case c = {.name = "rope", .shape = {1, 1, 3, 3, 6, 6, false, 4}};
    kf_run run;
    kf_open(&run, &program, &c, 3);
    kf_rope_setup(&run);
    run.extra_error = e;
    (interleaved ? kf_rope_reference_interleaved : kf_rope_reference)(&run);
    const kf_tensor *x = kf_find(&run, "x"), *y = kf_find(&run, "y");
    bool good = true;
    for (int row = 0; row < 3; row++)
        for (int i = 0; i < 3; i++) {
            double angle = (4 + row) * pow(10000.0, -i / 3.0), cosine = cos(angle);
            int a = row * 6 + (interleaved ? 2 * i : i), b = a + (interleaved ? 1 : 3);
            good &=
                near(y->bound[a], rotation(x->host[a], x->host[b], cosine, sin(angle), e), 0.01);
            good &=
                near(y->bound[b], rotation(x->host[b], x->host[a], cosine, sin(angle), e), 0.01);
        }
    ok(good, "RoPE alone, %s, angles off by %g: bounds are the formula's",
       interleaved ? "neighbours" : "halves", e);
    kf_close(&run);
}

/* --- attention.c ----------------------------------------------------------------------------- */

enum { MOST_KEYS = 16, MOST_D = 128 };

/* What is multiplied in one head, rotated or not, and how far off it may be for that. */
typedef struct head {
    const kf_shape *s;
    double q[MOST_KEYS][MOST_D], k[MOST_KEYS][MOST_D];
    double q_off[MOST_KEYS][MOST_D], k_off[MOST_KEYS][MOST_D];
} head;

static void rotate(double *x, int R, double position, bool back)
{
    for (int i = 0; i < R / 2; i++) {
        double angle = position * pow(10000.0, -2.0 * i / R), a = x[i], b = x[i + R / 2];
        double c = cos(angle), s = back ? -sin(angle) : sin(angle);
        x[i] = a * c - b * s;
        x[i + R / 2] = b * c + a * s;
    }
}

static double half_of(double x)
{
    return kf_round_to(KF_F16, (float)x);
}

/* One row rotated; halves: in fp32 first, then rounded, and so perhaps to another half. */
static void load(const float *from, int D, int R, double position, bool halves, double e,
                 double *to, double *off)
{
    double exact[MOST_D] = {0};
    for (int d = 0; d < D; d++)
        to[d] = exact[d] = from[d];
    rotate(exact, R, position, false);
    for (int d = 0; d < D; d++) {
        off[d] = 0.0;
        to[d] = exact[d];
        if (!halves)
            continue;
        int i = d % (R / 2);
        double angle = position * pow(10000.0, -2.0 * i / R);
        double r = rotation(from[d], from[(d + R / 2) % R], cos(angle), sin(angle), e);
        to[d] = half_of(exact[d]);
        off[d] = fmax(to[d] - half_of(exact[d] - r), half_of(exact[d] + r) - to[d]);
    }
}

static head *load_head(const kf_run *run, bool halves)
{
    const kf_shape *s = &run->shape;
    head *h = kf_alloc(1, sizeof *h);
    h->s = s;
    for (int i = 0; i < s->Sq; i++)
        load(kf_find(run, "q")->host + i * s->D, s->D, s->R, s->pos0 + s->Sk - s->Sq + i, halves,
             run->extra_error, h->q[i], h->q_off[i]);
    for (int j = 0; j < s->Sk; j++)
        load(kf_find(run, "k")->host + j * s->D, s->D, s->R, s->pos0 + j, halves, run->extra_error,
             h->k[j], h->k_off[j]);
    return h;
}

/* Sums over the dimensions of a pair of rows. */
typedef struct pair {
    double dot, abs_dot, norms, off; /* off: for operands that are off */
} pair;

static pair pair_of(const head *h, int i, int j)
{
    pair p = {0};
    double q2 = 0.0, k2 = 0.0;
    for (int d = 0; d < h->s->D; d++) {
        double q = h->q[i][d], k = h->k[j][d];
        p.dot += q * k;
        p.abs_dot += fabs(q * k);
        q2 += q * q;
        k2 += k * k;
        p.off += fabs(q) * h->k_off[j][d] + h->q_off[i][d] * (fabs(k) + h->k_off[j][d]);
    }
    p.norms = sqrt(q2) * sqrt(k2);
    return p;
}

/* Which of its terms a bound in low precision is, and how often. */
typedef struct parts {
    int floor, plain, ceiling;
} parts;

/* One row of attention: its bounds [D], that of lse. R: what a kernel rotates in fp32; 0 if what is
 * multiplied is given. */
static void attention_row(const kf_run *run, const head *h, int i, int R, double *bound,
                          double *lse_bound, parts *are)
{
    const kf_shape *s = h->s;
    enum kf_dtype dtype = kf_find(run, "o")->dtype;
    const float *v = kf_find(run, "v")->host;
    int keys = s->causal ? s->Sk - s->Sq + i + 1 : s->Sk, D = s->D;
    double t = dtype == KF_F32 ? 0.0 : dtype == KF_F16 ? 0x1p-11 : 0x1p-8;
    double step = dtype == KF_F16 ? 0x1p-25 : 0.0, scale = 1.0 / sqrt(D);
    double score[MOST_KEYS], fine[MOST_KEYS], stored[MOST_KEYS], p[MOST_KEYS];
    double most = -INFINITY, sum = 0.0, least = 0.0, least_stored = 0.0, up = 0.0, down = 0.0;
    for (int j = 0; j < keys; j++) {
        pair x = pair_of(h, i, j);
        double rope = R > 0 ? 2.0 * sqrt(2.0) * (3.0 * U + run->extra_error) : 0.0;
        score[j] = scale * x.dot;
        fine[j] = scale * ((gamma_of(D) + 4.0 * U) * x.abs_dot + rope * x.norms + x.off);
        stored[j] = fine[j] + (R > 0 ? 2.0 * t * scale * x.abs_dot : 0.0);
        stored[j] = pow(1.0 + t, 3.0) * stored[j] + t * fabs(score[j]) + step;
        most = fmax(most, score[j]);
    }
    for (int j = 0; j < keys; j++)
        sum += exp(score[j] - most);
    for (int j = 0; j < keys; j++) {
        p[j] = exp(score[j] - most) / sum;
        least += p[j] * exp(-fine[j]);
        least_stored += p[j] * exp(-stored[j]);
        up += p[j] * exp(fine[j]);
        down += p[j] * exp(-fine[j]);
    }
    *lse_bound = fmax(log(fmax(up, DBL_MIN)), -log(fmax(down, DBL_MIN))) + gamma_of(keys) +
                 8.0 * U + 4.0 * U * (fabs(most) + fabs(log(fmax(sum, DBL_MIN))));

    float q16[MOST_D], k16[MOST_KEYS * MOST_D], plain[MOST_D];
    double o[MOST_D], plain_error = 0.0;
    for (int d = 0; d < D; d++) {
        q16[d] = kf_round_to(dtype, (float)h->q[i][d]);
        o[d] = 0.0;
        for (int j = 0; j < keys; j++) {
            k16[j * D + d] = kf_round_to(dtype, (float)h->k[j][d]);
            o[d] += p[j] * v[j * D + d];
        }
    }
    kf_plain_attention_row(dtype, D, keys, q16, k16, v, plain);
    for (int d = 0; d < D; d++)
        plain_error = fmax(plain_error, fabs(plain[d] - o[d]));
    for (int d = 0; d < D; d++) {
        double sums = 2.0 * gamma_of(keys) + 8.0 * U, rounded = 0.0, squares = 0.0;
        double single = U * fabs(o[d]), derived = 0.0, floor = 0.0;
        for (int j = 0; j < keys; j++) {
            double size = fabs(v[j * D + d]), off = exp(fine[j]) / least - 1.0 + sums;
            double weight = (1.0 + off) * (t * p[j] + step) * size;
            double off_stored = exp(stored[j]) / least_stored - 1.0 + sums;
            single += p[j] * size * off;
            derived += (p[j] * (off_stored + t * (1.0 + off_stored)) + step) * size;
            floor += p[j] * size * off;
            rounded += weight;
            squares += weight * weight;
        }
        floor += fmin(rounded, 8.0 * sqrt(squares / 3.0));
        floor = (1.0 + t) * floor + t * fabs(o[d]) + step; /* what is off is rounded too */
        derived = (1.0 + t) * derived + t * fabs(o[d]) + step;
        double twice = 2.0 * plain_error + t * fabs(o[d]);
        bound[d] = dtype == KF_F32 ? single : fmin(2.0 * derived, fmax(floor, twice));
        are->floor += bound[d] == floor;
        are->plain += bound[d] == twice;
        are->ceiling += bound[d] == 2.0 * derived;
    }
}

/* Whether all bounds of o, and of lse where there is one, are within a share of the formula's. */
static bool bounds_hold(const kf_run *run, bool halves, double share, parts *are)
{
    const kf_shape *s = &run->shape;
    const kf_tensor *o = kf_find(run, "o");
    const kf_tensor *lse = kf_has(run, "lse") ? kf_find(run, "lse") : NULL;
    head *h = load_head(run, halves);
    bool good = true;
    for (int i = 0; i < s->Sq; i++) {
        double bound[MOST_D] = {0}, lse_bound = 0.0;
        attention_row(run, h, i, halves ? 0 : s->R, bound, &lse_bound, are);
        for (int d = 0; d < s->D; d++)
            good &= near(o->bound[i * s->D + d], bound[d], share);
        good &= !lse || near(lse->bound[i], lse_bound, share);
    }
    free(h);
    return good;
}

static void attention(enum kf_dtype dtype, int keys, int R, double e, parts *are)
{
    const kf_case c = {.name = "tiny", .shape = {1, 1, 2, keys, 4, R, true, 7}};
    bool good = true;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        kf_run run = unit_attention(&c, seed);
        for (int i = 0; i < run.state->n; i++) {
            kf_tensor *t = &run.state->slot[i].t;
            t->dtype = dtype;
            for (int64_t j = 0; t->host && j < t->count; j++)
                t->host[j] = kf_round_to(dtype, t->host[j]);
        }
        run.extra_error = e;
        kf_attention_reference(&run);
        good &= bounds_hold(&run, false, 1e-6, are);
        kf_close(&run);
    }
    ok(good, "attention, %s, %d keys, R = %d, angles off by %g: bounds are the formula's",
       kf_dtype_name(dtype), keys, R, e);
}

/* o and lse in fp16 and fp32; rotated: operands may be other halves by the angle's error. */
static void flash(bool rotated, double e)
{
    const kf_case c = {.name = "tiny", .shape = {1, 1, 2, 3, 16, rotated ? 16 : 0, true, 7}};
    parts are = {0};
    bool good = true;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        kf_run run;
        kf_open(&run, &program, &c, seed);
        (rotated ? kf_rope_flash_setup : kf_flash_setup)(&run);
        run.extra_error = e;
        (rotated ? kf_rope_flash_reference : kf_flash_reference)(&run);
        good &= bounds_hold(&run, rotated, 1e-6, &are);
        kf_close(&run);
    }
    ok(good, "flash, %s, angles off by %g: bounds of o and lse are the formula's",
       rotated ? "turned" : "plain", e);
}

static void attentions(void)
{
    parts are = {0}, none = {0};
    for (int keys = 2; keys <= 3; keys++)
        for (int R = 0; R <= 4; R += 4)
            attention(KF_F32, keys, R, 0.0, &none);
    attention(KF_F32, 3, 4, 1e-3, &none);
    for (int dtype = KF_F16; dtype <= KF_BF16; dtype++) {
        attention(dtype, 3, 0, 0.0, &are);
        attention(dtype, 16, 0, 0.0, &are);
        attention(dtype, 3, 4, 0.0, &are);
    }
    ok(are.floor > 50 && are.plain > 50,
       "of low precision %d are the floor and %d twice the plain error", are.floor, are.plain);
    flash(false, 0.0);
    flash(true, 0.0);
    flash(true, 1e-2);
    const float q[] = {2.0f, -3.0f}, k[] = {-5.0f, 7.0f}, q_off[] = {0.5f, 0.0f},
                k_off[] = {0.25f, 1.0f};
    /* 2 * 0.25 + 0.5 (5 + 0.25) + 3 * 1 */
    ok(kf_product_off(2, q, q_off, k, k_off) == 6.125, "a product of operands that are off");
}

/* --- flash_backward.c ------------------------------------------------------------------------ */

/* Half of a step of fp16 where a number of this size is. */
static double step_of(double size)
{
    return size < 0x1p-14 ? 0x1p-25 : pow(2.0, floor(log2(size)) - 11.0);
}

/* Adds what a term w x of a sum is off by; w.error is that of w, x_off that of x. */
typedef struct sums {
    double value[MOST_D], off[MOST_D], rounded[MOST_D], squares[MOST_D];
} sums;

static void add(sums *to, int D, double n, double w, double error, const double *x,
                const double *x_off)
{
    double r = step_of(fabs(w) + error);
    for (int d = 0; d < D; d++) {
        double size = fabs(x[d]);
        to->value[d] += w * x[d];
        to->off[d] += (error + gamma_of(n) * (fabs(w) + error + r)) * size;
        to->off[d] += x_off ? (fabs(w) + error + r) * x_off[d] : 0.0;
        to->rounded[d] += r * size;
        to->squares[d] += r * r * size * size;
    }
}

/* The bounds of a row, from its sums; angle: its position, or -1 where nothing is rotated back. */
static bool row_holds(const kf_tensor *t, int64_t row, const sums *of, int D, double scale,
                      double position, double e)
{
    double value[MOST_D] = {0}, off[MOST_D] = {0}, want[MOST_D] = {0}, bound[MOST_D] = {0};
    bool good = true;
    for (int d = 0; d < D; d++) {
        value[d] = want[d] = scale * of->value[d];
        off[d] = scale * (of->off[d] + fmin(of->rounded[d], 8.0 * sqrt(of->squares[d] / 3.0)));
        bound[d] = off[d] += 4.0 * U * fabs(value[d]);
    }
    if (position >= 0 && D > 1) {
        rotate(want, D, position, true);
        for (int d = 0; d < D; d++) {
            int other = (d + D / 2) % D;
            double angle = position * pow(10000.0, -2.0 * (d % (D / 2)) / D);
            double a = off[d] + step_of(fabs(value[d]) + off[d]);
            double b = off[other] + step_of(fabs(value[other]) + off[other]);
            bound[d] =
                fabs(cos(angle)) * a + fabs(sin(angle)) * b +
                rotation(fabs(value[d]) + a, fabs(value[other]) + b, cos(angle), sin(angle), e);
        }
    }
    for (int d = 0; d < D; d++) {
        bound[d] += step_of(fabs(want[d]) + bound[d]);
        good &= near(t->want[row * D + d], want[d], 1e-9) || fabs(want[d]) < 1e-9;
        good &= near(t->bound[row * D + d], bound[d], 1e-4);
    }
    return good;
}

static bool gradients_hold(const kf_run *run, bool rotated)
{
    const kf_shape *s = &run->shape;
    const float *v = kf_find(run, "v")->host, *o = kf_find(run, "o")->host;
    const float *dout = kf_find(run, "dout")->host, *lse = kf_find(run, "lse")->host;
    head *h = load_head(run, rotated);
    sums dq[MOST_KEYS] = {0}, dk[MOST_KEYS] = {0}, dv[MOST_KEYS] = {0};
    double scale = 1.0 / sqrt(s->D), e = run->extra_error;
    bool good = true;
    for (int i = 0; i < s->Sq; i++)
        for (int j = 0; j <= s->Sk - s->Sq + i; j++) {
            int first = j - (s->Sk - s->Sq), queries = s->Sq - (first > 0 ? first : 0);
            double delta = 0.0, abs_delta = 0.0, x = 0.0, abs_x = 0.0, row[MOST_D];
            for (int d = 0; d < s->D; d++) {
                row[d] = dout[i * s->D + d];
                delta += row[d] * o[i * s->D + d];
                abs_delta += fabs(row[d] * o[i * s->D + d]);
                x += row[d] * v[j * s->D + d];
                abs_x += fabs(row[d] * v[j * s->D + d]);
            }
            x -= delta;
            pair of = pair_of(h, i, j);
            double off =
                scale * ((gamma_of(s->D) + 4.0 * U) * of.abs_dot + of.off) + 4.0 * U * fabs(lse[i]);
            double p = exp(scale * of.dot - lse[i]), p_off = p * (exp(off) - 1.0 + 8.0 * U);
            double x_off = gamma_of(s->D + 1) * (abs_x + 2.0 * abs_delta) + 2.0 * U * fabs(x);
            double ds = p * x, ds_off = p_off * fabs(x) + (p + p_off) * x_off + 2.0 * U * fabs(ds);
            add(&dq[i], s->D, s->Sk - s->Sq + i + 1, ds, ds_off, h->k[j],
                rotated ? h->k_off[j] : NULL);
            add(&dk[j], s->D, queries, ds, ds_off, h->q[i], rotated ? h->q_off[i] : NULL);
            add(&dv[j], s->D, queries, p, p_off, row, NULL);
        }
    for (int i = 0; i < s->Sq; i++)
        good &= row_holds(kf_find(run, "dq"), i, &dq[i], s->D, scale,
                          rotated ? s->pos0 + s->Sk - s->Sq + i : -1, e);
    for (int j = 0; j < s->Sk; j++)
        good &=
            row_holds(kf_find(run, "dk"), j, &dk[j], s->D, scale, rotated ? s->pos0 + j : -1, e) &&
            row_holds(kf_find(run, "dv"), j, &dv[j], s->D, 1.0, -1, e);
    free(h);
    return good;
}

/* P and dS from 2^-14 up, where a step of fp16 depends on the size; tiny: below that, where errors
 * of fp32 stand beside it; steep: where they are most of the bound. */
static void gradients(bool rotated, double e, float q_times, const char *what)
{
    const kf_case c = {.name = "tiny", .shape = {1, 1, 3, 5, 16, rotated ? 16 : 0, true, 7}};
    bool good = true;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        kf_run run;
        kf_open(&run, &program, &c, seed);
        (rotated ? kf_rope_flash_backward_setup : kf_flash_backward_setup)(&run, NULL);
        for (int64_t i = 0; i < kf_find(&run, "q")->count && !rotated; i++)
            kf_find(&run, "q")->host[i] *= q_times;
        for (int64_t i = 0; i < 3 && q_times > 1.0f; i++) /* so that P is about 1 */
            kf_find(&run, "lse")->host[i] *= q_times;
        run.extra_error = e;
        (rotated ? kf_rope_flash_backward_reference : kf_flash_backward_reference)(&run);
        good &= gradients_hold(&run, rotated);
        kf_close(&run);
    }
    ok(good, "gradients, %s, angles off by %g: bounds are the formula's", what, e);
}

/* --- neox/bounds.c --------------------------------------------------------------------------- */

/* Gains, biases and weights behind the last layer, and what logits then have of their own: x [8] is
 * of the layer before, y [8] behind the last. */
static void neox_make_final(neox_model *model, const double *x, const double *y, double u,
                            double of_logit[3])
{
    float *gain = model->weights + neox_offset(&model->config, 0, NEOX_FINAL_GAIN);
    float *bias = model->weights + neox_offset(&model->config, 0, NEOX_FINAL_BIAS);
    float *output = model->weights + neox_offset(&model->config, 0, NEOX_OUTPUT);
    double mean = 0.0, variance = 0.0;
    for (int i = 0; i < 8; i++)
        mean += y[i] / 8;
    for (int i = 0; i < 8; i++)
        variance += (y[i] - mean) * (y[i] - mean) / 8;
    memset(of_logit, 0, 3 * sizeof *of_logit);
    for (int i = 0; i < 8; i++) {
        gain[i] = 1.0f + 0.5f * (float)i;
        bias[i] = 0.25f * (float)(i - 3);
        double by = gain[i] / sqrt(variance + 1e-5), normed = (y[i] - mean) * by + bias[i];
        double before = u * u * (y[i] * y[i] + (y[i] - x[i]) * (y[i] - x[i])) / 3.0;
        for (int row = 0; row < 3; row++) {
            double w = output[row * 8 + i] = (float)(row + 1) / (float)(i + 2);
            of_logit[row] += w * w * (by * by * before + u * u * normed * normed / 3.0);
        }
    }
}

/* One layer of eight numbers, three logits. The plain results are off by a known amount, `by` times
 * what is largest, and so are the bounds: twice that in the element where it is largest. */
static void neox(void)
{
    enum { HIDDEN = 8, VOCAB = 3, ALL = 2 * HIDDEN };
    const neox_config c = {1, HIDDEN, 2, 4, 16, VOCAB, 32, false};
    static const double off[HIDDEN] = {1, -2, 3, 0, 2, -1, 4, 1}, off_logits[] = {2, -3, 1};
    const double u = 1.0 / 2048, rounded = 11.0 + (4 * 8 + 4 + 32 + 16) / 8192.0;
    double x[ALL], y[ALL], bound[ALL], logits[VOCAB] = {4, -5, 6}, plain[VOCAB], bounds[VOCAB];
    double squares = 0.0, z = 0.0, unit[HIDDEN], size = 0.0, is = 0.0;
    for (int i = 0; i < ALL; i++)
        x[i] = y[i] = i < HIDDEN ? 1.0 + i : 3.0 * i - 20.0;
    for (int i = 0; i < HIDDEN; i++) {
        y[HIDDEN + i] += off[i] * u;
        squares += off[i] * u * off[i] * u / HIDDEN;
        size += x[HIDDEN + i] * x[HIDDEN + i] / HIDDEN;
    }
    for (int i = 0; i < HIDDEN; i++) {
        double value = x[HIDDEN + i], b = value - x[i];
        unit[i] = sqrt(squares + u * u * (value * value + b * b) / 3.0);
        z = fmax(z, fabs(off[i]) * u / unit[i]);
    }
    double t = sqrt((4 + 9 + 1) / 3.0) * u, of_logit[VOCAB];
    float weights[10000] = {0};
    neox_model model = {.config = c, .weights = weights};
    neox_make_final(&model, x, x + HIDDEN, u, of_logit);
    for (int i = 0; i < VOCAB; i++) {
        plain[i] = logits[i] + off_logits[i] * u;
        of_logit[i] = sqrt(t * t + of_logit[i]);
        z = fmax(z, fabs(off_logits[i]) * u / of_logit[i]);
    }
    const neox_results exact = {.hidden = x, .logits = logits};
    const neox_results found = {.hidden = y, .logits = plain};
    neox_results to = {.hidden = bound, .logits = bounds};
    memset(bound, 0, sizeof bound);
    bool good = neox_bounds(&model, 1, &exact, &found, &to) == NULL;
    for (int i = 0; i < HIDDEN; i++) {
        good &= near(bound[HIDDEN + i], 2.0 * z * unit[i], 1e-6) && bound[i] == 0.0;
        is += bound[HIDDEN + i] * bound[HIDDEN + i] / HIDDEN;
    }
    for (int i = 0; i < VOCAB; i++)
        good &= near(bounds[i], 2.0 * z * of_logit[i], 1e-6);
    ok(good,
       "GPT-NeoX: bounds are twice the largest error of plain fp16, in units of each element");
    /* At the ceiling: what is off everywhere by as much has itself as unit, but for own roundings
     */
    double most = 2.0 * sqrt(2.0 * log(2.0 * (ALL + VOCAB))) * rounded * u * sqrt(size);
    int said = 0;
    for (int side = 0; side < 2; side++) {
        double by = most / 2.0 * (side ? 1.05 : 0.95);
        for (int i = 0; i < HIDDEN; i++)
            y[HIDDEN + i] = x[HIDDEN + i] + by;
        for (int i = 0; i < VOCAB; i++)
            plain[i] = logits[i];
        memset(bound, 0, sizeof bound);
        said += (neox_bounds(&model, 1, &exact, &found, &to) != NULL) == side;
    }
    ok(said == 2, "and a ceiling of what roundings explain");
}

int main(void)
{
    tolerance();
    angles();
    for (int layout = 0; layout < 2; layout++) {
        rope_alone(0.0, layout);
        rope_alone(1e-3, layout);
    }
    attentions();
    gradients(false, 0.0, 1.0f, "plain");
    gradients(false, 0.0, 64.0f, "steep");
    gradients(true, 0.0, 1.0f, "turned");
    gradients(true, 1e-2, 1.0f, "turned");
    neox();
    return done();
}
