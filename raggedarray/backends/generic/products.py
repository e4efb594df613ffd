"""Products and lookups; what contracts over slots has a gradient rule of its own where there is slack."""

from itertools import pairwise
from typing import Any

from ..._typing import Array
from .._dtypes import is_half
from .._find import kernels, namespace
from .._protocol import Reduction, Segments


def linear(x: Array, weight: Array, bias: Array | None, used: Array, /) -> Array:
    """``x @ weight + bias``; gradients ignore positions at ``used`` and after."""
    xp = namespace(x)
    out = xp.matmul(x, weight)
    return out if bias is None else out + bias


def grouped_matmul(x: Array, weights: Array, splits: Array, /) -> Array:
    """``x[rows of i] @ weights[i]`` for each row ``i``; 0 past the last split."""
    xp = namespace(x)
    ends = [int(s) for s in splits]
    parts = [xp.matmul(x[a:b, ...], weights[i, ...]) for i, (a, b) in enumerate(pairwise(ends))]
    empty = xp.zeros((0, *x.shape[1:-1], weights.shape[-1]), dtype=xp.result_type(x, weights))
    return xp.concat((empty, *parts))


def embedding(table: Array, ids: Array, used: Array, /) -> Array:
    """``table[ids]``; ids past ``used`` may be anything, an id outside the table gives NaN."""
    xp = namespace(table)
    flat = xp.take(table, xp.reshape(ids, (-1,)), axis=0)
    return xp.reshape(flat, (*ids.shape, *table.shape[1:]))


def bag(how: Reduction, table: Array, ids: Array, weights: Array | None, splits: Array, /) -> Array:
    """Entries of a table ``[n, item]`` by id, weighted, reduced over rows: ``[nrows, item]``; halves in float32.

    An id outside the table gives NaN, one in slack may be anything.
    """
    xp = namespace(table)
    entries = xp.take(table, ids, axis=0)
    if is_half(entries.dtype):
        entries = xp.astype(entries, xp.float32)
    if weights is not None:
        entries = entries * xp.astype(weights, entries.dtype)[:, None]
    return kernels(table).segment_reduce(how, entries, Segments(splits.shape[0] - 1, splits=splits))


def contract(x: Array, w: Array, /) -> Array:
    """``x @ w``, of halves in float32."""
    xp = namespace(x)
    both = xp.result_type(x, w)
    wide = xp.float32 if is_half(both) else both
    return xp.matmul(xp.astype(x, wide, copy=False), xp.astype(w, wide, copy=False))


def einsum(letters: str, /, *arrays: Array) -> Array:
    """Sum of products, by letters; of halves in float32."""
    xp = namespace(arrays[0])
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
    xp = namespace(a)
    for letter in set(term):
        while term.count(letter) > 1:
            i, j = term.index(letter), term.rindex(letter)
            a = xp.linalg.diagonal(xp.moveaxis(a, (i, j), (-2, -1)))
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + letter
    return term, a
