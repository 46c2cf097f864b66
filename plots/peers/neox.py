#!/usr/bin/env python3
"""neox.py: the GPT-NeoX of the workbook against that of transformers: values, text, times, shares.

    python3 plots/peers/neox.py [--programs FOLDER] [--program PATH]... [--right NAMES] [--said FILE]
                                [--out FOLDER] [--only PART,...] [--seed N] [--small]

  errors  hidden states after each layer and logits of a step's program, with the weights of
          common/neox/opticks.neox, against transformers in fp64; beside them transformers in fp16.
          Ours may be off at most twice as far.
  says    the greedy continuation in fp16 and in fp64, and those of the programs and of FILE
  times   a decode step of transformers at the shape of Pythia-2.8B, and the same where a
          hand-written add replaces its residual adds
  shares  which kinds of operation a decode step's kernels belong to, by torch.profiler

Clocks, samples and the order of variants are those of peers.py. README.md describes the files.
Exit codes: 0, 1 something is wrong (what was measured is kept), 2 bad usage, 77 cannot run.
"""
import argparse
import gc
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import peers

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPTICKS = os.path.join(ROOT, "common", "neox", "opticks.neox")
TEXT = os.path.join(ROOT, "common", "neox", "opticks.txt")
PARTS = ("errors", "says", "times", "shares")
PROMPTS = ("Whence is it that Nature", "The quick brown fox")
STEPS = ("step-40", "step-42")  # what --programs compares
RIGHT = "plain,called,parallel,fixed"  # of their variants
CHARACTERS = 64  # of a continuation
PYTHIA = dict(layers=32, hidden=2560, heads=32, rotary=20, mlp=10240, vocab=50304, positions=2048)
SMALL = dict(layers=4, hidden=160, heads=5, rotary=8, mlp=640, vocab=128, positions=256)
PAST = 127  # tokens in the cache before the step that is timed
TOKENS = 2  # decode steps in a sample
ROUNDS = 40
BUDGET_S = 6.0  # of all variants on one clock; no fewer than peers.LEAST rounds

COLUMNS = {
    "errors": "step variant case T layer ours sdpa eager largest status".split(),
    "says": "variant prompt characters same_fp16 same_fp64 smallest_lead status".split(),
    "times": (
        "step variant case B H Sq Sk D R dtype clock l2 median_us p5_us p95_us n bytes ratio "
        "ratio_p5 ratio_p95 status max_err adds"
    ).split(),
    "shares": "variant case kind kernels us share".split(),
}
rows = {part: [] for part in PARTS}
failed = peers.failed


def arguments():
    parser = argparse.ArgumentParser(description="Compares our GPT-NeoX with that of transformers.")
    parser.add_argument("--programs", help="a folder with the programs of the steps to compare")
    parser.add_argument("--program", action="append", default=[],
                        help="a step's program, whose cases of H=5 D=32 are compared")
    parser.add_argument("--right", help="the variants that must be right, with commas; else all")
    parser.add_argument("--said", help="continuations: variant, prompt and text, with tabs between")
    parser.add_argument("--out", help="write the rows to files in this folder")
    parser.add_argument("--only", default=",".join(PARTS), help="errors, says, times, shares")
    parser.add_argument("--seed", type=int, help="for random weights; a new one if left out")
    parser.add_argument("--small", action="store_true", help="a small shape for times, to try it")
    found = parser.parse_args()
    found.only = found.only.split(",")
    for part in found.only:
        if part not in PARTS:
            parser.error(f"--only {part}: there are {', '.join(PARTS)}")
    if found.programs:
        found.program += [os.path.join(found.programs, step) for step in STEPS]
        found.right = found.right or RIGHT
    found.program = [os.path.abspath(program) for program in found.program]
    found.right = found.right.split(",") if found.right else []
    return found


def wrong(what):
    print("neox: wrong: " + what, file=sys.stderr)
    failed.append(what)


