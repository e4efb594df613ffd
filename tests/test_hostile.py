"""Odd dtypes, odd options and orders of calls that once went wrong; each a kind, not an instance."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import ragged

X = ragged([[1.0, 2.0, 3.0], [], [4.0]])
SMALL = ragged([[1, 2], [3]], dtype="uint8")


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i4", ">c8"])
def test_foreign_byte_order(dtype: str) -> None:
    values = np.array([0.5, 0.75, 3]).astype(dtype)
    for x in (
        ra.from_row_splits(values, np.array([0, 2, 3])),
        ragged([values[:2], values[2:]]),
        ragged([[0.5, 0.75], [3]], dtype=dtype),
    ):
        np.testing.assert_allclose(ra.sum(x, axis=1), [values[:2].sum(), values[2]])
        np.testing.assert_allclose((x + values[0]).values, values + values[0])
    np.testing.assert_array_equal(ra.from_row_splits(values, np.array([0, 2, 3], ">i8")).row_lengths(), [2, 1])


@pytest.mark.parametrize("axis", [1.0, "a", [1], (1.0,)])
def test_a_bad_call_spoils_no_later_one(axis: Any) -> None:
    j = X.to("jax")
    for f in (ra.sum, ra.argmax, ra.nn.softmax, ra.nn.layer_norm):
        with pytest.raises(TypeError, match=r"expected an int axis|expected one axis"):
            f(j, axis=axis)
        f(j, axis=1)
    for good in (np.int64(1), True, (np.int32(1),)):
        np.testing.assert_array_equal(ra.sum(j, axis=good), [6, 0, 4])


def test_numbers_are_not_cut_to_a_dtype() -> None:
    assert ra.from_padded(np.array([[1, 0], [2, 3]]), padding=0.5).tolist() == [[1, 0], [2, 3]]
    assert ra.from_padded(np.array([[1, 0], [2, 3]]), padding=np.nan).tolist() == [[1, 0], [2, 3]]
    for call in (
        lambda: ra.to_padded(SMALL, fill_value=0.5),
        lambda: ra.to_padded(SMALL, fill_value=None),
        lambda: ra.max(SMALL, axis=1, initial=0.5),
    ):
        with pytest.raises(TypeError, match=r"expected (fill_value|initial) of dtype uint8"):
            call()
    for call in (
        lambda: ra.to_padded(SMALL.to("jax"), fill_value=300),
        lambda: ra.max(SMALL.to("jax"), axis=1, initial=300),
        lambda: ra.clip(SMALL, 300, None),
    ):
        with pytest.raises(OverflowError):
            call()


def test_options_may_be_traced() -> None:
    j = X.to("jax")
    slope = jax.grad(lambda s: ra.sum(ra.nn.leaky_relu(j - 3.0, negative_slope=s)))(0.1)
    assert float(slope) == -3.0
    for f in (
        lambda e: ra.sum(ra.nn.layer_norm(j, axis=1, eps=e)),
        lambda c: ra.sum(ra.var(j, axis=1, correction=c)[:1]),
    ):
        assert np.isfinite(jax.jit(f)(0.1))


@pytest.mark.parametrize("axis", [(0, 1), None, 0, 1, -1])
def test_normalisation_over_any_axes(axis: Any) -> None:
    for f in (ra.nn.layer_norm, ra.nn.rms_norm):
        want = f(X, axis=axis)
        got = jax.jit(lambda x, f=f: f(x, axis=axis))(ra.testing.poison(X.to("jax")))
        np.testing.assert_allclose(got.values[:4], want.values, rtol=1e-5, atol=1e-6)


def test_stretched_rows_that_disagree_are_nan_under_jit() -> None:
    x = ragged([[[1.0, 2.0], [3.0]], [[4.0, 5.0], [6.0, 7.0]], []], xp="jax")
    centred = jax.jit(lambda x: x - ra.mean(x, axis=1, keepdims=True))
    assert np.isnan(centred(x).values).all()
    assert centred(ragged([[[1.0, 2.0], [3.0, 4.0]]], xp="jax")).tolist() == [[[-1.0, -1.0], [1.0, 1.0]]]


def test_gradients_of_distinct_arguments() -> None:
    j = X.to("jax")
    for argnums in ((0, 0), 5, (0, -1)):
        with pytest.raises(ValueError, match=r"^grad: expected distinct positional arguments, of which there are 1"):
            ra.grad(ra.sum, argnums=argnums)(j)
    a, b = ra.grad(lambda x, y: ra.sum(x * y), argnums=[0, -1])(j, j * 2)
    assert a.tolist() == (j * 2).tolist() and b.tolist() == j.tolist()


def test_complex_values_have_no_order() -> None:
    for x in (ragged([[1j, 2]]), ragged([[1j, 2]], xp="jax")):
        for f in (ra.min, ra.max, ra.argmin, ra.argmax):
            with pytest.raises(TypeError, match="expected real values"):
                f(x, axis=1)


def test_object_arrays_are_refused() -> None:
    for call in (
        lambda: ragged([[2**70]]),
        lambda: ragged([np.array(["a"])]),
        lambda: ra.from_row_lengths(np.array([None]), np.array([1])),
        lambda: ra.from_row_splits(X, np.array([0, 1])),
        lambda: ra.from_rows([X]),
    ):
        with pytest.raises(TypeError, match=r": expected .*, got .*\. "):
            call()


def test_membership_and_ranges() -> None:
    assert 4.0 in X and 9.0 not in X
    assert ragged([range(3), range(0)]).tolist() == [[0, 1, 2], []]
    assert jnp.isfinite(ra.sum(X.to("jax")))


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_softmax_of_infinity(xp: str) -> None:
    """Infinity has no share: its row is NaN, as in every other library, and no other row."""
    x = ragged([[np.inf, 1.0], [-np.inf], [0.0, -np.inf]], xp=xp)
    with np.errstate(invalid="ignore"):
        share, log = ra.nn.softmax(x).values, ra.nn.log_softmax(x).values
        dense = ra.nn.softmax(x[0])
    np.testing.assert_array_equal(share[:5], [np.nan, np.nan, 0, 1, 0])
    np.testing.assert_array_equal(log[:5], [np.nan, np.nan, -np.inf, 0, -np.inf])
    assert np.isnan(dense).all()


def test_gelu_of_huge_elements() -> None:
    """Their cubes overflow."""
    x = ragged([[1e30, -1e30], [12.0, -12.0]], xp="jax")
    assert ra.nn.gelu(x).tolist() == [[float(np.float32(1e30)), 0.0], [12.0, 0.0]]
    assert ra.grad(lambda x: ra.sum(ra.nn.gelu(x)))(x).tolist() == [[1.0, 0.0], [1.0, 0.0]]
