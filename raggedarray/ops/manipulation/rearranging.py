"""Entries reversed, shifted, added, cut off or looked at through windows, along any axis.

Along the rows, a ragged axis or a uniform one between, values are read by one gather; along inner axes these
are the plain array's functions, and views on NumPy where they are there. Rows never mix: what happens along a
ragged axis happens in each row by itself, so an empty row stays empty, but for `pad`. Slack rows stay empty.
Gradients flow to the entries that the result holds.
"""

from collections.abc import Sequence
from math import prod
from operator import index as as_int
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._signatures import like_first
from ..._typing import Array, Axis
from ...backends import Kernels, common, is_array, kernels, kind, namespace
from ...engine.arguments import checked_scalar, sizes_of
from ...engine.axes import axes_in_order, one_axis
from ...engine.broadcast.rows import move_to
from ...engine.index.blocks import block_getitem
from ...engine.index.gather import INDEX_LIMIT
from ...engine.indices import widened
from ...engine.overflow import fill_unless
from ...engine.packing import contiguous
from ...engine.rearrange.blocks import move_block
from ...engine.rearrange.per_row import pad_each, per_row
from ...engine.rearrange.rows import array_of, move
from ...structure.index_maps import Move
from ...structure.levels import used_slots
from ..elementwise.arithmetic import maximum, minimum
from .rows import narrow

__all__ = ["flip", "pad", "roll", "sliding_window", "truncate"]


@like_first
def flip(x: Any, /, *, axis: Axis = None) -> Any:
    """The order of entries reversed along ``axis`` (one, several, None for all): same shape, same capacity.

    Along a ragged axis each row is reversed by itself. Plain arrays too.

    >>> flip(ragged([[1, 2, 3], [], [4, 5]]), axis=1).tolist()
    [[3, 2, 1], [], [5, 4]]
    """
    if isinstance(x, RaggedArray) and x.block is not None:
        backward = set(axes_in_order(axis, x.ndim))
        key = [slice(None, None, -1) if a in backward else slice(None) for a in range(x.ndim)]
        return block_getitem(x, key)
    x = array_of(x)
    if not isinstance(x, RaggedArray):
        return namespace(x).flip(x, axis=axis)
    axes = axes_in_order(axis, x.ndim)
    inner = tuple(a - x.depth for a in axes if a > x.depth)
    if inner:
        x = RaggedArray(x.kernels.call(_flip_inner, x.values, axes=inner), x.partitions)
    return move(x, {a: Move("flip") for a in axes if a <= x.depth})


def _flip_inner(values: Array, *, axes: tuple[int, ...]) -> Array:
    return namespace(values).flip(values, axis=axes)


@like_first
def roll(x: Any, /, shift: Any, *, axis: Axis = None) -> Any:
    """Entries moved by ``shift`` places along ``axis``, round the end: same shape, same capacity.

    Along a ragged axis each row turns by itself, modulo its length. Several axes take as many shifts, or one
    for all. With None all stored elements turn as one line, and the rows keep their lengths. A shift may be
    traced. Plain arrays too.

    >>> roll(ragged([[1, 2, 3], [], [4, 5]]), 1, axis=1).tolist()
    [[3, 1, 2], [], [5, 4]]
    """
    x = array_of(contiguous(x) if isinstance(x, RaggedArray) else x)
    if not isinstance(x, RaggedArray):
        return namespace(x).roll(x, shift, axis=axis)
    k = x.kernels
    if axis is None:
        rows = x.components_as_rows()
        return RaggedArray(k.call(_roll_all, x.values, rows.partitions, _shift(k, shift)), x.partitions)
    wanted = axis if isinstance(axis, tuple) else (axis,)
    shifts = tuple(shift) if isinstance(shift, tuple | list) else (shift,) * len(wanted)
    if len(shifts) != len(wanted):
        raise ValueError(error_text(f"{len(wanted)} shifts", f"{len(shifts)}", "Pass one per axis, or one int."))
    axes = axes_in_order(axis, x.ndim)
    by_axis = dict(zip(axes, (_shift(k, s) for s in shifts), strict=True))
    for a, s in by_axis.items():
        if a > x.depth:
            x = RaggedArray(k.call(_roll_inner, x.values, s, axis=a - x.depth), x.partitions)
    levels = {a: s for a, s in by_axis.items() if a <= x.depth}
    return move(x, {a: Move("roll") for a in levels}, levels)


def _shift(k: Kernels, shift: Any) -> Any:
    """A shift as an int, or as an integer array without axes of the right library."""
    if not is_array(shift):
        try:
            shifts = as_int(shift)
        except TypeError:
            got = type(shift).__name__
            raise TypeError(error_text("an integer shift", got, "Pass an int, or one per axis.")) from None
        if abs(shifts) <= INDEX_LIMIT:
            return shifts
        if not k.has_exact_sizes or abs(shifts) > 1 << 62:
            raise OverflowError(error_text("a shift that fits its index", f"{shifts}", "Take a smaller one."))
        return k.index(k.asarray([shifts], dtype="int64"))[0]
    if shift.ndim or kind(shift.dtype) not in ("int", "uint"):
        got = f"{shift.dtype} {tuple(shift.shape)}"
        raise TypeError(error_text("an integer shift", got, "Pass an int, or one per axis."))
    return k.index(shift)


