"""Two arrays as wholes: equal, close, and whether one is what it claims to be."""

from typing import Any

from ..._array import RaggedArray
from ..._partition import RowPartition
from ..._typing import Array
from ...backends import common, kind, namespace
from ...engine.arguments import check_consistent, check_partitions, ragged_only
from ...engine.block_arguments import validate_block
from ...engine.broadcast.levels import same_levels
from ...engine.broadcast.rows import move_to
from ...engine.packing import contiguous, of_one_kind
from ...structure.levels import used_mask

__all__ = ["allclose", "array_equal", "validate"]


def array_equal(x: Any, y: Any, /, *, equal_nan: bool = False) -> Any:
    """Whether two arrays have the same rows and the same values; a bool, under jit a traced one.

    An array whose data overflowed its capacity equals nothing.

    >>> array_equal(ragged([[1], [2, 3]]), ragged([[1, 2], [3]]))
    False
    """
    return _compare(x, y, rtol=0.0, atol=0.0, equal_nan=equal_nan, exact=True)


def allclose(x: Any, y: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether the rows agree and ``abs(x - y) <= atol + rtol * abs(y)`` everywhere; a bool, under jit a traced one.

    >>> allclose(ragged([[1.0], [2.0]]), ragged([[1.0], [2.0 + 1e-9]]))
    True
    """
    return _compare(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan, exact=False)


def _compare(x: Any, y: Any, **static: Any) -> Any:
    ragged = isinstance(x, RaggedArray), isinstance(y, RaggedArray)
    if ragged[0] != ragged[1] or (x.shape != y.shape):
        return False
    if ragged[0]:
        x, y = of_one_kind(x, y)
    k = common([x.values if r else x for x, r in zip((x, y), ragged, strict=True)])
    if not ragged[0]:
        x, y = (k.asarray(a) for a in (x, y))
        same = k.call(_close, x, y, **static)
    else:
        x, y = same_levels([contiguous(move_to(k, x)).used_values(), contiguous(move_to(k, y)).used_values()])
        if k.has_exact_sizes and x.capacity != y.capacity:
            return False
        same = k.call(_same, x, y, **static)
    return bool(same) if k.is_concrete(same) else same


def _same(x: RaggedArray, y: RaggedArray, **static: Any) -> Array:
    xp = x.xp
    n = min(x.capacity, y.capacity)
    equal = ~(x.overflow | y.overflow)  # what did not fit equals nothing
    for p, q in zip(x.partitions, y.partitions, strict=True):
        if type(p) is not type(q) or p.axes != q.axes:
            return equal & False
        for a, b in zip(p.arrays(), q.arrays(), strict=True):
            m = min(a.shape[0], b.shape[0])  # beyond are slack entries, which are empty
            equal = equal & xp.all(a[:m, ...] == b[:m, ...])
    x, y = (a.components_as_rows() for a in (x, y))
    for p, q in zip(x.partitions, y.partitions, strict=True):
        if isinstance(p, RowPartition) and isinstance(q, RowPartition):
            equal = equal & (p.splits[-1] == q.splits[-1])
    mask = xp.reshape(used_mask(x.partitions, n), (n, *(1,) * len(x.inner_shape)))
    return equal & xp.all(_near(x.values[:n, ...], y.values[:n, ...], **static) | ~mask)


def _close(x: Array, y: Array, **static: Any) -> Array:
    return namespace(x).all(_near(x, y, **static))


def _near(x: Array, y: Array, *, rtol: float, atol: float, equal_nan: bool, exact: bool) -> Array:
    xp = namespace(x)
    near = x == y
    if not exact:
        gap, size = xp.abs(x - y) if kind(x.dtype) != "bool" else x != y, xp.abs(y) if kind(y.dtype) != "bool" else y
        near = near | ((gap <= atol + rtol * size) & xp.isfinite(y))
    if equal_nan and kind(x.dtype) in ("float", "complex") and kind(y.dtype) in ("float", "complex"):
        near = near | (xp.isnan(x) & xp.isnan(y))
    return near


def validate(x: RaggedArray, /) -> RaggedArray:
    """``x``, its structure checked again: for arrays that came from outside the factories.

    Splits must start at 0, never decrease, and stay within the entries below; slack rows must be empty.
    Under jit only shapes are checked. Raises `ValueError` naming the first bad index.

    >>> validate(ragged([[1], [2, 3]])).nrows
    2
    """
    block = ragged_only(x).block
    rows = x
    if block is not None:
        validate_block(block, x.capacity)
        rows = RaggedArray(block.sizes, x.partitions[:-1])
    if rows.partitions:
        check_consistent(rows)
        check_partitions(rows)
    return x
