"""RaggedArrays and arrays as leaves of a pytree: which of them are differentiated, and through which array."""

from typing import Any

from .._array import RaggedArray
from ..backends import is_array, kind


def is_ragged(x: Any) -> bool:
    """Whether a node of a tree is a RaggedArray, which is then one leaf."""
    return isinstance(x, RaggedArray)


def values_of(leaf: Any) -> Any:
    """The values of a RaggedArray; any other leaf as it is."""
    return leaf.values if isinstance(leaf, RaggedArray) else leaf


def is_inexact(leaf: Any) -> bool:
    """Whether a leaf is an array, ragged or plain, of floating or complex numbers."""
    values = values_of(leaf)
    return is_array(values) and kind(values.dtype) in ("float", "complex")
