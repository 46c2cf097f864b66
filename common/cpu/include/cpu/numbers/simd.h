/* SIMD intrinsics: operations on the two 16-bit or the four 8-bit parts of a 32-bit word. Part of
 * math.h. Each part is computed as an int, which holds all of its values, and then cut to its
 * width. Functions that saturate name the least and the most of T. */
#pragma once

#include <stdint.h>

/* unsigned name(unsigned a, unsigned b, unsigned c), in which x, y and z are the parts of a, b
 * and c, of type T, and `expression` is that of the result. `parameters` are those that are used.
 */
#define CPU_PARTS(name, T, parameters, of_b, of_c, expression)                                     \
    inline unsigned name parameters                                                                \
    {                                                                                              \
        const int bits = 8 * (int)sizeof(T);                                                       \
        unsigned r = 0;                                                                            \
        for (int i = 0; i < 32; i += bits) {                                                       \
            [[maybe_unused]] const int x = (T)(a >> i), y = (T)(of_b >> i), z = (T)(of_c >> i);    \
            r |= ((unsigned)(expression)&0xffffffffu >> (32 - bits)) << i;                         \
        }                                                                                          \
        return r;                                                                                  \
    }
#define CPU_PARTS1(name, T, expression) CPU_PARTS(name, T, (unsigned a), a, a, expression)
#define CPU_PARTS2(name, T, expression)                                                            \
    CPU_PARTS(name, T, (unsigned a, unsigned b), b, b, expression)
#define CPU_PARTS3(name, T, expression)                                                            \
    CPU_PARTS(name, T, (unsigned a, unsigned b, unsigned c), b, c, expression)
