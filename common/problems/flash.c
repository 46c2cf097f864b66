/* flash.c: inputs whose results show what went wrong, and the reference.
 *
 * Random inputs hide much: a softmax over hundreds of random scores tolerates a probability that is
 * rounded twice. So some cases have inputs for which only one fp16 result is right.
 *
 * These inputs are made of codes. A code has a word of b bits, and its vector repeats the word
 * along the D dimensions, +1 for a bit that is set and -1 for one that is not. The vectors of two
 * different codes differ in at least D / b elements, rounded down. Keys are 8 times, queries 16
 * times the vector of a code, so products and their sums are integers. The score of a query and a
 * key of the same code is 128 sqrt(D); that of different codes is less by at least 256 (D / b) /
 * sqrt(D). With D >= 64 and b <= 14 that is 128, and exp(-128) is 0 in fp32.
 *
 *   KF_ONE_HOT   each key has its own code: up to 2^14 keys.
 *   KF_INTEGERS  keys 0 | 1, 2 | 3 to 6 | 7 to 14 | and so on share a code: 1, 2, 4, 8 of them. A
 *                query asks for such a group that it sees as a whole. v is -3 to 3, so the sums are
 *                integers below 2^11, except one in 10^20, divided by a power of two.
 *   KF_ODD       with KF_INTEGERS: v is an odd number below 2^11 for each group. o is that number,
 *                and the sum over a part of the group cannot be represented in fp16.
 *
 * KF_EXACT_GRADIENTS leaves a quarter of the dimensions to data for gradients. In those dimensions
 * keys have -1 to 1 where queries have 0, and queries -3 to 3 where keys have 0. Queries are 8
 * times the vector of a code, so that exp(score - lse), computed in fp32 from scores and lse, is
 * off by less than 2^-12 and rounds to a power of two. The gap of scores is at least 48. v is -3 to
 * 3, and with KF_INTEGERS -6 to 6: one integer for all keys of a code, to which the first of two
 * keys adds what the second subtracts. So o is that integer.
 *
 * KF_ONES has no codes. v is 1, so o is the sum of the probabilities as they are multiplied,
 * divided by the sum as they are added up, and the result is exactly 1 if that is within 2^-12
 * of 1. A probability is rounded by at most half a step, in either direction: with lambda of
 * tolerance.c that is lambda 2^-12 / sqrt(3 n) for n keys of similar probability, a quarter of
 * 2^-12 for n = 300. q is an eighth, so that probabilities are similar. Truncated probabilities
 * lose half a step on average, all in the same direction: 2^-12 and more.
 *
 * KF_MIDWAY: q and k are 0 but for the first dimension, so scores have hardly an error, and the
 * bound of lse is little more than that of the sum. Exponents are -1.57 to -1.50: relative errors
 * of a polynomial are the same for all keys, and do not cancel. Only keys 0, 2, 4 and 6 of each 32
 * count, the others have -60: where a warp computes one exponential in eight by a polynomial, it is
 * theirs.
 *
 * KF_EQUAL: scores are 0, each exp(score - maximum) is 1, and sums are exact in fp32. The division
 * is off by 4 u at most, so o is the exact mean rounded to fp16, or the neighbour if the middle
 * between the two is as near as that. */
#include "flash.h"
#include <math.h>

static int bits_for(int64_t codes)
{
    int bits = 1;
    while ((int64_t)1 << bits < codes)
        bits++;
    return bits;
}

/* 0 for key 0, 1 for keys 1 and 2, 2 for keys 3 to 6: floor(log2(key + 1)). */
static int64_t group_of(int64_t key)
{
    int64_t group = 0;
    while ((int64_t)2 << group <= key + 1)
        group++;
    return group;
}

/* to [n] = size times the vector of a code. */
static void write_code(float *to, int n, int64_t code, int bits, float size)
{
    for (int d = 0; d < n; d++)
        to[d] = code >> d % bits & 1 ? size : -size;
}

/* A random integer from -most to most; different for each `use` of an index. */
enum { IN_QUERIES = 1, IN_KEYS, MEANS, PAIRS };
static float whole_number(const kf_run *run, int use, int64_t index, int most)
{
    uint64_t at = (uint64_t)use << 40 | (uint64_t)index;
    return (float)kf_random_below(run->seed, at, 2 * (uint32_t)most + 1) - (float)most;
}

/* The code that a query asks for: of a key that it sees, or of a group of keys that it sees as a
 * whole. */
static int64_t asked_for(const kf_run *run, int64_t row)
{
    const kf_shape *s = &run->shape;
    int64_t keys = kf_visible_keys(s, row % s->Sq);
    bool groups = run->c->flags & KF_INTEGERS;
    int64_t codes = groups ? group_of(keys) : keys; /* group_of(keys): groups that end before it */
    return codes > 0 ? kf_random_below(run->seed, (uint64_t)row, (uint32_t)codes) : 0;
}

