/* seeded.h: weights made from a seed, the same on the host and on the device.
 *
 * A model of 2.8e9 weights is neither shipped nor kept on the host: each weight is a function of
 * the seed and of its place. All arithmetic is exact until the one rounding to fp16, so host and
 * device get the same bits. Matrices are uniform with a standard deviation of 0.018, close to
 * the start of GPT-NeoX's training; gains are about 1. One embedding in 512 is eight times as
 * large: without outliers a wrong index would not show. */
#pragma once

#include "neox.h"

#ifdef __cplusplus
#define NEOX_BOTH static __host__ __device__ inline
#else
#define NEOX_BOTH static inline
#endif

/* The finaliser of splitmix64 (Steele, Lea and Flood 2014, Fast splittable pseudorandom number
 * generators, figure 17), of which 32 bits are kept. */
NEOX_BOTH uint32_t neox_hash(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32 ^ z);
}

/* The weight before it is rounded to fp16. index: counted from the first weight of the model. */
NEOX_BOTH float neox_seeded_weight(uint64_t seed, enum neox_part part, uint64_t index)
{
    const uint32_t bits = neox_hash(seed, index);
    const float uniform = (float)((int32_t)(bits >> 16) - 32768) * 0x1p-15f; /* -1 to 1 */
    switch (part) {
    case NEOX_NORM1_GAIN:
    case NEOX_NORM2_GAIN:
    case NEOX_FINAL_GAIN:
        return 1.0f + 0.125f * uniform;
    case NEOX_EMBEDDING:
        return ((bits & 511) == 0 ? 0.25f : 0x1p-5f) * uniform;
    default:
        return 0x1p-5f * uniform;
    }
}
