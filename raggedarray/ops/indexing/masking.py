"""Masks: rows, or entries within rows, where a mask holds, and where values are not zero."""

from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import DynamicShapeError, error_text
from ..._partition import Partition, RowPartition, entry_counts
from ..._signatures import like_first
from ..._typing import Array
from ...backends import Segments, backend, common, is_array, kernels, kind, namespace
from ...engine.arguments import level_sizes, sizes_of
from ...engine.broadcast.rows import move_to
from ...engine.index.keys import expand
from ...engine.index.rows import run
from ...engine.index.take_rows import Capacity, agree_above, capacities, take_body
from ...engine.overflow import check_capacity, fill_unless, with_mark
from ...engine.packing import as_rows
from ...engine.rearrange.rows import array_of, inner_axes_to_levels
from ...engine.resizing import with_capacity
from ...structure.levels import ancestors, library, parents, positions, splits_of, take_entries
from ..manipulation.merging import merge_rows

__all__ = ["boolean_mask", "nonzero"]


@like_first
def boolean_mask(x: Any, mask: Any, /, *, size: int | None = None, capacity: Capacity = None) -> Any:
    """Entries where ``mask`` holds, in order, capacity unchanged: rows, or with a ragged mask entries of each row.

    A dense mask ``bool[nrows]``, or of more uniform axes in front of a ragged one, keeps rows: ``[size, (len),
    *inner]``. Under jit the number of rows is data, so ``size`` must be given; rows past the true ones are empty, and
    more true ones than ``size`` raise under `checked`. A ragged mask has the first axes of ``x`` and filters the last
    of them, which becomes ragged; other axes keep their size. Different rows raise ValueError.

    >>> boolean_mask(ragged([[1, 2], [], [3]]), np.array([True, False, True])).tolist()
    [[1, 2], [3]]
    >>> x = ragged([[1, -2], [], [3]])
    >>> boolean_mask(x, x > 0).tolist()
    [[1], [], [3]]
    """
    x, mask = array_of(as_rows(x)), as_rows(mask)
    size = size if size is None else sizes_of(size)
    if not is_array(mask):
        mask = common([]).asarray(mask)
    if not isinstance(x, RaggedArray):
        return _of_plain(x, mask, size, capacity)
    if isinstance(mask, RaggedArray):
        if size is not None:
            raise ValueError(error_text("no size= with a ragged mask", str(size), "Drop it."))
        out = _within_rows(x, mask)
        if capacity is None or not isinstance(out, RaggedArray):
            return out
        return with_capacity(out, level_sizes(capacity, out.ragged_rank))
    if mask.ndim > 1 and kind(mask.dtype) == "bool":
        if size is None or tuple(mask.shape) != tuple(x.shape[: mask.ndim]):
            return run(x, expand((mask,), x.shape))
        x = merge_rows(inner_axes_to_levels(x, max(x.ragged_rank, mask.ndim - 1)), mask.ndim - 1, None)
        mask = namespace(mask).reshape(mask, (-1,))
    if tuple(mask.shape) != (x.nrows,) or kind(mask.dtype) != "bool":
        got = f"{mask.dtype} {tuple(mask.shape)}"
        raise IndexError(error_text(f"a bool mask of shape ({x.nrows},)", got, "Use one entry per row."))
    return _rows_where(x, mask, size, capacity)


def _of_plain(x: Any, mask: Any, size: int | None, capacity: Capacity) -> Any:
    if isinstance(mask, RaggedArray):
        raise TypeError(error_text("a RaggedArray", type(x).__name__, "Make one with `ra.ragged`."))
    if size is not None or capacity is not None:
        raise ValueError(error_text("no size= for a plain array", str(size), "Use `ra.nonzero(mask, size=)`."))
    return x[mask]


def _rows_where(x: RaggedArray, mask: Array, size: int | None, capacity: Capacity) -> RaggedArray:
    """The rows whose entry of the mask is True."""
    k = common([x.values, mask])
    host = kernels(mask).host(mask) if kernels(mask).is_concrete(mask) else None
    mask = k.asarray(mask)
    x = move_to(k, x).used_values()
    on_host = None
    if host is not None:
        on_host = host.nonzero()[0]
        count: Any = on_host.size
        if size is not None:
            check_capacity(count, size, "size", "size=")
            on_host = backend("numpy").true_index(host, size)
    elif size is None:
        raise DynamicShapeError(
            error_text("a static row count", "a traced mask", "Call `ra.boolean_mask(x, mask, size=)`.")
        )
    else:
        count = k.call(_count_true, mask)
    ok = check_capacity(count, count if size is None else size, "size", "size=")
    rows = k.index(k.call(_true_index, mask, size=count if size is None else size))
    sizes = capacity
    if capacity is None and not k.has_exact_sizes:
        sizes = entry_counts(x.partitions, x.capacity)[1:]
    checked, fitting = capacities(x, rows, on_host, sizes)
    ok = ok if fitting is True else ok & fitting
    values, partitions = k.call(take_body, x.values, x.partitions, rows, sizes=checked, ok=ok)
    marked: RaggedArray = with_mark(RaggedArray(values, partitions), ok)
    return marked


def _count_true(mask: Array) -> Array:
    xp = namespace(mask)
    return xp.sum(xp.astype(mask, xp.int32))


