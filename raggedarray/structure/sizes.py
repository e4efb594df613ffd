"""What can be read off partitions of either kind, rows or a block at the end: sizes, ids, masks, on plain arrays."""

from math import prod
from typing import Any

from .._errors import error_text
from .._partition import RowPartition, UniformPartition, block_of
from .._typing import Array
from ..backends import generic, implementation, kernels, namespace
from .blocks import component_splits, elements, extents, known_total, occupied
from .levels import ancestors, library, parents, positions, used_mask

Partitions = tuple[Any, ...]


def used_count(partitions: Partitions) -> Any:
    """How many slots hold data, or elements a strided view has: an int where it can be read, else traced."""
    return known_total(partitions[-1])


def flat_rows(partitions: Partitions, level: int = 0) -> Partitions:
    """Packed components as rows of elements; ``level`` must be theirs or above."""
    block = block_of(partitions)
    if block is None:
        return partitions
    if not block.is_packed:
        raise ValueError(error_text("packed components", "a strided view", "Pack it with `ra.contiguous(x)`."))
    if level >= len(partitions):
        raise IndexError(error_text("the axis of the components", f"axis {level + 1}", "Use `ra.to_rows(x)`."))
    return (*partitions[:-1], RowPartition(component_splits(block)))


def nested_splits(partitions: Partitions, values: Array) -> tuple[Array, ...]:
    """Splits of every partition, uniform ones too."""
    like = library(partitions, values)
    xp = namespace(like)
    out: tuple[Array, ...] = ()
    for p in partitions:
        if isinstance(p, UniformPartition):
            used = out[-1][-1] if out else p.nrows
            entries = xp.arange(p.nrows + 1, dtype=like.dtype)
            splits = xp.minimum(entries, xp.asarray(used, dtype=like.dtype)) * p.length
        else:
            splits = p.splits
        out = (*out, splits)
    return out


def lengths_at(partitions: Partitions, level: int, values: Array) -> tuple[Partitions, Array]:
    """Sizes along axis ``level`` from 1, and the partitions that they lie under."""
    like, at = library(partitions, values), min(level, len(partitions)) - 1
    p = partitions[at]
    size = extents(p)[level - 1 - at]
    full = namespace(like).full((p.nrows,), size, dtype=like.dtype) if isinstance(size, int) else size
    return partitions[:at], full


def ids_at(partitions: Partitions, level: int, values: Array) -> Array:
    """Entry of ``level`` that each slot lies in."""
    rows = flat_rows(partitions, level)
    return ancestors(rows, level, values.shape[0], library(partitions, values))


def position_ids(partitions: Partitions, values: Array) -> Array:
    """Index of each slot along the last axis that partitions hold; 0 in slack."""
    block, capacity = block_of(partitions), values.shape[0]
    if block is None:
        last = partitions[-1]
        return positions(last, parents(last, capacity, library(partitions, values)))
    flat_rows(partitions)
    e = elements(block, capacity)
    xp = namespace(block.sizes)
    return xp.where(e.component < block.nrows, e.at[-1], xp.zeros_like(e.at[-1]))


def nbytes(values: Array, partitions: Partitions) -> int:
    """Bytes of the values, splits, sizes, strides and offsets."""
    return sum(prod(a.shape) * _itemsize(a) for a in _stored(values, partitions))


def wait(values: Array, partitions: Partitions) -> None:
    """Return when all of them are computed, where a library computes behind one's back."""
    for a in _stored(values, partitions):
        if hasattr(a, "block_until_ready"):
            a.block_until_ready()


def _stored(values: Array, partitions: Partitions) -> tuple[Array, ...]:
    return (values, *(a for p in partitions for a in p.arrays()))


def _itemsize(a: Array) -> int:
    known = getattr(a.dtype, "itemsize", None)
    return int(kernels(a).host(a).itemsize if known is None else known)


def mask(partitions: Partitions, capacity: int) -> Array:
    """Which slots hold data."""
    last = partitions[-1]
    return used_mask(flat_rows(partitions), capacity) if last.is_packed else occupied(last, capacity)


def mask_gradient(partitions: Partitions, values: Array) -> Array:
    """``values``, whose gradient is 0 in slack and holes."""
    block, k = partitions[-1], kernels(values)
    if block.is_packed:
        return implementation(k, generic.mask_gradient)(values, flat_rows(partitions)[-1].splits)
    if k.is_concrete(values):  # no gradient, and no copy
        return values
    xp = namespace(values)
    there = xp.reshape(occupied(block, values.shape[0]), (values.shape[0], *(1,) * (values.ndim - 1)))
    return xp.where(there, values, implementation(k, generic.stop_gradient)(values))
