"""Orthogonal factors of matrices that end before their stack does.

Rows of zeros below a matrix stay zero in its orthogonal factor. Columns past its last one would make it singular, and
null vectors of the matrix would mix with those of the padding; so they get rows of their own, and a singular value
each above those of the matrix. What is left of the factors in the corner is then a factorisation of the matrix,
also where it is singular, and has its gradient.
"""

from collections.abc import Callable
from typing import Any

from .._typing import Array
from ..backends import namespace


def _counts(xp: Any, a: Array, dtype: Any) -> tuple[Array, Array]:
    """Row and column numbers, as arrays that meet ``a``."""
    lead = (1,) * (a.ndim - 2)
    rows = xp.reshape(xp.arange(a.shape[-2], dtype=dtype), (*lead, a.shape[-2], 1))
    return rows, xp.reshape(xp.arange(a.shape[-1], dtype=dtype), (*lead, 1, a.shape[-1]))


def _adjoint(a: Array) -> Array:
    xp = namespace(a)
    return xp.matrix_transpose(xp.conj(a) if xp.isdtype(a.dtype, "complex floating") else a)


def _factors(a: Array, k: Array) -> tuple[Array, Array]:
    """``Q`` and ``R`` of the first ``k`` columns: the others get rows of their own."""
    xp = namespace(a)
    n = a.shape[-1]
    own = xp.zeros((*a.shape[:-2], n, n), dtype=a.dtype)
    rows, columns = _counts(xp, own, k.dtype)
    own = xp.where((rows == columns) & (columns >= k), xp.ones_like(own), own)
    _, columns = _counts(xp, a, k.dtype)
    top = xp.where(columns < k, a, xp.zeros_like(a))
    q, r = xp.linalg.qr(xp.concat((top, own), axis=-2), mode="reduced")
    q = q[..., : a.shape[-2], :]
    return xp.where(columns < k, q, xp.zeros_like(q)), r


def padded_qr(a: Array, m: Array, n: Array) -> tuple[Array, Array]:
    """Reduced factors of matrices ``m`` by ``n``; ``R`` of a wide one goes on as ``Q.H @ a``."""
    xp = namespace(a)
    q, _ = _factors(a, xp.minimum(m, n))
    return q, xp.triu(_adjoint(q) @ a)


def padded_svd(
    a: Array, m: Array, n: Array, full: bool, beyond: Callable[[Array], Array]
) -> tuple[Array, Array, Array]:
    """``U, S, Vh``: of the triangular factor, since then it is square, of matrices turned so that they are tall."""
    xp = namespace(a)
    size = max(a.shape[-2:])
    lead = a.shape[:-2]
    a = xp.concat((a, xp.zeros((*lead, size - a.shape[-2], a.shape[-1]), dtype=a.dtype)), axis=-2)
    a = xp.concat((a, xp.zeros((*lead, size, size - a.shape[-1]), dtype=a.dtype)), axis=-1)
    wide = m < n
    a = xp.where(wide, _adjoint(a), a)
    q = xp.minimum(m, n)
    rows, columns = _counts(xp, a, m.dtype)
    corner = (rows < q) & (columns < q)
    left, r = xp.linalg.qr(a, mode="reduced") if full else _factors(a, q)
    r = xp.where(corner, r, xp.zeros_like(r))
    r = xp.where((rows == columns) & (rows >= q), beyond(r), r)
    u, s, vh = xp.linalg.svd(r, full_matrices=False)
    # The singular values of the padding come first.
    shifted_rows = xp.broadcast_to(xp.minimum(rows + size - q, xp.asarray(size - 1, dtype=m.dtype)), a.shape)
    shifted_columns = xp.broadcast_to(xp.minimum(columns + size - q, xp.asarray(size - 1, dtype=m.dtype)), a.shape)
    u = xp.take_along_axis(u, shifted_columns, axis=-1)
    vh = xp.take_along_axis(vh, shifted_rows, axis=-2)
    s = xp.take_along_axis(s, shifted_rows[..., 0], axis=-1)
    u = xp.where(corner, u, xp.astype(rows == columns, u.dtype) if full else xp.zeros_like(u))
    vh = xp.where(corner, vh, xp.zeros_like(vh))
    u = left @ u
    return xp.where(wide, _adjoint(vh), u), s, xp.where(wide, _adjoint(u), vh)
