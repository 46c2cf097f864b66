#!/usr/bin/env python3
"""peers.py: what PyTorch makes of the shapes of steps 14, 15, 19, 38 and 39, timed as the steps are.

    python3 plots/peers/peers.py --out FILE [--seed N] [--only STEP] [--kernels] [--once] [--verify-only]

One row a measurement, in the columns of the steps' rows as far as they apply; a ratio is to the first
peer of the case, round by round. The clocks are those
of common/harness/time/timing.c, and so are the samples: variants in turn, round by round, each sample
long enough for its clock, a call before it that brings the data into the L2.

  graph   N calls captured in one CUDA graph and replayed between two events: device time
  stream  N calls issued back to back between two events: the host's share shows where it is longer
  call    host clock around one call and its synchronisation

Every peer is compared with fp64 of the same inputs before and after timing. TF32 is off.
Exit codes: 0, 1 a peer is wrong or failed (the others are recorded), 2 bad usage, 77 cannot run.
"""
import argparse
import ctypes
import functools
import gc
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

U = 2.0**-24  # unit roundoff of fp32
BASE = 10000.0
SAMPLE_US = 1000.0
CALL_SAMPLE_US = 200.0
MOST_CALLS = 1000
ROUNDS = 30
BUDGET_S = 0.5  # of one case on one clock; no fewer than LEAST rounds
LEAST = 10
LONG_US = 1e5  # of a call: neither what it finds in the L2 nor the upload of a graph matters

STEPS = ("19", "15", "38", "39", "14")

COLUMNS = (
    "step variant case B H Sq Sk D R dtype clock l2 median_us p5_us p95_us n bytes status max_err "
    "err_bound ratio ratio_p5 ratio_p95".split()
)


def cannot_run(reason):
    print("peers: cannot run here: " + reason, file=sys.stderr)
    sys.exit(77)


def arguments():
    parser = argparse.ArgumentParser(description="Times PyTorch at the shapes of the steps.")
    parser.add_argument("--out", help="write the rows to this file")
    parser.add_argument("--seed", type=int, help="for the inputs; a new one each run if left out")
    parser.add_argument("--only", choices=STEPS, help="the peers of this step alone")
    parser.add_argument("--kernels", action="store_true", help="name the kernels of one call each")
    parser.add_argument("--once", action="store_true", help="time nothing: one call each for a profiler")
    parser.add_argument("--verify-only", action="store_true", help="time nothing; works without a GPU")
    return parser.parse_args()


# --- The peers ------------------------------------------------------------------------------------
def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def rope(x, cosine, sine):
    """x [..., S, D], cosine and sine [S, R]: the chain that model code writes, R <= D."""
    R = cosine.shape[-1]
    if R == x.shape[-1]:
        return x * cosine + rotate_half(x) * sine
    rotated, rest = x[..., :R], x[..., R:]
    return torch.cat((rotated * cosine + rotate_half(rotated) * sine, rest), dim=-1)


def rope_rebuilt(x):
    """The same, with angles, cosines and sines computed anew in each call, in fp32."""
    S, D = x.shape[-2:]
    exponent = torch.arange(0, D, 2, device=x.device, dtype=torch.float32) / D
    frequency = 1.0 / BASE**exponent
    position = torch.arange(S, device=x.device, dtype=torch.float32)
    angle = torch.outer(position, frequency)
    angle = torch.cat((angle, angle), dim=-1)
    return rope(x, angle.cos(), angle.sin())


def rope_then_attention(q, k, v, cosine, sine):
    return F.scaled_dot_product_attention(rope(q, cosine, sine), rope(k, cosine, sine), v)


def rope_q_then_attention(q, k, v, cosine, sine):
    return F.scaled_dot_product_attention(rope(q, cosine, sine), k, v)


# --- Inputs and what is right ----------------------------------------------------------------------
def random_input(shape):
    """Normal; each row has a scale and an offset of its own, one element in 1000 is ten times as
    large: common/harness/base/random.c says why."""
    rows = (*shape[:-1], 1)
    scale = 0.5 + torch.rand(rows, device=device)
    offset = 0.2 * torch.rand(rows, device=device)
    x = torch.randn(shape, device=device)
    x *= torch.where(torch.rand(shape, device=device) < 0.001, 10.0, 1.0)
    return x.mul_(scale).add_(offset)


