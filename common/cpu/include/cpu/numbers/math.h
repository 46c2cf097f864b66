/* Device math, computed by the host's math library. Functions that a GPU evaluates with reduced
 * precision (__expf, __sincosf ...) have an error here, up to the bound in their document. A
 * product and a sum become an FMA with --check only; those of __fmul_rn and the like never do. */
#pragma once

/* Bessel functions and the like, which CUDA has under other names. Defining the guard of
 * libstdc++'s header leaves them out: it takes a sixth of the time to compile a small file. */
#define _GLIBCXX_BITS_SPECFUN_H 1
#include <cmath>
#include <cstdint>
#include <cstring>
#include <math.h>

#include "cpu/numbers/approx.h"

/* min and max for every pair of arithmetic types that CUDA accepts. */
#define CPU_MIN_MAX(A, B, R)                                                                       \
    inline R min(A a, B b)                                                                         \
    {                                                                                              \
        return (R)a < (R)b ? (R)a : (R)b;                                                          \
    }                                                                                              \
    inline R max(A a, B b)                                                                         \
    {                                                                                              \
        return (R)a < (R)b ? (R)b : (R)a;                                                          \
    }
CPU_MIN_MAX(int, int, int)
CPU_MIN_MAX(unsigned, unsigned, unsigned)
CPU_MIN_MAX(int, unsigned, unsigned)
CPU_MIN_MAX(unsigned, int, unsigned)
CPU_MIN_MAX(long, long, long)
CPU_MIN_MAX(unsigned long, unsigned long, unsigned long)
CPU_MIN_MAX(long, unsigned long, unsigned long)
CPU_MIN_MAX(unsigned long, long, unsigned long)
CPU_MIN_MAX(long long, long long, long long)
CPU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CPU_MIN_MAX(long long, unsigned long long, unsigned long long)
CPU_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef CPU_MIN_MAX
/* Of a number and a NaN: the number, as fminf and fmaxf. */
#define CPU_MIN_MAX(A, B, R, minimum, maximum)                                                     \
    inline R min(A a, B b)                                                                         \
    {                                                                                              \
        return minimum(a, b);                                                                      \
    }                                                                                              \
    inline R max(A a, B b)                                                                         \
    {                                                                                              \
        return maximum(a, b);                                                                      \
    }
CPU_MIN_MAX(float, float, float, fminf, fmaxf)
CPU_MIN_MAX(double, double, double, fmin, fmax)
CPU_MIN_MAX(float, double, double, fmin, fmax)
CPU_MIN_MAX(double, float, double, fmin, fmax)
#undef CPU_MIN_MAX

template <class To, class From>
inline To cpu_bit_cast(From v)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To r;
    memcpy(&r, &v, sizeof r);
    return r;
}

/* v as a rounded value, which the compiler must not fuse into an FMA, as nvcc does not fuse
 * __fmul_rn and the like. */
template <class T>
inline T cpu_rounded(T v)
{
#ifdef CPU_TRACE
#if defined __x86_64__
    __asm__("" : "+x"(v));
#elif defined __aarch64__
    __asm__("" : "+w"(v));
#endif
#endif
    return v;
}

/* inline R name(A a) { return expression; } and the same for two and three arguments. */
#define CPU_F1(R, name, A, expression)                                                             \
    inline R name(A a)                                                                             \
    {                                                                                              \
        return (R)(expression);                                                                    \
    }
#define CPU_F2(R, name, A, B, expression)                                                          \
    inline R name(A a, B b)                                                                        \
    {                                                                                              \
        return (R)(expression);                                                                    \
    }
#define CPU_F3(R, name, A, B, C, expression)                                                       \
    inline R name(A a, B b, C c)                                                                   \
    {                                                                                              \
        return (R)(expression);                                                                    \
    }

/* Functions that approximate (CUDA C++ Programming Guide, Mathematical Functions, Intrinsic
 * Functions). The error that they add is the guide's bound, absolute or in steps of the result,
 * less the error that the exact function and the last rounding may already have. */
