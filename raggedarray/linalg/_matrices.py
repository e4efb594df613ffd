"""What linear algebra does to a stack of matrices, of which each may be smaller than the stack.

``sizes`` are ints where the matrices fill the stack. Else a matrix ends at its own size, with zeros behind, and is
completed so that the completed matrix has the answer in its corner, with finite gradients: by the identity for
what is square and invertible, by large distinct eigenvalues, by zeros where nothing but zeros is added.
"""

from collections.abc import Callable
from typing import Any

from .._typing import Array
from ..backends import generic, implementation, is_half, kernels, kind, namespace
from ..engine.components.form import Sizes
from ..engine.reduce import accumulator
from ._svd import padded_qr, padded_svd


def body(
    stacks: tuple[Array, ...], sizes: tuple[Sizes, ...], *, name: str, options: tuple[tuple[str, Any], ...] = ()
) -> tuple[Array, ...]:
    """Run function ``name``: integers as floats, halves in float32."""
    half = next((s.dtype for s in stacks if is_half(s.dtype)), None)
    xp = namespace(stacks[0])
    wide = xp.result_type(*(s.dtype for s in stacks))
    wide = accumulator(xp.zeros((), dtype=wide), "float")
    stacks = tuple(xp.astype(s, wide, copy=False) for s in stacks)
    outs = BODIES[name](stacks, sizes, **dict(options))
    if half is None:
        return outs
    return tuple(xp.astype(o, half) if kind(o.dtype) == "float" else o for o in outs)


def extent(stack: Array, size: Sizes) -> tuple[Any, Any]:
    """Rows and columns of each matrix: ints if all fill the stack, else arrays ``[count, *lead, 1, 1]``."""
    m, n = size[-2:]
    lead = size[1 - len(stack.shape) : -2]
    if all(isinstance(s, int) for s in size):
        return m, n
    xp = namespace(stack)
    like = next(s for s in size if not isinstance(s, int))
    shape = stack.shape[:-2]
    inside = xp.ones(shape, dtype=xp.bool)
    for r, s in enumerate(lead):
        if not isinstance(s, int):
            at = xp.arange(shape[r + 1], dtype=s.dtype)
            at = xp.reshape(at, (1, *(1,) * r, shape[r + 1], *(1,) * (len(shape) - r - 2)))
            inside = inside & (at < xp.reshape(s, (shape[0], *(1,) * (len(shape) - 1))))

    def each(s: Any) -> Array:
        s = xp.full((shape[0],), s, dtype=like.dtype) if isinstance(s, int) else s
        s = xp.reshape(s, (shape[0], *(1,) * (len(shape) - 1)))
        return xp.where(inside, s, xp.zeros_like(s))[..., None, None]

    return each(m), each(n)


def counting(xp: Any, n: int, rank: int, axis: int, dtype: Any) -> Array:
    """0, 1, ... along one of the last two axes of an array of ``rank`` axes."""
    shape = [1] * rank
    shape[axis] = n
    return xp.reshape(xp.arange(n, dtype=dtype), tuple(shape))


def with_identity(a: Array, m: Any, diagonal: Any = 1) -> Array:
    """Square matrices continued by ones, or other numbers, on the diagonal."""
    if isinstance(m, int):
        return a
    xp = namespace(a)
    rows, columns = (counting(xp, a.shape[axis], a.ndim, axis, m.dtype) for axis in (-2, -1))
    new = xp.asarray(diagonal, dtype=a.dtype) if isinstance(diagonal, int) else diagonal
    return xp.where((rows == columns) & (rows >= m), new, a)


def _square(f: Callable[..., Any]) -> Callable[..., tuple[Array, ...]]:
    def run(stacks: Any, sizes: Any, **options: Any) -> tuple[Array, ...]:
        (a,) = stacks
        m, _ = extent(a, sizes[0])
        out = f(namespace(a).linalg, with_identity(a, m), **options)
        return tuple(out) if isinstance(out, tuple) else (out,)

    return run


def _solve(stacks: Any, sizes: Any, *, vector: bool) -> tuple[Array, ...]:
    a, b = stacks
    m, _ = extent(a, sizes[0])
    b = b[..., None] if vector else b
    out = namespace(a).linalg.solve(with_identity(a, m), b)
    return (out[..., 0] if vector else out,)


