/* rope_angle.cuh: cosine and sine of position * 10000^(-2i/R), accurate at far positions.
 *
 * An angle in fp32 is rounded to 24 bits before anything else happens: at position 131071 that
 * alone is half a unit in the last place of 131071, 0.004. So the angle is never computed in fp32.
 * A frequency is in revolutions per position, an integer in units of 2^-64 revolutions. Its product
 * with a position, modulo 2^64, is the angle without its whole revolutions: unsigned multiplication
 * drops them and rounds nothing, so a compiler has nothing to contract. The upper 32 bits, read as
 * a signed number, lie in [-1/2, 1/2) revolutions.
 *
 * Error, with u = 2^-24. In revolutions: the frequency is computed in fp64 (the exponent and 1 / 2
 * pi rounded, pow within 2 units in the last place, one product: 16 * 2^-53 of at most 0.16) and
 * cut to 2^-64; the lower 32 bits are dropped, 2^-32; the rest becomes an fp32 number of at most
 * 1/2, u / 2. The error of cosine and sine is at most 2 pi times that, and sincospif adds 1 unit in
 * the last place of a result up to 1, 2 u (CUDA C++ Programming Guide, Mathematical Functions):
 *     2 pi (u / 2 + 2^-32 + position * (2.6 * 2^-53 + 2^-64)) + 2 u,
 * which is 3.1e-7 at position 131071 and below 1e-6 up to position 300 million. With __sincosf
 * instead: 2 pi is rounded, and its product with at most 1/2, so pi * 2 u; and the function is
 * within 2^-21.19 for this argument, in [-pi, pi]. 9.8e-7 at position 131071.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "harness/problem.h"

typedef uint64_t rope_frequency; /* 2^-64 revolutions per position */

/* The frequency of pair i. It takes fp64 and a power, so compute it once per pair, at the start
 * of a block or on the host. */
static inline __host__ __device__ rope_frequency rope_frequency_of(int i, int R)
{
    const double revolutions = pow(10000.0, -2.0 * i / R) * 0.15915494309189533577;
    return (rope_frequency)(revolutions * 0x1p64);
}

// snippet: revolutions
// The angle in revolutions, in [-1/2, 1/2]; position >= 0
// cost: a 64-bit product by a 32-bit number, a conversion, a multiplication
static __device__ __forceinline__ float rope_revolutions(int position, rope_frequency frequency)
{
    const uint64_t revolutions = frequency * (unsigned)position;
    return (float)(int)(revolutions >> 32) * 0x1p-32f;
}

static __device__ __forceinline__ void rope_cos_sin(int position, rope_frequency frequency,
                                                    float *cosine, float *sine)
{
    sincospif(2.0f * rope_revolutions(position, frequency), sine, cosine);
}

static __device__ __forceinline__ void rope_cos_sin_fast(int position, rope_frequency frequency,
                                                         float *cosine, float *sine)
{
    __sincosf(6.2831853f * rope_revolutions(position, frequency), sine, cosine);
}
// end snippet: revolutions

/* kf_variant's extra_error for kernels that call rope_cos_sin. */
static inline double rope_angle_error(const kf_case *c)
{
    const double u = kf_unit_roundoff(KF_F32);
    const double last = c->shape.pos0 + fmax(c->shape.Sq, c->shape.Sk) - 1.0;
    const double revolutions = 0.5 * u + 0x1p-32 + last * (2.6 * 0x1p-53 + 0x1p-64);
    return 6.2831853071795865 * revolutions + 2.0 * u;
}

/* The same for kernels that call rope_cos_sin_fast. */
static inline double rope_fast_angle_error(const kf_case *c)
{
    const double u = kf_unit_roundoff(KF_F32);
    return rope_angle_error(c) - 2.0 * u + 6.2831853071795865 * u + exp2(-21.19);
}

/* The frequencies of a case as an input tensor [R/2][2]. Its elements are bits in pairs of words
 * and not numbers, because the harness has no 64-bit type. */
static inline void rope_frequency_table(kf_run *run)
{
    const int R = run->shape.R;
    const int64_t dim[] = {R > 0 ? R / 2 : 1, 2};
    kf_tensor *table = kf_input(run, "frequency", "RW", KF_F32, dim);
    for (int i = 0; i < dim[0]; i++) {
        const rope_frequency frequency = R > 0 ? rope_frequency_of(i, R) : 0;
        memcpy(table->host + 2 * i, &frequency, sizeof frequency);
    }
}

/* The device memory of that tensor. */
static inline const rope_frequency *rope_frequencies(const kf_run *run)
{
    return (const rope_frequency *)kf_find(run, "frequency")->device;
}
