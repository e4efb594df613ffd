"""``x[key]`` on blocks: views but where an index array, or an entry that some component lacks, needs a gather."""

from operator import index as as_int
from typing import Any

from .._array import RaggedArray, as_last, block_in
from .._blocks import component_splits, extents, is_packed, known_total
from .._errors import DynamicShapeError, complaint
from .._partition import BlockPartition, UniformPartition, uniform_levels
from .._typing import Array
from ..backends import is_array, kernels, kind, namespace
from ._block_gathering import OP, filled_at, in_use, over, taken_along, without_ragged
from ._block_views import at_index, chosen, cut, with_axis
from ._select import FAR, sliced
from .components import rows_of


def block_getitem(x: RaggedArray, items: list[Any]) -> Any:
    """A key with one item for each axis, and new axes."""
    above = len(x.partitions) - 1
    leading = next((n for n, i in enumerate(items) if i is not None), len(items))
    items = items[leading:]
    cut_at = _position(items, above + 1)
    outer, rest = items[:cut_at], items[cut_at:]
    if above and _single(outer[0]) is not None and x.kernels.is_concrete(x.partitions):
        row = rows_of(x, [_in_range(_single(outer[0]) or 0, x.nrows, 0)], OP, "")[0]
        return row[(None,) * leading + tuple(items[1:])]
    new = [n for n, i in enumerate(outer) if i is None]
    if new and all(isinstance(i, slice) for i in outer if i is not None):
        kept = block_getitem(x, [i for i in items[:cut_at] if i is not None] + rest)
        added = (*range(leading), *(n + leading for n in new))
        return x.__array_namespace__().expand_dims(kept, axis=added)
    if any(i is None for i in outer):
        raise IndexError(complaint(OP, "new axes in front or among component axes", "one between", "Use `x[None]`."))
    row = _single(outer[0]) if not above else None
    if row is not None:
        if x.kernels.is_concrete(x.partitions):
            component = rows_of(x, [_in_range(row, x.nrows, 0)], OP, "")[0]
            return component[(None,) * leading + tuple(_host_item(i) for i in rest)]
        raise DynamicShapeError(complaint(OP, "a component of known size", "traced sizes", "Use `ra.to_padded`."))
    out: Any = _components(x, outer) if any(not _is_all(i) for i in outer) else x
    if isinstance(out, RaggedArray) and out.block is not None:
        out = _within(out, rest)
    for _ in range(leading):
        out = _leading(out)
    return out


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


def _host_item(item: Any) -> Any:
    return kernels(item).host(item) if is_array(item) and kernels(item).name == "numpy" else item


def _single(item: Any) -> int | None:
    """An int, if the item is one that can be read."""
    if isinstance(item, slice | bool) or item is None or (is_array(item) and (item.ndim or kind(item.dtype) == "bool")):
        return None
    if is_array(item) and not kernels(item).is_concrete(item):
        return None
    try:
        return as_int(item)
    except TypeError:
        got = f"{type(item).__name__} {item!r}"
        raise IndexError(complaint(OP, "ints, slices, `...`, None and arrays of them", got, "Convert it.")) from None


def _in_range(i: int, n: int, axis: int) -> int:
    if not -n <= i < n:
        what = f"a row from {-n} to {n - 1}" if axis == 0 else f"an index from {-n} to {n - 1} on axis {axis}"
        raise IndexError(complaint(OP, what, str(i), "Check `len(x)`." if axis == 0 else "Check `x.shape`."))
    return i % n


def _components(x: RaggedArray, outer: list[Any]) -> Any:
    """Other components, by a key for the axes above them."""
    block = block_in(x)
    k, xp = kernels(block.sizes), namespace(block.sizes)
    numbers = xp.arange(block.nrows, dtype=block.sizes.dtype)
    if len(x.partitions) == 1:
        item = outer[0]
        if isinstance(item, slice) and item.step in (None, 1) and is_packed(block) and x.kernels.trims:
            return _run(x, *item.indices(x.nrows)[:2])
        shape = tuple(item.shape) if is_array(item) else ()
        picked, bound = _rows(x, namespace(item).reshape(item, (-1,)) if len(shape) > 1 else item, numbers)
        several = uniform_levels(shape[0], shape[1:]) if shape else ()  # indices of several axes
        return RaggedArray(x.values, (*several, as_last(chosen(block, picked, bound))))
    above = RaggedArray(numbers, x.partitions[:-1])
    got = above[tuple(outer)]
    ids = got.values if isinstance(got, RaggedArray) else got
    bound = block.bound if all(isinstance(i, slice) for i in outer) else _exact(x, block, ids)
    if not isinstance(got, RaggedArray) and got.ndim != 1:
        raise IndexError(complaint(OP, "a key that keeps one axis of components", f"{got.ndim} axes", "Index less."))
    used = got.used_mask() if isinstance(got, RaggedArray) else None
    ids = ids if used is None else xp.where(used, ids, xp.asarray(block.nrows, dtype=ids.dtype))
    if used is not None:
        got = got.used_values()
        ids = ids[: got.capacity] if k.trims else ids
    new = chosen(block, ids, bound)
    return RaggedArray(x.values, (*(got.partitions if isinstance(got, RaggedArray) else ()), as_last(new)))


def _run(x: RaggedArray, start: int, stop: int) -> RaggedArray:
    """Components side by side, packed as they are: a view of their slots."""
    block = block_in(x)
    stop = max(start, stop)
    ends = kernels(block.sizes).host(component_splits(block))
    values = x.values[int(ends[start]) : int(ends[stop]), ...]
    part = BlockPartition(block.sizes[start:stop, ...], axes=block.axes, bound=int(values.shape[0]))
    return RaggedArray(values, (as_last(part),))


