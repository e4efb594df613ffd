"""Functions of single components, and sums of products, on JAX."""

from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp

from ..._typing import Array
from .._dtypes import is_half


def each(f: Callable[..., Any], /) -> Callable[..., tuple[list[Array], Any]]:
    def of_stacks(*stacks: Array) -> tuple[list[Array], Any]:
        return jax.tree.flatten(jax.vmap(f)(*stacks))

    return of_stacks


def result_shapes(
    f: Callable[..., Any], shapes: list[tuple[int, ...]], like: list[Array], /
) -> tuple[list[tuple[int, ...]], Any]:
    given = (cast(Any, jax).ShapeDtypeStruct(n, x.dtype) for n, x in zip(shapes, like, strict=True))
    leaves, structure = jax.tree.flatten(jax.eval_shape(f, *given))
    return [tuple(x.shape) for x in leaves], structure


def einsum(letters: str, /, *arrays: Array) -> Array:
    """Halves are multiplied as they are and summed in float32."""
    half = all(is_half(a.dtype) for a in arrays)
    return jnp.einsum(letters, *arrays, preferred_element_type=jnp.float32 if half else None)


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Any]:
    """Leaves and structure of a pytree."""
    return jax.tree.flatten(tree, is_leaf=is_leaf)


def unflatten(structure: Any, leaves: list[Any]) -> Any:
    """The pytree of this structure."""
    return jax.tree.unflatten(structure, leaves)
