"""Axes of size 1 of ragged operands stretch, in front of ragged axes too; what is expected is written on lists."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import raggedarray as ra
from raggedarray import RaggedArray, ragged

from .harness.ways import Way

Shape = tuple[int | None, ...]

PAIRS: list[tuple[Shape, Shape, tuple[int, ...]]] = [
    ((1, None), (3, 1), ()),
    ((1, None), (3, None), ()),
    ((1, None), (0, 1), ()),
    ((1, None), (2, 3, 1), ()),
    ((1, 1, None), (2, 3, 1), ()),
    ((1, 4, None), (3, 1, None), ()),
    ((3, 1, None), (3, 4, 1), (0,)),
    ((3, 1, None), (1, 4, 1), (0,)),
    ((3, 1, None), (4, 1), (0,)),
    ((1, None, None), (3, 1, 1), ()),
    ((1, None, None), (3, 1, None), ()),
    ((1, None, 2), (3, 1, 2), ()),
    ((3, None, 1, None), (3, 1, 4, 1), (0,)),
    ((1, None, 1, None), (2, 1, 3, 1), ()),
]
"""Two shapes, and the axes that the lengths of ragged ones depend on. The first operand is stretched."""
PRODUCTS: list[tuple[Shape, Shape, tuple[int, ...]]] = [
    ((3, 1, None), (3, None, 1), (0,)),
    ((1, None), (3, None, 1), ()),
    ((2, 1, 2, None), (2, None, 1, 1), (0,)),
    ((2, 1, None), (1, None, 1), (0,)),
]
"""Pairs whose results are larger than either: their size is data."""


def filled(shape: Shape, by: tuple[int, ...], first: float, path: tuple[int, ...] = ()) -> Any:
    """Nested lists of this shape; rows have 2, 1 and 0 entries by the index along ``by``."""
    if len(path) == len(shape):
        return first + sum(10.0**-i * p for i, p in enumerate(path))
    n = shape[len(path)]
    count = (2 + 3 * sum(path[a] for a in by)) % 4 if n is None else n
    return [filled(shape, by, first, (*path, i)) for i in range(count)]


def added(a: Any, one: Shape, b: Any, two: Shape) -> Any:
    """The sum of nested lists of these shapes, an axis at a time."""
    if not one:
        return a + b
    n = len(b) if one[0] == 1 else len(a)
    a, b = (x * n if s[0] == 1 != n else x for x, s in ((a, one), (b, two)))
    return [added(x, one[1:], y, two[1:]) for x, y in zip(a, b, strict=True)]


def operand(shape: Shape, lists: Any) -> Any:
    if None not in shape:
        return np.asarray(lists, dtype=np.float64).reshape(shape)
    return ragged(lists, item_shape=shape[1:], dtype=np.float64)


def wanted(one: Shape, two: Shape, by: tuple[int, ...]) -> Any:
    ndim = max(len(one), len(two))
    lead = [tuple([1] * (ndim - len(s))) for s in (one, two)]
    lists = [filled(one, by, 1.0), filled(two, by, 200.0)]
    for i, front in enumerate(lead):
        for _ in front:
            lists[i] = [lists[i]]
    return added(lists[0], lead[0] + one, lists[1], lead[1] + two)


def check(got: RaggedArray, want: Any) -> None:
    assert jax.tree.structure(got.tolist()) == jax.tree.structure(want)
    np.testing.assert_allclose(jax.tree.leaves(got.tolist()), jax.tree.leaves(want), rtol=1e-5)


@pytest.mark.parametrize(("one", "two", "by"), PAIRS, ids=str)
def test_an_axis_of_one_in_front_of_a_ragged_axis_stretches(
    way: Way, one: Shape, two: Shape, by: tuple[int, ...]
) -> None:
    x, y = (way.arrays(operand(s, filled(s, by, v))) for s, v in ((one, 1.0), (two, 200.0)))
    want = wanted(one, two, by)
    check(way.run((one, two), ra.add, x, y), want)
    check(way.run((two, one), lambda a, b: ra.add(b, a), x, y), want)


@pytest.mark.parametrize(("one", "two", "by"), PRODUCTS, ids=str)
@pytest.mark.parametrize("xp", ["numpy", "jax"])
def test_two_ragged_axes_that_meet_ones(xp: str, one: Shape, two: Shape, by: tuple[int, ...]) -> None:
    x, y = (operand(s, filled(s, by, v)).to(xp) for s, v in ((one, 1.0), (two, 200.0)))
    if xp == "jax":
        x, y = (ra.testing.poison(ra.with_capacity(a, a.capacity + 3)) for a in (x, y))
    check(x + y, wanted(one, two, by))
    check(y + x, wanted(one, two, by))


def test_the_size_of_two_ragged_axes_is_data() -> None:
    x = ragged([[1.0, 2.0], [3.0]], xp="jax")
    with pytest.raises(ra.DynamicShapeError) as caught:
        jax.jit(lambda x: x[:, None, :] - x[:, :, None])(x)
    assert str(caught.value) == (
        "subtract: expected one operand as large as the result, got traced row lengths of shapes (2, 1, None) and "
        "(2, None, 1). Broadcast outside jit."
    )


ONE = ragged([[1.0, 2.0]])


def test_the_other_functions_that_broadcast() -> None:
    column = np.array([[10.0], [20.0]])
    assert ra.where(ONE > 1, column, 0.0).tolist() == [[0.0, 10.0], [0.0, 20.0]]
    assert ra.clip(ONE, column / 10, 3.0).tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert [a.tolist() for a in ra.broadcast_arrays(ONE, column)] == [
        [[1.0, 2.0], [1.0, 2.0]],
        [[10.0, 10.0], [20.0, 20.0]],
    ]
    assert ra.broadcast_to(ONE, (2, None)).tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert ra.broadcast_to(ONE, (2, 2, None)).shape == (2, 2, None)
    assert ra.map_values(np.add, ONE, column).tolist() == [[11.0, 12.0], [21.0, 22.0]]
    assert ra.vecdot(ONE, column).tolist() == [30.0, 60.0]
    assert (column * ONE == ra.broadcast_to(ONE, (2, None)) * column).tolist() == [[True, True], [True, True]]


def test_a_state_does_not_stretch_what_it_is_for() -> None:
    b = ragged([[[1.0, 2.0]]], item_shape=(1, None))
    with pytest.raises(ValueError) as caught:
        ra.nn.linear_recurrence(np.ones((3, 4, 1)), ra.broadcast_to(b, (3, 1, None)))
    assert str(caught.value) == (
        "nn.linear_recurrence: expected `a` that broadcasts to (3, 1, None), got (3, 4, 1). Repeat `b` first."
    )
    with pytest.raises(ValueError) as caught:
        ra.sum(ONE, axis=1, where=np.array([[True], [False]]))
    assert str(caught.value) == "sum: expected where= that broadcasts to (1, None), got (2, 1). Reduce its rank."


def test_under_jit_the_capacity_is_that_of_all_copies_and_lengths_are_data() -> None:
    counted = ra.testing.count_traces(ra.add)
    f = jax.jit(counted)
    for n in (1, 3, 5):
        x = ra.testing.poison(ra.with_capacity(ragged([list(range(n))], dtype=np.float32), 8)).to("jax")
        out = f(x, jnp.ones((4, 1)))
        assert out.capacity == 32
        assert out.tolist() == [[v + 1.0 for v in range(n)]] * 4
    assert counted.count == 1


def test_the_gradient_of_a_stretched_operand_sums_over_its_copies() -> None:
    x = ra.testing.poison(ra.with_capacity(ONE, 4)).to("jax")
    b = jnp.asarray([[10.0], [20.0], [30.0]])
    y = ra.testing.poison(ra.with_capacity(ragged([[10.0, 1.0], [20.0, 2.0]]), 6)).to("jax")
    dx, db = jax.jit(jax.grad(lambda v, b: ra.sum(ra.sqrt(x.with_values(v) * b)), argnums=(0, 1)))(x.values, b)
    root = np.sqrt(b[:, 0])
    np.testing.assert_allclose(dx, [root.sum() / 2, root.sum() / np.sqrt(8), *[0] * 6], rtol=1e-5)
    np.testing.assert_allclose(db[:, 0], (1 + np.sqrt(2)) / 2 / root, rtol=1e-5)
    dx, dy = jax.jit(jax.grad(lambda v, w: ra.sum(x.with_values(v) * y.with_values(w)), argnums=(0, 1)))(
        x.values, y.values
    )
    np.testing.assert_allclose(dx, [30, 3, *[0] * 6])
    np.testing.assert_allclose(dy, [1, 2, 1, 2, *[0] * 4])
    deep = ra.testing.poison(ra.asarray(ragged([[1.0, 2.0], [], [3.0]]), xp="jax", capacity=5))
    w = jnp.arange(12.0).reshape(3, 4, 1) + 1
    dx, dw = jax.jit(jax.grad(lambda v, w: ra.sum(ra.sqrt(deep.with_values(v)[:, None] * w)), argnums=(0, 1)))(
        deep.values, w
    )
    s = np.sqrt(w[..., 0])
    sums = s.sum(axis=1) / 2
    np.testing.assert_allclose(dx, [sums[0], sums[0] / np.sqrt(2), sums[2] / np.sqrt(3), 0, 0], rtol=1e-5)
    scale = np.array([1 + np.sqrt(2), 0, np.sqrt(3)])[:, None] / 2
    np.testing.assert_allclose(dw[..., 0], scale / s, rtol=1e-5)


def test_rows_that_meet_copies_must_agree() -> None:
    y = ragged([[1.0, 2.0], [3.0]])
    text = "add: expected equal row lengths along axis 1, got 1 and 2 at row 1. Align the rows first"
    with pytest.raises(ValueError) as caught:
        ONE + y
    assert str(caught.value) == f"{text}, or use `ra.to_padded`."
    a, b = ONE.to("jax"), y.to("jax")
    assert np.isnan(np.asarray(jax.jit(ra.add)(a, b).values)).all()
    with pytest.raises(Exception, match=text):
        ra.checked(ra.add)(a, b)


def test_a_lone_component_stretches() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    x, many = ragged([matrix]), ragged([matrix, 10 * matrix])
    x, many = (ragged(list(a), item_shape=(None, None)) for a in (x, many))
    column = np.array([1.0, 2.0])[:, None, None]
    for f in (ra.add, jax.jit(ra.add)):
        a, b = (v if f is ra.add else ra.testing.poison(ra.with_capacity(v, 16)).to("jax") for v in (x, many))
        for got in (f(a, b), f(b, a)):
            np.testing.assert_allclose([np.asarray(c) for c in got.unbind()], [2 * matrix, 11 * matrix])
        np.testing.assert_allclose([np.asarray(c) for c in f(a, column).unbind()], matrix + column)
    view = ra.broadcast_to(x, (2, None, None))
    assert view.values is x.values
    assert view.tolist() == [matrix.tolist()] * 2
    slope = jax.grad(lambda v: ra.sum(x.to("jax").with_values(v) * many.to("jax")))(x.to("jax").values)
    np.testing.assert_allclose(slope[:6], 11 * matrix.reshape(-1))
