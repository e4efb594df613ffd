"""Every op that indexes, moves, sorts, scans or draws: vmapped as alone on NumPy, its gradient as finite differences.

One table of recipes. Slack is poisoned, and its gradient must be 0.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray
from raggedarray.ops import (
    gathering,
    joining,
    masking,
    merging,
    random,
    rearranging,
    repeating,
    reshaping,
    rows,
    scan,
    searching,
    sets,
    sorting,
    statistics,
)  # fmt: skip

FAMILIES = (
    gathering, joining, masking, merging, rearranging, repeating, reshaping, rows, scan, searching, sets, sorting,
    statistics,
)  # fmt: skip
KEY = jax.random.key(3)
ROW = np.array([[1.0], [2.0], [3.0]], np.float32)
MASK = np.array([True, False, True])
Recipe = Callable[[RaggedArray], Any]

FLAT: dict[str, Recipe] = {
    "getitem:slices": lambda x: (x[:, ::-1], x[:, 1:3], x[1:], x[::-1]),
    "getitem:new": lambda x: x[:, None, :2],
    "getitem:rows": lambda x: x[np.array([2, 0])],
    "getitem:mask": lambda x: x[x > 0.1],
    "at.get": lambda x: x.at[:, 0].get(fill_value=0.0),
    "at.set": lambda x: x.at[:, 1:].set(7.0),
    "at.add": lambda x: x.at[np.array([0, 2])].add(x[np.array([0, 2])]),
    "at.multiply": lambda x: x.at[x > 0].multiply(3.0),
    "at.min": lambda x: x.at[1].min(0.25),
    "at.max": lambda x: x.at[:, -2:].max(0.25),
    "take": lambda x: ra.take(x, np.array([2, 0, 2]), capacity=24),
    "gather": lambda x: ra.gather(x, ra.argsort(x), batch_dims=1),
    "take_along_axis": lambda x: ra.take_along_axis(x, ra.argsort(x, descending=True), axis=1),
    "boolean_mask": lambda x: (ra.boolean_mask(x, x < 0.3), ra.boolean_mask(x, MASK)),
    "boolean_mask:traced": lambda x: ra.boolean_mask(x, x.row_lengths() > 1, size=3),
    "nonzero": lambda x: ra.nonzero(x > 0, size=8),
    "row": lambda x: ra.row(x, 0, length=8),
    "row_item": lambda x: (ra.row_item(x, 1, fill_value=0.0), ra.row_item(x, x.row_lengths() // 2, fill_value=0.0)),
    "first": lambda x: ra.first(x, fill_value=0.0),
    "last": lambda x: ra.last(x, fill_value=0.0),
    "narrow": lambda x: ra.narrow(x, 1, x.row_lengths() // 3, x.row_lengths() // 2),
    "sort": lambda x: (ra.sort(x), ra.sort(x, axis=0)),
    "sort:limit": lambda x: ra.sort(x, descending=True, max_length=8),
    "argsort": lambda x: ra.argsort(x),
    "top_k": lambda x: ra.top_k(x, 2),
    "unique_all": lambda x: ra.unique_all(x),
    "unique_counts": lambda x: ra.unique_counts(x),
    "unique_inverse": lambda x: ra.unique_inverse(x),
    "unique_values": lambda x: ra.unique_values(x),
    "isin": lambda x: ra.isin(x > 0, np.array([True])),
    "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=1, reverse=True, include_initial=True),
    "cumulative_prod": lambda x: ra.cumulative_prod(x, axis=1, max_length=8),
    "cumulative_max": lambda x: (ra.cumulative_max(x, axis=1), ra.cumulative_max(x, axis=0)),
    "cumulative_min": lambda x: ra.cumulative_min(x, axis=1, reverse=True),
    "diff": lambda x: ra.diff(x, n=2, prepend=0.5),
    "median": lambda x: ra.median(x, axis=1),
    "quantile": lambda x: ra.quantile(x, np.array([0.3, 0.9]), axis=1, where=x < 1.5),
    "argmax": lambda x: ra.argmax(x, axis=1),
    "argmin": lambda x: ra.argmin(x, axis=1),
    "count_nonzero": lambda x: ra.count_nonzero(x > 0, axis=1),
    "searchsorted": lambda x: ra.searchsorted(ra.sort(x), x),
    "concat": lambda x: (ra.concat([x, 2 * x], axis=1), ra.concat([x, ROW])),
    "stack": lambda x: (ra.stack([x, 2 * x]), ra.stack([x, 2 * x], axis=1), ra.stack([x, 2 * x], axis=-1)),
    "broadcast_arrays": lambda x: ra.broadcast_arrays(x, ROW),
    "broadcast_to": lambda x: ra.broadcast_to(x, (2, 3, None)),
    "expand_dims": lambda x: (ra.expand_dims(x, axis=1), ra.expand_dims(x, axis=2)),
    "squeeze": lambda x: ra.squeeze(ra.expand_dims(x, axis=1), axis=1),
    "flip": lambda x: ra.flip(x),
    "pad": lambda x: ra.pad(x, 1, 2),
    "roll": lambda x: (ra.roll(x, 2, axis=1), ra.roll(x, -1)),
    "sliding_window": lambda x: ra.sliding_window(x, 2),
    "truncate": lambda x: ra.truncate(x, 2),
    "repeat": lambda x: ra.repeat(x, 2, axis=1),
    "repeat:rows": lambda x: ra.repeat(x, x.row_lengths() // 2, axis=0, size=6, capacity=24),
    "pad:rows": lambda x: ra.pad(x, x.row_lengths() // 2, 1, capacity=24),
    "truncate:rows": lambda x: ra.truncate(x, (x.row_lengths() + 1) // 2),
    "repeat:entries": lambda x: ra.repeat(x, ra.astype(x > 0, "int32") * 2, axis=1, capacity=16),
    "isin:rows": lambda x: ra.isin(x > 0.5, x[:, :1] > 0.2),
    "tile": lambda x: ra.tile(x, (2, 2)),
    "flatten": lambda x: ra.flatten(x, size=8),
    "merge_dims": lambda x: ra.merge_dims(x, 0, 1, size=8),
    "split_dims": lambda x: ra.split_dims(x, 0, np.array([0, 2, 3])),
}
INNER: dict[str, Recipe] = {
    "getitem": lambda x: (x[..., ::-1], x[:, :, 1], x[:, ::2, [1, 0]]),
    "take": lambda x: ra.take(x, np.array([1, 0, 1]), axis=2),
    "sort": lambda x: ra.sort(x, axis=1),
    "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=2),
    "concat": lambda x: ra.concat([x, 3 * x], axis=2),
    "unstack": lambda x: ra.unstack(x, axis=2),
    "moveaxis": lambda x: ra.moveaxis(ra.expand_dims(x, axis=3), 3, 2),
    "permute_dims": lambda x: ra.permute_dims(ra.expand_dims(x, axis=3), (0, 1, 3, 2)),
    "reshape": lambda x: ra.reshape(x, (3, None, 2, 1)),
    "with_inner_shape": lambda x: ra.with_inner_shape(x, (1, 2)),
    "merge_dims": lambda x: ra.merge_dims(x, 1, 2),
    "split_dims": lambda x: ra.split_dims(x, 2, np.array([0, 1, 2])),
    "flip": lambda x: ra.flip(x, axis=(1, 2)),
}
NESTED: dict[str, Recipe] = {
    "getitem": lambda x: (x[:, ::-1], x[:, :, :1], x[::-1, :1]),
    "take": lambda x: ra.take(x, np.array([1, 0])),
    "sort": lambda x: ra.sort(x, axis=1),
    "cumulative_sum": lambda x: ra.cumulative_sum(x, axis=2),
    "concat": lambda x: (ra.concat([x, 2 * x], axis=1), ra.concat([x, 2 * x], axis=2)),
    "flip": lambda x: ra.flip(x),
    "pad": lambda x: ra.pad(x, 1, 1, axis=2),
    "repeat": lambda x: ra.repeat(x, 2, axis=1),
    "merge_dims": lambda x: (ra.merge_dims(x, 1, 2), ra.merge_dims(x, 0, 1, size=5)),
    "roll": lambda x: ra.roll(x, 1, axis=1),
}
RANDOM: dict[str, Recipe] = {
    "random.normal": lambda x: ra.random.normal(KEY, x),
    "random.uniform": lambda x: ra.random.uniform(KEY, x),
    "random.bernoulli": lambda x: ra.random.bernoulli(KEY, x),
    "random.randint": lambda x: ra.random.randint(KEY, x, low=0, high=9),
    "random.permutation": lambda x: ra.random.permutation(KEY, x),
}
NO_GRADIENT = {
    "argsort": "indices", "nonzero": "indices", "argmax": "indices", "argmin": "indices", "searchsorted": "indices",
    "count_nonzero": "counts", "isin": "bools", "random.bernoulli": "bools", "random.randint": "integers",
}  # fmt: skip
"""Ops whose results are not inexact, so that there is nothing to differentiate."""

CASES = {f"{name}-{kind}": (f, kind) for kind, table in (("flat", FLAT), ("inner", INNER), ("nested", NESTED),
         ("random", RANDOM)) for name, f in table.items()}  # fmt: skip
LENGTHS: dict[str, list[Any]] = {
    "flat": [[3, 0, 2], [0, 5, 1], [2, 2, 4]],
    "nested": [([2, 0, 1], [2, 0, 3]), ([0, 1, 1], [4, 1]), ([1, 1, 1], [1, 2, 2])],
}


def arrays(kind: str) -> list[RaggedArray]:
    """Three arrays of one structure, with distinct values, on NumPy."""
    rng = np.random.default_rng(0)
    out = []
    for lengths in LENGTHS["nested" if kind == "nested" else "flat"]:
        nested = lengths if kind == "nested" else (lengths,)
        n = int(sum(nested[-1])) * (2 if kind == "inner" else 1)
        values = rng.permutation(np.linspace(-1.0, 2.0, n) + 0.07)
        shaped = values.reshape(-1, 2) if kind == "inner" else values
        out.append(ra.from_nested_row_lengths(shaped, [np.array(length) for length in nested]))
    return out


def on_jax(x: RaggedArray, fill: str = "nan") -> RaggedArray:
    sizes = (8,) if x.ragged_rank == 1 else (5, 8)
    return ra.testing.poison(ra.asarray(x, xp="jax", dtype="float32", capacity=sizes), fill=fill)


def leaves(out: Any) -> list[Any]:
    return [a for part in out for a in leaves(part)] if isinstance(out, tuple) else [out]


def loss(f: Recipe, x: RaggedArray) -> Any:
    """The weighted sum of every inexact result; missing elements, which are NaN, count nothing."""
    total: Any = 0.0
    for out in leaves(f(x)):
        values = out.values if isinstance(out, RaggedArray) else out
        if np.dtype(values.dtype).kind != "f":
            continue
        weighted = ra.map_values(_weighted, out) if isinstance(out, RaggedArray) else _weighted(out)
        total = total + ra.sum(weighted)
    return total


def _weighted(v: Any) -> Any:
    xp = ra.backends.namespace(v)
    weights = np.cos(1 + np.arange(v.size, dtype=np.float64)).reshape(v.shape)
    return xp.where(xp.isnan(v), xp.zeros_like(v), v) * xp.asarray(weights, dtype=v.dtype)


def same(got: Any, want: Any) -> None:
    for a, b in zip(leaves(got), leaves(want), strict=True):
        assert isinstance(a, RaggedArray) == isinstance(b, RaggedArray)
        if isinstance(a, RaggedArray):
            a, b = ra.compact(a.to("numpy")), ra.compact(b.to("numpy"))
            for s, t in zip(a.nested_row_splits, b.nested_row_splits, strict=True):
                np.testing.assert_array_equal(s, t)
            a, b = a.values, b.values
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def stack(xs: list[Any]) -> Any:
    return jax.tree.map(lambda *a: jnp.stack(a), *xs)


@pytest.mark.parametrize("case", CASES)
def test_vmap(case: str) -> None:
    f, kind = CASES[case]
    plain = arrays(kind)
    got = jax.jit(jax.vmap(f))(stack([on_jax(x) for x in plain]))
    for i, x in enumerate(plain):
        same(jax.tree.map(lambda a, i=i: a[i], got), f(on_jax(x) if kind == "random" else ra.astype(x, "float32")))


@pytest.mark.parametrize("case", [c for c in CASES if c.rsplit("-", 1)[0].split(":")[0] not in NO_GRADIENT])
def test_gradient(case: str) -> None:
    f, kind = CASES[case]
    plain = arrays(kind)
    filled = [*map(on_jax, plain), on_jax(plain[0], fill="inf")]
    slope = ra.grad(lambda x: loss(f, x))
    grads = list(jax.jit(jax.vmap(slope))(stack(filled)).values)
    np.testing.assert_array_equal(grads[-1], grads[0])
    if kind == "flat":
        alone = jax.jit(slope)
        grads += [alone(x).values for x in filled[:-1]]
        np.testing.assert_array_equal(alone(filled[-1]).values, grads[-3])
        plain += [plain[0], *plain]
    for x, grad in zip(plain, grads, strict=False):
        want = linear(f, x) if kind == "random" else differences(f, x)
        np.testing.assert_allclose(grad[: x.capacity], want, rtol=1e-4, atol=1e-5)
        assert not np.asarray(grad[x.capacity :]).any()


def differences(f: Recipe, x: RaggedArray) -> np.ndarray:
    """Central differences of the NumPy op, in float64."""
    out = np.zeros(x.values.shape)
    for at in np.ndindex(*x.values.shape):
        step = np.zeros(x.values.shape)
        step[at] = 1e-6
        high, low = (loss(f, x.with_values(x.values + sign * step)) for sign in (1, -1))
        out[at] = (high - low) / 2e-6
    return out


def linear(f: Recipe, x: RaggedArray) -> np.ndarray:
    """The gradient of a linear function: its value at each unit vector, less that at 0."""
    zero = on_jax(x.with_values(np.zeros(x.values.shape)))
    one = jax.jit(lambda x: loss(f, x))
    units = np.eye(x.capacity)
    return np.array([one(on_jax(x.with_values(u))) - one(zero) for u in units])


def test_results_without_gradient_are_not_inexact() -> None:
    for name in NO_GRADIENT:
        f, kind = next(CASES[c] for c in CASES if c.rsplit("-", 1)[0] == name)
        x = arrays(kind)[0]
        out = f(on_jax(x) if kind == "random" else x)
        assert all(np.dtype(a.dtype).kind in "iub" for a in leaves(out)), name


def test_the_table_is_whole() -> None:
    known = {c.rsplit("-", 1)[0].split(":")[0] for c in CASES}
    public = {name for module in FAMILIES for name in module.__all__}
    public |= {f"random.{name}" for name in random.__all__}
    public |= {"getitem", *(f"at.{how}" for how in ("get", "set", "add", "multiply", "min", "max"))}
    assert known == public
