/* D = A B + C as a Hopper tensor core computes it (product.c). */
#pragma once

#include "base/types.h"

#include <stdint.h>

enum { PRODUCT_ROWS = 16, PRODUCT_COLUMNS = 8, PRODUCT_K = 16 };

/* a [16][k], b [k][8], c and d [16][8], each element the bits of a number. a and b have type
 * `in`, which is f16, bf16 or tf32; c and d have type `sum`, which is f32 or f16. k is 4, 8 or
 * 16. */
void product(enum ptx_type in, enum ptx_type sum, int k, const uint32_t *a, const uint32_t *b,
             const uint32_t *c, uint32_t *d);
/* A warp's part of a warpgroup's product: c += a b. a [16][16] and b [columns][16], which is
 * transposed, have type `in`; c [16][PRODUCT_WIDE] is f32. */
enum { PRODUCT_WIDE = 256 };
void product_wide(enum ptx_type in, int columns, const uint16_t *a, const uint16_t *b,
                  uint32_t (*c)[PRODUCT_WIDE]);
