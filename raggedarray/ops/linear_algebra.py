"""Matrix products, as the array API standard's main namespace has them, on plain arrays.

Each passes plain arrays to their own library; a RaggedArray raises `TypeError` and says what to use instead, but
`matrix_transpose` takes one whose last two axes are inner axes.
"""

from collections.abc import Sequence
from typing import Any

from .._array import RaggedArray
from .._errors import complaint
from ..backends import namespace
from ._broadcast import meet

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def plain(op: str, *arrays: Any) -> list[Any]:
    """Plain arrays, in one library; `TypeError` if one is ragged."""
    for x in arrays:
        if isinstance(x, RaggedArray):
            advice = "Use `ra.nn.linear(x, weight)`, or `ra.map_values(f, x)` for a function of the flat values."
            advice = "Use `ra.nn.linear(x, weight)`." if op == "matmul" else advice
            raise TypeError(complaint(op, "plain arrays", f"a RaggedArray of shape {x.shape}", advice))
    return meet(op, arrays)[1]


def _run(name: str, *arrays: Any, **options: Any) -> Any:
    moved = plain(name, *arrays)
    return getattr(namespace(moved[0]), name)(*moved, **options)


def matmul(x1: Any, x2: Any, /) -> Any:
    """Matrix product of the last two axes, of plain arrays; `raggedarray.nn.linear` multiplies ragged rows.

    >>> matmul(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    return _run("matmul", x1, x2)


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged, of a plain array, or of a RaggedArray where both are inner axes.

    ``[nrows, (len), a, b]`` gives ``[nrows, (len), b, a]``: same capacity, a view on NumPy.

    >>> matrix_transpose(ragged([np.ones((2, 3, 4)), np.ones((1, 3, 4))])).shape
    (2, None, 4, 3)
    """
    if isinstance(x, RaggedArray) and len(x.inner_shape) >= 2:
        return RaggedArray(x.kernels.call(_transposed, x.values), x.partitions)
    return _run("matrix_transpose", x)


def _transposed(values: Any) -> Any:
    return namespace(values).matrix_transpose(values)


def tensordot(x1: Any, x2: Any, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Any:
    """Sum of products over pairs of axes of plain arrays.

    >>> tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
    (2, 4)
    """
    return _run("tensordot", x1, x2, axes=axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Dot product along one axis of plain arrays, the first conjugated.

    >>> vecdot(np.array([[1.0, 2.0]]), np.array([3.0, 4.0]))
    array([11.])
    """
    return _run("vecdot", x1, x2, axis=axis)
