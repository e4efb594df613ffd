"""Within segments: one item for each spread to its places, runs, softmax, sorting, and scans along an axis."""

from ..._typing import Array
from .._find import implementation, kernels, namespace
from .._protocol import Reduction, Segments


def spread(items: Array, segments: Segments, capacity: int, /, *, fill: int = 0) -> Array:
    """Give each position its segment's item, ``fill`` to the others: ``[num, *item] -> [capacity, *item]``."""
    ids = segments.ids if segments.splits is None else kernels(items).row_ids(segments.splits, capacity)
    return kernels(items).pick(items, ids, fill=fill)


def take_runs(items: Array, starts: Array, splits: Array, /) -> Array:
    """Runs of items end to end: run ``i`` begins at ``starts[i]`` and fills ``splits[i]:splits[i + 1]``."""
    xp, k = namespace(starts), kernels(starts)
    size = k.bound(splits[-1], items.shape[0])
    begin = implementation(k, spread)(starts - splits[:-1], Segments(starts.shape[0], splits=splits), size)
    return xp.take(items, begin + xp.arange(size, dtype=begin.dtype), axis=0)


def segment_softmax(values: Array, segments: Segments, /, *, log: bool) -> Array:
    """Softmax (or its logarithm) within each segment."""
    xp, k, capacity = namespace(values), kernels(values), values.shape[0]
    to_places = implementation(k, spread)
    peak = k.segment_reduce("max", values, segments)
    peak = to_places(xp.where(peak == -float("inf"), xp.zeros_like(peak), peak), segments, capacity)
    shifted = values - peak
    weight = xp.exp(shifted)
    total = to_places(k.segment_reduce("sum", weight, segments), segments, capacity)
    nothing = total == 0  # every element of the row is -inf
    safe = xp.where(nothing, xp.ones_like(total), total)
    return shifted - xp.log(safe) if log else weight / safe


def segment_sort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    """Sort each segment, ascending and NaN last; ``longest`` is a static limit of the lengths, if one is known."""
    order = kernels(values).segment_argsort(values, splits, longest=longest)
    return namespace(values).take_along_axis(values, order, axis=0)


def scan_axis(how: Reduction, values: Array, axis: int, /, *, reverse: bool) -> Array:
    """`Kernels.segment_scan` along a uniform axis."""
    xp = namespace(values)
    moved = xp.moveaxis(values, axis, 0)
    flat = xp.reshape(moved, (moved.shape[0], -1)) if values.size else moved
    splits = xp.asarray([0, moved.shape[0]])
    flat = kernels(values).segment_scan(how, flat, splits, reverse=reverse, longest=None)
    return xp.moveaxis(xp.reshape(flat, moved.shape), 0, axis)
