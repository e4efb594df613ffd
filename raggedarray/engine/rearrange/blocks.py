"""Entries of blocks from elsewhere: along component axes by address, and functions of one axis fibre by fibre.

A fibre is what one sees along one component axis with the other indices fixed. An op that orders or accumulates along
an axis sees the fibres as rows, and the result goes back to where they were.
"""

from collections.abc import Callable
from math import prod
from typing import Any

from ..._array import RaggedArray
from ..._errors import DynamicShapeError, error_text
from ..._partition import BlockPartition, RowPartition
from ..._typing import Array
from ...backends import kernels, namespace
from ...structure.blocks import (
    Elements,
    addresses,
    elements,
    extents,
    known_total,
    of_extents,
    pack,
    packed,
    product,
    select_axes,
)
from ...structure.index_maps import Move, new_length, source
from ...structure.levels import splits_of
from ...structure.views import permuted
from ..arguments import sizes_of
from ..innermost import innermost
from ..overflow import check_capacity, fill_unless
from ..packing import as_block, contiguous, to_rows


def move_block(
    x: RaggedArray,
    moves: dict[int, Move],
    shifts: Any = None,
    fill: Any = None,
    capacity: int | None = None,
) -> RaggedArray:
    """Apply moves to component axes: the sizes change, each new element is an old one, or ``fill``."""
    x = contiguous(x)
    block = innermost(x)
    first = len(x.partitions)
    low = [a for a in moves if a < first]
    if low:
        advice = "Index the components, as in `x[::-1]` or `x[rows]`, or convert them with `ra.to_rows`."
        raise ValueError(error_text(f"axes from {first}, those of components", f"axis {low[0]}", advice))
    steps = tuple(moves.get(first + r) for r in range(len(block.axes)))
    by = tuple((shifts or {}).get(first + r) for r in range(len(block.axes)))
    made = x.kernels.call(_moved_sizes, block, steps=steps)
    total = known_total(made)
    ok: Any = True
    if capacity is not None:
        bound = sizes_of(capacity)
        ok = check_capacity(total, bound, "a capacity", "capacity=")
    elif isinstance(total, int) and x.kernels.has_exact_sizes:
        bound = total
    elif all(m is None or m.kind != "pad" for m in steps):  # `n` says how often an entry is read, where it is
        bound = block.bound * prod(m.n for m in steps if m is not None and m.kind in ("repeat", "tile", "window"))
    elif isinstance(total, int):
        bound = total
    else:
        raise DynamicShapeError(error_text("a static capacity", "traced sizes", "Pass `capacity=`."))
    made = packed(made, bound)
    values = x.kernels.call(_move, x.values, block, made, by, fill, steps=steps)
    return RaggedArray(fill_unless(values, ok), (*x.partitions[:-1], made))


def _moved_sizes(block: BlockPartition, *, steps: Any) -> BlockPartition:
    sizes: list[Any] = []
    for size, m in zip(extents(block), steps, strict=True):
        sizes.append(new_length(m, size))
        if m is not None and m.kind == "window":
            sizes.append(m.n)
    return of_extents(sizes, block, 0)


def _move(values: Array, block: BlockPartition, made: BlockPartition, by: Any, fill: Any, *, steps: Any) -> Array:
    e = elements(made, made.bound)
    k, xp = kernels(values), namespace(block.sizes)
    used = there = e.component < block.nrows
    places = iter(e.at)
    at: list[Array] = []
    for size, m, shift in zip(extents(block), steps, by, strict=True):
        limit: Any = size if isinstance(size, int) else k.pick(size, e.component)
        place = source(m, next(places), limit, shift)
        if m is not None and m.kind == "window":
            place = place + next(places)
        there = there & (place >= 0) & (place < limit)
        at.append(place)
    slot = addresses(block, Elements(e.component, tuple(at)), values.shape[0])
    found = k.pick(values, xp.where(there, slot, xp.asarray(values.shape[0], dtype=slot.dtype)))
    if fill is None:
        return found
    shape = (there.shape[0], *(1,) * (values.ndim - 1))
    fill = namespace(fill).reshape(fill, (1,) * (found.ndim - fill.ndim) + tuple(fill.shape))
    return namespace(values).where(xp.reshape(used & ~there, shape), fill, found)


