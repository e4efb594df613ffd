"""How an op orders or accumulates elements along one axis: per row, along an inner axis, or in columns.

Along the innermost ragged axis the rows lie end to end. Along any other level elements meet in left-aligned
columns: they are brought side by side, worked on, and put back where each column's members were.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from .._array import RaggedArray
from .._errors import error_text
from .._partition import Partition, RowPartition
from .._typing import Array
from ..backends import Segments, is_half, is_numpy, kernels, kind, namespace
from ..structure.levels import ancestors, group, longest_row, parents, positions, splits_of, traced_longest
from .arguments import sizes_of
from .broadcast.rows import move_to
from .bucket_size import bucket_size
from .overflow import check_capacity


class Along(NamedTuple):
    """Where an axis is: a level, or an axis of ``values`` (static)."""

    level: int | None
    inner: int


def prepared(x: RaggedArray) -> RaggedArray:
    """All of it in the library of its values, and without slack where that costs nothing."""
    return move_to(x.kernels, x).used_values()


def place_of(x: RaggedArray, a: int) -> Along:
    """Where axis ``a`` of an array of rows is."""
    return Along(a, 0) if a <= x.ragged_rank else Along(None, a - x.ragged_rank)


def row_limit(x: RaggedArray, at: Along, max_length: int | None) -> tuple[int | None, Any]:
    """A static limit of the lengths of the innermost rows, if one is known, and whether they keep to it.

    Row lengths that can be read are rounded up, so that few programs are compiled.
    """
    max_length = None if max_length is None else sizes_of(max_length)
    p = x.partitions[-1]
    assert isinstance(p, RowPartition)
    if at.level != x.ragged_rank:
        if max_length is not None:
            got = f"max_length={max_length} along another"
            raise ValueError(error_text("max_length= along the innermost ragged axis only", got, "Drop it."))
        return None, True
    k = kernels(p.splits)
    if not k.is_concrete(p.splits):
        if max_length is None:
            return None, True
        return max_length, check_capacity(k.call(traced_longest, p), max_length, "a length", "max_length=")
    if k.has_exact_sizes and max_length is None:
        return None, True
    longest = longest_row(p)
    if max_length is not None:
        check_capacity(longest, max_length, "a length", "max_length=")
        return max_length, True
    return bucket_size(longest, mantissa_bits=0, minimum=1), True


def padded_limit(x: RaggedArray, longest: int | None, asked: bool) -> int | None:
    """The limit to which a sort pads: the one asked for, else the known one unless most slots would be padding."""
    p = x.partitions[-1]
    return longest if asked or longest is None or p.nrows * longest <= 4 * x.capacity else None


def side_by_side(partitions: tuple[Partition, ...], level: int, values: Array) -> tuple[Array | None, Array]:
    """The order that brings the members of each row or column side by side (None: they are), and their splits."""
    last = partitions[-1]
    if level == len(partitions):
        assert isinstance(last, RowPartition)
        return None, last.splits
    length = None
    first = partitions[0]
    if level == 0 and isinstance(first, RowPartition):
        below = partitions[1].nrows if len(partitions) > 1 else values.shape[0]
        length = longest_row(first) if kernels(values).has_exact_sizes else below
    groups = group(partitions, (level,), values.shape[0], length, values)
    ids = groups.segments.ids
    assert ids is not None
    xp = namespace(ids)
    counts = kernels(ids).segment_reduce("sum", xp.ones_like(ids), Segments(groups.segments.num, ids=ids))
    return xp.argsort(ids, stable=True), splits_of(counts)


def rearrange(
    f: Callable[[Array, Array], Array], values: Array, partitions: tuple[Partition, ...], level: int
) -> Array:
    """``f(values, splits)`` over the rows or columns along a level; each result in its member's slot."""
    order, splits = side_by_side(partitions, level, values)
    if order is None:
        return f(values, splits)
    xp, k = namespace(order), kernels(values)
    return k.pick(f(k.pick(values, order), splits), xp.argsort(order, stable=True))


def coordinates(partitions: tuple[Partition, ...], level: int, capacity: int, like: Array) -> Array:
    """Index of each slot along a level, within the entry above: ``int[capacity]``."""
    at = ancestors(partitions, level, capacity, like)
    if level == 0:
        return at
    p = partitions[level - 1]
    count = partitions[level].nrows if level < len(partitions) else capacity
    return kernels(at).pick(positions(p, parents(p, count, like)), at)


def take_along(values: Array, source: Array) -> Array:
    """Values by a slot index of their own shape."""
    if values.ndim == 1:
        return kernels(values).pick(values, source)
    return namespace(values).take_along_axis(values, source, axis=0)


def pick_at(items: Array, index: Array) -> Array:
    """``items[index]`` for an index of any rank."""
    xp = namespace(index)
    found = kernels(items).pick(items, xp.reshape(index, (-1,)))
    return xp.reshape(found, (*index.shape, *items.shape[1:]))


def sort_key(values: Array, descending: bool) -> Array:
    """What sorts ascending as asked, NaN last both ways; `from_sort_key` gives the values back."""
    xp, what = namespace(values), kind(values.dtype)
    if what == "complex":
        raise TypeError(error_text("real values", f"dtype {values.dtype}", "Sort `ra.abs(x)`, say."))
    key = xp.astype(values, xp.uint8) if what == "bool" else values
    if is_half(values.dtype) and is_numpy(values):  # it sorts no NaN of bfloat16
        key = xp.astype(values, xp.float32)
    if not descending:
        return key
    return -key if what == "float" else xp.bitwise_invert(key)


def from_sort_key(key: Array, dtype: Any, descending: bool) -> Array:
    """Values again."""
    xp, what = namespace(key), kind(dtype)
    if descending:
        key = -key if what == "float" else xp.bitwise_invert(key)
    return xp.astype(key, dtype, copy=False)
