/* C library functions that kernels call, with a count: cudacc renames the calls in the object. */
#define _GNU_SOURCE
#include "device/device.h"
#include "cpu/trace.h"

#include <math.h>

#pragma GCC visibility push(default)
#define ONE(T, name, counter)                                                                      \
    T cpu_trace_##name(T a)                                                                        \
    {                                                                                              \
        cpu_trace_special(counter);                                                                \
        return name(a);                                                                            \
    }
#define FAMILY(T, f)                                                                               \
    ONE(T, sin##f, CPU_SIN)                                                                        \
    ONE(T, cos##f, CPU_COS)                                                                        \
    ONE(T, exp##f, CPU_EXP)                                                                        \
    ONE(T, exp2##f, CPU_EXP)                                                                       \
    ONE(T, log##f, CPU_LOG)                                                                        \
    ONE(T, log2##f, CPU_LOG)                                                                       \
    ONE(T, log10##f, CPU_LOG)                                                                      \
    ONE(T, sqrt##f, CPU_SQRT)                                                                      \
    T cpu_trace_pow##f(T a, T b)                                                                   \
    {                                                                                              \
        cpu_trace_special(CPU_POW);                                                                \
        return pow##f(a, b);                                                                       \
    }                                                                                              \
    void cpu_trace_sincos##f(T a, T *s, T *c)                                                      \
    {                                                                                              \
        *s = cpu_trace_sin##f(a);                                                                  \
        *c = cpu_trace_cos##f(a);                                                                  \
    }
FAMILY(double, )
FAMILY(float, f)
double cpu_uncounted_sin(double a)
{
    return sin(a);
}
double cpu_uncounted_cos(double a)
{
    return cos(a);
}
#pragma GCC visibility pop
