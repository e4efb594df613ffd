"""Partitions: how one level of entries is divided into the entries of the level below.

    rows        [[a, b, c], [], [d]]        three entries above, four below
    splits      0       3   3   4           row i is entries splits[i] : splits[i + 1]

A ragged array with several ragged axes stacks partitions, outermost first: the entries below one
partition are the entries above the next, and the entries below the last one are the slots of
``values``. The entries above an inner partition may outnumber those in use (slack rows); splits then
repeat their used end, so that a slack row is an empty row. Only ``values`` has unspecified content.

This file knows plain arrays only. What needs more than indexing is in `_levels`.
"""

from dataclasses import dataclass
from typing import TypeAlias

from ._typing import Array


@dataclass(frozen=True, eq=False, slots=True)
class RowPartition:
    """One ragged axis: row ``i`` is the entries ``splits[i]:splits[i + 1]``; ``splits`` is ``int[nrows + 1]``."""

    splits: Array

    @property
    def nrows(self) -> int:
        """Entries above, slack rows included (static)."""
        return int(self.splits.shape[0]) - 1

    @property
    def lengths(self) -> Array:
        """Entries below each entry above: ``int[nrows]``."""
        return self.splits[1:] - self.splits[:-1]


@dataclass(frozen=True, slots=True)
class UniformPartition:
    """One uniform axis between ragged ones: each of ``nrows`` entries holds ``length``; both static."""

    nrows: int
    length: int


Partition: TypeAlias = RowPartition | UniformPartition


def entry_counts(partitions: tuple[Partition, ...], capacity: int) -> tuple[int, ...]:
    """Static number of entries at each level: of axis 0, of axis 1, ..., and last the slots of ``values``."""
    return (*(p.nrows for p in partitions), capacity)


def partition_shape(partitions: tuple[Partition, ...]) -> tuple[int | None, ...]:
    """Sizes of axis 0 and of one axis per partition; ``None`` where it is ragged."""
    below = (p.length if isinstance(p, UniformPartition) else None for p in partitions)
    return (partitions[0].nrows, *below)
