"""Products of 512 pairs of matrices with sides from 8 to 256, and of ragged rows with one matrix.

The pairs are those of a batch that was not seen before: the plan was made from another batch, and its program is
compiled. A loop over components in JAX compiles each product of new shapes; it is timed on the first of them. Once it
has seen all shapes it is warm. torch multiplies two nested tensors of the strided layout.
"""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import raggedarray as ra

from ._timing import seconds

PAIRS, LOW, HIGH = 512, 8, 256
LOOPED = 24
"""Pairs that the loop over new shapes is timed on."""


def batch(seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    sides = rng.integers(LOW, HIGH + 1, size=(PAIRS, 3))
    left = [rng.standard_normal((m, k), dtype=np.float32) for m, k, _ in sides]
    return left, [rng.standard_normal((k, n), dtype=np.float32) for _, k, n in sides]


def capacity(xs: list[list[np.ndarray]]) -> int:
    """Slots that hold the elements of each of these batches."""
    return ra.bucket_size(max(sum(a.size for a in x) for x in xs))


def pairs() -> dict[str, float]:
    """Seconds of our product, of the loop over new shapes, warm, and of torch; and the padding waste of the plan."""
    first, second = batch(0), batch(1)
    sizes = [capacity([first[i], second[i]]) for i in (0, 1)]

    def ours(parts: tuple[list[np.ndarray], list[np.ndarray]]) -> list[ra.RaggedArray]:
        return [ra.with_capacity(ra.ragged(p), n).to("jax") for p, n in zip(parts, sizes, strict=True)]

    plan = ra.BucketPlan.make(*ours(first))
    room = capacity(
        [[np.empty((a.shape[0], b.shape[1])) for a, b in zip(*parts, strict=True)] for parts in (first, second)]
    )
    f = jax.jit(lambda x, y: ra.matmul(x, y, bucket=plan, capacity=room))
    begin = time.perf_counter()
    jax.block_until_ready(f(*ours(first)))
    compiling = time.perf_counter() - begin
    x, y = ours(second)
    got = [np.asarray(g) for g in f(x, y).unbind()]
    want = [a @ b for a, b in zip(*second, strict=True)]
    assert all(np.abs(g - w).max() < 1e-2 for g, w in zip(got, want, strict=True))

    left, right = ([jnp.asarray(a) for a in part] for part in second)
    begin = time.perf_counter()
    jax.block_until_ready([jnp.matmul(a, b) for a, b in zip(left[:LOOPED], right[:LOOPED], strict=True)])
    unseen = (time.perf_counter() - begin) * PAIRS / LOOPED

    some = list(zip(left[:LOOPED], right[:LOOPED], strict=True))
    peers: list[Callable[[], Any]] = [lambda: f(x, y).values, lambda: [jnp.matmul(a, b) for a, b in some]]
    peers += _torch(second)
    best = seconds(*peers, rounds=3)
    work = [a.shape[0] * b.size for a, b in zip(*second, strict=True)]
    warm = best[1] * sum(work) / sum(work[:LOOPED])
    found = {"ours": best[0], "unseen": unseen, "warm": warm, "waste": plan.padding_waste(x, y), "compile": compiling}
    return found | ({"torch": best[2]} if len(best) > 2 else {})


def _torch(parts: tuple[list[np.ndarray], list[np.ndarray]]) -> list[Callable[[], Any]]:
    try:
        import torch
    except ImportError:
        return []
    a, b = (torch.nested.nested_tensor([torch.from_numpy(p) for p in part]) for part in parts)

    def run() -> None:
        torch.matmul(a, b)

    return [run]


def linear() -> list[tuple[int, float, float]]:
    """Features, and the ratios to the dense product of the product and of the gradient of both operands."""
    out = []
    for features in (64, 256):
        rng = np.random.default_rng(0)
        slots = 1 << 15
        lengths = rng.poisson(100, 300)
        values = rng.standard_normal((slots, features), dtype=np.float32)
        x = ra.with_capacity(ra.from_row_lengths(values[: lengths.sum()], lengths), slots).to("jax")
        w = jnp.asarray(rng.standard_normal((features, features), dtype=np.float32))
        dense = jax.jit(lambda v, w: v @ w)
        ragged = jax.jit(lambda x, w: (x @ w).values)
        s, t = seconds(lambda x=x, w=w, f=ragged: f(x, w), lambda x=x, w=w, f=dense: f(x.values, w), rounds=15)
        slope = jax.jit(jax.grad(lambda w, v: jnp.sum(jnp.sin(v @ w)), argnums=(0, 1)))
        ours = jax.jit(ra.grad(lambda w, x: jnp.sum(jnp.sin((x @ w).values)), argnums=(0, 1)))
        g, h = seconds(lambda x=x, w=w, f=ours: f(w, x), lambda x=x, w=w, f=slope: f(w, x.values), rounds=15)
        out.append((features, s / t, g / h))
    return out


def rows() -> list[tuple[str, str, float, float, float]]:
    """Case, peer, milliseconds of ours and the peer's, and the ratio."""
    found = pairs()
    case = f"{PAIRS} products, sides {LOW} to {HIGH}, padding waste {found['waste']:.0%}"
    peers = [("loop in JAX, new shapes", "unseen"), ("the same loop, warm", "warm"), ("torch nested, strided", "torch")]
    return [
        (case, peer, found["ours"] * 1e3, found[key] * 1e3, found["ours"] / found[key])
        for peer, key in peers
        if key in found
    ]


if __name__ == "__main__":
    for row in rows():
        print(*row)
    for features, forward, gradient in linear():
        case = f"linear, {features} features, times the dense product"
        print(f"{case}: forward {forward:.2f}, gradient {gradient:.2f}")
