"""Partitions: how one level of entries is divided into the entries of the level below.

    rows        [[a, b, c], [], [d]]        three entries above, four below
    splits      0       3   3   4           row i is entries splits[i] : splits[i + 1]

A ragged array with several ragged axes stacks partitions, outermost first: the entries below one
partition are the entries above the next, and the entries below the last one are the slots of
``values``. The entries above an inner partition may outnumber those in use (slack rows); splits then
repeat their used end, so that a slack row is an empty row. Only ``values`` has unspecified content.

Components that vary along several axes at once, as a list of matrices, have one `BlockPartition`, last:

    address of element (i, j) of component k        offsets[k] + i * strides[k, 0] + j * strides[k, 1]

This file knows plain arrays only. What needs more than indexing is in `structure.levels` and `structure.blocks`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from ._errors import error_text
from ._typing import Array


@dataclass(frozen=True, eq=False, slots=True)
class RowPartition:
    """One ragged axis: row ``i`` is the entries ``splits[i]:splits[i + 1]``; ``splits`` is ``int[nrows + 1]``."""

    splits: Array

    @property
    def nrows(self) -> int:
        """Entries above, slack rows included (static)."""
        return int(_one(self.splits, 1)) - 1

    @property
    def lengths(self) -> Array:
        """Entries below each entry above: ``int[nrows]``."""
        return self.splits[1:] - self.splits[:-1]

    @property
    def axes(self) -> tuple[int | None, ...]:
        """The one axis that these rows are, which is ragged."""
        return (None,)

    @property
    def is_packed(self) -> bool:
        """Rows lie end to end."""
        return True

    def arrays(self) -> tuple[Array, ...]:
        """The splits."""
        return (self.splits,)

    def map_arrays(self, f: Callable[[Array], Array]) -> "RowPartition":
        """The same rows over ``f`` of their splits."""
        return RowPartition(f(self.splits))


@dataclass(frozen=True, slots=True)
class UniformPartition:
    """One uniform axis between ragged ones: each of ``nrows`` entries holds ``length``; both static."""

    nrows: int
    length: int

    @property
    def axes(self) -> tuple[int | None, ...]:
        """The one axis, and its size."""
        return (self.length,)

    @property
    def is_packed(self) -> bool:
        """Entries lie end to end."""
        return True

    def arrays(self) -> tuple[Array, ...]:
        """Nothing is stored."""
        return ()

    def map_arrays(self, f: Callable[[Array], Array]) -> "UniformPartition":
        """Itself: there is nothing to map."""
        return self


@dataclass(frozen=True, eq=False, slots=True)
class BlockPartition:
    """Axes that vary per component, all at once: a strided view of each component.

    sizes
        ``int[n, R]``: shape of each component along its R ragged axes.
    strides, offsets
        ``int[n, len(axes)]`` steps in slots along each axis, and ``int[n]`` where each component starts. Both None:
        packed, row-major, end to end. That is known statically, so that packed blocks take the fast ways.
    axes
        One entry per component axis, None (ragged) or its static size.
    bound
        Static upper limit of the number of elements, which views may have more of than there are slots.
    """

    sizes: Array
    strides: Array | None = None
    offsets: Array | None = None
    axes: tuple[int | None, ...] = field(kw_only=True, metadata={"static": True})
    bound: int = field(kw_only=True, metadata={"static": True})

    @property
    def nrows(self) -> int:
        """Entries above: components, slack ones (of size 0) included (static)."""
        return int(_one(self.sizes, 2))

    @property
    def is_packed(self) -> bool:
        """Whether it is known statically that elements lie row-major, end to end."""
        return self.strides is None and self.offsets is None

    def arrays(self) -> tuple[Array, ...]:
        """Sizes, and strides and offsets unless packed."""
        return tuple(a for a in (self.sizes, self.strides, self.offsets) if a is not None)

    def map_arrays(self, f: Callable[[Array], Array]) -> "BlockPartition":
        """The same components over ``f`` of what is stored."""
        sizes, strides, offsets = (None if a is None else f(a) for a in (self.sizes, self.strides, self.offsets))
        assert sizes is not None
        return BlockPartition(sizes, strides, offsets, axes=self.axes, bound=self.bound)


def _one(table: Array, ndim: int) -> Any:
    """Length of the first axis of splits or sizes, which are those of one array."""
    shape = table.shape
    if len(shape) != ndim:
        got = f"a stack of {shape[: len(shape) - ndim]} of them" if len(shape) > ndim else f"splits of shape {shape}"
        advice = "Work on it inside `jax.vmap`, or take one with `jax.tree.map(lambda a: a[i], x)`."
        raise ValueError(error_text("one ragged array", got, advice, op="raggedarray"))
    return shape[0]


Level: TypeAlias = RowPartition | UniformPartition
"""What divides entries into those of one axis more."""

Partition: TypeAlias = Level | BlockPartition
"""Each has ``nrows`` entries above and ``axes`` below, ``is_packed`` or not, and maps its ``arrays()``.

A block is the last of its array; a uniform level never is.
"""


def block_of(partitions: tuple[Partition, ...]) -> BlockPartition | None:
    """The block that ends these partitions, if one does."""
    last = partitions[-1] if partitions else None
    return last if isinstance(last, BlockPartition) else None


def levels_only(partitions: tuple[Partition, ...]) -> tuple[Level, ...]:
    """These partitions, for code that knows rows and uniform levels only; raises where a block ends them."""
    if block_of(partitions) is not None:
        advice = "Convert it with `ra.to_rows(x)`, or use `ra.map_components`."
        raise ValueError(error_text("row partitions", "components that vary in several axes", advice, op="raggedarray"))
    return cast(tuple[Level, ...], partitions)


def uniform_levels(entries: int, lengths: tuple[int, ...]) -> tuple[UniformPartition, ...]:
    """Uniform levels of these lengths one below the other, the first of them under ``entries`` entries."""
    out: tuple[UniformPartition, ...] = ()
    for n in lengths:
        out, entries = (*out, UniformPartition(entries, n)), entries * n
    return out


def entry_counts(partitions: tuple[Partition, ...], capacity: int) -> tuple[int, ...]:
    """Static number of entries at each level: of axis 0, of axis 1, ..., and last the slots of ``values``."""
    return (*(p.nrows for p in levels_only(partitions)), capacity)


def partition_shape(partitions: tuple[Partition, ...]) -> tuple[int | None, ...]:
    """Sizes of axis 0 and of the axes of each partition; ``None`` where one is ragged."""
    return (partitions[0].nrows, *(n for p in partitions for n in p.axes))
