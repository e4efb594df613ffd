"""Products and lookups with dense parameters, whose gradients contract over the flat axis.

Slack reaches neither a weight, a bias, a table nor their gradients: both factors are masked in the gradient
rules, and the forward pass of `linear` stays one unmasked matrix product.
"""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._signatures import like_first
from .._typing import Array
from ..backends import Segments, common, generic, implementation, kernels, namespace
from ..engine.broadcast.rows import move_to, to_common_backend
from ..engine.indices import widened
from ..engine.options import operand, plain_only
from ..engine.packing import contiguous
from ..structure.levels import composed_splits, library, used_slots
from ..structure.sizes import flat_rows
from ._ids import check_ids, need_ids, never_empty, table_of

__all__ = ["embedding", "linear"]


@like_first
def linear(x: Any, weight: Array, bias: Array | None = None, /) -> Any:
    """``x @ weight + bias``: ``[nrows, (len), *inner, in]`` to ``[nrows, (len), *inner, out]``.

    The weight is ``[in, out]``, the bias ``[out]``: one matrix product over the flat values; same capacity.
    With a weight ``[nrows, in, out]`` and a bias ``[nrows, out]`` each row has its own; so it has with lists of them,
    which are stacked. Components that vary in several axes are packed first.

    >>> linear(ragged([[[1.0, 2.0]], []], item_shape=(None, 2)), np.eye(2), np.ones(2)).tolist()
    [[[2.0, 3.0]], []]
    """
    operand(x)
    weight, bias = _stacked(weight), _stacked(bias)
    plain_only("a weight of shape (in, out)", weight)
    if bias is not None:
        plain_only("a bias of shape (out,)", bias)
    _, operands = to_common_backend((x, weight) if bias is None else (x, weight, bias))
    x, weight, *rest = operands
    bias = rest[0] if rest else None
    per_row = isinstance(x, RaggedArray) and weight.ndim == 3
    _check_linear(x, weight, bias, per_row)
    if not isinstance(x, RaggedArray):
        return implementation(kernels(x), generic.pointwise)(_affine, (x, weight, bias), {}, single=False)
    x, body = contiguous(x), _per_row if per_row else _linear
    return RaggedArray(x.kernels.call(body, x, weight, bias), x.partitions)


def _affine(x: Array, weight: Array, bias: Array | None) -> Array:
    return x @ weight if bias is None else x @ weight + bias


def _stacked(parameter: Any) -> Any:
    """One array from one parameter per row."""
    if not isinstance(parameter, list | tuple) or not parameter:
        return parameter
    for p in parameter:
        plain_only("a list of parameters, one array per row", p)
    shapes = sorted({tuple(p.shape) for p in parameter})
    if len(shapes) > 1:
        got, advice = f"{shapes[0]} and {shapes[1]}", "Pad them, or call it for each row."
        raise ValueError(error_text("parameters of one shape", got, advice))
    return namespace(parameter[0]).stack(list(parameter))


def _check_linear(x: Any, weight: Array, bias: Array | None, per_row: bool) -> None:
    inner = x.inner_shape if isinstance(x, RaggedArray) else x.shape
    if not inner:
        block = isinstance(x, RaggedArray) and x.block is not None
        advice = "Use `ra.to_rows(x)` first." if block else "Use `x @ weight` for matrices."
        raise ValueError(error_text("values with an inner axis", f"shape {x.shape}", advice))
    lead = (x.nrows,) if per_row else ()
    shape = tuple(weight.shape)
    if len(shape) != 2 + len(lead) or shape[:-1] != (*lead, inner[-1]):
        want = ", ".join(map(str, (*lead, inner[-1])))
        raise ValueError(error_text(f"a weight of shape ({want}, out)", f"{shape}", "Check the axes."))
    if bias is not None and tuple(bias.shape) != (*lead, shape[-1]):
        got = f"{tuple(bias.shape)}"
        raise ValueError(error_text(f"a bias of shape {(*lead, shape[-1])}", got, "Check the axes."))


def _linear(x: RaggedArray, weight: Array, bias: Array | None) -> Array:
    if bias is not None:
        bias = x.xp.reshape(bias, (*(1,) * len(x.inner_shape), bias.shape[0]))
    return implementation(x.kernels, generic.linear)(x.values, weight, bias, used_slots(flat_rows(x.partitions)))


def _per_row(x: RaggedArray, weight: Array, bias: Array | None) -> Array:
    splits = composed_splits(flat_rows(x.partitions), library(x.partitions, x.values))
    out = implementation(x.kernels, generic.grouped_matmul)(x.values, weight, splits)
    if bias is None:
        return out
    bias = x.xp.reshape(bias, (bias.shape[0], *(1,) * (len(x.inner_shape) - 1), bias.shape[1]))
    return out + implementation(x.kernels, generic.spread)(bias, Segments(x.nrows, splits=splits), x.capacity)


@like_first
def embedding(ids: Any, table: Array, /) -> Any:
    """Rows of ``table`` by id: integers ``[nrows, (len), *inner]`` to ``[nrows, (len), *inner, *item]``.

    The table is ``[n, *item]``. Same capacity. Ids must be from 0 to ``n - 1``; others raise `IndexError`,
    or under jit give NaN (of integer tables the lowest signed or highest unsigned
    integer). Ids in slack may be anything.

    >>> embedding(ragged([[1, 0], []]), np.array([[1.0], [2.0]])).tolist()
    [[[2.0], [1.0]], []]
    """
    need_ids(operand(ids))
    table = table_of(table)
    k = common([ids.values if isinstance(ids, RaggedArray) else ids, table])
    table = k.asarray(table)
    check_ids(contiguous(ids) if isinstance(ids, RaggedArray) else ids, table.shape[0])
    ids = widened(ids, k)
    if not isinstance(ids, RaggedArray):
        return k.call(_embedding_plain, k.asarray(ids), table)
    ids = contiguous(move_to(k, ids).used_values())
    return RaggedArray(k.call(_embedding, ids, table), ids.partitions)


def _embedding(ids: RaggedArray, table: Array) -> Array:
    used = used_slots(flat_rows(ids.partitions))
    return implementation(ids.kernels, generic.embedding)(never_empty(table), ids.values, used)


def _embedding_plain(ids: Array, table: Array) -> Array:
    flat = namespace(ids).reshape(ids, (-1,))
    used = namespace(ids).asarray(flat.shape[0], dtype=namespace(ids).int32)
    vectors = implementation(kernels(table), generic.embedding)(never_empty(table), flat, used)
    return namespace(table).reshape(vectors, (*ids.shape, *table.shape[1:]))
