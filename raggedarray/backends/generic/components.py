"""Functions of single components, one after the other."""

from collections.abc import Callable
from typing import Any

from ..._errors import error_text
from ..._typing import Array
from .._find import kernels, namespace, transforms
from .._protocol import ComponentFunction


class InTurn:
    """A function that is called for one component after the other, and on ones to see what shapes it gives."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f

    def shapes(self, shapes: list[tuple[int, ...]], like: list[Array], /) -> tuple[list[tuple[int, ...]], Any]:
        samples = (_sample(n, x) for n, x in zip(shapes, like, strict=True))
        leaves, structure = transforms().flatten(self._f(*samples))
        return [tuple(getattr(x, "shape", ())) for x in leaves], structure

    def __call__(self, *stacks: Array) -> tuple[list[Array], Any]:
        xp, k = namespace(stacks[0]), kernels(stacks[0])
        results: list[list[Any]] = []
        structure: Any = None
        for i in range(stacks[0].shape[0]):
            leaves, structure = transforms().flatten(self._f(*(s[i, ...] for s in stacks)))
            if results and len(leaves) != len(results[0]):
                got = f"{len(results[0])} and {len(leaves)} results"
                raise TypeError(error_text("a function that gives arrays", got, "Return arrays.", op="map_components"))
            results.append([x if hasattr(x, "shape") else xp.asarray(x) for x in leaves])
        return [xp.stack([k.asarray(x) for x in column]) for column in zip(*results, strict=True)], structure


def component_function(f: Callable[..., Any], /) -> ComponentFunction:
    """``f`` of single components as a function of stacks of them, which can tell the shapes of its results."""
    return InTurn(f)


def _sample(shape: tuple[int, ...], like: Array) -> Array:
    """Ones, and twos on the diagonal: a matrix that can be inverted and has a square root."""
    xp = namespace(like)
    if like.dtype == xp.bool:
        return xp.ones(shape, dtype=xp.bool)
    ones = xp.ones(shape, dtype=like.dtype)
    return ones if len(shape) < 2 else ones + xp.eye(shape[-2], shape[-1], dtype=like.dtype)
