/* CUDA arrays, as textures see them. */
#ifndef ARRAY_H
#define ARRAY_H

#include "api/api.h"

/* --- array.c ---------------------------------------------------------------------------------- */
/* Bytes of an element, or 0 where no such element can be. */
unsigned array_element(const struct cudaChannelFormatDesc *desc);
/* Whether there is an array to look at. After an error that sticks a program may have the handle of
 * one that was never made. */
int array_given(const struct cudaArray *a);

#endif
