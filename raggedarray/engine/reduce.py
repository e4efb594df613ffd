"""How a reduction runs: axes to levels and inner axes, one frame for the body, the structure of the result.

The body of a reduction is written once, in terms of `Frame.reduce` (all elements of a group to one) and
`Frame.spread` (one item of each group back to its elements), and serves any set of axes.
"""

from collections.abc import Callable
from typing import Any

from .._array import RaggedArray, rebuild
from .._errors import DynamicShapeError, error_text
from .._partition import Partition, RowPartition, UniformPartition, entry_counts
from .._typing import Array, Axis
from ..backends import Reduction, generic, identity, implementation, is_half, kernels, kind, namespace
from ..structure.levels import Groups, column, group, longest_row, traced_longest, used_mask, used_slots
from .arguments import sizes_of
from .axes import Axes
from .broadcast.rows import BroadcastPlan, lay_out, plan, to_common_backend
from .components.groups import block_groups, rebuild_components
from .overflow import both, check_capacity, fill_unless
from .packing import contiguous
from .row_view import row_view


class Frame:
    """What the body of a reduction sees of the structure. Reduced inner axes stay, with size 1."""

    def __init__(self, x: RaggedArray, axes: Axes, length: int | None) -> None:
        self.x, self.axes, self.kernels, self.xp = x, axes, x.kernels, x.xp
        self.whole = len(axes.levels) == x.ragged_rank + 1
        self.groups: Groups | None = None
        self.ok: Any = True
        if axes.block:
            self.groups, self.ok = block_groups(x, axes.block)
        elif axes.levels and not self.whole:
            self.groups = group(x.partitions, axes.levels, x.capacity, length, x.values)

    def reduce(self, how: Reduction, v: Array) -> Array:
        """``[capacity, *inner]`` to ``[groups, *inner]``."""
        if self.axes.inner:
            v = reduce_axes(how, v, self.axes.inner)
        if self.whole:
            if not self.kernels.has_exact_sizes:
                nothing = self.xp.asarray(identity(how, v.dtype, self.xp), dtype=v.dtype)
                v = self.xp.where(column(used_mask(self.x.partitions, v.shape[0]), v), v, nothing)
            return reduce_axes(how, v, (0,))
        return v if self.groups is None else self.kernels.segment_reduce(how, v, self.groups.segments)

    def spread(self, items: Array) -> Array:
        """``[groups, *inner]`` to ``[capacity, *inner]``; 0 in slack."""
        capacity = self.x.capacity
        if self.whole:
            mask = column(used_mask(self.x.partitions, capacity), items)
            return self.xp.where(mask, items, self.xp.zeros_like(items))
        if self.groups is None:
            return items
        return implementation(self.kernels, generic.spread)(items, self.groups.segments, capacity)

    def count(self, v: Array, where: Array | None, dtype: Any) -> Array:
        """Elements in each group, to divide by: ``[groups, *1]``, or under ``where`` ``[groups, *inner]``."""
        xp = self.xp
        if where is not None:
            return xp.astype(self.reduce("sum", xp.astype(xp.broadcast_to(where, v.shape), self._index())), dtype)
        size = 1
        for a in self.axes.inner:
            size *= v.shape[a]
        if self.whole:
            count = xp.reshape(used_slots(self.x.partitions), (1,))
        elif self.groups is None:
            count = xp.ones((1,), dtype=self._index())
        elif self.groups.segments.splits is not None:
            count = self.groups.segments.splits[1:] - self.groups.segments.splits[:-1]
        else:
            ones = xp.ones((self.x.capacity,), dtype=self._index())
            count = self.kernels.segment_reduce("sum", ones, self.groups.segments)
        return column(xp.astype(count, dtype) * size, v)

    def _index(self) -> Any:
        return self.xp.int32

    def finish(self, values: Array, keepdims: bool) -> tuple[Array, tuple[Partition, ...] | None]:
        """The result's flat values, and its partitions if they were computed here."""
        if self.axes.inner and not keepdims:
            values = self.xp.squeeze(values, axis=self.axes.inner)
        if self.whole:
            lead = (1,) * (self.x.ragged_rank + 1) if keepdims else ()
            values = self.xp.reshape(values, (*lead, *values.shape[1:]))
        return values, self.groups.partitions if self.groups is not None and self.groups.new else None


def reduce_axes(how: Reduction, v: Array, axes: tuple[int, ...]) -> Array:
    """Reduce uniform axes, kept with size 1; over no elements, the identity."""
    xp = namespace(v)
    if any(v.shape[a] == 0 for a in axes):
        shape = tuple(1 if i in axes else n for i, n in enumerate(v.shape))
        return xp.full(shape, identity(how, v.dtype, xp), dtype=v.dtype)
    if kind(v.dtype) == "bool":
        return (xp.all if how == "min" else xp.any)(v, axis=axes, keepdims=True)
    if how in ("sum", "prod"):
        return getattr(xp, how)(v, axis=axes, keepdims=True, dtype=v.dtype)
    return getattr(xp, how)(v, axis=axes, keepdims=True)