def _eigen(stacks: Any, sizes: Any, *, vectors: bool) -> tuple[Array, ...]:
    (a,) = stacks
    m, _ = extent(a, sizes[0])
    xp = namespace(a)
    if not isinstance(m, int):
        a = with_identity(a, m, shifted_diagonal(a))
    if not vectors:
        return (xp.linalg.eigvalsh(a),)
    return tuple(xp.linalg.eigh(a))


def shifted_diagonal(a: Array) -> Array:
    """Distinct numbers above all eigenvalues and singular values of each matrix, a diagonal, as constants."""
    xp = namespace(a)
    size = implementation(kernels(a), generic.stop_gradient)(xp.abs(a))
    most = xp.max(xp.sum(size, axis=-1, keepdims=True), axis=-2, keepdims=True) if a.shape[-1] else size[..., :1, :1]
    most = most + xp.max(xp.sum(size, axis=-2, keepdims=True), axis=-1, keepdims=True)
    scale = xp.where(most > 0, most, xp.ones_like(most))
    at = counting(xp, a.shape[-1], a.ndim, -1, most.dtype)
    return xp.astype(scale * (1 + (at + 1) / (a.shape[-1] + 1)), a.dtype, copy=False)


def _svd(stacks: Any, sizes: Any, *, full: bool) -> tuple[Array, ...]:
    (a,) = stacks
    m, n = extent(a, sizes[0])
    if isinstance(m, int):
        return tuple(namespace(a).linalg.svd(a, full_matrices=full))
    return padded_svd(a, m, n, full, shifted_diagonal)


def _svdvals(stacks: Any, _sizes: Any) -> tuple[Array, ...]:
    return (namespace(stacks[0]).linalg.svdvals(stacks[0]),)


def _qr(stacks: Any, sizes: Any, *, mode: str) -> tuple[Array, ...]:
    (a,) = stacks
    m, n = extent(a, sizes[0])
    if isinstance(m, int) or mode == "complete":
        return tuple(namespace(a).linalg.qr(a, mode=mode))
    return padded_qr(a, m, n)


def tolerance(a: Array, m: Any, n: Any) -> Any:
    """The standard's relative tolerance: the larger size times the precision."""
    xp = namespace(a)
    precision = float(xp.finfo(a.dtype).eps)
    if isinstance(m, int):
        return max(m, n) * precision
    return xp.astype(xp.maximum(m, n), xp.abs(a[..., :1, :1]).dtype)[..., 0, 0] * precision


def _pinv(stacks: Any, sizes: Any, *, rtol: Any) -> tuple[Array, ...]:
    (a,) = stacks
    m, n = extent(a, sizes[0])
    if isinstance(m, int):
        if 0 in a.shape:
            return (namespace(a).matrix_transpose(a),)
        return (namespace(a).linalg.pinv(a) if rtol is None else namespace(a).linalg.pinv(a, rtol=rtol),)
    return (namespace(a).linalg.pinv(a, rtol=tolerance(a, m, n) if rtol is None else rtol),)


def _rank(stacks: Any, sizes: Any, *, rtol: Any) -> tuple[Array, ...]:
    (a,) = stacks
    xp = namespace(a)
    m, n = extent(a, sizes[0])
    singular = xp.linalg.svdvals(a)
    if not singular.shape[-1]:
        return (xp.astype(xp.sum(singular, axis=-1), kernels(a).dtype("int64")),)
    least = xp.max(singular, axis=-1) * (tolerance(a, m, n) if rtol is None else rtol)
    return (xp.sum(xp.astype(singular > least[..., None], kernels(a).dtype("int64")), axis=-1),)


BODIES: dict[str, Callable[..., tuple[Array, ...]]] = {
    "cholesky": _square(lambda la, a, upper: la.cholesky(a, upper=upper)),
    "det": _square(lambda la, a: la.det(a)),
    "eigh": _eigen,
    "inv": _square(lambda la, a: la.inv(a)),
    "matrix_power": _square(lambda la, a, n: la.matrix_power(a, n)),
    "matrix_rank": _rank,
    "pinv": _pinv,
    "qr": _qr,
    "slogdet": _square(lambda la, a: la.slogdet(a)),
    "solve": _solve,
    "svd": _svd,
    "svdvals": _svdvals,
}
"""Functions of stacks."""
