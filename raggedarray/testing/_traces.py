"""How often a function is traced."""

from collections.abc import Callable
from functools import wraps
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
Y = TypeVar("Y")


class Traced(Generic[P, Y]):
    """A function that counts its own calls: under ``jax.jit`` these are its traces."""

    def __init__(self, f: Callable[P, Y]) -> None:
        self.count = 0
        self._f = f
        wraps(f)(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Y:
        """Count, then call."""
        self.count += 1
        return self._f(*args, **kwargs)


def count_traces(f: Callable[P, Y], /) -> Traced[P, Y]:
    """Wrap ``f`` before it is jitted; ``.count`` is then the number of times it was traced.

    ``jit(f)._cache_size()`` is shared between jits of one function and misleads.

    >>> import jax
    >>> f = count_traces(lambda x: sum(x, axis=1))
    >>> g = jax.jit(f)
    >>> _ = g(ragged([[1.0], [2.0, 3.0]], xp="jax")), g(ragged([[1.0, 2.0], []], xp="jax"))
    >>> f.count
    1
    """
    return Traced(f)
