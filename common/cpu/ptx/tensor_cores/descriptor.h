/* wgmma's 64-bit descriptor of a matrix in shared memory (descriptor.c). */
#pragma once

#include "ptx/handlers/handler.h"

/* The fields of a descriptor, distances in bytes. descriptor_offset shows the use of the two
 * distances. */
struct descriptor {
    uint32_t start, leading, stride;
    int base;  /* the row of 128 bytes where the pattern of the swizzle begins */
    int width; /* of the swizzle: 32, 64 or 128 bytes, or 16 if there is none */
};
struct descriptor descriptor_of(uint64_t bits);

/* The offset in shared memory of 16 bytes of the matrix: 8 elements along k or, if it is
 * transposed, along the other side, `outer`. outer and k count elements; the index along the 8
 * is a multiple of 8. */
uint32_t descriptor_offset(const struct descriptor *d, int transposed, int outer, int k);

/* Stops the kernel if a part of a matrix with `outer` rows or columns is outside of the block's
 * shared memory. `which` is A or B. */
void descriptor_check(struct worker *w, const ptx_insn *i, char which, uint64_t bits,
                      int transposed, int outer);

/* Reports the reads of operation op to check: `count` rows or columns from `first` on. */
void descriptor_tell(struct worker *w, int op, uint64_t bits, int transposed, int first, int count);

/* Reads the matrix into to[outer][16]. */
void descriptor_read(const struct worker *w, uint64_t bits, int transposed, int outer,
                     uint16_t *to);
