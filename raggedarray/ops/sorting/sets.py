"""Sets: the distinct elements of each row, and membership.

On a RaggedArray ``unique_*`` work on each innermost row by itself (with inner axes, on all its elements), where the
standard has one set for a whole array; plain arrays are passed to their own library. Distinct elements
are in ascending order; each NaN is distinct, as in the standard, and comes last. Results have the capacity of ``x``
times its inner size, exact on NumPy; an empty row gives none. Indices and counts have the default integer dtype.
"""

from math import prod
from typing import Any, NamedTuple

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import Partition, RowPartition
from ..._signatures import like_first
from ..._typing import Array
from ...backends import Kernels, Segments, generic, implementation, is_half, kernels, kind, namespace
from ...engine.along_axis import prepared, sort_key
from ...engine.arguments import holds, is_scalar
from ...engine.broadcast.rows import to_common_backend
from ...engine.packing import as_rows
from ...engine.rearrange.rows import array_of
from ...structure.levels import library, parents, splits_of
from ..elementwise.selection import astype
from ..reduction.searching import searchsorted
from .sorting import sort

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Any
    inverse_indices: Any


def unique_all(x: Any, /) -> UniqueAllResult:
    """Distinct elements of each row, where each first is in its row, which one each element is, and how often.

    ``[nrows, (len), *inner]`` to three arrays ``[nrows, (distinct)]``; ``inverse_indices`` has the shape of ``x``.

    >>> [part.tolist() for part in unique_all(ragged([[3, 1, 3], [], [2]]))]
    [[[1, 3], [], [2]], [[1, 0], [], [0]], [[1, 0, 1], [], [0]], [[1, 2], [], [1]]]
    """
    if not isinstance(x, RaggedArray):
        return UniqueAllResult(*namespace(array_of(x)).unique_all(x))
    x = as_rows(x)
    values, last, indices, counts, inverse = _unique(x, ("indices", "counts", "inverse"))
    return UniqueAllResult(_rows(x, last, values), _rows(x, last, indices), _like(x, inverse), _rows(x, last, counts))


def unique_counts(x: Any, /) -> UniqueCountsResult:
    """Distinct elements of each row and how often each is there: ``[nrows, (distinct)]`` both.

    >>> [part.tolist() for part in unique_counts(ragged([[3, 1, 3], [], [2]]))]
    [[[1, 3], [], [2]], [[1, 2], [], [1]]]
    """
    if not isinstance(x, RaggedArray):
        return UniqueCountsResult(*namespace(array_of(x)).unique_counts(x))
    x = as_rows(x)
    values, last, _, counts, _ = _unique(x, ("counts",))
    return UniqueCountsResult(_rows(x, last, values), _rows(x, last, counts))


def unique_inverse(x: Any, /) -> UniqueInverseResult:
    """Distinct elements of each row, and for each element of ``x`` which of them it is: of the shape of ``x``.

    >>> [part.tolist() for part in unique_inverse(ragged([[3, 1, 3], [], [2]]))]
    [[[1, 3], [], [2]], [[1, 0, 1], [], [0]]]
    """
    if not isinstance(x, RaggedArray):
        return UniqueInverseResult(*namespace(array_of(x)).unique_inverse(x))
    x = as_rows(x)
    values, last, _, _, inverse = _unique(x, ("inverse",))
    return UniqueInverseResult(_rows(x, last, values), _like(x, inverse))


def unique_values(x: Any, /) -> Any:
    """Distinct elements of each row, ascending: ``[nrows, (len), *inner]`` to ``[nrows, (distinct)]``.

    >>> unique_values(ragged([[3, 1, 3], [], [2]])).tolist()
    [[1, 3], [], [2]]
    """
    if not isinstance(x, RaggedArray):
        return namespace(array_of(x)).unique_values(x)
    x = as_rows(x)
    values, last, _, _, _ = _unique(x, ())
    return _rows(x, last, values)


def _rows(x: RaggedArray, last: RowPartition, values: Array) -> RaggedArray:
    return RaggedArray(values, (*x.partitions[:-1], last))


def _like(x: RaggedArray, values: Array) -> RaggedArray:
    return RaggedArray(values, x.partitions)


def _unique(x: RaggedArray, wanted: tuple[str, ...]) -> tuple[Any, ...]:
    x = prepared(x)
    sort_key(x.values[:0, ...], False)  # refuses complex values
    out: tuple[Any, ...] = x.kernels.call(_find, x.values, x.partitions, wanted=wanted)
    return out