inline float cpu_off_by(float value, float argument, double most)
{
    return (float)cpu_off(value, cpu_bit_cast<uint32_t>(argument), most);
}
inline float cpu_off_by_steps(float value, float argument, double steps)
{
    return cpu_off_by(value, argument, (steps - 1.1) * cpu_step(value));
}
/* For a logarithm the bound is absolute for arguments from 1/2 to 2, where the result may be 0. */
inline float cpu_log_off(float value, float argument, double absolute, double steps)
{
    if (value == rintf(value))
        return value;
    return argument >= 0.5f && argument <= 2
               ? cpu_off_by(value, argument, absolute - 1.1 * cpu_step(value))
               : cpu_off_by_steps(value, argument, steps);
}
/* The guide bounds the error of sines and cosines of angles between -pi and pi. For a larger
 * angle a GPU first computes revolutions and drops the whole ones; that loses the bits below the
 * angle's last place. */
inline float cpu_angle(float a)
{
    uint32_t bits = cpu_bit_cast<uint32_t>(a);
    return fabsf(a) > 3.1415927f && fabsf(a) < INFINITY ? cpu_bit_cast<float>(bits - 1) : a;
}
inline float cpu_wave(float value, float argument, double most)
{
    float r = cpu_off_by(value, argument, most - 0x1p-24);
    return r > 1 ? 1 : r < -1 ? -1 : r;
}

/* glibc declares some of these names; extern "C" and noexcept make ours the definitions. */
extern "C" {
inline float __expf(float a) noexcept
{
    return cpu_off_by_steps(expf(a), a, 2 + floorf(fabsf(1.173f * a)));
}
inline float __exp10f(float a) noexcept
{
    return cpu_off_by_steps((float)pow(10.0, a), a, 2 + floorf(fabsf(2.97f * a)));
}
inline float __logf(float a) noexcept
{
    return cpu_log_off(logf(a), a, 0x1.81p-22, 3); /* 2^-21.41 */
}
inline float __log2f(float a) noexcept
{
    return cpu_log_off(log2f(a), a, 0x1p-22, 2);
}
inline float __log10f(float a) noexcept
{
    return cpu_log_off((float)log10((double)a), a, 0x1p-24, 3);
}
/* Calls, so that the compiler inlines __sincosf into its caller. Otherwise the results that it
 * returns through pointers would count as loads and stores, which a GPU does not make. */
__attribute__((noinline)) inline float __sinf(float a) noexcept
{
    return cpu_wave(sinf(cpu_angle(a)), a, 0x1.81p-22); /* 2^-21.41 */
}
__attribute__((noinline)) inline float __cosf(float a) noexcept
{
    return cpu_wave(cosf(cpu_angle(a)), a, 0x1.c0p-22); /* 2^-21.19 */
}
inline float __tanf(float a) noexcept
{
    return __sinf(a) * (1 / __cosf(a));
}
inline float __powf(float a, float b) noexcept
{
    float x = b * __log2f(a);
    return cpu_off_by_steps(exp2f(x), x, 2);
}
__attribute__((always_inline)) inline void __sincosf(float a, float *s, float *c) noexcept
{
    *s = __sinf(a);
    *c = __cosf(a);
}
#ifndef __GLIBC__
inline void sincosf(float a, float *s, float *c) noexcept
{
    *s = sinf(a);
    *c = cosf(a);
}
inline void sincos(double a, double *s, double *c) noexcept
{
    *s = sin(a);
    *c = cos(a);
}
inline float exp10f(float a) noexcept
{
    return (float)pow(10.0, a);
}
#endif
}

#ifdef CPU_TRACE /* these count themselves; cudacc renames calls of sinf and the like */
#define CPU_SPECIAL(counter) cpu_trace_special(counter)
#else
#define CPU_SPECIAL(counter) (void)0
#define cpu_uncounted_sin(a) sin(a)
#define cpu_uncounted_cos(a) cos(a)
#endif
CPU_F1(float, rsqrtf, float, (CPU_SPECIAL(CPU_RSQRT), 1.0 / __builtin_sqrt((double)a)))
CPU_F1(double, rsqrt, double, (CPU_SPECIAL(CPU_RSQRT), 1.0 / __builtin_sqrt(a)))
CPU_F1(float, rcbrtf, float, 1.0 / cbrt((double)a))
/* The sine of pi (a + halves / 2), for a from -1 to 1. What is left of a beyond the nearest half is
 * exact, so the results at multiples of 1/2 are exact, too. */
