#!/usr/bin/env python3
"""hopper.py: FlashAttention-2 and cuDNN as steps 29 to 31 are timed: sustained, cool, and in graphs.

    python3 tests/peers/hopper.py [--out FILE] [--place NAME] [--pass NAME] [--length S] [--clock NAME]
                                  [--turns N] [--seed N] [--verify-only] [--once]

Forward, backward, and both in one call; in the column `step` they are 29, 30 and 31. Shapes, how a
backend is forced and shown to have run, and what is right: flash_common.py, flash.py and
flash_backward.py. Up to S = 1024 the clock is `graph` of flash_common.py, from 2048 on `sustained`
and `cool` of alone.py. Options that may be given more than once leave out the others, so that a
part can be run before, between and after a step: --place then says which it was, and FILE keeps the
rows of other places.
"""
import gc
import os
import sys
import time

import alone
import flash
import flash_backward
import flash_common as common
import peers
from flash_common import B, H

SHORT = 1024  # up to this S a call is too short to be launched back to back
STEPS = {"forward": "29", "backward": "30", "both": "31"}
CLOCKS = ("graph", "sustained", "cool")
COLUMNS = (
    "step variant case B H Sq Sk D R causal dtype clock l2 place median_us p5_us p95_us n bytes "
    "flops ratio ratio_p5 ratio_p95 mhz watts capped_pct status compared max_err err_bound kernel"
).split()


def add_arguments(parser):
    parser.add_argument("--pass", dest="passes", action="append", choices=list(STEPS),
                        help="only this; again for more")
    parser.add_argument("--length", type=int, action="append", choices=common.LENGTHS,
                        help="only this S; again for more")
    parser.add_argument("--clock", action="append", choices=CLOCKS, help="only this; again for more")
    parser.add_argument("--turns", type=int, default=1, choices=range(1, 10), metavar="1..9",
                        help="of each on sustained and cool")
    parser.add_argument("--place", default="only", help="in the run: a word for the column place")
    parser.add_argument("--once", action="store_true", help="time nothing: one call each for a profiler")


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

    def check(got):
        verdict, other = of_output(got[0]), of_gradients(got[1])
        verdict.right = verdict.right and other.right
        verdict.worst = max(verdict.worst, other.worst)
        verdict.bound = max(verdict.bound, other.bound)
        return verdict

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


# --- One case -------------------------------------------------------------------------------------
def clocks_of(S):
    chosen = options.clock or CLOCKS
    return [clock for clock in CLOCKS if clock in chosen and (clock == "graph") == (S <= SHORT)]


def timed(calls, clock, rates, case):
    """{variant: (samples, cells of its rates)}"""
    lanes = {}
    for name, call in calls.items():
        try:
            lanes[name] = peers.Lane(call, "graph") if clock == "graph" else \
                alone.Alone(torch, stream, call, rates)
        except Exception as error:  # one peer that cannot run must not cost the others
            peers.complain(f"{case} {name} {clock}", error)
    if clock == "graph":
        common.measure(list(lanes.values()))
        return {name: (lane.samples, ["-"] * 3) for name, lane in lanes.items()}
    places = alone.in_turns(lanes, clock, options.turns)
    return {name: ([sample for place in mine for sample in place.samples], alone.cells(mine, clock))
            for name, mine in places.items()}


def run_case(name_of_pass, S, D, causal, rates):
    way, step = PASSES[name_of_pass], STEPS[name_of_pass]
    case, tensors = common.name_of(S, D, causal), way.tensors(S, D)
    calls, verdicts, found = way.calls(tensors, causal), {}, []
    check = way.checker(tensors, causal)
    common.verify(case, calls, check, verdicts)
    if options.once:
        torch.cuda.empty_cache()  # a profiler saves all memory, and restores it
        peers.call_once(step, f"{name_of_pass}-{case}", (B, H, S, S, D, 0, int(causal)), "f16", calls)
    elif not options.verify_only:
        found = [(clock, timed(calls, clock, rates, case)) for clock in clocks_of(S)]
        common.verify(case, calls, check, verdicts)
    flops = way.flops(S, D) // (2 if causal else 1)
    for name, verdict in verdicts.items():
        if not verdict.right:
            peers.failed.append(f"{name_of_pass} {case} {name}: wrong")
        print(f"  {name_of_pass} {case} {name}: error {verdict.worst:.3g}, bound "
              f"{verdict.bound:.3g}: " + ("ok" if verdict.right else "WRONG"))
    for clock, of_each in found:
        first = next(iter(of_each.values()))[0] if of_each else []
        for name, (samples, rate) in of_each.items():
            if name not in calls:
                continue
            ratios = sorted(one / mine for one, mine in zip(first, samples))
            us = peers.quantiles(sorted(samples))
            measured = [*us, len(samples), way.least_bytes(S, D), flops, *peers.quantiles(ratios)]
            peers.rows.append(
                [step, name, case, B, H, S, S, D, 0, int(causal), "f16", clock, "warm",
                 options.place]
                + [f"{c:.6g}" if isinstance(c, float) else c for c in measured] + rate
                + common.verdict_cells(verdicts[name], check.compared))
            print(f"  {name_of_pass} {case} {name} {clock}: {us[0]:.2f} us, "
                  f"{flops / us[0] * 1e-6:.0f} TFLOP/s, {rate[0]} MHz, {rate[1]} W")


