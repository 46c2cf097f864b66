/* D = A B + C as a Hopper tensor core computes it (product.c). */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <stdint.h>

enum { PRODUCT_ROWS = 16, PRODUCT_COLUMNS = 8, PRODUCT_K = 16 };

/* A format of numbers: its bits are sign, exponent, fraction. */
struct number_format {
    int exponent, fraction;
};
extern const struct number_format format_f16, format_bf16, format_tf32, format_f32;

/* a [16][k], b [k][8], c and d [16][8], a number's bits in each element. c and d are of format sum,
 * which is f16 or f32; a and b of format in. k is at most 16. d may be c. */
void product(const struct number_format *in, const struct number_format *sum, int k,
             const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d);
#endif
