"""Recurrences against loops over the rows."""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray
from raggedarray.backends.jax.recurrence import stages

from .harness.ways import Way

D, H = 2, 3
GATES = {"rnn": 1, "gru": 3, "lstm": 4}
LAYOUTS = [[3, 0, 5, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 9, 0, 0], [0, 2, 2, 0, 4]]
"""Of one size, so that they share programs."""


def sigmoid(v: Any) -> Any:
    return 1 / (1 + np.exp(-v))


def cell(kind: str, row: Any, h: Any, c: Any, p: dict[str, Any], xp: Any = np, reverse: bool = False) -> Any:
    """Outputs and last states of one row."""
    outs = []
    for t in range(len(row))[:: -1 if reverse else 1]:
        a, b = row[t] @ p["w_ih"] + p["b_ih"], h @ p["w_hh"] + p["b_hh"]
        if kind == "rnn":
            h = xp.tanh(a + b)
        elif kind == "gru":
            r, z = (1 / (1 + xp.exp(-(a + b)[i * H : (i + 1) * H])) for i in range(2))
            n = xp.tanh(a[2 * H :] + r * b[2 * H :])
            h = (1 - z) * n + z * h
        else:
            i, f, o = (1 / (1 + xp.exp(-(a + b)[k * H : (k + 1) * H])) for k in (0, 1, 3))
            c = f * c + i * xp.tanh((a + b)[2 * H : 3 * H])
            h = o * xp.tanh(c)
        outs.append(h)
    return outs[:: -1 if reverse else 1], h, c


def parameters(kind: str, seed: int = 0) -> dict[str, np.ndarray]:
    rng, k = np.random.default_rng(seed), GATES[kind] * H
    shapes = {"w_ih": (D, k), "w_hh": (H, k), "b_ih": (k,), "b_hh": (k,)}
    return {name: rng.uniform(-1, 1, s).astype(np.float32) for name, s in shapes.items()}


def rows(lengths: list[int], seed: int = 1, inner: tuple[int, ...] = (D,), dtype: str = "float32") -> RaggedArray:
    values = np.random.default_rng(seed).uniform(-2, 2, (sum(lengths), *inner)).astype(dtype)
    return ra.from_row_lengths(values, np.array(lengths, dtype=np.int32))


def states(nrows: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return tuple(rng.uniform(-1, 1, (nrows, H)).astype(np.float32) for _ in range(2))


def run(kind: str, x: Any, p: dict[str, Any], h: Any, c: Any, **options: Any) -> Any:
    initial = (h, c) if kind == "lstm" else h
    out, final = getattr(ra.nn, kind)(x, p["w_ih"], p["w_hh"], (p["b_ih"], p["b_hh"]), initial=initial, **options)
    return out, final if kind == "lstm" else (final,)


def close(got: Any, want: Any, tol: float = 2e-5) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=tol, atol=tol)


def host(x: Any) -> Any:
    return x if isinstance(x, np.ndarray) else np.from_dlpack(x)


def dense_rows(x: RaggedArray) -> list[np.ndarray]:
    return [host(r) for r in x.unbind()]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", GATES)
def test_layers(way: Way, kind: str, reverse: bool) -> None:
    p = parameters(kind)
    for lengths in LAYOUTS:
        x, (h, c) = rows(lengths), states(5)
        args = [way.arrays(a) for a in (x, h, c)]
        q = {name: way.dense(v) for name, v in p.items()}
        out, final = way.run(("layer", kind, reverse), lambda *a: run(kind, *a, reverse=reverse), args[0], q, *args[1:])
        assert out.capacity == args[0].used_values().capacity
        for i, row in enumerate(x.unbind()):
            outs, *last = cell(kind, row, h[i], c[i], p, reverse=reverse)
            close(dense_rows(out)[i], np.array(outs).reshape(-1, H))
            for a, b in zip(final, last, strict=False):
                close(host(a)[i], b)
        empty = np.array(lengths) == 0
        np.testing.assert_array_equal(host(final[0])[empty], h[empty])


