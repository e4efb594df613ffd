"""Linear algebra, the standard's ``linalg`` extension: called as ``ra.linalg.inv``, ...

Plain arrays go to their own library. `vector_norm` also takes RaggedArrays, over any axes; the other functions
raise `TypeError` for one.
"""

from typing import Any, Literal

from .._array import RaggedArray
from .._errors import complaint
from .._typing import Array, Axis, DType
from ..backends import kernels, kind, namespace
from ._reduce import Frame, accumulator, run
from .linear_algebra import matmul, matrix_transpose, plain, tensordot, vecdot

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]  # fmt: skip


def _run(name: str, *arrays: Any, args: tuple[Any, ...] = (), **options: Any) -> Any:
    moved = plain(f"linalg.{name}", *arrays)
    return getattr(namespace(moved[0]).linalg, name)(*moved, *args, **options)


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Lower (or upper) triangular factor of positive definite matrices.

    >>> cholesky(np.array([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]])
    """
    return _run("cholesky", x, upper=upper)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of three elements.

    >>> cross(np.array([1, 0, 0]), np.array([0, 1, 0]))
    array([0, 0, 1])
    """
    return _run("cross", x1, x2, axis=axis)


def det(x: Any, /) -> Any:
    """Determinant of square matrices.

    >>> float(det(np.eye(2)))
    1.0
    """
    return _run("det", x)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Diagonal of matrices.

    >>> diagonal(np.array([[1, 2], [3, 4]]))
    array([1, 4])
    """
    return _run("diagonal", x, offset=offset)


def eigh(x: Any, /) -> Any:
    """Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    return _run("eigh", x)


def eigvalsh(x: Any, /) -> Any:
    """Eigenvalues, ascending, of symmetric or Hermitian matrices.

    >>> eigvalsh(np.array([[2.0, 0.0], [0.0, 1.0]]))
    array([1., 2.])
    """
    return _run("eigvalsh", x)


def inv(x: Any, /) -> Any:
    """Inverse of square matrices.

    >>> inv(np.array([[2.0]]))
    array([[0.5]])
    """
    return _run("inv", x)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norm of matrices: Frobenius, nuclear, or one of 1, 2, ``inf`` and their negatives.

    >>> float(matrix_norm(np.array([[3.0, 4.0]])))
    5.0
    """
    return _run("matrix_norm", x, keepdims=keepdims, ord=ord)


def matrix_power(x: Any, n: int, /) -> Any:
    """Square matrices to an integer power.

    >>> matrix_power(np.array([[2.0]]), 3)
    array([[8.]])
    """
    return _run("matrix_power", x, args=(n,))


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Rank of matrices: singular values above ``rtol`` times the largest.

    >>> int(matrix_rank(np.ones((2, 2))))
    1
    """
    return _run("matrix_rank", x, rtol=rtol)


def outer(x1: Any, x2: Any, /) -> Any:
    """Outer product of two vectors.

    >>> outer(np.array([1, 2]), np.array([3, 4]))
    array([[3, 4],
           [6, 8]])
    """
    return _run("outer", x1, x2)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Moore-Penrose inverse of matrices.

    >>> pinv(np.array([[2.0]]))
    array([[0.5]])
    """
    return _run("pinv", x, rtol=rtol)


def qr(x: Any, /, *, mode: Literal["reduced", "complete"] = "reduced") -> Any:
    """Factors ``Q`` with orthonormal columns and ``R`` upper triangular of matrices.

    >>> abs(qr(np.array([[2.0]])).R)
    array([[2.]])
    """
    return _run("qr", x, mode=mode)


def slogdet(x: Any, /) -> Any:
    """Sign, and logarithm of the absolute value, of the determinant of square matrices.

    >>> float(slogdet(np.array([[-1.0]])).sign)
    -1.0
    """
    return _run("slogdet", x)


def solve(x1: Any, x2: Any, /) -> Any:
    """Solution ``x`` of ``x1 @ x == x2``.

    >>> solve(np.array([[2.0]]), np.array([4.0]))
    array([2.])
    """
    return _run("solve", x1, x2)


def svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    """Singular value decomposition: ``U``, ``S`` (descending) and ``Vh`` of matrices.

    >>> svd(np.array([[2.0]])).S
    array([2.])
    """
    return _run("svd", x, full_matrices=full_matrices)


def svdvals(x: Any, /) -> Any:
    """Singular values, descending, of matrices.

    >>> svdvals(np.array([[2.0]]))
    array([2.])
    """
    return _run("svdvals", x)


def trace(x: Any, /, *, offset: int = 0, dtype: DType | None = None) -> Any:
    """Sum of the diagonal of matrices.

    >>> int(trace(np.array([[1, 2], [3, 4]])))
    5
    """
    return _run("trace", x, offset=offset, dtype=None if dtype is None else kernels(x).dtype(dtype, x))


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
        return run("linalg.vector_norm", _vector_norm, x, **options, ord=float(ord))
    if where is not None or length is not None:
        got = "where=" if length is None else "length="
        raise TypeError(complaint("linalg.vector_norm", "no option of ragged arrays", got, "Pass a RaggedArray."))
    return _run("vector_norm", x, axis=axis, keepdims=keepdims, ord=ord)


def _vector_norm(f: Frame, v: Array, where: Array | None, *, ord: float) -> Array:
    xp, wide = f.xp, accumulator(v, "float")
    out = v.dtype if kind(v.dtype) in ("float", "complex") else wide
    v = xp.astype(v, wide, copy=False)
    size = xp.abs(v) if kind(wide) == "complex" else v * xp.sign(v)  # whose gradient at 0 is 0
    out = size.dtype if kind(out) == "complex" else out

    def counted(v: Array, nothing: float) -> Array:
        return v if where is None else xp.where(where, v, xp.asarray(nothing, dtype=v.dtype))

    if ord == float("inf"):
        norm = xp.maximum(f.reduce("max", counted(size, 0.0)), xp.asarray(0.0, dtype=size.dtype))
    elif ord == -float("inf"):
        norm = f.reduce("min", counted(size, float("inf")))
    elif ord == 0:
        norm = f.reduce("sum", counted(xp.astype(size != 0, size.dtype), 0.0))
    elif ord == 1:
        norm = f.reduce("sum", counted(size, 0.0))
    elif ord == 2:
        square = xp.real(v * xp.conj(v)) if kind(v.dtype) == "complex" else size * size
        total = f.reduce("sum", counted(square, 0.0))
        none = total == 0
        norm = xp.where(none, xp.zeros_like(total), xp.sqrt(xp.where(none, xp.ones_like(total), total)))
    else:
        total = f.reduce("sum", counted(_power(xp, size, ord), 0.0))
        norm = _power(xp, total, 1 / ord)
    return xp.astype(norm, out, copy=False)


def _power(xp: Any, x: Array, p: float) -> Array:
    """``x ** p`` of numbers from 0 up, whose gradient at 0 is 0."""
    none = x == 0
    safe = xp.where(none, xp.ones_like(x), x)
    at_zero = xp.asarray(0.0 if p > 0 else float("inf"), dtype=x.dtype)
    return xp.where(none, at_zero, safe ** xp.asarray(p, dtype=x.dtype))
