/* Skipping ahead in the generators of cuRAND. A step is linear: n steps are a power of its matrix.
 * The powers 1, 2, 4 and so on are computed when a program first skips. */
#include "cpu/random.h"

#include <pthread.h>
#include <string.h>

/* --- XORWOW: 160 bits, sums are exclusive ors ------------------------------------------------- */

enum { WORDS = 5, BITS = 32 * WORDS, XORWOW_SUBSEQUENCE = 67 };
typedef uint32_t matrix[BITS][WORDS]; /* the words that each bit becomes */

static matrix xorwow[2][64]; /* for steps and for subsequences: the powers 2^0 to 2^63 */
static pthread_once_t xorwow_once = PTHREAD_ONCE_INIT;

static void apply(uint32_t v[WORDS], const matrix m)
{
    uint32_t r[WORDS] = {0};
    for (int i = 0; i < BITS; i++)
        if (v[i / 32] >> i % 32 & 1)
            for (int j = 0; j < WORDS; j++)
                r[j] ^= m[i][j];
    memcpy(v, r, sizeof r);
}

static void square(matrix to, const matrix m)
{
    memcpy(to, m, sizeof(matrix));
    for (int i = 0; i < BITS; i++)
        apply(to[i], m);
}

static void make_xorwow(void)
{
    static matrix between, next;
    memset(between, 0, sizeof between);
    for (int i = 0; i < BITS; i++) {
        between[i][i / 32] = 1u << i % 32;
        cpu_xorwow_step(between[i]);
    }
    for (int k = 0; k < XORWOW_SUBSEQUENCE + 64; k++) {
        if (k < 64)
            memcpy(xorwow[CPU_STEPS][k], between, sizeof between);
        if (k >= XORWOW_SUBSEQUENCE)
            memcpy(xorwow[CPU_SUBSEQUENCES][k - XORWOW_SUBSEQUENCE], between, sizeof between);
        square(next, between);
        memcpy(between, next, sizeof next);
    }
}

void cpu_xorwow_skip(uint32_t v[5], uint64_t n, int of)
{
    pthread_once(&xorwow_once, make_xorwow);
    for (int k = 0; k < 64 && n >> k; k++)
        if (n >> k & 1)
            apply(v, xorwow[of][k]);
}

/* --- MRG32k3a: two times three numbers, modulo two primes --------------------------------------
 */

enum { MRG_SUBSEQUENCE = 76, MRG_SEQUENCE = 127, MRG_POWERS = MRG_SEQUENCE + 64 };
static const uint32_t modulus[2] = {CPU_MRG_M1, CPU_MRG_M2};
static uint32_t mrg[2][MRG_POWERS][3][3];
static pthread_once_t mrg_once = PTHREAD_ONCE_INIT;

static uint32_t row_times(const uint32_t row[3], uint32_t x, uint32_t y, uint32_t z, uint32_t m)
{
    return (
        uint32_t)(((uint64_t)row[0] * x % m + (uint64_t)row[1] * y % m + (uint64_t)row[2] * z % m) %
                  m);
}

static void make_mrg(void)
{
    static const uint32_t step[2][3][3] = {
        {{0, 1, 0}, {0, 0, 1}, {CPU_MRG_M1 - CPU_MRG_A13, CPU_MRG_A12, 0}},
        {{0, 1, 0}, {0, 0, 1}, {CPU_MRG_M2 - CPU_MRG_A23, 0, CPU_MRG_A21}}};
    for (int part = 0; part < 2; part++) {
        memcpy(mrg[part][0], step[part], sizeof step[part]);
        for (int k = 1; k < MRG_POWERS; k++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const uint32_t(*m)[3] = (const uint32_t(*)[3])mrg[part][k - 1];
                    mrg[part][k][i][j] = row_times(m[i], m[0][j], m[1][j], m[2][j], modulus[part]);
                }
    }
}

static void skip_part(uint32_t s[3], int part, uint64_t n, int from)
{
    for (int k = 0; k < 64 && n >> k; k++) {
        if (!(n >> k & 1))
            continue;
        uint32_t(*m)[3] = mrg[part][from + k], r[3];
        for (int i = 0; i < 3; i++)
            r[i] = row_times(m[i], s[0], s[1], s[2], modulus[part]);
        memcpy(s, r, sizeof r);
    }
}

void cpu_mrg_skip(uint32_t a[3], uint32_t b[3], uint64_t n, int of)
{
    static const int from[] = {0, MRG_SUBSEQUENCE, MRG_SEQUENCE};
    pthread_once(&mrg_once, make_mrg);
    skip_part(a, 0, n, from[of]);
    skip_part(b, 1, n, from[of]);
}
