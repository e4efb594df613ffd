"""Activations: elementwise functions of ``[nrows, (len), *inner]``, to the same shape, dtype and capacity.

Formulas and names are those of ``jax.nn``. Gradients are finite everywhere, 0 at the kink of `relu`.
"""

from typing import Any

from .._errors import error_text
from .._signatures import like_first
from .._typing import Array
from ..backends import generic, implementation, is_half, kernels, kind, namespace
from ..engine.elementwise import elementwise
from ..engine.options import check_bool, operand, static_number

__all__ = [
    "celu", "elu", "gelu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu", "log_sigmoid", "mish",
    "relu", "relu6", "selu", "sigmoid", "silu", "soft_shrink", "soft_sign", "softplus", "tanh_shrink", "threshold",
]  # fmt: skip


def _sigmoid(x: Array) -> Array:
    xp = namespace(x)
    if kind(x.dtype) == "complex":
        return 1 / (1 + xp.exp(-x))
    small = xp.exp(-xp.abs(x))  # never overflows
    return xp.where(x < 0, small / (1 + small), 1 / (1 + small))


def _softplus(x: Array) -> Array:
    return namespace(x).logaddexp(x, namespace(x).zeros_like(x))


def _relu(x: Array) -> Array:
    xp = namespace(x)
    return xp.where(x <= 0, xp.zeros_like(x), x)


def _elu(x: Array, alpha: Any) -> Array:
    xp = namespace(x)
    return xp.where(x > 0, x, alpha * xp.expm1(xp.where(x > 0, xp.zeros_like(x), x)))


def _celu(x: Array, alpha: Any) -> Array:
    xp = namespace(x)
    return xp.where(x > 0, x, alpha * xp.expm1(xp.where(x > 0, xp.zeros_like(x), x) / alpha))


def _selu(x: Array) -> Array:
    return 1.0507009873554805 * _elu(x, 1.6732632423543772)


def _leaky_relu(x: Array, negative_slope: Any) -> Array:
    return namespace(x).where(x >= 0, x, negative_slope * x)


def _gelu(x: Array, *, approximate: bool) -> Array:
    xp = namespace(x)
    if approximate:
        v = _clamp(x, -10.0, 10.0)  # beyond, tanh is 1, and a cube may overflow
        return 0.5 * x * (1 + xp.tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)))
    wide = xp.astype(x, xp.float32) if is_half(x.dtype) else x  # scipy has no erf of halves
    erf = implementation(kernels(x), generic.special)("erf")
    return xp.astype(0.5 * wide * (1 + erf(0.7071067811865476 * wide)), x.dtype, copy=False)


def _clamp(x: Array, low: float, high: float) -> Array:
    xp = namespace(x)
    return xp.where(x <= low, xp.full_like(x, low), xp.where(x >= high, xp.full_like(x, high), x))


def _relu6(x: Array) -> Array:
    return _clamp(x, 0.0, 6.0)


def _hard_tanh(x: Array) -> Array:
    return _clamp(x, -1.0, 1.0)


def _hard_sigmoid(x: Array) -> Array:
    return _relu6(x + 3) / 6


def _hard_silu(x: Array) -> Array:
    return x * _hard_sigmoid(x)


def _silu(x: Array) -> Array:
    return x * _sigmoid(x)


def _mish(x: Array) -> Array:
    return x * namespace(x).tanh(_softplus(x))


def _soft_sign(x: Array) -> Array:
    return x / (1 + namespace(x).abs(x))


def _log_sigmoid(x: Array) -> Array:
    return -_softplus(-x)


def _hard_shrink(x: Array, lambd: Any) -> Array:
    xp = namespace(x)
    return xp.where(xp.abs(x) <= lambd, xp.zeros_like(x), x)


def _soft_shrink(x: Array, lambd: Any) -> Array:
    xp = namespace(x)
    return xp.where(x > lambd, x - lambd, xp.where(x < -lambd, x + lambd, xp.zeros_like(x)))


def _tanh_shrink(x: Array) -> Array:
    return x - namespace(x).tanh(x)


def _threshold(x: Array, *, at: float, value: float) -> Array:
    xp = namespace(x)
    return xp.where(x <= at, xp.full_like(x, value), x)