@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_many_rows_end_in_stages(kind: str) -> None:
    lengths = np.random.default_rng(3).permutation([40, 22, 21, 9, 9, 8, 8, 8, 5, 4, 3, 2, 2, 1, 1, 1, 0, 0, 30])
    assert len(stages(len(lengths))) > 1
    x, p, (h, c) = rows(lengths.tolist()), parameters(kind), states(len(lengths))
    want, last = run(kind, x, p, h, c)
    big = ra.testing.poison(ra.asarray(x, xp="jax", capacity=256))
    out, final = run(kind, big, p, h, c)
    close(out.values[: x.capacity], want.values)
    assert not out.values[x.capacity :].any()
    for a, b in zip(final, last, strict=True):
        close(a, b)


def weights(lengths: list[int]) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    return rng.standard_normal((16, H)).astype(np.float32), rng.standard_normal((2, len(lengths), H)).astype(np.float32)


def loss_of_rows(kind: str, lengths: list[int], reverse: bool = False) -> Any:
    """A loss of all outputs and final states, by a loop over rows."""
    w_out, w_last = weights(lengths)

    def loss(p: Any, values: Any, h: Any, c: Any) -> Any:
        total, start = jnp.float32(0), 0
        for i, n in enumerate(lengths):
            outs, *last = cell(kind, values[start : start + n], h[i], c[i], p, jnp, reverse)
            total += sum((jnp.sum(o * w) for o, w in zip(outs, w_out[start : start + n], strict=True)), jnp.float32(0))
            total += sum(jnp.sum(s * w[i]) for s, w in zip(last[: 1 + (kind == "lstm")], w_last, strict=False))
            start += n
        return total

    return loss


def ragged_loss(kind: str, nrows: int, reverse: bool = False, max_length: int | None = None) -> Any:
    w_out, w_last = weights([0] * nrows)

    def loss(p: Any, x: Any, h: Any, c: Any) -> Any:
        out, final = run(kind, x, p, h, c, reverse=reverse, max_length=max_length)
        # A weight that is NaN in slack makes the cotangent NaN there.
        weight = jnp.where(x.used_mask()[:, None], w_out[: x.capacity], jnp.nan)
        total = ra.sum(out * x.with_values(weight))
        return total + sum(jnp.sum(s * w) for s, w in zip(final, w_last, strict=False))

    return loss


@pytest.mark.parametrize(("kind", "reverse"), [("rnn", False), ("gru", True), ("lstm", False)])
def test_gradients(kind: str, reverse: bool) -> None:
    p = jax.tree.map(jnp.asarray, parameters(kind))
    grad = jax.jit(ra.grad(ragged_loss(kind, 5, reverse), (0, 1, 2, 3)))
    h, c = map(jnp.asarray, states(5))
    for lengths in LAYOUTS[:2]:
        x = ra.testing.poison(ra.asarray(rows(lengths), xp="jax", capacity=12))
        got = grad(p, x, h, c)
        used = sum(lengths)
        reference = jax.jit(jax.grad(loss_of_rows(kind, lengths, reverse), (0, 1, 2, 3)))
        want = reference(p, x.values[:used], h, c)
        for name in p:
            close(got[0][name], want[0][name], 1e-4)
        close(got[1].values[:used], want[1], 1e-4)
        assert not got[1].values[used:].any()
        close(got[2], want[2], 1e-4)
        close(got[3], want[3], 1e-4)


def test_gradients_over_stages() -> None:
    lengths = np.random.default_rng(3).permutation([9, 8, 3, 3, 2, 2, 1, 1, 1, 0, 4, 6]).tolist()
    x, p, (h, c) = rows(lengths), parameters("gru"), states(12)
    whole = ra.testing.poison(ra.asarray(x, xp="jax", capacity=48))

    def total(p: Any, x: Any) -> Any:
        out, final = run("gru", x, p, h, c)
        return ra.sum(out * out) + jnp.sum(final[0])

    got = jax.jit(ra.grad(total, (0, 1)))(p, whole)
    # By sums over single rows, which have one stage.
    one = jax.jit(
        ra.grad(lambda p, x, h: (lambda o: ra.sum(o[0] * o[0]) + jnp.sum(o[1][0]))(run("gru", x, p, h, h)), (0, 1))
    )
    parts = [one(p, ra.asarray(x[i : i + 1], xp="jax", capacity=12), h[i : i + 1]) for i in range(len(lengths))]
    for name in p:
        close(got[0][name], sum(part[0][name] for part in parts), 1e-4)
    slots = [part[1].values[:n] for part, n in zip(parts, lengths, strict=True)]
    close(got[1].values[: x.capacity], np.concatenate(slots), 1e-4)