def along_rows(
    x: RaggedArray,
    axis: int,
    f: Callable[[RaggedArray, int], Any],
    *,
    lengths: Move | None = None,
) -> Any:
    """``f(rows, axis)`` of an array of rows, or of the fibres of components, put back.

    ``lengths`` says how long a fibre becomes. Along an inner axis ``f`` sees the elements as they are; along axis 0 or
    one above the components, rows of rows. ``f`` may give a tuple of arrays.
    """
    if x.block is None:
        return f(x, axis)
    x = contiguous(x)
    block = innermost(x)
    r = axis - len(x.partitions)
    if r < 0:
        if lengths is not None:
            advice = "Convert it with `ra.to_rows`."
            raise ValueError(error_text(f"an axis from {len(x.partitions)}, of components", f"axis {axis}", advice))
        return _each(f(to_rows(x), axis), lambda out: as_block(x, out))
    if r >= len(block.axes):
        rows = f(x.components_as_rows(), axis - len(block.axes) + 1)
        return _each(rows, lambda out: _over(x, packed(block, out.capacity), out.values))
    order = (*(q for q in range(len(block.axes)) if q != r), r)
    turned, rows = fibres(x, r)
    back = tuple(order.index(q) for q in range(len(block.axes)))

    def restored(out: RaggedArray) -> RaggedArray:
        final = turned
        if lengths is not None:
            final = x.kernels.call(_relengthen, turned, f=lengths)
        final = BlockPartition(final.sizes, axes=final.axes, bound=out.capacity)
        view = _over(x, permuted(final, back), out.values)
        return contiguous(view)

    return _each(f(rows, 1), restored)


def fibres(x: RaggedArray, r: int) -> tuple[BlockPartition, RaggedArray]:
    """The packed block with axis ``r`` last, and its fibres along it as rows."""
    block = innermost(x)
    order = (*(q for q in range(len(block.axes)) if q != r), r)
    values, splits = x.kernels.call(_fibres, x.values, block, order=order)
    turned = select_axes(block, order, int(values.shape[0]))
    return turned, RaggedArray(values, (RowPartition(splits),))


def _fibres(values: Array, block: BlockPartition, *, order: tuple[int, ...]) -> tuple[Array, Array]:
    turned = permuted(block, order)
    if order != tuple(range(len(order))):
        values = pack(values, turned, block.bound)
    *above, length = extents(turned)
    xp, k = namespace(block.sizes), kernels(block.sizes)
    if isinstance(length, int):
        length = xp.full((block.nrows,), length, dtype=block.sizes.dtype)
    count = product(tuple(above), block)
    ends = splits_of(xp.where(length > 0, count, xp.zeros_like(count)))  # fibres without elements need no row
    size = k.bound(ends[-1], values.shape[0])
    component = k.row_ids(ends, size)
    each = k.pick(length, component)
    return values, splits_of(each)


def _relengthen(block: BlockPartition, *, f: Move) -> BlockPartition:
    """The same with another size of the last axis."""
    *others, last = extents(block)
    return of_extents((*others, new_length(f, last)), block, block.bound)


def _each(out: Any, f: Callable[[RaggedArray], RaggedArray]) -> Any:
    if isinstance(out, RaggedArray):
        return f(out)
    return type(out)(*map(f, out)) if hasattr(out, "_fields") else tuple(map(f, out))


def _over(x: RaggedArray, block: BlockPartition, values: Array) -> RaggedArray:
    return RaggedArray(values, (*x.partitions[:-1], block))
