"""Pools: the largest element or the mean of each window along an axis, or of each whole row.

Windows stop at the ends of a row, as those of `conv1d` do, and the same paddings are offered; padding never wins
and is never counted. Gradients of a largest element go to the first of equals, those of a whole row's evenly to all.
"""

from collections.abc import Sequence
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import RowPartition
from .._signatures import like_first
from .._typing import Array, Axis
from ..backends import identity, kernels, kind, namespace
from ..engine.arguments import last_rows
from ..engine.axes import normal_axes
from ..engine.broadcast.rows import move_to
from ..engine.options import operand
from ..engine.reduce import Frame, accumulator, run
from ..structure.levels import column
from ._windows import UNROLLED, Window, dense_taps, taps, window, with_rows_of

__all__ = ["avg_pool", "global_avg_pool", "global_max_pool", "max_pool"]


@like_first
def max_pool(x: Any, size: int, /, *, stride: int | None = None, axis: int = 1, padding: str = "VALID") -> Any:
    """Largest element of each window: ``[nrows, (len), *inner]`` to ``[nrows, (windows), *inner]``, same dtype.

    ``axis`` is the innermost ragged axis, or an inner one; the stride is the window's size unless given. How many
    windows a row has, and the capacity, are as in `conv1d`: with ``"VALID"`` a row shorter than the window has
    none. An empty row stays empty. NaN wins. Plain arrays too.

    >>> max_pool(ragged([[1.0, 3.0, 2.0, 5.0, 4.0], [], [6.0]]), 2).tolist()
    [[3.0, 5.0], [], []]
    >>> max_pool(ragged([[1.0, 3.0, 2.0], [], [6.0]]), 2, padding="SAME").tolist()
    [[3.0, 2.0], [], [6.0]]
    """
    return _pool(x, size, stride, axis, padding, "max")


@like_first
def avg_pool(x: Any, size: int, /, *, stride: int | None = None, axis: int = 1, padding: str = "VALID") -> Any:
    """Mean of each window: ``[nrows, (len), *inner]`` to ``[nrows, (windows), *inner]``.

    As `max_pool`; padding is not counted, so every mean is over elements of the row. Integers give the default
    float, halves are summed in float32.

    >>> avg_pool(ragged([[1.0, 3.0, 2.0, 5.0, 4.0], [], [6.0]]), 2).tolist()
    [[2.0, 3.5], [], []]
    """
    return _pool(x, size, stride, axis, padding, "mean")


def _pool(x: Any, size: Any, stride: Any, axis: int, padding: str, how: str) -> Any:
    w = window(size, size if stride is None else stride, 1, padding)
    (a,) = normal_axes(axis, operand(x).ndim)
    if kind(x.dtype) in ("complex", "bool"):
        raise TypeError(error_text("integers or floats", f"dtype {x.dtype}", "Convert the values."))
    if not isinstance(x, RaggedArray):
        return kernels(x).call(_dense, x, axis=a, w=w, how=how)
    x = move_to(x.kernels, x).used_values()
    if a > x.depth:
        return RaggedArray(x.kernels.call(_dense, x.values, axis=a - x.depth, w=w, how=how), x.partitions)
    p = last_rows(x)
    if a != x.ragged_rank:
        raise ValueError(error_text(f"axis={x.ragged_rank} or an inner one", f"{a}", "Pool the innermost rows."))
    values, splits = x.kernels.call(_ragged, x.values, p, w=w, how=how)
    return with_rows_of(x, values, splits)


def _dense(v: Array, *, axis: int, w: Window, how: str) -> Array:
    xp = namespace(v)
    if how == "max":
        return _largest(dense_taps(v, axis, w, identity("max", v.dtype, xp))[0])
    wide = xp.astype(v, accumulator(v, "float"), copy=False)
    each, sizes = dense_taps(wide, axis, w, 0)
    shape = tuple(len(sizes) if i == axis else 1 for i in range(v.ndim))
    return _mean(_sum(each), xp.reshape(xp.asarray(sizes, dtype=wide.dtype), shape), v)


