/* Two versions of a function: one for any x86-64, one for a CPU with AVX2, whose loops use
 * longer vectors. Both are compiled from the same inline function and compute the same bits, as
 * no multiplication is fused with an addition. */
#pragma once

#define IN_BOTH                                                                                    \
    static inline __attribute__((always_inline)) /* the inline function behind both versions */

#if defined __x86_64__ && defined __linux__
#define WITH_AVX2 __attribute__((target("avx2")))
static inline int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") != 0;
}
#else
#define WITH_AVX2
static inline int has_avx2(void)
{
    return 0;
}
#endif
