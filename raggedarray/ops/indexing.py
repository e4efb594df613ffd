"""Rows by index, slice, index array and mask, along axis 0.

A row and a run of rows share memory with ``values`` on NumPy; rows in another order are packed. Inner
splits are rebuilt from the lengths of the rows taken, and ``values`` is read by one gather.
"""

from operator import index as as_int
from typing import Any

from .._array import RaggedArray
from .._errors import DynamicShapeError, complaint
from .._levels import needed_entries, take_rows
from .._partition import Partition, RowPartition, UniformPartition, entry_counts
from .._typing import Array
from ..backends import backend, common, is_array, kernels, kind, namespace
from ._broadcast import into
from ._overflow import fits, spoil
from .capacity import bucket_size
from .components import host_partitions, rows_of

__all__ = ["boolean_mask", "row", "take"]


def getitem(x: RaggedArray, key: Any) -> Any:
    """``x[key]`` for a key on axis 0; see `RaggedArray`."""
    if isinstance(key, list):
        key = common("getitem", []).asarray(key, dtype=None if key else "int32")
    if isinstance(key, slice):
        return _slice(x, key)
    if is_array(key) and key.ndim == 1:
        return boolean_mask(x, key) if kind(key.dtype) == "bool" else take(x, key)
    if isinstance(key, bool | tuple | RaggedArray) or (is_array(key) and key.ndim):
        got = type(key).__name__ if not is_array(key) else f"{key.dtype} {tuple(key.shape)}"
        advice = "Use `ra.map_values` for inner axes."
        raise IndexError(complaint("getitem", "an int, slice, index array or mask of rows", got, advice))
    if is_array(key) and not kernels(key).is_concrete(key):
        raise _dynamic_row()
    try:
        i = as_int(key)
    except TypeError:
        got = f"{type(key).__name__} {key!r}"
        raise IndexError(
            complaint("getitem", "an int, slice, index array or mask of rows", got, "Index rows.")
        ) from None
    if not -x.nrows <= i < x.nrows:
        raise IndexError(complaint("getitem", f"a row from {-x.nrows} to {x.nrows - 1}", str(i), "Check `len(x)`."))
    if not kernels(x.row_splits).is_concrete(x.partitions):
        raise _dynamic_row()
    return rows_of(x, [i % x.nrows], "getitem", "")[0]


def _dynamic_row() -> DynamicShapeError:
    return DynamicShapeError(
        complaint("getitem", "a row whose length can be read", "a traced one", "Use `ra.row(x, i, length=)`.")
    )


def row(x: RaggedArray, i: Any, /, *, length: int, fill_value: Any = 0) -> Array:
    """One row, padded to ``length``: ``[length, *inner]``. The index may be traced; negative ones count from the end.

    With further ragged axes below, those are not padded: the row must be of axis 1. A longer row raises; under
    plain jit a floating result is then NaN everywhere. A traced index out of range gives ``fill_value`` throughout.

    >>> row(ragged([[1, 2], [3]]), 1, length=3)
    array([3, 0, 0])
    """
    if x.ragged_rank != 1:
        raise ValueError(complaint("row", "one ragged axis", f"shape {x.shape}", "Use `ra.to_padded` with a tuple."))
    x = x.used_values()
    k = x.kernels
    splits = x.row_splits
    if not is_array(i) or kernels(i).is_concrete(i):
        i = as_int(i)
        if not -x.nrows <= i < x.nrows:
            raise IndexError(complaint("row", f"a row from {-x.nrows} to {x.nrows - 1}", str(i), "Check `len(x)`."))
        i = k.asarray(i % x.nrows)
    start, size = k.call(_row_bounds, splits, i)
    ok = fits("row", size, length, "a length", "length=")
    return k.call(_padded_row, x.values, start, size, k.asarray(fill_value, dtype=x.dtype), length=length, ok=ok)


def _row_bounds(splits: Array, i: Array) -> tuple[Array, Array]:
    xp, k, nrows = namespace(splits), kernels(splits), splits.shape[0] - 1
    i = xp.astype(xp.reshape(i, (1,)), splits.dtype)
    i = xp.where(i < 0, i + nrows, i)
    i = xp.where((i < 0) | (i >= nrows), xp.asarray(nrows, dtype=i.dtype), i)
    return k.pick(splits[:-1], i)[0], k.pick(splits[1:] - splits[:-1], i)[0]


def _padded_row(values: Array, start: Array, size: Array, fill: Array, *, length: int, ok: Any) -> Array:
    xp = namespace(values)
    at = xp.arange(length, dtype=start.dtype)
    here = at < size
    found = kernels(values).pick(values, xp.where(here, start + at, xp.asarray(values.shape[0], dtype=start.dtype)))
    here = xp.reshape(here, (length, *(1,) * (found.ndim - 1)))
    return spoil(xp.where(here, found, xp.reshape(fill, (1,) * found.ndim)), ok)


