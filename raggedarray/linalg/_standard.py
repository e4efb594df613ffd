"""The functions of `linalg`, the standard's extension, but for decompositions."""

from typing import Any, NamedTuple

from .._array import RaggedArray
from .._errors import error_text
from .._signatures import like_first, like_operands
from .._typing import Axis, DType
from ..backends import kernels
from ..engine.arguments import is_scalar, sizes_of
from ..engine.broadcast.levels import same_levels
from ..engine.broadcast.rows import to_common_backend
from ..engine.components.form import Sizes, any_ragged
from ..engine.reduce import run
from ..ops.elementwise.arithmetic import abs as abs_
from ..ops.reduction.reduction import max as max_
from ..ops.reduction.reduction import min as min_
from ..ops.reduction.reduction import sum as sum_
from ._decompositions import cholesky, eigh, eigvalsh, qr, svd, svdvals
from ._diagonals import cross_rows, diagonal_rows
from ._matrix_ops import dense, of_matrices, same
from ._norms import vector_norm_body
from ._products import matmul, matrix_transpose, tensordot, vecdot
from ._strategies import contract

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip


class SlogdetResult(NamedTuple):
    """What `slogdet` gives."""

    sign: Any
    logabsdet: Any


def _number(sizes: list[Sizes]) -> list[Sizes]:
    return [sizes[0][:-2]]


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of three elements along a uniform axis; operands broadcast, capacity stays.

    >>> cross(ragged([[[1, 0, 0]]], item_shape=(None, 3)), np.array([0, 1, 0])).tolist()
    [[[0, 0, 1]]]
    """
    return cross_rows(x1, x2, axis) if any_ragged(x1, x2) else dense("cross", x1, x2, axis=axis)


def det(x: Any, /, *, bucket: Any = None) -> Any:
    """Determinant of square matrices: ``[n, (m), (m)]`` to ``[n]``.

    >>> det(ragged([np.array([[2.0]]), 2.0 * np.eye(2)])).round()
    array([2., 4.])
    """
    if not any_ragged(x):
        return dense("det", x)
    return of_matrices("det", (x,), _number, bucket=bucket, square=True)[0]


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonal of matrices: ``[n, (h), (w)]`` to ``[n, (min(h, w))]``, of the same capacity; no plan is needed.

    >>> diagonal(ragged([np.array([[1, 2], [3, 4]]), np.array([[5, 6, 7]])])).tolist()
    [[1, 4], [5]]
    """
    offset = sizes_of(offset)
    return diagonal_rows(x, offset) if any_ragged(x) else dense("diagonal", x, offset=offset)


@like_first
def inv(x: Any, /, *, bucket: Any = None) -> Any:
    """Inverse of square matrices: ``[n, (m), (m)]`` to the same sizes.

    NumPy raises for a singular one, JAX gives ``inf`` or NaN in that component.

    >>> inv(ragged([np.array([[2.0]]), np.eye(2)])).tolist()
    [[[0.5]], [[1.0, 0.0], [0.0, 1.0]]]
    """
    if not any_ragged(x):
        return dense("inv", x)
    return of_matrices("inv", (x,), same, bucket=bucket, square=True)[0]


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro", bucket: Any = None) -> Any:
    """Norm of matrices: ``[n, (h), (w)]`` to ``[n]``. Frobenius, nuclear, or one of 1, 2, ``inf`` and their negatives.

    Only the norms of singular values, ``"nuc"``, 2 and -2, take components of like shapes together. Over nothing a
    largest sum or singular value is 0, a smallest ``inf``.

    >>> matrix_norm(ragged([np.array([[3.0, 4.0]]), np.array([[1.0], [0.0]])]))
    array([5., 1.])
    """
    if not any_ragged(x):
        return dense("matrix_norm", x, keepdims=keepdims, ord=ord)
    if x.ndim - len(x.partitions) < 2:
        advice = "Make rows of rows one block with `ra.to_blocks`."
        want = "components with two axes or more"
        raise ValueError(error_text(want, f"shape {x.shape}", advice))
    inf = float("inf")
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, inf, -inf):
        sums = sum_(abs_(x), axis=-2 if ord in (1, -1) else -1, keepdims=keepdims)
        axis = (-1 if ord in (1, -1) else -2) if keepdims else -1
        if ord > 0:
            return max_(sums, axis=axis, keepdims=keepdims, initial=0)
        return min_(sums, axis=axis, keepdims=keepdims)
    if ord not in (2, -2, "nuc"):
        want = "'fro', 'nuc', 1, 2, inf or a negative"
        raise ValueError(error_text(want, repr(ord), "Pass one of these."))
    singular = svdvals(x, bucket=bucket)
    if ord == 2:
        reduced = max_(singular, axis=-1, initial=0)
    else:
        reduced = sum_(singular, axis=-1) if ord == "nuc" else min_(singular, axis=-1)
    if not keepdims:
        return reduced
    if isinstance(reduced, RaggedArray):
        return RaggedArray(reduced.values[..., None, None], reduced.partitions)
    return reduced[..., None, None]