def test_second_derivatives() -> None:
    lengths = [1, 0, 2]
    x = ra.asarray(rows(lengths), xp="jax", capacity=4)
    h, c = map(jnp.asarray, states(3))
    p, v = (jax.tree.map(jnp.asarray, parameters("rnn", seed)) for seed in (0, 5))

    def product(loss: Any) -> Any:
        """The Hessian times ``v``."""
        return jax.grad(lambda p: sum(jnp.vdot(a, v[k]) for k, a in jax.grad(loss)(p).items()))

    ours, loop = ragged_loss("rnn", 3, max_length=3), loss_of_rows("rnn", lengths)
    got = jax.jit(product(lambda p: ours(p, x, h, c)))(p)
    want = jax.jit(product(lambda p: loop(p, x.values[:3], h, c)))(p)
    for name in p:
        close(got[name], want[name], 1e-4)


def test_one_program_for_all_lengths() -> None:
    f = ra.testing.count_traces(lambda x, p, h, c: run("lstm", x, p, h, c))
    step, p = jax.jit(f), parameters("lstm")
    for seed in range(20):
        lengths = np.random.default_rng(seed).multinomial(seed, [0.2] * 5).tolist()
        x = rows(lengths)
        out, _ = step(ra.testing.poison(ra.asarray(x, xp="jax", capacity=24)), p, *states(5))
        close(out.values[: sum(lengths)], run("lstm", x, p, *states(5))[0].values)
    assert f.count == 1


def test_ensemble_and_checkpoint() -> None:
    x = ra.testing.poison(ra.asarray(rows(LAYOUTS[0]), xp="jax", capacity=12))
    h, c = states(5)
    members = [parameters("rnn", seed) for seed in (0, 1)]
    stacked = jax.tree.map(lambda *a: jnp.stack(a), *members)
    loss = ragged_loss("rnn", 5)
    values, grads = jax.jit(jax.vmap(jax.value_and_grad(jax.checkpoint(loss)), in_axes=(0, None, None, None)))(
        stacked, x, h, c
    )
    alone = jax.jit(jax.value_and_grad(loss))
    for i, p in enumerate(members):
        value, grad = alone(p, x, h, c)
        close(values[i], value)
        for name in p:
            close(grads[name][i], grad[name], 1e-4)


def test_layers_inside_scan_and_shard_map() -> None:
    x = ra.testing.poison(ra.asarray(rows(LAYOUTS[0], inner=(H,)), xp="jax", capacity=12))
    rng = np.random.default_rng(0)
    w_ih, w_hh = (rng.uniform(-1, 1, (2, H, H)).astype(np.float32) for _ in range(2))

    def deep(x: Any, w_ih: Any, w_hh: Any) -> Any:
        def layer(values: Any, w: Any) -> Any:
            return ra.nn.rnn(x.with_values(values), *w)[0].values, None

        return jax.lax.scan(layer, x.values, (w_ih, w_hh))[0]

    host = rows(LAYOUTS[0], inner=(H,))
    want = ra.nn.rnn(ra.nn.rnn(host, w_ih[0], w_hh[0])[0], w_ih[1], w_hh[1])[0].values
    close(jax.jit(deep)(x, w_ih, w_hh)[:9], want)
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec, same = jax.sharding.PartitionSpec("i"), jax.sharding.PartitionSpec()
    one = jax.tree.map(lambda a: a[None], x)

    def loss(w: Any, shard: Any) -> Any:
        x = jax.tree.map(lambda a: a[0], shard)
        return jax.lax.psum(ra.sum(ra.nn.rnn(x, w, w_hh[0])[0]), "i")

    spread = jax.shard_map(jax.grad(loss), mesh=mesh, in_specs=(same, spec), out_specs=same)
    want = jax.jit(jax.grad(lambda w: ra.sum(ra.nn.rnn(x, w, w_hh[0])[0])))(w_ih[0])
    close(jax.jit(spread)(w_ih[0], one), want, 1e-4)


