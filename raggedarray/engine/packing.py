"""Elements in order: views of blocks packed, blocks as rows and rows as blocks."""

from math import prod
from typing import Any

from .._array import RaggedArray, rebuild
from .._errors import error_text
from .._partition import BlockPartition, RowPartition, UniformPartition, block_of
from .._typing import Array
from ..backends import kernels, namespace
from ..structure.blocks import as_row_partitions, known_total, on_host, pack, packed
from .arguments import level_sizes, ragged_only
from .host import host_namespace
from .innermost import innermost
from .overflow import check_capacity, fill_unless


def contiguous(x: RaggedArray, /) -> RaggedArray:
    """The same components packed, row-major, end to end: a copy of a strided view; rows are packed already.

    Capacity: the number of elements; on JAX that of ``x``, or its bound if a view has more elements than slots.

    >>> x = matrix_transpose(ragged([np.arange(6).reshape(2, 3), np.zeros((1, 4), int)]))
    >>> x.is_contiguous, contiguous(x).values[:6].tolist()
    (False, [0, 3, 1, 4, 2, 5])
    """
    if ragged_only(x).partitions[-1].is_packed:
        return x
    block = innermost(x)
    size = kernels(x.values).bound(known_total(block), block.bound)
    return RaggedArray(
        x.kernels.call(pack_values, x.values, block, size=size), (*x.partitions[:-1], packed(block, size))
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
    block = block_of(ragged_only(x).partitions)
    if block is None:
        return x
    x = contiguous(x)
    block = innermost(x)
    levels = len(block.axes) - 1
    above = x.ragged_rank - 1
    limits = _row_limits(x, levels)
    if capacity is not None:
        given = level_sizes(capacity, above + levels + 1, given=above)
        limits = (given,) * levels if isinstance(given, int) else given[:-1]
    values, partitions, need = x.kernels.call(_to_rows, x.values, block, limits=limits)
    ok: Any = True
    for axis, n, limit in zip(block.axes, need, limits, strict=False):
        if axis is None and (capacity is not None or not x.kernels.has_exact_sizes):
            ok = ok & check_capacity(n, limit, "a capacity", "capacity=")
    out: RaggedArray = rebuild((*x.partitions[:-1], *partitions), fill_unless(values, ok))
    return out


def _row_limits(x: RaggedArray, levels: int) -> tuple[int, ...]:
    """Room for the rows along each component axis but the last."""
    block = innermost(x)
    if x.kernels.has_exact_sizes or not kernels(block.sizes).is_concrete(block.sizes):
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
    block = innermost(x)
    values = rows.values
    if rows.ndim == x.ndim:
        folded = values.ndim - 1 - len(x.inner_shape)  # component axes that `to_rows` left uniform and innermost
        values = rows.xp.reshape(values, (prod(values.shape[: folded + 1]), *x.inner_shape))
    return RaggedArray(values, (*x.partitions[:-1], packed(block, int(values.shape[0]))))


def as_rows(x: Any) -> Any:
    """A block as rows, for an op that has no form of its own for blocks; anything else as it is."""
    return to_rows(x) if isinstance(x, RaggedArray) and x.block is not None else x


def of_one_kind(x: RaggedArray, y: RaggedArray) -> tuple[RaggedArray, RaggedArray]:
    """Two arrays that are both rows, or both blocks."""
    return (x, y) if (x.block is None) == (y.block is None) else (as_rows(x), as_rows(y))


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
    if block_of(ragged_only(x).partitions) is not None:
        return x
    rows = [p for p in x.partitions if isinstance(p, RowPartition)]
    axes = tuple(p.length if isinstance(p, UniformPartition) else None for p in x.partitions)
    k = kernels(x.row_splits)
    xp = namespace(x.row_splits)
    if len(rows) == 1 and axes[0] is None:
        sizes = xp.reshape(rows[0].lengths, (x.nrows, 1))
        return RaggedArray(x.values, (BlockPartition(sizes, axes=axes, bound=x.capacity),))
    if not k.is_concrete(x.partitions):
        advice = "Convert outside jit."
        raise ValueError(error_text("row lengths that can be read", "traced ones", advice))
    sizes = _rectangles(x)
    out = BlockPartition(k.index(sizes), axes=axes, bound=x.capacity)
    return RaggedArray(x.values, (out,))


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
            raise ValueError(error_text("rectangular components", got, advice))
        if isinstance(p, RowPartition):
            columns.append(size)
        first, count = ends.take(first.clip(max=len(lengths))), count * size
    return host_namespace().stack(columns, axis=1)
