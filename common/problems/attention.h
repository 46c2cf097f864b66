/* attention.h: attention as a problem: o = softmax(q k^T / sqrt(D)) v, with or without RoPE.
 *
 * q [B][H][Sq][D], k and v [B][H][Sk][D] -> o [B][H][Sq][D]. Key j is at position pos0 + j,
 * query i at position pos0 + Sk - Sq + i, so the last query and the last key share a position.
 * causal: a query sees the keys whose position is not larger than its own. A query that sees no
 * key (causal with Sq > Sk) has the result 0. RoPE rotates the first R of D dimensions of q and
 * k; R = 0 means no RoPE. */
#pragma once

#include "harness/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A flag of a case: q is 64 times as large, so exp of a score overflows unless the maximum is
 * subtracted. */
enum { KF_STEEP = KF_OF_PROBLEM };

/* Inputs q, k, v and output o, fp32. With R > 0 the result is attention over rotated q and k; no
 * table is declared. The run's extra error is the error of a cosine or sine. */
void kf_attention_setup(kf_run *run);
void kf_attention_reference(kf_run *run);
/* The same, and the reference of lse [B][H][Sq][1] unless it is NULL: see flash.h. */
void kf_attention_reference_lse(kf_run *run, kf_tensor *lse);
/* q and k as the product takes them, already rotated and rounded. off: by how much an element of
 * a right kernel may differ; NULL: by nothing. v NULL: these are all heads, and v is the
 * input's. Otherwise, for a case whose keys are not on the host: only `heads` heads from `first`
 * on, with their values. */
typedef struct kf_operands {
    const float *q, *k, *q_off, *k_off, *v;
    int64_t first, heads;
} kf_operands;
void kf_attention_reference_of(kf_run *run, const kf_operands *of, kf_tensor *lse);
/* For a query and a key [D]: how far off their product may be for that reason. */
double kf_product_off(int D, const float *q, const float *q_off, const float *k,
                      const float *k_off);
int64_t kf_visible_keys(const kf_shape *s, int64_t query); /* how many keys a query sees */
/* Bytes: q, k, v read and o written once. Flops: 4 Sq Sk D per head (Dao et al. 2022), with a
 * causal mask only for the pairs that it leaves, plus 3 per rotated element. */
kf_cost kf_attention_cost(const kf_case *c);

/* --- Bounds: derived in attention.c ----------------------------------------------------------- */

/* abs_dot: |q|.|k|; norms: |q|_2 |k|_2. */
double kf_score_error(int D, int R, double u, double abs_dot, double norms, double angle_error);

/* --- The plain implementation that low precision is compared with (plain.c) ------------------- */

/* One query row in dtype: scores and probabilities are rounded to dtype, sums are fp32. q [D], k
 * and v [keys][D] of one head, already rotated and rounded. */
void kf_plain_attention_row(enum kf_dtype dtype, int D, int64_t keys, const float *q,
                            const float *k, const float *v, float *o);

#ifdef __cplusplus
}
#endif