def _true_index(mask: Array, *, size: int) -> Array:
    return kernels(mask).true_index(mask, size)


def _within_rows(x: RaggedArray, mask: RaggedArray) -> Any:
    if kind(mask.dtype) != "bool" or mask.ndim > x.ndim:
        got = f"{mask.dtype} of shape {mask.shape}"
        raise IndexError(error_text(f"a bool mask for the first axes of {x.shape}", got, "Compare first."))
    k = common([x.values, mask.values])
    x, mask = move_to(k, x).used_values(), move_to(k, mask).used_values()
    level = mask.ndim - 1
    mask, x = inner_axes_to_levels(mask, level), inner_axes_to_levels(x, level)
    agree_above(x, mask, level)
    values, partitions = k.call(_filtered, x.values, x.partitions, mask, level=level)
    return rebuild((*x.partitions[: level - 1], *partitions[level - 1 :]), values)


def _filtered(values: Array, partitions: tuple[Partition, ...], mask: RaggedArray, *, level: int) -> Any:
    counts = entry_counts(partitions, values.shape[0])
    p, like = partitions[level - 1], library(partitions, values)
    xp, k = namespace(like), kernels(like)
    above = parents(p, counts[level], like)
    on_host = (
        ancestors(mask.partitions, level - 1, mask.capacity, like)
        < entry_counts(mask.partitions, mask.capacity)[level - 1]
    )
    keep = _fitted(mask.values & on_host, counts[level])
    taken = k.segment_reduce("sum", xp.astype(keep, like.dtype), Segments(counts[level - 1], ids=above))
    partition = RowPartition(splits_of(xp.astype(taken, like.dtype)))
    index = k.true_index(keep, k.bound(partition.splits[-1], counts[level]))
    return take_entries(values, partitions, level, partition, xp.astype(index, like.dtype), counts[level + 1 :])


def _fitted(keep: Array, size: int) -> Array:
    """A mask over ``size`` slots: cut, or padded with False."""
    xp = namespace(keep)
    if keep.shape[0] < size:
        return xp.concat((keep, xp.zeros((size - keep.shape[0],), dtype=keep.dtype)))
    return keep[:size]


def nonzero(x: Any, /, *, size: int | None = None) -> tuple[Array, ...]:
    """Where elements are not zero: one index array ``int[size]`` per axis, in order. Plain arrays too.

    The count is data, so under jit ``size`` must be given; indices past the count are -1; of a larger
    count all are the lowest integer, and it raises under `checked`.

    >>> nonzero(ragged([[0, 5], [], [7]]))
    (array([0, 2], dtype=int32), array([1, 0], dtype=int32))
    """
    x = array_of(as_rows(x))
    if not isinstance(x, RaggedArray) and size is None:
        coordinates: tuple[Array, ...] = namespace(x).nonzero(x)
        return coordinates
    if isinstance(x, RaggedArray):
        x = inner_axes_to_levels(x, x.ndim - 1)
    k = kernels(x.values if isinstance(x, RaggedArray) else x)
    keep = k.call(_is_nonzero, x)
    count: Any = k.call(_count_true, keep)
    if size is None:
        if not k.is_concrete(count):
            raise DynamicShapeError(error_text("a static size", "a traced count", "Pass `size=`."))
        size = int(count)
    size = sizes_of(size)
    ok = check_capacity(count, size, "size", "size=")
    if isinstance(x, RaggedArray):
        out: tuple[Array, ...] = k.call(_coordinates, x.partitions, keep, size=size)
    else:
        out = k.call(_dense_coordinates, keep, shape=tuple(x.shape), size=size)
    return tuple(fill_unless(at, ok) for at in out)


def _is_nonzero(x: Any) -> Array:
    if not isinstance(x, RaggedArray):
        return namespace(x).reshape(x != 0, (-1,))
    keep = x.values if kind(x.dtype) == "bool" else x.values != 0
    like = library(x.partitions, x.values)
    return keep & (ancestors(x.partitions, 0, x.capacity, like) < x.nrows)


def _dense_coordinates(keep: Array, *, shape: tuple[int, ...], size: int) -> tuple[Array, ...]:
    at = kernels(keep).true_index(keep, size)
    xp, exists = namespace(at), at < keep.shape[0]
    out: tuple[Array, ...] = ()
    for n in reversed(shape):
        out = (xp.where(exists, at % max(n, 1), xp.full_like(at, -1)), *out)
        at = at // max(n, 1)
    return out


def _coordinates(partitions: tuple[Partition, ...], keep: Array, *, size: int) -> tuple[Array, ...]:
    like = library(partitions, keep)
    xp, k = namespace(like), kernels(like)
    found = xp.astype(k.true_index(keep, size), like.dtype)
    exists = found < keep.shape[0]
    out: tuple[Array, ...] = ()
    counts = entry_counts(partitions, keep.shape[0])
    entry = found
    for level in range(len(partitions), 0, -1):
        above = parents(partitions[level - 1], counts[level], like)
        at = k.pick(positions(partitions[level - 1], above), entry)
        out = (xp.where(exists, at, xp.full_like(at, -1)), *out)
        entry = xp.where(exists, k.pick(above, entry), xp.asarray(counts[level - 1], dtype=like.dtype))
    return xp.where(exists, entry, xp.full_like(entry, -1)), *out
