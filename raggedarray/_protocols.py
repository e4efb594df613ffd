"""Python's operators and NumPy's protocols: ``x + y``, ``np.exp(x)``, ``np.sum(x, axis=1)`` find our functions.

What has no ragged meaning says where to go instead: `raggedarray._refusals`.
"""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, Protocol, TypeVar

from ._errors import error_text
from ._names import STANDARD, counterpart
from ._refusals import saving
from .backends import is_array


def _ours(self: Any, name: str) -> Any:
    found, function = counterpart(self.__array_namespace__(), name)
    if found:
        return function
    if name.startswith("save"):
        raise TypeError(error_text("plain arrays", f"shape {self.shape}", saving(self), op=f"numpy.{name}"))
    raise TypeError(
        error_text(
            "a function that takes ragged arrays",
            f"shape {self.shape}",
            "Use `ra.map_components(f, x)`, or `ra.map_values(f, x)` if it is elementwise.",
            op=f"numpy.{name}",
        )
    )


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A ufunc call; ``out=``, ``where=`` and methods such as ``reduce`` have no ragged meaning."""
    name = ufunc.__name__
    if method != "__call__" or kwargs:
        what = f"method {method!r}" if method != "__call__" else ", ".join(f"{k}=" for k in kwargs)
        raise TypeError(error_text("a plain call", what, f"Use `ra.{STANDARD.get(name, name)}`.", op=f"numpy.{name}"))
    return _ours(self, name)(*inputs)


_RENAMED = {"ddof": "correction", "a_min": "min", "a_max": "max"}
_FACTS = {"shape": "shape", "ndim": "ndim", "size": "size"}


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function of the same name and meaning in this package; NumPy's axes may be positional."""
    name = func.__name__
    if name in _FACTS and len(args) == 1 and not kwargs:
        return getattr(args[0], _FACTS[name])
    if name == "transpose" and (*args[1:], kwargs.get("axes")) in ((None,), (None, None)):
        args, kwargs = (args[0], tuple(range(args[0].ndim))[::-1]), {}
    ours = _ours(self, name)
    try:
        theirs = signature(func)
    except ValueError:  # functions of C have no signature, and no options
        return ours(*args, **kwargs)
    if any(p.kind is p.VAR_POSITIONAL for p in theirs.parameters.values()):
        return ours(*args, **kwargs)
    given = theirs.bind(*args, **kwargs).arguments
    wanted = signature(ours).parameters
    count = sum(p.kind is p.POSITIONAL_ONLY for p in wanted.values())
    positional = list(given.items())[:count]
    named = {_RENAMED.get(k, k): v for k, v in list(given.items())[count:] if not (k == "out" and v is None)}
    unknown = [k for k in named if k not in wanted]
    if unknown or (name == "take" and "axis" not in named):
        what = f"{unknown[0]}=" if unknown else "no axis="
        expected = ", ".join(p for p in wanted if wanted[p].kind is not Parameter.POSITIONAL_ONLY) or "none"
        raise TypeError(
            error_text(f"options {expected}", what, f"Use `ra.{STANDARD.get(name, name)}`.", op=f"numpy.{name}")
        )
    return ours(*(v for _, v in positional), **named)


S = TypeVar("S")


S_co = TypeVar("S_co", covariant=True)


class Update(Protocol[S_co]):
    """``x.at[key]``: what changes, or reads, the elements of a key."""

    def get(self, *, fill_value: Any = None) -> Any: ...
    def set(self, values: Any) -> S_co: ...
    def add(self, values: Any) -> S_co: ...
    def multiply(self, values: Any) -> S_co: ...
    def min(self, values: Any) -> S_co: ...
    def max(self, values: Any) -> S_co: ...


class Updates(Protocol[S_co]):
    """``x.at``."""

    def __getitem__(self, key: Any) -> Update[S_co]: ...


def unary(name: str) -> Callable[[S], S]:
    """An operator in front of an array, whose result is an array of the same class."""

    def signed(self: Any) -> Any:
        return getattr(self.__array_namespace__(), name)(self)

    return signed


def forward(name: str) -> Callable[[S, Any], S]:
    """An operator of an array and any other operand; other classes get their turn."""

    def operator(self: Any, other: Any) -> Any:
        return getattr(self.__array_namespace__(), name)(self, other) if is_operand(other) else NotImplemented

    return operator


def reflected(name: str) -> Callable[[S, Any], S]:
    """The same with the array on the right."""

    def operator(self: Any, other: Any) -> Any:
        return getattr(self.__array_namespace__(), name)(other, self) if is_operand(other) else NotImplemented

    return operator


def comparison(name: str) -> Callable[[S, Any], S]:
    """A comparison, which no other class gets."""

    def operator(self: Any, other: Any) -> Any:
        return getattr(self.__array_namespace__(), name)(self, other)

    return operator


class Comparison(Protocol):
    """``==`` and ``!=``, which Python says are bools."""

    def __get__(self, x: S, owner: Any = None, /) -> Callable[[Any], S]: ...


def is_operand(x: object) -> bool:
    """Whether an operator takes ``x``; other classes get their turn."""
    return is_array(x) or isinstance(x, bool | int | float | complex)


class Operators:
    """Python's operators, each of them a function of the namespace that an array names.

    Their results are ragged, whatever the other operand is; products may be plain.
    """

    __slots__ = ()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        raise NotImplementedError

    __add__ = forward("add")
    __radd__ = reflected("add")
    __sub__ = forward("subtract")
    __rsub__ = reflected("subtract")
    __mul__ = forward("multiply")
    __rmul__ = reflected("multiply")
    __truediv__ = forward("divide")
    __rtruediv__ = reflected("divide")
    __floordiv__ = forward("floor_divide")
    __rfloordiv__ = reflected("floor_divide")
    __mod__ = forward("remainder")
    __rmod__ = reflected("remainder")
    __pow__ = forward("pow")
    __rpow__ = reflected("pow")
    __and__ = forward("bitwise_and")
    __rand__ = reflected("bitwise_and")
    __or__ = forward("bitwise_or")
    __ror__ = reflected("bitwise_or")
    __xor__ = forward("bitwise_xor")
    __rxor__ = reflected("bitwise_xor")
    __lshift__ = forward("bitwise_left_shift")
    __rlshift__ = reflected("bitwise_left_shift")
    __rshift__ = forward("bitwise_right_shift")
    __rrshift__ = reflected("bitwise_right_shift")
    __eq__: Comparison = comparison("equal")  # type: ignore[assignment]
    __ne__: Comparison = comparison("not_equal")  # type: ignore[assignment]
    __lt__ = comparison("less")
    __le__ = comparison("less_equal")
    __gt__ = comparison("greater")
    __ge__ = comparison("greater_equal")

    __neg__ = unary("negative")
    __pos__ = unary("positive")
    __abs__ = unary("abs")
    __invert__ = unary("bitwise_invert")

    def __matmul__(self, other: Any) -> Any:
        return self.__array_namespace__().matmul(self, other) if is_operand(other) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        return self.__array_namespace__().matmul(other, self) if is_operand(other) else NotImplemented
