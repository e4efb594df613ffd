"""Functions of single components, and sums of products, on NumPy."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._typing import Array
from .._dtypes import is_half
from .._protocol import ComponentFunction
from ..generic.components import InTurn


def einsum(letters: str, /, *arrays: Array) -> Array:
    if any(is_half(a.dtype) for a in arrays):
        wide = np.result_type(np.float32, *(a.dtype for a in arrays if not is_half(a.dtype)))
        arrays = tuple(a.astype(wide) if is_half(a.dtype) else a for a in arrays)
    return np.einsum(letters, *arrays, optimize=len(arrays) > 1)


class _Quiet(InTurn):
    """A trial on ones must not warn."""

    def shapes(self, shapes: list[tuple[int, ...]], like: list[Array], /) -> tuple[list[tuple[int, ...]], Any]:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().shapes(shapes, like)


def component_function(f: Callable[..., Any], /) -> ComponentFunction:
    return _Quiet(f)
