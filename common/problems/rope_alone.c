/* rope_alone.c: RoPE alone, in fp64, in both layouts, and the bound of every element.
 * x [B][S][D] -> want, bound [B][S][D], row s of each batch at position pos0 + s, R = D */
#include "rope.h"
#include <stdlib.h>

void kf_rope_setup(kf_run *run)
{
    const kf_shape *s = &run->shape;
    if (s->R != s->D || s->R % 2 || s->H != 1 || s->Sq != s->Sk || s->pos0 < 0)
        kf_die(KF_WRONG, "case %s: RoPE alone has H = 1, Sq = Sk, R = D, D even and pos0 >= 0",
               run->c->name);
    int64_t dim[3] = {s->B, s->Sq, s->D};
    kf_input(run, "x", "BSD", KF_F32, dim);
    kf_output(run, "y", "BSD", KF_F32, dim);
}

kf_cost kf_rope_cost(const kf_case *c)
{
    const kf_shape *s = &c->shape;
    double elements = (double)s->B * s->Sq * s->D;
    return (kf_cost){.bytes = 8.0 * elements, .flops = 3.0 * elements};
}

typedef struct job {
    const kf_tensor *x, *y;
    int64_t S, D;
    int next, other; /* pair i is x[next i] and x[next i + other] */
    double angle_error;
    const double *cosines, *sines; /* [S][D/2] */
} job;

static void rotate_row(void *context, int64_t row)
{
    const job *j = context;
    if (!j->y->checked[row])
        return;
    const double u = kf_unit_roundoff(KF_F32);
    const float *x = j->x->host + row * j->D;
    double *want = j->y->want + row * j->D, *bound = j->y->bound + row * j->D;
    const double *cosines = j->cosines + row % j->S * (j->D / 2);
    const double *sines = j->sines + row % j->S * (j->D / 2);
    for (int i = 0; i < j->D / 2; i++) {
        int first = j->next * i, second = first + j->other;
        double a = x[first], b = x[second], c = cosines[i], s = sines[i];
        want[first] = a;
        want[second] = b;
        kf_rotate_pair(false, c, s, &want[first], &want[second]);
        bound[first] = kf_rotation_error(a, b, c, s, u, j->angle_error);
        bound[second] = kf_rotation_error(b, a, c, s, u, j->angle_error);
    }
}

static void reference(kf_run *run, int next, int other)
{
    const kf_shape *s = &run->shape;
    const kf_tensor *y = kf_find(run, "y");
    int64_t pairs = (int64_t)s->Sq * (s->R / 2);
    double *cosines = kf_alloc(pairs, sizeof *cosines), *sines = kf_alloc(pairs, sizeof *sines);
    kf_rope_fp64(s->pos0, s->Sq, s->R, cosines, sines);
    kf_sample_rows(y->checked, s->B, s->Sq, 2.0 * s->D, run->seed);
    job j = {.x = kf_find(run, "x"),
             .y = y,
             .S = s->Sq,
             .D = s->D,
             .next = next,
             .other = other,
             .angle_error = run->extra_error,
             .cosines = cosines,
             .sines = sines};
    kf_parallel(y->rows, rotate_row, &j);
    free(cosines);
    free(sines);
}

void kf_rope_reference(kf_run *run)
{
    const bool neighbours = kf_mistake == KF_NEIGHBOURS;
    reference(run, neighbours ? 2 : 1, neighbours ? 1 : run->shape.D / 2);
}

void kf_rope_reference_interleaved(kf_run *run)
{
    reference(run, 2, 1);
}