def table64(positions, R):
    """cosine and sine [S, R] in fp64, both halves alike."""
    exponent = torch.arange(0, R, 2, device=device, dtype=torch.float64) / R
    angle = torch.outer(positions.double(), BASE**-exponent)
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos(), angle.sin()


def gamma(n, u=U):
    """common/harness/base/tolerance.c derives it: rounding of an inner product of length n."""
    return math.expm1(8.0 * math.sqrt(n) * u + n * u * u / (1.0 - u))


def attention64(q, k, v, rotations):
    """softmax(q k^T / sqrt(D)) v in fp64, and the largest bound of an element as tolerance.c has
    it. rotations: how many of q and k were rotated in fp32."""
    D, keys = q.shape[-1], k.shape[-2]
    score = q @ k.transpose(-1, -2) / math.sqrt(D)
    p = torch.softmax(score, dim=-1)
    norms = q.norm(dim=-1, keepdim=True) * k.norm(dim=-1).unsqueeze(-2)
    abs_dot = q.abs() @ k.abs().transpose(-1, -2)
    rotation = rotations * math.sqrt(2.0) * 3.0 * U
    ds = ((gamma(D) + 4.0 * U) * abs_dot + rotation * norms) / math.sqrt(D)
    least = (p * (-ds).exp()).sum(dim=-1, keepdim=True)
    weight = p * (ds.exp() / least - 1.0 + 2.0 * gamma(keys) + 8.0 * U)
    return p @ v, weight @ v.abs()


class Verdict:
    """Compares results with fp64: the largest error, and whether every element is in its bound."""

    def __init__(self):
        self.worst, self.bound, self.right = 0.0, 0.0, True

    def add(self, got, want, bound):
        error = (got.double() - want).abs()
        self.right = self.right and bool((error <= bound).all())  # a NaN is in no bound
        self.worst = max(self.worst, float(error.max()))
        self.bound = max(self.bound, float(bound.max()))

    def joined(self, other):
        self.worst, self.bound = max(self.worst, other.worst), max(self.bound, other.bound)
        self.right = self.right and other.right
        return self


def check_attention(want, bound):
    def check(got):
        verdict = Verdict()
        verdict.add(got, want, bound)
        return verdict

    return check


def check_rope(x, rebuilt):
    S, D = x.shape[-2:]
    cosine, sine = table64(torch.arange(S, device=device), D)
    # tolerance.c: an angle in fp32 is off by 9 u of the position, sin and cos by 4 u more.
    angle_error = (9.0 * (S - 1) + 4.0) * U if rebuilt else 0.0

    def check(got):
        verdict = Verdict()
        for b in range(0, x.shape[0], 16):  # a part at a time: fp64 takes twice the memory
            part = x[b : b + 16].double()
            rotated = rotate_half(part)
            g = 3.0 * U / (1.0 - 3.0 * U)
            bound = g * ((part * cosine).abs() + (rotated * sine).abs())
            bound += (1.0 + g) * angle_error * (part.abs() + rotated.abs())
            verdict.add(got[b : b + 16], rope(part, cosine, sine), bound)
        return verdict

    return check


# --- Time -----------------------------------------------------------------------------------------
class Lane:
    """One peer on one clock."""

    def __init__(self, call, clock):
        self.call, self.clock, self.graph, self.samples = call, clock, None, []
        once = min(self.event_us(call) for _ in range(3))
        self.long = once >= LONG_US
        for i in range(2):
            target = CALL_SAMPLE_US if clock == "call" else SAMPLE_US
            calls = min(MOST_CALLS, max(1, math.ceil(target / once)))
            if i > 0 and calls < 2 * self.calls:
                break
            self.calls = calls
            if clock == "graph":
                self.graph = captured(call, calls)
            if self.long:
                break
            once = max(self.sample(), 0.001)

    def event_us(self, body):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record(stream)
        body()
        after.record(stream)
        after.synchronize()
        return before.elapsed_time(after) * 1e3

    def call_us(self):
        total = 0
        for _ in range(self.calls):
            stream.synchronize()
            start = time.perf_counter_ns()
            self.call()
            stream.synchronize()
            total += time.perf_counter_ns() - start
        return total * 1e-3

    def issue(self):
        for _ in range(self.calls):
            self.call()

    def sample(self):
        if not self.long:
            self.call()  # the L2 is warm
        if self.clock == "call":
            return self.call_us() / self.calls
        return self.event_us(self.graph.replay if self.graph else self.issue) / self.calls


