/* bfloat16: 8 exponent and 7 fraction bits. */
#pragma once

#include "cpu/numbers/float16.h"

typedef cpu_float16<8, 7> __nv_bfloat16;
typedef cpu_float16x2<8, 7> __nv_bfloat162;
typedef cpu_raw16<8, 7> __nv_bfloat16_raw;
typedef cpu_raw16x2<8, 7> __nv_bfloat162_raw;
#define __CUDA_BF16_TYPES_EXIST__
#define CPU_HALF __nv_bfloat16
#define CPU_HALF2 __nv_bfloat162
#define CPU_SCALAR bfloat16
#define CPU_PAIR bfloat162
#ifndef __CUDA_NO_BFLOAT16_OPERATORS__
#define CPU_OPERATORS
#endif
#ifndef __CUDA_NO_BFLOAT162_OPERATORS__
#define CPU_OPERATORS2
#endif
#include "cpu/numbers/float16_functions.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