def _roll_inner(values: Array, shift: Any, *, axis: int) -> Array:
    return namespace(values).roll(values, shift, axis=axis)


def _roll_all(values: Array, partitions: Any, shift: Any) -> Array:
    xp, k = namespace(values), kernels(values)
    used = used_slots(partitions)
    each = prod(values.shape[1:])
    flat = xp.reshape(values, (values.shape[0] * each,))
    end = used * each
    at = xp.arange(flat.shape[0], dtype=used.dtype)
    index = (at - shift) % xp.maximum(end, xp.ones_like(end))
    index = xp.where(at < end, index, xp.asarray(flat.shape[0], dtype=index.dtype))
    return xp.reshape(k.pick(flat, index), values.shape)


@like_first
def pad(x: Any, /, before: Any, after: Any, *, fill_value: Any = 0, axis: int = 1, capacity: int | None = None) -> Any:
    """``before`` and ``after`` entries of ``fill_value`` added to every row along ``axis``, to empty rows too.

    Shape ``[nrows, (len), *inner]`` with ``len + before + after``; capacity plus ``rows * (before + after)``.
    ``fill_value`` takes the dtype of ``x`` and may have the inner shape. Where an entry along ``axis`` is a
    row, the new ones are empty rows. Plain arrays too.

    The counts are ints, or along a ragged axis ``int[nrows]``, one for each row (below axis 1 a RaggedArray of the
    axes before). How many entries there are is then data, as it is for components that vary in several axes: exact on
    NumPy, and under jit ``capacity`` states it.

    >>> pad(ragged([[1, 2], []]), 1, 2, fill_value=9).tolist()
    [[9, 1, 2, 9, 9], [9, 9, 9]]
    >>> pad(ragged([[1, 2], []]), 0, np.array([0, 2])).tolist()
    [[1, 2], [0, 0]]
    """
    x = array_of(x)
    before, after = (common([]).asarray(n) if isinstance(n, list | tuple) else n for n in (before, after))
    per_row = isinstance(x, RaggedArray) and (is_array(before) or is_array(after))
    if not per_row:
        before, after = _static_counts(x, before, after, capacity)
    a = one_axis(axis, x.ndim)
    fill = _fill(x, fill_value)
    if not isinstance(x, RaggedArray):
        return kernels(x).call(_pad_inner, x, fill, axis=a, before=before, after=after)
    if per_row and (x.block is not None or x.shape[a] is not None):
        what = "components that vary in several axes" if x.block is not None else f"axis {a} of {x.shape}"
        advice = "Pass ints, or convert a block with `ra.to_rows(x)`."
        raise ValueError(error_text("rows along a ragged axis for counts per row", what, advice))
    if a > x.depth:
        values = x.kernels.call(_pad_inner, x.values, fill, axis=a - x.depth, before=before, after=after)
        return RaggedArray(values, x.partitions)
    _need_one_entry(fill, x.inner_shape)
    if per_row:
        return pad_each(x, before, after, a, fill if a == x.ragged_rank else None, capacity)
    if x.block is not None:
        return move_block(x, {a: Move("pad", before, after)}, fill=fill, capacity=capacity)
    return move(x, {a: Move("pad", before, after)}, fill=fill if a == x.depth else None)


def _static_counts(x: Any, before: Any, after: Any, capacity: Any) -> tuple[int, int]:
    before, after = sizes_of(before), sizes_of(after)
    if capacity is not None and not (isinstance(x, RaggedArray) and x.block is not None):
        raise ValueError(error_text("no capacity= for static counts", str(capacity), "Drop it."))
    if before < 0 or after < 0:
        raise ValueError(error_text("counts of at least 0", f"{before}, {after}", "Cut with `ra.truncate`."))
    return before, after


def _fill(x: Any, fill_value: Any) -> Array:
    """What new entries hold, in the dtype of ``x``."""
    values = x
    if isinstance(x, RaggedArray):
        checked_scalar(x, fill_value, "fill_value")
        values = x.values
    if is_array(fill_value):
        return kernels(values).asarray(fill_value, dtype=x.dtype)
    return namespace(values).asarray(fill_value, dtype=x.dtype)


def _need_one_entry(fill: Array, item: tuple[int, ...]) -> None:
    broadcasts = all(m in (1, n) for m, n in zip(reversed(fill.shape), reversed(item), strict=False))
    if fill.ndim > len(item) or not broadcasts:
        expected = f"a fill_value of shape () to {item}"
        raise ValueError(error_text(expected, f"{tuple(fill.shape)}", "Pass one entry's worth."))


