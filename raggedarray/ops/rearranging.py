"""Entries reversed, shifted, added, cut off or looked at through windows, along any axis.

Along the rows, a ragged axis or a uniform one between, values are read by one gather; along inner axes these
are the plain array's functions, and views on NumPy where they are there. Rows never mix: what happens along a
ragged axis happens in each row by itself, so an empty row stays empty, but for `pad`. Slack rows stay empty.
Gradients flow to the entries that the result holds.
"""

from collections.abc import Sequence
from operator import index as as_int
from typing import Any

from .._array import RaggedArray
from .._errors import complaint
from .._levels import used_slots
from .._typing import Array, Axis
from ..backends import Kernels, is_array, kernels, kind, namespace
from ._checking import checked_scalar, sizes_of
from ._rearrange import Move, array_of, axes_in_order, move, one_axis, product

__all__ = ["flip", "pad", "roll", "sliding_window", "truncate"]


def flip(x: Any, /, *, axis: Axis = None) -> Any:
    """The order of entries reversed along ``axis`` (one, several, None for all): same shape, same capacity.

    Along a ragged axis each row is reversed by itself. Plain arrays too.

    >>> flip(ragged([[1, 2, 3], [], [4, 5]]), axis=1).tolist()
    [[3, 2, 1], [], [5, 4]]
    """
    x = array_of("flip", x)
    if not isinstance(x, RaggedArray):
        return namespace(x).flip(x, axis=axis)
    axes = axes_in_order("flip", axis, x.ndim)
    inner = tuple(a - x.ragged_rank for a in axes if a > x.ragged_rank)
    if inner:
        x = RaggedArray(x.kernels.call(_flip_inner, x.values, axes=inner), x.partitions)
    return move("flip", x, {a: Move("flip") for a in axes if a <= x.ragged_rank})


def _flip_inner(values: Array, *, axes: tuple[int, ...]) -> Array:
    return namespace(values).flip(values, axis=axes)


def roll(x: Any, /, shift: Any, *, axis: Axis = None) -> Any:
    """Entries moved by ``shift`` places along ``axis``, round the end: same shape, same capacity.

    Along a ragged axis each row turns by itself, modulo its length. Several axes take as many shifts, or one
    for all. With None all stored elements turn as one line, and the rows keep their lengths. A shift may be
    traced. Plain arrays too.

    >>> roll(ragged([[1, 2, 3], [], [4, 5]]), 1, axis=1).tolist()
    [[3, 1, 2], [], [5, 4]]
    """
    x = array_of("roll", x)
    if not isinstance(x, RaggedArray):
        return namespace(x).roll(x, shift, axis=axis)
    k = x.kernels
    if axis is None:
        return RaggedArray(k.call(_roll_all, x.values, x.partitions, _shift(k, shift)), x.partitions)
    given = axis if isinstance(axis, tuple) else (axis,)
    shifts = tuple(shift) if isinstance(shift, tuple | list) else (shift,) * len(given)
    if len(shifts) != len(given):
        raise ValueError(complaint("roll", f"{len(given)} shifts", f"{len(shifts)}", "Pass one per axis, or one int."))
    axes = axes_in_order("roll", axis, x.ndim)
    by_axis = dict(zip(axes, (_shift(k, s) for s in shifts), strict=True))
    for a, s in by_axis.items():
        if a > x.ragged_rank:
            x = RaggedArray(k.call(_roll_inner, x.values, s, axis=a - x.ragged_rank), x.partitions)
    levels = {a: s for a, s in by_axis.items() if a <= x.ragged_rank}
    return move("roll", x, {a: Move("roll") for a in levels}, levels)


def _shift(k: Kernels, shift: Any) -> Any:
    """A shift as an int, or as an integer array without axes of the right library."""
    if not is_array(shift):
        try:
            return as_int(shift)
        except TypeError:
            got = type(shift).__name__
            raise TypeError(complaint("roll", "an integer shift", got, "Pass an int, or one per axis.")) from None
    if shift.ndim or kind(shift.dtype) not in ("int", "uint"):
        got = f"{shift.dtype} {tuple(shift.shape)}"
        raise TypeError(complaint("roll", "an integer shift", got, "Pass an int, or one per axis."))
    return k.index(shift if kernels(shift) is k else k.asarray(shift)) if k.name != "generic" else int(shift)


def _roll_inner(values: Array, shift: Any, *, axis: int) -> Array:
    return namespace(values).roll(values, shift, axis=axis)


def _roll_all(values: Array, partitions: Any, shift: Any) -> Array:
    xp, k = namespace(values), kernels(values)
    used = used_slots(partitions)
    each = product(values.shape[1:])
    flat = xp.reshape(values, (values.shape[0] * each,))
    end = used * each
    at = xp.arange(flat.shape[0], dtype=used.dtype)
    index = (at - shift) % xp.maximum(end, xp.ones_like(end))
    index = xp.where(at < end, index, xp.asarray(flat.shape[0], dtype=index.dtype))
    return xp.reshape(k.pick(flat, index), values.shape)


