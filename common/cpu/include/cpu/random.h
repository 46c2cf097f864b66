/* The generators of cuRAND: XORWOW (Marsaglia 2003), Philox4x32-10 (Salmon et al. 2011) and
 * MRG32k3a (L'Ecuyer 1999), and how bits become numbers. For curand_kernel.h and curand.h; not for
 * programs. Bits and uniform numbers are equal to a GPU's. Normal ones differ in the last places,
 * since a GPU computes logarithm, sine and cosine with less precision. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "cuda_runtime_api.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif
/* Moves the state of a generator n steps on, or n subsequences of 2^67 (XORWOW) or 2^76 (MRG32k3a)
 * steps, or n sequences of 2^127 steps (MRG32k3a). */
enum { CPU_STEPS, CPU_SUBSEQUENCES, CPU_SEQUENCES };
void cpu_xorwow_skip(uint32_t v[5], uint64_t n, int of);
void cpu_mrg_skip(uint32_t a[3], uint32_t b[3], uint64_t n, int of);
#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

/* The five words and the counter of a seed. */
static inline void cpu_xorwow_seed(uint32_t v[5], uint32_t *d, uint64_t seed)
{
    const uint32_t low = 1099087573u * ((uint32_t)seed ^ 0xaad26b49u);
    const uint32_t high = 2591861531u * ((uint32_t)(seed >> 32) ^ 0xf7dcefddu);
    v[0] = 123456789u + low;
    v[1] = 362436069u ^ low;
    v[2] = 521288629u + high;
    v[3] = 88675123u ^ high;
    v[4] = 5783321u + low;
    *d = 6615241u + low + high;
}
enum { CPU_XORWOW_COUNT = 362437 }; /* the counter's step */
/* One step of the words; the result of the generator is the last one plus the counter. */
static inline void cpu_xorwow_step(uint32_t v[5])
{
    const uint32_t t = v[0] ^ v[0] >> 2;
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}

/* Ten rounds on the counter c; each takes the next key. */
static inline void cpu_philox(uint32_t c[4], uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++) {
        const uint64_t a = 0xd2511f53ull * c[0], b = 0xcd9e8d57ull * c[2];
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ key0;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ key1;
        c[1] = (uint32_t)b;
        c[3] = (uint32_t)a;
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
}

enum { CPU_MRG_A12 = 1403580, CPU_MRG_A13 = 810728, CPU_MRG_A21 = 527612, CPU_MRG_A23 = 1370589 };
#define CPU_MRG_M1 4294967087u
#define CPU_MRG_M2 4294944443u
static inline void cpu_mrg_seed(uint32_t a[3], uint32_t b[3], uint64_t seed)
{
    const uint64_t low = (uint32_t)seed ^ 0x55555555u;
    const uint64_t high = (uint32_t)(seed >> 32) ^ 0xaaaaaaaau;
    for (int i = 0; i < 3; i++) {
        a[i] = b[i] = 12345;
        if (seed == 0)
            continue;
        a[i] = (uint32_t)((i == 1 ? high : low) * 12345 % CPU_MRG_M1);
        b[i] = (uint32_t)((i == 1 ? low : high) * 12345 % CPU_MRG_M2);
    }
}
/* From 1 to CPU_MRG_M1. */
static inline uint32_t cpu_mrg_step(uint32_t a[3], uint32_t b[3])
{
    const uint64_t x =
        ((uint64_t)CPU_MRG_A12 * a[1] + (uint64_t)CPU_MRG_A13 * (CPU_MRG_M1 - a[0])) % CPU_MRG_M1;
    const uint64_t y =
        ((uint64_t)CPU_MRG_A21 * b[2] + (uint64_t)CPU_MRG_A23 * (CPU_MRG_M2 - b[0])) % CPU_MRG_M2;
    a[0] = a[1];
    a[1] = a[2];
    a[2] = (uint32_t)x;
    b[0] = b[1];
    b[1] = b[2];
    b[2] = (uint32_t)y;
    return (uint32_t)(x - y + (x <= y ? CPU_MRG_M1 : 0));
}
#define CPU_MRG_TO_ONE 2.3283065498378288e-10
static inline uint32_t cpu_mrg_bits(uint32_t r)
{
    const double v = r * 1.000000048662;
    return v < 4294967295.0 ? (uint32_t)v : 0xffffffffu;
}

/* More than 0 and at most 1: of 32 bits, and of 53 of the 64 that x and y have. */
static inline float cpu_uniform(uint32_t x)
{
    return (float)x * 0x1p-32f + 0x1p-33f;
}
static inline double cpu_uniform_double(uint32_t x, uint32_t y)
{
    return (double)((uint64_t)x ^ (uint64_t)y << 21) * 0x1p-53 + 0x1p-54;
}

/* Two normal numbers (Box and Muller): of a uniform one, and of an angle in radians; in double
 * precision the angle is in half turns. */
static inline float2 cpu_normal_pair(float u, float angle)
{
    const float r = sqrtf(-2.0f * logf(u));
    const float2 pair = {sinf(angle) * r, cosf(angle) * r};
    return pair;
}
static inline float2 cpu_normal_of_bits(uint32_t x, uint32_t y)
{
    const float turn = 0x1p-32f * 6.2831855f;
    return cpu_normal_pair(cpu_uniform(x), (float)y * turn + turn / 2);
}
static inline double2 cpu_normal_pair_double(double u, double halves)
{
    const double r = sqrt(-2.0 * log(u)), angle = halves * 3.1415926535897932;
    const double2 pair = {sin(angle) * r, cos(angle) * r};
    return pair;
}
static inline double2 cpu_normal_of_bits_double(const uint32_t x[4])
{
    const uint64_t y = (uint64_t)x[2] ^ (uint64_t)x[3] << 21;
    return cpu_normal_pair_double(cpu_uniform_double(x[0], x[1]), (double)y * 0x1p-52 + 0x1p-53);
}
