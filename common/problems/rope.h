/* rope.h: rotary position embedding as a problem: tables, fp64 reference, bounds, cost.
 *
 * angle = position * base^(-2i/R), base 10000 (Su et al. 2021, RoFormer, section 3.2.2), rotates
 * the first R of D dimensions. Pairs are NeoX halves, x[i] with x[i + R/2], or interleaved,
 * x[2i] with x[2i + 1]. */
#pragma once

#include "harness/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Inputs of kernels that rotate ------------------------------------------------------------ */

/* Tables: cos and sin [P][R/2] in fp32, row p for position pos0 + p, P = max(Sq, Sk), computed
 * in fp64 and rounded once. With R = 0 they are [1][1], for kernels that need a pointer. */
void kf_rope_tables(kf_run *run);
/* A cache of rotated keys: input k_cache, shaped like k, which is already declared. Each row of
 * k is rotated in fp64 and rounded once. The newest Sq rows are NaN until a kernel appends them. */
void kf_rope_cache(kf_run *run);

/* --- RoPE alone ------------------------------------------------------------------------------- */

/* Input x, output y, [B][S][D] in fp32, S = Sq = Sk, H = 1, R = D. Row s of each batch is at
 * position pos0 + s. Bytes: x read and y written once. Flops: 3 per element. */
void kf_rope_setup(kf_run *run);
void kf_rope_reference(kf_run *run);
void kf_rope_reference_interleaved(kf_run *run);
kf_cost kf_rope_cost(const kf_case *c);

/* --- In fp64 ---------------------------------------------------------------------------------- */

double kf_rope_angle(int64_t position, int i, int R);
/* cos and sin of positions pos0 .. pos0 + rows - 1: [rows][R/2] each. */
void kf_rope_fp64(int pos0, int64_t rows, int R, double *cosines, double *sines);
/* x [R], whose pairs are (i, i + R/2): a query, or a key, in place. */
void kf_rotate(bool is_key, double *x, int R, const double *cosines, const double *sines);
/* (*first, *second), rotated by an angle with these cosine and sine, or as kf_mistake does it. */
void kf_rotate_pair(bool is_key, double cosine, double sine, double *first, double *second);
/* The row of the tables for `position`; `first` is that of a head's first query. Likewise. */
int64_t kf_mistaken_position(bool is_key, int64_t position, int64_t first);

/* --- Bounds: derived in rope.c ---------------------------------------------------------------- */

/* The largest error of cos and sin if position * powf(base, -2i/R) is computed in fp32, at
 * positions up to the shape's last: with sincosf, or with __sincosf (fast). */
double kf_fp32_angle_error(const kf_shape *shape, bool fast);
/* The error bound of x1 cos - x2 sin and x1 cos + x2 sin; c and s are the exact cosine and sine. */
double kf_rotation_error(double x1, double x2, double c, double s, double u, double angle_error);

#ifdef __cplusplus
}
#endif
