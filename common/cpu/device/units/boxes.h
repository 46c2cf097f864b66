/* Boxes: what a bulk copy moves between an array in global memory and a tile in shared memory. */
#ifndef PTX_BOXES_H
#define PTX_BOXES_H

#include "device/units/tensor_map.h"
#include "base/types.h"

#include <stddef.h>

/* In the tile the box lies row after row, its chunks of 16 bytes swizzled by their addresses. With
 * a swizzle, rows lie as far apart as that is wide. */
struct box {
    struct tensor_map map;
    int32_t at[RANK];   /* of its first element in the array */
    enum ptx_type type; /* of what is added, or PTX_NONE */
    int flush;          /* subnormal numbers are zeros to additions */
};

/* A row, and what of it lies in the array: p is NULL if nothing does. */
struct box_row {
    char *p;
    size_t skip, bytes; /* of the row in front of it; of it */
};

/* --- boxes.c ---------------------------------------------------------------------------------- */
size_t box_row_bytes(const struct box *b);
size_t box_rows(const struct box *b);
size_t box_pitch(const struct box *b); /* from row to row in the tile, in bytes */
struct box_row box_row(const struct box *b, size_t row);
/* A store writes 16 bytes at a time: so up to 15 bytes behind the end of a row of the array, where
 * that is no multiple of 16. */
struct box_row box_stored(const struct box *b, size_t row);
uint64_t box_inside(const struct box *b); /* bytes of the array that it touches */
/* Where byte i of the box lies in shared memory, if the tile begins at `tile`: bytes from its
 * start. */
uint32_t box_place(const struct box *b, uint32_t tile, size_t i);
/* From the array to the tile, with what fills up the rest. */
void box_fetch(const struct box *b, char *shared, uint32_t tile);
/* From the tile to bytes in a row, and from those to the array, or added to it. */
void box_take(const struct box *b, const char *shared, uint32_t tile, char *bytes);
void box_put(const struct box *b, const char *bytes);
void box_add(const struct box *b, const char *bytes);

#endif
