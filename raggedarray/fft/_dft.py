"""Transforms of stacks of components that may end before their stack does.

One that fills the stack takes the library's own transform. The others are transformed at their own length ``n`` inside
the longer axis by Bluestein's algorithm (1970): ``j * k = (j**2 + k**2 - (k - j)**2) / 2`` makes the sum a convolution,
which does not care how long the axis is.
"""

import math
from typing import Any

from .._errors import error_text
from .._typing import Array
from ..backends import is_half, kernels, kind, namespace
from ..engine.components.form import Sizes

Step = tuple[str, int, int | None]
"""What to do (``c`` complex, ``r`` real to half of the terms, ``h`` half of the terms to real), the axis, its size."""


def body(
    stacks: tuple[Array, ...], sizes: tuple[Sizes, ...], *,
    steps: tuple[Step, ...], inverse: bool, scale: str,
) -> tuple[Array, ...]:  # fmt: skip
    """Transform along some axes of each component, one after the other."""
    (x,) = stacks
    x = wide(x)
    xp = namespace(x)
    now = list(sizes[0])
    factor: Any = 1.0
    for how, axis, asked in steps:
        size = transform_size(how, now[axis], asked)
        if asked is not None:
            x = fill(x, axis + 1, size if how != "h" else size // 2 + 1)
        x = xp.moveaxis(x, axis + 1, -1)
        x = _along(x, how, size, x.shape[-1], inverse)
        x = xp.moveaxis(x, -1, axis + 1)
        now[axis] = result_size(how, size)
        factor = factor * _inverse_of(x, size, scale)
    return (x if isinstance(factor, float) and factor == 1.0 else x * _as(x, factor),)


def wide(x: Array) -> Array:
    """Integers as floats, halves in float32."""
    xp = namespace(x)
    if is_half(x.dtype):
        return xp.astype(x, xp.float32)
    return x if kind(x.dtype) in ("float", "complex") else xp.astype(x, kernels(x).dtype("float64"))


def transform_size(how: str, size: Any, asked: int | None) -> Any:
    """The length ``n`` of a transform: of its real side, where one side has half of the terms."""
    if asked is not None:
        return asked
    if how != "h":
        return size
    return max(2 * (size - 1), 0) if isinstance(size, int) else _at_least_0(2 * (size - 1))


def result_size(how: str, size: Any) -> Any:
    """How long the result is."""
    if how != "r":
        return size
    if isinstance(size, int):
        return size // 2 + 1 if size else 0
    return size // 2 + namespace(size).astype(size > 0, size.dtype)


def _at_least_0(n: Array) -> Array:
    xp = namespace(n)
    return xp.maximum(n, xp.zeros_like(n))


def fill(x: Array, axis: int, n: int) -> Array:
    """An axis cut, or filled up with zeros, to ``n``."""
    xp = namespace(x)
    have = x.shape[axis]
    if have >= n:
        return xp.moveaxis(xp.moveaxis(x, axis, 0)[:n, ...], 0, axis)
    shape = (*x.shape[:axis], n - have, *x.shape[axis + 1 :])
    return xp.concat((x, xp.zeros(shape, dtype=x.dtype)), axis=axis)


def _inverse_of(x: Array, size: Any, scale: str) -> Any:
    """What a transform of this size is multiplied by."""
    if scale == "none":
        return 1.0
    if isinstance(size, int):
        n = float(max(size, 1))
        return 1 / n if scale == "n" else 1 / math.sqrt(n)
    xp = namespace(size)
    n = xp.astype(xp.maximum(size, xp.ones_like(size)), _real(x))
    n = 1 / n
    n = n if scale == "n" else xp.sqrt(n)
    return xp.reshape(n, (n.shape[0], *(1,) * (x.ndim - 1)))


def _as(x: Array, factor: Any) -> Any:
    return factor if isinstance(factor, float) else namespace(x).astype(factor, x.dtype)


def _real(x: Array) -> Any:
    xp = namespace(x)
    return xp.real(x).dtype if kind(x.dtype) == "complex" else x.dtype


def _complex(x: Array) -> Any:
    xp = namespace(x)
    return x.dtype if kind(x.dtype) == "complex" else xp.complex64 if x.dtype == xp.float32 else xp.complex128


def _along(x: Array, how: str, size: Any, length: int, inverse: bool) -> Array:
    """An unscaled transform along the last axis."""
    xp = namespace(x)
    if isinstance(size, int):
        return _whole(x, how, size, inverse)
    x = xp.astype(x, _complex(x), copy=False)
    if how == "h":
        longest = max(2 * (length - 1), 0)
        return xp.real(chirp(_hermitian(x, size, longest), size, inverse))
    out = chirp(x, size, inverse)
    return out[..., : length // 2 + 1] if how == "r" and length else out


def _whole(x: Array, how: str, size: int, inverse: bool) -> Array:
    xp = namespace(x)
    if not size:
        dtype = _real(x) if how == "h" else _complex(x)
        return xp.zeros((*x.shape[:-1], 0), dtype=dtype)
    if how == "r":
        out = xp.fft.rfft(x, n=size)
        return xp.conj(out) if inverse else out
    x = xp.astype(x, _complex(x), copy=False)
    if how == "h":
        return xp.fft.irfft(x if inverse else xp.conj(x), n=size, norm="forward")
    return xp.fft.ifft(x, n=size, norm="forward") if inverse else xp.fft.fft(x, n=size)


def _hermitian(x: Array, size: Array, longest: int) -> Array:
    """All ``size`` terms from the first half: term ``n - i`` is the conjugate of term ``i``, the middle one real."""
    xp = namespace(x)
    count, length = x.shape[0], x.shape[-1]
    n = xp.reshape(size, (count, *(1,) * (x.ndim - 1)))
    at = xp.reshape(xp.arange(longest, dtype=size.dtype), (*(1,) * (x.ndim - 1), longest))
    mirrored = at > n // 2
    source = xp.where(mirrored, n - at, at)
    source = xp.clip(source, 0, max(length - 1, 0)) + xp.zeros((*x.shape[:-1], 1), dtype=size.dtype)
    terms = xp.take_along_axis(x, source, axis=-1)
    alone = (at == 0) | (2 * at == n)
    terms = xp.where(alone, xp.astype(xp.real(terms), x.dtype), xp.where(mirrored, xp.conj(terms), terms))
    return xp.where(at < n, terms, xp.zeros_like(terms))


def chirp(x: Array, size: Array, inverse: bool) -> Array:
    """The transform of the first ``size`` terms of each component, whatever the axis is padded to (zeros)."""
    xp = namespace(x)
    length = x.shape[-1]
    if not length:
        return x
    limit = math.isqrt(int(xp.iinfo(size.dtype).max))
    if length > limit:
        want, got = f"buckets of up to {limit} along a transformed axis", f"{length}"
        raise ValueError(error_text(want, got, "Use 64-bit sizes, or `bucket='exact'`."))
    n = xp.maximum(size, xp.ones_like(size))[:, None]
    at = xp.arange(length, dtype=size.dtype)[None, :]
    turn = xp.astype((at * at) % (2 * n), _real(x)) / xp.astype(n, _real(x))
    w = xp.exp(xp.astype(turn, x.dtype) * (1j * math.pi if inverse else -1j * math.pi))
    back = xp.where(at < n, xp.conj(w), xp.zeros_like(w))
    total = 1 << (2 * length - 2).bit_length()
    gap = xp.zeros((back.shape[0], total - 2 * length + 1), dtype=x.dtype)
    kernel = xp.fft.fft(xp.concat((back, gap, xp.flip(back[:, 1:], axis=1)), axis=1))
    middle = (1,) * (x.ndim - 2)
    w, kernel = (xp.reshape(a, (a.shape[0], *middle, a.shape[1])) for a in (w, kernel))
    padded = xp.concat((x * w, xp.zeros((*x.shape[:-1], total - length), dtype=x.dtype)), axis=-1)
    return xp.fft.ifft(xp.fft.fft(padded) * kernel)[..., :length] * w
