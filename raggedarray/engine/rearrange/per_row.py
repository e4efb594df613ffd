"""Counts that differ from row to row or from entry to entry: how `pad` and `repeat` lay out rows of new lengths."""

from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import DynamicShapeError, error_text
from ..._partition import Partition, RowPartition, entry_counts
from ..._typing import Array
from ...backends import Kernels, Segments, common, is_array, kernels, kind, namespace
from ...structure.checks import require
from ...structure.levels import (
    ancestors,
    library,
    needed_entries,
    parents,
    positions,
    rows_below,
    splits_of,
    take_entries,
    used_at,
)
from ..arguments import level_sizes, sizes_of
from ..broadcast.rows import move_to
from ..bucket_size import bucket_size
from ..index.take_rows import agree_above
from ..indices import to_dtype, widened
from ..overflow import both, check_capacity, fill_unless, with_mark
from .rows import inner_axes_to_levels

Sizes = int | tuple[int, ...] | None


def not_negative(k: Kernels, counts: Array, what: str, advice: str) -> Any:
    """True, or a traced bool: whether counts are 0 or more."""
    if not counts.size:
        return True
    xp = namespace(counts)
    low = int(k.host(counts).min()) if k.is_concrete(counts) else xp.min(counts)
    return require(low >= 0, f"{what} of at least 0", "{low}", advice, low=low)


def per_row(x: RaggedArray, k: Kernels, axis: int, given: Any, what: str) -> tuple[Array, Any]:
    """One count of at least 0 for each entry above ``axis``, or one for all; and whether they are."""
    shape = tuple(x.shape[:axis])
    if not is_array(given):
        given = k.index(k.asarray([sizes_of(given)]))[0]
    found = tuple(given.shape)
    if kind(given.dtype) not in ("int", "uint") or found not in ((), shape):
        got = f"{given.dtype} of shape {found}"
        raise TypeError(error_text(f"an integer {what}, or one per row, of shape {shape}", got, "Pass one per row."))
    if isinstance(given, RaggedArray):
        given = inner_axes_to_levels(move_to(k, widened(given, k)).used_values(), axis - 1)
        counts = k.call(_or_zero, given.values, given.partitions)
    else:
        counts = k.asarray(widened(given, k))
        counts = namespace(counts).reshape(counts, (-1,)) if found else counts
    return counts, not_negative(k, counts, f"a {what}", "Cut with `ra.truncate`.")


def pad_each(x: RaggedArray, before: Any, after: Any, axis: int, fill: Array | None, capacity: Any) -> Any:
    """Rows longer by counts of their own, at their ends."""
    arrays = [a.values if isinstance(a, RaggedArray) else a for a in (before, after) if is_array(a)]
    k = common([x.values, *arrays])
    x = inner_axes_to_levels(move_to(k, x).used_values(), max(axis, x.ragged_rank))
    (first, fine), (last, good) = (per_row(x, k, axis, a, what) for a, what in ((before, "before"), (after, "after")))
    need = k.call(_padded_lengths, x.partitions, first, last, axis=axis, size=x.capacity)[0][-1]
    have = entry_counts(x.partitions, x.capacity)[axis]
    limit, ok = _limit(k, need, have, None if capacity is None else sizes_of(capacity))
    ok = both(ok, both(fine, good))
    values, new = k.call(_pad_each, x.values, x.partitions, first, last, fill, axis=axis, limit=limit, ok=ok)
    return with_mark(rebuild((*x.partitions[: axis - 1], *new), values), ok)


def _limit(k: Kernels, need: Array, have: int, given: int | None) -> tuple[int, Any]:
    """A static size for ``need`` entries, and whether they fit it."""
    if given is not None:
        return given, check_capacity(need, given, "capacity", "capacity=")
    if not k.is_concrete(need):
        advice = "Pass `capacity=`."
        raise DynamicShapeError(error_text("a static capacity", "traced counts or lengths", advice))
    exact = int(need)
    return (exact if k.has_exact_sizes else have if exact <= have else bucket_size(exact)), True


def _padded_lengths(
    partitions: tuple[Partition, ...], first: Array, last: Array, *, axis: int, size: int
) -> tuple[Array, Array, Array, Array]:
    """New splits; the old rows' starts and lengths, and how much comes before each."""
    like = library(partitions, first)
    xp, count = namespace(like), entry_counts(partitions, size)[axis - 1]
    here = xp.arange(count, dtype=like.dtype)
    used = here < used_at(partitions, axis - 1)
    starts, rows = rows_below(partitions[axis - 1], here)
    none = xp.zeros_like(here)
    a, b = (xp.maximum(_fitted(to_dtype(n, like), count), none) for n in (first, last))
    return splits_of(xp.where(used, rows + a + b, none)), starts, rows, a


def _fitted(counts: Array, size: int) -> Array:
    """One for each of ``size`` entries: one for all, or as many as there are; entries without one are slack."""
    xp = namespace(counts)
    if counts.ndim == 0 or counts.shape[0] == size:
        return xp.broadcast_to(counts, (size,))
    if counts.shape[0] > size:
        return counts[:size]
    return xp.concat((counts, xp.zeros((size - counts.shape[0],), dtype=counts.dtype)))


