/* Boxes: the part of an array in global memory that a bulk copy moves from or to a tile in
 * shared memory. */
#pragma once

#include "device/units/tensor_map.h"
#include "base/types.h"

#include <stddef.h>

/* A TMA box. The tile has the box row after row, its chunks of 16 bytes swizzled by their
 * addresses. With a swizzle, the distance of rows is the swizzle's width. */
struct box {
    struct tensor_map map;
    int32_t at[RANK];   /* position of the box's first element in the array */
    enum ptx_type type; /* of added elements, or PTX_NONE */
    int flush;          /* additions flush subnormal numbers to zero */
};

/* A row, and its part inside the array: p is NULL if no part is. */
struct box_row {
    char *p;
    size_t skip, bytes; /* bytes of the row before that part; bytes of the part */
};

/* --- boxes.c ---------------------------------------------------------------------------------- */
size_t box_row_bytes(const struct box *b);
size_t box_rows(const struct box *b);
size_t box_pitch(const struct box *b); /* distance of rows in the tile, in bytes */
struct box_row box_row(const struct box *b, size_t row);
/* The same for a store, which writes 16 bytes at a time: up to 15 bytes past the end of a row of
 * the array, if the row is no multiple of 16. */
struct box_row box_stored(const struct box *b, size_t row);
uint64_t box_inside(const struct box *b); /* bytes of the array inside the box */
/* The offset in shared memory of byte i of the box, for a tile that begins at `tile`. */
uint32_t box_place(const struct box *b, uint32_t tile, size_t i);
/* Copies from the array to the tile, and fills the rest. */
void box_fetch(const struct box *b, char *shared, uint32_t tile);
/* Copies from the tile to consecutive bytes; from these to the array; or adds them to the array. */
void box_take(const struct box *b, const char *shared, uint32_t tile, char *bytes);
void box_put(const struct box *b, const char *bytes);
void box_add(const struct box *b, const char *bytes);
