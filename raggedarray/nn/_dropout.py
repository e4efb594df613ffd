"""Dropout (Srivastava et al., 2014)."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._signatures import like_first
from .._typing import Array
from ..backends import common, generic, implementation, is_array, kernels, kind, namespace
from ..engine.arguments import is_scalar
from ..engine.broadcast.rows import move_to
from ..engine.options import check_real_scalar, in_range, operand
from ..engine.overflow import fill_unless
from ..random._sampling import uniform

__all__ = ["dropout"]


@like_first
def dropout(x: Any, rate: Any, /, *, key: Any) -> Any:
    """Each element 0 with probability ``rate``, else divided by ``1 - rate``: same shape, dtype and capacity.

    ``key`` is a ``jax.random`` key for JAX, a ``numpy.random.Generator`` for NumPy. An element's fate follows from the
    key and its slot, eagerly and under jit. The rate is one number: 0 gives ``x`` itself, 1 zeros; one outside 0 to 1
    raises `ValueError`, or where it is traced gives NaN. It is a constant in gradients. Dropped elements have gradient
    0, whatever they hold. Call it in training only. Plain arrays too.

    >>> dropout(ragged([[1.0, 2.0], []]), 0.5, key=np.random.default_rng(0)).shape
    (2, None)
    """
    if kind(operand(x).dtype) not in ("float", "complex"):
        raise TypeError(error_text("inexact values", f"dtype {x.dtype}", "Convert them."))
    rate = check_real_scalar("rate", rate)
    ok = in_range("a rate from 0 to 1", rate, "Divide percentages by 100.", low=0, high=1)
    if is_scalar(rate) and rate == 0:
        return x
    values = x.values if isinstance(x, RaggedArray) else x
    k = common([values, key] if is_array(key) else [values])
    implementation(k, generic.generator)(key)  # raises unless it is a key
    drawn = uniform(key, x, dtype="float32")
    if isinstance(x, RaggedArray):
        x = move_to(drawn.kernels, x).used_values()
        return RaggedArray(x.kernels.call(_dropout, x.values, drawn.values, rate, ok), x.partitions)
    k = kernels(drawn)
    return k.call(_dropout, k.asarray(x), drawn, rate, ok)


def _dropout(x: Array, drawn: Array, rate: Any, ok: Any) -> Array:
    xp = namespace(x)
    rate = implementation(kernels(x), generic.stop_gradient)(xp.asarray(rate, dtype=drawn.dtype))
    keep = drawn >= rate
    share = xp.where(rate < 1, 1 - rate, xp.ones_like(rate))
    zero = xp.zeros_like(x)
    return fill_unless(xp.where(keep, xp.where(keep, x, zero) / xp.astype(share, x.dtype), zero), ok)
