/* unit_random.c: the generator, the distribution of inputs, the roundings to fp16 and bf16. */
#include "unit.h"
#include <math.h>

/* Known answers of Random123 (kat_vectors, philox4x32 10). */
static void known_answers(void)
{
    static const uint32_t vector[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1}};
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        kf_philox(vector[i], vector[i] + 4, out);
        ok(memcmp(out, vector[i] + 6, sizeof out) == 0, "Philox4x32-10 known answer %d", i + 1);
    }
}

static void distribution(void)
{
    enum { ROWS = 2000, COLUMNS = 128, COUNT = ROWS * COLUMNS };
    float *x = malloc(COUNT * sizeof *x), *y = malloc(COUNT * sizeof *y);
    kf_fill_random(x, "q", COUNT, COLUMNS, KF_F32, 7);
    kf_fill_random(y, "q", COUNT / 2, COLUMNS, KF_F32, 7);
    ok(memcmp(x, y, COUNT / 2 * sizeof *x) == 0, "an element depends on its index only");
    kf_fill_random(y, "k", COUNT, COLUMNS, KF_F32, 7);
    ok(memcmp(x, y, COUNT * sizeof *x) != 0, "another name, other values");
    kf_fill_random(y, "q", COUNT, COLUMNS, KF_F32, 8);
    ok(memcmp(x, y, COUNT * sizeof *x) != 0, "another seed, other values");

    double mean = 0, large = 0, least_spread = 1e9, most_spread = 0;
    for (int row = 0; row < ROWS; row++) {
        double sum = 0, square = 0;
        int n = 0;
        for (int i = 0; i < COLUMNS; i++) {
            double value = x[row * COLUMNS + i];
            mean += value / COUNT;
            large += fabs(value) > 7.0; /* ordinary ones end at 4.24 * 1.5 + 0.2 = 6.6 */
            if (fabs(value) < 7.0) {
                sum += value;
                square += value * value;
                n++;
            }
        }
        double spread = sqrt(square / n - sum / n * (sum / n));
        least_spread = fmin(least_spread, spread);
        most_spread = fmax(most_spread, spread);
    }
    ok(fabs(mean - 0.1) < 0.02, "inputs are off centre: mean %.3f, expected 0.1", mean);
    ok(least_spread < 0.6 && most_spread > 1.4, "rows differ in spread: %.2f to %.2f", least_spread,
       most_spread);
    /* An outlier is 10 scale |normal|; about half of them pass 7 in size. */
    ok(large > 0.0002 * COUNT && large < 0.001 * COUNT, "outliers: %.0f of %d beyond 7", large,
       COUNT);
    ok(kf_fresh_seed() != kf_fresh_seed(), "fresh seeds differ");
    free(x);
    free(y);
}

/* Rounding by definition: the nearest of the two neighbours, the even one on a tie. */
static bool rounds_right(enum kf_dtype dtype, float value)
{
    float got = kf_round_to(dtype, value);
    uint16_t bits;
    kf_pack(dtype, &value, &bits, 1);
    uint16_t around[2] = {(uint16_t)(bits - 1), (uint16_t)(bits + 1)};
    for (int i = 0; i < 2; i++) {
        double other = kf_unpack(dtype, around, i);
        if (!isfinite(other) || (bits & 0x7fff) == 0)
            continue;
        double mine = fabs((double)got - value), theirs = fabs(other - value);
        if (theirs < mine || (theirs == mine && (bits & 1)))
            return false;
    }
    return true;
}

static void roundings(enum kf_dtype dtype)
{
    int bad_trip = 0, bad_round = 0, bad_place = 0;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        uint16_t in = (uint16_t)bits, out;
        float value = kf_unpack(dtype, &in, 0);
        kf_pack(dtype, &value, &out, 1);
        bad_trip += isnan(value) ? !isnan(kf_unpack(dtype, &out, 0)) : in != out;
        /* Half way to the next one in size, and just beside that. */
        uint16_t above = (uint16_t)(in + 1);
        float next = kf_unpack(dtype, &above, 0), middle = value + (next - value) / 2.0f;
        if (!isfinite(value) || !isfinite(next))
            continue;
        bad_place +=
            kf_ordinal(dtype, &above, 0) - kf_ordinal(dtype, &in, 0) != (signbit(value) ? -1 : 1);
        bad_round += !rounds_right(dtype, middle);
        bad_round += !rounds_right(dtype, nextafterf(middle, value));
        bad_round += !rounds_right(dtype, nextafterf(middle, next));
    }
    ok(bad_trip == 0, "%s: all 65536 patterns survive a round trip", kf_dtype_name(dtype));
    ok(bad_round == 0, "%s: rounds to nearest, ties to even", kf_dtype_name(dtype));
    ok(bad_place == 0, "%s: neighbours are one place apart", kf_dtype_name(dtype));
    uint32_t pattern = 0;
    kf_poison_pattern(dtype, &pattern, 1);
    ok(isnan(kf_unpack(dtype, &pattern, 0)) && kf_is_poison(dtype, &pattern, 0),
       "%s: poison is a NaN and known as poison", kf_dtype_name(dtype));
    float computed = kf_unpack(dtype, &pattern, 0) + 1.0f;
    uint32_t after = 0;
    kf_pack(dtype, &computed, &after, 1);
    ok(!kf_is_poison(dtype, &after, 0), "%s: what was computed from poison is not poison",
       kf_dtype_name(dtype));
}

static int64_t place(float value)
{
    return kf_ordinal(KF_F32, &value, 0);
}

int main(void)
{
    known_answers();
    distribution();
    roundings(KF_F16);
    roundings(KF_BF16);
    ok(isinf(kf_round_to(KF_F16, 65520.0f)) && kf_round_to(KF_F16, 65519.0f) == 65504.0f,
       "f16 overflows at 65520");
    float one = 1.0f;
    uint32_t poison;
    kf_poison_pattern(KF_F32, &poison, 1);
    float next = kf_unpack(KF_F32, &poison, 0) + one;
    ok(kf_is_poison(KF_F32, &poison, 0) && !kf_is_poison(KF_F32, &next, 0),
       "f32: a sum with poison is not poison");
    const int32_t tokens[] = {-3, 4};
    ok(place(0.0f) == 0 && place(-0.0f) == 0 && place(1.0f) == 0x3f800000 &&
           place(nextafterf(-1.0f, -2.0f)) == -0x3f800001 && kf_ordinal(KF_I32, tokens, 0) == -3 &&
           kf_ordinal(KF_I32, tokens, 1) == 4,
       "f32, i32: places count from zero, -0 has that of 0");
    return done();
}
