"""Attention within rows against a dense computation of each row."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.experimental import checkify

import raggedarray as ra
from raggedarray import RaggedArray
from raggedarray.backends.jax.attention import cudnn

from .harness.day import nightly_unless
from .harness.ways import Way

LENGTHS, KEY_LENGTHS = (3, 0, 21, 1, 40, 0, 2), (2, 3, 20, 0, 33, 0, 5)
"""Two tiles and more in the long rows; empty rows of queries, of keys and of both."""
WHOLE = 144
"""A capacity for which these rows, once their length has a limit of 40, are taken as one tile each."""


def seen(rows: int, keys: int, causal: bool, window: Any) -> np.ndarray:
    left, right = window if isinstance(window, tuple) else (window, window)
    away = np.arange(keys)[None, :] - np.arange(rows)[:, None]
    ok = np.ones((rows, keys), bool)
    if left is not None:
        ok &= away >= -left
    if right is not None:
        ok &= away <= right
    return ok & (away <= 0) if causal else ok


def pairs(bias: Any, rows: int, keys: int, xp: Any) -> Any:
    """What a bias adds to each pair."""
    if bias.ndim == 3:
        return bias[:, :rows, :keys]
    m = bias.shape[1] // 2
    away = np.clip(np.arange(keys)[None, :] - np.arange(rows)[:, None], -m, m) + m
    return xp.take(bias, away, axis=1)


def dense(
    q: Any, k: Any, v: Any, bias: Any = None, *, causal: bool = False, window: Any = None, scale: Any = None, xp: Any
) -> Any:
    """One row ``[len, H, D]``, written out; ``xp`` is numpy, or jax.numpy for its gradient."""
    if not len(q) or not len(k):
        return xp.zeros((len(q), q.shape[1], v.shape[2]), q.dtype)
    k, v = (xp.repeat(a, q.shape[1] // a.shape[1], axis=1) for a in (k, v))
    s = xp.einsum("qhd,khd->hqk", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if bias is not None:
        s = s + xp.broadcast_to(pairs(bias, len(q), len(k), xp), s.shape)
    ok = seen(len(q), len(k), causal, window)
    s = xp.where(ok[None], s, -1e30)
    w = xp.exp(s - s.max(axis=-1, keepdims=True))
    w = xp.where(ok[None], w / w.sum(axis=-1, keepdims=True), 0)
    return xp.einsum("hqk,khd->qhd", w, v)


def operand(rng: Any, lengths: Any, inner: tuple[int, ...], dtype: Any = np.float64) -> RaggedArray:
    return ra.from_row_lengths(rng.standard_normal((sum(lengths), *inner)).astype(dtype), np.asarray(lengths, np.int32))


def operands(cross: bool, heads: tuple[int, int], dtype: Any = np.float64, seed: int = 0) -> list[RaggedArray]:
    rng = np.random.default_rng(seed)
    keys = KEY_LENGTHS if cross else LENGTHS
    shapes = ((LENGTHS, (heads[0], 4)), (keys, (heads[1], 4)), (keys, (heads[1], 3)))
    return [operand(rng, lengths, inner, dtype) for lengths, inner in shapes]


def on_device(xs: list[RaggedArray], capacity: int = 72, fill: str = "nan") -> list[RaggedArray]:
    """On JAX, keys over fewer slots, slack poisoned."""
    sizes = (capacity, capacity - 2, capacity - 2)
    return [ra.testing.poison(ra.asarray(x, xp="jax", capacity=n), fill=fill) for x, n in zip(xs, sizes, strict=True)]


def biases(heads: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(9)
    return {"position": rng.standard_normal((heads, 40, 44)), "distance": rng.standard_normal((1, 13))}


CASES: dict[str, tuple[bool, tuple[int, int], dict[str, Any], str]] = {
    "causal, one key head": (False, (2, 1), {"causal": True}, ""),
    "cross, causal, grouped, bias by position": (True, (4, 2), {"causal": True, "scale": 0.7}, "position"),
    "cross, window of a pair": (True, (2, 1), {"window": (3, None)}, ""),
    "causal, window, bias by distance": (False, (4, 2), {"window": (18, 1), "causal": True}, "distance"),
    "rows as tiles": (True, (4, 2), {"max_length": (40, 40)}, "position"),
    "rows as tiles, causal": (False, (2, 2), {"max_length": 40, "causal": True, "window": (5, None)}, ""),
}

DAY = ("causal, window, bias by distance", "rows as tiles")
"""Those that are compiled by day: keys in blocks, and rows as tiles."""


def reference(xs: list[RaggedArray], bias: Any, options: dict[str, Any]) -> np.ndarray:
    rows = [
        dense(*row, bias, xp=np, **options)
        for row in zip(*(ra.compact(x.to("numpy")).unbind() for x in xs), strict=True)
    ]
    return np.concatenate(rows)


def case(name: str, dtype: Any = np.float64) -> tuple[list[RaggedArray], Any, dict[str, Any], int]:
    """Operands, bias, options without ``max_length``, and a capacity."""
    cross, heads, options, kind = CASES[name]
    xs = operands(cross, heads, dtype)
    bias = biases(heads[0])[kind].astype(dtype) if kind else None
    return xs, bias, options, WHOLE if "max_length" in options else 72


def plain(options: dict[str, Any]) -> dict[str, Any]:
    return {n: o for n, o in options.items() if n != "max_length"}


@pytest.mark.parametrize("name", CASES)
def test_host_values(name: str) -> None:
    xs, bias, options, _ = case(name)
    want = reference(xs, bias, plain(options))
    for way in (Way("numpy", 0), Way("numpy", 3), Way("strict", 2)):
        got = ra.nn.attention(*map(way.arrays, xs), bias=way.dense(bias), **options)
        out = np.from_dlpack(got.values) if way.name == "strict" else got.values
        np.testing.assert_allclose(out[: len(want)], want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [nightly_unless(name in DAY, name) for name in CASES])
def test_values_and_gradients(name: str) -> None:
    """On JAX under jit, slack of operands and of the cotangent poisoned."""
    with jax.enable_x64(True):
        xs, bias, options, capacity = case(name)
        want = reference(xs, bias, plain(options))
        weights = np.random.default_rng(3).standard_normal(want.shape)
        moved = on_device(xs, capacity)
        ct = np.full((capacity, *want.shape[1:]), np.nan)
        ct[: len(want)] = weights

        @jax.jit
        def run(xs: Any, bias: Any, ct: Any) -> Any:
            def attend(values: Any, bias: Any) -> Any:
                rows = [RaggedArray(v, x.partitions) for v, x in zip(values, xs, strict=True)]
                return ra.nn.attention(*rows, bias=bias, **options).values

            out, pull = jax.vjp(attend, [x.values for x in xs], bias)
            return out, *pull(ct)

        out, grads, dbias = run(moved, bias, ct)
        np.testing.assert_allclose(out[: len(want)], want, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(out[len(want) :], 0)
        expected, expected_bias = dense_gradients(xs, bias, plain(options), weights)
        for got, x, w in zip(grads, xs, expected, strict=True):
            np.testing.assert_allclose(got[: x.capacity], w, rtol=1e-8, atol=1e-9)
            np.testing.assert_array_equal(got[x.capacity :], 0)
        if bias is not None:
            np.testing.assert_allclose(dbias, expected_bias, rtol=1e-8, atol=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [*CASES, "dropout"])
def test_other_derivatives(name: str) -> None:
    """The tangent, and derivatives of gradient and tangent in both modes, against differences; slack poisoned."""
    with jax.enable_x64(True):
        xs, bias, options, capacity = case("causal, one key head" if name == "dropout" else name)
        if name == "dropout":
            options = {**options, "dropout": 0.25, "key": jax.random.key(7)}
        moved = on_device(xs, capacity)
        rng = np.random.default_rng(4)
        used, weights = moved[0].used_mask()[:, None, None], rng.standard_normal((capacity, xs[0].shape[2], 3))

        def loss(given: Any) -> Any:
            rows = [x.with_values(v) for x, v in zip(moved, given[0], strict=True)]
            out = ra.nn.attention(*rows, bias=given[1], **options).values
            return jnp.sum(jnp.where(used, out, 0) ** 3 * weights)

        def product(a: Any, b: Any) -> Any:
            return sum(jnp.sum(x * y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))

        @jax.jit
        def run(given: Any, away: Any) -> Any:
            slope, bent = jax.jvp(jax.grad(loss), (given,), (away,))
            tangent = jax.jvp(loss, (given,), (jax.tree.map(lambda v, a: jnp.where(jnp.isnan(v), v, a), given, away),))
            return (
                slope,
                tangent[1],
                (
                    bent,
                    jax.grad(lambda g: product(jax.grad(loss)(g), away))(given),
                    jax.grad(lambda g: jax.jvp(loss, (g,), (away,))[1])(given),
                ),
            )

        given = [x.values for x in moved], bias
        away = jax.tree.map(lambda a: rng.standard_normal(a.shape), given)
        slope, tangent, second = run(given, away)
        np.testing.assert_allclose(tangent, product(slope, away), rtol=1e-9)
        gradient = jax.jit(jax.grad(loss))
        steps = [gradient(jax.tree.map(lambda v, a, e=e: v + e * a, given, away)) for e in (1e-5, -1e-5)]
        for got in second:
            for a, high, low in zip(jax.tree.leaves(got), *map(jax.tree.leaves, steps), strict=True):
                np.testing.assert_allclose(a, (high - low) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.nightly
def test_other_derivatives_in_vmap_and_eagerly() -> None:
    x, y = on_jax((3, 0, 9), (2, 4), 16), on_jax((0, 10, 1), (2, 4), 16, seed=1)
    both = jax.tree.map(lambda *a: jnp.stack(a), x, y)

    def loss(v: Any, like: RaggedArray) -> Any:
        return ra.sum(ra.square(ra.nn.attention(*[like.with_values(v)] * 3)))

    def second(like: RaggedArray) -> Any:
        ones = jnp.ones_like(like.values)
        return jax.grad(lambda v: jnp.sum(jax.grad(loss)(v, like)))(like.values), jax.jvp(
            lambda v: jax.grad(loss)(v, like), (like.values,), (ones,)
        )[1]

    got = jax.jit(jax.vmap(second))(both)
    alone = jax.jit(second)
    for i, like in enumerate((x, y)):
        for a, b in zip(got, alone(like), strict=True):
            np.testing.assert_allclose(a[i], b, rtol=1e-4, atol=1e-5)
    long = on_jax((300,), (1, 2), 320)
    forward, reverse = second(long)
    np.testing.assert_allclose(forward, reverse, rtol=1e-3, atol=1e-4)
    assert np.isfinite(forward).all()


def dense_gradients(xs: list[RaggedArray], bias: Any, options: dict[str, Any], weights: np.ndarray) -> Any:
    """Of the sum of the results times ``weights``, written out for each row."""
    splits = xs[0].row_splits
    total = None if bias is None else np.zeros_like(bias)
    parts: list[Any] = [[], [], []]
    for i, row in enumerate(zip(*(x.unbind() for x in xs), strict=True)):
        *grads, dbias = row_gradients(*row, bias, weights[splits[i] : splits[i + 1]], **options)
        for part, a in zip(parts, grads, strict=True):
            part.append(a)
        total = None if total is None else total + dbias
    return [np.concatenate(p) for p in parts], total


def row_gradients(
    q: Any, k: Any, v: Any, bias: Any, ct: Any, *, causal: bool = False, window: Any = None, scale: Any = None
) -> Any:
    if not len(q) or not len(k):
        return np.zeros_like(q), np.zeros_like(k), np.zeros_like(v), 0
    groups, share = k.shape[1], q.shape[1] // k.shape[1]
    k, v = (np.repeat(a, share, axis=1) for a in (k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    s = np.einsum("qhd,khd->hqk", q, k) * scale
    if bias is not None:
        s = s + pairs(bias, len(q), len(k), np)
    s = np.where(seen(len(q), len(k), causal, window), s, -np.inf)
    peak = s.max(axis=-1, keepdims=True)
    w = np.exp(s - np.where(np.isfinite(peak), peak, 0))
    total = w.sum(axis=-1, keepdims=True)
    w = w / np.where(total == 0, 1, total)
    dw = np.einsum("qhd,khd->hqk", ct, v)
    ds = w * (dw - (w * dw).sum(axis=-1, keepdims=True))
    dk, dv = np.einsum("hqk,qhd->khd", ds, q) * scale, np.einsum("hqk,qhd->khd", w, ct)
    dk, dv = (a.reshape(len(k), groups, share, -1).sum(axis=2) for a in (dk, dv))
    dbias = None
    if bias is not None:
        dbias = np.zeros_like(bias)
        by_head = ds.sum(axis=0, keepdims=True) if len(bias) == 1 else ds
        if bias.ndim == 3:
            dbias[:, : len(q), : len(k)] = by_head
        else:
            m = bias.shape[1] // 2
            away = np.clip(np.arange(len(k))[None, :] - np.arange(len(q))[:, None], -m, m) + m
            np.add.at(dbias, (slice(None), away), by_head)
    return np.einsum("hqk,khd->qhd", ds, k) * scale, dk, dv, dbias


def test_the_gradients_written_out() -> None:
    """They are those that JAX finds for the dense computation of a row."""
    with jax.enable_x64(True):
        xs, bias, options, _ = case("causal, window, bias by distance")
        row = [x.unbind()[2] for x in xs]
        ct = np.random.default_rng(5).standard_normal((21, 4, 3))
        dense_row = jax.jit(lambda q, k, v, b: jax.vjp(lambda *a: dense(*a, xp=jnp, **options), q, k, v, b)[1](ct))
        for got, want in zip(row_gradients(*row, bias, ct, **options), dense_row(*row, bias), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def on_jax(lengths: Any, inner: tuple[int, ...], capacity: int, seed: int = 0, dtype: Any = np.float32) -> RaggedArray:
    x = operand(np.random.default_rng(seed), lengths, inner, dtype)
    return ra.testing.poison(ra.asarray(x, xp="jax", capacity=capacity))


def attend(values: Any, like: RaggedArray, **options: Any) -> Any:
    x = like.with_values(values)
    return ra.nn.attention(x, x, x, **options)


def test_a_row_is_its_own() -> None:
    """Bit for bit the same, forward and backward, whatever other rows hold and however long they are."""

    @jax.jit
    def run(x: Any, ct: Any) -> Any:
        out, pull = jax.vjp(lambda v: attend(v, x, causal=True).values, x.values)
        return x.with_values(out), x.with_values(pull(ct)[0])

    alone = on_jax((0, 21, 0, 0, 0), (2, 4), 96)
    row = np.asarray(alone.values[:21])
    want = [np.asarray(a.values[:21]) for a in run(alone, jnp.ones(alone.values.shape))]
    for lengths in ((5, 21, 0, 40, 3), (33, 21, 30, 1, 1)):
        for fill in (1.0, np.nan, np.inf):
            x = on_jax(lengths, (2, 4), 96, seed=4)
            place = slice(lengths[0], lengths[0] + 21)
            values = jnp.full_like(x.values, fill) * x.values
            x = RaggedArray(values.at[place].set(row), x.partitions)
            ct = jnp.full_like(x.values, fill).at[place].set(1)
            for got, expected in zip(run(x, ct), want, strict=True):
                np.testing.assert_array_equal(got.values[place], expected)


def shapes_in(jaxpr: Any) -> set[tuple[int, ...]]:
    """Shapes of every array in a program, those of its inner programs too."""
    found = set()
    for eqn in jaxpr.eqns:
        found |= {tuple(v.aval.shape) for v in eqn.outvars if hasattr(v.aval, "shape")}
        params = eqn.params
        if eqn.primitive.name == "custom_linear_solve":  # the equations are there to be differentiated, not to be run
            params = {name: getattr(params["jaxprs"], name) for name in ("solve", "transpose_solve")}
        for value in jax.tree.leaves(params, is_leaf=lambda p: hasattr(p, "jaxpr") or hasattr(p, "eqns")):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                found |= shapes_in(inner)
    return found


@pytest.mark.parametrize("options", [{}, {"max_length": 1024}, {"window": 5}], ids=str)
def test_no_square_arrays(options: dict[str, Any]) -> None:
    nrows, capacity, longest = 16, 2048, 1024
    x = on_jax((longest, *[3] * (nrows - 1)), (2, 8), capacity)
    gradient = jax.make_jaxpr(jax.value_and_grad(lambda v: jnp.sum(attend(v, x, **options).values)))(x.values)
    shapes = shapes_in(gradient.jaxpr)
    assert (capacity, 2, 8) in shapes, "the walk sees the program"
    assert max(np.prod(s, dtype=int) for s in shapes) <= 4 * 128 * 2 * 128 + 8 * capacity * 2 * 8
    assert not any(sum(n >= capacity for n in s) > 1 for s in shapes), "no [N, N]"
    assert not any(sum(n >= longest for n in s) > 1 for s in shapes), "no [B, Lmax, Lmax]"
    dense = jax.make_jaxpr(
        lambda v: jax.nn.dot_product_attention(*[ra.to_padded(x.with_values(v), length=longest)] * 3)
    )
    assert any(sum(n >= longest for n in s) > 1 for s in shapes_in(dense(x.values).jaxpr)), "the walk finds them"


def test_memory_is_linear() -> None:
    def temporary(capacity: int) -> int:
        x = on_jax((capacity - 9, 9), (2, 8), capacity)
        step = jax.jit(jax.grad(lambda v: jnp.sum(attend(v, x).values)))
        return int(step.lower(x.values).compile().memory_analysis().temp_size_in_bytes)

    small, large = temporary(2048), temporary(8192)
    assert large - small < 1.5 * 3 * small, "four times the slots: not sixteen times the memory"


def test_compiles_once() -> None:
    traced = ra.testing.count_traces(lambda x: attend(x.values, x, causal=True))
    f = jax.jit(traced)
    for lengths in ((3, 0, 40), (1, 1, 1), (0, 0, 64), (20, 30, 2)):
        f(on_jax(lengths, (2, 4), 64))
    assert traced.count == 1


@pytest.mark.nightly
def test_inside_transformations() -> None:
    """`vmap` over heads and over batches, `checkpoint`, `scan` over layers."""
    x = on_jax((3, 0, 21, 2), (2, 4), 32)
    y = on_jax((20, 5, 1, 6), (2, 4), 32, seed=1)

    def loss(v: Any, like: RaggedArray) -> Any:
        return jnp.sum(jnp.where(like.used_mask()[:, None, None], attend(v, like, causal=True).values, 0) ** 2)

    gradient = jax.jit(jax.grad(loss))
    both = jax.tree.map(lambda *a: jnp.stack(a), x, y)
    got = jax.jit(jax.vmap(lambda b: jax.grad(loss)(b.values, b)))(both)
    for g, z in zip(got, (x, y), strict=True):
        np.testing.assert_allclose(g, gradient(z.values, z), rtol=1e-5, atol=1e-6)

    by_head = jax.jit(jax.vmap(lambda v: attend(v, x, causal=True).values, in_axes=1, out_axes=1))(x.values[:, :, None])
    np.testing.assert_allclose(by_head[:, :, 0], attend(x.values, x, causal=True).values, rtol=1e-5)

    def layers(v: Any, save: bool) -> Any:
        def layer(h: Any, w: Any) -> Any:
            return h + attend(h * w, x).values, None

        return jnp.sum(jax.lax.scan(jax.checkpoint(layer) if save else layer, v, jnp.ones(3))[0][:26])

    clean = jnp.where(x.used_mask()[:, None, None], x.values, 0)
    saved, plain = (jax.jit(jax.grad(lambda v, s=s: layers(v, s)))(clean) for s in (True, False))
    np.testing.assert_allclose(saved, plain, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=str)
def test_halves(dtype: Any) -> None:
    xs = operands(False, (2, 1), dtype)
    want = reference([x.astype("float64") for x in xs], None, {"causal": True})
    error = 4e-3 if dtype == np.float16 else 3e-2
    host = ra.nn.attention(*xs, causal=True)
    moved = on_device(xs)

    @jax.jit
    def run(q: Any, k: Any, v: Any) -> Any:
        out, pull = jax.vjp(lambda x: ra.nn.attention(q.with_values(x), k, v, causal=True).values, q.values)
        return out, *pull(jnp.ones_like(out))

    out, grad = run(*moved)
    assert host.dtype == out.dtype == grad.dtype == dtype
    np.testing.assert_allclose(host.values.astype(float), want, atol=error)
    np.testing.assert_allclose(out[: len(want)].astype(float), want, atol=error)
    assert np.isfinite(grad.astype(np.float32)).all()


def test_halves_are_summed_in_float32() -> None:
    """4000 equal weights: a sum in bfloat16 stops at 256."""
    x = ra.asarray(ra.from_row_lengths(np.ones((4000, 1, 8), ml_dtypes.bfloat16), np.array([4000])), xp="jax")
    np.testing.assert_allclose(jax.jit(attend)(x.values, x).values[:4000].astype(np.float32), 1, rtol=1e-2)


def test_scores_beyond_the_range_of_exp() -> None:
    x = on_jax((4, 2), (1, 4), 8)
    value, slope = jax.jit(jax.value_and_grad(lambda v: jnp.sum(attend(v * 1e4, x).values)))(x.values)
    assert np.isfinite(value) and np.isfinite(slope).all()


def test_dropout() -> None:
    eye = np.eye(40, dtype=np.float64)[:, None, :]
    with jax.enable_x64(True):
        x = on_jax((40, 40, 0, 9), (3, 4), 96, dtype=np.float64)
        one_hot = ra.asarray(ra.from_rows([eye, eye, eye[:0], eye[:9]]), xp="jax", capacity=96)
        key = jax.random.key(7)

        @jax.jit
        def weights(x: Any, key: Any) -> Any:
            return ra.nn.attention(x, x.with_values(x.values[:, :1]), one_hot, dropout=0.25, key=key).values

        @jax.jit
        def whole(x: Any) -> Any:
            options: dict[str, Any] = {"dropout": 0.25, "key": key, "max_length": 40}
            return ra.nn.attention(x, x.with_values(x.values[:, :1]), one_hot, **options).values

        got = weights(x, key)
        kept = np.asarray(got[:80]) > 0
        assert abs(kept.mean() - 0.75) < 0.02
        assert abs(np.mean(kept[:40] & kept[40:]) - 0.75**2) < 0.03, "rows differ"
        assert abs(np.mean(kept[:, 0] & kept[:, 1]) - 0.75**2) < 0.03, "heads differ"
        full = ra.nn.attention(x, x.with_values(x.values[:, :1]), one_hot).values
        np.testing.assert_allclose(got[:80][kept], np.asarray(full)[:80][kept] / 0.75, rtol=1e-10)
        np.testing.assert_allclose(whole(ra.with_capacity(x, 96)), got, rtol=1e-10)
        assert (np.asarray(weights(x, jax.random.key(8))[:80] > 0) != kept).mean() > 0.2

        ct = np.random.default_rng(0).standard_normal(x.values.shape)
        ct[89:] = 0

        @jax.jit
        def f(v: Any) -> Any:
            return jnp.sum(attend(v, x, dropout=0.25, key=key).values * ct)

        v = jnp.where(x.used_mask()[:, None, None], x.values, 0)
        away = np.random.default_rng(1).standard_normal(v.shape)
        slope = (f(v + 1e-5 * away) - f(v - 1e-5 * away)) / 2e-5
        np.testing.assert_allclose(jnp.sum(jax.jit(jax.grad(f))(v)[:89] * away[:89]), slope, rtol=1e-6)
    host = ra.from_rows([eye, eye[:9]])
    flat = ra.nn.attention(host, host, host, dropout=0.25, key=np.random.default_rng(0)).values
    assert abs((flat[:40] > 0).mean() - 0.75) < 0.05
    np.testing.assert_allclose(flat[:40].sum(axis=-1).mean(), 1, rtol=0.02)


def test_plain_arrays() -> None:
    """Rows of one length, with the alignment and the head groups of `jax.nn.dot_product_attention`."""
    rng = np.random.default_rng(2)
    q, k, v = (rng.standard_normal(s).astype(np.float32) for s in ((2, 5, 4, 8), (2, 7, 2, 8), (2, 7, 2, 8)))
    want = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    for xp in (np, jnp):
        got = ra.nn.attention(*map(xp.asarray, (q, k, v)), causal=True)
        assert got.shape == q.shape
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_no_index_is_out_of_range() -> None:
    x = on_jax((3, 0, 21, 2), (2, 4), 32)
    bias = jnp.zeros((1, 5))
    gradient = jax.grad(lambda v, b: jnp.sum(attend(v, x, window=4, bias=b).values), argnums=(0, 1))
    error, _ = jax.jit(checkify.checkify(gradient, errors=checkify.index_checks))(x.values, bias)
    assert error.get() is None


def test_nested_rows() -> None:
    x = ra.asarray(ra.ragged([[np.ones((3, 1, 2)), np.zeros((1, 1, 2))], [], [np.ones((2, 1, 2))]]), xp="numpy")
    flat = ra.merge_dims(x, 0, 1)
    got = ra.nn.attention(x, x, x)
    assert got.shape == (3, None, None, 1, 2)
    np.testing.assert_allclose(got.values, ra.nn.attention(flat, flat, flat).values)


def test_a_limit_that_is_too_small() -> None:
    x = on_jax((3, 9), (1, 2), 16)
    with pytest.raises(ValueError, match=r"a length of at least 9, got 8\. Pass a larger `max_length=`"):
        ra.nn.attention(x, x, x, max_length=8)
    assert np.isnan(jax.jit(lambda x: ra.nn.attention(x, x, x, max_length=8).values)(x)).all()
    with pytest.raises(ValueError, match="a length of at least 9, got 8"):
        ra.checked(lambda x: ra.nn.attention(x, x, x, max_length=8))(x)
    with pytest.raises(ValueError, match="a bias for positions of at least 9, got 8"):
        ra.nn.attention(x, x, x, bias=jnp.zeros((1, 8, 9)))


X = ra.ragged([np.zeros((2, 4, 8)), np.zeros((1, 4, 8))], item_shape=(None, 4, 8))
MESSAGES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: ra.nn.attention(X, X, X.values),
        TypeError,
        "nn.attention: expected three ragged arrays, or three plain ones, got ragged, ragged, plain. "
        "Use `ra.from_padded`.",
    ),
    (
        lambda: ra.nn.attention(X, X, ra.ragged([[1.0], []])),
        ValueError,
        "nn.attention: expected rows [nrows, (len), heads, size], got shape (2, None). Split the last axis into heads.",
    ),
    (
        lambda: ra.nn.attention(X.astype("int64"), X, X),
        TypeError,
        "nn.attention: expected floating values, got dtype int64. Convert them with `.astype`.",
    ),
    (
        lambda: ra.nn.attention(X, X.with_values(X.values[:, :3]), X.with_values(X.values[:, :3])),
        ValueError,
        "nn.attention: expected query heads in a multiple of the key heads, got (4, 8), (3, 8) and (3, 8). "
        "Check the axes.",
    ),
    (
        lambda: ra.nn.attention(X, X[:1], X[:1]),
        ValueError,
        "nn.attention: expected as many rows of queries as of keys, got 2 and 1. Align the rows first.",
    ),
    (
        lambda: ra.nn.attention(X, X, ra.flip(X, axis=0)),
        ValueError,
        "nn.attention: expected equal row lengths along axis 1, got 2 and 1 at row 0. "
        "Align the rows first, or use `ra.to_padded`.",
    ),
    (
        lambda: ra.nn.attention(X, X, X, window=-1),
        ValueError,
        "nn.attention: expected window of at least 0, got -1. Pass a larger one.",
    ),
    (
        lambda: ra.nn.attention(X, X, X, bias=np.zeros((2, 4, 4))),
        ValueError,
        "nn.attention: expected a bias (4 or 1, queries, keys) or (4 or 1, distances), got shape (2, 4, 4). "
        "Put the heads first.",
    ),
    (
        lambda: ra.nn.attention(X, X, X, bias=np.zeros((4, 6))),
        ValueError,
        "nn.attention: expected an odd number of distances, got 6. Put distance 0 in the middle.",
    ),
    (
        lambda: ra.nn.attention(X, X, X, dropout=1.0),
        ValueError,
        "nn.attention: expected dropout from 0 up to, without, 1, got 1.0. Pass a fraction.",
    ),
    (
        lambda: ra.nn.attention(X, X, X, dropout=0.5),
        TypeError,
        "nn.attention: expected a numpy.random.Generator for NumPy arrays, got NoneType. "
        "Make one with `np.random.default_rng(seed)`.",
    ),
    (
        lambda: ra.nn.attention(X, X, X, implementation="xla"),
        ValueError,
        'nn.attention: expected JAX arrays for an implementation, got numpy. Move them with `x.to("jax")`.',
    ),
    (
        lambda: ra.nn.attention(*[X.to("jax")] * 3, implementation="cudnn"),
        ValueError,
        "nn.attention: expected what cuDNN can do, got no NVIDIA GPU. Leave out `implementation=`.",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text


class Packed:
    """What `refusal` and `attention` ask of cuDNN's module: its packed attention, computed a row at a time."""

    calls = 0

    class MaskType:
        PADDING, PADDING_CAUSAL = "padding", "padding causal"

    @classmethod
    def dot_product_attention(
        cls, q: Any, k: Any, v: Any, *, q_seqlen: Any, kv_seqlen: Any, q_offsets: Any, kv_offsets: Any, scale: float,
        mask_type: Any, qkv_layout: str,
    ) -> Any:  # fmt: skip
        cls.calls += 1
        assert qkv_layout == "BTNH" and q_offsets.shape[1] == q_seqlen.shape[1] + 1
        at = jnp.arange(q.shape[1]), jnp.arange(k.shape[1])
        masks, places = [], []
        for n, (lengths, offsets) in zip(at, ((q_seqlen[0], q_offsets[0]), (kv_seqlen[0], kv_offsets[0])), strict=True):
            inside = (n[:, None] >= offsets[None, :-1]) & (n[:, None] < (offsets[:-1] + lengths)[None])
            inside &= (offsets[:-1] >= 0)[None] & (lengths > 0)[None]
            masks.append(inside)
            places.append(n - jnp.sum(jnp.where(inside, offsets[None, :-1], 0), axis=1))
        ok = (masks[0][:, None] & masks[1][None]).any(axis=-1)
        if mask_type == cls.MaskType.PADDING_CAUSAL:
            ok &= places[1][None, :] <= places[0][:, None]
        s = jnp.einsum("bqhd,bkhd->bhqk", q, k) * scale
        w = jax.nn.softmax(jnp.where(ok[None, None], s, -1e4), axis=-1)
        out = jnp.einsum("bhqk,bkhd->bqhd", w.astype(v.dtype), v)
        return jnp.where(ok.any(axis=1)[None, :, None, None], out, jnp.nan)


