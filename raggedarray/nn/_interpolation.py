"""Rows resampled to other lengths.

Positions are worked out in integers, exactly, whatever the lengths: in float32 the rounding of a long row would
pick a neighbour.
"""

from typing import Any

from .._array import RaggedArray
from .._errors import DynamicShapeError, error_text
from .._partition import RowPartition
from .._signatures import like_first
from .._typing import Array
from ..backends import is_array, kernels, kind, namespace
from ..engine.arguments import last_rows, ragged_only, sizes_of
from ..engine.broadcast.rows import move_to
from ..engine.bucket_size import bucket_size
from ..engine.indices import to_dtype, widened
from ..engine.overflow import check_capacity, fill_unless
from ..engine.reduce import accumulator
from ..structure.levels import column, parents, positions, splits_of
from ._windows import with_rows_of

__all__ = ["interpolate"]


@like_first
def interpolate(x: Any, lengths: Any, /, *, method: str = "nearest", capacity: int | None = None) -> Any:
    """Each row resampled to a given length: ``[nrows, (len), *inner]`` to ``[nrows, (lengths), *inner]``.

    ``lengths`` is an int for all rows, or ``int[nrows]`` (with two ragged axes ragged integers like
    ``x.row_lengths(axis=2)``). ``"nearest"`` takes element ``floor(i * len / lengths)``; ``"linear"`` interpolates at
    ``(i + 0.5) * len / lengths - 0.5``, element centres on element centres, constant beyond the outer ones: both as
    torch does without ``align_corners``. An empty row gives zeros. Halves are interpolated in float32, integers by
    ``"linear"`` give the default float.

    The capacity is ``nrows * lengths`` for an int, unless given. Lengths that can be read are added up, and on JAX
    rounded as `bucket_size` does; traced ones need ``capacity=``. One too small, or a negative length, raises, or under
    jit gives NaN.

    >>> x = ragged([[0.0, 10.0], [], [5.0]])
    >>> interpolate(x, np.array([4, 1, 2]), method="linear").tolist()
    [[0.0, 2.5, 7.5, 10.0], [0.0], [5.0, 5.0]]
    >>> interpolate(x, np.array([4, 0, 2])).tolist()
    [[0.0, 0.0, 10.0, 10.0], [], [5.0, 5.0]]
    """
    if method not in ("nearest", "linear"):
        raise ValueError(error_text("method='nearest' or 'linear'", repr(method), "Pass one of these."))
    if kind(ragged_only(x).dtype) in ("complex", "bool") and method == "linear":
        raise TypeError(error_text("integers or floats", f"dtype {x.dtype}", "Take method='nearest'."))
    x = move_to(x.kernels, x).used_values()
    p = last_rows(x)
    lengths = x.kernels.asarray(lengths, dtype="int32") if isinstance(lengths, list) else lengths
    wanted, size, ok = _lengths(x, p, lengths, capacity)
    values, splits = x.kernels.call(_resample, x.values, p, wanted, ok, size=size, method=method)
    return with_rows_of(x, values, splits)


def _lengths(x: RaggedArray, p: RowPartition, wanted: Any, capacity: int | None) -> tuple[Array, int, Any]:
    """New lengths of the innermost rows (0 in slack), a static size for them, and whether they fit."""
    k, like = kernels(p.splits), p.splits
    capacity = None if capacity is None else sizes_of(capacity)
    if is_array(wanted) and wanted.ndim == 0 and kernels(wanted).is_concrete(wanted):
        wanted = sizes_of(wanted)
    if not is_array(wanted):
        n = sizes_of(wanted)
        if n < 0:
            raise ValueError(error_text("lengths of at least 0", f"{n}", "Pass a length."))
        _need_index(p.nrows * n, like)
        same = k.call(_same_length, x, n if p.nrows else 0, nrows=p.nrows)
        return (same, p.nrows * n, True) if capacity is None else _within(same, capacity, like)
    shape = x.shape[: x.ragged_rank]
    if tuple(wanted.shape) != shape or kind(wanted.dtype) not in ("int", "uint"):
        got = f"{wanted.dtype} {wanted.shape}"
        raise ValueError(error_text(f"lengths: integers of shape {shape}", got, "Pass one per row."))
    if isinstance(wanted, RaggedArray):
        wanted = move_to(k, widened(wanted, k)).used_values()
        flat = k.call(_masked, wanted, nrows=p.nrows)
    else:
        flat = k.index(wanted)
    return _within(flat, capacity, like)


