"""From a key that was read to a result: views and structure where that is enough, else one pass of `select`."""

from typing import Any

from ..._array import RaggedArray, rebuild
from ..._errors import OP, DynamicShapeError, error_text
from ..._partition import Partition, RowPartition, UniformPartition, entry_counts, levels_only
from ..._typing import Array
from ...backends import kernels, namespace
from ...structure.checks import forbid
from ..unbind import rows_of
from .gather import ALL, NEW, index_inner, select
from .keys import IndexPlan, read


def run(x: RaggedArray, items: list[Any], *, fill: Any = None, raises: bool = True) -> Any:
    """The selection of a key that has one item per axis, and new axes."""
    return perform(read(x, items), fill=fill, raises=raises)


def perform(plan: IndexPlan, *, fill: Any = None, raises: bool = True) -> Any:
    """The selection of a plan. What rows lack raises `IndexError` where it can be read, else gets ``fill``."""
    out = _structural(plan)
    if out is None:
        out = _general(plan, fill, raises)
        out = _without_first(out, plan) if plan.drop else out
    return _with_leading(out, plan.leading)


def _structural(plan: IndexPlan) -> Any:
    """The result where no values move (on NumPy a view), else None."""
    x, steps, k = plan.x, plan.steps, plan.x.kernels
    first, rest = steps[0], steps[1:]
    row = None
    if any(step.kind not in ("all", "new") for step in rest):
        return None
    if first.kind == "run" and first.bounds[2] == 1 and k.has_exact_sizes:
        start = plan.operands[first.operand]
        x = view(x, start, start + first.shape[0])
    elif first.kind == "at" and isinstance(plan.operands[first.operand], int):
        if NEW in rest or not kernels(x.row_splits).is_concrete(x.partitions):
            return None
        row = plan.operands[first.operand] % x.nrows
    elif first != ALL:
        return None
    if any(step != ALL for step in plan.inner):
        x = RaggedArray(k.call(index_inner, x.values, plan.operands, inner=plan.inner), x.partitions)
    if row is not None:
        return rows_of(x, [row], "")[0]
    partitions: tuple[Partition, ...] = ()
    count, below = x.nrows, iter(zip(x.partitions, entry_counts(x.partitions, x.capacity)[1:], strict=True))
    for step in rest:
        if step == NEW:
            partitions = (*partitions, UniformPartition(count, 1))
        else:
            p, count = next(below)
            partitions = (*partitions, p)
    return RaggedArray(x.values, partitions)


def _general(plan: IndexPlan, fill: Any, raises: bool) -> Any:
    x, k = plan.x, plan.x.kernels
    values, new, short = k.call(select, x.values, x.partitions, plan.operands, fill, steps=plan.steps, inner=plan.inner)
    if raises:
        axes = [a for a, step in enumerate(s for s in plan.steps if s != NEW) if step.kind in ("at", "take", "each")]
        for axis, missing in zip(axes, short, strict=True):
            report(missing, axis)
    kept: list[Partition] = list(new)
    level = at = 0
    for step in plan.steps:  # partitions above the first change are the old objects, which then agree at once
        if step.kind not in ("all", "new"):
            break
        if step == ALL and level:
            kept[at] = x.partitions[level - 1]
        at += step == NEW or level > 0
        level += step == ALL
    return rebuild(tuple(kept), values)


_INSTEAD = {
    "getitem": "Use `ra.row_item(x, i, fill_value=)`.",
    "first": "Use `ra.first(x, fill_value=)`.",
    "last": "Use `ra.last(x, fill_value=)`.",
}
"""What takes an entry of every row and fills where a row has none."""


def report(missing: tuple[Array, ...], axis: int, advice: str = "Check `x.row_lengths()`.") -> None:
    """Raise, or check at run time, where a row lacks an index; see `first_short`."""
    bad, row, length, wanted = missing
    if not (kernels(bad).is_concrete(bad) or kernels(bad).checking()):
        return
    advice = _INSTEAD.get(OP.get(), advice) if axis == 1 else advice
    what, got = f"index {{wanted}} in every row along axis {axis}", "length {length} at row {row}"
    forbid(bad, what, got, advice, error=IndexError, wanted=wanted, length=length, row=row)


def _without_first(x: Any, plan: IndexPlan) -> Any:
    """The one entry of axis 0, behind the new axes that follow it in the key."""
    if not isinstance(x, RaggedArray):
        return x[0, ...]
    kept = next((n for n, step in enumerate(plan.steps) if step.kind not in ("new", "at")), len(plan.steps))
    new = plan.steps[1:kept].count(NEW)
    p = x.partitions[new]
    if isinstance(p, UniformPartition):
        return rebuild(x.partitions[1:], x.values)
    if not kernels(x.row_splits).is_concrete(x.partitions):
        raise dynamic_row(plan.x)
    return _with_leading(rows_of(RaggedArray(x.values, x.partitions[new:]), [0], "")[0], new)


def dynamic_row(x: RaggedArray) -> DynamicShapeError:
    advice = "Use `ra.row(x, i, length=)`." if x.ragged_rank == 1 else "Use `ra.take(x, indices, capacity=)`."
    return DynamicShapeError(error_text("a row whose length can be read", "a traced one", advice))


def _with_leading(x: Any, axes: int) -> Any:
    """New axes of size 1 in front."""
    if not axes:
        return x
    if not isinstance(x, RaggedArray):
        return namespace(x).reshape(x, (*(1,) * axes, *x.shape))
    return RaggedArray(x.values, (*(UniformPartition(1, 1),) * (axes - 1), UniformPartition(1, x.nrows), *x.partitions))


def view(x: RaggedArray, start: int, stop: int) -> RaggedArray:
    """Rows ``start:stop`` over a slice of the same values (concrete structure)."""
    new: tuple[Partition, ...] = ()
    for p in levels_only(x.partitions):
        if isinstance(p, UniformPartition):
            new = (*new, UniformPartition(stop - start, p.length))
            start, stop = start * p.length, stop * p.length
        else:
            splits = p.splits[start : stop + 1]
            start, stop = int(splits[0]), int(splits[-1])
            new = (*new, RowPartition(splits - splits[0]))
    return RaggedArray(x.values[start:stop, ...], new)
