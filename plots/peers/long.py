#!/usr/bin/env python3
"""long.py: RoPE and attention from S = 512 to 131072, as steps 32 to 37 are timed.

    python3 plots/peers/long.py [--out FILE] [--place NAME] [--pass NAME] [--length S]
                                [--clock NAME] [--variant NAME] [--repetitions N] [--seed N]
                                [--longest S] [--verify-only] [--once]

Cases are those of common/problems/rope_flash_cases.h, by the same names: causal, fp16, B and H
smaller where S is larger. In the column `step` they are 37. The clocks are `graph` of peers.py at
every S, and `sustained` of alone.py from 2048 on. The options, of which a part can be run, are those
of parts.py.

  eager-flash-attention-2     RoPE op by op, as model code has it: angles, cosines and sines made in
                              each call, products in fp32, halves again; then FlashAttention-2
  compiled-cudnn              RoPE of q and k by what torch.compile makes of it for this shape, from
                              a table; then cuDNN
  cudnn                       cuDNN alone, on q and k that are rotated; only on `graph`
  compiled-flash-attention-2  only if it is named: --variant, which leaves out the others

Backward is what autograd would run, on what forward saved: the backward pass of attention by the
rotated q and k, then dq and dk rotated back, op by op with the cosines and sines of the forward pass,
or by one compiled function. `cudnn` leaves them as they are.

What is right: flash.py and flash_backward.py, on q and k rotated in fp64. The inputs are such that
fp32 turns them into the same halves as fp64, and these must be equal, bit for bit. dq and dk may be
off by what those of the rotated q and k may be, rotated back, by that rotation in fp32, and by one
more rounding.
"""
import collections
import os
import sys
import tempfile

import flash
import flash_backward
import flash_common as common
import parts
import peers
from flash_common import HALF_STEP, U16

STEP = "37"
# Of D, of S: B and H.
SHAPES = {
    64: {512: (4, 8), 1024: (4, 8), 2048: (2, 8), 4096: (2, 8), 8192: (1, 8)},
    128: {512: (4, 32), 1024: (4, 32), 2048: (2, 32), 4096: (2, 32), 8192: (1, 32), 16384: (1, 32),
          32768: (1, 16), 65536: (1, 8), 131072: (1, 4)},
}
LENGTHS = tuple(SHAPES[128])
PASSES = ("forward", "backward")
LONG = 2048  # from this S on a call is long enough to be launched back to back
ALL_HEADS = 16384  # up to this S gradients of all heads are compared, then of the first and last
# What rotates q and k, and what multiplies them; of a CPU what PyTorch has there.
VARIANTS = {
    "eager-flash-attention-2": ("eager", "flash-attention-2"),
    "compiled-cudnn": ("compiled", "cudnn"),
    "cudnn": ("nothing", "cudnn"),
    "compiled-flash-attention-2": ("compiled", "flash-attention-2"),
}
ON_CPU = {"eager-cpu": ("eager", None), "compiled-cpu": ("compiled", None)}
USUAL = {  # of each clock, unless --variant names others
    "graph": ("eager-flash-attention-2", "compiled-cudnn", "cudnn"),
    "sustained": ("eager-flash-attention-2", "compiled-cudnn"),
}
IN_FP32 = 3.0 * peers.U / (1.0 - 3.0 * peers.U)  # rope.c: of a rotation

# cosine, sine [S][D/2] in fp64.
Inputs = collections.namedtuple("Inputs", "q k v dout q_rotated k_rotated cosine sine")


