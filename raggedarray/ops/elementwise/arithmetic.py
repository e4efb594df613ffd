"""Arithmetic, rounding and complex numbers, element by element.

Shapes broadcast from the right: ``[nrows, (len), *inner]`` with itself, with numbers, with dense arrays
whose axes are 1 where the other's are ragged (``b[:, None]`` for per-row data). Dtypes promote as the
standard says; Python numbers are weak. The result has the ragged operand's rows and capacity, times the size to
which an axis of size 1 in front of them is stretched; empty rows stay empty. Rows that do not agree and axes that
do not fit raise `ValueError`.
"""

from typing import Any

from ..._signatures import T, like_first, like_operands
from ..._typing import Array
from ...backends import kernels, kind, namespace
from ...engine.arguments import sizes_of
from ...engine.elementwise import elementwise

__all__ = [
    "abs",
    "add",
    "ceil",
    "conj",
    "copysign",
    "divide",
    "floor",
    "floor_divide",
    "hypot",
    "imag",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "trunc",
]


@like_first
def abs(x: Any, /) -> Any:
    """Absolute value; of complex numbers, the modulus.

    >>> (abs(ragged([[-1.5, 2.0], []]))).tolist()
    [[1.5, 2.0], []]
    """
    return elementwise("abs", x)


@like_operands
def add(x1: Any, x2: Any, /) -> Any:
    """Sum.

    >>> (add(ragged([[1, 2], [3]]), ra.asarray([[10], [20]]))).tolist()
    [[11, 12], [23]]
    """
    return elementwise("add", x1, x2)


def ceil(x: T, /) -> T:
    """Smallest integer not below, in the same dtype.

    >>> (ceil(ragged([[1.2, -1.2], []]))).tolist()
    [[2.0, -1.0], []]
    """
    return elementwise("ceil", x)


def conj(x: T, /) -> T:
    """Complex conjugate.

    >>> (conj(ragged([[1 + 2j], []]))).tolist()
    [[(1-2j)], []]
    """
    return elementwise("conj", x)


@like_operands
def copysign(x1: Any, x2: Any, /) -> Any:
    """Magnitude of ``x1`` with the sign of ``x2``.

    >>> (copysign(ragged([[1.0, 2.0], []]), -1.0)).tolist()
    [[-1.0, -2.0], []]
    """
    return elementwise("copysign", x1, x2)


@like_operands
def divide(x1: Any, x2: Any, /) -> Any:
    """Quotient, in floating point.

    >>> (divide(ragged([[1.0, 3.0], [4.0]]), 2)).tolist()
    [[0.5, 1.5], [2.0]]
    """
    return elementwise("divide", x1, x2)


def floor(x: T, /) -> T:
    """Largest integer not above, in the same dtype.

    >>> (floor(ragged([[1.8, -1.2], []]))).tolist()
    [[1.0, -2.0], []]
    """
    return elementwise("floor", x)


@like_operands
def floor_divide(x1: Any, x2: Any, /) -> Any:
    """Quotient rounded down.

    >>> (floor_divide(ragged([[7, -7], []]), 2)).tolist()
    [[3, -4], []]
    """
    return elementwise("floor_divide", x1, x2)


@like_operands
def hypot(x1: Any, x2: Any, /) -> Any:
    """``sqrt(x1**2 + x2**2)`` without overflow.

    >>> (hypot(ragged([[3.0], []]), ragged([[4.0], []]))).tolist()
    [[5.0], []]
    """
    return elementwise("hypot", x1, x2)


@like_first
def imag(x: Any, /) -> Any:
    """Imaginary part.

    >>> (imag(ragged([[1 + 2j], []]))).tolist()
    [[2.0], []]
    """
    return elementwise("imag", x)


@like_operands
def maximum(x1: Any, x2: Any, /) -> Any:
    """The larger; NaN if either is.

    >>> (maximum(ragged([[1.0, -2.0], []]), 0)).tolist()
    [[1.0, 0.0], []]
    """
    return elementwise("maximum", x1, x2)


@like_operands
def minimum(x1: Any, x2: Any, /) -> Any:
    """The smaller; NaN if either is.

    >>> (minimum(ragged([[1.0, -2.0], []]), 0)).tolist()
    [[0.0, -2.0], []]
    """
    return elementwise("minimum", x1, x2)


