"""Cumulative operations and differences against loops over rows."""

from functools import partial
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra

from . import nested
from .along import each_group, lists
from .harness.day import layouts, sample
from .harness.ways import Way
from .nested import STRUCTURES, Layout, assert_nested, make, nest, values_for

NAMES = ("sum", "prod", "max", "min")
UFUNC = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
NOTHING = {"sum": 0, "prod": 1, "max": -np.inf, "min": np.inf}
POISONED = (Way("jax-jit", 3), Way("jax-jit", 3, "inf"))


def scanned(how: str, v: np.ndarray, reverse: bool) -> np.ndarray:
    v = v[::-1] if reverse else v
    out = UFUNC[how].accumulate(v)
    return out[::-1] if reverse else out


def some(layout: Layout) -> np.ndarray:
    """Floats with a NaN and an infinity early on, which must not reach later rows."""
    a = values_for(layout, "float32", -2, 2, seed=1)
    if a.shape[0] > 3:
        a[1], a[2] = np.nan, np.inf
    return a


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("how", NAMES)
def test_cumulative(how: str, structure: str, way: Way) -> None:
    f = getattr(ra, f"cumulative_{how}")
    edge = nested.EDGE if structure == "flat" and how in ("sum", "max") else []
    for layout in layouts(STRUCTURES[structure] + edge, way):
        a = some(layout)
        x = way.arrays(make(layout, a))
        calls = [(axis, reverse) for axis in range(layout.ndim) for reverse in (False, True)]

        def every(x: Any, calls: Any = calls) -> Any:
            return [f(x, axis=axis, reverse=reverse) for axis, reverse in calls]

        with np.errstate(invalid="ignore"):
            results = way.run((how, layout.ndim), every, x)
        for (axis, reverse), got in zip(calls, results, strict=True):
            with np.errstate(invalid="ignore"):
                want = each_group(lambda v, r=reverse: scanned(how, v, r), layout, a, axis)
            assert_nested(got, want)
            assert got.dtype == x.dtype
            assert got.shape == x.shape


@pytest.mark.parametrize("how", NAMES)
@pytest.mark.parametrize("reverse", [False, True])
def test_initial(how: str, reverse: bool, way: Way) -> None:
    f = getattr(ra, f"cumulative_{how}")

    def longer(row: np.ndarray) -> Any:
        edge = np.full((1, *row.shape[1:]), NOTHING[how], row.dtype)
        done = scanned(how, row, reverse) if len(row) else row
        return np.concatenate((done, edge) if reverse else (edge, done)).tolist()

    for layout in layouts((*nested.FLAT, *nested.INNER[:1], *nested.DOUBLE, *nested.MIXED), way):
        a = values_for(layout, "float32", -2, 2, seed=1)
        x = way.arrays(make(layout, a))
        axis = len(layout.levels)
        run = lambda x, axis=axis: f(x, axis=axis, reverse=reverse, include_initial=True)  # noqa: E731
        got = way.run(("initial", how, reverse, axis), run, x)
        assert_nested(got, innermost(longer, layout, a))
        if way.name in ("jax-eager", "jax-jit"):
            assert got.capacity == x.capacity + x.partitions[-1].nrows
    layout = nested.INNER[0]
    a = values_for(layout, "float32", -2, 2, seed=1)
    got = f(way.arrays(make(layout, a)), axis=2, reverse=reverse, include_initial=True)
    assert got.shape == (5, None, 3)
    assert_nested(got, lists(nest(layout, np.array([longer(v) for v in a]))))


def innermost(f: Any, layout: Layout, a: np.ndarray) -> Any:
    def walk(node: Any, level: int) -> Any:
        if level == len(layout.levels):
            return f(np.array(node, dtype=a.dtype).reshape(-1, *a.shape[1:]))
        return [walk(child, level + 1) for child in node]

    return walk(nest(layout, a), 0)


@pytest.mark.parametrize("how", NAMES)
def test_dtypes(how: str, way: Way) -> None:
    f = getattr(ra, f"cumulative_{how}")
    layout = nested.FLAT[0]
    for dtype in ("int32", "uint8", "bool"):
        a = np.array([3, 1, 2, 2, 0, 1]).astype(dtype)
        if way.name == "strict" and dtype == "bool":
            continue
        x = way.arrays(make(layout, a))
        got = f(x, axis=1)
        if how in ("max", "min"):
            assert got.dtype == x.dtype
        else:
            assert str(got.dtype).split(".")[-1] in ("int64", "uint64", "int32", "uint32")
            assert_nested(
                f(x, axis=1, dtype="float32"), each_group(lambda v: scanned(how, v, False), layout, a * 1.0, 1)
            )
        assert_nested(got, each_group(lambda v: scanned(how, v.astype(int), False), layout, a, 1, int))


def test_halves_accumulate_in_float32(way: Way) -> None:
    if way.name == "strict":
        pytest.skip("array-api-strict has no float16")
    x = ra.from_row_lengths(np.ones(4200, np.float16), np.array([4096, 104]))
    got = ra.cumulative_sum(ra.asarray(x, xp="jax") if way.jax else x, axis=1)
    assert got.dtype == np.float16
    assert np.asarray(got.values)[4095] == 4096
    assert np.asarray(got.values)[4199] == 104


