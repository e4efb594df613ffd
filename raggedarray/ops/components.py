"""An array's components and rows, one by one: on NumPy they are views."""

from itertools import pairwise
from typing import Any

from .._array import RaggedArray, rebuild
from .._errors import DynamicShapeError, complaint
from .._partition import Partition, RowPartition, UniformPartition
from .._typing import Array
from ..backends import Kernels, kernels
from ._checking import ragged_only

__all__ = ["nested_dim", "nested_size", "unbind"]


def unbind(x: RaggedArray, /) -> tuple[Any, ...]:
    """The entries of axis 0, one level taken off: arrays ``(len, *inner)``, or RaggedArrays.

    Views of ``values`` on NumPy; on JAX new arrays of exact size. Not under jit, where lengths are data.

    >>> [row.tolist() for row in unbind(ragged([[1, 2], [], [3]]))]
    [[1, 2], [], [3]]
    """
    ragged_only("unbind", x)
    return tuple(rows_of(x, range(x.nrows), "unbind", "Use `ra.to_padded(x, length=)`."))


def nested_size(x: RaggedArray, /) -> tuple[Any, ...]:
    """Shapes of the components as nested tuples, nested like the array.

    >>> nested_size(ragged([[[1, 2], []], []]))
    (((2,), (0,)), ())
    """
    return _nested(x, lambda length: (length, *x.inner_shape))


def nested_dim(x: RaggedArray, /) -> tuple[Any, ...]:
    """Ranks of the components as nested tuples, nested like the array.

    >>> nested_dim(ragged([[[1, 2], []], []]))
    ((1, 1), ())
    """
    return _nested(x, lambda length: 1 + len(x.inner_shape))


def _nested(x: RaggedArray, leaf: Any) -> tuple[Any, ...]:
    ragged_only("nested_size", x)
    _need_lengths(x, "nested_size", "Use `x.row_lengths()`.")
    *outer, last = [x.kernels.host(s).tolist() for s in x.nested_row_splits]
    items = [leaf(b - a) for a, b in pairwise(last)]
    for ends in reversed(outer):
        items = [tuple(items[a:b]) for a, b in pairwise(ends)]
    return tuple(items)


def _need_lengths(x: RaggedArray, op: str, advice: str) -> None:
    if not kernels(x.row_splits).is_concrete(x.partitions):
        raise DynamicShapeError(complaint(op, "row lengths that can be read", "traced ones", advice))


def host_partitions(x: RaggedArray) -> tuple[Partition, ...]:
    """The partitions with their splits as NumPy arrays (concrete)."""
    return tuple(
        p if isinstance(p, UniformPartition) else RowPartition(kernels(p.splits).host(p.splits)) for p in x.partitions
    )


def rows_of(x: RaggedArray, index: Any, op: str, advice: str) -> list[Any]:
    """Single rows by index (concrete structure)."""
    _need_lengths(x, op, advice)
    k = x.kernels
    splits = [None if isinstance(p, UniformPartition) else k.host(p.splits) for p in x.partitions]
    concrete = not k.trims and k.is_concrete(x.values)
    values = k.host(x.values) if concrete else x.values  # slicing a JAX array compiles once a length
    return [_row(k, x.partitions, splits, values, i, concrete) for i in index]


def _row(k: Kernels, partitions: tuple[Partition, ...], splits: list[Any], values: Array, i: int, move: bool) -> Any:
    start, end = i, i + 1
    new: tuple[Partition, ...] = ()
    nrows = None
    for p, s in zip(partitions, splits, strict=True):
        if isinstance(p, UniformPartition):
            first, last = start * p.length, end * p.length
        else:
            first, last = int(s[start]), int(s[end])
        if nrows is None:
            nrows = last - first
        elif isinstance(p, UniformPartition):
            new = (*new, UniformPartition(end - start, p.length))
        else:
            new = (*new, RowPartition(k.index(s[start : end + 1] - first)))
        start, end = first, last
    here = values[start:end, ...]
    return rebuild(nrows or 0, new, k.asarray(here) if move else here)
