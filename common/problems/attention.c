/* attention.c: attention in fp64, with or without RoPE, and the bound of every element.
 * q [B][H][Sq][D], k and v [B][H][Sk][D] -> want, bound [B][H][Sq][D]
 *
 * A few heads are computed at a time, since with one query per head nothing else can run in
 * parallel: first their keys are rotated, then their checked rows computed.
 *
 * The bound of every element follows from gamma and u of tolerance.c:
 *
 * Scores. The score s = scale q.k is off by at most
 *     ds = scale ((gamma(D) + 4 u) |q|.|k| + rope |q|_2 |k|_2),
 * where 4 u covers the scale, the conversion to a base-2 exponent and the subtracted maximum.
 *
 * Rotation. y1 = x1 cos - x2 sin with cos and sin rounded once has three roundings per element, so
 * each element of the pair is off by at most 3 u (|x1 cos| + |x2 sin|) <= 3 u |x|_2 of the pair.
 * Summed over the pairs, for both q and k, that is 2 * sqrt(2) * 3 u |q|_2 |k|_2, the term with
 * rope above. If cos and sin are each off by e more, each element of the pair is off by at most e
 * (|x1| + |x2|) more, and the score by 2 * sqrt(2) * e |q|_2 |k|_2 more.
 *
 * Operands that are rotated and rounded before the product may be off by other amounts: oq in an
 * element of q, ok in an element of k. The score is off by scale (|q|.ok + oq.(|k| + ok)) more.
 *
 * Output. If each score is off by at most its ds, the probability p_k is off by at most the factor
 * exp(ds_k) / sum_j p_j exp(-ds_j). The two sums over the keys add gamma(keys) each, exp and the
 * division a few u:
 *     bound = sum_k p_k |v_k| (exp(ds_k) / sum_j p_j exp(-ds_j) - 1 + 2 gamma(keys) + 8 u) + u |o|,
 * where u |o| covers the rounding of the result. For a query that sees no key there is no sum, and
 * the bound is 0.
 *
 * fp16 and bf16. Sums are fp32 as before. Each value that plain.c stores in the type between its
 * stages is off by a further factor of 1 + t, t the unit roundoff of the type, or by half a step h
 * of the numbers below the smallest normal number: the score by t |s|, and by 2 t scale |q|.|k| if
 * q and k were rotated and stored; the probability by t p; the result by t |o|. With these terms in
 * place of those above, the bound holds for plain.c. The actual error of plain.c is much smaller,
 * and that is the measure: twice its largest error in the row, plus the rounding of the result,
 * which no implementation can avoid. The measure is never above twice the derived bound, so a wrong
 * plain.c does not make a wrong result pass.
 *
 * The floor. In a row of few keys plain.c may by chance have almost no error, and twice that would
 * fail a right kernel. A kernel whose scores and sums are fp32 still rounds its probabilities to
 * the type, to multiply them, and its result. It may round before it divides by the sum, while the
 * factors are exp(s - m) with m the largest score so far. A later scale is at most 1, and the sum
 * is at least 1, so here too a probability is off by at most t p + h. If these errors are
 * independent and uniform, with a variance of (t p + h)^2 / 3, their sum is within lambda
 * sqrt(sum_k ((t p_k + h) v_k)^2 / 3) except for one element in 4e13 (lambda = 8: see tolerance.c),
 * and always within sum_k (t p_k + h) |v_k|. The smaller of the two, the bound of fp32 sums, and t
 * |o| + h for the result together are the floor. The bound is twice plain.c's error, but not below
 * the floor.
 *
 * lse. log(sum_k exp(s_k)) with scores off by ds is off by at most log(sum_k p_k exp(ds_k))
 * upwards, and by -log(sum_k p_k exp(-ds_k)) downwards, which is not larger: the product of the
 * two sums is at least 1, by Cauchy and Schwarz. The sum and its exponentials add gamma(keys) +
 * 8 u; the logarithm, the addition of the maximum and a change of base add 4 u (|m| +
 * |log(sum)|). */
