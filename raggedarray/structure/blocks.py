"""Arithmetic of a `BlockPartition`: which element lies in which slot, on plain arrays.

Elements are numbered in order: component by component, each row-major. Those past the last one are slack:
their component is ``n``, so that a lookup there finds the zero that `Kernels.pick` appends. A packed block
keeps element ``i`` in slot ``i``.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from .._partition import BlockPartition, Partition, RowPartition, UniformPartition
from .._typing import Array
from ..backends import Segments, kernels, namespace
from .levels import known_used, splits_of


class Elements(NamedTuple):
    """The component of each element, and its index along each component axis."""

    component: Array
    at: tuple[Array, ...]


def extents(p: Partition) -> tuple[Any, ...]:
    """Size along each axis below the entries of a partition: an int, or ``int[n]``."""
    if isinstance(p, RowPartition):
        return (p.lengths,)
    if isinstance(p, UniformPartition):
        return (p.length,)
    columns = iter(range(p.sizes.shape[1]))
    return tuple(p.sizes[:, next(columns)] if n is None else n for n in p.axes)


def product(sizes: tuple[Any, ...], p: BlockPartition) -> Array:
    """Product of sizes, per component: ``int[n]``."""
    xp = namespace(p.sizes)
    out = xp.ones((p.nrows,), dtype=p.sizes.dtype)
    for n in sizes:
        out = out * n
    return out


def counts(p: BlockPartition) -> Array:
    """Elements of each component: ``int[n]``."""
    return product(extents(p), p)


def component_splits(p: BlockPartition) -> Array:
    """Where the elements of each component begin and end: ``int[n + 1]``."""
    return splits_of(counts(p))


def known_total(p: RowPartition | BlockPartition) -> Any:
    """How many entries or elements lie below: an int where that can be read, in a trace too, else traced."""
    if isinstance(p, RowPartition):
        return known_used(p)
    k = kernels(p.sizes)
    if not k.is_concrete(p.sizes):
        return component_splits(p)[-1]
    host = k.host(p.sizes)
    return int(host.prod(axis=1, dtype="int64").sum()) * _static(p)


def _static(p: BlockPartition) -> int:
    """Product of the static component axes."""
    return prod(n for n in p.axes if n is not None)


def steps(p: BlockPartition) -> tuple[Array, ...]:
    """Slots from one element to the next along each component axis, per component."""
    if p.strides is not None:
        return tuple(p.strides[:, r] for r in range(len(p.axes)))
    sizes = extents(p)
    return tuple(product(sizes[r + 1 :], p) for r in range(len(sizes)))


def starts(p: BlockPartition) -> Array:
    """The slot of the first element of each component."""
    return component_splits(p)[:-1] if p.offsets is None else p.offsets


def packed(p: BlockPartition, bound: int | None = None) -> BlockPartition:
    """Components of the same sizes, packed."""
    return BlockPartition(p.sizes, axes=p.axes, bound=p.bound if bound is None else bound)


def elements(p: BlockPartition, count: int) -> Elements:
    """The first ``count`` elements, in order."""
    splits = component_splits(p)
    k, xp = kernels(splits), namespace(splits)
    component = k.row_ids(splits, count)
    left = xp.arange(count, dtype=splits.dtype) - k.pick(splits[:-1], component)
    sizes = extents(p)
    at: list[Array] = []
    for r in range(len(sizes)):
        if r + 1 == len(sizes):
            at.append(left)
            break
        below = sizes[r + 1 :]
        if all(isinstance(n, int) for n in below):
            size: Any = max(prod(below), 1)
        else:
            one = xp.ones((), dtype=splits.dtype)
            size = xp.maximum(k.pick(product(below, p), component), one)
        index = left // size
        at.append(index)
        left = left - index * size
    return Elements(component, tuple(at))


def addresses(p: BlockPartition, e: Elements, missing: int) -> Array:
    """The slot of each element; ``missing`` in slack."""
    k, xp = kernels(p.sizes), namespace(p.sizes)
    slot = k.pick(starts(p), e.component)
    for step, at in zip(steps(p), e.at, strict=True):
        slot = slot + k.pick(step, e.component) * at
    return xp.where(e.component < p.nrows, slot, xp.asarray(missing, dtype=slot.dtype))


class HostBlock(NamedTuple):
    """A concrete block on the host, as int64: full sizes and strides ``[n, axes]``, offsets ``[n]``."""

    sizes: Any
    strides: Any
    offsets: Any

    @property
    def counts(self) -> Any:
        """Elements of each component."""
        return self.sizes.prod(axis=1)


def on_host(p: BlockPartition) -> HostBlock:
    """Sizes, strides and offsets that can be read."""
    k = kernels(p.sizes)
    given = k.host(p.sizes).astype("int64")
    full = given[:, :1].repeat(len(p.axes), axis=1) if given.shape[1] else given.reshape(p.nrows, 0).repeat(0, axis=1)
    columns = iter(range(given.shape[1]))
    for r, n in enumerate(p.axes):
        full[:, r] = given[:, next(columns)] if n is None else n
    if p.strides is not None:
        strides = k.host(p.strides).astype("int64")
    else:
        strides = full.copy()
        size = full[:, 0] * 0 + 1
        for r in reversed(range(len(p.axes))):
            strides[:, r] = size
            size = size * full[:, r]
    ends = full.prod(axis=1).cumsum()
    return HostBlock(
        full, strides, ends - full.prod(axis=1) if p.offsets is None else k.host(p.offsets).astype("int64")
    )


def pack(values: Array, p: BlockPartition, size: int) -> Array:
    """The elements in order, in ``size`` slots; 0 in slack."""
    return kernels(values).pick(values, addresses(p, elements(p, size), values.shape[0]))


def occupied(p: BlockPartition, capacity: int) -> Array:
    """Which slots some element lies in: ``bool[capacity]``; slack and holes are in none."""
    k, xp = kernels(p.sizes), namespace(p.sizes)
    if p.is_packed:
        total = component_splits(p)[-1]
        return xp.arange(capacity, dtype=total.dtype) < total
    count = k.bound(component_splits(p)[-1], p.bound)
    ids = addresses(p, elements(p, count), capacity)
    return k.segment_reduce("sum", xp.ones_like(ids), Segments(capacity, ids=ids)) > 0


def resized(p: BlockPartition, n: int, bound: int) -> BlockPartition:
    """Packed components, ``n`` of them: those added are empty."""
    xp = namespace(p.sizes)
    more = n - p.nrows
    sizes = p.sizes[:n, ...]
    if more > 0:
        sizes = xp.concat((sizes, xp.zeros((more, sizes.shape[1]), dtype=sizes.dtype)))
    return BlockPartition(sizes, axes=p.axes, bound=bound)


def clamped(p: BlockPartition) -> BlockPartition:
    """Components that stay within the bound: those that reach past it are empty."""
    xp = namespace(p.sizes)
    inside = component_splits(p)[1:] <= p.bound
    sizes = xp.where(inside[:, None], p.sizes, xp.zeros_like(p.sizes))
    return BlockPartition(sizes, p.strides, p.offsets, axes=p.axes, bound=p.bound)


def as_table(columns: Sequence[Array], n: int, like: Array) -> Array:
    """Columns as one table ``int[n, len(columns)]`` in the dtype of ``like``, also of none."""
    xp = namespace(like)
    return xp.stack(list(columns), axis=1) if columns else xp.zeros((n, 0), dtype=like.dtype)


def of_extents(sizes: Sequence[Any], p: BlockPartition, bound: int) -> BlockPartition:
    """Packed components of these sizes, an int or ``int[n]`` for each axis, as many as those of ``p``."""
    ragged = [n for n in sizes if not isinstance(n, int)]
    axes = tuple(n if isinstance(n, int) else None for n in sizes)
    return BlockPartition(as_table(ragged, p.nrows, p.sizes), axes=axes, bound=bound)


def select_axes(p: BlockPartition, kept: tuple[int, ...], bound: int) -> BlockPartition:
    """Packed components with these axes, in this order."""
    sizes = extents(p)
    return of_extents([sizes[r] for r in kept], p, bound)


def groups(p: BlockPartition, reduced: tuple[int, ...], capacity: int, limit: int) -> tuple[BlockPartition, Segments]:
    """What is left of packed components when some (not all) axes are reduced, and the element group of each slot."""
    kept = tuple(r for r in range(len(p.axes)) if r not in reduced)
    made = select_axes(p, kept, limit)
    splits = component_splits(made)
    k, xp = kernels(splits), namespace(splits)
    num = k.bound(splits[-1], limit)
    made = BlockPartition(made.sizes, axes=made.axes, bound=num)
    if reduced == tuple(range(len(kept), len(p.axes))):
        sizes = extents(p)
        each = product(tuple(sizes[r] for r in reduced), p)
        component = k.row_ids(splits, num)
        within = xp.arange(num, dtype=splits.dtype) - k.pick(splits[:-1], component)
        old = component_splits(p)
        begin = k.pick(old[:-1], component) + within * k.pick(each, component)
        begin = xp.where(component < p.nrows, begin, old[-1])
        return made, Segments(num, splits=xp.concat((begin, old[-1:])))
    e = elements(p, capacity)
    ids = addresses(made, Elements(e.component, tuple(e.at[r] for r in kept)), num)
    return made, Segments(num, ids=xp.minimum(ids, xp.asarray(num, dtype=ids.dtype)))


def as_row_partitions(p: BlockPartition, limits: tuple[int, ...]) -> tuple[Any, ...]:
    """The same packed components as nested rows: one partition for each axis, static ones too.

    ``limits`` are static sizes for the entries below each axis but the last; ignored where data can be read.
    """
    sizes = extents(p)
    out: list[Any] = []
    component: Any = None
    entries = p.nrows
    for r, n in enumerate(sizes):
        splits = splits_of(product(sizes[: r + 1], p))
        k = kernels(splits)
        if isinstance(n, int):
            out.append(UniformPartition(entries, n))
            entries *= n
        else:
            lengths = n if component is None else kernels(n).pick(n, component)
            out.append(RowPartition(splits_of(lengths)))
            entries = k.bound(splits[-1], limits[r]) if r + 1 < len(sizes) else 0
        if r + 1 < len(sizes):
            component = k.row_ids(splits, entries)
    return tuple(out)
