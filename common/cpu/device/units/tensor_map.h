/* What is in a CUtensorMap here. */
#ifndef TENSOR_MAP_H
#define TENSOR_MAP_H

#include <stdint.h>

enum { RANK = 5 };

/* How an array lies in memory, the innermost dimension first, and which boxes of it are copied. */
struct tensor_map {
    uint64_t magic; /* TENSOR_MAP: cuTensorMapEncodeTiled has made it */
    char *address;
    uint64_t extent[RANK], stride[RANK]; /* in elements; in bytes, the innermost element's first */
    uint32_t box[RANK]; /* elements of a box along each dimension, those that are left out too */
    uint8_t step[RANK]; /* of so many along a dimension, one is copied */
    uint8_t type, rank, swizzle, fill; /* CUtensorMapDataType, ..., CUtensorMapSwizzle; NaN if 1 */
    uint8_t tf32;                      /* loads round to it */
};
#define TENSOR_MAP 0x70616d726f736e74u

#endif