def test_max_length() -> None:
    x, p = rows(LAYOUTS[0]), parameters("gru")
    text = "nn.gru: expected a length of at least 5, got 4. Pass a larger `max_length=`."
    call = lambda x, **o: ra.nn.gru(x, p["w_ih"], p["w_hh"], **o)  # noqa: E731
    want, _ = call(x)
    close(call(x, max_length=5)[0].values, want.values)
    j = ra.asarray(x, xp="jax", capacity=12)
    for y in (x, j):
        with pytest.raises(ValueError) as caught:
            call(y, max_length=4)
        assert str(caught.value) == text
    with pytest.raises(ValueError) as caught:
        ra.checked(lambda x: call(x, max_length=4)[1])(j)
    assert str(caught.value) == text
    out, last = jax.jit(lambda x: call(x, max_length=4))(j)
    assert np.isnan(out.values).all() and np.isnan(last).all()
    out, last = jax.jit(lambda x: call(x, max_length=5))(j)
    close(out.values[:9], want.values)
    for f in (lambda x: ra.nn.linear_recurrence(0.5, x, max_length=4).values,
              lambda x: ra.nn.scan(lambda c, v: (c + v, v), jnp.zeros((5, 2)), x, max_length=4)[1].values):  # fmt: skip
        assert np.isnan(jax.jit(f)(j)).all()


def test_defaults_and_shapes() -> None:
    x, p = rows(LAYOUTS[0]), parameters("lstm")
    zero, k = np.zeros((5, H), np.float32), np.zeros(4 * H, np.float32)
    plain, (last, memory) = ra.nn.lstm(x, p["w_ih"], p["w_hh"])
    full, _ = ra.nn.lstm(x, p["w_ih"], p["w_hh"], (k, k), initial=(zero, zero))
    close(plain.values, full.values)
    assert last.shape == memory.shape == (5, H)
    one, _ = ra.nn.lstm(x, p["w_ih"], p["w_hh"], p["b_ih"] + p["b_hh"])
    pair, _ = ra.nn.lstm(x, p["w_ih"], p["w_hh"], (p["b_ih"], p["b_hh"]))
    close(one.values, pair.values)
    for nothing in (rows([]), rows([0, 0])):
        for y in (nothing, ra.asarray(nothing, xp="jax", capacity=0), ra.asarray(nothing, xp="jax", capacity=3)):
            out, (last, _) = ra.nn.lstm(y, p["w_ih"], p["w_hh"])
            assert out.shape == (y.nrows, None, H) and out.capacity == y.used_values().capacity
            assert last.shape == (y.nrows, H) and not np.asarray(last).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_dtypes(dtype: str) -> None:
    x, p = rows(LAYOUTS[0]), parameters("gru")
    want, last = ra.nn.gru(x, p["w_ih"], p["w_hh"], p["b_ih"])
    for y in (x, ra.asarray(x, xp="jax")) if dtype != "float64" else (x,):
        low = [
            ra.astype(a, y.kernels.dtype(dtype))
            for a in (y, *(y.kernels.asarray(p[n]) for n in ("w_ih", "w_hh", "b_ih")))
        ]
        got, final = ra.nn.gru(*low)
        assert str(got.dtype) == str(final.dtype) == dtype
        close(np.asarray(got.values[:9], np.float32), want.values, 3e-2)
        close(np.asarray(final, np.float32), last, 3e-2)


NESTED = ra.from_nested_row_lengths(
    np.random.default_rng(4).uniform(-1, 1, (9, D)).astype(np.float32), [np.array([2, 0, 3]), np.array([3, 0, 1, 4, 1])]
)


