"""Every kernel in the bare array API standard: the specification, and the judge of the native ones.

It reads data freely (no tracers), trims slack before an op sees it, and reduces through a dense
``[num, capacity]`` comparison: right for any conforming library, O(num * capacity) in time and memory.
"""

from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any

from array_api_compat import array_namespace

from ..._errors import error_text
from ..._typing import Array, DType
from .._dtypes import is_half, kind
from .._protocol import Reduction, Segments
from .attention import attention as attention
from .components import each as each
from .components import einsum as einsum
from .components import result_shapes as result_shapes
from .recurrence import linear_recurrence as linear_recurrence
from .recurrence import recurrence as recurrence
from .recurrence import scan_rows as scan_rows

name = "generic"
has_exact_sizes = True


def call(body: Callable[..., Any], /, *args: Any, **static: Any) -> Any:
    return body(*args, **static)


def pointwise(f: Callable[..., Array], args: tuple[Any, ...], static: dict[str, Any], /, *, single: bool) -> Array:
    return f(*args, **static)


def is_concrete(*trees: Any) -> bool:
    return True


def host(x: Array, /) -> Any:
    return import_module("numpy").from_dlpack(x)


def asarray(x: Any, /, *, dtype: DType | None = None) -> Array:
    xp = array_namespace(x)
    return x if dtype is None else xp.astype(x, dtype, copy=False)


def index(x: Any, /) -> Array:
    """Integers as int32, or int64 where they have 32 bits or more without a sign; int64 arrays stay what they are."""
    xp = array_namespace(x)
    if not xp.isdtype(x.dtype, "integral"):
        raise TypeError(error_text("integers", f"dtype {x.dtype}", "Convert them with `.astype(int)`.", op="index"))
    most = int(xp.iinfo(x.dtype).max)
    if most > 1 << 63 and x.size and int(xp.max(x)) >= 1 << 63:
        got = f"{int(xp.max(x))}"
        raise OverflowError(error_text("integers below 2**63", got, "Check where they come from.", op="index"))
    return xp.astype(x, xp.int32 if most < 1 << 31 else xp.int64, copy=False)


def move(
    values: Array, /, *indices: Array, slots: int | None = None, dtype: DType | None = None, device: Any = None
) -> list[Array]:
    return [asarray(values, dtype=dtype), *map(index, indices)]


def dtype(name: DType, like: Array | None = None, /) -> DType:
    return getattr(array_namespace(like), name) if isinstance(name, str) and like is not None else name


def bound(needed: Array, limit: int, /) -> int:
    return int(needed)


def row_ids(splits: Array, capacity: int, /) -> Array:
    xp = array_namespace(splits)
    return xp.searchsorted(splits[1:], xp.arange(capacity, dtype=splits.dtype), side="right")


def segment_ids(segments: Segments, capacity: int, /) -> Array:
    """Segment of each position, from either form."""
    return segments.ids if segments.splits is None else row_ids(segments.splits, capacity)


def identity(how: Reduction, dtype: DType, xp: Any, /) -> bool | int | float:
    """What an empty segment reduces to."""
    if how == "sum":
        return 0
    if how == "prod":
        return 1
    if kind(dtype) == "bool":
        return how == "min"
    if kind(dtype) == "float":
        return float("inf") if how == "min" else -float("inf")
    limits = xp.iinfo(dtype)
    return int(limits.max if how == "min" else limits.min)


def _over_axis(how: Reduction, values: Array, axis: int) -> Array:
    xp = array_namespace(values)
    if xp.isdtype(values.dtype, "bool"):
        return (xp.all if how == "min" else xp.any)(values, axis=axis)
    return xp.astype(getattr(xp, how)(values, axis=axis), values.dtype, copy=False)


def segment_reduce(how: Reduction, values: Array, segments: Segments, /) -> Array:
    xp = array_namespace(values)
    num, capacity = segments.num, values.shape[0]
    nothing = xp.asarray(identity(how, values.dtype, xp), dtype=values.dtype)
    if capacity == 0:
        return xp.broadcast_to(nothing, (num, *values.shape[1:]))
    ids = segment_ids(segments, capacity)
    own = ids[None, :] == xp.arange(num, dtype=ids.dtype)[:, None]
    own = xp.reshape(own, (num, capacity) + (1,) * (values.ndim - 1))
    return _over_axis(how, xp.where(own, values[None, ...], nothing), axis=1)


def spread(items: Array, segments: Segments, capacity: int, /, *, fill: int = 0) -> Array:
    return pick(items, segment_ids(segments, capacity), fill=fill)


