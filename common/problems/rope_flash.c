/* rope_flash.c: q and k rotated in fp64 and rounded once, and the elements that a right kernel may
 * round to a neighbour.
 *
 * A kernel rotates in fp32: its y is off by at most e (rope.c), and is then rounded to fp16. The
 * exact y is rounded to r. All numbers from y - e to y + e round to r, unless the middle between
 * r and a neighbour is among them: then the kernel may get that neighbour, and the element is
 * off by the distance to r. This happens to about one element in a thousand. flash.c and
 * flash_backward.c derive the other bounds for all elements. */
#include "rope_flash.h"
#include "rope.h"
#include <math.h>
#include <stdlib.h>

typedef struct rotation {
    const kf_shape *s;
    const float *from;       /* [heads][S][D] */
    float *to, *off;         /* likewise; NULL: not wanted */
    const kf_tensor *result; /* gets want and bound; NULL: not wanted */
    int64_t S, first;        /* first: row of the tables of a head's first row */
    bool is_key;
    const double *cosines, *sines; /* [Sk][D/2] */
    double angle_error;
} rotation;

static float half_of(double value)
{
    return kf_round_to(KF_F16, (float)value);
}

static void rotate_row(void *context, int64_t row)
{
    const rotation *t = context;
    const double u = kf_unit_roundoff(KF_F32), u16 = kf_unit_roundoff(KF_F16);
    const bool neighbours = kf_mistake == KF_NEIGHBOURS;
    int64_t D = t->s->D, half = D / 2;
    int64_t at = kf_mistaken_position(t->is_key, t->first + row % t->S, t->first) * half;
    if (t->result && !t->result->checked[row])
        return;
    for (int64_t i = 0; i < D; i++) {
        int64_t pair = neighbours ? i / 2 : i % half, other = neighbours ? i ^ 1 : (i + half) % D;
        double c = t->cosines[at + pair], s = t->sines[at + pair];
        double a = t->from[row * D + i], b = t->from[row * D + other];
        double first = i < other ? a : b, second = i < other ? b : a;
        kf_rotate_pair(t->is_key, c, s, &first, &second);
        double exact = i < other ? first : second;
        float rounded = half_of(exact);
        if (t->to)
            t->to[row * D + i] = rounded;
        double e = kf_rotation_error(a, b, c, s, u, t->angle_error);
        if (t->result) {
            t->result->want[row * D + i] = exact;
            t->result->bound[row * D + i] = e + u16 * (fabs(exact) + e) + 0x1p-25;
        }
        if (t->off) {
            double below = rounded - half_of(exact - e), above = half_of(exact + e) - rounded;
            t->off[row * D + i] = (float)fmax(below, above);
        }
    }
}

/* Rotates rows of q or k; to, off: [rows][D] or NULL. */
static void rotate_rows(const kf_run *run, bool is_query, const float *from, int64_t rows,
                        const double *cosines, const double *sines, float *to, float *off)
{
    const kf_shape *s = &run->shape;
    rotation t = {.s = s,
                  .from = from,
                  .to = to,
                  .off = off,
                  .S = is_query ? s->Sq : s->Sk,
                  .first = is_query ? s->Sk - s->Sq : 0,
                  .is_key = !is_query,
                  .cosines = cosines,
                  .sines = sines,
                  .angle_error = run->extra_error};
    kf_parallel(rows, rotate_row, &t);
}

static void rotate_tensor(const kf_run *run, const char *name, const double *cosines,
                          const double *sines, float *to, float *off)
{
    const kf_tensor *x = kf_find(run, name);
    rotate_rows(run, name[0] == 'q', x->host, x->rows, cosines, sines, to, off);
}

/* cos and sin [Sk][D/2] in one array, which the caller frees. */
static double *angles(const kf_run *run)
{
    const kf_shape *s = &run->shape;
    int64_t n = (int64_t)s->Sk * (s->D / 2);
    double *both = kf_alloc(2 * n, sizeof *both);
    kf_rope_fp64(s->pos0, s->Sk, s->D, both, both + n);
    return both;
}

/* Rotates the rows of q or k back, so that their rotation gives what they were, but for rounding.
 */
static void rotate_back(const kf_run *run, const char *name, const double *cosines,
                        const double *sines)
{
    const kf_tensor *x = kf_find(run, name);
    const kf_shape *s = &run->shape;
    const int64_t half = s->D / 2, first = name[0] == 'q' ? s->Sk - s->Sq : 0, S = x->dim[2];
    for (int64_t row = 0; row < x->rows; row++) {
        float *low = x->host + row * s->D, *high = low + half;
        const int64_t at = (first + row % S) * half;
        for (int64_t i = 0; i < half; i++) {
            const double a = low[i], b = high[i], c = cosines[at + i], si = sines[at + i];
            low[i] = half_of(a * c + b * si);
            high[i] = half_of(b * c - a * si);
        }
    }
}