def captured(call, calls):
    graph = torch.cuda.CUDAGraph()
    call()  # nothing may be set up or compiled while capturing
    stream.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(calls):
            call()
    graph.replay()  # the first replay uploads the graph
    stream.synchronize()
    return graph


def percentile(ordered, percent):
    at = (len(ordered) - 1) * percent / 100.0
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def quantiles(ordered):
    return statistics.median(ordered), percentile(ordered, 5), percentile(ordered, 95)


def measure(lanes):
    """Variants in turn, round by round."""
    start = time.perf_counter()
    for done in range(ROUNDS):
        for i in range(len(lanes)):
            lane = lanes[(done + i) % len(lanes)]
            lane.samples.append(lane.sample())
        if done + 1 >= LEAST and time.perf_counter() - start > BUDGET_S:
            break


# --- One case -------------------------------------------------------------------------------------
rows, failed = [], []
began = time.perf_counter()


def complain(what, error):
    first = (str(error).strip().splitlines() or [""])[0]
    print(f"peers: {what}: {type(error).__name__}: {first}", file=sys.stderr)
    failed.append(what)


def compiled(function):
    return torch.compile(function, dynamic=False)


def show_kernels(name, call):
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        stream.synchronize()
    for event in seen.events():
        print(f"    {name}: {event.name[:110]}")


def call_once(step, case, shape, dtype, calls):
    """A call each between the marks of a profiler, and before each a kernel that nothing else uses."""
    torch.cuda.cudart().cudaProfilerStart()
    for name, call in calls.items():
        torch.cuda._sleep(1)  # spin_kernel
        call()
        rows.append([step, name, case, *shape, dtype] + ["-"] * (len(COLUMNS) - 10))
    stream.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


def run_case(step, case, shape, least_bytes, peers, check, clocks, only_direct=(), dtype="f32"):
    """peers: name -> call. shape: B H Sq Sk D R. check: name -> function of a result. only_direct:
    peers whose call is itself a graph, which no graph can hold."""
    verdicts, calls = {}, {}
    for name, call in peers.items():
        try:
            result = call()
            verdicts[name] = check[name](result)
            del result
            calls[name] = call
        except Exception as error:  # one peer that cannot run must not cost the others
            complain(f"step {step} {case} {name}", error)
    stats = []
    if options.once:
        call_once(step, case, shape, dtype, calls)
    for clock in () if options.verify_only or options.once else clocks:
        lanes = {}
        for name, call in calls.items():
            if clock == "graph" and name in only_direct:
                continue
            try:
                lanes[name] = Lane(call, clock)
            except Exception as error:
                complain(f"step {step} {case} {name} {clock}", error)
        measure(list(lanes.values()))
        first = next(iter(lanes.values())).samples if lanes else []
        for name, lane in lanes.items():
            ratios = sorted(one / mine for one, mine in zip(first, lane.samples))
            stats.append((name, clock, sorted(lane.samples), ratios))
        del lanes
    for name, call in calls.items():
        again = check[name](call())
        verdict = verdicts[name]
        verdict.right = verdict.right and again.right
        verdict.worst = max(verdict.worst, again.worst)
        if not verdict.right:
            failed.append(f"step {step} {case} {name}: wrong")
        print(f"  step {step} {case} {name}: error {verdict.worst:.3g}, bound {verdict.bound:.3g}: "
              + ("ok" if verdict.right else "WRONG"))
        if options.kernels and stream and name not in only_direct:
            show_kernels(name, call)
    for name, clock, samples, ratios in stats:
        median, verdict = statistics.median(samples), verdicts[name]
        timed = [f"{t:.6g}" for t in quantiles(samples)]
        rows.append([step, name, case, *shape, dtype, clock, "warm", *timed, len(samples),
                     least_bytes, "ok" if verdict.right else "wrong", f"{verdict.worst:.6g}",
                     f"{verdict.bound:.6g}", *(f"{r:.6g}" for r in quantiles(ratios))])
        print(f"  step {step} {case} {name} {clock}: {median:.2f} us")
    print(f"  step {step} {case}: done at {time.perf_counter() - began:.1f} s", flush=True)


