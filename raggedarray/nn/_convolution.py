"""Convolutions along the innermost ragged axis, every row on its own.

One matrix product over all rows: the elements of each window stand side by side, ``[windows, size * in]``. No row
is padded to the length of another, and none reads its neighbour's elements.
"""

from math import prod
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import RowPartition
from .._signatures import like_first
from .._typing import Array
from ..backends import generic, implementation, is_half, kernels, namespace
from ..engine.arguments import last_rows, sizes_of
from ..engine.broadcast.rows import to_common_backend
from ..engine.options import need_shape, operand, plain_only
from ._windows import Window, taps, window, with_rows_of

__all__ = ["conv1d"]

AT_ONCE = 8
"""Taps in one product: they are copied, so more of them would take more memory and save no time."""


@like_first
def conv1d(
    x: Any, kernel: Array, bias: Array | None = None, /, *, stride: int = 1, dilation: int = 1, padding: str = "SAME",
    groups: int = 1,
) -> Any:  # fmt: skip
    """Convolution of each row: ``[nrows, (len), in]`` to ``[nrows, (windows), out]``.

    The kernel is ``[size, in / groups, out]``, the bias ``[out]``; as everywhere in neural networks, the kernel is
    not flipped. A row of ``len`` elements has ``ceil(len / stride)`` windows with ``padding="SAME"``, where the
    padding lies evenly around the row (one more behind) and depends on its own length, and with ``"CAUSAL"``, where
    all of it lies in front, so that no output sees a later element; with ``"VALID"`` it has
    ``(len - extent) // stride + 1``, ``extent`` being ``(size - 1) * dilation + 1``, and a shorter row has none. An
    empty row stays empty. ``groups`` divides the channels, in and out, into parts that do not mix.

    With stride 1 the capacity is that of ``x``, or with ``"VALID"`` the ``extent - 1`` less that one long row would
    lose; a longer stride divides it, plus up to one slot a row. Halves accumulate in float32. Wrong sizes raise
    `ValueError`. A plain ``[..., len, in]`` is convolved along its last axis but one.

    >>> x = ragged([[[1.0], [2.0], [3.0]], [], [[4.0]]], item_shape=(None, 1))
    >>> conv1d(x, np.ones((3, 1, 1))).tolist()
    [[[3.0], [6.0], [5.0]], [], [[4.0]]]
    >>> conv1d(x, np.ones((2, 1, 1)), stride=2, padding="VALID").tolist()
    [[[3.0]], [], []]
    """
    plain_only("a kernel of shape (size, in, out)", kernel)
    _, operands = to_common_backend((operand(x), kernel) if bias is None else (x, kernel, bias))
    x, kernel, *rest = operands
    bias = rest[0] if rest else None
    w = window(kernel.shape[0] if kernel.ndim else 0, stride, dilation, padding)
    groups = sizes_of(groups)
    p = last_rows(x) if isinstance(x, RaggedArray) else None
    _check(x, kernel, bias, groups)
    if p is None:
        return kernels(x).call(_conv_plain, x, kernel, bias, w=w, groups=groups)
    values, splits = x.kernels.call(_conv, x.values, p, kernel, bias, w=w, groups=groups)
    return with_rows_of(x, values, splits)


def _check(x: Any, kernel: Array, bias: Array | None, groups: int) -> None:
    inner = x.inner_shape if isinstance(x, RaggedArray) else tuple(x.shape[max(x.ndim - 1, 1) :])
    if len(inner) != 1:
        raise ValueError(error_text("shape (nrows, (len), in)", f"{x.shape}", "Use `ra.with_inner_shape`."))
    shape = tuple(kernel.shape)
    if groups < 1 or inner[0] % groups:
        raise ValueError(error_text(f"groups= that divide {inner[0]}", f"{groups}", "Check the channels."))
    if len(shape) != 3 or shape[1] != inner[0] // groups or not shape[0]:
        want = f"a kernel of shape (size, {inner[0] // groups}, out)"
        raise ValueError(error_text(want, f"{shape}", "Check the axes."))
    if shape[2] % groups:
        raise ValueError(error_text(f"outputs in {groups} groups", f"{shape[2]}", "Check the axes."))
    if bias is not None:
        need_shape("a bias", bias, shape[2:])


def _conv(
    v: Array, p: RowPartition, kernel: Array, bias: Array | None, *, w: Window, groups: int
) -> tuple[Array, Array | None]:
    xp, k = namespace(v), kernels(v)
    out, contract = xp.result_type(v, kernel), implementation(k, generic.contract)
    columns = taps(v, p, w, 0)
    total: Any = None
    step = w.size if kernel.shape[1] == 1 and groups > 1 else AT_ONCE
    if columns.every is not None and groups == 1:
        size = w.size * kernel.shape[1]
        total = contract(xp.reshape(columns.every, (-1, size)), xp.reshape(kernel, (size, kernel.shape[2])))
    else:
        each = columns.places()
        for first in range(0, w.size, step):
            part = _product(each[first : first + step], kernel[first : min(first + step, w.size), ...], groups)
            total = part if total is None else total + part
    total = columns.finish(total)
    if bias is not None:
        total = total + xp.astype(xp.reshape(bias, (1, bias.shape[0])), total.dtype, copy=False)
    splits = p.splits if columns.splits is None else columns.splits
    return implementation(k, generic.mask_gradient)(xp.astype(total, out, copy=False), splits), columns.splits


def _widen(x: Array) -> Array:
    xp = namespace(x)
    return xp.astype(x, xp.float32) if is_half(x.dtype) else x


def _product(each: tuple[Array, ...], kernel: Array, groups: int) -> Array:
    """``[windows, out]`` from some taps ``[windows, in]`` and their part of the kernel, in float32 or wider."""
    xp, contract = namespace(kernel), implementation(kernels(kernel), generic.contract)
    size, inner, outer = kernel.shape
    windows = each[0].shape[0]
    if groups == 1:
        return contract(xp.concat(each, axis=1), xp.reshape(kernel, (size * inner, outer)))
    if inner == 1:  # elementwise: batches of products with inner size 1 are slow
        wide = [_widen(tap) if outer == groups else xp.repeat(_widen(tap), outer // groups, axis=1) for tap in each]
        total = wide[0] * _widen(kernel[0, ...])
        for j, tap in enumerate(wide[1:], start=1):
            total = total + tap * _widen(kernel[j, ...])
        return total
    kernel = xp.reshape(kernel, (size, inner, groups, outer // groups))
    apart = [xp.reshape(tap, (windows, groups, inner)) for tap in each]
    rows = xp.permute_dims(xp.concat(apart, axis=2), (1, 0, 2))
    weights = xp.reshape(xp.permute_dims(kernel, (2, 0, 1, 3)), (groups, size * inner, outer // groups))
    return xp.reshape(xp.permute_dims(contract(rows, weights), (1, 0, 2)), (windows, outer))


def _conv_plain(x: Array, kernel: Array, bias: Array | None, *, w: Window, groups: int) -> Array:
    """The axis as rows of one length."""
    xp = namespace(x)
    *lead, length, channels = x.shape
    rows = prod(lead)
    flat = xp.reshape(x, (rows * length, channels))
    p = RowPartition(xp.arange(rows + 1, dtype=xp.int32) * length)
    values, _ = _conv(flat, p, kernel, bias, w=w, groups=groups)
    count = w.count(length)
    return xp.reshape(values[: rows * count, ...], (*lead, count, kernel.shape[2]))
