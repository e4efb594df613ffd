"""Single entries and runs of every row: one row padded, the i-th entry of each, a run of each."""

from operator import index as as_int
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import Partition, entry_counts
from ..._typing import Array
from ...backends import common, is_array, kernels, kind, namespace
from ...engine.arguments import checked_scalar, ragged_only, sizes_of
from ...engine.axes import one_axis
from ...engine.broadcast.rows import move_to
from ...engine.index.gather import ALL, INDEX_LIMIT, Step
from ...engine.index.keys import IndexPlan
from ...engine.index.rows import perform, run
from ...engine.index.take_blocks import narrow_block
from ...engine.indices import to_dtype, widened
from ...engine.overflow import check_capacity, fill_unless, with_mark
from ...engine.packing import as_rows
from ...engine.rearrange.rows import array_of
from ...structure.checks import forbid, require
from ...structure.levels import choose, library, rows_below, take_entries, used_at
from ..indexing.gathering import take

__all__ = ["first", "last", "narrow", "row", "row_item"]


def row(x: RaggedArray, i: Any, /, *, length: int, fill_value: Any = 0) -> Array:
    """One row, padded to ``length``: ``[length, *inner]``. The index may be traced; negative ones count from the end.

    ``x`` has one ragged axis, axis 1; of others take rows with `take` or ``x[i:i + 1]``. A longer row raises; under
    plain jit the result is then NaN (the lowest integer, True) everywhere. A traced index out of range gives
    ``fill_value`` throughout.

    >>> row(ragged([[1, 2], [3]]), 1, length=3)
    array([3, 0, 0])
    """
    if ragged_only(x).ragged_rank != 1 or x.block is not None:
        raise ValueError(error_text("one ragged axis", f"shape {x.shape}", "Use `ra.to_padded` with a tuple."))
    x = x.used_values()
    k = x.kernels
    checked_scalar(x, fill_value, "fill_value")
    splits = x.row_splits
    if not is_array(i) or kernels(i).is_concrete(i):
        i = _integer(i)
        if not -x.nrows <= i < x.nrows:
            raise IndexError(error_text(f"a row from {-x.nrows} to {x.nrows - 1}", str(i), "Check `len(x)`."))
        i = to_dtype(i % x.nrows, splits)
    start, size = k.call(_row_bounds, splits, i)
    ok = check_capacity(size, length, "a length", "length=")
    return k.call(_padded_row, x.values, start, size, x.xp.asarray(fill_value, dtype=x.dtype), length=length, ok=ok)


def _integer(i: Any) -> int:
    try:
        return as_int(i)
    except TypeError:
        got = type(i).__name__
        raise TypeError(error_text("an integer index", got, "Pass an int, or one per row.")) from None


def _row_bounds(splits: Array, i: Array) -> tuple[Array, Array]:
    xp, k, nrows = namespace(splits), kernels(splits), splits.shape[0] - 1
    i = to_dtype(xp.reshape(i, (1,)), splits)
    i = xp.where(i < 0, i + nrows, i)
    i = xp.where((i < 0) | (i >= nrows), xp.asarray(nrows, dtype=i.dtype), i)
    return k.pick(splits[:-1], i)[0], k.pick(splits[1:] - splits[:-1], i)[0]


def _padded_row(values: Array, start: Array, size: Array, fill: Array, *, length: int, ok: Any) -> Array:
    xp = namespace(values)
    at = xp.arange(length, dtype=start.dtype)
    here = at < size
    row = kernels(values).pick(values, xp.where(here, start + at, xp.asarray(values.shape[0], dtype=start.dtype)))
    here = xp.reshape(here, (length, *(1,) * (row.ndim - 1)))
    return fill_unless(xp.where(here, row, xp.reshape(fill, (1,) * row.ndim)), ok)


def row_item(x: RaggedArray, i: Any, /, *, fill_value: Any = None) -> Any:
    """Entry ``i`` of every row: ``[nrows, (len), *inner]`` to ``[nrows, *inner]``, ragged if further axes are.

    ``i`` is an int or ``int[nrows]``, also traced; negative ones count from the row's end. A row without that
    entry gives ``fill_value``, by default NaN, the lowest signed or highest unsigned integer, or True; where
    ragged axes are left, an empty entry. Never raises for short rows.

    >>> row_item(ragged([[1, 2], [], [3]]), -1, fill_value=0)
    array([2, 0, 3])
    """
    return _item(x, i, fill_value, raises=False)


def first(x: RaggedArray, /, *, fill_value: Any = None) -> Any:
    """The first entry of every row: ``[nrows, *inner]``. An empty row raises `IndexError`, or gives ``fill_value``.

    Traced, nothing can raise, and an empty row gives the default of `row_item`.

    >>> first(ragged([[1, 2], [3]]))
    array([1, 3])
    """
    return _item(x, 0, fill_value, raises=fill_value is None)