def _pad_inner(values: Array, fill: Array, *, axis: int, before: int, after: int) -> Array:
    xp = namespace(values)
    head, tail = (xp.broadcast_to(fill, (*values.shape[:axis], n, *values.shape[axis + 1 :])) for n in (before, after))
    return xp.concat((head, values, tail), axis=axis)


@like_first
def truncate(x: Any, /, length: Any, *, axis: int = 1) -> Any:
    """At most the first ``length`` entries of every row: ``len`` becomes ``min(len, length)``.

    The capacity is the smaller of that of ``x`` and ``rows * length``. Along a ragged axis ``length`` may be
    ``int[nrows]``, one for each row (below axis 1 a RaggedArray of the axes before); the capacity is then that of
    ``x``. This is the one op that drops data without an error. Plain arrays too.

    >>> truncate(ragged([[1, 2, 3], [], [4]]), 2).tolist()
    [[1, 2], [], [4]]
    >>> truncate(ragged([[1, 2, 3], [4, 5]]), np.array([1, 3])).tolist()
    [[1], [4, 5]]
    """
    x = array_of(x)
    length = common([]).asarray(length) if isinstance(length, list | tuple) else length
    if isinstance(x, RaggedArray) and is_array(length) and length.ndim:
        return _truncate_each(x, length, one_axis(axis, x.ndim))
    length = min(sizes_of(length), INDEX_LIMIT)
    if length < 0:
        raise ValueError(error_text("a length of at least 0", f"{length}", "Pass a length."))
    a = one_axis(axis, x.ndim)
    if not isinstance(x, RaggedArray):
        return x[(slice(None),) * a + (slice(0, length), ...)]
    if a > x.depth:
        cut = x.values[(slice(None),) * (a - x.depth) + (slice(0, length), ...)]
        return RaggedArray(cut, x.partitions)
    return move(x, {a: Move("truncate", length)})


def _truncate_each(x: RaggedArray, length: Any, a: int) -> Any:
    values = length.values if isinstance(length, RaggedArray) else length
    k = common([x.values, values])
    length = widened(length, k) if kind(length.dtype) in ("int", "uint") else length
    if x.block is not None and x.ragged_rank <= a <= x.depth and x.shape[a] is None:
        have = x.row_lengths(axis=a)
        if tuple(length.shape) != (x.partitions[-1].nrows,):
            got = f"shape {tuple(length.shape)}"
            raise ValueError(error_text(f"{x.partitions[-1].nrows} lengths", got, "Pass one per component."))
        have = have.values if isinstance(have, RaggedArray) else have
        return narrow(x, a, 0, maximum(minimum(have, length), 0))
    if x.block is not None or x.shape[a] is not None:
        advice = "Pass an int, or cut a ragged axis."
        raise ValueError(error_text(f"one length for all rows along axis {a}", "an array", advice))
    x = move_to(k, x).used_values()
    _, ok = per_row(x, k, a, length, "length")
    have = x.row_lengths(axis=a)
    out = narrow(x, a, 0, maximum(minimum(have, length), 0))
    return RaggedArray(fill_unless(out.values, ok), out.partitions)


@like_first
def sliding_window(x: Any, /, size: int, *, step: int = 1, axis: int = 1) -> Any:
    """Every run of ``size`` entries along ``axis``, ``step`` apart, in each row: ``[nrows, (windows), size, *inner]``.

    The new axis of ``size`` stands behind ``axis``. A row of ``len`` entries has ``(len - size) // step + 1``
    windows, none if it is shorter than one. The capacity is the most windows that the capacity of ``x`` can
    hold. Plain arrays too.

    >>> sliding_window(ragged([[1, 2, 3], [4]]), 2).tolist()
    [[[1, 2], [2, 3]], []]
    """
    x = array_of(x)
    size, step = sizes_of(size), sizes_of(step)
    step = min(step, INDEX_LIMIT)
    if size < 1 or step < 1 or size > INDEX_LIMIT:
        raise ValueError(error_text("size and step of at least 1", f"{size}, {step}", "Pass larger."))
    a = one_axis(axis, x.ndim)
    if not isinstance(x, RaggedArray):
        return kernels(x).call(_window_inner, x, axis=a, size=size, step=step)
    if a > x.depth:
        inner = a - x.depth
        return RaggedArray(x.kernels.call(_window_inner, x.values, axis=inner, size=size, step=step), x.partitions)
    return move(x, {a: Move("window", size, step)})


def _window_inner(values: Array, *, axis: int, size: int, step: int) -> Array:
    xp, shape = namespace(values), values.shape
    count = max((shape[axis] - size) // step + 1, 0)
    starts: Sequence[int] = [i * step + j for i in range(count) for j in range(size)]
    index = xp.asarray(list(starts), dtype=xp.int32)
    return xp.reshape(xp.take(values, index, axis=axis), (*shape[:axis], count, size, *shape[axis + 1 :]))
