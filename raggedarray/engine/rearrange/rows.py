"""Ops that take entries from elsewhere: moves along levels, one descent for the indices, one gather of the values.

A `Move` says how long each row of a level becomes and where its entries come from. The descent carries, from
the rows down to the slots, which old entry each new entry is; an index one past the last old entry stands for
none: an empty row, or a slot of 0. Inner axes are not levels: the ops move them with the standard's functions.
"""

from collections.abc import Iterable
from math import prod
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import Level, Partition, RowPartition, UniformPartition, entry_counts, levels_only, uniform_levels
from ..._typing import Array
from ...backends import Segments, generic, implementation, is_array, kernels, namespace
from ...structure.index_maps import Move, new_length, source
from ...structure.levels import library, parents, positions, splits_of, used_at
from .blocks import move_block

Moves = tuple[Move | None, ...]
"""One per level, the rows first."""


def array_of(x: Any) -> Any:
    """``x``, an array or a RaggedArray, the latter without slack where that costs nothing."""
    if isinstance(x, RaggedArray):
        return x.used_values()
    if not is_array(x):
        raise TypeError(error_text("a RaggedArray or an array", type(x).__name__, "Make one with `ra.ragged`."))
    return x


def inner_axes_to_levels(x: RaggedArray | Array, rank: int) -> RaggedArray:
    """The same array with at least ``rank`` partitions, the first of its inner axes as uniform levels."""
    partitions: tuple[Partition, ...] = x.partitions if isinstance(x, RaggedArray) else ()
    values = x.values if isinstance(x, RaggedArray) else x
    entries, *item = values.shape
    lengths, inner = tuple(item[: max(rank - len(partitions), 0)]), item[max(rank - len(partitions), 0) :]
    if lengths:
        values = namespace(values).reshape(values, (entries * prod(lengths), *inner))
    return RaggedArray(values, (*partitions, *uniform_levels(entries, lengths)))


def index_limit(xs: Iterable[RaggedArray], sizes: Iterable[int]) -> None:
    """Raise where the splits of ``xs`` cannot count that many entries; they would wrap."""
    splits = [p.splits for x in xs for p in x.partitions if isinstance(p, RowPartition)]
    limit, most = max(int(namespace(s).iinfo(s.dtype).max) for s in splits), max(sizes)
    if most > limit:
        raise OverflowError(error_text(f"up to {limit} entries", f"{most}", "Use int64 splits (on JAX, x64)."))


def move(x: RaggedArray, moves: dict[int, Move], shifts: dict[int, Any] | None = None, fill: Any = None) -> Any:
    """Apply moves to levels of ``x``; ``shifts`` are the operands of rolls, ``fill`` the value of padding slots."""
    if not moves:
        return x
    if x.block is not None:
        return move_block(x, moves, shifts, fill)
    levels = range(x.ragged_rank + 1)
    every = tuple(moves.get(level) for level in levels)
    operands = tuple((shifts or {}).get(level) for level in levels)
    limits = _limits(x.partitions, x.capacity, every)
    index_limit((x,), limits)
    values, partitions = x.kernels.call(_move, x.values, x.partitions, operands, fill, moves=every, limits=limits)
    return rebuild(partitions, values)


