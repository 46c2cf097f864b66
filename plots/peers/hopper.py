#!/usr/bin/env python3
"""hopper.py: FlashAttention-2 and cuDNN as steps 29 to 31 are timed: sustained, cool, and in graphs.

    python3 plots/peers/hopper.py [--out FILE] [--place NAME] [--pass NAME] [--length S] [--clock NAME]
                                  [--repetitions N] [--seed N] [--verify-only] [--once]

Forward, backward, and both in one call; in the column `step` they are 29, 30 and 31. Shapes, how a
backend is forced and shown to have run, and what is right: flash_common.py, flash.py and
flash_backward.py. Up to S = 1024 the clock is `graph` of flash_common.py, from 2048 on `sustained`
and `cool` of alone.py. The options, of which a part can be run: parts.py.
"""
import sys

import flash
import flash_backward
import flash_common as common
import parts
from flash_common import B, H

SHORT = 1024  # up to this S a call is too short to be launched back to back
STEPS = {"forward": "29", "backward": "30", "both": "31"}
CLOCKS = ("graph", "sustained", "cool")


# --- Both passes in one call ----------------------------------------------------------------------
def both_calls(tensors, causal):
    """(o, (dq, dk, dv)), with no more than what autograd would run."""
    q, k, v, dout = tensors
    S, aten = q.shape[-2], torch.ops.aten
    if device == "cpu":
        forward = flash.calls_for(tensors[:3], causal)["sdpa-cpu"]
        backward = flash_backward.calls_for(tensors, causal)["math-cpu"]
        return {"cpu": lambda: (forward(), backward())}
    as_flash_wants = flash_backward.laid_as_bshd(dout)

    def flash_attention():
        o, lse, starts_q, starts_k, _, _, seed, offset, _ = \
            aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal)
        return o, aten._scaled_dot_product_flash_attention_backward(
            as_flash_wants, q, k, v, o, lse, starts_q, starts_k, S, S, 0.0, causal, seed, offset)

    def cudnn():
        o, lse, starts_q, starts_k, _, _, seed, offset, _ = \
            aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)
        return o, aten._scaled_dot_product_cudnn_attention_backward(
            dout, q, k, v, o, lse, seed, offset, None, starts_q, starts_k, S, S, 0.0, causal)

    return {"flash-attention-2": flash_attention, "cudnn": cudnn}


def both_checker(tensors, causal):
    of_output = flash.checker(tensors[:3], causal)
    of_gradients = flash_backward.checker(tensors, causal)

    def check(got, name):
        return of_output(got[0], name).joined(of_gradients(got[1], name))

    check.compared = of_output.compared + of_gradients.compared
    return check


BOTH = common.Pass(
    name="both",
    step=STEPS["both"],
    kernels=flash_backward.BACKWARD.kernels,
    tensors=flash_backward.inputs,
    calls=both_calls,
    checker=both_checker,
    flops=lambda S, D: 14 * B * H * S * S * D,
    least_bytes=lambda S, D: 16 * B * H * S * D,
)
PASSES = {"forward": flash.FORWARD, "backward": flash_backward.BACKWARD, "both": BOTH}


# --- The cases ------------------------------------------------------------------------------------
def case_of(which, S, D, causal):
    way, name = PASSES[which], common.name_of(S, D, causal)
    asked = parts.options.clock or CLOCKS
    clocks = [clock for clock in CLOCKS if clock in asked and (clock == "graph") == (S <= SHORT)]
    return parts.Case(
        step=STEPS[which],
        name=name,
        said=f"{which}-{name}",
        shape=(B, H, S, S, D, 0, int(causal)),
        clocks=dict.fromkeys(clocks),
        kernels=[flash.FORWARD.kernels, way.kernels] if way is BOTH else [way.kernels],
        tensors=lambda: way.tensors(S, D),
        calls=lambda tensors: way.calls(tensors, causal),
        checker=lambda tensors: way.checker(tensors, causal),
        flops=way.flops(S, D) // (2 if causal else 1),
        least_bytes=way.least_bytes(S, D),
    )


def main():
    lengths = parts.chosen_lengths(common.LENGTHS)
    passes = dict.fromkeys(parts.options.passes or PASSES)  # each once, however often it is named
    cases = [case_of(which, S, D, causal) for which in passes for D in (64, 128)
             for causal in (False, True) for S in lengths]
    return parts.record("hopper", cases, common.measure)


if __name__ == "__main__":
    torch, device = parts.begin(
        "Times PyTorch's attention backends alone.",
        lambda parser: parts.add_arguments(parser, common.LENGTHS, list(STEPS), CLOCKS),
        common.LENGTHS)
    sys.exit(main())
