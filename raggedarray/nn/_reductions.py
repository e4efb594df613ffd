"""How the losses of elements become what is asked for: one number, one per row, or the losses themselves."""

from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Array
from ..backends import namespace
from ..engine.axes import Axes
from ..engine.packing import contiguous
from ..engine.reduce import Frame

REDUCTIONS = ("mean", "sum", "row_mean", "none")


def need_reduction(reduction: str, more: tuple[str, ...] = ()) -> None:
    """Raise unless it is one."""
    if reduction not in (*REDUCTIONS, *more):
        names = ", ".join(map(repr, (*REDUCTIONS, *more)))
        raise ValueError(error_text(f"reduction= one of {names}", repr(reduction), "Pass one of these."))


def packed(x: Any) -> Any:
    """An operand whose slots all hold elements: a strided view is copied."""
    return contiguous(x) if isinstance(x, RaggedArray) else x


def in_rows(t: RaggedArray) -> RaggedArray:
    """The same slots, each component of a packed block as one row."""
    return t.components_as_rows()


def reduced(t: RaggedArray | None, loss: Array, share: Array | None, reduction: str, dtype: Any) -> Array:
    """A loss per element reduced in a body; ``share`` is what each counts in a mean (None: 1)."""
    xp = namespace(loss)
    if reduction == "none":
        return xp.astype(loss, dtype, copy=False)
    by_row = reduction == "row_mean"
    if t is None:
        axes = tuple(range(int(by_row), loss.ndim))
        count: Any = xp.ones_like(loss) if share is None else share
        total, n = (xp.sum(a, axis=axes) if axes else a for a in (loss, count))
    else:
        t = in_rows(t)
        f = Frame(t, Axes(tuple(range(int(by_row), t.ragged_rank + 1)), tuple(range(1, loss.ndim))), None)
        total = f.reduce("sum", loss)
        n = f.count(loss, None, xp.int32) if share is None else f.reduce("sum", share)
        total, n = (xp.reshape(a, (a.shape[0],) if by_row else ()) for a in (total, n))
    if reduction == "batchmean":
        rows = t.nrows if t is not None else loss.shape[0] if loss.ndim else 1
        total = total / max(rows, 1)
    elif reduction != "sum":
        n = xp.astype(n, total.dtype)
        total = xp.where(n == 0, xp.zeros_like(total), total / xp.where(n == 0, xp.ones_like(n), n))
    return xp.astype(total, dtype, copy=False)


def finished(t: RaggedArray, out: Array, reduction: str) -> Any:
    """The structure of a reduced loss."""
    return RaggedArray(out, t.partitions) if reduction == "none" else out
