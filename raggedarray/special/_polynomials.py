"""Orthogonal polynomials of degree ``n``, element by element: ``ra.special.eval_legendre(3, x)``.

``[nrows, (len), *inner]`` to the same shape and capacity; integers become floats, halves are computed in float32.
The degree is an int of 0 or more, and time grows with it: each degree is made of the two below. Names are those of
``scipy.special``, which lacks the Chebyshev polynomials of the third and fourth kind.
"""

from typing import Any, Literal

from .._signatures import like_second
from .._typing import Array
from ..backends import is_half, kernels, kind, namespace
from ..engine.arguments import check_min_int
from ..engine.elementwise import elementwise

__all__ = [
    "eval_chebyt", "eval_chebyu", "eval_chebyv", "eval_chebyw", "eval_hermite", "eval_hermitenorm", "eval_laguerre",
    "eval_legendre", "eval_sh_chebyt", "eval_sh_chebyu", "eval_sh_chebyv", "eval_sh_chebyw",
]  # fmt: skip

Family = Literal["t", "u", "v", "w", "hermite", "hermitenorm", "laguerre", "legendre"]


def _of(name: str, family: Family, n: int, x: Any, *, shifted: bool = False) -> Any:
    degree = check_min_int("degree", n, 0)
    return elementwise(_polynomial, x, family=family, n=degree, shifted=shifted)


def _polynomial(x: Array, *, family: Family, n: int, shifted: bool) -> Array:
    xp = namespace(x)
    out = x.dtype if kind(x.dtype) in ("float", "complex") else kernels(x).dtype("float64")
    x = xp.astype(x, xp.float32 if is_half(out) else out, copy=False)
    x = 2 * x - 1 if shifted else x
    one, nothing = xp.ones_like(x), xp.zeros_like(x)
    before: dict[str, Array] = {"t": x, "v": one, "w": -one}  # degree -1, so that one rule gives degree 1 too
    last, this = before.get(family, nothing), one
    for k in range(n):
        if family == "hermite":
            last, this = this, 2 * x * this - 2 * k * last
        elif family == "hermitenorm":
            last, this = this, x * this - k * last
        elif family == "laguerre":
            last, this = this, ((2 * k + 1 - x) * this - k * last) / (k + 1)
        elif family == "legendre":
            last, this = this, ((2 * k + 1) * x * this - k * last) / (k + 1)
        else:
            last, this = this, 2 * x * this - last
    return xp.astype(this, out, copy=False)


@like_second
def eval_chebyt(n: int, x: Any, /) -> Any:
    """Chebyshev polynomial of the first kind, ``cos(n t)`` where ``x = cos(t)``.

    >>> eval_chebyt(2, ragged([[0.0, 2.0], []])).tolist()
    [[-1.0, 7.0], []]
    """
    return _of("eval_chebyt", "t", n, x)


@like_second
def eval_chebyu(n: int, x: Any, /) -> Any:
    """Chebyshev polynomial of the second kind, ``sin((n + 1) t) / sin(t)`` where ``x = cos(t)``.

    >>> eval_chebyu(2, ragged([[0.0, 2.0], []])).tolist()
    [[-1.0, 15.0], []]
    """
    return _of("eval_chebyu", "u", n, x)


@like_second
def eval_chebyv(n: int, x: Any, /) -> Any:
    """Chebyshev polynomial of the third kind, ``cos((n + 1/2) t) / cos(t / 2)`` where ``x = cos(t)``.

    >>> eval_chebyv(2, ragged([[0.0, 2.0], []])).tolist()
    [[-1.0, 11.0], []]
    """
    return _of("eval_chebyv", "v", n, x)


@like_second
def eval_chebyw(n: int, x: Any, /) -> Any:
    """Chebyshev polynomial of the fourth kind, ``sin((n + 1/2) t) / sin(t / 2)`` where ``x = cos(t)``.

    >>> eval_chebyw(2, ragged([[0.0, 2.0], []])).tolist()
    [[-1.0, 19.0], []]
    """
    return _of("eval_chebyw", "w", n, x)


@like_second
def eval_hermite(n: int, x: Any, /) -> Any:
    """Hermite polynomial whose leading coefficient is ``2**n``.

    >>> eval_hermite(2, ragged([[0.0, 2.0], []])).tolist()
    [[-2.0, 14.0], []]
    """
    return _of("eval_hermite", "hermite", n, x)


@like_second
def eval_hermitenorm(n: int, x: Any, /) -> Any:
    """Hermite polynomial whose leading coefficient is 1.

    >>> eval_hermitenorm(2, ragged([[0.0, 2.0], []])).tolist()
    [[-1.0, 3.0], []]
    """
    return _of("eval_hermitenorm", "hermitenorm", n, x)


@like_second
def eval_laguerre(n: int, x: Any, /) -> Any:
    """Laguerre polynomial.

    >>> eval_laguerre(2, ragged([[0.0, 2.0], []])).tolist()
    [[1.0, -1.0], []]
    """
    return _of("eval_laguerre", "laguerre", n, x)


@like_second
def eval_legendre(n: int, x: Any, /) -> Any:
    """Legendre polynomial.

    >>> eval_legendre(2, ragged([[0.0, 2.0], []])).tolist()
    [[-0.5, 5.5], []]
    """
    return _of("eval_legendre", "legendre", n, x)


@like_second
def eval_sh_chebyt(n: int, x: Any, /) -> Any:
    """`eval_chebyt` of ``2 x - 1``.

    >>> eval_sh_chebyt(1, ragged([[0.0, 2.0], []])).tolist()
    [[-1.0, 3.0], []]
    """
    return _of("eval_sh_chebyt", "t", n, x, shifted=True)


@like_second
def eval_sh_chebyu(n: int, x: Any, /) -> Any:
    """`eval_chebyu` of ``2 x - 1``.

    >>> eval_sh_chebyu(1, ragged([[0.0, 2.0], []])).tolist()
    [[-2.0, 6.0], []]
    """
    return _of("eval_sh_chebyu", "u", n, x, shifted=True)


@like_second
def eval_sh_chebyv(n: int, x: Any, /) -> Any:
    """`eval_chebyv` of ``2 x - 1``.

    >>> eval_sh_chebyv(1, ragged([[0.0, 2.0], []])).tolist()
    [[-3.0, 5.0], []]
    """
    return _of("eval_sh_chebyv", "v", n, x, shifted=True)


@like_second
def eval_sh_chebyw(n: int, x: Any, /) -> Any:
    """`eval_chebyw` of ``2 x - 1``.

    >>> eval_sh_chebyw(1, ragged([[0.0, 2.0], []])).tolist()
    [[-1.0, 7.0], []]
    """
    return _of("eval_sh_chebyw", "w", n, x, shifted=True)
