/* rope_angle.cu: cosines and sines of rope_angle.cuh against long double, at every 13th position up
 * to 131071 and far beyond, for all pairs; and what they are made of, each by itself: frequencies
 * and angles in revolutions. In the sum of all errors a few bits less of an angle do not show. TAP,
 * as the unit tests. */
#include "cuda/rope_angle.cuh"

#include <stdio.h>
#include <vector>

static int count;

static void ok(bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", ++count, what);
}

__global__ void frequencies(rope_frequency *frequency, int R)
{
    frequency[threadIdx.x] = rope_frequency_of(threadIdx.x, R);
}

__global__ void revolutions_of(const rope_frequency *frequency, int stride, float *revolutions)
{
    revolutions[blockIdx.x * blockDim.x + threadIdx.x] =
        rope_revolutions(stride * blockIdx.x, frequency[threadIdx.x]);
}

template <bool fast>
__global__ void cos_sin(const rope_frequency *frequency, int stride, float *cosine, float *sine)
{
    const int position = stride * blockIdx.x;
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (fast) {
        rope_cos_sin_fast(position, frequency[threadIdx.x], &cosine[at], &sine[at]);
    } else {
        rope_cos_sin(position, frequency[threadIdx.x], &cosine[at], &sine[at]);
    }
}

struct worst {
    double accurate, fp32; /* ours; and of an angle rounded to fp32, its functions exact */
};

