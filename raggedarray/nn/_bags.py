"""Sums, means and maxima of table entries over rows of ids, and ids as vectors.

A bag is never looked up as a whole: on NumPy a sum or mean is one product with a sparse matrix, on JAX entries are
read and added a block of ids at a time, in the gradient too, so that ``[tokens, item]`` does not exist. (The
gradient of a maximum, and that of weights, does look up all entries.)
"""

from math import prod
from typing import Any, cast

from .._array import RaggedArray, rebuild
from .._errors import error_text
from .._signatures import like_first
from .._typing import Array, DType
from ..backends import Segments, common, generic, implementation, is_half, kernels, kind, namespace
from ..engine.arguments import last_rows, ragged_only, sizes_of
from ..engine.broadcast.rows import move_to
from ..engine.indices import widened
from ..engine.options import operand
from ..structure.agreement import agree_levels
from ..structure.levels import column, composed_splits, library
from ._ids import check_ids, need_ids, never_empty, table_of

__all__ = ["embedding_bag", "one_hot"]


def embedding_bag(ids: Any, table: Array, /, *, mode: str = "mean", weights: Any = None) -> Any:
    """Entries of a table ``[n, *item]`` reduced over each row of ids: ``[nrows, (len)]`` to ``[nrows, *item]``.

    With more ragged axes the innermost rows are the bags: ``[nrows, (len), (len)]`` gives ``[nrows, (len), *item]``.
    ``mode`` is ``"mean"``, ``"sum"`` or ``"max"``; an empty row gives zeros in every one. ``weights``, in the rows of
    the ids, scale the entries of a sum; a mean is then divided by their total (one of 0 gives NaN).

    The dtype is the table's (an integer table's mean the default float), the weights' promoted with it; halves
    accumulate in float32. The gradient of a maximum is shared evenly between equals. Ids outside the table raise
    `IndexError`, or under jit give NaN; ids and weights in slack may be anything.

    >>> table = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> embedding_bag(ragged([[0, 1], [], [1]]), table)
    array([[2. , 3.5],
           [0. , 0. ],
           [3. , 5. ]])
    """
    if mode not in ("mean", "sum", "max"):
        raise ValueError(error_text("mode='mean', 'sum' or 'max'", repr(mode), "Pass one of these."))
    if mode == "max" and weights is not None:
        raise ValueError(error_text("no weights= for a maximum", "some", "Drop them, or take mode='sum'."))
    need_ids(ragged_only(ids))
    table = table_of(table)
    if ids.inner_shape:
        raise ValueError(error_text("ids without inner axes", f"shape {ids.shape}", "Check the axes."))
    k = common([ids.values, table] if weights is None else [ids.values, table, ragged_only(weights).values])
    table = k.asarray(table)
    check_ids(ids, table.shape[0])
    ids = move_to(k, widened(ids, k)).used_values()
    last_rows(ids)
    if weights is not None:
        weights = _weights(ids, move_to(k, weights).used_values())
    values = k.call(_bag, ids, table, weights, mode=mode)
    return rebuild(ids.partitions[:-1], values)


def _weights(ids: RaggedArray, weights: RaggedArray) -> Array:
    """One weight for each slot of the ids."""
    error = ValueError(error_text(f"weights of shape {ids.shape}", f"{weights.shape}", "Pass one per id."))
    if weights.ragged_rank != ids.ragged_rank or weights.inner_shape:
        raise error
    agree_levels(ids.partitions, weights.partitions, error)
    size = ids.capacity
    w = weights.values
    if kind(w.dtype) != "float":
        raise TypeError(error_text("floating weights", f"dtype {w.dtype}", "Convert them."))
    return weights.kernels.call(_sized, w, size=size) if w.shape[0] != size else w


def _sized(w: Array, *, size: int) -> Array:
    xp = namespace(w)
    return xp.concat((w[:size], xp.zeros((max(size - w.shape[0], 0),), dtype=w.dtype)))


def _bag(ids: RaggedArray, table: Array, weights: Array | None, *, mode: str) -> Array:
    table = never_empty(table)
    xp, k = namespace(table), kernels(table)
    splits = composed_splits(ids.partitions[-1:], library(ids.partitions, ids.values))
    num = splits.shape[0] - 1
    item = tuple(table.shape[1:])
    if kind(table.dtype) in ("int", "uint") and (mode == "mean" or weights is not None):
        table = xp.astype(table, k.dtype("float64") if weights is None else weights.dtype)
    out = table.dtype if weights is None else xp.result_type(table, weights)
    flat = xp.reshape(table, (table.shape[0], prod(item)))
    reduced = implementation(k, generic.bag)("max" if mode == "max" else "sum", flat, ids.values, weights, splits)
    lengths = splits[1:] - splits[:-1]
    if mode == "mean" and weights is None:
        reduced = reduced / xp.astype(
            column(xp.where(lengths > 0, lengths, xp.ones_like(lengths)), reduced), reduced.dtype
        )
    elif mode == "mean":
        wide = xp.astype(weights, xp.float32) if is_half(cast(Any, weights).dtype) else weights
        total = k.segment_reduce("sum", cast(Any, wide), Segments(num, splits=splits))
        total = xp.where(lengths == 0, xp.ones_like(total), total)
        total = xp.where(total == 0, xp.asarray(float("nan"), dtype=total.dtype), total)
        reduced = reduced / xp.astype(column(total, reduced), reduced.dtype)
    reduced = xp.where(column(lengths > 0, reduced), reduced, xp.zeros_like(reduced))
    return xp.reshape(xp.astype(reduced, out, copy=False), (num, *item))


@like_first
def one_hot(ids: Any, num_classes: int, /, *, dtype: DType | None = None) -> Any:
    """Ids as vectors with a one: ``[nrows, (len), *inner]`` to ``[nrows, (len), *inner, num_classes]``; same capacity.

    The dtype is the default float unless given. An id that is not from 0 to ``num_classes - 1`` gives zeros. Plain
    arrays too.

    >>> one_hot(ragged([[1, 0], [], [5]]), 3).tolist()
    [[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [], [[0.0, 0.0, 0.0]]]
    """
    need_ids(operand(ids))
    size = sizes_of(num_classes)
    if size < 0:
        raise ValueError(error_text("num_classes of at least 0", f"{size}", "Pass a count."))
    ids = widened(ids)
    x = move_to(ids.kernels, ids).used_values() if isinstance(ids, RaggedArray) else ids
    values = x.values if isinstance(x, RaggedArray) else x
    k = kernels(values)
    hot = k.call(_one_hot, values, size=size, dtype=k.dtype("float64" if dtype is None else dtype))
    return RaggedArray(hot, x.partitions) if isinstance(x, RaggedArray) else hot


def _one_hot(ids: Array, *, size: int, dtype: DType) -> Array:
    xp = namespace(ids)
    classes = xp.reshape(xp.arange(size, dtype=ids.dtype), (*(1,) * ids.ndim, size))
    return xp.astype(ids[..., None] == classes, dtype)
