"""Reductions over any axes of a RaggedArray.

Over a ragged axis: per row, so ``[nrows, (len), *inner]`` gives ``[nrows, *inner]``. Over inner axes, or with
``axis=None`` over everything, as in NumPy. Over axis 0, or a ragged axis that has a ragged axis behind it:
left-aligned columns, and the result is as long as the longest row; where that becomes a dense axis its
size is data, and under jit ``length=`` gives it (columns without data hold what an empty row gives).

``axis`` is None, an int or a tuple, negative ones count from the end; ``keepdims`` keeps reduced axes with size
1; ``where`` (bool, broadcast) picks the elements that count. A result without ragged axes is a plain array;
one with ragged axes has at most the capacity of ``x``. Halves accumulate in float32. Plain arrays are
passed to their own library. Axes out of range raise `IndexError`, repeated ones `ValueError`.
"""

from typing import Any

from ..._array import RaggedArray
from ..._errors import error_text
from ..._typing import Array, Axis, DType
from ...backends import Reduction, generic, identity, implementation, kind, namespace
from ...engine.arguments import checked_scalar
from ...engine.reduce import Frame, accumulator, run
from ..elementwise.logic import isnan, logical_and, logical_not

__all__ = [
    "all", "any", "logsumexp", "max", "mean", "min", "nanmean", "nansum", "prod", "std", "sum", "var",
]  # fmt: skip


def reduce(op: str, body: Any, x: Any, *scalars: Any, options: dict[str, Any], **static: Any) -> Any:
    """Reduce a RaggedArray by a body on a `Frame`, a plain array by its own library."""
    name = "correction" if op in ("var", "std") else "initial"
    if isinstance(x, RaggedArray):
        if name == "initial":
            dtype = static.get("dtype")
            if dtype is None and op in ("sum", "prod") and kind(x.dtype) not in ("float", "complex"):
                dtype = accumulator(x.values, "sum")
            scalars = tuple(checked_scalar(x, s, dtype=dtype) for s in scalars)
        return run(body, x, *scalars, **options, **static)
    if options.get("length") is not None or isinstance(options.get("where"), RaggedArray):
        what = "length=" if options.get("length") is not None else "a ragged where="
        raise TypeError(error_text("options of a plain array", what, "Drop it."))
    keywords = {k: v for k, v in (*options.items(), *static.items(), *((name, s) for s in scalars)) if v is not None}
    return getattr(namespace(x), op)(x, **keywords)


def sum(
    x: Any, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False, where: Any = None,
    initial: Any = None, length: int | None = None,
) -> Any:  # fmt: skip
    """Sum; an empty row gives 0, or ``initial``. Small integers and bools sum as the default integer.

    >>> sum(ragged([[1, 2], [], [3]]), axis=1)
    array([3, 0, 3])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    dtype = dtype if dtype is None or not isinstance(x, RaggedArray) else x.kernels.dtype(dtype)
    return reduce("sum", total, x, initial, options=options, dtype=dtype)


def total(f: Frame, v: Array, where: Array | None, initial: Any, *, dtype: Any, how: Reduction = "sum") -> Array:
    """Sum (or product) of each group: the body of `sum`, `prod` and `count_nonzero`."""
    xp, inexact = f.xp, ("float", "complex")
    out = dtype if dtype is not None else v.dtype if kind(v.dtype) in inexact else accumulator(v, "sum")
    v = xp.astype(v, out, copy=False)
    v = xp.astype(v, accumulator(v, "sum"), copy=False) if kind(out) in inexact else v
    if where is not None:
        v = xp.where(where, v, xp.asarray(identity(how, v.dtype, xp), dtype=v.dtype))
    result = f.reduce(how, v)
    if initial is not None:
        start = xp.asarray(initial, dtype=result.dtype)
        result = result + start if how == "sum" else result * start
    return xp.astype(result, out, copy=False)


def prod(
    x: Any, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False, where: Any = None,
    initial: Any = None, length: int | None = None,
) -> Any:  # fmt: skip
    """Product; an empty row gives 1, or ``initial``. The gradient is right where elements are 0.

    >>> prod(ragged([[2, 3], [], [4]]), axis=1)
    array([6, 1, 4])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    dtype = dtype if dtype is None or not isinstance(x, RaggedArray) else x.kernels.dtype(dtype)
    return reduce("prod", _prod, x, initial, options=options, dtype=dtype)


