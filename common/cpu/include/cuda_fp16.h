/* half: 5 exponent and 10 fraction bits. */
#pragma once

#include "cpu/float16.h"

typedef cpu_float16<5, 10> __half;
typedef cpu_float16x2<5, 10> __half2;
typedef __half half;
typedef __half2 half2;
CPU_FLOAT16_NAMES(half, half2, half, half2)
