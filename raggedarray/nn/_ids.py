"""Whether ids lie in a table: an error where they can be read, a run-time check where they are traced."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Array
from ..backends import kernels, kind, namespace
from ..engine.indices import widened
from ..engine.options import plain_only
from ..engine.resizing import used_entries


def need_ids(ids: Any, what: str = "ids") -> None:
    """Raise unless ids are integers."""
    if kind(ids.dtype) not in ("int", "uint"):
        raise TypeError(error_text(f"integer {what}", f"dtype {ids.dtype}", "Convert them with `.astype(int)`."))


def table_of(table: Any) -> Any:
    """A table, which must be a plain array with an axis of entries."""
    if not plain_only("a table of shape (n, *item)", table).ndim:
        raise ValueError(error_text("a table of shape (n, *item)", "()", "Check the axes."))
    return table


def never_empty(table: Array) -> Array:
    """A table without entries as one with an entry that no id may have: NaN, or 0 of integers."""
    if table.shape[0]:
        return table
    xp = namespace(table)
    nothing = float("nan") if kind(table.dtype) in ("float", "complex") else 0
    return xp.full((1, *table.shape[1:]), nothing, dtype=table.dtype)


def check_ids(ids: Any, size: int, *, what: str = "ids", ignore: int | None = None) -> None:
    """Raise unless ids, as they were given, are from 0 to ``size - 1`` (or ``ignore``); in slack anything may be.

    What comes behind this check takes them `widened`.
    """
    values = ids.values if isinstance(ids, RaggedArray) else ids
    k, xp = kernels(values), namespace(values)
    concrete = ids.is_concrete() if isinstance(ids, RaggedArray) else k.is_concrete(ids)
    expected, advice = f"{what} from 0 to {size - 1}", "Check the vocabulary."
    if concrete:
        host = k.host(values)
        used = host[: used_entries(ids)[-1]] if isinstance(ids, RaggedArray) else host.reshape(-1)
        bad = (used < 0) | (used >= size)
        bad_at = (bad if ignore is None else bad & (used != ignore)).nonzero()
        if bad_at[0].size:
            at = tuple(int(axis[0]) for axis in bad_at)
            raise IndexError(error_text(expected, f"{used[at]} at slot {at[0]}", advice))
    elif k.checking():
        values = widened(values)
        valid = (values >= 0) & (values < size)
        if ignore is not None:
            valid = valid | (values == ignore)
        if isinstance(ids, RaggedArray):
            mask = xp.reshape(ids.used_mask(), (ids.capacity, *(1,) * len(ids.inner_shape)))
            valid = valid | ~mask
        seen = xp.where(valid, xp.zeros_like(values), values)
        k.check(xp.all(valid), error_text(expected, "{low} to {high}", advice), low=xp.min(seen), high=xp.max(seen))
