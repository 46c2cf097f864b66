/* half: 5 exponent and 10 fraction bits. */
#pragma once

#include "cpu/numbers/float16.h"

typedef cpu_float16<5, 10> __half;
typedef cpu_float16x2<5, 10> __half2;
typedef cpu_raw16<5, 10> __half_raw;
typedef cpu_raw16x2<5, 10> __half2_raw;
#define __CUDA_FP16_TYPES_EXIST__
#define CPU_HALF __half
#define CPU_HALF2 __half2
#define CPU_SCALAR half
#define CPU_PAIR half2
#ifndef __CUDA_NO_HALF_OPERATORS__
#define CPU_OPERATORS
#endif
#ifndef __CUDA_NO_HALF2_OPERATORS__
#define CPU_OPERATORS2
#endif
#include "cpu/numbers/float16_functions.h"

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
#endif
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
