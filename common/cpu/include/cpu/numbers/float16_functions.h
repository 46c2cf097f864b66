/* The functions and operators of one 16-bit format. cuda_fp16.h and cuda_bf16.h include this, each
 * after it has defined
 *   CPU_HALF, CPU_HALF2      the types of one number and of two
 *   CPU_SCALAR, CPU_PAIR     the same in names: __float2##CPU_SCALAR, __float22##CPU_PAIR##_rn
 *   CPU_OPERATORS, CPU_OPERATORS2   where the program wants the operators of one, and of two
 * All of them are undefined at the end. */

#define CPU_FUNCTION(R, name, parameters, ...)                                                     \
    CPU_SEEN R name parameters                                                                     \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
#define CPU_UNARY(R, name, expression) CPU_FUNCTION(R, name, (CPU_HALF a), expression)
#define CPU_BINARY(R, name, expression) CPU_FUNCTION(R, name, (CPU_HALF a, CPU_HALF b), expression)
#define CPU_BY_PAIRS(name, scalar)                                                                 \
    CPU_FUNCTION(CPU_HALF2, name, (CPU_HALF2 a, CPU_HALF2 b), {scalar(a.x, b.x), scalar(a.y, b.y)})
#define CPU_OF_PAIR(name, scalar)                                                                  \
    CPU_FUNCTION(CPU_HALF2, name, (CPU_HALF2 a), {scalar(a.x), scalar(a.y)})
#define CPU_PASTE(a, b, c) a##b##c
#define CPU_NAME(a, b, c) CPU_PASTE(a, b, c)
/* X(suffix, rounding, function that rounds a double) for each rounding but the first; all. */
#define CPU_DIRECTED(X, ...)                                                                       \
    X(rd, 'd', std::floor, __VA_ARGS__)                                                            \
    X(ru, 'u', std::ceil, __VA_ARGS__)
#define CPU_WAYS(X, ...)                                                                           \
    X(rn, 'n', std::rint, __VA_ARGS__)                                                             \
    X(rz, 'z', std::trunc, __VA_ARGS__)                                                            \
    CPU_DIRECTED(X, __VA_ARGS__)

/* Conversions of numbers. */
CPU_FUNCTION(CPU_HALF, CPU_NAME(__float2, CPU_SCALAR, ), (float a), CPU_HALF(a))
CPU_FUNCTION(CPU_HALF, CPU_NAME(__double2, CPU_SCALAR, ), (double a), CPU_HALF(a))
CPU_FUNCTION(float, CPU_NAME(__, CPU_SCALAR, 2float), (CPU_HALF a), (float)a)
#define CPU_FROM(suffix, way, round, name, T)                                                      \
    CPU_FUNCTION(CPU_HALF, CPU_NAME(__##name##2, CPU_SCALAR, _##suffix), (T a),                    \
                 CPU_HALF::of_bits(CPU_HALF::rounded<way>(cpu_odd(a))))
#define CPU_TO(suffix, way, round, name, T)                                                        \
    CPU_FUNCTION(T, CPU_NAME(__, CPU_SCALAR, 2##name##_##suffix), (CPU_HALF a),                    \
                 cpu_integer<T>(round(a.value())))
CPU_WAYS(CPU_FROM, float, float)
#define CPU_BOTH(name, T) CPU_WAYS(CPU_FROM, name, T) CPU_WAYS(CPU_TO, name, T)
CPU_BOTH(short, short)
CPU_BOTH(ushort, unsigned short)
CPU_BOTH(int, int)
CPU_BOTH(uint, unsigned)
CPU_BOTH(ll, long long)
CPU_BOTH(ull, unsigned long long)
CPU_TO(rz, 'z', std::trunc, char, signed char)
CPU_TO(rz, 'z', std::trunc, uchar, unsigned char)
#undef CPU_BOTH
#undef CPU_FROM
#undef CPU_TO

/* Conversions of bits, and of pairs. */
CPU_FUNCTION(unsigned short, CPU_NAME(__, CPU_SCALAR, _as_ushort), (CPU_HALF a), a.x)
CPU_FUNCTION(short, CPU_NAME(__, CPU_SCALAR, _as_short), (CPU_HALF a), (short)a.x)
CPU_FUNCTION(CPU_HALF, CPU_NAME(__ushort_as_, CPU_SCALAR, ), (unsigned short a),
             CPU_HALF::of_bits(a))
CPU_FUNCTION(CPU_HALF, CPU_NAME(__short_as_, CPU_SCALAR, ), (short a),
             CPU_HALF::of_bits((unsigned short)a))
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__float2, CPU_PAIR, _rn), (float a), {CPU_HALF(a), CPU_HALF(a)})
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__floats2, CPU_PAIR, _rn), (float a, float b),
             {CPU_HALF(a), CPU_HALF(b)})
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__float22, CPU_PAIR, _rn), (float2 a),
             {CPU_HALF(a.x), CPU_HALF(a.y)})
