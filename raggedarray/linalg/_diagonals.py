"""Diagonals as strided views: one step along both axes of a matrix."""

from math import prod
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import BlockPartition
from .._typing import Array
from ..backends import kernels, namespace
from ..engine.broadcast.rows import to_common_backend
from ..engine.components.form import Form, absorb_inner_axes, form_of, reassemble
from ..engine.packing import contiguous
from ..ops.elementwise.arithmetic import multiply, subtract
from ..structure.blocks import starts, steps


def diagonal_rows(x: RaggedArray, offset: int) -> Any:
    """The diagonals of all components, packed: ``[n, *lead, (k)]``."""
    _, (x,) = to_common_backend((x,))
    form = form_of(x)
    rank = len(form.axes)
    if rank < 2:
        advice = "Make rows of rows one block with `ra.to_blocks`."
        raise ValueError(error_text("components with two axes or more", f"shape {x.shape}", advice))
    if len(x.inner_shape) >= 2:
        return RaggedArray(x.kernels.call(_inner, x.values, offset=offset), x.partitions)
    form = absorb_inner_axes(form, rank - len(form.block.axes))
    k = kernels(form.block.sizes)
    block, axes = k.call(_view, form.block, offset=offset), form.block.axes[:-2]
    count = _static(form, offset)
    diagonals = BlockPartition(
        block[0] if count is None else block[0][:, :-1], block[1], block[2], axes=(*axes, count), bound=form.block.bound
    )
    view = RaggedArray(form.values, (*form.above, diagonals))
    packed = contiguous(view)
    assert packed.block is not None
    if not packed.block.sizes.shape[1]:
        shape = tuple(n or 0 for n in packed.block.axes)
        size = prod(shape)
        values = packed.values[: form.block.nrows * size, ...]
        return reassemble(form, None, namespace(values).reshape(values, (form.block.nrows, *shape)))
    return reassemble(form, packed.block, packed.values)


def _static(form: Form, offset: int) -> int | None:
    m, n = form.block.axes[-2:]
    return None if m is None or n is None else max(min(m + min(offset, 0), n - max(offset, 0)), 0)


def _inner(values: Array, *, offset: int) -> Array:
    return namespace(values).linalg.diagonal(values, offset=offset)


def _view(block: BlockPartition, *, offset: int) -> tuple[Array, Array, Array]:
    """Sizes (of all axes but two, and of the diagonal), strides and offsets."""
    xp = namespace(block.sizes)
    *lead, down, across = steps(block)
    columns = iter(block.sizes[:, r] for r in range(block.sizes.shape[1]))
    full = [next(columns) if n is None else n for n in block.axes]
    m, n = (xp.full((block.nrows,), s, dtype=block.sizes.dtype) if isinstance(s, int) else s for s in full[-2:])
    count = xp.minimum(m + min(offset, 0), n - max(offset, 0))
    count = xp.maximum(count, xp.zeros_like(count))
    begin = starts(block) + across * max(offset, 0) - down * min(offset, 0)
    sizes = [s for s in full[:-2] if not isinstance(s, int)] + [count]
    return xp.stack(sizes, axis=1), xp.stack([*lead, down + across], axis=1), begin


def cross_rows(x1: Any, x2: Any, axis: int) -> Any:
    """Cross products along a uniform axis of three."""
    _, (x1, x2) = to_common_backend((x1, x2))
    ndim = max(x1.ndim, x2.ndim)
    last = axis if axis < 0 else axis - ndim
    parts = [_three(x, last) for x in (x1, x2)]
    (a, b) = parts
    out = [subtract(multiply(a[i], b[j]), multiply(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    first = out[0]
    if not isinstance(first, RaggedArray):
        return namespace(first).stack(out, axis=last)
    return RaggedArray(first.kernels.call(_stacked, tuple(o.values for o in out), axis=last), first.partitions)


def _stacked(parts: tuple[Array, ...], *, axis: int) -> Array:
    return namespace(parts[0]).stack(parts, axis=axis)


def _three(x: Any, axis: int) -> list[Any]:
    inner = x.inner_shape if isinstance(x, RaggedArray) else tuple(x.shape)
    if -axis > len(inner) or inner[axis] != 3:
        got = f"shape {tuple(x.shape)}"
        raise ValueError(error_text(f"three elements along the uniform axis {axis}", got, "Check `axis=`."))
    if not isinstance(x, RaggedArray):
        return [namespace(x).take(x, namespace(x).asarray([i]), axis=axis)[..., 0] if axis == -1 else
                namespace(x).moveaxis(x, axis, 0)[i, ...] for i in range(3)]  # fmt: skip
    return [RaggedArray(namespace(x.values).moveaxis(x.values, axis, -1)[..., i], x.partitions) for i in range(3)]
