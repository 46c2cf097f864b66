/* Floating point of 6 bits, in the low bits of a byte: e2m3 and e3m2 have neither infinity nor NaN,
 * and what is too large, or NaN, becomes the largest number. */
#pragma once

#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;
#define __CUDA_FP6_TYPES_EXIST__

struct cpu_e2m3 : cpu_format<2, 3, 0x1f, 0x1f, 0x1f> {
    static constexpr unsigned bits = 8;
};
struct cpu_e3m2 : cpu_format<3, 2, 0x1f, 0x1f, 0x1f> {
    static constexpr unsigned bits = 8;
};
typedef cpu_small<cpu_e2m3, __nv_fp6_storage_t> __nv_fp6_e2m3;
typedef cpu_small2<cpu_e2m3, __nv_fp6x2_storage_t> __nv_fp6x2_e2m3;
typedef cpu_small4<cpu_e2m3, __nv_fp6x4_storage_t> __nv_fp6x4_e2m3;
typedef cpu_small<cpu_e3m2, __nv_fp6_storage_t> __nv_fp6_e3m2;
typedef cpu_small2<cpu_e3m2, __nv_fp6x2_storage_t> __nv_fp6x2_e3m2;
typedef cpu_small4<cpu_e3m2, __nv_fp6x4_storage_t> __nv_fp6x4_e3m2;

#define CPU_PARAMETERS __nv_fp6_interpretation_t format, cudaRoundMode rounding
#define CPU_ENCODE(v)                                                                              \
    (format == __NV_E2M3 ? cpu_e2m3::encode(v, true, rounding)                                     \
                         : cpu_e3m2::encode(v, true, rounding))
#define CPU_DECODE(x) (format == __NV_E2M3 ? cpu_e2m3::decode(x) : cpu_e3m2::decode(x))
CPU_CONVERSIONS(fp6, 8)
#undef CPU_PARAMETERS
#undef CPU_ENCODE
#undef CPU_DECODE
