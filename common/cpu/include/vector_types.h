/* CUDA's vector types and make_ functions, for C and C++, with CUDA's sizes and alignments. */
#pragma once

#define CPU_ALIGN(n) __attribute__((aligned(n)))

#define CPU_VECTOR(name, attribute, T, parameters, ...)                                            \
    typedef struct attribute name {                                                                \
        T __VA_ARGS__;                                                                             \
    } name;                                                                                        \
    static inline name make_##name parameters                                                      \
    {                                                                                              \
        name v = {__VA_ARGS__};                                                                    \
        return v;                                                                                  \
    }
/* The vectors of 1 to 4 elements of one scalar type. A vector of 3 has the alignment of its
 * elements. */
#define CPU_VECTORS(name, T, a2, a4)                                                               \
    CPU_VECTOR(name##1, , T, (T x), x)                                                             \
    CPU_VECTOR(name##2, CPU_ALIGN(a2), T, (T x, T y), x, y)                                        \
    CPU_VECTOR(name##3, , T, (T x, T y, T z), x, y, z)                                             \
    CPU_VECTOR(name##4, CPU_ALIGN(a4), T, (T x, T y, T z, T w), x, y, z, w)
CPU_VECTORS(char, signed char, 2, 4)
CPU_VECTORS(uchar, unsigned char, 2, 4)
CPU_VECTORS(short, short, 4, 8)
CPU_VECTORS(ushort, unsigned short, 4, 8)
CPU_VECTORS(int, int, 8, 16)
CPU_VECTORS(uint, unsigned int, 8, 16)
CPU_VECTORS(long, long, 16, 16)
CPU_VECTORS(ulong, unsigned long, 16, 16)
CPU_VECTORS(longlong, long long, 16, 16)
CPU_VECTORS(ulonglong, unsigned long long, 16, 16)
CPU_VECTORS(float, float, 8, 16)
CPU_VECTORS(double, double, 16, 16)
#undef CPU_VECTORS

/* Vectors of 32 bytes with the alignment in their names. */
#define CPU_WIDE(name, T, bytes)                                                                   \
    CPU_VECTOR(name##4_##bytes##a, CPU_ALIGN(bytes), T, (T x, T y, T z, T w), x, y, z, w)
#define CPU_WIDES(name, T) CPU_WIDE(name, T, 16) CPU_WIDE(name, T, 32)
CPU_WIDES(long, long)
CPU_WIDES(ulong, unsigned long)
CPU_WIDES(longlong, long long)
CPU_WIDES(ulonglong, unsigned long long)
CPU_WIDES(double, double)
#undef CPU_WIDES
#undef CPU_WIDE
#undef CPU_VECTOR

#ifdef __cplusplus
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
    constexpr operator uint3() const
    {
        return uint3{x, y, z};
    }
};
#else
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#endif