# --- The model ------------------------------------------------------------------------------------
def make(shape, dtype, attention, where):
    """GPTNeoXForCausalLM of that shape with the weights it begins its training with."""
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    D = shape["hidden"] // shape["heads"]
    config = GPTNeoXConfig(
        vocab_size=shape["vocab"], hidden_size=shape["hidden"], num_hidden_layers=shape["layers"],
        num_attention_heads=shape["heads"], intermediate_size=shape["mlp"], hidden_act="gelu",
        rotary_pct=shape["rotary"] / D, rotary_emb_base=10000,
        max_position_embeddings=shape["positions"], layer_norm_eps=1e-5, use_parallel_residual=True,
        attention_bias=True, hidden_dropout=0.0,
        attention_dropout=0.0, tie_word_embeddings=bool(shape.get("tied")),
        attn_implementation=attention)
    before = torch.get_default_dtype()
    # By its default type and not by .half(), which would round the frequencies of RoPE as well.
    torch.set_default_dtype(dtype)
    try:
        with torch.device(where):
            model = GPTNeoXForCausalLM(config).eval()
    finally:
        torch.set_default_dtype(before)
    rotated = model.gpt_neox.layers[0].attention.rotary_ndims
    if rotated != shape["rotary"]:
        raise ValueError(f"transformers rotates {rotated} dimensions, not {shape['rotary']}")
    return model


def exact_rope(shape, where):
    """cosines and sines in fp64, where transformers has fp32 whatever the type of the model."""
    R = shape["rotary"]

    class Exact(torch.nn.Module):
        def forward(self, x, position_ids):
            exponent = torch.arange(0, R, 2, dtype=torch.float64, device=where) / R
            angle = position_ids[..., None].double() * peers.BASE**-exponent
            angle = torch.cat((angle, angle), dim=-1)
            return angle.cos().to(x.dtype), angle.sin().to(x.dtype)

    return Exact()


def read_model(path):
    """common/neox/neox.h: the shape, and every weight under the name transformers has for it."""
    with open(path, "rb") as file:
        data = file.read()
    names = ("layers", "hidden", "heads", "rotary", "mlp", "vocab", "positions", "tied")
    if data[:8] != b"KFNEOX2\n":
        raise ValueError(f"{path}: begins with {data[:8]!r}; a model begins with b'KFNEOX2\\n'")
    if data[-4:] != struct.pack("<I", zlib.crc32(data[:-4])):
        raise ValueError(f"{path}: its checksum is not that of its bytes; copy it anew")
    shape = dict(zip(names, struct.unpack_from("<8i", data, 8)))
    N, M = shape["hidden"], shape["mlp"]
    layer = (
        ("input_layernorm.weight", (N,)), ("input_layernorm.bias", (N,)),
        ("post_attention_layernorm.weight", (N,)), ("post_attention_layernorm.bias", (N,)),
        ("attention.query_key_value.weight", (3 * N, N)),
        ("attention.query_key_value.bias", (3 * N,)),
        ("attention.dense.weight", (N, N)), ("attention.dense.bias", (N,)),
        ("mlp.dense_h_to_4h.weight", (M, N)), ("mlp.dense_h_to_4h.bias", (M,)),
        ("mlp.dense_4h_to_h.weight", (N, M)), ("mlp.dense_4h_to_h.bias", (N,)))
    every = [("gpt_neox.embed_in.weight", (shape["vocab"], N))]
    for i in range(shape["layers"]):
        every += [(f"gpt_neox.layers.{i}.{name}", size) for name, size in layer]
    every += [("gpt_neox.final_layer_norm.weight", (N,)), ("gpt_neox.final_layer_norm.bias", (N,))]
    if not shape["tied"]:
        every.append(("output", (shape["vocab"], N)))
    flat, weights, at = torch.frombuffer(bytearray(data[40:-4]), dtype=torch.float16), {}, 0
    for name, size in every:
        weights[name] = flat[at : at + math.prod(size)].view(size)
        at += math.prod(size)
    if at != len(flat):
        raise ValueError(f"{path}: {len(flat)} weights; its shape has {at}")
    return shape, weights


def load(shape, weights, dtype, attention):
    model = make(shape, dtype, attention, device)
    own = dict(weights)
    output = own.pop("output", own["gpt_neox.embed_in.weight"])
    named = next(n for n, p in model.named_parameters(remove_duplicate=False)
                 if p is model.get_output_embeddings().weight)
    own[named] = output
    model.load_state_dict({n: w.to(dtype) for n, w in own.items()}, strict=True)
    if dtype == torch.float64:
        model.gpt_neox.rotary_emb = exact_rope(shape, device)
    return model


