/* bfloat16: 8 exponent and 7 fraction bits. */
#pragma once

#include "cpu/float16.h"

typedef cpu_float16<8, 7> __nv_bfloat16;
typedef cpu_float16x2<8, 7> __nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
CPU_FLOAT16_NAMES(nv_bfloat16, nv_bfloat162, bfloat16, bfloat162)
