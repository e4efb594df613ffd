"""Axes merged and split: how the entries of one axis are divided, never which there are or in which order.

Values are reshaped at most. What makes entries of an inner level the rows of the result reads how many there
are; under jit their number is data, and ``size=`` states one.
"""

from math import prod
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import DynamicShapeError, error_text
from ..._partition import Partition, RowPartition, UniformPartition, entry_counts, levels_only
from ..._typing import Array
from ...backends import common, is_array, kernels, namespace
from ...engine.arguments import sizes_of
from ...engine.axes import one_axis
from ...engine.broadcast.rows import move_to
from ...engine.overflow import check_capacity, fill_unless
from ...engine.packing import as_rows, contiguous
from ...engine.rearrange.rows import array_of, index_limit, inner_axes_to_levels
from ...structure.agreement import is_uniform
from ...structure.levels import composed_splits, known_used, library, used_at

__all__ = ["flatten", "merge_dims", "split_dims"]


def merge_dims(x: Any, /, outer_axis: int, inner_axis: int, *, size: int | None = None) -> Any:
    """Neighbouring axes made one, from ``outer_axis`` to ``inner_axis``: a ragged one if any of them is.

    The capacity is that of ``x``, times the sizes of the inner axes that become part of a ragged axis. Merging
    axis 0 with a ragged axis makes the entries there the rows of the result, or, without a ragged axis left, a
    plain array. How many there are is data: under jit ``size`` states it, rows past them are empty and elements
    0, and more raise under `checked`. Plain arrays too.

    >>> merge_dims(ragged([[[1, 2], []], [[3]]]), 1, 2).tolist()
    [[1, 2], [3]]
    >>> merge_dims(ragged([[1, 2], [], [3]]), 0, 1)
    array([1, 2, 3])
    """
    x = array_of(as_rows(x))
    a, b = (one_axis(axis, x.ndim) for axis in (outer_axis, inner_axis))
    if a > b:
        raise ValueError(error_text("outer_axis <= inner_axis", f"{a} and {b}", "Swap them."))
    if a == b:
        return x
    if not isinstance(x, RaggedArray):
        _no_size(size)
        return namespace(x).reshape(x, (*x.shape[:a], prod(x.shape[a : b + 1]), *x.shape[b + 1 :]))
    rank = x.ragged_rank
    if a > rank:
        i, j = a - rank, b - rank
        shape = (*x.values.shape[:i], prod(x.values.shape[i : j + 1]), *x.values.shape[j + 1 :])
        return RaggedArray(x.xp.reshape(x.values, shape), x.partitions)
    if a and b > rank:
        index_limit((x,), (x.capacity * prod(x.inner_shape[: b - rank]),))
    x = inner_axes_to_levels(x, max(b, rank))
    if a == 0:
        return merge_rows(x, b, size)
    merged = x.kernels.call(_merged, x.partitions[a - 1 : b], library(x.partitions, x.values))
    return rebuild((*x.partitions[: a - 1], merged, *x.partitions[b:]), x.values)


def _no_size(size: Any) -> None:
    if size is not None:
        raise ValueError(error_text("no size= for a plain array", str(size), "Drop it."))


def _merged(partitions: tuple[Partition, ...], like: Array) -> Partition:
    """One level in the place of several."""
    if is_uniform(partitions):
        return UniformPartition(
            partitions[0].nrows, prod(p.length for p in partitions if isinstance(p, UniformPartition))
        )
    return RowPartition(composed_splits(partitions, like))


def merge_rows(x: RaggedArray, level: int, size: int | None) -> Any:
    """The entries of ``level`` as the rows of the result."""
    count = entry_counts(x.partitions, x.capacity)[level]
    above, below = x.partitions[:level], x.partitions[level:]
    if is_uniform(above):
        return rebuild(below, x.values)
    used: Any = x.nrows
    if kernels(library(above, x.values)).is_concrete(above):
        for p in levels_only(above):  # Python's ints, since the elements may be more than splits can count
            used = used * p.length if isinstance(p, UniformPartition) else int(known_used(p))
    elif size is None:
        raise DynamicShapeError(error_text("a static size", "traced row lengths", "Pass `size=`."))
    else:
        used = used_at(above, level)
    n = used if size is None else sizes_of(size)
    ok = check_capacity(used, n, "size", "size=")
    if not below:
        if isinstance(used, int) and used == n == count:
            return x.values
        index_limit((x,), (n, count))
        return x.kernels.call(_first_slots, x.values, x.partitions, count=n, ok=ok)
    partitions = x.kernels.call(_resized, below, nrows=n)
    return RaggedArray(x.values if ok is True else x.kernels.call(fill_unless, x.values, ok), partitions)


def _first_slots(values: Array, partitions: tuple[Partition, ...], *, count: int, ok: Any) -> Array:
    """The first ``count`` entries below all levels; 0 past the used ones."""
    like = library(partitions, values)
    xp = namespace(like)
    at, have = xp.arange(count, dtype=like.dtype), values.shape[0]
    exists = (at < used_at(partitions, len(partitions))) & (at < have)
    return fill_unless(kernels(values).pick(values, xp.where(exists, at, xp.asarray(have, dtype=at.dtype))), ok)


