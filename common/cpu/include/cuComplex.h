/* Complex numbers as pairs of real ones, for C and C++. */
#pragma once

#include <math.h>
#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define CPU_ON_COMPLEX(R, name, parameters, expression)                                            \
    static inline R name parameters                                                                \
    {                                                                                              \
        return expression;                                                                         \
    }
/* A quotient, like an absolute value, first divides by the larger part, so that no square
 * overflows. */
#define CPU_COMPLEX(C, T, make, f, square_root, absolute)                                          \
    static inline C make(T re, T im)                                                               \
    {                                                                                              \
        C z;                                                                                       \
        z.x = re;                                                                                  \
        z.y = im;                                                                                  \
        return z;                                                                                  \
    }                                                                                              \
    CPU_ON_COMPLEX(T, cuCreal##f, (C z), z.x)                                                      \
    CPU_ON_COMPLEX(T, cuCimag##f, (C z), z.y)                                                      \
    CPU_ON_COMPLEX(C, cuConj##f, (C z), make(z.x, -z.y))                                           \
    CPU_ON_COMPLEX(C, cuCadd##f, (C a, C b), make(a.x + b.x, a.y + b.y))                           \
    CPU_ON_COMPLEX(C, cuCsub##f, (C a, C b), make(a.x - b.x, a.y - b.y))                           \
    CPU_ON_COMPLEX(C, cuCmul##f, (C a, C b), make(a.x *b.x - a.y * b.y, a.x * b.y + a.y * b.x))    \
    static inline C cuCdiv##f(C a, C b)                                                            \
    {                                                                                              \
        const T s = 1 / (absolute(b.x) + absolute(b.y));                                           \
        const T ar = a.x * s, ai = a.y * s, br = b.x * s, bi = b.y * s;                            \
        const T d = 1 / (br * br + bi * bi);                                                       \
        return make((ar * br + ai * bi) * d, (ai * br - ar * bi) * d);                             \
    }                                                                                              \
    static inline T cuCabs##f(C z)                                                                 \
    {                                                                                              \
        const T x = absolute(z.x), y = absolute(z.y);                                              \
        const T large = x > y ? x : y, small = x > y ? y : x;                                      \
        if (large == 0 || large - large != 0)                                                      \
            return x + y;                                                                          \
        return large * square_root(1 + small / large * (small / large));                           \
    }
CPU_COMPLEX(cuFloatComplex, float, make_cuFloatComplex, f, sqrtf, fabsf)
CPU_COMPLEX(cuDoubleComplex, double, make_cuDoubleComplex, , sqrt, fabs)
#undef CPU_COMPLEX

CPU_ON_COMPLEX(cuComplex, make_cuComplex, (float re, float im), make_cuFloatComplex(re, im))
CPU_ON_COMPLEX(cuComplex, cuCfmaf, (cuComplex a, cuComplex b, cuComplex c),
               make_cuFloatComplex(fmaf(a.x, b.x, c.x) - a.y * b.y,
                                   fmaf(a.x, b.y, c.y) + a.y * b.x))
CPU_ON_COMPLEX(cuDoubleComplex, cuCfma, (cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c),
               make_cuDoubleComplex(fma(a.x, b.x, c.x) - a.y * b.y, fma(a.x, b.y, c.y) + a.y * b.x))
CPU_ON_COMPLEX(cuDoubleComplex, cuComplexFloatToDouble, (cuFloatComplex z),
               make_cuDoubleComplex(z.x, z.y))
CPU_ON_COMPLEX(cuFloatComplex, cuComplexDoubleToFloat, (cuDoubleComplex z),
               make_cuFloatComplex((float)z.x, (float)z.y))
#undef CPU_ON_COMPLEX
