/* cuRAND in kernels: XORWOW, Philox4x32-10 and MRG32k3a. Sequences are those of a GPU; see
 * cpu/random.h for normal numbers. */
#pragma once

#include "cuda_runtime.h"
#include "curand.h"
#include "cpu/random.h"

/* g++ does not instrument the store when a call returns a structure: see cpu/numbers/float16.h. */
#ifdef CPU_TRACE
#define CPU_RANDOM __forceinline__
#else
#define CPU_RANDOM inline
#endif

/* Which kind of number is kept of a pair of normal ones. */
enum { CPU_NO_EXTRA, CPU_EXTRA_NORMAL, CPU_EXTRA_LOG_NORMAL };

/* The members have the names and sizes that they have on a GPU. */
struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

template <class State>
inline void cpu_no_extra(State *s)
{
    s->boxmuller_flag = s->boxmuller_flag_double = CPU_NO_EXTRA;
    s->boxmuller_extra = 0;
    s->boxmuller_extra_double = 0;
}

/* --- XORWOW ----------------------------------------------------------------------------------- */

inline void cpu_skip(curandStateXORWOW_t *s, unsigned long long n, int of)
{
    uint32_t v[5] = {s->v[0], s->v[1], s->v[2], s->v[3], s->v[4]};
    cpu_xorwow_skip(v, n, of);
    for (int i = 0; i < 5; i++)
        s->v[i] = v[i];
}
inline void skipahead(unsigned long long n, curandStateXORWOW_t *s)
{
    cpu_skip(s, n, CPU_STEPS);
    s->d += CPU_XORWOW_COUNT * (unsigned)n;
}
inline void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s)
{
    cpu_skip(s, n, CPU_SUBSEQUENCES); /* so many steps that the counter is what it was */
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStateXORWOW_t *s)
{
    cpu_xorwow_seed(s->v, &s->d, seed);
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
    cpu_no_extra(s);
}
inline unsigned int curand(curandStateXORWOW_t *s)
{
    cpu_xorwow_step(s->v);
    s->d += CPU_XORWOW_COUNT;
    return s->v[4] + s->d;
}

/* --- Philox4x32-10: output has the four words of the counter, and STATE the next of them -------
 */

inline void cpu_refill(curandStatePhilox4_32_10_t *s)
{
    uint32_t c[4] = {s->ctr.x, s->ctr.y, s->ctr.z, s->ctr.w};
    cpu_philox(c, s->key.x, s->key.y);
    s->output.x = c[0];
    s->output.y = c[1];
    s->output.z = c[2];
    s->output.w = c[3];
}
inline void cpu_count(curandStatePhilox4_32_10_t *s, unsigned long long n)
{
    const uint64_t low = (uint64_t)s->ctr.y << 32 | s->ctr.x, sum = low + n;
    s->ctr.x = (uint32_t)sum;
    s->ctr.y = (uint32_t)(sum >> 32);
    if (sum < low && ++s->ctr.z == 0)
        ++s->ctr.w;
}
inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s)
{
    const unsigned long long words = s->STATE + n % 4;
    s->STATE = (unsigned)(words % 4);
    cpu_count(s, n / 4 + words / 4);
    cpu_refill(s);
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s)
{
    const uint64_t high = ((uint64_t)s->ctr.w << 32 | s->ctr.z) + n;
    s->ctr.z = (uint32_t)high;
    s->ctr.w = (uint32_t)(high >> 32);
    cpu_refill(s);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStatePhilox4_32_10_t *s)
{
    s->ctr.x = s->ctr.y = s->ctr.z = s->ctr.w = 0;
    s->key.x = (unsigned)seed;
    s->key.y = (unsigned)(seed >> 32);
    s->STATE = 0;
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
    cpu_no_extra(s);
}
inline unsigned int curand(curandStatePhilox4_32_10_t *s)
{
    const unsigned at = s->STATE++;
    const unsigned r = at == 0   ? s->output.x
                       : at == 1 ? s->output.y
                       : at == 2 ? s->output.z
                                 : s->output.w;
    if (s->STATE == 4) {
        cpu_count(s, 1);
        cpu_refill(s);
        s->STATE = 0;
    }
    return r;
}
CPU_RANDOM uint4 curand4(curandStatePhilox4_32_10_t *s)
{
    const uint4 a = s->output;
    cpu_count(s, 1);
    cpu_refill(s);
    const uint4 b = s->output;
    switch (s->STATE) {
    case 1:
        return make_uint4(a.y, a.z, a.w, b.x);
    case 2:
        return make_uint4(a.z, a.w, b.x, b.y);
    case 3:
        return make_uint4(a.w, b.x, b.y, b.z);
    default:
        return a;
    }
}

/* --- MRG32k3a --------------------------------------------------------------------------------- */

