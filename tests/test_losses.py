"""Losses against formulas of single elements, and alignments against all there are."""

from itertools import groupby, product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, ragged

from .harness.ways import Way

LENGTHS, CLASSES = [3, 0, 1, 4, 0], 4
N = sum(LENGTHS)
RNG = np.random.default_rng(0)


def rows(values: np.ndarray) -> RaggedArray:
    return ra.from_row_lengths(values, np.array(LENGTHS))


LOGITS = rows(RNG.standard_normal((N, CLASSES)).astype(np.float32))
IDS = rows(RNG.integers(0, CLASSES, N).astype(np.int32))
SHARES = rows(RNG.dirichlet(np.ones(CLASSES), N).astype(np.float32))
WEIGHT = np.array([0.5, 1.0, 2.0, 0.25], np.float32)
NESTED = (np.array([2, 0, 3]), np.array(LENGTHS))


def entropy(z: Any, y: Any, weight: Any, ignore: Any, smoothing: float) -> tuple[np.ndarray, np.ndarray]:
    """Loss of each element, and what it counts in a mean."""
    loss, share = [], []
    for logits, target in zip(z.astype(np.float64), y, strict=True):
        log_p = logits - np.log(np.exp(logits).sum())
        w = np.ones(CLASSES) if weight is None else weight
        if np.ndim(target):
            loss.append(-(w * (target * (1 - smoothing) + smoothing / CLASSES) * log_p).sum())
            share.append(1.0)
        elif target == ignore:
            loss.append(0.0)
            share.append(0.0)
        else:
            loss.append(-w[target] * log_p[target] * (1 - smoothing) - smoothing / CLASSES * (w * log_p).sum())
            share.append(w[target])
    return np.array(loss), np.array(share)


def reduce(loss: np.ndarray, share: np.ndarray, reduction: str) -> np.ndarray:
    if reduction == "none":
        return loss
    if reduction == "sum":
        return loss.sum()
    if reduction == "mean":
        return loss.sum() / share.sum() if share.sum() else np.zeros(())
    ends = np.cumsum(LENGTHS)
    parts = [slice(e - n, e) for e, n in zip(ends, LENGTHS, strict=True)]
    return np.array([loss[p].sum() / share[p].sum() if share[p].sum() else 0.0 for p in parts])


def numbers(got: Any) -> np.ndarray:
    values = got.values[:N] if isinstance(got, RaggedArray) else got
    return np.from_dlpack(values) if type(values).__module__.startswith("array_api_strict") else np.asarray(values)


