/* tolerance.c: how far rounding may put a sum of products from the exact one, from the type's unit
 * roundoff u and the length of the sum. The bounds of outputs are derived from that where their
 * references are: attention.c and rope.c in common/problems.
 *
 * Sums. Higham and Mary (A new approach to probabilistic rounding error analysis, SIAM J. Sci.
 * Comput. 41(5), 2019, theorem 3.1): if the rounding errors are independent with mean zero, an
 * inner product of length n computed in any order is within gamma(n) |a|.|b| of the exact one,
 *     gamma(n) = exp(lambda sqrt(n) u + n u^2 / (1 - u)) - 1,
 * with probability at least 1 - 2 n exp(-lambda^2 (1 - u)^2 / 2). With lambda = 8 an inner product
 * of length 2048 escapes with probability 5e-11: a run of 10^6 of them fails once in 20,000 runs.
 * (The theorem holds for each n; tests/harness/unit_reference.c shows how far below it one stays.)
 *
 * Errors that are known to be uniform within half a step h each, such as those of a type that
 * values are rounded to, have the variance h^2 / 3 and tails no heavier than a normal variable's of
 * that variance. Their sum is within lambda sqrt(sum of h^2 / 3) with probability 1 - 2
 * exp(-lambda^2 / 2): one in 4e13 escapes.
 */
#include "harness/base/base.h"
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

double kf_uniform_sum(double squares)
{
    return LAMBDA * sqrt(squares / 3.0);
}