inline double cpu_sine_of_pi(double a, int halves)
{
    const double nearest = rint(2 * a), rest = M_PI * (a - nearest / 2);
    const int quarter = ((int)nearest + halves) & 3;
    const double size = quarter & 1 ? cpu_uncounted_cos(rest) : cpu_uncounted_sin(rest);
    return quarter & 2 ? -size : size;
}
inline double sinpi(double a)
{
    const double r = std::isfinite(a) ? cpu_sine_of_pi(remainder(a, 2), 0) : NAN;
    CPU_SPECIAL(CPU_SIN);
    return r == 0 ? copysign(0, a) : r;
}
inline double cospi(double a)
{
    CPU_SPECIAL(CPU_COS);
    return std::isfinite(a) ? cpu_sine_of_pi(remainder(a, 2), 1) + 0.0 : NAN; /* no -0 */
}
CPU_F1(float, sinpif, float, sinpi((double)a))
CPU_F1(float, cospif, float, cospi((double)a))
CPU_F1(float, normcdff, float, 0.5 * erfc(-a * M_SQRT1_2))
CPU_F1(float, __saturatef, float, a > 0 ? (a < 1 ? a : 1) : 0)
CPU_F1(float, __frcp_rn, float, (CPU_SPECIAL(CPU_DIV), 1 / a))
CPU_F1(float, __fsqrt_rn, float, sqrtf(a))
CPU_F1(float, __frsqrt_rn, float, rsqrtf(a))
inline float __fdividef(float a, float b)
{
    float r = (CPU_SPECIAL(CPU_DIV), a / b);
    if (fabsf(b) > 0x1p126f && fabsf(b) < INFINITY)
        return 0 * a;
    return cpu_is_exact(b) || fabsf(r) < 0x1p-126f ? r : cpu_off_by_steps(r, a * 3 + b, 2);
}
CPU_F2(float, fdividef, float, float, (CPU_SPECIAL(CPU_DIV), a / b))
CPU_F2(float, __fadd_rn, float, float, cpu_rounded(a) + cpu_rounded(b))
CPU_F2(float, __fsub_rn, float, float, cpu_rounded(a) - cpu_rounded(b))
CPU_F2(float, __fmul_rn, float, float, cpu_rounded(a *b))
CPU_F2(float, __fdiv_rn, float, float, (CPU_SPECIAL(CPU_DIV), a / b))
CPU_F3(float, __fmaf_rn, float, float, float, fmaf(a, b, c))
CPU_F2(double, __dadd_rn, double, double, cpu_rounded(a) + cpu_rounded(b))
CPU_F2(double, __dsub_rn, double, double, cpu_rounded(a) - cpu_rounded(b))
CPU_F2(double, __dmul_rn, double, double, cpu_rounded(a *b))
CPU_F2(double, __ddiv_rn, double, double, (CPU_SPECIAL(CPU_DIV), a / b))
CPU_F1(double, __dsqrt_rn, double, sqrt(a))
CPU_F3(double, __fma_rn, double, double, double, fma(a, b, c))
inline void sincospif(float a, float *s, float *c)
{
    *s = sinpif(a);
    *c = cospif(a);
}

/* Bits as numbers, and conversions with a rounding mode: nearest even, to zero, down, up. As on
 * the GPU, conversions to integers saturate. NaN becomes 0, but as a double, or in 64 bits, the
 * top bit. */
