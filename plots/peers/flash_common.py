"""flash_common.py: what flash.py and flash_backward.py share: shapes, rows, times, kernels.

B = 4, H = 8, D = 64 and 128, causal and not, S from 512 to 16384, fp16. A backend is forced by
name, and then its kernel is looked for in a profile of each case; another one is a failure.
TFLOP/s are flops / median_us / 1e6.

The clock is `graph` of peers.py, the L2 warm. At the power limit a device clocks down, for one
kernel further than for another, and in turn, sample by sample, both would run at a clock rate in
between. So each is timed alone, in REPETITIONS repetitions of REPETITION_S, the other in between; the first half of a
repetition, in which the clock rate settles, does not count. The device is never idle, as it is not where
the steps are timed.

Every output is compared with fp64 of the same inputs before and after timing. Without a GPU no
backend can be forced: --verify-only then compares what PyTorch has on a CPU.
Exit codes: 0, 1 a peer is wrong or failed (the others are recorded), 2 bad usage, 77 cannot run.
"""
import argparse
import dataclasses
import gc
import os
import sys
import time
from collections.abc import Callable

import peers

B, H = 4, 8
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
LONGEST_ON_CPU = 512
ALL_ROWS = 1024  # up to this S every row is compared
TAIL, SAMPLED = 128, 64  # beyond it the last tile, rows that are drawn, and the borders of tiles
HEADS = 4  # at a time: fp64 takes four times the memory
REPETITION_S, REPETITIONS = 0.3, 2
U16 = 2.0**-11  # unit roundoff of fp16
HALF_STEP = 2.0**-25  # of the numbers below its smallest normal one

COLUMNS = (
    "step variant case B H Sq Sk D R causal dtype clock l2 median_us p5_us p95_us n bytes flops "
    "ratio ratio_p5 ratio_p95 status compared max_err err_bound kernel"
).split()


@dataclasses.dataclass
class Pass:
    """One direction of attention. Functions of tensors take what `tensors` returns, as a list."""

    name: str  # of the program in the rows: peers-NAME
    step: str
    kernels: dict  # of each variant: the kernel that shows that it ran
    tensors: Callable  # (S, D)
    calls: Callable  # (tensors, causal) -> {variant: call}
    checker: Callable  # (tensors, causal) -> function of a call's result, with .compared
    flops: Callable  # (S, D), without a mask
    least_bytes: Callable  # (S, D)
    extra: Callable = None  # runs before all cases


def arguments(description, more, lengths):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", help="write the rows to this file")
    parser.add_argument("--seed", type=int, help="for the inputs; a new one each run if left out")
    parser.add_argument("--longest", type=int, default=lengths[-1], metavar="S",
                        help="no longer sequences than this")
    parser.add_argument("--verify-only", action="store_true",
                        help="time nothing; works without a GPU")
    if more:
        more(parser)
    found = parser.parse_args()
    if found.longest < lengths[0]:
        parser.error(f"--longest {found.longest}: the shortest sequence has {lengths[0]}")
    return found


def rows_of(S):
    """Of S rows those that are compared."""
    if S <= ALL_ROWS:
        return torch.arange(S, device=device)
    borders = [0] + [tile + side for tile in (16, 32, 64, 128, 256) for side in (-1, 0, 1)]
    fixed = torch.tensor(borders + list(range(S - TAIL, S)), device=device)
    return torch.cat((fixed, torch.randint(S, (SAMPLED,), device=device))).unique()


def name_of(S, D, causal):
    """As the steps call it: common/problems/flash_cases.h."""
    return f"D{D}-S{S}" + ("-causal" if causal else "")


# --- Kernels --------------------------------------------------------------------------------------
def kernels_of(call):
    """The names of what runs on the device in one call."""
    from torch.profiler import ProfilerActivity, profile

    call()
    stream.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        stream.synchronize()
    return [event.name for event in seen.events()
            if event.device_type == torch.autograd.DeviceType.CUDA and not event.is_user_annotation]


def ran(kernels, variant, names):
    """The kernel that shows which backend ran, or None if there is none or one of another."""
    own = [match.group(0) for name in names if (match := kernels[variant].search(name))]
    others = [name for name in names for pattern in kernels.values()
              if pattern is not kernels[variant] and pattern.search(name)]
    return own[0] if own and not others else None


# --- Time -----------------------------------------------------------------------------------------
def measure(lanes):
    """Each alone, in an order that favours neither: A B, then B A."""
    for repetition in range(REPETITIONS):
        for lane in lanes[::-1] if repetition % 2 else lanes:
            began, kept = time.perf_counter(), len(lane.samples)
            while (spent := time.perf_counter() - began) < REPETITION_S or \
                    len(lane.samples) < kept + peers.LEAST:
                sample = lane.sample()
                if spent > REPETITION_S / 2:
                    lane.samples.append(sample)


# --- One case -------------------------------------------------------------------------------------
def verify(case, calls, check, verdicts):
    """Leaves in calls those that ran, and in verdicts what they are."""
    for name in list(calls):
        try:
            verdict = check(calls[name](), name)
        except Exception as error:  # one peer that cannot run must not cost the others
            peers.complain(f"{case} {name}", error)
            del calls[name]
            continue
        before = verdicts.setdefault(name, verdict)
        before.right = before.right and verdict.right
        before.worst = max(before.worst, verdict.worst)


