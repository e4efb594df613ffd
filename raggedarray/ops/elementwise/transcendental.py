"""Exponentials, logarithms, trigonometric and hyperbolic functions, element by element.

``[nrows, (len), *inner]`` of floating dtype to the same shape, dtype and capacity; empty rows stay empty.
Two operands broadcast as in `raggedarray.ops.arithmetic`. Outside a function's domain the value is NaN.
"""

from typing import Any

from ..._signatures import like_first, like_operands
from ..._typing import Array
from ...backends import kernels, kind, namespace
from ...engine.elementwise import elementwise

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "rad2deg",
    "sin",
    "sinc",
    "sinh",
    "tan",
    "tanh",
]


@like_first
def acos(x: Any, /) -> Any:
    """Inverse cosine, in radians.

    >>> (acos(ragged([[1.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("acos", x)


@like_first
def acosh(x: Any, /) -> Any:
    """Inverse hyperbolic cosine.

    >>> (acosh(ragged([[1.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("acosh", x)


@like_first
def asin(x: Any, /) -> Any:
    """Inverse sine, in radians.

    >>> (asin(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("asin", x)


@like_first
def asinh(x: Any, /) -> Any:
    """Inverse hyperbolic sine.

    >>> (asinh(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("asinh", x)


@like_first
def atan(x: Any, /) -> Any:
    """Inverse tangent, in radians.

    >>> (atan(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("atan", x)


@like_operands
def atan2(x1: Any, x2: Any, /) -> Any:
    """Angle of the point ``(x2, x1)``, in radians.

    >>> (atan2(ragged([[0.0, 1.0], []]), 1.0)).tolist()
    [[0.0, 0.7853981633974483], []]
    """
    return elementwise("atan2", x1, x2)


@like_first
def atanh(x: Any, /) -> Any:
    """Inverse hyperbolic tangent.

    >>> (atanh(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("atanh", x)


@like_first
def cos(x: Any, /) -> Any:
    """Cosine of an angle in radians.

    >>> (cos(ragged([[0.0], []]))).tolist()
    [[1.0], []]
    """
    return elementwise("cos", x)


@like_first
def cosh(x: Any, /) -> Any:
    """Hyperbolic cosine.

    >>> (cosh(ragged([[0.0], []]))).tolist()
    [[1.0], []]
    """
    return elementwise("cosh", x)


@like_first
def deg2rad(x: Any, /) -> Any:
    """Degrees to radians.

    >>> deg2rad(ragged([[180.0], []])).tolist()
    [[3.141592653589793], []]
    """
    return elementwise(_scaled, x, factor=0.017453292519943295)


def _scaled(x: Array, *, factor: float) -> Array:
    return _floating(x) * factor


def _floating(x: Array) -> Array:
    wide = kind(x.dtype) in ("float", "complex")
    return x if wide else namespace(x).astype(x, kernels(x).dtype("float64"))


@like_first
def exp(x: Any, /) -> Any:
    """``e`` to the power of ``x``.

    >>> (exp(ragged([[0.0, 1.0], []]))).tolist()
    [[1.0, 2.718281828459045], []]
    """
    return elementwise("exp", x)


@like_first
def exp2(x: Any, /) -> Any:
    """2 to the power of ``x``.

    >>> exp2(ragged([[0.0, 3.0], []])).tolist()
    [[1.0, 8.0], []]
    """
    return elementwise(_exp2, x)


def _exp2(x: Array) -> Array:
    x = _floating(x)
    return namespace(x).pow(namespace(x).full_like(x, 2), x)


@like_first
def expm1(x: Any, /) -> Any:
    """``exp(x) - 1``, accurate near 0.

    >>> (expm1(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("expm1", x)


@like_first
def log(x: Any, /) -> Any:
    """Natural logarithm.

    >>> (log(ragged([[1.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("log", x)


@like_first
def log10(x: Any, /) -> Any:
    """Logarithm to base 10.

    >>> (log10(ragged([[1000.0], []]))).tolist()
    [[3.0], []]
    """
    return elementwise("log10", x)


@like_first
def log1p(x: Any, /) -> Any:
    """``log(1 + x)``, accurate near 0.

    >>> (log1p(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("log1p", x)


@like_first
def log2(x: Any, /) -> Any:
    """Logarithm to base 2.

    >>> (log2(ragged([[8.0], []]))).tolist()
    [[3.0], []]
    """
    return elementwise("log2", x)


@like_operands
def logaddexp(x1: Any, x2: Any, /) -> Any:
    """``log(exp(x1) + exp(x2))`` without overflow.

    >>> (logaddexp(ragged([[0.0], []]), ragged([[0.0], []]))).tolist()
    [[0.6931471805599453], []]
    """
    return elementwise("logaddexp", x1, x2)


@like_first
def rad2deg(x: Any, /) -> Any:
    """Radians to degrees.

    >>> rad2deg(ragged([[3.141592653589793], []])).tolist()
    [[180.0], []]
    """
    return elementwise(_scaled, x, factor=57.29577951308232)


@like_first
def sin(x: Any, /) -> Any:
    """Sine of an angle in radians.

    >>> (sin(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("sin", x)


@like_first
def sinc(x: Any, /) -> Any:
    """``sin(pi x) / (pi x)``; 1 at 0, with gradient 0.

    >>> sinc(ragged([[0.0], []])).tolist()
    [[1.0], []]
    """
    return elementwise(_sinc, x)


def _sinc(x: Array) -> Array:
    xp, x = namespace(x), _floating(x)
    middle = x == 0
    angle = 3.141592653589793 * xp.where(middle, xp.ones_like(x), x)
    return xp.where(middle, xp.ones_like(x), xp.sin(angle) / angle)


@like_first
def sinh(x: Any, /) -> Any:
    """Hyperbolic sine.

    >>> (sinh(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("sinh", x)


@like_first
def tan(x: Any, /) -> Any:
    """Tangent of an angle in radians.

    >>> (tan(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("tan", x)


@like_first
def tanh(x: Any, /) -> Any:
    """Hyperbolic tangent.

    >>> (tanh(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return elementwise("tanh", x)