@like_first
def celu(x: Any, /, *, alpha: Any = 1.0) -> Any:
    """Continuously differentiable exponential linear unit.

    >>> celu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_celu, x, alpha)


@like_first
def elu(x: Any, /, *, alpha: Any = 1.0) -> Any:
    """Exponential linear unit: ``x`` above 0, ``alpha (exp(x) - 1)`` below.

    >>> elu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_elu, x, alpha)


@like_first
def gelu(x: Any, /, *, approximate: bool = True) -> Any:
    """Gaussian error linear unit; ``approximate`` takes the tanh formula, else the exact one.

    >>> gelu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_gelu, x, approximate=check_bool("approximate", approximate))


@like_first
def hard_shrink(x: Any, /, *, lambd: Any = 0.5) -> Any:
    """``x``, but 0 from ``-lambd`` to ``lambd``.

    >>> hard_shrink(ragged([[0.2, -2.0], []])).tolist()
    [[0.0, -2.0], []]
    """
    return elementwise(_hard_shrink, x, lambd)


@like_first
def hard_sigmoid(x: Any, /) -> Any:
    """Piecewise linear sigmoid ``relu6(x + 3) / 6``.

    >>> hard_sigmoid(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_hard_sigmoid, x)


@like_first
def hard_silu(x: Any, /) -> Any:
    """``x * hard_sigmoid(x)``.

    >>> hard_silu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_hard_silu, x)


@like_first
def hard_tanh(x: Any, /) -> Any:
    """``x`` limited to -1 and 1.

    >>> hard_tanh(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_hard_tanh, x)


@like_first
def leaky_relu(x: Any, /, *, negative_slope: Any = 0.01) -> Any:
    """``x`` above 0, ``negative_slope * x`` below.

    >>> leaky_relu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_leaky_relu, x, negative_slope)


@like_first
def log_sigmoid(x: Any, /) -> Any:
    """Logarithm of `sigmoid`, accurate for large negative ``x``.

    >>> log_sigmoid(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_log_sigmoid, x)


@like_first
def mish(x: Any, /) -> Any:
    """``x tanh(softplus(x))``.

    >>> mish(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_mish, x)


@like_first
def relu(x: Any, /) -> Any:
    """``x`` above 0, else 0.

    >>> relu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_relu, x)


@like_first
def relu6(x: Any, /) -> Any:
    """``x`` limited to 0 and 6.

    >>> relu6(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_relu6, x)


@like_first
def selu(x: Any, /) -> Any:
    """Scaled exponential linear unit (Klambauer et al., 2017).

    >>> selu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_selu, x)


@like_first
def sigmoid(x: Any, /) -> Any:
    """``1 / (1 + exp(-x))``.

    >>> sigmoid(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_sigmoid, x)


@like_first
def silu(x: Any, /) -> Any:
    """``x * sigmoid(x)``, also called swish.

    >>> silu(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_silu, x)


@like_first
def soft_shrink(x: Any, /, *, lambd: Any = 0.5) -> Any:
    """``x`` moved by ``lambd`` towards 0, and 0 from ``-lambd`` to ``lambd``.

    >>> soft_shrink(ragged([[0.2, -2.0], []])).tolist()
    [[0.0, -1.5], []]
    """
    return elementwise(_soft_shrink, x, lambd)


@like_first
def soft_sign(x: Any, /) -> Any:
    """``x / (1 + abs(x))``.

    >>> soft_sign(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_soft_sign, x)


@like_first
def softplus(x: Any, /) -> Any:
    """``log(1 + exp(x))``.

    >>> softplus(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_softplus, x)


@like_first
def tanh_shrink(x: Any, /) -> Any:
    """``x - tanh(x)``.

    >>> tanh_shrink(ragged([[0.0, 1.0], []])).shape
    (2, None)
    """
    return elementwise(_tanh_shrink, x)


@like_first
def threshold(x: Any, threshold: float, value: float, /) -> Any:
    """``x`` above a threshold, elsewhere a value; both are numbers.

    >>> threshold(ragged([[0.5, 2.0], []]), 1.0, -1.0).tolist()
    [[-1.0, 2.0], []]
    """
    numbers = (("the threshold", threshold), ("the value", value))
    at, value = (v if isinstance(v, int) else static_number(name, v) for name, v in numbers)
    if kind(operand(x).dtype) in ("int", "uint") and value % 1:
        raise TypeError(error_text(f"a value of dtype {x.dtype}", f"{value}", "Convert `x` first."))
    return elementwise(_threshold, x, at=at, value=value)
