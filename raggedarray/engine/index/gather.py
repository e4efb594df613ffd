"""The body of indexing: from one step per axis to the entries that each level keeps, then one gather of the values.

    x[1:, ::-1]     rows 1, 2, ...      -> old rows of the new ones         [n]
                    each row reversed   -> old slots of the new ones        [capacity]
                    values              -> one gather by those slots

Going down the levels, ``index`` says which old entry each new one is; one past the last old entry stands for
slack and for what is missing (an index that a row does not have). Such an entry is an empty row below, and at
the last level the fill value: never the entry of another row.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from ..._errors import DynamicShapeError, error_text
from ..._partition import Level, Partition, RowPartition, UniformPartition, entry_counts, levels_only, uniform_levels
from ..._typing import Array
from ...backends import kernels, namespace
from ...structure.levels import library, parents, rows_below, splits_of, used_at
from ...structure.overflow import missing_value
from ..indices import to_dtype


class Step(NamedTuple):
    """What happens to one axis (static).

    ``all``; ``slice``, per row; ``run``, a slice of the first axis; ``at``, one index, which drops the axis;
    ``take``, an index array, which puts its ``shape`` there; ``each``, an index for each entry of a ``take``
    before, which drops the axis; ``new``, an axis of size 1.
    """

    kind: str
    operand: int = -1
    """Which operand holds the index, or where a run starts."""
    shape: tuple[int, ...] = ()
    bounds: tuple[int | None, int | None, int] = (None, None, 1)
    repeats: int | None = 1
    """How often the same entry is taken at most; None where data decides."""


ALL, NEW = Step("all"), Step("new")


@dataclass
class _Walk:
    like: Array
    counts: tuple[int, ...]
    partitions: tuple[Level, ...]
    operands: tuple[Any, ...]
    index: Array | None = None
    """Old entry of each new one; None while those are the old ones, in order."""
    count: int = 0
    level: int = -1
    repeats: int | None = 1
    new: tuple[Partition, ...] = ()
    short: tuple[Any, ...] = ()
    """Per index that may be missing: whether it is, the first row without it, that row's length, the index."""


def select(
    values: Array,
    partitions: tuple[Partition, ...],
    operands: tuple[Any, ...],
    fill: Any,
    *,
    steps: Any,
    inner: Any,
) -> tuple[Array, tuple[Partition, ...], tuple[Any, ...]]:
    """Values, partitions and what was missing. ``fill`` None is the default of the dtype."""
    values = index_inner(values, operands, inner=inner)
    w = _Walk(library(partitions, values), entry_counts(partitions, values.shape[0]), levels_only(partitions), operands)
    for step in steps:
        _advance(w, step)
    if w.index is None:
        return values, w.new, w.short
    found = kernels(values).pick(values, w.index)
    if any(step.kind in ("at", "take", "each") for step in steps):
        found = filled(found, w.index < values.shape[0], fill)
    return found, w.new, w.short


def filled(values: Array, known: Array, fill: Any) -> Array:
    """``values`` where ``known`` (along the first axis), else ``fill`` or the dtype's fill value."""
    xp = namespace(values)
    fill = xp.asarray(missing_value(xp, values.dtype) if fill is None else fill, dtype=values.dtype)
    known = xp.reshape(known, (known.shape[0], *(1,) * (values.ndim - 1)))
    return xp.where(known, values, xp.broadcast_to(fill, values.shape))


def _advance(w: _Walk, step: Step) -> None:
    if step.kind == "new":
        w.new = (*w.new, UniformPartition(w.count, 1))
        return
    w.level += 1
    if w.level == 0:
        _first(w, step)
        return
    p = w.partitions[w.level - 1]
    if step.kind == "all" and w.index is None:
        w.new, w.count = (*w.new, p), w.counts[w.level]
        return
    index = _entries(w)
    known = index < w.counts[w.level - 1]
    starts, lengths = rows_below(p, index)
    if step.kind in ("all", "slice"):
        _cut(w, p, step, known, starts, lengths)
    else:
        _place(w, step, known, starts, lengths, index)


