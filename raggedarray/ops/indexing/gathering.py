"""Entries by index: rows, and positions within rows.

An index that an entry does not have raises `IndexError` where it can be read. Traced, it gives an empty entry,
or at the last level the dtype's fill value (NaN, the lowest signed or highest unsigned integer, True), never an
element of the neighbour. Negative indices count from the end of the row. Gradients go to what was read.
"""

from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import Partition, RowPartition, UniformPartition, entry_counts, uniform_levels
from ..._typing import Array
from ...backends import common, is_array, is_numpy, kernels, kind, namespace
from ...engine.arguments import level_sizes, sizes_of
from ...engine.axes import normal_axes, one_axis
from ...engine.broadcast.rows import move_to
from ...engine.index.gather import filled, first_short
from ...engine.index.rows import report, run
from ...engine.index.take_blocks import take_block
from ...engine.index.take_rows import Capacity, agree_above, known_rows, normal_rows, taken_rows
from ...engine.indices import index_like, to_dtype, widened
from ...engine.innermost import innermost
from ...engine.packing import as_rows
from ...engine.rearrange.rows import array_of, inner_axes_to_levels
from ...engine.resizing import with_capacity
from ...structure.levels import ancestors, library, parents, positions, rows_below

__all__ = ["gather", "take", "take_along_axis"]


def take(x: Any, indices: Any, /, *, axis: int = 0, capacity: Capacity = None) -> Any:
    """Entries by index, in that order, repeats allowed: ``int[n]`` gives ``[n, (len), *inner]``. Plain arrays too.

    On axis 0 indices of any shape stand for rows, ragged ones too, which add a level; on another axis dense ones
    take the same positions of every row, which all must have them. Negative indices count from the end; others
    out of range raise `IndexError`, or under jit give an empty row (a fill value where no axis is left).

    The capacity is exact on NumPy; on JAX that of ``x``, or where rows repeat ``bucket_size`` of what is
    needed. Under jit repeats are data: an index for each row, as `argsort` gives, is taken to be another order of the
    rows, which fit the capacity of ``x``; for others `capacity` must be given, an int or a size for each level of the
    result below axis 0. On other axes it is that of ``x`` times the number of indices.

    >>> take(ragged([[1, 2], [], [3]]), np.array([2, 0])).tolist()
    [[3], [1, 2]]
    >>> take(ragged([[1, 2], [3, 4, 5]]), np.array([-1, 0]), axis=1)
    array([[2, 1],
           [5, 3]])
    """
    return _taken(x, indices, axis, capacity, order=True)


def rows_at(x: RaggedArray, indices: Any) -> Any:
    """``x[indices]``: `take`, which under jit says no capacity by itself."""
    return _taken(x, indices, 0, None)


def _taken(x: Any, indices: Any, axis: int, capacity: Capacity, *, order: bool = False) -> Any:
    if isinstance(x, RaggedArray) and x.block is not None:
        (at,) = normal_axes(axis, x.ndim)
        index = _indices(indices)
        if order and capacity is None and at == 0 and x.ragged_rank == 1 and _is_traced_order(x, index):
            capacity = innermost(x).bound
        return take_block(x, index, at, capacity)
    x = array_of(x)
    if not isinstance(x, RaggedArray):
        if isinstance(indices, RaggedArray):
            return _from_dense(x, indices, axis)
        index = _indices(indices)
        k = common([x, index])
        x, index = (k.asarray(a) for a in (x, widened(index, k)))
        return namespace(x).take(x, index, axis=axis)
    axis = one_axis(axis, x.ndim)
    if isinstance(indices, RaggedArray):
        if axis:
            advice = "Use `ra.gather(x, indices, batch_dims=)`."
            raise TypeError(error_text("dense indices below axis 0", "ragged ones", advice))
        return _ragged_rows(x, indices, capacity)
    index = _indices(indices)
    if axis:
        out = run(x, [*[slice(None)] * axis, index, *[slice(None)] * (x.ndim - axis - 1)])
        return out if capacity is None or not isinstance(out, RaggedArray) else with_capacity(out, capacity)
    if index.ndim != 1:
        more = max(index.ndim - 1, 0)
        below = None if capacity is None else level_sizes(capacity, more + x.ragged_rank, given=more)
        flat = _taken(x, namespace(index).reshape(index, (-1,)), 0, below)
        return _shaped(flat, tuple(index.shape))
    k = common([x.values, index])
    x = move_to(k, x).used_values()
    rows_on_host = known_rows(k, x.nrows, index)
    index = index_like(x.values, widened(index, k))
    rows = rows_on_host if rows_on_host is not None and is_numpy(index) else k.call(normal_rows, index, nrows=x.nrows)
    order = order and index.shape[0] == x.nrows
    return taken_rows(x, rows, rows_on_host, capacity, exist=rows_on_host is not None and capacity is None, order=order)