void kf_rope_flash_setup(kf_run *run)
{
    const kf_shape *s = &run->shape;
    if (s->R != s->D || s->D % 16 || s->Sq > s->Sk || s->pos0 < 0)
        kf_die(KF_WRONG,
               "case %s: R = %d, D = %d, Sq = %d, Sk = %d, pos0 = %d; R = D, a multiple of 16, Sq "
               "<= Sk and pos0 >= 0 are right",
               run->c->name, s->R, s->D, s->Sq, s->Sk, s->pos0);
    kf_flash_declare(run);
    kf_rope_tables(run);
    const kf_tensor *q = kf_find(run, "q"), *k = kf_find(run, "k");
    double *both = angles(run), *sines = both + (int64_t)s->Sk * (s->D / 2);
    if (run->c->flags & KF_ONE_HOT) {
        rotate_back(run, "q", both, sines);
        rotate_back(run, "k", both, sines);
    }
    rotate_tensor(run, "q", both, sines,
                  kf_zero_input(run, "q_prerotated", q->axes, KF_F16, q->dim)->host, NULL);
    rotate_tensor(run, "k", both, sines,
                  kf_zero_input(run, "k_prerotated", k->axes, KF_F16, k->dim)->host, NULL);
    free(both);
    kf_scratch(run, "q_rotated", q->axes, KF_F16, q->dim);
    kf_scratch(run, "k_rotated", k->axes, KF_F16, k->dim);
}

/* q and k as the product takes them. The four are in one array, which begins with q_off, and which
 * the caller frees. */
static kf_operands operands(const kf_run *run, const double *cosines, const double *sines)
{
    const int64_t q = kf_find(run, "q")->count, n = q + kf_find(run, "k")->count;
    float *off = kf_alloc(2 * n, sizeof *off), *rotated = off + n;
    rotate_tensor(run, "q", cosines, sines, rotated, off);
    rotate_tensor(run, "k", cosines, sines, rotated + q, off + q);
    return (kf_operands){.q = rotated, .k = rotated + q, .q_off = off, .k_off = off + q};
}

void kf_rope_flash_reference(kf_run *run)
{
    double *both = angles(run), *sines = both + (int64_t)run->shape.Sk * (run->shape.D / 2);
    kf_operands of = operands(run, both, sines);
    kf_flash_reference_of(run, &of);
    free((void *)of.q_off);
    free(both);
}

void kf_rope_flash_reference_head(kf_run *run, int64_t head, const float *k, const float *v)
{
    const kf_shape *s = &run->shape;
    int64_t queries = (int64_t)s->Sq * s->D, keys = (int64_t)s->Sk * s->D;
    double *both = angles(run), *sines = both + keys / 2;
    float *q_rotated = kf_alloc(2 * (queries + keys), sizeof *q_rotated);
    float *k_rotated = q_rotated + queries, *q_off = k_rotated + keys, *k_off = q_off + queries;
    rotate_rows(run, true, kf_find(run, "q")->host + head * queries, s->Sq, both, sines, q_rotated,
                q_off);
    rotate_rows(run, false, k, s->Sk, both, sines, k_rotated, k_off);
    const kf_operands of = {q_rotated, k_rotated, q_off, k_off, v, head, 1};
    kf_flash_reference_of(run, &of);
    free(q_rotated);
    free(both);
}

static kf_case without_rotation(const kf_case *c)
{
    kf_case plain = *c;
    plain.shape.R = 0;
    return plain;
}

kf_cost kf_rope_flash_cost(const kf_case *c)
{
    kf_case plain = without_rotation(c);
    return kf_flash_cost(&plain);
}

void kf_rope_flash_backward_setup(kf_run *run, kf_launch *forward)
{
    kf_inputs_from(run, kf_rope_flash_setup, kf_rope_flash_reference,
                   run->c->flags & KF_LARGE ? forward : NULL);
    kf_flash_backward_declare(run);
}

void kf_rope_flash_backward_reference(kf_run *run)
{
    double *both = angles(run), *sines = both + (int64_t)run->shape.Sk * (run->shape.D / 2);
    kf_operands of = operands(run, both, sines);
    kf_flash_backward_reference_of(run, &of, both, sines);
    free((void *)of.q_off);
    free(both);
}

kf_cost kf_rope_flash_backward_cost(const kf_case *c)
{
    kf_case plain = without_rotation(c);
    return kf_flash_backward_cost(&plain);
}

void kf_rope_keys_setup(kf_run *run)
{
    const kf_shape *s = &run->shape;
    int64_t key[4] = {s->B, s->H, s->Sk, s->D};
    kf_input(run, "k", "BHSD", KF_F16, key);
    kf_rope_tables(run);
    kf_output(run, "k_rotated", "BHSD", KF_F16, key);
}

void kf_rope_keys_reference(kf_run *run)
{
    const kf_shape *s = &run->shape;
    kf_tensor *rotated = kf_find(run, "k_rotated");
    double *both = angles(run);
    kf_sample_rows(rotated->checked, (int64_t)s->B * s->H, s->Sk, 2.0 * s->D, run->seed);
    rotation t = {.s = s,
                  .is_key = true,
                  .from = kf_find(run, "k")->host,
                  .result = rotated,
                  .S = s->Sk,
                  .cosines = both,
                  .sines = both + (int64_t)s->Sk * (s->D / 2),
                  .angle_error = run->extra_error};
    kf_parallel(rotated->rows, rotate_row, &t);
    free(both);
}

kf_cost kf_rope_keys_cost(const kf_case *c)
{
    double elements = (double)c->shape.B * c->shape.H * c->shape.Sk * c->shape.D;
    return (kf_cost){.bytes = 4.0 * elements, .flops = 3.0 * elements};
}
