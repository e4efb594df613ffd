"""Lists of arrays that vary along several axes: strided blocks over one buffer, to and from rows.

    ragged([a23, a45])                      shape (2, None, None), one buffer, sizes [[2, 3], [4, 5]]
    matrix_transpose(x), x[:, ::-1]         other strides and offsets, the same buffer
    contiguous(x)                           packed again

Element ``(i, j)`` of component ``k`` is ``values[offsets[k] + i * strides[k, 0] + j * strides[k, 1]]``. Slots that no
component addresses are holes: like slack, they hold anything and reach nothing.
"""

from math import prod
from typing import Any

from .._array import RaggedArray, as_last, block_in, rebuild
from .._blocks import (
    as_row_partitions,
    component_splits,
    is_packed,
    known_total,
    on_host,
    pack,
    packed,
    steps,
)  # fmt: skip
from .._errors import complaint
from .._partition import BlockPartition, RowPartition, UniformPartition, block_of
from .._typing import Array
from ..backends import is_array, kernels, namespace
from ._block_checks import check_traced, checked_bound, integers, table
from ._checking import level_sizes, ragged_only, sizes_of
from ._columns import column, numeric
from ._indices import host_index
from ._overflow import fits, spoil
from .dtypes import host_namespace

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
    op = "from_blocks"
    buffer, sizes, strides, offsets = (column(a) for a in (buffer, sizes, strides, offsets))
    if not is_array(buffer) or isinstance(buffer, RaggedArray) or not buffer.ndim:
        got = f"shape {tuple(buffer.shape)}" if is_array(buffer) else type(buffer).__name__
        raise ValueError(complaint(op, "a buffer with a first axis", got, "Pass an array of slots."))
    numeric(op, buffer)
    given = [a for a in (sizes, strides, offsets) if is_array(a)]
    k = next((kernels(a) for a in (buffer, *given) if kernels(a).name != "numpy"), kernels(buffer))
    sizes = table(op, "sizes", integers(op, k, "sizes", sizes), 2)
    buffer = buffer if kernels(buffer) is k else k.asarray(buffer)
    n, r = sizes.shape
    axes = (None,) * r if axes is None else tuple(None if m is None else sizes_of(op, m) for m in axes)
    if axes.count(None) != r or not r or any(m is not None and m < 0 for m in axes):
        want = f"axes with {max(r, 1)} None, one for each column of sizes, and sizes of 0 or more"
        raise ValueError(complaint(op, want, f"{axes}", "Change `axes=`."))
    if strides is not None:
        strides = table(op, "strides", integers(op, k, "strides", strides), 2, (n, len(axes)))
    if offsets is not None:
        offsets = table(op, "offsets", integers(op, k, "offsets", offsets), 1, (n,))
    p = BlockPartition(sizes, strides, offsets, axes=axes, bound=int(buffer.shape[0]))
    if k.is_concrete(sizes, strides, offsets):
        p = BlockPartition(sizes, strides, offsets, axes=axes, bound=checked_bound(op, p, int(buffer.shape[0])))
    elif k.checking():
        check_traced(op, p, int(buffer.shape[0]))
    if strides is None and offsets is not None:
        xp = namespace(sizes)
        p = BlockPartition(sizes, xp.stack(steps(packed(p)), axis=1), offsets, axes=axes, bound=p.bound)
    if offsets is None and strides is not None:
        p = BlockPartition(sizes, strides, component_splits(p)[:-1], axes=axes, bound=p.bound)
    return RaggedArray(buffer, (as_last(p if k.name != "numpy" else _narrow(p, int(buffer.shape[0]))),))


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
    return ragged_only("get_buffer", x).values