REDUCTIONS = ("mean", "sum", "row_mean", "none")
OPTIONS: list[dict[str, Any]] = [
    {}, {"weight": WEIGHT}, {"ignore_index": 1}, {"label_smoothing": 0.2},
    {"weight": WEIGHT, "ignore_index": 2, "label_smoothing": 0.1},
]  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cross_entropy_of_ids(way: Way, reduction: str) -> None:
    for given in OPTIONS if not way.jax else OPTIONS[-1:]:
        static = {k: v for k, v in given.items() if k != "weight"}
        w = given.get("weight")
        f = lambda z, y, w, s=static: ra.nn.cross_entropy(z, y, weight=w, reduction=reduction, **s)  # noqa: E731
        args = (way.arrays(LOGITS), way.arrays(IDS), None if w is None else way.dense(w))
        got = way.run(("entropy", reduction, str(static)), f, *args)
        want = entropy(LOGITS.values, IDS.values, w, given.get("ignore_index"), given.get("label_smoothing", 0))
        np.testing.assert_allclose(numbers(got), reduce(*want, reduction), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_cross_entropy_of_probabilities(way: Way, reduction: str) -> None:
    given = {"weight": WEIGHT, "label_smoothing": 0.3}
    f = lambda z, y, w: ra.nn.cross_entropy(z, y, weight=w, label_smoothing=0.3, reduction=reduction)  # noqa: E731
    got = way.run(("shares", reduction), f, way.arrays(LOGITS), way.arrays(SHARES), way.dense(WEIGHT))
    want = entropy(LOGITS.values, SHARES.values, given["weight"], None, 0.3)
    np.testing.assert_allclose(numbers(got), reduce(*want, reduction), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("targets", [IDS, SHARES], ids=["ids", "shares"])
def test_gradients_of_cross_entropy(targets: RaggedArray) -> None:
    given = {"label_smoothing": 0.1, "reduction": "row_mean"}
    z, y = (ra.testing.poison(ra.asarray(a, xp="jax", capacity=12)) for a in (LOGITS, targets))

    def ours(v: Any, w: Any, z: RaggedArray, y: RaggedArray) -> Any:
        return jnp.sum(jnp.arange(1.0, 6.0) * ra.nn.cross_entropy(z.with_values(v), y, weight=w, **given))

    def dense(v: Any, w: Any) -> Any:
        total, start = jnp.zeros(()), 0
        for i, n in enumerate(LENGTHS):
            for j in range(start, start + n):
                t = targets.values[j]
                log_p = jax.nn.log_softmax(v[j])
                t = jnp.eye(CLASSES)[t] if np.ndim(t) == 0 else t
                share = jnp.sum(jnp.take(w, IDS.values[start : start + n])) if targets is IDS else n
                total = total - (i + 1) * jnp.sum(w * (0.9 * t + 0.1 / CLASSES) * log_p) / share
            start += n
        return total

    got = jax.jit(jax.grad(jax.checkpoint(ours), (0, 1)))(z.values, WEIGHT, z, y)
    want = jax.jit(jax.grad(dense, (0, 1)))(LOGITS.values, WEIGHT)
    np.testing.assert_allclose(got[0][:N], want[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(got[0][N:], 0)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-4, atol=1e-6)


def test_extreme_logits() -> None:
    z = ragged([[[1e4, -1e4], [-np.inf, 0.0]], [[0.0, -np.inf]]], item_shape=(None, 2))
    y = ragged([[0, 1], [1]])
    np.testing.assert_array_equal(ra.nn.cross_entropy(z, y, reduction="none").values, [0, 0, np.inf])
    grad = jax.jit(ra.grad(lambda z, y: ra.nn.cross_entropy(z, y, ignore_index=1)))(z.to("jax"), y.to("jax"))
    assert np.isfinite(grad.values[:1]).all()


def test_nothing_to_average_is_0_with_gradient_0() -> None:
    for lengths in ([], [0, 0]):
        z = ra.from_row_lengths(np.zeros((0, 3), np.float32), np.array(lengths, int))
        y = ra.from_row_lengths(np.zeros(0, int), np.array(lengths, int))
        assert ra.nn.cross_entropy(z, y) == 0 and ra.nn.mse_loss(z, z) == 0
        assert ra.nn.cross_entropy(z, y, reduction="row_mean").tolist() == [0.0] * len(lengths)
    j = LOGITS.to("jax")
    ignored = ra.grad(lambda z: ra.nn.cross_entropy(z, ra.full_like(IDS.to("jax"), 9), ignore_index=9))(j)
    np.testing.assert_array_equal(ignored.values, 0)


def test_unknown_ids() -> None:
    z, y = ra.asarray(LOGITS, xp="jax", capacity=12), ra.asarray(IDS, xp="jax", capacity=12)
    wrong = y.with_values(y.values.at[2].set(CLASSES))
    f = lambda z, y: ra.nn.cross_entropy(z, y, reduction="row_mean")  # noqa: E731
    text = r"nn.cross_entropy: expected targets from 0 to 3, got 4 at slot 2. Check the vocabulary."
    with pytest.raises(IndexError, match=f"^{text}$"):
        f(z, wrong)
    assert np.isnan(jax.jit(f)(z, wrong)).tolist() == [True, False, False, False, False]
    with pytest.raises(Exception, match=r"nn.cross_entropy: expected targets from 0 to 3, got 0 to 4"):
        ra.checked(f)(z, ra.testing.poison(wrong))
    ra.checked(f)(z, ra.testing.poison(y))


def test_rows_of_rows_and_plain_arrays() -> None:
    z, y = (ra.from_nested_row_lengths(a.values, NESTED) for a in (LOGITS, IDS))
    loss, _ = entropy(LOGITS.values, IDS.values, None, None, 0)
    want = [loss[:3].mean(), 0, loss[3:].mean()]
    np.testing.assert_allclose(ra.nn.cross_entropy(z, y, reduction="row_mean"), want, rtol=1e-5)
    assert ra.nn.cross_entropy(z, y, reduction="none").shape == (3, None, None)
    flat = ra.nn.cross_entropy(LOGITS.values[None], IDS.values[None], reduction="row_mean")
    np.testing.assert_allclose(flat, [loss.mean()], rtol=1e-5)
    np.testing.assert_allclose(ra.nn.cross_entropy(LOGITS.values, IDS.values), loss.mean(), rtol=1e-5)
    with pytest.raises(TypeError, match="both ragged, or both plain"):
        ra.nn.cross_entropy(LOGITS, IDS.values)


def test_components_that_vary_in_two_axes() -> None:
    rng = np.random.default_rng(4)
    z = ra.ragged([rng.standard_normal((2, 3, 2)), rng.standard_normal((1, 2, 2))], item_shape=(None, None, 2))
    y = ra.ragged([rng.integers(0, 2, (2, 3)), rng.integers(0, 2, (1, 2))], item_shape=(None, None))
    want = [ra.nn.cross_entropy(a, b) for a, b in zip(z.unbind(), y.unbind(), strict=True)]
    f = lambda z, y: ra.nn.cross_entropy(z, y, reduction="row_mean")  # noqa: E731
    np.testing.assert_allclose(f(z, y), want, rtol=1e-6)
    got = jax.jit(f)(*(ra.testing.poison(ra.asarray(a, xp="jax", capacity=12)) for a in (z, y)))
    np.testing.assert_allclose(got, want, rtol=1e-5)
    turned = ra.matrix_transpose(y)  # a view, whose slots are not in order
    assert ra.nn.mse_loss(turned, turned * 0) == pytest.approx(np.mean(y.values))
    assert ra.nn.mse_loss(turned, turned, reduction="none").tolist() == (turned * 0).tolist()


A, B = (RNG.standard_normal(N).astype(np.float32) for _ in range(2))
P, Q = (RNG.uniform(0.05, 0.95, N).astype(np.float32) for _ in range(2))
POINTWISE: dict[str, tuple[Any, Any, Any, Any]] = {
    "mse": (ra.nn.mse_loss, A, B, lambda xp, a, b: (a - b) ** 2),
    "huber": (
        lambda x, y, **k: ra.nn.huber_loss(x, y, delta=0.7, **k), A, B,
        lambda xp, a, b: xp.where(abs(a - b) <= 0.7, (a - b) ** 2 / 2, 0.7 * (abs(a - b) - 0.35)),
    ),
    "bce": (ra.nn.binary_cross_entropy, P, Q, lambda xp, p, q: -q * xp.log(p) - (1 - q) * xp.log(1 - p)),
    "bce of logits": (
        lambda x, y, **k: ra.nn.binary_cross_entropy(x, y, from_logits=True, **k), A, Q,
        lambda xp, a, q: q * xp.log1p(xp.exp(-a)) + (1 - q) * xp.log1p(xp.exp(a)),
    ),
    "kl": (ra.nn.kl_div, np.log(P), Q, lambda xp, a, q: q * (xp.log(q) - a)),
    "kl of logs": (
        lambda x, y, **k: ra.nn.kl_div(x, y, log_target=True, **k), np.log(P), np.log(Q),
        lambda xp, a, b: xp.exp(b) * (b - a),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise_losses(way: Way, name: str) -> None:
    f, a, b, formula = POINTWISE[name]
    want = formula(np, a.astype(np.float64), b.astype(np.float64))
    for reduction in REDUCTIONS if not way.jax else ("row_mean",):
        loss = lambda x, y, r=reduction: f(x, y, reduction=r)  # noqa: E731
        got = way.run((name, reduction), loss, way.arrays(rows(a)), way.arrays(rows(b)))
        np.testing.assert_allclose(numbers(got), reduce(want, np.ones(N), reduction), rtol=1e-4, atol=1e-6)


def test_gradients_of_pointwise_losses() -> None:
    for name, (f, a, b, formula) in POINTWISE.items():
        x, y = (ra.testing.poison(ra.asarray(rows(v), xp="jax", capacity=12)) for v in (a, b))
        ours = lambda v, w, f=f, x=x, y=y: f(x.with_values(v), y.with_values(w))  # noqa: E731
        got = jax.jit(jax.grad(ours, (0, 1)))(x.values, y.values)
        want = jax.jit(jax.grad(lambda v, w, g=formula: jnp.mean(g(jnp, v, w)), (0, 1)))(a, b)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_allclose(g[:N], w, rtol=1e-3, atol=1e-5, err_msg=name)
            np.testing.assert_array_equal(g[N:], 0)


def test_weights_and_limits_of_binary_cross_entropy() -> None:
    x, y, w = rows(A), rows(Q), rows(P)
    got = ra.nn.binary_cross_entropy(x, y, from_logits=True, weight=w, pos_weight=2.0, reduction="none")
    log = lambda a: np.log1p(np.exp(a))  # noqa: E731
    np.testing.assert_allclose(got.values, P * (2 * Q * log(-A) + (1 - Q) * log(A)), rtol=1e-5)
    certain = ra.nn.binary_cross_entropy(ragged([[0.0, 1.0], [1.0]]), ragged([[1.0, 0.0], [1.0]]), reduction="none")
    assert certain.tolist() == [[100.0, 100.0], [0.0]]
    grad = ra.grad(lambda x: ra.nn.binary_cross_entropy(x, ragged([[1.0, 0.5]], xp="jax")))
    assert np.isfinite(grad(ragged([[0.0, 1.0]], xp="jax")).values).all()
    huge = ra.nn.binary_cross_entropy(ragged([[1e4, -1e4]]), ragged([[1.0, 1.0]]), from_logits=True, reduction="none")
    assert huge.tolist() == [[0.0, 1e4]]
    assert ra.nn.kl_div(ragged([[-1.0], [-2.0]]), ragged([[1.0], [0.5]]), reduction="batchmean") == pytest.approx(
        (1 + 0.5 * np.log(0.5) + 1) / 2
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_summed_in_float32(dtype: str) -> None:
    for xp in ("numpy", "jax"):
        x = ra.astype(ra.from_row_lengths(np.ones(3000, np.float32), np.array([3000])).to(xp), dtype)
        out = ra.nn.mse_loss(x, ra.zeros_like(x))
        assert str(out.dtype) == dtype and float(out) == 1
        z = ra.astype(LOGITS.to(xp), dtype)
        assert str(ra.nn.cross_entropy(z, IDS.to(xp)).dtype) == dtype


def test_vmap_over_heads_and_one_trace() -> None:
    f = ra.testing.count_traces(lambda w, x, y: ra.nn.cross_entropy(ra.nn.linear(x, w), y))
    step = jax.jit(jax.vmap(jax.value_and_grad(f), (0, None, None)))
    heads = jnp.stack([jnp.eye(CLASSES), jnp.ones((CLASSES, CLASSES))])
    rng = np.random.default_rng(1)
    for _ in range(10):
        lengths = rng.multinomial(rng.integers(0, 12), [0.2] * 5)
        x = ra.from_row_lengths(rng.standard_normal((lengths.sum(), CLASSES)).astype(np.float32), lengths)
        y = ra.from_row_lengths(rng.integers(0, CLASSES, lengths.sum()).astype(np.int32), lengths)
        x, y = (ra.testing.poison(ra.asarray(a, xp="jax", capacity=12)) for a in (x, y))
        loss, grads = step(heads, x, y)
        assert np.isfinite(loss).all() and np.isfinite(grads).all()
    assert f.count == 1


FRAMES, LABELS = [4, 0, 3, 2, 0, 3], [[1, 2], [], [2, 2], [1, 1], [1], []]
HEARD = ra.from_row_lengths(RNG.standard_normal((sum(FRAMES), 3)).astype(np.float32), np.array(FRAMES))
SAID = ragged(LABELS, dtype="int32")


def alignments(frames: int, labels: list[int]) -> list[tuple[int, ...]]:
    """Every way to give a class (0 is the blank) to each frame that spells these labels."""
    spelled = lambda a: [c for c, _ in groupby(a) if c]  # noqa: E731
    return [a for a in product(range(3), repeat=frames) if spelled(a) == labels]


def ctc_row(xp: Any, z: Any, labels: list[int]) -> Any:
    log_p = z - xp.log(xp.sum(xp.exp(z), axis=-1, keepdims=True))
    ways = np.array(alignments(len(z), labels), int)
    if not len(ways):
        return xp.asarray(np.inf)
    return -xp.log(xp.sum(xp.exp(xp.sum(log_p[np.arange(len(z))[None], ways], axis=1))))


def want_ctc() -> np.ndarray:
    return np.array([ctc_row(np, z.astype(np.float64), y) for z, y in zip(HEARD.unbind(), LABELS, strict=True)])


def test_ctc_loss(way: Way) -> None:
    f = lambda z, y: ra.nn.ctc_loss(z, y, reduction="none")  # noqa: E731
    got = way.run("ctc", f, way.arrays(HEARD), way.arrays(SAID))
    np.testing.assert_allclose(numbers(got), want_ctc(), rtol=1e-5)
    assert np.isinf(want_ctc()).tolist() == [False, False, False, True, True, False]


def test_reductions_of_ctc_loss() -> None:
    want = np.where(np.isinf(want_ctc()), 0, want_ctc())
    each = want / np.array([2, 1, 2, 2, 1, 1])
    for xp in ("numpy", "jax"):
        z, y = HEARD.to(xp), SAID.to(xp)
        for reduction, value in (("mean", each.mean()), ("sum", want.sum()), ("row_mean", each), ("none", want)):
            got = ra.nn.ctc_loss(z, y, zero_infinity=True, reduction=reduction)
            np.testing.assert_allclose(got, value, rtol=1e-5)
    moved = HEARD.with_values(HEARD.values[:, [1, 2, 0]])  # the blank last
    said = SAID.with_values(SAID.values - 1)
    got = ra.nn.ctc_loss(moved, said, blank=2, reduction="none")
    np.testing.assert_allclose(got, want_ctc(), rtol=1e-5)
    none = ra.nn.ctc_loss(HEARD[:0], SAID[:0])
    assert none == 0


def test_gradients_of_ctc_loss() -> None:
    z = ra.testing.poison(ra.asarray(HEARD, xp="jax", capacity=16))
    y = ra.testing.poison(ra.asarray(SAID, xp="jax", capacity=10))
    shares = jnp.arange(1.0, 7.0)

    def ours(v: Any, z: RaggedArray, y: RaggedArray) -> Any:
        return jnp.sum(shares * ra.nn.ctc_loss(z.with_values(v), y, reduction="none", max_labels=2, zero_infinity=True))

    @jax.jit
    def both(v: Any, tangent: Any, z: RaggedArray, y: RaggedArray) -> Any:
        f = lambda v: ours(v, z, y)  # noqa: E731
        return jax.grad(jax.checkpoint(f))(v), jax.jvp(f, (v,), (tangent,))[1]

    tangent = jnp.where(jnp.isnan(z.values), jnp.nan, 1.0).at[0, 0].set(3.0)
    got, pushed = both(z.values, tangent, z, y)

    def dense(v: Any) -> Any:
        total, start = jnp.zeros(()), 0
        for i, (n, labels) in enumerate(zip(FRAMES, LABELS, strict=True)):
            if n and alignments(n, labels):
                total = total + (i + 1) * ctc_row(jnp, v[start : start + n], labels)
            start += n
        return total

    want = jax.jit(jax.grad(dense))(HEARD.values)
    np.testing.assert_allclose(got[: len(want)], want, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(got[len(want) :], 0)
    np.testing.assert_allclose(pushed, jnp.sum(want.at[0, 0].multiply(3.0)), rtol=1e-4, atol=1e-5)


def test_second_derivatives_of_ctc_loss() -> None:
    z = ra.testing.poison(ra.asarray(HEARD, xp="jax", capacity=16))
    y = ra.testing.poison(ra.asarray(SAID, xp="jax", capacity=10))
    losses = lambda v: ra.nn.ctc_loss(z.with_values(v), y, reduction="none", max_labels=2, zero_infinity=True)  # noqa: E731
    want = jax.jit(jax.hessian(lambda v: ctc_row(jnp, v, LABELS[0])))(HEARD.values[:4])
    for outer in (jax.jacfwd, jax.jacrev):
        got = jax.jit(outer(jax.grad(lambda v: losses(v)[0])))(z.values)
        np.testing.assert_allclose(got[:4, :, :4], want, rtol=1e-3, atol=1e-5)
        assert not got[4:].any()
        assert not got[:, :, 4:].any()
    every = jax.jit(lambda v: [t(lambda v: jnp.sum(jax.grad(lambda v: jnp.sum(losses(v)))(v)[:, 0]))(v)
                               for t in (jax.grad, jax.jacfwd)])  # fmt: skip
    reverse, forward = every(z.values)
    np.testing.assert_allclose(reverse, forward, rtol=1e-4, atol=1e-5)
    assert np.isfinite(reverse).all()


def test_ctc_loss_is_no_less_than_0() -> None:
    """A path that is nearly certain: float32 rounds the sum over all alignments to more than 1."""
    frames, gaps = np.array([3, 50, 200]), np.array([17.0, 25.0, 20.0])
    path = np.concatenate([np.repeat([1, 2, 1], [n // 3, n // 3, n - 2 * (n // 3)]) for n in frames])
    logits = np.zeros((253, 4), np.float32)
    logits[np.arange(253), path] = np.repeat(gaps, frames)
    x, y = ra.from_row_lengths(logits, frames), ragged([[1, 2, 1]] * 3, dtype="int32")
    z, labels = x.to("jax"), y.to("jax")
    f = lambda v: ra.nn.ctc_loss(z.with_values(v), labels, reduction="none")  # noqa: E731
    for loss in (ra.nn.ctc_loss(x, y, reduction="none"), jax.jit(f)(z.values)):
        assert (loss >= 0).all()
        assert (loss < 1e-4).all()
    assert np.isfinite(jax.jit(jax.grad(lambda v: jnp.sum(f(v))))(z.values)).all()


def test_ctc_loss_of_no_rows() -> None:
    for capacity in (0, 3):
        z = ra.from_row_splits(jnp.full((capacity, 3), jnp.nan), jnp.zeros(1, "int32"))
        y = ra.from_row_splits(jnp.full(capacity, 99), jnp.zeros(1, "int32"))
        assert ra.nn.ctc_loss(z, y, reduction="none").shape == (0,)
        f = lambda v, z=z, y=y: ra.nn.ctc_loss(z.with_values(v), y, max_labels=2)  # noqa: E731
        value, slope = jax.jit(jax.value_and_grad(f))(z.values)
        assert value == 0
        assert not slope.any()
        assert not jax.jit(jax.hessian(f))(z.values).any()


def test_limits_of_ctc_loss() -> None:
    z, y = HEARD.to("jax"), SAID.to("jax")
    with pytest.raises(ValueError, match=r"^nn.ctc_loss: expected labels of at least 2, got 1. "):
        ra.nn.ctc_loss(z, y, max_labels=1)
    few = jax.jit(lambda z, y: ra.nn.ctc_loss(z, y, reduction="none", max_labels=1))
    assert np.isnan(few(z, y)).all()
    blanks = y.with_values(y.values.at[0].set(0))
    assert (
        np.isnan(jax.jit(lambda z, y: ra.nn.ctc_loss(z, y, reduction="none"))(z, blanks)).tolist()
        == [True] + [False] * 5
    )


def test_options_out_of_range_that_are_traced() -> None:
    z, y = ra.asarray(LOGITS, xp="jax"), ra.asarray(IDS, xp="jax")
    smooth = jax.jit(lambda s: ra.nn.cross_entropy(z, y, label_smoothing=s))
    huber = jax.jit(lambda d: ra.nn.huber_loss(z, z + 1, delta=d))
    assert np.isnan([smooth(-0.5), smooth(1.5), huber(-1.0), huber(0.0)]).all()
    assert np.isfinite([smooth(0.5), huber(1.0)]).all()


def test_no_classes_under_jit() -> None:
    z = ra.asarray(rows(np.zeros((N, 0), np.float32)), xp="jax")
    loss = jax.jit(lambda z, y, w: ra.nn.cross_entropy(z, y, weight=w))(z, ra.asarray(IDS, xp="jax"), jnp.ones(0))
    assert np.isnan(loss)


def test_divergence_of_nothing_is_zero() -> None:
    """A target of probability 0 counts nothing, whatever its log probability."""
    x, none = ragged([[-np.inf, -1.0], [-np.inf]]), ragged([[0.0, 0.0], [0.0]])
    assert ra.nn.kl_div(x, none, reduction="none").tolist() == [[0.0, 0.0], [0.0]]
    logs = none.with_values(np.full(3, -np.inf))
    assert ra.nn.kl_div(x, logs, log_target=True, reduction="none").tolist() == [[0.0, 0.0], [0.0]]
    one = ra.nn.kl_div(x, ragged([[1.0, 1.0], [0.0]]), reduction="none")
    assert one.tolist() == [[np.inf, 1.0], [0.0]]


def test_probabilities_outside_their_range_are_nan() -> None:
    x = ragged([[1.5, -0.5], [1.0, 0.0]])
    loss = ra.nn.binary_cross_entropy(x, ragged([[1.0, 0.0], [1.0, 0.0]]), reduction="none")
    assert np.isnan(loss.values).tolist() == [True, True, False, False]


ERRORS: list[tuple[type[Exception], Any, str]] = [
    (
        ValueError, lambda: ra.nn.cross_entropy(LOGITS, IDS, reduction="max"),
        "nn.cross_entropy: expected reduction= one of 'mean', 'sum', 'row_mean', 'none', got 'max'. "
        "Pass one of these.",
    ),
    (
        ValueError, lambda: ra.nn.cross_entropy(LOGITS, IDS, weight=np.ones(3)),
        "nn.cross_entropy: expected a weight of shape (4,), got (3,). Pass one per class.",
    ),
    (
        ValueError, lambda: ra.nn.cross_entropy(LOGITS, SHARES, ignore_index=0),
        "nn.cross_entropy: expected ids where some are ignored, got probabilities and ignore_index=0. "
        "Drop it, or pass ids.",
    ),
    (
        ValueError, lambda: ra.nn.cross_entropy(LOGITS, rows(np.zeros((N, 1), int))),
        "nn.cross_entropy: expected targets of shape (5, None) for logits (5, None, 4), got (5, None, 1). Check them.",
    ),
    (
        ValueError, lambda: ra.nn.cross_entropy(LOGITS, ra.from_row_lengths(IDS.values, np.array([2, 1, 1, 4, 0]))),
        "nn.cross_entropy: expected equal row lengths along axis 1, got 3 and 2 at row 0. "
        "Align the rows first, or use `ra.to_padded`.",
    ),
    (
        ValueError, lambda: ra.nn.ctc_loss(HEARD, SAID, blank=2),
        "nn.ctc_loss: expected labels other than blank 2, got it at slot 1. Pass another `blank=`.",
    ),
    (
        IndexError, lambda: ra.nn.ctc_loss(HEARD, SAID + 2),
        "nn.ctc_loss: expected labels from 0 to 2, got 3 at slot 0. Check the vocabulary.",
    ),
    (
        ValueError, lambda: ra.nn.ctc_loss(HEARD, SAID[:2]),
        "nn.ctc_loss: expected labels of shape (6, None), got (2, None). Pass one row per row.",
    ),
    (
        ValueError, lambda: ra.nn.huber_loss(LOGITS, LOGITS, delta=0),
        "nn.huber_loss: expected delta above 0, got 0. Pass a positive one.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("error", "call", "text"), ERRORS, ids=lambda a: a[:40] if isinstance(a, str) else "")
def test_errors(error: type[Exception], call: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