inline void cpu_skip(curandStateMRG32k3a_t *s, unsigned long long n, int of)
{
    uint32_t a[3] = {s->s1[0], s->s1[1], s->s1[2]}, b[3] = {s->s2[0], s->s2[1], s->s2[2]};
    cpu_mrg_skip(a, b, n, of);
    for (int i = 0; i < 3; i++) {
        s->s1[i] = a[i];
        s->s2[i] = b[i];
    }
}
inline void skipahead(unsigned long long n, curandStateMRG32k3a_t *s)
{
    cpu_skip(s, n, CPU_STEPS);
}
inline void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *s)
{
    cpu_skip(s, n, CPU_SUBSEQUENCES);
}
inline void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *s)
{
    cpu_skip(s, n, CPU_SEQUENCES);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStateMRG32k3a_t *s)
{
    cpu_mrg_seed(s->s1, s->s2, seed);
    skipahead_subsequence(subsequence, s);
    skipahead(offset, s);
    cpu_no_extra(s);
}
inline unsigned int curand(curandStateMRG32k3a_t *s)
{
    return cpu_mrg_bits(cpu_mrg_step(s->s1, s->s2));
}

/* --- Uniform numbers -------------------------------------------------------------------------- */

template <class State>
inline float curand_uniform(State *s)
{
    return cpu_uniform(curand(s));
}
inline float curand_uniform(curandStateMRG32k3a_t *s)
{
    return (float)(cpu_mrg_step(s->s1, s->s2) * CPU_MRG_TO_ONE);
}
inline double curand_uniform_double(curandStateXORWOW_t *s)
{
    const unsigned x = curand(s), y = curand(s);
    return cpu_uniform_double(x, y);
}
inline double curand_uniform_double(curandStatePhilox4_32_10_t *s) /* of 32 bits */
{
    return curand(s) * 0x1p-32 + 0x1p-32;
}
inline double curand_uniform_double(curandStateMRG32k3a_t *s)
{
    return cpu_mrg_step(s->s1, s->s2) * CPU_MRG_TO_ONE;
}
CPU_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    return make_float4(cpu_uniform(x.x), cpu_uniform(x.y), cpu_uniform(x.z), cpu_uniform(x.w));
}
CPU_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    return make_double2(cpu_uniform_double(x.x, x.y), cpu_uniform_double(x.z, x.w));
}
CPU_RANDOM double4 curand_uniform4_double(curandStatePhilox4_32_10_t *s)
{
    const double2 a = curand_uniform2_double(s), b = curand_uniform2_double(s);
    return make_double4(a.x, a.y, b.x, b.y);
}

/* --- Normal numbers, in pairs ----------------------------------------------------------------- */