CPU_F1(int, __float_as_int, float, cpu_bit_cast<int>(a))
CPU_F1(unsigned, __float_as_uint, float, cpu_bit_cast<unsigned>(a))
CPU_F1(float, __int_as_float, int, cpu_bit_cast<float>(a))
CPU_F1(float, __uint_as_float, unsigned, cpu_bit_cast<float>(a))
CPU_F1(long long, __double_as_longlong, double, cpu_bit_cast<long long>(a))
CPU_F1(double, __longlong_as_double, long long, cpu_bit_cast<double>(a))
CPU_F1(int, __double2hiint, double, cpu_bit_cast<uint64_t>(a) >> 32)
CPU_F1(int, __double2loint, double, cpu_bit_cast<uint64_t>(a))
CPU_F2(double, __hiloint2double, int, int,
       cpu_bit_cast<double>((uint64_t)(unsigned)a << 32 | (unsigned)b))
CPU_F1(float, __int2float_rn, int, a)
CPU_F1(float, __uint2float_rn, unsigned, a)
CPU_F1(float, __ll2float_rn, long long, a)
CPU_F1(float, __double2float_rn, double, a)
CPU_F1(double, __int2double_rn, int, a)
template <class To>
inline To cpu_saturate(double v, double least, double most)
{
    return v != v ? 0 : v <= least ? (To)least : v >= most ? (To)most : (To)v;
}
#define CPU_TO_INTEGERS(suffix, round)                                                             \
    CPU_F1(int, __float2int_##suffix, float, cpu_saturate<int>(round(a), -0x1p31, 0x1p31 - 1))     \
    CPU_F1(int, __double2int_##suffix, double,                                                     \
           a != a ? INT32_MIN : cpu_saturate<int>(round(a), -0x1p31, 0x1p31 - 1))                  \
    CPU_F1(unsigned, __float2uint_##suffix, float, cpu_saturate<unsigned>(round(a), 0, 0x1p32 - 1))
CPU_TO_INTEGERS(rn, std::rint)
CPU_TO_INTEGERS(rz, std::trunc)
CPU_TO_INTEGERS(rd, std::floor)
CPU_TO_INTEGERS(ru, std::ceil)
#undef CPU_TO_INTEGERS

/* Integers. */
CPU_F1(int, __popc, unsigned, __builtin_popcount(a))
CPU_F1(int, __popcll, unsigned long long, __builtin_popcountll(a))
CPU_F1(int, __clz, int, a ? __builtin_clz((unsigned)a) : 32)
CPU_F1(int, __clzll, long long, a ? __builtin_clzll((unsigned long long)a) : 64)
CPU_F1(int, __ffs, int, __builtin_ffs(a))
CPU_F1(int, __ffsll, long long, __builtin_ffsll(a))
CPU_F2(int, __mulhi, int, int, (int64_t)a *b >> 32)
CPU_F2(unsigned, __umulhi, unsigned, unsigned, (uint64_t)a *b >> 32)
CPU_F2(long long, __mul64hi, long long, long long, (__int128)a *b >> 64)
CPU_F2(unsigned long long, __umul64hi, unsigned long long, unsigned long long,
       (unsigned __int128)a *b >> 64)
CPU_F2(int, __mul24, int, int, (unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8))
CPU_F2(unsigned, __umul24, unsigned, unsigned, (a & 0xffffff) * (b & 0xffffff))
CPU_F3(unsigned, __sad, int, int, unsigned, c + (unsigned)(a < b ? b - a : a - b))
CPU_F3(unsigned, __funnelshift_l, unsigned, unsigned, unsigned,
       (((uint64_t)b << 32 | a) << (c & 31)) >> 32)
CPU_F3(unsigned, __funnelshift_r, unsigned, unsigned, unsigned, ((uint64_t)b << 32 | a) >> (c & 31))
inline unsigned __brev(unsigned a)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (a >> i & 1) << (31 - i);
    return r;
}
CPU_F1(unsigned long long, __brevll, unsigned long long,
       (uint64_t)__brev((unsigned)a) << 32 | __brev((unsigned)(a >> 32)))
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned s = selector >> 4 * i, byte = (unsigned)(bytes >> 8 * (s & 7)) & 0xff;
        r |= (s & 8 ? (byte & 0x80 ? 0xffu : 0) : byte) << 8 * i;
    }
    return r;
}
#include "cpu/numbers/math_rare.h"
#undef CPU_F1
#undef CPU_F2
#undef CPU_F3
