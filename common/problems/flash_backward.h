/* flash_backward.h: the gradients of attention in fp16, from what its forward pass left.
 *
 * q, o, dout [B][H][Sq][D] and k, v [B][H][Sk][D] fp16, lse [B][H][Sq] fp32
 *     -> dq [B][H][Sq][D], dk, dv [B][H][Sk][D] fp16.
 *
 * dout is the gradient of a loss by o; dq, dk and dv are those by q, k and v. With scale =
 * 1 / sqrt(D), for each head, query i and key j that it sees (mask and lse are those of flash.h):
 *     P_ij = exp(scale q_i.k_j - lse_i)    delta_i = dout_i.o_i    dP_ij = dout_i.v_j
 *     dS_ij = P_ij (dP_ij - delta_i)
 *     dv_j = sum_i P_ij dout_i    dk_j = scale sum_i dS_ij q_i    dq_i = scale sum_j dS_ij k_j
 * (Dao, FlashAttention-2, 2023, algorithm 2.) A query that sees no key has dq = 0 and no share in
 * the others. o and lse are rounded inputs like all others. P, delta, dP and dS are to be fp32, P
 * and dS rounded to fp16 where they are multiplied, all sums fp32: bounds expect that. */
#ifndef KF_FLASH_BACKWARD_H
#define KF_FLASH_BACKWARD_H

#include "flash.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs q, k, v, o, lse, dout; outputs dq, dk, dv, or dq alone. Flags of a case are those of
 * flash.h. forward: reads q, k, v and writes o and lse, which it makes for cases with KF_LARGE or
 * KF_BY_KERNEL (see kf_inputs_from); those of others are computed here.
 * common/cuda/flash_forward.cuh has one. */
void kf_flash_backward_setup(kf_run *run, kf_launch *forward);
void kf_flash_dq_setup(kf_run *run, kf_launch *forward);
/* Of the outputs that are declared. With KF_EXACT_GRADIENTS there is one right result, bit for bit,
 * but for dq and dk where scale is no power of two (D = 128): they are rounded twice there. */
void kf_flash_backward_reference(kf_run *run);
/* For a problem that turns q and k first. declare: dout and the outputs, beside inputs that are
 * there already. The reference is told what is multiplied, and cosines and sines [Sk][D/2] by which
 * dq and dk are turned back. */
void kf_flash_backward_declare(kf_run *run);
void kf_flash_backward_reference_of(kf_run *run, const kf_operands *of, const double *cosines,
                                    const double *sines);
/* Bytes: inputs read and outputs written once. Flops: 10 D for each pair of a query and a key that
 * it sees, five products; 6 D for dq alone. The limit is that of the tensor cores. */
kf_cost kf_flash_backward_cost(const kf_case *c);
kf_cost kf_flash_dq_cost(const kf_case *c);

/* Both passes in one call: inputs q, k, v, dout, outputs o, lse, dq, dk, dv. forward is that of the
 * call: it reads q, k, v, writes o and lse, and gives the same bits each time. It is launched once
 * before; what it wrote has to be right as flash.h says, and a wrong one ends the program with a
 * line. Then o and lse are to be these, bit for bit, and gradients those that follow from them. */
void kf_flash_both_setup(kf_run *run);
void kf_flash_both_reference(kf_run *run, kf_launch *forward);
/* Bytes: o and lse, which both passes have, once. Flops: 14 D a pair. */
kf_cost kf_flash_both_cost(const kf_case *c);

#ifdef __cplusplus
}
#endif
#endif
