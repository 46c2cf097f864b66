#!/usr/bin/env python3
"""train.py: trains the small GPT-NeoX that the workbook ships, and writes it as neox.h wants it.

    python3 common/neox/train.py --out FILE [--steps N] [--dropout P] [--seed N] [--batch N]

A token is a byte of ASCII. The model is that of neox.h, written out: parallel residual, the first
`rotary` dimensions of a head rotated, exact GELU, an output matrix of its own. One paragraph of
twenty is held out, for the loss on text that the model never saw.

The seed fixes the first weights, the batches and the order of everything; but sums on a GPU are not
made in a fixed order, so a second run ends with other weights, about as good.
"""
import argparse
import math
import os
import struct
import sys
import time
import zlib

import torch
import torch.nn.functional as F

LAYERS, HIDDEN, HEADS, ROTARY, MLP, VOCAB, POSITIONS = 6, 160, 5, 8, 640, 128, 256
DIMENSION = HIDDEN // HEADS
EPSILON, BASE = 1e-5, 10000.0
LARGEST = 4_000_000  # bytes of the file

PROMPTS = (
    "The quick brown fox",
    "The Rays of Light",
    "Are not the Rays of Light",
    "In a very dark Chamber, at a round Hole",
    "My Design in this Book is",
    "All these things being consider'd, it seems probable to me, that God",
    "Do not Bodies act upon Light at a distance",
    "The white Light of the Sun is",
    "And if natural Philosophy in all its Parts",
    "I look'd through a Prism upon",
    "A fast kernel",
    "The sum of two",
    "When the add was fused",
    "And therefore the Colours",
    "Whence is it that Nature",
    "A Ray of Light",
)


def arguments():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description="Trains the workbook's small GPT-NeoX.")
    parser.add_argument("--text", default=os.path.join(here, "opticks.txt"))
    parser.add_argument("--out", required=True, help="write the weights to this file")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--batch", type=int, default=128, help="pieces of 256 bytes in a step")
    parser.add_argument("--rate", type=float, default=2e-3, help="the highest learning rate")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1730)
    parser.add_argument("--eager", action="store_true", help="do not capture a step as a graph")
    return parser.parse_args()


# --- Text -----------------------------------------------------------------------------------------
def paragraphs(path):
    """The file is wrapped, paragraphs apart by an empty line; the model sees one line each."""
    with open(path, encoding="ascii") as file:
        return [" ".join(p.split("\n")) for p in file.read().strip().split("\n\n")]


def stream_of(some):
    return torch.tensor(list(("\n".join(some) + "\n").encode("ascii")), dtype=torch.int64)


def read_text(path):
    every = paragraphs(path)
    held_out = [p for i, p in enumerate(every) if i % 20 == 10]
    rest = [p for i, p in enumerate(every) if i % 20 != 10]
    return stream_of(rest), stream_of(held_out)


# --- The model ------------------------------------------------------------------------------------
def shapes():
    """(name, shape) of every part, in the order of the file: enum neox_part."""
    layer = (("norm1_gain", (HIDDEN,)), ("norm1_bias", (HIDDEN,)),
             ("norm2_gain", (HIDDEN,)), ("norm2_bias", (HIDDEN,)),
             ("qkv", (3 * HIDDEN, HIDDEN)), ("qkv_bias", (3 * HIDDEN,)),
             ("dense", (HIDDEN, HIDDEN)), ("dense_bias", (HIDDEN,)),
             ("up", (MLP, HIDDEN)), ("up_bias", (MLP,)),
             ("down", (HIDDEN, MLP)), ("down_bias", (HIDDEN,)))
    yield "embedding", (VOCAB, HIDDEN)
    for i in range(LAYERS):
        for name, shape in layer:
            yield f"{i}.{name}", shape
    yield "final_gain", (HIDDEN,)
    yield "final_bias", (HIDDEN,)
    yield "output", (VOCAB, HIDDEN)


def first_weights(device):
    weights = {}
    for name, shape in shapes():
        if len(shape) == 1:
            w = torch.full(shape, 1.0 if name.endswith("gain") else 0.0)
        else:
            # Weights that add to the residual start small, or the sum would grow with the layers.
            adds = name.endswith((".dense", ".down"))
            w = torch.randn(shape) * (0.04 / math.sqrt(2 * LAYERS) if adds else 0.04)
        weights[name] = w.to(device).requires_grad_()
    return weights


def angles(device):
    frequency = BASE ** -(torch.arange(0, ROTARY, 2, dtype=torch.float64) / ROTARY)
    angle = torch.outer(torch.arange(POSITIONS, dtype=torch.float64), frequency)
    angle = torch.cat((angle, angle), dim=-1)
    return angle.cos().float().to(device), angle.sin().float().to(device)


def rotated(x, cosine, sine):
    """x [B, heads, T, DIMENSION]: dimension i is paired with i + ROTARY / 2."""
    part, rest = x[..., :ROTARY], x[..., ROTARY:]
    first, second = part.chunk(2, dim=-1)
    part = part * cosine + torch.cat((-second, first), dim=-1) * sine
    return torch.cat((part.to(x.dtype), rest), dim=-1)


