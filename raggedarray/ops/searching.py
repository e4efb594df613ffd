"""Where elements are, and how many: reductions whose result is an index or a count.

Axes, ``keepdims``, ``where`` and ``length`` are as in `raggedarray.ops.reduction`; results have the default
integer dtype.
"""

from typing import Any

from .._array import RaggedArray
from .._errors import complaint
from .._levels import ancestors, library, parents, positions
from .._typing import Array, Axis
from ..backends import kind
from ..backends.generic import identity
from ._reduce import Frame, run
from .reduction import reduce, total

__all__ = ["argmax", "argmin", "count_nonzero"]


def count_nonzero(
    x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """How many elements are true (not zero), as the default integer; an empty row gives 0.

    >>> count_nonzero(ragged([[0, 2], []]), axis=1)
    array([1, 0])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce("count_nonzero", _count_nonzero, x, options=options)


def _count_nonzero(f: Frame, v: Array, where: Array | None) -> Array:
    return total(f, v if kind(v.dtype) == "bool" else v != 0, where, None, dtype=None)


def argmin(
    x: Any, /, *, axis: int | None = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """Index of the first smallest element along one axis (within the row), or of all stored elements; NaN wins.

    Nothing to compare gives -1. The result has the default integer dtype.

    >>> argmin(ragged([[3.0, 1.0], []]), axis=1)
    array([ 1, -1])
    """
    return _arg("argmin", "min", x, axis, keepdims, where, length)


def argmax(
    x: Any, /, *, axis: int | None = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """Index of the first largest element along one axis (within the row), or of all stored elements; NaN wins.

    Nothing to compare gives -1. The result has the default integer dtype.

    >>> argmax(ragged([[3.0, 1.0], []]), axis=1)
    array([ 0, -1])
    """
    return _arg("argmax", "max", x, axis, keepdims, where, length)


def _arg(op: str, how: str, x: Any, axis: int | None, keepdims: bool, where: Any, length: int | None) -> Any:
    if isinstance(axis, tuple):
        raise TypeError(complaint(op, "one axis or None", str(axis), "Reduce one axis at a time."))
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    if not isinstance(x, RaggedArray):
        return reduce(op, _best, x, options=options)
    if kind(x.dtype) == "complex":
        raise TypeError(complaint(op, "real values", f"dtype {x.dtype}", "Compare `ra.abs(x)`."))
    return run(op, _best, x, **options, how=how)


def _best(f: Frame, v: Array, where: Array | None, *, how: Any) -> Array:
    xp, out = f.xp, f.kernels.dtype("int64", v)
    v = xp.astype(v, xp.uint8) if kind(v.dtype) == "bool" else v
    nothing = xp.asarray(identity(how, v.dtype, xp), dtype=v.dtype)
    best = f.reduce(how, v if where is None else xp.where(where, v, nothing))
    hit = v == f.spread(best)
    hit = hit | xp.isnan(v) if kind(v.dtype) == "float" else hit
    hit = hit if where is None else hit & where
    at = xp.astype(xp.broadcast_to(_coordinate(f, v), v.shape), out)
    far = xp.asarray(xp.iinfo(out).max, dtype=out)
    first = f.reduce("min", xp.where(hit, at, far))
    return xp.where(first == far, xp.asarray(-1, dtype=out), first)


def _coordinate(f: Frame, v: Array) -> Array:
    """Index of each element along the reduced axis, or among all stored elements."""
    xp, x = f.xp, f.x
    if len(f.axes.levels) + len(f.axes.inner) != 1:
        count = 1
        for n in v.shape:
            count *= n
        return xp.reshape(xp.arange(count), v.shape)
    if f.axes.inner:
        (axis,) = f.axes.inner
        return xp.reshape(xp.arange(v.shape[axis]), tuple(n if i == axis else 1 for i, n in enumerate(v.shape)))
    like, level = library(x.partitions, v), f.axes.levels[0]
    at = ancestors(x.partitions, level, x.capacity, like)
    if level:
        p = x.partitions[level - 1]
        count = x.partitions[level].nrows if level < x.ragged_rank else x.capacity
        at = f.kernels.pick(positions(p, parents(p, count, like)), at)
    return xp.reshape(at, (x.capacity, *(1,) * (v.ndim - 1)))