def is_contiguous(x: RaggedArray) -> bool:
    """Whether components lie packed; a traced view counts as not."""
    block = block_of(x.partitions)
    if block is None or is_packed(block):
        return True
    k = kernels(block.sizes)
    if not k.is_concrete(block):
        return False
    flat = packed(block)
    sizes = k.host(block.sizes)
    there = (sizes > 0).all(axis=1) & all(n != 0 for n in block.axes if n is not None)
    for r, (have, want) in enumerate(zip(steps(block), steps(flat), strict=True)):
        size = block.axes[r]
        long = (sizes[:, sum(n is None for n in block.axes[:r])] > 1) if size is None else size > 1
        if bool(((k.host(have) != k.host(want)) & there & long).any()):
            return False
    begin = k.host(component_splits(flat))[:-1]
    return block.offsets is None or bool((k.host(block.offsets) == begin)[there].all())


def contiguous(x: RaggedArray, /) -> RaggedArray:
    """The same components packed, row-major, end to end: a copy of a strided view; rows are packed already.

    Capacity: the number of elements; on JAX that of ``x``, or its bound if a view has more elements than slots.

    >>> x = matrix_transpose(ragged([np.arange(6).reshape(2, 3), np.zeros((1, 4), int)]))
    >>> x.is_contiguous, contiguous(x).values[:6].tolist()
    (False, [0, 3, 1, 4, 2, 5])
    """
    block = block_of(ragged_only("contiguous", x).partitions)
    if block is None or is_packed(block):
        return x
    size = kernels(x.values).bound(known_total(block), block.bound)
    return RaggedArray(
        x.kernels.call(pack_values, x.values, block, size=size), (*x.partitions[:-1], as_last(packed(block, size)))
    )


def pack_values(values: Array, block: BlockPartition, *, size: int) -> Array:
    """The body of `contiguous`."""
    return pack(values, block, size)


def to_rows(x: RaggedArray, /, *, capacity: int | tuple[int, ...] | None = None) -> RaggedArray:
    """The same components with row partitions only: an ``(H, W)`` block becomes two levels of rows.

    ``[n, (h), (w), *inner]`` keeps its shape. Rows of a component without columns stay, so that the number of rows can
    exceed that of the elements. There is room for as many as the capacity of ``x``, on JAX for ``bucket_size`` of what
    is needed where that is more and can be read, or for ``capacity`` (an int, or one size for each level below axis 0,
    of which the last, the slots, are those of ``x``); beyond it the call raises, or under plain jit gives NaN.

    >>> to_rows(ragged([np.ones((2, 1)), np.ones((1, 3))])).nested_row_splits
    (array([0, 2, 3], dtype=int32), array([0, 1, 2, 5], dtype=int32))
    """
    block = block_of(ragged_only("to_rows", x).partitions)
    if block is None:
        return x
    x = contiguous(x)
    block = block_in(x)
    levels = len(block.axes) - 1
    above = x.ragged_rank - 1
    limits = _row_limits(x, levels)
    if capacity is not None:
        given = level_sizes("to_rows", capacity, above + levels + 1, given=above)
        limits = (given,) * levels if isinstance(given, int) else given[:-1]
    values, partitions, need = x.kernels.call(_to_rows, x.values, block, limits=limits)
    ok: Any = True
    for axis, n, limit in zip(block.axes, need, limits, strict=False):
        if axis is None and (capacity is not None or not x.kernels.trims):
            ok = ok & fits("to_rows", n, limit, "a capacity", "capacity=")
    out: RaggedArray = rebuild(x.nrows, (*x.partitions[:-1], *partitions), spoil(values, ok))
    return out


def _row_limits(x: RaggedArray, levels: int) -> tuple[int, ...]:
    """Room for the rows along each component axis but the last."""
    block = block_in(x)
    if x.kernels.trims or not kernels(block.sizes).is_concrete(block.sizes):
        return (block.bound,) * levels
    bucket_size = x.__array_namespace__().bucket_size
    need = on_host(block).sizes.cumprod(axis=1).sum(axis=0).tolist()[:levels]
    return tuple(block.bound if n <= block.bound else bucket_size(n) for n in need)