@pytest.fixture
def fake_cudnn(monkeypatch: pytest.MonkeyPatch) -> type[Packed]:
    monkeypatch.setattr(cudnn, "_device", lambda: None)
    monkeypatch.setattr(cudnn, "_function", lambda: Packed)
    cudnn._call.cache_clear()
    Packed.calls = 0
    return Packed


def test_cudnn_is_called_as_it_says(fake_cudnn: type[Packed]) -> None:
    """Results and gradients are right, one call after the other under `vmap`; slack and empty rows stay out."""
    for options in ({"causal": True}, {}):
        rng = np.random.default_rng(0)
        lengths = [LENGTHS, LENGTHS if options else KEY_LENGTHS]
        host = [operand(rng, n, (h, 8), np.float16) for n, h in zip(lengths, (4, 2), strict=True)]
        q, k = (ra.testing.poison(ra.asarray(a, xp="jax", capacity=72)) for a in host)

        @jax.jit
        def run(q: Any, k: Any, options: Any = options) -> Any:
            def f(v: Any, w: Any) -> Any:
                like = q.partitions if options else k.partitions
                rows = RaggedArray(v, q.partitions), RaggedArray(w, like), RaggedArray(w, like)
                return ra.nn.attention(*rows, implementation="cudnn", **options).values

            out, pull = jax.vjp(f, q.values, k.values)
            return out, *pull(jnp.ones_like(out))

        got = run(q, k)
        wide = [a.astype("float64") for a in (host[0], host[1], host[1])]
        want = reference(wide, None, options)
        (dq, dk, dv), _ = dense_gradients(wide, None, options, np.ones_like(want))
        for a, b in zip(got, (want, dq, dk + dv), strict=True):
            np.testing.assert_allclose(np.asarray(a[: len(b)], np.float64), b, atol=2e-2)
            assert (a[len(b) :] == 0).all()
    assert fake_cudnn.calls == 2
    stacked = jax.tree.map(lambda a: jnp.stack([a, a]), (q, k))
    batched = jax.jit(jax.vmap(run))(*stacked)
    for a, b in zip(batched, got, strict=True):
        np.testing.assert_allclose(a[1].astype(np.float32), b.astype(np.float32), atol=1e-3)


