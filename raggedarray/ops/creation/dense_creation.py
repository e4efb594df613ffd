"""Arrays from shapes, ranges and other arrays, as the array API standard has them.

Functions without an array argument make NumPy arrays. Those with one (``*_like tril triu meshgrid``) stay in its
library; ``*_like tril triu`` of a RaggedArray give one of the same rows and capacity, which is exact on NumPy.
``dtype=`` also takes a name.
"""

from operator import index
from typing import Any, Literal

from ..._array import RaggedArray
from ..._errors import error_text
from ..._signatures import like_first
from ..._typing import Array, DType
from ...backends import backend, kernels, kind, namespace
from ...engine.arguments import sizes_of
from ...engine.host import host_namespace
from ...engine.packing import contiguous
from ...structure.blocks import elements
from ...structure.levels import ancestors, library, parents, positions
from ..array.dtypes import need_kind

__all__ = [
    "arange", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like", "linspace", "meshgrid", "ones",
    "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def _make(name: str, *args: Any, dtype: DType | None, device: Any, **options: Any) -> Array:
    dtype = None if dtype is None else backend("numpy").dtype(dtype)
    return getattr(host_namespace(), name)(*args, dtype=dtype, device=device, **options)


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: DType | None = None, device: Any = None) -> Array:
    """Evenly spaced numbers from ``start`` up to, without, ``stop``: ``[n]``; with one number, from 0.

    >>> arange(2, 8, 3)
    array([2, 5])
    """
    start, stop, step = map(_number, (start, stop, step))
    return _make("arange", *((start,) if stop is None else (start, stop)), step=step, dtype=dtype, device=device)


def _number(x: Any) -> Any:
    """An integer of NumPy, whose dtype may be too narrow for what is counted, as a Python one; others as they are."""
    try:
        return index(x)
    except TypeError:
        return x


def empty(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Any = None) -> Array:
    """An array of this shape whose content is unspecified; the default float dtype.

    >>> empty((2, 3)).shape
    (2, 3)
    """
    return _make("empty", shape, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, device: Any = None
) -> Array:
    """Ones on the diagonal ``k``, zeros elsewhere: ``[n_rows, n_cols]``.

    >>> eye(2, dtype="int8")
    array([[1, 0],
           [0, 1]], dtype=int8)
    """
    return _make("eye", n_rows, n_cols, k=k, dtype=dtype, device=device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: Any = None) -> Array:
    """A NumPy array over the memory of any object with ``__dlpack__``; JAX has its own ``jax.numpy.from_dlpack``.

    >>> from_dlpack(np.ones(2))
    array([1., 1.])
    """
    return host_namespace().from_dlpack(x, device=device, copy=copy)