def test_nested_rows(way: Way) -> None:
    p, x = parameters("gru"), NESTED
    flat = ra.merge_dims(x, 0, 1)
    inner = np.random.default_rng(5).uniform(-1, 1, (5, H)).astype(np.float32)
    initial = ra.from_row_lengths(inner, np.array([2, 0, 3], dtype=np.int32))
    want, last = ra.nn.gru(flat, p["w_ih"], p["w_hh"], initial=inner)
    args = (way.arrays(x), way.dense(p["w_ih"]), way.dense(p["w_hh"]), way.arrays(initial))
    out, final = way.run("nested", lambda x, a, b, i: ra.nn.gru(x, a, b, initial=i), *args)
    assert out.shape == (3, None, None, H) and final.shape == (3, None, H)
    close(host(out.values)[:9], want.values)
    close(host(final.values)[:5], last)
    if way.name in ("numpy", "jax-jit"):
        carry, ys = way.run(
            "nested scan", lambda x, i: ra.nn.scan(lambda c, v: (c + v[:, :1], c), i, x, axis=2), args[0], args[3]
        )
        assert carry.shape == (3, None, H) and ys.shape == (3, None, None, H)
        sums = ra.sum(flat, axis=1)[:, :1] + inner
        close(host(carry.values)[:5], sums)
        h = way.run("nested linear", lambda x: ra.nn.linear_recurrence(1.0, x), args[0])
        close(host(h.values)[:9], ra.cumulative_sum(flat, axis=1).values)


def test_uniform_rows_between() -> None:
    x = ra.ragged([[[1.0], [2.0, 3.0]], [[], [4.0]]], item_shape=None)
    y = ra.RaggedArray(x.values[:, None], (ra.UniformPartition(2, 2), ra.RowPartition(x.partitions[-1].splits)))
    one = np.ones((1, 1))
    _, last = ra.nn.rnn(y, one, one, initial=np.full((2, 2, 1), 0.5))
    assert last.shape == (2, 2, 1) and last[1, 0, 0] == 0.5
    close(last[0, 0, 0], np.tanh(1.5))


def linear_oracle(a: np.ndarray, b: np.ndarray, h: Any, reverse: bool) -> np.ndarray:
    out = np.zeros_like(b)
    for t in range(len(b))[:: -1 if reverse else 1]:
        h = out[t] = a[t] * h + b[t]
    return out


@pytest.mark.parametrize("reverse", [False, True])
def test_linear_recurrence(way: Way, reverse: bool) -> None:
    start = states(5)[0][:, :D]
    for lengths in LAYOUTS:
        a, b = rows(lengths, 3), rows(lengths, 4)
        args = [way.arrays(v) for v in (a, b, start)]
        f = lambda a, b, h: ra.nn.linear_recurrence(a, b, initial=h, reverse=reverse)  # noqa: E731
        out = way.run(("linear", reverse), f, *args)
        for i, (u, v) in enumerate(zip(a.unbind(), b.unbind(), strict=True)):
            close(dense_rows(out)[i], linear_oracle(u, v, start[i], reverse))
    for coefficient in () if way.name == "jax-eager" else (0.5, np.array([0.5, -1.0], np.float32)):
        a = coefficient if way.jax else way.dense(coefficient)
        g = lambda b, a=a: ra.nn.linear_recurrence(a, b, reverse=reverse)  # noqa: E731
        out = way.run(("linear", reverse, np.ndim(coefficient)), g, args[1])
        for i, v in enumerate(b.unbind()):
            close(dense_rows(out)[i], linear_oracle(np.broadcast_to(coefficient, v.shape), v, 0, reverse))


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_linear_recurrence_over_blocks(dtype: str) -> None:
    """Enough slots for blocks of blocks; gradients against a loop; nothing crosses rows."""
    lengths = [700, 0, 1, 33, 31, 500, 64]
    size, rng = sum(lengths), np.random.default_rng(0)
    parts = [rng.uniform(0.5, 1.0, (2, size, 1)), rng.standard_normal((2, size, 1))]
    a, b = ((u[0] + 1j * u[1] * 0.1 if dtype == "complex64" else u[0]).astype(dtype) for u in parts)
    h = rng.standard_normal((7, 1)).astype(dtype)
    splits = np.concatenate(([0], np.cumsum(lengths)))
    x, y = (ra.testing.poison(ra.asarray(ra.from_row_splits(v, splits), xp="jax", capacity=1400)) for v in (a, b))
    weight = np.concatenate((rng.standard_normal((size, 1)), np.full((1400 - size, 1), np.nan))).astype(np.float32)

    def loss(x: Any, y: Any, h: Any) -> Any:
        out = ra.nn.linear_recurrence(x, y, initial=h)
        return ra.sum(ra.real(out * out * out.with_values(jnp.asarray(weight, dtype)))), out

    ((_, out), grads) = jax.jit(ra.value_and_grad(loss, (0, 1, 2), has_aux=True))(x, y, jnp.asarray(h))
    wide = np.complex128 if dtype == "complex64" else np.float64
    da, db, dh = np.zeros_like(a), np.zeros_like(b), np.zeros_like(h)
    for i, (s, e) in enumerate(pairwise(splits)):
        want = linear_oracle(a[s:e], b[s:e].astype(wide), h[i], False)
        close(out.values[s:e], want, 1e-4)
        back = linear_oracle(np.roll(a[s:e], -1, 0), 2 * weight[s:e] * want, 0, True)
        before = np.concatenate((h[i][None], want))[:-1] if e > s else want
        da[s:e], db[s:e], dh[i] = back * before, back, (back[0] * a[s] if e > s else 0)
    for got, want in ((grads[0].values, da), (grads[1].values, db)):
        close(got[:size], want, 1e-3)
        assert not got[size:].any()
    close(grads[2], dh, 1e-3)
    if dtype == "float32":
        bad = jax.jit(lambda x, y: ra.nn.linear_recurrence(x, y).values)(x, y.with_values(y.values.at[3].set(jnp.inf)))
        assert np.isfinite(bad[700:size]).all() and not np.isfinite(bad[699])


