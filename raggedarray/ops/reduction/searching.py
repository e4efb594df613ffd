"""Where elements are, and how many: reductions whose result is an index or a count.

Axes, ``keepdims``, ``where`` and ``length`` are as in `raggedarray.ops.reduction`; results have the default
integer dtype.
"""

from math import prod
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import Partition, RowPartition
from ..._typing import Array, Axis
from ...backends import generic, identity, implementation, is_array, is_half, kernels, kind, namespace
from ...engine.along_axis import coordinates
from ...engine.arguments import checked_scalar, is_scalar
from ...engine.broadcast.rows import to_common_backend
from ...engine.indices import to_dtype, widened
from ...engine.packing import as_rows
from ...engine.reduce import Frame, run
from ...structure.agreement import agree, is_uniform
from ...structure.blocks import elements
from ...structure.levels import library, parents
from .reduction import reduce, total

__all__ = ["argmax", "argmin", "count_nonzero", "searchsorted"]


def count_nonzero(
    x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """How many elements are true (not zero), as the default integer; an empty row gives 0.

    >>> count_nonzero(ragged([[0, 2], []]), axis=1)
    array([1, 0])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce("count_nonzero", _count_nonzero, x, options=options)


def _count_nonzero(f: Frame, v: Array, where: Array | None) -> Array:
    return total(f, v if kind(v.dtype) == "bool" else v != 0, where, None, dtype=None)


def argmin(
    x: Any, /, *, axis: int | None = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """Index of the first smallest element along one axis (within the row), or of all stored elements; NaN wins.

    Nothing to compare gives -1. The result has the default integer dtype.

    >>> argmin(ragged([[3.0, 1.0], []]), axis=1)
    array([ 1, -1])
    """
    return _arg("min", x, axis, keepdims, where, length)


def argmax(
    x: Any, /, *, axis: int | None = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """Index of the first largest element along one axis (within the row), or of all stored elements; NaN wins.

    Nothing to compare gives -1. The result has the default integer dtype.

    >>> argmax(ragged([[3.0, 1.0], []]), axis=1)
    array([ 0, -1])
    """
    return _arg("max", x, axis, keepdims, where, length)


def _arg(how: str, x: Any, axis: int | None, keepdims: bool, where: Any, length: int | None) -> Any:
    if isinstance(axis, tuple):
        raise TypeError(error_text("one axis or None", str(axis), "Reduce one axis at a time."))
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    if not isinstance(x, RaggedArray):
        return reduce(f"arg{how}", _best, x, options=options)
    if kind(x.dtype) == "complex":
        raise TypeError(error_text("real values", f"dtype {x.dtype}", "Compare `ra.abs(x)`."))
    return run(_best, x, **options, how=how)


def _best(f: Frame, v: Array, where: Array | None, *, how: Any) -> Array:
    xp, out = f.xp, f.kernels.dtype("int64")
    v = xp.astype(v, xp.uint8) if kind(v.dtype) == "bool" else v
    v = implementation(f.kernels, generic.once)(v)  # the largest is compared with what it was found among
    nothing = xp.asarray(identity(how, v.dtype, xp), dtype=v.dtype)
    best = f.reduce(how, v if where is None else xp.where(where, v, nothing))
    hit = v == f.spread(best)
    hit = hit | xp.isnan(v) if kind(v.dtype) == "float" else hit
    hit = hit if where is None else hit & where
    at = xp.astype(xp.broadcast_to(_coordinate(f, v), v.shape), out)
    far = xp.asarray(xp.iinfo(out).max, dtype=out)
    first = f.reduce("min", xp.where(hit, at, far))
    return xp.where(first == far, xp.asarray(-1, dtype=out), first)


def _coordinate(f: Frame, v: Array) -> Array:
    """Index of each element along the reduced axis, or among all stored elements."""
    xp, x = f.xp, f.x
    if len(f.axes.levels) + len(f.axes.inner) + len(f.axes.block) != 1:
        count = prod(v.shape)
        return xp.reshape(xp.arange(count), v.shape)
    if f.axes.inner:
        (axis,) = f.axes.inner
        return xp.reshape(xp.arange(v.shape[axis]), tuple(n if i == axis else 1 for i, n in enumerate(v.shape)))
    if f.axes.block:
        assert x.block is not None
        at = elements(x.block, x.capacity).at[f.axes.block[0]]
        return xp.reshape(at, (x.capacity, *(1,) * (v.ndim - 1)))
    at = coordinates(x.partitions, f.axes.levels[0], x.capacity, library(x.partitions, v))
    return xp.reshape(at, (x.capacity, *(1,) * (v.ndim - 1)))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """Where each element of ``x2`` belongs in the sorted row of ``x1`` of the same number, as an index within the row.

    ``x1`` is ``[nrows, (len)]``, or has more ragged axes, and rows in ascending order, NaN last. ``x2`` is ragged
    with the same outer axes and any row lengths, or a plain array ``[nrows, ...]``; the result has its shape and
    capacity, and the default integer dtype. ``side="left"`` gives the first such index, ``"right"`` the one past the
    last equal element; in an empty row both are 0. ``sorter`` is what `argsort` of ``x1`` gives, where rows are not
    in order. In a plain ``x1`` every element of a ragged ``x2`` is looked up.

    >>> searchsorted(ragged([[1, 3, 5], [], [2]]), ragged([[3, 9], [1], [2]]), side="right").tolist()
    [[2, 3], [0], [1]]
    """
    if side not in ("left", "right"):
        raise ValueError(error_text("side 'left' or 'right'", repr(side), "Pass one of these."))
    x1, x2, sorter = as_rows(x1), as_rows(x2), as_rows(sorter)
    k, (x1, x2) = to_common_backend((x1, x2))
    if sorter is not None:
        if not is_array(sorter) or kind(sorter.dtype) not in ("int", "uint"):
            got = f"dtype {sorter.dtype}" if is_array(sorter) else type(sorter).__name__
            raise TypeError(error_text("an integer sorter", got, "Pass `ra.argsort(x1)`."))
        k, (x1, x2, sorter) = to_common_backend((x1, x2, widened(sorter, k)))
    if isinstance(x1, RaggedArray) and is_scalar(x2):  # for every row
        x2 = checked_scalar(x1, x2, "x2") if isinstance(x2, int) else x2
        x2 = x1.xp.full((x1.nrows,), x2, dtype=None if isinstance(x2, float) else x1.dtype)
    if not isinstance(x1, RaggedArray):
        values = x2.values if isinstance(x2, RaggedArray) else x2
        index = namespace(x1).searchsorted(x1, values, side=side, **({} if sorter is None else {"sorter": sorter}))
        return RaggedArray(index, x2.partitions) if isinstance(x2, RaggedArray) else index
    _check_sorted_rows(x1, x2)
    if sorter is not None:
        p, q = x1.partitions[-1], sorter.partitions[-1]
        assert isinstance(p, RowPartition)
        agree(p, q, x1.ragged_rank, outermost=x1.ragged_rank == 1)
        sorter = sorter.values
    if isinstance(x2, RaggedArray):
        index = k.call(_search, x1.values, x1.partitions, sorter, x2.values, x2.partitions[-1], side=side)
        return RaggedArray(index, x2.partitions)
    return k.call(_search, x1.values, x1.partitions, sorter, x2, None, side=side)


def _check_sorted_rows(x1: RaggedArray, x2: Any) -> None:
    if x1.inner_shape:
        raise ValueError(error_text("rows of scalars", f"shape {x1.shape}", "Search one column."))
    ragged = isinstance(x2, RaggedArray)
    if not ragged and x1.ragged_rank > 1 and not is_uniform(x1.partitions[:-1]):
        raise ValueError(error_text(f"x2 with the rows of {x1.shape}", "a plain array", "Make it ragged."))
    same = x2.ragged_rank == x1.ragged_rank if ragged else getattr(x2, "ndim", 0) >= x1.ragged_rank
    lead = x1.shape[: x1.ragged_rank]
    if not same or tuple(x2.shape[: x1.ragged_rank]) != lead:
        got = str(tuple(getattr(x2, "shape", ())))
        advice = "Give each row its own elements to look for."
        raise ValueError(error_text(f"x2 with the rows of {x1.shape}", got, advice))
    if ragged:
        pairs = zip(x1.partitions[:-1], x2.partitions[:-1], strict=True)
        for level, (p, q) in enumerate(pairs, start=1):
            if isinstance(p, RowPartition):
                agree(p, q, level, outermost=is_uniform(x1.partitions[: level - 1]))


def _search(
    values: Array, partitions: tuple[Partition, ...], sorter: Array | None, queries: Array, rows: RowPartition | None,
    *, side: str,
) -> Array:  # fmt: skip
    k, xp, like = kernels(values), namespace(values), library(partitions, values)
    p = partitions[-1]
    assert isinstance(p, RowPartition)
    capacity = values.shape[0]
    values, queries = (xp.astype(v, xp.float32) if is_half(v.dtype) else v for v in (values, queries))
    flat = xp.reshape(queries, (-1,))
    if rows is None:
        row = xp.arange(flat.shape[0], dtype=like.dtype) // max(flat.shape[0] // max(p.nrows, 1), 1)
    else:
        size = flat.shape[0] // max(queries.shape[0], 1)
        row = parents(rows, queries.shape[0], like)
        row = xp.minimum(row, xp.asarray(p.nrows, dtype=row.dtype))  # in slack, where x2 has more slack rows
        row = xp.reshape(xp.broadcast_to(xp.reshape(row, (-1, 1)), (queries.shape[0], size)), (-1,))
    starts = k.pick(p.splits[:-1], row)
    low, high = starts, k.pick(p.splits[1:], row)
    if sorter is not None:
        above = parents(p, capacity, like)
        here = xp.minimum(xp.arange(capacity), xp.asarray(sorter.shape[0]))
        source = k.pick(p.splits[:-1], above) + to_dtype(k.pick(sorter, here), like)
        exists = (above < p.nrows) & (source >= 0) & (source < capacity)
        values = k.pick(values, xp.where(exists, source, xp.asarray(capacity, dtype=source.dtype)))
    for _ in range(capacity.bit_length()):  # halves every range at once
        middle = (low + high) // 2
        entry = k.pick(values, middle)
        less = _before(entry, flat, side) & (low < high)
        low, high = xp.where(less, middle + 1, low), xp.where(less, high, middle)
        high = xp.maximum(low, high)
    return xp.astype(xp.reshape(low - starts, queries.shape), k.dtype("int64"), copy=False)


def _before(entry: Array, wanted: Array, side: str) -> Array:
    """Whether an element of a row lies before the place of the wanted one; NaN is the largest."""
    xp = namespace(entry)
    out = entry < wanted if side == "left" else entry <= wanted
    if kind(wanted.dtype) != "float":
        return out
    last = xp.isnan(wanted)
    if side == "right":
        return out | last
    return out | (last & ~xp.isnan(entry) if kind(entry.dtype) == "float" else last)