def pad(x: Any, /, before: int, after: int, *, fill_value: Any = 0, axis: int = 1) -> Any:
    """``before`` and ``after`` entries of ``fill_value`` added to every row along ``axis``, to empty rows too.

    Shape ``[nrows, (len), *inner]`` with ``len + before + after``; capacity plus ``rows * (before + after)``.
    ``fill_value`` takes the dtype of ``x`` and may have the inner shape. Where an entry along ``axis`` is a
    row, the new ones are empty rows. Plain arrays too.

    >>> pad(ragged([[1, 2], []]), 1, 2, fill_value=9).tolist()
    [[9, 1, 2, 9, 9], [9, 9, 9]]
    """
    x = array_of("pad", x)
    before, after = sizes_of("pad", before), sizes_of("pad", after)
    if before < 0 or after < 0:
        raise ValueError(complaint("pad", "counts of at least 0", f"{before}, {after}", "Cut with `ra.truncate`."))
    a = one_axis("pad", axis, x.ndim)
    if isinstance(x, RaggedArray):
        checked_scalar("pad", x, fill_value, "fill_value")
    values = x.values if isinstance(x, RaggedArray) else x
    if is_array(fill_value):
        fill = kernels(values).asarray(fill_value, dtype=x.dtype)
    else:
        fill = namespace(values).asarray(fill_value, dtype=x.dtype)
    if not isinstance(x, RaggedArray):
        return kernels(x).call(_pad_inner, x, fill, axis=a, before=before, after=after)
    if a > x.ragged_rank:
        inner = a - x.ragged_rank
        values = x.kernels.call(_pad_inner, x.values, fill, axis=inner, before=before, after=after)
        return RaggedArray(values, x.partitions)
    if fill.ndim > len(x.inner_shape):
        expected = f"a fill_value of shape () to {x.inner_shape}"
        raise ValueError(complaint("pad", expected, f"{tuple(fill.shape)}", "Pass one entry's worth."))
    return move("pad", x, {a: Move("pad", before, after)}, fill=fill if a == x.ragged_rank else None)


def _pad_inner(values: Array, fill: Array, *, axis: int, before: int, after: int) -> Array:
    xp = namespace(values)
    head, tail = (xp.broadcast_to(fill, (*values.shape[:axis], n, *values.shape[axis + 1 :])) for n in (before, after))
    return xp.concat((head, values, tail), axis=axis)


def truncate(x: Any, /, length: int, *, axis: int = 1) -> Any:
    """At most the first ``length`` entries of every row: ``len`` becomes ``min(len, length)``.

    The capacity is the smaller of that of ``x`` and ``rows * length``. This is the one op that drops data
    without an error. Plain arrays too.

    >>> truncate(ragged([[1, 2, 3], [], [4]]), 2).tolist()
    [[1, 2], [], [4]]
    """
    x = array_of("truncate", x)
    length = sizes_of("truncate", length)
    if length < 0:
        raise ValueError(complaint("truncate", "a length of at least 0", f"{length}", "Pass a length."))
    a = one_axis("truncate", axis, x.ndim)
    if not isinstance(x, RaggedArray):
        return x[(slice(None),) * a + (slice(0, length), ...)]
    if a > x.ragged_rank:
        cut = x.values[(slice(None),) * (a - x.ragged_rank) + (slice(0, length), ...)]
        return RaggedArray(cut, x.partitions)
    return move("truncate", x, {a: Move("truncate", length)})


def sliding_window(x: Any, /, size: int, *, step: int = 1, axis: int = 1) -> Any:
    """Every run of ``size`` entries along ``axis``, ``step`` apart, in each row: ``[nrows, (windows), size, *inner]``.

    The new axis of ``size`` stands behind ``axis``. A row of ``len`` entries has ``(len - size) // step + 1``
    windows, none if it is shorter than one. The capacity is the most windows that the capacity of ``x`` can
    hold. Plain arrays too.

    >>> sliding_window(ragged([[1, 2, 3], [4]]), 2).tolist()
    [[[1, 2], [2, 3]], []]
    """
    x = array_of("sliding_window", x)
    size, step = sizes_of("sliding_window", size), sizes_of("sliding_window", step)
    if size < 1 or step < 1:
        raise ValueError(complaint("sliding_window", "size and step of at least 1", f"{size}, {step}", "Pass larger."))
    a = one_axis("sliding_window", axis, x.ndim)
    if not isinstance(x, RaggedArray):
        return kernels(x).call(_window_inner, x, axis=a, size=size, step=step)
    if a > x.ragged_rank:
        inner = a - x.ragged_rank
        return RaggedArray(x.kernels.call(_window_inner, x.values, axis=inner, size=size, step=step), x.partitions)
    return move("sliding_window", x, {a: Move("window", size, step)})


def _window_inner(values: Array, *, axis: int, size: int, step: int) -> Array:
    xp, shape = namespace(values), values.shape
    count = max((shape[axis] - size) // step + 1, 0)
    starts: Sequence[int] = [i * step + j for i in range(count) for j in range(size)]
    index = xp.asarray(list(starts), dtype=xp.int32)
    return xp.reshape(xp.take(values, index, axis=axis), (*shape[:axis], count, size, *shape[axis + 1 :]))
