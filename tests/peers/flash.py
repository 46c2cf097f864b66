#!/usr/bin/env python3
"""flash.py: PyTorch's FlashAttention-2 and cuDNN at the shapes of steps 21 to 23, on their clock.

    python3 tests/peers/flash.py [--out FILE] [--seed N] [--longest S] [--verify-only]

B = 4, H = 8, D = 64 and 128, causal and not, S from 512 to 16384, fp16. A backend is forced by
name, and then its kernel is looked for in a profile of each case; another one is a failure.
TFLOP/s are flops / median_us / 1e6; flops are 4 B H Sq Sk D, half of it if causal.

The clock is `graph` of peers.py, the L2 warm. At the power limit a device clocks down, for one
kernel further than for another, and in turn, sample by sample, both would run at a clock rate in
between. So each is timed alone, in TURNS turns of TURN_S, the other in between; the first half of a
turn, in which the clock rate settles, does not count. The device is never idle, as it is not where
the steps are timed.

Every output is compared with fp64 of the same inputs before and after timing. It may be off by
twice what a plain fp16 implementation is in the same head: common/problems/plain.c, attention.c.
Without a GPU no backend can be forced: --verify-only then compares what PyTorch has on a CPU.
Exit codes: 0, 1 a peer is wrong or failed (the others are recorded), 2 bad usage, 77 cannot run.
"""
import argparse
import gc
import math
import os
import re
import sys
import time

import peers

B, H = 4, 8
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
LONGEST_ON_CPU = 512
ALL_ROWS = 1024  # up to this S every row is compared
TAIL, SAMPLED = 128, 64  # beyond it the last tile, rows that are drawn, and the borders of tiles
HEADS = 4  # at a time: fp64 takes four times the memory
TURN_S, TURNS = 0.3, 2
U16 = 2.0**-11  # unit roundoff of fp16
HALF_STEP = 2.0**-25  # of the numbers below its smallest normal one

COLUMNS = (
    "step variant case B H Sq Sk D R causal dtype clock l2 median_us p5_us p95_us n bytes flops "
    "ratio ratio_p5 ratio_p95 status compared max_err err_bound kernel"
).split()

# What is asked for, and the kernel that shows that it ran.
BACKENDS = {
    "flash-attention-2": ("FLASH_ATTENTION", re.compile(r"\bflash_fwd_(splitkv_)?kernel\b")),
    "cudnn": ("CUDNN_ATTENTION", re.compile(r"\bcudnn\w*(sdpa|flash)\w*")),
}


def arguments():
    parser = argparse.ArgumentParser(description="Times PyTorch's attention backends in fp16.")
    parser.add_argument("--out", help="write the rows to this file")
    parser.add_argument("--seed", type=int, help="for the inputs; a new one each run if left out")
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], metavar="S",
                        help="no longer sequences than this")
    parser.add_argument("--verify-only", action="store_true",
                        help="time nothing; works without a GPU")
    found = parser.parse_args()
    if found.longest < LENGTHS[0]:
        parser.error(f"--longest {found.longest}: the shortest sequence has {LENGTHS[0]}")
    return found


# --- What is right --------------------------------------------------------------------------------
def rows_of(S):
    if S <= ALL_ROWS:
        return torch.arange(S, device=device)
    borders = [0] + [tile + side for tile in (16, 32, 64, 128, 256) for side in (-1, 0, 1)]
    fixed = torch.tensor(borders + list(range(S - TAIL, S)), device=device)
    return torch.cat((fixed, torch.randint(S, (SAMPLED,), device=device))).unique()


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


def checker(q, k, v, causal):
    """A function of an output. It holds the rows that are compared."""
    S, D = q.shape[-2:]
    rows = rows_of(S)
    hidden = torch.arange(S, device=device) > rows[:, None] if causal else torch.zeros(
        (), dtype=torch.bool, device=device)
    flat = [x.reshape(-1, S, D) for x in (q, k, v)]
    parts = [reference(flat[0][h : h + HEADS, rows], flat[1][h : h + HEADS],
                       flat[2][h : h + HEADS], hidden) for h in range(0, flat[0].shape[0], HEADS)]
    want, bound = (torch.cat(part) for part in zip(*parts))

    def check(got):
        verdict = peers.Verdict()
        verdict.right = got.shape == q.shape and bool(got.isfinite().all())
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


def calls_for(q, k, v, causal):
    if device == "cpu":
        return {"sdpa-cpu": lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal)}
    return {name: forced(backend, q, k, v, causal) for name, (backend, _) in BACKENDS.items()}


def kernels_of(call):
    """The names of what runs on the device in one call."""
    from torch.profiler import ProfilerActivity, profile

    call()
    stream.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        stream.synchronize()
    return [event.name for event in seen.events()
            if event.device_type == torch.autograd.DeviceType.CUDA]


def ran(variant, names):
    """The kernel that shows which backend ran, or None if there is none or one of another."""
    own = [match.group(0) for name in names if (match := BACKENDS[variant][1].search(name))]
    others = [name for name in names for other, (_, pattern) in BACKENDS.items()
              if other != variant and pattern.search(name)]
    return own[0] if own and not others else None


# --- Time -----------------------------------------------------------------------------------------
def measure(lanes):
    """Each alone, in an order that favours neither: A B, then B A."""
    for turn in range(TURNS):
        for lane in lanes[::-1] if turn % 2 else lanes:
            began, kept = time.perf_counter(), len(lane.samples)
            while (spent := time.perf_counter() - began) < TURN_S or \
                    len(lane.samples) < kept + peers.LEAST:
                sample = lane.sample()
                if spent > TURN_S / 2:
                    lane.samples.append(sample)


