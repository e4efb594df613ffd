"""``x.at[key]``: a new array with some elements changed, as in JAX. ``x`` itself never changes.

The key selects slot numbers the way it selects elements, so that every key of ``x[key]`` works; new values
broadcast against the selection and go back by one scatter. Where data is traced, what does not exist is not
written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from operator import index as as_int
from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import error_text
from ..._partition import RowPartition, UniformPartition
from ..._typing import Array
from ...backends import Segments, is_array, kernels, kind, namespace
from ...engine.arguments import checked_scalar, is_scalar
from ...engine.broadcast.rows import move_to, to_common_backend
from ...engine.elementwise import elementwise
from ...engine.index.keys import as_items, expand
from ...engine.index.rows import run
from ...engine.packing import as_block, as_rows, contiguous, to_rows
from ...engine.unbind import rows_of
from ...structure.levels import library
from ..manipulation.reshaping import expand_dims
from .indexing import getitem
from .masking import boolean_mask

__all__: list[str] = []


@dataclass(frozen=True, eq=False, slots=True)
class At:
    """``x.at``; index it, then call a method."""

    x: RaggedArray

    def __getitem__(self, key: Any) -> "Place":
        return Place(self.x, key)


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """``x.at[key]``. Every method gives a new array of the same rows, capacity and dtype; repeats count in turn.

    >>> x = ragged([[1, 2, 3], [4]])
    >>> x.at[:, 0].set(0).tolist(), x.at[x > 2].add(10).tolist()
    ([[0, 2, 3], [0]], [[1, 2, 13], [14]])
    """

    x: RaggedArray
    key: Any

    def get(self, *, fill_value: Any = None) -> Any:
        """``x[key]``; an index that a row lacks gives ``fill_value`` where one is passed."""
        return self.x.__array_namespace__()._at_get(self.x, self.key, fill_value=fill_value)

    def set(self, values: Any) -> RaggedArray:
        """The elements of the key become ``values``; of several for one element the last stays."""
        return self._changed("set", values)

    def add(self, values: Any) -> RaggedArray:
        """``values`` are added to the elements of the key."""
        return self._changed("sum", values)

    def multiply(self, values: Any) -> RaggedArray:
        """The elements of the key times ``values``."""
        return self._changed("prod", values)

    def min(self, values: Any) -> RaggedArray:
        """The smaller of the elements of the key and ``values``."""
        return self._changed("min", values)

    def max(self, values: Any) -> RaggedArray:
        """The larger of the elements of the key and ``values``."""
        return self._changed("max", values)

    def _changed(self, how: str, values: Any) -> RaggedArray:
        out: RaggedArray = self.x.__array_namespace__()._at_update(self.x, self.key, how, values)
        return out


def at_get(x: RaggedArray, key: Any, *, fill_value: Any) -> Any:
    """``x.at[key].get(fill_value=)``."""
    items = as_items(key)
    if x.block is not None:
        return at_get(to_rows(x), as_rows(key), fill_value=fill_value)
    if fill_value is None:
        return getitem(x, key)
    if any(isinstance(i, RaggedArray) for i in items):
        raise TypeError(error_text("a key without ragged parts for fill_value=", "a ragged one", "Drop it."))
    checked_scalar(x, fill_value, "fill_value")
    return run(x, expand(items, x.shape), fill=fill_value, raises=False)


def at_update(x: RaggedArray, key: Any, how: str, values: Any) -> RaggedArray:
    """``x.at[key].set(values)``; ``how`` says what else becomes of the elements."""
    if x.block is not None:
        return _update_block(x, key, how, values)
    if is_scalar(values):
        checked_scalar(x, values, "values")
    _, moved = to_common_backend((x, values))
    x, values = moved
    k = x.kernels
    select, whole, one_row = _selector(x, key)
    slots = k.call(_numbers, x, whole=whole)
    slots = select(RaggedArray(slots, x.partitions))
    template = select(x)
    spread = _spread(template, values, one_row)
    if spread.shape != template.shape:
        got = f"shape {tuple(values.shape)}"
        raise ValueError(error_text(f"values that fit into {tuple(template.shape)}", got, "Drop the extra axes."))
    flat = spread.values if isinstance(spread, RaggedArray) else spread
    if isinstance(slots, RaggedArray):  # values of smaller capacity cut the selection
        slots = slots.values[: flat.shape[0], ...]
    out = k.call(_scattered, x.values, slots, flat, x.partitions, how=how, whole=whole)
    return RaggedArray(out, x.partitions)


def _update_block(x: RaggedArray, key: Any, how: str, values: Any) -> RaggedArray:
    """The same on the elements as rows of rows, which lie in the same slots."""
    x = contiguous(x).used_values()
    assert x.block is not None
    out = at_update(to_rows(x), as_rows(key), how, as_rows(values))
    return as_block(x, out)


def _like(template: Array, values: Any) -> Array:
    """``values`` in the shape and dtype of the selection."""
    xp = namespace(template)
    if is_scalar(values):
        return xp.full_like(template, values)
    values = xp.astype(values, template.dtype, copy=False)
    return xp.broadcast_to(values, xp.broadcast_arrays(values, template)[0].shape)


def _numbers(x: RaggedArray, *, whole: bool) -> Array:
    """The number of each slot, or of each element, from 1; what a key does not find is then 0 or less."""
    xp, like = x.xp, library(x.partitions, x.values)
    shape = x.values.shape[:1] if whole else x.values.shape
    count = prod(shape)
    return xp.reshape(xp.arange(1, count + 1, dtype=like.dtype), shape)


def _selector(x: RaggedArray, key: Any) -> tuple[Callable[[RaggedArray], Any], bool, bool]:
    """The key as a function, of slots too; whether it leaves the inner axes whole; whether one row became an axis."""
    items = as_items(key)
    if len(items) == 1 and is_array(items[0]) and kind(items[0].dtype) == "bool":
        mask = items[0]
        if isinstance(mask, RaggedArray):
            return lambda y: boolean_mask(y, mask), mask.ndim <= x.ragged_rank + 1, False
        if mask.ndim == 1 and not kernels(mask).is_concrete(mask):
            return lambda y: boolean_mask(y, mask, size=x.nrows), True, False
    if any(isinstance(i, RaggedArray) for i in items):
        return lambda y: getitem(y, key), False, False
    parts = expand(items, x.shape)
    axes = [n for n, i in enumerate(parts) if i is not None]
    inner = axes[x.ragged_rank + 1] if len(axes) > x.ragged_rank + 1 else len(parts)
    whole = all(isinstance(i, slice) and i == slice(None) for i in parts[inner:])
    one_row = bool(parts) and _is_int(parts[0]) and (len(parts) == 1 or isinstance(parts[1], slice))
    if one_row:
        parts = [_as_run(parts[0], x.nrows), *parts[1:]]  # a row alone has no static size
    return lambda y: run(y, parts[:inner] if whole else parts), whole, one_row


def _is_int(item: Any) -> bool:
    return not isinstance(item, slice) and item is not None and not (is_array(item) and item.ndim > 0)


def _as_run(item: Any, nrows: int) -> Any:
    if is_array(item) and not kernels(item).is_concrete(item):
        return namespace(item).reshape(item, (1,))
    try:
        i = as_int(item)
    except TypeError:
        got = type(item).__name__
        raise IndexError(error_text("ints, slices, `...`, None and arrays of them", got, "Convert it.")) from None
    if not -nrows <= i < nrows:
        raise IndexError(error_text(f"a row from {-nrows} to {nrows - 1}", str(i), "Check `len(x)`."))
    return slice(i % nrows, i % nrows + 1)


def _spread(template: Any, values: Any, one_row: bool) -> Any:
    """``values`` in the shape of the selection; those of one row need not have its axis."""
    if not one_row or not is_array(values) or values.ndim >= template.ndim:
        _need_fit(template, values)
        return elementwise(_like, template, values)
    if not isinstance(template, RaggedArray):
        _need_fit(template[0, ...], values)
        spread = elementwise(_like, template[0, ...], values)
        return spread[None, ...] if spread.shape == template.shape[1:] else spread
    if not kernels(template.row_splits).is_concrete(template.partitions):
        if isinstance(values, RaggedArray) or template.ragged_rank > 1 or values.ndim < template.ndim - 1:
            return elementwise(_like, template, expand_dims(values, axis=0))
        splits = template.kernels.asarray([0, values.shape[0]], dtype=template.row_splits.dtype)
        return elementwise(_like, template, RaggedArray(values, (RowPartition(splits),)))
    row = rows_of(template, [0], "")[0]
    _need_fit(row, values)
    spread = elementwise(_like, row, values)
    if spread.shape != row.shape:
        return spread
    k = template.kernels
    flat = spread.values if isinstance(spread, RaggedArray) else spread
    below = spread.partitions if isinstance(spread, RaggedArray) else ()
    if isinstance(template.partitions[0], UniformPartition):
        return rebuild((UniformPartition(1, row.shape[0]), *below), flat)
    splits = k.index(k.asarray([0, row.shape[0]]))
    return move_to(k, RaggedArray(flat, (RowPartition(splits), *below)))


def _need_fit(template: Any, values: Any) -> None:
    """Raise unless plain values broadcast to a plain selection."""
    if isinstance(template, RaggedArray) or isinstance(values, RaggedArray) or not is_array(values):
        return
    for m, n in zip(reversed(values.shape), reversed(template.shape), strict=False):
        if m not in (1, n):
            got = f"shape {tuple(values.shape)}"
            raise ValueError(error_text(f"values that fit into {tuple(template.shape)}", got, "Align them first."))


def _scattered(items: Array, slots: Array, values: Array, partitions: Any, *, how: Any, whole: bool) -> Array:
    xp, k = namespace(items), kernels(items)
    if kind(items.dtype) == "bool" and how != "set":  # a sum of bools is an or, as in NumPy
        how, as_bool = {"sum": "max", "prod": "min"}.get(how, how), items.dtype
        bits = [xp.astype(a, xp.uint8) for a in (items, values)]
        return xp.astype(_scattered(bits[0], slots, bits[1], partitions, how=how, whole=whole), as_bool)
    shape = items.shape
    tail = shape[1:] if whole else ()
    if not whole:
        items = xp.reshape(items, (-1,))
    size = items.shape[0]
    slots = xp.reshape(slots, (-1,))
    slots = xp.maximum(slots, xp.zeros_like(slots)) - 1  # the fill value of what is missing is far below 0
    values = xp.reshape(values, (slots.shape[0], *tail))
    slots = xp.where(slots < 0, xp.asarray(size, dtype=slots.dtype), slots)
    if slots.shape[0] == 0:
        return xp.reshape(items, shape)
    segments = Segments(size, ids=slots)
    if how == "set":
        order = xp.arange(slots.shape[0], dtype=slots.dtype)
        latest = k.segment_reduce("max", order, segments)
        written = latest >= 0
        updates = k.pick(values, xp.where(written, latest, xp.full_like(latest, slots.shape[0])))
        out = xp.where(xp.reshape(written, (size, *(1,) * len(tail))), updates, items)
    else:
        join = {"sum": xp.add, "prod": xp.multiply, "min": xp.minimum, "max": xp.maximum}[how]
        out = join(items, k.segment_reduce(how, values, segments))
    return xp.reshape(out, shape)
