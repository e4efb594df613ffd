"""One array as several along an axis, each a slice of it: NumPy's `split` and `array_split`.

Along axis 0 the parts are rows, along an inner or uniform axis parts of every item; along a ragged axis positions
cut every row, as ``x[:, a:b]`` does. Dtype and capacity of a part are those of the slice.
"""

from typing import Any

from ..._errors import error_text
from ...backends import is_array
from ...engine.arguments import sizes_of
from ...engine.axes import normal_axes

__all__ = ["array_split", "split"]


def split(x: Any, indices_or_sections: Any, /, *, axis: int = 0) -> list[Any]:
    """Parts of equal size, or those between positions: ``[nrows, (len), *inner]`` to a list of them.

    An int is the number of parts, which must divide the size of the axis; a sequence of ints holds the positions
    where a new part begins. A ragged axis takes positions only; parts of rows that are too short are empty there.

    >>> [part.tolist() for part in split(ragged([[1, 2, 3], [], [4]]), [2], axis=1)]
    [[[1, 2], [], [4]], [[3], [], []]]
    >>> [part.tolist() for part in split(ragged([[1, 2], [3], [], [4]]), 2)]
    [[[1, 2], [3]], [[], [4]]]
    """
    return _split(x, indices_or_sections, axis, equal=True)


def array_split(x: Any, indices_or_sections: Any, /, *, axis: int = 0) -> list[Any]:
    """`split`, where the number of parts need not divide the axis: the first ones are larger by one.

    >>> [part.tolist() for part in array_split(ragged([[1, 2], [3], []]), 2)]
    [[[1, 2], [3]], [[]]]
    """
    return _split(x, indices_or_sections, axis, equal=False)


def _split(x: Any, where: Any, axis: int, *, equal: bool) -> list[Any]:
    if not is_array(x):
        raise TypeError(error_text("an array", type(x).__name__, "Make one with `ra.ragged`."))
    (axis,) = normal_axes(sizes_of(axis), x.ndim)
    size = x.shape[axis]
    if isinstance(where, list | tuple) or (is_array(where) and where.ndim == 1):
        ends = [sizes_of(where[i]) for i in range(len(where))]
    else:
        ends = _ends(sizes_of(where), size, axis, equal)
    before = (slice(None),) * axis
    last: list[Any] = [*ends, None]
    return [x[(*before, slice(a, b))] for a, b in zip([0, *ends], last, strict=True)]


def _ends(parts: int, size: int | None, axis: int, equal: bool) -> list[int]:
    if parts < 1:
        raise ValueError(error_text("at least one part", str(parts), "Pass how many there shall be."))
    if size is None:
        advice = "Pass the positions where new parts begin."
        raise ValueError(error_text("positions along a ragged axis", f"{parts} parts of axis {axis}", advice))
    if equal and size % parts:
        advice = "Use `ra.array_split`."
        raise ValueError(error_text(f"a number of parts that divides {size}", str(parts), advice))
    each, more = divmod(size, parts)
    return [i * each + min(i, more) for i in range(1, parts)]
