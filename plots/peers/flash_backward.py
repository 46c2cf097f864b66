#!/usr/bin/env python3
"""flash_backward.py: the backward pass of PyTorch's FlashAttention-2 and cuDNN, for steps 24 to 27.

    python3 plots/peers/flash_backward.py [--out FILE] [--seed N] [--longest S] [--verify-only]

Shapes, clock, and how a backend is forced and shown to have run: flash_common.py. Flops are
10 B H Sq Sk D, half of it if causal: 2.5 times those of forward, for five products.

What is timed is the operator that autograd would call, on what forward saved. loss.backward() can
not be captured in a graph without the forward, and on a stream short cases would be the time of
autograd on the host. The operators take no copy of their inputs if these lie as they want them:
cuDNN's as the steps have them, [B][H][S][D], FlashAttention-2's with o and dO as [B][S][H][D].

dq, dk and dv are compared with fp64, from q, k, v and dO alone: a peer answers for its own o and
log-sum-exp. They may be off by twice what a plain fp16 implementation is in the same head, or what
rounding P, dS and o must be allowed; but by no more than twice what is derived for the element.
First of all, on small odd shapes, the formulas of that reference are compared with PyTorch's
autograd in fp64: the rows `autograd`.
"""
import collections
import math
import re
import sys

import flash_common as common
import peers
from flash_common import B, H, HALF_STEP, HEADS, U16

STEP = "26"
LAMBDA = 8.0  # common/harness/base/tolerance.c
PAIRS = 1 << 27  # of query and key in memory at a time: 1 GiB in fp64

# As common/problems/flash_cases.h names them. "no-key" has queries that see no key.
SMALL = {"odd": (2, 3, 77, 77, 64, False), "odd-causal": (2, 3, 77, 77, 64, True),
         "few-queries-D128": (1, 1, 5, 131, 128, True), "no-key": (1, 2, 150, 70, 64, True)}

# u: unit roundoff of sums; t, h: of what is stored between stages, relative, and half a step.
Rounding = collections.namedtuple("Rounding", "u t h")
FP16 = Rounding(peers.U, U16, HALF_STEP)
FP64 = Rounding(2.0**-53, 0.0, 0.0)

# Of each query: what it has from all keys. *_off: how far off it may be, derived. *_var: the
# variance of that with independent errors, uniform within half a step.
OfQueries = collections.namedtuple(
    "OfQueries", "lse lse_off delta delta_off delta_var plain_max plain_sum plain_delta")
Shares = collections.namedtuple("Shares", "p p_off p_var ds ds_off ds_var")


# --- What is right --------------------------------------------------------------------------------
def scale_of(q):
    return 1.0 / math.sqrt(q.shape[-1])


def times(a, b):
    return a @ b.transpose(-1, -2)


def hidden_from(queries, keys, Sq, Sk, causal):
    """Of these queries and keys the pairs that the mask hides; bottom-right, as in attention.h."""
    if not causal:
        return torch.zeros((), dtype=torch.bool, device=device)
    return keys > queries[:, None] + Sk - Sq


def of_queries(q, k, v, dout, hidden, r):
    """P = exp(scale q.k - lse), o = P v, delta = dO.o, and how far off lse and delta may be:
    a score by ds, so log(sum exp) by log(sum P exp(ds)) and its own rounding, P by the factor
    exp(ds + that), and then rounded; o is rounded too."""
    D, keys = k.shape[-1], k.shape[-2]
    q64, k64, v64, d64 = (x.double() for x in (q, k, v, dout))
    score = times(q64 * scale_of(q), k64)
    # |q|.|k| is at most the product of their norms, which saves a product. A bound needs no fp64.
    longest = q64.norm(dim=-1, keepdim=True) * k64.norm(dim=-1).amax(dim=-1)[..., None, None]
    ds = score.float().abs_().mul_(r.t).add_((score_error(D, r) * longest).float()).add_(r.h)
    score.masked_fill_(hidden, -math.inf)
    lse = score.logsumexp(dim=-1, keepdim=True)
    lse = lse.masked_fill(lse == -math.inf, 0.0)
    p = score.sub_(lse).exp_()
    o, p = p @ v64, p.float()
    lse_off = (p * ds.expm1()).sum(dim=-1, keepdim=True)
    lse_off += peers.gamma(keys, r.u) + 8.0 * r.u + 4.0 * r.u * lse.abs()
    stored = (r.t * p).add_(r.h).masked_fill_(hidden, 0.0)
    error = ds.add_(lse_off).expm1_().mul_(p).mul_(1.0 + r.t).add_(stored)
    o_off = error @ v.float().abs() + r.t * o.abs() + r.h
    size = (d64.abs() * o.abs()).sum(dim=-1, keepdim=True)
    delta_off = (d64.abs() * o_off).sum(dim=-1, keepdim=True) + peers.gamma(D, r.u) * size
    delta_var = (d64 * (r.t * o.abs() + r.h)).square().sum(dim=-1, keepdim=True)
    delta_var += stored.mul_(times(dout.float(), v.float())).square_().sum(dim=-1, keepdim=True)
    return lse, lse_off, (d64 * o).sum(dim=-1, keepdim=True), delta_off, delta_var / 3.0