#define CPU_SIGNED1(name, expression)                                                              \
    CPU_PARTS1(name##2, int16_t, expression)                                                       \
    CPU_PARTS1(name##4, int8_t, expression)
#define CPU_SIGNED2(name, expression)                                                              \
    CPU_PARTS2(name##2, int16_t, expression)                                                       \
    CPU_PARTS2(name##4, int8_t, expression)
#define CPU_UNSIGNED2(name, expression)                                                            \
    CPU_PARTS2(name##2, uint16_t, expression)                                                      \
    CPU_PARTS2(name##4, uint8_t, expression)

template <class T>
inline int cpu_clamp(int v)
{
    const int least = T(-1) < 0 ? -(1 << (8 * sizeof(T) - 1)) : 0;
    const int most = least + (1 << 8 * sizeof(T)) - 1;
    return v < least ? least : v > most ? most : v;
}
#define CPU_CLAMPED(name, sign, expression)                                                        \
    CPU_PARTS2(name##2, sign##16_t, cpu_clamp<sign##16_t>(expression))                             \
    CPU_PARTS2(name##4, sign##8_t, cpu_clamp<sign##8_t>(expression))

CPU_UNSIGNED2(__vadd, x + y)
CPU_CLAMPED(__vaddss, int, x + y)
CPU_CLAMPED(__vaddus, uint, x + y)
CPU_UNSIGNED2(__vsub, x - y)
CPU_CLAMPED(__vsubss, int, x - y)
CPU_CLAMPED(__vsubus, uint, x - y)
CPU_SIGNED1(__vabs, x < 0 ? -x : x)
CPU_PARTS1(__vabsss2, int16_t, cpu_clamp<int16_t>(x < 0 ? -x : x))
CPU_PARTS1(__vabsss4, int8_t, cpu_clamp<int8_t>(x < 0 ? -x : x))
CPU_SIGNED1(__vneg, -x)
CPU_PARTS1(__vnegss2, int16_t, cpu_clamp<int16_t>(-x))
CPU_PARTS1(__vnegss4, int8_t, cpu_clamp<int8_t>(-x))
CPU_SIGNED2(__vabsdiffs, x < y ? y - x : x - y)
CPU_UNSIGNED2(__vabsdiffu, x < y ? y - x : x - y)
/* The average, rounded to the nearest, a half away from zero. */
CPU_SIGNED2(__vavgs, (x + y + (x + y >= 0)) >> 1)
CPU_UNSIGNED2(__vavgu, (x + y + 1) >> 1)
CPU_UNSIGNED2(__vhaddu, (x + y) >> 1)
CPU_SIGNED2(__vmaxs, x < y ? y : x)
CPU_UNSIGNED2(__vmaxu, x < y ? y : x)
CPU_SIGNED2(__vmins, x < y ? x : y)
CPU_UNSIGNED2(__vminu, x < y ? x : y)
/* A comparison gives all ones, __vset 1. */
#define CPU_COMPARE(name, sign, op)                                                                \
    CPU_PARTS2(__vcmp##name##2, sign##16_t, -(x op y))                                             \
    CPU_PARTS2(__vcmp##name##4, sign##8_t, -(x op y))                                              \
    CPU_PARTS2(__vset##name##2, sign##16_t, x op y)                                                \
    CPU_PARTS2(__vset##name##4, sign##8_t, x op y)
CPU_COMPARE(eq, int, ==)
CPU_COMPARE(ne, int, !=)
CPU_COMPARE(lts, int, <)
CPU_COMPARE(les, int, <=)
CPU_COMPARE(gts, int, >)
CPU_COMPARE(ges, int, >=)
CPU_COMPARE(ltu, uint, <)
CPU_COMPARE(leu, uint, <=)
CPU_COMPARE(gtu, uint, >)
CPU_COMPARE(geu, uint, >=)

/* The sum of the absolute differences of the parts. */
#define CPU_SUM(name)                                                                              \
    inline unsigned __vsad##name##2(unsigned a, unsigned b)                                        \
    {                                                                                              \
        const unsigned d = __vabsdiff##name##2(a, b);                                              \
        return (d & 0xffff) + (d >> 16);                                                           \
    }                                                                                              \
    inline unsigned __vsad##name##4(unsigned a, unsigned b)                                        \
    {                                                                                              \
        const unsigned d = __vabsdiff##name##4(a, b);                                              \
        return (d & 0xff) + (d >> 8 & 0xff) + (d >> 16 & 0xff) + (d >> 24);                        \
    }
CPU_SUM(s)
CPU_SUM(u)

/* The maximum or minimum of three parts, or of a sum, which wraps around, and a part; and of
 * whole numbers. _relu: 0, if it is negative. */
template <class T>
inline T cpu_max(T x, T y)
{
    return x < y ? y : x;
}
template <class T>
inline T cpu_min(T x, T y)
{
    return y < x ? y : x;
}
#define CPU_EXTREMES(suffix, T, PARTS)                                                             \
    PARTS(3, __vimax3_##suffix, T, cpu_max<T>(cpu_max<T>(x, y), z))                                \
    PARTS(3, __vimin3_##suffix, T, cpu_min<T>(cpu_min<T>(x, y), z))                                \
    PARTS(3, __viaddmax_##suffix, T, cpu_max<T>((T)((unsigned)x + (unsigned)y), z))                \
    PARTS(3, __viaddmin_##suffix, T, cpu_min<T>((T)((unsigned)x + (unsigned)y), z))
#define CPU_EXTREMES_RELU(suffix, T, PARTS)                                                        \
    PARTS(2, __vimax_##suffix##_relu, T, cpu_max<T>(cpu_max<T>(x, y), 0))                          \
    PARTS(2, __vimin_##suffix##_relu, T, cpu_max<T>(cpu_min<T>(x, y), 0))                          \
    PARTS(3, __vimax3_##suffix##_relu, T, cpu_max<T>(cpu_max<T>(cpu_max<T>(x, y), z), 0))          \
    PARTS(3, __vimin3_##suffix##_relu, T, cpu_max<T>(cpu_min<T>(cpu_min<T>(x, y), z), 0))          \
    PARTS(3, __viaddmax_##suffix##_relu, T,                                                        \
          cpu_max<T>(cpu_max<T>((T)((unsigned)x + (unsigned)y), z), 0))                            \
    PARTS(3, __viaddmin_##suffix##_relu, T,                                                        \
          cpu_max<T>(cpu_min<T>((T)((unsigned)x + (unsigned)y), z), 0))
#define CPU_IN_PARTS(n, name, T, expression) CPU_PARTS##n(name, T, expression)
#define CPU_WHOLE2(name, T, expression)                                                            \
    inline T name(T x, T y)                                                                        \
    {                                                                                              \
        return expression;                                                                         \
    }
#define CPU_WHOLE3(name, T, expression)                                                            \
    inline T name(T x, T y, T z)                                                                   \
    {                                                                                              \
        return expression;                                                                         \
    }
#define CPU_IN_WHOLE(n, name, T, expression) CPU_WHOLE##n(name, T, expression)
CPU_EXTREMES(s16x2, int16_t, CPU_IN_PARTS)
CPU_EXTREMES(u16x2, uint16_t, CPU_IN_PARTS)
CPU_EXTREMES(s32, int, CPU_IN_WHOLE)
CPU_EXTREMES(u32, unsigned, CPU_IN_WHOLE)
CPU_EXTREMES_RELU(s16x2, int16_t, CPU_IN_PARTS)
CPU_EXTREMES_RELU(s32, int, CPU_IN_WHOLE)

/* The maximum or minimum, and whether the first operand is it. */
#define CPU_EXTREME_AND_WHICH(name, op, T, parts, T16)                                             \
    inline T __vib##name##32(T a, T b, bool *first)                                                \
    {                                                                                              \
        *first = a op b;                                                                           \
        return a op b ? a : b;                                                                     \
    }                                                                                              \
    inline unsigned __vib##name##16x2(unsigned a, unsigned b, bool *high, bool *low)               \
    {                                                                                              \
        *low = (T16)a op(T16) b;                                                                   \
        *high = (T16)(a >> 16) op(T16)(b >> 16);                                                   \
        return __v##parts##2(a, b);                                                                \
    }
CPU_EXTREME_AND_WHICH(max_s, >=, int, maxs, int16_t)
CPU_EXTREME_AND_WHICH(max_u, >=, unsigned, maxu, uint16_t)
CPU_EXTREME_AND_WHICH(min_s, <=, int, mins, int16_t)
CPU_EXTREME_AND_WHICH(min_u, <=, unsigned, minu, uint16_t)

#undef CPU_PARTS
#undef CPU_PARTS1
#undef CPU_PARTS2
#undef CPU_PARTS3
#undef CPU_SIGNED1
#undef CPU_SIGNED2
#undef CPU_UNSIGNED2
#undef CPU_CLAMPED
#undef CPU_COMPARE
#undef CPU_SUM
#undef CPU_EXTREMES
#undef CPU_EXTREMES_RELU
#undef CPU_EXTREME_AND_WHICH
#undef CPU_IN_PARTS
#undef CPU_IN_WHOLE
#undef CPU_WHOLE2
#undef CPU_WHOLE3
