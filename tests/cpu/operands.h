/* Operands for the functions of functions.txt, and checksums of their results. functions.t makes a
 * program that calls each of them so; nvcc compiles it, too. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

static unsigned i;       /* the number of the call */
static uint64_t state;   /* of the random numbers */
static bool is_of_scale; /* the function rounds to e8m0, so to zero or up, and not to the nearest */

static uint64_t drawn()
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return state >> 16 ^ state >> 40;
}

/* Patterns of 16 bits: the first operand has all of them; the second one is often an extreme value
 * of half or bfloat16, or close to the first. */
static unsigned short pattern(int operand)
{
    static const unsigned short extreme[] = {
        0x0000, 0x0001, 0x0002, 0x03ff, 0x0400, 0x0401, 0x007f, 0x0080, 0x0081,
        0x3c00, 0x3bff, 0x3c01, 0x3f80, 0x3f81, 0x7bff, 0x7c00, 0x7c01, 0x7e00,
        0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7fff, 0x8000, 0x8001, 0x83ff, 0xbc00,
        0xbf80, 0xfbff, 0xfc00, 0xfe00, 0xff80, 0xffff, 0x0200, 0x6400, 0x7800};
    if (operand == 0)
        return (unsigned short)i;
    const uint64_t r = drawn();
    if (i % 3 == 0)
        return extreme[(r >> 8) % (sizeof extreme / sizeof *extreme)];
    if (i % 3 == 1)
        return (unsigned short)((i + r % 2048 - 1024) ^ (r >> 20 & 1) << 15);
    return (unsigned short)r;
}

/* Integers of all sizes, of either sign, and those beside numbers of few bits. */
static uint64_t whole()
{
    const uint64_t r = drawn() ^ drawn() << 32;
    if (i % 4 == 0)
        return r;
    if (i % 4 == 1)
        return r >> r % 61;
    if (i % 4 == 2)
        return 0 - (r >> 2 >> r % 61);
    return ((r >> 20 & 4095) << (r >> 8) % 60) + r % 3 - 1;
}

template <class T>
static T of_bits(uint64_t bits)
{
    T v;
    memcpy((void *)&v, &bits, sizeof v);
    return v;
}
template <class T>
static uint64_t bits_of(T v)
{
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    return bits;
}

/* in<T>::get(n): operand n of this call. */
template <class T>
struct in {
    static T get(int)
    {
        return (T)whole();
    }
};
template <>
struct in<__half> {
    static __half get(int n)
    {
        return of_bits<__half>(pattern(n));
    }
};
template <>
struct in<__nv_bfloat16> {
    static __nv_bfloat16 get(int n)
    {
        return of_bits<__nv_bfloat16>(pattern(n));
    }
};
/* Floats beside 16-bit numbers, and halfway between two of them. */
template <>
struct in<float> {
    static float get(int)
    {
        const uint64_t r = drawn();
        const unsigned near = (unsigned)(r >> 8) % 3 - 1, size = i & 0x7fff;
        if (i % 4 == 0)
            return of_bits<float>((uint32_t)r);
        if (i % 4 == 1)
            return of_bits<float>((uint32_t)((i << 16 | (r & 1) << 15) + near));
        unsigned bits = (size << 13) + (112u << 23) + (unsigned)(r & 1) * 0x1000 + near;
        if (i % 4 == 3)
            bits -= (unsigned)(r >> 16) % 14 << 23;
        return of_bits<float>(bits ^ i >> 15 << 31);
    }
};
template <>
struct in<double> {
    static double get(int n)
    {
        const double v = in<float>::get(n);
        if (v != v) /* the toolkit's conversions of such a double keep what it carries */
            return 1;
        return i % 5 == 0 ? of_bits<double>(bits_of(v) + drawn() % 3 - 1) : v;
    }
};
#define PAIR(T, A)                                                                                 \
    template <>                                                                                    \
    struct in<T> {                                                                                 \
        static T get(int n)                                                                        \
        {                                                                                          \
            T v;                                                                                   \
            v.x = in<A>::get(n);                                                                   \
            v.y = in<A>::get(1);                                                                   \
            return v;                                                                              \
        }                                                                                          \
    };
PAIR(__half2, __half)
PAIR(__nv_bfloat162, __nv_bfloat16)
PAIR(float2, float)
PAIR(double2, double)
#define FOUR(T, A)                                                                                 \
    template <>                                                                                    \
    struct in<T> {                                                                                 \
        static T get(int n)                                                                        \
        {                                                                                          \
            T v;                                                                                   \
            v.x = in<A>::get(n);                                                                   \
            v.y = in<A>::get(n);                                                                   \
            v.z = in<A>::get(n);                                                                   \
            v.w = in<A>::get(n);                                                                   \
            return v;                                                                              \
        }                                                                                          \
    };
