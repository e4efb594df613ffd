"""RaggedArrays inside JAX's transformations."""

import os
import pickle
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.experimental import checkify

import raggedarray as ra
from raggedarray import RaggedArray, ragged


def batch(lengths: list[int], seed: int = 0, capacity: int = 16, inner: tuple[int, ...] = ()) -> RaggedArray:
    rng = np.random.default_rng(seed)
    values = rng.uniform(0.5, 2.0, (sum(lengths), *inner)).astype(np.float32)
    return ra.testing.poison(ra.asarray(ra.from_row_lengths(values, np.array(lengths)), xp="jax", capacity=capacity))


MIXES = [[3, 0, 2], [0, 0, 0], [16, 0, 0], [1, 1, 1], [0, 5, 9]]


def model(params: dict[str, Any], x: RaggedArray) -> Any:
    h = ra.nn.relu(ra.nn.linear(x, params["w"], params["b"]))
    h = ra.nn.layer_norm(h, params["scale"])
    weight = ra.nn.softmax(ra.sum(h, axis=2), axis=1)
    weight = weight.map_values(lambda w: w[:, None])
    pooled = ra.sum(h * weight, axis=1)
    return jnp.sum(pooled**2) + jnp.sum(ra.sum(weight * weight, axis=1))


def parameters() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {"w": jnp.asarray(rng.standard_normal((4, 5)), jnp.float32), "b": jnp.ones(5), "scale": jnp.ones(5) * 2}


def test_one_trace_for_100_batches() -> None:
    f = ra.testing.count_traces(lambda p, x: jax.value_and_grad(model)(p, x))
    step = jax.jit(f)
    rng = np.random.default_rng(0)
    for seed in range(100):
        lengths = rng.multinomial(rng.integers(0, 16), [0.2, 0.5, 0.3]).tolist()
        loss, grads = step(parameters(), batch(lengths, seed, inner=(4,)))
        assert np.isfinite(loss)
        assert all(np.isfinite(g).all() for g in jax.tree.leaves(grads))
    assert f.count == 1


@pytest.mark.parametrize("fill", ["nan", "inf", "-inf"])
def test_slack_reaches_no_parameter(fill: str) -> None:
    step = jax.jit(jax.value_and_grad(model))
    for lengths in MIXES[:4]:
        clean = batch(lengths, inner=(4,))
        zero = clean.with_values(jnp.where(clean.used_mask()[:, None], clean.values, 0))
        want = step(parameters(), zero)
        got = step(parameters(), ra.testing.poison(clean, fill=fill))
        jax.tree.map(lambda a, b: np.testing.assert_array_equal(np.asarray(a), np.asarray(b)), got, want)


def chain(name: str, p: Any, x: RaggedArray) -> Any:
    unstable = {"sqrt": ra.sqrt, "log": ra.log, "norm": lambda h: ra.sqrt(ra.square(h)), "reciprocal": ra.reciprocal}
    h = unstable[name](ra.nn.linear(x, ra_abs(p["w"]), ra_abs(p["b"])) * p["row"][:, None, None] + p["one"])
    return jnp.sum(jnp.where(jnp.arange(3)[:, None] >= 0, ra.sum(ra.nn.softmax(h, axis=1) * h, axis=1), 0))


def ra_abs(a: Any) -> Any:
    return jnp.abs(a) + 0.1


@pytest.mark.parametrize("name", ["sqrt", "log", "norm", "reciprocal"])
def test_unstable_functions_after_a_product(name: str) -> None:
    p = {"w": parameters()["w"], "b": jnp.ones(5), "row": jnp.array([1.0, 2.0, 3.0]), "one": jnp.float32(0.5)}
    x = batch([3, 0, 2], inner=(4,))
    for transform in (jax.grad, lambda f: jax.jacfwd(f)):
        for fill in ("nan", "inf"):
            grads = transform(lambda p, x: chain(name, p, x))(p, ra.testing.poison(x, fill=fill))
            assert all(np.isfinite(g).all() for g in jax.tree.leaves(grads))
    zero = x.with_values(jnp.where(x.used_mask()[:, None], x.values, 1.0))
    want = jax.grad(lambda p: chain(name, p, zero))(p)
    got = jax.grad(lambda p: chain(name, p, x))(p)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), got, want)