def _limits(partitions: tuple[Partition, ...], capacity: int, moves: Moves) -> tuple[int, ...]:
    """Static bounds of the entries at each level (of the windows, where there are some)."""
    grown = 1
    limits: list[int] = []
    for level, (count, m) in enumerate(zip(entry_counts(partitions, capacity), moves, strict=True)):
        size = count * grown
        if m is None:
            pass
        elif m.kind in ("repeat", "tile"):
            size, grown = size * m.n, grown * m.n
        elif m.kind == "pad" and level:
            size += limits[-1] * (m.n + m.m)
        elif m.kind == "truncate" and level:
            size = min(size, limits[-1] * m.n)
        elif m.kind == "window":  # the most there can be: one long row, or, if steps are long, many short ones
            size = max((size - m.n) // m.m + 1, 0) if m.m <= m.n else size // m.n
            grown *= -(-m.n // m.m)
        limits.append(size)
    return tuple(limits)


def _move(
    values: Array, partitions: tuple[Partition, ...], shifts: Any, fill: Any, *, moves: Moves, limits: tuple[int, ...]
) -> tuple[Array, tuple[Partition, ...]]:
    like = library(partitions, values)
    xp, k = namespace(like), kernels(like)
    counts = entry_counts(partitions, values.shape[0])
    rows: Any = None  # the old entry that each new entry is; None as long as nothing has moved
    new: tuple[Partition, ...] = ()
    added: Any = None
    first = moves[0]
    if first is not None:
        at = xp.arange(new_length(first, counts[0]), dtype=like.dtype)
        rows = source(first, at, counts[0], shifts[0])
        rows = xp.where((rows >= 0) & (rows < counts[0]), rows, xp.asarray(counts[0], dtype=rows.dtype))
        if first.kind == "window":
            new, rows = _windows(first, rows, counts[0])
    for level, (p, m) in enumerate(zip(levels_only(partitions), moves[1:], strict=True), start=1):
        if rows is None and m is None:
            new = (*new, p)
            continue
        if rows is None and m is not None and m.kind == "pad" and level > 1:  # slack rows stay empty
            rows = xp.arange(counts[level - 1], dtype=like.dtype)
            slack = xp.asarray(counts[level - 1], dtype=rows.dtype)
            rows = xp.where(rows < used_at(partitions, level - 1), rows, slack)
        made, rows, added = _step(p, m, shifts[level], rows, counts[level], limits[level], like)
        new = (*new, made)
        if m is not None and m.kind == "window":
            more, rows = _windows(m, rows, counts[level])
            new = (*new, *more)
    found = k.pick(values, rows)
    if fill is not None:
        fill = namespace(fill).reshape(fill, (1,) * (found.ndim - fill.ndim) + tuple(fill.shape))
        added = xp.reshape(added, (added.shape[0], *(1,) * (found.ndim - 1)))
        found = namespace(found).where(added, fill, found)
    return found, new


def _step(
    p: Level, m: Move | None, shift: Any, rows: Any, below: int, limit: int, like: Array
) -> tuple[Partition, Array, Any]:
    """The new partition, the old entry that each new one is, and which new ones `pad` added."""
    if isinstance(p, UniformPartition):
        return _step_uniform(p, m, shift, rows, below, like)
    xp, k = namespace(like), kernels(like)
    starts, lengths = p.splits[:-1], p.lengths
    if rows is not None:
        starts, lengths = k.pick(starts, rows), k.pick(lengths, rows)
    if rows is None and (m is None or m.kind in ("flip", "roll")):
        made, size = p, below
    elif m is not None and m.kind == "tile" and m.n > 0:  # a row is n runs
        each = RowPartition(splits_of(_copied(lengths, m.n)))
        made = RowPartition(each.splits[:: m.n])
        return made, runs(each, _copied(starts, m.n), k.bound(made.splits[-1], limit), below), None
    else:
        wanted = new_length(m, lengths)
        if rows is not None:
            wanted = xp.where(rows < p.nrows, wanted, xp.zeros_like(wanted))
        made = RowPartition(splits_of(wanted))
        size = k.bound(made.splits[-1], limit)
    if m is None or m.kind == "truncate" or (m.kind == "window" and m.m == 1):
        return made, runs(made, starts, size, below), None
    first, spread = made.splits[:-1], implementation(k, generic.spread)
    segments, here, there = _rows(made, size)
    if m.kind == "flip":
        return made, _where(there, spread(starts + lengths - 1 + first, segments, size) - here, below), None
    if m.kind == "roll":  # by less than a row, so that an entry wraps at most once
        by = shift % xp.maximum(lengths, xp.ones_like(lengths))
        index = here + spread(starts - first - by, segments, size)
        wraps = here < spread(first + by, segments, size)
        return made, _where(there, xp.where(wraps, index + spread(lengths, segments, size), index), below), None
    at = here - spread(first, segments, size)
    length = spread(lengths, segments, size) if m.kind == "pad" else 0
    at = source(m, at, length, shift)
    index = spread(starts, segments, size) + at
    if m.kind != "pad":
        return made, _where(there, index, below), None
    inside = (at >= 0) & (at < length)
    inside = inside if there is None else inside & there
    return made, _where(inside, index, below), ~inside if there is None else there & ~inside


def _copied(items: Array, n: int) -> Array:
    """Every item ``n`` times in place."""
    xp = namespace(items)
    return xp.reshape(xp.broadcast_to(items[:, None], (items.shape[0], n)), (-1,))


def _step_uniform(
    p: UniformPartition, m: Move | None, shift: Any, rows: Any, below: int, like: Array
) -> tuple[Partition, Array, None]:
    xp = namespace(like)
    made = UniformPartition(p.nrows if rows is None else rows.shape[0], new_length(m, p.length))
    above = parents(made, made.nrows * made.length, like)
    at = source(m, positions(made, above), p.length, shift)
    row = above if rows is None else xp.take(rows, above, axis=0)
    return made, _where((row < p.nrows) & (at >= 0) & (at < p.length), row * p.length + at, below), None


def _rows(p: RowPartition, size: int) -> tuple[Segments, Array, Any]:
    """Rows as segments, the entries by number, and which of them are in use: None if all are."""
    xp, k = namespace(p.splits), kernels(p.splits)
    here = xp.arange(size, dtype=p.splits.dtype)
    if k.has_exact_sizes:
        used = int(p.splits[-1])
        return Segments(p.nrows, splits=p.splits), here, None if used == size else here < used
    return Segments(p.nrows, ids=parents(p, size, p.splits)), here, here < p.splits[-1]


def _where(known: Any, index: Array, below: int) -> Array:
    xp = namespace(index)
    return index if known is None else xp.where(known, index, xp.asarray(below, dtype=index.dtype))


def runs(made: RowPartition, starts: Array, size: int, below: int) -> Array:
    """Entry numbers of runs: row ``i`` of ``made`` is ``starts[i], starts[i] + 1, ...``; ``below`` past the rows."""
    segments, here, there = _rows(made, size)
    first = implementation(kernels(starts), generic.spread)(starts - made.splits[:-1], segments, size)
    return _where(there, here + first, below)


def _windows(m: Move, rows: Array, below: int) -> tuple[tuple[Partition, ...], Array]:
    """The level of entries within windows, and the old entry of each, from the first entry of each window."""
    xp = namespace(rows)
    index = rows[:, None] + xp.arange(m.n, dtype=rows.dtype)[None, :]
    index = xp.where(rows[:, None] < below, index, xp.asarray(below, dtype=index.dtype))
    return (UniformPartition(rows.shape[0], m.n),), xp.reshape(index, (-1,))
