"""Reductions and softmax under jit, against the same expression written with ``jax.ops.segment_*``.

The hand-written version builds its row ids from the splits and ignores slack.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import raggedarray as ra

from ._timing import seconds, temporary_bytes

LAYOUTS = {"200k x 64": (200_000, 64, 2000), "1M": (1_000_000, 0, 100_000), "1M, 1000 rows": (1_000_000, 0, 1000)}


def ids_of(splits: Any, n: int) -> Any:
    return jnp.cumsum(jnp.zeros(n + 1, splits.dtype).at[splits[1:]].add(1)[:n])


def by_hand() -> dict[str, Callable[..., Any]]:
    def total(v: Any, splits: Any) -> Any:
        return jax.ops.segment_sum(v, ids_of(splits, len(v)), len(splits) - 1)

    def mean(v: Any, splits: Any) -> Any:
        n = jnp.diff(splits).astype(v.dtype)
        return total(v, splits) / n.reshape(-1, *(1,) * (v.ndim - 1))

    def softmax(v: Any, splits: Any) -> Any:
        ids, n = ids_of(splits, len(v)), len(splits) - 1
        e = jnp.exp(v - jax.ops.segment_max(v, ids, n)[ids])
        return e / jax.ops.segment_sum(e, ids, n)[ids]

    return {"sum": total, "mean": mean, "softmax": softmax}


OURS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: ra.sum(x, axis=1),
    "mean": lambda x: ra.mean(x, axis=1),
    "softmax": lambda x: ra.nn.softmax(x, axis=1).values,
}


def cases() -> list[tuple[str, Any, Any]]:
    """Name, our thunk and the hand-written one."""
    out = []
    for layout, (n, d, nrows) in LAYOUTS.items():
        rng = np.random.default_rng(0)
        cuts = np.sort(rng.integers(0, n, nrows - 1))
        splits = jnp.asarray(np.concatenate(([0], cuts, [n])).astype(np.int32))
        values = jnp.asarray(rng.standard_normal((n, d) if d else n).astype(np.float32))
        x = ra.from_row_splits(values, splits)
        for name, f in OURS.items():
            g = by_hand()[name]
            shape = (nrows, d) if name != "softmax" and d else (nrows,) if name != "softmax" else values.shape
            w = jnp.asarray(rng.standard_normal(shape).astype(np.float32))
            ours, theirs = f, lambda v, s, g=g: g(v, s)
            grad_ours = ra.grad(lambda x, w, f=f: jnp.sum(f(x) * w))
            grad_theirs = jax.grad(lambda v, s, w, g=g: jnp.sum(g(v, s) * w))
            out.append((f"{name}, {layout}", (ours, (x,)), (theirs, (values, splits))))
            out.append((f"gradient of {name}, {layout}", (grad_ours, (x, w)), (grad_theirs, (values, splits, w))))
    return out


def rows() -> list[tuple[str, str, float, float, float]]:
    """Case, time of ours and by hand in ms, ratio of times, ratio of memory."""
    out = []
    for name, (f, fargs), (g, gargs) in cases():
        jf, jg = jax.jit(f), jax.jit(g)
        a, b = seconds(partial(jf, *fargs), partial(jg, *gargs))
        ours, theirs = temporary_bytes(f, *fargs), temporary_bytes(g, *gargs)
        out.append((name, f"{a * 1e3:.2f}", f"{b * 1e3:.2f}", a / b, ours / theirs))
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