template <bool fast>
static worst compare(int R, int positions, int stride)
{
    const int half = R / 2, all = positions * half;
    rope_frequency *frequency;
    float *cosine, *sine;
    CUDA_CHECK(cudaMalloc(&frequency, half * sizeof *frequency));
    CUDA_CHECK(cudaMalloc(&cosine, all * sizeof *cosine));
    CUDA_CHECK(cudaMalloc(&sine, all * sizeof *sine));
    frequencies<<<1, half>>>(frequency, R);
    CUDA_CHECK_LAUNCH();
    cos_sin<fast><<<positions, half>>>(frequency, stride, cosine, sine);
    CUDA_CHECK_LAUNCH();
    std::vector<float> c(all), s(all);
    CUDA_CHECK(cudaMemcpy(c.data(), cosine, all * sizeof *cosine, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(s.data(), sine, all * sizeof *sine, cudaMemcpyDeviceToHost));
    worst w = {0.0, 0.0};
    for (int i = 0; i < half; i++) {
        const long double step = powl(10000.0L, -2.0L * i / R);
        for (int p = 0; p < positions; p++) {
            const long double angle = step * stride * p, exact_c = cosl(angle),
                              exact_s = sinl(angle);
            const float rounded = (float)stride * p * powf(10000.0f, -2.0f * i / R);
            const int at = p * half + i;
            w.accurate = fmax(w.accurate, (double)fabsl(c[at] - exact_c));
            w.accurate = fmax(w.accurate, (double)fabsl(s[at] - exact_s));
            w.fp32 = fmax(w.fp32, fabs(cos((double)rounded) - (double)exact_c));
        }
    }
    CUDA_CHECK(cudaFree(frequency));
    CUDA_CHECK(cudaFree(cosine));
    CUDA_CHECK(cudaFree(sine));
    return w;
}

/* The most that a frequency is off, as a share of what it may be. Relative, in units of 2^-53: the
 * exponent is rounded, and counts as often as it is large, at most ln 10000 = 9.2 times; pow is
 * within 2 units in the last place, 4; 1 / 2 pi and the product are rounded, 2. Less than 16. Then
 * comes the cut to units of 2^-64. */
static double worst_frequency(int R)
{
    const int half = R / 2;
    rope_frequency *frequency;
    CUDA_CHECK(cudaMalloc(&frequency, half * sizeof *frequency));
    frequencies<<<1, half>>>(frequency, R);
    CUDA_CHECK_LAUNCH();
    std::vector<rope_frequency> got(half);
    CUDA_CHECK(cudaMemcpy(got.data(), frequency, half * sizeof *frequency, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(frequency));
    double worst = 0.0;
    for (int i = 0; i < half; i++) {
        const long double want = powl(10000.0L, -2.0L * i / R) * 0.159154943091895335769L;
        const long double off = fabsl(got[i] * 0x1p-64L - want);
        worst = fmax(worst, (double)(off / (16.0L * 0x1p-53L * want + 0x1p-64L)));
    }
    return worst;
}

/* The same of angles, where the frequency is what it is: the product modulo 2^64 is exact. The
 * lower 32 bits are dropped, less than 2^-32 of a revolution, and the rest becomes an fp32 number,
 * which is off by at most 2^-24 of itself. So a small angle is known to 2^-32, and one that had
 * fewer bits would not be. */
static double worst_revolutions(int R, int positions, int stride)
{
    const int half = R / 2, all = positions * half;
    rope_frequency *frequency;
    float *revolutions;
    CUDA_CHECK(cudaMalloc(&frequency, half * sizeof *frequency));
    CUDA_CHECK(cudaMalloc(&revolutions, all * sizeof *revolutions));
    frequencies<<<1, half>>>(frequency, R);
    CUDA_CHECK_LAUNCH();
    revolutions_of<<<positions, half>>>(frequency, stride, revolutions);
    CUDA_CHECK_LAUNCH();
    std::vector<rope_frequency> of(half);
    std::vector<float> got(all);
    CUDA_CHECK(cudaMemcpy(of.data(), frequency, half * sizeof *frequency, cudaMemcpyDeviceToHost));
    CUDA_CHECK(
        cudaMemcpy(got.data(), revolutions, all * sizeof *revolutions, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(frequency));
    CUDA_CHECK(cudaFree(revolutions));
    double worst = 0.0;
    for (int p = 0; p < positions; p++) {
        for (int i = 0; i < half; i++) {
            const uint64_t position = (uint64_t)stride * p;
            const double want = (double)(int64_t)(of[i] * position) * 0x1p-64;
            const double most = 0x1p-32 + 0x1p-24 * (fabs(want) + 0x1p-32);
            worst = fmax(worst, fabs(got[p * half + i] - want) / most);
        }
    }
    return worst;
}

static double bound(int last)
{
    const kf_case c = {.name = "last", .shape = {.D = 2, .R = 2, .pos0 = last}};
    return rope_angle_error(&c);
}

static double fast_bound(int last)
{
    const kf_case c = {.name = "last", .shape = {.D = 2, .R = 2, .pos0 = last}};
    return rope_fast_angle_error(&c);
}

int main()
{
    static const int dimensions[] = {2, 20, 64, 80, 128};
    char what[128];
    for (int R : dimensions) {
        const worst near = compare<false>(R, 10083, 13), far = compare<false>(R, 2000, 149999);
        const worst quick = compare<true>(R, 2017, 65);
        const double frequency = worst_frequency(R);
        const double revolutions =
            fmax(worst_revolutions(R, 10083, 13), worst_revolutions(R, 2000, 149999));
        snprintf(what, sizeof what, "R = %d: frequencies, %.2g of their bound", R, frequency);
        ok(frequency <= 1.0, what);
        snprintf(what, sizeof what, "R = %d: angles in revolutions, %.4g of their bound", R,
                 revolutions);
        ok(revolutions <= 1.0, what);
        snprintf(what, sizeof what, "R = %d: %.2g up to position 131071", R, near.accurate);
        ok(near.accurate < bound(131071), what);
        snprintf(what, sizeof what, "R = %d: %.2g up to position 3e8", R, far.accurate);
        ok(far.accurate < bound(299848001), what);
        // Here __sincosf is exact: what remains of its bound is the reduced angle's.
        snprintf(what, sizeof what, "R = %d: %.2g with a product in radians", R, quick.accurate);
        ok(quick.accurate < fast_bound(131071) - exp2(-21.19) + 0x1p-24, what);
        snprintf(what, sizeof what, "R = %d: an fp32 angle is off by %.2g", R, near.fp32);
        ok(R == 2 ? near.fp32 < 1e-15 : near.fp32 > 1000.0 * bound(131071), what);
    }
    ok(bound(131071) < 1e-6 && bound(299848001) < 1e-6 && fast_bound(131071) < 1e-6,
       "and these bounds are below 1e-6");
    const uint64_t exact = 0x28BE60DB9391054A; // 2^64 / 2 pi, of which fp64 holds all but 8 bits
    ok(rope_frequency_of(0, 64) - exact + 256 <= 512, "1 / 2 pi in units of 2^-64");
    printf("1..%d\n", count);
    return 0;
}
