"""Sorting, top k, sets, searches and order statistics against loops over rows."""

from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

import raggedarray as ra

from . import nested
from .along import coordinates, each_group, groups_along, lists
from .harness.day import layouts, nightly, sample
from .harness.ways import Way
from .nested import STRUCTURES, Layout, assert_nested, make, nest, reduce_nested, values_for

DTYPES = ("float32", "int32", "uint8", "bool")
POISONED = (Way("jax-jit", 3), Way("jax-jit", 3, "inf"))


def tied(layout: Layout, dtype: str, seed: int = 0) -> np.ndarray:
    """Values with many ties, and NaN, infinities and both zeros among floats."""
    rng = np.random.default_rng(seed)
    shape = (nested.total(layout), *layout.inner)
    if dtype == "bool":
        return rng.random(shape) > 0.5
    a = rng.integers(0 if dtype == "uint8" else -3, 4, shape).astype(dtype)
    if dtype == "float32":
        odd = rng.random(shape)
        a[odd < 0.15], a[odd > 0.9] = np.nan, -np.inf
        a[(a == 0) & (odd > 0.5)] = -0.0
    return a


def order(v: np.ndarray, descending: bool) -> np.ndarray:
    """The order of elements: stable, NaN last."""
    key = v.astype(np.float64)
    return np.argsort(-key if descending else key, kind="stable")


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("descending", [False, True])
def test_sort(structure: str, descending: bool, way: Way) -> None:
    for dtype in DTYPES if structure == "flat" else DTYPES[:1]:
        edge = nested.EDGE if structure == "flat" and dtype == "float32" else []
        for layout in layouts(STRUCTURES[structure] + edge, way):
            a = tied(layout, dtype)
            x = way.arrays(make(layout, a))
            axes = range(layout.ndim)

            def every(x: Any, axes: range = axes) -> Any:
                return [[f(x, axis=axis, descending=descending) for f in (ra.sort, ra.argsort)] for axis in axes]

            for axis, (got, places) in zip(axes, way.run((descending, axes), every, x), strict=True):
                want = each_group(lambda v: v[order(v, descending)], layout, a, axis)
                assert_nested(got, want)
                assert str(got.dtype).endswith(dtype)
                assert got.shape == make(layout, a).shape
                at = coordinates(layout, a.shape, axis).reshape(-1)
                flat = np.zeros(a.size, dtype=int)
                for members in groups_along(layout, a.shape, axis):
                    flat[members] = at[members][order(a.reshape(-1)[members], descending)]
                assert_nested(places, lists(nest(layout, flat.reshape(a.shape))))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("f", [ra.sort, ra.argsort])
def test_limited_length_changes_nothing(f: Any, descending: bool, way: Way) -> None:
    for layout in layouts((*nested.FLAT, *nested.INNER, *nested.DOUBLE), way):
        for dtype in sample(DTYPES[:2], 1) if way.jax else DTYPES:
            x = make(layout, tied(layout, dtype))
            axis = layout.ndim - 1 - len(layout.inner)
            want = f(x, axis=axis, descending=descending)
            key = (f, dtype, descending, axis)
            run = lambda x, a=axis: f(x, axis=a, descending=descending, max_length=9)  # noqa: E731
            assert_nested(way.run(key, run, way.arrays(x)), want.tolist())


def test_signed_zeros_keep_their_order() -> None:
    x = ra.ragged([np.array([0.0, -0.0, 1.0, -0.0], np.float32), np.array([-0.0, 0.0], np.float32)])
    for y in (x, x.to("jax")):
        assert np.signbit(np.asarray(ra.sort(y).values)[:6]).tolist() == [False, True, True, False, True, False]
        down = ra.sort(y, descending=True)
        assert np.signbit(np.asarray(down.values)[:6]).tolist() == [False, False, True, True, True, False]


@pytest.mark.parametrize("k", [0, 1, 2, 20])
def test_top_k(k: int, way: Way) -> None:
    for structure in ("flat", "inner", "double", "mixed") if not way.jax or nightly() else ("flat", "double"):
        for layout in layouts(STRUCTURES[structure], way):
            for dtype in DTYPES if structure == "flat" and not way.jax else DTYPES[:1]:
                a = tied(layout, dtype)
                axis = len(layout.levels)
                run = lambda x, axis=axis: ra.top_k(x, k, axis=axis)  # noqa: E731
                values, index = way.run(("top_k", k, axis), run, way.arrays(make(layout, a)))
                best = leaves(lambda v: top(v, k)[0], layout, a)
                assert_nested(values, best)
                assert_nested(index, leaves(lambda v: top(v, k)[1], layout, a))
                assert way.jax or values.capacity == values.size // max(int(np.prod(layout.inner)), 1)


