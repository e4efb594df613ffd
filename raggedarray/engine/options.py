"""Operands, parameters and options of an op as they must be, or an error that names the one that is not.

Static ones are values that Python can read; a number of which only the kind and the range matter may be traced.
"""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from ..backends import is_array, kernels, kind
from ..structure.checks import require
from .arguments import is_scalar


def describe(x: Any) -> str:
    """What an argument is, in an error."""
    if is_scalar(x):
        return "a number"
    if not is_array(x):
        return type(x).__name__
    return f"{'a ragged ' if isinstance(x, RaggedArray) else ''}{tuple(x.shape)}"


def operand(x: Any) -> Any:
    """``x``, which must be a RaggedArray or an array."""
    if isinstance(x, RaggedArray) or is_array(x):
        return x
    advice = "Make it an array first, with `ra.ragged` or `ra.asarray`."
    raise TypeError(error_text("a ragged or a plain array", type(x).__name__, advice))


def plain_only(expected: str, x: Any) -> Any:
    """``x``, which must be an array that is not ragged."""
    if is_array(x) and not isinstance(x, RaggedArray):
        return x
    raise TypeError(error_text(expected, describe(x), "Pass a plain array."))


def need_shape(what: str, x: Any, shape: tuple[int, ...], advice: str = "Check the axes.") -> None:
    """Raise unless ``x`` is a plain array of this shape."""
    expected = f"{what} of shape {shape}"
    if tuple(plain_only(expected, x).shape) != shape:
        raise ValueError(error_text(expected, f"{tuple(x.shape)}", advice))


def check_bool(name: str, x: Any) -> bool:
    """A static bool; one of an array library will do where it can be read."""
    if isinstance(x, bool):
        return x
    if _is_single(x) and kind(x.dtype) == "bool" and kernels(x).is_concrete(x):
        return bool(x)
    raise TypeError(error_text(f"{name} as a static bool", type(x).__name__, "Pass True or False."))


def static_number(name: str, x: Any, advice: str = "Pass a Python float.") -> float:
    """A static real number as a Python float."""
    if is_array(x) and not _is_single(x):
        raise TypeError(error_text(f"{name} as a number", type(x).__name__, advice))
    try:
        if isinstance(x, str | bytes):
            raise TypeError
        return float(x)
    except Exception:
        raise TypeError(error_text(f"{name} as a static number", type(x).__name__, advice)) from None


def check_real_scalar(name: str, x: Any) -> Any:
    """``x``, which must be one real number for the whole array: a Python one, or an array without axes."""
    if is_scalar(x) and not isinstance(x, complex):
        return x
    if _is_single(x) and kind(x.dtype) in ("float", "int", "uint", "bool"):
        return x
    got = f"shape {tuple(x.shape)}" if is_array(x) and tuple(x.shape) else getattr(x, "dtype", type(x).__name__)
    raise TypeError(error_text(f"{name} as one real number", got, "Pass one for all elements."))


def in_range(expected: str, x: Any, advice: str, *, low: float, high: float = float("inf"), above: bool = False) -> Any:
    """Whether one number lies from ``low`` (or above it) to ``high``: True, or traced; one that can be read raises."""
    return require((x > low if above else x >= low) & (x <= high), expected, "{x}", advice, x=x)


def _is_single(x: Any) -> bool:
    return is_array(x) and not isinstance(x, RaggedArray) and not tuple(x.shape)
