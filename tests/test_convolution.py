"""Convolutions, pools and interpolation: each row against loops over its own windows."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, ragged

from .harness.compare import assert_components
from .harness.ways import Way

LENGTHS = [5, 0, 1, 9, 2, 0]
RNG = np.random.default_rng(0)
X = ra.from_row_lengths(RNG.standard_normal((sum(LENGTHS), 4)).astype(np.float32), np.array(LENGTHS))
NESTED = ra.from_nested_row_lengths(X.values, [np.array([2, 0, 4]), np.array(LENGTHS)])
NO_ROWS = X[:0]


def padding_of(length: int, extent: int, stride: int, padding: str) -> tuple[int, int]:
    """Padding of one row, by the dense formula."""
    if padding == "VALID":
        return 0, 0
    if padding == "CAUSAL":
        return extent - 1, 0
    total = max((-(-length // stride) - 1) * stride + extent - length, 0)
    return total // 2, total - total // 2


def windows(row: np.ndarray, size: int, stride: int, dilation: int, padding: str) -> list[list[int]]:
    """Positions that each window of a row sees; those outside are padding."""
    extent = (size - 1) * dilation + 1
    before, after = padding_of(len(row), extent, stride, padding)
    starts = range(-before, len(row) + after - extent + 1, stride) if len(row) else ()
    return [[s + j * dilation for j in range(size)] for s in starts]


def conv_row(row: Any, kernel: Any, bias: Any, stride: int, dilation: int, padding: str, groups: int) -> np.ndarray:
    size, inner, outer = kernel.shape
    out = []
    for places in windows(row, size, stride, dilation, padding):
        value = np.array(bias, np.float64)
        for j, p in enumerate(places):
            if 0 <= p < len(row):
                for o in range(outer):
                    g = o // (outer // groups)
                    value[o] += row[p, g * inner : (g + 1) * inner].astype(np.float64) @ kernel[j, :, o]
        out.append(value)
    return np.array(out).reshape(-1, outer)


def pool_row(row: np.ndarray, size: int, stride: int, padding: str, how: Callable[..., Any]) -> np.ndarray:
    seen = [[row[p] for p in places if 0 <= p < len(row)] for places in windows(row, size, stride, 1, padding)]
    return np.array([how(np.array(w, np.float64), axis=0) for w in seen]).reshape(-1, *row.shape[1:])


check = partial(assert_components, atol=1e-5)


def kernel_of(size: int, groups: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    return (rng.standard_normal((size, 4 // groups, 4)) / 2).astype(np.float32), np.arange(4, dtype=np.float32)


def test_conv1d_everywhere_on_numpy() -> None:
    poisoned = ra.testing.poison(X, slack=3)
    options = product((1, 2, 3, 5, 18), (1, 2, 3), (1, 2), ("SAME", "VALID", "CAUSAL"), (1, 2, 4))
    for size, stride, dilation, padding, groups in options:
        kernel, bias = kernel_of(size, groups)
        want = [conv_row(row, kernel, bias, stride, dilation, padding, groups) for row in X.unbind()]
        given = {"stride": stride, "dilation": dilation, "padding": padding, "groups": groups}
        for x in (X, poisoned):
            check(ra.nn.conv1d(x, kernel, bias, **given), want)


COMPILED = [
    {}, {"padding": "VALID", "dilation": 2}, {"stride": 2}, {"padding": "CAUSAL", "groups": 4},
    {"stride": 3, "padding": "VALID", "groups": 2},
]  # fmt: skip


@pytest.mark.parametrize("given", COMPILED, ids=str)
def test_conv1d(way: Way, given: dict[str, Any]) -> None:
    kernel, bias = kernel_of(3, given.get("groups", 1))
    options = {"stride": 1, "dilation": 1, "padding": "SAME", "groups": 1} | given
    f = lambda x, k, b: ra.nn.conv1d(x, k, b, **given)  # noqa: E731
    got = way.run(("conv1d", str(given)), f, way.arrays(X), way.dense(kernel), way.dense(bias))
    check(got, [conv_row(row, kernel, bias, **options) for row in X.unbind()])


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_conv1d_of_rows_of_rows_and_of_no_rows(xp: str) -> None:
    kernel, bias = kernel_of(3, 1)
    want = ra.nn.conv1d(X, kernel, bias, stride=2)
    x = ra.asarray(ra.with_capacity(NESTED, (8, 24)), xp=xp, capacity=(8, 24))
    got = ra.nn.conv1d(ra.testing.poison(x), kernel, bias, stride=2)
    assert got.shape == (3, None, None, 4)
    assert np.asarray(got.row_lengths()).tolist() == [2, 0, 4]
    np.testing.assert_allclose(ra.compact(got.to("numpy")).values, want.values, rtol=1e-5, atol=1e-6)
    for padding in ("SAME", "VALID"):
        none = ra.nn.conv1d(NO_ROWS.to(xp), kernel, bias, stride=2, padding=padding)
        assert none.shape == (0, None, 4) and none.tolist() == []
    empty = ra.nn.conv1d(X[1:2].to(xp), kernel, bias, padding="VALID")
    assert empty.tolist() == [[]]


def test_conv1d_of_plain_arrays() -> None:
    kernel, bias = kernel_of(3, 1)
    x = np.random.default_rng(2).standard_normal((2, 7, 4)).astype(np.float32)
    for given in ({}, {"stride": 2}, {"padding": "VALID"}):
        options = {"stride": 1, "dilation": 1, "padding": "SAME", "groups": 1} | given
        want = np.stack([conv_row(row, kernel, bias, **options) for row in x])
        np.testing.assert_allclose(ra.nn.conv1d(x, kernel, bias, **given), want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ra.nn.conv1d(x[0], kernel), ra.nn.conv1d(x, kernel)[0], rtol=1e-5, atol=1e-6)


def batch(capacity: int = 24, fill: str = "nan") -> RaggedArray:
    return ra.testing.poison(ra.asarray(X, xp="jax", capacity=capacity), fill=fill)


def dense_conv(row: Any, kernel: Any, bias: Any, stride: int, dilation: int, padding: str, groups: int) -> Any:
    extent = (kernel.shape[0] - 1) * dilation + 1
    around = [padding_of(len(row), extent, stride, padding)]
    if not len(row) or len(row) + sum(around[0]) < extent:
        return jnp.zeros((0, kernel.shape[2]))
    return bias[None] + jax.lax.conv_general_dilated(
        row[None], kernel, (stride,), around, rhs_dilation=(dilation,), dimension_numbers=("NWC", "WIO", "NWC"),
        feature_group_count=groups,
    )[0]  # fmt: skip


@pytest.mark.parametrize("given", [{"dilation": 2}, {"stride": 2, "groups": 2}, {"padding": "VALID"}], ids=str)
def test_gradients_of_conv1d(given: dict[str, Any]) -> None:
    options = {"stride": 1, "dilation": 1, "padding": "SAME", "groups": 1} | given
    kernel, bias = kernel_of(3, options["groups"])
    rows = [row for row in X.unbind() if len(row)]
    dense = jax.jit(lambda rows, k, b: sum(jnp.sum(jnp.sin(dense_conv(r, k, b, **options))) for r in rows))
    want_rows, want_kernel, want_bias = jax.grad(dense, (0, 1, 2))(rows, kernel, bias)

    def loss(v: Any, k: Any, b: Any, x: RaggedArray) -> Any:
        return jnp.sum(ra.sum(ra.sin(ra.nn.conv1d(x.with_values(v), k, b, **given)), axis=1))

    x = batch()
    got = jax.jit(jax.grad(jax.checkpoint(loss), (0, 1, 2)))(x.values, kernel, bias, x)
    np.testing.assert_allclose(got[0][: X.capacity], np.concatenate(want_rows), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(got[0][X.capacity :], 0)
    np.testing.assert_allclose(got[1], want_kernel, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got[2], want_bias, rtol=1e-4, atol=1e-4)


def test_slack_and_cotangents_in_slack_reach_no_parameter() -> None:
    kernel, bias = kernel_of(3, 1)

    def pull(x: RaggedArray, ct: Any) -> Any:
        return jax.vjp(lambda k, b: ra.nn.conv1d(x, k, b).values, kernel, bias)[1](ct)

    x = batch()
    ct = jnp.where(x.used_mask()[:, None], jnp.ones((24, 4)), jnp.nan)
    clean = x.with_values(jnp.where(x.used_mask()[:, None], x.values, 0))
    want = jax.jit(pull)(clean, jnp.nan_to_num(ct))
    for fill in ("nan", "inf"):
        for a, b in zip(jax.jit(pull)(batch(fill=fill), ct), want, strict=True):
            np.testing.assert_array_equal(a, b)


def test_vmap_over_kernels_and_one_trace() -> None:
    kernel, _ = kernel_of(3, 1)
    kernels = jnp.stack([kernel, 2 * kernel])
    f = ra.testing.count_traces(lambda k, x: jnp.sum(ra.sum(ra.nn.conv1d(x, k, stride=2), axis=1) ** 2))
    g = jax.jit(jax.vmap(jax.grad(f), (0, None)))
    got = g(kernels, batch())
    np.testing.assert_allclose(got[1], 2 * got[0], rtol=1e-4)
    rng = np.random.default_rng(3)
    for _ in range(20):
        lengths = rng.multinomial(rng.integers(0, 24), [1 / 6] * 6)
        x = ra.from_row_lengths(rng.standard_normal((lengths.sum(), 4)).astype(np.float32), lengths)
        assert np.isfinite(g(kernels, ra.asarray(x, xp="jax", capacity=24))).all()
    assert f.count == 1


def test_stride_1_reads_slices_not_gathers() -> None:
    kernel, _ = kernel_of(3, 1)
    jaxpr = jax.make_jaxpr(lambda v, s: ra.nn.conv1d(ra.from_row_splits(v, s), kernel).values)
    text = str(jaxpr(batch().values, batch().row_splits))
    assert "gather" not in text and text.count("dot_general") == 1


def test_rows_do_not_see_each_other() -> None:
    kernel, _ = kernel_of(5, 1)
    spoiled = X.values.copy()
    spoiled[5] = np.nan  # the row of one element
    for f in (
        lambda x: ra.nn.conv1d(x, kernel),
        lambda x: ra.nn.conv1d(x, kernel, stride=2, padding="CAUSAL"),
        lambda x: ra.nn.max_pool(x, 3, stride=1, padding="SAME"),
        lambda x: ra.nn.avg_pool(x, 2, stride=1, padding="SAME"),
    ):
        got, want = f(X.with_values(spoiled)).unbind(), f(X).unbind()
        assert np.isnan(got[2]).all()
        for i in (0, 3, 4):
            np.testing.assert_array_equal(got[i], want[i])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_accumulate_in_float32(dtype: str) -> None:
    n = 700
    for xp in ("numpy", "jax"):
        x = ra.astype(ra.from_row_lengths(np.ones((n, 8), np.float32), np.array([n])).to(xp), dtype)
        kernel = x.xp.astype(x.xp.ones((260, 8, 1), dtype=x.xp.float32), x.dtype)
        out = ra.nn.conv1d(x, kernel, padding="VALID")
        assert str(out.dtype) == dtype
        assert float(np.asarray(out.values, np.float32).max()) == 2080
        pooled = ra.nn.avg_pool(x[:, :, 0], 600, stride=1)
        assert str(pooled.dtype) == dtype and float(np.asarray(pooled.values, np.float32).max()) == 1


POOLS = {"max_pool": np.max, "avg_pool": np.mean}


@pytest.mark.parametrize("name", POOLS)
def test_pools(way: Way, name: str) -> None:
    sizes = [(2, 2, "VALID"), (3, 1, "SAME"), (3, 2, "SAME")]
    if not way.jax:
        sizes += list(product((1, 2, 4, 17), (1, 2, 5), ("VALID", "SAME", "CAUSAL")))
    f = getattr(ra.nn, name)
    for size, stride, padding in sizes:
        pool = lambda x, n=size, s=stride, p=padding: f(x, n, stride=s, padding=p)  # noqa: E731
        got = way.run((name, size, stride, padding), pool, way.arrays(X))
        check(got, [pool_row(row, size, stride, padding, POOLS[name]) for row in X.unbind()])


@pytest.mark.parametrize("name", POOLS)
def test_pools_along_inner_axes_and_of_integers(name: str) -> None:
    f = getattr(ra.nn, name)
    got = f(X, 2, stride=1, axis=2, padding="SAME")
    want = pool_row(X.values.T, 2, 1, "SAME", POOLS[name]).T
    np.testing.assert_allclose(got.values, want, rtol=1e-6)
    plain = X.values[None, :9]
    np.testing.assert_allclose(f(plain, 4, stride=3)[0], pool_row(plain[0], 4, 3, "VALID", POOLS[name]), rtol=1e-6)
    ints = ragged([[3, 1, 2, 2], [], [-5]])
    assert f(ints, 2, padding="SAME").tolist() == ([[3, 2], [], [-5]] if name == "max_pool" else [[2, 2], [], [-5]])


def test_nan_wins_and_ties_go_to_the_first() -> None:
    x = ragged([[1.0, np.nan, 0.0, 2.0]])
    np.testing.assert_array_equal(ra.nn.max_pool(x, 2, stride=1).values, [np.nan, np.nan, 2.0])
    tied = jax.jit(ra.grad(lambda x: ra.sum(ra.nn.max_pool(x, 3))))(ragged([[1.0, 1.0, 1.0]], xp="jax"))
    assert tied.tolist() == [[1.0, 0.0, 0.0]]


def test_gradients_of_pools() -> None:
    x = batch()
    for name, dense in (("max_pool", jnp.max), ("avg_pool", jnp.mean)):
        f = getattr(ra.nn, name)
        got = jax.jit(ra.grad(lambda x, f=f: ra.sum(ra.square(f(x, 2, stride=3)))))(x)
        grad = jax.jit(jax.grad(lambda w, d=dense: jnp.sum(d(w, axis=0) ** 2)))
        want = np.zeros((X.capacity, 4), np.float32)
        for start, row in zip(X.row_splits[:-1], X.unbind(), strict=True):
            for places in windows(row, 2, 3, 1, "VALID"):
                want[[start + p for p in places]] += grad(row[places])
        np.testing.assert_allclose(got.values[: X.capacity], want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["global_max_pool", "global_avg_pool"])
def test_global_pools(way: Way, name: str) -> None:
    f = getattr(ra.nn, name)
    how = np.max if "max" in name else np.mean
    got = way.run(name, lambda x: f(x), way.arrays(X))
    want = [how(row, axis=0) if len(row) else np.zeros(4) for row in X.unbind()]
    np.testing.assert_allclose(np.asarray(got) if way.name != "strict" else np.from_dlpack(got), want, rtol=1e-5)


def test_gradients_of_global_pools_are_finite() -> None:
    for f in (ra.nn.global_max_pool, ra.nn.global_avg_pool):
        grad = jax.jit(ra.grad(lambda x, f=f: jnp.sum(f(x) ** 2)))(batch())
        assert np.isfinite(grad.values).all()
    both = ra.nn.global_avg_pool(NESTED, axis=(1, 2))
    np.testing.assert_allclose(both[0], X.values[:5].mean(axis=0), rtol=1e-5)
    assert not both[1].any()
    np.testing.assert_allclose(ra.nn.global_max_pool(X.values[None]), X.values.max(axis=0)[None])


def interpolated(row: np.ndarray, n: int, method: str) -> np.ndarray:
    if not len(row):
        return np.zeros((n, *row.shape[1:]))
    if method == "nearest":
        return row[[i * len(row) // n for i in range(n)]]
    out = []
    for i in range(n):
        at = min(max((i + 0.5) * len(row) / n - 0.5, 0), len(row) - 1)
        low = int(at)
        high = min(low + 1, len(row) - 1)
        out.append(row[low] + (row[high] - row[low]) * (at - low))
    return np.array(out, np.float64).reshape(n, *row.shape[1:])


@pytest.mark.parametrize("method", ["nearest", "linear"])
def test_interpolate(way: Way, method: str) -> None:
    for lengths in (np.array([3, 2, 4, 20, 0, 0]), np.array([5, 0, 1, 9, 2, 7])):
        f = lambda x, n: ra.nn.interpolate(x, n, method=method, capacity=32)  # noqa: E731
        got = way.run(("interpolate", method), f, way.arrays(X), way.dense(lengths.astype(np.int32)))
        check(got, [interpolated(row, n, method) for row, n in zip(X.unbind(), lengths, strict=True)])


def test_interpolate_to_one_length_and_of_rows_of_rows() -> None:
    same = ra.nn.interpolate(X, 3)
    assert same.row_lengths().tolist() == [3] * 6
    lengths = ragged([[2, 1], [], [0, 4, 3, 3]])
    for x in (NESTED, ra.testing.poison(ra.asarray(NESTED, xp="jax", capacity=(8, 24)))):
        got = ra.nn.interpolate(x, lengths, method="linear")
        assert got.row_lengths(axis=2).tolist() == lengths.tolist()
        want = [interpolated(r, n, "linear") for r, n in zip(X.unbind(), lengths.values, strict=True)]
        np.testing.assert_allclose(ra.compact(got.to("numpy")).values, np.concatenate(want), rtol=1e-5, atol=1e-6)
        same = ra.compact(ra.nn.interpolate(x, 2).to("numpy"))
        assert same.row_lengths(axis=2).tolist() == [[2, 2], [], [2, 2, 2, 2]]


def test_positions_in_long_rows_are_exact() -> None:
    n, m = 300_000, 700_001
    x = ra.from_row_lengths(np.arange(n, dtype=np.int32), np.array([n]))
    want = np.arange(m, dtype=np.int64) * n // m
    np.testing.assert_array_equal(ra.nn.interpolate(x, m).values, want)
    np.testing.assert_array_equal(ra.nn.interpolate(x.to("jax"), m).values, want)


def test_gradient_of_interpolate() -> None:
    lengths = jnp.array([3, 2, 4, 20, 0, 1])

    def loss(x: RaggedArray, n: Any) -> Any:
        return ra.sum(ra.square(ra.nn.interpolate(x, n, method="linear", capacity=32)))

    got = jax.jit(ra.grad(loss))(batch(), lengths)
    eye = np.eye(9)
    for start, row, n in zip(X.row_splits, X.unbind(), np.asarray(lengths), strict=False):
        matrix = interpolated(eye[: len(row), : len(row)], int(n), "linear")
        want = 2 * matrix.T @ (matrix @ row) if len(row) else row
        np.testing.assert_allclose(got.values[start : start + len(row)], want, rtol=1e-4, atol=1e-4)


def test_a_capacity_too_small() -> None:
    x, lengths = batch(), jnp.array([3, 2, 4, 20, 0, 1])
    f = lambda x, n: ra.nn.interpolate(x, n, capacity=8)  # noqa: E731
    with pytest.raises(ValueError, match=r"^nn.interpolate: expected a capacity of at least 30, got 8. "):
        f(x, lengths)
    with pytest.raises(Exception, match=r"nn.interpolate: expected a capacity of at least 30, got 8. "):
        ra.checked(f)(x, lengths)
    assert np.isnan(jax.jit(f)(x, lengths).values).all()
    with pytest.raises(ra.DynamicShapeError, match=r"^nn.interpolate: expected a static capacity, got traced lengths"):
        jax.jit(ra.nn.interpolate)(x, lengths)


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_far_taps_and_windows_see_only_padding(xp: str) -> None:
    """Neither their padding nor their positions are written out."""
    x, kernel = ra.asarray(X, xp=xp), RNG.standard_normal((3, 4, 2)).astype(np.float32)
    far = ra.nn.conv1d(x, kernel, dilation=2**28)
    np.testing.assert_allclose(np.asarray(far.values)[: sum(LENGTHS)], X.values @ kernel[1], atol=1e-5)
    first = ra.nn.conv1d(x, kernel, stride=2**30, padding="CAUSAL")
    want = [X[i][:1] @ kernel[2] for i in range(len(LENGTHS))]
    assert first.row_lengths().tolist() == [min(n, 1) for n in LENGTHS]
    np.testing.assert_allclose(np.asarray(first.values)[:4], np.concatenate(want), atol=1e-5)
    assert ra.nn.conv1d(x, kernel, dilation=2**28, padding="VALID").row_lengths().tolist() == [0] * len(LENGTHS)


def test_window_wider_than_a_uniform_axis() -> None:
    v = RNG.standard_normal((2, 5))
    for padding, last in (("SAME", 5), ("CAUSAL", 1)):
        pooled = ra.nn.max_pool(v, 2**29, axis=1, padding=padding)
        np.testing.assert_array_equal(pooled, v[:, :last].max(axis=1, keepdims=True))
    running = ra.nn.avg_pool(v, 2**29, stride=1, axis=1, padding="CAUSAL")
    np.testing.assert_allclose(running, v.cumsum(axis=1) / np.arange(1, 6))
    assert ra.nn.max_pool(v, 2**29, axis=1).shape == (2, 0)


def test_interpolate_to_a_negative_length_that_is_traced() -> None:
    x = ra.ragged([[1.0, 2.0], [], [3.0]], xp="jax")
    resample = jax.jit(lambda n: ra.nn.interpolate(x, n, capacity=16))
    assert np.isnan(resample(jnp.array([1, -2, 3])).values).all()
    assert resample(jnp.array([1, 0, 3])).tolist() == [[1.0], [], [3.0, 3.0, 3.0]]


@pytest.mark.parametrize("view", [False, True])
def test_pools_along_inner_axes_of_blocks(view: bool) -> None:
    images = [RNG.standard_normal(s) for s in ((3, 4, 4), (1, 2, 4), (0, 2, 4))]
    x = ra.ragged(images, item_shape=(None, None, 4))
    if view:
        x, images = ra.flip(x, axis=1), [i[::-1] for i in images]
    for f, reduce in ((ra.nn.max_pool, np.max), (ra.nn.avg_pool, np.mean)):
        got = f(x, 2, axis=3)
        assert got.shape == (3, None, None, 2)
        for row, image in zip(got.tolist(), images, strict=True):
            want = reduce(image.reshape(*image.shape[:2], 2, 2), axis=-1)
            np.testing.assert_allclose(np.array(row).reshape(want.shape), want)


def test_interpolate_to_one_length_in_a_given_capacity() -> None:
    x = ra.ragged([[1.0, 2.0], [], [3.0]], xp="jax")
    assert ra.nn.interpolate(x, 2, capacity=8).capacity == 8
    assert ra.nn.interpolate(x, 2, capacity=8).tolist() == [[1.0, 2.0], [0.0, 0.0], [3.0, 3.0]]
    resample = jax.jit(lambda x, capacity: ra.nn.interpolate(x, 2, capacity=capacity).values, static_argnums=1)
    assert np.isnan(resample(x, 3)).all()


K = np.zeros((3, 4, 2), np.float32)
ERRORS: list[tuple[Any, str]] = [
    (
        lambda: ra.nn.conv1d(X, np.zeros((3, 2, 2), np.float32)),
        "nn.conv1d: expected a kernel of shape (size, 4, out), got (3, 2, 2). Check the axes.",
    ),
    (
        lambda: ra.nn.conv1d(X, K, np.zeros(3, np.float32)),
        "nn.conv1d: expected a bias of shape (2,), got (3,). Check the axes.",
    ),
    (lambda: ra.nn.conv1d(X, K, groups=3), "nn.conv1d: expected groups= that divide 4, got 3. Check the channels."),
    (
        lambda: ra.nn.conv1d(X, K, padding="same"),
        "nn.conv1d: expected padding='SAME', 'VALID' or 'CAUSAL', got 'same'. Pass one of these.",
    ),
    (lambda: ra.nn.conv1d(X, K, stride=0), "nn.conv1d: expected a stride= of at least 1, got 0. Pass a positive int."),
    (
        lambda: ra.nn.conv1d(X[:, :, 0], K),
        "nn.conv1d: expected shape (nrows, (len), in), got (6, None). Use `ra.with_inner_shape`.",
    ),
    (
        lambda: ra.nn.max_pool(NESTED, 2),
        "nn.max_pool: expected axis=2 or an inner one, got 1. Pool the innermost rows.",
    ),
    (
        lambda: ra.nn.interpolate(X, np.array([1, 2])),
        "nn.interpolate: expected lengths: integers of shape (6,), got int64 (2,). Pass one per row.",
    ),
    (
        lambda: ra.nn.interpolate(X, 3, method="cubic"),
        "nn.interpolate: expected method='nearest' or 'linear', got 'cubic'. Pass one of these.",
    ),
    (
        lambda: ra.nn.interpolate(X, np.array([1, 2, -1, 0, 0, 0])),
        "nn.interpolate: expected lengths of at least 0, got -1. Pass one per row.",
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=lambda a: a.split(",")[0] if isinstance(a, str) else "")
def test_errors(call: Any, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == text
