"""What nothing reduces to."""

from typing import Any

from .._typing import DType
from ._dtypes import kind
from ._protocol import Reduction


def identity(how: Reduction, dtype: DType, xp: Any, /) -> bool | int | float:
    """What an empty segment reduces to."""
    if how == "sum":
        return 0
    if how == "prod":
        return 1
    if kind(dtype) == "bool":
        return how == "min"
    if kind(dtype) == "float":
        return float("inf") if how == "min" else -float("inf")
    limits = xp.iinfo(dtype)
    return int(limits.max if how == "min" else limits.min)