# --- What is right --------------------------------------------------------------------------------
def rotated(x, cosine, sine):
    """Of each pair (a, b): a cosine - b sine, b cosine + a sine. Of -sine: back."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), dim=-1)


def sizes(x, cosine, sine):
    """Of each pair |a cosine| + |b sine|, |b cosine| + |a sine|."""
    a, b = x.abs().chunk(2, dim=-1)
    cosine, sine = cosine.abs(), sine.abs()
    return torch.cat((a * cosine + b * sine, b * cosine + a * sine), dim=-1)


def half_of(x):
    """As a C program rounds a double."""
    return x.float().half()


def rows_and_rotated(shape, table):
    """A pair whose exact value lies where fp32 may round it to another half is drawn again."""
    x = peers.random_input(shape).half()
    while True:
        y, off = rotated(x.double(), *table), IN_FP32 * sizes(x.double(), *table)
        either = half_of(y - off) != half_of(y + off)
        pairs = either.unflatten(-1, (2, -1)).any(dim=-2)
        if not pairs.any():
            return x, half_of(y)
        again = torch.cat((pairs, pairs), dim=-1)
        x[again] = torch.randn(int(again.sum()), device=device).half()


def inputs(B, H, S, D):
    table = [x[:, : D // 2] for x in peers.table64(torch.arange(S, device=device), D)]
    (q, q_rotated), (k, k_rotated) = (rows_and_rotated((B, H, S, D), table) for _ in range(2))
    v, dout = (peers.random_input((B, H, S, D)).half() for _ in range(2))
    return Inputs(q, k, v, dout, q_rotated, k_rotated, *table)


def output_checker(t):
    of_output = flash.checker((t.q_rotated, t.k_rotated, t.v), True)
    rotate_by = {name: rotate for name, (rotate, _) in rotations(t).items()}

    def check(got, name):
        verdict, halves = of_output(got, name), rotate_by[named()[name][0]]()
        verdict.right = verdict.right and all(map(torch.equal, halves, (t.q_rotated, t.k_rotated)))
        return verdict

    check.compared = of_output.compared
    return check


def rotated_back(want, bound, cosine, sine):
    """Of a gradient by rotated rows that was rounded to fp16, and how far off it may be."""
    back = rotated(want, cosine, -sine)
    off = sizes(bound, cosine, sine) + IN_FP32 * sizes(want.abs() + bound, cosine, sine)
    return back, off + U16 * (back.abs() + off) + HALF_STEP


def gradients_checker(t):
    """Of (dq, dk, dv); where nothing rotates them back, of those by the rotated q and k."""
    B, H, S, D = t.q.shape
    rows, keys = common.rows_of(S), common.rows_of(S)
    heads = torch.arange(0, B * H, 1 if S <= ALL_HEADS else B * H - 1, device=device)
    flat = [x.reshape(-1, S, D)[heads] for x in (t.q_rotated, t.k_rotated, t.v, t.dout)]
    found = flash_backward.gradients(*flat, True, rows, keys, flash_backward.FP16)
    bounds = [[torch.cat(x) for x in zip(*(flash_backward.criterion(*one) for one in of_one))]
              for of_one in zip(*found)]
    back = [rotated_back(*of_one, t.cosine[at], t.sine[at])
            for of_one, at in zip(bounds, (rows, keys))] + bounds[2:]

    def check(got, name):
        verdict = peers.Verdict()
        held = bounds if named()[name][0] == "nothing" else back
        for one, at, (want, bound) in zip(got, (rows, keys, keys), held):
            verdict.right = verdict.right and one.shape == t.q.shape and bool(one.isfinite().all())
            verdict.add(one.reshape(-1, S, D)[heads][:, at], want, bound)
        return verdict

    check.compared = sum(want.numel() for want, _ in bounds)
    return check


# --- The peers ------------------------------------------------------------------------------------
def eager_table(S, frequency):
    """In fp64: in fp32 an angle is the less accurate the further its position."""
    angle = torch.outer(torch.arange(S, device=device, dtype=torch.float64), frequency)
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos().float(), angle.sin().float()


def eager_back(gradient, cosine, sine):
    """What autograd makes of peers.rope between two conversions."""
    gradient = gradient.float()
    first, second = (gradient * sine).chunk(2, dim=-1)
    return (gradient * cosine + torch.cat((second, -first), dim=-1)).half()


def both_rotated(q, k, cosine, sine):
    return tuple(rotated(x.float(), cosine, sine).half() for x in (q, k))


def rotations(t):
    """{rotation: (function that rotates q and k, function of dq and dk that rotates them back)}"""
    S, D = t.q.shape[-2:]
    frequency = peers.BASE ** -(torch.arange(0, D, 2, device=device, dtype=torch.float64) / D)
    cosine, sine, kept = t.cosine.float(), t.sine.float(), eager_table(S, frequency)

    def eager():
        table = eager_table(S, frequency)
        return tuple(peers.rope(x.float(), *table).half() for x in (t.q, t.k))

    return {
        "eager": (eager, lambda dq, dk: tuple(eager_back(x, *kept) for x in (dq, dk))),
        "compiled": (lambda: compiled(t.q, t.k, cosine, sine),
                     lambda dq, dk, back=-sine: compiled(dq, dk, cosine, back)),
        "nothing": (lambda: (t.q_rotated, t.k_rotated), lambda dq, dk: (dq, dk)),
    }


def asked_clocks():
    return [clock for clock in USUAL if clock in (parts.options.clock or USUAL)]


def timed_on(clock):
    return parts.options.variant or USUAL[clock]


def named():
    """{variant: (rotation, backend)} of those that are run at all."""
    if device == "cpu":
        return ON_CPU
    return {name: VARIANTS[name] for clock in asked_clocks() for name in timed_on(clock)}


def meant(calls, backend):
    """Of the calls of all backends one; a CPU has one."""
    return calls[backend] if backend else next(iter(calls.values()))


def forward_calls(t):
    rotations_of = rotations(t)

    def call(rotation, backend):
        rotate, _ = rotations_of[rotation]
        return lambda: meant(flash.calls_for((*rotate(), t.v), True), backend)()

    return {name: call(*of) for name, of in named().items()}


def backward_calls(t):
    rotations_of = rotations(t)
    attention = flash_backward.calls_for((t.q_rotated, t.k_rotated, t.v, t.dout), True)

    def call(rotation, backend):
        def gradients():
            dq, dk, dv = of_rotated()
            return (*back(dq, dk), dv)

        (_, back), of_rotated = rotations_of[rotation], meant(attention, backend)
        return gradients

    return {name: call(*of) for name, of in named().items()}


# --- The cases ------------------------------------------------------------------------------------
def case_of(which, S, D):
    forward, (B, H), name = which == "forward", SHAPES[D][S], f"{which}-D{D}-S{S}"
    kernels = (flash.FORWARD if forward else flash_backward.BACKWARD).kernels
    return parts.Case(
        step=STEP,
        name=name,
        said=name,
        shape=(B, H, S, S, D, D, 1),
        clocks={clock: timed_on(clock) for clock in asked_clocks()
                if clock == "graph" or S >= LONG},
        kernels=[{variant: kernels[backend] for variant, (_, backend) in VARIANTS.items()}],
        tensors=lambda: inputs(B, H, S, D),
        calls=forward_calls if forward else backward_calls,
        checker=output_checker if forward else gradients_checker,
        flops=(2 if forward else 5) * B * H * S * S * D,
        least_bytes=(8 * D if forward else 16 * D + 4) * B * H * S,
    )


def add_arguments(parser):
    parts.add_arguments(parser, LENGTHS, PASSES, list(USUAL))
    parser.add_argument("--variant", action="append", choices=list(VARIANTS),
                        help="only this; again for more")


def main():
    cases = [case_of(which, S, D) for which in dict.fromkeys(parts.options.passes or PASSES)
             for D in SHAPES for S in parts.chosen_lengths(SHAPES[D])]
    # Each shape has code of its own, and each order in memory: gradients may lie in another one.
    torch._dynamo.config.recompile_limit = 2 * len(cases)
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", cache)
        return parts.record("long", cases, peers.measure)


if __name__ == "__main__":
    # Few small kernels: a pool of compiling processes costs more than it saves.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    torch, device = parts.begin("Times RoPE and PyTorch's attention at long sequences.",
                                add_arguments, LENGTHS)
    import torch._dynamo

    compiled = torch.compile(both_rotated, dynamic=False, fullgraph=True)
    sys.exit(main())