def _ragged(v: Array, p: RowPartition, *, w: Window, how: str) -> tuple[Array, Array | None]:
    xp = namespace(v)
    long = w.size > UNROLLED
    if how == "max":
        columns = taps(v, p, w, identity("max", v.dtype, xp))
        best = _largest_of_many(columns.every) if long else _largest(columns.places())
        return columns.finish(best), columns.splits
    wide = xp.astype(v, accumulator(v, "float"), copy=False)
    columns = taps(wide, p, w, 0)
    total = xp.sum(columns.every, axis=1, dtype=wide.dtype) if long else _sum(columns.places())
    return columns.finish(_mean(total, column(xp.astype(columns.elements(), wide.dtype), v), v)), columns.splits


def _largest(each: Sequence[Array]) -> Array:
    best = each[0]
    xp = namespace(best)
    for tap in each[1:]:
        wins = tap > best
        best = xp.where(wins | xp.isnan(tap) if kind(tap.dtype) == "float" else wins, tap, best)
    return best


def _largest_of_many(every: Array | None) -> Array:
    assert every is not None
    xp = namespace(every)
    at = xp.expand_dims(xp.argmax(every, axis=1), axis=1)  # the first of equals, and NaN
    return xp.squeeze(xp.take_along_axis(every, at, axis=1), axis=1)


def _sum(each: Sequence[Array]) -> Array:
    total = each[0]
    for tap in each[1:]:
        total = total + tap
    return total


def _mean(total: Array, count: Array, original: Array) -> Array:
    out = total / count
    return namespace(original).astype(out, original.dtype if kind(original.dtype) == "float" else out.dtype, copy=False)


def global_max_pool(x: Any, /, *, axis: Axis = 1, length: int | None = None) -> Any:
    """Largest element of each row: ``[nrows, (len), *inner]`` to ``[nrows, *inner]``; an empty row gives 0.

    `raggedarray.max` but for empty rows, which a network had better not see as ``-inf``; their gradient is 0. ``axis``
    may be any, or several, and ``length`` is that of the columns that axis 0 leaves, as there. Plain arrays too.

    >>> global_max_pool(ragged([[1.0, -2.0], [], [-3.0]]))
    array([ 1.,  0., -3.])
    """
    return _global(x, axis, length, "max")


def global_avg_pool(x: Any, /, *, axis: Axis = 1, length: int | None = None) -> Any:
    """Mean of each row: ``[nrows, (len), *inner]`` to ``[nrows, *inner]``; an empty row gives 0.

    `raggedarray.mean` but for empty rows, which are NaN there; their gradient is 0.

    >>> global_avg_pool(ragged([[1.0, 2.0], [], [-3.0]]))
    array([ 1.5,  0. , -3. ])
    """
    return _global(x, axis, length, "mean")


def _global(x: Any, axis: Axis, length: int | None, how: str) -> Any:
    if kind(operand(x).dtype) in ("complex", "bool"):
        raise TypeError(error_text("integers or floats", f"dtype {x.dtype}", "Convert the values."))
    if isinstance(x, RaggedArray):
        return run(_global_body, x, axis=axis, keepdims=False, length=length, how=how)
    return kernels(x).call(_global_dense, x, axes=normal_axes(axis, x.ndim), how=how)


def _global_body(f: Frame, v: Array, where: Array | None, *, how: str) -> Array:
    xp = f.xp
    n = f.count(v, None, xp.int32)
    wide = v if how == "max" else xp.astype(v, accumulator(v, "float"), copy=False)
    out = f.reduce("max" if how == "max" else "sum", wide)
    if how == "mean":
        out = out / xp.astype(xp.where(n > 0, n, xp.ones_like(n)), out.dtype)
    out = xp.where(n > 0, out, xp.zeros_like(out))
    return xp.astype(out, v.dtype if how == "max" or kind(v.dtype) == "float" else out.dtype, copy=False)


def _global_dense(v: Array, *, axes: tuple[int, ...], how: str) -> Array:
    xp = namespace(v)
    if any(v.shape[a] == 0 for a in axes):
        dtype = v.dtype if how == "max" or kind(v.dtype) == "float" else accumulator(v, "float")
        return xp.zeros(tuple(n for a, n in enumerate(v.shape) if a not in axes), dtype=dtype)
    if how == "max":
        return xp.max(v, axis=axes)
    wide = xp.mean(xp.astype(v, accumulator(v, "float"), copy=False), axis=axes)
    return xp.astype(wide, v.dtype if kind(v.dtype) == "float" else wide.dtype, copy=False)