FOUR(float4, float)
FOUR(double4_16a, double)
FOUR(double4_32a, double)
#define RAW(T, A)                                                                                  \
    template <>                                                                                    \
    struct in<T> {                                                                                 \
        static T get(int n)                                                                        \
        {                                                                                          \
            return in<A>::get(n);                                                                  \
        }                                                                                          \
    };
RAW(__half_raw, __half)
RAW(__half2_raw, __half2)
RAW(__nv_bfloat16_raw, __nv_bfloat16)
RAW(__nv_bfloat162_raw, __nv_bfloat162)
/* Types of which only the bits in `mask` are used. */
#define CODE(T, mask)                                                                              \
    template <>                                                                                    \
    struct in<T> {                                                                                 \
        static T get(int)                                                                          \
        {                                                                                          \
            T v;                                                                                   \
            v.__x = (decltype(v.__x))((i + (drawn() << 8)) & mask);                                \
            return v;                                                                              \
        }                                                                                          \
    };
CODE(__nv_fp8_e4m3, 0xff)
CODE(__nv_fp8_e5m2, 0xff)
CODE(__nv_fp8_e8m0, 0xff)
CODE(__nv_fp6_e2m3, 0x3f)
CODE(__nv_fp6_e3m2, 0x3f)
CODE(__nv_fp4_e2m1, 0xf)
CODE(__nv_fp8x2_e4m3, 0xffff)
CODE(__nv_fp8x2_e5m2, 0xffff)
CODE(__nv_fp8x2_e8m0, 0xffff)
CODE(__nv_fp6x2_e2m3, 0x3f3f)
CODE(__nv_fp6x2_e3m2, 0x3f3f)
CODE(__nv_fp4x2_e2m1, 0xff)
CODE(__nv_fp8x4_e4m3, 0xffffffff)
CODE(__nv_fp8x4_e5m2, 0xffffffff)
CODE(__nv_fp8x4_e8m0, 0xffffffff)
CODE(__nv_fp6x4_e2m3, 0x3f3f3f3f)
CODE(__nv_fp6x4_e3m2, 0x3f3f3f3f)
CODE(__nv_fp4x4_e2m1, 0xffff)
#define CHOICE(T, a, b)                                                                            \
    template <>                                                                                    \
    struct in<T> {                                                                                 \
        static T get(int)                                                                          \
        {                                                                                          \
            return drawn() >> 9 & 1 ? a : b;                                                       \
        }                                                                                          \
    };
CHOICE(__nv_saturation_t, __NV_NOSAT, __NV_SATFINITE)
CHOICE(__nv_fp8_interpretation_t, __NV_E4M3, __NV_E5M2)
CHOICE(__nv_fp6_interpretation_t, __NV_E2M3, __NV_E3M2)
CHOICE(__nv_fp4_interpretation_t, __NV_E2M1, __NV_E2M1)
CHOICE(cudaRoundMode, cudaRoundZero, is_of_scale ? cudaRoundPosInf : cudaRoundNearest)

/* The bits of a result. NaN counts as one number. */
static uint64_t out(__half v)
{
    const unsigned bits = (unsigned)bits_of(v);
    return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
}
static uint64_t out(__nv_bfloat16 v)
{
    const unsigned bits = (unsigned)bits_of(v);
    return (bits & 0x7fff) > 0x7f80 ? 0x7fff : bits;
}
static uint64_t out(float v)
{
    return v != v ? 0x7fffffff : bits_of(v);
}
static uint64_t out(double v)
{
    return v != v ? 0x7fffffffffffffff : bits_of(v);
}
static uint64_t out(__half2 v)
{
    return out(v.x) | out(v.y) << 16;
}
static uint64_t out(__nv_bfloat162 v)
{
    return out(v.x) | out(v.y) << 16;
}
static uint64_t out(float2 v)
{
    return out(v.x) | out(v.y) << 32;
}
static uint64_t out(float4 v)
{
    return out(v.x) * 3 + out(v.y) * 5 + out(v.z) * 7 + out(v.w) * 11;
}
static uint64_t out(__half_raw v)
{
    return out(__half(v));
}
static uint64_t out(__half2_raw v)
{
    return out(__half2(v));
}
static uint64_t out(__nv_bfloat16_raw v)
{
    return out(__nv_bfloat16(v));
}
static uint64_t out(__nv_bfloat162_raw v)
{
    return out(__nv_bfloat162(v));
}
template <class T>
static auto code(T v, int) -> decltype((uint64_t)v.__x)
{
    return v.__x;
}
template <class T>
static uint64_t code(T v, long)
{
    return (uint64_t)v;
}
template <class T>
static uint64_t out(T v)
{
    return code(v, 0);
}

static uint64_t checksum;
static void begin(bool of_scale)
{
    is_of_scale = of_scale;
    state = 12345;
    checksum = 14695981039346656037ull;
}
static void add(uint64_t bits)
{
    checksum = (checksum ^ bits) * 1099511628211ull;
    checksum ^= checksum >> 29;
}
