"""Arrays that become parts of one: the dtype that they agree on, and their values end to end."""

from typing import Any

from .._errors import error_text
from .._typing import Array, DType
from ..backends import common, is_array, kernels, namespace
from .columns import numeric


def with_entries(arrays: list[Array]) -> int:
    """Which array says what dtype all have: the first with entries, since an empty one has no dtype of its own."""
    return next((i for i, a in enumerate(arrays) if 0 not in a.shape), 0)


def of_one_library(arrays: list[Any]) -> list[Array]:
    """Arrays and lists of numbers in the library in which they meet."""
    given = [numeric(x) for x in arrays if is_array(x)]
    k = common(given)
    out = []
    for i, x in enumerate(arrays):
        try:
            out.append(k.asarray(x))
        except ValueError:
            got = f"lists of unequal length as row {i}"
            raise ValueError(error_text("rows that are arrays", got, "Use `ra.ragged`.")) from None
    return [numeric(a) for a in out]


def concat_leaves(arrays: list[Array], dtype: DType | None) -> Array:
    """Arrays that agree in dtype, or are empty, or are brought to ``dtype``: ``[total, *inner]``."""
    arrays = of_one_library(arrays)
    used = [a for a in arrays if a.shape[0]] or [arrays[with_entries(arrays)]]
    if dtype is not None:
        k = kernels(used[0])
        used = [namespace(a).astype(a, k.dtype(dtype), copy=False) for a in used]
    return numeric(namespace(used[0]).concat(used))