def _slice(x: RaggedArray, key: slice) -> RaggedArray:
    start, stop, step = key.indices(x.nrows)
    rows = range(start, stop, step)
    if step != 1:
        like = common("getitem", []).asarray(list(rows), dtype="int32")
        taken: RaggedArray = take(x, like)
        return taken
    k = x.kernels
    if k.trims:
        return _view(x, start, max(stop, start))
    values, partitions = k.call(_run_of_rows, x.values, x.partitions, start=start, count=len(rows))
    return RaggedArray(values, partitions)


def _view(x: RaggedArray, start: int, stop: int) -> RaggedArray:
    """Rows ``start:stop`` over a slice of the same values (concrete structure)."""
    new: tuple[Partition, ...] = ()
    for p in x.partitions:
        if isinstance(p, UniformPartition):
            new = (*new, UniformPartition(stop - start, p.length))
            start, stop = start * p.length, stop * p.length
        else:
            splits = p.splits[start : stop + 1]
            start, stop = int(splits[0]), int(splits[-1])
            new = (*new, RowPartition(splits - splits[0]))
    return RaggedArray(x.values[start:stop, ...], new)


def _run_of_rows(values: Array, partitions: tuple[Partition, ...], *, start: int, count: int) -> Any:
    like = next(p.splits for p in partitions if isinstance(p, RowPartition))
    rows = namespace(like).arange(start, start + count, dtype=like.dtype)
    return take_rows(values, partitions, rows, entry_counts(partitions, values.shape[0])[1:])


def take(x: Any, indices: Array, /, *, axis: int = 0, capacity: int | tuple[int, ...] | None = None) -> Any:
    """Rows by index, in that order, repeats allowed: ``int[n]`` gives ``[n, (len), *inner]``. Plain arrays too.

    Negative indices count from the end; others out of range raise `IndexError`, or under jit give an empty
    row. The capacity is exact on NumPy; on JAX that of ``x``, or where rows repeat ``bucket_size`` of what is
    needed. Under jit repeats are data, so `capacity` must be given (the capacity of ``x`` if there are none).

    >>> take(ragged([[1, 2], [], [3]]), np.array([2, 0])).tolist()
    [[3], [1, 2]]
    """
    if not isinstance(x, RaggedArray):
        return namespace(x).take(x, indices, axis=axis)
    if axis not in (0, -x.ndim):
        raise IndexError(complaint("take", "axis 0", str(axis), "Use `ra.map_values` for inner axes."))
    given = indices if is_array(indices) else common("take", []).asarray(indices)
    if given.ndim != 1 or kind(given.dtype) not in ("int", "uint"):
        got = f"{given.dtype} {tuple(given.shape)}"
        raise TypeError(complaint("take", "integer indices of one axis", got, "Convert or flatten them."))
    k = common("take", [x.values, given])
    x = into(k, x).used_values()
    known = None
    if kernels(given).is_concrete(given):
        known = kernels(given).host(given)
        bad = ((known < -x.nrows) | (known >= x.nrows)).nonzero()[0]
        if bad.size:
            got = f"{known[bad[0]]} at position {bad[0]}"
            raise IndexError(complaint("take", f"rows from {-x.nrows} to {x.nrows - 1}", got, "Check `len(x)`."))
        known = known % max(x.nrows, 1)
    elif k.checking():
        xp = namespace(given)
        text = complaint("take", f"rows from {-x.nrows} to {x.nrows - 1}", "{low} to {high}", "Check `len(x)`.")
        low, high = xp.min(given), xp.max(given)
        k.check((low >= -x.nrows) & (high < x.nrows), text, low=low, high=high)
    rows = k.call(_normal_rows, k.index(given), nrows=x.nrows)
    return _take_rows("take", x, rows, known, capacity)


def _take_rows(op: str, x: RaggedArray, rows: Array, known: Any, capacity: int | tuple[int, ...] | None) -> RaggedArray:
    """Rows by index; ``known`` are the same indices on the host, or None where they are traced."""
    sizes, ok = _capacities(op, x, rows, known, capacity)
    values, partitions = x.kernels.call(_take, x.values, x.partitions, rows, sizes=sizes, ok=ok)
    return RaggedArray(values, partitions)


def _normal_rows(rows: Array, *, nrows: int) -> Array:
    xp = namespace(rows)
    rows = xp.where(rows < 0, rows + nrows, rows)
    return xp.where((rows < 0) | (rows >= nrows), xp.asarray(nrows, dtype=rows.dtype), rows)