def _is_traced_order(x: RaggedArray, index: Any) -> bool:
    """Whether there is an index for each row, which cannot be read."""
    return tuple(index.shape) == (x.nrows,) and not kernels(index).is_concrete(index)


def _shaped(flat: RaggedArray, shape: tuple[int, ...]) -> Any:
    """Rows under dense axes of this shape."""
    if not shape:
        return flat[0]
    return RaggedArray(flat.values, (*uniform_levels(shape[0], shape[1:]), *flat.partitions))


def _indices(indices: Any) -> Any:
    array = indices if is_array(indices) else common([]).asarray(indices)
    if kind(array.dtype) not in ("int", "uint"):
        raise TypeError(error_text("integer indices", f"dtype {array.dtype}", "Convert them."))
    return array


def _from_dense(x: Array, indices: RaggedArray, axis: int) -> RaggedArray:
    """Rows of a plain array, for each of the ragged indices."""
    if axis not in (0, -x.ndim):
        raise ValueError(error_text("axis 0 of a plain array", f"axis {axis}", "Move the axis to the front."))
    k = common([x, indices.values])
    x = k.asarray(x)
    indices = move_to(k, widened(_indices(indices), k)).used_values()
    values, missing = k.call(_pick_rows, x, indices)
    report(missing, 0)
    return RaggedArray(values, indices.partitions)


def _pick_rows(x: Array, indices: RaggedArray) -> Any:
    rows, bad = _row_index(indices, nrows=x.shape[0])
    return filled(kernels(x).pick(x, rows), rows < x.shape[0], None), bad


def _ragged_rows(x: RaggedArray, indices: RaggedArray, capacity: Capacity) -> RaggedArray:
    """A level of rows of ``x``: one row for each index."""
    k = common([x.values, indices.values])
    x, indices = (move_to(k, a).used_values() for a in (x, widened(_indices(indices), k)))
    if indices.inner_shape:
        indices = inner_axes_to_levels(indices, indices.ndim - 1)
    rows, missing = k.call(_row_index, indices, nrows=x.nrows)
    report(missing, 0)
    on_host = k.host(rows) if k.is_concrete(rows) else None
    if capacity is not None:
        more = indices.ragged_rank
        capacity = level_sizes(capacity, more + x.ragged_rank, given=more)
    flat = taken_rows(x, rows, on_host, capacity)
    return RaggedArray(flat.values, (*indices.partitions, *flat.partitions))


def _row_index(indices: RaggedArray, *, nrows: int) -> Any:
    xp, like = indices.xp, library(indices.partitions, indices.values)
    above = ancestors(indices.partitions, 0, indices.capacity, like)
    wanted = to_dtype(indices.values, like)
    at = xp.where(wanted < 0, wanted + nrows, wanted)
    used, fine = above < indices.nrows, (at >= 0) & (at < nrows)
    rows = xp.where(used & fine, at, xp.asarray(nrows, dtype=at.dtype))
    return rows, first_short(used & ~fine, above, xp.full_like(at, nrows), wanted)