def run(
    body: Callable[..., Array],
    x: RaggedArray,
    *scalars: Any,
    axis: Axis,
    keepdims: bool,
    where: Any = None,
    length: int | None = None,
    **static: Any,
) -> Any:
    """Reduce a RaggedArray: ``body(frame, values, where, *scalars, **static)``, then its structure."""
    k, operands = to_common_backend((contiguous(x),) if where is None else (contiguous(x), where))
    states: Any = None
    agrees: Any = True
    if where is not None:
        met = _masked(*operands)
        operands, states, agrees = [*met.operands], met.states, met.ok
        operands[0] = RaggedArray(operands[0].values[: met.template.capacity, ...], met.template.partitions)
    view = row_view(operands[0], axis)
    x, axes = view.rows, view.axes
    length, ok = column_length(x, axes, None if length is None else sizes_of(length))
    if where is not None:
        where, state = view.of(operands[1], states[1])
        states = (("same",) * (x.ragged_rank + 1), state)
    values, new = k.call(
        _run, x, where, *scalars, body=body, axes=axes, length=length, keepdims=keepdims, states=states,
        ok=both(ok, agrees), **static,
    )  # fmt: skip
    out = _structured(x, axes, values, new, length, keepdims)
    return view.with_unit_axes(out) if keepdims else out


def _masked(x: RaggedArray, where: Any) -> BroadcastPlan:
    """How a ``where=`` meets the array that is reduced, whose shape is that of both."""
    if not (isinstance(where, bool) or (hasattr(where, "dtype") and kind(where.dtype) == "bool")):
        what = str(where.dtype) if hasattr(where, "dtype") else repr(where)
        raise TypeError(error_text("a bool where=", what, "Compare it first."))
    met = plan([x, where])
    if met.template.shape != x.shape:
        raise ValueError(error_text(f"where= that broadcasts to {x.shape}", f"{where.shape}", "Reduce its rank."))
    return met


def _structured(x: RaggedArray, axes: Axes, values: Array, new: Any, length: int | None, keepdims: bool) -> Any:
    """The values of a reduction over what it keeps of ``x``; ``new`` partitions were computed with them."""
    if axes.block:
        return rebuild_components(x, new[-1], values, axes.block if keepdims else ())
    if not axes.levels:
        return rebuild(x.partitions, values)
    if len(axes.levels) == x.ragged_rank + 1:
        return values
    kept = x.partitions[: axes.levels[0] - 1] if new is None else new
    if keepdims:
        nrows = x.nrows if axes.levels[0] else length
        assert nrows is not None
        kept = _with_unit_axes(nrows, kept, axes.levels, x.ragged_rank + 1, values.shape[0])
    return rebuild(kept, values)


def _run(
    x: RaggedArray, where: Any, *scalars: Any, body: Any, axes: Axes, length: int | None, keepdims: bool, states: Any,
    ok: Any, **static: Any,
) -> Any:  # fmt: skip
    if where is not None:
        where = lay_out(BroadcastPlan(x, (x, where), states))[1]
    frame = Frame(x, axes, length)
    out = body(frame, x.values, where, *scalars, **static)
    return frame.finish(fill_unless(fill_unless(out, ok), frame.ok), keepdims)


def column_length(x: RaggedArray, axes: Axes, length: int | None) -> tuple[int | None, Any]:
    """Size of the first kept axis when axis 0 is reduced and a ragged one becomes dense; whether rows fit."""
    kept = [level for level in range(x.ragged_rank + 1) if level not in axes.levels]
    p = x.partitions[kept[0] - 1] if kept and kept[0] > 0 else None
    if not isinstance(p, RowPartition):
        if length is not None:
            raise ValueError(
                error_text("no length=, as the result's size is known", str(length), "Drop it, or reduce axis 0.")
            )
        return (p.length if isinstance(p, UniformPartition) else None), True
    k = kernels(p.splits)
    if k.is_concrete(p.splits):
        longest: Any = longest_row(p)
        check_capacity(longest, longest if length is None else length, "a length", "length=")
        return (longest if length is None else length), True
    if length is None:
        raise DynamicShapeError(error_text("a static length", "traced row lengths", "Pass `length=`."))
    return length, check_capacity(k.call(traced_longest, p), length, "a length", "length=")


def column_bound(x: RaggedArray, axes: Axes) -> int | None:
    """A static size that `column_length` cannot exceed, for ops that only use columns as groups."""
    kept = [level for level in range(x.ragged_rank + 1) if level not in axes.levels]
    if not kept or kept[0] == 0:
        return None
    p = x.partitions[kept[0] - 1]
    return p.length if isinstance(p, UniformPartition) else entry_counts(x.partitions, x.capacity)[kept[0]]


def _with_unit_axes(
    nrows: int, kept: tuple[Partition, ...], reduced: tuple[int, ...], levels: int, entries: int
) -> tuple[Partition, ...]:
    """Put an axis of size 1 where each reduced level was."""
    counts = entry_counts(kept, entries) if kept else (nrows,)
    below = iter(zip(kept, counts[1:], strict=False))
    first = next(level for level in range(levels) if level not in reduced)
    out: tuple[Partition, ...] = ()
    above = 1 if first else nrows
    for level in range(1, levels):
        if level in reduced:
            out = (*out, UniformPartition(above, 1))
        elif level == first:
            out, above = (*out, UniformPartition(above, nrows)), nrows
        else:
            p, above = next(below)
            out = (*out, p)
    return out


def accumulator(x: Array, want: str) -> Any:
    """Dtype to accumulate in: float32 for halves; for ``sum`` the default integer, for ``float`` the default float."""
    k, xp, what = kernels(x), namespace(x), kind(x.dtype)
    if is_half(x.dtype):
        return xp.float32
    if what in ("float", "complex"):
        return x.dtype
    if want == "sum":
        return k.dtype("uint64" if what == "uint" else "int64")
    return k.dtype("float64")
