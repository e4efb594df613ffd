"""Cumulative operations and differences along one axis.

Along the innermost ragged axis each row is scanned by itself, and nothing of one row reaches another: not NaN,
not infinity, not the rounding of a large value. Along axis 0, or an axis with ragged ones behind it, left-aligned
columns are; along an inner axis as in NumPy. Halves accumulate in float32. Gradients are right at zeros too.

``reverse`` scans from the end. ``include_initial`` puts the identity before each row (behind it in ``reverse``), so
that every row, an empty one too, is one longer; the capacity then grows by the number of rows. ``max_length`` is a
static limit of the lengths of the innermost rows, which saves steps under jit: ``log2(max_length)`` passes instead
of ``log2(capacity)``; rows that are longer raise, or under plain jit give NaN.
"""

from functools import partial
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import Partition, RowPartition
from ..._signatures import like_first
from ..._typing import Array, DType
from ...backends import Reduction, generic, identity, implementation, is_array, kernels, kind, namespace
from ...engine.along_axis import Along, place_of, prepared, rearrange, row_limit
from ...engine.arguments import checked_scalar, sizes_of
from ...engine.axes import normal_axes, one_axis
from ...engine.index.gather import INDEX_LIMIT
from ...engine.overflow import fill_unless, with_mark
from ...engine.rearrange.blocks import along_rows
from ...engine.rearrange.rows import array_of
from ...engine.reduce import accumulator
from ...structure.index_maps import Move
from ...structure.levels import choose, column, library, parents, positions, used_at

__all__ = ["cumulative_max", "cumulative_min", "cumulative_prod", "cumulative_sum", "diff"]


@like_first
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: DType | None = None, reverse: bool = False,
    include_initial: bool = False, max_length: int | None = None,
) -> Any:  # fmt: skip
    """Running sum along ``axis``: the shape of ``x``. Small integers and bools sum as the default integer.

    >>> cumulative_sum(ragged([[1, 2, 3], [], [4, 5]]), axis=1).tolist()
    [[1, 3, 6], [], [4, 9]]
    >>> cumulative_sum(ragged([[1, 2], []]), axis=1, reverse=True, include_initial=True).tolist()
    [[3, 2, 0], [0]]
    """
    return _cumulative("sum", x, axis, dtype, reverse, include_initial, max_length)


@like_first
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: DType | None = None, reverse: bool = False,
    include_initial: bool = False, max_length: int | None = None,
) -> Any:  # fmt: skip
    """Running product along ``axis``: the shape of ``x``. Small integers and bools multiply as the default integer.

    >>> cumulative_prod(ragged([[1, 2, 3], [], [4, 5]]), axis=1).tolist()
    [[1, 2, 6], [], [4, 20]]
    """
    return _cumulative("prod", x, axis, dtype, reverse, include_initial, max_length)


@like_first
def cumulative_max(
    x: Any, /, *, axis: int | None = None, reverse: bool = False, include_initial: bool = False,
    max_length: int | None = None,
) -> Any:  # fmt: skip
    """Largest element so far along ``axis``: shape and dtype of ``x``; NaN from the first NaN on.

    >>> cumulative_max(ragged([[1, 3, 2], [], [5, 4]]), axis=1).tolist()
    [[1, 3, 3], [], [5, 5]]
    """
    return _cumulative("max", x, axis, None, reverse, include_initial, max_length)


@like_first
def cumulative_min(
    x: Any, /, *, axis: int | None = None, reverse: bool = False, include_initial: bool = False,
    max_length: int | None = None,
) -> Any:  # fmt: skip
    """Smallest element so far along ``axis``: shape and dtype of ``x``; NaN from the first NaN on.

    >>> cumulative_min(ragged([[3, 1, 2], [], [5, 4]]), axis=1, reverse=True).tolist()
    [[1, 1, 2], [], [4, 4]]
    """
    return _cumulative("min", x, axis, None, reverse, include_initial, max_length)


def _cumulative(
    how: Reduction, x: Any, axis: int | None, dtype: Any, reverse: bool, initial: bool, max_length: int | None
) -> Any:
    x, ragged = array_of(x), isinstance(x, RaggedArray)
    values = x.values if ragged else x
    if kind(values.dtype) == "complex" and how in ("min", "max"):
        raise TypeError(error_text("real values", f"dtype {values.dtype}", "Scan `ra.abs(x)`, say."))
    dtype = None if dtype is None else kernels(values).dtype(dtype)
    options: dict[str, Any] = {"how": how, "dtype": dtype, "reverse": reverse, "initial": initial}
    if not ragged:
        if axis is None and x.ndim != 1:
            raise ValueError(error_text("axis= for more than one axis", f"shape {tuple(x.shape)}", "Pass `axis=`."))
        (a,) = normal_axes(0 if axis is None else axis, x.ndim)
        return kernels(x).call(_scan_inner, x, axis=a, **options)
    if x.block is not None and initial:
        got = f"a block of shape {x.shape}"
        raise ValueError(error_text("rows for include_initial", got, "Convert it with `ra.to_rows`."))
    return along_rows(x, one_axis(axis, x.ndim, "Pass `axis=`."), partial(_scanned, options, max_length))