def gather(x: Any, indices: Any, /, *, batch_dims: int = 0, capacity: Capacity = None) -> Any:
    """Entries of axis ``batch_dims`` by index, within each entry of the axes before, which ``indices`` shares.

    ``batch_dims=0`` takes rows, as `take` does; with 1, indices ``[nrows, (n)]``, ragged or dense, give positions
    within each row. The result has the shape of ``indices`` and the axes of ``x`` behind. Negative indices count
    from the row's end; others out of range raise `IndexError`, or traced give the fill value.

    Capacity: that of ``indices``. With ragged axes behind as `take` says: indices that share the rows of ``x``, as
    those of `argsort` do, are taken to be another order; under jit others need ``capacity``, an int or a size for each
    level of the result below axis 0.

    >>> x = ragged([[1, 2, 3], [4, 5]])
    >>> gather(x, ragged([[2], [0, -1]]), batch_dims=1).tolist()
    [[3], [4, 5]]
    """
    batch_dims = sizes_of(batch_dims)
    if batch_dims == 0:
        return _taken(x, indices, 0, capacity, order=True)
    return entries_at(x, indices, batch_dims, capacity)


def entries_at(x: Any, indices: Any, batch: int, capacity: Capacity = None, *, advice: str | None = None) -> Any:
    """`gather` below axis 0; ``advice`` for one who counts the axes otherwise."""
    x, indices = as_rows(x), as_rows(indices)
    index_array = _indices(indices)
    _need_ragged(x, index_array)
    if not 0 < batch <= index_array.ndim or batch >= x.ndim:
        most = min(index_array.ndim, x.ndim - 1)
        raise ValueError(error_text(f"batch_dims from 0 to {most}", str(batch), advice or "Check the shapes."))
    k = common([a.values if isinstance(a, RaggedArray) else a for a in (x, index_array)])
    single = index_array.ndim == batch  # one index for each entry
    if single:
        index_array = (
            index_array[..., None]
            if isinstance(index_array, RaggedArray)
            else namespace(index_array).expand_dims(index_array, axis=-1)
        )
    index_levels = levels(k, widened(index_array, k), index_array.ndim - 1)
    x = levels(k, x, max(batch, x.ragged_rank if isinstance(x, RaggedArray) else 0))
    agree_above(x, index_levels, batch - 1)
    index, missing = k.call(_within, x.partitions, index_levels, size=x.capacity, batch=batch)
    where = "Check `x.row_lengths()`." if x.shape[batch] is None else "Check `x.shape`."
    report(missing, batch, advice or where)
    below = x.partitions[batch:]
    if below:
        on_host = k.host(index) if k.is_concrete(index) else None
        if capacity is not None:
            more = index_levels.ragged_rank - single
            capacity = level_sizes(capacity, more + len(below), given=more)
        order = _same_entries(x, index_levels, batch)
        flat = taken_rows(RaggedArray(x.values, below), index, on_host, capacity, order=order)
        out = rebuild((*index_levels.partitions, *flat.partitions), flat.values)
    else:
        out = rebuild(index_levels.partitions, k.call(_pick_filled, x.values, index))
    return out[(*[slice(None)] * batch, 0)] if single else out


def _same_entries(x: RaggedArray, indices: RaggedArray, level: int) -> bool:
    """Whether there is an index for each entry of this level, as far as structure can say."""
    if indices.ragged_rank != level or indices.capacity != entry_counts(x.partitions, x.capacity)[level]:
        return False
    return all(
        p.splits is q.splits if isinstance(p, RowPartition) and isinstance(q, RowPartition) else p == q
        for p, q in zip(x.partitions, indices.partitions, strict=False)
    )


def _need_ragged(x: Any, indices: Any) -> None:
    if not isinstance(x, RaggedArray) and not isinstance(indices, RaggedArray):
        raise TypeError(error_text("a RaggedArray", "plain arrays", "Use `take_along_axis` of their library."))


def levels(k: Any, x: Any, count: int) -> RaggedArray:
    """An array, ragged or plain, with ``count`` partitions, in this backend."""
    if isinstance(x, RaggedArray):
        return inner_axes_to_levels(move_to(k, x).used_values(), count)
    x = k.asarray(x)
    partitions: tuple[Partition, ...] = ()
    entries = x.shape[0]
    for n in x.shape[1 : count + 1]:
        partitions, entries = (*partitions, UniformPartition(entries, n)), entries * n
    return RaggedArray(namespace(x).reshape(x, (entries, *x.shape[count + 1 :])), partitions)


