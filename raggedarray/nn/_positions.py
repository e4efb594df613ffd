"""Where an element stands in its row, as numbers that a layer can use: ``[nrows, (len), *inner]``, same capacity.

Positions count from the start of the innermost row; those of slack are 0.
"""

from .._array import RaggedArray
from .._errors import error_text
from .._typing import Array, DType
from ..backends import is_half, kernels, kind, namespace
from ..engine.arguments import last_rows, ragged_only, sizes_of
from ..engine.options import in_range, static_number
from ..structure.levels import library, parents, positions

__all__ = ["rotary", "sinusoidal"]


def rotary(x: RaggedArray, /, *, base: float = 10000.0) -> RaggedArray:
    """Turn pairs of features by an angle that grows with the position: ``[nrows, (len), *inner, D]``, same shape.

    Features ``d`` and ``d + D // 2`` are the pair of frequency ``base ** (-2 * d / D)``, so that the product of a
    turned query and a turned key depends on their distance only (Su et al., 2021). ``D`` is even. Angles are computed
    in float32, or in float64 for that dtype; the dtype stays.

    >>> x = ragged([[[1.0, 0.0], [1.0, 0.0]], []], item_shape=(None, 2))
    >>> rotary(x).map_values(lambda v: v.round(2)).tolist()
    [[[1.0, 0.0], [0.54, 0.84]], []]
    """
    x = ragged_only(x).used_values()
    last_rows(x)
    if kind(x.dtype) != "float":
        raise TypeError(error_text("floating values", f"dtype {x.dtype}", "Convert them with `.astype`."))
    if not x.inner_shape or x.inner_shape[-1] % 2:
        raise ValueError(error_text("an even number of features", f"shape {x.shape}", "Split or pad the last axis."))
    return RaggedArray(x.kernels.call(_rotary, x, base=_base(base)), x.partitions)


def _rotary(x: RaggedArray, *, base: float) -> Array:
    xp, half = x.xp, x.inner_shape[-1] // 2
    wide = xp.float32 if is_half(x.dtype) else x.dtype
    angle = _angles(x, half, base, wide)
    angle = xp.reshape(angle, (angle.shape[0], *(1,) * (len(x.inner_shape) - 1), half))
    cos, sin = xp.cos(angle), xp.sin(angle)
    values = xp.astype(x.values, wide, copy=False)
    a, b = values[..., :half], values[..., half:]
    return xp.astype(xp.concat((a * cos - b * sin, a * sin + b * cos), axis=-1), x.dtype, copy=False)


def sinusoidal(x: RaggedArray, size: int, /, *, base: float = 10000.0, dtype: DType | None = None) -> RaggedArray:
    """Sines and cosines of the positions in the rows of ``x``: ``[nrows, (len), ...]`` to ``[nrows, (len), size]``.

    Sines come first, then cosines, of frequencies ``base ** (-2 * d / size)`` (Vaswani et al., 2017). Only the rows of
    ``x`` matter, and its dtype, which is that of the result if it is floating and ``dtype`` is not given; else it is
    the default float. ``size`` is even.

    >>> sinusoidal(ragged([[7.0, 7.0], []]), 2).map_values(lambda v: v.round(2)).tolist()
    [[[0.0, 1.0], [0.84, 0.54]], []]
    """
    x = ragged_only(x).used_values()
    last_rows(x)
    size = sizes_of(size)
    if size < 2 or size % 2:
        raise ValueError(error_text("an even size of at least 2", f"{size}", "Pass an even size."))
    if dtype is None:
        out = x.dtype if kind(x.dtype) == "float" else x.xp.asarray(0.0).dtype
    else:
        out = x.kernels.dtype(dtype)
        if kind(out) != "float":
            raise TypeError(error_text("a floating dtype", f"{out}", "Convert the result."))
    base = _base(base)
    return RaggedArray(x.kernels.call(_sinusoidal, x, size=size, base=base, dtype=out), x.partitions)


def _base(base: float) -> float:
    base = static_number("base", base)
    in_range("a base above 0", base, "Pass a positive number.", low=0, above=True)
    return base


def _sinusoidal(x: RaggedArray, *, size: int, base: float, dtype: DType) -> Array:
    xp = x.xp
    angle = _angles(x, size // 2, base, xp.float32 if is_half(dtype) else dtype)
    return xp.astype(xp.concat((xp.sin(angle), xp.cos(angle)), axis=-1), dtype, copy=False)


def _angles(x: RaggedArray, count: int, base: float, dtype: DType) -> Array:
    """Position times frequency: ``[capacity, count]``."""
    xp, last = x.xp, x.partitions[-1]
    at = positions(last, parents(last, x.capacity, library(x.partitions, x.values)))
    at = at if namespace(at) is xp else kernels(x.values).asarray(at)
    rate = xp.asarray([base ** (-d / count) for d in range(count)], dtype=dtype)
    return xp.astype(at, dtype)[:, None] * rate[None, :]