def last(x: RaggedArray, /, *, fill_value: Any = None) -> Any:
    """The last entry of every row: ``[nrows, *inner]``. An empty row raises `IndexError`, or gives ``fill_value``.

    Traced, nothing can raise, and an empty row gives the default of `row_item`.

    >>> last(ragged([[1, 2], [3]]))
    array([2, 3])
    """
    return _item(x, -1, fill_value, raises=fill_value is None)


def _item(x: RaggedArray, i: Any, fill: Any, *, raises: bool) -> Any:
    x = as_rows(ragged_only(x))
    if fill is not None:
        checked_scalar(x, fill, "fill_value")
    i = common([x.values]).asarray(i) if isinstance(i, list | tuple) else i
    per_row = is_array(i) and i.ndim > 0
    if per_row and tuple(i.shape) != (x.nrows,):
        got = f"shape {tuple(i.shape)}"
        raise ValueError(error_text(f"an index or {x.nrows} of them", got, "Pass one per row."))
    if is_array(i) and kind(i.dtype) not in ("int", "uint"):
        raise TypeError(error_text("integer indices", f"dtype {i.dtype}", "Convert them."))
    k = common([x.values, *([i] if is_array(i) else [])])
    x = move_to(k, x).used_values()
    if not is_array(i):
        i = max(min(_integer(i), INDEX_LIMIT), -INDEX_LIMIT)
    elif kernels(i) is not k:
        i = k.asarray(widened(i, k))
    steps = (ALL, Step("each" if per_row else "at", 0), *(ALL,) * (x.ragged_rank - 1))
    inner = (ALL,) * len(x.inner_shape)
    fill = k.asarray(fill, dtype=x.dtype) if is_array(fill) else fill
    return perform(IndexPlan(x, 0, False, steps, inner, (i,)), fill=fill, raises=raises)


def narrow(x: Any, axis: int, start: Any, length: Any, /) -> Any:
    """``length`` entries from ``start`` along ``axis``; on a ragged axis each may be one per row.

    ``start`` and ``length`` are ints, traced ones too, or hold one number for each row of that axis: ``int[nrows]``
    on axis 1, below it a RaggedArray of the axes before. On other axes ``length`` is static. Negative starts count
    from the row's end. Beyond a row's end is an error; under plain jit the result is then NaN (the lowest
    integer, True) everywhere.

    Capacity: that of ``x``, or ``nrows * length`` if that is static and smaller; exact on NumPy.

    >>> narrow(ragged([[1, 2, 3], [4, 5]]), 1, np.array([1, 0]), np.array([2, 1])).tolist()
    [[2, 3], [4]]
    """
    if isinstance(x, RaggedArray) and x.block is not None:
        at = one_axis(axis, x.ndim)
        if at <= x.depth:
            return narrow_block(x, at, start, length)
        begin, count = _static_run(x.shape[at] or 0, start, length, at)
        return x[(*(slice(None),) * at, slice(begin, begin + count))]
    x = array_of(x)
    axis = one_axis(axis, x.ndim)
    start, length = (common([]).asarray(a) if isinstance(a, list | tuple) else a for a in (start, length))
    size = x.shape[axis]
    if size is not None:
        if is_array(start) and not kernels(start).is_concrete(start):
            return _traced_run(x, axis, size, start, sizes_of(length))
        start, length = _static_run(size, start, length, axis)
        key = (*[slice(None)] * axis, slice(start, start + length), *[slice(None)] * (x.ndim - axis - 1))
        return run(x, list(key)) if isinstance(x, RaggedArray) else x[key]
    arrays = [a.values if isinstance(a, RaggedArray) else a for a in (start, length) if is_array(a)]
    k = common([x.values, *arrays])
    x = move_to(k, x).used_values()
    limit = entry_counts(x.partitions, x.capacity)[axis]
    if not is_array(length):
        limit = min(limit, entry_counts(x.partitions, x.capacity)[axis - 1] * max(_integer(length), 0))
    start, length = (_per_row(x, k, axis, a, what) for a, what in ((start, "start"), (length, "length")))
    short = k.call(_beyond, x.partitions, start, length, axis=axis, size=x.capacity)
    bad, n, begin, have = short
    what, got = f"runs within every row along axis {axis}", "{n} from {begin} in a row of {have}"
    ok = forbid(bad, what, got, "Use `x[:, a:b]` to clip.", n=n, begin=begin, have=have)
    values, new = k.call(_narrowed, x.values, x.partitions, start, length, ok=ok, axis=axis, limit=limit)
    return with_mark(rebuild((*x.partitions[: axis - 1], *new[axis - 1 :]), values), ok)


def _static_run(size: int, start: Any, length: Any, axis: int) -> tuple[int, int]:
    start, length = _integer(start), sizes_of(length)
    begin = start + size if start < 0 else start
    if begin < 0 or length < 0 or begin + length > size:
        got = f"{length} from {start}"
        raise ValueError(error_text(f"a run within {size} entries of axis {axis}", got, "Check `x.shape`."))
    return begin, length


