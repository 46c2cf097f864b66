/* flash_backward.c: gradients of attention in fp64 and the bound of every element.
 *
 * Inputs are taken as they are: o and lse are rounded, but that is no error of this computation.
 * Rows are sampled; a row of dq needs its query and all keys, a row of dk and dv its key and all
 * queries.
 *
 * The bounds follow from gamma and u of tolerance.c, u that of fp32:
 *
 * P. The exponent scale q.k - lse is off by at most e = score_error + 4 u |lse|: score_error as in
 * attention.c, the rest for a change of base of lse and the subtraction. exp adds 8 u:
 *     error(P) = P (exp(e) - 1 + 8 u).
 *
 * dP - delta. Two inner products of length D, or one that continues the other:
 *     error(dP - delta) = gamma(D + 1) (|dout|.|v| + 2 |dout|.|o|) + 2 u |dP - delta|.
 *
 * dS. error(dS) = error(P) |dP - delta| + (P + error(P)) error(dP - delta) + 2 u |dS|.
 *
 * Sums. dv = sum_i P_i dout_i, and dk and dq likewise with dS. A factor w = P or dS that is off by
 * e is rounded to fp16 before it is multiplied: by at most r, half a step of fp16 at |w| + e. Sums
 * are fp32 in any order, also with atomic adds. With x the other factor and n the number of terms,
 * a sum is off by sum (e + gamma(n) (|w| + e + r)) |x| + min(sum r |x|, uniform_sum(sum r^2 x^2)),
 * since the rounding errors are independent and uniform, or nearly so. scale adds 4 u of the
 * result, the last rounding half a step of fp16. A sum of no terms is 0, and may not be off.
 *
 * Operands that are rotated and rounded first. The exponent is off by kf_product_off of attention.h
 * more, and a sum by (|w| + e + r) times the error of x. Sums are rotated back, each pair by its
 * angle: y1 = x1 cos + x2 sin. A sum may have been rounded to fp16 before, by half a step. y1 is
 * off by |cos| and |sin| times the errors of x1 and x2, and by the error of a rotation in fp32
 * (rope.c).
 *
 * Exact gradients. The inputs are those of flash.c, and dout is -1, 0 or 1. Rounded to fp16, P is a
 * power of two, and dS is P times an integer below 2^11, so a right kernel multiplies the same
 * values as this reference. Sums of such products are exact in fp32. If scale is a power of two
 * they are rounded once, and the bound is 0; for D = 128 it is not, and dq and dk have its 4 u and
 * half a step. With one key for a query dS is 0, and so are dq and dk. With groups dq is 0 except
 * where the keys of a group differ.
 *
 * With KF_ONES, where v is 1, dout is positive: dS is 0 except for errors, and dv adds up what P
 * loses if it is truncated, not rounded.
 *
 * With KF_EQUAL, no mask and a power of two of keys, P rounds to exactly 1 / Sk, and the sums of
 * its products with whole numbers are exact in fp32: dv is rounded once, and its bound is 0. */
#include "flash_backward.h"
#include "rope.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void fill_dout(const kf_run *run, kf_tensor *dout)
{
    for (int64_t i = 0; i < dout->count; i++) {
        uint64_t index = (uint64_t)1 << 48 | (uint64_t)i;
        dout->host[i] = (float)kf_random_below(run->seed, index, 3) - 1.0f;
    }
}

