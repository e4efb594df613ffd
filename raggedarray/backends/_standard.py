"""The backend of any library without one of its own, in the bare array API standard: the judge of the others.

It reads data freely (no tracers), trims slack before an op sees it, and reduces through a dense
``[num, capacity]`` comparison: right for any conforming library, O(num * capacity) in time and memory.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .._errors import error_text
from .._typing import Array, DType, Namespace
from ._dtypes import dtype_name
from ._identity import identity
from ._protocol import Reduction, Segments


class Standard:
    """`Kernels` for the library of a standard namespace."""

    name = "generic"
    has_exact_sizes = True

    def __init__(self, xp: Namespace) -> None:
        self.xp = xp

    def call(self, body: Callable[..., Any], /, *args: Any, **static: Any) -> Any:
        return body(*args, **static)

    def is_concrete(self, *trees: Any) -> bool:
        return True

    def host(self, x: Array, /) -> Any:
        return import_module("numpy").from_dlpack(x)

    def asarray(self, x: Any, /, *, dtype: DType | None = None) -> Array:
        x = self.xp.asarray(x)
        return x if dtype is None else self.xp.astype(x, self.dtype(dtype), copy=False)

    def index(self, x: Array, /) -> Array:
        """Integers as int32, or int64 where they have 32 bits or more without a sign; int64 arrays stay as they are."""
        xp, x = self.xp, self.xp.asarray(x)
        if not xp.isdtype(x.dtype, "integral"):
            raise TypeError(error_text("integers", f"dtype {x.dtype}", "Convert them with `.astype(int)`.", op="index"))
        most = int(xp.iinfo(x.dtype).max)
        if most > 1 << 63 and x.size and int(xp.max(x)) >= 1 << 63:
            got = f"{int(xp.max(x))}"
            raise OverflowError(error_text("integers below 2**63", got, "Check where they come from.", op="index"))
        return xp.astype(x, xp.int32 if most < 1 << 31 else xp.int64, copy=False)

    def move(
        self,
        values: Array,
        /,
        *indices: Array,
        slots: int | None = None,
        dtype: DType | None = None,
        device: Any = None,
    ) -> list[Array]:
        return [self.asarray(values, dtype=dtype), *map(self.index, indices)]

    def dtype(self, name: DType, /) -> DType:
        if isinstance(name, str) and not hasattr(self.xp, name):
            raise TypeError(error_text("a dtype or its name", repr(name), "Use one like 'float32'.", op="dtype"))
        return getattr(self.xp, dtype_name(name), name)

    def bound(self, needed: Array, limit: int, /) -> int:
        return int(needed)

    def row_ids(self, splits: Array, capacity: int, /) -> Array:
        return self.xp.searchsorted(splits[1:], self.xp.arange(capacity, dtype=splits.dtype), side="right")

    def segment_reduce(self, how: Reduction, values: Array, segments: Segments, /) -> Array:
        xp, num, capacity = self.xp, segments.num, values.shape[0]
        if capacity == 0:
            nothing = xp.asarray(identity(how, values.dtype, xp), dtype=values.dtype)
            return xp.broadcast_to(nothing, (num, *values.shape[1:]))
        ids: Any = segments.ids if segments.splits is None else self.row_ids(segments.splits, capacity)
        return self._reduce_among(how, values, ids[None, :] == xp.arange(num, dtype=ids.dtype)[:, None])

    def segment_scan(
        self, how: Reduction, values: Array, splits: Array, /, *, reverse: bool, longest: int | None
    ) -> Array:
        xp, capacity = self.xp, values.shape[0]
        if capacity == 0:
            return values
        ids, here = self.row_ids(splits, capacity), xp.arange(capacity)
        before = here[None, :] >= here[:, None] if reverse else here[None, :] <= here[:, None]
        return self._reduce_among(how, values, (ids[None, :] == ids[:, None]) & before)

    def _reduce_among(self, how: Reduction, values: Array, members: Array) -> Array:
        """Reduce the members of each of some sets: ``[capacity, *item]``, ``bool[sets, capacity]``."""
        xp = self.xp
        members = xp.reshape(members, (*members.shape, *(1,) * (values.ndim - 1)))
        nothing = xp.asarray(identity(how, values.dtype, xp), dtype=values.dtype)
        spread = xp.where(members, values[None, ...], nothing)
        if xp.isdtype(values.dtype, "bool"):
            return (xp.all if how == "min" else xp.any)(spread, axis=1)
        return xp.astype(getattr(xp, how)(spread, axis=1), values.dtype, copy=False)

    def segment_argsort(self, values: Array, splits: Array, /, *, longest: int | None) -> Array:
        xp = self.xp
        ids = self.row_ids(splits, values.shape[0])
        ids = xp.broadcast_to(xp.reshape(ids, (-1,) + (1,) * (values.ndim - 1)), values.shape)
        by_value = xp.argsort(values, axis=0, stable=True)
        by_row = xp.argsort(xp.take_along_axis(ids, by_value, axis=0), axis=0, stable=True)
        return xp.take_along_axis(by_value, by_row, axis=0)

    def pick(self, items: Array, index: Array, /, *, fill: int = 0) -> Array:
        missing = self.xp.full((1, *items.shape[1:]), fill, dtype=items.dtype)
        return self.xp.take(self.xp.concat((items, missing)), index, axis=0)

    def true_index(self, mask: Array, size: int, /) -> Array:
        (places,) = self.xp.nonzero(mask)
        places = places[: min(size, places.shape[0])]
        rest = self.xp.full((size - places.shape[0],), mask.shape[0], dtype=places.dtype)
        return self.xp.concat((places, rest))

    def checking(self) -> bool:
        return False

    def check(self, ok: Array, text: str, /, **shown: Array) -> None:
        """Data can be read here, so ops raise by themselves."""