def test_cudnn_refuses_what_it_cannot_do(fake_cudnn: type[Packed], monkeypatch: pytest.MonkeyPatch) -> None:
    def reason(dtype: Any = jnp.float16, size: int = 8, bias: Any = None, **options: Any) -> str | None:
        x = jax.ShapeDtypeStruct((16, 2, size), dtype)
        start = ra.backends.AttentionOptions(1.0, None, None, 0.0, (None, None), True, None)
        return cudnn.refusal(x, x, x, bias, start._replace(**options))

    assert reason() is None
    assert reason(dtype=jnp.float32) == "dtype float32"
    assert reason(size=12) == "heads of size 12 and 12"
    assert reason(bias=1) == "a bias" and reason(dropout=0.1) == "dropout" and reason(left=3) == "a window"
    assert reason(right=0, same=False) == "a causal mask over other rows than those of the queries"
    monkeypatch.setattr(cudnn, "_function", lambda: None)
    assert reason() == f"no packed attention in jax {jax.__version__}"
    x = on_jax((3, 1), (1, 8), 8, dtype=np.float16)
    assert ra.nn.attention(x, x, x).shape == (2, None, 1, 8) and fake_cudnn.calls == 0


def test_the_installed_jax_has_what_is_asked_of_it() -> None:
    assert cudnn._function() is not None
    assert cudnn._device() == "no NVIDIA GPU" or jax.default_backend() == "gpu"