def test_nothing_leaks() -> None:
    x = ra.ragged([[16777216.0], [1.0, 1.0, 1.0], [np.inf, 1.0], [np.nan], [1.0, 2.0]]).astype("float32")
    for y in (x, x.to("jax")):
        got = ra.cumulative_sum(y, axis=1).tolist()
        assert got[1] == [1, 2, 3]
        assert got[4] == [1, 3]
        assert ra.cumulative_prod(y, axis=1, reverse=True).tolist()[4] == [2, 2]


@pytest.mark.parametrize("how", NAMES)
@pytest.mark.parametrize("limit", [None, 9])
def test_gradient(how: str, limit: int | None) -> None:
    f = getattr(ra, f"cumulative_{how}")
    dense = {"sum": jnp.cumsum, "prod": jnp.cumprod, "max": jax.lax.cummax, "min": jax.lax.cummin}[how]

    def loss(x: Any, w: Any, axis: int, reverse: bool) -> Any:
        return ra.sum(f(x, axis=axis, reverse=reverse, max_length=limit) * w)

    def of_group(u: Any, w: Any, reverse: bool) -> Any:
        y = dense(u[::-1] if reverse else u)
        return jnp.sum((y[::-1] if reverse else y) * w)

    alone = jax.jit(jax.grad(of_group), static_argnums=2)
    for layout in sample([nested.FLAT[0], nested.DOUBLE[0], nested.FLAT[2], nested.INNER[0]], 2):
        a = values_for(layout, "float32", -2, 2, seed=3)
        a[1] = a[0] if how in ("max", "min") else 0
        w = values_for(layout, "float32", -2, 2, seed=4)
        axes = [axis for axis in range(layout.ndim) if not limit or axis == len(layout.levels)]
        calls = list(product(axes, (False, True)))
        gradients = jax.jit(lambda x, w, calls=calls: [
            ra.grad(partial(loss, axis=axis, reverse=reverse))(x, w) for axis, reverse in calls
        ])  # fmt: skip
        results = [gradients(way.arrays(make(layout, a)), way.arrays(make(layout, w))) for way in POISONED]
        for i, (axis, reverse) in enumerate(calls):

            def one(v: np.ndarray, reverse: bool = reverse) -> Any:
                return alone(v.real.astype(np.float32), v.imag.astype(np.float32), reverse)

            want = each_group(one, layout, a.astype(complex) + 1j * w, axis, np.float32)
            for result in results:
                assert_nested(result[i], want, rtol=2e-4, atol=2e-4)


def test_gradient_of_initial_and_of_nan_rows() -> None:
    x = ra.ragged([np.array([np.nan, 2.0], np.float32), np.array([3.0, 0.0, 2.0], np.float32)])
    for way in POISONED:
        y = way.arrays(x)
        got = jax.jit(ra.grad(lambda x: ra.sum(ra.cumulative_sum(x, axis=1, include_initial=True) * 2.0)))(y)
        assert got.tolist() == [[4, 2], [6, 4, 2]]
        got = jax.jit(ra.grad(lambda x: ra.sum(ra.cumulative_prod(x, axis=1))))(y)
        assert got.tolist()[1] == [1, 9, 0]
        got = jax.jit(ra.grad(lambda x: ra.sum(ra.diff(x) * 2.0)))(y)
        assert got.tolist() == [[-2, 2], [-2, 0, 2]]


def test_vmap_and_forward_mode() -> None:
    x = ra.ragged([[1.0, 2.0], [], [3.0, 4.0, 5.0]]).to("jax")
    batch = jnp.stack([x.values, -x.values])
    got = jax.vmap(lambda v: ra.cumulative_sum(x.with_values(v), axis=1).values)(batch)
    assert got[1, :5].tolist() == [-1, -3, -3, -7, -12]
    _, out = jax.jvp(lambda v: ra.cumulative_sum(x.with_values(v), axis=1).values, (x.values,), (batch[1],))
    assert out[:5].tolist() == [-1, -3, -3, -7, -12]
    got = jax.vmap(lambda v: ra.diff(x.with_values(v)).values)(batch)
    assert got[0, :3].tolist() == [1, 1, 1]


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_diff(n: int, way: Way) -> None:
    for structure in ("flat", "inner", "double", "mixed"):
        if way.name == "jax-eager" and (structure != "flat" or n == 30):
            continue
        for layout in STRUCTURES[structure]:
            a = values_for(layout, "float32", -2, 2, seed=1)
            axis = len(layout.levels)
            got = way.run(("diff", n, axis), lambda x, a=axis: ra.diff(x, axis=a, n=n), way.arrays(make(layout, a)))
            assert_nested(got, innermost(lambda v: np.diff(v, n, axis=0).tolist(), layout, a))
            assert way.jax or got.capacity == got.size // max(int(np.prod(layout.inner)), 1)
    layout = nested.INNER[0]
    a = values_for(layout, "int32", -9, 9, seed=1)
    got = ra.diff(way.arrays(make(layout, a)), n=min(n, 2))
    assert_nested(got, lists(nest(layout, np.diff(a, min(n, 2), axis=1))))


