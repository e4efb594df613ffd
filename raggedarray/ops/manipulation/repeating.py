"""Entries repeated, one by one or as a whole, along any axis.

A count that is the same for every entry leaves sizes static; counts per row make them data.
"""

from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import DynamicShapeError, error_text
from ..._partition import RowPartition, entry_counts
from ..._typing import Array
from ...backends import Kernels, common, is_array, kernels, kind, namespace
from ...engine.arguments import level_sizes, sizes_of
from ...engine.axes import one_axis
from ...engine.broadcast.rows import move_to
from ...engine.bucket_size import bucket_size
from ...engine.index.take_rows import take_body
from ...engine.indices import widened
from ...engine.overflow import both, check_capacity, with_mark
from ...engine.rearrange.per_row import not_negative, repeat_entries
from ...engine.rearrange.rows import array_of, move
from ...structure.index_maps import Move
from ...structure.levels import needed_entries, splits_of
from ..indexing.gathering import take
from .merging import flat_only, flatten
from .reshaping import expand_dims

__all__ = ["repeat", "tile"]


def repeat(
    x: Any,
    repeats: Any,
    /,
    *,
    axis: int | None = None,
    size: int | None = None,
    capacity: int | tuple[int, ...] | None = None,
) -> Any:
    """Every entry along ``axis`` ``repeats`` times in place: rows, entries of each row, or inner ones.

    The capacity is that of ``x`` times ``repeats``, however deep the axis. ``int[nrows]`` repeats each row as
    often as it says; the number of rows is then data, as is what they hold: under jit ``size`` states the one,
    ``capacity`` the other, and rows past the repeated ones are empty. Along another axis a RaggedArray of the rows of
    ``x`` says how often each entry comes; under jit with ``capacity``, a tuple if there are ragged axes behind. With
    None the array is flattened first. Plain arrays too.

    >>> repeat(ragged([[1, 2], [], [3]]), 2, axis=1).tolist()
    [[1, 1, 2, 2], [], [3, 3]]
    >>> repeat(ragged([[1, 2], [3]]), np.array([0, 2]), axis=0).tolist()
    [[3], [3]]
    >>> repeat(ragged([[1, 2], [3]]), ragged([[0, 2], [1]]), axis=1).tolist()
    [[2, 2], [3]]
    """
    x = array_of(x)
    if isinstance(x, RaggedArray) and axis is None:
        flat_only(x)
        x = flatten(x)
    if not isinstance(x, RaggedArray):
        return _repeat_plain(x, repeats, axis)
    a = one_axis(0 if axis is None else axis, x.ndim)
    if is_array(repeats) and repeats.ndim == 0 and kernels(repeats).is_concrete(repeats):
        repeats = sizes_of(repeats)
    if isinstance(repeats, RaggedArray) and 0 < a <= x.ragged_rank:
        if size is not None:
            raise ValueError(error_text("no size= with repeats of entries", str(size), "Pass `capacity=`."))
        return repeat_entries(x, repeats, a, capacity)
    if is_array(repeats) or isinstance(repeats, tuple | list):
        return _repeat_each(x, repeats, a, size, capacity)
    n = sizes_of(repeats)
    _no_sizes(size, capacity)
    if n < 0:
        raise ValueError(error_text("repeats of at least 0", f"{n}", "Pass a count."))
    if a > x.depth:
        return RaggedArray(x.kernels.call(_repeat_inner, x.values, n=n, axis=a - x.depth), x.partitions)
    return move(x, {a: Move("repeat", n)})


def _repeat_plain(x: Array, repeats: Any, axis: int | None) -> Array:
    if is_array(repeats) and kind(repeats.dtype) in ("int", "uint"):
        k = common([x, repeats])
        x, repeats = (k.asarray(a) for a in (x, widened(repeats, k)))
    out: Array = namespace(x).repeat(x, repeats, axis=axis)
    return out


def _no_sizes(size: Any, capacity: Any) -> None:
    if size is not None or capacity is not None:
        got = f"size={size}, capacity={capacity}"
        raise ValueError(error_text("no size= and capacity= for a static count", got, "Drop them."))


def _repeat_inner(values: Array, *, n: int, axis: int) -> Array:
    return namespace(values).repeat(values, n, axis=axis)