def attention_cases():
    """Step 14: RoPE on q and k, then attention, with 64 keys and 4 heads."""
    B, H, S = 1, 4, 64
    for D, R in ((128, 128), (512, 512), (2048, 2048), (128, 64), (512, 128), (2048, 128)):
        q, k, v = (random_input((B, H, S, D)) for _ in range(3))
        cosine64, sine64 = table64(torch.arange(S, device=device), R)
        cosine, sine = cosine64.float(), sine64.float()
        tensors = (q, k, v, cosine, sine)
        want = attention64(rope(q.double(), cosine64, sine64), rope(k.double(), cosine64, sine64),
                           v.double(), rotations=2)
        peers = {"eager": lambda t=tensors: rope_then_attention(*t)}
        fused = compiled(rope_then_attention)
        peers["compiled"] = lambda t=tensors, f=fused: f(*t)
        if not options.verify_only:
            peers["eager-graphed"] = graphed(peers["eager"])
        run_case("14", f"D{D}" + (f"-R{R}" if R < D else ""), (B, H, S, S, D, R),
                 4 * B * H * S * D * 4, peers, dict.fromkeys(peers, check_attention(*want)),
                 ("call", "stream", "graph"), only_direct=("eager-graphed",))


def graphed(call):
    """The call as a CUDA graph: returns a function that replays it and returns its output."""
    kept = {}

    def keep():
        kept["output"] = call()

    graph = captured(keep, 1)

    def replay():
        graph.replay()
        return kept["output"]

    return replay


def decode_cases():
    """Step 15: one query over a cache of keys that were rotated when they came."""
    B, H, D = 1, 32, 128
    for keys in (1024, 8192, 32768):
        q = random_input((B, H, 1, D))
        k, v = (random_input((B, H, keys, D)) for _ in range(2))
        cosine64, sine64 = table64(torch.tensor([keys - 1], device=device), D)
        tensors = (q, k, v, cosine64.float(), sine64.float())
        want = [torch.empty(q.shape, device=device, dtype=torch.float64) for _ in range(2)]
        for h in range(H):  # a head at a time: fp64 takes twice the memory
            one = slice(h, h + 1)
            of_head = attention64(rope(q[:, one].double(), cosine64, sine64), k[:, one].double(),
                                  v[:, one].double(), rotations=1)
            want[0][:, one], want[1][:, one] = of_head
        peers = {"eager-sdpa": lambda t=tensors: rope_q_then_attention(*t)}
        run_case("15", f"{keys // 1024}k", (B, H, 1, keys, D, D), (2 * keys + 2) * B * H * D * 4,
                 peers, {"eager-sdpa": check_attention(*want)}, ("call", "stream", "graph"))


def rope_cases():
    """Step 19: RoPE alone on 512 MiB."""
    B, S, D = (128, 8192, 128) if not options.verify_only else (2, 256, 128)
    x = random_input((B, S, D))
    cosine, sine = (table.float() for table in table64(torch.arange(S, device=device), D))
    cached, rebuilt = compiled(rope), compiled(rope_rebuilt)
    peers = {
        "eager-rebuilt": lambda: rope_rebuilt(x),
        "eager-cached": lambda: rope(x, cosine, sine),
        "compiled-rebuilt": lambda: rebuilt(x),
        "compiled-cached": lambda: cached(x, cosine, sine),
    }
    check = {name: check_rope(x, rebuilt=name.endswith("rebuilt")) for name in peers}
    run_case("19", "large", (B, 1, S, S, D, D), 2 * B * S * D * 4, peers, check,
             ("stream", "graph"))


def nearest_half(x):
    """x in fp64, rounded to a number of fp16 and kept in fp64: common/cuda/exact_half.cuh."""
    exponent = torch.frexp(x).exponent.clamp(min=-13)
    step = torch.ldexp(torch.ones_like(x), exponent - 11)
    return torch.round(x / step) * step


def check_exactly(want):
    """A sum in fp16 has one right result."""

    def check(got):
        verdict = Verdict()
        verdict.add(got, want, torch.zeros_like(want))
        return verdict

    return check