def pick(items: Array, index: Array, /, *, fill: int = 0) -> Array:
    xp = array_namespace(items)
    missing = xp.full((1, *items.shape[1:]), fill, dtype=items.dtype)
    return xp.take(xp.concat((items, missing)), index, axis=0)


def take_runs(items: Array, starts: Array, splits: Array, /) -> Array:
    xp = array_namespace(starts)
    size = int(splits[-1])
    begin = spread(starts - splits[:-1], Segments(starts.shape[0], splits=splits), size)
    return xp.take(items, begin + xp.arange(size, dtype=begin.dtype), axis=0)


def segment_softmax(values: Array, segments: Segments, /, *, log: bool) -> Array:
    xp = array_namespace(values)
    peak = segment_reduce("max", values, segments)
    peak = spread(xp.where(peak == -float("inf"), xp.zeros_like(peak), peak), segments, values.shape[0])
    shifted = values - peak
    weight = xp.exp(shifted)
    total = spread(segment_reduce("sum", weight, segments), segments, values.shape[0])
    nothing = total == 0  # every element of the row is -inf
    safe = xp.where(nothing, xp.ones_like(total), total)
    return shifted - xp.log(safe) if log else weight / safe


def segment_sort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    return array_namespace(values).take_along_axis(values, segment_argsort(values, splits, longest=longest), axis=0)


def segment_argsort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    xp = array_namespace(values)
    ids = row_ids(splits, values.shape[0])
    ids = xp.broadcast_to(xp.reshape(ids, (-1,) + (1,) * (values.ndim - 1)), values.shape)
    by_value = xp.argsort(values, axis=0, stable=True)
    by_row = xp.argsort(xp.take_along_axis(ids, by_value, axis=0), axis=0, stable=True)
    return xp.take_along_axis(by_value, by_row, axis=0)


def segment_scan(how: Reduction, values: Array, splits: Array, /, *, reverse: bool, longest: int | None) -> Array:
    xp, capacity = array_namespace(values), values.shape[0]
    if capacity == 0:
        return values
    ids, here = row_ids(splits, capacity), xp.arange(capacity)
    before = here[None, :] >= here[:, None] if reverse else here[None, :] <= here[:, None]
    own = (ids[None, :] == ids[:, None]) & before
    own = xp.reshape(own, (capacity, capacity) + (1,) * (values.ndim - 1))
    nothing = xp.asarray(identity(how, values.dtype, xp), dtype=values.dtype)
    return _over_axis(how, xp.where(own, values[None, ...], nothing), axis=1)


def scan_axis(how: Reduction, values: Array, axis: int, /, *, reverse: bool) -> Array:
    xp = array_namespace(values)
    moved = xp.moveaxis(values, axis, 0)
    flat = xp.reshape(moved, (moved.shape[0], -1)) if values.size else moved
    flat = segment_scan(how, flat, xp.asarray([0, moved.shape[0]]), reverse=reverse, longest=None)
    return xp.moveaxis(xp.reshape(flat, moved.shape), 0, axis)


def linear(x: Array, weight: Array, bias: Array | None, used: Array, /) -> Array:
    xp = array_namespace(x)
    out = xp.matmul(x, weight)
    return out if bias is None else out + bias


def grouped_matmul(x: Array, weights: Array, splits: Array, /) -> Array:
    xp = array_namespace(x)
    ends = [int(s) for s in splits]
    parts = [xp.matmul(x[a:b, ...], weights[i, ...]) for i, (a, b) in enumerate(pairwise(ends))]
    empty = xp.zeros((0, *x.shape[1:-1], weights.shape[-1]), dtype=xp.result_type(x, weights))
    return xp.concat((empty, *parts))


def embedding(table: Array, ids: Array, used: Array, /) -> Array:
    xp = array_namespace(table)
    flat = xp.take(table, xp.reshape(ids, (-1,)), axis=0)
    return xp.reshape(flat, (*ids.shape, *table.shape[1:]))


def contract(x: Array, w: Array, /) -> Array:
    xp = array_namespace(x, w)
    both = xp.result_type(x, w)
    wide = xp.float32 if is_half(both) else both
    return xp.matmul(xp.astype(x, wide, copy=False), xp.astype(w, wide, copy=False))


def bag(how: Reduction, table: Array, ids: Array, weights: Array | None, splits: Array, /) -> Array:
    xp = array_namespace(table)
    found = xp.take(table, ids, axis=0)
    if is_half(found.dtype):
        found = xp.astype(found, xp.float32)
    if weights is not None:
        found = found * xp.astype(weights, found.dtype)[:, None]
    return segment_reduce(how, found, Segments(splits.shape[0] - 1, splits=splits))