#include "attention.h"
#include "rope.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void kf_attention_setup(kf_run *run)
{
    const kf_shape *s = &run->shape;
    const char *name = run->c->name;
    if (s->R < 0 || s->R > s->D || s->R % 2)
        kf_die(KF_WRONG, "case %s: R = %d; an even number from 0 to D = %d is right", name, s->R,
               s->D);
    if (s->R > 0 && (s->Sq > s->Sk || s->pos0 < 0))
        kf_die(
            KF_WRONG,
            "case %s: Sq = %d, Sk = %d, pos0 = %d with RoPE; Sq <= Sk and pos0 >= 0 are right: a "
            "query stands at pos0 + Sk - Sq and after",
            name, s->Sq, s->Sk, s->pos0);
    int64_t query[4] = {s->B, s->H, s->Sq, s->D}, key[4] = {s->B, s->H, s->Sk, s->D};
    kf_tensor *q = kf_input(run, "q", "BHSD", KF_F32, query);
    for (int64_t i = 0; i < q->count && (run->c->flags & KF_STEEP); i++)
        q->host[i] *= 64.0f;
    kf_input(run, "k", "BHSD", KF_F32, key);
    kf_input(run, "v", "BHSD", KF_F32, key);
    kf_output(run, "o", "BHSD", KF_F32, query);
}

static double rope_error(int R, double u, double angle_error)
{
    return R > 0 ? 2.0 * sqrt(2.0) * (3.0 * u + angle_error) : 0.0;
}

double kf_score_error(int D, int R, double u, double abs_dot, double norms, double angle_error)
{
    double error = (kf_gamma(D, u) + 4.0 * u) * abs_dot + rope_error(R, u, angle_error) * norms;
    return error / sqrt((double)D);
}

/* The relative error of one key's probability; least_sum: sum over the keys of p
 * exp(-score_error). */
static double probability_error(double score_error, double least_sum, int64_t keys, double u)
{
    return exp(score_error) / least_sum - 1.0 + 2.0 * kf_gamma(keys, u) + 8.0 * u;
}

int64_t kf_visible_keys(const kf_shape *s, int64_t query)
{
    int64_t before = kf_mistake == KF_MASK_FROM_FIRST ? 0 : s->Sk - s->Sq;
    int64_t keys = s->causal ? before + query + 1 : s->Sk;
    keys += (kf_mistake == KF_KEY_MORE) - (kf_mistake == KF_KEY_LESS);
    if (kf_mistake == KF_NOT_MASKED || keys > s->Sk)
        return s->Sk;
    return keys < 0 ? 0 : keys;
}

kf_cost kf_attention_cost(const kf_case *c)
{
    const kf_shape *s = &c->shape;
    double heads = (double)s->B * s->H, pairs = 0;
    for (int64_t i = 0; i < s->Sq; i++)
        pairs += (double)kf_visible_keys(s, i);
    double rotated = ((double)s->Sq + s->Sk) * s->R;
    return (kf_cost){.bytes = heads * 4.0 * s->D * (2.0 * s->Sq + 2.0 * s->Sk),
                     .flops = heads * (4.0 * s->D * pairs + 3.0 * rotated)};
}

typedef struct job {
    const kf_shape *s;
    const float *q, *k, *v;     /* of these heads */
    const float *q_off, *k_off; /* or NULL: kf_operands */
    int R;                      /* dimensions to rotate; 0: q and k are rotated */
    double *want, *bound;
    const bool *checked;
    enum kf_dtype dtype;
    double angle_error;
    const double *cosines, *sines; /* [max(Sq, Sk)][R/2] */
    double *keys, *key_norm;       /* [heads][Sk][D] rotated, [heads][Sk] */
    float *plain_keys;             /* [heads][Sk][D] rotated, rounded; low precision only */
    double *lse, *lse_bound;       /* [heads][Sq] or NULL */
    double rounding, half_step;    /* of values that are stored between stages; 0 for fp32 */
} job;

