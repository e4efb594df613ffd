"""Components in dense stacks: read by address, worked on, and put back end to end."""

from collections.abc import Callable
from math import prod
from typing import Any

from ..._partition import BlockPartition
from ..._typing import Array
from ...backends import kernels, namespace
from ...structure.blocks import extents, pack, starts, steps
from ..along_axis import pick_at
from .form import Form, Sizes

Body = Callable[..., tuple[Array, ...]]
"""``body(stacks, sizes, *shared, **static)``: results stacked as the operands are.

``sizes`` are those of each operand's components: ints, or ``int[count]`` along axes that are padded.
"""


def read(values: Array, block: BlockPartition, members: Array, shape: tuple[int, ...]) -> Array:
    """Some components as a stack ``[count, *shape, *inner]``; 0 behind the end of each."""
    k, xp = kernels(block.sizes), namespace(block.sizes)
    rank = len(shape)

    def column(a: Array) -> Array:
        return xp.reshape(k.pick(a, members), (members.shape[0], *(1,) * rank))

    slot = column(starts(block))
    there = xp.reshape(members < block.nrows, (members.shape[0], *(1,) * rank))
    for r, (n, size, step) in enumerate(zip(shape, extents(block), steps(block), strict=True)):
        at = xp.reshape(xp.arange(n, dtype=block.sizes.dtype), (1, *(1,) * r, n, *(1,) * (rank - r - 1)))
        slot = slot + column(step) * at
        if not isinstance(size, int):
            there = there & (at < column(size))
    slot = xp.where(there, slot, xp.asarray(values.shape[0], dtype=slot.dtype))
    return pick_at(values, slot)


def slices(
    forms: tuple[Form, ...], shapes: tuple[tuple[int, ...], ...], members: list[int], slots: tuple[list[int], ...]
) -> tuple[tuple[Array, ...], tuple[Sizes, ...]]:
    """The same for components that lie end to end, at these slots, where data can be read and slicing is free."""
    stacks, sizes = [], []
    for form, shape, begin in zip(forms, shapes, slots, strict=True):
        xp, size, inner = namespace(form.values), prod(shape), tuple(form.values.shape[1:])
        views = [xp.reshape(form.values[begin[i] : begin[i] + size, ...], (1, *shape, *inner)) for i in members]
        stacks.append(views[0] if len(views) == 1 else xp.concat(views))
        sizes.append((*shape, *inner))
    return tuple(stacks), tuple(sizes)


def read_all(
    values: tuple[Array, ...], blocks: tuple[BlockPartition, ...], members: Array, *,
    shapes: tuple[tuple[int, ...], ...], exact: bool,
) -> tuple[tuple[Array, ...], tuple[Sizes, ...]]:  # fmt: skip
    """One bucket: a stack of each operand, and the sizes of its components."""
    stacks, sizes = [], []
    for v, block, shape in zip(values, blocks, shapes, strict=True):
        k = kernels(block.sizes)
        stacks.append(read(v, block, members, shape))
        own = shape if exact else tuple(n if isinstance(n, int) else k.pick(n, members) for n in extents(block))
        sizes.append((*own, *v.shape[1:]))
    return tuple(stacks), tuple(sizes)


def work_on(
    values: tuple[Array, ...], blocks: tuple[BlockPartition, ...], members: Array, shared: tuple[Array, ...], *,
    shapes: tuple[tuple[int, ...], ...], exact: bool, body: Body, options: tuple[tuple[str, Any], ...],
) -> list[Array]:  # fmt: skip
    """One bucket, read and worked on."""
    stacks, sizes = read_all(values, blocks, members, shapes=shapes, exact=exact)
    return list(body(stacks, sizes, *shared, **dict(options)))


def each_of(parts: list[Array], place: Array) -> Array:
    """One result of each component."""
    xp = namespace(parts[0])
    return kernels(parts[0]).pick(xp.concat(parts) if len(parts) > 1 else parts[0], place)


def pack_results(parts: list[Array], place: Array, block: BlockPartition, *, count: int) -> Array:
    """Results of all components, packed: in their places they are strided blocks of one buffer."""
    xp, k = namespace(parts[0]), kernels(place)
    flat, begin, along = [], [], []
    first = 0
    for p in parts:
        shape = p.shape[1 : count + 1]
        size = prod(shape)
        flat.append(xp.reshape(p, (p.shape[0] * size, *p.shape[count + 1 :])))
        begin += [first + i * size for i in range(p.shape[0])]
        along += [[prod(shape[r + 1 :]) for r in range(count)]] * p.shape[0]
        first += p.shape[0] * size
    index = namespace(place)
    offsets = k.pick(index.asarray(begin, dtype=place.dtype), place)
    strides = k.pick(index.asarray(along, dtype=place.dtype), place)
    there = BlockPartition(block.sizes, strides, offsets, axes=block.axes, bound=block.bound)
    return pack(xp.concat(flat) if len(flat) > 1 else flat[0], there, block.bound)


def assign(table: Array, used: Any, buckets: tuple[tuple[tuple[int, ...], int], ...]) -> tuple[Array, Array]:
    """The place of each component, ``int[n]``, and how many found none: those have the number of places."""
    xp = namespace(table)
    n, total = table.shape[0], sum(count for _, count in buckets)
    free = xp.arange(n, dtype=table.dtype) < used
    place = xp.full((n,), total, dtype=table.dtype)
    first = 0
    for shape, count in buckets:
        fits = free & xp.all(table <= xp.asarray(shape, dtype=table.dtype)[None, :], axis=1) if shape else free
        rank = xp.cumulative_sum(xp.astype(fits, table.dtype), dtype=table.dtype) - 1
        taken = fits & (rank < count)
        place = xp.where(taken, rank + first, place)
        free, first = free & ~taken, first + count
    return place, xp.sum(xp.astype(free, table.dtype), dtype=table.dtype)
