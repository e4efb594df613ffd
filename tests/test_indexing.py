"""Indexing against loops over nested lists: any key, any axis, on every backend, with poisoned slack."""

import re
from typing import Any

import jax
import jax.extend.core
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

import raggedarray as ra
from raggedarray import RaggedArray, ragged

from . import nested
from .harness.day import examples
from .harness.ways import Way
from .nested import EDGE, STRUCTURES, Layout, assert_nested, make, nest, values_for

SLICES = [slice(None), slice(1, None), slice(-2, None), slice(None, 2), slice(None, -1), slice(None, None, -1),
          slice(None, None, 2), slice(2, None, -1), slice(1, -1), slice(-3, -1), slice(-1, -4, -2), slice(5, 1),
          slice(None, 1, -1), slice(-9, 9, 3), slice(-2, 2), slice(0, 0)]  # fmt: skip


def choose(items: Any, key: tuple[Any, ...]) -> Any:
    """A key on nested lists, one axis after the other."""
    if not key:
        return items
    first, rest = key[0], key[1:]
    if first is None:
        return [choose(items, rest)]
    if isinstance(first, slice):
        return [choose(item, rest) for item in items[first]]
    if isinstance(first, np.ndarray | list):
        return [choose(items[i], rest) for i in first]
    return choose(items[first], rest)


def to_lists(layout: Layout, values: np.ndarray) -> Any:
    def lists(x: Any) -> Any:
        return [lists(y) for y in x] if isinstance(x, list) else x.tolist()

    return lists(nest(layout, values))


def spelled(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(np.array(k, dtype="int32") if isinstance(k, list) else k for k in key)


def random_key(layout: Layout, rng: np.random.Generator, ints: bool) -> tuple[Any, ...]:
    key: list[Any] = []
    arrays = 0
    sizes = (layout.nrows, *(n if isinstance(n, int) else None for n in layout.levels), *layout.inner)
    for size in sizes:
        if rng.random() < 0.15:
            key.append(None)
        roll = rng.random()
        if size and ints and roll < 0.2:
            key.append(int(rng.integers(-size, size)))
        elif size and roll < 0.35 and not arrays:
            key.append(rng.permutation(size)[: int(rng.integers(0, size + 1))].tolist())
            arrays = 1
        elif ints and size is None and roll < 0.2:
            key.append(int(rng.integers(-2, 2)))
        else:
            key.append(SLICES[int(rng.integers(len(SLICES)))] if roll < 0.8 else slice(None))
    return tuple(key)


def layouts() -> list[Layout]:
    return [layout for group in STRUCTURES.values() for layout in group] + EDGE


@pytest.mark.parametrize("structure", STRUCTURES)
def test_random_keys(structure: str, way: Way) -> None:
    rng = np.random.default_rng(len(structure))
    many = {"numpy": 60, "strict": 20, "jax-eager": examples(1, 2), "jax-jit": examples(1, 3)}[way.name]
    for layout in STRUCTURES[structure] + (EDGE if structure == "flat" else []):
        values = values_for(layout, "float32", -9, 9, 1)
        x, items = way.arrays(make(layout, values)), to_lists(layout, values)
        for _ in range(many):
            key = random_key(layout, rng, ints=way.name != "jax-jit")
            if way.name == "jax-jit":
                got = jax.jit(lambda x, key=key: x[spelled(key)])(x)
                assert_nested(got, choose(items, key))
                continue
            used = tuple(way.dense(k) for k in spelled(key))
            try:
                want = choose(items, key)
            except IndexError:
                with pytest.raises(IndexError):
                    x[used]
                continue
            assert_nested(x[used], want)


@pytest.mark.parametrize("layout", nested.FLAT + nested.INNER, ids=str)
@pytest.mark.parametrize("s", SLICES, ids=str)
def test_slices_of_rows(layout: Layout, s: slice) -> None:
    values = values_for(layout, "int32", -9, 9, 1)
    x, items = make(layout, values), to_lists(layout, values)
    for first in SLICES:
        assert_nested(x[first, s], choose(items, (first, s)))


@pytest.mark.parametrize("s", SLICES, ids=str)
def test_slices_under_jit(s: slice) -> None:
    layout = nested.FLAT[0]
    values = values_for(layout, "float32", -9, 9, 1)
    x = ra.testing.poison(ra.asarray(make(layout, values), xp="jax", capacity=11))
    got = jax.jit(lambda x: x[:, s])(x)
    assert_nested(got, choose(to_lists(layout, values), (slice(None), s)))
    assert got.capacity <= x.capacity


def test_capacity_of_slices() -> None:
    x = ra.asarray(ragged([[1, 2, 3], [4], [5, 6]]), xp="jax", capacity=20)
    for key, want in ((slice(0, 2), 6), (slice(-2, None), 6), (slice(1, None), 20), (slice(None, None, -1), 20),
                      (slice(None, 9), 20), (slice(3, None, -2), 6), (slice(-3, -1), 6)):  # fmt: skip
        assert jax.eval_shape(lambda x, key=key: x[:, key], x).capacity == want
    assert jax.eval_shape(lambda x: x[1:], x).capacity == 20
    assert jax.eval_shape(lambda x: x[:, jnp.array([0, 0])], x).shape == (3, 2)


ROWS = [[1.0, 2.0, 3.0], [], [4.0]]


def jax_like(x: RaggedArray) -> RaggedArray:
    entries = (*(p.nrows + 2 for p in x.partitions[1:]), x.capacity + 3)
    return ra.testing.poison(ra.asarray(x, xp="jax", capacity=entries))


@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_an_index_that_a_row_lacks(xp: str) -> None:
    x = ragged(ROWS) if xp == "numpy" else jax_like(ragged(ROWS))
    with pytest.raises(IndexError) as caught:
        x[:, 1]
    assert str(caught.value) == (
        "getitem: expected index 1 in every row along axis 1, got length 0 at row 1. "
        "Use `ra.row_item(x, i, fill_value=)`."
    )
    with pytest.raises(IndexError):
        x[:, -1]
    with pytest.raises(IndexError, match="index 3 in every row along axis 1, got length 1 at row 2"):
        x[2, 3]
    with pytest.raises(IndexError, match="got length 1 at row 2"):
        x[[0, 2], [0, 1]]
    assert x[[0, 2], [2, -1]].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("dtype", "fill"), [("float32", np.nan), ("int32", -(2**31)), ("uint8", 255), ("bool", True), ("int8", -128)]
)
def test_traced_index_fills(dtype: str, fill: Any) -> None:
    x = jax_like(ragged([[1, 2, 0], [], [4]], dtype=dtype))
    for i, want in ((1, [x.values[1], fill, fill]), (-2, [x.values[1], fill, fill]), (7, [fill] * 3)):
        got = jax.jit(lambda x, i: x[:, i])(x, i)
        np.testing.assert_array_equal(got, jnp.array([jnp.asarray(w, dtype) for w in want]))
    np.testing.assert_array_equal(jax.jit(lambda x, i: x[i, 0])(x, jnp.int32(9)), jnp.asarray(fill, dtype))


