"""Columns of data frames and arrays of objects, told by what they can do: the arrays and lists that they hold."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from ..backends import is_array, kind


def column(x: Any) -> Any:
    """A column, which is anything with ``to_numpy``, as a NumPy array; anything else as it is."""
    return x.to_numpy() if is_array(x) and hasattr(x, "to_numpy") and not isinstance(x, RaggedArray) else x


def opened(x: Any) -> Any:
    """The same, and an array of objects as a list of them."""
    x = column(x)
    return x.tolist() if is_array(x) and getattr(x.dtype, "kind", "") == "O" and x.ndim else x


def is_missing(x: Any, *, nan: bool) -> bool:
    """Whether ``x`` stands for what is not there; NaN does so only where a row was expected."""
    return x is None or type(x).__name__ in ("NAType", "NaTType") or (nan and isinstance(x, float) and x != x)


def missing(x: Any, place: str, *, row: bool) -> ValueError:
    """The error for a row or a number that is not there."""
    if row:
        return ValueError(error_text("a row", f"{x} {place}", "Leave it out, or put an empty row `[]` there."))
    return ValueError(error_text("a number", f"{x} {place}", "Leave it out, or put a number such as nan there."))


def numeric(x: Any) -> Any:
    """``x``, an array whose dtype must be that of numbers or bools."""
    if kind(x.dtype) == "other":
        raise TypeError(error_text("values of a numeric dtype", f"dtype {x.dtype}", "Convert them to numbers."))
    return x