static void declare_gradients(kf_run *run, bool dq_alone)
{
    const kf_shape *s = &run->shape;
    bool exact = run->c->flags & KF_EXACT_GRADIENTS;
    const int64_t query[4] = {s->B, s->H, s->Sq, s->D}, key[4] = {s->B, s->H, s->Sk, s->D};
    if (s->D % 4 != 0)
        kf_die(KF_WRONG, "case %s: D = %d; a multiple of 4 is right", run->c->name, s->D);
    bool equal = run->c->flags & KF_EQUAL;
    kf_tensor *dout =
        (exact || equal ? kf_zero_input : kf_input)(run, "dout", "BHSD", KF_F16, query);
    if (exact)
        fill_dout(run, dout);
    for (int64_t i = 0; i < dout->count && equal; i++)
        dout->host[i] =
            1.0f + (float)kf_random_below(run->seed, (uint64_t)1 << 48 | (uint64_t)i, 64);
    for (int64_t i = 0; i < dout->count && run->c->flags & KF_ONES; i++)
        dout->host[i] = fabsf(dout->host[i]);
    kf_output(run, "dq", "BHSD", KF_F16, query);
    if (dq_alone)
        return;
    kf_output(run, "dk", "BHSD", KF_F16, key);
    kf_output(run, "dv", "BHSD", KF_F16, key);
}

static void declare(kf_run *run, kf_launch *forward, bool dq_alone)
{
    kf_inputs_from(run, kf_flash_setup, kf_flash_reference,
                   run->c->flags & (KF_LARGE | KF_BY_KERNEL) ? forward : NULL);
    run->find_mistake = kf_flash_find_mistake;
    declare_gradients(run, dq_alone);
}

void kf_flash_backward_declare(kf_run *run)
{
    declare_gradients(run, false);
}

void kf_flash_backward_setup(kf_run *run, kf_launch *forward)
{
    declare(run, forward, false);
}

void kf_flash_dq_setup(kf_run *run, kf_launch *forward)
{
    declare(run, forward, true);
}

void kf_flash_both_setup(kf_run *run)
{
    kf_flash_setup(run);
    declare_gradients(run, false);
}

typedef struct job {
    const kf_shape *s;
    const float *q, *k, *v, *o, *dout, *lse;
    kf_tensor *dq, *dk, *dv;   /* NULL: not wanted */
    double *delta, *abs_delta; /* [heads][Sq]: dout.o, |dout|.|o| */
    double scale, gamma;       /* gamma(D + 1) */
    bool exact;
    const float *q_off, *k_off;    /* or NULL: kf_operands */
    const double *cosines, *sines; /* [Sk][D/2], to rotate back, or NULL */
    double angle_error;
} job;