def test_gradient_of_a_table() -> None:
    ids = ra.testing.poison(ra.asarray(ragged([[0, 2, 2], [], [1]]), xp="jax", capacity=9))
    table = jnp.arange(8.0).reshape(4, 2)
    grad = jax.jit(jax.grad(lambda t: jnp.sum(ra.sum(ra.sqrt(ra.nn.embedding(ids, t) + 1), axis=1))))(table)
    want = jax.grad(lambda t: jnp.sum(jnp.sqrt(t[jnp.array([0, 2, 2, 1])] + 1)))(table)
    np.testing.assert_allclose(grad, want, rtol=1e-6)


def test_bad_ids_give_nan_under_jit_and_raise_eagerly() -> None:
    ids = ra.asarray(ragged([[0, 5], [-1]]), xp="jax", capacity=4)
    out = jax.jit(lambda i: ra.nn.embedding(i, jnp.ones((3, 2))))(ids)
    assert np.isnan(np.asarray(out.values[1:3])).all() and np.isfinite(np.asarray(out.values[0])).all()
    with pytest.raises(IndexError, match=r"^nn.embedding: expected ids from 0 to 2, got 5 at slot 1. "):
        ra.nn.embedding(ids, jnp.ones((3, 2)))


def second(f: Any, x: RaggedArray) -> Any:
    """Second derivatives in every mode, on the used slots."""
    n = int(x.row_splits[-1])
    g = lambda v: f(RaggedArray(jnp.concatenate((v, jnp.full((x.capacity - n, *v.shape[1:]), jnp.nan))), x.partitions))  # noqa: E731
    v = x.values[:n]
    return [jax.jacfwd(jax.jacrev(g))(v), jax.jacrev(jax.jacrev(g))(v), jax.jacrev(jax.jacfwd(g))(v)]


CURVED: dict[str, Any] = {
    "prod": (lambda x: jnp.sum(ra.prod(x, axis=1) ** 2), lambda r: jnp.prod(r) ** 2),
    "softmax": (
        lambda x: jnp.sum(ra.sum(ra.nn.softmax(x) ** 2, axis=1)),
        lambda r: jnp.sum(jax.nn.softmax(r) ** 2),
    ),
    "log_softmax": (
        lambda x: jnp.sum(ra.sum(ra.nn.log_softmax(x) ** 2, axis=1)),
        lambda r: jnp.sum(jax.nn.log_softmax(r) ** 2),
    ),
}


@pytest.mark.parametrize("name", CURVED)
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_second_derivatives(name: str, zeros: int) -> None:
    ours, dense = CURVED[name]
    x = batch([3, 0, 2])
    values = np.array(x.values)
    values[:zeros] = 0
    x = x.with_values(jnp.asarray(values))
    rows = [jnp.asarray(values[:3]), jnp.asarray(values[3:5])]
    want = np.zeros((5, 5))
    want[:3, :3], want[3:, 3:] = jax.hessian(dense)(rows[0]), jax.hessian(dense)(rows[1])
    for got in second(ours, x):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


def test_second_derivatives_of_linear_and_embedding() -> None:
    x = batch([3, 0, 2], inner=(4,))
    p = {"w": parameters()["w"], "b": jnp.ones(5)}
    loss = lambda p, x: jnp.sum(ra.sum(ra.tanh(ra.nn.linear(x, p["w"], p["b"])), axis=1) ** 2)  # noqa: E731
    zero = x.with_values(jnp.where(x.used_mask()[:, None], x.values, 0))
    for transform in (jax.hessian, lambda f: jax.jacrev(jax.jacrev(f))):
        got, want = transform(loss)(p, x), transform(loss)(p, zero)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), got, want)
        assert all(np.isfinite(g).all() for g in jax.tree.leaves(got))
    ids = ra.testing.poison(ra.asarray(ragged([[0, 2], [1]]), xp="jax", capacity=5))
    hess = jax.hessian(lambda t: jnp.sum(ra.sum(ra.nn.embedding(ids, t) ** 3, axis=1)))(jnp.ones((4, 2)))
    assert np.isfinite(hess).all()