def norm64(x, of, gain, bias, epsilon):
    """The norm of each row of x with mean and variance of another, and its bound in fp16: step 38
    derives it."""
    g = gain.double()
    V = of.var(dim=-1, unbiased=False, keepdim=True) + epsilon
    d = x - of.mean(dim=-1, keepdim=True)
    product = d / V.sqrt() * g
    want = product + bias.double()
    n = x.shape[-1]
    m = (gamma(n) + 2.0 * U) * x.abs().mean(dim=-1, keepdim=True)
    off = 0.5 * (gamma(n) + 4.0 * U + m * m / V) + 4.0 * U
    bound = g.abs() / V.sqrt() * (1.0 + off) * (m + U * (d.abs() + m))
    bound += product.abs() * (off + 3.0 * U) + U * want.abs()
    exponent = torch.frexp(want.abs() + bound).exponent.clamp(min=-13)
    return want, bound + torch.ldexp(torch.full_like(bound, 0.5), exponent - 11)


def check_norm(exact, gain, bias, epsilon, early_statistics):
    """The sum, and the norm of it. PyTorch's compiler takes mean and variance of the sum before it
    rounds it to fp16, and the elements after; then an element may be either, and how many are not
    those of the rounded sum throughout is printed."""
    rounded = nearest_half(exact)
    want, bound = norm64(rounded, rounded, gain, bias, epsilon)
    if early_statistics:
        early_want, early_bound = norm64(rounded, exact, gain, bias, epsilon)

    def check(got):
        verdict = Verdict()
        verdict.add(got[0], rounded, torch.zeros_like(rounded))
        if early_statistics:
            others = (got[1].double() - want).abs() > bound
            print(f"    {int(others.sum())} of {others.numel()} elements are not the norm of the "
                  "rounded sum")
            verdict.add(got[1], torch.where(others, early_want, want),
                        torch.where(others, early_bound, bound))
        else:
            verdict.add(got[1], want, bound)
        return verdict

    return check


def add_then_norm(a, b, gain, bias):
    c = a + b
    return c, F.layer_norm(c, (c.shape[-1],), gain, bias, 1e-5)


