"""Bags, one-hot vectors, products with a weight per row, dropout and batch normalisation, a row at a time."""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, ragged

from .harness.ways import Way

LENGTHS = [3, 0, 1, 6, 0]
N, SIZE, ITEM = sum(LENGTHS), 5, 3
RNG = np.random.default_rng(0)
IDS = ra.from_row_lengths(np.array([1, 1, 4, 0, 2, 3, 2, 2, 0, 1], np.int32), np.array(LENGTHS))
WEIGHTS = ra.from_row_lengths(RNG.uniform(-1, 2, N).astype(np.float32), np.array(LENGTHS))
TABLE = RNG.standard_normal((SIZE, ITEM)).astype(np.float32)
NESTED = ra.from_nested_row_lengths(IDS.values, [np.array([2, 0, 3]), np.array(LENGTHS)])


def numbers(x: Any) -> np.ndarray:
    return np.from_dlpack(x) if type(x).__module__.startswith("array_api_strict") else np.asarray(x)


def bag(xp: Any, found: Any, weights: Any, mode: str) -> Any:
    """The entries ``[len, item]`` of one row reduced."""
    if not len(found):
        return xp.zeros(found.shape[1:])
    if mode == "max":
        return xp.max(found, axis=0)
    total = xp.sum(found * weights[:, None], axis=0)
    return total / xp.sum(weights) if mode == "mean" else total


def bags(xp: Any, table: Any, weights: Any, mode: str) -> Any:
    starts = np.cumsum([0, *LENGTHS])
    parts = [slice(a, b) for a, b in pairwise(starts)]
    return xp.stack([bag(xp, table[IDS.values[p]], weights[p], mode) for p in parts])


CASES = [("sum", False), ("sum", True), ("mean", False), ("mean", True), ("max", False)]


@pytest.mark.parametrize(("mode", "weighted"), CASES)
def test_embedding_bag(way: Way, mode: str, weighted: bool) -> None:
    f = lambda i, t, w: ra.nn.embedding_bag(i, t, mode=mode, weights=w)  # noqa: E731
    weights = way.arrays(WEIGHTS) if weighted else None
    got = way.run(("bag", mode, weighted), f, way.arrays(IDS), way.dense(TABLE), weights)
    want = bags(np, TABLE, WEIGHTS.values if weighted else np.ones(N), mode)
    np.testing.assert_allclose(numbers(got), want, rtol=1e-5, atol=1e-6)


def on_jax(x: RaggedArray, capacity: int = 16, fill: str = "nan") -> RaggedArray:
    return ra.testing.poison(ra.asarray(x, xp="jax", capacity=capacity), fill=fill)