def _pad_each(
    values: Array, partitions: tuple[Partition, ...], first: Array, last: Array, fill: Array | None, *, axis: int,
    limit: int, ok: Any,
) -> Any:  # fmt: skip
    counts, k = entry_counts(partitions, values.shape[0]), kernels(first)
    splits, starts, rows, ahead = _padded_lengths(partitions, first, last, axis=axis, size=values.shape[0])
    xp = namespace(splits)
    made = RowPartition(splits)
    above = parents(made, k.bound(made.splits[-1], limit), splits)
    at = positions(made, above) - k.pick(ahead, above)
    used = above < counts[axis - 1]
    inside = used & (at >= 0) & (at < k.pick(rows, above))
    index = xp.where(inside, k.pick(starts, above) + at, xp.asarray(counts[axis], dtype=at.dtype))
    values, new = take_entries(values, partitions, axis, made, index, counts[axis + 1 :])
    if fill is not None and axis == len(partitions):
        vp = namespace(values)
        added = vp.reshape(used & ~inside, (values.shape[0], *(1,) * (values.ndim - 1)))
        fill = vp.reshape(fill, (1,) * (values.ndim - fill.ndim) + tuple(fill.shape))
        values = vp.where(added, fill, values)
    return fill_unless(values, ok), new[axis - 1 :]


def repeat_entries(x: RaggedArray, repeats: RaggedArray, axis: int, capacity: Sizes) -> Any:
    """Every entry along ``axis`` as often as its own count, which lies in the same rows, says."""
    if kind(repeats.dtype) not in ("int", "uint") or repeats.ndim != axis + 1:
        got, expected = f"{repeats.dtype} of shape {repeats.shape}", f"integer repeats of shape {x.shape[: axis + 1]}"
        raise TypeError(error_text(expected, got, "Pass one per entry."))
    k = common([x.values, repeats.values])
    x = inner_axes_to_levels(move_to(k, x).used_values(), max(axis, x.ragged_rank))
    mine = inner_axes_to_levels(move_to(k, widened(repeats, k)).used_values(), axis)
    agree_above(x, mine, axis)
    given = k.call(_or_zero, mine.values, mine.partitions)
    fine = not_negative(k, given, "repeats", "Pass counts.")
    mine = RaggedArray(given, mine.partitions)
    counts = entry_counts(x.partitions, x.capacity)[axis:]
    asked = None if capacity is None else level_sizes(capacity, x.ragged_rank, given=axis - 1)
    sizes = asked if isinstance(asked, tuple) else (asked,) * len(counts)
    each, splits = k.call(_each_and_splits, x.partitions, mine, axis=axis, size=x.capacity)
    limit, ok = _limit(k, splits[-1], counts[0], sizes[0])
    limits: tuple[int, ...] = ()
    if counts[1:]:
        index = k.call(_entry_of, each, count=limit)
        for need, n, size in zip(needed_entries(x.partitions[axis:], index), counts[1:], sizes[1:], strict=True):
            more, enough = _limit(k, need, n, size)
            limits, ok = (*limits, more), both(ok, enough)
    ok = both(ok, fine)
    values, new = k.call(_repeated, x.values, x.partitions, each, splits, axis=axis, limits=(limit, *limits), ok=ok)
    return with_mark(rebuild((*x.partitions[: axis - 1], *new), values), ok)


def _or_zero(values: Array, partitions: tuple[Partition, ...]) -> Array:
    """Counts, 0 in slack."""
    if not partitions:
        return values
    xp, used = namespace(values), used_at(partitions, len(partitions))
    return xp.where(xp.arange(values.shape[0]) < used, values, xp.zeros_like(values))


def _each_and_splits(partitions: tuple[Partition, ...], repeats: RaggedArray, *, axis: int, size: int) -> Any:
    """How often each old entry comes, and the new splits."""
    counts, like = entry_counts(partitions, size), library(partitions, repeats.values)
    xp, k = namespace(like), kernels(like)
    above = parents(partitions[axis - 1], counts[axis], like)
    known = ancestors(repeats.partitions, axis - 1, repeats.capacity, like)
    known = known < entry_counts(repeats.partitions, repeats.capacity)[axis - 1]
    each = xp.where(known, to_dtype(repeats.values, like), xp.zeros_like(known, dtype=like.dtype))
    each = xp.maximum(_fitted(each, counts[axis]), xp.zeros((counts[axis],), dtype=like.dtype))
    each = xp.where(above < counts[axis - 1], each, xp.zeros_like(each))
    return each, splits_of(k.segment_reduce("sum", each, Segments(counts[axis - 1], ids=above)))


def _entry_of(each: Array, *, count: int) -> Array:
    splits = splits_of(each)
    k = kernels(splits)
    return k.row_ids(splits, k.bound(splits[-1], count))


def _repeated(
    values: Array, partitions: tuple[Partition, ...], each: Array, splits: Array, *, axis: int,
    limits: tuple[int, ...], ok: Any,
) -> Any:  # fmt: skip
    made = RowPartition(splits)
    index = _entry_of(each, count=limits[0])
    values, new = take_entries(values, partitions, axis, made, index, limits[1:])
    return fill_unless(values, ok), (made, *new[axis:])