def _capacities(
    op: str, x: RaggedArray, rows: Array, known: Any, capacity: int | tuple[int, ...] | None
) -> tuple[tuple[int, ...], Any]:
    """Static sizes of the levels below axis 0, and whether the rows fit them."""
    k, counts = x.kernels, entry_counts(x.partitions, x.capacity)[1:]
    readable = known is not None and k.is_concrete(x.partitions)
    if capacity is None and not readable:
        if known is not None and len(set(known.tolist())) == known.size:
            return counts, True  # no row twice, so they fit where they were
        raise DynamicShapeError(
            complaint(op, "a static capacity", "traced rows or lengths", "Call `ra.take(x, indices, capacity=)`.")
        )
    if readable:
        host = backend("numpy")
        need: Any = [int(n) for n in needed_entries(host_partitions(x), host.index(known))]
    else:
        need = k.call(needed_entries, x.partitions, rows)
    if capacity is None:
        return tuple(m if k.trims else n if m <= n else bucket_size(m) for m, n in zip(need, counts, strict=True)), True
    sizes = tuple(capacity) if isinstance(capacity, tuple | list) else (*counts[:-1], as_int(capacity))
    if len(sizes) != x.ragged_rank:
        raise ValueError(complaint(op, f"{x.ragged_rank} sizes", str(capacity), "Pass one per level below axis 0."))
    ok: Any = True
    for p, n, m in zip(x.partitions, sizes, need, strict=True):
        if isinstance(p, RowPartition):
            ok = ok & fits(op, m, n, "capacity", "capacity=")
    return sizes, ok


def _take(values: Array, partitions: Any, rows: Array, *, sizes: tuple[int, ...], ok: Any) -> Any:
    values, new = take_rows(values, partitions, rows, sizes)
    if ok is not True:  # clamp, so that splits stay within the entries below
        limits = entry_counts(new, values.shape[0])[1:]
        xp = namespace(rows)
        new = tuple(
            RowPartition(xp.minimum(p.splits, xp.asarray(n, dtype=p.splits.dtype)))
            if isinstance(p, RowPartition)
            else p
            for p, n in zip(new, limits, strict=True)
        )
    return spoil(values, ok), new


def _true_rows(mask: Array, *, size: int) -> Array:
    return kernels(mask).true_index(mask, size)


def boolean_mask(
    x: RaggedArray, mask: Array, /, *, size: int | None = None, capacity: int | tuple[int, ...] | None = None
) -> RaggedArray:
    """Rows where ``mask`` (``bool[nrows]``) is true, in order: ``[size, (len), *inner]``, capacity unchanged.

    Under jit the number of rows is data, so ``size`` must be given; rows past the true ones are empty, and
    more true ones than ``size`` raise under `checked`.

    >>> boolean_mask(ragged([[1, 2], [], [3]]), np.array([True, False, True])).tolist()
    [[1, 2], [3]]
    """
    if tuple(mask.shape) != (x.nrows,) or kind(mask.dtype) != "bool":
        got = f"{mask.dtype} {tuple(mask.shape)}"
        raise IndexError(complaint("boolean_mask", f"a bool mask of shape ({x.nrows},)", got, "Use one entry per row."))
    k = common("boolean_mask", [x.values, mask])
    mask = mask if kernels(mask) is k else k.asarray(mask)
    x = into(k, x).used_values()
    known = None
    if k.is_concrete(mask):
        known = k.host(mask).nonzero()[0]
        count: Any = known.size
        if size is not None:
            fits("boolean_mask", count, size, "size", "size=")
            known = backend("numpy").true_index(k.host(mask), size)
    elif size is None:
        raise DynamicShapeError(
            complaint("boolean_mask", "a static row count", "a traced mask", "Call `ra.boolean_mask(x, mask, size=)`.")
        )
    else:
        count = k.call(_count_true, mask)
    ok = fits("boolean_mask", count, count if size is None else size, "size", "size=")
    rows = k.index(k.call(_true_rows, mask, size=count if size is None else size))
    sizes = capacity
    if capacity is None and not k.trims:
        sizes = entry_counts(x.partitions, x.capacity)[1:]
    checked, fitting = _capacities("boolean_mask", x, rows, known, sizes)
    ok = ok if fitting is True else ok & fitting
    values, partitions = k.call(_take, x.values, x.partitions, rows, sizes=checked, ok=ok)
    return RaggedArray(values, partitions)


def _count_true(mask: Array) -> Array:
    xp = namespace(mask)
    return xp.sum(xp.astype(mask, xp.int32))