@like_first
def matrix_power(x: Any, n: int, /, *, bucket: Any = None) -> Any:
    """Square matrices to an integer power, the same for all.

    >>> matrix_power(ragged([np.array([[2.0]]), 2.0 * np.eye(2)]), 3).tolist()
    [[[8.0]], [[8.0, 0.0], [0.0, 8.0]]]
    """
    if not any_ragged(x):
        return dense("matrix_power", x, args=(n,))
    options = (("n", n),)
    return of_matrices("matrix_power", (x,), same, bucket=bucket, square=True, options=options)[0]


def matrix_rank(x: Any, /, *, rtol: Any = None, bucket: Any = None) -> Any:
    """Rank of matrices, ``[n]``: singular values above ``rtol`` times the largest.

    ``rtol`` is a number; by default the larger side times the precision of the dtype.

    >>> matrix_rank(ragged([np.ones((2, 2)), np.zeros((1, 3))]))
    array([1, 0])
    """
    if not any_ragged(x):
        return dense("matrix_rank", x, rtol=rtol)
    options = (("rtol", _tolerance(rtol)),)
    return of_matrices("matrix_rank", (x,), _number, bucket=bucket, options=options)[0]


def _tolerance(rtol: Any) -> float | None:
    if rtol is None or isinstance(rtol, int | float):
        return rtol
    raise TypeError(error_text("rtol, a number", type(rtol).__name__, "Pass one for all matrices."))


@like_operands
def outer(x1: Any, x2: Any, /, *, bucket: Any = None, capacity: int | None = None) -> Any:
    """Outer product of the vectors of each row: ``[n, (a)]`` and ``[n, (b)]`` to a block ``[n, (a), (b)]``.

    One operand may be a plain vector, the same for all. Under jit the product of two ragged operands takes
    ``capacity``, the elements of the result.

    >>> outer(ragged([[1, 2], [3]]), ragged([[3, 4], [5]])).tolist()
    [[[3, 4], [6, 8]], [[15]]]
    """
    if not any_ragged(x1, x2):
        return dense("outer", x1, x2)
    _, operands = to_common_backend((x1, x2))
    depths = [len(x.partitions) if isinstance(x, RaggedArray) else 0 for x in operands]
    for i, (x, depth) in enumerate(zip(operands, depths, strict=True)):
        if is_scalar(x) or x.ndim != depth + 1:
            got = f"shape {tuple(x.shape)} as operand {i}" if hasattr(x, "shape") else type(x).__name__
            advice = "Use `ra.einsum` for other products."
            raise ValueError(error_text("vectors in each row", got, advice))
    levels = max(depths)
    axes = [(*range(depth), levels + i) for i, depth in enumerate(depths)]
    return contract(axes, (*range(levels), levels, levels + 1), operands, bucket=bucket, capacity=capacity)