/* The vector at `from`, a query's or a key's, rotated by its position. Returns its norm. */
static double load_rotated(const job *j, const float *from, int64_t position, double *to,
                           bool is_key)
{
    const int half = j->R / 2;
    const int64_t row = kf_mistaken_position(is_key, position, j->s->Sk - j->s->Sq);
    double norm2 = 0.0;
    for (int d = 0; d < j->s->D; d++)
        norm2 += (double)from[d] * from[d];
    for (int d = 0; d < j->s->D; d++)
        to[d] = from[d];
    if (half > 0)
        kf_rotate(is_key, to, j->R, j->cosines + row * half, j->sines + row * half);
    return sqrt(norm2); /* a rotation does not change it */
}

static void key_row(void *context, int64_t row)
{
    const job *j = context;
    int D = j->s->D;
    double *key = j->keys + row * D;
    j->key_norm[row] = load_rotated(j, j->k + row * D, row % j->s->Sk, key, true);
    for (int d = 0; j->plain_keys && d < D; d++)
        j->plain_keys[row * D + d] = kf_round_to(j->dtype, (float)key[d]);
}

/* Returns a.b and stores |a|.|b|. Four independent sums keep the processor busy. */
static double dot(const double *a, const double *b, int n, double *abs_dot)
{
    double sum[4] = {0}, abs_sum[4] = {0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int lane = 0; lane < 4; lane++) {
            double product = a[i + lane] * b[i + lane];
            sum[lane] += product;
            abs_sum[lane] += fabs(product);
        }
    for (; i < n; i++) {
        sum[0] += a[i] * b[i];
        abs_sum[0] += fabs(a[i] * b[i]);
    }
    *abs_dot = abs_sum[0] + abs_sum[1] + abs_sum[2] + abs_sum[3];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static double plain_error_of_row(const job *j, const double *query, int64_t first, int64_t keys,
                                 const double *want)
{
    int D = j->s->D;
    float *q = kf_alloc(2 * D, sizeof *q), *o = q + D;
    for (int d = 0; d < D; d++)
        q[d] = kf_round_to(j->dtype, (float)query[d]);
    kf_plain_attention_row(j->dtype, D, keys, q, j->plain_keys + first * D, j->v + first * D, o);
    double worst = 0.0;
    for (int d = 0; d < D; d++)
        worst = fmax(worst, fabs(o[d] - want[d]));
    free(q);
    return worst;
}

double kf_product_off(int D, const float *q, const float *q_off, const float *k, const float *k_off)
{
    double off = 0.0;
    for (int d = 0; d < D; d++)
        off += fabs((double)q[d]) * k_off[d] + q_off[d] * (fabs((double)k[d]) + k_off[d]);
    return off;
}

/* The scores of a query, the error bounds of each in fp32 (fine) and if it is stored in the type
 * (ds). Returns the largest score. */
static double score_row(const job *j, const double *query, double norm, int64_t row, int64_t keys,
                        double *score, double *ds, double *fine)
{
    int D = j->s->D, R = j->R;
    int64_t first = row / j->s->Sq * j->s->Sk;
    double u = kf_unit_roundoff(KF_F32); /* sums are fp32 for every type */
    double t = j->rounding, stages = (1 + t) * (1 + t) * (1 + t), operands = R > 0 ? 2.0 * t : 0.0;
    double scale = kf_mistake == KF_NOT_SCALED ? 1.0 : 1.0 / sqrt((double)D), largest = -INFINITY;
    for (int64_t i = 0; i < keys; i++) {
        double abs_dot, norms = norm * j->key_norm[first + i];
        score[i] = scale * dot(query, j->keys + (first + i) * D, D, &abs_dot);
        fine[i] = kf_score_error(D, R, u, abs_dot, norms, j->angle_error);
        if (j->q_off)
            fine[i] += scale * kf_product_off(D, j->q + row * D, j->q_off + row * D,
                                              j->k + (first + i) * D, j->k_off + (first + i) * D);
        ds[i] = stages * (fine[i] + operands * scale * abs_dot) + t * fabs(score[i]) + j->half_step;
        largest = fmax(largest, score[i]);
    }
    return largest;
}

/* The floor of a row's bounds in low precision; the caller frees it. p: the row's probabilities. */
static double *floor_of_row(const job *j, int64_t row, int64_t first, int64_t keys, const double *p,
                            const double *fine)
{
    int D = j->s->D;
    double u = kf_unit_roundoff(KF_F32), t = j->rounding, least_sum = 0.0;
    double *floor = kf_alloc(3 * D, sizeof *floor), *sizes = floor + D, *squares = sizes + D;
    for (int64_t i = 0; i < keys; i++)
        least_sum += p[i] * exp(-fine[i]);
    for (int64_t i = 0; i < keys; i++) {
        const float *value = j->v + (first + i) * D;
        double relative = probability_error(fine[i], least_sum, keys, u);
        double rounded = (1 + relative) * (t * p[i] + j->half_step);
        for (int d = 0; d < D; d++) {
            double size = rounded * fabs(value[d]);
            floor[d] += p[i] * relative * fabs(value[d]);
            sizes[d] += size;
            squares[d] += size * size;
        }
    }
    for (int d = 0; d < D; d++) {
        floor[d] += fmin(sizes[d], kf_uniform_sum(squares[d]));
        floor[d] = (1 + t) * floor[d] + t * fabs(j->want[row * D + d]) + j->half_step;
    }
    return floor;
}

static void lse_of_row(const job *j, int64_t row, int64_t keys, const double *p, const double *fine,
                       double largest, double sum)
{
    double u = kf_unit_roundoff(KF_F32), more = 0.0;
    for (int64_t i = 0; i < keys; i++)
        more += p[i] * expm1(fine[i]);
    j->lse[row] = largest + log(sum);
    j->lse_bound[row] =
        log1p(more) + kf_gamma(keys, u) + 8.0 * u + 4.0 * u * (fabs(largest) + log(sum));
}

/* Lowers the bounds of a row from those derived for the plain implementation to twice its actual
 * error, but not below the floor. If its error is above what was derived, the bounds become
 * twice the derived ones. */
static void lower_bounds(const job *j, int64_t row, double plain_error, const double *floor)
{
    double *bound = j->bound + row * j->s->D, u = kf_unit_roundoff(j->dtype);
    for (int d = 0; d < j->s->D; d++) {
        double twice = 2.0 * plain_error + u * fabs(j->want[row * j->s->D + d]);
        bound[d] = fmin(2.0 * bound[d], fmax(floor[d], twice));
    }
}

static void query_row(void *context, int64_t row)
{
    const job *j = context;
    const kf_shape *s = j->s;
    int D = s->D;
    int64_t first = row / s->Sq * s->Sk; /* the head's first key */
    int64_t keys = kf_visible_keys(s, row % s->Sq);
    double *want = j->want + row * D, *bound = j->bound + row * D;
    if (!j->checked[row])
        return;
    memset(want, 0, (size_t)D * sizeof *want);
    memset(bound, 0, (size_t)D * sizeof *bound);
    if (j->lse && keys == 0) {
        j->lse[row] = -INFINITY;
        j->lse_bound[row] = 0.0;
    }
    if (keys == 0)
        return;
    double *query = kf_alloc(D, sizeof *query), *p = kf_alloc(3 * keys, sizeof *p);
    double *ds = p + keys, *fine = ds + keys, sum = 0.0, least_sum = 0.0;
    int64_t position = s->Sk - s->Sq + row % s->Sq;
    double norm = load_rotated(j, j->q + row * D, position, query, false);
    double largest = score_row(j, query, norm, row, keys, p, ds, fine);
    double u = kf_unit_roundoff(KF_F32), t = j->rounding;
    for (int64_t i = 0; i < keys; i++)
        sum += p[i] = exp(p[i] - largest);
    for (int64_t i = 0; i < keys; i++) {
        p[i] /= sum;
        least_sum += p[i] * exp(-ds[i]);
    }
    for (int64_t i = 0; i < keys; i++) {
        const float *value = j->v + (first + i) * D;
        double relative = probability_error(ds[i], least_sum, keys, u);
        double error = p[i] * (relative + t * (1 + relative)) + j->half_step;
        for (int d = 0; d < D; d++) {
            want[d] += p[i] * value[d];
            bound[d] += error * fabs(value[d]);
        }
    }
    for (int d = 0; d < D && kf_mistake == KF_NOT_NORMALISED; d++) {
        want[d] *= sum;
        bound[d] *= sum;
    }
    for (int d = 0; d < D; d++) /* the result is rounded too */
        bound[d] = (1 + t) * bound[d] + kf_unit_roundoff(j->dtype) * fabs(want[d]) + j->half_step;
    if (j->plain_keys) {
        double *floor = floor_of_row(j, row, first, keys, p, fine);
        lower_bounds(j, row, plain_error_of_row(j, query, first, keys, want), floor);
        free(floor);
    }
    if (j->lse)
        lse_of_row(j, row, keys, p, fine, largest, sum);
    free(query);
    free(p);
}

/* The most rotated keys, in fp64: 2 GiB. */
static const int64_t MOST_FLOATS = 1 << 28;

void kf_attention_reference(kf_run *run)
{
    kf_attention_reference_lse(run, NULL);
}

static void reference_of(kf_run *run, const kf_operands *of, int R, kf_tensor *lse)
{
    const kf_shape *s = &run->shape;
    const kf_tensor *o = kf_find(run, "o");
    const float *v = of->v ? of->v : kf_find(run, "v")->host;
    int64_t heads = of->v ? of->heads : (int64_t)s->B * s->H, D = s->D, half = R / 2;
    int64_t first = of->v ? of->first * s->Sq : 0; /* row */
    int64_t positions = s->Sq > s->Sk ? s->Sq : s->Sk;
    int64_t fit = MOST_FLOATS / (s->Sk * D), at_once = fit < 1 ? 1 : fit < heads ? fit : heads;
    kf_sample_rows(o->checked + first, heads, s->Sq, (double)s->Sk * s->D, run->seed);
    for (int64_t row = first; row < first + heads * s->Sq; row++) /* rows without keys are free */
        o->checked[row] |= kf_visible_keys(s, row % s->Sq) == 0;
    if (lse)
        memcpy(lse->checked, o->checked, (size_t)o->rows * sizeof *o->checked);

    double *cosines = kf_alloc(positions * half, sizeof *cosines);
    double *sines = kf_alloc(positions * half, sizeof *sines);
    if (half > 0)
        kf_rope_fp64(s->pos0, positions, R, cosines, sines);
    job j = {.s = s,
             .R = R,
             .dtype = o->dtype,
             .angle_error = run->extra_error,
             .cosines = cosines,
             .sines = sines};
    j.keys = kf_alloc(at_once * s->Sk * D, sizeof *j.keys);
    j.key_norm = kf_alloc(at_once * s->Sk, sizeof *j.key_norm);
    if (o->dtype != KF_F32) {
        j.plain_keys = kf_alloc(at_once * s->Sk * D, sizeof *j.plain_keys);
        j.rounding = kf_unit_roundoff(o->dtype);
        j.half_step = o->dtype == KF_F16 ? 0x1p-25 : 0.0; /* bf16's is far below any value here */
    }
    for (int64_t head = 0; head < heads; head += at_once) {
        int64_t n = heads - head < at_once ? heads - head : at_once;
        j.q = of->q + head * s->Sq * D;
        j.k = of->k + head * s->Sk * D;
        j.q_off = of->q_off ? of->q_off + head * s->Sq * D : NULL;
        j.k_off = of->k_off ? of->k_off + head * s->Sk * D : NULL;
        int64_t row = first + head * s->Sq;
        j.v = v + head * s->Sk * D;
        j.want = o->want + row * D;
        j.bound = o->bound + row * D;
        j.checked = o->checked + row;
        j.lse = lse ? lse->want + row : NULL;
        j.lse_bound = lse ? lse->bound + row : NULL;
        kf_parallel(n * s->Sk, key_row, &j);
        kf_parallel(n * s->Sq, query_row, &j);
    }
    free(j.keys);
    free(j.key_norm);
    free(j.plain_keys);
    free(cosines);
    free(sines);
}

void kf_attention_reference_lse(kf_run *run, kf_tensor *lse)
{
    const kf_operands of = {.q = kf_find(run, "q")->host, .k = kf_find(run, "k")->host};
    reference_of(run, &of, run->shape.R, lse);
}

void kf_attention_reference_of(kf_run *run, const kf_operands *of, kf_tensor *lse)
{
    reference_of(run, of, 0, lse);
}
