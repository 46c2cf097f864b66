/* Device math that fewer programs call: directed rounding, special functions, operations on the
 * halves and bytes of integers. Part of math.h. */
#pragma once

#include <fenv.h>
#include <limits>

/* r is the result rounded to nearest. The exact result is greater (error > 0) or less (error <
 * 0) than r. Returns the result rounded to zero ('z'), down ('d') or up ('u'). */
template <char way, class T>
inline T cpu_directed(T r, T error)
{
    const T most = std::numeric_limits<T>::max(), inf = std::numeric_limits<T>::infinity();
    if (r == inf || r == -inf) /* an error other than 0: it has overflowed */
        return error == 0 ? r : r > 0 ? (way == 'u' ? r : most) : (way == 'd' ? r : -most);
    if (error > 0 && (way == 'u' || (way == 'z' && r < 0)))
        return std::nextafter(r, inf);
    if (error < 0 && (way == 'd' || (way == 'z' && r > 0)))
        return std::nextafter(r, -inf);
    return r;
}
/* a + b, a * b, a / b, the square root of a, or a * b + c ('f'), by the processor in its other
 * rounding modes. Accesses of volatile variables stay between the two calls that set the mode; they
 * are none of the kernel's, so the instruments must not see them. */
template <char way, class T>
__attribute__((noinline, no_sanitize("thread"))) inline T cpu_in_way(char op, T a, T b, T c)
{
    volatile T x = a, y = b, z = c, r;
    fesetround(way == 'z' ? FE_TOWARDZERO : way == 'd' ? FE_DOWNWARD : FE_UPWARD);
    if (op == '+')
        r = x + y;
    else if (op == '*')
        r = x * y;
    else if (op == '/')
        r = x / y;
    else if (op == 's')
        r = (T)std::sqrt(x);
    else
        r = std::fma(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}
#define CPU_DIRECTED(way, letter)                                                                  \
    CPU_F2(float, __fadd_##way, float, float, (cpu_in_way<letter>('+', a, b, a)))                  \
    CPU_F2(float, __fsub_##way, float, float, (cpu_in_way<letter>('+', a, -b, a)))                 \
    CPU_F2(float, __fmul_##way, float, float, (cpu_in_way<letter>('*', a, b, a)))                  \
    CPU_F2(float, __fdiv_##way, float, float,                                                      \
           (CPU_SPECIAL(CPU_DIV), cpu_in_way<letter>('/', a, b, a)))                               \
    CPU_F1(float, __frcp_##way, float,                                                             \
           (CPU_SPECIAL(CPU_DIV), cpu_in_way<letter>('/', 1.0f, a, a)))                            \
    CPU_F1(float, __fsqrt_##way, float, (cpu_in_way<letter>('s', a, a, a)))                        \
    CPU_F2(double, __dadd_##way, double, double, (cpu_in_way<letter>('+', a, b, a)))               \
    CPU_F2(double, __dsub_##way, double, double, (cpu_in_way<letter>('+', a, -b, a)))              \
    CPU_F2(double, __dmul_##way, double, double, (cpu_in_way<letter>('*', a, b, a)))               \
    CPU_F2(double, __ddiv_##way, double, double,                                                   \
           (CPU_SPECIAL(CPU_DIV), cpu_in_way<letter>('/', a, b, a)))                               \
    CPU_F1(double, __drcp_##way, double,                                                           \
           (CPU_SPECIAL(CPU_DIV), cpu_in_way<letter>('/', 1.0, a, a)))                             \
    CPU_F1(double, __dsqrt_##way, double, (cpu_in_way<letter>('s', a, a, a)))                      \
    CPU_F3(float, __fmaf_##way, float, float, float, (cpu_in_way<letter>('f', a, b, c)))           \
    CPU_F3(float, __fmaf_ieee_##way, float, float, float, (cpu_in_way<letter>('f', a, b, c)))      \
    CPU_F3(double, __fma_##way, double, double, double, (cpu_in_way<letter>('f', a, b, c)))
CPU_DIRECTED(rz, 'z')
CPU_DIRECTED(rd, 'd')
CPU_DIRECTED(ru, 'u')
#undef CPU_DIRECTED
CPU_F1(double, __drcp_rn, double, 1 / a)
CPU_F3(float, __fmaf_ieee_rn, float, float, float, fmaf(a, b, c))

/* Conversions between 64-bit integers and floating point. They saturate, as those of 32 bits do. */
template <class To>
inline To cpu_saturate64(double v)
{
    const double most = std::numeric_limits<To>::is_signed ? 0x1p63 : 0x1p64;
    return v != v                                        ? (To)1 << 63
           : v >= most                                   ? std::numeric_limits<To>::max()
           : v <= (double)std::numeric_limits<To>::min() ? std::numeric_limits<To>::min()
                                                         : (To)v;
}
#define CPU_TO_INTEGERS(suffix, round)                                                             \
    CPU_F1(long long, __float2ll_##suffix, float, cpu_saturate64<long long>(round(a)))             \
    CPU_F1(unsigned long long, __float2ull_##suffix, float,                                        \
           cpu_saturate64<unsigned long long>(round(a)))                                           \
    CPU_F1(long long, __double2ll_##suffix, double, cpu_saturate64<long long>(round(a)))           \
    CPU_F1(unsigned long long, __double2ull_##suffix, double,                                      \
           cpu_saturate64<unsigned long long>(round(a)))                                           \
    CPU_F1(unsigned, __double2uint_##suffix, double,                                               \
           a != a ? 0x80000000u : cpu_saturate<unsigned>(round(a), 0, 0x1p32 - 1))
CPU_TO_INTEGERS(rn, std::rint)
CPU_TO_INTEGERS(rz, std::trunc)
CPU_TO_INTEGERS(rd, std::floor)
CPU_TO_INTEGERS(ru, std::ceil)
#undef CPU_TO_INTEGERS
template <char way, class To, class From>
inline To cpu_from_integer(From a)
{
    const To r = (To)a;
    return cpu_directed<way, To>(r,
                                 (To)((__int128)a > (__int128)r) - (To)((__int128)a < (__int128)r));
}
template <char way>
inline float cpu_to_float(double a)
{
    const float r = (float)a;
    return cpu_directed<way, float>(r, (float)(a > (double)r) - (float)(a < (double)r));
}
#define CPU_FROM_INTEGERS(suffix, way)                                                             \
    CPU_F1(float, __int2float_##suffix, int, (cpu_from_integer<way, float>(a)))                    \
    CPU_F1(float, __uint2float_##suffix, unsigned, (cpu_from_integer<way, float>(a)))              \
    CPU_F1(float, __ll2float_##suffix, long long, (cpu_from_integer<way, float>(a)))               \
    CPU_F1(float, __ull2float_##suffix, unsigned long long, (cpu_from_integer<way, float>(a)))     \
    CPU_F1(double, __ll2double_##suffix, long long, (cpu_from_integer<way, double>(a)))            \
    CPU_F1(double, __ull2double_##suffix, unsigned long long, (cpu_from_integer<way, double>(a)))  \
    CPU_F1(float, __double2float_##suffix, double, cpu_to_float<way>(a))
CPU_FROM_INTEGERS(rz, 'z')
CPU_FROM_INTEGERS(rd, 'd')
CPU_FROM_INTEGERS(ru, 'u')
#undef CPU_FROM_INTEGERS
CPU_F1(double, __uint2double_rn, unsigned, a)
CPU_F1(double, __ll2double_rn, long long, a)
CPU_F1(double, __ull2double_rn, unsigned long long, a)
CPU_F1(float, __ull2float_rn, unsigned long long, a)

/* Special functions. */
inline double cpu_erfcinv(double y)
{
    if (!(y > 0 && y < 2))
        return y == 0 ? INFINITY : y == 2 ? -INFINITY : NAN;
    if (y > 1) /* 2 - y is exact */
        return -cpu_erfcinv(2 - y);
    /* A first guess, then Halley's iteration. */
    const double a = 0.147, l = log(y * (2 - y)), t = 2 / (M_PI * a) + l / 2;
    double x = copysign(sqrt(sqrt(t * t - l / a) - t), 1 - y);
    for (int i = 0; i < 4; i++) {
        const double slope = -M_2_SQRTPI * exp(-x * x);
        if (slope == 0)
            break;
        const double step = (y < 0.5 ? erfc(x) - y : (1 - y) - erf(x)) / slope;
        x -= step / (1 + x * step);
    }
    return x;
}
inline double cpu_erfinv(double y)
{
    if (fabs(y) > 0.5)
        return copysign(cpu_erfcinv(1 - fabs(y)), y);
    double x = y * (1 / M_2_SQRTPI) * (1 + y * y * (M_PI / 12));
    for (int i = 0; i < 4; i++) {
        const double step = (erf(x) - y) / (M_2_SQRTPI * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}
inline double cpu_erfcx(double x)
{
    if (x < 25) {
        const double square = x * x, lost = std::fma(x, x, -square);
        return exp(square) * erfc(x) * (square < 800 ? 1 + lost : 1);
    }
    double term = M_2_SQRTPI / 2 / x, sum = term;
    for (int k = 1; k < 9; k++)
        sum += term *= -(2 * k - 1) / (2 * x * x);
    return sum;
}
/* The series of I0 and I1. All its terms are positive. */
inline double cpu_bessel_i(int order, double x)
{
    double term = order ? x / 2 : 1, sum = term;
    for (int k = 1; fabs(term) > fabs(sum) * 1e-17; k++)
        sum += term *= x / 2 / k * (x / 2 / (k + order));
    return sum;
}
inline double cpu_norm(int n, const double *p)
{
    double most = 0, sum = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(p[i]));
    if (std::isinf(most)) /* even if another one is NaN */
        return most;
    for (int i = 0; i < n; i++) {
        const double part = most == 0 ? p[i] : p[i] / most; /* 0 or NaN, if none is more */
        sum += part * part;
    }
    return most == 0 ? sum : most * sqrt(sum);
}
inline double norm(int n, const double *p)
{
    return cpu_norm(n, p);
}
inline float normf(int n, const float *p)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (std::isinf(p[i])) /* even if another one is NaN */
            return INFINITY;
        sum += (double)p[i] * p[i];
    }
    return (float)sqrt(sum);
}
inline double norm3d(double a, double b, double c)
{
    const double p[] = {a, b, c};
    return cpu_norm(3, p);
}
inline double norm4d(double a, double b, double c, double d)
{
    const double p[] = {a, b, c, d};
    return cpu_norm(4, p);
}
inline float norm4df(float a, float b, float c, float d)
{
    return (float)norm4d(a, b, c, d);
}
CPU_F3(float, norm3df, float, float, float, norm3d(a, b, c))
CPU_F2(double, rnorm, int, const double *, 1 / norm(a, b))
CPU_F2(float, rnormf, int, const float *, 1 / (double)normf(a, b))
CPU_F3(double, rnorm3d, double, double, double, 1 / norm3d(a, b, c))
CPU_F3(float, rnorm3df, float, float, float, 1 / norm3d(a, b, c))
inline double rnorm4d(double a, double b, double c, double d)
{
    return 1 / norm4d(a, b, c, d);
}
inline float rnorm4df(float a, float b, float c, float d)
{
    return (float)(1 / norm4d(a, b, c, d));
}
CPU_F2(double, rhypot, double, double, 1 / hypot(a, b))
CPU_F2(float, rhypotf, float, float, 1 / hypot((double)a, (double)b))
CPU_F1(double, rcbrt, double, 1 / cbrt(a))
inline double normcdf(double a)
{
    const double rest = -4.833646656726457e-17; /* the square root of 1/2, less M_SQRT1_2 */
    const double x = -a * M_SQRT1_2, lost = std::fma(-a, M_SQRT1_2, -x) - a * rest;
    const double r = 0.5 * erfc(x);
    return std::isfinite(a) ? r - exp(-x * x) * (M_2_SQRTPI / 2) * lost : r;
}
CPU_F1(double, normcdfinv, double, -M_SQRT2 *cpu_erfcinv(2 * a))
CPU_F1(float, normcdfinvf, float, normcdfinv((double)a))
CPU_F1(double, erfinv, double, cpu_erfinv(a))
CPU_F1(float, erfinvf, float, cpu_erfinv((double)a))
CPU_F1(double, erfcinv, double, cpu_erfcinv(a))
CPU_F1(float, erfcinvf, float, cpu_erfcinv((double)a))
CPU_F1(double, erfcx, double, cpu_erfcx(a))
CPU_F1(float, erfcxf, float, cpu_erfcx((double)a))
CPU_F1(double, cyl_bessel_i0, double, cpu_bessel_i(0, a))
CPU_F1(float, cyl_bessel_i0f, float, cpu_bessel_i(0, (double)a))
CPU_F1(double, cyl_bessel_i1, double, cpu_bessel_i(1, a))
CPU_F1(float, cyl_bessel_i1f, float, cpu_bessel_i(1, (double)a))
inline void sincospi(double a, double *s, double *c)
{
    *s = sinpi(a);
    *c = cospi(a);
}
/* C++ forms of functions of float, under the names of those of double. */
inline void sincospi(float a, float *s, float *c)
{
    sincospif(a, s, c);
}
inline void sincos(float a, float *s, float *c)
{
    sincosf(a, s, c);
}
#define CPU_OF_FLOAT(name) CPU_F1(float, name, float, name##f(a))
CPU_OF_FLOAT(exp10)
CPU_OF_FLOAT(rsqrt)
CPU_OF_FLOAT(rcbrt)
CPU_OF_FLOAT(sinpi)
CPU_OF_FLOAT(cospi)
CPU_OF_FLOAT(cyl_bessel_i0)
CPU_OF_FLOAT(cyl_bessel_i1)
CPU_OF_FLOAT(erfinv)
CPU_OF_FLOAT(erfcinv)
CPU_OF_FLOAT(erfcx)
CPU_OF_FLOAT(normcdf)
CPU_OF_FLOAT(normcdfinv)
#undef CPU_OF_FLOAT
CPU_F1(float, j0, float, j0((double)a)) /* by those of double, which each C library has */
CPU_F1(float, j1, float, j1((double)a))
CPU_F1(float, y0, float, y0((double)a))
CPU_F1(float, y1, float, y1((double)a))
CPU_F2(float, jn, int, float, jn(a, (double)b))
CPU_F2(float, yn, int, float, yn(a, (double)b))
CPU_F2(double, fdivide, double, double, (CPU_SPECIAL(CPU_DIV), a / b))

/* Integers. */
/* The place of the set bit that comes offset - 1 set bits after the first one from `base` on, or
 * that many before it if the offset is negative; of offset 0, base, if its bit is set. */
inline unsigned __fns(unsigned mask, unsigned base, int offset)
{
    int left = offset < 0 ? -offset : offset;
    for (unsigned place = base; place<32; place += offset> 0 ? 1 : -1) {
        left -= offset != 0 && mask >> place & 1;
        if (left == 0)
            return mask >> place & 1 ? place : ~0u;
    }
    return ~0u;
}
CPU_F1(unsigned short, __nv_bswap16, unsigned short, __builtin_bswap16(a))
CPU_F1(unsigned, __nv_bswap32, unsigned, __builtin_bswap32(a))
CPU_F1(unsigned long long, __nv_bswap64, unsigned long long, __builtin_bswap64(a))
CPU_F2(int, __hadd, int, int, ((int64_t)a + b) >> 1)
CPU_F2(int, __rhadd, int, int, ((int64_t)a + b + 1) >> 1)
CPU_F2(unsigned, __uhadd, unsigned, unsigned, ((uint64_t)a + b) >> 1)
CPU_F2(unsigned, __urhadd, unsigned, unsigned, ((uint64_t)a + b + 1) >> 1)
CPU_F3(unsigned, __usad, unsigned, unsigned, unsigned, c + (a < b ? b - a : a - b))
CPU_F3(unsigned, __funnelshift_lc, unsigned, unsigned, unsigned,
       (((uint64_t)b << 32 | a) << (c < 32 ? c : 32)) >> 32)
CPU_F3(unsigned, __funnelshift_rc, unsigned, unsigned, unsigned,
       ((uint64_t)b << 32 | a) >> (c < 32 ? c : 32))
CPU_F2(unsigned, umin, unsigned, unsigned, a < b ? a : b)
CPU_F2(unsigned, umax, unsigned, unsigned, a < b ? b : a)
CPU_F2(long long, llmin, long long, long long, a < b ? a : b)
CPU_F2(long long, llmax, long long, long long, a < b ? b : a)
CPU_F2(unsigned long long, ullmin, unsigned long long, unsigned long long, a < b ? a : b)
CPU_F2(unsigned long long, ullmax, unsigned long long, unsigned long long, a < b ? b : a)
/* c plus four products of bytes, or plus two products of a half of a and a byte of b. */
template <class A, class B, class C>
inline C cpu_dot(unsigned a, unsigned b, C c)
{
    constexpr int n = 4 / sizeof(A);
    for (int i = 0; i < n; i++)
        c += (C)(A)(a >> i * 32 / n) * (C)(B)(b >> i * 8);
    return c;
}
template <class V>
inline unsigned cpu_four_bytes(V v)
{
    return (unsigned)(uint8_t)v.x | (unsigned)(uint8_t)v.y << 8 | (unsigned)(uint8_t)v.z << 16 |
           (unsigned)(uint8_t)v.w << 24;
}
CPU_F3(int, __dp4a, int, int, int,
       (cpu_dot<int8_t, int8_t, unsigned>((unsigned)a, (unsigned)b, (unsigned)c)))
CPU_F3(unsigned, __dp4a, unsigned, unsigned, unsigned, (cpu_dot<uint8_t, uint8_t>(a, b, c)))
CPU_F3(int, __dp4a, char4, char4, int, __dp4a((int)cpu_four_bytes(a), (int)cpu_four_bytes(b), c))
CPU_F3(unsigned, __dp4a, uchar4, uchar4, unsigned, __dp4a(cpu_four_bytes(a), cpu_four_bytes(b), c))
CPU_F3(int, __dp2a_lo, int, int, int,
       (cpu_dot<int16_t, int8_t, unsigned>((unsigned)a, (unsigned)b, (unsigned)c)))
CPU_F3(unsigned, __dp2a_lo, unsigned, unsigned, unsigned, (cpu_dot<uint16_t, uint8_t>(a, b, c)))
CPU_F3(int, __dp2a_hi, int, int, int,
       (cpu_dot<int16_t, int8_t, unsigned>((unsigned)a, (unsigned)b >> 16, (unsigned)c)))
CPU_F3(unsigned, __dp2a_hi, unsigned, unsigned, unsigned,
       (cpu_dot<uint16_t, uint8_t>(a, b >> 16, c)))
template <class V>
inline unsigned cpu_two_halves(V v)
{
    return (unsigned)(uint16_t)v.x | (unsigned)(uint16_t)v.y << 16;
}
#define CPU_DP2A(half)                                                                             \
    CPU_F3(int, __dp2a_##half, short2, char4, int,                                                 \
           __dp2a_##half((int)cpu_two_halves(a), (int)cpu_four_bytes(b), c))                       \
    CPU_F3(unsigned, __dp2a_##half, ushort2, uchar4, unsigned,                                     \
           __dp2a_##half(cpu_two_halves(a), cpu_four_bytes(b), c))
CPU_DP2A(lo)
CPU_DP2A(hi)
#undef CPU_DP2A
#include "cpu/numbers/simd.h"