def top(v: np.ndarray, k: int) -> tuple[list[Any], list[Any]]:
    at = (
        np.stack([order(c, True)[:k] for c in v.reshape(len(v), -1).T], -1).reshape(-1, *v.shape[1:])
        if v.size
        else v[:0]
    )
    at = at.astype(int)
    return np.take_along_axis(v, at, 0).tolist(), at.tolist()


def leaves(f: Any, layout: Layout, a: np.ndarray) -> Any:
    """``f`` of each innermost row."""

    def walk(node: Any, level: int) -> Any:
        if level == len(layout.levels):
            return f(np.array(node, dtype=a.dtype).reshape(-1, *a.shape[1:]))
        return [walk(child, level + 1) for child in node]

    return walk(nest(layout, a), 0)


def test_top_k_of_an_inner_axis_and_of_arrays(way: Way) -> None:
    layout = nested.INNER[0]
    a = tied(layout, "float32")
    values, index = ra.top_k(way.arrays(make(layout, a)), 1)
    want = [order(v, True)[:1] for v in a]
    assert_nested(index, lists(nest(layout, np.array(want))))
    assert_nested(values, lists(nest(layout, np.array([v[w] for v, w in zip(a, want, strict=True)]))))
    values, index = ra.top_k(way.dense(np.array([[1.0, np.nan, 3.0], [4.0, 4.0, 0.0]], np.float32)), 2)
    assert_nested(values, [[3, 1], [4, 4]])
    assert_nested(index, [[2, 0], [0, 1]])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [None, 9])
def test_gradient_of_sort(descending: bool, limit: int | None) -> None:
    def loss(x: Any, w: Any, axis: int) -> Any:
        return ra.sum(ra.sort(x, axis=axis, descending=descending, max_length=limit) * w)

    for layout in sample([nested.FLAT[0], nested.DOUBLE[0], nested.FLAT[2], nested.INNER[0]], 2):
        a = values_for(layout, "float32", -3, 3, seed=3)
        w = values_for(layout, "float32", -3, 3, seed=4)
        axes = [axis for axis in range(layout.ndim) if not limit or axis == len(layout.levels)]
        gradients = jax.jit(lambda x, w, axes=axes: [ra.grad(partial(loss, axis=axis))(x, w) for axis in axes])
        results = [gradients(way.arrays(make(layout, a)), way.arrays(make(layout, w))) for way in POISONED]
        for i, axis in enumerate(axes):
            want = np.zeros(a.size, np.float32)
            for at in groups_along(layout, a.shape, axis):
                want[at[order(a.reshape(-1)[at], descending)]] = w.reshape(-1)[at]
            for result in results:
                assert_nested(result[i], lists(nest(layout, want.reshape(a.shape))))


def test_gradient_of_top_k_and_unique() -> None:
    x = ra.ragged([np.array([3.0, 1.0, 2.0], np.float32), np.zeros(0, np.float32), np.array([5.0], np.float32)])
    for way in POISONED:
        y = way.arrays(x)
        got = jax.jit(ra.grad(lambda x: ra.sum(ra.top_k(x, 2).values * 2.0)))(y)
        assert got.tolist() == [[2, 0, 2], [], [2]]
        got = jax.jit(ra.grad(lambda x: ra.sum(ra.unique_values(x) * 2.0)))(y)
        assert got.tolist() == [[2, 2, 2], [], [2]]
        got = jax.jit(ra.grad(lambda x: ra.sum(ra.where(ra.argsort(x) == 0, x, 0.0))))(y)
        assert got.tolist() == [[0, 0, 1], [], [1]]


def test_tangents_are_permuted() -> None:
    x = ra.ragged([np.array([3.0, 1.0, 2.0], np.float32)]).to("jax")
    _, out = jax.jvp(lambda v: ra.sort(x.with_values(v)).values, (x.values,), (x.values * 10,))
    assert out[:3].tolist() == [10, 20, 30]


def test_vmap() -> None:
    x = ra.ragged([[3.0, 1.0, 2.0], [], [2.0, 1.0]]).to("jax")
    batch = jax.numpy.stack([x.values, -x.values])
    for options in ({}, {"max_length": 3}):
        got = jax.vmap(lambda v, o=options: ra.sort(x.with_values(v), **o).values)(batch)
        assert got[0, :5].tolist() == [1, 2, 3, 1, 2]
        assert got[1, :5].tolist() == [-3, -2, -1, -2, -1]
    got = jax.vmap(lambda v: ra.median(x.with_values(v), axis=1))(batch)
    assert_nested(got, [[2, np.nan, 1.5], [-2, np.nan, -1.5]])