static void fill_codes(kf_run *run, float *q, float *k)
{
    const kf_shape *s = &run->shape;
    bool groups = run->c->flags & KF_INTEGERS, gradients = run->c->flags & KF_EXACT_GRADIENTS;
    int64_t heads = (int64_t)s->B * s->H, D = s->D, eighth = gradients ? D / 8 : 0;
    int bits = bits_for(groups ? group_of(s->Sk - 1) + 1 : s->Sk), n = (int)(D - 2 * eighth);
    for (int64_t row = 0; row < heads * s->Sq; row++) {
        write_code(q + row * D, n, asked_for(run, row), bits, gradients ? 8.0f : 16.0f);
        for (int64_t i = row * D + n; i < row * D + n + eighth; i++)
            q[i] = whole_number(run, IN_QUERIES, i, 3);
    }
    for (int64_t row = 0; row < heads * s->Sk; row++) {
        int64_t key = row % s->Sk;
        write_code(k + row * D, n, groups ? group_of(key) : key, bits, 8.0f);
        for (int64_t i = row * D + n + eighth; i < (row + 1) * D; i++)
            k[i] = whole_number(run, IN_KEYS, i, 1);
    }
}

static void fill_positive(const kf_run *run, kf_tensor *t)
{
    for (int64_t i = 0; i < t->count; i++)
        t->host[i] = 1.0f + (float)kf_random_below(run->seed, (uint64_t)i, 64);
}

static void fill_midway(const kf_run *run, kf_tensor *q, kf_tensor *k)
{
    const kf_shape *s = &run->shape;
    for (int64_t row = 0; row < q->rows; row++)
        q->host[row * s->D] = 1.0f;
    for (int64_t row = 0; row < k->rows; row++) {
        int64_t key = row % s->Sk;
        double exponent = 1.505 + 0.065 / 1024.0 * kf_random_below(run->seed, (uint64_t)row, 1024);
        if (key % 32 >= 8 || key % 2)
            exponent = 60.0;
        float other = (float)(-exponent * log(2.0) * sqrt(s->D));
        k->host[row * s->D] = key ? kf_round_to(KF_F16, other) : 0.0f;
    }
}

static void fill_integers(const kf_run *run, kf_tensor *v)
{
    for (int64_t i = 0; i < v->count; i++)
        v->host[i] = (float)kf_random_below(run->seed, (uint64_t)i, 7) - 3.0f;
}

/* Makes scores rise by 32 from the first key to the last, or fall: all of q gets 1 more, and k a
 * ramp from -2 to 2 at D = 64. */
static void add_ramp(const kf_run *run, kf_tensor *q, kf_tensor *k)
{
    const kf_shape *s = &run->shape;
    double most = 16.0 / sqrt(s->D) * (run->c->flags & KF_RISING ? 1.0 : -1.0);
    for (int64_t i = 0; i < q->count; i++)
        q->host[i] = kf_round_to(KF_F16, 0.5f * q->host[i] + 1.0f);
    for (int64_t i = 0; i < k->count; i++) {
        double at = (double)(i / s->D % s->Sk) / fmax(s->Sk - 1, 1); /* 0 to 1 */
        double ramp = most * (2.0 * at - 1.0);
        k->host[i] = kf_round_to(KF_F16, (float)(0.5 * k->host[i] + ramp));
    }
}

static void add_outliers(const kf_run *run, kf_tensor *k, kf_tensor *v)
{
    const kf_shape *s = &run->shape;
    for (int64_t i = 0; i < k->count; i++)
        if (i / s->D % 29 == 7) {
            k->host[i] *= 4.0f;
            v->host[i] *= 32.0f;
        }
}

static void add_to(kf_tensor *t, float value)
{
    for (int64_t i = 0; i < t->count; i++)
        t->host[i] = kf_round_to(KF_F16, t->host[i] + value);
}

/* v [heads][Sk][D]: an odd number from -2047 to 2047 for each group of keys and each column. */
static void fill_odd(const kf_run *run, kf_tensor *v)
{
    const kf_shape *s = &run->shape;
    for (int64_t i = 0; i < v->count; i++) {
        int64_t row = i / s->D, group = row / s->Sk * 64 + group_of(row % s->Sk);
        uint64_t index = (uint64_t)(group * s->D + i % s->D);
        v->host[i] = 2.0f * (float)kf_random_below(run->seed, index, 2048) - 2047.0f;
    }
}

/* v [heads][Sk][D]: a number from -3 to 3 for each group of keys and each column, plus 1 to 3
 * for the first of two keys, minus the same for the second. */
static void fill_pairs(const kf_run *run, kf_tensor *v)
{
    const kf_shape *s = &run->shape;
    for (int64_t i = 0; i < v->count; i++) {
        int64_t row = i / s->D, key = row % s->Sk, first = row / s->Sk * (s->Sk + 1);
        int64_t group = first + group_of(key), pair = first + (key + 1) / 2;
        float more = 2.0f + whole_number(run, PAIRS, pair * s->D + i % s->D, 1);
        v->host[i] = whole_number(run, MEANS, group * s->D + i % s->D, 3);
        if (key > 0)
            v->host[i] += key % 2 ? more : -more;
    }
}