def test_jvp() -> None:
    x = batch([3, 0, 2])
    tangent = jnp.where(x.used_mask(), 1.0, jnp.nan)
    out, dout = jax.jvp(lambda v: ra.prod(x.with_values(v), axis=1), (x.values,), (tangent,))
    assert np.isfinite(out).all() and np.isfinite(dout).all()


def test_tree_map_and_unflatten_of_anything() -> None:
    x = batch([3, 0, 2])
    double = jax.tree.map(lambda a: a * 2, x)
    np.testing.assert_array_equal(double.row_splits, x.row_splits * 2)
    leaves, structure = jax.tree.flatten(x)
    for leaf in (None, object(), np.zeros((), jax.dtypes.float0)):
        rebuilt = jax.tree.unflatten(structure, [leaf] * len(leaves))
        assert "RaggedArray(" in repr(rebuilt)
    paths = [jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_leaves_with_path(x)]
    assert paths == [".values", ".partitions[0].splits"]


def test_structure_does_not_depend_on_data() -> None:
    assert jax.tree.structure(batch([2, 2, 2])) == jax.tree.structure(batch([3, 0, 2]))


def stack(xs: list[RaggedArray]) -> RaggedArray:
    return jax.tree.map(lambda *a: jnp.stack(a), *xs)


def test_vmap_over_a_stack() -> None:
    xs = [batch(lengths, seed) for seed, lengths in enumerate(MIXES)]
    got = jax.vmap(lambda x: ra.sum(ra.nn.softmax(x * 2) * x, axis=1))(stack(xs))
    for row, x in zip(got, xs, strict=True):
        np.testing.assert_allclose(row, ra.sum(ra.nn.softmax(x * 2) * x, axis=1), rtol=1e-5)
    grads = jax.vmap(ra.grad(lambda x: ra.sum(ra.prod(x, axis=1))))(stack(xs))
    for values, x in zip(grads.values, xs, strict=True):
        np.testing.assert_allclose(values, ra.grad(lambda x: ra.sum(ra.prod(x, axis=1)))(x).values, rtol=1e-5)


def test_vmap_of_linear_over_weights() -> None:
    x, w = batch([3, 0, 2], inner=(4,)), jnp.stack([parameters()["w"]] * 3)
    got = jax.vmap(jax.grad(lambda w: jnp.sum(ra.sum(ra.nn.linear(x, w), axis=1) ** 2)))(w)
    assert np.isfinite(got).all()


def test_scan_carries_one() -> None:
    x = batch([3, 0, 2])

    def body(carry: RaggedArray, s: Any) -> tuple[RaggedArray, Any]:
        carry = ra.tanh(carry * s)
        return carry, ra.sum(carry, axis=1)

    out, sums = jax.lax.scan(body, x, jnp.ones(4))
    want = x
    for _ in range(4):
        want = ra.tanh(want)
    np.testing.assert_allclose(sums[-1], ra.sum(want, axis=1), rtol=1e-5)
    assert out.shape == x.shape


def test_eval_shape() -> None:
    shaped = jax.eval_shape(lambda x: ra.nn.softmax(x), batch([3, 0, 2]))
    assert shaped.values.shape == (16,) and shaped.shape == (3, None)


def test_checkpoint() -> None:
    x = batch([3, 0, 2], inner=(4,))
    plain, saved = jax.grad(model)(parameters(), x), jax.grad(jax.checkpoint(model))(parameters(), x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), saved, plain)


