/* 16-bit floating point for cuda_fp16.h and cuda_bf16.h, with E exponent and M fraction bits.
 *
 * Every operation is computed in double and rounded once, to nearest even if its name has no other
 * rounding. That gives the correctly rounded result: for + - * / and sqrt a double has more than
 * twice the bits plus two, so its own rounding does no harm, and fma rounds its double sum to odd,
 * which keeps the last rounding right. hexp, hrsqrt and the like are as exact as the double that
 * they round. The functions are in float16_functions.h. */
#pragma once

#include "cuda_runtime.h"

/* g++ does not instrument the store when a call returns a value in memory: `x[i] = __hadd(a,
 * b)`. So all these functions are always inlined in instrumented programs. In plain programs
 * their addresses may be taken. */
#ifdef CPU_TRACE
#define CPU_SEEN __forceinline__
#else
#define CPU_SEEN inline
#endif

/* The bits as a structure of C, which CUDA has for each format. */
template <int E, int M>
struct __align__(2) cpu_raw16
{
    unsigned short x;
};
template <int E, int M>
struct __align__(4) cpu_raw16x2
{
    unsigned short x, y;
};

/* a as a double; of a 64-bit integer that has more bits than a double, a number that rounds to 16
 * bits as a does: the last bit that is kept records a loss of bits. */
template <class A>
inline double cpu_odd(A a)
{
    if constexpr (std::is_integral<A>::value && sizeof(A) == 8) {
        const uint64_t size = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
        if (size >> 53) {
            const double kept = (double)(size >> 11 | ((size & 0x7ff) != 0)) * 0x1p11;
            return a < 0 ? -kept : kept;
        }
    }
    return (double)a;
}

/* The whole number v as a T, which saturates. NaN is 0, and in 64 bits the top bit. */
template <class T>
inline T cpu_integer(double v)
{
    if constexpr (sizeof(T) == 8)
        return cpu_saturate64<T>(v);
    else
        return cpu_saturate<T>(v, (double)std::numeric_limits<T>::min(),
                               (double)std::numeric_limits<T>::max());
}

template <int E, int M>
struct cpu_float16 {
    typedef cpu_raw16<E, M> raw;
    unsigned short x;

    cpu_float16() = default;
    constexpr cpu_float16(raw a) : x(a.x)
    {
    }
    template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>
    cpu_float16(A a) : x(rounded(cpu_odd(a)))
    {
    }
    template <int E2, int M2, class = std::enable_if_t<E2 != E>>
    explicit cpu_float16(cpu_float16<E2, M2> a) : x(rounded(a.value()))
    {
    }
    volatile cpu_float16 &operator=(raw a) volatile
    {
        x = a.x;
        return *this;
    }
    operator raw() const
    {
        return {x};
    }
    operator raw() const volatile
    {
        return {x};
    }

    /* As value(), without a branch in the usual case. Exponent and fraction move to their places
     * in a float, and a product with a power of two, which is exact, corrects the bias, also of
     * subnormals. */
    operator float() const
    {
        const int bias = (1 << (E - 1)) - 1;
        const uint32_t magnitude = x & 0x7fffu, infinity = ((1u << E) - 1) << M;
        const float power = cpu_bit_cast<float>((uint32_t)(254 - bias) << 23);
        uint32_t bits = cpu_bit_cast<uint32_t>(cpu_bit_cast<float>(magnitude << (23 - M)) *
                                               (E == 8 ? 1.0f : power));
        if (magnitude >= infinity)
            bits = magnitude << (23 - M) | 0x7f800000 | (magnitude > infinity) << 22;
        return cpu_bit_cast<float>((uint32_t)(x >> 15) << 31 | bits);
    }
    constexpr operator bool() const
    {
        return (x & 0x7fff) != 0;
    }
    /* To integers: rounded to zero. */
#define CPU_TO(T)                                                                                  \
    operator T() const                                                                             \
    {                                                                                              \
        return cpu_integer<T>(std::trunc(value()));                                                \
    }
    CPU_TO(char)
    CPU_TO(signed char)
    CPU_TO(unsigned char)
    CPU_TO(short)
    CPU_TO(unsigned short)
    CPU_TO(int)
    CPU_TO(unsigned)
    CPU_TO(long)
    CPU_TO(unsigned long)
    CPU_TO(long long)
    CPU_TO(unsigned long long)
#undef CPU_TO

    static cpu_float16 of_bits(unsigned bits)
    {
        cpu_float16 r;
        r.x = (unsigned short)bits;
        return r;
    }

