/* The contents of a CUtensorMap here. */
#pragma once

#include <stdint.h>

enum { RANK = 5 };

/* The layout of an array in memory, the innermost dimension first, and its boxes. */
struct tensor_map {
    uint64_t magic; /* TENSOR_MAP: cuTensorMapEncodeTiled has made it */
    char *address;
    uint64_t extent[RANK], stride[RANK]; /* in elements; in bytes, the element's size first */
    uint32_t box[RANK]; /* size of a box, in elements, including those that `step` skips */
    uint8_t step[RANK]; /* of so many elements along a dimension, one is copied */
    uint8_t type, rank, swizzle, fill; /* CUtensorMapDataType, ..., CUtensorMapSwizzle; 1: NaN */
    uint8_t tf32;                      /* loads round to tf32 */
};
#define TENSOR_MAP 0x70616d726f736e74u
