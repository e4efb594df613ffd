"""Sorting along one axis: stable, and NaN last, also when descending.

Along the innermost ragged axis each row is sorted by itself; along axis 0, or an axis with ragged ones behind
it, left-aligned columns are, and each stays in the rows that had its elements; along an inner axis as in NumPy.
Shape, structure and capacity stay, and a gradient follows its element. Plain arrays are passed to their own library.

``max_length`` is a static limit of the lengths of the innermost rows. Under jit it makes their sort several
times faster where it is not much above the mean; rows that are longer raise, or under plain jit give NaN.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import Partition, RowPartition
from ..._signatures import like_first
from ..._typing import Array
from ...backends import generic, implementation, kernels, namespace
from ...engine.along_axis import (
    coordinates,
    from_sort_key,
    padded_limit,
    pick_at,
    place_of,
    prepared,
    rearrange,
    row_limit,
    side_by_side,
    sort_key,
    take_along,
)
from ...engine.arguments import sizes_of
from ...engine.axes import one_axis
from ...engine.index.gather import INDEX_LIMIT
from ...engine.overflow import fill_unless, with_mark
from ...engine.rearrange.blocks import along_rows
from ...engine.rearrange.rows import array_of
from ...structure.index_maps import Move
from ...structure.levels import choose, library

__all__ = ["argsort", "sort", "top_k"]


@like_first
def sort(
    x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True, max_length: int | None = None
) -> Any:
    """Elements in order along ``axis``: ``[nrows, (len), *inner]`` to the same shape and capacity; NaN last.

    Always stable, whatever ``stable`` says. Empty rows stay empty. See the top of this page for ``max_length``.

    >>> sort(ragged([[3, 1, 2], [], [2, 1]])).tolist()
    [[1, 2, 3], [], [1, 2]]
    >>> sort(ragged([[1.0, np.nan, 2.0]]), descending=True).tolist()
    [[2.0, 1.0, nan]]
    """
    if not isinstance(x, RaggedArray):
        return namespace(array_of(x)).sort(x, axis=axis, descending=descending, stable=stable)
    return _ordered(_sort, x, axis, descending, max_length)


def _ordered(
    body: Callable[..., Array], x: RaggedArray, axis: int, descending: bool, max_length: int | None
) -> RaggedArray:
    """What ``body`` makes of each row or column, in its place."""

    def of_rows(x: RaggedArray, axis: int) -> Any:
        x, at = prepared(x), place_of(x, axis)
        longest, ok = row_limit(x, at, max_length)
        longest = padded_limit(x, longest, max_length is not None)
        values = x.kernels.call(body, x.values, x.partitions, ok=ok, at=at, descending=descending, longest=longest)
        return with_mark(RaggedArray(values, x.partitions), ok)

    out: RaggedArray = along_rows(x, one_axis(axis, x.ndim, "Pass `axis=`."), of_rows)
    return out


def _sort(
    values: Array, partitions: tuple[Partition, ...], *, ok: Any, at: Any, descending: bool, longest: int | None
) -> Array:
    key = sort_key(values, descending)
    if at.level is None:
        key = namespace(key).sort(key, axis=at.inner, stable=True)
    else:
        sort = implementation(kernels(values), generic.segment_sort)
        key = rearrange(lambda v, s: sort(v, s, longest=longest), key, partitions, at.level)
    return fill_unless(from_sort_key(key, values.dtype, descending), ok)


@like_first
def argsort(
    x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True, max_length: int | None = None
) -> Any:
    """Index along ``axis``, within the row, of the elements in order: the shape of ``x``, the default integer.

    Equal elements keep their order, descending too. Same structure and capacity as ``x``; along axis 0 an index
    is that of a row. See the top of this page for ``max_length``.

    >>> argsort(ragged([[3, 1, 2], [], [2, 1]])).tolist()
    [[1, 2, 0], [], [1, 0]]
    """
    if not isinstance(x, RaggedArray):
        return namespace(array_of(x)).argsort(x, axis=axis, descending=descending, stable=stable)
    return _ordered(_argsort, x, axis, descending, max_length)


def _argsort(
    values: Array, partitions: tuple[Partition, ...], *, ok: Any, at: Any, descending: bool, longest: int | None
) -> Array:
    k, xp = kernels(values), namespace(values)
    out = k.dtype("int64")
    key = implementation(k, generic.stop_gradient)(sort_key(values, descending))
    if at.level is None:
        return xp.astype(xp.argsort(key, axis=at.inner, stable=True), out, copy=False)
    order, splits = side_by_side(partitions, at.level, values)
    key = key if order is None else k.pick(key, order)
    source = k.segment_argsort(key, splits, longest=longest)
    where = coordinates(partitions, at.level, values.shape[0], library(partitions, values))
    where = where if order is None else k.pick(where, order)
    index = pick_at(where, source)
    index = index if order is None else k.pick(index, xp.argsort(order, stable=True))
    return fill_unless(xp.astype(index, out, copy=False), ok)


class TopKResult(NamedTuple):
    """What `top_k` returns."""

    values: Any
    indices: Any


def top_k(x: Any, k: int, /, *, axis: int = -1, max_length: int | None = None) -> TopKResult:
    """The ``k`` largest elements of each row, in descending order, and their indices within the row.

    ``[nrows, (len), *inner]`` gives two arrays ``[nrows, (min(len, k)), *inner]``, the indices of the default
    integer: a short row gives what there is. Of equal elements the first comes first; NaN counts as smallest.
    Along a uniform inner axis of size ``n`` the result has size ``min(n, k)`` there. The capacity is the smaller
    of ``k`` for each row and the capacity of ``x``, exact on NumPy. An axis with ragged axes behind it raises.

    >>> values, indices = top_k(ragged([[3, 1, 2], [], [7]]), 2)
    >>> values.tolist(), indices.tolist()
    ([[3, 2], [], [7]], [[0, 2], [], [0]])
    """
    x, k = array_of(x), min(sizes_of(k), INDEX_LIMIT)
    if k < 0:
        raise ValueError(error_text("k of at least 0", str(k), "Pass how many elements to keep."))
    a = one_axis(axis, x.ndim, "Pass `axis=`.")
    if not isinstance(x, RaggedArray):
        return TopKResult(*kernels(x).call(_top_inner, x, axis=a, count=k))
    return TopKResult(*along_rows(x, a, partial(_top_k, k, max_length), lengths=Move("truncate", k)))


def _top_k(k: int, max_length: int | None, x: RaggedArray, axis: int) -> tuple[RaggedArray, RaggedArray]:
    x, at = prepared(x), place_of(x, axis)
    if at.level is None:
        values, index = x.kernels.call(_top_inner, x.values, axis=at.inner, count=k)
        return RaggedArray(values, x.partitions), RaggedArray(index, x.partitions)
    if at.level < x.ragged_rank:
        advice = "Sort along it and slice."
        raise ValueError(error_text("an axis without ragged axes behind it", f"axis {at.level}", advice))
    longest, ok = row_limit(x, at, max_length)
    longest = padded_limit(x, longest, max_length is not None)
    values, index, last = x.kernels.call(_top_rows, x.values, x.partitions, ok=ok, count=k, longest=longest)
    partitions = (*x.partitions[:-1], last)
    first, second = (with_mark(RaggedArray(v, partitions), ok) for v in (values, index))
    return first, second


def _top_inner(values: Array, *, axis: int, count: int) -> tuple[Array, Array]:
    xp, k = namespace(values), kernels(values)
    order = xp.argsort(implementation(k, generic.stop_gradient)(sort_key(values, True)), axis=axis, stable=True)
    order = order[(*(slice(None),) * axis, slice(0, count), ...)]
    index = xp.astype(order, k.dtype("int64"), copy=False)
    return xp.take_along_axis(values, order, axis=axis), index


def _top_rows(
    values: Array, partitions: tuple[Partition, ...], *, ok: Any, count: int, longest: int | None
) -> tuple[Array, Array, RowPartition]:
    k, xp = kernels(values), namespace(values)
    p = partitions[-1]
    assert isinstance(p, RowPartition)
    key = implementation(k, generic.stop_gradient)(sort_key(values, True))
    source = k.segment_argsort(key, p.splits, longest=longest)
    like, capacity = library(partitions, values), values.shape[0]
    lengths = xp.minimum(p.lengths, xp.asarray(count, dtype=p.splits.dtype))
    limit = min(p.nrows * count, capacity)
    partitions_after, slots = choose(partitions, len(partitions), capacity, lengths, limit, lambda row, at: at, like)
    where = pick_at(coordinates(partitions, len(partitions), capacity, like), source)
    index = xp.astype(k.pick(where, slots), k.dtype("int64"), copy=False)
    return fill_unless(k.pick(take_along(values, source), slots), ok), fill_unless(index, ok), partitions_after
