/* Matrices in shared memory that wgmma reads.
 *
 * A row of the matrix (a column, if the matrix is transposed) is stored in pieces as wide as the
 * swizzle. Eight pieces, one after the other, are an atom, and two distances give the places of
 * the atoms. If rows are along k, the stride leads from 8 rows to the next 8; the leading
 * distance matters only without a swizzle, where a piece has 8 of the 16 elements. If the matrix
 * is transposed, the leading distance leads from one piece to the next along the row, and the
 * stride to the next 8 of k; without a swizzle the two change places. The swizzle works on bits
 * of the address: the bits that number the 16 bytes in a piece are combined by xor with the bits
 * that number the 128 bytes in an atom. */
#include "ptx/tensor_cores/descriptor.h"

#include <stdio.h>
#include <string.h>

/* The fields of a descriptor, distances in bytes. offset_of shows the use of the two
 * distances. */
struct descriptor {
    uint32_t start, leading, stride;
    int base;  /* the row of 128 bytes where the pattern of the swizzle begins */
    int width; /* of the swizzle: 32, 64 or 128 bytes, or 16 if there is none */
};

static struct descriptor fields_of(uint64_t bits)
{
    static const int widths[] = {16, 128, 64, 32};
    return (struct descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                               .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                               .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                               .base = (int)(bits >> 49 & 7),
                               .width = widths[bits >> 62]};
}

/* Bits that are in no field. PTX ISA, "Matrix-descriptor Format": they are 0. */
static const uint64_t OUTSIDE = 0x3ull << 14 | 0x3ull << 30 | 0x7ull << 46 | 0x3ffull << 52;

static inline uint32_t swizzled(const struct descriptor *d, uint32_t at)
{
    uint32_t row = (at >> 7) - (uint32_t)d->base, mask = (uint32_t)d->width / 16 - 1;
    return at ^ (row & mask) << 4;
}

/* The offset in shared memory of 16 bytes of the matrix: 8 elements along k or, if it is
 * transposed, along the other side, `outer`. outer and k count elements; the index along the 8
 * is a multiple of 8. */
static uint32_t offset_of(const struct descriptor *d, int transposed, int outer, int k)
{
    const uint32_t pieces = (uint32_t)d->width / 16, width = (uint32_t)d->width;
    const uint32_t o = (uint32_t)outer, o8 = o / 8, k8 = (uint32_t)k / 8;
    uint32_t at = d->start;
    if (!transposed)
        at += o % 8 * width + o8 * d->stride + k8 * (width == 16 ? d->leading : 16);
    else if (width == 16)
        at += o8 * d->stride + (uint32_t)k % 8 * 16 + k8 * d->leading;
    else
        at +=
            o8 % pieces * 16 + o8 / pieces * d->leading + (uint32_t)k % 8 * width + k8 * d->stride;
    return swizzled(d, at & 0x3ffff);
}

#if CPU_TRACE == 2
/* For check: the text of a mistake in a descriptor whose matrix could be read, or NULL. */
static const char *wrong(const struct descriptor *d, char which, int transposed, int outer)
{
    static char text[200];
    static uint16_t owner[0x40000 / 16]; /* of each 16 bytes: their o and k, plus 1 */
    const char *side = which == 'A' ? "row" : "column", *found = NULL;
    const int phase = (int)(d->start >> 7) & (d->width / 16 - 1);
    if (phase != (d->base & (d->width / 16 - 1))) {
        snprintf(text, sizeof text,
                 "the swizzle's pattern is to begin at 0x%x, which is no multiple of %d: need a "
                 "start that is, or a base offset of %d",
                 d->start & ~127u, d->width * 8, (int)(d->start >> 7) & 7);
        return text;
    }
    if (!transposed && d->width > 16 && d->start % (uint32_t)d->width + 32 > (uint32_t)d->width) {
        snprintf(text, sizeof text,
                 "16 numbers along k from byte %u on leave the %d bytes of the swizzle",
                 d->start % (uint32_t)d->width, d->width);
        return text;
    }
    for (int pass = 0; pass < 2; pass++)
        for (int o = 0; o < outer; o += transposed ? 8 : 1)
            for (int k = 0; k < 16; k += transposed ? 1 : 8) {
                uint16_t *at = &owner[offset_of(d, transposed, o, k) / 16];
                const int other = *at - 1;
                if (pass == 0 && other >= 0 && !found) {
                    snprintf(text, sizeof text,
                             "%s %d at k = %d and %s %d at k = %d lie at one address, 0x%x", side,
                             other / 16, other % 16, side, o, k, offset_of(d, transposed, o, k));
                    found = text;
                }
                *at = pass ? 0 : (uint16_t)(o * 16 + k + 1);
            }
    return found;
}

