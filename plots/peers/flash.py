#!/usr/bin/env python3
"""flash.py: PyTorch's FlashAttention-2 and cuDNN at the shapes of steps 21 to 23, on their clock.

    python3 plots/peers/flash.py [--out FILE] [--seed N] [--longest S] [--verify-only]

Shapes, clock, and how a backend is forced and shown to have run: flash_common.py. Flops are
4 B H Sq Sk D, half of it if causal. An output may be off by twice what a plain fp16 implementation
is in the same head: common/problems/plain.c, attention.c.
"""
import math
import re
import sys

import flash_common as common
import peers
from flash_common import B, H, HALF_STEP, HEADS, U16

# What is asked for.
BACKENDS = {"flash-attention-2": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION"}


# --- What is right --------------------------------------------------------------------------------
def plain(q, k, v, hidden):
    """common/problems/plain.c: fp32 sums, one rounding to fp16 after each stage."""
    p = (q @ k.transpose(-1, -2) * (1.0 / math.sqrt(q.shape[-1]))).half().float()
    p = (p.masked_fill_(hidden, -math.inf) - p.amax(dim=-1, keepdim=True)).exp_()
    p = (p / p.sum(dim=-1, keepdim=True)).half().float()
    return (p @ v).half()


def reference(q, k, v, hidden):
    """One part of the heads in fp64, and the bound of each element as attention.c derives it."""
    D, keys = q.shape[-1], k.shape[-2]
    q64, k64, v64 = q.double(), k.double(), v.double()
    score = q64 @ k64.transpose(-1, -2) / math.sqrt(D)
    p = torch.softmax(score.masked_fill(hidden, -math.inf), dim=-1)
    want = p @ v64
    abs_dot = q64.abs() @ k64.abs().transpose(-1, -2)
    ds = (1.0 + U16) ** 3 * (peers.gamma(D) + 4.0 * peers.U) * abs_dot / math.sqrt(D)
    ds += U16 * score.abs() + HALF_STEP
    least = (p * (-ds).exp()).sum(dim=-1, keepdim=True)
    off = ds.exp() / least - 1.0 + 2.0 * peers.gamma(keys) + 8.0 * peers.U
    error = (p * (off + U16 * (1.0 + off)) + HALF_STEP).masked_fill(hidden, 0.0)
    derived = (1.0 + U16) * (error @ v64.abs()) + U16 * want.abs() + HALF_STEP
    plain_off = (plain(q.float(), k.float(), v.float(), hidden).double() - want).abs()
    worst = plain_off.amax(dim=(-1, -2), keepdim=True)
    return want, torch.minimum(2.0 * derived, 2.0 * worst + U16 * want.abs())


def checker(tensors, causal):
    """A function of an output. It holds the rows that are compared."""
    S, D = tensors[0].shape[-2:]
    rows = common.rows_of(S)
    hidden = torch.arange(S, device=device) > rows[:, None] if causal else torch.zeros(
        (), dtype=torch.bool, device=device)
    flat = [x.reshape(-1, S, D) for x in tensors]
    parts = [reference(flat[0][h : h + HEADS, rows], flat[1][h : h + HEADS],
                       flat[2][h : h + HEADS], hidden) for h in range(0, flat[0].shape[0], HEADS)]
    want, bound = (torch.cat(part) for part in zip(*parts))

    def check(got, _):
        verdict = peers.Verdict()
        verdict.right = got.shape == tensors[0].shape and bool(got.isfinite().all())
        verdict.add(got.reshape(-1, S, D)[:, rows], want, bound)
        return verdict

    check.compared = want.numel()
    return check


# --- The peers ------------------------------------------------------------------------------------
def inputs(S, D):
    return [peers.random_input((B, H, S, D)).half() for _ in range(3)]


def forced(backend, q, k, v, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def call():
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return call


def calls_for(tensors, causal):
    if device == "cpu":
        return {"sdpa-cpu": lambda: F.scaled_dot_product_attention(*tensors, is_causal=causal)}
    return {name: forced(backend, *tensors, causal) for name, backend in BACKENDS.items()}


FORWARD = common.Pass(
    name="flash",
    step="22",
    kernels={"flash-attention-2": re.compile(r"\bflash_fwd_(splitkv_)?kernel\b"),
             "cudnn": re.compile(r"\bcudnn\w*(sdpa|flash)\w*")},
    tensors=inputs,
    calls=calls_for,
    checker=checker,
    flops=lambda S, D: 4 * B * H * S * S * D,
    least_bytes=lambda S, D: 8 * B * H * S * D,
)

if __name__ == "__main__":
    torch, device = common.begin("Times PyTorch's attention backends in fp16.")
    F = torch.nn.functional
    sys.exit(common.record(FORWARD))
