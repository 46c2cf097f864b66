/* keys_alone.cuh: the pass over k as a problem of its own: its time is the second part of the
 * limit.
 *
 * k [B][H][Sk][D], cos, sin -> k_rotated, likewise. Rotation in fp32 is off as rope.h says, and the
 * result is rounded to fp16 once.
 */
#pragma once

#include "harness/problem.h"
#include "problems/rope.h"

#include <math.h>
#include <stdlib.h>

namespace keys_alone
{

static void setup(kf_run *run)
{
    const kf_shape s = run->shape;
    const int64_t key[4] = {s.B, s.H, s.Sk, s.D};
    kf_input(run, "k", "BHSD", KF_F16, key);
    kf_rope_tables(run);
    kf_output(run, "k_rotated", "BHSD", KF_F16, key);
}

typedef struct job {
    const kf_tensor *k, *rotated;
    int64_t S, D;
    const double *cosines, *sines; // [S][D/2]
    double angle_error;
} job;

static void rotate_row(void *context, int64_t row)
{
    const job *j = (const job *)context;
    const double u = kf_unit_roundoff(KF_F32), u16 = kf_unit_roundoff(KF_F16);
    const int64_t half = j->D / 2, at = row * j->D, angle = row % j->S * half;
    if (!j->rotated->checked[row]) {
        return;
    }
    for (int64_t i = 0; i < j->D; i++) {
        const double x = j->k->host[at + i], partner = j->k->host[at + (i + half) % j->D];
        const double c = j->cosines[angle + i % half], s = j->sines[angle + i % half];
        const double exact = x * c + (i < half ? -partner : partner) * s;
        const double error = kf_rotation_error(x, partner, c, s, u, j->angle_error);
        j->rotated->want[at + i] = exact;
        j->rotated->bound[at + i] = error + u16 * (fabs(exact) + error) + 0x1p-25;
    }
}

static void reference(kf_run *run)
{
    const kf_shape s = run->shape;
    const kf_tensor *rotated = kf_find(run, "k_rotated");
    const int64_t angles = (int64_t)s.Sk * (s.D / 2);
    double *const cosines = (double *)kf_alloc(2 * angles, sizeof *cosines);
    double *const sines = cosines + angles;
    kf_rope_fp64(s.pos0, s.Sk, s.D, cosines, sines);
    kf_sample_rows(rotated->checked, (int64_t)s.B * s.H, s.Sk, 2.0 * s.D, run->seed);
    job j = {kf_find(run, "k"), rotated, s.Sk, s.D, cosines, sines, run->extra_error};
    kf_parallel(rotated->rows, rotate_row, &j);
    free(cosines);
}

// Each element is read once and written once.
static kf_cost cost(const kf_case *c)
{
    const double elements = (double)c->shape.B * c->shape.H * c->shape.Sk * c->shape.D;
    const kf_cost least = {4.0 * elements, 3.0 * elements, false};
    return least;
}

} // namespace keys_alone
