"""Softmax over any axis, and normalisation by statistics of any axes.

``[nrows, (len), *inner]`` to the same shape and capacity. Integers give the default float; halves are
computed in float32. Empty rows stay empty, and no gradient is NaN because of them.
"""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import entry_counts
from .._signatures import like_first
from .._typing import Array, Axis
from ..backends import Segments, generic, implementation, kind, namespace
from ..engine.axes import Axes, normal_axes
from ..engine.broadcast.rows import BroadcastPlan, lay_out, plan, to_common_backend
from ..engine.dense import dense_softmax
from ..engine.options import check_real_scalar, operand, plain_only
from ..engine.overflow import fill_unless
from ..engine.packing import contiguous
from ..engine.reduce import Frame, accumulator, column_bound
from ..engine.row_view import row_view
from ..structure.levels import group

Has = tuple[bool, bool]
"""Whether there are a weight and a bias."""

__all__ = ["layer_norm", "log_softmax", "rms_norm", "softmax"]


@like_first
def softmax(x: Any, /, *, axis: int = -1) -> Any:
    """``exp(x) / sum(exp(x))`` along one axis, a row at a time; a row that is all -inf gives zeros and gradient 0.

    Over axis 0, or a ragged axis that has one behind it, columns are left-aligned.

    >>> softmax(ragged([[0.0, 0.0], [], [5.0]])).tolist()
    [[0.5, 0.5], [], [1.0]]
    """
    return _softmax(x, axis, log=False)


@like_first
def log_softmax(x: Any, /, *, axis: int = -1) -> Any:
    """Logarithm of `softmax`, accurate for small probabilities.

    >>> log_softmax(ragged([[0.0, 0.0], []])).map_values(lambda v: v.round(4)).tolist()
    [[-0.6931, -0.6931], []]
    """
    return _softmax(x, axis, log=True)


def _softmax(x: Any, axis: int, log: bool) -> Any:
    _need_real(x)
    if not isinstance(x, RaggedArray):
        (axis,) = normal_axes(axis, x.ndim)
        return dense_softmax(x, axis, log)
    view = row_view(contiguous(x).used_values(), axis)
    return view.restored(x.kernels.call(_softmax_body, view.rows, axes=view.axes, log=log))


def _need_real(x: Any) -> None:
    if kind(operand(x).dtype) == "complex":
        raise TypeError(error_text("real values", f"dtype {x.dtype}", "Take real and imaginary parts."))


def _softmax_body(x: RaggedArray, *, axes: Axes, log: bool) -> Array:
    xp, v = x.xp, x.values
    out = v.dtype if kind(v.dtype) == "float" else accumulator(v, "float")
    v = xp.astype(v, accumulator(v, "float"), copy=False)
    if axes.inner:
        return xp.astype(dense_softmax(v, axes.inner[0], log), out, copy=False)
    segments = _segments(x, axes, v)
    return xp.astype(implementation(x.kernels, generic.segment_softmax)(v, segments, log=log), out, copy=False)


def _segments(x: RaggedArray, axes: Axes, v: Array) -> Segments:
    if axes.block:
        groups = Frame(x, axes, None).groups
        assert groups is not None
        return groups.segments
    columns = entry_counts(x.partitions, x.capacity)[1]  # at most; they are ids only, so more costs nothing
    return group(x.partitions, axes.levels, x.capacity, columns, v).segments


