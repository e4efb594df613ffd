"""Components as rows, for ops over some of their axes: seen as rows, worked on, put back.

Over all axes of packed components each of them is one row of elements; over axes of components and the levels above,
components are rows of rows. Over some axes only they stay what they are, and so do rows.
"""

from typing import Any, NamedTuple

from .._array import RaggedArray
from .._typing import Array, Axis
from ..backends import namespace
from .axes import Axes, split_axes
from .packing import as_block, to_rows


class RowView(NamedTuple):
    """The packed ``x`` as ``rows``, and what the axes of an op are of these."""

    x: RaggedArray
    rows: RaggedArray
    axes: Axes
    merged: int = 0
    """How many axes of components became part of a row."""

    def of(self, y: Any, state: Any) -> tuple[Any, Any]:
        """An operand laid out over the slots of ``x``, with its state, over those of the rows; numbers as they are."""
        if self.rows is self.x or state is None:
            return y, state
        over = RaggedArray(y.values, self.x.partitions)
        values = over.values if self.merged else to_rows(over).values
        return RaggedArray(values, self.rows.partitions), ("same",) * (self.rows.ragged_rank + 1)

    def restored(self, values: Array) -> RaggedArray:
        """Values over the slots of the rows, of the inner axes of ``x``, over the partitions of ``x``."""
        if self.rows is self.x or self.merged:
            return RaggedArray(values, self.x.partitions)
        return as_block(self.x, RaggedArray(values, self.rows.partitions))

    def with_unit_axes(self, out: Any) -> Any:
        """A result that keeps reduced axes with size 1, with those that became part of a row."""
        more, axis = self.merged - 1, self.rows.ragged_rank
        if more < 1:
            return out
        values, at = (out.values, axis - out.ragged_rank) if isinstance(out, RaggedArray) else (out, axis)
        values = namespace(values).reshape(values, (*values.shape[:at], *(1,) * more, *values.shape[at:]))
        return RaggedArray(values, out.partitions) if isinstance(out, RaggedArray) else values


def row_view(x: RaggedArray, axis: Axis) -> RowView:
    """How an op over ``axis`` sees the packed ``x``."""
    axes, block = split_axes(x, axis), x.block
    if block is None or not (axes.levels or len(axes.block) == len(block.axes)):
        return RowView(x, x, axes)
    if len(axes.block) == len(block.axes):
        return RowView(x, x.components_as_rows(), Axes((*axes.levels, x.ragged_rank), axes.inner), len(block.axes))
    rows = to_rows(x)
    return RowView(x, rows, split_axes(rows, axis))
