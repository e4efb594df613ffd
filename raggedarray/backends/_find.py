"""Which library an array is of: its kernels and its standard namespace."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, cast

from array_api_compat import array_namespace
from numpy.ma import MaskedArray

from .._errors import error_text
from .._typing import Array, Namespace
from ._protocol import Kernels

_MODULE = {"array_api_compat.numpy": "numpy", "numpy": "numpy", "jax.numpy": "jax"}


_FOUND: dict[type, tuple[Kernels, Namespace]] = {}


@cache
def backend(name: str) -> Kernels:
    """The backend module of this name."""
    return cast(Kernels, import_module(f".{name}", __package__))


def _find(x: Array) -> tuple[Kernels, Namespace]:
    found = _FOUND.get(type(x))
    if found is None:
        need_plain(x)
        xp = array_namespace(x)
        found = _FOUND[type(x)] = (backend(_MODULE.get(xp.__name__, "generic")), xp)
    return found


def is_masked(x: Any) -> bool:
    """Whether ``x`` is an array of `numpy.ma`, which is not an array with some more: no op here knows of its mask."""
    return isinstance(x, MaskedArray)


def need_plain(x: Any) -> None:
    """Raise where ``x``, or an array of a list of them, has a mask."""
    if is_masked(x) or (isinstance(x, list | tuple) and any(map(is_array, x[:1])) and any(map(is_masked, x))):
        advice = "Pass `x.filled(value)`, and the mask apart; `ra.from_padded` reads one that ends rows."
        raise TypeError(error_text("a plain array", "a masked one", advice))


def kernels(x: Array) -> Kernels:
    """Kernels native to the array library of ``x``; ``generic`` for one we have no module for."""
    return _find(x)[0]


def namespace(x: Array) -> Namespace:
    """The standard namespace of ``x``."""
    return _find(x)[1]


def is_array(x: Any) -> bool:
    """Whether ``x`` is an array of some library (NumPy scalars are)."""
    return hasattr(x, "shape") and hasattr(x, "dtype")


def common(arrays: Sequence[Array]) -> Kernels:
    """The backend that these arrays meet in: NumPy gives way to the other library, others never mix."""
    found = {id(k): (k, xp) for k, xp in (_find(x) for x in arrays) if k.name != "numpy"}
    spaces = {xp.__name__ for _, xp in found.values()}
    if len(spaces) > 1:
        raise TypeError(error_text("arrays of one library", " and ".join(sorted(spaces)), "Move one of them first."))
    return next(iter(found.values()))[0] if found else backend("numpy")


def register(cls: type, static: bool = False) -> None:
    """Make dataclass ``cls`` a JAX pytree: its fields are children, but for those marked static, or all static."""
    cast(Any, import_module(".jax", __package__)).register(cls, static)