def forward(w, tokens, table, dropout=0.0):
    """tokens [B, T] -> logits [B, T, VOCAB]."""
    B, T = tokens.shape
    cosine, sine = (t[:T].to(w["output"].dtype) for t in table)
    x = F.embedding(tokens, w["embedding"])
    for i in range(LAYERS):
        def of(name):
            return w[f"{i}.{name}"]

        normed = F.layer_norm(x, (HIDDEN,), of("norm1_gain"), of("norm1_bias"), EPSILON)
        qkv = F.linear(normed, of("qkv"), of("qkv_bias"))
        qkv = qkv.view(B, T, HEADS, 3 * DIMENSION).transpose(1, 2)
        q, k, v = qkv.split(DIMENSION, dim=-1)
        q, k = rotated(q, cosine, sine), rotated(k, cosine, sine)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        a = a.transpose(1, 2).reshape(B, T, HIDDEN)
        a = F.linear(a, of("dense"), of("dense_bias"))
        normed = F.layer_norm(x, (HIDDEN,), of("norm2_gain"), of("norm2_bias"), EPSILON)
        m = F.gelu(F.linear(normed, of("up"), of("up_bias")))
        m = F.linear(m, of("down"), of("down_bias"))
        if dropout:
            a, m = F.dropout(a, dropout), F.dropout(m, dropout)
        x = (m + a) + x
    x = F.layer_norm(x, (HIDDEN,), w["final_gain"], w["final_bias"], EPSILON)
    return F.linear(x, w["output"])


def loss_of(w, pieces, table, dropout=0.0):
    """pieces [B, T + 1]: mean of -log p of each byte after the first of its piece."""
    logits = forward(w, pieces[:, :-1], table, dropout)
    return F.cross_entropy(logits.float().flatten(0, 1), pieces[:, 1:].flatten())