def _prod(f: Frame, v: Array, where: Array | None, initial: Any, *, dtype: Any) -> Array:
    return total(f, v, where, initial, dtype=dtype, how="prod")


def min(
    x: Any,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    where: Any = None,
    initial: Any = None,
    length: int | None = None,
) -> Any:
    """Smallest element; NaN if one is. An empty row gives ``inf`` or the largest integer.

    ``initial`` takes part in every row. The gradient is shared evenly between equal smallest elements.

    >>> min(ragged([[3.0, 2.0], []]), axis=1)
    array([ 2., inf])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce(
        "min", _extreme, x, initial, options=options, **({"how": "min"} if isinstance(x, RaggedArray) else {})
    )


def max(
    x: Any,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    where: Any = None,
    initial: Any = None,
    length: int | None = None,
) -> Any:
    """Largest element; NaN if one is. An empty row gives ``-inf`` or the smallest integer.

    ``initial`` takes part in every row. The gradient is shared evenly between equal largest elements.

    >>> max(ragged([[3.0, 2.0], []]), axis=1)
    array([  3., -inf])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce(
        "max", _extreme, x, initial, options=options, **({"how": "max"} if isinstance(x, RaggedArray) else {})
    )


def _extreme(f: Frame, v: Array, where: Array | None, initial: Any, *, how: Any) -> Array:
    xp = f.xp
    if kind(v.dtype) == "complex":
        raise TypeError(error_text("real values", f"dtype {v.dtype}", "Compare `ra.abs(x)`."))
    if where is not None:
        v = xp.where(where, v, xp.asarray(identity(how, v.dtype, xp), dtype=v.dtype))
    best = f.reduce(how, v)
    if initial is not None:
        best = (xp.maximum if how == "max" else xp.minimum)(best, xp.asarray(initial, dtype=best.dtype))
    return best


def mean(x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None) -> Any:
    """Mean; an empty row gives NaN, without a warning. Integers and bools give the default float.

    >>> mean(ragged([[1.0, 2.0], [], [3.0]]), axis=1)
    array([1.5, nan, 3. ])
    """
    return reduce("mean", _mean, x, options={"axis": axis, "keepdims": keepdims, "where": where, "length": length})


def _mean(f: Frame, v: Array, where: Array | None) -> Array:
    xp, wide = f.xp, accumulator(v, "float")
    out = v.dtype if kind(v.dtype) in ("float", "complex") else wide
    v = xp.astype(v, wide, copy=False)
    n = f.count(v, where, wide)
    total = f.reduce("sum", v if where is None else xp.where(where, v, xp.zeros_like(v)))
    return xp.astype(_ratio(xp, total, n), out, copy=False)


def _ratio(xp: Any, total: Array, n: Array) -> Array:
    """``total / n``, NaN where ``n`` is not positive, with a finite gradient there."""
    some = xp.real(n) > 0 if kind(n.dtype) == "complex" else n > 0
    nan = xp.asarray(float("nan"), dtype=total.dtype)
    return xp.where(some, total / xp.where(some, n, xp.ones_like(n)), nan)


def var(
    x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False, where: Any = None,
    length: int | None = None,
) -> Any:  # fmt: skip
    """Variance about the mean, in two passes, over ``n - correction``; NaN where that is not positive.

    >>> var(ragged([[1.0, 3.0], []]), axis=1)
    array([ 1., nan])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce("var", _var, x, correction, options=options)


def _var(f: Frame, v: Array, where: Array | None, correction: Any) -> Array:
    spread, out = _variance(f, v, where, correction)
    return f.xp.astype(spread, out, copy=False)


def _variance(f: Frame, v: Array, where: Array | None, correction: Any) -> tuple[Array, Any]:
    """Variance in the dtype it was accumulated in, and the dtype to return."""
    xp, wide = f.xp, accumulator(v, "float")
    out = v.dtype if kind(v.dtype) in ("float", "complex") else wide
    v = xp.astype(v, wide, copy=False)
    n = f.count(v, where, wide)
    kept = v if where is None else xp.where(where, v, xp.zeros_like(v))
    safe = xp.where(xp.abs(n) > 0, n, xp.ones_like(n))
    off = v - f.spread(f.reduce("sum", kept) / safe)
    if kind(wide) == "complex":
        off, n = xp.abs(off), xp.real(n)
        out = off.dtype
    off = off if where is None else xp.where(where, off, xp.zeros_like(off))
    return _ratio(xp, f.reduce("sum", off * off), n - xp.asarray(correction, dtype=n.dtype)), out


def std(
    x: Any, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False, where: Any = None,
    length: int | None = None,
) -> Any:  # fmt: skip
    """Square root of `var`; its gradient is 0 where all elements are equal.

    >>> std(ragged([[1.0, 3.0], []]), axis=1)
    array([ 1., nan])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce("std", _std, x, correction, options=options)


