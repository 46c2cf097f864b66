/* The errors of functions that only approximate: __expf and the like (math.h), ex2.approx and
 * the like (ptx/handlers/arithmetic.c). A GPU uses tables, and its documents bound the error.
 * Here each argument has its own error, always the same, up or down, between half of that bound
 * and all of it, so a program that relies on more accuracy than is promised fails here too.
 * Results that are powers of two, 0, infinite or NaN are exact. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A factor from -1 to -1/2 or from 1/2 to 1, drawn from the argument's bits. */
static inline double cpu_part_of_error(uint64_t bits)
{
    bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdull; /* the finaliser of MurmurHash3 */
    bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53ull;
    bits ^= bits >> 33;
    double part = 0.5 + (double)(bits >> 33) * 0x1p-32;
    return bits & 1 ? part : -part;
}

/* The distance between neighbouring fp32 numbers around this value. */
static inline double cpu_step(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0x7ffull << 52;
    double power; /* the greatest power of two up to |value| */
    memcpy(&power, &bits, sizeof power);
    return power < 0x1p-126 ? 0x1p-149 : power * 0x1p-23;
}

static inline int cpu_is_exact(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits << 12 == 0 || value - value != 0;
}

/* The value with an error of up to `most`, which depends on the argument's bits. */
static inline double cpu_off(double value, uint64_t argument, double most)
{
    return cpu_is_exact(value) ? value : value + cpu_part_of_error(argument) * most;
}