def terminal(counts: Array, states: int, xp: Any, /) -> Array:
    """States in which an alignment of so many labels may end: the last label and the blank behind it."""
    at = xp.arange(states, dtype=counts.dtype)[None, :]
    return (at == 2 * counts[:, None]) | (at == 2 * counts[:, None] - 1)


def ctc(frames: Array, classes: Array, counts: Array, splits: Array, /) -> Array:
    xp = array_namespace(frames)
    num, states = classes.shape
    lengths = splits[1:] - splits[:-1]
    at = xp.broadcast_to(xp.arange(states)[None, :], (num, states))
    none = xp.full((num, states + 2), -float("inf"), dtype=frames.dtype)
    unlike = xp.concat((xp.zeros((num, min(states, 2)), dtype=xp.bool), classes[:, 2:] != classes[:, :-2]), axis=1)
    skip = (at % 2 == 1) & unlike
    alpha = none[:, :states]
    for t in range(int(xp.max(lengths)) if num else 0):
        here = lengths > t
        slot = xp.where(here, splits[:-1] + t, xp.zeros_like(lengths))
        emit = xp.take_along_axis(xp.take(frames, slot, axis=0), classes, axis=1)
        if t == 0:
            moved = xp.where(at <= 1, xp.zeros_like(emit), none[:, :states])
        else:
            wide = xp.concat((none[:, :2], alpha), axis=1)
            past = xp.where(skip, wide[:, :states], none[:, :states])
            moved = xp.logaddexp(xp.logaddexp(alpha, wide[:, 1 : states + 1]), past)
        alpha = xp.where(here[:, None], moved + emit, alpha)
    ends = xp.where(terminal(counts, states, xp), alpha, none[:, :states])
    peak = xp.max(ends, axis=1) if num else xp.zeros((0,), dtype=frames.dtype)
    safe = xp.where(peak == -float("inf"), xp.zeros_like(peak), peak)
    total = xp.sum(xp.exp(ends - safe[:, None]), axis=1)
    possible = total > 0
    log = xp.log(xp.where(possible | xp.isnan(total), total, xp.ones_like(total))) + safe
    log = xp.where(possible | xp.isnan(total), log, xp.full_like(log, -float("inf")))
    nothing = xp.where(counts == 0, xp.zeros_like(log), xp.full_like(log, -float("inf")))
    loss = 0 - xp.where(lengths == 0, nothing, log)
    return xp.where(loss < 0, xp.zeros_like(loss), loss)  # rounding takes the sum of all alignments above 1


def true_index(mask: Array, size: int, /) -> Array:
    xp = array_namespace(mask)
    (found,) = xp.nonzero(mask)
    found = found[: min(size, found.shape[0])]
    return xp.concat((found, xp.full((size - found.shape[0],), mask.shape[0], dtype=found.dtype)))


def strided(buffer: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], /) -> Array:
    xp = array_namespace(buffer)
    at = xp.asarray(offset)
    for n, step in zip(shape, strides, strict=True):
        at = xp.expand_dims(at, axis=-1) + xp.arange(n) * step
    return xp.reshape(xp.take(buffer, xp.reshape(at, (-1,)), axis=0), (*shape, *buffer.shape[1:]))


def stop_gradient(x: Array, /) -> Array:
    return x


def once(x: Array, /) -> Array:
    return x


def mask_gradient(values: Array, splits: Array, /) -> Array:
    return values


def check_key(key: Any, /) -> None:
    import_module("..numpy", __package__).check_key(key)


def random(how: str, key: Any, like: Array, dtype: DType, /, *bounds: Any) -> Array:
    xp, native = array_namespace(like), import_module("..numpy", __package__)
    drawn = native.random(how, key, host(like), native.dtype(str(dtype).rsplit(".", 1)[-1]), *bounds)
    return xp.from_dlpack(drawn)


def shuffle(key: Any, ids: Array, /) -> Array:
    xp = array_namespace(ids)
    order = xp.argsort(xp.from_dlpack(key.random(ids.shape[0])), stable=True)
    order = xp.take(order, xp.argsort(xp.take(ids, order), stable=True))
    return xp.astype(order, ids.dtype, copy=False)


def special(name: str, /) -> Callable[..., Array]:
    raise TypeError(
        error_text(
            "NumPy or JAX values", "another array library", 'Move them with `x.to("numpy")`.', op=f"special.{name}"
        )
    )


def checking() -> bool:
    return False


def check(ok: Array, text: str, /, **shown: Array) -> None:
    """Data can be read here, so ops raise by themselves."""
