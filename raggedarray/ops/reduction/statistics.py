"""Order statistics: reductions that sort.

Axes, ``keepdims``, ``where`` and ``length`` are as in `raggedarray.ops.reduction`. Integers and bools give the default
float; halves give halves. A group with nothing in it gives NaN, one with a NaN NaN. The gradient goes to
the one or two elements that the result lies between.
"""

from math import prod
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._typing import Array, Axis
from ...backends import Segments, generic, implementation, is_array, kernels, kind, namespace
from ...engine.arguments import is_scalar
from ...engine.axes import normal_axes
from ...engine.rearrange.rows import array_of
from ...engine.reduce import Frame, accumulator, run
from ...structure.checks import require
from ...structure.levels import splits_of, used_slots
from ..manipulation.joining import stack

__all__ = ["median", "quantile"]


def median(
    x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """Middle element, or the mean of the two: ``[nrows, (len), *inner]`` over axis 1 to ``[nrows, *inner]``.

    >>> median(ragged([[1.0, 3.0, 2.0], [], [5.0, 4.0]]), axis=1)
    array([2. , nan, 4.5])
    """
    return _order(x, 0.5, axis, keepdims, where, length)


def quantile(
    x: Any, q: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """Element at the share ``q`` of the way from the smallest to the largest, interpolated linearly.

    ``q`` is a number from 0 to 1, or a 1-D array of them, which adds a leading axis to the result.
    ``[nrows, (len), *inner]`` over axis 1 gives ``[nrows, *inner]``.

    >>> quantile(ragged([[1.0, 3.0, 2.0], [], [5.0, 4.0]]), 0.25, axis=1)
    array([1.5 ,  nan, 4.25])
    """
    return _order(x, q, axis, keepdims, where, length)


def _order(x: Any, q: Any, axis: Axis, keepdims: bool, where: Any, length: int | None) -> Any:
    x = array_of(x)
    values = x.values if isinstance(x, RaggedArray) else x
    if kind(values.dtype) == "complex":
        raise TypeError(error_text("real values", f"dtype {values.dtype}", "Take it of `ra.abs(x)`, say."))
    q = _shares(q, kernels(values))
    if isinstance(q, tuple):
        parts = [_order(x, share, axis, keepdims, where, length) for share in q or (0.5,)]
        out = stack(parts)
        return out if q else out[:0]
    if isinstance(x, RaggedArray):
        options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
        return run(_quantile, x, q, **options) if is_array(q) else run(_quantile, x, **options, share=q)
    if length is not None:
        raise ValueError(error_text("no length= for a plain array", str(length), "Drop it."))
    return kernels(x).call(_dense, x, q, where, axes=normal_axes(axis, x.ndim), keepdims=keepdims)


def _shares(q: Any, k: Any) -> Any:
    """``q`` as a number, a 0-d array, or a tuple of these; checked where it can be read."""
    if isinstance(q, list | tuple) or (is_array(q) and q.ndim == 1):
        return tuple(_shares(q[i], k) for i in range(len(q)))
    if is_array(q):
        if q.ndim:
            raise ValueError(error_text("q of one axis or none", f"shape {tuple(q.shape)}", "Flatten it."))
        if not kernels(q).is_concrete(q):
            fine = require((q >= 0) & (q <= 1), "q from 0 to 1", "{q}", "Divide percentages by 100.", q=q)
            return namespace(q).where(fine, q, namespace(q).full_like(q, float("nan")))
        q = float(q)
    if not is_scalar(q):
        raise TypeError(error_text("q from 0 to 1", type(q).__name__, "Pass a number, or several in an array."))
    if not 0 <= q <= 1:
        raise ValueError(error_text("q from 0 to 1", str(q), "Divide percentages by 100."))
    return float(q)


def _quantile(f: Frame, v: Array, where: Array | None, q: Any = None, *, share: float | None = None) -> Array:
    k, xp = f.kernels, f.xp
    q = q if share is None else share
    shape = tuple(1 if a in f.axes.inner else n for a, n in enumerate(v.shape))[1:]
    v, where, out = _prepared(v, where)
    splits: Array
    if f.groups is None and not f.whole:
        v, where = (None if a is None else _first(a, f.axes.inner) for a in (v, where))
        return xp.astype(xp.reshape(_columns(v, q, where), (f.x.capacity, *shape)), out, copy=False)
    if f.whole:
        splits = splits_of(xp.reshape(used_slots(f.x.partitions), (1,)))
    elif f.groups is not None and f.groups.segments.splits is not None:
        splits = f.groups.segments.splits
    else:
        assert f.groups is not None
        ids = f.groups.segments.ids
        assert ids is not None
        counts = k.segment_reduce("sum", xp.ones_like(ids), Segments(f.groups.segments.num, ids=ids))
        order, splits = xp.argsort(ids, stable=True), splits_of(counts)
        v, where = k.pick(v, order), None if where is None else k.pick(where, order)
    v, where = _flat(v, f.axes.inner), where if where is None else _flat(where, f.axes.inner)
    splits = splits * _size(f.x.values.shape, f.axes.inner)
    segments = Segments(splits.shape[0] - 1, splits=splits)
    lost = k.segment_reduce("sum", xp.astype(_counted(xp.isnan(v), where), xp.int32), segments)
    if where is None:
        n = xp.astype(splits[1:] - splits[:-1], xp.int32)
        n = xp.broadcast_to(xp.reshape(n, (n.shape[0], *(1,) * (v.ndim - 1))), lost.shape)
    else:
        n = k.segment_reduce("sum", xp.astype(where, xp.int32), segments)
        v = xp.where(where, v, xp.asarray(float("nan"), dtype=v.dtype))
    starts = xp.reshape(splits[:-1], (segments.num, *(1,) * (v.ndim - 1)))
    quantiles = _between(implementation(k, generic.segment_sort)(v, splits, longest=None), starts, n, lost, q)
    return xp.astype(xp.reshape(quantiles, (segments.num, *shape)), out, copy=False)


def _prepared(v: Array, where: Array | None) -> tuple[Array, Array | None, Any]:
    """Values in the dtype to work in, ``where`` for each of them, and the dtype of the result."""
    xp, wide = namespace(v), accumulator(v, "float")
    out = v.dtype if kind(v.dtype) == "float" else wide
    return xp.astype(v, wide, copy=False), where if where is None else xp.broadcast_to(where, v.shape), out


def _counted(mask: Array, where: Array | None) -> Array:
    return mask if where is None else mask & where


def _size(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    return prod(shape[a] for a in axes)


def _first(v: Array, axes: tuple[int, ...]) -> Array:
    """Reduced axes merged into a first one."""
    keep = tuple(a for a in range(v.ndim) if a not in axes)
    xp = namespace(v)
    return xp.reshape(xp.permute_dims(v, (*axes, *keep)), (_size(v.shape, axes), *(v.shape[a] for a in keep)))


def _flat(v: Array, axes: tuple[int, ...]) -> Array:
    """Reduced inner axes merged into the flat one."""
    keep = tuple(a for a in range(1, v.ndim) if a not in axes)
    xp = namespace(v)
    shape = (v.shape[0] * _size(v.shape, axes), *(v.shape[a] for a in keep))
    return xp.reshape(xp.permute_dims(v, (0, *axes, *keep)), shape)


def _columns(v: Array, q: Any, where: Array | None) -> Array:
    """The quantile along the first axis: ``[n, *item]`` to ``[*item]``."""
    xp = namespace(v)
    shape = (1, *v.shape[1:])
    lost = xp.sum(xp.astype(_counted(xp.isnan(v), where), xp.int32), axis=0, keepdims=True, dtype=xp.int32)
    if where is None:
        n = xp.full(shape, v.shape[0], dtype=xp.int32)
    else:
        n = xp.sum(xp.astype(where, xp.int32), axis=0, keepdims=True, dtype=xp.int32)
        v = xp.where(where, v, xp.asarray(float("nan"), dtype=v.dtype))
    starts = xp.zeros((1,) * v.ndim, dtype=xp.int32)
    return _between(xp.sort(v, axis=0, stable=True), starts, n, lost, q)[0, ...]


def _between(ordered: Array, starts: Array, n: Array, lost: Array, q: Any) -> Array:
    """Interpolate in sorted groups: ``[slots, *item]`` to the shape of ``n``, ``[groups, *item]``."""
    xp, k = namespace(ordered), kernels(ordered)
    wide = k.dtype("float64")
    nan = xp.asarray(float("nan"), dtype=ordered.dtype)
    at = xp.astype(xp.maximum(n - 1, xp.zeros_like(n)), wide) * q
    low = xp.astype(xp.floor(at), n.dtype)
    share = xp.astype(at - xp.astype(low, wide), ordered.dtype)
    high = xp.minimum(low + 1, xp.maximum(n - 1, xp.zeros_like(n)))
    padded = xp.concat((ordered, xp.broadcast_to(nan, (1, *ordered.shape[1:]))))  # read where a group is empty
    good = (n > 0) & (lost == 0)

    def read(offset: Array) -> Array:
        index = xp.where(good, starts + offset, xp.asarray(ordered.shape[0], dtype=starts.dtype))
        return xp.take_along_axis(padded, index, axis=0)

    whole = share == 0
    safe = xp.where(whole, xp.asarray(0.5, dtype=share.dtype), share)
    a = read(low)
    b = xp.where(whole, a, read(high))
    mixed = xp.where(whole, a, a * (1 - safe) + b * safe)  # inf * 0 is NaN, so not for a share of 0
    return xp.where(good, mixed, nan)


def _dense(x: Array, q: Any, where: Array | None, *, axes: tuple[int, ...], keepdims: bool) -> Array:
    xp = namespace(x)
    kept = tuple(1 if a in axes else n for a, n in enumerate(x.shape) if keepdims or a not in axes)
    v, where, out = _prepared(x, None if where is None else xp.asarray(where))
    quantiles = _columns(_first(v, axes), q, where if where is None else _first(where, axes))
    return xp.astype(xp.reshape(quantiles, kept), out, copy=False)
