"""Factors, eigenvalues and singular values of matrices, component by component: part of ``ra.linalg``."""

from typing import Any, Literal, NamedTuple

from .._errors import error_text
from .._signatures import like_first
from ..engine.components.form import Sizes, any_ragged
from ._matrix_ops import dense, of_matrices, same, smaller

__all__ = ["cholesky", "eigh", "eigvalsh", "qr", "svd", "svdvals"]


class EighResult(NamedTuple):
    """What `eigh` gives."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """What `qr` gives."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """What `svd` gives."""

    U: Any
    S: Any
    Vh: Any


@like_first
def cholesky(x: Any, /, *, upper: bool = False, bucket: Any = None) -> Any:
    """Lower (or upper) triangular factor of positive definite matrices: ``[n, (m), (m)]`` to the same sizes.

    >>> cholesky(ragged([np.array([[4.0]]), np.array([[4.0, 0.0], [0.0, 9.0]])])).tolist()
    [[[2.0]], [[2.0, 0.0], [0.0, 3.0]]]
    """
    if not any_ragged(x):
        return dense("cholesky", x, upper=upper)
    options = (("upper", bool(upper)),)
    return of_matrices("cholesky", (x,), same, bucket=bucket, square=True, options=options)[0]


def eigh(x: Any, /, *, bucket: Any = None) -> EighResult:
    """Eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices: ``[n, (m)]`` and ``[n, (m), (m)]``.

    >>> eigh(ragged([np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([[5.0]])])).eigenvalues.tolist()
    [[1.0, 2.0], [5.0]]
    """
    if not any_ragged(x):
        return EighResult(*dense("eigh", x))

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        return [sizes[0][:-1], sizes[0]]

    options = (("vectors", True),)
    return EighResult(*of_matrices("eigh", (x,), rule, bucket=bucket, square=True, options=options))


def eigvalsh(x: Any, /, *, bucket: Any = None) -> Any:
    """Eigenvalues, ascending, of symmetric or Hermitian matrices: ``[n, (m), (m)]`` to ``[n, (m)]``.

    >>> eigvalsh(ragged([np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([[5.0]])])).tolist()
    [[1.0, 2.0], [5.0]]
    """
    if not any_ragged(x):
        return dense("eigvalsh", x)

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        return [sizes[0][:-1]]

    options = (("vectors", False),)
    return of_matrices("eigh", (x,), rule, bucket=bucket, square=True, options=options)[0]


def qr(x: Any, /, *, mode: Literal["reduced", "complete"] = "reduced", bucket: Any = None) -> QRResult:
    """Factors with orthonormal columns, ``Q`` ``[n, (h), (k)]``, and upper triangular, ``R`` ``[n, (k), (w)]``.

    ``k`` is the smaller of ``h`` and ``w``, or ``h`` where the mode is ``"complete"``.

    >>> abs(qr(ragged([np.array([[2.0]]), np.array([[3.0], [4.0]])])).R).tolist()
    [[[2.0]], [[5.0]]]
    """
    if not any_ragged(x):
        return QRResult(*dense("qr", x, mode=mode))
    if mode not in ("reduced", "complete"):
        raise ValueError(error_text("mode 'reduced' or 'complete'", repr(mode), "Pass one of these."))

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        *lead, m, n = sizes[0]
        k = m if mode == "complete" else smaller(m, n)
        return [(*lead, m, k), (*lead, k, n)]

    return QRResult(*of_matrices("qr", (x,), rule, bucket=bucket, options=(("mode", mode),)))


def svd(x: Any, /, *, full_matrices: bool = True, bucket: Any = None) -> SVDResult:
    """Singular value decomposition of matrices: ``U``, ``S`` (descending) and ``Vh``.

    ``[n, (h), (h)]``, ``[n, (k)]`` and ``[n, (w), (w)]``, where ``k`` is the smaller of ``h`` and ``w``; without
    ``full_matrices``, ``[n, (h), (k)]``, ``[n, (k)]`` and ``[n, (k), (w)]``, which have gradients.

    >>> svd(ragged([np.array([[2.0]]), np.array([[3.0, 4.0]])])).S.tolist()
    [[2.0], [5.0]]
    """
    if not any_ragged(x):
        return SVDResult(*dense("svd", x, full_matrices=full_matrices))

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        *lead, m, n = sizes[0]
        k = smaller(m, n)
        return [(*lead, m, m if full_matrices else k), (*lead, k), (*lead, n if full_matrices else k, n)]

    options = (("full", bool(full_matrices)),)
    return SVDResult(*of_matrices("svd", (x,), rule, bucket=bucket, options=options))


def svdvals(x: Any, /, *, bucket: Any = None) -> Any:
    """Singular values, descending, of matrices: ``[n, (h), (w)]`` to ``[n, (min(h, w))]``.

    >>> svdvals(ragged([np.array([[2.0]]), np.array([[3.0, 4.0]])])).tolist()
    [[2.0], [5.0]]
    """
    if not any_ragged(x):
        return dense("svdvals", x)

    def rule(sizes: list[Sizes]) -> list[Sizes]:
        *lead, m, n = sizes[0]
        return [(*lead, smaller(m, n))]

    return of_matrices("svdvals", (x,), rule, bucket=bucket)[0]
