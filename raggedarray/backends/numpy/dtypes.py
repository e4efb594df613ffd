"""Floats that NumPy knows from an extension only: bfloat16 and the float8 dtypes.

NumPy takes a Python number beside them for float64 and promotes. Here numbers are weak, as they are beside its own
dtypes and on JAX. A function of several steps is computed in float32 and rounded once: its own numbers would promote.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._typing import Array
from .._dtypes import kind


def is_extended(x: Any) -> bool:
    """Whether ``x`` is an array of such a dtype."""
    return isinstance(x, np.ndarray | np.generic) and x.dtype.kind == "V" and kind(x.dtype) == "float"


def native(x: Any) -> Any:
    """An array of such a dtype in float32; anything else as it is."""
    return x.astype(np.float32) if is_extended(x) else x


def weak(x: Any, dtype: np.dtype[Any]) -> Any:
    """A Python number in the dtype of the arrays beside it; anything else, and a complex number, as it is."""
    return np.asarray(x, dtype=dtype) if type(x) in (bool, int, float) else x


def pointwise(f: Callable[..., Array], args: tuple[Any, ...], static: dict[str, Any], /, *, single: bool) -> Array:
    dtypes = {x.dtype for x in args if is_extended(x)}
    if not dtypes:
        return f(*args, **static)
    others = [x for x in args if hasattr(x, "dtype") and not is_extended(x)]
    numbers = [x for x in args if isinstance(x, complex)]
    alone = len(dtypes) == 1 and not numbers and not any(kind(x.dtype) in ("float", "complex") for x in others)
    if not alone:
        return f(*map(native, args), **static)
    (dtype,) = dtypes
    if single:
        out = f(*(weak(x, dtype) for x in args), **static)
    else:  # an integer may be an exponent
        out = f(*(x if type(x) is int and dtype.type(x) == x else native(weak(x, dtype)) for x in args), **static)
    return out.astype(dtype) if kind(out.dtype) == "float" and out.dtype != dtype else out