def test_too_long_for_the_limit() -> None:
    x = ra.ragged([[3.0, 1.0, 2.0], [1.0]])
    text = "{}: expected a length of at least 3, got 2. Pass a larger `max_length=`."
    for y in (x, x.to("jax")):
        for name in ("sort", "argsort"):
            with pytest.raises(ValueError) as e:
                getattr(ra, name)(y, max_length=2)
            assert str(e.value) == text.format(name)
    assert np.isnan(np.asarray(jax.jit(lambda x: ra.sort(x, max_length=2))(x.to("jax")).values)).all()
    with pytest.raises(Exception, match="sort: expected a length of at least 3, got 2"):
        ra.checked(lambda x: ra.sort(x, max_length=2))(x.to("jax"))


@pytest.mark.parametrize("structure", ["flat", "inner", "double", "mixed"])
def test_unique(structure: str, way: Way) -> None:
    for dtype in DTYPES if structure == "flat" and not way.jax else DTYPES[:1]:
        for layout in layouts(STRUCTURES[structure], way):
            a = tied(layout, dtype)
            found = way.run("unique_all", ra.unique_all, way.arrays(make(layout, a)))
            want = {i: leaves(lambda v, i=i: unique(v)[i], layout, a) for i in range(4)}
            for i in (0, 1, 3):
                assert_nested(found[i], want[i])
            assert_nested(found[2], want[2])
            assert found.inverse_indices.shape == make(layout, a).shape
            x = way.arrays(make(layout, a))
            assert_nested(way.run("unique_values", ra.unique_values, x), want[0])
            for name, i in (("unique_counts", 3), ("unique_inverse", 2)):
                values, other = way.run(name, getattr(ra, name), x)
                assert_nested(values, want[0])
                assert_nested(other, want[i])
            assert way.jax or found.values.capacity == found.values.size


def unique(v: np.ndarray) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    values, first, inverse, counts = np.unique(v, True, True, True, equal_nan=False)
    return values.tolist(), first.tolist(), inverse.reshape(v.shape).tolist(), counts.tolist()


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side: str, way: Way) -> None:
    rng = np.random.default_rng(0)
    for layout in layouts((*nested.FLAT, *nested.DOUBLE, *nested.MIXED), way):
        x = ra.sort(make(layout, tied(layout, "float32")))
        rows = x.partitions[-1].nrows
        splits = np.concatenate(([0], np.cumsum(rng.integers(0, 4, rows)))).astype(np.int32)
        v = tied(Layout(rows, (np.diff(splits),)), "float32", seed=1)
        q = ra.RaggedArray(v, (*x.partitions[:-1], ra.RowPartition(splits)))
        s = x.partitions[-1].splits
        want = [np.searchsorted(x.values[s[i] : s[i + 1]], v[splits[i] : splits[i + 1]], side) for i in range(rows)]
        flat = np.concatenate([*want, np.zeros(0, int)])
        run = lambda x, q: ra.searchsorted(x, q, side=side)  # noqa: E731
        got = way.run(("searchsorted", side), run, way.arrays(x), way.arrays(q))
        assert_nested(got, q.with_values(flat).tolist())
        back = make(layout, tied(layout, "float32", seed=5))
        where = ra.argsort(back)
        run = lambda x, q, i: ra.searchsorted(x, q, side=side, sorter=i)  # noqa: E731
        got = way.run(("sorter", side), run, way.arrays(back), way.arrays(q), way.arrays(where))
        assert_nested(got, ra.searchsorted(ra.sort(back), q, side=side).tolist())


def test_searchsorted_of_arrays(way: Way) -> None:
    x = way.arrays(ra.ragged([[1.0, 2.0, 2.0], [], [5.0]]))
    got = ra.searchsorted(x, way.dense(np.array([[2.0, 9.0], [0.0, 1.0], [5.0, 0.0]])))
    assert_nested(got, [[1, 3], [0, 0], [0, 0]])
    assert_nested(ra.searchsorted(x, 2.0, side="right"), [3, 0, 0])
    plain = way.dense(np.array([1.0, 3.0, 5.0]))
    assert_nested(ra.searchsorted(plain, x), [[0, 1, 1], [], [2]])
    assert_nested(ra.searchsorted(plain, plain), [0, 1, 2])