def _first(w: _Walk, step: Step) -> None:
    xp, nrows = namespace(w.like), w.counts[0]
    w.count = nrows
    if step.kind == "all":
        return
    if step.kind == "run":
        w.count = step.shape[0]
        w.index = to_dtype(w.operands[step.operand], w.like) + xp.arange(w.count, dtype=w.like.dtype) * step.bounds[2]
        return
    all_rows = xp.zeros((1,), dtype=w.like.dtype)  # axis 0 as the one row of a level above
    _place(w, step, all_rows < 1, all_rows, all_rows + nrows, all_rows, first=True)


def _entries(w: _Walk) -> Array:
    """``index``, written out."""
    if w.index is not None:
        return w.index
    xp, size = namespace(w.like), w.counts[w.level - 1]
    here = xp.arange(size, dtype=w.like.dtype)
    used = used_at(w.partitions, w.level - 1)
    if isinstance(used, int):
        return here
    return xp.where(here < used, here, xp.asarray(size, dtype=here.dtype))


def _cut(w: _Walk, p: Level, step: Step, known: Array, starts: Array, lengths: Array) -> None:
    """Keep a slice of every row."""
    xp, k = namespace(w.like), kernels(w.like)
    stride = step.bounds[2]
    if isinstance(p, UniformPartition):
        first, stop, _ = slice(*step.bounds).indices(p.length)
        size = len(range(first, stop, stride))
        made: Level = UniformPartition(w.count, size)
        total = w.count * size
        begin = starts + first
    else:
        first, lengths = sliced(xp, lengths, step.bounds)
        made = RowPartition(splits_of(lengths))
        total = k.bound(made.splits[-1], _limit(w, max_slice_length(step.bounds)))
        begin = starts + first
    above = parents(made, total, w.like)
    here = xp.arange(total, dtype=w.like.dtype)
    missing = xp.asarray(w.counts[w.level], dtype=w.like.dtype)
    if isinstance(made, RowPartition):  # begin + (here - start of the new row) * stride, by one lookup
        index = k.pick(begin - made.splits[:-1] * stride, above) + here * stride
        used = above < w.count
    else:
        index = xp.take(begin, above, axis=0) + (here - above * made.length) * stride
        used = xp.take(known, above, axis=0)
    w.index = xp.where(used, index, missing)
    w.new, w.count = (*w.new, made), total


def _place(
    w: _Walk, step: Step, known: Array, starts: Array, lengths: Array, index: Array, *, first: bool = False
) -> None:
    """Take one index of every row, or the same several, or one for each entry."""
    xp, k = namespace(w.like), kernels(w.like)
    wanted = xp.reshape(to_dtype(w.operands[step.operand], w.like), (-1,))
    if step.kind == "each":
        across = xp.arange(w.count, dtype=w.like.dtype) % max(wanted.shape[0], 1)
        wanted = k.pick(wanted, across)
    elif step.kind == "take":
        count, shape = (step.shape[0], step.shape[1:]) if first else (w.count, step.shape)
        w.new, w.count = (*w.new, *uniform_levels(count, shape)), count * prod(shape)
        m, rows = wanted.shape[0], known.shape[0]
        across = xp.arange(rows * m, dtype=w.like.dtype)
        wanted = k.pick(wanted, across % max(m, 1))
        across = across // max(m, 1)
        known, starts, lengths, index = (xp.take(a, across, axis=0) for a in (known, starts, lengths, index))
        w.repeats = None if w.repeats is None or step.repeats is None else w.repeats * step.repeats
    elif first:
        w.count = 1
    at = xp.where(wanted < 0, wanted + lengths, wanted)
    fits = (at >= 0) & (at < lengths)
    w.index = xp.where(known & fits, starts + at, xp.asarray(w.counts[w.level], dtype=w.like.dtype))
    w.short = (*w.short, first_short(known & ~fits, index, lengths, xp.broadcast_to(wanted, index.shape)))


