"""The functions of `random`."""

from math import prod
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import entry_counts
from .._signatures import like_second
from .._typing import Array, DType
from ..backends import Kernels, common, generic, implementation, is_array, kernels, kind, namespace
from ..engine.arguments import is_scalar
from ..engine.axes import one_axis
from ..engine.broadcast.rows import move_to
from ..ops.elementwise.arithmetic import add, multiply, subtract
from ..ops.elementwise.logic import less
from ..structure.levels import library, parents, take_entries, take_rows

__all__ = ["bernoulli", "normal", "permutation", "randint", "uniform"]


@like_second
def normal(key: Any, like: Any, *, dtype: DType | None = None) -> Any:
    """Numbers with mean 0 and variance 1: ``[nrows, (len), *inner]``, as ``like``.

    The dtype is that of ``like`` if it is inexact, else the default float.

    >>> normal(np.random.default_rng(0), ragged([[0.0, 0.0], [0.0]])).shape
    (2, None)
    """
    return _draw("normal", key, like, dtype, ("float", "complex"))


@like_second
def uniform(key: Any, like: Any, *, low: Any = 0.0, high: Any = 1.0, dtype: DType | None = None) -> Any:
    """Numbers from ``low`` up to ``high``: ``[nrows, (len), *inner]``, as ``like``.

    The dtype is that of ``like`` if it is floating, else the default float. The bounds may be arrays that broadcast:
    ``low[:, None]`` is one per row.

    >>> uniform(np.random.default_rng(0), ragged([[0.0, 0.0], [0.0]]), low=5.0, high=6.0).shape
    (2, None)
    """
    u = _draw("uniform", key, like, dtype, ("float",))
    if is_scalar(low) and is_scalar(high):
        return u if (low, high) == (0, 1) else add(multiply(u, float(high - low)), float(low))
    return add(multiply(u, subtract(high, low)), low)


@like_second
def bernoulli(key: Any, like: Any, *, p: Any = 0.5) -> Any:
    """True with probability ``p``: bool ``[nrows, (len), *inner]``, as ``like``.

    ``p`` may be an array that broadcasts: ``p[:, None]`` is one per row.

    >>> bernoulli(np.random.default_rng(0), ragged([[0, 0], [0]]), p=1.0).tolist()
    [[True, True], [True]]
    """
    if is_scalar(p) and not 0 <= p <= 1:
        raise ValueError(error_text("a probability from 0 to 1", f"{p}", "Divide by the total."))
    if is_array(p) and not isinstance(p, RaggedArray) and p.size and kernels(p).checking():
        low, high = namespace(p).min(p), namespace(p).max(p)
        text = error_text("probabilities from 0 to 1", "{low} to {high}", "Divide by the total.")
        kernels(low).check((low >= 0) & (high <= 1), text, low=low, high=high)
    return less(_draw("uniform", key, like, None, ("float",)), p)


@like_second
def randint(key: Any, like: Any, *, low: Any, high: Any, dtype: DType | None = None) -> Any:
    """Integers from ``low`` up to, without, ``high``: ``[nrows, (len), *inner]``, as ``like``.

    The dtype is the default integer, not that of ``like``. The bounds are ints (or traced scalars).

    >>> randint(np.random.default_rng(0), ragged([[0, 0], [0]]), low=7, high=8).tolist()
    [[7, 7], [7]]
    """
    k, like = _meet(key, like)
    values = like.values if isinstance(like, RaggedArray) else like
    out = k.dtype("int64" if dtype is None else dtype)
    if kind(out) not in ("int", "uint"):
        raise TypeError(error_text("an integer dtype", f"{out}", "Use `ra.random.uniform`."))
    for bound in (low, high):
        if not isinstance(bound, int) and (
            not is_array(bound) or bound.ndim or kind(bound.dtype) not in ("int", "uint")
        ):
            got = f"shape {tuple(bound.shape)}" if is_array(bound) else repr(bound)
            raise TypeError(error_text("ints as bounds", got, "Scale `ra.random.uniform` instead."))
    if isinstance(low, int) and isinstance(high, int):
        limits = namespace(values).iinfo(out)
        if not int(limits.min) <= low < high <= int(limits.max) + 1:
            got = f"{low} and {high}"
            raise ValueError(error_text(f"low < high within {out}", got, "Pass a larger high=."))
    return _draw("randint", key, like, out, ("int", "uint"), low, high)


