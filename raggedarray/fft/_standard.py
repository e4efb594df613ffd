"""The functions of `fft`."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from .._array import RaggedArray
from .._signatures import like_first
from .._typing import Array, DType
from ..backends import backend, namespace
from ..engine.arguments import sizes_of
from ..engine.host import host_namespace
from ..engine.plain import plain
from ._transforms import shifted, transform

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Norm: TypeAlias = Literal["backward", "ortho", "forward"]
"""Which direction of a transform is scaled."""
Sizes: TypeAlias = Sequence[int] | None


def _run(name: str, x: Any, **options: Any) -> Array:
    (x,) = plain(x)
    return getattr(namespace(x).fft, name)(x, **options)


def _one(name: str, x: Any, n: int | None, axis: int, norm: Norm, bucket: Any) -> Any:
    n = None if n is None else sizes_of(n)
    if not isinstance(x, RaggedArray):
        return _run(name, x, n=n, axis=axis, norm=norm)
    return transform(name, x, None if n is None else (n,), (axis,), norm, bucket)


def _several(name: str, x: Any, s: Sizes, axes: Sequence[int] | None, norm: Norm, bucket: Any) -> Any:
    s = None if s is None else sizes_of(tuple(s), many=True)
    if not isinstance(x, RaggedArray):
        return _run(name, x, s=s, axes=axes, norm=norm)
    return transform(name, x, s, None if axes is None else tuple(axes), norm, bucket)


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", bucket: Any = None) -> Any:
    """Fourier transform along one axis of complex numbers: ``[n, (len)]`` to the same lengths.

    >>> ra.fft.fft(np.array([1.0 + 0j, 1.0]))
    array([2.+0.j, 0.+0.j])
    >>> ra.fft.fft(ragged([[1.0, 1.0], [], [3.0]])).tolist()
    [[(2+0j), 0j], [], [(3+0j)]]
    """
    return _one("fft", x, n, axis, norm, bucket)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", bucket: Any = None) -> Any:
    """Inverse of `fft`.

    >>> ra.fft.ifft(np.array([2.0 + 0j, 0.0]))
    array([1.+0.j, 1.+0.j])
    """
    return _one("ifft", x, n, axis, norm, bucket)


def fftn(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Fourier transform along several axes: all those of a component, unless ``axes`` says which.

    >>> ra.fft.fftn(np.ones((2, 2), dtype=complex))[0, 0].real.item()
    4.0
    """
    return _several("fftn", x, s, axes, norm, bucket)


def ifftn(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Inverse of `fftn`.

    >>> ra.fft.ifftn(np.ones((2, 2), dtype=complex))[0, 0].real.item()
    1.0
    """
    return _several("ifftn", x, s, axes, norm, bucket)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", bucket: Any = None) -> Any:
    """Fourier transform along one axis of real numbers: the ``len // 2 + 1`` terms that differ.

    >>> ra.fft.rfft(np.array([1.0, 1.0]))
    array([2.+0.j, 0.+0.j])
    >>> ra.fft.rfft(ragged([[1.0, 1.0, 1.0], [2.0]]), n=2).shape
    (2, 2)
    """
    return _one("rfft", x, n, axis, norm, bucket)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", bucket: Any = None) -> Any:
    """Inverse of `rfft`: ``2 * (len - 1)`` numbers; pass ``n`` where the real length is odd.

    >>> ra.fft.irfft(np.array([2.0 + 0j, 0.0]))
    array([1., 1.])
    """
    return _one("irfft", x, n, axis, norm, bucket)


def rfftn(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Fourier transform along several axes of real numbers; the last of them is halved.

    >>> ra.fft.rfftn(np.ones((2, 2)))[0, 0].real.item()
    4.0
    """
    return _several("rfftn", x, s, axes, norm, bucket)


def irfftn(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = None, norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Inverse of `rfftn`.

    >>> ra.fft.irfftn(np.ones((2, 2), dtype=complex))[0, 0].item()
    1.0
    """
    return _several("irfftn", x, s, axes, norm, bucket)


def fft2(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = (-2, -1), norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Fourier transform along two axes of complex numbers, by default the last two.

    >>> ra.fft.fft2(ragged([np.ones((2, 2)), np.ones((1, 3))])).tolist()
    [[[(4+0j), 0j], [0j, 0j]], [[(3+0j), 0j, 0j]]]
    """
    return _several("fftn", x, s, axes, norm, bucket)


def ifft2(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = (-2, -1), norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Inverse of `fft2`.

    >>> ra.fft.ifft2(np.ones((2, 2), dtype=complex))[0, 0].real.item()
    1.0
    """
    return _several("ifftn", x, s, axes, norm, bucket)


def rfft2(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = (-2, -1), norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Fourier transform along two axes of real numbers, by default the last two; the second of them is halved.

    >>> ra.fft.rfft2(ragged([np.ones((2, 4)), np.ones((1, 2))])).shape
    (2, None, None)
    """
    return _several("rfftn", x, s, axes, norm, bucket)


def irfft2(
    x: Any, /, *, s: Sizes = None, axes: Sequence[int] | None = (-2, -1), norm: Norm = "backward", bucket: Any = None
) -> Any:
    """Inverse of `rfft2`.

    >>> ra.fft.irfft2(np.ones((2, 2), dtype=complex))[0, 0].item()
    1.0
    """
    return _several("irfftn", x, s, axes, norm, bucket)


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", bucket: Any = None) -> Any:
    """Fourier transform along one axis of numbers with Hermitian symmetry: ``2 * (len - 1)`` real ones.

    >>> ra.fft.hfft(np.array([1.0 + 0j, 1.0]))
    array([2., 0.])
    """
    return _one("hfft", x, n, axis, norm, bucket)


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward", bucket: Any = None) -> Any:
    """Inverse of `hfft`.

    >>> ra.fft.ihfft(np.array([2.0, 0.0])).real
    array([1., 1.])
    """
    return _one("ihfft", x, n, axis, norm, bucket)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Any:
    """Frequencies of the terms of `fft`, for ``n`` samples ``d`` apart; a NumPy array.

    >>> ra.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    return host_namespace().fft.fftfreq(
        sizes_of(n), d=d, dtype=None if dtype is None else backend("numpy").dtype(dtype), device=device
    )


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Any:
    """Frequencies of the terms of `rfft`, for ``n`` samples ``d`` apart; a NumPy array.

    >>> ra.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    return host_namespace().fft.rfftfreq(
        sizes_of(n), d=d, dtype=None if dtype is None else backend("numpy").dtype(dtype), device=device
    )


@like_first
def fftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Any:
    """The term of frequency 0 moved to the middle, along all axes of a component, or ``axes``; same capacity.

    >>> ra.fft.fftshift(np.arange(4))
    array([2, 3, 0, 1])
    >>> ra.fft.fftshift(ragged([[0, 1, 2, 3], [0, 1, 2]])).tolist()
    [[2, 3, 0, 1], [2, 0, 1]]
    """
    return shifted("fftshift", x, axes) if isinstance(x, RaggedArray) else _run("fftshift", x, axes=axes)


@like_first
def ifftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Any:
    """Inverse of `fftshift`.

    >>> ra.fft.ifftshift(np.array([2, 3, 0, 1]))
    array([0, 1, 2, 3])
    """
    return shifted("ifftshift", x, axes) if isinstance(x, RaggedArray) else _run("ifftshift", x, axes=axes)
