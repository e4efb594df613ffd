"""``x[key]`` on blocks: views but where an index array, or an entry that some component lacks, needs a gather.

A key has three parts: for axis 0 and the levels above the components it picks component numbers, which lie under
those levels as elements do; for the axes of components it changes strides and offsets; for inner axes it indexes the
values.
"""

from math import prod
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import DynamicShapeError, error_text
from ..._partition import BlockPartition, UniformPartition
from ..._typing import Array
from ...backends import Kernels, common, is_array, kernels, namespace
from ...structure.blocks import component_splits, extents, known_total
from ...structure.views import at_index, cut, with_axis
from ..broadcast.rows import move_to
from ..bucket_size import bucket_size
from ..indices import to_dtype
from ..innermost import innermost
from ..overflow import check_capacity, fill_unless
from ..rearrange.rows import inner_axes_to_levels
from ..unbind import rows_of
from .gather import ALL, INDEX_LIMIT, Step, index_inner, sliced
from .gather_blocks import filled_at, need_index, numbered, over, taken_along, without_ragged
from .keys import in_axis, int_of, plain_steps, read, slice_step
from .rows import perform

SIZES = "Check `x.nested_size()`."


def block_getitem(x: RaggedArray, items: list[Any], *, capacity: int | None = None) -> Any:
    """A key with one item for each axis, and new axes; at most one index array.

    ``capacity`` is that of components which an index array picks.
    """
    k = common([x.values, *(i for i in items if is_array(i))])
    x = move_to(k, x)
    axis = len(x.partitions)
    leading = next((n for n, i in enumerate(items) if i is not None), len(items))
    cut_at = _position(items, axis)
    outer, rest = items[leading:cut_at], items[cut_at:]
    ints = next((n for n, i in enumerate(outer) if i is not None and _single(i) is None), len(outer))
    out: Any = x
    is_row = any(i is not None for i in outer[:ints]) and all(i is None or _is_all(i) for i in outer[ints:])
    if is_row and kernels(innermost(x).sizes).is_concrete(x.partitions):
        out, leading, outer = _row(x, outer[:ints]), leading + outer[:ints].count(None), outer[ints:]
    if any(not (i is None or _is_all(i)) for i in outer):
        out, outer = _picked(x, outer, capacity), []
    if not isinstance(out, RaggedArray):
        return _plain(k, out, [None] * leading + rest, axis)
    added = tuple(leading + n for n, i in enumerate(outer) if i is None)
    out = _within(out, rest, axis)
    for _ in range(leading):
        out = _leading(out)
    return x.__array_namespace__().expand_dims(out, axis=added) if added else out


def _leading(x: Any) -> Any:
    if not isinstance(x, RaggedArray):
        return x[None, ...]
    return RaggedArray(x.values, (UniformPartition(1, x.nrows), *x.partitions))


def _position(items: list[Any], axes: int) -> int:
    """How many items belong to so many axes."""
    for n, item in enumerate(items):
        if axes == 0:
            return n
        axes -= item is not None
    return len(items)


def _is_all(item: Any) -> bool:
    return isinstance(item, slice) and item == slice(None)


def _single(item: Any) -> int | None:
    """An int, if the item is one that can be read."""
    if isinstance(item, slice) or item is None or (is_array(item) and item.ndim):
        return None
    return int_of(item)


def _row(x: RaggedArray, ints: list[Any]) -> Any:
    """What lies below one entry, whose indices along the first axes are given: a component, or rows of them."""
    out: Any = x
    for axis, item in enumerate(i for i in ints if i is not None):
        i = in_axis(_single(item) or 0, out.nrows, axis, SIZES)
        out = rows_of(out, [i], "")[0]
    return out


def _plain(k: Kernels, component: Array, items: list[Any], axis: int) -> Any:
    """A key for one component."""
    values = component[None, ...]
    steps, operands = plain_steps(k, values, items, axis, SIZES)
    if all(step == ALL for step in steps):
        return component
    values = k.call(index_inner, values, operands, inner=steps)
    return values[0, ...] if values.ndim > 1 else values[0]


def _picked(x: RaggedArray, outer: list[Any], capacity: int | None) -> RaggedArray:
    """Other components, by a key for the axes above them."""
    block = innermost(x)
    k, xp = kernels(block.sizes), namespace(block.sizes)
    first = outer[0]
    if (
        len(outer) == 1
        and isinstance(first, slice)
        and first.step in (None, 1)
        and block.is_packed
        and k.has_exact_sizes
    ):
        return _run(x, *first.indices(x.nrows)[:2])
    above = rebuild(x.partitions[:-1], xp.arange(block.nrows, dtype=block.sizes.dtype))
    if isinstance(above, RaggedArray):
        if _single(first) is not None and not k.is_concrete(x.partitions):
            advice = "Use `ra.take(x, indices, capacity=)`."
            raise DynamicShapeError(error_text("a row whose length can be read", "a traced one", advice))
        plan = read(above, outer)
        found, steps = perform(plan), (*plan.steps, *plan.inner)
    else:
        numbers = above[None, ...]
        steps, operands = plain_steps(k, numbers, outer, 0)
        found = k.call(index_inner, numbers, operands, inner=steps)[0, ...]
    if not found.ndim:
        advice = "Use `ra.to_padded`."
        raise DynamicShapeError(error_text("a component of known size", "traced sizes", advice))
    found = inner_axes_to_levels(found, found.ndim - 1)
    made: BlockPartition = k.call(numbered, block, found.values, found.partitions)
    bound, ok = _bound(made, steps, capacity)
    made = BlockPartition(made.sizes, made.strides, made.offsets, axes=made.axes, bound=bound)
    return RaggedArray(fill_unless(x.values, ok), (*found.partitions, made))


