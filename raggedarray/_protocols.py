"""NumPy's protocols: ``np.exp(x)``, ``np.add(x, y)`` and ``np.sum(x, axis=1)`` find our functions."""

from inspect import Parameter, signature
from typing import Any

from ._errors import complaint

_STANDARD = {
    "absolute": "abs", "amax": "max", "amin": "min", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin",
    "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "around": "round",
    "concatenate": "concat", "conjugate": "conj", "fabs": "abs", "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift", "mod": "remainder", "power": "pow",
    "right_shift": "bitwise_right_shift", "rint": "round", "transpose": "permute_dims", "true_divide": "divide",
}  # fmt: skip
"""NumPy's name of a function -> the standard's, where they differ."""


def _ours(self: Any, name: str) -> Any:
    namespace = self.__array_namespace__()
    ours = _STANDARD.get(name, name)
    for family in (namespace, namespace.special, namespace.linalg, namespace.fft):
        if ours in family.__all__ and callable(getattr(family, ours)):  # `ra.fft` is no function
            return getattr(family, ours)
    raise TypeError(
        complaint(
            f"numpy.{name}",
            "a function that takes ragged arrays",
            f"shape {self.shape}",
            "Use `ra.map_values(f, x)` for a function of the flat values.",
        )
    )


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A ufunc call; ``out=``, ``where=`` and methods such as ``reduce`` have no ragged meaning."""
    name = ufunc.__name__
    if method != "__call__" or kwargs:
        what = f"method {method!r}" if method != "__call__" else ", ".join(f"{k}=" for k in kwargs)
        raise TypeError(complaint(f"numpy.{name}", "a plain call", what, f"Use `ra.{_STANDARD.get(name, name)}`."))
    return _ours(self, name)(*inputs)


_RENAMED = {"ddof": "correction", "a_min": "min", "a_max": "max"}
_FACTS = {"shape": "shape", "ndim": "ndim", "size": "size"}


def array_function(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """A NumPy function of the same name and meaning in this package; NumPy's axes may be positional."""
    name = func.__name__
    if name in _FACTS and len(args) == 1 and not kwargs:
        return getattr(args[0], _FACTS[name])
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
            complaint(f"numpy.{name}", f"options {expected}", what, f"Use `ra.{_STANDARD.get(name, name)}`.")
        )
    return ours(*(v for _, v in positional), **named)
