"""NaN in slack: what is spread over rows makes none, and `map_values(masked=True)` keeps a function out of it."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, ragged

from .harness.ways import Way

ROWS = ra.asarray(ragged([[0.3, 0.6], [], [0.2]]), xp="jax", capacity=6)
NESTED = ra.asarray(ragged([[[0.3], [0.6, 0.1]], [], [[], [0.2]]]), xp="jax", capacity=(6, 8))
BLOCK = ragged([np.full((2, 2), 0.3), np.full((1, 3), 0.2), np.full((0, 2), 0.2)], xp="jax")
STATISTIC = jnp.array([[0.5], [0.4], [0.7]])
SPREAD: dict[str, tuple[RaggedArray, Any]] = {
    "rows": (ROWS, STATISTIC),
    "block": (BLOCK, STATISTIC[:, None]),
    "all": (ROWS, jnp.array([[0.5]])),
    "nested": (NESTED, ra.sum(NESTED, axis=2, keepdims=True) + 1),
    "outer": (NESTED, STATISTIC[:, None]),
}
OPS: dict[str, Callable[[Any, Any], Any]] = {
    "divide": ra.divide, "floor_divide": ra.floor_divide, "remainder": ra.remainder, "fmod": ra.fmod, "pow": ra.pow,
    "power of": lambda x, s: ra.pow(s, x), "float_power": ra.float_power, "atan2": ra.atan2, "xlogy": ra.special.xlogy,
    "log": lambda x, s: x + ra.log(ra.broadcast_arrays(x, s)[1]),
    "sqrt": lambda x, s: x + ra.sqrt(ra.broadcast_arrays(x, s)[1]),
    "reciprocal": lambda x, s: x + ra.reciprocal(ra.broadcast_arrays(x, s)[1]),
}  # fmt: skip
DAY = ["rows", "block"]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("how", [h if h in DAY else pytest.param(h, marks=pytest.mark.nightly) for h in SPREAD])
def test_spread_operands_make_no_nan(op: str, how: str) -> None:
    """Forward and, primitive by primitive, backward: slack of fresh arrays is 0, and what is spread was 0 too."""
    x, statistic = SPREAD[how]
    with jax.debug_nans(True):
        out = OPS[op](x, statistic)
        assert not np.isnan(out.values).any()
        ra.grad(lambda x, s: ra.sum(OPS[op](x, s)), argnums=(0, 1))(x, statistic)


def test_shares_of_rows() -> None:
    def shares(x: Any) -> Any:
        return x / ra.sum(x, axis=1, keepdims=True)

    with jax.debug_nans(True):
        for f in (shares, jax.jit(shares)):
            np.testing.assert_allclose(ra.to_padded(f(ROWS), length=2), [[1 / 3, 2 / 3], [0, 0], [1, 0]], rtol=1e-6)
        gradient = jax.jit(ra.grad(lambda x: ra.sum(shares(x) ** 2)))(ROWS)
    assert np.isfinite(gradient.values).all()


STATISTICS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: ra.nn.softmax(x, axis=1), "log_softmax": lambda x: ra.nn.log_softmax(x, axis=1),
    "layer_norm": lambda x: ra.nn.layer_norm(x, axis=1), "rms_norm": lambda x: ra.nn.rms_norm(x, axis=1, eps=0.0),
    "vector_norm": lambda x: x / ra.linalg.vector_norm(x, axis=1, keepdims=True),
    "standard": lambda x: (x - ra.mean(x, axis=1, keepdims=True)) / (1 + ra.std(x, axis=1, keepdims=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", STATISTICS)
def test_normalised_rows_make_no_nan(name: str) -> None:
    """Jitted, as the mean of an empty row is NaN by itself."""
    with jax.debug_nans(True):
        f = STATISTICS[name]
        value, gradient = jax.jit(ra.value_and_grad(lambda x: (lambda y: (ra.sum(y), y))(f(x)), has_aux=True))(ROWS)
    assert not any(np.isnan(a).any() for a in jax.tree.leaves((value, gradient)))


def logarithm(w: Any) -> Callable[[Any], Any]:
    return lambda v: jnp.log(w * v)


MASKED = {"rows": ROWS, "nested": NESTED, "block": BLOCK, "view": ra.matrix_transpose(BLOCK)}


@pytest.mark.parametrize("fill", ["nan", "inf"])
@pytest.mark.parametrize("name", MASKED)
def test_masked_keeps_slack_out_of_gradients(name: str, fill: str) -> None:
    """Zeros in slack would not: the gradient of log(w * 0) is 0 / 0."""
    x = MASKED[name]
    x = ra.testing.poison(x, fill=fill) if x.is_contiguous else x

    @jax.jit
    def both(w: Any, x: Any) -> Any:
        return ra.value_and_grad(lambda w, x: ra.sum(ra.map_values(logarithm(w), x, masked=True)), argnums=(0, 1))(w, x)

    value, (by_w, by_x) = both(jnp.float32(2), x)
    used = np.asarray(x.used_mask())
    np.testing.assert_allclose(value, np.log(2 * np.asarray(x.values)[used]).sum(), rtol=1e-5)
    np.testing.assert_allclose(by_w, used.sum() / 2, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(by_x.values * x.values)[used], 1, rtol=1e-5)
    assert not np.asarray(by_x.values)[~used].any()


def test_what_a_masked_function_sees() -> None:
    seen: list[Any] = []

    def look(*v: Any) -> Any:
        seen[:] = v
        return v[0] * 0 + 7

    x = ra.testing.poison(ra.asarray(ragged([[3, 4], [], [5]]), xp="jax", capacity=5))
    out = ra.map_values(look, x, jnp.array([[1.5], [2.5], [3.5]]), 2, masked=True)
    assert [np.asarray(v).tolist() for v in seen] == [[3, 4, 5, 3, 3], [1.5, 1.5, 3.5, 1.5, 1.5], 2]
    assert out.values.tolist() == [7, 7, 7, 0, 0]
    empty = ra.testing.poison(ra.asarray(ragged([[1.0]]), xp="jax", capacity=2)[:0])
    assert empty.map_values(look, masked=True).values.tolist() == [0, 0] and seen[0].tolist() == [1, 1]


def test_masked_looks_up_no_foreign_id() -> None:
    table = jnp.arange(6.0).reshape(3, 2)
    ids = ra.testing.poison(ra.asarray(ragged([[2, 0], [1]]), xp="jax", capacity=6))
    gradient = jax.grad(lambda t: ra.sum(ids.map_values(lambda v: t[v], masked=True)))(table)
    assert gradient.tolist() == [[1, 1]] * 3
    assert ids.map_values(lambda v: table[v], masked=True).tolist() == [[[4, 5], [0, 1]], [[2, 3]]]


def test_masked_is_the_same_everywhere(way: Way) -> None:
    x = way.arrays(ragged([[1.0, 4.0], [], [9.0]]))
    out = way.run("masked", lambda x: ra.map_values(lambda v: v * 2, x, masked=True), x)
    assert ra.asarray(out, xp="numpy").tolist() == [[2, 8], [], [18]]


def test_masked_compiles_once() -> None:
    f = ra.testing.count_traces(lambda x: ra.map_values(jnp.log, x, masked=True))
    compiled = jax.jit(f)
    for rows in ([[1.0, 2.0], [3.0]], [[], [1.0]], [[], []]):
        compiled(ra.asarray(ragged(rows, item_shape=(None,)), xp="jax", capacity=4))
    assert f.count == 1


def test_masked_is_a_bool() -> None:
    text = "map_values: expected masked as a static bool, got str. Pass True or False."
    with pytest.raises(TypeError, match=re.escape(text)):
        ra.map_values(jnp.log, ROWS, masked="yes")


def test_layers_of_other_libraries() -> None:
    """A norm of zeros has no finite gradient without eps; a masked one never sees them."""
    eqx, nnx = pytest.importorskip("equinox"), pytest.importorskip("flax.nnx")
    x = ra.testing.poison(
        ra.asarray(ra.from_rows([np.ones((2, 3), "float32"), np.ones((1, 3), "float32")]), xp="jax", capacity=5)
    )
    norm = eqx.nn.RMSNorm(3, eps=0.0)
    gradient = jax.grad(lambda n: ra.sum(ra.map_values(jax.vmap(n), x, masked=True)))(norm)
    np.testing.assert_allclose(gradient.weight, [3, 3, 3], rtol=1e-6)
    layer = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    gradient = nnx.grad(lambda m: ra.sum(ra.map_values(m, x, masked=True)))(layer)
    np.testing.assert_allclose(gradient.kernel[...], np.full((3, 2), 3), rtol=1e-6)
