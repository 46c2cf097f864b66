/* How far off the functions are that only approximate: __expf and its like (math.h), ex2.approx
 * and its like (ptx/arithmetic.c). A GPU has tables, and an error that its documents limit. Here
 * each argument has an error of its own, always the same, from half of that limit to all of it, up
 * or down: so what relies on more than is promised fails here too. Results that are powers of two,
 * 0 or no numbers are exact. */
#ifndef CPU_APPROX_H
#define CPU_APPROX_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* From -1 to -1/2 or from 1/2 to 1, drawn by the argument's bits. */
static inline double cpu_part_of_error(uint64_t bits)
{
    bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdull; /* the finaliser of MurmurHash3 */
    bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53ull;
    bits ^= bits >> 33;
    double part = 0.5 + (double)(bits >> 33) * 0x1p-32;
    return bits & 1 ? part : -part;
}

/* The distance of the fp32 numbers where this one lies. */
static inline double cpu_step(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0x7ffull << 52;
    double power; /* the power of two below |value| */
    memcpy(&power, &bits, sizeof power);
    return power < 0x1p-126 ? 0x1p-149 : power * 0x1p-23;
}

static inline int cpu_is_exact(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits << 12 == 0 || value - value != 0;
}

/* The value, off by up to `most` for an argument of these bits. */
static inline double cpu_off(double value, uint64_t argument, double most)
{
    return cpu_is_exact(value) ? value : value + cpu_part_of_error(argument) * most;
}

#endif
