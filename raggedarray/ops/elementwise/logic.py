"""Comparison, logic and bits, element by element.

Comparisons and predicates give bools, bit operations the promoted integer (or bool) dtype; shapes,
broadcasting and capacity are as in `raggedarray.ops.arithmetic`. A comparison is never one truth value:
`array_equal` compares two arrays as wholes.
"""

from typing import Any

from ..._signatures import like_first, like_operands
from ..._typing import Array
from ...backends import kernels, kind, namespace
from ...engine.arguments import is_scalar
from ...engine.elementwise import elementwise

__all__ = [
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "equal",
    "greater",
    "greater_equal",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "signbit",
]


@like_operands
def bitwise_and(x1: Any, x2: Any, /) -> Any:
    """Bits set in both.

    >>> (bitwise_and(ragged([[6], []]), 3)).tolist()
    [[2], []]
    """
    return elementwise("bitwise_and", x1, x2)


@like_first
def bitwise_invert(x: Any, /) -> Any:
    """Every bit flipped.

    >>> (bitwise_invert(ragged([[0], []]))).tolist()
    [[-1], []]
    """
    return elementwise("bitwise_invert", x)


@like_operands
def bitwise_left_shift(x1: Any, x2: Any, /) -> Any:
    """Bits moved left by ``x2``.

    >>> (bitwise_left_shift(ragged([[1], []]), 3)).tolist()
    [[8], []]
    """
    return elementwise("bitwise_left_shift", x1, x2)


@like_operands
def bitwise_or(x1: Any, x2: Any, /) -> Any:
    """Bits set in either.

    >>> (bitwise_or(ragged([[6], []]), 3)).tolist()
    [[7], []]
    """
    return elementwise("bitwise_or", x1, x2)


@like_operands
def bitwise_right_shift(x1: Any, x2: Any, /) -> Any:
    """Bits moved right by ``x2``, the sign kept.

    >>> (bitwise_right_shift(ragged([[8], []]), 2)).tolist()
    [[2], []]
    """
    return elementwise("bitwise_right_shift", x1, x2)


@like_operands
def bitwise_xor(x1: Any, x2: Any, /) -> Any:
    """Bits set in one of the two.

    >>> (bitwise_xor(ragged([[6], []]), 3)).tolist()
    [[5], []]
    """
    return elementwise("bitwise_xor", x1, x2)


@like_operands
def equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 == x2``.

    >>> (equal(ragged([[1, 2], [3]]), 2)).tolist()
    [[False, True], [False]]
    """
    return elementwise("equal", x1, x2)


@like_operands
def greater(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 > x2``.

    >>> (greater(ragged([[1, 2], [3]]), 2)).tolist()
    [[False, False], [True]]
    """
    return elementwise("greater", x1, x2)


