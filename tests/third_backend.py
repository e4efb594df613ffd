"""A whole backend in one file, for ``array_api_strict``: what a package for another library would write.

It has what `Kernels` asks for, and one function of its own, `spread`, to show that it is taken; all else comes from
the package. Data can be read here, so sizes are exact and nothing needs a compiler.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import array_api_strict
import numpy as np

from raggedarray.backends import Reduction, Segments, identity

name = "strict"
xp = array_api_strict
has_exact_sizes = True

Array = Any
_REDUCE: dict[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


def call(body: Callable[..., Any], /, *args: Any, **static: Any) -> Any:
    return body(*args, **static)


def is_concrete(*trees: Any) -> bool:
    return True


def checking() -> bool:
    return False


def check(ok: Array, text: str, /, **shown: Array) -> None:
    """Data can be read, so ops raise by themselves."""


def bound(needed: Array, limit: int, /) -> int:
    return int(needed)


def host(x: Array, /) -> Any:
    return np.from_dlpack(x)


def dtype(name: Any, /) -> Any:
    if isinstance(name, xp._dtypes.DType):
        return name
    return getattr(xp, np.dtype(name).name)


def asarray(x: Any, /, *, dtype: Any = None) -> Array:
    x = xp.asarray(x)
    return x if dtype is None else xp.astype(x, globals()["dtype"](dtype), copy=False)


def index(x: Array, /) -> Array:
    x = xp.asarray(x)
    if not xp.isdtype(x.dtype, "integral"):
        raise TypeError(f"index: expected integers, got dtype {x.dtype}. Convert them with `.astype(int)`.")
    if x.dtype == xp.uint64 and x.size and int(xp.max(x)) > 2**63 - 1:
        raise OverflowError(f"index: expected integers below 2**63, got {int(xp.max(x))}. Check where they come from.")
    wide = x.dtype in (xp.int64, xp.uint64, xp.uint32)
    return xp.astype(x, xp.int64 if wide else xp.int32, copy=False)


def move(
    values: Array, /, *indices: Array, slots: int | None = None, dtype: Any = None, device: Any = None
) -> list[Array]:
    return [asarray(values, dtype=dtype), *map(index, indices)]


def row_ids(splits: Array, capacity: int, /) -> Array:
    lengths = xp.concat((xp.diff(splits), xp.asarray([capacity], dtype=splits.dtype) - splits[-1:]))
    return xp.repeat(xp.arange(lengths.shape[0], dtype=splits.dtype), lengths)


def segment_reduce(how: Reduction, values: Array, segments: Segments, /) -> Array:
    nothing = identity(how, values.dtype, xp)
    out = xp.full((segments.num, *values.shape[1:]), nothing, dtype=values.dtype)
    ids = row_ids(segments.splits, values.shape[0]) if segments.ids is None else segments.ids
    used = host(ids) < segments.num
    reduced = np.array(host(out))
    _ufunc(how, values).at(reduced, host(ids)[used], host(values)[used])
    return xp.asarray(reduced)


def _ufunc(how: Reduction, values: Array) -> np.ufunc:
    if values.dtype == xp.bool:  # all, or any
        return np.logical_and if how == "min" else np.logical_or
    return _REDUCE[how]


def segment_scan(how: Reduction, values: Array, splits: Array, /, *, reverse: bool, longest: int | None) -> Array:
    out, ends = np.array(host(values)), [int(n) for n in splits]
    for a, b in pairwise(ends):
        row = slice(b - 1, a - 1 if a else None, -1) if reverse else slice(a, b)
        if b > a:
            out[row] = _ufunc(how, values).accumulate(out[row], axis=0, dtype=out.dtype)
    return xp.asarray(out)


def segment_argsort(values: Array, splits: Array, /, *, longest: int | None) -> Array:
    rows = xp.reshape(row_ids(splits, values.shape[0]), (-1, *(1,) * (values.ndim - 1)))
    order = xp.argsort(values, axis=0, stable=True)
    back = xp.argsort(xp.take_along_axis(xp.broadcast_to(rows, values.shape), order, axis=0), axis=0, stable=True)
    return xp.take_along_axis(order, back, axis=0)


def pick(items: Array, index: Array, /, *, fill: int = 0) -> Array:
    if items.shape[0] and (not index.size or int(xp.max(index)) < items.shape[0]):
        return xp.take(items, index, axis=0)
    missing = xp.full((1, *items.shape[1:]), fill, dtype=items.dtype)
    return xp.take(xp.concat((items, missing)), index, axis=0)


def true_index(mask: Array, size: int, /) -> Array:
    (places,) = xp.nonzero(mask)
    rest = xp.full((max(size - places.shape[0], 0),), mask.shape[0], dtype=places.dtype)
    return xp.concat((places[: min(size, places.shape[0])], rest))


spreads = 0
"""How often `spread` was called."""


def spread(items: Array, segments: Segments, capacity: int, /, *, fill: int = 0) -> Array:
    """Not among `Kernels`: this library's own, taken instead of the generic function."""
    global spreads
    spreads += 1
    ids = row_ids(segments.splits, capacity) if segments.ids is None else segments.ids
    return pick(items, ids, fill=fill)