def test_isin(way: Way) -> None:
    for dtype in DTYPES:
        layout = nested.INNER[0]
        a = tied(layout, dtype)
        for test in (a[:2], a[:0], a[0, 0]):
            for invert in (False, True):
                run = lambda x, t, i=invert: ra.isin(x, t, invert=i)  # noqa: E731
                got = way.run(("isin", invert), run, way.arrays(make(layout, a)), way.dense(np.asarray(test)))
                assert_nested(got, lists(nest(layout, np.isin(a, test, invert=invert))))
        assert_nested(ra.isin(way.dense(a), way.dense(a[:2])), np.isin(a, a[:2]).tolist())
    assert_nested(ra.isin(way.arrays(ra.ragged([[1, 2], [3]])), 3), [[False, False], [True]])


@pytest.mark.parametrize("q", [0.5, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("structure", ["flat", "inner", "double", "mixed"])
def test_quantile(q: float, structure: str, way: Way) -> None:
    def loop(v: np.ndarray) -> Any:
        return np.quantile(v, q) if len(v) else np.nan

    for layout in layouts(STRUCTURES[structure][:3], way):
        a = values_for(layout, "float32", -3, 3, seed=1)
        if a.size > 4:
            a.reshape(-1)[3] = np.nan
        x = way.arrays(make(layout, a))
        mask = way.arrays(make(layout, values_for(layout, "bool", 0, 1, seed=2)))
        for axes in nested.axis_sets(layout.ndim):
            options: dict[str, Any] = {"axis": axes}
            if way.name == "jax-jit" and 0 in axes:
                kept = [i for i in range(1, len(layout.levels) + 1) if i not in axes]
                if kept and not isinstance(layout.levels[kept[0] - 1], int):
                    continue
            got = way.run(("quantile", q, axes), lambda x, o=options: ra.quantile(x, q, **o), x)
            assert_nested(got, reduce_nested(loop, layout, a, axes, False))
            if len(axes) == 1 and q != 0.3:
                continue
            got = way.run(("where", q, axes), lambda x, m, o=options: ra.quantile(x, q, where=m, **o), x, mask)
            kept_only = np.where(values_for(layout, "bool", 0, 1, seed=2), a.astype(object), None)
            some = lambda v: loop(np.array([u for u in v if u is not None], np.float32))  # noqa: E731
            assert_nested(got, reduce_nested(some, layout, kept_only, axes, False))


def test_median_of_columns_takes_a_length() -> None:
    x = ra.ragged([[1.0, 2.0], [], [3.0]]).to("jax")
    assert_nested(jax.jit(lambda x: ra.median(x, axis=0, length=3))(x), [2, 2, np.nan])
    with pytest.raises(ra.DynamicShapeError) as e:
        jax.jit(lambda x: ra.median(x, axis=0))(x)
    assert str(e.value) == "median: expected a static length, got traced row lengths. Pass `length=`."


def test_quantile_of_arrays_and_of_several(way: Way) -> None:
    a = np.array([[1.0, 2.0, 4.0], [3.0, np.inf, np.inf]], np.float32)
    assert_nested(ra.quantile(way.dense(a), 0.25, axis=1), [1.5, np.inf])
    assert_nested(ra.median(way.dense(a), axis=0, keepdims=True), [[2, np.inf, np.inf]])
    assert_nested(ra.median(way.dense(a)), 3.5)
    x = way.arrays(ra.ragged([[1.0, 3.0], [], [2.0]]))
    assert_nested(ra.quantile(x, [0.0, 0.5], axis=1), [[1, np.nan, 2], [2, np.nan, 2]])
    assert_nested(ra.median(way.arrays(ra.ragged([[1, 2], [True * 3]])), axis=1), [1.5, 3])


def test_gradient_of_median() -> None:
    x = ra.ragged([np.array([3.0, 1.0, 2.0, 9.0], np.float32), np.zeros(0, np.float32), np.array([5.0], np.float32)])
    for way in POISONED:
        got = jax.jit(ra.grad(lambda x: ra.sum(ra.where(ra.isnan(m := ra.median(x, axis=1)), 0.0, m))))(way.arrays(x))
        assert got.tolist() == [[0.5, 0, 0.5, 0], [], [1]]


X = ra.ragged([[1.0, 2.0], [3.0]])
DEEP = ra.ragged([[[1.0, 2.0]], [[3.0]]])
TEXTS = [
    (lambda: ra.sort(X, axis=2), IndexError, "sort: expected an axis from -2 to 1, got 2. Check `x.shape`."),
    (lambda: ra.sort(X, axis=None), TypeError, "sort: expected one axis, got None. Pass `axis=`."),
    (
        lambda: ra.sort(X, axis=0, max_length=3),
        ValueError,
        "sort: expected max_length= along the innermost ragged axis only, got max_length=3 along another. Drop it.",
    ),
    (
        lambda: ra.sort(X + 1j),
        TypeError,
        "sort: expected real values, got dtype complex128. Sort `ra.abs(x)`, say.",
    ),
    (lambda: ra.top_k(X, -1), ValueError, "top_k: expected k of at least 0, got -1. Pass how many elements to keep."),
    (
        lambda: ra.top_k(DEEP, 1, axis=0),
        ValueError,
        "top_k: expected an axis without ragged axes behind it, got axis 0. Sort along it and slice.",
    ),
    (
        lambda: ra.searchsorted(X, ra.ragged([[1.0]])),
        ValueError,
        "searchsorted: expected x2 with the rows of (2, None), got (1, None). "
        "Give each row its own elements to look for.",
    ),
    (
        lambda: ra.searchsorted(X, X, side="up"),
        ValueError,
        "searchsorted: expected side 'left' or 'right', got 'up'. Pass one of these.",
    ),
    (
        lambda: ra.quantile(X, 50, axis=1),
        ValueError,
        "quantile: expected q from 0 to 1, got 50. Divide percentages by 100.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), TEXTS, ids=lambda x: x[:24] if isinstance(x, str) else "")
def test_texts(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as e:
        call()
    assert str(e.value) == text


def test_arrays_go_to_their_own_library(way: Way) -> None:
    a = way.dense(np.array([3, 1, 2, 1]))
    assert_nested(ra.sort(a), [1, 1, 2, 3])
    assert_nested(ra.argsort(a, descending=True), [0, 2, 1, 3])
    assert_nested(ra.unique_values(a), [1, 2, 3])
    assert_nested(ra.unique_counts(a).counts, [2, 1, 1])
    assert_nested(ra.unique_inverse(a).inverse_indices, [2, 0, 1, 0])
    assert_nested(ra.unique_all(a).indices, [1, 2, 0])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint16"])
def test_many_short_rows(dtype: str) -> None:
    """Enough of them for the sorting network of a CPU."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 12, 700)
    values = rng.integers(0, 50, (lengths.sum(), 2)).astype(dtype)
    if dtype.startswith("float"):
        odd = rng.random(values.shape)
        values[odd < 0.05], values[odd > 0.97], values[(odd > 0.5) & (odd < 0.52)] = np.nan, np.inf, -np.inf
    plain = ra.from_row_lengths(values, lengths)
    x = ra.testing.poison(ra.asarray(plain, xp="jax", capacity=int(lengths.sum()) + 5))
    for zeros in (False, True):  # with both zeros around, order among them counts, and a network would not keep it
        if zeros and dtype == "float32":
            values[::7] = -0.0
            x = ra.testing.poison(ra.asarray(plain, xp="jax", capacity=int(lengths.sum()) + 5))
        for descending in (False, True):
            sort = jax.jit(lambda x, d=descending: ra.sort(x, axis=1, descending=d, max_length=11))
            got, want = ra.compact(sort(x).to("numpy")), ra.sort(plain, axis=1, descending=descending)
            np.testing.assert_array_equal(got.values, want.values)
            known = ~np.isnan(want.values)
            np.testing.assert_array_equal(np.signbit(got.values[known]), np.signbit(want.values[known]))
    if dtype == "float32":
        flat = ra.asarray(ra.from_row_lengths(rng.permutation(lengths.sum()).astype(dtype), lengths), xp="jax")
        weights = jax.numpy.cos(jax.numpy.arange(flat.capacity))
        loss = lambda x, n: ra.sum(ra.sort(x, max_length=n) * x.with_values(weights))  # noqa: E731
        grads = [jax.jit(ra.grad(lambda x, n=n: loss(x, n)))(flat).values for n in (11, None)]
        np.testing.assert_array_equal(*grads)


def test_extremes_of_what_a_program_computes() -> None:
    """XLA computes cheap functions anew for each reader, and rounds them otherwise: no element equalled the largest."""

    def best(x: Any) -> Any:
        y = (ra.sin(x * 3) + 1) * 1.5 - 1.5
        return (
            ra.argmax(y, axis=1),
            ra.argmax(y, axis=0, length=8),
            ra.argmin(y, axis=1),
            ra.argmin(y, axis=0, length=8),
        )

    lengths = np.arange(40) % 6
    values = np.random.default_rng(0).normal(size=lengths.sum()).astype(np.float32)
    x = ra.from_row_lengths(values, lengths)
    for got, want in zip(jax.jit(best)(ra.asarray(x, xp="jax", capacity=160)), best(x), strict=True):
        np.testing.assert_array_equal(got, want)
