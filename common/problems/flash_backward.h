/* flash_backward.h: the gradients of attention in fp16, from the results of its forward pass.
 *
 * q, o, dout [B][H][Sq][D] and k, v [B][H][Sk][D] fp16, lse [B][H][Sq] fp32
 *     -> dq [B][H][Sq][D], dk, dv [B][H][Sk][D] fp16.
 *
 * dout is the gradient of a loss with respect to o; dq, dk and dv are the gradients with respect to
 * q, k and v. With scale = 1 / sqrt(D), for each head, query i and key j that it sees (mask and lse
 * are those of flash.h):
 *     P_ij = exp(scale q_i.k_j - lse_i)    delta_i = dout_i.o_i    dP_ij = dout_i.v_j
 *     dS_ij = P_ij (dP_ij - delta_i)
 *     dv_j = sum_i P_ij dout_i    dk_j = scale sum_i dS_ij q_i    dq_i = scale sum_j dS_ij k_j
 * (Dao, FlashAttention-2, 2023, algorithm 2.) A query that sees no key has dq = 0 and adds
 * nothing to dk and dv. o and lse are rounded inputs like all others. Bounds assume that P,
 * delta, dP and dS are fp32, that P and dS are rounded to fp16 for their products, and that all
 * sums are fp32. */
#pragma once

#include "flash.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs q, k, v, o, lse, dout; outputs dq, dk, dv, or only dq. Flags of a case are those of
 * flash.h. forward reads q, k, v and writes o and lse: it computes these inputs for cases with
 * KF_LARGE or KF_BY_KERNEL (see kf_inputs_from); for other cases they are computed here.
 * common/cuda/tiled_attention.cuh has such a forward. */
void kf_flash_backward_setup(kf_run *run, kf_launch *forward);
void kf_flash_dq_setup(kf_run *run, kf_launch *forward);
/* The reference of all declared outputs. With KF_EXACT_GRADIENTS only one result is right, bit
 * for bit, except for dq and dk if scale is no power of two (D = 128): these are rounded twice. */
void kf_flash_backward_reference(kf_run *run);
/* For a problem that rotates q and k first. declare: adds dout and the outputs to inputs that
 * exist already. The reference gets q and k as the product takes them, and the cosines and sines
 * [Sk][D/2] with which dq and dk are rotated back. */
void kf_flash_backward_declare(kf_run *run);
void kf_flash_backward_reference_of(kf_run *run, const kf_operands *of, const double *cosines,
                                    const double *sines);
/* Bytes: inputs read and outputs written once. Flops: 10 D for each pair of a query and a key
 * that it sees, which is five products; 6 D for only dq. The limit is the tensor cores'. */
kf_cost kf_flash_backward_cost(const kf_case *c);
kf_cost kf_flash_dq_cost(const kf_case *c);

/* Both passes in one call: inputs q, k, v, dout; outputs o, lse, dq, dk, dv. forward is the
 * forward pass of the call: it reads q, k, v, writes o and lse, and gives the same bits each
 * time. It is launched once before the call; a result that is not right as flash.h requires ends
 * the program with a line. The call must then return these o and lse, bit for bit, and the
 * gradients that follow from them. */
void kf_flash_both_setup(kf_run *run);
void kf_flash_both_reference(kf_run *run, kf_launch *forward);
/* Bytes: o and lse, which both passes have, count once. Flops: 14 D per pair. */
kf_cost kf_flash_both_cost(const kf_case *c);

#ifdef __cplusplus
}
#endif