def test_donation() -> None:
    x = batch([3, 0, 2])
    step = jax.jit(lambda x: ra.exp(x), donate_argnums=0)
    out = step(x)
    assert x.values.is_deleted() and out.shape == (3, None)


def test_device_put() -> None:
    x = jax.device_put(batch([3, 0, 2]), jax.devices()[0])
    assert ra.sum(x, axis=1).shape == (3,)


def test_export_at_fixed_capacity() -> None:
    x = batch([3, 0, 2])
    exported = jax.export.export(jax.jit(lambda x: ra.sum(x, axis=1)))(x)
    for lengths in MIXES:
        y = batch(lengths)
        np.testing.assert_allclose(exported.call(y), ra.sum(y, axis=1), rtol=1e-6)


def test_a_ragged_parameter_trains() -> None:
    x = batch([3, 0, 2])
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.1))

    @jax.jit
    def step(values: Any, state: Any) -> tuple[Any, Any, Any]:
        loss, grads = jax.value_and_grad(lambda v: ra.sum(ra.square(ra.log(x.with_values(v)))))(values)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(values, updates), state, loss

    values, state = x.values, optimizer.init(x.values)
    losses = []
    for _ in range(60):
        values, state, loss = step(values, state)
        losses.append(float(loss))
    assert losses[-1] < 0.02 * losses[0]
    np.testing.assert_array_equal(x.with_values(values).row_splits, x.row_splits)


def test_index_checks_are_clean() -> None:
    n = ra.testing.poison(ra.asarray(ragged([[[1.0, 2.0], []], [[3.0]], []]), xp="jax", capacity=(7, 9)))
    ids = ra.testing.poison(ra.asarray(ragged([[0, 2, 2], [], [1]]), xp="jax", capacity=9))

    def everything(n: RaggedArray, ids: RaggedArray, rows: Any, table: Any) -> Any:
        out = [ra.sum(n, axis=a, length=4 if a == 0 else None) for a in range(3)]
        out += [ra.nn.softmax(n, axis=a) for a in range(3)]
        out += [
            ra.prod(n, axis=2),
            n * rows[:, None, None],
            ra.nn.embedding(ids, table),
            ra.to_padded(n, length=(3, 4)),
        ]
        out += [
            ra.take(n, rows.astype(int), capacity=(7, 9)),
            ra.from_padded(ra.to_padded(ids, length=4), lengths=rows),
        ]
        return out

    checked = checkify.checkify(everything, errors=checkify.index_checks)
    for x, i in ((n, ids), (ra.compact(n), ra.compact(ids))):
        error, _ = jax.jit(checked)(x, i, jnp.array([2, 0, 1]), jnp.ones((3, 2)))
        assert error.get() is None


def test_row_ids_are_built_once() -> None:
    def three(x: RaggedArray) -> Any:
        return ra.sum(x, axis=1), ra.max(x, axis=1), jax.jit(lambda y: ra.sum(y * y, axis=1))(x)

    text = jax.jit(three).lower(batch([3, 0, 2])).compile().as_text()
    assert sum(" scatter(" in line for line in text.splitlines()) == 4, "one for the ids, one a reduction"


def test_captured_splits_are_read_on_the_host() -> None:
    x = batch([3, 0, 2])
    text = str(jax.make_jaxpr(lambda v: ra.sum(x.with_values(v), axis=1))(x.values))
    assert text.count("scatter-add[") == 1


def test_eager_ops_compile_once_a_bucket() -> None:
    count = 0

    def listen(event: str, duration: float, **kwargs: Any) -> None:
        nonlocal count
        count += event == "/jax/core/compile/backend_compile_duration"

    data = [batch(mix, seed) for seed in range(10) for mix in MIXES]
    jax.monitoring.register_event_duration_secs_listener(listen)
    jax.clear_caches()
    ops = (ra.exp, lambda x: x * 2.5, lambda x: ra.sum(x, axis=1), ra.nn.softmax, lambda x: ra.mean(x * x))
    for x in data:
        for f in ops:
            f(x)
    assert count == 6, "one program an op, two for the last"