def _within(partitions: tuple[Partition, ...], indices: RaggedArray, *, size: int, batch: int) -> Any:
    """Which entry of level ``batch`` each index stands for."""
    like = library((*partitions, *indices.partitions), None)
    xp = namespace(like)
    above = ancestors(indices.partitions, batch - 1, indices.capacity, like)
    used = above < entry_counts(indices.partitions, indices.capacity)[batch - 1]
    missing = entry_counts(partitions, size)
    entry = xp.where(used, above, xp.asarray(missing[batch - 1], dtype=above.dtype))
    starts, lengths = rows_below(partitions[batch - 1], entry)
    wanted = to_dtype(indices.values, like)
    at = xp.where(wanted < 0, wanted + lengths, wanted)
    fine = (at >= 0) & (at < lengths)
    index = xp.where(used & fine, starts + at, xp.asarray(missing[batch], dtype=at.dtype))
    return index, first_short(used & ~fine, above, lengths, wanted)


def _pick_filled(values: Array, index: Array) -> Array:
    return filled(kernels(values).pick(values, index), index < values.shape[0], None)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """``x`` at ``indices`` along ``axis``, at their own place along the other axes: the shape of ``indices``.

    Both have as many axes, and the same rows before ``axis``; plain operands too. Undoes `argsort`. Negative
    indices count from the row's end; others out of range raise `IndexError`, or traced give the fill value.
    Capacity: that of ``indices``.

    >>> x = ragged([[3, 1, 2], [], [5, 4]])
    >>> take_along_axis(x, ragged([[1, 2, 0], [], [1]]), axis=1).tolist()
    [[1, 2, 3], [], [4]]
    """
    x, indices = as_rows(x), as_rows(indices)
    index_array = _indices(indices)
    if not isinstance(x, RaggedArray) and not isinstance(index_array, RaggedArray):
        k = common([x, index_array])
        x, index_array = (k.asarray(a) for a in (x, widened(index_array, k)))
        return namespace(x).take_along_axis(x, index_array, axis=axis)
    if x.ndim != index_array.ndim:
        got = f"{x.ndim} and {index_array.ndim} axes"
        raise ValueError(error_text("as many axes", got, "Use `ra.gather(x, indices, batch_dims=)`."))
    axis = one_axis(axis, x.ndim)
    k = common([a.values if isinstance(a, RaggedArray) else a for a in (x, index_array)])
    for n, (a, b) in enumerate(zip(x.shape, index_array.shape, strict=True)):
        if n != axis and None not in (a, b) and a != b:
            raise ValueError(error_text(f"{a} entries along axis {n}", f"{b}", "Align them first."))
    x, index_levels = levels(k, x, x.ndim - 1), levels(k, widened(index_array, k), x.ndim - 1)
    agree_above(x, index_levels, max(axis - 1, 0)) if axis else None
    index, missing = k.call(_along, x.partitions, index_levels, size=x.capacity, axis=axis)
    report(missing, axis)
    return rebuild(index_levels.partitions, k.call(_pick_filled, x.values, index))


def _along(partitions: tuple[Partition, ...], indices: RaggedArray, *, size: int, axis: int) -> Any:
    """The slot that each index stands for: down the levels of ``x``, with the index at ``axis``."""
    like = library((*partitions, *indices.partitions), None)
    xp, k = namespace(like), kernels(like)
    counts, index_counts = entry_counts(partitions, size), entry_counts(indices.partitions, indices.capacity)
    wanted = to_dtype(indices.values, like)
    row = ancestors(indices.partitions, 0, indices.capacity, like)
    used, none = row < index_counts[0], xp.zeros_like(row)
    lengths = xp.full_like(row, counts[0])
    entry, bad, short = none, row < 0, lengths
    for level in range(len(counts)):
        starts = none
        if level:
            starts, lengths = rows_below(partitions[level - 1], entry)
        if level == axis:
            at = xp.where(wanted < 0, wanted + lengths, wanted)
        elif level == 0:
            at = row
        else:
            here = ancestors(indices.partitions, level, indices.capacity, like)
            p = indices.partitions[level - 1]
            at = k.pick(positions(p, parents(p, index_counts[level], like)), here)
        lost = used & ~bad & ((at < 0) | (at >= lengths))
        short = xp.where(lost, lengths, short)
        bad = bad | lost
        entry = xp.where(used & ~bad, starts + at, xp.asarray(counts[level], dtype=at.dtype))
    return entry, first_short(bad, row, short, wanted)