@like_operands
def multiply(x1: Any, x2: Any, /) -> Any:
    """Product.

    >>> (multiply(ragged([[1, 2], [3]]), 10)).tolist()
    [[10, 20], [30]]
    """
    return elementwise("multiply", x1, x2)


def negative(x: T, /) -> T:
    """The negative.

    >>> (negative(ragged([[1, -2], []]))).tolist()
    [[-1, 2], []]
    """
    return elementwise("negative", x)


@like_operands
def nextafter(x1: Any, x2: Any, /) -> Any:
    """Next floating-point number from ``x1`` towards ``x2``.

    >>> (nextafter(ragged([[0.0], []]), ragged([[1.0], []])) > 0).tolist()
    [[True], []]
    """
    return elementwise("nextafter", x1, x2)


def positive(x: T, /) -> T:
    """A copy, with the sign kept.

    >>> (positive(ragged([[1, -2], []]))).tolist()
    [[1, -2], []]
    """
    return elementwise("positive", x)


@like_operands
def pow(x1: Any, x2: Any, /) -> Any:
    """``x1`` to the power of ``x2``.

    >>> (pow(ragged([[2.0, 3.0], []]), 2)).tolist()
    [[4.0, 9.0], []]
    """
    return elementwise("pow", x1, x2)


@like_first
def real(x: Any, /) -> Any:
    """Real part.

    >>> (real(ragged([[1 + 2j], []]))).tolist()
    [[1.0], []]
    """
    return elementwise("real", x)


@like_first
def reciprocal(x: Any, /) -> Any:
    """``1 / x``.

    >>> (reciprocal(ragged([[2.0, 4.0], []]))).tolist()
    [[0.5, 0.25], []]
    """
    return elementwise("reciprocal", x)


@like_operands
def remainder(x1: Any, x2: Any, /) -> Any:
    """Remainder of `floor_divide`, with the sign of ``x2``.

    >>> (remainder(ragged([[7, -7], []]), 4)).tolist()
    [[3, 1], []]
    """
    return elementwise("remainder", x1, x2)


def round(x: T, /, *, decimals: int = 0) -> T:
    """Nearest integer, or multiple of ``10**-decimals``, halves to even, in the same dtype.

    >>> (round(ragged([[0.5, 1.5], []]))).tolist()
    [[0.0, 2.0], []]
    >>> (round(ragged([[0.125, 150.0], []]), decimals=-2)).tolist()
    [[0.0, 200.0], []]
    """
    if decimals == 0:
        return elementwise("round", x)
    return elementwise(_round, x, decimals=sizes_of(decimals))


def _round(x: Array, *, decimals: int) -> Array:
    xp = namespace(x)
    if kind(x.dtype) not in ("float", "complex"):
        wide = kernels(x).dtype("float64")
        return xp.astype(_round(xp.astype(x, wide), decimals=decimals), x.dtype) if decimals < 0 else x
    scale = float(10 ** (decimals if decimals > 0 else -decimals))
    return xp.round(x * scale) / scale if decimals > 0 else xp.round(x / scale) * scale


def sign(x: T, /) -> T:
    """-1, 0 or 1.

    >>> (sign(ragged([[-3, 0, 2], []]))).tolist()
    [[-1, 0, 1], []]
    """
    return elementwise("sign", x)


@like_first
def sqrt(x: Any, /) -> Any:
    """Square root; NaN below 0.

    >>> (sqrt(ragged([[4.0, 9.0], []]))).tolist()
    [[2.0, 3.0], []]
    """
    return elementwise("sqrt", x)


def square(x: T, /) -> T:
    """Square.

    >>> (square(ragged([[2, -3], []]))).tolist()
    [[4, 9], []]
    """
    return elementwise("square", x)


@like_operands
def subtract(x1: Any, x2: Any, /) -> Any:
    """Difference.

    >>> (subtract(ragged([[1, 2], [3]]), 1)).tolist()
    [[0, 1], [2]]
    """
    return elementwise("subtract", x1, x2)


def trunc(x: T, /) -> T:
    """Rounded towards 0, in the same dtype.

    >>> (trunc(ragged([[1.8, -1.8], []]))).tolist()
    [[1.0, -1.0], []]
    """
    return elementwise("trunc", x)
