/* gelu.cu: GELU of common/neox, a function of one half, of all 65,536 of them, against x Phi(x) in
 * fp64. Another GELU, such as that by tanh, is off by up to 5e-4: less than a step of a half above
 * 1, so a bound of a whole model may not tell it from this one. TAP, as the unit tests. */
#include "neox/layers.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <vector>

enum { HALVES = 1 << 16 };

static int count;

static void ok(bool good, const char *what, int wrong)
{
    printf("%s %d - %s: %d\n", good ? "ok" : "not ok", ++count, what, wrong);
}

static float value_of(int i)
{
    const unsigned short bits = (unsigned short)i;
    __half h;
    memcpy((void *)&h, &bits, sizeof h);
    return __half2float(h);
}

/* Half of the distance of two halves where this one lies. */
static double half_step(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1.0, (exponent < -13 ? -13 : exponent) - 12);
}

/* erff is off by 2 units in the last place of a number up to 1 (CUDA C++ Programming Guide), so by
 * 2 u, with u = 2^-24; for its argument, rounded, and 1 / sqrt(2), rounded, it is off by 2 u w 2 /
 * sqrt(pi) exp(-w^2) more, 1 u at most; and 1 is added: 2 u of the sum. The half of x, times that,
 * rounds twice. */
static bool is_right(double x, double got)
{
    const double u = 0x1p-24, exact = x * 0.5 * erfc(-x * sqrt(0.5));
    const double off = 0.5 * fabs(x) * 5.0 * u + 2.0 * u * fabs(exact);
    if (x != x || x == -INFINITY)
        return got != got;
    if (fabs(exact) >= 65520.0)
        return got == exact || isinf(got);
    return fabs(got - exact) <= off + half_step(fabs(exact) + off);
}

/* What a GELU that is known to be another one is called here: 0 by tanh, 1 by a sigmoid, 2 of x. */
static double other(int which, double x)
{
    if (which == 0)
        return 0.5 * x * (1.0 + tanh(sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    return which == 1 ? x / (1.0 + exp(-1.702 * x)) : x > 0.0 ? x : 0.0;
}

int main()
{
    std::vector<unsigned short> host(HALVES);
    half *device;
    for (int i = 0; i < HALVES; i++)
        host[i] = (unsigned short)i;
    CUDA_CHECK(cudaMalloc(&device, HALVES * sizeof *device));
    CUDA_CHECK(cudaMemcpy(device, host.data(), HALVES * sizeof *device, cudaMemcpyHostToDevice));
    gelu<<<HALVES / 256, 256>>>(device, HALVES);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host.data(), device, HALVES * sizeof *device, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    int wrong = 0, caught[3] = {0};
    for (int i = 0; i < HALVES; i++) {
        const float x = value_of(i);
        const bool right = is_right(x, value_of(host[i]));
        if (!right && wrong++ < 5)
            printf("# gelu(%g) is %g\n", x, value_of(host[i]));
        for (int which = 0; which < 3; which++)
            caught[which] += !is_right(x, __half2float(__float2half_rn((float)other(which, x))));
    }
    ok(wrong == 0, "GELU of each half is x Phi(x)", wrong);
    ok(caught[0] > 1000, "and one by tanh is not", caught[0]);
    ok(caught[1] > 1000, "nor one by a sigmoid", caught[1]);
    ok(caught[2] > 1000, "nor the larger of x and 0", caught[2]);
    printf("1..%d\n", count);
    return 0;
}