def _traced_run(x: Any, axis: int, size: int, start: Array, length: int) -> Any:
    """The same along an axis without ragged lengths: its entries by index."""
    if isinstance(start, RaggedArray) or start.ndim or kind(start.dtype) not in ("int", "uint"):
        got = f"{start.dtype} of shape {tuple(start.shape)}"
        raise TypeError(error_text(f"an integer start along axis {axis}", got, "Pass one for all rows."))
    if not 0 <= length <= size:
        raise ValueError(error_text(f"a run within {size} entries of axis {axis}", f"{length}", "Shorten it."))
    start = widened(start)
    xp = namespace(start)
    begin = xp.where(start < 0, start + size, start)
    expected, got = f"a run within {size} entries of axis {axis}", f"{length} from {{start}}"
    ok = require((begin >= 0) & (begin + length <= size), expected, got, "Check `x.shape`.", start=start)
    none = xp.zeros_like(begin)
    index = xp.minimum(xp.maximum(begin, none), none + (size - length)) + xp.arange(length, dtype=begin.dtype)
    if not isinstance(x, RaggedArray):
        return fill_unless(take(x, index, axis=axis), ok)
    out = take(x, index, axis=axis, capacity=None if axis else entry_counts(x.partitions, x.capacity)[1:])
    if not isinstance(out, RaggedArray):
        return fill_unless(out, ok)
    return RaggedArray(fill_unless(out.values, ok), out.partitions)


def _per_row(x: RaggedArray, k: Any, axis: int, bound: Any, what: str) -> Any:
    """One number for each entry above the axis, or one for all."""
    if not is_array(bound):
        if not -INDEX_LIMIT <= _integer(bound) <= INDEX_LIMIT:
            raise ValueError(error_text(f"a {what} within the rows", f"{bound}", "Use `x[:, a:b]` to clip."))
        return as_int(bound)
    if kind(bound.dtype) not in ("int", "uint"):
        raise TypeError(error_text(f"an integer {what}", f"dtype {bound.dtype}", "Convert it."))
    if isinstance(bound, RaggedArray):
        bound, shape = move_to(k, widened(bound, k)), tuple(bound.shape)
        if shape == tuple(x.shape[:axis]):
            return namespace(bound.values).reshape(bound.values, (-1,))
    else:
        bound, shape = k.asarray(widened(bound, k)), tuple(bound.shape)
        if shape in ((), tuple(x.shape[:axis])):
            return namespace(bound).reshape(bound, (-1,)) if shape else bound
    raise ValueError(error_text(f"a {what} of shape {x.shape[:axis]}", f"{shape}", "Pass one per row."))


def _runs(partitions: tuple[Partition, ...], start: Any, length: Any, axis: int, size: int) -> Any:
    """Where each run begins, how long it should be, how long the row is, and which rows are used."""
    like = library(partitions, None)
    xp = namespace(like)
    count = entry_counts(partitions, size)[axis - 1]
    used = used_at(partitions, axis - 1)
    here = xp.arange(count, dtype=like.dtype)
    _, rows = rows_below(partitions[axis - 1], here)
    begin, n = (_spread(to_dtype(a, like), count) for a in (start, length))
    begin = xp.where(begin < 0, begin + rows, begin)
    return begin, n, rows, here < used


def _spread(a: Array, count: int) -> Array:
    """One number per entry; as many as there are, or one for all."""
    xp = namespace(a)
    if a.ndim == 0 or a.shape[0] == count:
        return xp.broadcast_to(a, (count,))
    return kernels(a).pick(a, xp.minimum(xp.arange(count), xp.asarray(a.shape[0])))


def _beyond(partitions: tuple[Partition, ...], start: Any, length: Any, *, axis: int, size: int) -> tuple[Array, ...]:
    begin, n, rows, used = _runs(partitions, start, length, axis, size)
    xp = namespace(rows)
    bad = used & ((begin < 0) | (n < 0) | (begin + n > rows))
    if not bad.shape[0]:
        return xp.asarray(False), *(xp.zeros((), dtype=rows.dtype),) * 3
    at = xp.reshape(xp.argmax(xp.astype(bad, xp.int32)), (1,))
    return xp.any(bad), *(xp.take(a, at, axis=0)[0] for a in (n, begin, rows))


def _narrowed(
    values: Array, partitions: tuple[Partition, ...], start: Any, length: Any, *, ok: Any, axis: int, limit: int
) -> Any:
    size = values.shape[0]
    begin, n, rows, used = _runs(partitions, start, length, axis, size)
    xp, k = namespace(rows), kernels(rows)
    none = xp.zeros_like(rows)
    begin = xp.minimum(xp.maximum(begin, none), rows)
    n = xp.where(used, xp.minimum(xp.maximum(n, none), rows - begin), none)
    like = library(partitions, values)
    partition, index = choose(partitions, axis, size, n, limit, lambda r, at: k.pick(begin, r) + at, like)
    values, new = take_entries(values, partitions, axis, partition, index, entry_counts(partitions, size)[axis + 1 :])
    return fill_unless(values, ok), new
