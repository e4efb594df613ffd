"""Elementwise functions of numbers that NumPy has beyond the standard, under NumPy's names.

Shapes, broadcasting, dtypes and capacity are as in `raggedarray.ops.arithmetic`. Those of exponents and divisors
(`frexp`, `ldexp`, `gcd`, `lcm`) need NumPy or JAX values.
"""

from typing import Any

from ..._errors import error_text
from ..._signatures import T, like_first, like_operands
from ..._typing import Array
from ...backends import generic, implementation, is_array, is_half, kernels, kind, namespace
from ...engine.arguments import is_scalar
from ...engine.elementwise import elementwise
from ..array.dtypes import finfo
from .selection import astype

__all__ = [
    "angle", "float_power", "fmax", "fmin", "fmod", "frexp", "gcd", "heaviside", "lcm", "ldexp", "nan_to_num",
]  # fmt: skip


def _arrays(*args: Any) -> tuple[Any, ...]:
    """The namespace, then operands in one dtype, numbers as arrays."""
    xp = namespace(next(x for x in args if not is_scalar(x)))
    dtype = xp.result_type(*args)
    return (xp, *(xp.asarray(x, dtype=dtype) if is_scalar(x) else xp.astype(x, dtype, copy=False) for x in args))


def _native(*args: Any, name: str) -> Array:
    xp = namespace(next(x for x in args if not is_scalar(x)))
    if not hasattr(xp, name):
        raise TypeError(error_text("NumPy or JAX values", "another array library", 'Move them with `x.to("numpy")`.'))
    return getattr(xp, name)(*args)


@like_first
def angle(x: Any, /) -> Any:
    """Angle of complex numbers, in radians from -pi to pi; of real ones 0 or, below 0, pi.

    >>> angle(ragged([[1.0, -1.0], []])).tolist()
    [[0.0, 3.141592653589793], []]
    """
    return elementwise(_angle, x)


def _angle(x: Array) -> Array:
    xp = namespace(x)
    if kind(x.dtype) == "complex":
        return xp.atan2(xp.imag(x), xp.real(x))
    x = x if kind(x.dtype) == "float" else xp.astype(x, kernels(x).dtype("float64"))
    turned = xp.where(xp.signbit(x), xp.full_like(x, 3.141592653589793), xp.zeros_like(x))
    return xp.where(xp.isnan(x), x, turned)


@like_operands
def float_power(x1: Any, x2: Any, /) -> Any:
    """``x1`` to the power of ``x2`` in float64 (on JAX without x64, float32), integers too.

    >>> float_power(ragged([[2, 4], []]), -1).tolist()
    [[0.5, 0.25], []]
    """
    wide = (astype(x, "float32") if is_array(x) and is_half(x.dtype) else x for x in (x1, x2))
    return elementwise(_float_power, *wide)


def _float_power(x1: Any, x2: Any) -> Array:
    first = next(x for x in (x1, x2) if not is_scalar(x))
    xp, k = namespace(first), kernels(first)
    wide = k.dtype("complex128" if kind(xp.result_type(x1, x2)) == "complex" else "float64")
    return xp.pow(*(xp.asarray(x, dtype=wide) if is_scalar(x) else xp.astype(x, wide) for x in (x1, x2)))


@like_operands
def fmax(x1: Any, x2: Any, /) -> Any:
    """The larger; where one is NaN, the other.

    >>> fmax(ragged([[1.0, float("nan")], []]), 0.0).tolist()
    [[1.0, 0.0], []]
    """
    return elementwise(_fmax, x1, x2)


def _fmax(x1: Any, x2: Any) -> Array:
    xp, x1, x2 = _arrays(x1, x2)
    return _but_nan(xp, x1, x2, xp.maximum(x1, x2))


def _but_nan(xp: Any, x1: Array, x2: Array, chosen: Array) -> Array:
    if kind(x1.dtype) != "float":
        return chosen
    return xp.where(xp.isnan(x1), x2, xp.where(xp.isnan(x2), x1, chosen))


@like_operands
def fmin(x1: Any, x2: Any, /) -> Any:
    """The smaller; where one is NaN, the other.

    >>> fmin(ragged([[1.0, float("nan")], []]), 0.0).tolist()
    [[0.0, 0.0], []]
    """
    return elementwise(_fmin, x1, x2)


def _fmin(x1: Any, x2: Any) -> Array:
    xp, x1, x2 = _arrays(x1, x2)
    return _but_nan(xp, x1, x2, xp.minimum(x1, x2))


