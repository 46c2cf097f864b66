"""parts.py: what hopper.py and long.py share: cases of which any part can be run, and rows of it.

Clocks are `graph` of flash_common.py or of peers.py, and `sustained` and `cool` of alone.py.
Options that may be given more than once leave out the others, so that a part can be run before,
between and after a step: --place then says which it was, and FILE keeps the rows of other places.
Before and after it is timed, every peer is compared with fp64 of the same inputs.
"""
import dataclasses
import gc
import os
import sys
import time
from collections.abc import Callable

import alone
import flash
import flash_backward
import flash_common as common
import peers

COLUMNS = (
    "step variant case B H Sq Sk D R causal dtype clock l2 place median_us p5_us p95_us n bytes "
    "flops ratio ratio_p5 ratio_p95 mhz watts capped_pct status compared max_err err_bound kernel "
    "launches"
).split()


@dataclasses.dataclass
class Case:
    """One case of one pass. Functions of tensors take what `tensors` returns."""

    step: str
    name: str
    said: str  # its name where a reader has no columns, and a profiler
    shape: tuple  # B H Sq Sk D R causal
    clocks: dict  # of each, in this order, the variants that are timed; None: all
    kernels: list  # of each pass: of each variant the kernel that shows that it ran
    tensors: Callable  # ()
    calls: Callable  # (tensors) -> {variant: call}
    checker: Callable  # (tensors) -> function of a call's result and its variant, with .compared
    flops: int
    least_bytes: int


def add_arguments(parser, lengths, passes, clocks):
    parser.add_argument("--pass", dest="passes", action="append", choices=passes,
                        help="only this; again for more")
    parser.add_argument("--length", type=int, action="append", choices=lengths,
                        help="only this S; again for more")
    parser.add_argument("--clock", action="append", choices=clocks,
                        help="only this; again for more")
    parser.add_argument("--repetitions", type=int, default=1, choices=range(1, 10), metavar="1..9",
                        help="of each on a clock that it has to itself")
    parser.add_argument("--place", default="only", help="in the run: a word for the column place")
    parser.add_argument("--once", action="store_true",
                        help="time nothing: one call each for a profiler")


def begin(description, more, lengths):
    """As that of flash_common.py, with the modules that the peers come from."""
    global torch, device, options, stream
    torch, device = common.begin(description, more, lengths)
    options, stream = common.options, common.stream
    for module in (flash, flash_backward):
        module.torch, module.device = torch, device
    flash.F = torch.nn.functional
    return torch, device


def chosen_lengths(lengths):
    longest = min(options.longest, common.LONGEST_ON_CPU) if device == "cpu" else options.longest
    return [S for S in lengths if S <= longest and S in (options.length or lengths)]


def elapsed():
    return f"{time.perf_counter() - peers.began:.1f} s"


# --- One case -------------------------------------------------------------------------------------
def timed(case, calls, clock, rates, in_turn):
    """{variant: (samples, cells of its rates)}"""
    lanes, wanted = {}, case.clocks[clock]
    for name, call in calls.items():
        if wanted is not None and name not in wanted:
            continue
        try:
            lanes[name] = peers.Lane(call, "graph") if clock == "graph" else \
                alone.Alone(torch, stream, call, rates)
        except Exception as error:  # one peer that cannot run must not cost the others
            peers.complain(f"{case.said} {name} {clock}", error)
    if clock == "graph":
        in_turn(list(lanes.values()))
        return {name: (lane.samples, ["-"] * 3) for name, lane in lanes.items()}
    places = alone.in_repetitions(lanes, clock, options.repetitions)
    return {name: ([sample for place in mine for sample in place.samples], alone.cells(mine, clock))
            for name, mine in places.items()}


