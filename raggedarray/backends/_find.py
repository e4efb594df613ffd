"""Which backend an array has, and what a backend has of its own."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

from array_api_compat import array_namespace
from numpy.ma import MaskedArray

from .._errors import error_text
from .._typing import Array, Namespace
from ._protocol import Kernels, Transforms
from ._standard import Standard

_Function = TypeVar("_Function", bound=Callable[..., Any])

_MODULES = {"array_api_compat.numpy": "numpy", "numpy": "numpy", "jax.numpy": "jax"}
_REGISTERED: dict[str, Kernels] = {}
"""Backends by the name of the standard namespace: those that were registered, and `Standard` for the rest."""

_KERNELS: dict[type, Kernels] = {}
_IMPLEMENTATIONS: dict[tuple[Kernels, Callable[..., Any]], Any] = {}
"""What was looked up: a module takes microseconds to say that it has no such name."""


@cache
def backend(name: str) -> Kernels:
    """The backend module of this name: ``numpy`` or ``jax``."""
    return cast(Kernels, import_module(f".{name}", __package__))


def register_backend(namespace: str, kernels: Kernels) -> None:
    """Run arrays of the library whose standard namespace has this name on a backend of another package.

    ``kernels`` is a module, or any object, with the facts and functions of `Kernels`. What it has by the name of a
    function of `generic` is taken instead of that.
    """
    _REGISTERED[namespace] = kernels
    _KERNELS.clear()


def kernels(x: Array) -> Kernels:
    """The backend of ``x``: that of its library, or `Standard` for one that has none."""
    try:
        return _KERNELS[type(x)]
    except KeyError:
        need_plain(x)
        _KERNELS[type(x)] = of_library = _of_library(array_namespace(x))
        return of_library


def _of_library(xp: Namespace) -> Kernels:
    name = xp.__name__
    if name not in _REGISTERED:
        _REGISTERED[name] = backend(_MODULES[name]) if name in _MODULES else Standard(xp)
    return _REGISTERED[name]


def namespace(x: Array) -> Namespace:
    """The standard namespace of ``x``."""
    return kernels(x).xp


def implementation(kernels: Kernels, function: _Function, /) -> _Function:
    """What a backend has of its own by the name of ``function`` of `generic`, or else that."""
    key = (kernels, function)
    if key not in _IMPLEMENTATIONS:
        _IMPLEMENTATIONS[key] = getattr(kernels, function.__name__, function)
    own: _Function = _IMPLEMENTATIONS[key]
    return own


def transforms() -> Transforms:
    """What JAX knows of trees and of functions."""
    return cast(Transforms, import_module(".jax.transforms", __package__))


def register(cls: type, static: bool = False) -> None:
    """Make dataclass ``cls`` a JAX pytree: its fields are children, but for those marked static, or all static."""
    transforms().register(cls, static)


def is_numpy(x: Array) -> bool:
    """Whether ``x`` is NumPy's, which every library takes in."""
    return kernels(x) is backend("numpy")


def is_masked(x: Any) -> bool:
    """Whether ``x`` is an array of `numpy.ma`, which is not an array with some more: no op here knows of its mask."""
    return isinstance(x, MaskedArray)


def need_plain(x: Any) -> None:
    """Raise where ``x``, or an array of a list of them, has a mask."""
    if is_masked(x) or (isinstance(x, list | tuple) and any(map(is_array, x[:1])) and any(map(is_masked, x))):
        advice = "Pass `x.filled(value)`, and the mask apart; `ra.from_padded` reads one that ends rows."
        raise TypeError(error_text("a plain array", "a masked one", advice))


def is_array(x: Any) -> bool:
    """Whether ``x`` is an array of some library (NumPy scalars are)."""
    return hasattr(x, "shape") and hasattr(x, "dtype")


def common(arrays: Sequence[Array]) -> Kernels:
    """The backend that these arrays meet in: NumPy gives way to the other library, others never mix."""
    numpy = backend("numpy")
    others = {k for k in map(kernels, arrays) if k is not numpy}
    if len(others) > 1:
        names = " and ".join(sorted(k.xp.__name__ for k in others))
        raise TypeError(error_text("arrays of one library", names, "Move one of them first."))
    return others.pop() if others else numpy
