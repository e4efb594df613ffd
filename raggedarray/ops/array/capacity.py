"""Storage: how many slots and rows are allocated, which jit sees, beside how many are used, which it does not."""

from ..._array import RaggedArray
from ..._errors import DynamicShapeError, error_text
from ..._partition import BlockPartition, RowPartition, UniformPartition
from ..._typing import Array
from ...backends import kernels, namespace
from ...engine.arguments import sizes_of
from ...engine.bucket_size import bucket_size
from ...engine.innermost import innermost
from ...engine.packing import contiguous
from ...engine.resizing import used_entries, with_capacity
from ...structure.blocks import resized

__all__ = ["bucket_size", "compact", "with_capacity", "with_rows"]


def with_rows(x: RaggedArray, nrows: int, /) -> RaggedArray:
    """``nrows`` rows: those of ``x``, and empty ones behind them. Capacity is unchanged.

    Reductions then have more rows too: a mean over the empty ones is NaN. To make the row count data, put
    the rows under a leading axis, shape ``(1, nrows, None)``.

    >>> with_rows(ragged([[1], [2, 3]]), 4).tolist()
    [[1], [2, 3], [], []]
    """
    nrows = sizes_of(nrows)
    if nrows < x.nrows:
        raise ValueError(error_text(f"at least {x.nrows} rows", f"{nrows}", "Take rows with `x[:n]`."))
    first = x.partitions[0]
    if isinstance(first, BlockPartition):
        x = contiguous(x)
        block = innermost(x)
        return RaggedArray(x.values, (resized(block, nrows, block.bound),))
    if isinstance(first, UniformPartition):
        raise ValueError(
            error_text("a ragged axis 1", f"length {first.length}", "Make it ragged: empty rows have no length.")
        )
    splits = x.kernels.call(_more_rows, first.splits, nrows=nrows)
    return RaggedArray(x.values, (RowPartition(splits), *x.partitions[1:]))


def _more_rows(splits: Array, *, nrows: int) -> Array:
    xp = namespace(splits)
    return xp.concat((splits, xp.broadcast_to(splits[-1], (nrows + 1 - splits.shape[0],))))


def compact(x: RaggedArray, /) -> RaggedArray:
    """Without slack: exact capacity, and no slack rows at inner levels. Reads the splits, so not under jit.

    >>> compact(with_capacity(ragged([[1.0, 2.0], [3.0]]), 8)).capacity
    3
    """
    if not kernels(x.values).is_concrete(x.partitions):
        raise DynamicShapeError(
            error_text("row lengths that can be read", "traced ones", "Use `ra.with_capacity(x, capacity)`.")
        )
    return with_capacity(x, used_entries(x))
