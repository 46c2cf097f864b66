/* dtype.c: fp32, fp16, bf16 and int32 on the host: sizes, rounding to nearest even, poison.
 * The host holds every value as a float, so integers are those below 2^24 (tokens, positions). */
#include "harness/base/base.h"
#include <math.h>
#include <string.h>

const char *kf_dtype_name(enum kf_dtype dtype)
{
    static const char *const name[] = {"f32", "f16", "bf16", "i32"};
    return name[dtype];
}

size_t kf_dtype_size(enum kf_dtype dtype)
{
    return dtype == KF_F32 || dtype == KF_I32 ? 4 : 2;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Drops the lowest bits of an unsigned value, rounding to nearest, ties to even. */
static uint32_t drop_bits(uint32_t value, int count)
{
    uint32_t half = 1u << (count - 1), odd = (value >> count) & 1;
    return (value + half - 1 + odd) >> count;
}

static uint16_t to_bf16(float value)
{
    uint32_t bits = bits_of(value);
    if (isnan(value))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)drop_bits(bits, 16); /* a carry into the exponent is the right result */
}

static uint16_t to_f16(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000) /* 65520 and more round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude >= 0x38800000) /* normal: rebias the exponent from 127 to 15 */
        return (uint16_t)(sign | drop_bits(magnitude - ((127 - 15) << 23), 13));
    if (magnitude < 0x33000000) /* less than half the smallest subnormal */
        return (uint16_t)sign;
    int shift = 126 - (int)(magnitude >> 23); /* subnormal: a multiple of 2^-24 */
    return (uint16_t)(sign | drop_bits((magnitude & 0x7fffff) | 0x800000, shift));
}

static float from_f16(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, rest = half & 1023;
    if (exponent == 31)
        return float_of(sign | 0x7f800000 | rest << 13);
    if (exponent == 0)
        return copysignf(ldexpf((float)rest, -24), sign ? -1.0f : 1.0f);
    return float_of(sign | (exponent + 127 - 15) << 23 | rest << 13);
}

float kf_round_to(enum kf_dtype dtype, float value)
{
    if (dtype == KF_F16)
        return from_f16(to_f16(value));
    if (dtype == KF_BF16)
        return float_of((uint32_t)to_bf16(value) << 16);
    if (dtype == KF_I32)
        return rintf(value);
    return value;
}

void kf_pack(enum kf_dtype dtype, const float *from, void *to, int64_t count)
{
    if (dtype == KF_F32) {
        memcpy(to, from, (size_t)count * sizeof *from);
        return;
    }
    if (dtype == KF_I32) {
        for (int64_t i = 0; i < count; i++)
            ((int32_t *)to)[i] = (int32_t)lrintf(from[i]);
        return;
    }
    uint16_t *packed = to;
    for (int64_t i = 0; i < count; i++)
        packed[i] = dtype == KF_F16 ? to_f16(from[i]) : to_bf16(from[i]);
}

float kf_unpack(enum kf_dtype dtype, const void *from, int64_t index)
{
    if (dtype == KF_F32)
        return ((const float *)from)[index];
    if (dtype == KF_I32) /* there is no NaN among integers, so what was not written becomes one */
        return kf_is_poison(dtype, from, index) ? NAN : (float)((const int32_t *)from)[index];
    uint16_t packed = ((const uint16_t *)from)[index];
    return dtype == KF_F16 ? from_f16(packed) : float_of((uint32_t)packed << 16);
}

static uint32_t poison_bits(enum kf_dtype dtype)
{
    static const uint32_t bits[] = {0x7fa5dead, 0x7d5e, 0x7fa5, 0x80a5dead};
    return bits[dtype];
}

void kf_poison_pattern(enum kf_dtype dtype, void *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (kf_dtype_size(dtype) == 4)
            ((uint32_t *)to)[i] = poison_bits(dtype);
        else
            ((uint16_t *)to)[i] = (uint16_t)poison_bits(dtype);
    }
}

/* Arithmetic on a signalling NaN gives a quiet one. CPUs keep the other bits; GPUs do not. */
bool kf_is_from_poison(enum kf_dtype dtype, const void *from, int64_t index)
{
    if (dtype != KF_F32)
        return false;
    return (((const uint32_t *)from)[index] & 0x7fffffff) == (poison_bits(dtype) | 0x00400000);
}

int64_t kf_ordinal(enum kf_dtype dtype, const void *from, int64_t index)
{
    if (dtype == KF_I32)
        return ((const int32_t *)from)[index];
    const bool wide = dtype == KF_F32;
    const uint32_t bits = wide ? ((const uint32_t *)from)[index] : ((const uint16_t *)from)[index];
    const uint32_t sign = wide ? 0x80000000 : 0x8000;
    const int64_t magnitude = bits & (sign - 1);
    return bits & sign ? -magnitude : magnitude;
}

bool kf_is_poison(enum kf_dtype dtype, const void *from, int64_t index)
{
    uint32_t found = kf_dtype_size(dtype) == 4 ? ((const uint32_t *)from)[index]
                                               : ((const uint16_t *)from)[index];
    return found == poison_bits(dtype);
}
