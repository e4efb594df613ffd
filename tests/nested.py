"""Ragged data as nested lists of NumPy arrays, and reductions over any axes of them, by loops."""

from collections.abc import Callable
from itertools import chain, combinations, pairwise
from typing import Any, NamedTuple

import numpy as np

import raggedarray as ra
from raggedarray import RaggedArray


class Layout(NamedTuple):
    """Row lengths at each level, outermost first; an int is the length of a uniform level."""

    nrows: int
    levels: tuple[Any, ...]
    inner: tuple[int, ...] = ()

    @property
    def ndim(self) -> int:
        return 1 + len(self.levels) + len(self.inner)


FLAT = [Layout(5, (n,)) for n in ([3, 0, 2, 1, 0], [0] * 5, [0, 0, 4, 0, 5], [2] * 5, [9, 0, 0, 0, 0])]
INNER = [f._replace(inner=(2,)) for f in FLAT[:3]]
DOUBLE = [
    Layout(3, ([2, 0, 1], [2, 0, 3])),
    Layout(3, ([0, 0, 0], [])),
    Layout(3, ([0, 3, 1], [0, 4, 0, 2])),
    Layout(3, ([1, 1, 1], [2, 2, 2])),
]
MIXED = [Layout(3, ([2, 0, 1], 2, [1, 0, 3, 2, 0, 2])), Layout(3, ([0, 0, 2], 2, [0, 0, 1, 0]))]
LEADING = [Layout(2, (3, [2, 0, 1, 0, 3, 1]))]
TRIPLE = [Layout(2, ([2, 1], [1, 2, 0], [2, 0, 3])), Layout(2, ([0, 2], [0, 3], [1, 1, 2]))]
EDGE = [Layout(0, ([],)), Layout(1, ([4],)), Layout(1, ([0],)), Layout(0, ([], [])), Layout(3, ([0, 1, 0], [2]), (0,))]
STRUCTURES = {"flat": FLAT, "inner": INNER, "double": DOUBLE, "mixed": MIXED, "leading": LEADING, "triple": TRIPLE}


def total(layout: Layout) -> int:
    entries = layout.nrows
    for level in layout.levels:
        entries = entries * level if isinstance(level, int) else int(np.sum(level, dtype=int))
    return entries


def values_for(layout: Layout, dtype: str, low: float, high: float, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shape = (total(layout), *layout.inner)
    if dtype == "bool":
        return rng.random(shape) > 0.5
    if dtype == "int32":
        return rng.integers(int(low), int(high) + 1, shape).astype(dtype)
    if dtype.startswith("complex"):
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    return rng.uniform(low, high, shape).astype(dtype)


def make(layout: Layout, values: np.ndarray) -> RaggedArray:
    """The NumPy-backed RaggedArray of a layout."""
    partitions: tuple[Any, ...] = ()
    entries = layout.nrows
    for level in layout.levels:
        if isinstance(level, int):
            partitions, entries = (*partitions, ra.UniformPartition(entries, level)), entries * level
        else:
            splits = np.concatenate(([0], np.cumsum(level))).astype(np.int32)
            partitions, entries = (*partitions, ra.RowPartition(splits)), int(splits[-1])
    return ra.validate(RaggedArray(values, partitions))


def nest(layout: Layout, values: np.ndarray) -> list[Any]:
    """Nested lists whose leaves are arrays of the inner shape."""
    items: list[Any] = list(values)
    above = [layout.nrows]  # how many entries each level divides
    for level in layout.levels:
        above.append(above[-1] * level if isinstance(level, int) else int(np.sum(level, dtype=int)))
    for level, count in zip(reversed(layout.levels), reversed(above[:-1]), strict=True):
        lengths = [level] * count if isinstance(level, int) else level
        ends = np.concatenate(([0], np.cumsum(lengths))).astype(int)
        items = [items[a:b] for a, b in pairwise(ends)]
    return items


def reduce_nested(
    f: Callable[..., Any],
    layout: Layout,
    values: np.ndarray,
    axes: tuple[int, ...],
    keepdims: bool,
    indexed: bool = False,
) -> Any:
    """``f`` of the elements of every group, in nested lists of the result's structure.

    A group along kept axes holds the elements whose coordinates agree there; rows are left-aligned. With
    ``indexed``, ``f`` also gets the coordinate of each element along the one reduced axis.
    """
    depth, flat = len(layout.levels) + 1, len(axes) == layout.ndim
    order = np.arange(values.size).reshape(values.shape)
    both = nest(layout, np.stack([values.astype(object), order.astype(object)], axis=-1))

    def build(nodes: list[tuple[int, Any]], level: int) -> Any:
        if level == depth:
            return leaf(nodes)
        if level in axes:
            below = [(i if len(axes) == 1 else at, child) for at, node in nodes for i, child in enumerate(node)]
            return [build(below, level + 1)] if keepdims else build(below, level + 1)
        known = layout.nrows if level == 0 else layout.levels[level - 1]
        n = known if isinstance(known, int) else builtin_max((len(node) for _, node in nodes))
        return [build([(at, node[i]) for at, node in nodes if i < len(node)], level + 1) for i in range(n)]

    def leaf(nodes: list[tuple[int, Any]]) -> Any:
        group = np.stack([node for _, node in nodes]) if nodes else np.zeros((0, *layout.inner, 2), dtype=object)
        inner_axes = tuple(a - depth + 1 for a in axes if a >= depth)
        moved = np.moveaxis(group, inner_axes, range(1, 1 + len(inner_axes))) if inner_axes else group
        kept = moved.shape[1 + len(inner_axes) : -1]
        rows = moved.reshape(int(np.prod(moved.shape[: 1 + len(inner_axes)])), *kept, 2)
        first = np.array([at for at, _ in nodes])
        out = np.empty(kept, dtype=object)
        for k in np.ndindex(*kept):
            v = np.array([x for x in rows[(slice(None), *k, 0)]], dtype=values.dtype)
            at = rows[(slice(None), *k, 1)].astype(int) if flat else first if not inner_axes else np.arange(len(v))
            out[k] = f(v, at) if indexed else f(v)
        shape = tuple(1 if a + depth - 1 in axes else n for a, n in enumerate(layout.inner, 1)) if keepdims else kept
        return out.reshape(shape).tolist() if shape else out[()]

    return build([(0, both)], 0)


def builtin_max(items: Any) -> int:
    return max(items, default=0)


def axis_sets(ndim: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(ndim), n) for n in range(1, ndim + 1)))


def assert_nested(got: Any, want: Any, rtol: float = 2e-5, atol: float = 2e-5) -> None:
    """Structure and values of a result against nested lists."""
    items = got.tolist() if hasattr(got, "tolist") else np.asarray(got).tolist()
    _assert_same(items, want, rtol, atol, "")


def _assert_same(got: Any, want: Any, rtol: float, atol: float, where: str) -> None:
    if isinstance(want, list):
        assert isinstance(got, list) and len(got) == len(want), f"at {where or 'top'}: {got} against {want}"
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            _assert_same(g, w, rtol, atol, f"{where}[{i}]")
        return
    np.testing.assert_allclose(got, np.asarray(want).item(), rtol=rtol, atol=atol, equal_nan=True, err_msg=where)