def plain_of_queries(q, k, v, dout, hidden):
    """The softmax of common/problems/plain.c, and delta from its o: it is o as stored that a
    backward pass is given."""
    score = (times(q, k) * scale_of(q)).half().float().masked_fill_(hidden, -math.inf)
    largest = score.amax(dim=-1, keepdim=True)
    largest = largest.masked_fill(largest == -math.inf, 0.0)
    p = score.sub_(largest).exp_()
    total = p.sum(dim=-1, keepdim=True)
    total = total.masked_fill(total == 0.0, 1.0)
    p = p.div_(total).half().float()
    return largest, total, (dout * (p @ v).half().float()).sum(dim=-1, keepdim=True)


def score_error(D, r):
    """Of the sum |q|.|k| that is how far off a score may be: attention.c derives it."""
    return (1.0 + r.t) ** 3 * (peers.gamma(D, r.u) + 4.0 * r.u) / math.sqrt(D)


def shares(q, k, v, dout, of, hidden, r):
    """P and dS = P (dP - delta) of these queries and keys in fp64, and how far off each may be:
    a product of two that are off, and rounded when it is stored. The variances are those of a
    kernel that rounds P and dS alone, to multiply them."""
    D = k.shape[-1]
    q, k, v, dout = (x.double() for x in (q, k, v, dout))
    score, dp = times(q, k) * scale_of(q), times(dout, v)
    p = (score - of.lse).exp_().masked_fill_(hidden, 0.0)
    ds = score_error(D, r) * times(q.abs(), k.abs()) + r.t * score.abs() + r.h
    p_off = p * (ds + of.lse_off + 8.0 * r.u).expm1()
    p_off += r.t * (p + p_off) + r.h
    dp_off = peers.gamma(D, r.u) * times(dout.abs(), v.abs())
    dp_off += r.t * (dp.abs() + dp_off) + r.h
    dp, dp_off = dp - of.delta, dp_off + of.delta_off
    ds, ds_off = p * dp, p_off * (dp.abs() + dp_off) + p * dp_off
    ds_off += r.t * (ds.abs() + ds_off) + r.h
    p_var, ds_var = ((r.t * x.abs() + r.h).square() / 3.0 for x in (p, ds))
    return Shares(*(x.masked_fill(hidden, 0.0) for x in (p, p_off, p_var, ds, ds_off, ds_var)))


def plain_shares(q, k, v, dout, of, hidden):
    """The same as one would write it in fp16: fp32 sums, one rounding after each stage."""
    p = (times(q, k) * scale_of(q)).half().float().masked_fill_(hidden, -math.inf)
    p = p.sub_(of.plain_max).exp_().div_(of.plain_sum).half().float()
    return p, (p * (times(dout, v).half().float() - of.plain_delta)).half().float()


def summed(share, off, var, x, scale, r, more=0.0):
    """scale share @ x, how far off it may be (the share, the sum, and the result's rounding), and
    the floor: what independent errors of these variances and `more` leave it within."""
    x = x.double()
    want = scale * (share @ x)
    off = off + peers.gamma(share.shape[-1], r.u) * (share.abs() + off)
    rounding = (r.t + 4.0 * r.u) * want.abs() + r.h
    floor = LAMBDA * scale * (var @ x.square() + more).sqrt()
    return want, (1.0 + r.t) * scale * (off @ x.abs()) + rounding, floor + rounding


