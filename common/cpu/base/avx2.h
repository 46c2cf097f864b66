/* Functions of which an x86-64 has two versions: one for any, and one for a CPU that has AVX2,
 * which goes through loops in longer vectors. Both are made of one inline function, and compute the
 * same bits: no multiplication and addition become one. */
#ifndef AVX2_H
#define AVX2_H

#define IN_BOTH static inline __attribute__((always_inline)) /* a function that is part of both */

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

#endif
