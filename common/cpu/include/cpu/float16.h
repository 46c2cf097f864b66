/* 16-bit floating point for cuda_fp16.h and cuda_bf16.h, with E exponent and M fraction bits.
 *
 * Every operation is computed in double and rounded once to nearest even. That gives the correctly
 * rounded result: for + - * / and sqrt a double has more than twice the bits plus two, so its own
 * rounding does no harm, and fma rounds its double sum to odd, which keeps the last rounding right.
 * hexp, hrsqrt and the like are as exact as the double that they round. */
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
#define CPU_FUNCTION(R, name, parameters, ...)                                                     \
    CPU_SEEN R name parameters                                                                     \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }

#define CPU_ARITHMETIC(T, op, ...)                                                                 \
    friend CPU_SEEN T operator op(T a, T b)                                                        \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    T &operator op##=(T b)                                                                         \
    {                                                                                              \
        return *this = *this op b;                                                                 \
    }
template <int E, int M>
struct cpu_float16 {
    unsigned short x;

    cpu_float16() = default;
    template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>
    cpu_float16(A a) : x(rounded((double)a))
    {
    }
    template <int E2, int M2, class = std::enable_if_t<E2 != E>>
    explicit cpu_float16(cpu_float16<E2, M2> a) : x(rounded(a.value()))
    {
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

    /* The nearest 16-bit number, ties to even; NaN becomes 0x7fff, as on the GPU. */
    static unsigned short rounded(double v)
    {
        const int bias = (1 << (E - 1)) - 1, infinity = ((1 << E) - 1) << M;
        const uint64_t bits = cpu_bit_cast<uint64_t>(v), a = bits & ~0ull >> 1;
        const unsigned sign = (unsigned)(bits >> 63) << 15;
        uint64_t m = a & ((1ull << 52) - 1);
        int e = (int)(a >> 52) - 1023 + bias, shift = 52 - M;
        if (v != v)
            return 0x7fff;
        if (e >= (1 << E) - 1)
            return (unsigned short)(sign | infinity);
        if (e > 0) { /* the exponent lies above the fraction, so a carry moves into it */
            m |= (uint64_t)e << 52;
        } else {
            m |= 1ull << 52;
            shift += 1 - e;
            if (shift > 54)
                return (unsigned short)sign; /* below half the smallest step */
        }
        uint64_t r = m >> shift, rest = m & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        r += rest > half || (rest == half && (r & 1));
        return (unsigned short)(sign | (unsigned)r);
    }

    static cpu_float16 fma(cpu_float16 a, cpu_float16 b, cpu_float16 c)
    {
        double p = a.value() * b.value(), d = c.value(), s = p + d; /* p is exact */
        double back = s - p, error = (p - (s - back)) + (d - back);
        if (error != 0 && std::isfinite(s)) {
            uint64_t bits = cpu_bit_cast<uint64_t>(s);
            if (!(bits & 1)) /* round to odd: the last bit records a loss of bits */
                s = cpu_bit_cast<double>((error > 0) == (s > 0) ? bits + 1 : bits - 1);
        }
        return cpu_float16(s);
    }

    CPU_ARITHMETIC(cpu_float16, +, a.value() + b.value())
    CPU_ARITHMETIC(cpu_float16, -, a.value() - b.value())
    CPU_ARITHMETIC(cpu_float16, *, a.value() * b.value())
    CPU_ARITHMETIC(cpu_float16, /, a.value() / b.value())
#define CPU_OPERATOR(op)                                                                           \
    friend bool operator op(cpu_float16 a, cpu_float16 b)                                          \
    {                                                                                              \
        return a.value() op b.value();                                                             \
    }
    CPU_OPERATOR(==)
    CPU_OPERATOR(!=)
    CPU_OPERATOR(<)
    CPU_OPERATOR(<=)
    CPU_OPERATOR(>)
    CPU_OPERATOR(>=)
#undef CPU_OPERATOR
    friend CPU_SEEN cpu_float16 operator-(cpu_float16 a)
    {
        return of_bits(a.x ^ 0x8000u);
    }
};

template <int E, int M>
struct __align__(4) cpu_float16x2
{
    typedef cpu_float16<E, M> half;
    half x, y;
    cpu_float16x2() = default;
    cpu_float16x2(half x, half y) : x(x), y(y)
    {
    }
    CPU_ARITHMETIC(cpu_float16x2, +, {a.x + b.x, a.y + b.y})
    CPU_ARITHMETIC(cpu_float16x2, -, {a.x - b.x, a.y - b.y})
    CPU_ARITHMETIC(cpu_float16x2, *, {a.x * b.x, a.y * b.y})
    CPU_ARITHMETIC(cpu_float16x2, /, {a.x / b.x, a.y / b.y})
};

#undef CPU_ARITHMETIC

/* The intrinsics with the same name for both types. */
#define CPU_HALF cpu_float16<E, M>
#define CPU_HALF2 cpu_float16x2<E, M>
#define CPU_INTRINSIC(R, name, parameters, ...)                                                    \
    template <int E, int M>                                                                        \
    CPU_SEEN R name parameters                                                                     \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
#define CPU_UNARY(R, name, expression)                                                             \
    template <int E, int M>                                                                        \
    CPU_SEEN R name(CPU_HALF a)                                                                    \
    {                                                                                              \
        typedef CPU_HALF H;                                                                        \
        return (void)sizeof(H), expression;                                                        \
    }
#define CPU_BINARY(R, name, expression)                                                            \
    template <int E, int M>                                                                        \
    CPU_SEEN R name(CPU_HALF a, CPU_HALF b)                                                        \
    {                                                                                              \
        return expression;                                                                         \
    }
#define CPU_PAIR(name, scalar)                                                                     \
    template <int E, int M>                                                                        \
    CPU_SEEN CPU_HALF2 name(CPU_HALF2 a, CPU_HALF2 b)                                              \
    {                                                                                              \
        return {scalar(a.x, b.x), scalar(a.y, b.y)};                                               \
    }
CPU_BINARY(CPU_HALF, __hadd, a + b)
CPU_BINARY(CPU_HALF, __hadd_rn, a + b)
CPU_BINARY(CPU_HALF, __hsub, a - b)
CPU_BINARY(CPU_HALF, __hmul, a *b)
CPU_BINARY(CPU_HALF, __hmul_rn, a *b)
CPU_BINARY(CPU_HALF, __hdiv, a / b)
CPU_BINARY(bool, __heq, a == b)
CPU_BINARY(bool, __hne, !__hisnan(a) && !__hisnan(b) && a != b)
CPU_BINARY(bool, __hlt, a < b)
CPU_BINARY(bool, __hle, a <= b)
CPU_BINARY(bool, __hgt, a > b)
CPU_BINARY(bool, __hge, a >= b)
CPU_UNARY(bool, __hisnan, a != a)
CPU_UNARY(int, __hisinf, std::isinf(a.value()) ? (a.x >> 15 ? -1 : 1) : 0)
CPU_BINARY(CPU_HALF, __hmax_nan, a != a || a > b ? a : b)
CPU_BINARY(CPU_HALF, __hmin_nan, a != a || a < b ? a : b)
/* Of a number and a NaN: the number. Of two zeros with different signs: +0 is the larger. */
CPU_BINARY(CPU_HALF, __hmax, a != a ? b : b != b || a > b || (a == b && !(a.x >> 15)) ? a : b)
CPU_BINARY(CPU_HALF, __hmin, a != a ? b : b != b || a < b || (a == b && a.x >> 15) ? a : b)
CPU_UNARY(CPU_HALF, __hneg, -a)
CPU_UNARY(CPU_HALF, __habs, H::of_bits(a.x & 0x7fffu))
CPU_UNARY(CPU_HALF, hsqrt, H(std::sqrt(a.value())))
CPU_UNARY(CPU_HALF, hrsqrt, H(1 / std::sqrt(a.value())))
CPU_UNARY(CPU_HALF, hrcp, H(1 / a.value()))
CPU_UNARY(CPU_HALF, hexp, H(std::exp(a.value())))
CPU_UNARY(CPU_HALF, hexp2, H(std::exp2(a.value())))
CPU_UNARY(CPU_HALF, hlog, H(std::log(a.value())))
CPU_UNARY(CPU_HALF, hlog2, H(std::log2(a.value())))
CPU_UNARY(CPU_HALF, hsin, H(std::sin(a.value())))
CPU_UNARY(CPU_HALF, hcos, H(std::cos(a.value())))
CPU_UNARY(CPU_HALF, htanh, H(std::tanh(a.value())))
CPU_UNARY(CPU_HALF, hfloor, H(std::floor(a.value())))
CPU_UNARY(CPU_HALF, hceil, H(std::ceil(a.value())))
CPU_UNARY(CPU_HALF, htrunc, H(std::trunc(a.value())))
CPU_UNARY(CPU_HALF, hrint, H(std::rint(a.value())))
CPU_PAIR(__hadd2, __hadd)
CPU_PAIR(__hsub2, __hsub)
CPU_PAIR(__hmul2, __hmul)
CPU_PAIR(__h2div, __hdiv)
CPU_PAIR(__hmax2, __hmax)
CPU_PAIR(__hmin2, __hmin)
CPU_INTRINSIC(CPU_HALF, __hfma, (CPU_HALF a, CPU_HALF b, CPU_HALF c), CPU_HALF::fma(a, b, c))
CPU_INTRINSIC(CPU_HALF2, __hfma2, (CPU_HALF2 a, CPU_HALF2 b, CPU_HALF2 c),
              {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)})