def _bound(made: BlockPartition, steps: Any, capacity: int | None) -> tuple[int, Any]:
    """A static limit of the elements of components that were picked, and whether they fit it."""
    k = kernels(made.sizes)
    if capacity is not None:
        return capacity, check_capacity(component_splits(made)[-1], capacity, "a capacity", "capacity=")
    repeats = [step.repeats for step in steps]
    if all(n is not None and n <= 1 for n in repeats):
        return made.bound, True
    if k.is_concrete(made.sizes):
        total = int(known_total(made))
        return (total if k.has_exact_sizes else made.bound if total <= made.bound else bucket_size(total)), True
    if None in repeats:
        advice = "Call `ra.take(x, indices, capacity=)`."
        raise DynamicShapeError(error_text("a static capacity", "traced components", advice))
    return made.bound * prod(repeats), True


def _run(x: RaggedArray, start: int, stop: int) -> RaggedArray:
    """Components side by side, packed as they are: a view of their slots."""
    block = innermost(x)
    stop = max(start, stop)
    ends = kernels(block.sizes).host(component_splits(block))
    values = x.values[int(ends[start]) : int(ends[stop]), ...]
    part = BlockPartition(block.sizes[start:stop, ...], axes=block.axes, bound=int(values.shape[0]))
    return RaggedArray(values, (part,))


def _within(x: RaggedArray, items: list[Any], axis: int) -> Any:
    """A key for the component axes and the inner ones, the first of them called ``axis``."""
    block, k = innermost(x), x.kernels
    cut_at = _position(items, len(block.axes))
    inside, inner = items[:cut_at], items[cut_at:]
    if any(not _is_all(i) for i in inner):
        steps, operands = plain_steps(k, x.values, inner, axis + len(block.axes))
        x = RaggedArray(k.call(index_inner, x.values, operands, inner=steps), x.partitions)
    r = 0
    for item in inside:
        block = innermost(x)
        if item is None:
            x, r = over(x, with_axis(block, r)), r + 1
            continue
        if _is_all(item):
            r += 1
        elif isinstance(item, slice):
            x, r = over(x, _sliced(block, r, slice_step(item))), r + 1
        elif is_array(item) and item.ndim:
            x, r = taken_along(x, r, item, axis), r + int(item.ndim)
        else:
            x = _at(x, r, item, axis)
        axis += 1
    return without_ragged(x)


def _sliced(block: BlockPartition, r: int, step: Step) -> BlockPartition:
    size = extents(block)[r]
    if isinstance(size, int):
        first, last, stride = slice(*step.bounds).indices(size)
        count: Any = len(range(first, last, stride))
        return cut(block, r, first if count else 0, count, stride)
    first_at, count = kernels(size).call(_slice_bounds, size, bounds=step.bounds)
    return cut(block, r, first_at, count, step.bounds[2])


def _slice_bounds(size: Array, *, bounds: Any) -> tuple[Array, Array]:
    xp = namespace(size)
    first, count = sliced(xp, size, bounds)
    return xp.where(count > 0, first, xp.zeros_like(first)), count


def _at(x: RaggedArray, r: int, item: Any, axis: int) -> RaggedArray:
    """One entry of each component along a component axis, called ``axis``."""
    block = innermost(x)
    size, k, xp = extents(block)[r], kernels(block.sizes), namespace(block.sizes)
    i = _single(item)
    if isinstance(size, int):
        if i is not None:
            where = xp.full((block.nrows,), in_axis(i, size, axis), dtype=block.sizes.dtype)
            return over(x, at_index(block, r, where))
        size = xp.full((block.nrows,), size, dtype=block.sizes.dtype)
    wanted = to_dtype(item if i is None else max(min(i, INDEX_LIMIT), -INDEX_LIMIT), block.sizes)
    # components that have no elements because another axis is empty, or that are slack, lack nothing
    need_index(x, r, wanted, axis)
    at = xp.where(wanted < 0, wanted + size, xp.broadcast_to(wanted, size.shape))
    fits = (at >= 0) & (at < size)
    if k.is_concrete(fits):
        return over(x, at_index(block, r, xp.where(fits, at, xp.zeros_like(at))))
    return filled_at(x, r, at, fits)
