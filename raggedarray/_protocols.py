"""Python's operators and NumPy's protocols: ``x + y``, ``np.exp(x)``, ``np.sum(x, axis=1)`` find our functions.

What has no ragged meaning says where to go instead: `raggedarray._refusals`.
"""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

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


def binary(name: str) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """An operator and its reflection; both leave other classes their turn."""

    def forward(self: Any, other: Any) -> Any:
        return getattr(self.__array_namespace__(), name)(self, other) if is_operand(other) else NotImplemented

    def reflected(self: Any, other: Any) -> Any:
        return getattr(self.__array_namespace__(), name)(other, self) if is_operand(other) else NotImplemented

    return forward, reflected


def comparison(name: str) -> Callable[[Any, Any], Any]:
    """A comparison operator."""
    return lambda self, other: getattr(self.__array_namespace__(), name)(self, other)


def is_operand(x: object) -> bool:
    """Whether an operator takes ``x``; other classes get their turn."""
    return is_array(x) or isinstance(x, bool | int | float | complex)


class Operators:
    """Python's operators, each of them a function of the namespace that an array names."""

    __slots__ = ()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        raise NotImplementedError

    __add__, __radd__ = binary("add")
    __sub__, __rsub__ = binary("subtract")
    __mul__, __rmul__ = binary("multiply")
    __truediv__, __rtruediv__ = binary("divide")
    __floordiv__, __rfloordiv__ = binary("floor_divide")
    __mod__, __rmod__ = binary("remainder")
    __pow__, __rpow__ = binary("pow")
    __and__, __rand__ = binary("bitwise_and")
    __or__, __ror__ = binary("bitwise_or")
    __xor__, __rxor__ = binary("bitwise_xor")
    __matmul__, __rmatmul__ = binary("matmul")
    __lshift__, __rlshift__ = binary("bitwise_left_shift")
    __rshift__, __rrshift__ = binary("bitwise_right_shift")
    __eq__ = comparison("equal")
    __ne__ = comparison("not_equal")
    __lt__ = comparison("less")
    __le__ = comparison("less_equal")
    __gt__ = comparison("greater")
    __ge__ = comparison("greater_equal")

    def __neg__(self) -> Any:
        return self.__array_namespace__().negative(self)

    def __pos__(self) -> Any:
        return self.__array_namespace__().positive(self)

    def __abs__(self) -> Any:
        return self.__array_namespace__().abs(self)

    def __invert__(self) -> Any:
        return self.__array_namespace__().bitwise_invert(self)
