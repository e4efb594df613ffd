"""Kernels for NumPy: exact sizes, no slack, no Python loop over elements.

Loops over rows or over positions within rows are the one exception, taken where they were measured to
win: ``np.add.reduceat(axis=0)`` is 10 to 50 times slower than either on values with inner axes.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import array_api_compat.numpy
import numpy as np
import scipy.sparse
import scipy.special

from ..._errors import error_text
from ..._typing import Array, DType
from .._find import need_plain
from .._identity import identity
from .._protocol import Reduction, Segments
from .bags import bag as bag
from .components import component_function as component_function
from .components import einsum as einsum
from .dtypes import native
from .dtypes import pointwise as pointwise
from .views import strided as strided

name = "numpy"
xp = array_api_compat.numpy
has_exact_sizes = True

_UFUNC: dict[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def call(body: Callable[..., Any], /, *args: Any, **static: Any) -> Any:
    return body(*args, **static)


def is_concrete(*trees: Any) -> bool:
    return True


def host(x: Array, /) -> Any:
    return np.asarray(x)


def asarray(x: Any, /, *, dtype: DType | None = None) -> Array:
    """A plain array in native byte order: reductions have no loops for the other one."""
    need_plain(x)
    x = np.asarray(x, dtype=dtype)
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def index(x: Any, /) -> Array:
    """Integers as int32, or int64 where int32 is too small; int64 arrays stay what they are."""
    need_plain(x)
    x = np.asarray(x)
    if x.dtype.kind not in "iu":
        raise TypeError(error_text("integers", f"dtype {x.dtype}", "Convert them with `.astype(int)`.", op="index"))
    if x.dtype in (np.int32, np.int64):
        return x
    wide = x.dtype.itemsize > 4 or (x.dtype == np.uint32 and x.size > 0 and x.max() > np.iinfo(np.int32).max)
    if wide and x.size and x.max() > np.iinfo(np.int64).max:
        raise OverflowError(error_text("integers below 2**63", str(x.max()), "Check where they come from.", op="index"))
    return x.astype(np.int64 if wide else np.int32)


def move(
    values: Array, /, *indices: Array, slots: int | None = None, dtype: DType | None = None, device: Any = None
) -> list[Array]:
    return [asarray(values, dtype=dtype), *map(index, indices)]


def dtype(name: DType, /) -> DType:
    """A NumPy dtype; the extended float types are known once JAX is imported."""
    try:
        return np.dtype(name).newbyteorder("=")
    except TypeError:
        raise TypeError(error_text("a dtype or its name", repr(name), "Use one like 'float32'.", op="dtype")) from None


def bound(needed: Array, limit: int, /) -> int:
    return int(needed)


def row_ids(splits: Array, capacity: int, /) -> Array:
    ids = np.empty(capacity, dtype=splits.dtype)
    used = int(splits[-1])
    ids[:used] = np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))
    ids[used:] = len(splits) - 1
    return ids


def _contiguous(values: Array, segments: Segments) -> tuple[Array, Array]:
    """Values with the positions of each segment side by side, and their splits."""
    if segments.splits is not None:
        return values, segments.splits
    ids = np.asarray(segments.ids)
    order = np.argsort(ids, kind="stable")
    lengths = np.bincount(ids, minlength=segments.num + 1)[: segments.num]
    splits = np.concatenate(([0], np.cumsum(lengths)))
    return values[order[: splits[-1]]], splits


def segment_reduce(how: Reduction, values: Array, segments: Segments, /) -> Array:
    if values.dtype.kind == "V":
        return segment_reduce(how, native(values), segments).astype(values.dtype)
    values, splits = _contiguous(values, segments)
    starts, ends = splits[:-1], splits[1:]
    ufunc, nothing = _UFUNC[how], identity(how, values.dtype, np)
    if values.ndim == 1:
        return _reduce_scalars(ufunc, values, starts, ends, nothing)
    if how == "sum" and values.dtype.kind in "fc" and values.dtype.itemsize >= 4 and _short(starts, ends):
        return _sum_short_rows(values, splits)
    out = np.full((segments.num, *values.shape[1:]), nothing, dtype=values.dtype)
    _reduce_items(ufunc, values, starts, ends, out)
    return out


def _reduce_scalars(ufunc: np.ufunc, values: Array, starts: Array, ends: Array, nothing: Any) -> Array:
    used = int(ends[-1]) if len(ends) else 0
    known = int(np.searchsorted(starts, used))  # `reduceat` refuses a start past the last element
    out = np.empty(len(starts), dtype=values.dtype)
    if known:
        out[:known] = ufunc.reduceat(values[:used], starts[:known], dtype=values.dtype)
    out[known:] = nothing
    out[starts == ends] = nothing  # for an empty row `reduceat` gives the next element
    return out


def _short(starts: Array, ends: Array) -> bool:
    """Whether rows are so many and short that one call a row would cost more than the additions."""
    return bool(len(starts) > 64 and int(ends[-1]) < 64 * len(starts))


def _sum_short_rows(values: Array, splits: Array) -> Array:
    """Row sums as a product with the sparse ``[num, used]`` matrix that has a one per slot."""
    used = int(splits[-1])
    flat = np.ascontiguousarray(values[:used]).reshape(used, -1 if used else int(np.prod(values.shape[1:])))
    ones = np.ones(used, dtype=values.dtype)
    rows = scipy.sparse.csr_array((ones, np.arange(used, dtype=splits.dtype), splits), shape=(len(splits) - 1, used))
    return np.asarray(rows @ flat).reshape(len(splits) - 1, *values.shape[1:])


def _reduce_items(ufunc: np.ufunc, values: Array, starts: Array, ends: Array, out: Array) -> None:
    """Reduce rows of values with inner axes into ``out``, which holds the identity."""
    lengths = ends - starts
    longest = int(lengths.max(initial=0))
    if longest * 4 > len(starts):
        for i in np.flatnonzero(lengths):
            ufunc.reduce(values[starts[i] : ends[i]], axis=0, out=out[i])
        return
    order = np.argsort(-lengths, kind="stable")  # at step t the rows longer than t come first
    order = order[: np.count_nonzero(lengths)]
    longer = len(starts) - np.searchsorted(np.sort(lengths), np.arange(longest), side="right")
    first = starts[order]
    best = values[first]
    step = np.empty_like(best)
    for t in range(1, longest):
        n = longer[t]
        np.take(values, first[:n] + t, axis=0, out=step[:n], mode="clip")
        ufunc(best[:n], step[:n], out=best[:n])
    out[order] = best


def spread(items: Array, segments: Segments, capacity: int, /, *, fill: int = 0) -> Array:
    if segments.splits is None:
        return pick(items, segments.ids, fill=fill)
    used = int(segments.splits[-1])
    if used == capacity:
        return np.repeat(items, np.diff(segments.splits), axis=0)
    return pick(items, row_ids(segments.splits, capacity), fill=fill)


def pick(items: Array, index: Array, /, *, fill: int = 0) -> Array:
    if len(items) and (index.size == 0 or index.max() < len(items)):
        return items.take(index, axis=0)  # a fifth of the time of `items[index]`
    return np.concatenate((items, np.full((1, *items.shape[1:]), fill, dtype=items.dtype))).take(index, axis=0)


_BLOCK = 1 << 15
"""Items whose indices are made at a time: buffers that are used again cost no fresh memory, half of the time."""


def take_runs(items: Array, starts: Array, splits: Array, /) -> Array:
    lengths, size = np.diff(splits), int(splits[-1])
    if size >= 32 * len(starts) > 0:  # one copy a run beats one index an item
        return np.concatenate([items[s : s + n] for s, n in zip(starts.tolist(), lengths.tolist(), strict=True)])
    out = np.empty((size, *items.shape[1:]), dtype=items.dtype)
    cuts = np.append(np.searchsorted(splits, np.arange(0, size, _BLOCK)), len(starts))
    here = np.arange(int(np.diff(splits[cuts]).max(initial=0)))
    shifts = (starts - splits[:-1]).astype(np.int64)
    for a, b in pairwise(np.unique(cuts).tolist()):
        low, high = int(splits[a]), int(splits[b])
        index = np.repeat(shifts[a:b] + low, lengths[a:b])
        index += here[: high - low]
        items.take(index, axis=0, out=out[low:high], mode="clip")  # all are in range; "raise" would copy ``out``
    return out


def segment_softmax(values: Array, segments: Segments, /, *, log: bool) -> Array:
    capacity = len(values)
    peak = segment_reduce("max", values, segments)
    peak[peak == -np.inf] = 0
    out = spread(peak, segments, capacity)  # one buffer of the values' size serves every step
    np.subtract(values, out, out=out)
    weight = np.exp(out) if log else np.exp(out, out=out)
    total = segment_reduce("sum", weight, segments)
    total[total == 0] = 1  # every element of the row is -inf
    if log:
        return np.subtract(out, spread(np.log(total), segments, capacity), out=out)
    return np.divide(out, spread(total, segments, capacity), out=out)


def _by_length(splits: Array) -> Iterator[Any]:
    """The slots of all rows of one length, ``[rows, length]``, a length at a time; lengths are few in many rows."""
    lengths = np.diff(splits)
    longest = int(lengths.max(initial=0))
    if longest == 0:
        return
    counts = np.bincount(lengths)
    found = np.flatnonzero(counts)
    small = lengths.astype(np.uint16) if longest < 1 << 16 else lengths  # sorted by radix
    order = np.argsort(small, kind="stable") if len(found) > 1 else np.arange(len(lengths))
    ends = np.cumsum(counts)
    for n in found[found > 0]:
        first = splits[:-1][order[ends[n] - counts[n] : ends[n]]]
        yield first[:, None] + np.arange(n, dtype=splits.dtype)


def _each_length(f: Callable[[Array], Array], values: Array, splits: Array) -> Array:
    """``f`` of dense ``[rows, length, *item]``, for the rows of each length."""
    nrows, used = len(splits) - 1, int(splits[-1])
    if used and used % nrows == 0 and np.all(np.diff(splits) == used // nrows):
        dense = f(values[:used].reshape(nrows, used // nrows, *values.shape[1:])).reshape(used, *values.shape[1:])
        return dense if used == len(values) else np.concatenate((dense, values[used:]))
    out = values.copy()
    for slots in _by_length(splits):
        if slots.shape[1] > 1:
            out[slots] = f(values.take(slots, axis=0, mode="clip"))  # no bounds to check
    return out


def segment_sort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    kind: Any = "stable" if _signed_zeros(values) else None  # nothing else tells equal values apart
    return _each_length(lambda v: np.sort(v, axis=1, kind=kind), values, splits)


def _signed_zeros(values: Array) -> bool:
    if values.dtype.kind in "iu" or np.count_nonzero(values) == values.size:
        return False
    return bool(np.signbit(values[values == 0]).any())


def segment_argsort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    here = np.arange(len(values), dtype=splits.dtype).reshape(-1, *(1,) * (values.ndim - 1))
    out = np.broadcast_to(here, values.shape).copy()
    for slots in _by_length(splits):
        if slots.shape[1] > 1:
            order = np.argsort(values[slots], axis=1, kind="stable")
            out[slots] = order + slots[:, 0].reshape(-1, *(1,) * values.ndim)
    return out


def segment_scan(how: Reduction, values: Array, splits: Array, /, *, reverse: bool, longest: int | None) -> Array:
    return _each_length(lambda v: scan_axis(how, v, 1, reverse=reverse), values, splits)


def scan_axis(how: Reduction, values: Array, axis: int, /, *, reverse: bool) -> Array:
    if values.dtype.kind == "V":
        return scan_axis(how, native(values), axis, reverse=reverse).astype(values.dtype)
    scan = _UFUNC[how].accumulate
    if reverse:
        return np.flip(scan(np.flip(values, axis), axis=axis, dtype=values.dtype), axis)
    return scan(values, axis=axis, dtype=values.dtype)


def linear(x: Array, weight: Array, bias: Array | None, used: Array, /) -> Array:
    return pointwise(_affine, (x, weight, bias), {}, single=False)


def _affine(x: Array, weight: Array, bias: Array | None) -> Array:
    out = np.matmul(x, weight)
    return out if bias is None else out + bias


def grouped_matmul(x: Array, weights: Array, splits: Array, /) -> Array:
    return pointwise(_grouped, (x, weights, splits), {}, single=False)


def _grouped(x: Array, weights: Array, splits: Array) -> Array:
    out = np.zeros((*x.shape[:-1], weights.shape[-1]), dtype=np.result_type(x, weights))
    for i in np.flatnonzero(np.diff(splits)):
        np.matmul(x[splits[i] : splits[i + 1]], weights[i], out=out[splits[i] : splits[i + 1]])
    return out


def embedding(table: Array, ids: Array, used: Array, /) -> Array:
    return table[ids]


def true_index(mask: Array, size: int, /) -> Array:
    found = np.flatnonzero(mask)[:size]
    return np.concatenate((found, np.full(size - len(found), len(mask), dtype=found.dtype)))


def checking() -> bool:
    return False


def check(ok: Array, text: str, /, **shown: Array) -> None:
    """Data can be read here, so ops raise by themselves."""


def special(name: str, /) -> Callable[..., Array]:
    function = getattr(scipy.special, name)

    def of_dtype(*args: Array) -> Array:
        """SciPy has no loops for float16, and takes it, and Python numbers, for float64."""
        dtype = np.result_type(*(a for a in args if hasattr(a, "dtype")))
        out = function(*(a.astype(np.float32) if getattr(a, "dtype", None) == np.float16 else a for a in args))
        return out.astype(dtype) if dtype.kind == out.dtype.kind == "f" and out.dtype != dtype else out

    return of_dtype