def gradients(q, k, v, dout, causal, rows, keys, r):
    """dq of these rows, dk and dv of these keys: each with its derived bound, its floor and, for
    FP16, what the plain implementation has. All tensors are [heads][S][D]."""
    Sq, Sk, scale = q.shape[-2], k.shape[-2], scale_of(q)
    every = [torch.arange(S, device=device) for S in (Sq, Sk)]
    with_plain = r is FP16

    def of_all_queries(h):
        """In parts: all pairs of a head may be too many."""
        parts = []
        for part in every[0].split(max(1, PAIRS // (h.stop - h.start) // Sk)):
            seen = slice(max(1, int(part[-1]) + 1 + Sk - Sq) if causal else Sk)
            hidden = hidden_from(part, every[1][seen], Sq, Sk, causal)
            mine = (q[h, part], k[h, seen], v[h, seen], dout[h, part])
            plain = plain_of_queries(*(x.float() for x in mine), hidden) if with_plain else ()
            parts.append(of_queries(*mine, hidden, r) + plain)
        found = [torch.cat(part, dim=1) for part in zip(*parts)]
        return OfQueries(*found, *[None] * (len(OfQueries._fields) - len(found)))

    def of_some(h, of, rows, keys):
        """The shares of these rows and keys, and the plain ones, if any."""
        hidden = hidden_from(rows, keys, Sq, Sk, causal)
        mine = (q[h, rows], k[h, keys], v[h, keys], dout[h, rows])
        plain = plain_shares(*(x.float() for x in mine), of, hidden) if with_plain else ()
        return shares(*mine, of, hidden, r), plain

    def outputs(h):
        of = of_all_queries(h)
        mine = OfQueries(*(x if x is None else x[:, rows] for x in of))
        some, plain = of_some(h, mine, rows, every[1])
        # One delta is in all of a query's dS.
        more = mine.delta_var * (some.p @ k[h].double()).square()
        dq = summed(some.ds, some.ds_off, some.ds_var, k[h], scale, r, more)
        if plain:
            dq += ((scale * (plain[1] @ k[h].float())).half(),)
        some, plain = of_some(h, of, every[0], keys)
        ds_var = some.ds_var + of.delta_var * some.p.square()
        some = Shares(*(x.transpose(-1, -2) for x in some))
        dk = summed(some.ds, some.ds_off, ds_var.transpose(-1, -2), q[h], scale, r)
        dv = summed(some.p, some.p_off, some.p_var, dout[h], 1.0, r)
        if plain:
            p, ds = (x.transpose(-1, -2) for x in plain)
            dk += ((scale * (ds @ q[h].float())).half(),)
            dv += ((p @ dout[h].float()).half(),)
        return dq, dk, dv

    return [outputs(slice(h, min(h + HEADS, q.shape[0]))) for h in range(0, q.shape[0], HEADS)]


def criterion(want, derived, floor, plain):
    """E4's: twice the error of the plain implementation in the head, but not below the floor, for
    that error may be small by chance: see attention.c. Never more than twice what is derived."""
    worst = (plain.double() - want).abs().amax(dim=(-1, -2), keepdim=True)
    return want, torch.minimum(2.0 * derived, torch.maximum(2.0 * worst + U16 * want.abs(), floor))


def checker(tensors, causal):
    """A function of (dq, dk, dv). It holds the rows that are compared."""
    S, D = tensors[0].shape[-2:]
    rows, keys = common.rows_of(S), common.rows_of(S)
    parts = gradients(*(x.reshape(-1, S, D) for x in tensors), causal, rows, keys, FP16)
    held = [[torch.cat(x) for x in zip(*(criterion(*part) for part in parts_of_one))]
            for parts_of_one in zip(*parts)]

    def check(got, _):
        verdict = peers.Verdict()
        for one, at, (want, bound) in zip(got, (rows, keys, keys), held):
            verdict.right = (verdict.right and one.shape == tensors[0].shape
                             and bool(one.isfinite().all()))
            verdict.add(one.reshape(-1, S, D)[:, at], want, bound)
        return verdict

    check.compared = sum(want.numel() for want, _ in held)
    return check


def by_autograd(q, k, v, dout, **mask):
    """PyTorch's attention as a chain of operators: its flash kernel for CPUs rounds dk and dv to
    fp16 after each of several parts, which is worse than a plain implementation."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with torch.enable_grad(), sdpa_kernel(SDPBackend.MATH):
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        o = torch.nn.functional.scaled_dot_product_attention(*leaves, **mask)
        return torch.autograd.grad(o, leaves, dout)


def against_autograd():
    """The formulas above, with the gradients of fp64 scaled_dot_product_attention."""
    for case, (batches, heads, Sq, Sk, D, causal) in SMALL.items():
        q, dout = (peers.random_input((batches * heads, Sq, D)).half() for _ in range(2))
        k, v = (peers.random_input((batches * heads, Sk, D)).half() for _ in range(2))
        rows, keys = (torch.arange(S, device=device) for S in (Sq, Sk))
        seen = ~hidden_from(rows, keys, Sq, Sk, causal).expand(Sq, Sk)
        wants = by_autograd(*(x.double() for x in (q, k, v, dout)), attn_mask=seen)
        verdict, compared = peers.Verdict(), 0
        parts = gradients(q, k, v, dout, causal, rows, keys, FP64)
        for want, of_one in zip(wants, zip(*parts)):
            ours, bound = (torch.cat(x) for x in list(zip(*of_one))[:2])
            verdict.add(ours, want, 2.0 * bound)  # both are rounded
            compared += want.numel()
        cells = common.verdict_cells(verdict, compared)
        if not verdict.right:
            peers.failed.append(f"{case} autograd: wrong")
        if not common.options.verify_only:
            shape = [batches, heads, Sq, Sk, D, 0, int(causal)]
            peers.rows.append([STEP, "autograd", case, *shape, "f64"] + ["-"] * 11 + cells)
        print(f"  {case} autograd in fp64: error {verdict.worst:.3g}, bound {verdict.bound:.3g}: "
              f"{cells[0]}")


# --- The peers ------------------------------------------------------------------------------------
def inputs(S, D):
    """q, k, v, dO."""
    return [peers.random_input((B, H, S, D)).half() for _ in range(4)]


def laid_as_bshd(x):
    return x.transpose(1, 2).contiguous().transpose(1, 2)


def calls_for(tensors, causal):
    q, k, v, dout = tensors
    S, aten = q.shape[-2], torch.ops.aten
    if device == "cpu":
        return {"math-cpu": lambda: by_autograd(q, k, v, dout, is_causal=causal)}
    # What forward leaves out (sequences of different lengths, a bias) stays out: None.
    o, lse, starts_q, starts_k, _, _, seed, offset, _ = aten._scaled_dot_product_flash_attention(
        q, k, v, 0.0, causal)
    flash = (laid_as_bshd(dout), q, k, v, laid_as_bshd(o), lse, starts_q, starts_k, S, S, 0.0,
             causal, seed, offset)
    o, lse, starts_q, starts_k, _, _, seed, offset, _ = aten._scaled_dot_product_cudnn_attention(
        q, k, v, None, True, 0.0, causal)
    cudnn = (dout, q, k, v, o, lse, seed, offset, None, starts_q, starts_k, S, S, 0.0, causal)
    return {
        "flash-attention-2": lambda: aten._scaled_dot_product_flash_attention_backward(*flash),
        "cudnn": lambda: aten._scaled_dot_product_cudnn_attention_backward(*cudnn),
    }


BACKWARD = common.Pass(
    name="flash-backward",
    step=STEP,
    kernels={"flash-attention-2": re.compile(r"\bflash_bwd_dq_dk_dv\w*kernel\b"),
             "cudnn": re.compile(r"\bcudnn\w*(sdpa|flash)\w*bprop\w*")},
    tensors=inputs,
    calls=calls_for,
    checker=checker,
    flops=lambda S, D: 10 * B * H * S * S * D,
    least_bytes=lambda S, D: B * H * S * (16 * D + 4),
    extra=against_autograd,
)

if __name__ == "__main__":
    torch, device = common.begin("Times the backward pass of PyTorch's attention in fp16.")
    sys.exit(common.record(BACKWARD))