# --- One case -------------------------------------------------------------------------------------
def name_of(S, D, causal):
    """As the steps call it: common/problems/flash_cases.h."""
    return f"D{D}-S{S}" + ("-causal" if causal else "")


def verify(case, calls, check, verdicts):
    """Leaves in calls those that ran, and in verdicts what they are."""
    for name in list(calls):
        try:
            verdict = check(calls[name]())
        except Exception as error:  # one peer that cannot run must not cost the others
            peers.complain(f"{case} {name}", error)
            del calls[name]
            continue
        before = verdicts.setdefault(name, verdict)
        before.right = before.right and verdict.right
        before.worst = max(before.worst, verdict.worst)


def run_case(S, D, causal):
    """Verifies and times one case; its rows lack the last column."""
    case, tensors = name_of(S, D, causal), inputs(S, D)
    calls, verdicts, lanes = calls_for(*tensors, causal), {}, {}
    check = checker(*tensors, causal)
    verify(case, calls, check, verdicts)
    if not options.verify_only:
        for name, call in calls.items():
            try:
                lanes[name] = peers.Lane(call, "graph")
            except Exception as error:
                peers.complain(f"{case} {name} graph", error)
        measure(list(lanes.values()))
        verify(case, calls, check, verdicts)
    flops = 4 * B * H * S * S * D // (2 if causal else 1)
    first = next(iter(lanes.values())).samples if lanes else []
    for name, verdict in verdicts.items():
        status = "ok" if verdict.right else "wrong"
        if not verdict.right:
            peers.failed.append(f"{case} {name}: wrong")
        said = f"error {verdict.worst:.3g}, bound {verdict.bound:.3g}: {status}"
        if name in lanes and name in calls:
            samples = lanes[name].samples
            ratios = sorted(one / mine for one, mine in zip(first, samples))
            cells = [*peers.quantiles(sorted(samples)), len(samples), 8 * B * H * S * D, flops,
                     *peers.quantiles(ratios)]
            peers.rows.append(
                ["22", name, case, B, H, S, S, D, 0, int(causal), "f16", "graph", "warm"]
                + [f"{c:.6g}" if isinstance(c, float) else c for c in cells]
                + [status, check.compared, f"{verdict.worst:.6g}", f"{verdict.bound:.6g}"])
            said += f", {cells[0]:.2f} us, {flops / cells[0] * 1e-6:.0f} TFLOP/s"
        print(f"  {case} {name}: {said}")


def look_for_kernels(S, D, causal):
    """Last of all, for a profiler may slow down what comes after it."""
    case, calls = name_of(S, D, causal), calls_for(*inputs(S, D), causal)
    for row in peers.rows or [["", name, case] for name in calls]:
        if row[2] != case:
            continue
        names = kernels_of(calls[row[1]])
        kernel = ran(row[1], names)
        row.append(kernel or "-")
        if kernel is None:
            if len(row) == len(COLUMNS):
                row[COLUMNS.index("status")] = "wrong"
            peers.failed.append(f"{case} {row[1]}: another backend ran: "
                                + (", ".join(name[:80] for name in names) or "no kernel was seen"))


def main():
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    where = "the CPU" if device == "cpu" else torch.cuda.get_device_name(0)
    print(f"flash: PyTorch {torch.__version__} on {where}, --seed {seed} repeats it; imported at "
          f"{time.perf_counter() - peers.began:.1f} s", flush=True)
    # What may fail does so before it costs time.
    program = f"# cudnn: {torch.backends.cudnn.version()}\n# program: peers-flash\n"
    top = "" if device == "cpu" else peers.header(seed).replace("# program: peers\n", program)
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("highest")  # no TF32
    gc.disable()
    longest = min(options.longest, LONGEST_ON_CPU) if device == "cpu" else options.longest
    cases = [(S, D, causal) for D in (64, 128) for causal in (False, True)
             for S in LENGTHS if S <= longest]
    if device == "cpu":
        for name in BACKENDS:
            print(f"  {name}: cannot run here: PyTorch has it on a GPU only")
    with torch.no_grad(), torch.cuda.stream(stream):
        if not options.verify_only:
            peers.warm_up()
        for part in (run_case,) if device == "cpu" else (run_case, look_for_kernels):
            for shape in cases:
                try:
                    part(*shape)
                except Exception as error:  # what was measured is kept
                    peers.complain(name_of(*shape), error)
                gc.collect()
            done = time.perf_counter() - peers.began
            print(f"  {part.__name__}: done at {done:.1f} s", flush=True)
    for row in peers.rows:
        row += ["-"] * (len(COLUMNS) - len(row))
    print(f"flash: {len(peers.rows)} rows, {time.perf_counter() - peers.began:.1f} s")
    if options.out and peers.rows:
        peers.write(options.out, top, COLUMNS)
    for what in peers.failed:
        print("flash: failed: " + what, file=sys.stderr)
    return 1 if peers.failed else 0


if __name__ == "__main__":
    options = arguments()
    try:
        import torch
        import torch.nn.functional as F
    except ImportError as error:
        peers.cannot_run(f"no PyTorch ({error})")
    if not torch.cuda.is_available() and not options.verify_only:
        peers.cannot_run("PyTorch finds no CUDA device")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    stream = torch.cuda.Stream() if device == "cuda" else None
    peers.torch, peers.device, peers.stream, peers.options = torch, device, stream, options
    sys.exit(main())
