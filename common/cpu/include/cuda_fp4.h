/* Floating point of 4 bits, two in a byte: e2m1 has neither infinity nor NaN, and what is too
 * large, or NaN, becomes the largest number. */
#pragma once

#include "cuda_fp6.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;
#define __CUDA_FP4_TYPES_EXIST__

struct cpu_e2m1 : cpu_format<2, 1, 0x7, 0x7, 0x7> {
    static constexpr unsigned bits = 4;
};
typedef cpu_small<cpu_e2m1, __nv_fp4_storage_t> __nv_fp4_e2m1;
typedef cpu_small2<cpu_e2m1, __nv_fp4x2_storage_t> __nv_fp4x2_e2m1;
typedef cpu_small4<cpu_e2m1, __nv_fp4x4_storage_t> __nv_fp4x4_e2m1;

#define CPU_PARAMETERS [[maybe_unused]] __nv_fp4_interpretation_t format, cudaRoundMode rounding
#define CPU_ENCODE(v) cpu_e2m1::encode(v, true, rounding)
#define CPU_DECODE(x) ((void)format, cpu_e2m1::decode(x))
CPU_CONVERSIONS(fp4, 4)
#undef CPU_PARAMETERS
#undef CPU_ENCODE
#undef CPU_DECODE
