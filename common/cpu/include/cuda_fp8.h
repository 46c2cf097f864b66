/* Floating point of 8 bits: e4m3 (4 exponent and 3 fraction bits, no infinity, one NaN), e5m2, and
 * the scale factors e8m0, which are powers of two. */
#pragma once

#include "cpu/numbers/float8.h"

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
#define __CUDA_FP8_TYPES_EXIST__

struct cpu_e4m3 : cpu_format<4, 3, 0x7e, 0x7f, 0x7f> {
    static constexpr unsigned bits = 8;
};
struct cpu_e5m2 : cpu_format<5, 2, 0x7b, 0x7c, 0x7f> {
    static constexpr unsigned bits = 8;
};
/* 2^(x - 127), or NaN. The sign of what is converted is dropped. 0 becomes the least number. */
struct cpu_e8m0 {
    static constexpr unsigned bits = 8;

    static unsigned encode(double v, bool saturate = true, cudaRoundMode rounding = cudaRoundPosInf)
    {
        if (v != v)
            return 0xff;
        if (std::isinf(v))
            return saturate ? 0xfe : 0xff;
        if (v == 0)
            return 0;
        const int exponent = std::ilogb(v);
        const bool up = rounding == cudaRoundPosInf && std::fabs(v) != std::ldexp(1.0, exponent);
        const int x = exponent + up + 127;
        return x < 0 ? 0 : x <= 0xfe ? (unsigned)x : saturate ? 0xfe : 0xff;
    }
    static double decode(unsigned x)
    {
        return x == 0xff ? NAN : std::ldexp(1.0, (int)x - 127);
    }
    static bool is_true(unsigned)
    {
        return true;
    }
};

typedef cpu_small<cpu_e4m3, __nv_fp8_storage_t> __nv_fp8_e4m3;
typedef cpu_small2<cpu_e4m3, __nv_fp8x2_storage_t> __nv_fp8x2_e4m3;
typedef cpu_small4<cpu_e4m3, __nv_fp8x4_storage_t> __nv_fp8x4_e4m3;
typedef cpu_small<cpu_e5m2, __nv_fp8_storage_t> __nv_fp8_e5m2;
typedef cpu_small2<cpu_e5m2, __nv_fp8x2_storage_t> __nv_fp8x2_e5m2;
typedef cpu_small4<cpu_e5m2, __nv_fp8x4_storage_t> __nv_fp8x4_e5m2;
typedef cpu_small<cpu_e8m0, __nv_fp8_storage_t> __nv_fp8_e8m0;
typedef cpu_small2<cpu_e8m0, __nv_fp8x2_storage_t> __nv_fp8x2_e8m0;
typedef cpu_small4<cpu_e8m0, __nv_fp8x4_storage_t> __nv_fp8x4_e8m0;

#define CPU_PARAMETERS __nv_saturation_t saturate, __nv_fp8_interpretation_t format
#define CPU_ENCODE(v)                                                                              \
    (format == __NV_E4M3 ? cpu_e4m3::encode(v, saturate == __NV_SATFINITE)                         \
                         : cpu_e5m2::encode(v, saturate == __NV_SATFINITE))
#define CPU_DECODE(x) (format == __NV_E4M3 ? cpu_e4m3::decode(x) : cpu_e5m2::decode(x))
CPU_CONVERSIONS(fp8, 8)
#undef CPU_PARAMETERS
#undef CPU_ENCODE
#undef CPU_DECODE

#define CPU_SCALE(from, from2, T, T2)                                                              \
    inline __nv_fp8_storage_t __nv_cvt_##from##_to_e8m0(T a, __nv_saturation_t saturate,           \
                                                        cudaRoundMode rounding)                    \
    {                                                                                              \
        return (__nv_fp8_storage_t)cpu_e8m0::encode(cpu_wide(a), saturate == __NV_SATFINITE,       \
                                                    rounding);                                     \
    }                                                                                              \
    inline __nv_fp8x2_storage_t __nv_cvt_##from2##_to_e8m0x2(T2 a, __nv_saturation_t saturate,     \
                                                             cudaRoundMode rounding)               \
    {                                                                                              \
        const bool finite = saturate == __NV_SATFINITE;                                            \
        return (__nv_fp8x2_storage_t)(cpu_e8m0::encode(cpu_part(a, 0), finite, rounding) |         \
                                      cpu_e8m0::encode(cpu_part(a, 1), finite, rounding) << 8);    \
    }
CPU_SCALE(double, double2, double, double2)
CPU_SCALE(float, float2, float, float2)
CPU_SCALE(bfloat16raw, bfloat162raw, __nv_bfloat16_raw, __nv_bfloat162_raw)
#undef CPU_SCALE
CPU_SEEN __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t a)
{
    return __nv_bfloat16(cpu_e8m0::decode(a));
}
CPU_SEEN __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t a)
{
    return __nv_bfloat162(__nv_bfloat16(cpu_unpack<cpu_e8m0>(a, 0)),
                          __nv_bfloat16(cpu_unpack<cpu_e8m0>(a, 1)));
}
