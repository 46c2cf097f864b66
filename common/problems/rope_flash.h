/* rope_flash.h: attention in fp16 over q and k that RoPE turns: what is fused, or not, from step 32
 * on. Both passes; shapes, mask, o and lse are those of flash.h, gradients those of
 * flash_backward.h, but by the q and k that come in, before they are turned.
 *
 * R = D: all of a row is turned, pairs are NeoX halves (rope.h), positions those of attention.h:
 * key j stands at pos0 + j, query i at pos0 + Sk - Sq + i. So Sq <= Sk. Tensors beside q, k, v, o
 * and lse:
 *     cos, sin [Sk][D/2] fp32 in, row p for position pos0 + p, from fp64 and rounded once
 *     q_turned, k_turned in, like q and k: turned in fp64 and rounded once. For passes that begin
 *         with turned rows: attention alone, and gradients where the forward pass kept them
 *     q_rotated, k_rotated scratch, like q and k: for passes that turn them first
 *
 * A right kernel turns in fp32 and rounds once to fp16, as the tensor cores want halves. So its
 * halves are those of q_turned and k_turned but where the exact value lies so near to the middle
 * between two halves that fp32 may fall on the other side, and there they may be the other half:
 * bounds expect that, and nothing more. The run's extra error is that of a cosine or sine. A
 * gradient may be rounded to fp16 once before it is turned back, as it is where two kernels do it.
 */
#ifndef KF_ROPE_FLASH_H
#define KF_ROPE_FLASH_H

#include "flash_backward.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a case are those of flash.h, but for exact inputs and KF_ONES: turned numbers are not
 * whole. */
void kf_rope_flash_setup(kf_run *run);
void kf_rope_flash_reference(kf_run *run);
/* For a case whose keys and values are too large for the host: of a head's rows of o and lse, with
 * k and v [Sk][D] of that head. Rows of other heads have no reference. */
void kf_rope_flash_reference_head(kf_run *run, int64_t head, const float *k, const float *v);
/* Bytes: q, k, v read and o, lse written once, as if the tables were nothing. Flops: those of
 * flash.h; turning is not counted. */
kf_cost kf_rope_flash_cost(const kf_case *c);

/* Inputs q, k, v, o, lse, dout, cos, sin, q_turned, k_turned; outputs dq, dk, dv. forward: as in
 * flash_backward.h; it may use all tensors of kf_rope_flash_setup. */
void kf_rope_flash_backward_setup(kf_run *run, kf_launch *forward);
void kf_rope_flash_backward_reference(kf_run *run);
kf_cost kf_rope_flash_backward_cost(const kf_case *c);

#ifdef __cplusplus
}
#endif
#endif
