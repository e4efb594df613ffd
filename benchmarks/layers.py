"""Convolutions and pools against padded `lax`, losses and bags against hand-written JAX, all under jit.

Rows fill 35 % of the padded array: lengths are lognormal with mean 128, cut where that makes the fill (the
padded side gets its batch ready made, so that no time goes into padding). The other side of a loss or a bag is the
usual expression on flat arrays and row ids, without slack.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import raggedarray as ra

from ._timing import seconds, temporary_bytes

NROWS, CHANNELS, FILL = 64, 64, 0.35
Side = tuple[Callable[..., Any], tuple[Any, ...]]


def batch(inner: tuple[int, ...]) -> tuple[ra.RaggedArray, jax.Array]:
    """The same rows, ragged and padded; the longest is as long as makes the fill."""
    rng = np.random.default_rng(0)
    lengths = np.minimum(rng.lognormal(np.log(128) - 0.32, 0.8, NROWS), 1024).astype(int)
    longest = int(lengths.sum() / (NROWS * FILL))
    lengths = np.minimum(lengths, longest)
    lengths[0] = longest
    values = rng.standard_normal((lengths.sum(), *inner)).astype(np.float32)
    x = ra.asarray(ra.from_row_lengths(values, lengths), xp="jax")
    return x, jnp.asarray(ra.to_padded(x, length=longest))


def conv_padded(x: Any, kernel: Any, stride: int = 1, groups: int = 1) -> Any:
    return lax.conv_general_dilated(
        x, kernel, (stride,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=groups
    )


def pool_padded(x: Any, how: str, size: int, stride: int) -> Any:
    if how == "max":
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, 1), (1, stride, 1), "VALID")
    return lax.reduce_window(x, 0.0, lax.add, (1, size, 1), (1, stride, 1), "VALID") / size


def entropy_by_hand(z: Any, y: Any) -> Any:
    return jnp.mean(jax.nn.logsumexp(z, axis=-1) - jnp.take_along_axis(z, y[:, None], axis=1)[:, 0])


def bag_by_hand(table: Any, ids: Any, splits: Any) -> Any:
    n = len(splits) - 1
    rows = jnp.cumsum(jnp.zeros(len(ids) + 1, splits.dtype).at[splits[1:]].add(1)[: len(ids)])
    return jax.ops.segment_sum(table[ids], rows, n) / jnp.maximum(jnp.diff(splits), 1)[:, None]


def squares(f: Callable[..., Any], argnums: tuple[int, ...]) -> Callable[..., Any]:
    """Gradient of the summed squares of what ``f`` gives."""

    def loss(*args: Any) -> Any:
        out = f(*args)
        return jnp.sum(ra.sum(out * out) if isinstance(out, ra.RaggedArray) else jnp.sum(out * out))

    return jax.grad(loss, argnums)


def pair(
    name: str, f: Callable[..., Any], g: Callable[..., Any], mine: Any, theirs: Any
) -> list[tuple[str, Side, Side]]:
    """Forward, and the gradient with respect to the last two arguments or the one there is."""
    x, *rest = mine
    ours: Any = f
    argnums: tuple[int, ...] = tuple(range(1, len(mine)))
    if isinstance(x, ra.RaggedArray):  # by its values: splits are no parameters
        grad = squares(lambda v, s, *a: f(ra.from_row_splits(v, s), *a), (0, *(i + 1 for i in argnums)))
        back = (grad, (x.values, x.row_splits, *rest))
    else:
        back = (squares(f, (0,)), mine)
    other = squares(g, tuple(range(len(theirs))) if isinstance(x, ra.RaggedArray) else (0,))
    return [(name, (ours, mine), (g, theirs)), (f"gradient of {name}", back, (other, theirs))]


def cases() -> list[tuple[str, Side, Side]]:
    """Name, our side and the other one: a function and its arguments each."""
    rng = np.random.default_rng(1)
    x, padded = batch((CHANNELS,))

    def kernel(size: int, inner: int) -> Any:
        return jnp.asarray(rng.standard_normal((size, inner, CHANNELS)).astype(np.float32) * 0.05)

    out = []
    for size, stride, groups in ((5, 1, 1), (3, 2, 1), (7, 1, CHANNELS)):
        w = kernel(size, CHANNELS // groups)
        name = f"conv1d, size {size}, stride {stride}" + (", depthwise" if groups > 1 else "")
        f = partial(ra.nn.conv1d, stride=stride, groups=groups)
        out += pair(name, f, partial(conv_padded, stride=stride, groups=groups), (x, w), (padded, w))
    for how, f in (("max", ra.nn.max_pool), ("avg", ra.nn.avg_pool)):
        for size, stride in ((2, 2), (3, 1)):
            ours = partial(_pool, f=f, size=size, stride=stride)
            theirs = partial(pool_padded, how=how, size=size, stride=stride)
            out += pair(f"{how}_pool, size {size}, stride {stride}", ours, theirs, (x,), (padded,))
    logits, classes = ra.asarray(ra.compact(x.to("numpy")), xp="jax"), CHANNELS
    used = int(logits.row_splits[-1])
    y = ra.asarray(
        ra.from_row_splits(rng.integers(0, classes, used).astype(np.int32), np.asarray(x.row_splits)), xp="jax"
    )
    flat, ids = logits.values[:used], y.values[:used]
    ours_ce: Any = lambda v, s, y: ra.nn.cross_entropy(ra.from_row_splits(v, s), y)  # noqa: E731
    out.append(("cross_entropy", (ours_ce, (logits.values, x.row_splits, y)), (entropy_by_hand, (flat, ids))))
    out.append(
        (
            "gradient of cross_entropy",
            (jax.grad(ours_ce), (logits.values, x.row_splits, y)),
            (jax.grad(entropy_by_hand), (flat, ids)),
        )
    )
    table = jnp.asarray(rng.standard_normal((50_000, 64)).astype(np.float32))
    lengths = rng.integers(0, 128, 1024)
    bags = ra.asarray(ra.from_row_lengths(rng.integers(0, 50_000, lengths.sum()).astype(np.int32), lengths), xp="jax")
    ours_bag: Any = lambda t, i: ra.nn.embedding_bag(i, t)  # noqa: E731
    out += pair("embedding_bag, mean", ours_bag, bag_by_hand, (table, bags), (table, bags.values, bags.row_splits))
    return out


def _pool(x: Any, *, f: Any, size: int, stride: int) -> Any:
    return f(x, size, stride=stride)


def rows() -> list[tuple[str, str, str, float, float]]:
    """Case, time of ours and of the other side in ms, ratio of times, ratio of memory."""
    out = []
    for name, (f, fargs), (g, gargs) in cases():
        jf, jg = jax.jit(f), jax.jit(g)
        a, b = seconds(partial(jf, *fargs), partial(jg, *gargs), rounds=9)
        ours, theirs = temporary_bytes(f, *fargs), temporary_bytes(g, *gargs)
        out.append((name, f"{a * 1e3:.2f}", f"{b * 1e3:.2f}", a / b, ours / theirs))
    return out


if __name__ == "__main__":
    for row in rows():
        print(*row)