def _exact(x: RaggedArray, block: BlockPartition, ids: Array) -> int:
    k = kernels(block.sizes)
    if not k.is_concrete(block, ids):
        advice = "Choose rows by a slice, or outside jit."
        raise DynamicShapeError(complaint(OP, "components that can be read", "traced ones", advice))
    return int(known_total(chosen(block, ids, 0)))


def _rows(x: RaggedArray, item: Any, numbers: Array) -> tuple[Array, int]:
    """Component numbers, and how many elements they have at most."""
    block = block_in(x)
    k = kernels(block.sizes)
    if isinstance(item, slice):
        picked = numbers[item]
        return picked, block.bound
    if not (is_array(item) and item.ndim == 1 and kind(item.dtype) in ("int", "uint")):
        got = f"{type(item).__name__}"
        raise IndexError(complaint(OP, "ints, slices and index arrays of components", got, "Convert it."))
    if not k.is_concrete(item, block):
        raise DynamicShapeError(
            complaint(OP, "a static capacity", "traced components", "Call `ra.take(x, indices, capacity=)`.")
        )
    known = k.host(item)
    bad = ((known < -x.nrows) | (known >= x.nrows)).nonzero()[0]
    if bad.size:
        got = f"{known[bad[0]]} at position {bad[0]}"
        raise IndexError(complaint(OP, f"rows from {-x.nrows} to {x.nrows - 1}", got, "Check `len(x)`."))
    picked = k.index(known % max(x.nrows, 1))
    return picked, _exact(x, block, picked)


def _within(x: RaggedArray, items: list[Any]) -> Any:
    """A key for the component axes and the inner ones."""
    block = block_in(x)
    cut_at = _position(items, len(block.axes))
    inside, inner = items[:cut_at], items[cut_at:]
    if any(not _is_all(i) for i in inner):
        key = (slice(None), *(_host_item(i) for i in inner))
        x = RaggedArray(x.values[(*key, ...)], x.partitions)
    r = 0
    arrays = sum(is_array(i) and i.ndim > 0 for i in inside)
    if arrays > 1:
        raise IndexError(
            complaint(OP, "one index array among component axes", str(arrays), "Index one axis at a time.")
        )
    for item in inside:
        block = block_in(x)
        if item is None:
            x, r = over(x, with_axis(block, r)), r + 1
        elif _is_all(item):
            r += 1
        elif isinstance(item, slice):
            x, r = over(x, _sliced(block, r, item)), r + 1
        elif is_array(item) and item.ndim:
            x, r = taken_along(x, r, item), r + int(item.ndim)
        else:
            x = _at(x, r, item)
    return without_ragged(x)


def _sliced(block: BlockPartition, r: int, item: slice) -> BlockPartition:
    try:
        start, stop = (None if b is None else max(min(as_int(b), FAR), -FAR) for b in (item.start, item.stop))
        stride = 1 if item.step is None else as_int(item.step)
    except TypeError as error:
        if any(is_array(b) and not kernels(b).is_concrete(b) for b in (item.start, item.stop, item.step)):
            advice = "Use `ra.narrow(x, axis, start, length)`."
            raise DynamicShapeError(complaint(OP, "a slice with static bounds", "traced ones", advice)) from None
        raise IndexError(complaint(OP, "a slice of integers", repr(item), "Use ints or None.")) from error
    if stride == 0:
        raise ValueError(complaint(OP, "a slice step other than 0", "0", "Use 1 for every entry."))
    size = extents(block)[r]
    if isinstance(size, int):
        first, last, stride = slice(start, stop, stride).indices(size)
        count: Any = len(range(first, last, stride))
        return cut(block, r, first if count else 0, count, stride)
    stride = max(min(stride, FAR), -FAR)
    first_at, count = kernels(size).call(_slice_bounds, size, bounds=(start, stop, stride))
    return cut(block, r, first_at, count, stride)


def _slice_bounds(size: Array, *, bounds: Any) -> tuple[Array, Array]:
    xp = namespace(size)
    first, count = sliced(xp, size, bounds)
    return xp.where(count > 0, first, xp.zeros_like(first)), count


def _at(x: RaggedArray, r: int, item: Any) -> RaggedArray:
    """One entry of each component along a component axis."""
    block, axis = block_in(x), len(x.partitions) + r
    size, k = extents(block)[r], kernels(block.sizes)
    xp = namespace(block.sizes)
    i = _single(item)
    if isinstance(size, int):
        if i is not None:
            where = xp.full((block.nrows,), _in_range(i, size, axis), dtype=block.sizes.dtype)
            return over(x, at_index(block, r, where))
        size = xp.full((block.nrows,), size, dtype=block.sizes.dtype)
    wanted = xp.asarray(item if i is None else max(min(i, FAR), -FAR), dtype=block.sizes.dtype)
    at = xp.where(wanted < 0, wanted + size, xp.broadcast_to(wanted, size.shape))
    fits = (at >= 0) & (at < size)
    if k.is_concrete(fits):
        # components that have no elements because another axis is empty, or that are slack, lack nothing
        missing = k.host(~fits & in_use(x))
        if missing.any():
            row = int(missing.argmax())
            got = f"{int(wanted)} in component {row} of size {int(k.host(size)[row])}"
            raise IndexError(complaint(OP, f"an index in every component along axis {axis}", got, "Use a slice."))
        return over(x, at_index(block, r, xp.where(fits, at, xp.zeros_like(at))))
    return filled_at(x, r, at, fits)