/* The same with place and descriptor, or NULL. */
static const char *told_of(const struct worker *w, const ptx_insn *i, char which, uint64_t bits,
                           int transposed, int outer)
{
    static char line[500];
    const struct descriptor d = fields_of(bits);
    const struct thread *t = &w->threads[w->now];
    const char *why = wrong(&d, which, transposed, outer);
    if (!why)
        return NULL;
    snprintf(line, sizeof line,
             "%s:%d: %s: matrix %c: %s (descriptor: start 0x%x, leading distance %u, stride %u, "
             "base offset %d, swizzle of %d bytes)",
             t->file, t->line, i->text, which, why, d.start, d.leading, d.stride, d.base,
             d.width == 16 ? 0 : d.width);
    return line;
}
#endif

void descriptor_check(struct worker *w, const ptx_insn *i, char which, uint64_t bits,
                      int transposed, int outer)
{
    const struct thread *t = &w->threads[w->now];
    const struct descriptor d = fields_of(bits);
    const size_t used = w->shared_used + w->gaps;
    if (bits & OUTSIDE)
        fault_stop(w, FAULT_DESCRIPTOR, cudaErrorIllegalAddress,
                   "%s:%d: %s: matrix %c has a descriptor, 0x%016llx, with bits outside of its "
                   "fields, 0x%016llx: need an address and distances in units of 16 bytes, of 14 "
                   "bits each",
                   t->file, t->line, i->text, which, (unsigned long long)bits,
                   (unsigned long long)(bits & OUTSIDE));
    for (int o = 0; o < outer; o += transposed ? 8 : 1)
        for (int k = 0; k < 16; k += transposed ? 1 : 8) {
            uint32_t at = offset_of(&d, transposed, o, k);
            if (at + 16 > used)
                fault_stop(w, FAULT_DESCRIPTOR, cudaErrorIllegalAddress,
                           "%s:%d: %s: matrix %c has %s %d at shared address 0x%x: the block's "
                           "shared memory ends at 0x%zx (descriptor: start 0x%x, leading distance "
                           "%u, stride %u, swizzle of %d bytes)",
                           t->file, t->line, i->text, which, which == 'A' ? "row" : "column", o, at,
                           used, d.start, d.leading, d.stride, d.width == 16 ? 0 : d.width);
        }
    TRACE_CHECK(descriptor(w, told_of(w, i, which, bits, transposed, outer)));
}

void descriptor_read(const struct worker *w, uint64_t bits, int transposed, int outer, uint16_t *to)
{
    const struct descriptor d = fields_of(bits);
    uint16_t v[8];
    if (!transposed) {
        for (int o = 0; o < outer; o++)
            for (int k = 0; k < 16; k += 8)
                memcpy(to + o * 16 + k, w->arena + offset_of(&d, 0, o, k), sizeof v);
        return;
    }
    for (int k = 0; k < 16; k++)
        for (int o = 0; o < outer; o += 8) {
            memcpy(v, w->arena + offset_of(&d, 1, o, k), sizeof v);
            for (int e = 0; e < 8; e++)
                to[(o + e) * 16 + k] = v[e];
        }
}

void descriptor_tell(struct worker *w, int op, uint64_t bits, int transposed, int first, int count)
{
    const struct descriptor d = fields_of(bits);
    for (int o = first; o < first + count; o += transposed ? 8 : 1)
        for (int k = 0; k < 16; k += transposed ? 1 : 8) {
            const char *p = w->arena + offset_of(&d, transposed, o, k);
            TRACE_CHECK_OR(proxy_read(w, op, p, 16), (void)p);
        }
}