def _meet(key: Any, like: Any) -> tuple[Kernels, Any]:
    """``like`` in the library of the key, without slack where that is trimmed."""
    if not (isinstance(like, RaggedArray) or is_array(like)):
        got = type(like).__name__
        raise TypeError(error_text("an array to be like", got, "Pass an array of the wanted shape."))
    values = like.values if isinstance(like, RaggedArray) else like
    k = common([values, key] if is_array(key) else [values])
    implementation(k, generic.generator)(key)  # raises unless it is a key
    if isinstance(like, RaggedArray):
        return k, move_to(k, like).used_values()
    return k, k.asarray(like)


def _draw(how: str, key: Any, like: Any, dtype: DType | None, kinds: tuple[str, ...], *bounds: Any) -> Any:
    k, like = _meet(key, like)
    values = like.values if isinstance(like, RaggedArray) else like
    if dtype is None:
        dtype = values.dtype if kind(values.dtype) in kinds else k.dtype("float64")
    dtype = k.dtype(dtype)
    if kind(dtype) not in kinds:
        raise TypeError(error_text(f"a dtype of kind {kinds[0]}", f"{dtype}", "Pass `dtype=`."))
    static = all(isinstance(b, int) for b in bounds)  # as arguments of a compiled body they would have to fit int32
    bound_options = {"bounds": bounds} if static else {}
    drawn = k.call(_random, key, values, *(() if static else bounds), how=how, dtype=dtype, **bound_options)
    return RaggedArray(drawn, like.partitions) if isinstance(like, RaggedArray) else drawn


def _random(key: Any, values: Array, *traced: Any, how: str, dtype: DType, bounds: tuple[int, ...] = ()) -> Array:
    return implementation(kernels(values), generic.generator)(key).draw(how, values, dtype, *traced, *bounds)


@like_second
def permutation(key: Any, x: Any, *, axis: int = 1) -> Any:
    """The entries along ``axis`` in random order, in each row on its own: same rows, same capacity.

    What lies below the axis moves along: along axis 1 whole items (or whole rows of a deeper level) change places.
    Axis 0 gives the rows in random order. Gradients follow the elements. A plain array is permuted likewise.

    >>> x = permutation(np.random.default_rng(0), ragged([[1, 2, 3], [], [4]]))
    >>> [sorted(row) for row in x.tolist()]
    [[1, 2, 3], [], [4]]
    """
    k, x = _meet(key, x)
    axis = one_axis(axis, x.ndim)
    if not isinstance(x, RaggedArray):
        return k.call(_permuted, key, x, axis=axis)
    if axis > x.ragged_rank:
        return RaggedArray(k.call(_permuted, key, x.values, axis=axis - x.ragged_rank), x.partitions)
    values, partitions = k.call(_permuted_entries, key, x, level=axis)
    return RaggedArray(values, partitions)


def _permuted(key: Any, x: Array, *, axis: int) -> Array:
    xp, lead = namespace(x), tuple(x.shape[: axis + 1])
    size = prod(lead)
    each = xp.reshape(xp.arange(size), lead)
    group = xp.reshape(each // lead[-1] if lead[-1] else each, (-1,))
    generator = implementation(kernels(x), generic.generator)(key)
    order = xp.reshape(generator.shuffle(group), lead) % lead[-1] if size else each
    order = xp.reshape(order, (*lead, *(1,) * (x.ndim - axis - 1)))
    return xp.take_along_axis(x, xp.broadcast_to(order, x.shape), axis=axis)


def _permuted_entries(key: Any, x: RaggedArray, *, level: int) -> tuple[Array, Any]:
    like, counts = library(x.partitions, x.values), entry_counts(x.partitions, x.capacity)
    xp, generator = namespace(like), implementation(x.kernels, generic.generator)(key)
    if level == 0:
        rows = generator.shuffle(xp.zeros((x.nrows,), dtype=like.dtype))
        return take_rows(x.values, x.partitions, rows, counts[1:])
    p = x.partitions[level - 1]
    above = parents(p, counts[level], like)
    index = generator.shuffle(above)  # slack has the largest id, and stays behind
    index = xp.where(above < p.nrows, index, xp.asarray(counts[level], dtype=index.dtype))
    return take_entries(x.values, x.partitions, level, p, index, counts[level + 1 :])