def _scanned(options: dict[str, Any], max_length: int | None, x: RaggedArray, axis: int) -> RaggedArray:
    x, at, initial = prepared(x), place_of(x, axis), options["initial"]
    longest, ok = row_limit(x, at, max_length)
    if at.level is None:
        return RaggedArray(x.kernels.call(_scan_inner, x.values, axis=at.inner, **options), x.partitions)
    if initial and at.level < x.ragged_rank:
        got, advice = f"axis {at.level}", "Join a row of identities with `ra.concat`."
        raise ValueError(error_text("include_initial along an axis without ragged axes behind it", got, advice))
    longest = longest if x.kernels.has_exact_sizes or longest is None else 1 << max(longest - 1, 0).bit_length()
    values, partitions = x.kernels.call(
        _scan_rows, x.values, x.partitions, ok=ok, level=at.level, longest=longest, **options
    )
    out: RaggedArray = with_mark(RaggedArray(values, partitions), ok)
    return out


def _widen(values: Array, how: Reduction, dtype: Any) -> tuple[Array, Any]:
    """Values in the dtype to accumulate in, and the dtype of the result."""
    xp = namespace(values)
    if how in ("min", "max"):
        return (xp.astype(values, xp.uint8) if kind(values.dtype) == "bool" else values), values.dtype
    inexact = ("float", "complex")
    out = dtype if dtype is not None else values.dtype if kind(values.dtype) in inexact else accumulator(values, "sum")
    values = xp.astype(values, out, copy=False)
    return (xp.astype(values, accumulator(values, "sum"), copy=False) if kind(out) in inexact else values), out


def _nothing(how: Reduction, dtype: Any, like: Array) -> Array:
    """The identity of a scan, in the dtype of its result."""
    xp = namespace(like)
    return xp.asarray(identity(how, dtype, xp), dtype=dtype)


def _scan_inner(values: Array, *, axis: int, how: Reduction, dtype: Any, reverse: bool, initial: bool) -> Array:
    xp = namespace(values)
    wide, out = _widen(values, how, dtype)
    scan_axis = implementation(kernels(wide), generic.scan_axis)
    done = xp.astype(scan_axis(how, wide, axis, reverse=reverse), out, copy=False)
    if not initial:
        return done
    shape = (*values.shape[:axis], 1, *values.shape[axis + 1 :])
    edge = xp.broadcast_to(_nothing(how, out, values), shape)
    return xp.concat((done, edge) if reverse else (edge, done), axis=axis)


def _scan_rows(
    values: Array, partitions: tuple[Partition, ...], *, ok: Any, level: int, longest: int | None, how: Reduction,
    dtype: Any, reverse: bool, initial: bool,
) -> tuple[Array, tuple[Partition, ...]]:  # fmt: skip
    xp = namespace(values)
    wide, out = _widen(values, how, dtype)

    def scan(v: Array, splits: Array) -> Array:
        return kernels(v).segment_scan(how, v, splits, reverse=reverse, longest=longest)

    done = fill_unless(xp.astype(rearrange(scan, wide, partitions, level), out, copy=False), ok)
    return _lengthen(done, partitions, _nothing(how, out, values), reverse) if initial else (done, partitions)


def _lengthen(
    values: Array, partitions: tuple[Partition, ...], edge: Array, behind: bool
) -> tuple[Array, tuple[Partition, ...]]:
    """Put ``edge`` before, or behind, the elements of each innermost row."""
    p, like, k = partitions[-1], library(partitions, values), kernels(values)
    assert isinstance(p, RowPartition)
    xp = namespace(like)
    rows = xp.arange(p.nrows, dtype=like.dtype) < used_at(partitions, len(partitions) - 1)
    lengths = p.lengths + xp.astype(rows, p.splits.dtype)

    def source(row: Array, at: Array) -> Array:
        return at if behind else xp.where(at > 0, at - 1, xp.zeros_like(at))

    partitions_after, index = choose(
        partitions, len(partitions), values.shape[0], lengths, values.shape[0] + p.nrows, source, like
    )
    above = parents(partitions_after, index.shape[0], like)
    at = positions(partitions_after, above)
    here = at == k.pick(p.lengths, above) if behind else at == 0
    index = xp.where(here, xp.asarray(values.shape[0], dtype=index.dtype), index)
    new = namespace(values).where(column(here, values), edge, k.pick(values, index))
    return new, (*partitions[:-1], partitions_after)


