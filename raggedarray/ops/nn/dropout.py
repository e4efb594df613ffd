"""Dropout (Srivastava et al., 2014)."""

from typing import Any

from ..._array import RaggedArray
from ..._errors import complaint
from ..._typing import Array
from ...backends import kernels, kind, namespace
from .._broadcast import into, is_scalar
from ..random import uniform

__all__ = ["dropout"]


def dropout(x: Any, rate: Any, /, *, key: Any) -> Any:
    """Each element 0 with probability ``rate``, else divided by ``1 - rate``: same shape, dtype and capacity.

    ``key`` is a ``jax.random`` key for JAX, a ``numpy.random.Generator`` for NumPy. An element's fate follows from the
    key and its slot, eagerly and under jit. A rate of 0 gives ``x`` itself, one of 1 zeros; one outside 0 to 1 raises
    `ValueError` where it can be read. It may be traced, and is a constant in gradients. Dropped elements have gradient
    0, whatever they hold. Call it in training only. Plain arrays too.

    >>> dropout(ragged([[1.0, 2.0], []]), 0.5, key=np.random.default_rng(0)).shape
    (2, None)
    """
    op = "nn.dropout"
    if kind(x.dtype) not in ("float", "complex"):
        raise TypeError(complaint(op, "inexact values", f"dtype {x.dtype}", "Convert them."))
    if is_scalar(rate) and not 0 <= rate <= 1:
        raise ValueError(complaint(op, "a rate from 0 to 1", f"{rate}", "Divide percentages by 100."))
    if is_scalar(rate) and rate == 0:
        return x
    drawn = uniform(key, x, dtype="float32")
    if isinstance(x, RaggedArray):
        x = into(drawn.kernels, x).used_values()
        return RaggedArray(x.kernels.call(_dropout, x.values, drawn.values, rate), x.partitions)
    k = kernels(drawn)
    return k.call(_dropout, x if kernels(x) is k else k.asarray(x), drawn, rate)


def _dropout(x: Array, drawn: Array, rate: Any) -> Array:
    xp = namespace(x)
    rate = kernels(x).stop_gradient(xp.asarray(rate, dtype=drawn.dtype))
    keep = drawn >= rate
    share = xp.where(rate < 1, 1 - rate, xp.ones_like(rate))
    zero = xp.zeros_like(x)
    return xp.where(keep, xp.where(keep, x, zero) / xp.astype(share, x.dtype), zero)