template <class State>
CPU_RANDOM float2 curand_normal2(State *s)
{
    const unsigned x = curand(s), y = curand(s);
    return cpu_normal_of_bits(x, y);
}
CPU_RANDOM float2 curand_normal2(curandStateMRG32k3a_t *s)
{
    const float u = curand_uniform(s);
    return cpu_normal_pair(u, curand_uniform(s) * 6.2831855f);
}
CPU_RANDOM float4 curand_normal4(curandStatePhilox4_32_10_t *s)
{
    const uint4 x = curand4(s);
    const float2 a = cpu_normal_of_bits(x.x, x.y), b = cpu_normal_of_bits(x.z, x.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
CPU_RANDOM double2 curand_normal2_double(curandStateXORWOW_t *s)
{
    uint32_t x[4];
    for (int i = 0; i < 4; i++)
        x[i] = curand(s);
    return cpu_normal_of_bits_double(x);
}
CPU_RANDOM double2 curand_normal2_double(curandStatePhilox4_32_10_t *s)
{
    const uint4 bits = curand4(s);
    const uint32_t x[4] = {bits.x, bits.y, bits.z, bits.w};
    return cpu_normal_of_bits_double(x);
}
CPU_RANDOM double2 curand_normal2_double(curandStateMRG32k3a_t *s)
{
    const double u = curand_uniform_double(s);
    return cpu_normal_pair_double(u, curand_uniform_double(s) * 2);
}
CPU_RANDOM double4 curand_normal4_double(curandStatePhilox4_32_10_t *s)
{
    const double2 a = curand_normal2_double(s), b = curand_normal2_double(s);
    return make_double4(a.x, a.y, b.x, b.y);
}
template <class State>
CPU_RANDOM float2 curand_log_normal2(State *s, float mean, float deviation)
{
    const float2 v = curand_normal2(s);
    return make_float2(expf(mean + deviation * v.x), expf(mean + deviation * v.y));
}
template <class State>
CPU_RANDOM double2 curand_log_normal2_double(State *s, double mean, double deviation)
{
    const double2 v = curand_normal2_double(s);
    return make_double2(exp(mean + deviation * v.x), exp(mean + deviation * v.y));
}
CPU_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10_t *s, float mean, float deviation)
{
    const float4 v = curand_normal4(s);
    return make_float4(expf(mean + deviation * v.x), expf(mean + deviation * v.y),
                       expf(mean + deviation * v.z), expf(mean + deviation * v.w));
}

/* One number of a pair; the state keeps the other one for the next call of the same kind. */
template <class State, class Pair>
inline float cpu_half_of(State *s, int kind, Pair pair)
{
    if (s->boxmuller_flag == kind) {
        s->boxmuller_flag = CPU_NO_EXTRA;
        return s->boxmuller_extra;
    }
    const float2 v = pair();
    s->boxmuller_extra = v.y;
    s->boxmuller_flag = kind;
    return v.x;
}
template <class State, class Pair>
inline double cpu_half_of_double(State *s, int kind, Pair pair)
{
    if (s->boxmuller_flag_double == kind) {
        s->boxmuller_flag_double = CPU_NO_EXTRA;
        return s->boxmuller_extra_double;
    }
    const double2 v = pair();
    s->boxmuller_extra_double = v.y;
    s->boxmuller_flag_double = kind;
    return v.x;
}
template <class State>
inline float curand_normal(State *s)
{
    return cpu_half_of(s, CPU_EXTRA_NORMAL, [s] { return curand_normal2(s); });
}
template <class State>
inline double curand_normal_double(State *s)
{
    return cpu_half_of_double(s, CPU_EXTRA_NORMAL, [s] { return curand_normal2_double(s); });
}
template <class State>
inline float curand_log_normal(State *s, float mean, float deviation)
{
    return cpu_half_of(s, CPU_EXTRA_LOG_NORMAL,
                       [=] { return curand_log_normal2(s, mean, deviation); });
}
template <class State>
inline double curand_log_normal_double(State *s, double mean, double deviation)
{
    return cpu_half_of_double(s, CPU_EXTRA_LOG_NORMAL,
                              [=] { return curand_log_normal2_double(s, mean, deviation); });
}

/* --- Poisson numbers -------------------------------------------------------------------------- */

/* How many uniform factors keep a product above 1 (Knuth). */
template <class State>
inline unsigned cpu_poisson_by_product(State *s, float lambda)
{
    unsigned n = 0;
    for (float product = expf(lambda) * curand_uniform(s); product > 1.0; n++)
        product *= curand_uniform(s);
    return n;
}
/* An approximation of the regularized gamma function of a at x, 1 / (1 + exp(steep (a - x) -
 * shift))^2, whose inverse is simple: what it proposes is accepted or not. */
struct cpu_gamma {
    float a, steep, shift;
    explicit cpu_gamma(float a)
        : a(a),
          steep(1.43248035075540910f / sqrtf(a - 0.12400979329415655f) + 0.00025361074907033f),
          shift(0.21096734870196546f / sqrtf(a - 1.97381164089999420f) + 0.94201734077887530f)
    {
    }
    float at(float x) const
    {
        const float t = 1.0f + expf(steep * (a - x) - shift);
        return 1.0f / (t * t);
    }
    float inverse(float y) const
    {
        return a - (shift + logf(1.0f / sqrtf(y) - 1.0f)) / steep;
    }
};
template <class State>
inline unsigned cpu_poisson_by_rejection(State *s, float lambda)
{
    const cpu_gamma gamma(lambda);
    for (;;) {
        const float x = floorf(gamma.inverse(curand_uniform(s)));
        const float bound = (gamma.at(x + 1.0f) - gamma.at(x)) * 1.3f;
        const float height = curand_uniform(s) * bound;
        if (height < expf(x * logf(lambda) - lambda - (float)lgamma(1.0 + x)) && bound >= 1e-20)
            return (unsigned)x;
    }
}
template <class State>
inline unsigned int curand_poisson(State *s, double lambda)
{
    if (lambda < 64)
        return cpu_poisson_by_product(s, (float)lambda);
    if (lambda > 4000)
        return (unsigned)(sqrt(lambda) * curand_normal_double(s) + lambda + 0.5);
    return cpu_poisson_by_rejection(s, (float)lambda);
}
CPU_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10_t *s, double lambda)
{
    uint4 r;
    if (lambda > 4000) {
        const double4 v = curand_normal4_double(s);
        r.x = (unsigned)(sqrt(lambda) * v.x + lambda + 0.5);
        r.y = (unsigned)(sqrt(lambda) * v.y + lambda + 0.5);
        r.z = (unsigned)(sqrt(lambda) * v.z + lambda + 0.5);
        r.w = (unsigned)(sqrt(lambda) * v.w + lambda + 0.5);
    } else {
        r.x = curand_poisson(s, lambda);
        r.y = curand_poisson(s, lambda);
        r.z = curand_poisson(s, lambda);
        r.w = curand_poisson(s, lambda);
    }
    return r;
}
#undef CPU_RANDOM