def test_diff_of_infinities_does_not_warn() -> None:
    x = ra.ragged([[1.0, np.inf], [np.inf, 1.0]])
    assert ra.diff(x).tolist() == [[np.inf], [-np.inf]]


def test_diff_joins_first(way: Way) -> None:
    x = way.arrays(ra.ragged([[1.0, 4.0], [], [9.0]]))
    assert_nested(ra.diff(x, prepend=0), [[1, 3], [], [9]])
    assert_nested(ra.diff(x, append=10.0), [[3, 6], [], [1]])
    y = way.arrays(ra.ragged([[0.0], [2.0, 3.0], []]))
    assert_nested(ra.diff(x, prepend=y, append=0), [[1, 3, -4], [1, -3], [-9]])
    z = way.arrays(ra.ragged([np.array([[1.0, 4.0]]), np.zeros((0, 2))]))
    assert_nested(ra.diff(z, prepend=0), [[[1, 3]], []])
    assert_nested(ra.diff(way.dense(np.array([1, 4, 9]))), [3, 5])


def test_arrays(way: Way) -> None:
    a = np.array([[1.0, 3.0, 2.0], [4.0, 0.0, 5.0]], np.float32)
    assert_nested(ra.cumulative_max(way.dense(a), axis=1), [[1, 3, 3], [4, 4, 5]])
    assert_nested(ra.cumulative_sum(way.dense(a), axis=0, reverse=True), [[5, 3, 7], [4, 0, 5]])
    assert_nested(ra.cumulative_prod(way.dense(a[0]), include_initial=True), [1, 1, 3, 6])


X = ra.ragged([[1.0, 2.0, 3.0], [3.0]])
DEEP = ra.ragged([[[1.0, 2.0]], [[3.0]]])
TEXTS = [
    (lambda: ra.cumulative_sum(X), TypeError, "cumulative_sum: expected one axis, got None. Pass `axis=`."),
    (
        lambda: ra.cumulative_sum(np.zeros((2, 2))),
        ValueError,
        "cumulative_sum: expected axis= for more than one axis, got shape (2, 2). Pass `axis=`.",
    ),
    (
        lambda: ra.cumulative_sum(X, axis=1, max_length=2),
        ValueError,
        "cumulative_sum: expected a length of at least 3, got 2. Pass a larger `max_length=`.",
    ),
    (
        lambda: ra.cumulative_prod(X, axis=0, include_initial=True),
        ValueError,
        "cumulative_prod: expected include_initial along an axis without ragged axes behind it, got axis 0. "
        "Join a row of identities with `ra.concat`.",
    ),
    (
        lambda: ra.cumulative_max(X + 1j, axis=1),
        TypeError,
        "cumulative_max: expected real values, got dtype complex128. Scan `ra.abs(x)`, say.",
    ),
    (lambda: ra.diff(X, n=-1), ValueError, "diff: expected n of at least 0, got -1. Use `ra.cumulative_sum` for sums."),
    (
        lambda: ra.diff(DEEP, axis=1),
        ValueError,
        "diff: expected an axis without ragged axes behind it, got axis 1. Subtract row slices.",
    ),
    (lambda: ra.diff(X > 1), TypeError, "diff: expected numbers, got dtype bool. Convert them with `ra.astype`."),
]


@pytest.mark.parametrize(("call", "error", "text"), TEXTS, ids=lambda x: x[:24] if isinstance(x, str) else "")
def test_texts(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as e:
        call()
    assert str(e.value) == text


def test_too_long_for_the_limit_under_jit() -> None:
    run = lambda x: ra.cumulative_sum(x, axis=1, max_length=2)  # noqa: E731
    assert np.isnan(np.asarray(jax.jit(run)(X.to("jax")).values)).all()
    with pytest.raises(Exception, match="cumulative_sum: expected a length of at least 3, got 2"):
        ra.checked(run)(X.to("jax"))


def test_rows_known_on_the_host() -> None:
    """Splits may be NumPy arrays while values are traced."""
    x = ra.ragged([[3.0, 1.0, 2.0], [], [5.0, 4.0]])
    for f in (
        lambda y: ra.cumulative_sum(y, axis=1, include_initial=True).values,
        lambda y: ra.cumulative_max(y, axis=0).values,
        lambda y: ra.diff(y).values,
        lambda y: ra.sort(y, axis=1).values,
        lambda y: ra.top_k(y, 2).indices.values,
        lambda y: ra.unique_counts(y).counts.values,
        lambda y: ra.searchsorted(ra.sort(y), y).values,
        lambda y: ra.median(y, axis=1),
    ):
        got = jax.jit(lambda v, f=f: f(x.with_values(v)))(jnp.asarray(x.values))
        want = np.asarray(f(x))
        np.testing.assert_allclose(np.asarray(got)[: len(want)], want)
