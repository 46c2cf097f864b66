/* rope_flash.h: attention in fp16 over q and k that RoPE rotates, fused or not, from step 32 on.
 *
 * Both passes. Shapes, mask, o and lse are those of flash.h; gradients are those of
 * flash_backward.h, but with respect to the input q and k, before rotation.
 *
 * R = D: all of a row is rotated. Pairs are NeoX halves (rope.h), positions those of attention.h:
 * key j is at pos0 + j, query i at pos0 + Sk - Sq + i, so Sq <= Sk. Tensors besides q, k, v, o and
 * lse:
 *     cos, sin [Sk][D/2] fp32 in, row p for position pos0 + p, from fp64 and rounded once
 *     q_prerotated, k_prerotated in, like q and k: rotated in fp64 and rounded once. For passes
 *         that begin with rotated rows: attention alone, and gradients if the forward pass kept
 *         them
 *     q_rotated, k_rotated scratch, like q and k: for passes that first rotate them
 *
 * A right kernel rotates in fp32 and rounds once to fp16, since the tensor cores need fp16. So
 * its elements are those of q_prerotated and k_prerotated, unless the exact value is so near to the
 * middle between two fp16 numbers that fp32 may fall on the other side: then the element may be
 * the other number. Bounds allow only for that. The run's extra error is the error of a cosine or
 * sine. A gradient may be rounded to fp16 once before it is rotated back, as happens if two
 * kernels do it. */
#pragma once

#include "flash_backward.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a case are those of flash.h, except KF_INTEGERS: rotated elements are not integers, so
 * scores of the same code differ. With KF_ONE_HOT q and k are codes that are rotated back first. */
void kf_rope_flash_setup(kf_run *run);
void kf_rope_flash_reference(kf_run *run);
/* For a case whose keys and values are too large for the host: the reference of one head's rows
 * of o and lse, with k and v [Sk][D] of that head. Rows of other heads have no reference. */
void kf_rope_flash_reference_head(kf_run *run, int64_t head, const float *k, const float *v);
/* Bytes: q, k, v read and o, lse written once; the tables count as nothing. Flops: those of
 * flash.h; the rotation is not counted. */
kf_cost kf_rope_flash_cost(const kf_case *c);

/* Inputs q, k, v, o, lse, dout, cos, sin, q_prerotated, k_prerotated; outputs dq, dk, dv. forward:
 * as in flash_backward.h; it may use all tensors of kf_rope_flash_setup. */
void kf_rope_flash_backward_setup(kf_run *run, kf_launch *forward);
void kf_rope_flash_backward_reference(kf_run *run);
kf_cost kf_rope_flash_backward_cost(const kf_case *c);

/* Rotation of k alone: input k, cos, sin, output k_rotated. Bytes: k read and k_rotated written
 * once. Flops: 3 per element. Rotation in fp32 is off as rope.h says; the result is rounded once.
 */
void kf_rope_keys_setup(kf_run *run);
void kf_rope_keys_reference(kf_run *run);
kf_cost kf_rope_keys_cost(const kf_case *c);

#ifdef __cplusplus
}
#endif