CPU_INTRINSIC(CPU_HALF2, __hneg2, (CPU_HALF2 a), {-a.x, -a.y})
CPU_INTRINSIC(CPU_HALF2, __habs2, (CPU_HALF2 a), {__habs(a.x), __habs(a.y)})
CPU_INTRINSIC(float, __low2float, (CPU_HALF2 a), a.x)
CPU_INTRINSIC(float, __high2float, (CPU_HALF2 a), a.y)
CPU_INTRINSIC(CPU_HALF2, __lowhigh2highlow, (CPU_HALF2 a), {a.y, a.x})
#undef CPU_INTRINSIC
#undef CPU_UNARY
#undef CPU_BINARY
#undef CPU_PAIR
#undef CPU_HALF
#undef CPU_HALF2

/* The intrinsics with the type in their names: `scalar` as in __float2##scalar, `pair` as in
 * __float22##pair##_rn. */
#define CPU_FLOAT16_NAMES(H, H2, scalar, pair)                                                     \
    CPU_FUNCTION(H, __float2##scalar, (float a), H(a))                                             \
    CPU_FUNCTION(H, __float2##scalar##_rn, (float a), H(a))                                        \
    CPU_FUNCTION(H, __double2##scalar, (double a), H(a))                                           \
    CPU_FUNCTION(H, __int2##scalar##_rn, (int a), H(a))                                            \
    CPU_FUNCTION(float, __##scalar##2float, (H a), a)                                              \
    CPU_FUNCTION(int, __##scalar##2int_rn, (H a), __float2int_rn(a))                               \
    CPU_FUNCTION(int, __##scalar##2int_rz, (H a), __float2int_rz(a))                               \
    CPU_FUNCTION(unsigned short, __##scalar##_as_ushort, (H a), a.x)                               \
    CPU_FUNCTION(short, __##scalar##_as_short, (H a), (short)a.x)                                  \
    CPU_FUNCTION(H, __ushort_as_##scalar, (unsigned short a), H::of_bits(a))                       \
    CPU_FUNCTION(H, __short_as_##scalar, (short a), H::of_bits((unsigned short)a))                 \
    CPU_FUNCTION(H2, __float2##pair##_rn, (float a), {H(a), H(a)})                                 \
    CPU_FUNCTION(H2, __floats2##pair##_rn, (float a, float b), {H(a), H(b)})                       \
    CPU_FUNCTION(H2, __float22##pair##_rn, (float2 a), {H(a.x), H(a.y)})                           \
    CPU_FUNCTION(float2, __##pair##2float2, (H2 a), make_float2(a.x, a.y))                         \
    CPU_FUNCTION(H2, __halves2##pair, (H a, H b), {a, b})                                          \
    CPU_FUNCTION(H2, make_##pair, (H a, H b), {a, b})                                              \
    CPU_FUNCTION(H2, __##scalar##2##pair, (H a), {a, a})                                           \
    CPU_FUNCTION(H, __low2##scalar, (H2 a), a.x)                                                   \
    CPU_FUNCTION(H, __high2##scalar, (H2 a), a.y)                                                  \
    CPU_FUNCTION(H2, __low2##pair, (H2 a), {a.x, a.x})                                             \
    CPU_FUNCTION(H2, __high2##pair, (H2 a), {a.y, a.y})                                            \
    CPU_FUNCTION(H2, __lows2##pair, (H2 a, H2 b), {a.x, b.x})                                      \
    CPU_FUNCTION(H2, __highs2##pair, (H2 a, H2 b), {a.y, b.y})
