"""An axis of size 1 in front of a ragged axis, stretched: what lies below is there again for each new entry."""

from typing import Any

from ..._array import RaggedArray
from ..._partition import Partition, RowPartition, UniformPartition, entry_counts
from ..._typing import Array
from ...backends import namespace
from ...structure.levels import known_used, library, parents, take_rows
from ..bucket_size import bucket_size
from ..index.take_rows import taken_rows


def with_unit_axes(x: RaggedArray, count: int) -> RaggedArray:
    """The same array under ``count`` leading axes of size 1."""
    if not count:
        return x
    return RaggedArray(
        x.values, (*(UniformPartition(1, 1),) * (count - 1), UniformPartition(1, x.nrows), *x.partitions)
    )


def repeated(x: RaggedArray, level: int, n: int) -> RaggedArray:
    """The axis ``level``, of size 1, ``n`` times; every capacity below it is ``n`` times as large."""
    counts = entry_counts(x.partitions, x.capacity)
    below = x.partitions[level:]
    above: tuple[Partition, ...] = ()
    if level:
        above = (*x.partitions[: level - 1], UniformPartition(counts[level - 1], n))
    capacities = tuple(n * count for count in counts[level + 1 :])
    values, new = x.kernels.call(_repeated, x.values, below, n=n, capacities=capacities)
    return RaggedArray(values, (*above, *new))


def _repeated(values: Array, below: tuple[Partition, ...], *, n: int, capacities: tuple[int, ...]) -> Any:
    like = library(below, values)
    rows = namespace(like).arange(below[0].nrows * n, dtype=like.dtype) // max(n, 1)
    return take_rows(values, below, rows, capacities)


def under_rows(x: RaggedArray, level: int, rows: RowPartition) -> RaggedArray:
    """The axis ``level``, of size 1, as often as ``rows`` say; all structure can be read."""
    k, total = x.kernels, known_used(rows)
    which = k.call(_above, rows, count=total if k.has_exact_sizes else bucket_size(total))
    flat = taken_rows(RaggedArray(x.values, x.partitions[level:]), which, k.host(which), None)
    return RaggedArray(flat.values, (*x.partitions[: level - 1], rows, *flat.partitions))


def _above(rows: RowPartition, *, count: int) -> Array:
    return parents(rows, count, rows.splits)
