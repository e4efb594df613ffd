"""Choosing between operands, and functions of the flat values: the elementwise ops that are no formula."""

from collections.abc import Callable
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._signatures import like_first, like_operands
from ..._typing import Array, DType
from ...backends import generic, implementation, is_array, is_numpy, kernels, namespace
from ...engine.arguments import is_scalar
from ...engine.broadcast.rows import BroadcastPlan, lay_out, plan, to_common_backend
from ...engine.elementwise import elementwise
from ...engine.options import check_bool
from ...engine.overflow import fill_unless
from ...engine.packing import contiguous, of_one_kind
from ...structure.agreement import agree_partitions
from ...structure.levels import column

__all__ = ["aligned", "astype", "clip", "map_values", "where"]


@like_operands
def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    """``x1`` where ``condition`` holds, else ``x2``; the three broadcast together.

    Capacity and rows are those of the operand with the most ragged axes.

    >>> x = ragged([[1.0, -2.0], [3.0]])
    >>> where(x > 0, x, 0.0).tolist()
    [[1.0, 0.0], [3.0]]
    """
    return elementwise(_where, condition, x1, x2)


def _where(condition: Any, x1: Any, x2: Any) -> Array:
    xp = namespace(next(x for x in (condition, x1, x2) if not is_scalar(x)))
    if is_scalar(condition):
        condition = xp.asarray(condition)
    if is_scalar(x1) and is_scalar(x2):
        x1 = xp.asarray(x1)
    return xp.where(condition, x1, x2)


@like_first
def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """``x`` limited to ``[min, max]``; a limit of None is none. NaN stays; dtypes promote as in arithmetic.

    >>> clip(ragged([[1.0, -2.0], [3.0]]), 0.0, 2.0).tolist()
    [[1.0, 0.0], [2.0]]
    """
    if min is None and max is None:
        return elementwise("positive", x)
    if max is None:
        return elementwise(_clip_below, x, min)
    if min is None:
        return elementwise(_clip_above, x, max)
    return elementwise(_clip, x, min, max)


def _clip(x: Array, low: Any, high: Any) -> Array:
    return _clip_above(_clip_below(x, low), high)


def _clip_below(x: Any, low: Any) -> Array:
    return namespace(low if is_scalar(x) else x).maximum(x, low)


def _clip_above(x: Any, high: Any) -> Array:
    return namespace(high if is_scalar(x) else x).minimum(x, high)


@like_first
def astype(x: Any, dtype: DType, /, *, copy: bool = True, device: Any = None) -> Any:
    """The values in another dtype (or its name): same shape, same capacity.

    >>> astype(ragged([[1, 2], [3]]), "float32").dtype
    dtype('float32')
    """
    if device is not None:
        raise ValueError(error_text("device=None", repr(device), "Move with `ra.asarray` or `jax.device_put`."))
    if not isinstance(x, RaggedArray):
        return namespace(x).astype(x, kernels(x).dtype(dtype), copy=copy)
    x = x.used_values()
    values = x.kernels.call(_astype, x.values, dtype=x.kernels.dtype(dtype), copy=copy)
    return RaggedArray(values, x.partitions)


def _astype(values: Array, *, dtype: DType, copy: bool) -> Array:
    return namespace(values).astype(values, dtype, copy=copy)


def map_values(f: Callable[..., Array], *xs: Any, masked: bool = False) -> RaggedArray:
    """``f`` of the flat values ``[capacity, *inner]`` of every operand, laid out over the same slots.

    Use it for any function of single elements or of inner axes, as a layer of another library is. ``f`` must keep the
    first axis, and sees slack, whose content is unspecified, except on NumPy. Capacity and rows are those of the
    operand with the most ragged axes.

    ``masked=True`` keeps slack out of ``f`` and of the gradients of what ``f`` holds, its weights: in slack ``f`` sees
    a copy of a used slot (1 where no slot is used), through which no gradient passes, and the result is 0. Zeros
    would not do, since ``log(w * 0)`` has no finite gradient.

    >>> map_values(np.cbrt, ragged([[1.0, 8.0], []])).tolist()
    [[1.0, 2.0], []]
    >>> x = ra.testing.poison(ragged([[1.0, 8.0], []], xp="jax"), slack=2)
    >>> np.asarray(map_values(np.negative, x, masked=True).values)[:4]
    array([-1., -8.,  0.,  0.], dtype=float32)
    """
    if not any(isinstance(x, RaggedArray) for x in xs):
        raise TypeError(error_text("at least one RaggedArray", "none", "Call the function itself."))
    k, moved = to_common_backend(xs)
    met = plan(moved)
    t = met.template
    masked = check_bool("masked", masked) and not k.has_exact_sizes
    laid_out = len(xs) > 1 or masked
    operands = k.call(_laid_out, t, *met.operands, states=met.states, masked=masked) if laid_out else [t.values]
    values = f(*operands)
    if is_array(values) and not is_numpy(t.values):
        values = k.asarray(values)
    if getattr(values, "shape", ())[:1] != (t.capacity,):
        got = f"shape {getattr(values, 'shape', None)}"
        raise ValueError(error_text(f"a result of {t.capacity} slots", got, "Keep the first axis."))
    values = k.call(_zero_in_slack, values, t) if masked else values
    return RaggedArray(fill_unless(values, met.ok), t.partitions)


def _laid_out(template: RaggedArray, *operands: Any, states: Any, masked: bool) -> list[Any]:
    laid = lay_out(BroadcastPlan(template, operands, states))
    if not masked:
        return laid
    return [x if state is None else _used_in_slack(x, template) for x, state in zip(laid, states, strict=True)]


def _used_in_slack(values: Array, t: RaggedArray) -> Array:
    xp = namespace(values)
    values = xp.broadcast_to(values, (t.capacity, *values.shape[1:]))
    used = column(t.used_mask(), values)
    sample = xp.where(used[:1, ...], values[:1, ...], xp.ones_like(values[:1, ...]))  # slots are used from the first on
    return xp.where(used, values, implementation(kernels(values), generic.stop_gradient)(sample))


def _zero_in_slack(values: Array, t: RaggedArray) -> Array:
    xp = namespace(values)
    return xp.where(column(t.used_mask(), values), values, xp.zeros_like(values))


def aligned(x: RaggedArray, /, *, like: RaggedArray) -> RaggedArray:
    """State that ``x`` has the rows of ``like``: the values of ``x`` over the partitions of ``like``.

    Shapes must fit. Row lengths that can be read are compared; traced ones are taken to be equal, and
    compared at run time in code traced under `checks`. Afterwards the two meet without a comparison.

    >>> x, y = ragged([[1, 2], [3]]), ragged([[4, 5], [6]])
    >>> aligned(x, like=y).row_splits is y.row_splits
    True
    """
    _, (x, like) = to_common_backend((contiguous(x), contiguous(like)))
    mine, theirs = of_one_kind(x, like)
    depth = theirs.depth + 1
    want, got = f"shape {like.shape} and capacity {like.capacity}", f"{x.shape} and {x.capacity}"
    error = ValueError(error_text(want, got, "Bring them to one capacity with `ra.with_capacity`."))
    if mine.shape[:depth] != theirs.shape[:depth] or mine.depth + 1 != depth or x.capacity != like.capacity:
        raise error
    agree_partitions(theirs.partitions, mine.partitions, error)
    return RaggedArray(x.values, like.partitions)
