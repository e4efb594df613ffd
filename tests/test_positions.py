"""Rotary and sinusoidal positions against the formulas, a row at a time."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra

from .harness.ways import Way


def angles(n: int, half: int, base: float) -> np.ndarray:
    return np.arange(n)[:, None] * base ** (-np.arange(half) / half)[None, :]


def turned(row: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """Pairs of features as complex numbers, times a unit number."""
    half = row.shape[-1] // 2
    angle = angles(len(row), half, base).reshape(len(row), *(1,) * (row.ndim - 2), half)
    z = (row[..., :half] + 1j * row[..., half:]) * np.exp(1j * angle)
    return np.concatenate((z.real, z.imag), axis=-1)


def batch(inner: tuple[int, ...], dtype: Any = np.float32) -> ra.RaggedArray:
    lengths = np.array([3, 0, 9, 1])
    return ra.from_row_lengths(np.random.default_rng(0).standard_normal((13, *inner)).astype(dtype), lengths)


@pytest.mark.parametrize("inner", [(6,), (2, 4)])
def test_rotary(way: Way, inner: tuple[int, ...]) -> None:
    x = batch(inner)
    got = way.run(("rotary", inner), lambda x: ra.nn.rotary(x, base=100.0), way.arrays(x))
    values = np.asarray(got.values) if way.name != "strict" else np.from_dlpack(got.values)
    np.testing.assert_allclose(
        values[:13], np.concatenate([turned(r, 100.0) for r in x.unbind()]), rtol=1e-4, atol=1e-5
    )


def test_sinusoidal(way: Way) -> None:
    x = batch(())
    got = way.run("sinusoidal", lambda x: ra.nn.sinusoidal(x, 6), way.arrays(x))
    values = np.asarray(got.values) if way.name != "strict" else np.from_dlpack(got.values)
    want = np.concatenate(
        [np.concatenate((np.sin(a), np.cos(a)), axis=1) for a in (angles(n, 3, 1e4) for n in (3, 9, 1))]
    )
    assert got.shape == (4, None, 6) and str(got.dtype).endswith("float32")
    np.testing.assert_allclose(values[:13], want, rtol=1e-5, atol=1e-6)


def test_scores_depend_on_distance() -> None:
    q, k = batch((8,), np.float64), batch((8,), np.float64)
    same = [a.with_values(np.broadcast_to(a.values[:1], a.values.shape)) for a in (q, k)]
    q, k = (ra.nn.rotary(a)[2] for a in same)
    scores = q @ k.T
    for d in range(-8, 9):
        np.testing.assert_allclose(np.diagonal(scores, d), scores[max(-d, 0), max(d, 0)], rtol=1e-9)


def test_gradient_and_dtypes() -> None:
    x = ra.testing.poison(ra.asarray(batch((2, 4)), xp="jax", capacity=16))
    gradient = jax.jit(ra.grad(lambda x: ra.sum(ra.nn.rotary(x) * ra.nn.sinusoidal(x, 4)[:, :, None])))(x)
    assert np.isfinite(gradient.values).all()
    assert ra.nn.rotary(x.astype("bfloat16")).dtype == jnp.bfloat16
    ids = ra.ragged([[1, 2], []], xp="jax")
    assert (
        ra.nn.sinusoidal(ids, 4).dtype == jnp.float32 and ra.nn.sinusoidal(ids, 4, dtype="float16").dtype == jnp.float16
    )


def test_long_rows_in_half_precision() -> None:
    """Positions past 2048 are no numbers of float16: angles are not computed in it."""
    x = ra.from_row_lengths(np.ones((4000, 2), np.float16), np.array([4000]))
    np.testing.assert_allclose(ra.nn.rotary(x).values, turned(np.ones((4000, 2))), atol=3e-3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ra.nn.rotary(ra.ragged([[1.0]])),
            ValueError,
            "nn.rotary: expected an even number of features, got shape (1, None). Split or pad the last axis.",
        ),
        (
            lambda: ra.nn.rotary(ra.ragged([[1]])),
            TypeError,
            "nn.rotary: expected floating values, got dtype int64. Convert them with `.astype`.",
        ),
        (
            lambda: ra.nn.sinusoidal(ra.ragged([[1]]), 3),
            ValueError,
            "nn.sinusoidal: expected an even size of at least 2, got 3. Pass an even size.",
        ),
        (
            lambda: ra.nn.rotary(np.ones(3)),
            TypeError,
            "nn.rotary: expected a RaggedArray, got ndarray. Make one with `ra.ragged`.",
        ),
    ],
)
def test_messages(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
