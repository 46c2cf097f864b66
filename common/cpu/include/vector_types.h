/* CUDA's vector types and make_ functions, for C and C++, with CUDA's sizes and alignments. */
#pragma once

#define CPU_ALIGN(n) __attribute__((aligned(n)))

/* The vectors of 1 to 4 elements of one scalar type. A vector of 3 has the alignment of its
 * elements. */
#define CPU_VECTORS(name, T, a2, a4)                                                               \
    struct name##1                                                                                 \
    {                                                                                              \
        T x;                                                                                       \
    };                                                                                             \
    struct CPU_ALIGN(a2) name##2                                                                   \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    struct name##3                                                                                 \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct CPU_ALIGN(a4) name##4                                                                   \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    typedef struct name##1 name##1;                                                                \
    typedef struct name##2 name##2;                                                                \
    typedef struct name##3 name##3;                                                                \
    typedef struct name##4 name##4;                                                                \
    static inline name##1 make_##name##1(T x)                                                      \
    {                                                                                              \
        name##1 v = {x};                                                                           \
        return v;                                                                                  \
    }                                                                                              \
    static inline name##2 make_##name##2(T x, T y)                                                 \
    {                                                                                              \
        name##2 v = {x, y};                                                                        \
        return v;                                                                                  \
    }                                                                                              \
    static inline name##3 make_##name##3(T x, T y, T z)                                            \
    {                                                                                              \
        name##3 v = {x, y, z};                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    static inline name##4 make_##name##4(T x, T y, T z, T w)                                       \
    {                                                                                              \
        name##4 v = {x, y, z, w};                                                                  \
        return v;                                                                                  \
    }

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
    typedef struct CPU_ALIGN(bytes) name##4_##bytes##a                                             \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    }                                                                                              \
    name##4_##bytes##a;                                                                            \
    static inline name##4_##bytes##a make_##name##4_##bytes##a(T x, T y, T z, T w)                 \
    {                                                                                              \
        name##4_##bytes##a v = {x, y, z, w};                                                       \
        return v;                                                                                  \
    }
#define CPU_WIDES(name, T) CPU_WIDE(name, T, 16) CPU_WIDE(name, T, 32)
CPU_WIDES(long, long)
CPU_WIDES(ulong, unsigned long)
CPU_WIDES(longlong, long long)
CPU_WIDES(ulonglong, unsigned long long)
CPU_WIDES(double, double)
#undef CPU_WIDES
#undef CPU_WIDE

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
