"""Axes of an operand: as non-negative ints, and as what they are of a RaggedArray."""

from operator import index
from typing import Any, NamedTuple

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Axis


class Axes(NamedTuple):
    """Levels, axes of ``values``, and some but not all axes of a block (all static)."""

    levels: tuple[int, ...]
    inner: tuple[int, ...]
    block: tuple[int, ...] = ()


def normal_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Axes as a sorted tuple of non-negative ints."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    try:
        given = tuple(index(a) for a in given)
    except TypeError:
        raise TypeError(error_text("an int axis, a tuple of them or None", repr(axis), "Name the axes.")) from None
    for a in given:
        if not -ndim <= a < ndim:
            raise IndexError(error_text(f"an axis from {-ndim} to {ndim - 1}", str(a), "Check `x.shape`."))
    axes = tuple(sorted(a % ndim for a in given))
    if len(set(axes)) < len(axes):
        raise ValueError(error_text("each axis once", str(axis), "Drop the repeated axis."))
    return axes


def one_axis(axis: Any, ndim: int, advice: str = "Pass an int.") -> int:
    """An axis as a non-negative int."""
    if isinstance(axis, tuple | list) or axis is None:
        raise TypeError(error_text("one axis", repr(axis), advice))
    return normal_axes(axis, ndim)[0]


def axes_in_order(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Axes as non-negative ints, in the order given; each once."""
    given = tuple(range(ndim)) if axis is None else tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    normal_axes(given, ndim)
    return tuple(a % ndim for a in given)


def split_axes(x: RaggedArray, axis: Axis) -> Axes:
    """Axes of a RaggedArray as levels, axes of its components and axes of its values."""
    axes, block, depth = normal_axes(axis, x.ndim), x.block, x.depth
    last = depth if block is None else depth - len(block.axes)
    inside = tuple(a - last - 1 for a in axes if last < a <= depth)
    return Axes(tuple(a for a in axes if a <= last), tuple(a - depth for a in axes if a > depth), inside)