@pytest.mark.parametrize(("mode", "weighted"), CASES)
def test_gradients_of_embedding_bag(mode: str, weighted: bool) -> None:
    ids, w = on_jax(IDS), on_jax(WEIGHTS)

    def ours(t: Any, v: Any, ids: RaggedArray, w: RaggedArray) -> Any:
        out = ra.nn.embedding_bag(ids, t, mode=mode, weights=w.with_values(v) if weighted else None)
        return jnp.sum(jnp.sin(out))

    given = WEIGHTS.values if weighted else np.ones(N, np.float32)
    got = jax.jit(jax.grad(jax.checkpoint(ours), (0, 1)))(TABLE, w.values, ids, w)
    want = jax.jit(jax.grad(lambda t, v: jnp.sum(jnp.sin(bags(jnp, t, v, mode))), (0, 1)))(TABLE, given)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-4, atol=1e-5)
    if weighted:
        np.testing.assert_allclose(got[1][:N], want[1], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(got[1][N:], 0)


def test_bags_summed_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    from raggedarray.backends.jax import bags_and_ctc

    monkeypatch.setattr(bags_and_ctc, "BLOCK", 1)  # 64 ids a block
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 40, 12)
    ids = ra.from_row_lengths(rng.integers(0, SIZE, lengths.sum()).astype(np.int32), lengths)
    weights = ra.from_row_lengths(rng.uniform(0.5, 2, lengths.sum()).astype(np.float32), lengths)
    i, w = on_jax(ids, 300), on_jax(weights, 300)
    rows = np.asarray(ids.row_ids())

    def ours(t: Any, v: Any, mode: str, weighted: bool) -> Any:
        return ra.nn.embedding_bag(i, t, mode=mode, weights=w.with_values(v) if weighted else None)

    def dense(t: Any, v: Any, mode: str) -> Any:
        found = t[ids.values] * v[: len(rows), None] if mode != "max" else t[ids.values]
        reduce = jax.ops.segment_max if mode == "max" else jax.ops.segment_sum
        out = reduce(found, rows, 12)
        if mode == "mean":
            out = out / jnp.where(lengths == 0, 1, jax.ops.segment_sum(v[: len(rows)], rows, 12))[:, None]
        return jnp.where((lengths > 0)[:, None], out, 0)

    for mode, weighted in (("sum", True), ("mean", False), ("max", False)):
        v = w.values if weighted else jnp.ones(300)

        @jax.jit
        def all_of_it(t: Any, v: Any, mode: str = mode, weighted: bool = weighted) -> Any:
            f = lambda t, v: ours(t, v, mode, weighted)  # noqa: E731
            g = jax.grad(lambda t, v: jnp.sum(jnp.sin(f(t, v))), (0, 1))
            return f(t, v), g(t, v), jax.jvp(f, (t, v), (t, v))[1], jax.vmap(g, (0, None))(jnp.stack([t, t]), v)

        value, (by_table, by_weight), pushed, stacked = all_of_it(TABLE, v)
        np.testing.assert_allclose(value, dense(TABLE, v, mode), rtol=1e-4, atol=1e-5)
        g = jax.grad(lambda t, v, m=mode: jnp.sum(jnp.sin(dense(t, v, m))), (0, 1))
        want = jax.jit(g)(TABLE, v)
        np.testing.assert_allclose(by_table, want[0], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(stacked[0][1], want[0], rtol=1e-3, atol=1e-4)
        if weighted:
            np.testing.assert_allclose(by_weight[: len(rows)], want[1][: len(rows)], rtol=1e-3, atol=1e-4)
            np.testing.assert_array_equal(by_weight[len(rows) :], 0)
        times = (
            2 if weighted and mode == "sum" else 1
        )  # of degree 2 in both, 1 where weights are divided by their total
        np.testing.assert_allclose(pushed, times * value, rtol=1e-3, atol=1e-4)


def test_entries_of_all_ids_are_never_stored() -> None:
    """No array of the compiled programs has an entry for every id."""
    tokens, item = 8192, 32
    ids = ra.from_row_splits(jnp.zeros(tokens, jnp.int32), jnp.arange(0, tokens + 1, 64))
    f = lambda t, i: jnp.sum(ra.nn.embedding_bag(i, t) ** 2)  # noqa: E731
    for g in (f, jax.grad(f)):
        stats = jax.jit(g).lower(jnp.ones((100, item)), ids).compile().memory_analysis()
        assert stats.temp_size_in_bytes < tokens * item * 4


def test_bags_of_rows_of_rows_of_no_rows_and_of_matrices() -> None:
    want = ra.nn.embedding_bag(IDS, TABLE)
    for x in (NESTED, ra.testing.poison(ra.asarray(NESTED, xp="jax", capacity=(7, 16)))):
        got = ra.compact(ra.nn.embedding_bag(x, TABLE).to("numpy"))
        assert got.shape == (3, None, ITEM) and got.row_lengths().tolist() == [2, 0, 3]
        np.testing.assert_allclose(got.values, want, rtol=1e-6)
    for xp in ("numpy", "jax"):
        none = IDS[:0].to(xp)
        assert ra.nn.embedding_bag(none, TABLE).shape == (0, ITEM)
        wide = ra.nn.embedding_bag(IDS.to(xp), TABLE.reshape(SIZE, ITEM, 1), mode="max")
        np.testing.assert_allclose(wide[..., 0], ra.nn.embedding_bag(IDS, TABLE, mode="max"), rtol=1e-6)
    whole = ra.nn.embedding_bag(IDS, np.arange(10).reshape(5, 2))
    assert whole.dtype == np.float64 and whole[0].tolist() == [4.0, 5.0]
    assert ra.nn.embedding_bag(IDS, np.arange(10).reshape(5, 2), mode="sum").dtype == np.int64
    many = ra.from_row_lengths(np.arange(400, dtype=np.int32) % SIZE, np.full(100, 4))
    want = TABLE[many.values.reshape(100, 4)].max(axis=1)
    np.testing.assert_array_equal(ra.nn.embedding_bag(many, TABLE, mode="max"), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_accumulate_in_float32(dtype: str) -> None:
    for xp in ("numpy", "jax"):
        ids = ra.from_row_lengths(np.zeros(3000, np.int32), np.array([3000])).to(xp)
        table = ra.astype(ra.from_row_lengths(np.ones((2, 1), np.float32), np.array([2])).to(xp), dtype).values
        for mode, want in (("sum", 3000), ("mean", 1)):
            out = ra.nn.embedding_bag(ids, table, mode=mode)
            assert str(out.dtype) == dtype and float(out[0, 0]) == pytest.approx(want, rel=2**-8)


def test_ids_outside_the_table() -> None:
    wrong = ra.asarray(ragged([[0, 1], [SIZE], [-1]]), xp="jax", capacity=6)
    f = lambda i: ra.nn.embedding_bag(i, jnp.asarray(TABLE))  # noqa: E731
    with pytest.raises(IndexError, match=r"^nn.embedding_bag: expected ids from 0 to 4, got 5 at slot 2. "):
        f(wrong)
    assert np.isnan(jax.jit(f)(wrong)).all(axis=1).tolist() == [False, True, True]
    with pytest.raises(Exception, match=r"nn.embedding_bag: expected ids from 0 to 4, got -1 to 5"):
        ra.checked(f)(wrong)
    ra.checked(f)(on_jax(IDS))


def test_weights_that_sum_to_0() -> None:
    ids, weights = ragged([[0, 1], [2]]), ragged([[1.0, -1.0], [2.0]])
    got = ra.nn.embedding_bag(ids, TABLE.astype(float), weights=weights)
    assert np.isnan(got[0]).all()
    np.testing.assert_allclose(got[1], TABLE[2])


def test_one_hot(way: Way) -> None:
    got = way.run("one_hot", lambda i: ra.nn.one_hot(i, 4), way.arrays(IDS))
    want = (IDS.values[:, None] == np.arange(4)).astype(float)
    assert got.shape == (5, None, 4)
    np.testing.assert_array_equal(numbers(got.values)[:N], want)


def test_one_hot_of_a_dtype_and_of_plain_arrays() -> None:
    assert ra.nn.one_hot(IDS, 4, dtype="int8").dtype == np.int8
    assert ra.nn.one_hot(np.array([[1, 0]]), 2).tolist() == [[[0, 1], [1, 0]]]
    small = ragged([[200, 3]], dtype="uint8")
    assert ra.nn.one_hot(small, 4).tolist() == [[[0, 0, 0, 0], [0, 0, 0, 1]]]


def test_linear_with_a_list_of_weights() -> None:
    x = ra.from_row_lengths(RNG.standard_normal((N, 4)).astype(np.float32), np.array(LENGTHS))
    weights = [RNG.standard_normal((4, 2)).astype(np.float32) for _ in LENGTHS]
    biases = [RNG.standard_normal(2).astype(np.float32) for _ in LENGTHS]
    want = [row @ w + b for row, w, b in zip(x.unbind(), weights, biases, strict=True)]
    for y in (x, on_jax(x)):
        got = ra.nn.linear(y, weights, biases)
        np.testing.assert_allclose(ra.compact(got.to("numpy")).values, np.concatenate(want), rtol=1e-4, atol=1e-5)
    z = on_jax(x)
    loss = lambda w: jnp.sum(ra.sum(ra.nn.linear(z, w), axis=1) ** 2)  # noqa: E731
    grads = jax.jit(jax.grad(loss))([jnp.asarray(w) for w in weights])
    assert all(np.isfinite(g).all() for g in grads) and not grads[1].any() and grads[0].any()
    with pytest.raises(ValueError, match=r"^nn.linear: expected parameters of one shape, got \(4, 2\) and \(4, 3\). "):
        ra.nn.linear(x, [*weights[1:], np.zeros((4, 3))])


def test_dropout() -> None:
    ones = ra.from_row_lengths(np.ones((40_000, 2), np.float32), np.array([30_000, 0, 10_000]))
    for x, key in ((ones, np.random.default_rng(0)), (ra.testing.poison(ones.to("jax"), slack=9), jax.random.key(0))):
        out = np.asarray(ra.nn.dropout(x, 0.25, key=key).values)[:40_000]
        assert set(np.unique(out).tolist()) == {0.0, np.float32(1 / 0.75)}
        assert abs((out == 0).mean() - 0.25) < 0.01
        assert not np.asarray(ra.nn.dropout(x, 1.0, key=key).values)[:40_000].any()
        assert ra.nn.dropout(x, 0, key=key) is x
    x, key = on_jax(WEIGHTS), jax.random.key(1)
    eager = ra.nn.dropout(x, 0.5, key=key)
    traced = jax.jit(lambda x, rate, key: ra.nn.dropout(x, rate, key=key))(x, 0.5, key)
    np.testing.assert_array_equal(traced.values[:N], eager.values[:N])
    slope = jax.jit(jax.grad(lambda v, rate: ra.sum(ra.nn.dropout(x.with_values(v), rate, key=key))))
    grad = slope(x.values, 0.5)
    np.testing.assert_array_equal(grad[:N], np.where(eager.values[:N] == 0, 0, 2))
    np.testing.assert_array_equal(grad[N:], 0)
    assert not slope(x.values.at[0].set(jnp.inf), 1.0).any()
    half = ra.nn.dropout(ra.astype(ones, "float16"), 0.25, key=np.random.default_rng(0))
    assert half.dtype == np.float16 and abs((half.values == 0).mean() - 0.25) < 0.01
    assert ra.nn.dropout(np.ones((2, 3)), 0.5, key=np.random.default_rng(0)).shape == (2, 3)


X = ra.from_row_lengths(RNG.standard_normal((N, 4)).astype(np.float32), np.array(LENGTHS))
RUNNING = (RNG.standard_normal(4).astype(np.float32), RNG.uniform(0.5, 2, 4).astype(np.float32))
SCALE, SHIFT = (RNG.standard_normal(4).astype(np.float32) for _ in range(2))


def normalized(xp: Any, v: Any, scale: Any, shift: Any, training: bool) -> Any:
    mean, var = (xp.mean(v, axis=0), xp.var(v, axis=0)) if training else RUNNING
    return (v - mean[None]) / xp.sqrt(var + 1e-5)[None] * scale[None] + shift[None]


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(way: Way, training: bool) -> None:
    f = lambda x, r, w, b: ra.nn.batch_norm(x, r, w, b, training=training, momentum=0.3)  # noqa: E731
    given = (tuple(map(way.dense, RUNNING)), way.dense(SCALE), way.dense(SHIFT))
    y, (mean, var) = way.run(("batch_norm", training), f, way.arrays(X), *given)
    v = X.values.astype(np.float64)
    np.testing.assert_allclose(numbers(y.values)[:N], normalized(np, v, SCALE, SHIFT, training), rtol=1e-4, atol=1e-5)
    want = RUNNING
    if training:
        new = (v.mean(axis=0), v.var(axis=0, ddof=1))
        want = tuple(0.7 * a + 0.3 * b for a, b in zip(RUNNING, new, strict=True))
    np.testing.assert_allclose(numbers(mean), want[0], rtol=1e-5)
    np.testing.assert_allclose(numbers(var), want[1], rtol=1e-5)


def test_gradients_of_batch_norm() -> None:
    x = on_jax(X)
    ct = RNG.standard_normal((16, 4)).astype(np.float32)
    ct[N:] = np.nan
    ours = lambda v, w, b: ra.nn.batch_norm(x.with_values(v), None, w, b)[0].values  # noqa: E731
    got = jax.jit(lambda ct: jax.vjp(ours, x.values, SCALE, SHIFT)[1](ct))(ct)
    dense = lambda v, w, b: normalized(jnp, v, w, b, True)  # noqa: E731
    want = jax.jit(lambda ct: jax.vjp(dense, jnp.asarray(X.values), SCALE, SHIFT)[1](ct))(ct[:N])
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g[: len(w)], w, rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(got[0][N:], 0)


def test_batch_norm_of_one_element_of_none_and_of_plain_arrays() -> None:
    for xp in ("numpy", "jax"):
        y, (mean, var) = ra.nn.batch_norm(X[:0].to(xp), RUNNING)
        assert y.shape == (0, None, 4)
        np.testing.assert_array_equal(mean, RUNNING[0])
        np.testing.assert_array_equal(var, RUNNING[1])
        y, (mean, var) = ra.nn.batch_norm(X[2:3].to(xp))
        np.testing.assert_array_equal(y.tolist(), np.zeros((1, 1, 4)))
        np.testing.assert_allclose(mean, 0.1 * X.values[3], rtol=1e-5)
        np.testing.assert_allclose(var, 0.9 * np.ones(4), rtol=1e-5)
    plain, running = ra.nn.batch_norm(X.values, RUNNING, SCALE, SHIFT)
    rag, same = ra.nn.batch_norm(X, RUNNING, SCALE, SHIFT)
    np.testing.assert_allclose(plain, rag.values, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(running, same, rtol=1e-5)
    block = ra.ragged([X.values[:6].reshape(2, 3, 4), X.values[6:].reshape(1, 4, 4)], item_shape=(None, None, 4))
    _, (mean, _) = ra.nn.batch_norm(block, RUNNING)
    np.testing.assert_allclose(mean, running[0], rtol=1e-5)
    half, (mean, _) = ra.nn.batch_norm(ra.astype(X, "float16"))
    assert half.dtype == np.float16 and mean.dtype == np.float32


def test_table_without_entries() -> None:
    table, ids = jnp.ones((0, 2)), ra.ragged([[1, 0], [], [2]], xp="jax")
    assert np.isnan(jax.jit(ra.nn.embedding)(ids, table).values[:3]).all()
    for mode in ("mean", "max"):
        bags = np.asarray(jax.jit(lambda i, t, mode=mode: ra.nn.embedding_bag(i, t, mode=mode))(ids, table))
        np.testing.assert_array_equal(bags, [[np.nan] * 2, [0.0] * 2, [np.nan] * 2])
    none = ra.ragged([[], []], dtype=int)
    assert ra.nn.embedding(none, np.ones((0, 2))).tolist() == [[], []]
    assert ra.nn.embedding_bag(none, np.ones((0, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_plain_ids(way: Way) -> None:
    ids = way.dense(np.array([[1, 0], [4, 4]], np.int32))
    found = way.run("plain ids", ra.nn.embedding, ids, way.dense(TABLE))
    np.testing.assert_array_equal(numbers(found), TABLE[[[1, 0], [4, 4]]])


def test_plain_ids_outside_the_table_are_nan_under_jit() -> None:
    found = jax.jit(ra.nn.embedding)(jnp.array([-1, 5, 0]), jnp.asarray(TABLE))
    assert np.isnan(found).any(axis=1).tolist() == [True, True, False]


def test_dropout_rate_that_is_traced() -> None:
    x = ra.ragged([[1.0, 2.0], [], [3.0]], xp="jax")
    drop = jax.jit(lambda rate: ra.nn.dropout(x, rate, key=jax.random.key(0)).values[:3])
    for rate in (2.0, -0.5, np.nan):
        assert np.isnan(drop(rate)).all()
    assert drop(0.0).tolist() == [1.0, 2.0, 3.0]


def test_half_of_the_running_statistics() -> None:
    one = np.ones(4, np.float32)
    for given, whole in (((None, 2 * one), (0 * one, 2 * one)), ((one, None), (one, one))):
        for training in (False, True):
            (y, new), (want, also) = (ra.nn.batch_norm(X, r, training=training) for r in (given, whole))
            np.testing.assert_array_equal(y.values, want.values)
            np.testing.assert_array_equal(new, also)


ERRORS: list[tuple[type[Exception], Any, str]] = [
    (
        ValueError, lambda: ra.nn.embedding_bag(IDS, TABLE, mode="min"),
        "nn.embedding_bag: expected mode='mean', 'sum' or 'max', got 'min'. Pass one of these.",
    ),
    (
        ValueError, lambda: ra.nn.embedding_bag(IDS, TABLE, mode="max", weights=WEIGHTS),
        "nn.embedding_bag: expected no weights= for a maximum, got some. Drop them, or take mode='sum'.",
    ),
    (
        TypeError, lambda: ra.nn.embedding_bag(WEIGHTS, TABLE),
        "nn.embedding_bag: expected integer ids, got dtype float32. Convert them with `.astype(int)`.",
    ),
    (
        ValueError, lambda: ra.nn.embedding_bag(IDS, TABLE, weights=WEIGHTS[:2], mode="sum"),
        "nn.embedding_bag: expected 5 rows along axis 1, got 2. Align the rows first.",
    ),
    (
        ValueError, lambda: ra.nn.dropout(X, 1.5, key=np.random.default_rng(0)),
        "nn.dropout: expected a rate from 0 to 1, got 1.5. Divide percentages by 100.",
    ),
    (
        TypeError, lambda: ra.nn.dropout(X, 0.5, key=0),
        "nn.dropout: expected a numpy.random.Generator for NumPy arrays, got int. "
        "Make one with `np.random.default_rng(seed)`.",
    ),
    (
        ValueError, lambda: ra.nn.batch_norm(X, None, np.ones(3)),
        "nn.batch_norm: expected parameters of shape (4,), got (3,). Check the axes.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("error", "call", "text"), ERRORS, ids=lambda a: a[:40] if isinstance(a, str) else "")
def test_errors(error: type[Exception], call: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
