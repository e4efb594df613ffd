"""Batch normalisation (Ioffe and Szegedy, 2015) over the elements that there are: slack is never counted."""

from math import prod
from typing import Any, overload

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Array
from ..backends import generic, implementation, kernels, kind, namespace
from ..engine.axes import Axes
from ..engine.broadcast.rows import to_common_backend
from ..engine.options import check_bool, check_real_scalar, describe, need_shape, operand
from ..engine.packing import contiguous
from ..engine.reduce import Frame, accumulator

__all__ = ["batch_norm"]

Running = tuple[Array, Array]
"""Mean and variance, ``[channels]`` each."""


@overload
def batch_norm(
    x: RaggedArray, running: Running | None = None, weight: Array | None = None, bias: Array | None = None, /, *,
    training: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> tuple[RaggedArray, Running]: ...  # fmt: skip
@overload
def batch_norm(
    x: Any, running: Running | None = None, weight: Array | None = None, bias: Array | None = None, /, *,
    training: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> tuple[Any, Running]: ...  # fmt: skip
def batch_norm(
    x: Any, running: Running | None = None, weight: Array | None = None, bias: Array | None = None, /, *,
    training: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> tuple[Any, Running]:  # fmt: skip
    """``(x - mean) / sqrt(var + eps) * weight + bias`` for each channel, and the running statistics: ``(y, running)``.

    ``[nrows, (len), *inner, channels]`` to the same shape, dtype and capacity; ``running`` is a pair ``(mean, var)`` of
    ``[channels]``, None standing for zeros and for ones. In training the statistics are those of all elements of the
    batch, whatever their row, and running ones move towards them by ``momentum`` (towards the unbiased variance, and
    as constants in gradients); otherwise the running ones are used, and come back unchanged. A batch without elements
    leaves them unchanged too. Statistics are in float32 at least. Plain ``[..., channels]`` too.

    >>> y, (mean, var) = batch_norm(ragged([[[1.0], [3.0]], [], [[5.0]]], item_shape=(None, 1)), eps=0.0)
    >>> mean, var.round(3)
    (array([0.3]), array([1.3]))
    """
    statistics: Any = running
    if statistics is not None and not (isinstance(statistics, tuple | list) and len(statistics) == 2):
        got = f"{len(statistics)} arrays" if isinstance(statistics, tuple | list) else describe(statistics)
        raise ValueError(error_text("running= (mean, variance)", got, "Pass a pair."))
    training = check_bool("training", training)
    momentum, eps = check_real_scalar("momentum", momentum), check_real_scalar("eps", eps)
    parts = (*(statistics or (None, None)), weight, bias)
    has = tuple(a is not None for a in parts)
    x = contiguous(x) if isinstance(x, RaggedArray) else operand(x)
    k, (x, *moved) = to_common_backend((x, *(a for a in parts if a is not None)))
    inner = x.inner_shape if isinstance(x, RaggedArray) else tuple(x.shape)
    if kind(x.dtype) == "complex":
        raise TypeError(error_text("real values", f"dtype {x.dtype}", "Normalise real and imaginary parts."))
    if not inner:
        advice = "Use `ra.to_rows(x)` first." if isinstance(x, RaggedArray) and x.block is not None else "Add one."
        raise ValueError(error_text("values with an inner axis of channels", f"shape {x.shape}", advice))
    for a in moved:
        need_shape("parameters", a, inner[-1:])
    plain = not isinstance(x, RaggedArray)
    if plain:
        y, mean, var = k.call(_plain, x, eps, momentum, *moved, has=has, training=training)
        return y, (mean, var)
    y, mean, var = k.call(_ragged, x, eps, momentum, *moved, has=has, training=training)
    return RaggedArray(y, x.partitions), (mean, var)


def _ragged(x: RaggedArray, eps: Any, momentum: Any, *parts: Array, has: Any, training: bool) -> Any:
    x = x.components_as_rows()
    axes = Axes(tuple(range(x.ragged_rank + 1)), tuple(range(1, x.values.ndim - 1)))
    f = Frame(x, axes, None)
    wide = x.xp.astype(x.values, accumulator(x.values, "float"), copy=False)
    count = f.count(wide, None, wide.dtype)
    return _normalized(
        x.values, wide, lambda v: f.reduce("sum", v), f.spread, count, eps, momentum, parts, has, training
    )


def _plain(x: Array, eps: Any, momentum: Any, *parts: Array, has: Any, training: bool) -> Any:
    xp = namespace(x)
    wide = xp.astype(x, accumulator(x, "float"), copy=False)
    axes = tuple(range(x.ndim - 1))
    count = xp.full((1,) * x.ndim, prod(x.shape[:-1]), dtype=wide.dtype)

    def total(v: Array) -> Array:
        return xp.sum(v, axis=axes, keepdims=True) if axes else v

    return _normalized(x, wide, total, lambda a: a, count, eps, momentum, parts, has, training)


def _normalized(
    original: Array, wide: Array, total: Any, spread: Any, count: Array, eps: Any, momentum: Any, parts: Any, has: Any,
    training: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Values, mean and variance; ``spread`` gives ``[1, channels]`` to every slot, and 0 to slack."""
    xp, k = namespace(wide), kernels(wide)
    row = (*(1,) * (wide.ndim - 1), wide.shape[-1])
    rest = [xp.astype(xp.reshape(a, row), wide.dtype, copy=False) for a in parts]
    old_mean = rest.pop(0) if has[0] else xp.zeros(row, dtype=wide.dtype)
    old_var = rest.pop(0) if has[1] else xp.ones(row, dtype=wide.dtype)
    mean, var = old_mean, old_var
    if training:
        some = count > 0
        n = xp.where(some, count, xp.ones_like(count))
        mean = total(wide) / n
        apart = wide - spread(mean)
        var = total(apart * apart) / n
        unbiased = var * n / xp.where(n > 1, n - 1, xp.ones_like(n))
        new = tuple(implementation(k, generic.stop_gradient)(a) for a in (mean, unbiased))
        old_mean, old_var = (
            xp.where(some, (1 - momentum) * a + momentum * b, a) for a, b in zip((old_mean, old_var), new, strict=True)
        )
    scale = 1 / xp.sqrt(var + eps)
    if has[2]:
        scale = scale * rest.pop(0)
    y = (wide - spread(mean)) * spread(scale)
    if has[3]:
        y = y + spread(rest.pop(0))
    out = original.dtype if kind(original.dtype) == "float" else wide.dtype
    return xp.astype(y, out, copy=False), xp.reshape(old_mean, row[-1:]), xp.reshape(old_var, row[-1:])