CPU_FUNCTION(float2, CPU_NAME(__, CPU_PAIR, 2float2), (CPU_HALF2 a),
             make_float2((float)a.x, (float)a.y))
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__halves2, CPU_PAIR, ), (CPU_HALF a, CPU_HALF b), {a, b})
CPU_FUNCTION(CPU_HALF2, CPU_NAME(make_, CPU_PAIR, ), (CPU_HALF a, CPU_HALF b), {a, b})
CPU_FUNCTION(CPU_HALF2, CPU_NAME(CPU_NAME(__, CPU_SCALAR, 2), CPU_PAIR, ), (CPU_HALF a), {a, a})
CPU_FUNCTION(CPU_HALF, CPU_NAME(__low2, CPU_SCALAR, ), (CPU_HALF2 a), a.x)
CPU_FUNCTION(CPU_HALF, CPU_NAME(__high2, CPU_SCALAR, ), (CPU_HALF2 a), a.y)
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__low2, CPU_PAIR, ), (CPU_HALF2 a), {a.x, a.x})
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__high2, CPU_PAIR, ), (CPU_HALF2 a), {a.y, a.y})
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__lows2, CPU_PAIR, ), (CPU_HALF2 a, CPU_HALF2 b), {a.x, b.x})
CPU_FUNCTION(CPU_HALF2, CPU_NAME(__highs2, CPU_PAIR, ), (CPU_HALF2 a, CPU_HALF2 b), {a.y, b.y})
CPU_FUNCTION(CPU_HALF2, __lowhigh2highlow, (CPU_HALF2 a), {a.y, a.x})
CPU_FUNCTION(float, __low2float, (CPU_HALF2 a), (float)a.x)
CPU_FUNCTION(float, __high2float, (CPU_HALF2 a), (float)a.y)