@like_operands
def fmod(x1: Any, x2: Any, /) -> Any:
    """Remainder with the sign of ``x1``; of ``x2 = 1``, the part behind the point.

    >>> fmod(ragged([[7, -7], []]), 4).tolist()
    [[3, -3], []]
    """
    return elementwise(_fmod, x1, x2)


def _fmod(x1: Any, x2: Any) -> Array:
    xp, x1, x2 = _arrays(x1, x2)
    rest = xp.remainder(xp.abs(x1), xp.abs(x2))
    return xp.where(x1 < 0, -rest, rest)


def frexp(x: Any, /) -> tuple[Any, Any]:
    """``x`` as mantissas from 0.5 to 1 (or negative, or 0) times powers of 2: ``mantissa, exponent``.

    >>> [part.tolist() for part in frexp(ragged([[8.0, 3.0], []]))]
    [[[0.5, 0.75], []], [[4, 2], []]]
    """
    return elementwise(_mantissa, x), elementwise(_exponent, x)


def _exponent(x: Array) -> Array:
    exponent: Array = _native(implementation(kernels(x), generic.stop_gradient)(x), name="frexp")[1]
    return exponent


def _mantissa(x: Array) -> Array:
    return _scaled(x, -_exponent(x))


def _scaled(x: Array, exponent: Array) -> Array:
    half = exponent // 2  # 2 to the whole may overflow where the product does not
    return _native(_native(x, half, name="ldexp"), exponent - half, name="ldexp")


@like_operands
def gcd(x1: Any, x2: Any, /) -> Any:
    """Greatest common divisor of integers.

    >>> gcd(ragged([[12, 7], []]), 8).tolist()
    [[4, 1], []]
    """
    return elementwise(_native, x1, x2, name="gcd")


@like_operands
def heaviside(x1: Any, x2: Any, /) -> Any:
    """0 below 0, 1 above, ``x2`` at 0; NaN stays.

    >>> heaviside(ragged([[-2.0, 0.0, 3.0], []]), 0.5).tolist()
    [[0.0, 0.5, 1.0], []]
    """
    return elementwise(_heaviside, x1, x2)


def _heaviside(x1: Any, x2: Any) -> Array:
    xp, x1, x2 = _arrays(x1, x2)
    step = xp.where(x1 > 0, xp.ones_like(x1), xp.zeros_like(x1))
    step = xp.where(x1 == 0, x2, step)
    return xp.where(xp.isnan(x1), x1, step) if kind(x1.dtype) == "float" else step


@like_operands
def lcm(x1: Any, x2: Any, /) -> Any:
    """Least common multiple of integers.

    >>> lcm(ragged([[12, 7], []]), 8).tolist()
    [[24, 56], []]
    """
    return elementwise(_native, x1, x2, name="lcm")


@like_operands
def ldexp(x1: Any, x2: Any, /) -> Any:
    """``x1`` times 2 to the power of the integer ``x2``.

    >>> ldexp(ragged([[0.5, 3.0], []]), 2).tolist()
    [[2.0, 12.0], []]
    """
    return elementwise(_native, x1, x2, name="ldexp")


def nan_to_num(x: T, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> T:
    """NaN replaced by a number, infinities by the largest and smallest finite one or those given.

    The gradient of what is replaced is 0.

    >>> nan_to_num(ragged([[float("nan"), 1.0], [float("inf")]]), posinf=9.0).tolist()
    [[0.0, 1.0], [9.0]]
    """
    dtype = x.dtype if is_array(x) and kind(x.dtype) == "float" else None
    if dtype is not None:
        limits = finfo(dtype)
        posinf, neginf = (float(a) if b is None else b for a, b in ((limits.max, posinf), (limits.min, neginf)))
    return elementwise(_nan_to_num, x, nan=nan, posinf=posinf, neginf=neginf)


def _nan_to_num(x: Array, *, nan: float, posinf: float | None, neginf: float | None) -> Array:
    xp = namespace(x)
    if kind(x.dtype) == "complex":
        parts = (_nan_to_num(part, nan=nan, posinf=posinf, neginf=neginf) for part in (xp.real(x), xp.imag(x)))
        real, imag = parts
        return real + 1j * imag
    if kind(x.dtype) != "float":
        return x
    limits = xp.finfo(x.dtype)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    x = xp.where(xp.isnan(x), xp.full_like(x, nan), x)
    infinite = xp.where(x > 0, xp.full_like(x, high), xp.full_like(x, low))
    return xp.where(xp.isinf(x), infinite, x)
