"""Components under levels as nested lists of NumPy arrays: what indexing and joining them means, one list at a time.

A model is a list for each level and a component, an array, at the bottom. A `Case` is a model and the RaggedArray
that holds the same.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import raggedarray as ra
from raggedarray import RaggedArray

LEVELS = {"flat": 1, "uniform": 2, "deep uniform": 3, "rows": 2, "rows of pairs": 3, "pairs of rows": 3}
"""How many axes are not those of components: axis 0 alone, or uniform axes, ragged ones, both behind it."""
KINDS = tuple(LEVELS)


class Case(NamedTuple):
    """The same twice: ``levels`` lists one in the other, with arrays in the innermost."""

    x: RaggedArray
    model: list[Any]
    levels: int


def shapes_of(rng: np.random.Generator, kind: str, empty: bool = True) -> Any:
    """Nested lists of component shapes for this kind of levels."""

    def shape() -> tuple[int, int]:
        return tuple(int(n) for n in rng.integers(0 if empty else 1, 4, size=2))  # type: ignore[return-value]

    def many(n: int, of: Callable[[], Any]) -> list[Any]:
        return [of() for _ in range(n)]

    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    if kind == "flat":
        return many(n, shape)
    if kind == "uniform":
        return many(n, lambda: many(m, shape))
    if kind == "deep uniform":
        return many(n, lambda: many(2, lambda: many(m, shape)))
    if kind == "rows":
        return many(n, lambda: many(int(rng.integers(0 if empty else 1, 4)), shape))
    if kind == "rows of pairs":
        return many(n, lambda: many(int(rng.integers(0 if empty else 1, 3)), lambda: many(2, shape)))
    return many(n, lambda: many(2, lambda: many(int(rng.integers(0 if empty else 1, 3)), shape)))


def filled(rng: np.random.Generator, shapes: Any, inner: tuple[int, ...]) -> Any:
    """The same lists with components of these shapes."""
    if isinstance(shapes, tuple):
        return rng.integers(-50, 50, size=(*shapes, *inner)).astype(np.float32)
    return [filled(rng, s, inner) for s in shapes]


def case_of(model: Any, kind: str, inner: tuple[int, ...], *, strided: bool) -> Case:
    """The model as a RaggedArray on NumPy: packed, or a transposed view between holes."""
    flat = [c for c in leaves(model) if isinstance(c, np.ndarray)]
    stored = [np.moveaxis(c, 0, 1)[:, ::-1] for c in flat] if strided else flat
    blocks = ra.ragged([*stored, np.zeros((0, 0, *inner), "float32")], item_shape=(None, None, *inner))[: len(flat)]
    if strided:
        blocks = ra.moveaxis(blocks, 1, 2)[:, ::-1]
    return Case(_under(blocks, model, kind), model, LEVELS[kind])


def _under(blocks: RaggedArray, model: Any, kind: str) -> RaggedArray:
    """Components one after the other, under the levels of the model."""
    if kind == "flat":
        return blocks
    uniform = {"uniform": [1], "deep uniform": [1, 2]}.get(kind)
    if uniform is not None:
        shape = (len(model), len(model[0])) if kind == "uniform" else (len(model), len(model[0]), len(model[0][0]))
        entries = [int(np.prod(shape[: n + 1])) for n in range(len(shape) - 1)]
        above = [ra.UniformPartition(m, n) for m, n in zip(entries, shape[1:], strict=True)]
    elif kind == "rows":
        above = [_rows([len(r) for r in model])]
    elif kind == "rows of pairs":
        above = [_rows([len(r) for r in model]), ra.UniformPartition(sum(len(r) for r in model), 2)]
    else:
        above = [ra.UniformPartition(len(model), 2), _rows([len(r) for pair in model for r in pair])]
    return RaggedArray(blocks.values, (*above, *blocks.partitions))


def _rows(lengths: list[int]) -> Any:
    return ra.RowPartition(np.cumsum([0, *lengths], dtype=np.int32))


def leaves(model: Any) -> list[np.ndarray]:
    """The components in order."""
    return [model] if isinstance(model, np.ndarray | np.generic) else [c for part in model for c in leaves(part)]


def look(node: Any, levels: int, items: list[Any]) -> Any:
    """``node[items]``, axis by axis."""
    if not levels:
        return look_inside(node, items)
    item, rest = (items[0], items[1:]) if items else (slice(None), [])
    if item is None:
        return [look(node, levels, rest)]
    if isinstance(item, slice):
        return [look(part, levels - 1, rest) for part in node[item]]
    if isinstance(item, np.ndarray) and item.ndim:
        return [look(node, levels, [i, *rest]) for i in item]
    return look(node[int(item)], levels - 1, rest)


def look_inside(component: np.ndarray, items: list[Any]) -> np.ndarray:
    """The key of a component: each index array where its axis was."""
    axis = 0
    for item in items:
        key: Any = (slice(None),) * axis + (item,)
        component = component[key]
        axis += item.ndim if isinstance(item, np.ndarray) else not isinstance(item, int)
    return component


def join(nodes: list[Any], levels: int, axis: int) -> Any:
    """The models end to end along ``axis``."""
    if levels and axis == 0:
        return [part for node in nodes for part in node]
    if levels:
        return [join(list(parts), levels - 1, axis - 1) for parts in zip(*nodes, strict=True)]
    return np.concatenate(nodes, axis=axis)


def counted(model: Any, start: int = 0) -> Any:
    """The same lists of components whose elements are numbers, from ``start`` on, no two the same."""
    if isinstance(model, np.ndarray):
        return np.arange(start, start + model.size, dtype=model.dtype).reshape(model.shape)
    out = []
    for part in model:
        out.append(counted(part, start))
        start += sum(c.size for c in leaves(part))
    return out


def replaced(model: Any, chosen: np.ndarray, value: float) -> Any:
    """The model with ``value`` for each element that is one of the chosen."""
    if isinstance(model, np.ndarray):
        return np.where(np.isin(model, chosen), np.asarray(value, model.dtype), model)
    return [replaced(part, chosen, value) for part in model]


def same(got: Any, want: Any) -> None:
    """Assert that an array holds what a model says."""
    if isinstance(want, list):
        if isinstance(got, RaggedArray):
            got = got.to("numpy").unbind()
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
        return
    assert not isinstance(got, RaggedArray) or got.ndim == want.ndim
    if isinstance(got, RaggedArray):
        same(got, list(want))
        return
    assert tuple(got.shape) == tuple(want.shape), (got.shape, want.shape)
    np.testing.assert_array_equal(np.asarray(got), want)


def valid(x: Any) -> Any:
    """``x``, checked by `validate` if it is ragged."""
    if isinstance(x, RaggedArray):
        ra.validate(x)
    return x
