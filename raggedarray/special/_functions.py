"""The functions of `special`, but for polynomials."""

import math
from typing import Any

from .._signatures import like_first, like_operands, like_second
from .._typing import Array
from ..backends import generic, implementation, kernels, namespace
from ..engine.arguments import check_min_int, is_scalar
from ..engine.elementwise import elementwise

__all__ = [
    "betaln", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "expit", "gammainc", "gammaincc", "gammaln", "i0",
    "i0e", "i1", "i1e", "log_ndtr", "logit", "multigammaln", "ndtr", "ndtri", "polygamma", "xlog1py", "xlogy", "zeta",
]  # fmt: skip


def _special(*args: Any, name: str) -> Array:
    k = kernels(next(x for x in args if not is_scalar(x)))
    return implementation(k, generic.special)(name)(*args)


def _of(name: str, *args: Any) -> Any:
    return elementwise(_special, *args, name=name)


@like_operands
def betaln(a: Any, b: Any, /) -> Any:
    """Logarithm of the absolute beta function.

    >>> betaln(ragged([[1.0], []]), 1.0).tolist()
    [[0.0], []]
    """
    return _of("betaln", a, b)


@like_first
def digamma(x: Any, /) -> Any:
    """Derivative of the logarithm of the gamma function.

    >>> (digamma(ragged([[1.0], []])) < 0).tolist()
    [[True], []]
    """
    return _of("digamma", x)


@like_first
def entr(x: Any, /) -> Any:
    """Entropy ``-x log(x)``; 0 at 0.

    >>> (entr(ragged([[0.0, 1.0], []])) == 0).tolist()
    [[True, True], []]
    """
    return _of("entr", x)


@like_first
def erf(x: Any, /) -> Any:
    """Error function.

    >>> (erf(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return _of("erf", x)


@like_first
def erfc(x: Any, /) -> Any:
    """``1 - erf(x)``, accurate for large ``x``.

    >>> (erfc(ragged([[0.0], []]))).tolist()
    [[1.0], []]
    """
    return _of("erfc", x)


@like_first
def erfcx(x: Any, /) -> Any:
    """``exp(x**2) erfc(x)``, without overflow or underflow for large ``x``.

    >>> (erfcx(ragged([[0.0], []]))).tolist()
    [[1.0], []]
    """
    return _of("erfcx", x)


@like_first
def erfinv(x: Any, /) -> Any:
    """Inverse of the error function.

    >>> (erfinv(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return _of("erfinv", x)


@like_first
def expit(x: Any, /) -> Any:
    """Logistic sigmoid ``1 / (1 + exp(-x))``.

    >>> (expit(ragged([[0.0], []]))).tolist()
    [[0.5], []]
    """
    return _of("expit", x)


@like_operands
def gammainc(a: Any, x: Any, /) -> Any:
    """Regularized lower incomplete gamma function.

    >>> gammainc(ragged([[1.0], []]), 0.0).tolist()
    [[0.0], []]
    """
    return _of("gammainc", a, x)


@like_operands
def gammaincc(a: Any, x: Any, /) -> Any:
    """Regularized upper incomplete gamma function, ``1 - gammainc(a, x)``.

    >>> gammaincc(ragged([[1.0], []]), 0.0).tolist()
    [[1.0], []]
    """
    return _of("gammaincc", a, x)


@like_first
def gammaln(x: Any, /) -> Any:
    """Logarithm of the absolute gamma function.

    >>> (gammaln(ragged([[1.0, 2.0], []]))).tolist()
    [[0.0, 0.0], []]
    """
    return _of("gammaln", x)


@like_first
def i0(x: Any, /) -> Any:
    """Modified Bessel function of order 0.

    >>> (i0(ragged([[0.0], []]))).tolist()
    [[1.0], []]
    """
    return _of("i0", x)


@like_first
def i0e(x: Any, /) -> Any:
    """``i0`` scaled by ``exp(-abs(x))``.

    >>> (i0e(ragged([[0.0], []]))).tolist()
    [[1.0], []]
    """
    return _of("i0e", x)


@like_first
def i1(x: Any, /) -> Any:
    """Modified Bessel function of order 1.

    >>> (i1(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return _of("i1", x)


@like_first
def i1e(x: Any, /) -> Any:
    """``i1`` scaled by ``exp(-abs(x))``.

    >>> (i1e(ragged([[0.0], []]))).tolist()
    [[0.0], []]
    """
    return _of("i1e", x)


@like_first
def log_ndtr(x: Any, /) -> Any:
    """Logarithm of the standard normal distribution function.

    >>> (log_ndtr(ragged([[0.0], []])) < 0).tolist()
    [[True], []]
    """
    return _of("log_ndtr", x)


@like_first
def logit(x: Any, /) -> Any:
    """``log(p / (1 - p))``.

    >>> (logit(ragged([[0.5], []]))).tolist()
    [[0.0], []]
    """
    return _of("logit", x)


@like_first
def multigammaln(a: Any, d: int, /) -> Any:
    """Logarithm of the gamma function of ``d`` dimensions, for ``a > (d - 1) / 2``.

    >>> multigammaln(ragged([[1.0], []]), 1).tolist()
    [[0.0], []]
    """
    return elementwise(_multigammaln, a, d=check_min_int("d", d, 1))


def _multigammaln(a: Array, *, d: int) -> Array:
    gammaln = implementation(kernels(a), generic.special)("gammaln")
    out = gammaln(a)
    for i in range(1, d):
        out = out + gammaln(a - i / 2)
    return out + d * (d - 1) / 4 * math.log(math.pi)


@like_first
def ndtr(x: Any, /) -> Any:
    """Standard normal distribution function.

    >>> (ndtr(ragged([[0.0], []]))).tolist()
    [[0.5], []]
    """
    return _of("ndtr", x)


@like_first
def ndtri(x: Any, /) -> Any:
    """Inverse of `ndtr`.

    >>> (ndtri(ragged([[0.5], []]))).tolist()
    [[0.0], []]
    """
    return _of("ndtri", x)


@like_second
def polygamma(n: int, x: Any, /) -> Any:
    """Derivative of order ``n`` of `digamma`; ``n`` is an int.

    >>> (polygamma(1, ragged([[1.0], []])) > 1.6449).tolist()
    [[True], []]
    """
    return elementwise(_polygamma, x, n=check_min_int("n", n, 0))


def _polygamma(x: Array, *, n: int) -> Array:
    special = implementation(kernels(x), generic.special)
    if n == 0:
        out: Array = special("digamma")(x)
        return out
    return (-1) ** (n + 1) * math.factorial(n) * special("zeta")(namespace(x).full_like(x, n + 1), x)


@like_operands
def xlog1py(x: Any, y: Any, /) -> Any:
    """``x log(1 + y)``; 0 where ``x`` is 0.

    >>> (xlog1py(ragged([[0.0], []]), -1.0)).tolist()
    [[0.0], []]
    """
    return _of("xlog1py", x, y)


@like_operands
def xlogy(x: Any, y: Any, /) -> Any:
    """``x log(y)``; 0 where ``x`` is 0.

    >>> (xlogy(ragged([[0.0], []]), 0.0)).tolist()
    [[0.0], []]
    """
    return _of("xlogy", x, y)


@like_operands
def zeta(x: Any, q: Any, /) -> Any:
    """Hurwitz zeta function, the sum of ``1 / (k + q)**x`` over ``k = 0, 1, ...``; its gradient is that of ``q``.

    >>> (zeta(ragged([[2.0], []]), 1.0) > 1.6449).tolist()
    [[True], []]
    """
    return _of("zeta", x, q)