def _std(f: Frame, v: Array, where: Array | None, correction: Any) -> Array:
    xp = f.xp
    spread, out = _variance(f, v, where, correction)
    flat = spread == 0
    root = xp.where(flat, xp.zeros_like(spread), xp.sqrt(xp.where(flat, xp.ones_like(spread), spread)))
    return xp.astype(root, out, copy=False)


def any(x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None) -> Any:
    """Whether any element is true (not zero); an empty row gives False.

    >>> any(ragged([[False, True], []]), axis=1)
    array([ True, False])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce("any", _truth, x, options=options, **({"how": "max"} if isinstance(x, RaggedArray) else {}))


def all(x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None) -> Any:
    """Whether all elements are true (not zero); an empty row gives True.

    >>> all(ragged([[False, True], []]), axis=1)
    array([False,  True])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    return reduce("all", _truth, x, options=options, **({"how": "min"} if isinstance(x, RaggedArray) else {}))


def _truth(f: Frame, v: Array, where: Array | None, *, how: Any) -> Array:
    return _extreme(f, v if kind(v.dtype) == "bool" else v != 0, where, None, how=how)


def logsumexp(
    x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """Logarithm of the summed exponentials, without overflow; an empty row, or one of -inf, gives -inf and gradient 0.

    >>> logsumexp(ragged([[0.0, 0.0], []]), axis=1).round(4)
    array([0.6931,   -inf])
    """
    options = {"axis": axis, "keepdims": keepdims, "where": where, "length": length}
    if not isinstance(x, RaggedArray):
        from ...engine.dense import dense_logsumexp

        return dense_logsumexp(x, **options)
    return run(_logsumexp, x, **options)


def _logsumexp(f: Frame, v: Array, where: Array | None) -> Array:
    xp, wide = f.xp, accumulator(v, "float")
    out = v.dtype if kind(v.dtype) in ("float", "complex") else wide
    v = xp.astype(v, wide, copy=False)
    v = v if where is None else xp.where(where, v, xp.asarray(-float("inf"), dtype=wide))
    peak = implementation(f.kernels, generic.stop_gradient)(f.reduce("max", v))
    peak = xp.where(xp.isfinite(peak), peak, xp.zeros_like(peak))
    total = f.reduce("sum", xp.exp(v - f.spread(peak)))
    none = total == 0
    log = xp.log(xp.where(none, xp.ones_like(total), total)) + peak
    return xp.astype(xp.where(none, xp.asarray(-float("inf"), dtype=wide), log), out, copy=False)


def nansum(
    x: Any, /, *, axis: Axis = None, dtype: DType | None = None, keepdims: bool = False, where: Any = None,
    length: int | None = None,
) -> Any:  # fmt: skip
    """`sum` of what is not NaN; a row of nothing else gives 0. The gradient of a NaN is 0.

    >>> nansum(ragged([[1.0, float("nan")], [], [3.0]]), axis=1)
    array([1., 0., 3.])
    """
    where = _known(x, where)
    return sum(x, axis=axis, dtype=dtype, keepdims=keepdims, where=where, length=length)


def nanmean(
    x: Any, /, *, axis: Axis = None, keepdims: bool = False, where: Any = None, length: int | None = None
) -> Any:
    """`mean` of what is not NaN; a row of nothing else gives NaN. The gradient of a NaN is 0.

    >>> nanmean(ragged([[1.0, float("nan")], [], [3.0]]), axis=1)
    array([ 1., nan,  3.])
    """
    return mean(x, axis=axis, keepdims=keepdims, where=_known(x, where), length=length)


def _known(x: Any, where: Any) -> Any:
    not_nan = logical_not(isnan(x))
    return not_nan if where is None else logical_and(not_nan, where)
