/* A matrix in shared memory as wgmma is told of it: by 64 bits (descriptor.c). */
#ifndef DESCRIPTOR_H
#define DESCRIPTOR_H

#include "ptx/handlers/handler.h"

/* What the bits say, distances in bytes. Which of the two goes where: descriptor_offset. */
struct descriptor {
    uint32_t start, leading, stride;
    int base;  /* the row of 128 bytes at which the pattern of the swizzle has its start */
    int width; /* of the swizzle: 16, which is none, 32, 64 or 128 bytes */
};
struct descriptor descriptor_of(uint64_t bits);

/* Where 16 bytes of the matrix lie, from the start of shared memory: 8 numbers along k, or if it is
 * transposed along the other side, `outer`. Both count numbers; the one that the 8 are along is a
 * multiple of 8. */
uint32_t descriptor_offset(const struct descriptor *d, int transposed, int outer, int k);

/* Stops the kernel where a part of a matrix of so many rows or columns lies outside the block's
 * shared memory; `which` is A or B. */
void descriptor_check(struct worker *w, const ptx_insn *i, char which, uint64_t bits,
                      int transposed, int outer);

/* Tells check what operation op reads: `count` rows or columns from `first` on. */
void descriptor_tell(struct worker *w, int op, uint64_t bits, int transposed, int first, int count);

/* The matrix [outer][16]. */
void descriptor_read(const struct worker *w, uint64_t bits, int transposed, int outer,
                     uint16_t *to);
#endif
