"""NumPy's elementwise functions beyond the standard: the odd numbers, other dtypes, and what is refused."""

from typing import Any

import array_api_strict
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import raggedarray as ra
from raggedarray import RaggedArray, RowPartition

ODD = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 7.0, -7.0, 1e-310, 3e38])
PAIRS = np.stack(np.meshgrid(ODD, ODD)).reshape(2, -1)
INTS = np.array([-7, -1, 0, 3, 12])


def rows(a: np.ndarray, xp: Any = np) -> RaggedArray:
    return ra.from_row_splits(xp.asarray(a), np.array([0, 2, 2, len(a)]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize(
    "name", ["angle", "nan_to_num", "isposinf", "isneginf", "isreal", "exp2", "sinc", "deg2rad", "rad2deg"]
)
def test_odd_numbers(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        a = ODD.astype(dtype)
        want, got = getattr(np, name)(a), getattr(ra, name)(rows(a))
    assert got.values.dtype == want.dtype
    np.testing.assert_allclose(got.values, want, rtol=2e-3 if dtype == "float16" else 1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["fmax", "fmin", "fmod", "heaviside", "isclose", "float_power"])
def test_pairs_of_odd_numbers(name: str) -> None:
    a, b = PAIRS
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(getattr(ra, name)(rows(a), rows(b)).values, getattr(np, name)(a, b), rtol=1e-12)


def test_equal_nans() -> None:
    a, b = PAIRS
    got = ra.isclose(rows(a), rows(b), equal_nan=True)
    np.testing.assert_array_equal(got.values, np.isclose(a, b, equal_nan=True))


@pytest.mark.parametrize("name", ["fmax", "fmin", "fmod", "gcd", "lcm", "float_power", "isclose", "ldexp"])
@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_integers(name: str, xp: Any) -> None:
    a, b = INTS.astype("int32"), np.array([2, 5, 3, 2, 1], "int32")
    want = getattr(np, name)(a.astype("float64") if name == "float_power" else a, b)
    got = getattr(ra, name)(rows(a, xp), rows(b, xp))
    np.testing.assert_allclose(np.asarray(got.values), want, rtol=1e-6)
    assert np.asarray(got.values).dtype.kind == want.dtype.kind


def test_numbers_as_operands() -> None:
    x = rows(np.array([1.0, -2.0, 3.0], "float32"))
    for f, want in (
        (ra.fmax(x, 0), [1, 0, 3]), (ra.fmin(0.5, x), [0.5, -2, 0.5]), (ra.fmod(x, 2), [1, 0, 1]),
        (ra.heaviside(x, 0.5), [1, 0, 1]), (ra.ldexp(x, 2), [4, -8, 12]),
    ):  # fmt: skip
        np.testing.assert_allclose(f.values, want)
        assert f.dtype == np.float32


def test_exponents() -> None:
    a = np.array([0.0, 1.0, -3.0, 1e-310, 1.7e308, 0.5, np.inf])
    for got, want in zip(ra.frexp(rows(a)), np.frexp(a), strict=True):
        np.testing.assert_array_equal(got.values, want)


@pytest.mark.parametrize("decimals", [-2, -1, 0, 1, 3])
def test_rounding(decimals: int) -> None:
    for a in (np.array([123.4567, -0.05, 55.0, 1e9]), np.array([123, -55, 50, 149]), np.array([0.25, 3.75], "float32")):
        got = ra.round(rows(a), decimals=decimals).values
        np.testing.assert_allclose(got, np.round(a, decimals), rtol=1e-6)
        assert got.dtype == a.dtype


def test_sums_without_nans() -> None:
    x = ra.ragged([[1.0, np.nan], [np.nan], [], [3.0, 5.0]])
    np.testing.assert_array_equal(ra.nansum(x, axis=1), [1, 0, 0, 8])
    np.testing.assert_array_equal(ra.nanmean(x, axis=1), [1, np.nan, np.nan, 4])
    assert (float(ra.nansum(x)), float(ra.nanmean(x))) == (9, 3)
    np.testing.assert_array_equal(ra.nansum(x, axis=1, where=x < 4), [1, 0, 0, 3])
    assert ra.nansum(ra.ragged([[1, 2], []]), axis=1).tolist() == [3, 0]


def test_complex_parts() -> None:
    z = np.array([1 + 2j, complex(np.nan, 1), complex(np.inf, -np.inf), -1j])
    np.testing.assert_array_equal(ra.nan_to_num(rows(z)).values, np.nan_to_num(z))
    np.testing.assert_array_equal(ra.isreal(rows(z)).values, np.isreal(z))
    np.testing.assert_allclose(ra.angle(rows(z[[0, 3]])).values, np.angle(z[[0, 3]]))


def test_polynomials() -> None:
    a = np.array([0.25, -0.75, 2.0])
    for name in ("chebyt", "chebyu", "sh_chebyt", "sh_chebyu", "hermite", "hermitenorm", "laguerre", "legendre"):
        for n in (0, 1, 2, 7):
            got = getattr(ra.special, f"eval_{name}")(n, rows(a)).values
            np.testing.assert_allclose(got, getattr(scipy.special, f"eval_{name}")(n, a), rtol=1e-10, atol=1e-12)
    assert ra.special.eval_legendre(2, ra.ragged([[2], []])).tolist() == [[5.5], []]
    assert ra.special.eval_chebyw(3, rows(a.astype("float16"))).dtype == np.float16


def test_what_is_refused() -> None:
    x = rows(ODD)
    text = r"^special.eval_legendre: expected a degree of at least 0, got -1. Pass a larger one.$"
    with pytest.raises(ValueError, match=text):
        ra.special.eval_legendre(-1, x)
    with pytest.raises(ValueError, match=r"^special.multigammaln: expected a d of at least 1, got 0."):
        ra.special.multigammaln(x, 0)
    with pytest.raises(TypeError, match=r"^special.polygamma: expected a static size, got float."):
        ra.special.polygamma(0.5, x)  # type: ignore[arg-type]
    strict = RaggedArray(array_api_strict.asarray([4, 6]), (RowPartition(array_api_strict.asarray([0, 2])),))
    with pytest.raises(TypeError, match=r"^gcd: expected NumPy or JAX values, got another array library."):
        ra.gcd(strict, strict)
    with pytest.raises(ValueError, match=r"^split: expected at least one part, got 0. Pass how many there shall be.$"):
        ra.split(x, 0)
    with pytest.raises(TypeError, match=r"^split: expected an array, got list. Make one with `ra.ragged`.$"):
        ra.split([1, 2], 2)
