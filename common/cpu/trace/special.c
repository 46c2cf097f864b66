/* count: the C library's functions as a kernel calls them, counted. cudacc renames the calls. */
#define _GNU_SOURCE
#include "../runtime.h"
#include "cpu_trace.h"

#include <math.h>

#define ONE(T, name, counter)                                                                      \
    T cpu_trace_##name(T a);                                                                       \
    T cpu_trace_##name(T a)                                                                        \
    {                                                                                              \
        cpu_trace_special(counter);                                                                \
        return name(a);                                                                            \
    }
#define BOTH(name, counter) ONE(double, name, counter) ONE(float, name##f, counter)
BOTH(sin, CPU_SIN)
BOTH(cos, CPU_COS)
BOTH(exp, CPU_EXP)
BOTH(exp2, CPU_EXP)
BOTH(log, CPU_LOG)
BOTH(log2, CPU_LOG)
BOTH(log10, CPU_LOG)
BOTH(sqrt, CPU_SQRT)

#define POWER(T, name)                                                                             \
    T cpu_trace_##name(T a, T b);                                                                  \
    T cpu_trace_##name(T a, T b)                                                                   \
    {                                                                                              \
        cpu_trace_special(CPU_POW);                                                                \
        return name(a, b);                                                                         \
    }
POWER(double, pow)
POWER(float, powf)

#define SINCOS(T, name, sine, cosine)                                                              \
    void cpu_trace_##name(T a, T *s, T *c);                                                        \
    void cpu_trace_##name(T a, T *s, T *c)                                                         \
    {                                                                                              \
        cpu_trace_special(CPU_SIN);                                                                \
        cpu_trace_special(CPU_COS);                                                                \
        *s = sine(a);                                                                              \
        *c = cosine(a);                                                                            \
    }
SINCOS(double, sincos, sin, cos)
SINCOS(float, sincosf, sinf, cosf)
