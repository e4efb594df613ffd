"""Kinds of dtypes, by name: bfloat16 and the like are floats in every library."""

from functools import cache
from typing import Any, cast

from .._typing import DType


def kind(dtype: DType) -> str:
    """``bool``, ``int``, ``uint``, ``float`` or ``complex``; bfloat16 is a float in every library."""
    # Looked up by type first: dtypes of two libraries must not be compared in a cache.
    return _kind(cast(Any, type(dtype)), dtype)


@cache
def _kind(cls: Any, dtype: DType) -> str:
    text = dtype_name(dtype)
    text = "float" if text.startswith(("bfloat", "float8")) else text.rstrip("_0123456789")
    return text if text in ("bool", "int", "uint", "float", "complex") else "other"


def dtype_name(dtype: DType) -> str:
    """``float32`` and the like, of a dtype of any library."""
    return str(getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype)).rsplit(".", 1)[-1]


def is_half(dtype: DType) -> bool:
    """Whether sums of this dtype must accumulate in float32."""
    return _is_half(cast(Any, type(dtype)), dtype)


@cache
def _is_half(cls: Any, dtype: DType) -> bool:
    return kind(dtype) == "float" and dtype_name(dtype) not in ("float32", "float64", "float128", "longdouble")
