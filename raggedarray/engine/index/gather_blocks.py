"""Elements of blocks gathered: where an entry may be missing, or an index array says which."""

from math import prod
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import BlockPartition, uniform_levels
from ..._typing import Array
from ...backends import kernels, kind, namespace
from ...structure.blocks import Elements, addresses, elements, extents, known_total, of_extents, packed
from ...structure.levels import used_at
from ...structure.views import absorb_inner_axes, at_index, chosen
from ..indices import index_like, to_dtype
from ..innermost import innermost
from .gather import filled


def over(x: RaggedArray, block: BlockPartition) -> RaggedArray:
    """The same buffer and outer levels under another block."""
    return RaggedArray(x.values, (*x.partitions[:-1], block))


def in_use(x: RaggedArray) -> Array:
    """Which components are not slack of an outer level."""
    block = innermost(x)
    used = used_at(x.partitions, len(x.partitions) - 1)
    return namespace(block.sizes).arange(block.nrows, dtype=block.sizes.dtype) < used


def numbered(block: BlockPartition, index: Array, above: Any) -> BlockPartition:
    """Components by number; what is no number of one, or slack of the levels above, gives an empty one."""
    xp = namespace(index)
    there = (index >= 0) & (index < block.nrows)
    if above:
        there = there & (xp.arange(index.shape[0], dtype=index.dtype) < used_at(above, len(above)))
    return chosen(block, xp.where(there, index, xp.asarray(block.nrows, dtype=index.dtype)), block.bound)


def need_index(x: RaggedArray, r: int, wanted: Array, axis: int) -> None:
    """Raise, or check at run time, where a component in use lacks an index along its axis ``r``, called ``axis``."""
    block = innermost(x)
    k = kernels(block.sizes)
    if not block.nrows or 0 in wanted.shape:
        return
    size, low, high, bad = k.call(_lacking, block, wanted, in_use(x), r=r)
    what = f"an index in every component along axis {axis}"
    if k.is_concrete(bad):
        if k.host(bad).any():
            row = int(k.host(bad).argmax())
            n, known = int(k.host(size)[row]), k.host(wanted).reshape(-1)
            i = int(known[(known < -n) | (known >= n)][0])
            raise IndexError(error_text(what, f"{i} in component {row} of size {n}", "Use a slice."))
    elif k.checking():
        xp = namespace(size)
        row = xp.argmax(xp.astype(bad, size.dtype))
        i = xp.where(high >= size[row], high, low)
        text = error_text(what, "{i} in component {row} of size {n}", "Use a slice.")
        k.check(~xp.any(bad), text, i=i, row=row, n=size[row])


def _lacking(block: BlockPartition, wanted: Array, used: Array, *, r: int) -> tuple[Array, ...]:
    """Sizes along an axis, the least and the greatest index, and which components lack some."""
    xp = namespace(block.sizes)
    size = extents(block)[r]
    size = xp.full((block.nrows,), size, dtype=block.sizes.dtype) if isinstance(size, int) else size
    wanted = to_dtype(wanted, block.sizes)
    low, high = xp.min(wanted), xp.max(wanted)
    return size, low, high, used & ((low < -size) | (high >= size))


def filled_at(x: RaggedArray, r: int, at: Array, fits: Array) -> RaggedArray:
    """The same where sizes are traced: what is missing becomes the fill value, so that the result is packed."""
    block = innermost(x)
    xp = namespace(block.sizes)
    view = at_index(block, r, xp.where(fits, at, xp.zeros_like(at)))
    values = x.kernels.call(_gather_filled, x.values, view, fits, size=element_count(view))
    return over(RaggedArray(values, x.partitions), packed(view, element_count(view)))


def element_count(view: BlockPartition) -> int:
    if None in view.axes:
        return view.bound
    return view.nrows * prod(n or 0 for n in view.axes)


def _gather_filled(values: Array, view: BlockPartition, fits: Array, *, size: int) -> Array:
    e = elements(view, size)
    k, xp = kernels(values), namespace(view.sizes)
    there = k.pick(fits, e.component)
    slot = xp.where(there, addresses(view, e, values.shape[0]), xp.asarray(values.shape[0], dtype=view.sizes.dtype))
    found = k.pick(values, slot)
    return filled(found, there | (e.component >= view.nrows), None)


def without_ragged(x: RaggedArray) -> Any:
    """A plain array, or rows of items, once no component axis is ragged."""
    if None in x.partitions[-1].axes:
        return x
    block = innermost(x)
    size = element_count(block)
    values = x.values[:size, ...] if block.is_packed else x.kernels.call(_gather, x.values, block, size=size)
    uniform = uniform_levels(block.nrows, tuple(n or 0 for n in block.axes))
    return rebuild((*x.partitions[:-1], *uniform), values)


def _gather(values: Array, block: BlockPartition, *, size: int) -> Array:
    return kernels(values).pick(values, addresses(block, elements(block, size), values.shape[0]))


def taken_along(x: RaggedArray, r: int, item: Any, axis: int) -> RaggedArray:
    """The same entries of every component along a component axis, by an index array."""
    block = innermost(x)
    if kind(item.dtype) not in ("int", "uint"):
        raise IndexError(error_text("an integer index array", f"dtype {item.dtype}", "Use `ra.boolean_mask`."))
    k = kernels(block.sizes)
    wanted = index_like(block.sizes, item)
    need_index(x, r, wanted, axis)
    old = extents(block)
    made = of_extents((*old[:r], *(int(n) for n in wanted.shape), *old[r + 1 :]), block, 0)
    total = known_total(made)
    bound = total if isinstance(total, int) and k.has_exact_sizes else block.bound * max(int(wanted.size), 1)
    made = packed(made, bound if None in made.axes else element_count(made))
    values = x.kernels.call(_take_body, x.values, block, made, wanted, axis=r)
    return RaggedArray(values, (*x.partitions[:-1], made))


def _take_body(values: Array, block: BlockPartition, made: BlockPartition, wanted: Array, *, axis: int) -> Array:
    e = elements(made, made.bound)
    k, xp = kernels(values), namespace(block.sizes)
    flat, place, ndim = xp.reshape(wanted, (-1,)), xp.zeros_like(e.component), wanted.ndim
    for n, at in zip(wanted.shape, e.at[axis : axis + ndim], strict=True):
        place = place * n + at
    place = xp.where(e.component < block.nrows, place, xp.asarray(flat.shape[0], dtype=place.dtype))
    index = k.pick(to_dtype(flat, block.sizes), place)
    size = extents(block)[axis]
    limit: Any = size if isinstance(size, int) else k.pick(size, e.component)
    index = xp.where(index < 0, index + limit, index)
    there = (index >= 0) & (index < limit) & (e.component < block.nrows)
    old = Elements(e.component, (*e.at[:axis], index, *e.at[axis + ndim :]))
    slot = xp.where(there, addresses(block, old, values.shape[0]), xp.asarray(values.shape[0], dtype=block.sizes.dtype))
    return filled(k.pick(values, slot), there | (e.component >= block.nrows), None)


def unfolded(x: RaggedArray) -> RaggedArray:
    """Inner axes as component axes: the values flat."""
    values, block = absorb_inner_axes(x.values, innermost(x), len(x.inner_shape))
    return RaggedArray(values, (*x.partitions[:-1], block))