def test_linear_recurrence_of_empty_rows_has_a_gradient() -> None:
    x = ra.testing.poison(ra.asarray(rows([0, 0]), xp="jax", capacity=3))
    grad = jax.jit(ra.grad(lambda x, h: ra.sum(ra.nn.linear_recurrence(x, x, initial=h)), (0, 1)))
    for g in jax.tree.leaves([v.values if isinstance(v, RaggedArray) else v for v in grad(x, jnp.ones((2, D)))]):
        assert not g.any()


def test_linear_recurrence_second_derivative() -> None:
    x, y = (ra.asarray(rows([3, 0, 2], s, inner=()), xp="jax", capacity=5) for s in (0, 1))

    def f(v: Any) -> Any:
        return jnp.sum(ra.nn.linear_recurrence(x.with_values(v), y).values ** 2)

    def loop(v: Any) -> Any:
        h, total = 0.0, 0.0
        for t in range(5):
            h = v[t] * (0.0 if t in (0, 3) else h) + y.values[t]
            total += h**2
        return total

    second = lambda g: jax.jacrev(jax.grad(g))  # noqa: E731
    close(jax.jit(second(f))(x.values), second(loop)(x.values), 1e-4)


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(way: Way, reverse: bool) -> None:
    """A carry and outputs of several arrays, of two arrays of equal rows, one of them of integers."""

    def f(carry: Any, now: Any) -> Any:
        v, i = now["v"], now["i"]
        total = carry["total"] + v * carry["scale"][:, None]
        return {"total": total, "scale": -carry["scale"]}, (total, i + 1)

    for lengths in LAYOUTS[: 1 if way.name == "jax-eager" else None]:  # every call compiles
        x, i = rows(lengths), ra.astype(rows(lengths, 6, ()), np.int32)
        init = {"total": states(5)[0][:, :D], "scale": np.ones(5, np.float32)}
        args = {"v": way.arrays(x), "i": way.arrays(i)}, {k: way.dense(v) for k, v in init.items()}
        carry, (total, plus) = way.run(("scan", reverse), lambda x, c: ra.nn.scan(f, c, x, reverse=reverse), *args)
        assert plus.dtype == args[0]["i"].dtype
        for r, (v, j) in enumerate(zip(x.unbind(), i.unbind(), strict=True)):
            c, outs = (init["total"][r], 1.0), []
            for t in range(len(v))[:: -1 if reverse else 1]:
                c = (c[0] + v[t] * c[1], -c[1])
                outs.append(c[0])
            close(dense_rows(total)[r], np.array(outs[:: -1 if reverse else 1]).reshape(-1, D))
            close(host(carry["total"])[r], c[0])
            close(host(carry["scale"])[r], c[1])
            np.testing.assert_array_equal(dense_rows(plus)[r], j + 1)


