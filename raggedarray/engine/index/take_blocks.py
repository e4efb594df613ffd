"""Components and runs by index, where indices may be traced: `take` and `narrow` of blocks."""

from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import BlockPartition
from ..._typing import Array
from ...backends import Kernels, is_array, kernels, kind, namespace
from ...structure.blocks import as_table, extents
from ...structure.checks import forbid
from ...structure.views import cut
from ..arguments import sizes_of
from ..indices import to_dtype, widened
from ..innermost import innermost
from ..overflow import fill_unless
from ..resizing import with_capacity
from .blocks import block_getitem
from .gather import INDEX_LIMIT
from .gather_blocks import in_use, over


def take_block(x: RaggedArray, indices: Any, axis: int, capacity: Any) -> Any:
    """Components by index, as a view; or entries of every component along one of their axes, by a gather."""
    if isinstance(indices, RaggedArray):
        got = f"ragged indices of shape {indices.shape}"
        raise ValueError(error_text("dense indices for a block", got, "Convert it with `ra.to_rows(x)`."))
    key = [*(slice(None),) * axis, indices, *(slice(None),) * (x.ndim - axis - 1)]
    size = None if capacity is None else sizes_of(capacity)
    if axis < len(x.partitions):
        return block_getitem(x, key, capacity=size)
    out = block_getitem(x, key)
    return out if size is None or not isinstance(out, RaggedArray) else with_capacity(out, size)


def narrow_block(x: RaggedArray, axis: int, start: Any, length: Any) -> RaggedArray:
    """``length`` entries from ``start`` of every component along one of its axes, ints or one for each: a view."""
    block, r = innermost(x), axis - len(x.partitions)
    if r < 0:
        advice = "Slice the components, `x[a:b]`, or convert it with `ra.to_rows(x)`."
        raise ValueError(error_text(f"an axis from {len(x.partitions)}, of components", f"axis {axis}", advice))
    k = kernels(block.sizes)
    size = extents(block)[r]
    begin, count = (_each(k, block, a, what) for a, what in ((start, "start"), (length, "length")))
    view, short = k.call(_narrowed, block, begin, count, in_use(x), axis=r)
    bad, n, at, have = short
    what, got = f"runs within every component along axis {axis}", "{n} from {at} in a component of size {have}"
    values = fill_unless(x.values, forbid(bad, what, got, "Use `x[:, a:b]` to clip.", n=n, at=at, have=have))
    static = length if isinstance(size, int) and isinstance(length, int) else None
    if static is not None:
        axes = (*view.axes[:r], static, *view.axes[r + 1 :])
        kept = [s for q, s in enumerate(extents(view)) if q != r and view.axes[q] is None]
        table = as_table(kept, view.nrows, view.sizes)
        view = BlockPartition(table, view.strides, view.offsets, axes=axes, bound=view.bound)
    return over(RaggedArray(values, x.partitions), view)


def _each(k: Kernels, block: BlockPartition, given: Any, what: str) -> Array:
    if isinstance(given, RaggedArray):
        given = given.values
    if not is_array(given):
        given = max(min(sizes_of(given), INDEX_LIMIT), -INDEX_LIMIT)
        return namespace(block.sizes).full((block.nrows,), given, dtype=block.sizes.dtype)
    if kind(given.dtype) not in ("int", "uint") or (given.ndim and tuple(given.shape) != (block.nrows,)):
        got = f"{given.dtype} of shape {tuple(given.shape)}"
        raise TypeError(error_text(f"an integer {what}, or one for each component", got, "Convert it."))
    given = widened(given, k)
    given = to_dtype(k.asarray(given), block.sizes)
    return namespace(given).broadcast_to(given, (block.nrows,))


def _narrowed(
    block: BlockPartition, start: Array, length: Array, used: Array, *, axis: int
) -> tuple[BlockPartition, tuple[Array, ...]]:
    xp = namespace(block.sizes)
    size = extents(block)[axis]
    size = xp.full((block.nrows,), size, dtype=block.sizes.dtype) if isinstance(size, int) else size
    begin = xp.where(start < 0, start + size, start)
    bad = used & ((begin < 0) | (length < 0) | (begin + length > size))
    inside = ~bad & used
    begin, count = xp.where(inside, begin, xp.zeros_like(begin)), xp.where(inside, length, xp.zeros_like(length))
    view = cut(block, axis, begin, count, 1)
    if not block.nrows:
        nothing = xp.zeros((), dtype=size.dtype)
        return view, (xp.asarray(False), nothing, nothing, nothing)
    row = xp.argmax(xp.astype(bad, xp.int32))
    return view, (xp.any(bad), length[row], start[row], size[row])
