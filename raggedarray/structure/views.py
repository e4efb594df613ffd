"""Blocks seen otherwise, nothing moved: axes permuted, cut, dropped and added, components chosen.

Each function takes a `BlockPartition` and gives one over the same buffer. A stride of 0 repeats, a negative one
reverses; sizes say how far each axis goes, so that no address outside the old ones arises.
"""

from math import prod
from typing import Any

from .._partition import BlockPartition
from .._typing import Array
from ..backends import kernels, namespace
from .blocks import as_table, extents, starts, steps


def make(
    p: BlockPartition,
    sizes: list[Any],
    strides: list[Array],
    offsets: Array,
    axes: tuple[int | None, ...],
    bound: int | None = None,
) -> BlockPartition:
    """A strided block from columns: ``sizes`` has an int or an array for each axis."""
    ragged = [s for s, a in zip(sizes, axes, strict=True) if a is None]
    table, each = (as_table(columns, p.nrows, p.sizes) for columns in (ragged, strides))
    return BlockPartition(table, each, offsets, axes=axes, bound=p.bound if bound is None else bound)


def permuted(p: BlockPartition, order: tuple[int, ...]) -> BlockPartition:
    """Component axes in another order."""
    if order == tuple(range(len(p.axes))):
        return p
    sizes, strides = extents(p), steps(p)
    return make(p, [sizes[r] for r in order], [strides[r] for r in order], starts(p), tuple(p.axes[r] for r in order))


def with_axis(p: BlockPartition, r: int) -> BlockPartition:
    """A new component axis of size 1 before axis ``r``."""
    axes = (*p.axes[:r], 1, *p.axes[r:])
    if p.is_packed:
        return BlockPartition(p.sizes, axes=axes, bound=p.bound)
    xp, sizes, strides = namespace(p.sizes), list(extents(p)), list(steps(p))
    sizes.insert(r, 1)
    strides.insert(r, xp.zeros((p.nrows,), dtype=p.sizes.dtype))
    return make(p, sizes, strides, starts(p), axes)


def without_axis(p: BlockPartition, r: int) -> BlockPartition:
    """Without component axis ``r``, whose size is 1."""
    axes = (*p.axes[:r], *p.axes[r + 1 :])
    if p.is_packed:
        return BlockPartition(p.sizes, axes=axes, bound=p.bound)
    sizes, strides = list(extents(p)), list(steps(p))
    del sizes[r], strides[r]
    return make(p, sizes, strides, starts(p), axes)


def cut(p: BlockPartition, r: int, first: Any, size: Any, step: int) -> BlockPartition:
    """Along axis ``r`` the ``size`` entries ``first, first + step, ...``: ints, or arrays, one for each component."""
    sizes, strides = list(extents(p)), list(steps(p))
    xp = namespace(p.sizes)
    begin = starts(p) + xp.astype(xp.asarray(first) * strides[r], p.sizes.dtype, copy=False)
    sizes[r], strides[r] = size, strides[r] * step
    axes = (*p.axes[:r], size if isinstance(size, int) else None, *p.axes[r + 1 :])
    return make(p, sizes, strides, begin, axes)


def at_index(p: BlockPartition, r: int, index: Array) -> BlockPartition:
    """One entry of each component along axis ``r``, which is dropped."""
    sizes, strides = list(extents(p)), list(steps(p))
    begin = starts(p) + index * strides[r]
    del sizes[r], strides[r]
    return make(p, sizes, strides, begin, (*p.axes[:r], *p.axes[r + 1 :]))


def stretched(p: BlockPartition, r: int, n: int, bound: int) -> BlockPartition:
    """Axis ``r``, of size 1, repeated ``n`` times by a stride of 0."""
    sizes, strides = list(extents(p)), list(steps(p))
    sizes[r], strides[r] = n, strides[r] * 0
    return make(p, sizes, strides, starts(p), (*p.axes[:r], n, *p.axes[r + 1 :]), bound)


def chosen(p: BlockPartition, index: Array, bound: int) -> BlockPartition:
    """Components by index, repeats allowed; an index of ``n`` gives an empty one."""
    k = kernels(p.sizes)
    strides = as_table([k.pick(s, index) for s in steps(p)], index.shape[0], p.sizes)
    return BlockPartition(k.pick(p.sizes, index), strides, k.pick(starts(p), index), axes=p.axes, bound=bound)


def repeated(p: BlockPartition, *, n: int) -> BlockPartition:
    """The only component ``n`` times."""
    return chosen(p, namespace(p.sizes).zeros((n,), dtype=p.sizes.dtype), p.bound * n)


def lifted(p: BlockPartition, count: int) -> BlockPartition:
    """The first ``count`` component axes, all uniform, as an index of the component."""
    leading, n, xp = [m or 0 for m in p.axes[:count]], p.nrows, namespace(p.sizes)

    def each(table: Array) -> Array:
        m, columns = prod(leading), table.shape[1]
        return xp.reshape(xp.broadcast_to(table[:, None, :], (n, m, columns)), (n * m, columns))

    if p.is_packed:
        return BlockPartition(each(p.sizes), axes=p.axes[count:], bound=p.bound)
    begin = xp.reshape(starts(p), (n, 1))
    for m, step in zip(leading, steps(p), strict=False):
        begin = begin[:, :, None] + step[:, None, None] * xp.arange(m, dtype=step.dtype)
        begin = xp.reshape(begin, (n, begin.shape[1] * m))
    strides = each(as_table(steps(p)[count:], n, p.sizes))
    return BlockPartition(each(p.sizes), strides, xp.reshape(begin, (-1,)), axes=p.axes[count:], bound=p.bound)


def absorb_inner_axes(values: Array, p: BlockPartition, count: int) -> tuple[Array, BlockPartition]:
    """The first ``count`` inner axes as the last component axes: the values reshaped, and the block over them."""
    if count <= 0:
        return values, p
    inner = tuple(values.shape[1 : count + 1])
    size, xp = prod(inner), namespace(p.sizes)
    values = namespace(values).reshape(values, (values.shape[0] * size, *values.shape[count + 1 :]))
    axes, bound = p.axes + inner, p.bound * size
    if p.is_packed:
        return values, BlockPartition(p.sizes, axes=axes, bound=bound)
    tail = [xp.full((p.nrows,), prod(inner[r + 1 :]), dtype=p.sizes.dtype) for r in range(count)]
    strides = [s * size for s in steps(p)] + tail
    return values, make(p, [*extents(p), *inner], strides, starts(p) * size, axes, bound)


def entries(values: Array, count: int, like: Array) -> tuple[Array, BlockPartition]:
    """A plain array ``[n, *component, *inner]`` as ``n`` components of ``count`` axes; sizes are as ``like``."""
    n, *rest = values.shape
    axes, inner = tuple(rest[:count]), rest[count:]
    nothing = as_table([], n, like)
    block = BlockPartition(nothing, axes=axes, bound=n * prod(axes))
    return namespace(values).reshape(values, (n * prod(axes), *inner)), block
