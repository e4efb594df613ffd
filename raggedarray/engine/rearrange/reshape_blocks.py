"""Axes of components added, dropped, permuted and stretched: by strides, nothing is moved."""

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import UniformPartition
from ..._typing import Shape
from ...structure.views import permuted, repeated, stretched, with_axis, without_axis
from ..index.gather_blocks import over, unfolded
from ..innermost import innermost


def expand_block(x: RaggedArray, a: int) -> RaggedArray:
    """A new axis of size 1 at position ``a``."""
    block, rank = innermost(x), x.ragged_rank
    if a < rank:
        entries = UniformPartition(x.partitions[a - 1].nrows, 1)
        return RaggedArray(x.values, (*x.partitions[: a - 1], entries, *x.partitions[a - 1 :]))
    if a < rank + len(block.axes):
        return over(x, with_axis(block, a - rank))
    at = a - rank - len(block.axes) + 1
    return RaggedArray(x.xp.reshape(x.values, (*x.values.shape[:at], 1, *x.values.shape[at:])), x.partitions)


def squeeze_block(x: RaggedArray, a: int) -> RaggedArray:
    """Without axis ``a``, whose size is 1."""
    block, rank = innermost(x), x.ragged_rank
    if a >= rank + len(block.axes):
        at = a - rank - len(block.axes) + 1
        return RaggedArray(x.xp.squeeze(x.values, axis=at), x.partitions)
    if a >= rank:
        return over(x, without_axis(block, a - rank))
    if not a:
        advice = "Convert it with `ra.to_rows`."
        raise ValueError(error_text("an axis behind the first of a block", "axis 0", advice))
    return RaggedArray(x.values, (*x.partitions[: a - 1], *x.partitions[a:]))


def permute_block(x: RaggedArray, order: tuple[int, ...]) -> RaggedArray:
    """Component axes by their strides; inner axes among them become component axes."""
    rank, block = x.ragged_rank, innermost(x)
    if order[:rank] != tuple(range(rank)):
        got = f"{order}"
        raise ValueError(error_text(f"the first {rank} axes in place", got, "Permute the axes of components only."))
    last = rank + len(block.axes)
    if order[last:] == tuple(range(last, x.ndim)):
        return over(x, permuted(block, tuple(a - rank for a in order[rank:last])))
    if order[rank:last] == tuple(range(rank, last)):
        axes = (0, *(a - last + 1 for a in order[last:]))
        return RaggedArray(x.xp.permute_dims(x.values, axes), x.partitions)
    x = unfolded(x)
    return over(x, permuted(innermost(x), tuple(a - rank for a in order[rank:])))


def stretch_block(x: RaggedArray, shape: Shape) -> RaggedArray:
    """Axes of size 1 by a stride of 0; the number of elements grows, that of slots does not."""
    rank, inner = x.ragged_rank, len(x.inner_shape)
    if rank == 1 and x.nrows == 1 != shape[0] is not None and len(shape) == x.ndim:
        x = over(x, x.kernels.call(repeated, innermost(x), n=shape[0]))
    if len(shape) != x.ndim or any(m != n for m, n in zip(x.shape[:rank], shape[:rank], strict=True)):
        got = str(shape)
        raise ValueError(error_text(f"component axes of {x.shape} to stretch", got, "Add no axes."))
    for a, (m, n) in enumerate(zip(x.shape, shape, strict=True)):
        if rank <= a < x.ndim - inner and m != n and n is not None:
            x = over(x, stretched(innermost(x), a - rank, n, innermost(x).bound * n))
    if shape[x.ndim - inner :] != x.inner_shape:
        return RaggedArray(x.xp.broadcast_to(x.values, (x.capacity, *shape[x.ndim - inner :])), x.partitions)
    return x
