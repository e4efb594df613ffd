"""Random numbers: rows and dtypes, keys, distribution, permutations within rows."""

from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray

from . import nested
from .harness.ways import Way

LAYOUTS = [layout for family in nested.STRUCTURES.values() for layout in family[:1]] + nested.EDGE[:4]


def build(layout: nested.Layout) -> RaggedArray:
    values = nested.values_for(layout, "float32", 0, 1, 0)
    return nested.make(layout, np.arange(values.size, dtype=np.float32).reshape(values.shape))


def key(xp: str, seed: int = 0) -> Any:
    return jax.random.key(seed) if xp == "jax" else np.random.default_rng(seed)


def host(x: Any) -> Any:
    if isinstance(x, RaggedArray):
        return ra.compact(x.to("numpy")) if x.xp is not array_api_strict else x
    return np.asarray(x)


def rows(xp: str, n: int = 4000) -> RaggedArray:
    x = ra.from_row_lengths(np.zeros(n, np.float32), np.array([n // 4, 0, n // 2, n - n // 4 - n // 2]))
    return ra.asarray(x, xp="jax", capacity=n + 7) if xp == "jax" else x


XP = pytest.mark.parametrize("xp", ["numpy", "jax"])


@XP
def test_normal(xp: str) -> None:
    x = rows(xp)
    z = ra.random.normal(key(xp), x)
    assert z.dtype == np.float32
    assert z.nested_row_splits[0].tolist() == x.row_splits.tolist()
    assert z.capacity == x.capacity
    values = np.asarray(host(z).values)
    assert abs(values.mean()) < 0.06
    assert abs(values.std() - 1) < 0.05


@XP
def test_uniform(xp: str) -> None:
    values = np.asarray(host(ra.random.uniform(key(xp), rows(xp), low=-2.0, high=3.0)).values)
    assert values.min() >= -2
    assert values.max() <= 3
    assert abs(values.mean() - 0.5) < 0.1
    assert abs(values.std() - 5 / 12**0.5) < 0.06


@XP
def test_bounds_per_row(xp: str) -> None:
    x = rows(xp, 400)
    low, high = np.arange(4, dtype=np.float32)[:, None] * 10, np.arange(4, dtype=np.float32)[:, None] * 10 + 1
    u = host(ra.random.uniform(key(xp), x, low=low, high=high)).unbind()
    for i, row in enumerate(u):
        assert ((row >= 10 * i) & (row <= 10 * i + 1)).all()
    p = np.array([1.0, 0.5, 0.0, 1.0], np.float32)[:, None]
    b = host(ra.random.bernoulli(key(xp), x, p=p)).unbind()
    assert [bool(row.all()) for row in b] == [True, True, False, True]
    assert not b[2].any()


@XP
def test_bernoulli(xp: str) -> None:
    b = ra.random.bernoulli(key(xp), ra.astype(rows(xp), ra.int32), p=0.25)
    assert b.dtype == bool
    assert abs(np.asarray(host(b).values).mean() - 0.25) < 0.03


@XP
def test_randint(xp: str) -> None:
    r = ra.random.randint(key(xp), rows(xp), low=-3, high=4)
    assert np.dtype(r.dtype).kind == "i"
    assert sorted(set(np.asarray(host(r).values).tolist())) == list(range(-3, 4))
    r = ra.random.randint(key(xp), rows(xp), low=0, high=256, dtype="uint8")
    assert r.dtype == np.uint8
    assert np.asarray(host(r).values).max() > 250
    r = ra.random.randint(key(xp), rows(xp), low=0, high=2**32, dtype="uint32")
    assert np.asarray(host(r).values).max() > 2**31
    r = ra.random.randint(key(xp), rows(xp), low=2**31 - 3, high=2**31, dtype="int32")
    assert set(np.asarray(host(r).values).tolist()) == {2**31 - 3, 2**31 - 2, 2**31 - 1}


@XP
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_dtypes(xp: str, dtype: str) -> None:
    x = ra.astype(rows(xp), dtype)
    z = ra.random.normal(key(xp), x)
    assert z.dtype == x.dtype
    assert abs(np.abs(np.asarray(host(z).values).astype(np.complex64)).astype(np.float64)).std() > 0.3
    assert ra.random.normal(key(xp), x, dtype="float32").dtype == np.float32
    if dtype != "complex64":
        u = ra.random.uniform(key(xp), x)
        assert u.dtype == x.dtype
        assert np.asarray(host(u).values).astype(np.float32).max() < 1
    else:
        assert np.dtype(ra.random.uniform(key(xp), x).dtype).kind == "f"


@XP
@pytest.mark.parametrize("name", ["normal", "uniform", "bernoulli", "randint"])
def test_layouts_keys_and_plain_arrays(xp: str, name: str) -> None:
    options = {"low": 0, "high": 9} if name == "randint" else {}
    f = getattr(ra.random, name)
    for layout in LAYOUTS:
        x = build(layout)
        x = ra.asarray(x, xp="jax") if xp == "jax" else x
        a, b, c = (f(key(xp, s), x, **options) for s in (1, 1, 2))
        assert a.shape == x.shape
        assert bool(ra.array_equal(a, b))
        if int(x.size) > 8:
            assert not bool(ra.array_equal(a, c))
    plain = f(key(xp), jnp.zeros((3, 2)) if xp == "jax" else np.zeros((3, 2)), **options)
    assert plain.shape == (3, 2)


def test_numbers_belong_to_slots() -> None:
    a = ra.from_row_lengths(jnp.zeros(8), jnp.array([2, 3, 1]))
    b = ra.from_row_lengths(jnp.zeros(16), jnp.array([1, 4, 0, 1]))
    for name in ("normal", "uniform"):
        f = getattr(ra.random, name)
        np.testing.assert_array_equal(f(key("jax"), a).values[:6], f(key("jax"), b).values[:6])
        host_a, host_b = a.to("numpy"), b.to("numpy")
        np.testing.assert_array_equal(f(key("numpy"), host_a).values, f(key("numpy"), host_b).values[:6])


@pytest.mark.parametrize("name", ["normal", "uniform", "bernoulli", "randint", "permutation"])
def test_jit_is_eager(name: str) -> None:
    options = {"low": 0, "high": 9} if name == "randint" else {}
    f = ra.testing.count_traces(lambda k, x: getattr(ra.random, name)(k, x, **options))
    compiled = jax.jit(f)
    for lengths in ([2, 3, 1], [0, 6, 1], [0, 0, 0]):
        x = ra.from_row_lengths(jnp.arange(8.0), jnp.array(lengths))
        assert bool(ra.array_equal(compiled(key("jax"), x), f(key("jax"), x)))
    assert f.count == 4  # once for jit, three times eagerly
    keys = jax.random.split(key("jax"), 5)
    assert jax.vmap(lambda k: f(k, x).values)(keys).shape == (5, 8)


def test_legacy_keys() -> None:
    assert ra.random.normal(jax.random.PRNGKey(0), rows("jax")).capacity == rows("jax").capacity


def test_numpy_rows_with_a_jax_key_move() -> None:
    x = ra.ragged([[1.0], [2.0, 3.0]])
    assert isinstance(ra.random.normal(key("jax"), x).values, jax.Array)


@pytest.mark.parametrize("layout", LAYOUTS, ids=repr)
def test_permutation(way: Way, layout: Any) -> None:
    x = build(layout)
    k = key("jax" if way.jax else "numpy")
    for axis in (*range(x.ndim), -1):
        got = way.run(
            ("permutation", axis), lambda k, x, axis=axis: ra.random.permutation(k, x, axis=axis), k, way.arrays(x)
        )
        assert got.shape == x.shape
        have, want = nested_lists(host(got).tolist(), axis % x.ndim), nested_lists(x.tolist(), axis % x.ndim)
        assert have == want


def nested_lists(x: Any, axis: int) -> Any:
    """A list with the entries along an axis in one order."""
    if axis == 0:
        return sorted(x, key=str)
    return [nested_lists(y, axis - 1) for y in x]


@XP
def test_permutations_are_even(xp: str) -> None:
    n = 3000
    x = ra.from_row_lengths(np.tile(np.arange(3), n), np.full(n, 3))
    x = x.to(xp)
    got = np.asarray(host(ra.random.permutation(key(xp), x)).values)[: 3 * n].reshape(n, 3)
    orders, counts = np.unique(got, axis=0, return_counts=True)
    assert len(orders) == 6
    assert abs(counts - n / 6).max() < 100
    plain = ra.random.permutation(
        key(xp), jnp.tile(jnp.arange(3), (n, 1)) if xp == "jax" else np.tile(np.arange(3), (n, 1))
    )
    assert len(np.unique(np.asarray(plain), axis=0)) == 6
    whole = ra.random.permutation(key(xp), jnp.arange(50) if xp == "jax" else np.arange(50), axis=0)
    assert sorted(np.asarray(whole).tolist()) == list(range(50)) != np.asarray(whole).tolist()


def test_permutation_gradient() -> None:
    x = ra.testing.poison(ra.ragged([[1.0, 2.0, 3.0], [], [4.0, 5.0]], xp="jax"))
    weight = jnp.where(jnp.arange(x.capacity) < 5, jnp.arange(1.0, x.capacity + 1), jnp.nan)

    def f(x: RaggedArray) -> Any:
        return ra.sum(ra.random.permutation(key("jax"), x) * x.with_values(jax.lax.stop_gradient(weight)))

    g = ra.grad(f)(x)
    order = ra.random.permutation(key("jax"), x.with_values(jnp.arange(x.capacity))).values[:5]
    want = np.zeros(5)
    want[np.asarray(order)] = np.arange(1, 6)
    np.testing.assert_allclose(g.values[:5], want)
    assert not np.asarray(g.values[5:]).any()


def test_one_gather_of_the_values() -> None:
    x = ra.from_row_lengths(jnp.zeros(8), jnp.array([2, 3, 1]))
    jaxpr = jax.make_jaxpr(lambda k, x: ra.random.permutation(k, x))(key("jax"), x).jaxpr

    def count(jaxpr: Any) -> int:
        found = 0
        for eqn in jaxpr.eqns:
            moves = eqn.primitive.name.startswith(("gather", "scatter", "sort"))
            found += moves and any(v.aval.dtype == np.float32 for v in eqn.invars)
            found += sum(count(p.jaxpr) for p in eqn.params.values() if hasattr(p, "jaxpr"))
        return found

    assert count(jaxpr) == 1


NUMPY_KEY = "random.normal: expected a numpy.random.Generator for NumPy arrays, got int. Make one with "
JAX_KEY = "random.normal: expected a jax.random key for JAX arrays, got int. Make one with `jax.random.key(seed)`."


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda: ra.random.normal(0, rows("numpy")), TypeError, NUMPY_KEY + "`np.random.default_rng(seed)`."),
        (lambda: ra.random.normal(0, rows("jax")), TypeError, JAX_KEY),
        (
            lambda: ra.random.normal(key("numpy"), [1.0]),
            TypeError,
            "random.normal: expected an array to be like, got list. Pass an array of the wanted shape.",
        ),
        (
            lambda: ra.random.randint(key("numpy"), rows("numpy"), low=3, high=3),
            ValueError,
            "random.randint: expected low < high within int64, got 3 and 3. Pass a larger high=.",
        ),
        (
            lambda: ra.random.randint(key("numpy"), rows("numpy"), low=0, high=3, dtype="float32"),
            TypeError,
            "random.randint: expected an integer dtype, got float32. Use `ra.random.uniform`.",
        ),
        (
            lambda: ra.random.normal(key("numpy"), rows("numpy"), dtype="int32"),
            TypeError,
            "random.normal: expected a dtype of kind float, got int32. Pass `dtype=`.",
        ),
        (
            lambda: ra.random.bernoulli(key("numpy"), rows("numpy"), p=1.5),
            ValueError,
            "random.bernoulli: expected a probability from 0 to 1, got 1.5. Divide by the total.",
        ),
        (
            lambda: ra.random.permutation(key("numpy"), rows("numpy"), axis=2),
            IndexError,
            "random.permutation: expected an axis from -2 to 1, got 2. Check `x.shape`.",
        ),
    ],
)
def test_errors(f: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        f()
    assert str(caught.value) == text