/* Arithmetic. Nothing is contracted here, so _rn changes nothing. */
#define CPU_ARITHMETIC(name, ...)                                                                  \
    CPU_BINARY(CPU_HALF, __h##name, CPU_HALF(__VA_ARGS__))                                         \
    CPU_BINARY(CPU_HALF, __h##name##_rn, CPU_HALF(__VA_ARGS__))                                    \
    CPU_BINARY(CPU_HALF, __h##name##_sat, CPU_HALF(cpu_unit(__VA_ARGS__)))                         \
    CPU_BY_PAIRS(__h##name##2, __h##name)                                                          \
    CPU_BY_PAIRS(__h##name##2_rn, __h##name)                                                       \
    CPU_BY_PAIRS(__h##name##2_sat, __h##name##_sat)
CPU_ARITHMETIC(add, a.value() + b.value())
CPU_ARITHMETIC(sub, a.value() - b.value())
CPU_ARITHMETIC(mul, a.value() * b.value())
#undef CPU_ARITHMETIC
CPU_BINARY(CPU_HALF, __hdiv, (CPU_SPECIAL(CPU_DIV), CPU_HALF(a.value() / b.value())))
CPU_BY_PAIRS(__h2div, __hdiv)
#define CPU_FMA(suffix, limit)                                                                     \
    CPU_FUNCTION(CPU_HALF, __hfma##suffix, (CPU_HALF a, CPU_HALF b, CPU_HALF c),                   \
                 CPU_HALF(limit(CPU_HALF::sum(a, b, c))))                                          \
    CPU_FUNCTION(CPU_HALF2, __hfma2##suffix, (CPU_HALF2 a, CPU_HALF2 b, CPU_HALF2 c),              \
                 {__hfma##suffix(a.x, b.x, c.x), __hfma##suffix(a.y, b.y, c.y)})
CPU_FMA(, )
CPU_FMA(_sat, cpu_unit)
CPU_FMA(_relu, cpu_relu)
#undef CPU_FMA
CPU_UNARY(bool, __hisnan, a.is_nan())
CPU_UNARY(int, __hisinf, std::isinf(a.value()) ? (a.x >> 15 ? -1 : 1) : 0)
CPU_UNARY(CPU_HALF, __hneg, CPU_HALF::of_bits(a.is_nan() ? 0x7fffu : a.x ^ 0x8000u))
CPU_UNARY(CPU_HALF, __habs, CPU_HALF::of_bits(a.is_nan() ? 0x7fffu : a.x & 0x7fffu))
CPU_OF_PAIR(__hneg2, __hneg)
CPU_OF_PAIR(__habs2, __habs)
CPU_FUNCTION(CPU_HALF2, __hisnan2, (CPU_HALF2 a), {CPU_HALF(a.x.is_nan()), CPU_HALF(a.y.is_nan())})
/* a * b + c of complex numbers, as four FMA: first those with the real part of a. */
CPU_FUNCTION(CPU_HALF2, __hcmadd, (CPU_HALF2 a, CPU_HALF2 b, CPU_HALF2 c),
             {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
              __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))})

/* Maximum and minimum. Of a number and a NaN: the number, but NaN of __hmax_nan. +0 is larger than
 * -0. */
#define CPU_EXTREME(name, op, sign)                                                                \
    CPU_BINARY(CPU_HALF, __h##name,                                                                \
               a.is_nan()   ? b.is_nan() ? CPU_HALF::of_bits(0x7fff) : b                           \
               : b.is_nan() ? a                                                                    \
               : a.value() op b.value() || (a.value() == b.value() && (a.x >> 15) == sign) ? a     \
                                                                                           : b)    \
    CPU_BINARY(CPU_HALF, __h##name##_nan,                                                          \
               a.is_nan() || b.is_nan() ? CPU_HALF::of_bits(0x7fff) : __h##name(a, b))             \
    CPU_BY_PAIRS(__h##name##2, __h##name)                                                          \
    CPU_BY_PAIRS(__h##name##2_nan, __h##name##_nan)
CPU_EXTREME(max, >, 0)
CPU_EXTREME(min, <, 1)
#undef CPU_EXTREME

/* Comparisons: ordered ones are false where a number is NaN, unordered ones (u) true. Those of
 * pairs give 1 or 0 for each half, or all bits of it, or whether it holds for both. */
#define CPU_COMPARE_AS(name, ...)                                                                  \
    CPU_BINARY(bool, __h##name, __VA_ARGS__)                                                       \
    CPU_FUNCTION(CPU_HALF2, __h##name##2, (CPU_HALF2 a, CPU_HALF2 b),                              \
                 {CPU_HALF(__h##name(a.x, b.x)), CPU_HALF(__h##name(a.y, b.y))})                   \
    CPU_FUNCTION(unsigned, __h##name##2_mask, (CPU_HALF2 a, CPU_HALF2 b),                          \
                 (__h##name(a.x, b.x) ? 0xffffu : 0) | (__h##name(a.y, b.y) ? 0xffff0000u : 0))    \
    CPU_FUNCTION(bool, __hb##name##2, (CPU_HALF2 a, CPU_HALF2 b),                                  \
                 __h##name(a.x, b.x) && __h##name(a.y, b.y))
#define CPU_COMPARE(name, op)                                                                      \
    CPU_COMPARE_AS(name, !a.is_nan() && !b.is_nan() && a.value() op b.value())                     \
    CPU_COMPARE_AS(name##u, a.is_nan() || b.is_nan() || a.value() op b.value())
CPU_COMPARE(eq, ==)
CPU_COMPARE(ne, !=)
CPU_COMPARE(lt, <)
CPU_COMPARE(le, <=)
CPU_COMPARE(gt, >)
CPU_COMPARE(ge, >=)
#undef CPU_COMPARE
#undef CPU_COMPARE_AS

/* Functions. */
#define CPU_MATH(name, ...)                                                                        \
    CPU_UNARY(CPU_HALF, h##name, (CPU_HALF(__VA_ARGS__)))                                          \
    CPU_OF_PAIR(h2##name, h##name)
CPU_MATH(sqrt, std::sqrt(a.value()))
CPU_MATH(rsqrt, (CPU_SPECIAL(CPU_RSQRT), 1 / __builtin_sqrt(a.value())))
CPU_MATH(rcp, (CPU_SPECIAL(CPU_DIV), 1 / a.value()))
CPU_MATH(exp, std::exp(a.value()))
CPU_MATH(exp2, std::exp2(a.value()))
CPU_MATH(exp10, std::pow(10.0, a.value()))
CPU_MATH(log, std::log(a.value()))
CPU_MATH(log2, std::log2(a.value()))
CPU_MATH(log10, std::log10(a.value()))
CPU_MATH(sin, std::sin(a.value()))
CPU_MATH(cos, std::cos(a.value()))
CPU_MATH(tanh, std::tanh(a.value()))
CPU_MATH(tanh_approx, cpu_tanh_approx(a))
CPU_MATH(floor, std::floor(a.value()))
CPU_MATH(ceil, std::ceil(a.value()))
CPU_MATH(trunc, std::trunc(a.value()))
CPU_MATH(rint, std::rint(a.value()))
#undef CPU_MATH

/* Without the operators, which a program may have left out. */
CPU_FUNCTION(CPU_HALF, atomicAdd, (CPU_HALF * p, CPU_HALF v),
             cpu_atomic(p, [v](CPU_HALF old) { return __hadd(old, v); }))
CPU_FUNCTION(CPU_HALF2, atomicAdd, (CPU_HALF2 * p, CPU_HALF2 v),
             cpu_atomic(p, [v](CPU_HALF2 old) { return __hadd2(old, v); }))

#define CPU_OPERATOR(H, op, name)                                                                  \
    CPU_FUNCTION(H, operator op, (const H &a, const H &b), name(a, b))                             \
    CPU_FUNCTION(H &, operator op##=, (H & a, const H &b), a = name(a, b))
#define CPU_STEP(H, op, name, one)                                                                 \
    CPU_FUNCTION(H &, operator op, (H & a), a = name(a, one))                                      \
    CPU_SEEN H operator op(H &a, int)                                                              \
    {                                                                                              \
        const H before = a;                                                                        \
        a = name(a, one);                                                                          \
        return before;                                                                             \
    }
#define CPU_RELATION(H, op, name)                                                                  \
    CPU_FUNCTION(bool, operator op, (const H &a, const H &b), name(a, b))
#ifdef CPU_OPERATORS
CPU_OPERATOR(CPU_HALF, +, __hadd)
CPU_OPERATOR(CPU_HALF, -, __hsub)
CPU_OPERATOR(CPU_HALF, *, __hmul)
#define CPU_QUOTIENT(a, b) CPU_HALF(a.value() / b.value()) /* the rewriter counts the operator */
CPU_OPERATOR(CPU_HALF, /, CPU_QUOTIENT)
#undef CPU_QUOTIENT
CPU_STEP(CPU_HALF, ++, __hadd, CPU_HALF(1))
CPU_STEP(CPU_HALF, --, __hsub, CPU_HALF(1))
CPU_FUNCTION(CPU_HALF, operator+, (const CPU_HALF &a), a)
CPU_FUNCTION(CPU_HALF, operator-, (const CPU_HALF &a), __hneg(a))
CPU_RELATION(CPU_HALF, ==, __heq)
CPU_RELATION(CPU_HALF, !=, __hneu)
CPU_RELATION(CPU_HALF, <, __hlt)
CPU_RELATION(CPU_HALF, <=, __hle)
CPU_RELATION(CPU_HALF, >, __hgt)
CPU_RELATION(CPU_HALF, >=, __hge)
#endif
#ifdef CPU_OPERATORS2
CPU_OPERATOR(CPU_HALF2, +, __hadd2)
CPU_OPERATOR(CPU_HALF2, -, __hsub2)
CPU_OPERATOR(CPU_HALF2, *, __hmul2)
#define CPU_QUOTIENT(a, b)                                                                         \
    CPU_HALF2(CPU_HALF(a.x.value() / b.x.value()), CPU_HALF(a.y.value() / b.y.value()))
CPU_OPERATOR(CPU_HALF2, /, CPU_QUOTIENT)
#undef CPU_QUOTIENT
CPU_STEP(CPU_HALF2, ++, __hadd2, CPU_HALF2(CPU_HALF(1), CPU_HALF(1)))
CPU_STEP(CPU_HALF2, --, __hsub2, CPU_HALF2(CPU_HALF(1), CPU_HALF(1)))
CPU_FUNCTION(CPU_HALF2, operator+, (const CPU_HALF2 &a), a)
CPU_FUNCTION(CPU_HALF2, operator-, (const CPU_HALF2 &a), __hneg2(a))
CPU_RELATION(CPU_HALF2, ==, __hbeq2)
CPU_RELATION(CPU_HALF2, !=, __hbneu2)
CPU_RELATION(CPU_HALF2, <, __hblt2)
CPU_RELATION(CPU_HALF2, <=, __hble2)
CPU_RELATION(CPU_HALF2, >, __hbgt2)
CPU_RELATION(CPU_HALF2, >=, __hbge2)
#endif
#undef CPU_OPERATOR
#undef CPU_STEP
#undef CPU_RELATION

#undef CPU_FUNCTION
#undef CPU_UNARY
#undef CPU_BINARY
#undef CPU_BY_PAIRS
#undef CPU_OF_PAIR
#undef CPU_PASTE
#undef CPU_NAME
#undef CPU_DIRECTED
#undef CPU_WAYS
#undef CPU_HALF
#undef CPU_HALF2
#undef CPU_SCALAR
#undef CPU_PAIR
#undef CPU_OPERATORS
#undef CPU_OPERATORS2