def full(shape: int | tuple[int, ...], fill_value: Any, *, dtype: DType | None = None, device: Any = None) -> Array:
    """An array of this shape, all ``fill_value``, in the default dtype of its kind.

    >>> full((2,), 7)
    array([7, 7])
    """
    if dtype is not None:
        need_kind(fill_value, backend("numpy").dtype(dtype))
    return _make("full", shape, fill_value, dtype=dtype, device=device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: DType | None = None, device: Any = None, endpoint: bool = True
) -> Array:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, with or without the last.

    >>> linspace(0, 1, 3)
    array([0. , 0.5, 1. ])
    """
    return _make("linspace", start, stop, num, dtype=dtype, device=device, endpoint=endpoint)


def ones(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Any = None) -> Array:
    """An array of this shape, all 1; the default float dtype.

    >>> ones(2)
    array([1., 1.])
    """
    return _make("ones", shape, dtype=dtype, device=device)


def zeros(shape: int | tuple[int, ...], *, dtype: DType | None = None, device: Any = None) -> Array:
    """An array of this shape, all 0; the default float dtype.

    >>> zeros(2)
    array([0., 0.])
    """
    return _make("zeros", shape, dtype=dtype, device=device)


def _like(name: str, x: Any, *args: Any, dtype: DType | None, device: Any) -> Any:
    if not isinstance(x, RaggedArray):
        dtype = None if dtype is None else kernels(x).dtype(dtype)
        return getattr(namespace(x), name)(x, *args, dtype=dtype, device=device)
    x = x.used_values()
    return RaggedArray(_like(name, x.values, *args, dtype=dtype, device=device), x.partitions)


@like_first
def empty_like(x: Any, /, *, dtype: DType | None = None, device: Any = None) -> Any:
    """The same shape or rows, content unspecified.

    >>> empty_like(ragged([[1.0, 2.0], []])).shape
    (2, None)
    """
    return _like("empty_like", x, dtype=dtype, device=device)


@like_first
def full_like(x: Any, /, fill_value: Any, *, dtype: DType | None = None, device: Any = None) -> Any:
    """The same shape or rows, all ``fill_value``. A number that the dtype cannot hold raises `TypeError`.

    >>> full_like(ragged([[1, 2], []]), 7).tolist()
    [[7, 7], []]
    """
    out = x.dtype if dtype is None else kernels(x.values if isinstance(x, RaggedArray) else x).dtype(dtype)
    need_kind(fill_value, out)
    return _like("full_like", x, fill_value, dtype=dtype, device=device)


@like_first
def ones_like(x: Any, /, *, dtype: DType | None = None, device: Any = None) -> Any:
    """The same shape or rows, all 1.

    >>> ones_like(ragged([[1, 2], []])).tolist()
    [[1, 1], []]
    """
    return _like("ones_like", x, dtype=dtype, device=device)


@like_first
def zeros_like(x: Any, /, *, dtype: DType | None = None, device: Any = None) -> Any:
    """The same shape or rows, all 0.

    >>> zeros_like(ragged([[1, 2], []])).tolist()
    [[0, 0], []]
    """
    return _like("zeros_like", x, dtype=dtype, device=device)


def meshgrid(*arrays: Any, indexing: Literal["xy", "ij"] = "xy") -> tuple[Any, ...]:
    """Coordinate arrays of the grid that 1-D arrays span; plain arrays only.

    >>> [a.tolist() for a in meshgrid(np.array([1, 2]), np.array([3]))]
    [[[1, 2]], [[3, 3]]]
    """
    for x in arrays:
        if isinstance(x, RaggedArray):
            raise TypeError(error_text("plain arrays", f"shape {x.shape}", "Use `ra.to_padded(x)`."))
    return tuple(namespace(arrays[0]).meshgrid(*arrays, indexing=indexing)) if arrays else ()


@like_first
def tril(x: Any, /, *, k: int = 0) -> Any:
    """Of each matrix (the last two axes, ragged or not), what is on and below the diagonal ``k``; 0 elsewhere.

    Along a ragged axis the index is the one within the row. The gradient flows to what is kept.

    >>> tril(ragged([[[1, 2], [3, 4]], [[5, 6]]])).tolist()
    [[[1, 0], [3, 4]], [[5, 0]]]
    """
    return _triangle("tril", x, k, True)


@like_first
def triu(x: Any, /, *, k: int = 0) -> Any:
    """Of each matrix (the last two axes, ragged or not), what is on and above the diagonal ``k``; 0 elsewhere.

    Along a ragged axis the index is the one within the row. The gradient flows to what is kept.

    >>> triu(ragged([[[1, 2], [3, 4]], [[5, 6]]])).tolist()
    [[[1, 2], [0, 4]], [[5, 6]]]
    """
    return _triangle("triu", x, k, False)


def _triangle(op: str, x: Any, k: int, lower: bool) -> Any:
    if not isinstance(x, RaggedArray):
        return getattr(namespace(x), op)(x, k=k)
    x, k = contiguous(x).used_values(), sizes_of(k)
    return RaggedArray(x.kernels.call(_kept, x, op=op, k=k, lower=lower), x.partitions)


def _kept(x: RaggedArray, *, op: str, k: int, lower: bool) -> Array:
    xp, inner = x.xp, len(x.inner_shape)
    if inner >= 2:
        return getattr(xp, op)(x.values, k=k)
    at = library(x.partitions, x.values)
    if x.block is not None:
        place = elements(x.block, x.capacity).at
        row = place[-1] if inner else place[-2]
        column = xp.arange(x.inner_shape[0], dtype=at.dtype)[None, :] if inner else place[-1]
    else:
        column = xp.arange(x.inner_shape[0], dtype=at.dtype)[None, :] if inner else _place(x, x.ragged_rank, at)
        row = _place(x, x.ragged_rank if inner else x.ragged_rank - 1, at)
    row = row[:, None] if inner else row
    keep = column - row <= k if lower else column - row >= k
    zero = xp.asarray(False if kind(x.dtype) == "bool" else 0, dtype=x.dtype)
    return xp.where(keep, x.values, zero)


def _place(x: RaggedArray, level: int, like: Array) -> Array:
    """Index along the axis of ``level`` that each slot has; in slack, anything."""
    entry = ancestors(x.partitions, level, x.capacity, like)
    if level == 0:
        return entry
    p = x.partitions[level - 1]
    count = x.partitions[level].nrows if level < x.ragged_rank else x.capacity
    return kernels(like).pick(positions(p, parents(p, count, like)), entry)