def states(model, tokens):
    """hidden [layers + 1][T][hidden] as they are between the layers, and logits [T][vocab]."""
    kept, hooks = [], []

    def keep(module, inputs, output):
        kept.append((output[0] if isinstance(output, tuple) else output)[0].detach())

    for module in (model.gpt_neox.embed_in, *model.gpt_neox.layers):
        hooks.append(module.register_forward_hook(keep))
    try:
        logits = model(torch.tensor([tokens], device=device), use_cache=False).logits[0]
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(kept).double().cpu(), logits.double().cpu()


# --- errors: layer by layer -----------------------------------------------------------------------
TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "i32": "int32"}


def read_dump(path):
    """[(variant, case, {tensor: values})], see README.md."""
    with open(path, "rb") as file:
        data = file.read()
    found, at = {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        variant, case, name, dtype, *extents = data[at:end].decode("ascii").split(" ")
        extents = [int(e) for e in extents]
        dtype = getattr(torch, TYPES[dtype])
        size = math.prod(extents) * dtype.itemsize
        raw = bytearray(data[end + 1 : end + 1 + size])
        if len(raw) != size:
            raise ValueError(f"{path}: {variant} {case} {name}: {len(raw)} bytes of {size}")
        values = torch.frombuffer(raw, dtype=dtype).view(extents)
        found.setdefault((variant, case), {})[name] = values
        at = end + 1 + size
    return [(*key, tensors) for key, tensors in found.items()]


def cases_of(program):
    """name -> (new tokens, positions) of the cases that run opticks.neox."""
    text = subprocess.run([program, "--list"], check=True, capture_output=True, text=True,
                          cwd=ROOT).stdout
    found = {}
    for line in text.splitlines():
        words = line.split()
        pairs = dict(w.split("=") for w in words[1:] if w.count("=") == 1)
        if pairs.get("H") == "5" and pairs.get("D") == "32" and "R" in pairs:
            keys = int(pairs.get("Sk") or pairs["S"])
            found[words[0]] = (int(pairs.get("Sq") or keys), keys)
    return found


def tokens_of(rows_of_embedding, weights):
    """Which tokens these rows are of. They are copies, so they must be there bit for bit."""
    table = weights["gpt_neox.embed_in.weight"]
    found = []
    for row in rows_of_embedding:
        same = (table == row).all(dim=-1).nonzero().flatten().tolist()
        if len(same) != 1:
            raise ValueError(f"position {len(found)}: its embedding is that of {len(same)} tokens")
        found += same
    return found


def book():
    with open(TEXT, encoding="ascii") as file:
        return "\n".join(" ".join(p.split("\n")) for p in file.read().strip().split("\n\n"))


def prompt_of(dumped, cases, weights):
    """All tokens that the cases are about: those of the longest case without a past, continued as
    the book goes on, which is what the steps do."""
    prompt = []
    for _, case, tensors in dumped:
        new, keys = cases[case]
        if new == keys > len(prompt):
            prompt = tokens_of(tensors["hidden"][0], weights)
    if not prompt:
        raise ValueError("no case of the program starts at position 0, so its prompt is unknown")
    text, known = book(), bytes(prompt).decode("ascii")
    at = text.find(known)
    return prompt if at < 0 else list(text[at:].encode("ascii"))


class Dumping:
    """A program that writes its dump while this one imports and builds."""

    def __init__(self, program, folder):
        self.program, self.step = program, os.path.basename(program).replace("step-", "")
        self.path = os.path.join(folder, self.step)
        self.said = self.path + ".log"
        self.cases = cases_of(program)
        if not self.cases:
            raise ValueError(f"{program} has no case with H=5 D=32, which runs opticks.neox")
        command = [program, "--dump", self.path, "--reps", "1"]  # its times are of no interest here
        for case in self.cases:
            command += ["--case", case]
        with open(self.said, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)

    def result(self):
        """Whatever its exit code: whether a variant is wrong is found here, independently."""
        self.process.wait()
        if not os.path.exists(self.path):
            with open(self.said, encoding="utf-8") as log:
                last = (log.read().strip().splitlines() or [""])[-1]
            raise ValueError(f"{self.program} left no dump: {last}")
        return read_dump(self.path)


def off(got, want):
    return float((got.double() - want).abs().max())


def compare(step, variant, case, ours, exact, theirs, first, judged):
    """A row a layer, and one of the logits. theirs: sdpa and eager."""
    hidden, logits = ours["hidden"], ours["logits"]
    pairs = [(str(i), hidden[i], exact[0][i, first:], [t[0][i, first:] for t in theirs])
             for i in range(len(hidden))]
    pairs.append(("logits", logits, exact[1][first:], [t[1][first:] for t in theirs]))
    right = True
    for layer, got, want, others in pairs:
        error, their = off(got, want), [off(o, want) for o in others]
        good = error <= 2.0 * their[0]  # a NaN is not
        right = right and good
        status = ("ok" if good else "wrong") if judged else "not judged"
        figures = (error, *their, float(want.abs().max()))
        rows["errors"].append([step, variant, case, len(logits), layer,
                               *(f"{figure:.6g}" for figure in figures), status])
    worst = max(rows["errors"][-len(pairs):],
                key=lambda r: math.inf if r[5] == "nan" else float(r[5]) / max(float(r[6]), 1e-30))
    print(f"  {variant} {case}: worst at {worst[4]}: off {worst[5]}, "
          f"transformers in fp16 {worst[6]}: "
          + (worst[-1] if not judged else "ok" if right else "WRONG"))
    if judged and not right:
        wrong(f"{variant} {case}: more than twice as far off as transformers in fp16")


def is_judged(variant):
    return not options.right or variant in options.right


def errors(dumps, models, weights):
    for program, cases, dumped in dumps:
        prompt, results = prompt_of(dumped, cases, weights), {}
        for variant, case, ours in dumped:
            if "text" in ours:  # it read what it wrote: its text is judged, by says
                continue
            new, keys = cases[case]
            if keys > len(prompt):
                raise ValueError(f"{case} has {keys} tokens, of which {len(prompt)} are known")
            if keys not in results:
                exact, *theirs = [states(m, prompt[:keys]) for m in models.values()]
                results[keys] = exact, theirs
            table = weights["gpt_neox.embed_in.weight"]
            if not torch.equal(ours["hidden"][0], table[prompt[keys - new : keys]]):
                wrong(f"{variant} {case}: its first hidden states are not the prompt's embeddings")
                continue
            compare(program, variant, case, ours, *results[keys], keys - new, is_judged(variant))


# --- says: text -----------------------------------------------------------------------------------
def greedy(model, tokens, count):
    """count tokens with a cache, and by how much each leads the second."""
    tokens, cache = torch.tensor([tokens], device=device), None
    said, leads = [], []
    for _ in range(count):
        out = model(tokens, past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        best = out.logits[0, -1].double().topk(2)
        tokens = best.indices[:1].view(1, 1)
        said.append(tokens[0, 0])
        leads.append(best.values[0] - best.values[1])
    return [int(t) for t in said], [float(x) for x in leads]


def in_common(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def read_said(path):
    """[(variant, prompt, text)]: a newline is written \\n, a tab \\t and a backslash \\\\."""
    found = []
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                cells = [unescaped(c) for c in line.rstrip("\n").split("\t")]
                if len(cells) != 3:
                    raise ValueError(f"{path}: {len(cells)} cells in {line!r}; there must be 3")
                found.append(cells)
    return found


def spoken(dumps):
    """[(variant, prompt, text)] of the cases that speak: they have an output `text`."""
    with open(os.path.join(ROOT, "common", "neox", "problem.h"), encoding="ascii") as file:
        given = int(re.search(r"NEOX_PROMPT = (\d+)", file.read()).group(1))
    found = []
    for _, _, dumped in dumps:
        for variant, _, ours in dumped:
            if "text" in ours:
                text = bytes(t & 127 for t in ours["text"].tolist()).decode("ascii")
                found.append((variant, text[:given], text[given:]))
    return found


def says(dumps, models, shape):
    """Where fp64's lead is small, two right programs may part; before that none may."""
    said = spoken(dumps) + (read_said(options.said) if options.said else [])
    for prompt in dict.fromkeys([p for _, p, _ in said] or PROMPTS):
        tokens = list(prompt.encode("ascii"))
        count = max([len(t) for _, p, t in said if p == prompt] or [CHARACTERS])
        count = min(count, shape["positions"] - len(tokens))
        want, leads = greedy(models["exact"], tokens, count)
        close = 8.0 * off(states(models["sdpa"], tokens)[1], states(models["exact"], tokens)[1])
        sure = next((i for i, lead in enumerate(leads) if lead <= close), count)
        texts = [(f"transformers-{how}", greedy(models[how], tokens, count)[0])
                 for how in ("sdpa", "eager")]
        half = texts[0][1]
        texts += [(v, list(text.encode("ascii"))) for v, p, text in said if p == prompt]
        for variant, text in texts:
            same16, same64 = in_common(text, half), in_common(text, want)
            needed = min(sure, len(text))
            good = same64 >= needed and same16 >= needed
            judged = variant.startswith("transformers-") or is_judged(variant)
            status = ("ok" if good else "wrong") if judged else "not judged"
            rows["says"].append([variant, escaped(prompt), len(text), same16, same64,
                                 f"{min(leads):.4g}", status])
            print(f"  {variant}: [{prompt}] {bytes(text)!r}: {same16} as in fp16, {same64} as in "
                  f"fp64 of {len(text)}; smallest lead {min(leads):.3g}, sure of {sure}: {status}")
            if judged and not good:
                wrong(f"{variant}: [{prompt}]: parts from transformers after {min(same16, same64)} "
                      f"characters; the first {needed} are sure")


def values_and_text(dumping):
    """errors and says: the programs are run once, and the models read once, for both."""
    shape, weights = read_model(OPTICKS)
    dumps = [(d.step, d.cases, d.result()) for d in dumping]
    seen = {variant for _, _, dumped in dumps for variant, _, _ in dumped}
    for name in options.right:
        if name not in seen:
            wrong(f"--right {name}: the programs have {', '.join(sorted(seen)) or 'no variant'}")
    models = {"exact": load(shape, weights, torch.float64, "sdpa")}
    for how in ("sdpa", "eager"):
        models[how] = load(shape, weights, torch.float16, how)
    print(f"  programs run, models read: {time.perf_counter() - peers.began:.1f} s", flush=True)
    attempt("errors", errors, dumps, models, weights)
    attempt("says", says, dumps, models, shape)


def unescaped(text):
    parts = text.split("\\\\")
    return "\\".join(p.replace("\\n", "\n").replace("\\t", "\t") for p in parts)


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


# --- times: a decode step -------------------------------------------------------------------------
class HandAdd:
    """The add of common/cuda/half_add.cuh for tensors of PyTorch: what an integration has to do.
    It refuses what the kernel cannot read, allocates the result, and launches on the current
    stream; peers.our_add does the last two."""

    def __init__(self, add):
        self.add, self.calls = add, 0

    def __call__(self, a, b):
        if a.dtype != torch.float16 or b.dtype != torch.float16 or a.shape != b.shape:
            raise ValueError(f"{a.dtype} {a.shape} and {b.dtype} {b.shape}; it adds alike fp16")
        if not (a.is_contiguous() and b.is_contiguous()):
            raise ValueError("adds contiguous tensors only")
        self.calls += 1
        return self.add(a, b)


class TorchAdd:
    """What transformers does, through the same changed layer: its calls are counted as well."""

    def __init__(self):
        self.calls = 0

    def __call__(self, a, b):
        self.calls += 1
        return a + b


def layer_with(add):
    """GPTNeoXLayer.forward of a parallel model, in its order: (mlp + attention) + x."""

    def forward(self, hidden_states, attention_mask=None, position_ids=None, use_cache=False,
                layer_past=None, position_embeddings=None, **kwargs):
        attention, _ = self.attention(
            self.input_layernorm(hidden_states), attention_mask=attention_mask,
            position_ids=position_ids, layer_past=layer_past, use_cache=use_cache,
            position_embeddings=position_embeddings, **kwargs)
        attention = self.post_attention_dropout(attention)
        mlp = self.mlp(self.post_attention_layernorm(hidden_states))
        mlp = self.post_mlp_dropout(mlp)
        return add(add(mlp, attention), hidden_states)

    return forward


class Decoding:
    """A model with PAST tokens in its cache, decoding from there and going back."""

    def __init__(self, model):
        from transformers import DynamicCache

        self.model, self.cache = model, DynamicCache(config=model.config)
        tokens = torch.randint(0, model.config.vocab_size, (1, PAST), device=device)
        self.first = self.forward(tokens).argmax(dim=-1, keepdim=True)
        self.token = self.first

    def forward(self, tokens):
        out = self.model(tokens, past_key_values=self.cache, use_cache=True)
        return out.logits[:, -1]

    def step(self):
        self.token = self.forward(self.token).argmax(dim=-1, keepdim=True)

    def rewind(self):
        more = self.cache.get_seq_length() - PAST
        if more > 0:
            self.cache.crop(-more)
        self.token = self.first


class Building:
    """peers.our_add in a thread of its own, for nvcc takes seconds."""

    def __init__(self, folder):
        self.folder, self.add, self.trouble = folder, None, None
        self.thread = threading.Thread(target=self.build)
        self.thread.start()

    def build(self):
        try:
            self.add = peers.our_add(self.folder)
            if self.add is None:
                raise RuntimeError("there is no nvcc")
        except Exception as error:  # told to whoever asks for the add
            self.trouble = error

    def result(self):
        self.thread.join()
        if self.trouble:
            raise self.trouble
        return self.add


class Variant:
    def __init__(self, name, add=None):
        self.name, self.add = name, add
        self.forward = layer_with(add) if add else None

    def use(self, model):
        layer = type(model.gpt_neox.layers[0])
        layer.forward = self.forward or layer.original_forward


def synchronize():
    if stream:
        stream.synchronize()


def sample(decoding, clock):
    """Microseconds a token, over TOKENS tokens."""
    decoding.rewind()
    synchronize()
    if clock == "call":
        total = 0
        for _ in range(TOKENS):
            start = time.perf_counter_ns()
            decoding.step()
            synchronize()
            total += time.perf_counter_ns() - start
        return total * 1e-3 / TOKENS
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    before.record(stream)
    for _ in range(TOKENS):
        decoding.step()
    after.record(stream)
    after.synchronize()
    return before.elapsed_time(after) * 1e3 / TOKENS


def measure(decoding, variants, clock):
    """Variants in turn, round by round: samples[variant][round]."""
    samples, start = {v.name: [] for v in variants}, time.perf_counter()
    for done in range(ROUNDS):
        for i in range(len(variants)):
            variant = variants[(done + i) % len(variants)]
            variant.use(decoding.model)
            samples[variant.name].append(sample(decoding, clock))
        if done + 1 >= peers.LEAST and time.perf_counter() - start > BUDGET_S:
            break
    return samples


def replayed(decoding, variants):
    """The graph clock: one decode step captured and replayed, so no host cost. Round by round."""
    decoding.rewind()
    kept = [(layer.keys, layer.values) for layer in decoding.cache.layers]
    graphs, samples = {}, {}
    for variant in variants:
        variant.use(decoding.model)
        decoding.step()
        decoding.rewind()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=stream):
                decoding.step()
            graph.replay()
            stream.synchronize()
            graphs[variant.name] = (graph, decoding.token)
            samples[variant.name] = []
        except Exception as error:  # the others can still be measured
            peers.complain(f"times {variant.name} graph", error)
        for layer, (keys, values) in zip(decoding.cache.layers, kept):
            layer.keys, layer.values = keys, values
        decoding.token = decoding.first
    names = list(graphs)
    for done in range(ROUNDS):
        for i in range(len(names)):
            name = names[(done + i) % len(names)]
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            before.record(stream)
            for _ in range(TOKENS):
                graphs[name][0].replay()
            after.record(stream)
            after.synchronize()
            samples[name].append(before.elapsed_time(after) * 1e3 / TOKENS)
    return samples


def check(decoding, variants, shape):
    """Logits of one token against the unchanged model, bit for bit, and how often it added."""
    found, want = {}, None
    for variant in variants:
        variant.use(decoding.model)
        decoding.rewind()
        if variant.add:
            variant.add.calls = 0
        logits = decoding.forward(decoding.first).double()
        decoding.rewind()
        want = logits if want is None else want
        error = float((logits - want).abs().max())
        calls = variant.add.calls if variant.add else "-"
        good = bool(logits.isfinite().all()) and error == 0.0
        if variant.add and calls != 2 * shape["layers"]:
            good = False
        if not good:
            wrong(f"times {variant.name}: off by {error:g}, {calls} adds of {2 * shape['layers']}")
        found[variant.name] = ("ok" if good else "wrong", f"{error:.6g}", calls)
        print(f"  {variant.name}: off by {error:g} from the unchanged model, adds counted: {calls}")
    return found


def record_times(shape, clock, samples, verdicts, least_bytes):
    """ratio: the unchanged model's time by this one's, of the same round."""
    D = shape["hidden"] // shape["heads"]
    base = samples.get("eager", [])
    for name, taken in samples.items():
        ratios = sorted(b / t for b, t in zip(base, taken)) or [math.nan]
        taken = sorted(taken)
        cells, ratio = peers.quantiles(taken), peers.quantiles(ratios)
        status, error, calls = verdicts[name]
        rows["times"].append(
            ["44", name, "small" if options.small else "pythia", 1, shape["heads"], 1, PAST + 1, D,
             shape["rotary"], "f16", clock, "-", *(f"{c:.6g}" for c in cells), len(taken),
             least_bytes, *(f"{r:.4f}" for r in ratio), status, error, calls])
        print(f"  {name} {clock}: {cells[0] * 1e-3:.3f} ms a token ({cells[1] * 1e-3:.3f} to "
              f"{cells[2] * 1e-3:.3f}), {ratio[0]:.3f}x ({ratio[1]:.3f} to {ratio[2]:.3f})")


def decoding_at(shape):
    model = make(shape, torch.float16, "sdpa", device)
    layer = type(model.gpt_neox.layers[0])
    if not hasattr(layer, "original_forward"):
        layer.original_forward = layer.forward
    return Decoding(model)


def times(decoding, shape, building):
    variants = [Variant("eager"), Variant("eager-changed", TorchAdd())]
    if building:
        try:
            variants.append(Variant("hand-add", HandAdd(building.result())))
        except Exception as error:
            peers.complain("times hand-add", error)
    print(f"  begun at {time.perf_counter() - peers.began:.1f} s", flush=True)
    verdicts = check(decoding, variants, shape)
    N, M = shape["hidden"], shape["mlp"]
    count = shape["layers"] * (4 * N * N + 2 * N * M + 9 * N + M) + 3 * N + shape["vocab"] * N
    least = 2 * count + 4 * shape["layers"] * (PAST + 1) * N
    for clock in ("call", "stream") if stream else ("call",):
        record_times(shape, clock, measure(decoding, variants, clock), verdicts, least)
    if stream:
        record_times(shape, "graph", replayed(decoding, variants), verdicts, least)
    variants[0].use(decoding.model)
    print(f"  times: done at {time.perf_counter() - peers.began:.1f} s", flush=True)


# --- shares: a profile ----------------------------------------------------------------------------
def kind_of(name, shapes, hidden):
    """Of an operation of PyTorch by its name and the shapes of its inputs."""
    if name in ("aten::addmm", "aten::mm", "aten::linear", "aten::_addmm_activation"):
        return "gemm"
    if "attention" in name or "softmax" in name or name in ("aten::bmm", "aten::baddbmm"):
        return "attention"
    if "layer_norm" in name:
        return "norm"
    if name in ("aten::add", "aten::add_"):
        sizes = [s for s in shapes if s]
        if len(sizes) == 2 and all(list(s) == [1, 1, hidden] for s in sizes):
            return "residual add"
    if name == "aten::gelu":
        return "gelu"
    if name in ("aten::cat", "aten::mul", "aten::neg", "aten::add"):
        return "rope and cache"
    return "other"


def shares(decoding, shape):
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if stream else [])
    for _ in range(2):  # the first profile sets the profiler up
        decoding.rewind()
        decoding.step()
        decoding.rewind()
        synchronize()
        with profile(activities=activities, record_shapes=True, acc_events=True) as seen:
            decoding.step()
            synchronize()
    events = seen.events()
    kinds, counted = {}, 0.0
    for event in events:
        if stream:
            kernels = [k.duration for k in event.kernels] if event.name.startswith("aten::") else []
        else:  # to try this out: there are no kernels, so the operations themselves
            kernels = [event.self_cpu_time_total] if event.name.startswith("aten::") else []
        if kernels:
            name = kind_of(event.name, event.input_shapes or [], shape["hidden"])
            kind = kinds.setdefault(name, [0, 0.0])
            kind[0] += len(kernels)
            kind[1] += sum(kernels)
            counted += sum(kernels)
    total = counted
    if stream:
        on_device = [e for e in events if e.device_type == torch.autograd.DeviceType.CUDA]
        total = sum(e.time_range.elapsed_us() for e in on_device)
        print(f"  {len(on_device)} kernels, {total:.0f} us; {counted:.0f} us are of an operation")
        if abs(counted - total) > 0.02 * total:
            wrong(f"shares: operations account for {counted:.0f} us of {total:.0f} us of kernels")
    for kind, (count, us) in sorted(kinds.items(), key=lambda k: -k[1][1]):
        case = "small" if options.small else "pythia"
        rows["shares"].append(["eager", case, kind.replace(" ", "-"), count, f"{us:.6g}",
                               f"{us / counted:.4f}"])
        print(f"  {kind}: {count} kernels, {us:.1f} us, {100.0 * us / counted:.1f} %")
    adds = kinds.get("residual add", [0])[0]
    if adds != 2 * shape["layers"]:
        wrong(f"shares: {adds} residual adds; {2 * shape['layers']} are due")


# --- The run --------------------------------------------------------------------------------------
def write_rows(folder, top):
    os.makedirs(folder, exist_ok=True)
    for part, found in rows.items():
        if not found:
            continue
        path = os.path.join(folder, f"peers-neox-{part}.tsv")
        with open(path + ".tmp", "w", encoding="utf-8") as file:
            file.write(top)
            for row in (COLUMNS[part], *found):
                file.write("\t".join(str(cell) for cell in row) + "\n")
        os.replace(path + ".tmp", path)


def attempt(part, body, *values):
    """A part that fails must not cost what the others measured."""
    if part not in options.only:
        return
    print(f"neox: {part}", flush=True)
    try:
        body(*values)
    except Exception as error:
        peers.complain(part, error)
    gc.collect()


def top_lines(seed, transformers):
    if not stream:
        return f"# device: the CPU\n# transformers: {transformers.__version__}\n# seed: {seed}\n"
    program = f"# program: peers-neox\n# transformers: {transformers.__version__}\n"
    return peers.header(seed).replace("# program: peers\n", program)


def main(dumping, folder):
    import transformers

    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    where = torch.cuda.get_device_name(0) if stream else "the CPU"
    print(f"neox: PyTorch {torch.__version__}, transformers {transformers.__version__} on {where}, "
          f"--seed {seed} repeats it; imported at {time.perf_counter() - peers.began:.1f} s",
          flush=True)
    top = top_lines(seed, transformers)
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("highest")
    transformers.logging.set_verbosity_error()
    gc.disable()
    with torch.no_grad(), torch.cuda.stream(stream):
        if stream:
            peers.warm_up()
        building = Building(folder) if stream and "times" in options.only else None
        if "errors" in options.only or "says" in options.only:
            try:
                values_and_text(dumping)
            except Exception as error:
                peers.complain("errors and says", error)
        if "times" in options.only or "shares" in options.only:
            shape = SMALL if options.small else PYTHIA
            decoding = decoding_at(shape)
            attempt("shares", shares, decoding, shape)
            attempt("times", times, decoding, shape, building)
        if building:
            building.thread.join()  # it writes to the folder
    print(f"neox: {sum(map(len, rows.values()))} rows, {time.perf_counter() - peers.began:.1f} s")
    if options.out:
        write_rows(options.out, top)
    for what in failed:
        print("neox: failed: " + what, file=sys.stderr)
    return 1 if failed else 0


def start(folder):
    """The programs begin before PyTorch is imported, which takes seconds."""
    if not {"errors", "says"} & set(options.only):
        return []
    try:
        return [Dumping(program, folder) for program in options.program]
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"neox: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    options = arguments()
    with tempfile.TemporaryDirectory() as work:
        started = start(work)
        try:
            import torch
            import transformers as _

            device = "cuda" if torch.cuda.is_available() else "cpu"
            stream = torch.cuda.Stream() if device == "cuda" else None
            if not stream and not options.small and {"times", "shares"} & set(options.only):
                print("neox: cannot run here: times and shares need a GPU; --only errors,says does "
                      "not", file=sys.stderr)
                sys.exit(77)
            peers.torch, peers.device, peers.stream, peers.options = torch, device, stream, options
            status = main(started, work)
        except ImportError as error:
            print(f"neox: cannot run here: {error}", file=sys.stderr)
            status = 77
        finally:
            for one in started:
                one.process.kill()
                one.process.wait()
    sys.exit(status)