def first_short(bad: Array, index: Array, lengths: Array, wanted: Array) -> tuple[Array, ...]:
    """Whether an index is missing, and the first row where: its number, its length, the index."""
    xp = namespace(bad)
    if bad.shape[0] == 0:
        nothing = xp.zeros((), dtype=index.dtype)
        return xp.asarray(False), nothing, nothing, nothing
    at = xp.argmax(xp.astype(bad, xp.int32))
    return xp.any(bad), *(xp.take(a, xp.reshape(at, (1,)), axis=0)[0] for a in (index, lengths, wanted))


def _limit(w: _Walk, each: int | None) -> int:
    """A static size that the entries of this level fit: of those there are, or so many a row."""
    sizes = [] if w.repeats is None else [w.repeats * w.counts[w.level]]
    sizes += [] if each is None else [w.count * each]
    if not sizes:
        if kernels(w.like).has_exact_sizes:
            return 0
        raise DynamicShapeError(
            error_text("a static capacity", "traced rows or lengths", "Call `ra.take(x, indices, capacity=)`.")
        )
    return min(sizes)


def sliced(xp: Any, lengths: Array, bounds: tuple[int | None, int | None, int]) -> tuple[Array, Array]:
    """Where a Python slice begins in rows of these lengths, and how many elements it has in each."""
    start, stop, step = bounds
    low = xp.zeros_like(lengths) if step > 0 else xp.full_like(lengths, -1)
    high = lengths if step > 0 else lengths - 1

    def end(given: int | None, default: Array) -> Array:
        if given is None:
            return default
        at = lengths + max(given, -INDEX_LIMIT) if given < 0 else xp.full_like(lengths, min(given, INDEX_LIMIT))
        return xp.minimum(xp.maximum(at, low), high)

    first = end(start, low if step > 0 else high)
    last = end(stop, high if step > 0 else low)
    gap = last - first if step > 0 else first - last
    size = (gap + (abs(step) - 1)) // abs(step)
    return first, xp.maximum(size, xp.zeros_like(size))


INDEX_LIMIT = 2**30
"""Past every row, and small enough to add a length to."""


def max_slice_length(bounds: tuple[int | None, int | None, int]) -> int | None:
    """The most elements that a slice keeps of a row of any length, if that is limited."""
    start, stop, step = bounds
    if step < 0:  # the same, counted from the other end
        start, stop = (None if start is None else -1 - start), (None if stop is None else -1 - stop)
    start = 0 if start is None else start
    if start >= 0:
        span = None if stop is None or stop < 0 else stop - start
    else:
        span = -start if stop is None else stop - start if stop < 0 else min(stop, -start)
    return None if span is None else max(-(-span // abs(step)), 0)


def index_inner(values: Array, operands: tuple[Any, ...], *, inner: tuple[Step, ...]) -> Array:
    """Index the axes behind the first: basic keys as a view, then index arrays."""
    if all(step == ALL for step in inner):
        return values
    xp, k = namespace(values), kernels(values)
    basic: list[Any] = [slice(None)]
    sizes = iter(values.shape[1:])
    for step in inner:
        if step.kind == "new":
            basic.append(None)
            continue
        n = next(sizes)
        basic.append(step.bounds[0] if step.kind == "at" else _basic(step, n))
    values = values[(*basic, ...)]
    axis = 1
    for step in inner:
        if step.kind in ("take", "each"):
            n = values.shape[axis]
            wanted = xp.reshape(to_dtype(operands[step.operand], xp.zeros((1,), dtype=xp.int32)), (-1,))
            wanted = xp.where(wanted < 0, wanted + n, wanted)
            known = (wanted >= 0) & (wanted < n)
            safe = xp.where(known, wanted, xp.asarray(n, dtype=wanted.dtype))
            found = filled(k.pick(xp.moveaxis(values, axis, 0), safe), known, None)
            values = xp.moveaxis(found, 0, axis)
            values = xp.reshape(values, (*values.shape[:axis], *step.shape, *values.shape[axis + 1 :]))
            axis += len(step.shape)
        else:
            axis += step.kind != "at"
    return values


def _basic(step: Step, n: int) -> slice:
    start, stop, stride = slice(*step.bounds).indices(n)
    if not len(range(start, stop, stride)):
        return slice(0, 0)
    return slice(start, None if stop < 0 else stop, stride)
