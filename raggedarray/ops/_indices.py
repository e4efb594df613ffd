"""Integers as indices: int32 where that is enough, in the library of the values."""

from typing import Any

from .._typing import Array
from ..backends import common, kernels, namespace


def host_index(ends: Any) -> Any:
    """Integers as a NumPy array: int32, or int64 where that is too small."""
    found = common("index", []).asarray(ends, dtype="int64")
    wide = found.size and (found.max() > 2**31 - 1 or found.min() < -(2**31))
    return found if wide else found.astype("int32")


def index_like(like: Array, ends: Array) -> Array:
    """Integers as indices in the library of ``like``."""
    k = kernels(like)
    return k.index(ends) if kernels(ends) is k or k.name != "generic" else namespace(like).asarray(ends)
