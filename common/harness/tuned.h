/* tuned.h: the variant that a program with kf_program.tunes has found to be the fastest. */
#pragma once

#include "harness.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fastest on this device for the shape: of the rows with its D and causal, the one whose Sq and
 * Sk are nearest, as ratios. table: build/data/DEVICE/tuned-TABLE.tsv, or else the one in
 * plots/data/DEVICE. part: "dq" finds the best of "dq:m64-n64" and its like and gives "m64-n64";
 * NULL finds names without a part. false: no table, or no such row. A table that is damaged, or
 * another device's, ends the program with a line. */
bool kf_tuned(const char *table, const kf_shape *shape, const char *part, char *variant,
              size_t size);

#ifdef __cplusplus
}
#endif