def test_traced_rows_never_read_the_neighbour() -> None:
    x = jax_like(ragged([[1.0, 2.0], [3.0], [4.0]]))
    rows, cols = jnp.array([0, 1, 2, 5]), jnp.array([-1, 1, -2, 0])
    got = jax.jit(lambda x, r, c: x[r, c])(x, rows, cols)
    np.testing.assert_array_equal(got, [2, np.nan, np.nan, np.nan])
    got = jax.jit(lambda x, r: x[r, :1])(x, rows)
    assert got.tolist() == [[1], [3], [4], []] and got.capacity == 4
    y = jax_like(ragged([[[1.0], [2.0, 3.0]], []]))
    assert jax.jit(lambda y: y[:, 1])(y).tolist() == [[2, 3], []]


def test_checked_reports_the_row() -> None:
    x = jax_like(ragged(ROWS))
    with pytest.raises(Exception, match="index 1 in every row along axis 1, got length 0 at row 1"):
        ra.checked(lambda x, i: x[:, i])(x, 1)


def test_views_on_numpy() -> None:
    x = ragged([np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(1, 3)])
    d = ragged([[[1, 2], [3]], [[4]]])
    for y in (x[0], x[0:1].values, x[..., 0].values, x[..., ::-1].values, x[1:, :, 1:].values, x[1, ..., 0],
              x[None].values, x[:, None].values, x[..., None].values, x[...].values):  # fmt: skip
        assert np.shares_memory(y, x.values)
    assert np.shares_memory(d[0].values, d.values) and np.shares_memory(d[1:].values, d.values)
    assert x[:, :, None].row_splits is x.row_splits
    assert x[:, None].nested_row_splits[-1] is x.row_splits
    assert not np.shares_memory(x[:, ::-1].values, x.values)