@like_first
def pinv(x: Any, /, *, rtol: Any = None, bucket: Any = None) -> Any:
    """Moore-Penrose inverse of matrices: ``[n, (h), (w)]`` to ``[n, (w), (h)]``; ``rtol`` is as for `matrix_rank`.

    >>> pinv(ragged([np.array([[2.0]]), np.array([[1.0], [0.0]])])).tolist()
    [[[0.5]], [[1.0, 0.0]]]
    """
    if not any_ragged(x):
        return dense("pinv", x, rtol=rtol)

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        *lead, m, n = sizes[0]
        return [(*lead, n, m)]

    options = (("rtol", _tolerance(rtol)),)
    return of_matrices("pinv", (x,), rule, bucket=bucket, options=options)[0]


def slogdet(x: Any, /, *, bucket: Any = None) -> SlogdetResult:
    """Sign, and logarithm of the absolute value, of the determinant of square matrices: ``[n]`` each.

    >>> slogdet(ragged([np.array([[-1.0]]), np.eye(2)])).sign
    array([-1.,  1.])
    """
    if not any_ragged(x):
        return SlogdetResult(*dense("slogdet", x))

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        return _number(sizes) * 2

    return SlogdetResult(*of_matrices("slogdet", (x,), rule, bucket=bucket, square=True))


def solve(x1: Any, x2: Any, /, *, bucket: Any = None) -> Any:
    """Solution ``x`` of ``x1 @ x == x2``: ``[n, (m), (m)]`` with matrices ``[n, (m), (k)]`` or vectors ``[n, (m)]``.

    A plain operand of one or two axes is the same for all components, one of more has an entry for each.

    >>> solve(ragged([np.array([[2.0]]), np.eye(2)]), ragged([[4.0], [1.0, 2.0]])).tolist()
    [[2.0], [1.0, 2.0]]
    """
    if not any_ragged(x1, x2):
        return dense("solve", x1, x2)
    x1, x2 = same_levels([x1, x2])
    ranks = [x.ndim - len(x.partitions) if isinstance(x, RaggedArray) else x.ndim - (x.ndim > 2) for x in (x1, x2)]
    if ranks[1] not in (ranks[0] - 1, ranks[0]):
        want, got = "vectors or matrices for matrices", f"shapes {tuple(x1.shape)} and {tuple(x2.shape)}"
        raise ValueError(error_text(want, got, "Nest both alike."))
    vector = ranks[1] < ranks[0]

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        return [sizes[1]]

    options = (("vector", vector),)
    return of_matrices("solve", (x1, x2), rule, bucket=bucket, square=True, options=options)[0]


def trace(x: Any, /, *, offset: int = 0, dtype: DType | None = None) -> Any:
    """Sum of the diagonal of matrices: ``[n, (h), (w)]`` to ``[n]``; no plan is needed.

    >>> trace(ragged([np.array([[1, 2], [3, 4]]), np.array([[5]])]))
    array([5, 5])
    """
    offset = sizes_of(offset)
    if not any_ragged(x):
        return dense("trace", x, offset=offset, dtype=None if dtype is None else kernels(x).dtype(dtype))
    return sum_(diagonal_rows(x, offset), axis=-1, dtype=dtype)


def vector_norm(
    x: Any,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    ord: float = 2,
    where: Any = None,
    length: int | None = None,
) -> Any:
    """Vector norm over any axes: ``[nrows, (len), *inner]`` along axis 1 gives ``[nrows, *inner]``.

    ``ord`` is any number, or ``inf``, ``-inf`` (largest, smallest modulus) or 0 (how many are not 0). An empty row
    gives 0; for ``ord`` below 0, ``inf``. The gradient of a norm that is 0 is 0. Axes, ``keepdims``, ``where``,
    ``length`` and capacity are as for `raggedarray.sum`; complex values give a real norm, integers the default float.

    >>> vector_norm(ragged([[3.0, 4.0], []]), axis=1)
    array([5., 0.])
    """
    if isinstance(x, RaggedArray):
        options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
        return run(vector_norm_body, x, **options, ord=float(ord))
    if where is not None or length is not None:
        got = "where=" if length is None else "length="
        raise TypeError(error_text("no option of ragged arrays", got, "Pass a RaggedArray."))
    return dense("vector_norm", x, axis=axis, keepdims=keepdims, ord=ord)
