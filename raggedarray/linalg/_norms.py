"""Bodies of vector norms."""

from typing import Any

from .._typing import Array
from ..backends import kind
from ..engine.reduce import Frame, accumulator


def vector_norm_body(f: Frame, v: Array, where: Array | None, *, ord: float) -> Array:
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
