"""Second derivatives of every differentiable op with poisoned slack, forward and reverse over reverse.

They are measured along a random direction, against differences of the gradient, which other files hold against the
dense function of each row. The tables are those of the files that do so, and here are the layers that they lack.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from . import recipes as moves
from . import test_nested_coverage as nested
from .coverage_recipes import RECIPES

LENGTHS = [3, 0, 2, 4]
KEY = jax.random.key(5)
Layer = Callable[..., Any]


def _w(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).uniform(-1, 1, shape)


def _rows(x: RaggedArray, *inner: int, seed: int = 2) -> RaggedArray:
    return RaggedArray(jnp.asarray(np.random.default_rng(seed).uniform(0.1, 0.9, (x.capacity, *inner))), x.partitions)


def _ids(x: RaggedArray) -> RaggedArray:
    return RaggedArray(jnp.asarray(np.arange(x.capacity, dtype=np.int32) % 4), x.partitions)


LAYERS: dict[str, tuple[tuple[int, ...], Layer, tuple[Any, ...]]] = {
    "attention": ((2, 4), lambda x, k, b: ra.nn.attention(x, x * k, x, bias=b), (_w(4), _w(2, 5, 5))),
    "attention:keys": ((2, 4), lambda x, k: ra.nn.attention(x, (y := x[..., :1, :]) * k, y, causal=True), (_w(4),)),
    "attention:dropout": ((2, 4), lambda x: ra.nn.attention(x, x, x, window=1, dropout=0.3, key=KEY), ()),
    "avg_pool": ((4,), lambda x: ra.nn.avg_pool(x, 2), ()),
    "batch_norm": ((4,), lambda x, w, b: ra.nn.batch_norm(x, None, w, b)[0], (_w(4), _w(4))),
    "binary_cross_entropy": ((), lambda x: ra.nn.binary_cross_entropy(x, _rows(x), from_logits=True), ()),
    "bmm": ((4,), ra.bmm, (_w(4, 4, 3),)),
    "conv1d": ((4,), lambda x, w, b: ra.nn.conv1d(x, w, b), (_w(3, 4, 2), _w(2))),
    "cross_entropy": ((4,), lambda x, w: ra.nn.cross_entropy(x, _ids(x), weight=w, label_smoothing=0.1), (abs(_w(4)),)),
    "ctc_loss": ((4,), lambda x: ra.nn.ctc_loss(x, ra.from_row_lengths(np.array([1, 2, 3, 1, 1]), [1, 0, 1, 3]),
                                                max_labels=3, zero_infinity=True), ()),
    "dropout": ((4,), lambda x: ra.nn.dropout(x, 0.4, key=KEY), ()),
    "einsum": ((4,), lambda x, w: ra.einsum("bld,bdf->blf", x, w), (_w(4, 4, 3),)),
    "embedding": ((4,), lambda x, t: ra.nn.embedding(_ids(x), t) * x, (_w(4, 4),)),
    "embedding_bag": ((), lambda x, t: (ra.nn.embedding_bag(_ids(x), t, weights=x),
                                        ra.nn.embedding_bag(_ids(x), t, mode="max")), (_w(4, 3),)),
    "gelu": ((), lambda x: (ra.nn.gelu(x, approximate=True), ra.nn.gelu(x, approximate=False)), ()),
    "global_avg_pool": ((4,), ra.nn.global_avg_pool, ()),
    "global_max_pool": ((4,), lambda x: ra.nn.global_max_pool(x)[np.array([0, 2, 3])], ()),
    "gru": ((4,), lambda x, w, u, b: ra.nn.gru(x, w, u, b, max_length=4), (_w(4, 9), _w(3, 9), _w(9))),
    "hard_silu": ((), ra.nn.hard_silu, ()),
    "huber_loss": ((), lambda x: ra.nn.huber_loss(x, 2 * _rows(x)), ()),
    "interpolate": ((4,), lambda x: ra.nn.interpolate(x, 3, method="linear"), ()),
    "kl_div": ((), lambda x: ra.nn.kl_div(x, ra.exp(x) * _rows(x)), ()),
    "layer_norm": ((4,), ra.nn.layer_norm, (_w(4), _w(4))),
    "linear": ((4,), ra.nn.linear, (_w(4, 3), _w(3))),
    "linear:matrices": ((4,), ra.nn.linear, (_w(4, 4, 3), _w(4, 3))),
    "linear_recurrence": ((4,), lambda x, a: ra.nn.linear_recurrence(_rows(x, 4) * a, x), (_w(4),)),
    "logsumexp": ((4,), lambda x: ra.nn.logsumexp(x, axis=2), ()),
    "lstm": ((4,), lambda x, w, u: ra.nn.lstm(x, w, u, max_length=4)[0], (_w(4, 12), _w(3, 12))),
    "max_pool": ((4,), lambda x: ra.nn.max_pool(x, 2), ()),
    "mse_loss": ((), lambda x: ra.nn.mse_loss(x, ra.sin(x)), ()),
    "rms_norm": ((4,), ra.nn.rms_norm, (_w(4),)),
    "rnn": ((4,), lambda x, w, u: ra.nn.rnn(x, w, u, max_length=4), (_w(4, 3), _w(3, 3))),
    "rotary": ((2, 4), ra.nn.rotary, ()),
    "scan": ((4,), lambda x, a: ra.nn.scan(lambda c, v: (jnp.tanh(c * a + v), c * v), a, x, max_length=4),
             (_w(4, 4),)),
    "sigmoid": ((), ra.nn.sigmoid, ()),
    "softmax": ((4,), lambda x: (ra.nn.softmax(x, axis=1), ra.nn.log_softmax(x, axis=1)), ()),
}  # fmt: skip
FLAT = {c: moves.CASES[c] for c in moves.MOVING if c.rsplit("-", 1)[0].split(":")[0] not in moves.NO_GRADIENT}

CASES = [*(f"layers/{n}" for n in LAYERS), *(f"recipes/{n}" for n in nested.SMOOTH), *(f"moves/{n}" for n in FLAT)]
BY_DAY = ("layers/linear:matrices", "recipes/prod", "moves/sort-flat")
NARROW = "rounds to a dtype in which differences of the gradient are too coarse"
NONE: dict[str, str] = {
    **dict.fromkeys(("recipes/half", "recipes/float", "recipes/bfloat16", "recipes/cfloat", "recipes/to"), NARROW),
    **dict.fromkeys(("recipes/igamma", "recipes/igammac"), "JAX has none: igamma_grad_a cannot be differentiated"),
}
"""Ops that are not measured, and why."""


def marked(name: str) -> Any:
    return pytest.param(name, marks=() if name in BY_DAY else pytest.mark.nightly)


@pytest.mark.parametrize("name", [marked(n) for n in CASES if n not in NONE])
def test_second_derivatives(name: str) -> None:
    with jax.enable_x64(True):
        loss, arrays = CASE[name.split("/")[0]](name.split("/", 1)[1])
        rng = np.random.default_rng(8)
        away = [jnp.asarray(rng.uniform(-1, 1, a.shape)) for a in arrays]
        gradient = jax.grad(loss)

        @jax.jit
        def run(arrays: Any) -> Any:
            def along(arrays: Any) -> Any:
                return sum(jnp.sum(g * t) for g, t in zip(gradient(arrays), away, strict=True))

            return *jax.jvp(gradient, (arrays,), (away,)), jax.grad(along)(arrays)

        first, *second = run(arrays)
        alone = jax.jit(gradient)
        high, low = (alone([a + e * t for a, t in zip(arrays, away, strict=True)]) for e in (1e-5, -1e-5))
        for found in second:
            for got, up, down, slope in zip(found, high, low, first, strict=True):
                assert np.isfinite(slope).all()
                np.testing.assert_allclose(got, (up - down) / 2e-5, rtol=1e-5, atol=1e-6)
        worse = [jnp.where(jnp.isnan(a), jnp.inf, a) for a in arrays]
        for a, b in zip(jax.tree.leaves(run(worse)), jax.tree.leaves((first, *second)), strict=True):
            np.testing.assert_array_equal(a, b)


def wide(x: Any) -> Any:
    """In float64, slack as it is."""
    values = np.asarray(x.values if isinstance(x, RaggedArray) else x)
    values = jnp.asarray(values.astype(np.float64) if values.dtype == np.float32 else values)
    return RaggedArray(values, x.partitions) if isinstance(x, RaggedArray) else values


def of_layer(name: str) -> tuple[Callable[..., Any], list[Any]]:
    inner, f, parameters = LAYERS[name]
    drawn = np.random.default_rng(0).uniform(-1, 1, (sum(LENGTHS), *inner))
    x = ra.testing.poison(ra.asarray(ra.from_row_lengths(drawn, np.array(LENGTHS)), xp="jax", capacity=11))

    def loss(arrays: Any) -> Any:
        return energy(f(x.with_values(arrays[0]), *arrays[1:]))

    return loss, [x.values, *map(jnp.asarray, parameters)]


def of_recipe(name: str) -> tuple[Callable[..., Any], list[Any]]:
    r = RECIPES[name]
    shapes, given = r.layouts[-1 if r.reduces else 0], r.at or r.operands
    data = nested.operands(r, shapes, given)
    xs = [wide(nested.placed(d, o.shapes or shapes, "jax")) for d, o in zip(data, given, strict=True)]
    which = [i for i, o in enumerate(given) if o.dtype == "float64" and (r.wrt is None or i in r.wrt)]
    axis = nested.axes(r, shapes, "jax")[0]

    def loss(arrays: Any) -> Any:
        full = list(xs)
        for i, a in zip(which, arrays, strict=True):
            full[i] = xs[i].with_values(a) if isinstance(xs[i], RaggedArray) else a
        return energy(nested.call(r, full, axis))

    return loss, [xs[i].values if isinstance(xs[i], RaggedArray) else xs[i] for i in which]


def of_move(name: str) -> tuple[Callable[..., Any], list[Any]]:
    f, kind = FLAT[name]
    x = wide(moves.on_jax(moves.batches(kind)[0], kind))
    return lambda arrays: energy(f(x.with_values(arrays[0]))), [x.values]


CASE = {"layers": of_layer, "recipes": of_recipe, "moves": of_move}


def energy(out: Any) -> Any:
    """One number, quadratic in every result; what is missing, which is NaN or infinite, counts nothing."""
    is_leaf = lambda a: isinstance(a, RaggedArray)  # noqa: E731
    return sum(nested.energy(a, jnp) for a in jax.tree.leaves(out, is_leaf=is_leaf))


def test_the_table_is_whole() -> None:
    known = {n.rsplit("-", 1)[0].split(":")[0] for n in (*LAYERS, *FLAT)} | {"log_softmax"}
    texts = " ".join(RECIPES[n].text for n in nested.SMOOTH)
    missing = {n for n in ra.nn.__all__ if n not in known and f"ra.nn.{n}(" not in texts}
    assert missing == {"one_hot", "sinusoidal"}, "they have no gradient"
    assert set(NONE) < set(CASES)