@pytest.mark.parametrize("x64", [False, True])
def test_with_and_without_x64(x64: bool) -> None:
    with jax.enable_x64(x64):
        x = ra.asarray(ragged([[1, 2], [3]]), xp="jax")
        assert str(ra.sum(x, axis=1).dtype) == ("int64" if x64 else "int32")
        assert str(x.row_splits.dtype) == "int32"
        assert str(ra.mean(x, axis=1).dtype) == ("float64" if x64 else "float32")
        np.testing.assert_array_equal(ra.sum(x, axis=1), [3, 3])


def test_splits_that_do_not_fit() -> None:
    wide = np.array([0, 2**31 + 8], dtype=np.int64)
    values = np.broadcast_to(np.int8(0), (2**31 + 8,))
    x = ra.from_row_splits(values, wide)
    for move in (
        lambda: ra.engine.broadcast.rows.move_to(ra.backends.backend("jax"), x),
        lambda: ra.backends.backend("jax").index(wide),
    ):
        with pytest.raises(
            OverflowError, match=r"^index: expected integers up to 2147483647 on JAX without x64, got 214748365"
        ):
            move()
    with pytest.raises(OverflowError, match=r"^row_ids: expected a capacity up to 2147483647, got 2147483656"):
        jax.eval_shape(lambda x: ra.sum(x, axis=1), x)


SHARDED = """
import jax, jax.numpy as jnp, numpy as np, raggedarray as ra
from jax.sharding import PartitionSpec as P
mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
xs = [ra.testing.poison(ra.asarray(ra.ragged([[1.0 * d] * d, [], [2.0]]), xp="jax", capacity=8)) for d in range(4)]
stacked = jax.tree.map(lambda *a: jnp.stack(a), *xs)
def local(x):
    x = jax.tree.map(lambda a: a[0], x)
    return jax.lax.psum(ra.sum(ra.nn.softmax(x) * x, axis=1), "d")
f = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=P("d"), out_specs=P()))
want = sum(np.asarray(ra.sum(ra.nn.softmax(x) * x, axis=1)) for x in xs)
np.testing.assert_allclose(f(stacked), want, rtol=1e-5)
g = jax.jit(jax.shard_map(jax.grad(lambda w, x: jnp.sum(ra.sum(jax.tree.map(lambda a: a[0], x) * w, axis=1))),
    mesh=mesh, in_specs=(P(), P("d")), out_specs=P()))
np.testing.assert_allclose(g(jnp.float32(2.0), stacked), sum(float(ra.sum(x)) for x in xs), rtol=1e-5)
print("sharded")
"""

QUIET = """
import jax, sys
before = {k: getattr(jax.config, k) for k in ("jax_enable_x64", "jax_platforms", "jax_numpy_rank_promotion")}
import raggedarray
from jax._src import xla_bridge
assert not xla_bridge._backends, "importing started a backend"
assert before == {k: getattr(jax.config, k) for k in before}
assert "hypothesis" not in sys.modules and "pytest" not in sys.modules
print("quiet")
"""


@pytest.mark.parametrize(("code", "says"), [(SHARDED, "sharded"), (QUIET, "quiet")])
def test_in_a_new_process(code: str, says: str) -> None:
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | flags, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == says


def test_overflow_under_plain_jit() -> None:
    x = batch([3, 0, 2])
    small = jax.jit(lambda x: ra.with_capacity(x, 4))(x)
    assert np.isnan(small.values).all() and small.overflow and int(small.row_splits[-1]) == 5
    assert np.isnan(jax.jit(lambda x: ra.to_padded(x, length=2))(x)).all()
    assert np.isnan(jax.jit(lambda x: ra.sum(x, axis=0, length=2))(x)).all()
    assert np.isnan(jax.jit(lambda x, i: ra.take(x, i, capacity=4))(x, jnp.array([0, 0])).values).all()
    for f in (
        lambda x: ra.with_capacity(x, 4),
        lambda x: ra.to_padded(x, length=2),
        lambda x: ra.sum(x, axis=0, length=2),
        lambda x: ra.take(x, jnp.array([0, 0]), capacity=4),
    ):
        with pytest.raises(
            ValueError, match=r"^\w+: expected (a length|capacity) of at least \d, got \d. Pass a larger"
        ):
            ra.checked(f)(x)


