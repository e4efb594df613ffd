"""`ragged` of arrays that vary along several axes, and of RaggedArrays that hold such arrays."""

from math import prod
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import BlockPartition, RowPartition, block_of
from .._typing import Array, DType
from ..backends import kernels, namespace
from ..structure.blocks import known_total
from .indices import host_index, index_like
from .leaves import concat_leaves
from .packing import contiguous


def array_axes(shapes: list[tuple[int, ...]]) -> tuple[int | None, ...]:
    """Axes of array leaves, as inferred: the first ragged, the others uniform where all agree."""
    rest = shapes[0][1:]
    return (None, *(n if all(s[r] == n for s in shapes) else None for r, n in enumerate(rest, start=1)))


def is_block(axes: tuple[int | None, ...]) -> bool:
    """Whether arrays of these axes need a block: not if the first alone is ragged."""
    return None in axes and (axes[0] is not None or None in axes[1:])


def block_of_arrays(
    lengths: list[list[int]],
    leaves: list[Array],
    axes: tuple[int | None, ...],
    dtype: DType | None,
    like: Array | None = None,
) -> RaggedArray:
    """Array leaves, checked to have one rank, under the lists whose ``lengths`` are given from axis 1 on.

    Without leaves, values have the dtype of ``like``.
    """
    last = max(r for r, n in enumerate(axes) if n is None)
    axes, inner = axes[: last + 1], axes[last + 1 :]
    for i, a in enumerate(leaves):
        if any(n is not None and n != m for n, m in zip((*axes, *inner), a.shape, strict=True)):
            want = f"arrays of shape {(*axes, *inner)}"
            raise ValueError(error_text(want, f"{tuple(a.shape)} at leaf {i}", "Change item_shape."))
    flat = [namespace(a).reshape(a, (prod(a.shape[: last + 1]), *a.shape[last + 1 :])) for a in leaves]
    if not flat:
        assert like is not None
        flat = [namespace(like).zeros((0, *(n or 0 for n in inner)), dtype=like.dtype)]
    values = concat_leaves(flat, dtype)
    sizes = [n for a in leaves for n, m in zip(a.shape, axes, strict=False) if m is None]
    return assemble(lengths, len(leaves), sizes, values, axes)


def assemble(
    lengths: list[list[int]], count: int, sizes: list[int], values: Array, axes: tuple[int | None, ...]
) -> RaggedArray:
    """Packed components, and rows of them from lists of lengths."""
    table = index_like(values, host_index(sizes).reshape(count, axes.count(None)))
    above: tuple[Any, ...] = ()
    for got in lengths:
        ends = [0]
        for n in got:
            ends.append(ends[-1] + n)
        above = (*above, RowPartition(index_like(values, host_index(ends))))
    return RaggedArray(values, (*above, BlockPartition(table, axes=axes, bound=int(values.shape[0]))))


def block_of_ragged(lengths: list[list[int]], leaves: list[RaggedArray], dtype: DType | None) -> RaggedArray:
    """RaggedArrays with blocks as leaves: their components end to end under one more ragged axis."""
    parts = [contiguous(x) for x in leaves]
    blocks = [block_of(x.partitions) for x in parts]
    for p in blocks:
        assert p is not None
    values, sizes = [], []
    for x, p in zip(parts, blocks, strict=True):
        assert p is not None
        values.append(x.values[: int(known_total(p)), ...])
        sizes += kernels(p.sizes).host(p.sizes).ravel().tolist()
    count = sum(p.nrows for p in blocks if p is not None)
    axes = blocks[0].axes if blocks[0] is not None else ()
    return assemble(lengths, count, sizes, concat_leaves(values, dtype), axes)
