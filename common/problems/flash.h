/* flash.h: attention in fp16 that also returns the logarithm of its sums, as FlashAttention does.
 *
 * q [B][H][Sq][D], k and v [B][H][Sk][D], fp16 -> o [B][H][Sq][D] fp16, lse [B][H][Sq] fp32.
 *
 * o and the mask are those of attention.h, without RoPE: the last query sees the last key. lse
 * is the natural logarithm of the sum of exp(q k^T / sqrt(D)) over the keys that a query sees. A
 * query that sees no key has o = 0 and lse = -Inf. Bounds assume that scores and sums are fp32. */
#pragma once

#include "attention.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a case that choose its inputs, besides KF_STEEP. */
enum {
    /* One score of each query is so large that all other probabilities are 0: o is a row of v,
     * bit for bit. */
    KF_ONE_HOT = 2 * KF_OF_PROBLEM,
    /* The same with a power of two of equal scores, and v of small integers: o is exact. */
    KF_INTEGERS = 4 * KF_OF_PROBLEM,
    KF_RISING = 8 * KF_OF_PROBLEM,    /* scores grow with the key: each tile raises the maximum */
    KF_FALLING = 16 * KF_OF_PROBLEM,  /* scores fall: the first tile has the maximum */
    KF_OUTLIERS = 32 * KF_OF_PROBLEM, /* some keys are 4 times, their values 32 times as large */
    KF_ONES = 64 * KF_OF_PROBLEM, /* v is 1, and so is o if P and o are rounded, not truncated */
    KF_NEGATIVE = 128 * KF_OF_PROBLEM, /* all scores are near -128 */
    /* With KF_INTEGERS: v is one odd number for all keys of a code. o is that number; the sum
     * over a part of the keys cannot be represented in fp16. */
    KF_ODD = 256 * KF_OF_PROBLEM,
    KF_FLAT = 512 * KF_OF_PROBLEM, /* keys are larger by 8: scores vary less */
    /* With KF_ONE_HOT or KF_INTEGERS: gradients are exact too, see flash_backward.h. */
    KF_EXACT_GRADIENTS = 1024 * KF_OF_PROBLEM,
    /* Of a backward pass: a kernel computes o and lse, as for KF_LARGE. */
    KF_BY_KERNEL = 2048 * KF_OF_PROBLEM,
    /* q is 0, so each key that a query sees has the same probability, also where q and k are
     * rotated, and v is 1 to 64: o is a mean that is rounded once; the sum over a part of the keys
     * cannot be represented in fp16. In a backward pass dout is 1 to 64, too. */
    KF_EQUAL = 4096 * KF_OF_PROBLEM,
    /* The first key has score 0, the others that count are such that 2^(score log2(e)) has an
     * exponent a little below -3/2: as far from a whole number as a polynomial for 2^x has to
     * reach. */
    KF_MIDWAY = 8192 * KF_OF_PROBLEM
};

/* Inputs q, k, v, outputs o and lse. */
void kf_flash_setup(kf_run *run);
void kf_flash_reference(kf_run *run);
/* The same for a problem that rotates q and k first. R may be D; the reference gets q and k as
 * the product takes them. */
void kf_flash_declare(kf_run *run);
void kf_flash_reference_of(kf_run *run, const kf_operands *of);
/* Writes which mistake makes output `t`, with `raw` as its memory and `wrong` as its first wrong
 * element, what it is: a clause after "these are the results if". Nothing if none does that is
 * known to flash_mistakes.c. */
void kf_flash_find_mistake(const kf_run *run, const kf_tensor *t, const void *raw, int64_t wrong,
                           char *text, size_t size);
/* Bytes: inputs read and outputs written once. Flops: 4 D for each pair of a query and a key
 * that it sees. The limit is the tensor cores'. */
kf_cost kf_flash_cost(const kf_case *c);

#ifdef __cplusplus
}
#endif