def test_checked_passes_valid_data_and_composes() -> None:
    x = batch([3, 0, 2])
    other = ra.from_row_splits(x.values, jnp.array([0, 3, 3, 5]))
    f = ra.checked(lambda x, y: ra.grad(lambda x: ra.sum(x * y))(x))
    np.testing.assert_allclose(f(x, other).values[:5], x.values[:5])
    with pytest.raises(ValueError, match=r"^multiply: expected equal row lengths along axis 1, got 3 and 1 at row 0. "):
        f(x, ra.from_row_splits(x.values, jnp.array([0, 1, 3, 5])))


def test_the_flag_reaches_functions_jitted_before() -> None:
    inner = jax.jit(lambda x, y: ra.sum(x + y))
    x, y = batch([3, 0, 2]), batch([2, 1, 2])
    inner(x, x)
    with pytest.raises(ValueError, match="equal row lengths"):
        ra.checked(lambda x, y: inner(x, y))(x, y)
    inner(x, x)


def test_traced_partitions_that_differ_in_capacity() -> None:
    x, y = batch([3, 0, 2]), batch([3, 0, 2], seed=1, capacity=9)
    for f in (lambda x, y: x + y, lambda x, y: y + x):
        got = jax.jit(f)(x, y)
        assert got.capacity == 9
        np.testing.assert_allclose(got.values[:5], x.values[:5] + y.values[:5], rtol=1e-6)


def test_pickle() -> None:
    for x in (batch([3, 0, 2]), ragged([[1, 2], []]), ragged([[[1], []], []])):
        back = pickle.loads(pickle.dumps(x))
        assert ra.array_equal(back, x)


@pytest.mark.parametrize("fill", ["nan", "inf", "-inf"])
def test_second_derivatives_with_respect_to_poisoned_values(fill: str) -> None:
    x = ra.testing.poison(ra.asarray(ragged([[1.0, 2.0], [], [0.5]]), xp="jax", capacity=5), fill=fill)
    blocks = ra.testing.poison(
        ra.asarray(ragged([np.ones((1, 2)), np.full((1, 1), 0.5)], item_shape=(None, None)), xp="jax", capacity=5),
        fill=fill,
    )  # fmt: skip
    for batch in (x, blocks):
        f = lambda v, b=batch: ra.sum(b.with_values(v) ** 3) + ra.sum(ra.exp(b.with_values(v)))  # noqa: E731
        want = np.zeros((5, 5))
        want[np.arange(3), np.arange(3)] = 6 * batch.values[:3] + np.exp(batch.values[:3])
        for outer in JACOBIANS:
            for inner in JACOBIANS:
                np.testing.assert_allclose(jax.jit(outer(inner(f)))(batch.values), want, rtol=1e-6)


JACOBIANS = (jax.jacfwd, jax.jacrev)
GROUPED: dict[str, Any] = {
    "@": lambda x, w: x @ w,
    "matmul": ra.matmul,
    "bmm": ra.bmm,
    "einsum": lambda x, w: ra.einsum("bld,bdf->blf", x, w),
    "nn.linear": ra.nn.linear,
}