def run_case(case, rates, in_turn):
    """Verifies and times it; its rows lack the last columns."""
    tensors, verdicts, found = case.tensors(), {}, []
    calls, check = case.calls(tensors), case.checker(tensors)
    common.verify(case.said, calls, check, verdicts)
    if options.once:
        torch.cuda.empty_cache()  # a profiler saves all memory, and restores it
        peers.call_once(case.step, case.said, case.shape, "f16", calls)
    elif not options.verify_only:
        found = [(clock, timed(case, calls, clock, rates, in_turn)) for clock in case.clocks]
        common.verify(case.said, calls, check, verdicts)
    for name, verdict in verdicts.items():
        if not verdict.right:
            peers.failed.append(f"{case.said} {name}: wrong")
        print(f"  {case.said} {name}: error {verdict.worst:.3g}, bound {verdict.bound:.3g}: "
              + ("ok" if verdict.right else "WRONG"))
    for clock, of_each in found:
        first = next(iter(of_each.values()))[0] if of_each else []
        for name, (samples, rate) in of_each.items():
            if name not in calls:
                continue
            ratios = sorted(one / mine for one, mine in zip(first, samples))
            us = peers.quantiles(sorted(samples))
            measured = [*us, len(samples), case.least_bytes, case.flops, *peers.quantiles(ratios)]
            peers.rows.append(
                [case.step, name, case.name, *case.shape, "f16", clock, "warm", options.place]
                + [f"{c:.6g}" if isinstance(c, float) else c for c in measured] + rate
                + common.verdict_cells(verdicts[name], check.compared))
            print(f"  {case.said} {name} {clock}: {us[0]:.2f} us, "
                  f"{case.flops / us[0] * 1e-6:.0f} TFLOP/s, {rate[0]} MHz, {rate[1]} W")
    print(f"  {case.said}: done at {elapsed()}", flush=True)


def look_for_kernels(case, *_):
    """Last of all, for a profiler may slow down what comes after it."""
    mine = [row for row in peers.rows if (row[0], row[2]) == (case.step, case.name)]
    calls = case.calls(case.tensors()) if mine else {}
    for name in dict.fromkeys(row[1] for row in mine):
        names = common.kernels_of(calls[name])
        kernel = [common.ran(kernels, name, names) for kernels in case.kernels]
        for row in (row for row in mine if row[1] == name):
            row += [kernel[-1] or "-", len(names)]
            if None in kernel:
                row[COLUMNS.index("status")] = "wrong"
        if None in kernel:
            peers.failed.append(f"{case.said} {name}: another backend ran: "
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


def record(program, cases, in_turn):
    """All cases; returns the exit code. in_turn: measures lanes on the clock graph."""
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    print(f"{program}: PyTorch {torch.__version__}, --seed {seed} repeats it; imported at "
          f"{elapsed()}", flush=True)
    # What may fail does so before it costs time.
    kept = rows_of_other_places(options.out) if options.out and device != "cpu" else []
    about = f"# cudnn: {torch.backends.cudnn.version()}\n# program: peers-{program}\n"
    top = "" if device == "cpu" else peers.header(seed).replace("# program: peers\n", about)
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("highest")  # no TF32
    gc.disable()
    rates = alone.Rates(torch) if not options.verify_only else None
    with torch.no_grad(), torch.cuda.stream(stream):
        if not options.verify_only:
            peers.warm_up()
        untimed = options.verify_only or options.once
        for part in (run_case,) if untimed else (run_case, look_for_kernels):
            for case in cases if untimed else [case for case in cases if case.clocks]:
                try:
                    part(case, rates, in_turn)
                except Exception as error:  # what was measured is kept
                    peers.complain(case.said, error)
                gc.collect()
            print(f"  {part.__name__}: done at {elapsed()}", flush=True)
    for row in peers.rows:
        row += ["-"] * (len(COLUMNS) - len(row))
    print(f"{program}: {len(peers.rows)} rows, {elapsed()}")
    peers.rows[:0] = kept
    if options.out and peers.rows:
        peers.write(options.out, top, COLUMNS)
    for what in peers.failed:
        print(f"{program}: failed: {what}", file=sys.stderr)
    return 1 if peers.failed else 0
