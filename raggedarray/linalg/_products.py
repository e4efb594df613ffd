"""Products of matrices and vectors, component by component.

Each function takes plain arrays too, which go to their own library. Of ragged operands the innermost components are
multiplied: ``(len, *inner)`` of rows, ``(h, w)`` of blocks. A plain operand of one or two axes is the same for all
components, one of more has an entry for each row.
"""

from collections.abc import Sequence
from typing import Any

from .._array import RaggedArray
from .._errors import error_text
from .._partition import BlockPartition, RowPartition, UniformPartition
from .._signatures import like_first
from ..backends import is_half, namespace
from ..engine.arguments import is_scalar
from ..engine.broadcast.levels import same_levels
from ..engine.broadcast.rows import to_common_backend
from ..engine.components.form import any_ragged, form_of
from ..engine.plain import plain
from ..ops.array.dtypes import result_type
from ..ops.elementwise.arithmetic import add, conj, multiply
from ..ops.elementwise.selection import astype
from ..ops.manipulation.reshaping import moveaxis
from ..ops.reduction.reduction import sum as sum_
from ._strategies import contract

__all__ = ["addmm", "bmm", "matmul", "matrix_transpose", "mm", "mv", "tensordot", "vecdot"]


def _run(name: str, *arrays: Any, **options: Any) -> Any:
    moved = plain(*arrays)
    return getattr(namespace(moved[0]), name)(*moved, **options)


