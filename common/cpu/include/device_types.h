/* The rounding of conversions to 8, 6 and 4 bits. */
#pragma once

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
