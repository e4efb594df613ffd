"""Filling slack with what would show if any op looked at it."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Array
from ..backends import kind
from ..engine.resizing import with_capacity

_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": -float("inf")}


def poison(x: RaggedArray, /, *, slack: int | None = None, fill: str = "nan") -> RaggedArray:
    """``x`` with every slack slot overwritten: NaN (or ``fill="inf"``, ``"-inf"``), and huge ids in integer values.

    ``slack`` adds that many slots first. Whatever an op gives must be the same as without the poison.

    >>> poison(ragged([[1.0], [2.0]]), slack=2).values
    array([ 1.,  2., nan, nan])
    """
    if fill not in _FLOATS:
        raise ValueError(error_text(f"fill from {sorted(_FLOATS)}", repr(fill), "Pass one of these.", op="poison"))
    if slack is not None:
        x = with_capacity(x, x.capacity + slack)
    return RaggedArray(x.kernels.call(_fill_slack, x, fill=fill), x.partitions)


def _fill_slack(x: RaggedArray, *, fill: str) -> Array:
    xp = x.xp
    mask = xp.reshape(x.used_mask(), (x.capacity, *(1,) * len(x.inner_shape)))
    return xp.where(mask, x.values, xp.asarray(_worst(xp, x.dtype, fill), dtype=x.dtype))


def _worst(xp: Any, dtype: Any, fill: str) -> Any:
    what = kind(dtype)
    if what == "bool":
        return True
    if what in ("int", "uint"):
        return int(xp.iinfo(dtype).max) - 1
    return _FLOATS[fill]