def _find(values: Array, partitions: tuple[Partition, ...], *, wanted: tuple[str, ...]) -> tuple[Any, ...]:
    k, xp, like = kernels(values), namespace(values), library(partitions, values)
    p = partitions[-1]
    assert isinstance(p, RowPartition)
    size = prod(values.shape[1:])
    count = values.shape[0] * size
    rows = RowPartition(p.splits * size)
    flat = xp.reshape(values, (count,))
    key = implementation(k, generic.stop_gradient)(sort_key(flat, False))
    source = k.segment_argsort(key, rows.splits, longest=None)
    ordered = k.pick(key, source)
    above = parents(rows, count, like)
    new = above < p.nrows
    if count > 1:
        differs = (above[1:] != above[:-1]) | (ordered[1:] != ordered[:-1])
        new = new & xp.concat((xp.ones((1,), dtype=xp.bool), differs))
    unique_counts = k.segment_reduce("sum", xp.astype(new, like.dtype), Segments(p.nrows, splits=rows.splits))
    splits = splits_of(unique_counts)
    at = k.true_index(new, k.bound(splits[-1], count))
    at = xp.astype(at, like.dtype, copy=False)
    slots = xp.where(at < count, k.pick(source, at), xp.asarray(count, dtype=source.dtype))
    out = k.dtype("int64")
    indices = counts = inverse = None
    if "indices" in wanted:
        home = k.pick(rows.splits[:-1], k.pick(above, at))
        indices = xp.astype(k.pick(source, at) - home, out)
    if "counts" in wanted:
        end = xp.concat((at, xp.full((1,), count, dtype=at.dtype)))[1:]
        end = xp.minimum(end, rows.splits[-1])
        counts = xp.astype(xp.where(at < count, end - at, xp.zeros_like(at)), out)
    if "inverse" in wanted:
        rank = xp.cumulative_sum(xp.astype(new, like.dtype), dtype=like.dtype) - 1 - k.pick(splits[:-1], above)
        inverse = xp.reshape(k.pick(xp.astype(rank, out), xp.argsort(source, stable=True)), values.shape)
    return k.pick(flat, slots), RowPartition(splits), indices, counts, inverse


@like_first
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether each element of ``x1`` is one of ``x2``: bool, of the shape and capacity of ``x1``.

    ``x2`` is a number or a plain array of any shape, or a RaggedArray with the rows of ``x1``: each element is then
    looked for in its own row, the innermost one. NaN is in nothing.

    >>> isin(ragged([[1, 2], [], [3]]), np.array([3, 1])).tolist()
    [[True, False], [], [True]]
    >>> isin(ragged([[1, 2], [], [3]]), ragged([[2, 5], [1], [1]])).tolist()
    [[False, True], [], [False]]
    """
    if is_scalar(x1) and is_scalar(x2):
        raise TypeError(error_text("at least one array", "only numbers", "Use Python's `==`."))
    k, (x1, x2) = to_common_backend((as_rows(x1) if isinstance(x2, RaggedArray) else x1, as_rows(x2)))
    if isinstance(x2, RaggedArray):
        return _in_rows(k, x1, x2, invert)
    if isinstance(x2, int) and kind(x1.dtype) in ("int", "uint"):
        x2 = x2 if holds(x1, x2) else float("nan")
    if isinstance(x1, RaggedArray):
        return RaggedArray(k.call(_isin, x1.values, x2, invert=invert), x1.partitions)
    return k.call(_isin, x1, x2, invert=invert)


def _in_rows(k: Kernels, x1: Any, x2: RaggedArray, invert: bool) -> Any:
    """Whether each element is in the innermost row of ``x2`` of the same number."""
    if not isinstance(x1, RaggedArray) or x2.inner_shape or x2.ragged_rank != x1.ragged_rank:
        got = f"shapes {tuple(getattr(x1, 'shape', ()))} and {x2.shape}"
        raise ValueError(error_text("rows of scalars to look in, for the rows of x1", got, "Pass plain values."))
    both = x1.xp.result_type(x1.dtype, x2.dtype)
    if kind(both) == "complex":
        raise TypeError(error_text("real values in a ragged x2", f"dtype {both}", "Compare parts."))
    both = x1.xp.uint8 if kind(both) == "bool" else both
    x1, rows = astype(x1, both), sort(astype(x2, both))
    bounds = [searchsorted(rows, x1, side=side).values for side in ("left", "right")]
    values = k.call(_between, x1.values, *bounds, invert=invert)
    return RaggedArray(values, x1.partitions)


def _between(values: Array, left: Array, right: Array, *, invert: bool) -> Array:
    contained = (left < right) & (values == values)
    return ~contained if invert else contained


def _isin(values: Array, test: Any, *, invert: bool) -> Array:
    xp = namespace(test if is_scalar(values) else values)
    values = xp.asarray(values) if is_scalar(values) else values
    if is_scalar(test) or test.ndim == 0 or test.size == 0:
        hits = xp.zeros(values.shape, dtype=xp.bool) if getattr(test, "size", 1) == 0 else values == test
        return ~hits if invert else hits
    both = xp.result_type(values, test)
    both = xp.float32 if is_half(both) else both
    ordered, values = xp.astype(xp.reshape(test, (-1,)), both, copy=False), xp.astype(values, both, copy=False)
    if kind(both) in ("bool", "complex"):  # few values, or no order
        hits = xp.zeros(values.shape, dtype=xp.bool)
        for i in range(ordered.shape[0]):
            hits = hits | (values == ordered[i])
        return ~hits if invert else hits
    ordered = xp.sort(ordered)
    flat = xp.reshape(values, (-1,))
    at = xp.searchsorted(ordered, flat)
    hit = xp.take(ordered, xp.minimum(at, xp.asarray(ordered.shape[0] - 1, dtype=at.dtype)), axis=0) == flat
    hits = xp.reshape(hit, values.shape)
    return ~hits if invert else hits
