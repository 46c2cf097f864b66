/* tolerance.c: how far rounding may put a right result from the fp64 one. Derived here, and only
 * here, from the type's unit roundoff u and the lengths of the sums.
 *
 * Sums. Higham and Mary (A new approach to probabilistic rounding error analysis, SIAM J. Sci.
 * Comput. 41(5), 2019, theorem 3.1): if the rounding errors are independent with mean zero, an
 * inner product of length n computed in any order is within gamma(n) |a|.|b| of the exact one,
 *     gamma(n) = exp(lambda sqrt(n) u + n u^2 / (1 - u)) - 1,
 * with probability at least 1 - 2 n exp(-lambda^2 (1 - u)^2 / 2). With lambda = 8 an inner product
 * of length 2048 escapes with probability 5e-11: a run of 10^6 of them fails once in 20,000 runs.
 * (The theorem holds for each n; what is measured stays far below it, see tests/harness.)
 *
 * Scores. The score s = scale q.k is off by at most
 *     ds = scale ((gamma(D) + 4 u) |q|.|k| + rope |q|_2 |k|_2),
 * where 4 u pays for the scale, the conversion to a base-2 exponent and the subtracted maximum.
 *
 * Rotation. y1 = x1 cos - x2 sin with cos and sin rounded once: three roundings an element, so each
 * of the pair is off by at most 3 u (|x1 cos| + |x2 sin|) <= 3 u |x|_2 of the pair. Summed over the
 * pairs, for q and k both, that is 2 * sqrt(2) * 3 u |q|_2 |k|_2: hence rope. If cos and sin are
 * each off by e more, the pair is off by at most e (|x1| + |x2|) in each element: 2 * sqrt(2) * e
 * in place of 2 * sqrt(2) * 3 u. It enters in rope_error().
 * Where a rotated element is the result, its own bound is, with g = 3 u / (1 - 3 u) for the three
 * roundings (Higham, Accuracy and Stability of Numerical Algorithms, 2002, lemma 3.1),
 *     g (|x1 cos| + |x2 sin|) + (1 + g) e (|x1| + |x2|).
 *
 * Angles in fp32. position * powf(base, -x), x = 2i/R: powf is off by at most 4 units in the last
 * place, 8 u (CUDA C++ Programming Guide, Mathematical Functions); rounding x costs ln(base) x u,
 * and the product u. So the angle is off by at most position base^-x (9 + 9.3 x) u, which is
 * largest at x = 0: 9 u of the position. sincosf adds 2 units in the last place of a result below
 * 1, so 4 u.
 * __sincosf is documented within 2^-21.19 on [-pi, pi] only. Beyond it the hardware multiplies the
 * angle by a rounded 1 / 2 pi and cuts the product off: u and 2 u of the angle.
 *
 * Output. If each score is off by at most its ds, the probability p_k is off by at most the factor
 * exp(ds_k) / sum_j p_j exp(-ds_j). The two sums over the keys add gamma(keys) each, exp and the
 * division a few u:
 *     bound = sum_k p_k |v_k| (exp(ds_k) / sum_j p_j exp(-ds_j) - 1 + 2 gamma(keys) + 8 u). */
#include "internal.h"
#include <math.h>

static const double LAMBDA = 8.0;

double kf_unit_roundoff(enum kf_dtype dtype)
{
    return dtype == KF_F32 ? 0x1p-24 : dtype == KF_F16 ? 0x1p-11 : 0x1p-8;
}

double kf_gamma(int64_t n, double u)
{
    return expm1(LAMBDA * sqrt((double)n) * u + (double)n * u * u / (1.0 - u));
}

double kf_fp32_angle_error(const kf_shape *s, bool fast)
{
    double u = kf_unit_roundoff(KF_F32), positions = s->Sq > s->Sk ? s->Sq : s->Sk;
    double last = s->pos0 + positions - 1.0;
    return 9.0 * u * last + (fast ? exp2(-21.19) + 3.0 * u * last : 4.0 * u);
}

static double rope_error(int R, double u, double angle_error)
{
    return R > 0 ? 2.0 * sqrt(2.0) * (3.0 * u + angle_error) : 0.0;
}

double kf_rotation_error(double x1, double x2, double c, double s, double u, double angle_error)
{
    double g = 3.0 * u / (1.0 - 3.0 * u);
    return g * (fabs(x1 * c) + fabs(x2 * s)) + (1.0 + g) * angle_error * (fabs(x1) + fabs(x2));
}

double kf_score_error(int D, int R, double u, double abs_dot, double norms, double angle_error)
{
    double error = (kf_gamma(D, u) + 4.0 * u) * abs_dot + rope_error(R, u, angle_error) * norms;
    return error / sqrt((double)D);
}

double kf_weight_error(double score_error, double least_sum, int64_t keys, double u)
{
    return exp(score_error) / least_sum - 1.0 + 2.0 * kf_gamma(keys, u) + 8.0 * u;
}