@like_operands
def greater_equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 >= x2``.

    >>> (greater_equal(ragged([[1, 2], [3]]), 2)).tolist()
    [[False, True], [True]]
    """
    return elementwise("greater_equal", x1, x2)


@like_operands
def isclose(x1: Any, x2: Any, /, *, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether two elements are equal, or differ by at most ``atol + rtol * abs(x2)``.

    >>> isclose(ragged([[1.0, 2.0], []]), 1.0).tolist()
    [[True, False], []]
    """
    return elementwise(_isclose, x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _isclose(x1: Any, x2: Any, *, rtol: float, atol: float, equal_nan: bool) -> Array:
    first = next(x for x in (x1, x2) if not is_scalar(x))
    xp = namespace(first)
    dtype = xp.result_type(x1, x2)
    dtype = dtype if kind(dtype) in ("float", "complex") else kernels(first).dtype("float64")
    x1, x2 = (xp.asarray(x, dtype=dtype) if is_scalar(x) else xp.astype(x, dtype, copy=False) for x in (x1, x2))
    finite = xp.isfinite(x1) & xp.isfinite(x2)
    a, b = (xp.where(finite, x, xp.zeros_like(x)) for x in (x1, x2))  # inf - inf would warn
    near = finite & (xp.abs(a - b) <= atol + rtol * xp.abs(b))
    same = near | (x1 == x2)
    return same | (xp.isnan(x1) & xp.isnan(x2)) if equal_nan else same


@like_first
def isfinite(x: Any, /) -> Any:
    """Whether neither infinite nor NaN.

    >>> (isfinite(ragged([[1.0, float("nan")], []]))).tolist()
    [[True, False], []]
    """
    return elementwise("isfinite", x)


@like_first
def isinf(x: Any, /) -> Any:
    """Whether infinite.

    >>> (isinf(ragged([[1.0, float("inf")], []]))).tolist()
    [[False, True], []]
    """
    return elementwise("isinf", x)


@like_first
def isnan(x: Any, /) -> Any:
    """Whether NaN.

    >>> (isnan(ragged([[1.0, float("nan")], []]))).tolist()
    [[False, True], []]
    """
    return elementwise("isnan", x)


@like_first
def isneginf(x: Any, /) -> Any:
    """Whether it is negative infinity.

    >>> isneginf(ragged([[float("-inf"), 1.0], []])).tolist()
    [[True, False], []]
    """
    return elementwise(_is_value, x, value=-float("inf"))


@like_first
def isposinf(x: Any, /) -> Any:
    """Whether it is positive infinity.

    >>> isposinf(ragged([[float("inf"), 1.0], []])).tolist()
    [[True, False], []]
    """
    return elementwise(_is_value, x, value=float("inf"))


def _is_value(x: Array, *, value: float) -> Array:
    xp = namespace(x)
    return x == value if kind(x.dtype) == "float" else xp.zeros(x.shape, dtype=xp.bool)


@like_first
def isreal(x: Any, /) -> Any:
    """Whether the imaginary part is 0; of real numbers it is.

    >>> isreal(ragged([[1 + 2j, 1 + 0j], []])).tolist()
    [[False, True], []]
    """
    return elementwise(_isreal, x)


def _isreal(x: Array) -> Array:
    xp = namespace(x)
    return xp.imag(x) == 0 if kind(x.dtype) == "complex" else xp.ones(x.shape, dtype=xp.bool)


@like_operands
def less(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 < x2``.

    >>> (less(ragged([[1, 2], [3]]), 2)).tolist()
    [[True, False], [False]]
    """
    return elementwise("less", x1, x2)


@like_operands
def less_equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 <= x2``.

    >>> (less_equal(ragged([[1, 2], [3]]), 2)).tolist()
    [[True, True], [False]]
    """
    return elementwise("less_equal", x1, x2)


@like_operands
def logical_and(x1: Any, x2: Any, /) -> Any:
    """Whether both are true.

    >>> (logical_and(ragged([[True, False], []]), True)).tolist()
    [[True, False], []]
    """
    return elementwise("logical_and", x1, x2)


@like_first
def logical_not(x: Any, /) -> Any:
    """Whether false.

    >>> (logical_not(ragged([[True, False], []]))).tolist()
    [[False, True], []]
    """
    return elementwise("logical_not", x)


@like_operands
def logical_or(x1: Any, x2: Any, /) -> Any:
    """Whether either is true.

    >>> (logical_or(ragged([[True, False], []]), False)).tolist()
    [[True, False], []]
    """
    return elementwise("logical_or", x1, x2)


@like_operands
def logical_xor(x1: Any, x2: Any, /) -> Any:
    """Whether one of the two is true.

    >>> (logical_xor(ragged([[True, False], []]), True)).tolist()
    [[False, True], []]
    """
    return elementwise("logical_xor", x1, x2)


@like_operands
def not_equal(x1: Any, x2: Any, /) -> Any:
    """Whether ``x1 != x2``.

    >>> (not_equal(ragged([[1, 2], [3]]), 2)).tolist()
    [[True, False], [True]]
    """
    return elementwise("not_equal", x1, x2)


@like_first
def signbit(x: Any, /) -> Any:
    """Whether the sign bit is set, as for -0.0.

    >>> (signbit(ragged([[-0.0, 1.0], []]))).tolist()
    [[True, False], []]
    """
    return elementwise("signbit", x)
