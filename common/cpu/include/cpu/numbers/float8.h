/* Floating point of 8, 6 and 4 bits for cuda_fp8.h, cuda_fp6.h and cuda_fp4.h. A format is a
 * structure with
 *   bits               of a number; of fp6 too they are 8
 *   encode(v)          the number nearest to the double v, as the constructors choose it
 *   decode(x)          the double that the bits x mean
 *   is_true(x)         whether a number is true as a bool */
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

inline double cpu_wide(double v)
{
    return v;
}
inline double cpu_wide(float v)
{
    return v;
}
template <int E, int M>
inline double cpu_wide(cpu_raw16<E, M> v)
{
    return cpu_float16<E, M>(v).value();
}
template <int E, int M>
inline double cpu_wide(cpu_float16<E, M> v)
{
    return v.value();
}

inline double cpu_part(double2 a, int i)
{
    return i ? a.y : a.x;
}
inline double cpu_part(float2 a, int i)
{
    return i ? a.y : a.x;
}
template <int E, int M>
inline double cpu_part(cpu_raw16x2<E, M> a, int i)
{
    return cpu_float16<E, M>::of_bits(i ? a.y : a.x).value();
}

/* A format with a sign, E exponent and M fraction bits. `most` is the bits of the largest finite
 * number; what is larger becomes that, or `beyond` without saturation. `nan` is what NaN becomes.
 */
template <int E, int M, unsigned most_finite, unsigned beyond, unsigned nan>
struct cpu_format {
    static constexpr unsigned most = most_finite;
    static constexpr int bias = (1 << (E - 1)) - 1;

    static unsigned encode(double v, bool saturate = true,
                           cudaRoundMode rounding = cudaRoundNearest)
    {
        const unsigned sign = std::signbit(v) ? 1u << (E + M) : 0;
        if (v != v)
            return nan;
        if (std::isinf(v))
            return sign | (saturate ? most : beyond);
        if (v == 0)
            return sign;
        /* Rounded to a multiple of the step at v. Subnormal numbers have the step of the least
         * normal ones. A carry moves into the exponent, which lies above the fraction. */
        const int e = std::max(std::ilogb(v), 1 - bias);
        const double steps = std::ldexp(std::fabs(v), M - e);
        const double whole = rounding == cudaRoundZero ? std::trunc(steps) : std::rint(steps);
        const double bits = whole + std::ldexp(e + bias - 1, M);
        return sign | (bits <= most ? (unsigned)bits : saturate ? most : beyond);
    }
    static double decode(unsigned x)
    {
        const unsigned size = x & ((1u << (E + M)) - 1), e = size >> M;
        const double sign = x >> (E + M) & 1 ? -1 : 1, fraction = size & ((1u << M) - 1);
        if (size > most)
            return size == beyond && beyond != nan ? sign * INFINITY : NAN;
        return sign * (e == 0 ? std::ldexp(fraction, 1 - bias - M)
                              : std::ldexp(fraction + (1 << M), (int)e - bias - M));
    }
    static bool is_true(unsigned x)
    {
        return (x & ((1u << (E + M)) - 1)) != 0;
    }
};

/* One number. */
template <class F, class S>
struct cpu_small {
    S __x;

    cpu_small() = default;
    template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>
    explicit cpu_small(A a) : __x((S)F::encode(cpu_odd(a)))
    {
    }
    explicit cpu_small(__half a) : __x((S)F::encode(a.value()))
    {
    }
    explicit cpu_small(__nv_bfloat16 a) : __x((S)F::encode(a.value()))
    {
    }
    explicit operator __half() const
    {
        return __half(F::decode(__x));
    }
    explicit operator __nv_bfloat16() const
    {
        return __nv_bfloat16(F::decode(__x));
    }
    explicit operator float() const
    {
        return (float)F::decode(__x);
    }
    explicit operator double() const
    {
        return F::decode(__x);
    }
    explicit operator bool() const
    {
        return F::is_true(__x);
    }
    template <class T, class = std::enable_if_t<std::is_integral<T>::value>>
    explicit operator T() const
    {
        return cpu_integer<T>(std::trunc(F::decode(__x)));
    }
};

/* The bits of several numbers, and the number i of them. The first one has the lowest bits. */
template <class F, class S, class... A>
inline S cpu_pack(A... v)
{
    unsigned bits = 0, at = 0;
    ((bits |= F::encode(cpu_wide(v)) << at, at += F::bits), ...);
    return (S)bits;
}
template <class F>
inline double cpu_unpack(unsigned bits, int i)
{
    return F::decode(bits >> i * F::bits & ((1u << F::bits) - 1));
}