def _repeat_each(x: RaggedArray, repeats: Any, a: int, size: int | None, capacity: Any) -> Any:
    """Every entry as often as its own count says."""
    repeat_counts = repeats if is_array(repeats) else x.kernels.asarray(repeats)
    if kind(repeat_counts.dtype) not in ("int", "uint") or repeat_counts.ndim != 1:
        got = f"{repeat_counts.dtype} {tuple(repeat_counts.shape)}"
        raise TypeError(error_text("integer repeats of one axis", got, "Convert or flatten them."))
    have = x.shape[a]
    if a and have is not None and a > x.depth and kernels(repeat_counts).is_concrete(repeat_counts):
        _no_sizes(size, capacity)
        return RaggedArray(_repeat_plain(x.values, repeat_counts, a - x.depth), x.partitions)
    if a:
        raise ValueError(error_text(f"one count along axis {a}", "an array", "Repeat rows, or pass an int."))
    if tuple(repeat_counts.shape) != (have,):
        raise ValueError(error_text(f"{have} repeats", f"{repeat_counts.shape[0]}", "Pass one per row."))
    k = common([x.values, repeat_counts])
    x, repeat_counts = move_to(k, x).used_values(), k.index(repeat_counts)
    fine = not_negative(k, repeat_counts, "repeats", "Pass counts.")
    count = _repeated_count(k, repeat_counts)
    if x.block is not None:
        if not isinstance(count, int):
            advice = "Call `ra.take(x, indices, capacity=)`."
            raise DynamicShapeError(error_text("components that can be counted", "traced repeats", advice))
        return take(x, k.call(_repeated_rows, repeat_counts, nrows=count), capacity=capacity)
    if not isinstance(count, int) and size is None:
        raise DynamicShapeError(error_text("a static row count", "traced repeats", "Pass `size=`."))
    nrows = count if size is None else sizes_of(size)
    ok = both(check_capacity(count, nrows, "size", "size="), fine)
    rows = k.call(_repeated_rows, repeat_counts, nrows=nrows)
    sizes, room = _sizes_below(x, k.call(needed_entries, x.partitions, rows), capacity)
    ok = both(ok, room)
    values, partitions = k.call(take_body, x.values, x.partitions, rows, sizes=sizes, ok=ok)
    return with_mark(rebuild(partitions, values), ok)


def _sizes_below(x: RaggedArray, need: tuple[Any, ...], capacity: Any) -> tuple[tuple[int, ...], Any]:
    """Static sizes of the levels below axis 0 for the entries they need, and whether those fit."""
    k, counts = x.kernels, entry_counts(x.partitions, x.capacity)[1:]
    if capacity is None:
        if not k.is_concrete(need):
            raise DynamicShapeError(error_text("a static capacity", "traced repeats or lengths", "Pass `capacity=`."))
        exact = [int(n) for n in need]
        if k.has_exact_sizes:
            return tuple(exact), True
        return tuple(n if m <= n else bucket_size(m) for m, n in zip(exact, counts, strict=True)), True
    stated = level_sizes(capacity, x.ragged_rank)
    sizes = (*counts[:-1], stated) if isinstance(stated, int) else stated
    ok: Any = True
    for p, n, m in zip(x.partitions, sizes, need, strict=True):
        if isinstance(p, RowPartition):
            ok = ok & check_capacity(m, n, "capacity", "capacity=")
    return sizes, ok


def _repeated_count(k: Kernels, repeats: Array) -> Any:
    """How many rows there will be: an int where it can be read."""
    if k.is_concrete(repeats):
        return int(k.host(repeats).sum())
    return namespace(repeats).sum(repeats)


def _repeated_rows(repeats: Array, *, nrows: int) -> Array:
    return kernels(repeats).row_ids(splits_of(repeats), nrows)


def tile(x: Any, repetitions: tuple[int, ...], /) -> Any:
    """``x`` set side by side ``repetitions`` times, one count per axis: whole rows of rows, each row, inner axes.

    Fewer counts than axes are of the last axes; more add axes of size 1 in front first. A ragged axis holds each
    row ``n`` times end to end. The capacity is that of ``x`` times the counts of rows and axes before and at the
    last ragged one. Plain arrays too.

    >>> tile(ragged([[1, 2], [], [3]]), (1, 2)).tolist()
    [[1, 2, 1, 2], [], [3, 3]]
    """
    x = array_of(x)
    if not isinstance(x, RaggedArray):
        return namespace(x).tile(x, repetitions)
    counts = sizes_of(repetitions if isinstance(repetitions, tuple | list) else (repetitions,), many=True)
    if any(n < 0 for n in counts):
        raise ValueError(error_text("repetitions of at least 0", f"{counts}", "Pass counts."))
    counts = (1,) * (x.ndim - len(counts)) + counts
    for _ in range(len(counts) - x.ndim):
        x = expand_dims(x, axis=0)
    rank = x.depth
    inner = counts[rank + 1 :]
    if any(n != 1 for n in inner):
        x = RaggedArray(x.kernels.call(_tile_inner, x.values, counts=(1, *inner)), x.partitions)
    return move(x, {a: Move("tile", n) for a, n in enumerate(counts[: rank + 1]) if n != 1})


def _tile_inner(values: Array, *, counts: tuple[int, ...]) -> Array:
    return namespace(values).tile(values, counts)
