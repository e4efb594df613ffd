"""JAX kernels that order or accumulate within rows, on values whose rows lie end to end.

A sort has two keys, row and value, and slack has the highest row, so that it stays behind the used slots.
Where a static limit of the row lengths is known, rows are padded, sorted side by side and read back: several
times faster. A scan combines each slot with the one 1, 2, 4, ... places before it, where that lies in the row:
no value ever meets one of another row, so neither NaN nor rounding leaks, forward or backward.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from ..._errors import error_text
from ..._typing import Array
from .._identity import identity
from .._protocol import Reduction
from .sorting_network import sort_rows


def unhalved(dtype: Any) -> Any:
    """The dtype to accumulate in: float32 for halves."""
    return jnp.float32 if dtype in (jnp.float16, jnp.bfloat16) else dtype


def row_ids(splits: Array, capacity: int, /) -> Array:
    limit = np.iinfo(splits.dtype).max
    if capacity > limit:
        raise OverflowError(error_text(f"a capacity up to {limit}", str(capacity), "Enable x64.", op="row_ids"))
    if not isinstance(splits, Tracer):  # captured splits: XLA would fold a million constants for seconds
        known = np.minimum(np.asarray(splits), capacity)
        rows = np.append(np.diff(known), capacity - known[-1])
        return jnp.asarray(np.repeat(np.arange(len(known), dtype=known.dtype), rows))
    inside = jnp.minimum(splits[1:], jnp.asarray(capacity, splits.dtype))  # those of an overflowed array end further on
    ends = jnp.zeros(capacity + 1, splits.dtype).at[inside].add(1)
    return jnp.cumsum(ends[:capacity], dtype=splits.dtype)


class Rows(NamedTuple):
    """Where each slot lies: its row (``nrows`` in slack), and the first slot of the row and the one past it."""

    nrows: int
    splits: Array
    ids: Array

    @staticmethod
    def of(splits: Array, values: Array, row_ids: Callable[[Array, int], Array]) -> "Rows":
        splits = jnp.asarray(splits)
        return Rows(splits.shape[0] - 1, splits, row_ids(splits, values.shape[0]))

    def ends(self) -> tuple[Array, Array]:
        """First slot of each slot's row, and one past its last; 0 in slack."""
        zero = jnp.zeros((1,), self.splits.dtype)
        starts = jnp.concatenate((self.splits[:-1], zero))
        return starts[self.ids], jnp.concatenate((self.splits[1:], zero))[self.ids]

    def fits(self, longest: int | None) -> bool:
        """Whether rows can be padded to this length, with indices that do not overflow."""
        return longest is not None and 0 < self.nrows * max(longest, 1) <= int(np.iinfo(self.splits.dtype).max)


def alike(tree: Any, *read: Any) -> Any:
    """The same arrays, each device of a ``shard_map`` with its own if it has one of any of them or of what is ``read``.

    JAX adds this to operands of arithmetic, but neither to what a loop starts from nor to the operands of a rule of
    ours, whose cotangents must be of the types of the operands.
    """
    axes: frozenset[str] = frozenset().union(*(_varying(a) for a in jax.tree.leaves((tree, read))))

    def spread(a: Array) -> Array:
        missing = tuple(axes - _varying(a)) if hasattr(a, "dtype") else ()  # a Python number stays one
        return cast(Any, lax).pcast(a, missing, to="varying") if missing else a

    return jax.tree.map(spread, tree) if axes else tree


def anywhere(flags: Array) -> Array:
    """Whether each is true on any device of a ``shard_map``, so that all take the same branch.

    What a branch reads may be the same on all devices. Its gradient is then a sum over them, for which all must come.
    """
    axes = tuple(_varying(flags))
    return cast(Any, lax).pmax(flags.astype(jnp.int32), axes) > 0 if axes else flags


def _varying(a: Array) -> frozenset[str]:
    """Axes of a ``shard_map`` that an array varies over; JAX has named the attribute differently over time."""
    kind: Any = jax.typeof(a)
    found: frozenset[str] = getattr(
        getattr(kind, "manual_axis_type", kind), "varying", getattr(kind, "vma", frozenset())
    )
    return found