void kf_flash_setup(kf_run *run)
{
    if (run->shape.R != 0)
        kf_die(KF_WRONG, "case %s: R = %d; 0 is right without RoPE", run->c->name, run->shape.R);
    run->find_mistake = kf_flash_find_mistake;
    kf_flash_declare(run);
}

void kf_flash_declare(kf_run *run)
{
    const kf_shape *s = &run->shape;
    unsigned flags = run->c->flags;
    bool codes = flags & (KF_ONE_HOT | KF_INTEGERS);
    /* The kernels for 128 would leave out the rest of a larger row. */
    if (s->D > 128)
        kf_die(KF_WRONG, "case %s: D = %d; 128 at most is right", run->c->name, s->D);
    /* Rotated codes are rounded, which is no matter where one score is far above all others. */
    if (codes && ((s->R != 0 && flags & KF_INTEGERS) || s->D < 64 || s->Sk > 1 << 14))
        kf_die(KF_WRONG,
               "case %s: R = %d, D = %d, Sk = %d; with exact inputs R = 0, or KF_ONE_HOT, D from "
               "64 and Sk up to %d are right",
               run->c->name, s->R, s->D, s->Sk, 1 << 14);
    const int64_t query[4] = {s->B, s->H, s->Sq, s->D}, key[4] = {s->B, s->H, s->Sk, s->D};
    const int64_t row[4] = {s->B, s->H, s->Sq, 1}; /* rows of one element, each checked or not */
    bool equal = flags & KF_EQUAL, midway = flags & KF_MIDWAY;
    kf_tensor *q =
        (codes || equal || midway ? kf_zero_input : kf_input)(run, "q", "BHSD", KF_F16, query);
    kf_tensor *k = (codes || midway ? kf_zero_input : kf_input)(run, "k", "BHSD", KF_F16, key);
    bool integers = flags & (KF_INTEGERS | KF_EXACT_GRADIENTS);
    kf_tensor *v = (integers || equal ? kf_zero_input : kf_input)(run, "v", "BHSD", KF_F16, key);
    if (codes)
        fill_codes(run, q->host, k->host);
    if (integers)
        (flags & KF_ODD                                      ? fill_odd
         : flags & KF_INTEGERS && flags & KF_EXACT_GRADIENTS ? fill_pairs
                                                             : fill_integers)(run, v);
    if (midway)
        fill_midway(run, q, k);
    if (equal)
        fill_positive(run, v);
    if (flags & (KF_RISING | KF_FALLING))
        add_ramp(run, q, k);
    if (flags & KF_OUTLIERS)
        add_outliers(run, k, v);
    for (int64_t i = 0; i < q->count && flags & KF_STEEP; i++)
        q->host[i] *= 64.0f;
    if (flags & KF_NEGATIVE) {
        add_to(q, 4.0f);
        add_to(k, -32.0f / sqrtf((float)s->D));
    }
    if (flags & KF_FLAT)
        add_to(k, 8.0f);
    for (int64_t i = 0; i < q->count && flags & KF_ONES; i++)
        q->host[i] = kf_round_to(KF_F16, q->host[i] / 8.0f);
    for (int64_t i = 0; i < v->count && flags & KF_ONES; i++)
        v->host[i] = 1.0f;
    kf_output(run, "o", "BHSD", KF_F16, query);
    kf_output(run, "lse", "BHSD", KF_F32, row);
}

static void known_results(kf_run *run)
{
    kf_tensor *o = kf_find(run, "o");
    const double off = 4.0 * kf_unit_roundoff(KF_F32); /* of a mean: fp32 divides */
    for (int64_t i = 0; i < o->count && run->c->flags & KF_EQUAL; i++) {
        double mean = o->want[i];
        o->want[i] = kf_round_to(KF_F16, (float)mean);
        o->bound[i] = kf_round_to(KF_F16, (float)(mean * (1.0 + off))) -
                      kf_round_to(KF_F16, (float)(mean * (1.0 - off)));
    }
    for (int64_t i = 0; i < o->count && run->c->flags & (KF_ONE_HOT | KF_INTEGERS | KF_ONES); i++) {
        o->want[i] = kf_round_to(KF_F16, (float)o->want[i]);
        o->bound[i] = 0.0;
    }
}

void kf_flash_reference(kf_run *run)
{
    kf_attention_reference_lse(run, kf_find(run, "lse"));
    known_results(run);
}

void kf_flash_reference_of(kf_run *run, const kf_operands *of)
{
    kf_attention_reference_of(run, of, kf_find(run, "lse"));
    known_results(run);
}

kf_cost kf_flash_cost(const kf_case *c)
{
    const kf_shape *s = &c->shape;
    double heads = (double)s->B * s->H, halves = heads * s->D * (2.0 * s->Sq + 2.0 * s->Sk);
    return (kf_cost){.bytes = 2.0 * halves + 4.0 * heads * s->Sq,
                     .flops = kf_attention_cost(c).flops,
                     .tensor_cores = true};
}