def _within(flat: Array, capacity: int | None, like: Array) -> tuple[Array, int, Any]:
    """Lengths, and a static size for them that is exact, given, or rounded."""
    k = kernels(like)
    if k.is_concrete(flat):
        host = k.host(flat)
        if host.size and host.min() < 0:
            raise ValueError(error_text("lengths of at least 0", f"{host.min()}", "Pass one per row."))
        need = int(host.sum(dtype="int64"))
        _need_index(need, like)
        flat = to_dtype(flat, like)  # which would clamp what was not counted
        if capacity is None:
            return flat, need if k.has_exact_sizes else bucket_size(need), True
        check_capacity(need, capacity, "a capacity", "capacity=")
        return flat, need if k.has_exact_sizes else capacity, True
    if capacity is None:
        raise DynamicShapeError(error_text("a static capacity", "traced lengths", "Pass `capacity=`."))
    flat, total, ok = k.call(_nonnegative, to_dtype(flat, like))
    if k.checking():
        k.check(ok, error_text("lengths of at least 0", "a negative one", "Pass one per row."))
    return flat, capacity, ok & check_capacity(total, capacity, "a capacity", "capacity=")


def _need_index(total: int, like: Array) -> None:
    most = int(namespace(like).iinfo(like.dtype).max)
    if total > most:
        raise ValueError(error_text(f"lengths that add up to at most {most}", f"{total}", "Pass smaller ones."))


def _nonnegative(flat: Array) -> tuple[Array, Array, Array]:
    """Lengths with 0 for those below it, their total, and whether there was none."""
    xp = namespace(flat)
    kept = xp.maximum(flat, xp.zeros_like(flat))
    return kept, xp.sum(kept, dtype=kept.dtype), xp.all(flat >= 0)


def _masked(lengths: RaggedArray, *, nrows: int) -> Array:
    xp = lengths.xp
    flat = xp.where(lengths.used_mask(), lengths.values, xp.zeros_like(lengths.values))
    more = max(nrows - flat.shape[0], 0)
    return xp.concat((flat[:nrows], xp.zeros((more,), dtype=flat.dtype)))


def _same_length(x: RaggedArray, n: Any, *, nrows: int) -> Array:
    """``n`` in every row in use."""
    from ..structure.levels import used_at

    last = x.partitions[-1]
    assert isinstance(last, RowPartition)
    xp = namespace(last.splits)
    at = xp.arange(nrows, dtype=last.splits.dtype)
    used = at < used_at(x.partitions, x.ragged_rank - 1)
    return xp.where(used, xp.full_like(at, n), xp.zeros_like(at))


def _resample(v: Array, p: RowPartition, wanted: Array, ok: Any, *, size: int, method: str) -> tuple[Array, Array]:
    xp, k = namespace(v), kernels(v)
    partition = RowPartition(splits_of(wanted))
    splits = partition.splits
    row = parents(RowPartition(splits), size, splits)
    at = positions(RowPartition(splits), row)
    starts, length, n = (k.pick(a, row) for a in (p.splits[:-1], p.lengths, wanted))
    some = (row < p.nrows) & (length > 0)
    missing = xp.asarray(v.shape[0], dtype=starts.dtype)
    n = xp.where(n > 0, n, xp.ones_like(n))
    if method == "nearest":
        low, _ = _scaled(at, length, n)
        out = k.pick(v, xp.where(some, starts + low, missing))
        return fill_unless(out, ok), splits
    wide = xp.astype(v, accumulator(v, "float"), copy=False)
    whole, rest = _scaled(2 * at + 1, length, 2 * n)  # half an element beyond the wanted position
    share = xp.astype(rest, wide.dtype) / xp.astype(2 * n, wide.dtype)
    down = rest < n
    low = whole - xp.astype(down, whole.dtype)
    part = column(xp.where(down, share + 0.5, share - 0.5), wide)
    high = xp.minimum(low + 1, length - 1)
    low = xp.maximum(low, xp.zeros_like(low))
    first, second = (k.pick(wide, xp.where(some, starts + i, missing)) for i in (low, high))
    out = first + (second - first) * part
    return fill_unless(xp.astype(out, v.dtype if kind(v.dtype) == "float" else out.dtype, copy=False), ok), splits


def _scaled(a: Array, length: Array, n: Array) -> tuple[Array, Array]:
    """Quotient and remainder of ``a * length / n`` for ``a < n``, though the product may not fit the integer type."""
    xp = namespace(a)
    times, rest = length // n, length % n
    guess = xp.astype(xp.astype(a, xp.float32) * xp.astype(rest, xp.float32) / xp.astype(n, xp.float32), a.dtype)
    left = a * rest - guess * n  # both products wrap alike, so that their difference is right
    return a * times + guess + left // n, left % n