    double value() const
    {
        const uint64_t bias = (1 << (E - 1)) - 1, e = x >> M & ((1 << E) - 1);
        const uint64_t sign = (uint64_t)(x >> 15) << 63, m = x & ((1 << M) - 1);
        if (e == 0) /* zero or subnormal: a multiple of the smallest step */
            return (sign ? -1.0 : 1.0) * (double)m * cpu_bit_cast<double>((1024 - bias - M) << 52);
        const uint64_t wide = e == (1 << E) - 1 ? 2047 : e - bias + 1023;
        return cpu_bit_cast<double>(sign | wide << 52 | m << (52 - M));
    }
    bool is_nan() const
    {
        return (x & 0x7fff) > ((1 << E) - 1) << M;
    }

    /* v as a 16-bit number: the nearest ('n'), ties to even; the next one to zero ('z'), down ('d')
     * or up ('u'). NaN becomes 0x7fff, as on the GPU. */
    template <char way = 'n'>
    static unsigned short rounded(double v)
    {
        const int bias = (1 << (E - 1)) - 1, infinity = ((1 << E) - 1) << M;
        const uint64_t bits = cpu_bit_cast<uint64_t>(v), a = bits & ~0ull >> 1;
        const unsigned sign = (unsigned)(bits >> 63) << 15;
        const bool away = way == 'd' ? sign != 0 : way == 'u' && sign == 0; /* grows in size */
        uint64_t m = a & ((1ull << 52) - 1);
        int e = (int)(a >> 52) - 1023 + bias, shift = 52 - M;
        if (v != v)
            return 0x7fff;
        if (e >= (1 << E) - 1)
            return (unsigned short)(sign | (infinity - (way != 'n' && !away && a >> 52 != 2047)));
        if (e > 0) { /* the exponent lies above the fraction, so a carry moves into it */
            m |= (uint64_t)e << 52;
        } else {
            m |= 1ull << 52;
            shift += 1 - e;
            if (shift > 54) /* below half the smallest step */
                return (unsigned short)(sign | (away && a != 0));
        }
        uint64_t r = m >> shift, rest = m & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        r += way == 'n' ? rest > half || (rest == half && (r & 1)) : away && rest;
        return (unsigned short)(sign | (unsigned)r);
    }

    /* a * b + c, rounded to odd. */
    static double sum(cpu_float16 a, cpu_float16 b, cpu_float16 c)
    {
        double p = a.value() * b.value(), d = c.value(), s = p + d; /* p is exact */
        double back = s - p, error = (p - (s - back)) + (d - back);
        if (error != 0 && std::isfinite(s)) {
            uint64_t bits = cpu_bit_cast<uint64_t>(s);
            if (!(bits & 1)) /* round to odd: the last bit records a loss of bits */
                s = cpu_bit_cast<double>((error > 0) == (s > 0) ? bits + 1 : bits - 1);
        }
        return s;
    }
};

template <int E, int M>
struct __align__(4) cpu_float16x2
{
    typedef cpu_float16<E, M> half;
    typedef cpu_raw16x2<E, M> raw;
    half x, y;
    cpu_float16x2() = default;
    constexpr cpu_float16x2(half x, half y) : x(x), y(y)
    {
    }
    cpu_float16x2(raw a) : x(half::of_bits(a.x)), y(half::of_bits(a.y))
    {
    }
    operator raw() const
    {
        return {x.x, y.x};
    }
};

template <int E, int M>
struct cpu_rounds<cpu_float16<E, M>> : std::true_type {
};
template <int E, int M>
struct cpu_rounds<cpu_float16x2<E, M>> : std::true_type {
};

/* v between 0 and 1, NaN as 0: for functions whose names end in _sat. */
inline double cpu_unit(double v)
{
    return v >= 1 ? 1 : v > 0 ? v : 0;
}
/* v, or 0 if it is negative: for functions whose names end in _relu. */
inline double cpu_relu(double v)
{
    return v <= 0 ? 0 : v;
}
/* tanh with an error of up to what is documented for tanh.approx, as in inline PTX. */
template <int E, int M>
inline double cpu_tanh_approx(cpu_float16<E, M> a)
{
    const double r = std::tanh(a.value()), size = fabs(r), most = M == 10 ? 0x1p-12 : 0x1p-9;
    if (size < (M == 10 ? 0x1p-14 : 0x1p-126))
        return r;
    return cpu_off(r, cpu_bit_cast<uint64_t>(a.value()), fmin(most, 2 * most * size));
}