def matmul(x1: Any, x2: Any, /, *, bucket: Any = None, capacity: int | None = None) -> Any:
    """Matrix product of components: ``[n, (h), (w)]`` times ``[n, (w), (v)]`` gives ``[n, (h), (v)]``.

    Rows times one matrix, ``[n, (len), d]`` times ``[d, e]``, is one product of the flat values, of the same
    capacity; times a matrix for each row, ``[n, d, e]``, too. A component or plain operand of one axis is a vector.
    Components of three and more axes are lists of matrices. Rows under a level of length 1, ``(n, 1, (len))``, are
    matrices of one row where they meet a plain matrix of one column or an operand of fewer levels. ``x @ y`` is the
    same.

    Matrices of different shapes are multiplied shape by shape. Under jit that takes ``bucket``, a `BucketPlan` of the
    same operands; the result has room for its places, or for ``capacity`` elements. A product of rows over an inner
    axis (``q @ k.T``) or of a block with rows needs no plan; the first needs ``capacity``. Sizes that do not fit raise
    `ValueError`; an axis of size 0 that is summed gives zeros. Halves are summed in float32.

    >>> x = ragged([np.ones((1, 2)), np.ones((2, 3))])
    >>> y = ragged([np.ones((2, 2)), np.ones((3, 1))])
    >>> matmul(x, y).tolist()
    [[[2.0, 2.0]], [[3.0], [3.0]]]
    >>> matmul(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    if not any_ragged(x1, x2):
        return _run("matmul", x1, x2)
    return _matmul(x1, x2, bucket, capacity)


def _matmul(x1: Any, x2: Any, bucket: Any, capacity: int | None) -> Any:
    _, operands = to_common_backend((x1, x2))
    operands = [_matrix_rows(x, other, i) for i, (x, other) in enumerate(zip(operands, operands[::-1], strict=True))]
    lead = next(x for x in operands if isinstance(x, RaggedArray))
    depth = len(lead.partitions)
    parts = [_levels_and_rank(x, lead) for x in operands]
    batch = max(*(rank for _, _, rank in parts), 2) - 2
    first = max(levels for _, levels, _ in parts)
    left, middle, right = (first + batch + i for i in range(3))
    axes = []
    for own, (_, levels, rank) in zip(((left, middle), (middle, right)), parts, strict=True):
        stack = range(first + batch - max(rank - 2, 0), first + batch)
        axes.append((*range(levels), *stack, *((middle,) if rank == 1 else own)))
    kept = [axis for axis, (_, _, rank) in zip((left, right), parts, strict=True) if rank > 1]
    out = (*range(depth), *range(first, first + batch), *kept)
    return contract(axes, out, [x for x, _, _ in parts], bucket=bucket, capacity=capacity)


def _levels_and_rank(x: Any, lead: RaggedArray) -> tuple[Any, int, int]:
    """An operand without leading axes of size 1 that say nothing, its levels, and the axes of a component of it."""
    if isinstance(x, RaggedArray):
        return x, len(x.partitions), x.ndim - len(x.partitions)
    if is_scalar(x) or x.ndim == 0:
        raise ValueError(error_text("vectors and matrices", "a number", "Use `ra.multiply`."))
    per_row = x.ndim > 2
    if per_row and x.shape[0] == 1 and lead.nrows != 1:
        x, per_row = x[0, ...], False
    while x.ndim - per_row > 2 and x.shape[int(per_row)] == 1:
        x = namespace(x).squeeze(x, axis=int(per_row))
    return x, int(per_row), x.ndim - per_row


def _matrix_rows(x: Any, other: Any, i: int) -> Any:
    """Rows under a level of length 1, ``(n, 1, None)``, as matrices of one row where the other operand meets those.

    It does where it has fewer levels, or is a plain matrix of one column to the left of them.
    """
    if not isinstance(x, RaggedArray) or x.values.ndim > 1 or len(x.partitions) < 2:
        return x
    *above, level, rows = x.partitions
    if not (isinstance(level, UniformPartition) and level.length == 1 and isinstance(rows, RowPartition)):
        return x
    if isinstance(other, RaggedArray):
        meets = len(other.partitions) < len(x.partitions)
    else:
        meets = i == 1 and not is_scalar(other) and other.ndim > 1 and other.shape[-1] == 1
    if not meets:
        return x
    block = BlockPartition(form_of(x).block.sizes, axes=(1, None), bound=x.capacity)
    return RaggedArray(x.values, (*above, block))


def mm(x1: Any, x2: Any, /, *, bucket: Any = None, capacity: int | None = None) -> Any:
    """Product of matrices: `matmul` of components of two axes, or of plain matrices.

    >>> mm(ragged([np.ones((1, 2))]), ragged([np.ones((2, 1))])).tolist()
    [[[2.0]]]
    """
    _ranks((x1, 2), (x2, 2))
    return matmul(x1, x2, bucket=bucket, capacity=capacity)


def bmm(x1: Any, x2: Any, /, *, bucket: Any = None, capacity: int | None = None) -> Any:
    """Product of batches of matrices: `matmul` of components of two axes, or of plain arrays of three.

    >>> bmm(ragged([np.ones((1, 2))]), np.ones((1, 2, 3))).shape
    (1, None, 3)
    """
    _ranks((x1, 2), (x2, 2), batch=1)
    return matmul(x1, x2, bucket=bucket, capacity=capacity)


def mv(x1: Any, x2: Any, /, *, bucket: Any = None, capacity: int | None = None) -> Any:
    """Matrix times vector: ``[n, (h), (w)]`` times ``[n, (w)]``, or one vector ``[w]`` for all, is ``[n, (h)]``.

    >>> mv(ragged([np.ones((2, 2)), np.ones((1, 3))]), ragged([[1.0, 2.0], [1.0, 1.0, 1.0]])).tolist()
    [[3.0, 3.0], [3.0]]
    """
    _ranks((x1, 2), (x2, 1))
    return matmul(x1, x2, bucket=bucket, capacity=capacity)


def _ranks(*operands: tuple[Any, int], batch: int = 0) -> None:
    """Raise unless operands are lists of matrices or vectors, as they should be."""
    several = any_ragged(*(x for x, _ in operands))
    allowed: tuple[int, ...]
    xs = same_levels([x for x, _ in operands])
    for i, (x, (_, rank)) in enumerate(zip(xs, operands, strict=True)):
        if isinstance(x, RaggedArray):
            have, allowed = x.ndim - len(x.partitions), (rank,)
        else:
            have, allowed = getattr(x, "ndim", 0), (rank, rank + 1) if several else (rank + batch,)
        if have not in allowed:
            what = {1: "vectors", 2: "matrices", 3: "batches of matrices"}[allowed[0]]
            got = f"shape {tuple(x.shape)}" if hasattr(x, "shape") else type(x).__name__
            raise ValueError(error_text(f"{what} as operand {i}", got, "Use `ra.matmul` for other products."))


def addmm(
    c: Any, x1: Any, x2: Any, /, *, beta: float = 1, alpha: float = 1, bucket: Any = None, capacity: int | None = None
) -> Any:
    """``beta * c + alpha * (x1 @ x2)``, per component; with a ``beta`` of 0 the content of ``c`` does not matter.

    ``c`` broadcasts with the product. The other arguments are those of `matmul`: a plan is made of ``x1`` and ``x2``.

    >>> c, x = ragged([np.ones((2, 2))]), ragged([np.ones((2, 1))])
    >>> addmm(c, x, ragged([np.ones((1, 2))]), beta=2.0).tolist()
    [[[3.0, 3.0], [3.0, 3.0]]]
    """
    _ranks((x1, 2), (x2, 2))
    product_ = matmul(x1, x2, bucket=bucket, capacity=capacity)
    if alpha != 1:
        product_ = multiply(product_, alpha)
    if beta == 0:
        return product_
    return add(c if beta == 1 else multiply(c, beta), product_)


@like_first
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged, of a plain array, of matrices of different shapes, or of inner axes.

    ``[n, (h), (w)]`` gives ``[n, (w), (h)]`` over the same buffer, ``[nrows, (len), a, b]`` gives ``[nrows, (len), b,
    a]``, a view on NumPy: same capacity.

    >>> matrix_transpose(ragged([np.ones((2, 3, 4)), np.ones((1, 3, 4))])).shape
    (2, None, 4, 3)
    """
    if isinstance(x, RaggedArray) and len(x.inner_shape) >= 2:
        return RaggedArray(x.kernels.call(_transposed, x.values), x.partitions)
    if isinstance(x, RaggedArray) and x.block is not None and x.ndim > 2:
        return moveaxis(x, -1, -2)
    if isinstance(x, RaggedArray):
        advice = "Make rows of rows a block with `ra.to_blocks(x)`."
        raise TypeError(error_text("matrices as components", f"rows of shape {x.shape}", advice))
    return _run("matrix_transpose", x)