@like_first
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along ``axis``, ``n`` times: each row gets ``n`` shorter, down to empty.

    ``[nrows, (len), *inner]`` to ``[nrows, (max(len - n, 0)), *inner]``, of the dtype and capacity of ``x``, exact on
    NumPy. ``prepend`` and ``append`` are joined to each row first: a number, of the dtype of ``x``, an array ``[nrows,
    k, *inner]``, or a RaggedArray of as many rows, whose dtypes promote. An axis with ragged axes behind it raises.

    >>> diff(ragged([[1, 4, 9], [], [3]])).tolist()
    [[3, 5], [], []]
    >>> diff(ragged([[1, 4], []]), prepend=0).tolist()
    [[1, 3], []]
    """
    x, n = array_of(x), min(sizes_of(n), INDEX_LIMIT)
    if n < 0:
        raise ValueError(error_text("n of at least 0", str(n), "Use `ra.cumulative_sum` for sums."))
    if not isinstance(x, RaggedArray):
        ends = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
        return namespace(x).diff(x, axis=axis, n=n, **ends)
    a = one_axis(axis, x.ndim, "Pass `axis=`.")
    if kind(x.dtype) == "bool":
        raise TypeError(error_text("numbers", "dtype bool", "Convert them with `ra.astype`."))
    if x.block is not None:
        x, prepend, append = _with_ends(x, a, prepend, append), None, None
    differences = partial(_differences, n, prepend, append)
    return along_rows(x, a, differences, lengths=Move("window", n + 1, 1))


def _differences(n: int, prepend: Any, append: Any, x: RaggedArray, axis: int) -> RaggedArray:
    x, at = prepared(x), place_of(x, axis)
    if at.level is not None and at.level < x.ragged_rank:
        raise ValueError(
            error_text("an axis without ragged axes behind it", f"axis {at.level}", "Subtract row slices.")
        )
    if prepend is not None or append is not None:
        parts = [_edge(x, at, y) for y in (prepend, x, append) if y is not None]
        x = x.__array_namespace__().concat(parts, axis=axis).used_values()
    if at.level is None:
        return RaggedArray(x.kernels.call(_diff_inner, x.values, axis=at.inner, count=n), x.partitions)
    values, last = x.kernels.call(_diff_rows, x.values, x.partitions, count=n)
    return RaggedArray(values, (*x.partitions[:-1], last))


def _with_ends(x: RaggedArray, a: int, prepend: Any, append: Any) -> RaggedArray:
    """A block with what is joined to its components along an axis: numbers, or arrays that fit."""
    xp = x.__array_namespace__()
    for before, y in ((True, prepend), (False, append)):
        if y is None:
            continue
        if is_array(y) and y.ndim:
            x = xp.concat([y, x] if before else [x, y], axis=a)
        else:
            checked_scalar(x, y, "prepend and append")
            x = xp.pad(x, int(before), int(not before), fill_value=y, axis=a)
    return x


def _edge(x: RaggedArray, at: Along, y: Any) -> Any:
    """What is joined to ``x``: a number as an element for each row."""
    if isinstance(y, RaggedArray) or (is_array(y) and y.ndim):
        if y is not x and (y.ndim, y.shape[0]) != (x.ndim, x.nrows):
            expected = f"prepend and append of {x.ndim} axes and {x.nrows} rows"
            raise ValueError(error_text(expected, f"shape {tuple(y.shape)}", "Give each row its own."))
        return y
    y = checked_scalar(x, y, "prepend or append")
    values, last = x.kernels.call(_one_each, x.values, x.partitions, y, at=at)
    return RaggedArray(values, (*x.partitions[:-1], last))


def _one_each(values: Array, partitions: tuple[Partition, ...], y: Any, *, at: Along) -> tuple[Array, RowPartition]:
    xp, p, like = namespace(values), partitions[-1], library(partitions, values)
    assert isinstance(p, RowPartition)
    if at.level is None:
        shape = (*values.shape[: at.inner], 1, *values.shape[at.inner + 1 :])
    else:
        splits = namespace(like).arange(p.nrows + 1, dtype=p.splits.dtype)
        used = namespace(like).asarray(used_at(partitions, len(partitions) - 1), dtype=p.splits.dtype)
        p = RowPartition(namespace(like).minimum(splits, used))
        count = kernels(like).bound(p.splits[-1], p.nrows)
        shape = (count, *values.shape[1:])
    return xp.broadcast_to(xp.asarray(y, dtype=values.dtype), shape), p


def _diff_inner(values: Array, *, axis: int, count: int) -> Array:
    lead = (slice(None),) * axis
    for _ in range(min(count, values.shape[axis])):
        values = values[(*lead, slice(1, None), ...)] - values[(*lead, slice(0, -1), ...)]
    return values


def _diff_rows(values: Array, partitions: tuple[Partition, ...], *, count: int) -> tuple[Array, RowPartition]:
    xp, p, like = namespace(values), partitions[-1], library(partitions, values)
    assert isinstance(p, RowPartition)
    capacity = values.shape[0]
    above = parents(p, capacity, like)
    left = kernels(like).pick(p.lengths, above) - positions(p, above)  # from each element to the end of its row
    for step in range(1, min(count, capacity - 1) + 1):
        # Masked on both sides: inf - inf across rows would warn.
        inside = column(left > step, values)
        following = xp.where(inside, xp.concat((values[1:, ...], values[:1, ...])), xp.zeros_like(values))
        values = following - xp.where(inside, values, xp.zeros_like(values))
    lengths = p.lengths - xp.minimum(p.lengths, xp.asarray(count, dtype=p.splits.dtype))
    partitions_after, index = choose(partitions, len(partitions), capacity, lengths, capacity, lambda row, at: at, like)
    return kernels(values).pick(values, index), partitions_after
