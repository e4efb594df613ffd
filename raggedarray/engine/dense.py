"""Softmax and logsumexp along axes of plain arrays, which the standard lacks."""

from typing import Any

from .._errors import error_text
from .._typing import Array, Axis
from ..backends import generic, implementation, kernels, kind, namespace
from .axes import normal_axes
from .reduce import accumulator, reduce_axes


def _wide(x: Array) -> tuple[Array, Any]:
    wide = accumulator(x, "float")
    out = x.dtype if kind(x.dtype) in ("float", "complex") else wide
    return namespace(x).astype(x, wide, copy=False), out


def _peak(x: Array, axes: tuple[int, ...]) -> Array:
    xp = namespace(x)
    peak = implementation(kernels(x), generic.stop_gradient)(reduce_axes("max", x, axes))
    return xp.where(xp.isfinite(peak), peak, xp.zeros_like(peak))


def dense_softmax(x: Array, axis: int, log: bool) -> Array:
    """Softmax along one axis; where all is -inf, zeros."""
    xp = namespace(x)
    v, out = _wide(x)
    peak = implementation(kernels(x), generic.stop_gradient)(reduce_axes("max", v, (axis,)))
    shifted = v - xp.where(peak == -float("inf"), xp.zeros_like(peak), peak)
    weight = xp.exp(shifted)
    total = reduce_axes("sum", weight, (axis,))
    safe = xp.where(total == 0, xp.ones_like(total), total)
    return xp.astype(shifted - xp.log(safe) if log else weight / safe, out, copy=False)


def dense_logsumexp(x: Array, *, axis: Axis, keepdims: bool, where: Any, length: int | None) -> Array:
    """Logarithm of the summed exponentials along axes; over no elements, -inf."""
    if length is not None:
        raise ValueError(error_text("no length= for a plain array", str(length), "Drop it."))
    xp, axes = namespace(x), normal_axes(axis, x.ndim)
    v, out = _wide(x)
    if where is not None:
        v = xp.where(where, v, xp.asarray(-float("inf"), dtype=v.dtype))
    peak = _peak(v, axes)
    total = reduce_axes("sum", xp.exp(v - peak), axes)
    none = total == 0
    result = xp.log(xp.where(none, xp.ones_like(total), total)) + peak
    result = xp.where(none, xp.asarray(-float("inf"), dtype=v.dtype), result)
    return xp.astype(result if keepdims else xp.squeeze(result, axis=axes), out, copy=False)