def _transposed(values: Any) -> Any:
    return namespace(values).matrix_transpose(values)


def tensordot(
    x1: Any,
    x2: Any,
    /,
    *,
    axes: int | tuple[Sequence[int], Sequence[int]] = 2,
    bucket: Any = None,
    capacity: int | None = None,
) -> Any:
    """Sum of products over pairs of axes; a ragged first operand keeps its rows, a second one must be plain.

    ``axes`` is how many of the last axes meet the first ones of the second operand, or two lists of them.
    `einsum` says which rows of two ragged operands meet.

    >>> tensordot(ragged([[[1.0, 2.0]], [[3.0, 4.0]]], item_shape=(None, 2)), np.ones((2, 3)), axes=1).shape
    (2, None, 3)
    """
    if not any_ragged(x1, x2):
        return _run("tensordot", x1, x2, axes=axes)
    if isinstance(x2, RaggedArray):
        advice = "Name the axes with `ra.einsum`."
        raise ValueError(error_text("a plain second operand", f"shape {x2.shape}", advice))
    if isinstance(axes, int):
        pairs = list(zip(range(x1.ndim - axes, x1.ndim), range(axes), strict=True))
    else:
        pairs = [(i % x1.ndim, j % x2.ndim) for i, j in zip(*axes, strict=True)]
    if any(i < len(x1.partitions) for i, _ in pairs) or len(pairs) > x2.ndim:
        want = f"axes from {len(x1.partitions)} to {x1.ndim - 1} of the first operand"
        raise ValueError(error_text(want, f"axes={axes}", "Name the axes with `ra.einsum`."))
    _, arrays = to_common_backend((x1, x2))
    first = tuple(range(x1.ndim))
    second = list(range(x1.ndim, x1.ndim + x2.ndim))
    for i, j in pairs:
        second[j] = i
    summed = {i for i, _ in pairs}
    out = tuple(axis for axis in (*first, *second) if axis not in summed)
    return contract((first, tuple(second)), out, arrays, bucket=bucket, capacity=capacity)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Dot product along one axis, the first operand conjugated: ``[n, (len)]`` with ``[n, (len)]`` gives ``[n]``.

    Operands broadcast as elsewhere. An empty row gives 0; halves are summed in float32; same capacity where rows stay.

    >>> vecdot(ragged([[1.0, 2.0], []]), ragged([[3.0, 4.0], []]))
    array([11.,  0.])
    >>> vecdot(np.array([[1.0, 2.0]]), np.array([3.0, 4.0]))
    array([11.])
    """
    if not any_ragged(x1, x2):
        return _run("vecdot", x1, x2, axis=axis)
    _, (x1, x2) = to_common_backend((x1, x2))
    dtype = result_type(x1, x2)
    if is_half(dtype):
        x1, x2 = (x if is_scalar(x) else astype(x, "float32") for x in (x1, x2))
    out = sum_(multiply(conj(x1), x2), axis=axis)
    return out if out.dtype == dtype else astype(out, dtype)