def test_scan_is_differentiated_in_every_mode() -> None:
    """An own cell gives what `rnn` gives, and so do its gradients, reverse and forward."""
    p, (h, _) = parameters("rnn"), states(5)
    x = ra.testing.poison(ra.asarray(rows(LAYOUTS[0]), xp="jax", capacity=12))

    def by_scan(p: Any, h: Any) -> Any:
        def step(h: Any, v: Any) -> Any:
            h = jnp.tanh(v @ p["w_ih"] + h @ p["w_hh"] + (p["b_ih"] + p["b_hh"])[None])
            return h, h

        last, out = ra.nn.scan(step, h, x, max_length=6)
        return ra.sum(out * out) + jnp.sum(last)

    def by_layer(p: Any, h: Any) -> Any:
        out, (last,) = run("rnn", x, p, h, h)
        return ra.sum(out * out) + jnp.sum(last)

    value, got = jax.jit(jax.value_and_grad(by_scan, (0, 1)))(p, h)
    want_value, want = jax.jit(jax.value_and_grad(by_layer, (0, 1)))(p, h)
    close(value, want_value)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        close(a, b, 1e-4)
    ones = jax.tree.map(jnp.ones_like, h)
    _, tangent = jax.jit(lambda h: jax.jvp(lambda h: by_scan(p, h), (h,), (ones,)))(h)
    close(tangent, jnp.sum(want[1]), 1e-4)


def test_scan_stops_gradients_where_rows_end() -> None:
    """The root has no slope at 0, which the first row reaches at its end, but never leaves."""
    x = ra.asarray(ra.ragged([[1.0], [0.5, 0.25], []]), xp="jax", capacity=4)

    def total(v: Any) -> Any:
        def step(left: Any, now: Any) -> Any:
            root = jnp.sqrt(left)
            return left - now, root

        left, roots = ra.nn.scan(step, jnp.ones(3), x.with_values(v))
        return jnp.sum(left) + ra.sum(roots)

    close(jax.jit(jax.grad(total))(x.values), [-1, -1 - 0.5 * 2**0.5, -1, 0])


JAX_ROWS = ra.asarray(rows([1, 2]), xp="jax")
W, U = np.ones((2, 3)), np.ones((3, 3))


