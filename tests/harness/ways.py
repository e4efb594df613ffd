"""The ways every op is run: each backend, eager or jitted, with poisoned slack or without."""

from collections.abc import Callable
from typing import Any

import array_api_strict
import jax
import numpy as np

import raggedarray as ra
from raggedarray import RaggedArray

from .programs import jitted


class Way:
    """One way to run an op: a backend, eager or jitted, with or without poisoned slack."""

    def __init__(self, name: str, slack: int, fill: str = "nan") -> None:
        self.name, self.slack, self.fill = name, slack, fill
        self.jax = name.startswith("jax")

    def arrays(self, x: Any) -> Any:
        """A NumPy operand as this way has it; RaggedArrays get slack, up to few sizes, so that little compiles."""
        if not isinstance(x, RaggedArray):
            return self.dense(x)
        if self.slack:
            entries = (*(p.nrows for p in x.partitions[1:]), x.capacity)
            x = ra.with_capacity(x, tuple(-(-(n + self.slack) // 16) * 16 for n in entries))
        x = ra.testing.poison(x, fill=self.fill) if self.slack else x
        if self.jax:
            entries = (*(p.nrows for p in x.partitions[1:]), x.capacity)
            return ra.asarray(x, xp="jax", capacity=entries)
        read_only(x.values)
        return strict(x) if self.name == "strict" else x

    def dense(self, x: Any) -> Any:
        if self.jax and isinstance(x, np.ndarray | np.generic):
            return jax.numpy.asarray(x)
        if self.name == "strict" and isinstance(x, np.ndarray | np.generic):
            return array_api_strict.asarray(np.asarray(x))
        return x

    def run(self, key: Any, f: Callable[..., Any], *args: Any) -> Any:
        """``f(*args)``; jitted ways keep one compiled function per key."""
        return (jitted(key, f) if self.name == "jax-jit" else f)(*args)

    def __repr__(self) -> str:
        return f"{self.name}-{self.fill if self.slack else 'exact'}"


def strict(x: RaggedArray) -> RaggedArray:
    """The same in array-api-strict."""
    asarray = array_api_strict.asarray
    return RaggedArray(asarray(x.values), tuple(p.map_arrays(asarray) for p in x.partitions))


def on_jax(x: RaggedArray, capacity: int | tuple[int, ...]) -> RaggedArray:
    """The same on JAX, over so many slots; slack is poisoned."""
    return ra.testing.poison(ra.asarray(x, xp="jax", capacity=capacity))


def read_only(a: np.ndarray) -> None:
    if isinstance(a, np.ndarray) and a.base is None:
        a.flags.writeable = False


WAYS = [Way("numpy", 0), Way("numpy", 3), Way("strict", 2), Way("jax-eager", 3), Way("jax-jit", 3, "inf")]