/* Two numbers, and four. */
template <class F, class S>
struct __align__(sizeof(S)) cpu_small2
{
    S __x;

    cpu_small2() = default;
    explicit cpu_small2(__half2 a) : __x(cpu_pack<F, S>(a.x, a.y))
    {
    }
    explicit cpu_small2(__nv_bfloat162 a) : __x(cpu_pack<F, S>(a.x, a.y))
    {
    }
    explicit cpu_small2(float2 a) : __x(cpu_pack<F, S>(a.x, a.y))
    {
    }
    explicit cpu_small2(double2 a) : __x(cpu_pack<F, S>(a.x, a.y))
    {
    }
    explicit operator __half2() const
    {
        return {__half(cpu_unpack<F>(__x, 0)), __half(cpu_unpack<F>(__x, 1))};
    }
    explicit operator __nv_bfloat162() const
    {
        return {__nv_bfloat16(cpu_unpack<F>(__x, 0)), __nv_bfloat16(cpu_unpack<F>(__x, 1))};
    }
    explicit operator float2() const
    {
        return make_float2((float)cpu_unpack<F>(__x, 0), (float)cpu_unpack<F>(__x, 1));
    }
};
template <class F, class S>
struct __align__(sizeof(S)) cpu_small4
{
    S __x;

    cpu_small4() = default;
    explicit cpu_small4(__half2 a, __half2 b) : __x(cpu_pack<F, S>(a.x, a.y, b.x, b.y))
    {
    }
    explicit cpu_small4(__nv_bfloat162 a, __nv_bfloat162 b)
        : __x(cpu_pack<F, S>(a.x, a.y, b.x, b.y))
    {
    }
    explicit cpu_small4(float4 a) : __x(cpu_pack<F, S>(a.x, a.y, a.z, a.w))
    {
    }
    explicit cpu_small4(double4 a) : __x(cpu_pack<F, S>(a.x, a.y, a.z, a.w))
    {
    }
    explicit cpu_small4(double4_16a a) : __x(cpu_pack<F, S>(a.x, a.y, a.z, a.w))
    {
    }
    explicit cpu_small4(double4_32a a) : __x(cpu_pack<F, S>(a.x, a.y, a.z, a.w))
    {
    }
    explicit operator float4() const
    {
        return make_float4((float)cpu_unpack<F>(__x, 0), (float)cpu_unpack<F>(__x, 1),
                           (float)cpu_unpack<F>(__x, 2), (float)cpu_unpack<F>(__x, 3));
    }
};

/* The functions that convert one number and two, of kind fp8, fp6 or fp4. Two numbers are `bits`
 * apart. CPU_PARAMETERS are those of conversions to the kind; `format` is the last one.
 * CPU_ENCODE(v) and CPU_DECODE(x) call the format that it chooses. */
#define CPU_NARROW(kind, bits, from, T, T2)                                                        \
    inline __nv_##kind##_storage_t __nv_cvt_##from##_to_##kind(T a, CPU_PARAMETERS)                \
    {                                                                                              \
        return (__nv_##kind##_storage_t)CPU_ENCODE(cpu_wide(a));                                   \
    }                                                                                              \
    inline __nv_##kind##x2_storage_t __nv_cvt_##from##2_to_##kind##x2(T2 a, CPU_PARAMETERS)        \
    {                                                                                              \
        return (__nv_##kind##x2_storage_t)(CPU_ENCODE(cpu_part(a, 0)) | CPU_ENCODE(cpu_part(a, 1)) \
                                                                            << bits);              \
    }
#define CPU_CONVERSIONS(kind, bits)                                                                \
    CPU_NARROW(kind, bits, double, double, double2)                                                \
    CPU_NARROW(kind, bits, float, float, float2)                                                   \
    CPU_NARROW(kind, bits, halfraw, __half_raw, __half2_raw)                                       \
    CPU_NARROW(kind, bits, bfloat16raw, __nv_bfloat16_raw, __nv_bfloat162_raw)                     \
    CPU_SEEN __half_raw __nv_cvt_##kind##_to_halfraw(__nv_##kind##_storage_t a,                    \
                                                     __nv_##kind##_interpretation_t format)        \
    {                                                                                              \
        return __half(CPU_DECODE(a));                                                              \
    }                                                                                              \
    CPU_SEEN __half2_raw __nv_cvt_##kind##x2_to_halfraw2(__nv_##kind##x2_storage_t a,              \
                                                         __nv_##kind##_interpretation_t format)    \
    {                                                                                              \
        const unsigned low = a & ((1u << bits) - 1), high = a >> bits;                             \
        return __half2(__half(CPU_DECODE(low)), __half(CPU_DECODE(high)));                         \
    }