def _column(a: Array, like: Array) -> Array:
    return jnp.broadcast_to(a.reshape(a.shape + (1,) * (like.ndim - a.ndim)), like.shape)


def _pad(values: Array, rows: Rows, longest: int) -> Array:
    """``[nrows, longest, *item]``; behind each row's end what sorts last."""
    at = jnp.arange(longest, dtype=rows.splits.dtype)[None, :]
    starts, lengths = rows.splits[:-1, None], jnp.diff(rows.splits)[:, None]
    known = jnp.broadcast_to(at, (rows.nrows, longest)) < jnp.broadcast_to(lengths, (rows.nrows, longest))
    found = values[jnp.where(known, starts + at, 0)]
    last = jnp.nan if jnp.issubdtype(values.dtype, jnp.inexact) else np.iinfo(values.dtype).max
    return jnp.where(_column(known, found), found, jnp.asarray(last, values.dtype))


def _unpad(padded: Array, rows: Rows, otherwise: Array) -> Array:
    """The slots again, and in slack, or where a row was too long, those of ``otherwise``."""
    nrows, longest = padded.shape[:2]
    starts, _ = rows.ends()
    at = jnp.arange(rows.ids.shape[0], dtype=rows.splits.dtype) - starts
    known = (rows.ids < nrows) & (at < longest)
    found = padded.reshape(nrows * longest, *padded.shape[2:])[jnp.where(known, rows.ids * longest + at, 0)]
    return jnp.where(_column(known, found), found, otherwise)


def segment_sort(values: Array, rows: Rows, longest: int | None) -> Array:
    if values.size == 0 or longest == 0:
        return values
    if longest is not None and rows.fits(longest):
        return _unpad(sort_rows(_pad(values, rows, longest)), rows, values)
    ids = _column(rows.ids, values)
    return lax.sort((ids, values), dimension=0, num_keys=2, is_stable=True)[1]


def segment_argsort(values: Array, rows: Rows, longest: int | None) -> Array:
    values = lax.stop_gradient(values)
    here = lax.broadcasted_iota(rows.splits.dtype, values.shape, 0)
    if values.size == 0 or longest == 0:
        return here
    if longest is not None and rows.fits(longest):
        padded = _pad(values, rows, longest)
        at = lax.broadcasted_iota(rows.splits.dtype, padded.shape, 1)
        order = lax.sort((padded, at), dimension=1, num_keys=1, is_stable=True)[1]
        starts = _column(rows.splits[:-1], order)
        return _unpad(starts + order, rows, here)
    ids = _column(rows.ids, values)
    return lax.sort((ids, values, here), dimension=0, num_keys=2, is_stable=True)[2]


_JOIN: dict[str, Callable[[Any, Any], Array]] = {
    "sum": jnp.add,
    "prod": jnp.multiply,
    "min": jnp.minimum,
    "max": jnp.maximum,
}


def segment_scan(how: Reduction, values: Array, rows: Rows, reverse: bool, longest: int | None) -> Array:
    capacity = values.shape[0]
    values, rows = alike((values, rows))
    start, end = rows.ends()
    here = jnp.arange(capacity, dtype=rows.splits.dtype)
    room = jnp.where(rows.ids < rows.nrows, end - 1 - here if reverse else here - start, -1)
    steps = (max(min(capacity if longest is None else longest, capacity), 1) - 1).bit_length()
    if not steps or values.size == 0:
        return values
    nothing = jnp.asarray(identity(how, values.dtype, jnp), values.dtype)
    furthest = jnp.max(room)

    def join(v: Array, step: Array) -> Array:
        inside = _column(room >= step, v)
        # Masked before they are joined, for 0 * nan in a gradient, and after, for ties with the identity.
        moved = jnp.where(inside, jnp.roll(v, -step if reverse else step, axis=0), nothing)
        return jnp.where(inside, _JOIN[how](moved, v), v)

    def body(v: Array, step: Array) -> tuple[Array, None]:
        return lax.cond(step <= furthest, join, lambda v, step: v, v, step), None

    # A loop: unrolled, XLA fuses the steps and computes each element once for every path that leads to it.
    return lax.scan(body, values, jnp.asarray(2 ** np.arange(steps), rows.splits.dtype))[0]
