"""Slots and entries allocated: how many are used, and arrays with more or fewer of them."""

from collections.abc import Sequence
from typing import Any

from .._array import RaggedArray
from .._partition import Partition, RowPartition, UniformPartition, entry_counts, levels_only
from .._typing import Array
from ..backends import namespace
from ..structure.blocks import known_total, resized
from ..structure.levels import known_used
from .arguments import level_sizes, ragged_only
from .innermost import innermost
from .overflow import check_capacity, fill_unless
from .packing import contiguous


def with_capacity(x: RaggedArray, /, capacity: int | Sequence[int]) -> RaggedArray:
    """The same rows over ``capacity`` slots. The data must fit; what is added is slack.

    With inner ragged axes a sequence may give the number of entries of every level below axis 0,
    outermost first and the slots of ``values`` last; an int leaves the row counts as they are.

    Too small a capacity raises, under jit in code that runs under `checked`. Plain jit cannot raise: the result
    keeps its splits, `RaggedArray.overflow` is True, and every value and gradient computed from it is the fill: NaN,
    the lowest signed or highest unsigned integer, True.

    >>> with_capacity(ragged([[1.0, 2.0], [3.0]]), 8).capacity
    8
    """
    if ragged_only(x).block is not None:
        return _block_capacity(x, capacity)
    counts = entry_counts(x.partitions, x.capacity)
    given = level_sizes(capacity, x.ragged_rank)
    sizes = (*counts[1:-1], given) if isinstance(given, int) else given
    ok: Any = True
    sizes_all = [counts[0]]
    for level, (p, n) in enumerate(zip(levels_only(x.partitions), sizes, strict=True), start=1):
        if isinstance(p, UniformPartition):
            sizes_all.append(sizes_all[-1] * p.length)
            continue
        sizes_all.append(n)
        if n < counts[level]:
            what = "capacity" if level == x.ragged_rank else f"rows along axis {level + 1}"
            ok = ok & check_capacity(known_used(p), n, what, "capacity=")
    if tuple(sizes_all) == counts:
        return x
    k = x.kernels
    values, partitions = k.call(_resize, x.values, x.partitions, ok=ok, sizes=tuple(sizes_all))
    return RaggedArray(values, partitions)


def _block_capacity(x: RaggedArray, capacity: int | Sequence[int]) -> RaggedArray:
    """Components as rows of elements, resized; those that are added are empty."""
    x = contiguous(x)
    block = innermost(x)
    out = with_capacity(x.components_as_rows(), capacity)
    new = resized(block, out.partitions[-1].nrows, out.capacity)
    return RaggedArray(out.values, (*out.partitions[:-1], new))


def _resize(
    values: Array, partitions: tuple[Partition, ...], *, ok: Any, sizes: tuple[int, ...]
) -> tuple[Array, tuple[Partition, ...]]:
    new: list[Partition] = []
    for i, p in enumerate(levels_only(partitions)):
        if isinstance(p, UniformPartition):
            new.append(UniformPartition(sizes[i], p.length))
            continue
        xp = namespace(p.splits)
        splits = p.splits[: sizes[i] + 1]
        more = sizes[i] + 1 - splits.shape[0]
        if more > 0:
            splits = xp.concat((splits, xp.broadcast_to(splits[-1], (more,))))
        new.append(RowPartition(splits))
    if sizes[-1] < values.shape[0]:  # before the cut: what it drops is lost, so its gradient is NaN too
        return _resize_first(fill_unless(values, ok), sizes[-1]), tuple(new)
    return fill_unless(_resize_first(values, sizes[-1]), ok), tuple(new)


def _resize_first(values: Array, size: int) -> Array:
    xp, have = namespace(values), values.shape[0]
    if size <= have:
        return values[:size, ...]
    return xp.concat((values, xp.zeros((size - have, *values.shape[1:]), dtype=values.dtype)))


def used_entries(x: RaggedArray) -> tuple[int, ...]:
    """Entries in use at each level below axis 0, the slots of ``values`` last (concrete)."""
    used, out = x.nrows, []
    p: Any
    for p in x.partitions:
        used = used * p.length if isinstance(p, UniformPartition) else int(known_total(p))
        out.append(used)
    return tuple(out)
