"""Counts of their own for rows and entries: pad, truncate, repeat against loops; elements looked up in their row."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import DynamicShapeError, RaggedArray, ragged

from .harness.ways import Way
from .nested import DOUBLE, FLAT, INNER, MIXED, Layout, make, nest, total, values_for

LAYOUTS = [FLAT[0], FLAT[2], INNER[0], DOUBLE[0], DOUBLE[2], MIXED[0]]


def listed(layout: Layout) -> list[Any]:
    return plain(nest(layout, values_for(layout, "int32", 1, 99, 0)))


def plain(x: Any) -> Any:
    return [plain(y) for y in x] if isinstance(x, list) else np.asarray(x).tolist()


def counted(layout: Layout, level: int, seed: int) -> tuple[Any, list[Any]]:
    """A count from 0 to 2 for each entry of ``level``, as an array, and as nested lists."""
    above = Layout(layout.nrows, layout.levels[:level])
    counts = np.random.default_rng(seed).integers(0, 3, total(above)).astype(np.int32)
    items = plain(nest(above, counts))
    if not any(isinstance(n, list) for n in layout.levels[:level]):
        return counts, items
    inner = [n for n in layout.levels[level - 1 : level] if isinstance(n, int)]  # a uniform level is never the last
    folded = Layout(layout.nrows, layout.levels[: level - len(inner)], tuple(inner))
    return make(folded, counts.reshape(-1, *inner)), items


def zipped(level: int, f: Any, x: list[Any], *counts: Any) -> list[Any]:
    """``f`` of every list at depth ``level`` and its counts."""
    if level == 0:
        return f(x, *counts)
    return [zipped(level - 1, f, *both) for both in zip(x, *counts, strict=True)]


def empty(levels: tuple[Any, ...]) -> list[Any]:
    """An entry above these levels without elements."""
    return [empty(levels[1:]) for _ in range(levels[0])] if levels and isinstance(levels[0], int) else []


def ragged_levels(layout: Layout, way: Way) -> list[int]:
    """Ragged axes whose rows counts can be given for by an array; one where every axis compiles anew."""
    levels = [n + 1 for n, level in enumerate(layout.levels) if not isinstance(level, int)]
    return levels[-1:] if way.jax else levels


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_rows_of_their_own_lengths(layout: Layout, way: Way) -> None:
    x, items = way.arrays(make(layout, values_for(layout, "int32", 1, 99, 0))), listed(layout)
    none = np.zeros(layout.inner, int).tolist()
    for axis in ragged_levels(layout, way):
        last = axis == len(layout.levels)
        (first, m), (second, n) = (counted(layout, axis - 1, seed) for seed in (1, 2))
        if not isinstance(first, RaggedArray) and axis > 1:
            continue
        first, second = way.arrays(first), way.arrays(second)
        sizes = {"capacity": 48} if way.name == "jax-jit" else {}

        def longer(x: Any, a: Any, b: Any, axis: int = axis, sizes: Any = sizes) -> Any:
            return ra.pad(x, a, b, axis=axis, **sizes)

        got = way.run(("pad", axis), longer, x, first, second)
        new = none if last else empty(layout.levels[axis:])
        assert got.tolist() == zipped(axis, lambda v, a, b, new=new: [new] * a + v + [new] * b, items, m, n)
        ra.validate(got)
        got = way.run(("truncate", axis), lambda x, n, axis=axis: ra.truncate(x, n, axis=axis), x, first)
        assert got.tolist() == zipped(axis, lambda v, n: v[:n], items, m)
        ra.validate(got)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_repeat_each_entry(layout: Layout, way: Way) -> None:
    x, items = way.arrays(make(layout, values_for(layout, "int32", 1, 99, 0))), listed(layout)
    for axis in range(1, len(layout.levels) + 1):
        counts, n = counted(layout, axis, 3)
        sizes = {"capacity": (48,) * len(layout.levels)} if way.name == "jax-jit" else {}
        run = lambda x, n, axis=axis, sizes=sizes: ra.repeat(x, n, axis=axis, **sizes)  # noqa: E731
        got = way.run(("repeat", axis, len(layout.levels)), run, x, way.arrays(counts))
        want = zipped(axis, lambda v, n: [y for y, m in zip(v, n, strict=True) for _ in range(m)], items, n)
        assert got.tolist() == want
        ra.validate(got)


def test_sizes_under_jit() -> None:
    x = ra.asarray(ragged([[1.0, 2.0, 3.0], [], [4.0]]), xp="jax", capacity=9)
    n, each = jnp.array([0, 2, 1]), ra.asarray(ragged([[1, 0, 3], [], [2]]), xp="jax", capacity=9)
    for f, needed in ((lambda x, c: ra.pad(x, n, 0, **c), 7), (lambda x, c: ra.repeat(x, each, axis=1, **c), 6)):
        for lost in ({}, {"capacity": needed - 1}):
            g = jax.jit(lambda x, c=lost, f=f: f(x, c))
            if not lost:
                with pytest.raises(DynamicShapeError, match="expected a static capacity, got traced counts or lengths"):
                    g(x)
                continue
            out = g(x)
            assert np.isnan(np.asarray(out.values)).all() and int(out.row_splits[-1]) == needed and out.overflow
            with pytest.raises(ValueError, match=f"expected capacity of at least {needed}, got {needed - 1}"):
                ra.checked(lambda x, c=lost, f=f: f(x, c))(x)
        assert f(x, {"capacity": needed}).capacity == needed


def test_gradients() -> None:
    x = ra.testing.poison(ra.asarray(ragged([[1.0, 2.0, 3.0], [], [4.0]]), xp="jax", capacity=9))
    n, each = np.array([0, 2, 1]), ra.asarray(ragged([[1, 0, 3], [], [2]]), xp="jax", capacity=9)
    grad = ra.grad(lambda x: ra.sum(ra.square(ra.pad(x, n, 1))) + ra.sum(ra.repeat(x, each, axis=1)))(x)
    np.testing.assert_array_equal(grad.values[:4], [3, 4, 9, 10])
    assert not np.asarray(grad.values[4:]).any()


ERRORS: list[tuple[Any, type[Exception], str]] = [
    (lambda x: ra.pad(x, [1, -1], 0), ValueError,
     "pad: expected a before of at least 0, got -1. Cut with `ra.truncate`."),
    (lambda x: ra.pad(x, np.array([1]), 0), TypeError,
     "pad: expected an integer before, or one per row, of shape (2,), got int64 of shape (1,). Pass one per row."),
    (lambda x: ra.pad(x, 1, 0, capacity=4), ValueError,
     "pad: expected no capacity= for static counts, got 4. Drop it."),
    (lambda x: ra.pad(x, np.array([1, 1]), 0, axis=0), ValueError,
     "pad: expected rows along a ragged axis for counts per row, got axis 0 of (2, None). "
     "Pass ints, or convert a block with `ra.to_rows(x)`."),
    (lambda x: ra.truncate(x, np.array([1, 1]), axis=0), ValueError,
     "truncate: expected one length for all rows along axis 0, got an array. Pass an int, or cut a ragged axis."),
    (lambda x: ra.truncate(x, np.array([-1, 1])), ValueError,
     "truncate: expected a length of at least 0, got -1. Cut with `ra.truncate`."),
    (lambda x: ra.repeat(x, ragged([[1], [1]]), axis=1), ValueError,
     "repeat: expected equal row lengths along axis 1, got 2 and 1 at row 0. "
     "Align the rows first, or use `ra.to_padded`."),
    (lambda x: ra.repeat(x, ragged([[1, -1], [1]]), axis=1), ValueError,
     "repeat: expected repeats of at least 0, got -1. Pass counts."),
    (lambda x: ra.repeat(x, x * 1.0, axis=1), TypeError,
     "repeat: expected integer repeats of shape (2, None), got float64 of shape (2, None). Pass one per entry."),
    (lambda x: ra.repeat(x, x, axis=1, size=3), ValueError,
     "repeat: expected no size= with repeats of entries, got 3. Pass `capacity=`."),
    (lambda x: ra.isin(np.ones((2, 1)), x), ValueError,
     "isin: expected rows of scalars to look in, for the rows of x1, got shapes (2, 1) and (2, None). "
     "Pass plain values."),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "text"), ERRORS, ids=[text.split(", got")[0] for _, _, text in ERRORS])
def test_errors(f: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        f(ragged([[1, 2], [3]]))
    assert str(caught.value) == text


@pytest.mark.parametrize("dtype", ["int32", "float32", "bool"])
def test_isin_its_row(dtype: str, way: Way) -> None:
    rng = np.random.default_rng(0)
    for layout in (FLAT[0], DOUBLE[0]):
        a = rng.integers(0, 2 if dtype == "bool" else 5, total(layout)).astype(dtype)
        if dtype == "float32" and len(a):
            a[0] = np.nan
        other = Layout(layout.nrows, (*layout.levels[:-1], [3, 0, 4, 1, 0][: len(layout.levels[-1])]))
        b = rng.integers(0, 2 if dtype == "bool" else 5, total(other)).astype(dtype)
        if dtype == "float32":
            b[0] = np.nan
        x, y = way.arrays(make(layout, a)), way.arrays(make(other, b))
        rows, sets = (nest(Layout(len(n.levels[-1]), (n.levels[-1],)), v) for n, v in ((layout, a), (other, b)))
        want = [np.isin(np.asarray(r, dtype), np.asarray(s, dtype)).tolist() for r, s in zip(rows, sets, strict=True)]
        for invert in (False, True):
            run = lambda x, y, invert=invert: ra.isin(x, y, invert=invert)  # noqa: E731
            got = way.run(("isin", invert), run, x, y)
            found = ra.RaggedArray(got.values, got.partitions[-1:]).tolist()[: len(want)]
            assert found == [[m != invert for m in row] for row in want]
