/* wgmma's 64-bit descriptor of a matrix in shared memory (descriptor.c). */
#pragma once

#include "ptx/handlers/handler.h"

/* Stops the kernel if a part of a matrix with `outer` rows or columns is outside of the block's
 * shared memory. `which` is A or B. */
void descriptor_check(struct worker *w, const ptx_insn *i, char which, uint64_t bits,
                      int transposed, int outer);

/* Reports the reads of operation op to check: `count` rows or columns from `first` on. */
void descriptor_tell(struct worker *w, int op, uint64_t bits, int transposed, int first, int count);

/* Reads the matrix into to[outer][16]. */
void descriptor_read(const struct worker *w, uint64_t bits, int transposed, int outer,
                     uint16_t *to);
