/* random.c: inputs that can be repeated and that hide no bug.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3. SC 2011)
 * turns (key, counter) into 128 random bits. The key is the seed; the counter holds the element's
 * index and the tensor's name. So any thread can compute any element, in any order.
 *
 * Uniform inputs hide wrong indices. So each row has a scale and an offset of its own, and about
 * one element in 1000 is ten times as large. A softmax without its maximum shows only where scores
 * are large: KF_STEEP of common/problems/attention.h is for that. Only integers and fp64 products
 * are used, so every machine draws the same numbers. */
#define _DEFAULT_SOURCE
#include "harness/base/base.h"
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

void kf_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53 * c0, p1 = (uint64_t)0xCD9E8D57 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Uses of the random bits, in the second half of the counter, beside the hash of a tensor's name
 * or, for the second list, 0. */
enum { ROW_PARAMETERS, ELEMENTS };
enum { SAMPLED_ROWS, ORDERS };

static void draw(uint64_t seed, uint64_t index, uint32_t name, uint32_t use, uint32_t out[4])
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t counter[4] = {(uint32_t)index, (uint32_t)(index >> 32), name, use};
    kf_philox(counter, key, out);
}

static uint32_t below(uint64_t seed, uint64_t index, uint32_t use, uint32_t bound)
{
    uint32_t bits[4];
    draw(seed, index, 0, use, bits);
    return (uint32_t)((uint64_t)bits[0] * bound >> 32);
}

uint32_t kf_random_below(uint64_t seed, uint64_t index, uint32_t bound)
{
    return below(seed, index, SAMPLED_ROWS, bound);
}

/* Fisher and Yates: each place from the last on gets one of those that are left. */
void kf_shuffle(int *order, int n, uint64_t seed, int round)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        uint64_t index = (uint64_t)round * (uint64_t)n + (uint64_t)i;
        int other = (int)below(seed, index, ORDERS, (uint32_t)i + 1), was = order[i];
        order[i] = order[other];
        order[other] = was;
    }
}

static uint32_t hash_of(const char *name) /* FNV-1a */
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

typedef struct fill {
    float *to;
    int64_t columns;
    enum kf_dtype dtype;
    uint64_t seed;
    uint32_t name;
} fill;

static void fill_row(void *context, int64_t row)
{
    const fill *f = context;
    uint32_t bits[4];
    draw(f->seed, (uint64_t)row, f->name, ROW_PARAMETERS, bits);
    double scale = 0.5 + bits[0] * 0x1p-32;  /* 0.5 to 1.5 */
    double offset = bits[1] * 0.2 * 0x1p-32; /* 0 to 0.2 */
    for (int64_t column = 0; column < f->columns; column++) {
        int64_t i = row * f->columns + column;
        draw(f->seed, (uint64_t)i, f->name, ELEMENTS, bits);
        /* Six uniform numbers of 16 bits: their sum is nearly normal, with variance 6/12. */
        int32_t sum = -3 * 65535;
        for (int word = 0; word < 3; word++)
            sum += (int32_t)(bits[word] & 0xffff) + (int32_t)(bits[word] >> 16);
        double normal = sum * (0x1p-16 * 1.4142135623730951);
        double spread = bits[3] % 1000 == 0 ? 10.0 * scale : scale;
        double value = normal * spread;
        value += offset;
        f->to[i] = kf_round_to(f->dtype, (float)value);
    }
}

void kf_fill_random(float *to, const char *name, int64_t count, int64_t columns,
                    enum kf_dtype dtype, uint64_t seed)
{
    fill f = {.to = to, .columns = columns, .dtype = dtype, .seed = seed, .name = hash_of(name)};
    kf_parallel(count / columns, fill_row, &f);
}

uint64_t kf_fresh_seed(void)
{
    uint32_t seed = 0;
    int file = open("/dev/urandom", O_RDONLY);
    if (file < 0 || read(file, &seed, sizeof seed) != (ssize_t)sizeof seed)
        seed = (uint32_t)time(NULL) * 2654435761u ^ (uint32_t)getpid();
    if (file >= 0)
        close(file);
    return seed; /* 32 bits: short enough to type again */
}