@torch.no_grad()
def evaluate(w, text, table, most=128):
    """Over pieces that follow one another without overlap; if there are many, spread over it."""
    count = (len(text) - 1) // POSITIONS
    starts = torch.arange(0, count, max(1, count // most))[:most] * POSITIONS
    pieces = torch.stack([text[s : s + POSITIONS + 1] for s in starts.tolist()])
    return loss_of(w, pieces, table).item()


# --- Training -------------------------------------------------------------------------------------
def rate_at(step, steps, highest):
    warm = min(300, steps // 10 + 1)
    if step < warm:
        return highest * (step + 1) / warm
    done = (step - warm) / max(1, steps - warm)
    return highest * (0.01 + 0.99 * 0.5 * (1.0 + math.cos(math.pi * done)))


class Step:
    """One step of training. On a GPU the kernels are so short that issuing them takes longer than
    running them: after a few steps the whole step is captured as a CUDA graph and replayed."""

    def __init__(self, w, text, table, options, device):
        self.w, self.text, self.table, self.options, self.device = w, text, table, options, device
        self.rate = torch.tensor(0.0, device=device)
        cuda = device == "cuda"
        decayed = [p for p in w.values() if p.dim() == 2]
        others = [p for p in w.values() if p.dim() == 1]
        groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        kind = {"fused": True, "capturable": True} if cuda else {}
        self.adam = torch.optim.AdamW(groups, lr=self.rate, betas=(0.9, 0.95), **kind)
        for group in self.adam.param_groups:
            group["lr"] = self.rate  # this tensor itself, so that a replay sees its new values
        self.starts = torch.zeros(options.batch, dtype=torch.int64, device=device)
        self.span = torch.arange(POSITIONS + 1, device=device)
        self.loss = torch.zeros((), device=device)
        self.capture_at = 10 if cuda and not options.eager else None
        self.graph, self.done = None, 0
        self.stream = torch.cuda.Stream() if cuda else None
        self.dice = torch.Generator().manual_seed(options.seed)

    def body(self):
        self.adam.zero_grad(set_to_none=True)
        pieces = self.text[self.starts.unsqueeze(1) + self.span]
        # Without its cache: a graph must have the casts of this step, not of the last one.
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda",
                            cache_enabled=False):
            loss = loss_of(self.w, pieces, self.table, self.options.dropout)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(self.w.values()), 1.0)
        self.adam.step()
        self.loss.copy_(loss.detach())

    def __call__(self):
        most = len(self.text) - POSITIONS - 1
        self.starts.copy_(torch.randint(0, most + 1, (self.options.batch,), generator=self.dice))
        self.rate.fill_(rate_at(self.done, self.options.steps, self.options.rate))
        if self.graph is None and self.done == self.capture_at:
            self.adam.zero_grad(set_to_none=True)
            self.graph = torch.cuda.CUDAGraph()
            torch.cuda.synchronize()
            with torch.cuda.graph(self.graph):  # records, runs nothing
                self.body()
        if self.graph is not None:
            self.graph.replay()
        elif self.stream is not None:  # a graph wants its first steps on a stream of their own
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                self.body()
            torch.cuda.current_stream().wait_stream(self.stream)
        else:
            self.body()
        self.done += 1


def train(w, text, held_out, table, options, device):
    step, began = Step(w, text, table, options, device), time.perf_counter()
    every = max(1, options.steps // 16)
    while step.done < options.steps:
        step()
        if step.done % every == 0 or step.done == options.steps:
            loss, held = step.loss.item(), evaluate(w, held_out, table)
            passed = time.perf_counter() - began
            print(f"step {step.done:6d}: loss {loss:.4f}, held out {held:.4f}, {passed:.1f} s, "
                  f"{passed / step.done * 1e3:.2f} ms a step", flush=True)


# --- The file, and what the model says ------------------------------------------------------------
def write(path, rounded):
    """neox.h, file.c: magic, eight numbers, the weights in fp16, then the CRC-32 of all that."""
    tied = 0
    numbers = (LAYERS, HIDDEN, HEADS, ROTARY, MLP, VOCAB, POSITIONS, tied)
    data = b"KFNEOX2\n" + struct.pack("<8i", *numbers)
    data += b"".join(rounded[name].cpu().numpy().astype("<f2").tobytes() for name, _ in shapes())
    data += struct.pack("<I", zlib.crc32(data))
    if len(data) > LARGEST:
        sys.exit(f"train: {path}: {len(data)} bytes; at most {LARGEST} are wanted")
    with open(path + ".tmp", "wb") as file:
        file.write(data)
    os.replace(path + ".tmp", path)
    print(f"{path}: {len(data)} bytes")


@torch.no_grad()
def continuations(w, table, device, characters):
    """Greedy, all prompts at once: what stands behind a position cannot change it. Returns texts,
    and at each new byte the lead of the largest logit over the second."""
    tokens = torch.zeros(len(PROMPTS), POSITIONS, dtype=torch.int64)
    lengths = torch.tensor([len(p) for p in PROMPTS])
    for i, p in enumerate(PROMPTS):
        tokens[i, : len(p)] = torch.tensor(list(p.encode("ascii")))
    tokens, rows = tokens.to(device), torch.arange(len(PROMPTS), device=device)
    lengths, leads = lengths.to(device), []
    for _ in range(min(characters, POSITIONS - int(lengths.max()))):
        logits = forward(w, tokens, table)[rows, lengths - 1].float()
        best = logits.topk(2, dim=-1)
        leads.append((best.values[:, 0] - best.values[:, 1]).cpu())
        tokens[rows, lengths] = best.indices[:, 0]
        lengths += 1
    texts = [bytes(t[:n]).decode("ascii") for t, n in zip(tokens.tolist(), lengths.tolist())]
    return texts, torch.stack(leads, dim=1)


def speak(w, table, device):
    texts, leads = continuations(w, table, device, 160)
    half = {name: t.half() for name, t in w.items()} if device == "cuda" else None
    others = continuations(half, table, device, 160)[0] if half else texts
    for prompt, text, lead, other in zip(PROMPTS, texts, leads, others):
        new = text[len(prompt):]
        pairs = enumerate(zip(new, other[len(prompt):]))
        same = next((i for i, (a, b) in pairs if a != b), len(new))
        print(f"\n[{prompt}]{new!r}\n    smallest lead {lead.min():.3f} at {int(lead.argmin())}, "
              f"of the first 64: {lead[:64].min():.3f}; in fp16 the same {same} of {len(new)}")


def main():
    options = arguments()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    where = torch.cuda.get_device_name(0) if device == "cuda" else "the CPU"
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")  # TF32 where fp32 is left
    text, held_out = (t.to(device) for t in read_text(options.text))
    w, table = first_weights(device), angles(device)
    print(f"train: PyTorch {torch.__version__} on {where}, seed {options.seed}, {options.steps} "
          f"steps of {options.batch} x {POSITIONS}, dropout {options.dropout:g}, "
          f"rate {options.rate:g}; "
          f"{sum(p.numel() for p in w.values())} weights, {len(text)} bytes to learn from, "
          f"{len(held_out)} held out", flush=True)
    train(w, text, held_out, table, options, device)

    torch.set_float32_matmul_precision("highest")
    before = evaluate(w, held_out, table), evaluate(w, text, table)
    rounded = {name: p.detach().half() for name, p in w.items()}
    if not all(bool(t.isfinite().all()) for t in rounded.values()):
        sys.exit("train: a weight is not finite in fp16; try a smaller --rate")
    write(options.out, rounded)
    w = {name: t.float() for name, t in rounded.items()}
    after = evaluate(w, held_out, table), evaluate(w, text, table)
    print(f"loss in fp32: held out {before[0]:.4f}, learnt {before[1]:.4f} nats a byte")
    print(f"loss of the file: held out {after[0]:.4f}, learnt {after[1]:.4f} nats a byte")
    largest = max((float(t.abs().max()), name) for name, t in w.items())
    print(f"largest weight {largest[0]:.3f} in {largest[1]}")
    speak(w, table, device)


if __name__ == "__main__":
    main()
