"""Functions of single components, and sums of products, in the bare array API standard."""

from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from ..._errors import error_text
from ..._typing import Array
from .._dtypes import is_half
from .._find import backend


def each(f: Callable[..., Any], /) -> Callable[..., tuple[list[Array], Any]]:
    tree: Any = backend("jax")

    def of_stacks(*stacks: Array) -> tuple[list[Array], Any]:
        made: list[list[Any]] = []
        structure: Any = None
        for i in range(stacks[0].shape[0]):
            leaves, structure = tree.flatten(f(*(s[i, ...] for s in stacks)), None)
            xp = array_namespace(stacks[0])
            if made and len(leaves) != len(made[0]):
                got = f"{len(made[0])} and {len(leaves)} results"
                raise TypeError(error_text("a function that gives arrays", got, "Return arrays.", op="map_components"))
            made.append([x if hasattr(x, "shape") else xp.asarray(x) for x in leaves])
        xp = array_namespace(stacks[0])
        return [xp.stack([xp.asarray(x) for x in column]) for column in zip(*made, strict=True)], structure

    return of_stacks


def result_shapes(
    f: Callable[..., Any], shapes: list[tuple[int, ...]], like: list[Array], /
) -> tuple[list[tuple[int, ...]], Any]:
    tree: Any = backend("jax")
    leaves, structure = tree.flatten(f(*(_sample(n, x) for n, x in zip(shapes, like, strict=True))), None)
    return [tuple(getattr(x, "shape", ())) for x in leaves], structure


def _sample(shape: tuple[int, ...], like: Array) -> Array:
    """Ones, and twos on the diagonal: a matrix that can be inverted and has a square root."""
    xp = array_namespace(like)
    if like.dtype == xp.bool:
        return xp.ones(shape, dtype=xp.bool)
    ones = xp.ones(shape, dtype=like.dtype)
    return ones if len(shape) < 2 else ones + xp.eye(shape[-2], shape[-1], dtype=like.dtype)


def einsum(letters: str, /, *arrays: Array) -> Array:
    xp = array_namespace(*arrays)
    terms, out = letters.split("->")
    order = out + "".join(sorted(set(terms) - set(out) - {","}))
    dtype = xp.result_type(*arrays)
    wide = xp.float32 if is_half(dtype) else dtype
    product: Any = None
    for term, a in zip(terms.split(","), arrays, strict=True):
        term, a = _diagonals(term, xp.astype(a, wide, copy=False))
        places = [order.index(letter) for letter in term]
        a = xp.permute_dims(a, tuple(sorted(range(len(term)), key=places.__getitem__)))
        sizes = iter(a.shape)
        a = xp.reshape(a, tuple(next(sizes) if letter in term else 1 for letter in order))
        product = a if product is None else product * a
    summed = tuple(range(len(out), len(order)))
    return xp.sum(product, axis=summed, dtype=wide) if summed else product


def _diagonals(term: str, a: Array) -> tuple[str, Array]:
    """One axis for a letter that a term has twice."""
    xp = array_namespace(a)
    for letter in set(term):
        while term.count(letter) > 1:
            i, j = term.index(letter), term.rindex(letter)
            a = xp.linalg.diagonal(xp.moveaxis(a, (i, j), (-2, -1)))
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + letter
    return term, a