def _resized(partitions: tuple[Partition, ...], *, nrows: int) -> tuple[Partition, ...]:
    """The same levels below another number of rows: fewer, or empty ones behind them."""
    new: tuple[Partition, ...] = ()
    for level, p in enumerate(levels_only(partitions)):
        if isinstance(p, RowPartition):
            xp, splits = namespace(p.splits), p.splits[: nrows + 1]
            more = nrows + 1 - splits.shape[0]
            if more > 0:
                splits = xp.concat((splits, xp.broadcast_to(splits[-1], (more,))))
            return (*new, RowPartition(splits), *partitions[level + 1 :])
        new, nrows = (*new, UniformPartition(nrows, p.length)), nrows * p.length
    return new


def flatten(x: Any, /, *, size: int | None = None) -> Array:
    """All elements in a plain array of one axis, without slack: ``[x.size]``.

    On NumPy a view where there is no slack. How many elements there are is data: under jit ``size`` states it,
    elements past them are 0, and more raise under `checked`. Plain arrays too.

    >>> flatten(ragged([[1, 2], [], [3]]))
    array([1, 2, 3])
    """
    x = array_of(x)
    if isinstance(x, RaggedArray):
        x = contiguous(x).components_as_rows()
        return merge_rows(inner_axes_to_levels(x, x.ndim - 1), x.ndim - 1, size)
    _no_size(size)
    return namespace(x).reshape(x, (-1,))


def flat_only(x: Any) -> None:
    """Raise where an op that flattens first cannot know how many elements there are."""
    if isinstance(x, RaggedArray) and not kernels(library(x.partitions, x.values)).is_concrete(x.partitions):
        advice = "Flatten it with `ra.flatten(x, size=)`."
        raise DynamicShapeError(error_text("axis= where row lengths are traced", "None", advice))


def split_dims(x: Any, /, axis: int, row_splits: Array) -> RaggedArray:
    """One axis made two by grouping its entries: group ``i`` is ``row_splits[i]:row_splits[i + 1]``.

    ``axis`` is the row axis, whose groups are the new rows, ``[groups, (size), ...]``, or a uniform axis, whose
    entries are then grouped alike in every row: ``[..., groups, (size), ...]``. Same values; capacity the same,
    times the sizes of inner axes before ``axis``. The splits must start at 0 and end at the size of the axis.

    >>> split_dims(ragged([[1, 2], [], [3]]), 0, np.array([0, 2, 3])).tolist()
    [[[1, 2], []], [[3]]]
    """
    a = one_axis(axis, x.ndim)
    whole = isinstance(x, RaggedArray) and x.block is not None and a == 0
    x = x if whole else array_of(as_rows(x))
    length = x.shape[a]
    if length is None:
        advice = "Build it with `ra.from_nested_row_splits`."
        raise ValueError(error_text("the row axis or a uniform one", f"ragged axis {a}", advice))
    row_splits = row_splits if is_array(row_splits) else common([]).asarray(row_splits)
    k = common([x.values if isinstance(x, RaggedArray) else x, row_splits])
    if whole:
        x = move_to(k, x)
    elif isinstance(x, RaggedArray):
        x = move_to(k, x).used_values()
    else:
        x = k.asarray(x)
    splits = _checked_splits(k.index(row_splits), length)
    if not whole:
        x = inner_axes_to_levels(x, max(a, x.ragged_rank if isinstance(x, RaggedArray) else 0))
    if a == 0:
        return RaggedArray(x.values, (RowPartition(splits), *x.partitions))
    above = x.partitions[a - 1].nrows
    used = used_at(x.partitions, a - 1)
    inner = RowPartition(k.call(_repeated_splits, splits, used, copies=above, length=length))
    groups = UniformPartition(above, splits.shape[0] - 1)
    return RaggedArray(x.values, (*x.partitions[: a - 1], groups, inner, *x.partitions[a:]))


def _checked_splits(splits: Array, length: int) -> Array:
    if splits.ndim != 1 or splits.shape[0] == 0:
        got = f"shape {tuple(splits.shape)}"
        raise ValueError(error_text("row splits of shape (groups + 1,)", got, "Start them with 0."))
    k = kernels(splits)
    expected = f"splits that rise from 0 to {length}"
    if k.is_concrete(splits):
        on_host = k.host(splits)
        if on_host[0] != 0 or on_host[-1] != length or bool((on_host[1:] < on_host[:-1]).any()):
            raise ValueError(error_text(expected, str(on_host.tolist()), "Check the group sizes."))
    elif k.checking():
        ok = (splits[0] == 0) & (splits[-1] == length) & namespace(splits).all(splits[1:] >= splits[:-1])
        k.check(ok, error_text(expected, "{splits}", "Check the group sizes."), splits=splits)
    return splits


def _repeated_splits(splits: Array, used: Any, *, copies: int, length: int) -> Array:
    """The splits once for each entry above; past the ``used`` ones rows are empty."""
    xp = namespace(splits)
    starts = xp.arange(copies, dtype=splits.dtype)[:, None] * length + splits[None, :-1]
    end = xp.asarray([copies * length], dtype=splits.dtype)
    most = xp.astype(xp.asarray(used), splits.dtype) * length
    return xp.minimum(xp.concat((xp.reshape(starts, (-1,)), end)), most)