@pytest.mark.parametrize("xp", ["numpy", "jax"])
@pytest.mark.parametrize("dtype", ["bfloat16", "complex64"])
def test_linear_recurrence_with_integers(xp: str, dtype: str) -> None:
    """They are as weak as numbers."""
    b = ra.astype(ra.asarray(ra.ragged([[1.0, 2.0], [], [3.0]]), xp=xp), dtype)
    for a in (2, 2.0, np.array(2)):
        h = ra.nn.linear_recurrence(a, b)
        assert h.dtype == b.dtype
        assert h.tolist() == [[1.0, 4.0], [], [3.0]]


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda: ra.nn.rnn(np.ones((2, 2)), W, U), TypeError,
     "nn.rnn: expected a RaggedArray, got ndarray. Make one with `ra.ragged`."),
    (lambda: ra.nn.rnn(ra.ragged([np.ones((2, 3)), np.ones((1, 2))]), W, U), ValueError,
     "nn.rnn: expected rows along one ragged axis, got shape (2, None, None). "
     "Use `ra.to_rows`, or `ra.map_components`."),
    (lambda: ra.nn.rnn(rows([1, 2], inner=()), W, U), ValueError,
     "nn.rnn: expected rows of vectors, (nrows, None, D), got shape (2, None). Use one inner axis."),
    (lambda: ra.nn.gru(rows([1, 2]), W, U), ValueError,
     "nn.gru: expected w_hh of shape (H, 3 * H), got (3, 3). Transpose torch's weights."),
    (lambda: ra.nn.rnn(rows([1, 2]), W.T, U), ValueError,
     "nn.rnn: expected w_ih of shape (2, 3), got (3, 2). Check the axes."),
    (lambda: ra.nn.rnn(rows([1, 2]), W, U, np.ones(2)), ValueError,
     "nn.rnn: expected a bias of shape (3,), got (2,). Check the axes."),
    (lambda: ra.nn.rnn(rows([1, 2]), W, U, (np.ones(3),)), ValueError,
     "nn.rnn: expected one bias or a pair, got 1. Pass (input, hidden) biases, (h, c) states."),
    (lambda: ra.nn.lstm(rows([1, 2]), np.ones((2, 4)), np.ones((1, 4)), initial=(np.ones((2, 1)),)), ValueError,
     "nn.lstm: expected 2 initial states, got 1. Pass (input, hidden) biases, (h, c) states."),
    (lambda: ra.nn.rnn(rows([1, 2]), W, U, initial=np.ones(3)), ValueError,
     "nn.rnn: expected initial states for rows (2,), got shape (3,). Spread it with `broadcast_to`."),
    (lambda: ra.nn.rnn(rows([1, 2]), W, U, initial=np.ones((2, 2))), ValueError,
     "nn.rnn: expected initial states of size (3,), got (2,). As w_hh."),
    (lambda: ra.nn.rnn(rows([1, 2], dtype="int32"), W, U), TypeError,
     "nn.rnn: expected float arrays, got dtype int32. Convert it with `ra.astype`."),
    (lambda: ra.nn.rnn(NESTED, W, U, initial=np.ones((3, 3))), ValueError,
     "nn.rnn: expected initial states for rows (3, None), got shape (3, 3). Give each row its own."),
    (lambda: ra.nn.linear_recurrence(rows([2, 1]), rows([1, 2])), ValueError,
     "nn.linear_recurrence: expected equal row lengths along axis 1, got 1 and 2 at row 0. "
     "Align the rows first, or use `ra.to_padded`."),
    (lambda: ra.nn.linear_recurrence(rows([1, 2]), rows([1, 2], inner=())), ValueError,
     "nn.linear_recurrence: expected shapes that broadcast with (2, None, 2), got (2, None). "
     "Write `b[..., None]`, of shape (2, None, 1)."),
    (lambda: ra.nn.linear_recurrence(np.ones(2), rows([1, 2], inner=(1,))), ValueError,
     "nn.linear_recurrence: expected `a` that broadcasts to (2, None, 1), got (2,). Repeat `b` first."),
    (lambda: ra.nn.linear_recurrence(0.5, rows([1, 2]), initial=np.ones(2)), ValueError,
     "nn.linear_recurrence: expected initial states of shape (2,), got (). One item a row."),
    (lambda: ra.nn.scan(lambda c, v: (c, v), np.zeros(2), rows([1, 2]), axis=2), ValueError,
     "nn.scan: expected the innermost ragged axis, 1, got axis 2 of shape (2, None, 2). Rows run along that axis."),
    (lambda: ra.nn.scan(lambda c, v: (c, v), np.zeros(3), rows([1, 2])), ValueError,
     "nn.scan: expected a carry for rows (2,), got shape (3,). Spread it with `broadcast_to`."),
    (lambda: ra.nn.scan(lambda c, v: (c, v), 0.0, rows([1, 2])), TypeError,
     "nn.scan: expected a carry of arrays, got float. Give each row its own."),
    (lambda: ra.nn.scan(lambda c, v: (v[:, :1], v), np.zeros(2), rows([1, 2])), TypeError,
     "nn.scan: expected a carry of float64 (2,), got float32 (2, 1). Convert it, or `init`."),
    (lambda: ra.nn.scan(lambda c, v: ((c,), v), jnp.zeros(2), JAX_ROWS), TypeError,
     "nn.scan: expected a carry of structure PyTreeDef(*), got PyTreeDef((*,)). Keep the structure."),
    (lambda: ra.nn.scan(lambda c, v: (c, v.sum(0)), jnp.zeros(2), ra.asarray(rows([1, 2, 1]), xp="jax")), ValueError,
     "nn.scan: expected a carry for rows (3,), got shape (2,). Spread it with `broadcast_to`."),
    (lambda: ra.nn.scan(lambda c, v: (c, v[:1]), np.zeros(2), rows([1, 2])), ValueError,
     "nn.scan: expected outputs of 2 rows, got shape (1, 2). Keep the rows."),
    (lambda: ra.nn.scan(lambda c, v: (c, None), np.zeros(2), (rows([1, 2]), rows([2, 1]))), ValueError,
     "nn.scan: expected equal row lengths along axis 1, got 1 and 2 at row 0. "
     "Align the rows first, or use `ra.to_padded`."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), ERRORS, ids=[str(i) for i in range(len(ERRORS))])
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == text