def _to_rows(values: Array, block: BlockPartition, *, limits: tuple[int, ...]) -> Any:
    partitions = as_row_partitions(block, limits)
    xp = namespace(block.sizes)
    need = tuple(p.splits[-1] if isinstance(p, RowPartition) else p.nrows * p.length for p in partitions[:-1])
    last = partitions[-1]
    if isinstance(last, UniformPartition):  # the slots must be its entries exactly
        size = last.nrows * last.length
        here, missing = xp.arange(size, dtype=block.sizes.dtype), xp.asarray(values.shape[0], dtype=block.sizes.dtype)
        values = kernels(values).pick(values, xp.minimum(here, missing))
    return values, partitions, need


def as_block(x: RaggedArray, rows: RaggedArray) -> RaggedArray:
    """The elements that `to_rows` of the packed ``x`` made rows, or others in their places, as a block again."""
    block = block_in(x)
    values = rows.values
    if rows.ndim == x.ndim:
        folded = values.ndim - 1 - len(x.inner_shape)  # component axes that `to_rows` left uniform and innermost
        values = rows.xp.reshape(values, (prod(values.shape[: folded + 1]), *x.inner_shape))
    return RaggedArray(values, (*x.partitions[:-1], as_last(packed(block, int(values.shape[0])))))


def as_rows(x: Any) -> Any:
    """A block as rows, for an op that has no form of its own for blocks; anything else as it is."""
    return to_rows(x) if isinstance(x, RaggedArray) and x.block is not None else x


def to_blocks(x: RaggedArray, /) -> RaggedArray:
    """The same components as strided blocks, whose slices, flips and narrowings are views; nothing is copied.

    One ragged axis becomes a block of one axis. Nested rows become one block when every component is rectangular,
    which must be readable: `ValueError` names the first that is not. Leading ragged axes stay rows only when asked for
    by nesting a block in lists.

    >>> to_blocks(ragged([[1, 2, 3], [4]])).partitions[0].sizes.tolist()
    [[3], [1]]
    >>> to_blocks(ragged([[[1, 2], [3, 4]], [[5]]])).partitions[0].sizes.tolist()
    [[2, 2], [1, 1]]
    """
    if block_of(ragged_only("to_blocks", x).partitions) is not None:
        return x
    rows = [p for p in x.partitions if isinstance(p, RowPartition)]
    axes = tuple(p.length if isinstance(p, UniformPartition) else None for p in x.partitions)
    k = kernels(x.row_splits)
    xp = namespace(x.row_splits)
    if len(rows) == 1 and axes[0] is None:
        sizes = xp.reshape(rows[0].lengths, (x.nrows, 1))
        return RaggedArray(x.values, (as_last(BlockPartition(sizes, axes=axes, bound=x.capacity)),))
    if not k.is_concrete(x.partitions):
        advice = "Convert outside jit."
        raise ValueError(complaint("to_blocks", "row lengths that can be read", "traced ones", advice))
    sizes = _rectangles(x)
    out = BlockPartition(k.index(sizes), axes=axes, bound=x.capacity)
    return RaggedArray(x.values, (as_last(out),))


def _rectangles(x: RaggedArray) -> Any:
    """Sizes of each component along its ragged axes (on the host)."""
    splits = [kernels(x.row_splits).host(s).astype("int64") for s in x.nested_row_splits]
    first = (splits[0][:-1] * 0 + 1).cumsum() - 1
    count = first * 0 + 1
    columns: list[Any] = []
    for axis, (ends, p) in enumerate(zip(splits, x.partitions, strict=True), start=1):
        lengths = ends[1:] - ends[:-1]
        size = lengths.take(first.clip(max=len(lengths) - 1)) * (count > 0) if len(lengths) else first * 0
        here, want = lengths[: int(count.sum())], size.repeat(count)
        if (here != want).any():
            i = int((here != want).argmax())
            row = int((count.cumsum() <= i).sum())
            got = f"lengths {want[i]} and {here[i]} along axis {axis} in component {row}"
            advice = "Keep it as rows, or pad it with `ra.to_padded`."
            raise ValueError(complaint("to_blocks", "rectangular components", got, advice))
        if isinstance(p, RowPartition):
            columns.append(size)
        first, count = ends.take(first.clip(max=len(lengths))), count * size
    return host_namespace().stack(columns, axis=1)