def verdict_cells(verdict, compared):
    return ["ok" if verdict.right else "wrong", compared, f"{verdict.worst:.6g}",
            f"{verdict.bound:.6g}"]


def run_case(way, S, D, causal):
    """Verifies and times one case; its rows lack the last column."""
    case, tensors = name_of(S, D, causal), way.tensors(S, D)
    calls, verdicts, lanes = way.calls(tensors, causal), {}, {}
    check = way.checker(tensors, causal)
    verify(case, calls, check, verdicts)
    if not options.verify_only:
        for name, call in calls.items():
            try:
                lanes[name] = peers.Lane(call, "graph")
            except Exception as error:
                peers.complain(f"{case} {name} graph", error)
        measure(list(lanes.values()))
        verify(case, calls, check, verdicts)
    flops = way.flops(S, D) // (2 if causal else 1)
    first = next(iter(lanes.values())).samples if lanes else []
    for name, verdict in verdicts.items():
        status = verdict_cells(verdict, check.compared)
        if not verdict.right:
            peers.failed.append(f"{case} {name}: wrong")
        said = f"error {verdict.worst:.3g}, bound {verdict.bound:.3g}: {status[0]}"
        if name in lanes and name in calls:
            samples = lanes[name].samples
            ratios = sorted(one / mine for one, mine in zip(first, samples))
            cells = [*peers.quantiles(sorted(samples)), len(samples), way.least_bytes(S, D), flops,
                     *peers.quantiles(ratios)]
            peers.rows.append(
                [way.step, name, case, B, H, S, S, D, 0, int(causal), "f16", "graph", "warm"]
                + [f"{c:.6g}" if isinstance(c, float) else c for c in cells] + status)
            said += f", {cells[0]:.2f} us, {flops / cells[0] * 1e-6:.0f} TFLOP/s"
        print(f"  {case} {name}: {said}")


def look_for_kernels(way, S, D, causal):
    """Last of all, for a profiler may slow down what comes after it."""
    case, calls = name_of(S, D, causal), way.calls(way.tensors(S, D), causal)
    timed = [row for row in peers.rows if row[1] in way.kernels]
    for row in timed or [["", name, case] for name in calls]:
        if row[2] != case:
            continue
        names = kernels_of(calls[row[1]])
        kernel = ran(way.kernels, row[1], names)
        row.append(kernel or "-")
        if len(names) > 1:
            print(f"  {case} {row[1]} runs " + ", ".join(name[:60] for name in names))
        if kernel is None:
            if len(row) == len(COLUMNS):
                row[COLUMNS.index("status")] = "wrong"
            peers.failed.append(f"{case} {row[1]}: another backend ran: "
                                + (", ".join(name[:80] for name in names) or "no kernel was seen"))


def record(way):
    """All cases; returns the exit code."""
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    where = "the CPU" if device == "cpu" else torch.cuda.get_device_name(0)
    print(f"{way.name}: PyTorch {torch.__version__} on {where}, --seed {seed} repeats it; imported "
          f"at {time.perf_counter() - peers.began:.1f} s", flush=True)
    # What may fail does so before it costs time.
    program = f"# cudnn: {torch.backends.cudnn.version()}\n# program: peers-{way.name}\n"
    top = "" if device == "cpu" else peers.header(seed).replace("# program: peers\n", program)
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("highest")  # no TF32
    gc.disable()
    longest = min(options.longest, LONGEST_ON_CPU) if device == "cpu" else options.longest
    cases = [(S, D, causal) for D in (64, 128) for causal in (False, True)
             for S in LENGTHS if S <= longest]
    if device == "cpu":
        for name in way.kernels:
            print(f"  {name}: cannot run here: PyTorch has it on a GPU only")
    with torch.no_grad(), torch.cuda.stream(stream):
        if way.extra:
            way.extra()
        if not options.verify_only:
            peers.warm_up()
        for part in (run_case,) if device == "cpu" else (run_case, look_for_kernels):
            for shape in cases:
                try:
                    part(way, *shape)
                except Exception as error:  # what was measured is kept
                    peers.complain(name_of(*shape), error)
                gc.collect()
            done = time.perf_counter() - peers.began
            print(f"  {part.__name__}: done at {done:.1f} s", flush=True)
    for row in peers.rows:
        row += ["-"] * (len(COLUMNS) - len(row))
    print(f"{way.name}: {len(peers.rows)} rows, {time.perf_counter() - peers.began:.1f} s")
    if options.out and peers.rows:
        peers.write(options.out, top, COLUMNS)
    for what in peers.failed:
        print(f"{way.name}: failed: {what}", file=sys.stderr)
    return 1 if peers.failed else 0


def begin(description, more=None, lengths=LENGTHS):
    """Reads the arguments and imports PyTorch; without it, or without a device, the end."""
    global torch, device, stream, options
    options = arguments(description, more, lengths)
    try:
        import torch
    except ImportError as error:
        peers.cannot_run(f"no PyTorch ({error})")
    if not torch.cuda.is_available() and not options.verify_only:
        peers.cannot_run("PyTorch finds no CUDA device")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    stream = torch.cuda.Stream() if device == "cuda" else None
    peers.torch, peers.device, peers.stream, peers.options = torch, device, stream, options
    return torch, device