def look_for_kernels(name_of_pass, S, D, causal, _):
    """Last of all, for a profiler may slow down what comes after it."""
    way, step = PASSES[name_of_pass], STEPS[name_of_pass]
    case = common.name_of(S, D, causal)
    mine = [row for row in peers.rows if row[0] == step and row[2] == case]
    kinds = [flash.FORWARD.kernels, way.kernels] if name_of_pass == "both" else [way.kernels]
    calls = way.calls(way.tensors(S, D), causal) if mine else {}
    for name in {row[1] for row in mine}:
        names = common.kernels_of(calls[name])
        kernel = [common.ran(kernels, name, names) for kernels in kinds]
        for row in (row for row in mine if row[1] == name):
            row.append(kernel[-1] or "-")
            if None in kernel:
                row[COLUMNS.index("status")] = "wrong"
        if None in kernel:
            peers.failed.append(f"{name_of_pass} {case} {name}: another backend ran: "
                                + (", ".join(n[:80] for n in names) or "no kernel was seen"))


# --- All cases ------------------------------------------------------------------------------------
def rows_of_other_places(path):
    """Of a file of this device, in these columns."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    head = [line for line in lines if line.startswith("#")]
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    if f"# device: {torch.cuda.get_device_name(0)}" not in head or rows[:1] != [COLUMNS]:
        peers.cannot_run(f"--out {path} is of another device or has other columns; name a new file")
    return [row for row in rows[1:] if row[COLUMNS.index("place")] != options.place]


def main():
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    on_cpu = device == "cpu"
    print(f"hopper: PyTorch {torch.__version__}, --seed {seed} repeats it; imported at "
          f"{time.perf_counter() - peers.began:.1f} s", flush=True)
    kept = rows_of_other_places(options.out) if options.out and not on_cpu else []
    program = f"# cudnn: {torch.backends.cudnn.version()}\n# program: peers-hopper\n"
    top = "" if on_cpu else peers.header(seed).replace("# program: peers\n", program)
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("highest")  # no TF32
    gc.disable()
    longest = min(options.longest, common.LONGEST_ON_CPU) if on_cpu else options.longest
    lengths = [S for S in options.length or common.LENGTHS
               if S <= longest and (options.verify_only or clocks_of(S))]
    passes = dict.fromkeys(options.passes or PASSES)  # each once, however often it is named
    cases = [(which, S, D, causal) for which in passes for D in (64, 128)
             for causal in (False, True) for S in lengths]
    rates = alone.Rates(torch) if not options.verify_only else None
    with torch.no_grad(), torch.cuda.stream(stream):
        if not options.verify_only:
            peers.warm_up()
        untimed = options.verify_only or options.once
        for part in (run_case,) if untimed else (run_case, look_for_kernels):
            for case in cases:
                try:
                    part(*case, rates)
                except Exception as error:  # what was measured is kept
                    peers.complain(f"{case[0]} {common.name_of(*case[1:])}", error)
                gc.collect()
            print(f"  {part.__name__}: done at {time.perf_counter() - peers.began:.1f} s", flush=True)
    for row in peers.rows:
        row += ["-"] * (len(COLUMNS) - len(row))
    print(f"hopper: {len(peers.rows)} rows, {time.perf_counter() - peers.began:.1f} s")
    peers.rows[:0] = kept
    if options.out and peers.rows:
        peers.write(options.out, top, COLUMNS)
    for what in peers.failed:
        print(f"hopper: failed: {what}", file=sys.stderr)
    return 1 if peers.failed else 0


if __name__ == "__main__":
    torch, device = common.begin("Times PyTorch's attention backends alone.", add_arguments)
    options, stream = common.options, common.stream
    for module in (flash, flash_backward):
        module.torch, module.device = torch, device
    flash.F = torch.nn.functional
    sys.exit(main())