@like_first
def layer_norm(x: Any, weight: Any = None, bias: Any = None, /, *, axis: Axis = -1, eps: float = 1e-5) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, statistics over ``axis`` (Ba, Kiros and Hinton, 2016).

    Over inner axes each element is normalised by itself, over a ragged axis each row. Weight and bias
    broadcast with ``x``; slack reaches neither them nor their gradients.

    >>> layer_norm(ragged([[[1.0, 3.0]], []], item_shape=(None, 2)), eps=0.0).tolist()
    [[[-1.0, 1.0]], []]
    """
    return _normalize(x, weight, bias, axis=axis, eps=eps, center=True)


@like_first
def rms_norm(x: Any, weight: Any = None, bias: Any = None, /, *, axis: Axis = -1, eps: float = 1e-5) -> Any:
    """``x / sqrt(mean(x**2) + eps) * weight + bias``, the mean over ``axis`` (Zhang and Sennrich, 2019).

    >>> rms_norm(ragged([[[3.0, 3.0]], []], item_shape=(None, 2)), eps=0.0).tolist()
    [[[1.0, 1.0]], []]
    """
    return _normalize(x, weight, bias, axis=axis, eps=eps, center=False)


def _normalize(x: Any, weight: Any, bias: Any, *, axis: Axis, eps: float, center: bool) -> Any:
    eps = check_real_scalar("eps", eps)
    _need_real(x)
    operands = [a for a in (x, weight, bias) if a is not None]
    has = (weight is not None, bias is not None)
    k, moved = to_common_backend(tuple(operands))
    for a in moved[1:]:
        if isinstance(a, RaggedArray) and not isinstance(x, RaggedArray):
            plain_only("plain parameters for plain values", a)
        shape, want = tuple(getattr(a, "shape", ())), tuple(x.shape)
        pairs = zip(reversed(shape), reversed(want), strict=False)
        if len(shape) > len(want) or any(n == 1 and m != 1 for m, n in pairs):
            advice = "The result has the shape of `x`."
            raise ValueError(error_text(f"parameters that broadcast to {want}", f"{shape}", advice))
    if not isinstance(moved[0], RaggedArray):
        dense_axes = normal_axes(axis, moved[0].ndim)
        return k.call(_normalize_dense, *moved, eps, axes=dense_axes, center=center, has=has)
    met = plan([contiguous(a) if isinstance(a, RaggedArray) else a for a in moved])
    view = row_view(met.template, axis)
    seen = [view.of(a, state) for a, state in zip(met.operands, met.states, strict=True)]
    static = {"axes": view.axes, "center": center, "has": has, "length": column_bound(view.rows, view.axes)}
    states = tuple(state for _, state in seen)
    values = k.call(_normalize_body, view.rows, eps, *(a for a, _ in seen), states=states, **static)
    return view.restored(fill_unless(values, met.ok))


def _normalize_body(
    t: RaggedArray,
    eps: Any,
    *operands: Any,
    states: Any,
    axes: Axes,
    center: bool,
    has: tuple[bool, bool],
    length: int | None,
) -> Array:
    v, *more = lay_out(BroadcastPlan(t, operands, states))
    return _affine(_standardized(Frame(t, axes, length), v, eps, center), v, more, has)


def _standardized(f: Frame, v: Array, eps: Any, center: bool) -> Array:
    xp = f.xp
    v = xp.astype(v, accumulator(v, "float"), copy=False)
    n = f.count(v, None, v.dtype)
    n = xp.where(n > 0, n, xp.ones_like(n))
    if center:
        v = v - f.spread(f.reduce("sum", v) / n)
    return v * f.spread(1 / xp.sqrt(f.reduce("sum", v * v) / n + eps))


def _affine(v: Array, original: Array, more: list[Any], has: Has) -> Array:
    xp = namespace(v)
    out = original.dtype if kind(original.dtype) == "float" else v.dtype
    if has[0]:
        v = v * more[0]
    if has[1]:
        v = v + more[-1]
    return xp.astype(v, out, copy=False)


def _normalize_dense(
    v: Array, *more_and_eps: Any, axes: tuple[int, ...], center: bool, has: tuple[bool, bool]
) -> Array:
    *more, eps = more_and_eps
    xp, original = namespace(v), v
    v = xp.astype(v, accumulator(v, "float"), copy=False)
    if center:
        v = v - xp.mean(v, axis=axes, keepdims=True)
    return _affine(v / xp.sqrt(xp.mean(v * v, axis=axes, keepdims=True) + eps), original, more, has)
