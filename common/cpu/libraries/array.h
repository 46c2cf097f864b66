/* CUDA arrays: declarations for textures. */
#pragma once

#include "api/api.h"

/* --- array.c ---------------------------------------------------------------------------------- */
/* Bytes of an element; 0 if no element can be like that. */
unsigned array_element(const struct cudaChannelFormatDesc *desc);
/* False after a sticky error: then the program may hold the handle of an array that was never
 * made. */
int array_given(const struct cudaArray *a);