def test_structure() -> None:
    x, d = ragged([[1, 2], [3]]), ragged([[[1, 2], [3]], [[4]]])
    assert x[None].shape == (1, 2, None) and x[None, None].shape == (1, 1, 2, None)
    assert x[:, None].shape == (2, 1, None) and x[..., None].shape == (2, None, 1)
    assert x[[[0, 1], [1, 1]]].shape == (2, 2, None)
    assert x[[[0, 1], [1, 1]]].tolist() == [[[1, 2], [3]], [[3], [3]]]
    assert x[:, [[0], [-1]]].tolist() == [[[1], [2]], [[3], [3]]]
    assert d[:, 0].tolist() == [[1, 2], [4]] and d[0, 1, 0] == 3 and d[0, :, 0].tolist() == [1, 3]
    assert x[np.int64(1)].tolist() == [3] and x[()].tolist() == x.tolist()
    m = make(nested.MIXED[0], values_for(nested.MIXED[0], "int32", 0, 9, 0))
    assert m[:, :, 0].shape == (3, None, None) and m[:, :, ::-1].shape == (3, None, 2, None)
    assert m[:, :, [True, False]].shape == (3, None, 1, None)
    lead = make(nested.LEADING[0], values_for(nested.LEADING[0], "int32", 0, 9, 0))
    assert lead[0].shape == (3, None) and lead[:, 1].shape == (2, None) and lead[:, 1:].shape == (2, 2, None)
    assert jax.jit(lambda x: x[0])(jax_like(lead)).tolist() == lead[0].tolist()
    mask = np.array([[True, False, False], [False, True, True]])
    assert lead[mask].tolist() == [lead[0, 0].tolist(), lead[1, 1].tolist(), lead[1, 2].tolist()]
    assert ra.boolean_mask(lead, mask).shape == (3, None)


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda x: x[0, 0, 0], IndexError, "getitem: expected at most 2 indices, got 3. Check `x.shape`."),
    (lambda x: x[..., ...], IndexError, "getitem: expected one `...`, got 2. Write the other axes as `:`."),
    (lambda x: x[:, 1.5], IndexError,
     "getitem: expected ints, slices, `...`, None and arrays of them, got float 1.5. "
     "Convert it, or use `ra.boolean_mask`."),
    (lambda x: x[:, ::0], ValueError, "getitem: expected a slice step other than 0, got 0. Use 1 for every entry."),
    (lambda x: x[::0], ValueError, "getitem: expected a slice step other than 0, got 0. Use 1 for every entry."),
    (lambda x: x["a"], IndexError,
     "getitem: expected an int, slice, index array or mask of rows, got str 'a'. Index rows."),
    (lambda x: x[True], IndexError,
     "getitem: expected an int, slice, index array or mask of rows, got bool True. Index rows."),
    (lambda x: x[5:, 7, ...][0], IndexError, "index 0 is out of bounds for axis 0 with size 0"),
    (lambda x: x[:, np.array([True, False])], IndexError,
     "getitem: expected a mask of shape (None,) at axis 1, got bool (2,). Use a ragged mask."),
    (lambda x: x[[0, 7], 0], IndexError,
     "getitem: expected rows from -3 to 2, got 7 at position 1. Check `len(x)`."),
    (lambda x: x[7, 0], IndexError, "getitem: expected a row from -3 to 2, got 7. Check `len(x)`."),
    (lambda x: x[0, x > 0], IndexError,
     "getitem: expected a ragged key in front, by itself, got it as item 1. Index one after the other."),
    (lambda x: x[[0, 1, 2], [0, 1]], IndexError,
     "getitem: expected index arrays that broadcast, got (3,) and (2,). Give them one shape."),
    (lambda x: ra.narrow(x, 1, 0, 1), ValueError,
     "narrow: expected runs within every row along axis 1, got 1 from 0 in a row of 0. Use `x[:, a:b]` to clip."),
    (lambda x: ra.narrow(x, 0, 2, 2), ValueError,
     "narrow: expected a run within 3 entries of axis 0, got 2 from 2. Check `x.shape`."),
    (lambda x: ra.narrow(x, 1, np.array([0, 1]), 0), ValueError,
     "narrow: expected a start of shape (3,), got (2,). Pass one per row."),
    (lambda x: ra.first(x), IndexError,
     "first: expected index 0 in every row along axis 1, got length 0 at row 1. Use `ra.first(x, fill_value=)`."),
    (lambda x: ra.row_item(x, 1.0), TypeError,
     "row_item: expected an integer index, got float. Pass an int, or one per row."),
    (lambda x: ra.boolean_mask(x, x), IndexError,
     "boolean_mask: expected a bool mask for the first axes of (3, None), got float64 of shape (3, None). "
     "Compare first."),
    (lambda x: ra.boolean_mask(x, x > 0, size=2), ValueError,
     "boolean_mask: expected no size= with a ragged mask, got 2. Drop it."),
    (lambda x: ra.take(x, ragged([[0]]), axis=1), TypeError,
     "take: expected dense indices below axis 0, got ragged ones. Use `ra.gather(x, indices, batch_dims=)`."),
    (lambda x: ra.take(x, ragged([[0], [9]])), IndexError,
     "take: expected index 9 in every row along axis 0, got length 3 at row 1. Check `x.row_lengths()`."),
    (lambda x: ra.gather(x, ragged([[0], [], [9]]), batch_dims=1), IndexError,
     "gather: expected index 9 in every row along axis 1, got length 1 at row 2. Check `x.row_lengths()`."),
    (lambda x: ra.gather(x, ragged([[0]]), batch_dims=1), ValueError,
     "gather: expected 3 rows, got 1. Align the rows first."),
    (lambda x: ra.gather(x, ragged([[0], [], [0]]), batch_dims=3), ValueError,
     "gather: expected batch_dims from 0 to 1, got 3. Check the shapes."),
    (lambda x: ra.gather(x, x), TypeError, "gather: expected integer indices, got dtype float64. Convert them."),
    (lambda x: ra.take_along_axis(x, np.array([0, 0, 0])), ValueError,
     "take_along_axis: expected as many axes, got 2 and 1 axes. Use `ra.gather(x, indices, batch_dims=)`."),
    (lambda x: x.at[5].set(1), IndexError, "at: expected a row from -3 to 2, got 5. Check `len(x)`."),
    (lambda x: x.at[:, 0].set(1), IndexError,
     "at: expected index 0 in every row along axis 1, got length 0 at row 1. Check `x.row_lengths()`."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_errors(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        call(ragged(ROWS))
    assert str(caught.value) == text


TRACED: list[tuple[Any, str]] = [
    (lambda x: x[0, :2], "getitem: expected a row whose length can be read, got a traced one. "
     "Use `ra.row(x, i, length=)`."),
    (lambda x: x[x.row_lengths(), 1:],
     "getitem: expected a static capacity, got traced rows or lengths. Call `ra.take(x, indices, capacity=)`."),
    (lambda x: x[x.row_lengths() > 0, 1:],
     "getitem: expected a static row count, got a traced mask. Call `ra.boolean_mask(x, mask, size=)`."),
    (lambda x: x[:, : x.row_lengths()[0]],
     "getitem: expected a slice with static bounds, got traced ones. Use `ra.narrow(x, axis, start, length)`."),
    (lambda x: ra.nonzero(x), "nonzero: expected a static size, got a traced count. Pass `size=`."),
    (lambda x: ra.take(x, ra.astype(x, "int32")),
     "take: expected a static capacity, got traced rows or lengths. Call `ra.take(x, indices, capacity=)`."),
]  # fmt: skip


@pytest.mark.parametrize(("call", "text"), TRACED, ids=[str(i) for i in range(len(TRACED))])
def test_traced_errors(call: Any, text: str) -> None:
    with pytest.raises(ra.DynamicShapeError) as caught:
        jax.jit(call)(jax_like(ragged(ROWS)))
    assert str(caught.value) == text


def test_what_the_errors_advise_works() -> None:
    x = jax_like(ragged(ROWS))
    assert jax.jit(lambda x: ra.narrow(x, 1, 0, x.row_lengths() // 2))(x).tolist() == [[1], [], []]
    got = jax.jit(lambda x: ra.nonzero(x > 1, size=4))(x)
    assert [g.tolist() for g in got] == [[0, 0, 2, -1], [1, 2, 0, -1]]
    assert jax.jit(lambda x: ra.take(x, ragged([[2], [0, 0]]), capacity=7))(x).tolist() == [
        [[4]], [[1, 2, 3], [1, 2, 3]]
    ]  # fmt: skip
    assert jax.jit(lambda x: ra.row_item(x, 1, fill_value=0))(x).tolist() == [2, 0, 0]


def loop_rows(layout: Layout, values: np.ndarray, f: Any) -> list[Any]:
    return [f(row, n) for n, row in enumerate(to_lists(layout, values))]


@pytest.mark.parametrize("layout", nested.FLAT + nested.INNER + nested.DOUBLE, ids=str)
def test_functions(layout: Layout, way: Way) -> None:
    values = values_for(layout, "float32", -9, 9, 1)
    host = make(layout, values)
    x, items = way.arrays(host), to_lists(layout, values)
    lengths = np.asarray(host.row_lengths())
    wanted = [[(7 * i + n) % len(row) - len(row) * (i % 2) for i in range(n % 3)] if row else [] for n, row in
              enumerate(items)]  # fmt: skip
    index = way.arrays(ragged(wanted, dtype="int32"))
    if len(layout.levels) == 1:
        want = [[row[i] for i in at] for row, at in zip(items, wanted, strict=True)]
        assert_nested(way.run("gather", lambda x, i: ra.gather(x, i, batch_dims=1), x, index), want)
    begin = way.dense((lengths // 2).astype("int32"))
    size = way.dense(((lengths + 1) // 3).astype("int32"))
    want = [row[len(row) // 2 :][: (len(row) + 1) // 3] for row in items]
    assert_nested(way.run("narrow", lambda x, b, s: ra.narrow(x, 1, b, s), x, begin, size), want)
    mask = values[..., 0] > 0 if layout.inner else values > 0
    keep = way.arrays(make(layout._replace(inner=()), mask))
    flags = to_lists(layout._replace(inner=()), mask)

    def filtered(rows: Any, flags: Any, depth: int) -> Any:
        if depth == 0:
            return [r for r, f in zip(rows, flags, strict=True) if f]
        return [filtered(r, f, depth - 1) for r, f in zip(rows, flags, strict=True)]

    want = filtered(items, flags, len(layout.levels))
    got = way.run("mask", ra.boolean_mask, x, keep)
    assert_nested(got, want)
    assert_nested(way.run("getmask", lambda x, m: x[m], x, keep), want)
    outer = way.arrays(ragged([[i % 2 == 0 for i in range(len(row))] for row in items], dtype="bool"))
    want = [[r for i, r in enumerate(row) if i % 2 == 0] for row in items]
    assert_nested(way.run("outermask", lambda x, m: x[m], x, outer), want)
    if len(layout.levels) == 1:
        for i in (0, -1, 2):
            want = [row[i] if -len(row) <= i < len(row) else np.full(layout.inner, 5.0).tolist() for row in items]
            assert_nested(way.run(("item", i), lambda x, i=i: ra.row_item(x, i, fill_value=5.0), x), want)
        per = way.dense(np.array([n % 2 for n in range(len(items))], dtype="int32"))
        want = [row[n % 2] if n % 2 < len(row) else np.full(layout.inner, 5.0).tolist() for n, row in enumerate(items)]
        assert_nested(way.run("items", lambda x, i: ra.row_item(x, i, fill_value=5.0), x, per), want)


@pytest.mark.parametrize("layout", nested.FLAT + nested.DOUBLE + nested.TRIPLE + nested.INNER, ids=str)
def test_take_along_axis(layout: Layout, way: Way) -> None:
    values = values_for(layout, "float32", -9, 9, 1)
    host = make(layout, values)
    x = way.arrays(host)
    depth = len(layout.levels)
    if layout.inner:
        order = np.argsort(values, axis=-1).astype("int32")
        index = way.arrays(make(layout, order))
        assert_nested(ra.take_along_axis(x, index, axis=-1), to_lists(layout, np.sort(values, axis=-1)))
    lengths = layout.levels[0]
    if depth == 1:  # each row reversed, by its own indices, element by element
        order = np.concatenate([np.arange(n)[::-1] for n in lengths] or [[]]).astype("int32")
        flat = np.broadcast_to(order.reshape(-1, *(1,) * len(layout.inner)), values.shape)
        index = way.arrays(make(layout, np.ascontiguousarray(flat)))
        got = way.run("along", lambda x, i: ra.take_along_axis(x, i, axis=1), x, index)
        assert_nested(got, [row[::-1] for row in to_lists(layout, values)])
        index = way.arrays(make(layout, np.ascontiguousarray(flat * 0 - 1)))
        got = way.run("along", lambda x, i: ra.take_along_axis(x, i, axis=1), x, index)
        assert_nested(got, [[row[-1] for _ in row] for row in to_lists(layout, values)])


def test_along_outer_axes() -> None:
    d = ragged([[[1, 2], [3, 4, 5]], [[6]]])
    index = ragged([[[1, 1], [0]], [[0]]])
    assert ra.take_along_axis(d, index, axis=1).tolist() == [[[3, 4], [1]], [[6]]]
    assert ra.take_along_axis(d, ragged([[[1]], [[0, 0]]]), axis=0).tolist() == [[[6]], [[1, 2]]]
    with pytest.raises(IndexError):
        ra.take_along_axis(d, ragged([[[1, 1], [0, 0, 0]], [[0]]]), axis=1)
    dense = np.arange(6).reshape(2, 3)
    assert ra.take_along_axis(dense, ragged([[2], [0, 0]]), axis=1).tolist() == [[2], [3, 3]]
    assert ra.take_along_axis(ragged([[1, 2], [3]]), np.array([[1], [0]]), axis=1).tolist() == [[2], [3]]
    assert ra.take_along_axis(dense, np.array([[0], [1]]), axis=1).tolist() == [[0], [4]]
    assert ra.take(dense, ragged([[1], []])).tolist() == [[[3, 4, 5]], []]
    assert ra.gather(d, ragged([[1, 0], [0]]), batch_dims=1).tolist() == [[[3, 4, 5], [1, 2]], [[6]]]
    assert ra.gather(d, ragged([[[1], [2, 0]], [[0]]]), batch_dims=2).tolist() == [[[2], [5, 3]], [[6]]]
    assert ra.gather(d, np.array([1, 0]), batch_dims=1).tolist() == [[3, 4, 5], [6]]
    assert d[ragged([[1, 0], [0]])].tolist() == [[[3, 4, 5], [1, 2]], [[6]]]
    assert ra.take(d, np.array([[0, 1], [1, 1]])).shape == (2, 2, None, None)
    assert [g.tolist() for g in ra.nonzero(ragged([[[0, 2], []], [[3]]]))] == [[0, 1], [0, 0], [1, 0]]
    rgb = ragged([np.arange(6).reshape(2, 3)])
    assert ra.boolean_mask(rgb, rgb > 2).tolist() == [[[], [3, 4, 5]]]


UPDATED = [0, slice(2, None), (slice(None), slice(1, None)), (slice(None, None, -1), slice(0, None, 2)), (..., None),
           [0, 3, 0], (3, 0), (0, slice(-2, None))]  # fmt: skip


@pytest.mark.parametrize("method", ["set", "add", "multiply", "min", "max"])
@pytest.mark.parametrize("key", UPDATED, ids=str)
def test_updates(method: str, key: Any, way: Way) -> None:
    layout = nested.FLAT[0]._replace(nrows=4, levels=([3, 0, 2, 1],))
    values = values_for(layout, "float32", -9, 9, 1)
    x = way.arrays(make(layout, values))
    slots = make(layout, np.arange(6, dtype="int32"))[key]
    slots = np.ravel(slots.values if isinstance(slots, RaggedArray) else slots)
    want = values.copy()
    f = {"set": None, "add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}[method]
    if f is None:
        want[slots] = 1.5
    else:
        f.at(want, slots, np.float32(1.5))
    spelled_key = way.dense(np.array(key)) if isinstance(key, list) and way.name != "numpy" else key
    got = way.run((method, str(key)), lambda x: getattr(x.at[spelled_key], method)(1.5), x)
    assert_nested(got, to_lists(layout, want))
    assert_nested(x, to_lists(layout, values))


def test_updates_with_arrays() -> None:
    for x in (ragged(ROWS), jax_like(ragged(ROWS))):
        xp = x.xp
        assert x.at[0].set(xp.asarray([7.0, 8.0, 9.0])).tolist() == [[7, 8, 9], [], [4]]
        assert x.at[::2].set(xp.asarray([[5.0], [6.0]])).tolist() == [[5, 5, 5], [], [6]]
        assert x.at[x > 2].multiply(10).tolist() == [[1, 2, 30], [], [40]]
        assert x.at[:, ::-1].set(x).tolist() == [[3, 2, 1], [], [4]]
        assert x.at[::2, 0].add(xp.asarray([1.0, 2.0])).tolist() == [[2, 2, 3], [], [6]]
        assert x.at[::2, 0].get().tolist() == [1, 4]
        assert x.at[:, 1].get(fill_value=0).tolist() == [2, 0, 0]
        assert x.at[xp.asarray([True, False, True])].set(0).tolist() == [[0, 0, 0], [], [0]]
        assert x.at[[0, 2], [1, 0]].set(9).tolist() == [[1, 9, 3], [], [9]]
    j = jax_like(ragged(ROWS))
    assert jax.jit(lambda x, i: x.at[:, i].set(0))(j, 1).tolist() == [[1, 0, 3], [], [4]]
    assert jax.jit(lambda x, i: x.at[i].set(0))(j, 2).tolist() == [[1, 2, 3], [], [0]]
    assert jax.jit(lambda x, i: x.at[i].set(0))(j, 9).tolist() == ROWS
    assert jax.jit(lambda x, m: x.at[m].set(0))(j, jnp.array([True, True, False])).tolist() == [[0, 0, 0], [], [4]]
    assert jax.jit(lambda x, r: x.at[0].set(r))(j, jnp.array([7.0, 8.0, 9.0])).tolist() == [[7, 8, 9], [], [4]]
    inner = ragged([np.ones((2, 3)), np.ones((1, 3))])
    assert inner.at[..., 1].set(0).tolist() == [[[1, 0, 1]] * 2, [[1, 0, 1]]]
    assert inner.at[:, 0].set(np.arange(3.0)).tolist() == [[[0, 1, 2], [1, 1, 1]], [[0, 1, 2]]]
    with pytest.raises(ValueError, match="at: expected values that fit into"):
        ragged([[1.0]]).at[:, 0].set(np.ones((2, 1)))


GRADS = [
    ("reverse", lambda x: x[:, ::-1]),
    ("head", lambda x: x[:, :2]),
    ("tail", lambda x: x[1:, -2:]),
    ("rows", lambda x: x[np.array([2, 0])]),
    ("mask", lambda x: x[x > 1.5]),
    ("item", lambda x: ra.row_item(x, -1, fill_value=0.0)),
    ("along", lambda x: ra.take_along_axis(x, ra.astype(x, "int32") * 0, axis=1)),
    ("narrow", lambda x: ra.narrow(x, 1, x.row_lengths() // 2, (x.row_lengths() + 1) // 2)),
    ("set", lambda x: x.at[:, 1:].set(2.0)),
    ("add", lambda x: x.at[:, 1:].add(x[:, 1:])),
]


@pytest.mark.parametrize(("name", "f"), GRADS, ids=[g[0] for g in GRADS])
def test_gradients(name: str, f: Any) -> None:
    """Against finite differences of the NumPy result, the slack poisoned."""
    host = ragged([[1.0, 2.0, 3.0], [], [4.0], [5.0, 6.0]], dtype="float32")
    x = jax_like(host)

    def loss(x: Any) -> Any:
        y = f(x)
        return ra.sum(y**2) if isinstance(y, RaggedArray) else (y**2).sum()

    got = jax.jit(ra.grad(loss))(x)
    values = np.asarray(host.values, dtype="float64")
    want = []
    for i in range(6):
        up, down = values.copy(), values.copy()
        up[i] += 1e-4
        down[i] -= 1e-4
        want.append((float(loss(host.with_values(up))) - float(loss(host.with_values(down)))) / 2e-4)
    np.testing.assert_allclose(np.asarray(got.values)[:6], want, rtol=1e-3, atol=1e-3)
    assert (np.asarray(got.values)[6:] == 0).all()


def test_vmap() -> None:
    x = jax_like(ragged(ROWS))
    batch = jax.tree.map(lambda a: jnp.stack([a, a]), x)
    for f in (lambda x: x[:, ::-1], lambda x: x[x > 1], lambda x: x.at[:, :1].set(0.0)):
        got = jax.vmap(f)(batch)
        want = f(x)
        np.testing.assert_array_equal(got.partitions[0].splits[1], want.row_splits)
        used = int(want.row_splits[-1])
        np.testing.assert_array_equal(got.values[1][:used], want.values[:used])
    got = jax.vmap(lambda x, i: x[:, i], in_axes=(None, 0))(x, jnp.arange(2))
    np.testing.assert_array_equal(got, [[1, np.nan, 4], [2, np.nan, np.nan]])


def gathers(f: Any, *args: Any) -> int:
    """Gathers of floating values in the program."""

    def count(jaxpr: Any) -> int:
        total = 0
        for eqn in jaxpr.eqns:
            total += eqn.primitive.name == "gather" and eqn.outvars[0].aval.dtype == jnp.float32
            for sub in jax.extend.core.jaxprs_in_params(eqn.params):
                total += count(sub)
        return total

    return count(jax.make_jaxpr(f)(*args).jaxpr)


@pytest.mark.parametrize(
    "f", [lambda x: x[1:, ::-1, :2], lambda x: x[::-1], lambda x: x[:, 1:], lambda x: x[..., :1], lambda x: x[x > 0],
          lambda x: ra.take(x, jnp.array([1, 0]), capacity=9), lambda x: x[:, 0]],
)  # fmt: skip
def test_one_gather(f: Any) -> None:
    x = jax_like(ragged([[[1.0, 2.0], [3.0]], [[4.0]]]))
    assert gathers(f, x) == 1


def test_runs_of_inner_rows() -> None:
    d = ragged([[[1, 2, 3], [4]], [], [[5, 6]]])
    starts, sizes = ragged([[1, 0], [], [-1]]), ragged([[2, 0], [], [1]])
    want = [[[2, 3], []], [], [[6]]]
    assert ra.narrow(d, 2, starts, sizes).tolist() == want
    x = jax_like(d)
    got = jax.jit(lambda x, s, n: ra.narrow(x, 2, s, n))(x, jax_like(starts), jax_like(sizes))
    assert got.tolist() == want and got.capacity == x.capacity
    assert ra.narrow(d, 1, np.array([1, 0, 0]), np.array([1, 0, 1])).tolist() == [[[4]], [], [[5, 6]]]
    assert jax.jit(lambda x: ra.narrow(x, 2, 0, 1))(x).capacity == 5
    assert ra.narrow(d, 0, 1, 2).tolist() == [[], [[5, 6]]]
    inner = ragged([np.arange(6).reshape(2, 3)])
    assert ra.narrow(inner, -1, 1, 2).tolist() == [[[1, 2], [4, 5]]]
    assert np.shares_memory(ra.narrow(inner, -1, 1, 2).values, inner.values)


def test_runs_beyond_the_end_under_jit() -> None:
    x = jax_like(ragged([[1.0, 2.0], [3.0]]))
    got = jax.jit(lambda x, n: ra.narrow(x, 1, 0, n))(x, jnp.array([2, 2]))
    assert got.row_splits.tolist() == [0, 2, 3] and np.isnan(np.asarray(got.values)).all()
    with pytest.raises(
        Exception, match="narrow: expected runs within every row along axis 1, got 2 from 0 in a row of 1"
    ):
        ra.checked(lambda x, n: ra.narrow(x, 1, 0, n))(x, jnp.array([2, 2]))


def test_first_and_last() -> None:
    x = ragged(ROWS)
    assert ra.first(x, fill_value=0).tolist() == [1, 0, 4] and ra.last(x, fill_value=-1).tolist() == [3, -1, 4]
    np.testing.assert_array_equal(jax.jit(ra.last)(jax_like(x)), [3, np.nan, 4])
    assert ra.first(ragged([[[1, 2]], [[3]]])).tolist() == [[1, 2], [3]]
    assert ra.row_item(ragged([[[1, 2]], []]), 0).tolist() == [[1, 2], []]


def test_traced_inner_index() -> None:
    x = jax_like(ragged([np.arange(6, dtype="float32").reshape(2, 3)]))
    take = jax.jit(lambda x, i: x[..., i])
    np.testing.assert_array_equal(take(x, jnp.array([2, -1, 3])).values[:2], [[2, 2, np.nan], [5, 5, np.nan]])
    assert take(x, jnp.int32(1)).tolist() == [[1, 4]]
    assert take(x, jnp.array([[0], [1]], dtype="uint8")).shape == (1, None, 2, 1)
    host = ragged([np.arange(6).reshape(2, 3)])
    assert host[0, [0, 1], [2, 0]].tolist() == [2, 3]
    assert host[:, [1, 0], [0, 1]].tolist() == [[3, 1]]


def test_wide_indices() -> None:
    x = ragged(ROWS)
    assert x[np.array([2, 0], dtype="uint8")].tolist() == [[4], [1, 2, 3]]
    assert x[::2, np.array([0], dtype="uint64")].tolist() == [[1], [4]]
    assert x[:, : 2**70].tolist() == ROWS and x[:, -(2**70) :: 2**40].tolist() == [[1], [], [4]]
    for bad in (2**40, -(2**40)):
        with pytest.raises(IndexError):
            x[:, bad]
        with pytest.raises(IndexError):
            x[::2, np.array([bad])]
    with jax.enable_x64(True):
        got = jax.jit(lambda x, i: x[:, i])(jax_like(ragged(ROWS, dtype="float32")), jnp.array([2**40 + 1, -(2**35)]))
        assert np.isnan(np.asarray(got)).all()


@pytest.mark.parametrize(
    "f", [lambda x: x[:, 1], lambda x: x[x > 1], lambda x: x.at[:, 1].set(0.0), lambda x: x.at[x > 1].add(1.0),
          lambda x: x[np.array([2, 0]), 1:], lambda x: ra.narrow(x, 1, 0, 2), lambda x: ra.nonzero(x, size=9),
          lambda x: ra.take_along_axis(x, ra.astype(x, "int32"), axis=1)],
)  # fmt: skip
def test_no_index_leaves_an_array(f: Any) -> None:
    x = jax_like(ragged(ROWS))
    error, _ = jax.jit(checkify.checkify(f, errors=checkify.index_checks))(x)
    assert error.get() is None


def test_one_trace_for_all_lengths() -> None:
    rng = np.random.default_rng(0)
    counted = ra.testing.count_traces(lambda x, i: (x[:, ::-1], x[:, i], x[1:, :2], x.at[:, 0].set(0.0)))
    f = jax.jit(counted)
    for _ in range(10):
        x = ragged([rng.normal(size=rng.integers(0, 4)).astype("float32") for _ in range(5)])
        f(ra.asarray(x, xp="jax", capacity=20), 1)
    assert counted.count == 1


FEATURES = ragged([np.ones((5, 3)), np.ones((2, 3))], item_shape=(None, 3))
NEIGHBOURS = ragged([np.array([[0, 4]] * 5), np.array([[0, 1]] * 2)], item_shape=(None, 2))
ADVICE = "A key of 3 axes picks along axis 2; `ra.gather(x, key, batch_dims=1)` picks along axis 1."


def test_a_ragged_key_of_several_axes_says_along_which_it_picks() -> None:
    text = f"expected index 4 in every row along axis 2, got length 3 at row 0. {ADVICE}"
    for x in (FEATURES, FEATURES.to("jax")):
        for op, call in (("getitem", lambda x: x[NEIGHBOURS]), ("at", lambda x: x.at[NEIGHBOURS].set(0.0))):
            with pytest.raises(IndexError) as caught:
                call(x)
            assert str(caught.value) == f"{op}: {text}"
    with pytest.raises(Exception, match=re.escape(text)):
        ra.checked(lambda x, i: x[i])(FEATURES.to("jax"), NEIGHBOURS.to("jax"))
    with pytest.raises(ValueError) as caught:
        FEATURES[..., 0][NEIGHBOURS]
    assert str(caught.value) == f"getitem: expected batch_dims from 0 to 1, got 2. {ADVICE}"
    with pytest.raises(IndexError, match=r"got length 3 at row 0. Check `x.shape`.$"):
        ra.gather(FEATURES, NEIGHBOURS, batch_dims=2)
    assert ra.gather(FEATURES, NEIGHBOURS, batch_dims=1).shape == (2, None, 2, 3)


DEEP = ragged([[[1.0, 2.0], [], [0.5]], [], [[3.0], [-4.0, 1.0, 1.0]]])


def by_sum(x: RaggedArray) -> Any:
    keys = ra.sum(x, axis=2)
    rows = ra.argsort(ra.sum(keys, axis=1))
    return (
        ra.gather(x, ra.argsort(keys, axis=1), batch_dims=1),
        ra.take(x, rows),
        ra.take_along_axis(keys, ra.argsort(keys, axis=1), axis=1),
    )


def test_what_argsort_gives_needs_no_capacity() -> None:
    counted = ra.testing.count_traces(by_sum)
    f = jax.jit(counted)
    for x in (DEEP, DEEP[::-1]):
        y = ra.testing.poison(ra.asarray(x, xp="jax", capacity=(8, 10)))
        inside, outside, keys = f(y)
        assert inside.tolist() == [sorted(row, key=sum) for row in x.tolist()]
        assert outside.tolist() == sorted(x.tolist(), key=lambda row: sum(map(sum, row)))
        assert keys.tolist() == [sorted(map(sum, row)) for row in x.tolist()]
        for out in (inside, outside):
            assert (out.partitions[1].nrows, out.capacity) == (8, 10)
    assert counted.count == 1
    y = ra.asarray(DEEP, xp="jax", capacity=(8, 10))
    weights = jnp.arange(10.0)
    slope = jax.jit(jax.grad(lambda v: ra.sum(by_sum(y.with_values(v))[0].map_values(lambda v: v * weights))))(y.values)
    assert slope.tolist() == [1, 2, 0, 6, 3, 4, 5, 0, 0, 0]  # of the sorted sums 0, 0.5, 3 and -2, 3


def test_an_order_of_components_needs_no_capacity() -> None:
    parts = [np.full((2, 3), 2.0), np.zeros((1, 2)), np.ones((3, 1))]
    x = ra.testing.poison(ra.with_capacity(ragged(parts, item_shape=(None, None)), 12)).to("jax")
    out = jax.jit(lambda x: ra.take(x, ra.argsort(ra.max(x, axis=(1, 2)))))(x)
    assert out.tolist() == [parts[i].tolist() for i in (1, 2, 0)]
    assert out.block is not None and x.block is not None and out.block.bound == x.block.bound


def test_indices_that_repeat_are_no_order() -> None:
    y = ra.asarray(DEEP, xp="jax", capacity=(5, 7))
    rows = lambda x: ra.take(x, jnp.zeros(3, int) + ra.astype(x.values[0] > 5, "int32"))  # noqa: E731
    with pytest.raises(Exception, match=r"take: expected capacity of at least 9, got 5\. Pass a larger `capacity=`\."):
        ra.checked(rows)(y)
    assert np.isnan(np.asarray(jax.jit(rows)(y).values)).all()
    with pytest.raises(ra.DynamicShapeError) as caught:
        jax.jit(lambda x, i: ra.gather(x, i, batch_dims=1))(y, ra.astype(ra.argsort(ra.sum(y, axis=2)), "int32"))
    assert str(caught.value) == (
        "gather: expected a static capacity, got traced rows or lengths. Call `ra.gather(x, indices, capacity=)`."
    )


PLACES = ragged([[2, 0, 1], [], [1, 0]])
BLOCK = ragged([np.ones((2, 1)), np.ones((1, 3))], item_shape=(None, None))
TUPLES: dict[str, tuple[Any, tuple[int, ...], tuple[int | None, ...]]] = {
    "asarray": (lambda x, n: ra.asarray(x, xp="jax", capacity=n), (7, 11), (7, 11)),
    "with_capacity": (lambda x, n: ra.with_capacity(x, n), (7, 11), (7, 11)),
    "take": (lambda x, n: ra.take(x, np.array([2, 0]), capacity=n), (7, 11), (7, 11)),
    "take of a matrix of rows": (lambda x, n: ra.take(x, np.array([[2, 0]]), capacity=n), (0, 7, 11), (2, 7, 11)),
    "take of ragged rows": (lambda x, n: ra.take(x, PLACES, capacity=n), (0, 9, 15), (None, 9, 15)),
    "gather": (lambda x, n: ra.gather(x, PLACES, batch_dims=1, capacity=n), (0, 11), (None, 11)),
    "gather of one": (lambda x, n: ra.gather(x[::2], np.array([0, 1]), batch_dims=1, capacity=n), (11,), (11,)),
    "boolean_mask": (lambda x, n: ra.boolean_mask(x, np.array([True, False, True]), capacity=n), (7, 11), (7, 11)),
    "boolean_mask of entries": (lambda x, n: ra.boolean_mask(x, x > 0, capacity=n), (7, 11), (7, 11)),
    "repeat of rows": (lambda x, n: ra.repeat(x, np.array([1, 0, 1]), axis=0, capacity=n), (7, 11), (7, 11)),
    "repeat of entries": (lambda x, n: ra.repeat(x, PLACES * 0 + 1, axis=1, capacity=n), (7, 11), (7, 11)),
    "repeat of inner entries": (
        lambda x, n: ra.repeat(x, ra.astype(x, "int32") * 0 + 2, axis=2, capacity=n), (0, 13), (None, 13)),
    "to_rows": (lambda _, n: ra.to_rows(BLOCK.to("jax"), capacity=n), (6, 0), (6, None)),
}  # fmt: skip


@pytest.mark.parametrize("name", TUPLES)
def test_a_tuple_as_capacity_is_a_size_for_each_level(name: str) -> None:
    call, sizes, want = TUPLES[name]
    x = ragged([[[1.0, 2.0], [], [0.5]], [], [[3.0], [4.0, 1.0]]])
    y = ra.asarray(x, xp="jax")
    plain = call(y, max(sizes))
    out = call(y, sizes)
    assert out.tolist() == plain.tolist()
    got = (*(p.nrows for p in out.partitions[1:]), out.capacity)
    assert all(w in (g, None) for g, w in zip(got, want, strict=True)), got
    for wrong in ((*sizes, 5), sizes[:-1]):
        with pytest.raises(ValueError) as caught:
            call(y, wrong)
        text = f": expected {len(sizes)} sizes of 0 or more, got {wrong}. Pass one per level below axis 0."
        assert str(caught.value) == name.split()[0] + text
