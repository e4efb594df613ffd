"""``x[key]``: ints, slices, `...`, ``None``, index arrays, masks, on rows, ragged, uniform and inner axes.

    x[i]  x[i:j]  x[..., k]     views of ``values`` on NumPy; rows in another order are packed
    x[:, k]                     one entry of every row; a row without it raises, traced it gives a fill value
    x[:, i:j:k]                 a slice of every row
    x[rows]  x[mask]            rows by index array or mask
    x[ragged]                   within rows, by a ragged mask or ragged indices

Inner splits are rebuilt from the lengths of what is taken, and ``values`` is read by one gather.
"""

from operator import index as as_int
from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._partition import UniformPartition
from ...backends import is_array, kernels, kind
from ...engine.index.blocks import block_getitem
from ...engine.index.keys import as_items, expand
from ...engine.index.rows import dynamic_row, run, view
from ...engine.packing import as_rows
from ...engine.unbind import rows_of
from .gathering import entries_at, gather, rows_at
from .masking import boolean_mask

__all__: list[str] = []


def getitem(x: RaggedArray, key: Any) -> Any:
    """``x[key]``; see `RaggedArray`."""
    items = as_items(key)
    if x.block is not None:
        if any(isinstance(i, RaggedArray) for i in items):
            return getitem(as_rows(x), tuple(as_rows(i) for i in items))
        parts = expand(items, x.shape)
        if sum(is_array(i) and i.ndim > 0 for i in parts) > 1:  # side by side they go pointwise
            return getitem(as_rows(x), tuple(parts))
        return block_getitem(x, parts)
    if len(items) == 1 and not isinstance(items[0], RaggedArray):
        only = items[0]
        if isinstance(only, slice) and _is_static(only):
            return _slice(x, only)
        if is_array(only) and only.ndim == 1:
            return boolean_mask(x, only) if kind(only.dtype) == "bool" else rows_at(x, only)
        if not is_array(only) and only is not None and only is not ...:
            return run(x, expand(items, x.shape)) if isinstance(only, slice) else _one(x, only)
    for n, item in enumerate(items):
        if isinstance(item, RaggedArray):
            return _within(x, items, n)
    return run(x, expand(items, x.shape))


def _is_static(s: slice) -> bool:
    return all(b is None or (hasattr(b, "__index__") and _is_known(b)) for b in (s.start, s.stop, s.step))


def _is_known(b: Any) -> bool:
    return not is_array(b) or (kernels(b).is_concrete(b) and kind(b.dtype) in ("int", "uint"))


def _one(x: RaggedArray, i: Any) -> Any:
    try:
        if isinstance(i, bool):
            raise TypeError
        i = as_int(i)
    except TypeError:
        got = f"{type(i).__name__} {i!r}"
        raise IndexError(error_text("an int, slice, index array or mask of rows", got, "Index rows.")) from None
    if not -x.nrows <= i < x.nrows:
        raise IndexError(error_text(f"a row from {-x.nrows} to {x.nrows - 1}", str(i), "Check `len(x)`."))
    if not kernels(x.row_splits).is_concrete(x.partitions):
        if isinstance(x.partitions[0], UniformPartition):
            return run(x, [i, *[slice(None)] * (x.ndim - 1)])
        raise dynamic_row(x)
    return rows_of(x, [i % x.nrows], "")[0]


def _slice(x: RaggedArray, key: slice) -> RaggedArray:
    if key.step is not None and as_int(key.step) == 0:
        raise ValueError(error_text("a slice step other than 0", "0", "Use 1 for every entry."))
    start, stop, step = key.indices(x.nrows)
    if step == 1 and x.kernels.has_exact_sizes:
        return view(x, start, max(stop, start))
    packed: RaggedArray = run(x, [key, *[slice(None)] * (x.ndim - 1)])
    return packed


def _within(x: RaggedArray, items: tuple[Any, ...], at: int) -> Any:
    """A ragged key, which says where within rows; what follows it indexes the axes behind."""
    if at or any(isinstance(i, RaggedArray) for i in items[at + 1 :]):
        raise IndexError(
            error_text("a ragged key in front, by itself", f"it as item {at}", "Index one after the other.")
        )
    key = items[at]
    out: Any = boolean_mask(x, key) if kind(key.dtype) == "bool" else _positions(x, key)
    rest = items[at + 1 :]
    if not any(item is not ... for item in rest):
        return out
    return out[(*[slice(None)] * key.ndim, *rest)]


def _positions(x: RaggedArray, key: RaggedArray) -> Any:
    """Positions along the axis that the last one of the key lies on."""
    last = key.ndim - 1
    if last < 2:
        return gather(x, key, batch_dims=last)
    advice = f"A key of {key.ndim} axes picks along axis {last}; `ra.gather(x, key, batch_dims=1)` picks along axis 1."
    return entries_at(x, key, last, advice=advice)
