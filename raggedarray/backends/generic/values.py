"""Values one by one: functions of elements, and what only compilers and gradients tell apart."""

from collections.abc import Callable
from typing import Any

from ..._errors import error_text
from ..._typing import Array
from .._find import namespace


def pointwise(f: Callable[..., Array], args: tuple[Any, ...], static: dict[str, Any], /, *, single: bool) -> Array:
    """``f`` of elements, given arrays and Python numbers: the dtype is what arrays promote to, numbers are weak.

    ``single`` tells a function of the library from one of several steps.
    """
    return f(*args, **static)


def special(name: str, /) -> Callable[..., Array]:
    """A function of ``scipy.special``."""
    advice = 'Move them with `x.to("numpy")`.'
    raise TypeError(error_text("NumPy or JAX values", "another array library", advice, op=f"special.{name}"))


def stop_gradient(x: Array, /) -> Array:
    """``x``, as a constant."""
    return x


def once(x: Array, /) -> Array:
    """``x``, the very same numbers for all who read them: a compiler may compute it anew, and round otherwise."""
    return x


def mask_gradient(values: Array, splits: Array, /) -> Array:
    """``values``, whose gradient is 0 past the last split."""
    return values


def strided(buffer: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], /) -> Array:
    """``buffer[offset + sum(i * strides)]`` for each index of ``shape``, not empty: ``[*shape, *item]``."""
    xp = namespace(buffer)
    at = xp.asarray(offset)
    for n, step in zip(shape, strides, strict=True):
        at = xp.expand_dims(at, axis=-1) + xp.arange(n) * step
    return xp.reshape(xp.take(buffer, xp.reshape(at, (-1,)), axis=0), (*shape, *buffer.shape[1:]))
