/* Floating-point numbers of PTX's formats, as doubles and back. */
#pragma once

#include "base/types.h"

#include <stdint.h>

enum ptx_rounding { PTX_NEAREST, PTX_ZERO, PTX_DOWN, PTX_UP, PTX_AWAY /* nearest, ties away */ };

/* --- formats.c -------------------------------------------------------------------------------- */
/* The value of an f16, bf16, tf32, f32 or f64; a double can hold each of them. */
double ptx_decode(enum ptx_type type, uint64_t bits);
/* The nearest number of that type, in the given rounding. NaN becomes the NaN that a GPU writes. */
uint64_t ptx_encode(enum ptx_type type, double v, enum ptx_rounding rounding);
/* x + y, and x * y + z if a double can hold x * y exactly; both rounded to odd. */
double ptx_sum(double x, double y);
int ptx_fraction_bits(enum ptx_type type);
/* A subnormal number becomes zero of the same sign. */
uint64_t ptx_flush(enum ptx_type type, uint64_t bits);
/* The result of an atomic addition, of any type. Floats round to nearest; `flush` takes
 * subnormal operands and a subnormal sum for zeros. */
uint64_t ptx_added(enum ptx_type type, int flush, uint64_t a, uint64_t b);
/* Sets the rounding of the operations on doubles that follow. Returns the one before. */
int ptx_set_rounding(enum ptx_rounding rounding);

static inline uint32_t ptx_float_bits(float f)
{
    union {
        float f;
        uint32_t bits;
    } u = {f};
    return u.bits;
}
static inline float ptx_float(uint64_t bits)
{
    union {
        uint32_t bits;
        float f;
    } u = {(uint32_t)bits};
    return u.f;
}
static inline uint64_t ptx_double_bits(double d)
{
    union {
        double d;
        uint64_t bits;
    } u = {d};
    return u.bits;
}
static inline double ptx_double(uint64_t bits)
{
    union {
        uint64_t bits;
        double d;
    } u = {bits};
    return u.d;
}

/* The type of one half of a packed type; of any other type, the type itself. */
static inline enum ptx_type ptx_single(enum ptx_type type)
{
    return type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : type;
}