def test_one_matrix_a_row_in_vmap() -> None:
    xs = [batch(lengths, i, capacity=56, inner=(2,)) for i, lengths in enumerate(([19, 0, 34], [3, 40, 10]))]
    ws = jnp.asarray(np.random.default_rng(3).standard_normal((2, 2, 3, 2, 4)), jnp.float32)

    @jax.jit
    def every(stacked: Any, ws: Any) -> Any:
        first = jax.tree.map(lambda a: a[0], stacked)
        of = lambda x, w: (x @ w).values  # noqa: E731
        return {name: jax.vmap(lambda w, f=f: f(first, w).values)(ws[0]) for name, f in GROUPED.items()} | {
            "values": jax.vmap(lambda v: of(first.with_values(v), ws[0, 0]))(stacked.values),
            "splits": jax.vmap(lambda x: of(x, ws[0, 0]))(stacked),
            "all": jax.vmap(of)(stacked, ws[0]),
            "nested": jax.vmap(lambda x, w: jax.vmap(lambda u: of(x, u))(w))(stacked, ws),
        }

    pairs = {name: [(0, 0, (0, 0)), (0, 0, (0, 1))] for name in GROUPED} | {
        "values": [(0, 0, (0, 0)), (1, 0, (0, 0))],
        "splits": [(0, 0, (0, 0)), (1, 1, (0, 0))],
        "all": [(0, 0, (0, 0)), (1, 1, (0, 1))],
        "nested": [(i, i, (i, j)) for i in range(2) for j in range(2)],
    }
    for name, out in every(jax.tree.map(lambda *a: jnp.stack(a), *xs), ws).items():
        for got, (v, rows, w) in zip(out.reshape(-1, 56, 4), pairs[name], strict=True):
            want = np.einsum("nd,ndf->nf", xs[v].values[:53], ws[w][xs[rows].row_ids()[:53]])
            np.testing.assert_allclose(got[:53], want, rtol=1e-5, atol=1e-5)


def test_derivatives_of_one_matrix_a_row() -> None:
    x = batch([3, 0, 2], capacity=7, inner=(2,))
    w = jnp.asarray(np.random.default_rng(3).standard_normal((3, 2, 2)), jnp.float32)
    rows, used = np.minimum(x.row_ids(), 2), x.used_mask()[:, None]
    ours = lambda v, w: jnp.where(used, (x.with_values(v) @ w).values, 0)  # noqa: E731
    dense = lambda v, w: jnp.where(used, jnp.einsum("nd,ndf->nf", v, w[rows]), 0)  # noqa: E731
    clean = jnp.where(used, x.values, 0)
    loss = lambda f: lambda v, w: jnp.sum(f(v, w) ** 3)  # noqa: E731
    over = lambda f: lambda v, w: jnp.sum(jax.vmap(loss(f), (None, 0))(v, jnp.stack((w, 2 * w))))  # noqa: E731
    want = jax.jit(lambda v, w: (jax.jacfwd(dense, (0, 1))(v, w), jax.hessian(loss(dense), (0, 1))(v, w),
                                 jax.grad(over(dense), (0, 1))(v, w)))(clean, w)  # fmt: skip
    for jac, other in (JACOBIANS, JACOBIANS[::-1]):
        got = jax.jit(lambda v, w, a=jac, b=other: (a(ours, (0, 1))(v, w), a(b(loss(ours), (0, 1)), (0, 1))(v, w),
                                                    b(over(ours), (0, 1))(v, w)))(x.values, w)  # fmt: skip
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), got, want)
    twice = jax.jit(jax.jacrev(jax.jacrev(loss(ours), (0, 1)), (0, 1)))(x.values, w)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), twice, want[1])


def test_no_matrices() -> None:
    for splits, shape in (([0], (4, 2)), ([0, 0, 0], (0, 2)), ([0, 0, 0], (4, 2)), ([0, 2, 3], (4, 0))):
        x = ra.testing.poison(ra.from_row_splits(jnp.ones(shape), jnp.asarray(splits)))
        total = jax.jit(jax.value_and_grad(lambda v, w, x=x: jnp.sum((x.with_values(v) @ w).values), (0, 1)))
        out, slopes = total(x.values, jnp.ones((x.nrows, shape[1], 3)))
        assert out == 0
        assert not any(np.asarray(s).any() for s in slopes)
