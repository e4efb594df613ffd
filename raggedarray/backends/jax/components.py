"""Functions of single components, and sums of products, on JAX."""

from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp

from ..._typing import Array
from .._dtypes import is_half
from .._protocol import ComponentFunction


class _Mapped:
    def __init__(self, f: Callable[..., Any]) -> None:
        self._f = f

    def shapes(self, shapes: list[tuple[int, ...]], like: list[Array], /) -> tuple[list[tuple[int, ...]], Any]:
        samples = (cast(Any, jax).ShapeDtypeStruct(n, x.dtype) for n, x in zip(shapes, like, strict=True))
        leaves, structure = jax.tree.flatten(jax.eval_shape(self._f, *samples))
        return [tuple(x.shape) for x in leaves], structure

    def __call__(self, *stacks: Array) -> tuple[list[Array], Any]:
        return jax.tree.flatten(jax.vmap(self._f)(*stacks))


def component_function(f: Callable[..., Any], /) -> ComponentFunction:
    return _Mapped(f)


def einsum(letters: str, /, *arrays: Array) -> Array:
    """Halves are multiplied as they are and summed in float32."""
    half = all(is_half(a.dtype) for a in arrays)
    return jnp.einsum(letters, *arrays, preferred_element_type=jnp.float32 if half else None)
