"""Lists of arrays that vary along several axes: strided blocks over one buffer, to and from rows.

    ragged([a23, a45])                      shape (2, None, None), one buffer, sizes [[2, 3], [4, 5]]
    matrix_transpose(x), x[:, ::-1]         other strides and offsets, the same buffer
    contiguous(x)                           packed again

Element ``(i, j)`` of component ``k`` is ``values[offsets[k] + i * strides[k, 0] + j * strides[k, 1]]``. Slots that no
component addresses are holes: like slack, they hold anything and reach nothing.
"""

from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import BlockPartition
from ..._typing import Array
from ...backends import is_array, is_numpy, kernels, namespace
from ...engine.arguments import ragged_only, sizes_of
from ...engine.block_arguments import check_traced, checked_bound, integers, table
from ...engine.columns import column, numeric
from ...engine.indices import host_index
from ...engine.innermost import innermost
from ...engine.packing import contiguous, to_blocks, to_rows
from ...structure.blocks import component_splits, packed, steps  # fmt: skip

__all__ = ["contiguous", "from_blocks", "get_buffer", "to_blocks", "to_rows"]


def from_blocks(
    buffer: Array,
    sizes: Any,
    /,
    *,
    strides: Any = None,
    offsets: Any = None,
    axes: tuple[int | None, ...] | None = None,
) -> RaggedArray:
    """Components of these sizes over a buffer that is not copied: ``[capacity, *inner]`` to ``[n, (h), (w), *inner]``.

    ``sizes`` is ``int[n, R]``, a row for each component. ``strides`` (``int[n, R]``) and ``offsets`` (``int[n]``) count
    slots of the buffer; a stride may be negative or 0. Without either, components lie end to end, row-major; without
    one of them, strides are row-major in each component, or offsets those of components end to end. ``axes`` says
    which component axes are uniform, by an int in place of None; strides then have a column for those too.

    Every address must be inside the buffer, or the call raises `ValueError`; under jit that is not checked.

    >>> x = from_blocks(np.arange(6.0), [[2, 1], [1, 4]])
    >>> x.tolist()
    [[[0.0], [1.0]], [[2.0, 3.0, 4.0, 5.0]]]
    >>> from_blocks(np.arange(6.0), [[2, 3]], strides=[[-3, -1]], offsets=[5]).tolist()
    [[[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]]
    """
    buffer, sizes, strides, offsets = (column(a) for a in (buffer, sizes, strides, offsets))
    if not is_array(buffer) or isinstance(buffer, RaggedArray) or not buffer.ndim:
        got = f"shape {tuple(buffer.shape)}" if is_array(buffer) else type(buffer).__name__
        raise ValueError(error_text("a buffer with a first axis", got, "Pass an array of slots."))
    numeric(buffer)
    arrays = [a for a in (sizes, strides, offsets) if is_array(a)]
    k = next((kernels(a) for a in (buffer, *arrays) if not is_numpy(a)), kernels(buffer))
    sizes = table("sizes", integers(k, "sizes", sizes), 2)
    buffer = k.asarray(buffer)
    n, r = sizes.shape
    axes = (None,) * r if axes is None else tuple(None if m is None else sizes_of(m) for m in axes)
    if axes.count(None) != r or not r or any(m is not None and m < 0 for m in axes):
        want = f"axes with {max(r, 1)} None, one for each column of sizes, and sizes of 0 or more"
        raise ValueError(error_text(want, f"{axes}", "Change `axes=`."))
    if strides is not None:
        strides = table("strides", integers(k, "strides", strides), 2, (n, len(axes)))
    if offsets is not None:
        offsets = table("offsets", integers(k, "offsets", offsets), 1, (n,))
    p = BlockPartition(sizes, strides, offsets, axes=axes, bound=int(buffer.shape[0]))
    if k.is_concrete(sizes, strides, offsets):
        p = BlockPartition(sizes, strides, offsets, axes=axes, bound=checked_bound(p, int(buffer.shape[0])))
    elif k.checking():
        check_traced(p, int(buffer.shape[0]))
    if strides is None and offsets is not None:
        xp = namespace(sizes)
        p = BlockPartition(sizes, xp.stack(steps(packed(p)), axis=1), offsets, axes=axes, bound=p.bound)
    if offsets is None and strides is not None:
        p = BlockPartition(sizes, strides, component_splits(p)[:-1], axes=axes, bound=p.bound)
    return RaggedArray(buffer, (p if not is_numpy(buffer) else _narrow(p, int(buffer.shape[0])),))


def _narrow(p: BlockPartition, slots: int) -> BlockPartition:
    """NumPy's int64 as int32, unless an index into the buffer or a count of elements needs more."""
    if max(slots, p.bound) > 2**31 - 1:
        return p
    arrays = (None if a is None else host_index(a) for a in (p.sizes, p.strides, p.offsets))
    return BlockPartition(*arrays, axes=p.axes, bound=p.bound)


def get_buffer(x: RaggedArray, /) -> Array:
    """The flat storage ``[capacity, *inner]``, not copied: components, slack and holes alike.

    >>> get_buffer(ragged([[1, 2], [3]]))
    array([1, 2, 3])
    """
    return ragged_only(x).values


def is_contiguous(x: RaggedArray) -> bool:
    """Whether components lie packed; a traced view counts as not."""
    if x.partitions[-1].is_packed:
        return True
    block = innermost(x)
    k = kernels(block.sizes)
    if not k.is_concrete(block):
        return False
    flat = packed(block)
    sizes = k.host(block.sizes)
    has_elements = (sizes > 0).all(axis=1) & all(n != 0 for n in block.axes if n is not None)
    for r, (have, want) in enumerate(zip(steps(block), steps(flat), strict=True)):
        size = block.axes[r]
        long = (sizes[:, sum(n is None for n in block.axes[:r])] > 1) if size is None else size > 1
        if bool(((k.host(have) != k.host(want)) & has_elements & long).any()):
            return False
    begin = k.host(component_splits(flat))[:-1]
    return block.offsets is None or bool((k.host(block.offsets) == begin)[has_elements].all())
