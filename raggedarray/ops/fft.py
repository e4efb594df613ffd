"""Discrete Fourier transforms, the standard's ``fft`` extension: called as ``ra.fft.rfft``, ...

Plain arrays go to their own library; a RaggedArray raises `TypeError`. ``norm`` says which direction is scaled:
``"backward"`` the inverse by ``1/n``, ``"forward"`` the forward one, ``"ortho"`` both by ``1/sqrt(n)``.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from .._typing import Array, DType
from ..backends import backend, namespace
from .dtypes import host_namespace
from .linear_algebra import plain

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

Norm: TypeAlias = Literal["backward", "ortho", "forward"]
"""Which direction of a transform is scaled."""


def _run(name: str, x: Any, **options: Any) -> Array:
    (x,) = plain(f"fft.{name}", x)
    return getattr(namespace(x).fft, name)(x, **options)


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """Fourier transform along one axis of complex numbers.

    >>> ra.fft.fft(np.array([1.0 + 0j, 1.0]))
    array([2.+0.j, 0.+0.j])
    """
    return _run("fft", x, n=n, axis=axis, norm=norm)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """Inverse of `fft`.

    >>> ra.fft.ifft(np.array([2.0 + 0j, 0.0]))
    array([1.+0.j, 1.+0.j])
    """
    return _run("ifft", x, n=n, axis=axis, norm=norm)


def fftn(
    x: Any, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """Fourier transform along several axes (all, unless ``axes`` says which).

    >>> ra.fft.fftn(np.ones((2, 2), dtype=complex))[0, 0].real.item()
    4.0
    """
    return _run("fftn", x, s=s, axes=axes, norm=norm)


def ifftn(
    x: Any, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """Inverse of `fftn`.

    >>> ra.fft.ifftn(np.ones((2, 2), dtype=complex))[0, 0].real.item()
    1.0
    """
    return _run("ifftn", x, s=s, axes=axes, norm=norm)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """Fourier transform along one axis of real numbers: the ``n // 2 + 1`` terms that differ.

    >>> ra.fft.rfft(np.array([1.0, 1.0]))
    array([2.+0.j, 0.+0.j])
    """
    return _run("rfft", x, n=n, axis=axis, norm=norm)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """Inverse of `rfft`; pass ``n`` where the real length is odd.

    >>> ra.fft.irfft(np.array([2.0 + 0j, 0.0]))
    array([1., 1.])
    """
    return _run("irfft", x, n=n, axis=axis, norm=norm)


def rfftn(
    x: Any, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """Fourier transform along several axes of real numbers.

    >>> ra.fft.rfftn(np.ones((2, 2)))[0, 0].real.item()
    4.0
    """
    return _run("rfftn", x, s=s, axes=axes, norm=norm)


def irfftn(
    x: Any, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Any:
    """Inverse of `rfftn`.

    >>> ra.fft.irfftn(np.ones((2, 2), dtype=complex))[0, 0].item()
    1.0
    """
    return _run("irfftn", x, s=s, axes=axes, norm=norm)


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """Fourier transform along one axis of numbers with Hermitian symmetry: real.

    >>> ra.fft.hfft(np.array([1.0 + 0j, 1.0]))
    array([2., 0.])
    """
    return _run("hfft", x, n=n, axis=axis, norm=norm)


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Any:
    """Inverse of `hfft`.

    >>> ra.fft.ihfft(np.array([2.0, 0.0])).real
    array([1., 1.])
    """
    return _run("ihfft", x, n=n, axis=axis, norm=norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Any:
    """Frequencies of the terms of `fft`, for ``n`` samples ``d`` apart; a NumPy array.

    >>> ra.fft.fftfreq(4)
    array([ 0.  ,  0.25, -0.5 , -0.25])
    """
    return host_namespace().fft.fftfreq(
        n, d=d, dtype=None if dtype is None else backend("numpy").dtype(dtype), device=device
    )


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Any:
    """Frequencies of the terms of `rfft`, for ``n`` samples ``d`` apart; a NumPy array.

    >>> ra.fft.rfftfreq(4)
    array([0.  , 0.25, 0.5 ])
    """
    return host_namespace().fft.rfftfreq(
        n, d=d, dtype=None if dtype is None else backend("numpy").dtype(dtype), device=device
    )


def fftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Any:
    """The term of frequency 0 moved to the middle.

    >>> ra.fft.fftshift(np.arange(4))
    array([2, 3, 0, 1])
    """
    return _run("fftshift", x, axes=axes)


def ifftshift(x: Any, /, *, axes: int | Sequence[int] | None = None) -> Any:
    """Inverse of `fftshift`.

    >>> ra.fft.ifftshift(np.array([2, 3, 0, 1]))
    array([0, 1, 2, 3])
    """
    return _run("ifftshift", x, axes=axes)