/* Returns a.b and stores |a|.|b|. D is a multiple of 4; four sums keep the processor busy. */
static double dot(const float *a, const float *b, int D, double *abs_dot)
{
    double sum[4] = {0}, abs_sum[4] = {0};
    for (int d = 0; d < D; d += 4)
        for (int lane = 0; lane < 4; lane++) {
            double product = (double)a[d + lane] * b[d + lane];
            sum[lane] += product;
            abs_sum[lane] += fabs(product);
        }
    *abs_dot = abs_sum[0] + abs_sum[1] + abs_sum[2] + abs_sum[3];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static void delta_of_row(void *context, int64_t row)
{
    const job *j = context;
    int D = j->s->D;
    j->delta[row] = dot(j->dout + row * D, j->o + row * D, D, &j->abs_delta[row]);
}

/* P or dS of a query and a key that it sees, and its error bound in fp32. */
typedef struct factor {
    double value, error;
} factor;

static factor probability_of(const job *j, int64_t query, int64_t key)
{
    double u = kf_unit_roundoff(KF_F32), abs_dot, lse = j->lse[query];
    int D = j->s->D;
    double score = j->scale * dot(j->q + query * D, j->k + key * D, D, &abs_dot);
    double off = kf_score_error(D, 0, u, abs_dot, 0.0, 0.0) + 4.0 * u * fabs(lse);
    double p = exp(score - lse);
    if (j->q_off)
        off += j->scale * kf_product_off(D, j->q + query * D, j->q_off + query * D, j->k + key * D,
                                         j->k_off + key * D);
    return (factor){p, p * (expm1(off) + 8.0 * u)};
}

static factor slope_of(const job *j, int64_t query, int64_t key, factor p)
{
    double u = kf_unit_roundoff(KF_F32), abs_dot;
    int D = j->s->D;
    double x = dot(j->dout + query * D, j->v + key * D, D, &abs_dot) - j->delta[query];
    double off = j->gamma * (abs_dot + 2.0 * j->abs_delta[query]) + 2.0 * u * fabs(x);
    double slope = p.value * x;
    return (factor){slope, p.error * fabs(x) + (p.value + p.error) * off + 2.0 * u * fabs(slope)};
}

/* The largest error of rounding a number of this size to fp16: half a step. */
static double half_step(double size)
{
    int exponent; /* size < 2^exponent */
    if (size < 0x1p-14)
        return 0x1p-25;
    frexp(size, &exponent);
    return ldexp(0x1p-12, exponent);
}

/* Sums for one row of an output, [D] each: its value, its errors so far, the absolute values of
 * its roundings to fp16, and their squares. */
typedef struct row_sums {
    double *want, *off, *rounded, *squares, gamma;
} row_sums;

static row_sums begin(int D, int64_t terms)
{
    double *all = kf_alloc(4 * D, sizeof *all);
    return (row_sums){all, all + D, all + 2 * D, all + 3 * D,
                      kf_gamma(terms, kf_unit_roundoff(KF_F32))};
}

/* x_off: the error bounds of x, or NULL. */
static void add(const job *j, const row_sums *sums, factor w, const float *x, const float *x_off)
{
    double value = j->exact ? kf_round_to(KF_F16, (float)w.value) : w.value;
    double r = half_step(fabs(w.value) + w.error);
    double e = w.error + sums->gamma * (fabs(w.value) + w.error + r);
    double *restrict want = sums->want, *restrict off = sums->off;
    double *restrict rounded = sums->rounded, *restrict squares = sums->squares;
    for (int d = 0; d < j->s->D; d += 4)
        for (int lane = d; lane < d + 4; lane++) {
            double size = fabs((double)x[lane]), step = r * size;
            want[lane] += value * x[lane];
            off[lane] += e * size;
            rounded[lane] += step;
            squares[lane] += step * step;
        }
    for (int d = 0; x_off && d < j->s->D; d++)
        off[d] += (fabs(w.value) + w.error + r) * x_off[d];
}

/* Rotates a row and its error bounds in fp32 back, by the angles of table row `position`. */
static void rotate_back(const job *j, double *want, double *bound, int64_t position)
{
    int half = j->s->D / 2;
    double u = kf_unit_roundoff(KF_F32);
    for (int i = 0; i < half; i++) {
        double c = j->cosines[position * half + i], s = j->sines[position * half + i];
        double a = want[i], b = want[i + half];
        double a_off = bound[i] + half_step(fabs(a) + bound[i]);
        double b_off = bound[i + half] + half_step(fabs(b) + bound[i + half]);
        double rotated =
            kf_rotation_error(fabs(a) + a_off, fabs(b) + b_off, c, s, u, j->angle_error);
        want[i] = a * c + b * s;
        want[i + half] = b * c - a * s;
        bound[i] = fabs(c) * a_off + fabs(s) * b_off + rotated;
        rotated = kf_rotation_error(fabs(b) + b_off, fabs(a) + a_off, c, s, u, j->angle_error);
        bound[i + half] = fabs(c) * b_off + fabs(s) * a_off + rotated;
    }
}

/* Computes the row of an output from its sums, and frees the sums. position: see rotate_back; -1:
 * no rotation. */
static void finish(const job *j, row_sums *sums, double scale, bool empty, kf_tensor *to,
                   int64_t row, int64_t position)
{
    double u = kf_unit_roundoff(KF_F32);
    double *want = to->want + row * j->s->D, *bound = to->bound + row * j->s->D;
    for (int d = 0; d < j->s->D; d++) {
        double off = sums->off[d] + fmin(sums->rounded[d], kf_uniform_sum(sums->squares[d]));
        want[d] = scale * sums->want[d];
        bound[d] = (j->exact ? 0.0 : scale * off) + 4 * u * fabs(want[d]);
    }
    if (j->cosines && position >= 0)
        rotate_back(j, want, bound, position);
    for (int d = 0; d < j->s->D; d++) {
        bound[d] += half_step(fabs(want[d]) + bound[d]);
        if (j->exact && exp2(nearbyint(log2(scale))) == scale) { /* only one rounding is left */
            want[d] = kf_round_to(KF_F16, (float)want[d]);
            bound[d] = 0.0;
        }
        if (empty)
            want[d] = bound[d] = 0.0;
    }
    free(sums->want);
}

static void query_row(void *context, int64_t row)
{
    const job *j = context;
    int D = j->s->D;
    int64_t first = row / j->s->Sq * j->s->Sk, keys = kf_visible_keys(j->s, row % j->s->Sq);
    if (!j->dq->checked[row])
        return;
    row_sums dq = begin(D, keys);
    for (int64_t key = first; key < first + keys; key++)
        add(j, &dq, slope_of(j, row, key, probability_of(j, row, key)), j->k + key * D,
            j->k_off ? j->k_off + key * D : NULL);
    finish(j, &dq, j->scale, keys == 0, j->dq, row, j->s->Sk - j->s->Sq + row % j->s->Sq);
}

static void key_row(void *context, int64_t row)
{
    const job *j = context;
    const kf_shape *s = j->s;
    int D = s->D;
    int64_t head = row / s->Sk * s->Sq, from = 0;
    if (!j->dk->checked[row])
        return;
    while (kf_visible_keys(s, from) <= row % s->Sk) /* the last query sees every key */
        from++;
    row_sums dk = begin(D, s->Sq - from), dv = begin(D, s->Sq - from);
    for (int64_t query = head + from; query < head + s->Sq; query++) {
        factor p = probability_of(j, query, row);
        add(j, &dv, p, j->dout + query * D, NULL);
        add(j, &dk, slope_of(j, query, row, p), j->q + query * D,
            j->q_off ? j->q_off + query * D : NULL);
    }
    finish(j, &dk, j->scale, false, j->dk, row, row % s->Sk);
    finish(j, &dv, 1.0, false, j->dv, row, -1);
}

void kf_flash_backward_reference(kf_run *run)
{
    const kf_operands of = {.q = kf_find(run, "q")->host, .k = kf_find(run, "k")->host};
    kf_flash_backward_reference_of(run, &of, NULL, NULL);
}

void kf_flash_backward_reference_of(kf_run *run, const kf_operands *of, const double *cosines,
                                    const double *sines)
{
    const kf_shape *s = &run->shape;
    int64_t heads = (int64_t)s->B * s->H, queries = heads * s->Sq;
    job j = {.s = s,
             .q = of->q,
             .k = of->k,
             .q_off = of->q_off,
             .k_off = of->k_off,
             .cosines = cosines,
             .sines = sines,
             .angle_error = run->extra_error,
             .v = kf_find(run, "v")->host,
             .o = kf_find(run, "o")->host,
             .dout = kf_find(run, "dout")->host,
             .lse = kf_find(run, "lse")->host,
             .scale = 1.0 / sqrt((double)s->D),
             .gamma = kf_gamma(s->D + 1, kf_unit_roundoff(KF_F32)),
             .exact = run->c->flags & KF_EXACT_GRADIENTS};
    j.delta = kf_alloc(queries, sizeof *j.delta);
    j.abs_delta = kf_alloc(queries, sizeof *j.abs_delta);
    kf_parallel(queries, delta_of_row, &j);
    if (kf_has(run, "dq")) {
        j.dq = kf_find(run, "dq");
        kf_sample_rows(j.dq->checked, heads, s->Sq, 2.0 * s->Sk * s->D, run->seed);
        for (int64_t row = 0; row < queries; row++) /* a row without keys is no work */
            j.dq->checked[row] |= kf_visible_keys(s, row % s->Sq) == 0;
        kf_parallel(queries, query_row, &j);
    }
    if (kf_has(run, "dk")) {
        j.dk = kf_find(run, "dk");
        j.dv = kf_find(run, "dv");
        kf_sample_rows(j.dk->checked, heads, s->Sk, 3.0 * s->Sq * s->D, run->seed);
        for (int64_t row = 0; row < heads * s->Sk; row++)
            j.dv->checked[row] = j.dk->checked[row];
        kf_parallel(heads * s->Sk, key_row, &j);
        if (run->c->flags & KF_EQUAL && !s->causal && (s->Sk & (s->Sk - 1)) == 0)
            for (int64_t i = 0; i < j.dv->count; i++) {
                j.dv->want[i] = kf_round_to(KF_F16, (float)j.dv->want[i]);
                j.dv->bound[i] = 0.0;
            }
    }
    free(j.delta);
    free(j.abs_delta);
}

/* Ends the program if a value of an output on the host is not within the bounds of its
 * reference. */
static void need_right(const kf_run *run, const kf_tensor *t)
{
    int64_t columns = t->dim[t->n_axes - 1];
    for (int64_t i = 0; i < t->count; i++) {
        double got = t->host[i], want = t->want[i];
        if (!t->checked[i / columns] ||
            (isinf(want) ? got == want : fabs(got - want) <= t->bound[i]))
            continue;
        kf_die(KF_WRONG,
               "case %s: element %lld of %s, which the forward pass makes, is %g; %g is right, "
               "within %g",
               run->c->name, (long long)i, t->name, got, want, t->bound[i]);
    }
}

/* The gradients that follow from the forward pass's actual o and lse. Errors of these within
 * their bounds are no errors of the gradients, so the bounds above hold. */
void kf_flash_both_reference(kf_run *run, kf_launch *forward)
{
    static const char *const name[] = {"o", "lse", "dq", "dk", "dv"};
    enum { MADE = 2, ALL = 5 }; /* MADE: outputs that `forward` writes */
    kf_tensor *output[ALL];
    kf_reference_from(run, forward);
    for (int i = 0; i < ALL; i++) {
        kf_tensor *t = output[i] = kf_find(run, name[i]);
        if (i < MADE && !t->host)
            t->host = kf_alloc(t->count, sizeof *t->host);
        for (int64_t n = 0; n < t->count && i < MADE; n++)
            t->host[n] = (float)t->want[n];
        memset(t->checked, false, (size_t)t->rows * sizeof *t->checked);
    }
    kf_flash_reference(run);
    kf_flash_backward_reference(run);
    for (int i = 0; i < MADE; i++) {
        kf_tensor *t = output[i];
        need_right(run, t);
        for (int64_t n = 0; n < t->count; n++)
            t->want[n] = t->host[n];
        memset(t->bound, 0, (size_t)t->count * sizeof *t->bound);
        memset(t->checked, true, (size_t)t->rows * sizeof *t->checked);
    }
}

static kf_cost cost(const kf_case *c, double products, double outputs)
{
    const kf_shape *s = &c->shape;
    double heads = (double)s->B * s->H, rows = 3.0 * s->Sq + 2.0 * s->Sk + outputs;
    return (kf_cost){.bytes = heads * (2.0 * s->D * rows + 4.0 * s->Sq),
                     .flops = kf_attention_cost(c).flops / 2.0 * products,
                     .tensor_cores = true};
}

kf_cost kf_flash_backward_cost(const kf_case *c)
{
    return cost(c, 5.0, c->shape.Sq + 2.0 * c->shape.Sk);
}

kf_cost kf_flash_dq_cost(const kf_case *c)
{
    return cost(c, 3.0, c->shape.Sq);
}

kf_cost kf_flash_both_cost(const kf_case *c)
{
    kf_cost forward = kf_flash_cost(c), backward = kf_flash_backward_cost(c);
    backward.flops += forward.flops; /* q, k, v are read and o and lse pass once */
    return backward;
}