@functools.lru_cache(maxsize=None)
def our_add(folder):
    """The kernel of steps 38 and 39 as a function of two tensors, as model code calls a kernel that it has
    brought along: allocate the result, ask for the stream, call a library. None without nvcc."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if device == "cpu" or not os.path.exists(nvcc):
        print("  our add is passed over: no GPU or no nvcc")
        return None
    library = folder + "/add.so"
    subprocess.run([nvcc, "-O3", "-arch=native", "-shared", "-Xcompiler", "-fPIC", "-I",
                    root + "/common", "-o", library, root + "/plots/peers/add.cu"], check=True)
    function = ctypes.CDLL(library).add_on_stream
    pointer = ctypes.c_void_p
    function.argtypes = [pointer, pointer, pointer, ctypes.c_int64, pointer]
    function.restype = None

    def call(a, b):
        c = torch.empty_like(a)
        function(a.data_ptr(), b.data_ptr(), c.data_ptr(), a.numel(),
                 torch.cuda.current_stream().cuda_stream)
        return c

    return call


def add_cases(folder):
    """Step 38: the residual add of [1024, 2560] in fp16, alone and with a layer norm after it."""
    S, D = 1024, 2560
    a, b = (random_input((S, D)).half() for _ in range(2))
    gain, bias = (random_input((D,)).half() for _ in range(2))
    exact = a.double() + b.double()
    want = nearest_half(exact)
    add, both = compiled(torch.add), compiled(add_then_norm)
    ours = our_add(folder)
    peers = {"eager": lambda: a + b, "compiled": lambda: add(a, b)}
    if ours:
        peers["ours-ctypes"] = lambda: ours(a, b)
    run_case("38", "add", (1, 1, S, S, D, 0), 6 * S * D, peers,
             dict.fromkeys(peers, check_exactly(want)), ("stream", "graph"), dtype="f16")
    peers = {
        "eager": lambda: add_then_norm(a, b, gain, bias),
        "compiled": lambda: both(a, b, gain, bias),
    }
    run_case("38", "add-norm", (1, 1, S, S, D, 0), 8 * S * D + 4 * D, peers,
             {name: check_norm(exact, gain, bias, 1e-5, early_statistics=name == "compiled")
              for name in peers}, ("stream", "graph"), dtype="f16")


def add_decode_cases(folder):
    """Step 39: one row; and 64 adds to it, two for each of 32 layers, each to the sum before."""
    D, layers = 2560, 32
    a = random_input((1, 1, D)).half()
    b = random_input((2 * layers, 1, 1, D)).half()
    parts = list(b)
    ours, fused = our_add(folder), compiled(torch.add)
    ways = {"eager": torch.add, "compiled": fused}
    if ours:
        ways["ours-ctypes"] = ours
    for case, adds in (("rows-1", parts[:1]), ("token", parts)):
        want = a.double()
        for part in adds:
            want = nearest_half(want + part.double())

        def chain(way, adds=adds):
            x = a
            for part in adds:
                x = way(x, part)
            return x

        peers = {name: lambda way=way, chain=chain: chain(way) for name, way in ways.items()}
        if device != "cpu":
            peers["eager-graphed"] = graphed(peers["eager"])
        run_case("39", case, (len(adds), 1, 1, 1, D, 0), 6 * len(adds) * D, peers,
                 dict.fromkeys(peers, check_exactly(want)), ("call", "stream", "graph"),
                 only_direct=("eager-graphed",), dtype="f16")


# --- The run --------------------------------------------------------------------------------------
def driver_version():
    version = ctypes.c_int(0)
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except OSError:
        return "unknown"
    return f"{version.value // 1000}.{version.value % 1000 // 10}"


def header(seed):
    properties = torch.cuda.get_device_properties(0)
    lines = (
        ("device", properties.name),
        ("backend", "cuda"),
        ("compute", f"{properties.major}.{properties.minor}"),
        ("driver", driver_version()),
        ("toolkit", torch.version.cuda),
        ("torch", torch.__version__),
        ("commit", os.environ.get("KF_COMMIT") or "unknown"),
        ("date", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())),
        ("seed", seed),
        ("program", "peers"),
    )
    return "".join(f"# {key}: {value}\n" for key, value in lines)


def write(path, text, columns=COLUMNS):
    """All rows or none."""
    for row in (columns, *rows):
        text += "\t".join(str(cell) for cell in row) + "\n"
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".tmp", path)


def main():
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    where = "the CPU" if device == "cpu" else torch.cuda.get_device_name(0)
    print(f"peers: PyTorch {torch.__version__} on {where}, --seed {seed} repeats it; "
          f"imported at {time.perf_counter() - began:.1f} s", flush=True)
    top = "" if options.verify_only else header(seed)  # what may fail does so before it costs time
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("highest")  # no TF32
    gc.disable()
    with torch.no_grad(), tempfile.TemporaryDirectory() as cache:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        os.environ["TRITON_CACHE_DIR"] = cache + "/triton"
        with torch.cuda.stream(stream):
            if not options.verify_only:
                warm_up()
            cases_of = {"19": rope_cases, "15": decode_cases, "14": attention_cases,
                        "38": lambda: add_cases(cache), "39": lambda: add_decode_cases(cache)}
            for step in STEPS:
                cases = cases_of[step]
                if options.only not in (None, step):
                    continue
                try:
                    cases()
                except Exception as error:  # what was measured is kept
                    complain("step " + step, error)
                gc.collect()
    print(f"peers: {len(rows)} rows, {time.perf_counter() - began:.1f} s")
    if options.out and rows:
        write(options.out, top)
    for what in failed:
        print("peers: failed: " + what, file=sys.stderr)
    return 1 if failed else 0


def warm_up():
    """An idle device runs at a low clock rate: keep it busy until that is over."""
    x, end = torch.ones(1 << 24, device=device), time.perf_counter() + 0.2
    while time.perf_counter() < end:
        x.mul_(1.0)
        stream.synchronize()


if __name__ == "__main__":
    options = arguments()
    # Few small kernels: a pool of compiling processes costs more than it saves.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    try:
        import torch
        import torch.nn.functional as F
    except ImportError as error:
        cannot_run(f"no PyTorch ({error})")
    if not torch.cuda.is_available() and not options.verify_only:
        cannot_run("PyTorch finds no CUDA device")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    stream = torch.cuda.Stream() if device == "cuda" else None
    sys.exit(main())
