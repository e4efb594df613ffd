"""Arithmetic of stacked partitions: which entry lies where, on plain arrays and partitions.

Level 0 are the rows; the entries of level ``l`` lie below partition ``l - 1``; the last level are the
slots of ``values``. At an inner level the entries past the used ones are slack. Their index "above" is
one past the last entry, so that a lookup there finds the zero that `Kernels.pick` appends.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .._partition import Partition, RowPartition, UniformPartition, entry_counts, levels_only
from .._typing import Array
from ..backends import Segments, kernels, namespace


def library(partitions: tuple[Partition, ...], values: Array) -> Array:
    """An array of the library that indices are computed in: splits, if there are any."""
    return next((a for p in partitions for a in p.arrays()), values)


def used_slots(partitions: tuple[Partition, ...]) -> Array:
    """How many slots of ``values`` hold data (the last partition is a `RowPartition`)."""
    last = levels_only(partitions)[-1]
    assert isinstance(last, RowPartition)
    return last.splits[-1]


def used_at(partitions: tuple[Partition, ...], level: int) -> Any:
    """How many entries of ``level`` are in use: an int, or an array."""
    used: Any = partitions[0].nrows
    for p in levels_only(partitions[:level]):
        used = used * p.length if isinstance(p, UniformPartition) else p.splits[-1]
    return used


def known_used(p: RowPartition) -> Any:
    """How many entries lie below: an int where splits can be read, in a trace too, else traced."""
    k = kernels(p.splits)
    return int(k.host(p.splits)[-1]) if k.is_concrete(p.splits) else p.splits[-1]


def used_mask(partitions: tuple[Partition, ...], capacity: int) -> Array:
    """Which slots hold data: ``bool[capacity]``."""
    used = used_slots(partitions)
    xp = namespace(used)
    return xp.arange(capacity, dtype=used.dtype) < used


def column(a: Array, like: Array) -> Array:
    """``[capacity]`` as ``[capacity, 1, ...]``, to meet values."""
    return namespace(a).reshape(a, (a.shape[0], *(1,) * (like.ndim - 1)))


def parents(p: Partition, count: int, like: Array) -> Array:
    """Index of the entry above each of ``count`` entries; ``p.nrows`` for slack under a `RowPartition`."""
    (level,) = levels_only((p,))
    if isinstance(level, RowPartition):
        return kernels(level.splits).row_ids(level.splits, count)
    xp = namespace(like)
    return xp.arange(count, dtype=like.dtype) // max(level.length, 1)


def positions(p: Partition, above: Array) -> Array:
    """Index of each entry within the entry above it; 0 for slack. ``above`` is what `parents` gave."""
    (level,) = levels_only((p,))
    xp = namespace(above)
    here = xp.arange(above.shape[0], dtype=above.dtype)
    if isinstance(level, UniformPartition):
        return here - above * level.length
    k = kernels(above)
    starts = k.pick(xp.astype(level.splits[:-1], above.dtype, copy=False), above)
    return xp.where(above < p.nrows, here - starts, xp.zeros_like(here))


def composed_splits(partitions: tuple[Partition, ...], like: Array) -> Array:
    """Where the slots of each entry above ``partitions[0]`` begin and end: ``int[nrows + 1]``."""
    xp = namespace(like)
    first, *rest = levels_only(partitions)
    if isinstance(first, RowPartition):
        splits = first.splits
    else:
        splits = xp.arange(first.nrows + 1, dtype=like.dtype) * first.length
    for p in rest:
        splits = xp.take(p.splits, splits, axis=0) if isinstance(p, RowPartition) else splits * p.length
    return splits


def ancestors(partitions: tuple[Partition, ...], level: int, capacity: int, like: Array) -> Array:
    """Index of the entry of ``level`` that each slot of ``values`` lies in; one past the last for slack."""
    below = partitions[level:]
    if not below:
        xp = namespace(like)
        return xp.arange(capacity, dtype=like.dtype)
    splits, used = composed_splits(below, like), None
    for p in levels_only(partitions[:level]):
        if isinstance(p, RowPartition):
            used = p.splits[-1:]
        elif used is not None:
            used = used * p.length
    if used is not None and isinstance(below[0], UniformPartition):  # which has entries below slack too
        xp = namespace(splits)
        splits = xp.minimum(splits, xp.take(splits, used, axis=0))
    return parents(RowPartition(splits), capacity, like)


class Groups(NamedTuple):
    """The slots of ``values``, grouped by their coordinates along the axes that a reduction keeps.

    ``partitions`` and ``nrows`` are the structure of the groups; without partitions, of a dense axis.
    ``new`` says whether the partitions were computed here (columns) or are some of the original ones.
    """

    nrows: int
    partitions: tuple[Partition, ...]
    segments: Segments
    new: bool


def traced_longest(p: RowPartition) -> Array:
    """Length of the longest row, 0 of none, where it cannot be read: see `longest_row`."""
    xp = namespace(p.splits)
    return xp.max(p.lengths) if p.nrows else xp.zeros((), dtype=p.splits.dtype)


def splits_of(lengths: Array) -> Array:
    """Row splits from row lengths."""
    xp = namespace(lengths)
    zero = xp.zeros((1,), dtype=lengths.dtype)
    return xp.concat((zero, xp.cumulative_sum(lengths, dtype=lengths.dtype)))


def group(
    partitions: tuple[Partition, ...], reduced: tuple[int, ...], capacity: int, length: int | None, values: Array
) -> Groups:
    """Group the slots for a reduction over the levels ``reduced`` (not empty).

    A run of innermost levels leaves segments that lie end to end. Anything else takes left-aligned
    columns: along a kept axis below a reduced one, a group is as long as its longest member. ``length``
    is the size of the first kept axis where axis 0 and all between are reduced.
    """
    levels = len(partitions) + 1
    first = reduced[0]
    like = library(partitions, values)
    if first > 0 and reduced == tuple(range(first, levels)):
        splits = composed_splits(partitions[first - 1 :], like)
        segments = Segments(partitions[first - 1].nrows, splits=splits)
        return Groups(partitions[0].nrows, partitions[: first - 1], segments, new=False)
    return _columns(partitions, reduced, capacity, length, like)


def _columns(
    partitions: tuple[Partition, ...], reduced: tuple[int, ...], capacity: int, length: int | None, like: Array
) -> Groups:
    xp, k = namespace(like), kernels(like)
    counts = entry_counts(partitions, capacity)
    rooted = 0 in reduced  # until a kept axis is met, all entries are in the one group
    num = 1 if rooted else counts[0]
    nrows = num
    ids = xp.zeros((counts[0],), dtype=like.dtype) if rooted else xp.arange(counts[0], dtype=like.dtype)
    kept: tuple[Partition, ...] = ()
    for level, p in enumerate(levels_only(partitions), start=1):
        above = parents(p, counts[level], like)
        inside = _pick_or(ids, above, num)
        if level in reduced:
            ids = inside
            continue
        at = positions(p, above)
        if rooted:
            size = length if isinstance(p, RowPartition) else p.length
            assert size is not None
            ids = xp.where((inside < num) & (at < size), at, xp.asarray(size, dtype=at.dtype))
            num = nrows = size
            rooted = False
        elif isinstance(p, UniformPartition):
            kept = (*kept, UniformPartition(num, p.length))
            size = num * p.length
            ids = xp.where(inside < num, inside * p.length + at, xp.asarray(size, dtype=at.dtype))
            num = size
        else:
            longest = k.segment_reduce("max", p.lengths, Segments(num, ids=ids[: p.nrows]))
            splits = splits_of(xp.maximum(longest, xp.zeros_like(longest)))
            size = k.bound(splits[-1], counts[level])
            starts = k.pick(splits[:-1], inside)
            ids = xp.where(inside < num, starts + at, xp.asarray(size, dtype=at.dtype))
            kept = (*kept, RowPartition(splits))
            num = size
    return Groups(nrows, kept, Segments(num, ids=ids), new=True)


def _pick_or(ids: Array, above: Array, missing: int) -> Array:
    """``ids[above]``, and ``missing`` where ``above`` is one past the end."""
    xp = namespace(ids)
    found = kernels(ids).pick(ids, above)
    return xp.where(above < ids.shape[0], found, xp.asarray(missing, dtype=ids.dtype))


def take_rows(
    values: Array, partitions: tuple[Partition, ...], rows: Array, capacities: tuple[int, ...]
) -> tuple[Array, tuple[Partition, ...]]:
    """Rows by index, in order, repeats allowed; an index of ``nrows`` gives an empty row.

    ``capacities`` are the static entry counts of the levels below axis 0, one per partition; ignored
    where data can be read, and where a uniform level fixes the count.
    """
    xp, k = namespace(rows), kernels(rows)
    new: tuple[Partition, ...] = ()
    for p, limit in zip(levels_only(partitions), capacities, strict=True):
        count, known = rows.shape[0], rows < p.nrows
        if isinstance(p, UniformPartition):
            new = (*new, UniformPartition(count, p.length))
            above = parents(new[-1], count * p.length, rows)
            index = xp.take(rows, above, axis=0) * p.length + positions(new[-1], above)
            rows = xp.where(xp.take(known, above, axis=0), index, xp.asarray(p.nrows * p.length, dtype=rows.dtype))
            continue
        starts, lengths = k.pick(p.splits[:-1], rows), k.pick(p.lengths, rows)
        made = RowPartition(splits_of(lengths))
        size = k.bound(made.splits[-1], limit)
        above = parents(made, size, rows)
        index = k.pick(starts, above) + positions(made, above)
        below = _below(p, partitions, values)
        rows = xp.where(above < count, index, xp.asarray(below, dtype=index.dtype))
        new = (*new, made)
    return k.pick(values, rows), new


def _below(p: Partition, partitions: tuple[Partition, ...], values: Array) -> int:
    counts = entry_counts(partitions, values.shape[0])
    return counts[next(i for i, q in enumerate(partitions) if q is p) + 1]


def needed_entries(partitions: tuple[Partition, ...], rows: Array) -> tuple[Array, ...]:
    """How many entries `take_rows` needs at each level below axis 0 (concrete or traced)."""
    xp = namespace(rows)
    counts: tuple[Array, ...] = ()
    for level in range(1, len(partitions) + 1):
        splits = composed_splits(partitions[:level], library(partitions, rows))
        lengths = kernels(rows).pick(splits[1:] - splits[:-1], rows)
        counts = (*counts, xp.sum(lengths))
    return counts


def take_entries(
    values: Array,
    partitions: tuple[Partition, ...],
    level: int,
    made: Partition,
    index: Array,
    capacities: tuple[int, ...],
) -> tuple[Array, tuple[Partition, ...]]:
    """Other entries at ``level`` (from 1): ``made`` divides them, ``index`` says which old entry each one is.

    An index one past the last old entry gives an empty entry, or at the last level 0. ``capacities`` are the
    static counts of the levels below ``level`` (none for the last); ignored where data can be read.
    """
    below = partitions[level:]
    if not below:
        return kernels(values).pick(values, index), (*partitions[: level - 1], made)
    values, rebuilt = take_rows(values, below, index, capacities)
    return values, (*partitions[: level - 1], made, *rebuilt)


def choose(
    partitions: tuple[Partition, ...],
    level: int,
    capacity: int,
    lengths: Array,
    limit: int,
    source: Callable[[Array, Array], Array],
    like: Array,
) -> tuple[RowPartition, Array]:
    """New rows on axis ``level``: ``lengths`` of them, entry ``at`` of row ``r`` being old entry ``source(r, at)``.

    Returns what `take_entries` needs: the partition and the index. ``limit`` bounds the number of entries where
    data cannot be read.
    """
    xp, k = namespace(like), kernels(like)
    counts = entry_counts(partitions, capacity)
    p = levels_only(partitions)[level - 1]
    made = RowPartition(splits_of(lengths))
    above = parents(made, k.bound(made.splits[-1], limit), like)
    at = positions(made, above)
    known = above < counts[level - 1]
    row = xp.where(known, above, xp.zeros_like(above))
    starts = p.splits[:-1] if isinstance(p, RowPartition) else xp.arange(p.nrows, dtype=like.dtype) * p.length
    index = k.pick(starts, row) + source(row, at)
    return made, xp.where(known, index, xp.asarray(counts[level], dtype=index.dtype))


def longest_row(p: RowPartition) -> int:
    """Length of the longest row (concrete)."""
    splits = kernels(p.splits).host(p.splits)
    return int((splits[1:] - splits[:-1]).max(initial=0))


def rows_below(p: Partition, entry: Array) -> tuple[Array, Array]:
    """Where the rows of these entries start and how long they are; 0 and 0 one past the last entry."""
    (level,) = levels_only((p,))
    xp, k = namespace(entry), kernels(entry)
    if isinstance(level, RowPartition):
        return k.pick(level.splits[:-1], entry), k.pick(level.lengths, entry)
    known = entry < level.nrows
    none = xp.zeros_like(entry)
    return xp.where(known, entry, none) * level.length, xp.where(known, xp.full_like(entry, level.length), none)
